"""Sealing: a conversation that ended is a run of its scenario on the recording that its log holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from specledger.core.canonical import parse_canonical
from specledger.evidence.layout import MAX_LINE, RECEIPTS
from specledger.evidence.receipts import typed
from specledger.evidence.receipts.guard import Guarded
from specledger.kinds.running import Finished, RunOptions
from specledger.load import Bundle
from specledger.pipeline.executing import execute
from specledger.wings.guard.conversation import BY_RULES
from specledger.wings.guard.log import DECISION, canonical_lines, differs
from specledger.wings.trajectories.recording.controller import GUARD

Records = Sequence[tuple[str, Mapping[str, Any]]]


def seal(bundle: Bundle, records: Records, head: Mapping[str, str], folder: Path) -> Finished:
    """Write the evidence of a conversation.

    Args:
        bundle: The scenario.
        records: What its log holds.
        head: The id, the file and the format of its trajectory.
        folder: The place of the evidence.

    Raises:
        Rejected: E_GUARD_DIFFERS: the run decides a call otherwise than it was decided. The evidence is there then.
    """
    with TemporaryDirectory(prefix="specledger-") as work:
        lines = Path(work) / head["file"]
        with lines.open("wb") as file:
            file.writelines(canonical_lines(records, head))
        finished = execute(bundle, folder, RunOptions(trajectories=(lines,)))
    again = {decided["call"]: dict(decided) for decided in _decided(folder / RECEIPTS)}
    for type_, record in records:
        logged = {key: value for key, value in record.items() if key != "cause"}
        if type_ == DECISION and record["cause"] == BY_RULES and logged["call"] in again:
            decided = again[logged["call"]]
            if logged != {key: value for key, value in decided.items() if key in logged}:
                raise differs(f"the call {logged['call']!r:.200} is decided otherwise in {folder}")
    return finished


def _decided(receipts: Path) -> list[Guarded]:
    """The bodies of the receipts of a guard."""
    bodies = []
    with receipts.open("rb") as file:
        for line in file:
            if line.endswith(b'"type":"%s"}\n' % GUARD.encode()):
                receipt: Any = parse_canonical(line[:-1], limit=MAX_LINE)
                bodies.append(typed(Guarded, receipt["body"]))
    return bodies
