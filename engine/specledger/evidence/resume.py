"""What an unfinished run left beside its place, so that the next one with `--resume` continues it.

A run that is killed leaves its working folder; one that ends early leaves it if that was asked for, or if what did the
work was lost. The folder is continued only by a run of the same specs with the same engine.
"""

from __future__ import annotations

import shutil
from collections.abc import Collection
from pathlib import Path
from typing import Final

from specledger.core.diagnostics import Diagnostic, Rejected, code
from specledger.evidence.layout import RECEIPTS

IDENTITY: Final = "identity"
"""The file of a working folder that says whose it is."""
BEFORE: Final = "before.jsonl"
"""The file of a working folder with the receipts of an earlier attempt."""
_MOST_IDENTITY: Final = 200  # bytes

E_RESUME_OTHER = code(
    "E_RESUME_OTHER",
    "what can be resumed is another run",
    "An unfinished run to the same place was of other specs, or by an engine with other source files, or its folder "
    "holds what no run leaves there, so what it finished is no part of this run. Run without `--resume`, which "
    "discards it, or name another `--out`.",
)


def belongs(work: Path, identity: str) -> bool:
    """Whether a working folder can be continued by a run with this identity; False if it holds nothing of use.

    Raises:
        Rejected: E_RESUME_OTHER.
        OSError: It cannot be read.
    """
    odd = next((path for path in work.rglob("*") if path.is_symlink() or not (path.is_dir() or path.is_file())), None)
    if odd is not None:
        raise _other(f"{odd} is a link or no file, which no run leaves there")
    if not (work / IDENTITY).is_file() or not (work / "new").is_dir():
        return False
    with (work / IDENTITY).open("rb") as file:
        found = file.read(_MOST_IDENTITY)
    if found and found != identity.encode():
        raise _other(f"{work} is an unfinished run of other specs or by another engine")
    return bool(found)


def set_aside(work: Path, kept: Collection[str]) -> None:
    """Move the receipts of the last attempt aside, unless an earlier one came further, and remove what else it made.

    Args:
        work: The working folder.
        kept: The folders of its bundle that are kept: those with the runs of a suite.

    Raises:
        OSError: The system refuses.
    """
    last, before = work / "new" / RECEIPTS, work / BEFORE
    if last.is_file() and not (before.is_file() and before.stat().st_size >= last.stat().st_size):
        last.replace(before)
    for folder, names in ((work, {"new", IDENTITY, BEFORE}), (work / "new", {*kept})):
        for path in folder.iterdir():
            if path.name not in names:
                remove(path)


def remove(path: Path) -> None:
    """Remove a file or a folder.

    Raises:
        OSError: The system refuses.
    """
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def _other(message: str) -> Rejected:
    return Rejected([Diagnostic(E_RESUME_OTHER, message, hint="run without --resume to discard it")])
