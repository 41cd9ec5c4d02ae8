"""What an unfinished run left beside its place, so that the next one with `--resume` continues it.

A run that is killed leaves its working folder; one that ends early leaves it if that was asked for, or if what did the
work was lost. The folder is continued only by a run of the same specs with the same engine.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from specledger.core.canonical import NotCanonical, parse_canonical
from specledger.core.diagnostics import Diagnostic, Rejected, code
from specledger.core.events import Event
from specledger.evidence.layout import MAX_LINE, RECEIPTS

IDENTITY: Final = "identity"
"""The file of a working folder that says whose it is."""
BEFORE: Final = "before.jsonl"
"""The file of a working folder with the receipts of an earlier attempt."""

E_RESUME_OTHER = code(
    "E_RESUME_OTHER",
    "what can be resumed is another run",
    "An unfinished run to the same place was of other specs, or by an engine with other source files, so what it "
    "finished is no part of this run. Run without `--resume`, which discards it, or name another `--out`.",
)


def belongs(work: Path, identity: str) -> bool:
    """Whether a working folder can be continued by a run with this identity; False if it holds nothing of use.

    Raises:
        Rejected: E_RESUME_OTHER.
        OSError: It cannot be read.
    """
    file = work / IDENTITY
    found = file.read_text(encoding="utf-8") if file.is_file() else ""
    if not found or not (work / "new").is_dir():
        return False
    if found != identity:
        message = f"{work} is an unfinished run of other specs or by another engine"
        raise Rejected([Diagnostic(E_RESUME_OTHER, message, hint="run without --resume to discard it")])
    return True


def set_aside(work: Path) -> None:
    """Move the receipts of the last attempt aside, unless an earlier attempt came further.

    Raises:
        OSError: The system refuses.
    """
    last, before = work / "new" / RECEIPTS, work / BEFORE
    if last.is_file() and not (before.is_file() and before.stat().st_size >= last.stat().st_size):
        last.replace(before)


def whole_episodes(file: Path) -> int:
    """How many episodes a file of receipts holds from the first to its end, one after the other."""
    count = 0
    for type_, body in _receipts(file):
        if type_ == "episode_end":
            if body.get("episode") != count:
                break
            count += 1
    return count


def episodes_of(file: Path, count: int) -> Iterator[Event]:
    """The events of the first episodes of a file of receipts, without those around them."""
    for type_, body in _receipts(file) if count else ():
        if type_ != "start":
            yield Event(type_, body)
        if type_ == "episode_end" and body["episode"] == count - 1:
            return


def _receipts(file: Path) -> Iterator[tuple[str, dict[str, object]]]:
    """The type and body of each whole receipt, up to the first line that is none."""
    if not file.is_file():
        return
    with file.open("rb") as lines:
        while (line := lines.readline(MAX_LINE)).endswith(b"\n"):
            try:
                receipt = parse_canonical(line[:-1], limit=MAX_LINE)
            except NotCanonical:
                return
            if not isinstance(receipt, dict) or not isinstance(receipt.get("body"), dict):
                return
            yield str(receipt.get("type")), receipt["body"]
