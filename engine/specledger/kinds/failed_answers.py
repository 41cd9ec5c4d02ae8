"""Which answers of a model failed on the way to it, by the tapes of a finished run: recording asks these again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from specledger.core.canonical import parse_json
from specledger.core.diagnostics import counted, printable
from specledger.evidence.layout import TAPE
from specledger.evidence.receipts import suite, typed
from specledger.kinds.running import Finished
from specledger.oracles.answer import RAISED, Answer
from specledger.oracles.failures import FAILURES, UNASKED
from specledger.oracles.model import ModelAnswer
from specledger.oracles.recording import TapeError, read_tape


def failed_answers(finished: Finished) -> str:
    """How many failed and why, for people; empty if none did."""
    folder = finished.place
    failures = Counter(failure for run in _faulty(finished) for failure in _failures(folder / run / TAPE))
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


def _failures(path: Path) -> Iterator[str]:
    try:
        exchanges = read_tape(path).exchanges
    except (TapeError, OSError):  # an agent that is no model may have none
        return
    for exchange in exchanges:
        failure = _failure(exchange.answer)
        if failure in UNASKED:
            yield failure


def _failure(answer: Answer) -> str | None:
    """Why the model's answer failed of which this one was made."""
    if answer.failure != RAISED:
        return None
    try:
        document: Any = parse_json(answer.received or b"")
        return ModelAnswer.read(document["source"]["answer"]).failure
    except (ValueError, KeyError, TypeError):
        return None
