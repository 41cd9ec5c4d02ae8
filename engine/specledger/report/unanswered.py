"""Of the calls of a model, how many gave no statement, and why: counted from the answers on the tapes of runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from specledger.core.canonical import parse_json
from specledger.core.diagnostics import counted
from specledger.evidence.layout import TAPE
from specledger.oracles.answer import Answer
from specledger.oracles.model import ModelAnswer
from specledger.oracles.recording import TapeError, read_tape
from specledger.report.markup import shorten

_MOST_CAUSES: Final = 3
_LONGEST: Final = 200
_WITHOUT_DETAIL: Final = {"no_call": "the model called no function", "arguments": "the arguments are no JSON object"}


def unanswered(folders: Iterable[Path]) -> str:
    """How many calls in the bundles failed and the causes, the first one first; empty if none failed."""
    calls, failed = 0, Counter[str]()
    details: dict[str, str] = {}
    for answer in _answers(folders):
        model = _of_model(answer)
        if model is None:
            continue
        calls += 1
        if answer.failure:
            cause = model.failure or answer.reason or answer.failure
            failed[cause] += 1
            details.setdefault(cause, model.detail if model.failure else _WITHOUT_DETAIL.get(cause, ""))
    if not failed:
        return ""
    parts = []
    for cause in [*details][:_MOST_CAUSES]:
        said = f" ({shorten(details[cause], _LONGEST)})" if details[cause] else ""
        parts.append(f"{failed[cause]} {cause}{said}")
    more = len(details) - _MOST_CAUSES
    causes = "; ".join(parts) + (f"; and {counted(more, 'other cause')}" if more > 0 else "")
    return f"{failed.total()} of {counted(calls, 'call')} of the model failed: {causes}"


def _answers(folders: Iterable[Path]) -> Iterator[Answer]:
    for folder in folders:
        try:
            exchanges = read_tape(folder / TAPE).exchanges
        except (OSError, TapeError):  # no tape, or one that verification refutes
            continue
        yield from (exchange.answer for exchange in exchanges)


def _of_model(answer: Answer) -> ModelAnswer | None:
    """What the model answered; None if the message asked it nothing."""
    try:
        return ModelAnswer.read(parse_json(answer.received or b"")["source"]["answer"])
    except (ValueError, KeyError, TypeError):
        return None
