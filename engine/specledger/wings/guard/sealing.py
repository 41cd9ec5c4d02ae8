"""Sealing: a conversation that ended is a run of its scenario on the recording that its log holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from specledger.core import disk
from specledger.core.canonical import parse_canonical
from specledger.evidence.layout import MAX_LINE, RECEIPTS
from specledger.evidence.receipts import typed
from specledger.evidence.receipts.guard import Guarded
from specledger.kinds.running import Finished, RunOptions
from specledger.load import Bundle
from specledger.pipeline.executing import execute
from specledger.wings.guard.log import Line, canonical_lines, differs
from specledger.wings.trajectories.recording.guard_log import DECISION, GUARD

_UNFINISHED: Final = ".unfinished-"
"""The beginning of the name of a folder in which evidence is made."""
_EVIDENCE: Final = "evidence"


def seal(bundle: Bundle, lines: Sequence[Line], head: Mapping[str, str], folder: Path) -> Finished:
    """Write the evidence of a conversation.

    Args:
        bundle: The scenario.
        lines: Those of its log.
        head: The id, the file and the format of its trajectory.
        folder: The place of the evidence, beside which it is made, and where it is only if it is what was decided.

    Raises:
        Rejected: E_GUARD_DIFFERS: the run decides a call otherwise than it was decided.
        OSError: The evidence cannot be written.
    """
    with _working_folder(folder) as work:
        trajectory, evidence = work / head["file"], work / _EVIDENCE
        disk.write_parts(trajectory, canonical_lines(lines, head))
        finished = execute(bundle, evidence, RunOptions(trajectories=(trajectory,)))
        receipts = {typed(Guarded, line.body)["call"]: line.digest for line in lines if line.type == DECISION}
        for decided in _decided(evidence / RECEIPTS):
            if decided["receipt"] != receipts.get(decided["call"]):
                raise differs(f"the run decides the call {decided['call']!r:.200} otherwise than it was decided")
        disk.SYSTEM.rename(evidence, folder)
        disk.SYSTEM.sync_folder(folder.parent)
    return finished


@contextmanager
def _working_folder(folder: Path) -> Iterator[Path]:
    """A folder of this process alone, beside that of all sealed conversations, removed at last."""
    work = disk.make_own_folder(lambda number: folder.parent.with_name(f"{_UNFINISHED}{folder.name}-{number}"))
    try:
        yield work
    finally:
        disk.remove_folder(work)


def _decided(receipts: Path) -> list[Guarded]:
    """The bodies of the receipts of a guard."""
    bodies = []
    with receipts.open("rb") as file:
        for line in file:
            if line.endswith(b'"type":"%s"}\n' % GUARD.encode()):
                receipt: Any = parse_canonical(line[:-1], limit=MAX_LINE)
                bodies.append(typed(Guarded, receipt["body"]))
    return bodies
