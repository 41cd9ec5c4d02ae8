"""Which answers of a model failed on the way to it, by the tapes of a finished run: recording asks these again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from specledger.core.diagnostics import counted, printable
from specledger.evidence.receipts import suite, typed
from specledger.kinds.running import Finished
from specledger.oracles.answer import RAISED
from specledger.oracles.failures import FAILURES, UNASKED
from specledger.report.model_tape import answers_of, model_answer


def failed_answers(finished: Finished) -> str:
    """How many failed and why, for people; empty if none did."""
    folder = finished.place
    failures = Counter(failure for run in _faulty(finished) for failure in _failures(folder / run))
    if not failures:
        return ""
    why = ", ".join(f"{count} {FAILURES[failure]}" for failure, count in sorted(failures.items()))
    return (
        f"{printable(str(folder))}: {counted(failures.total(), 'answer')} failed on the way to the model ({why})\n"
        "  mend the cause, and give the same command again, without `--resume`: `--record` asks what failed once more"
    )


def _faulty(finished: Finished) -> Iterator[str]:
    """The folders, inside the evidence, of the runs that had agent faults."""
    if finished.manifest["result"].get("faults"):
        yield "."
    for run in [typed(suite.Run, receipt) for receipt in finished.receipts if receipt["type"] == "run"]:
        if run["result"].get("faults"):
            yield run["place"]


def _failures(folder: Path) -> Iterator[str]:
    """Of each answer that was not had from the model, why."""
    for answer in answers_of(folder):
        asked = model_answer(answer) if answer.failure == RAISED else None
        if asked is not None and asked.failure in UNASKED:
            yield asked.failure
