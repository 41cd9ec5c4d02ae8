"""Of the calls of a model, how many gave no statement, and why: counted from the answers on the tapes of runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from specledger.core.diagnostics import counted
from specledger.report.markup import shorten
from specledger.report.model_tape import answers_of, model_answer

_MOST_CAUSES: Final = 3
_LONGEST: Final = 200
_WITHOUT_DETAIL: Final = {"no_call": "the model called no function", "arguments": "the arguments are no JSON object"}


def unanswered(folders: Iterable[Path]) -> str:
    """How many calls in the bundles failed and the causes, the first one first; empty if none failed."""
    calls, failed = 0, Counter[str]()
    details: dict[str, str] = {}
    for answer in (answer for folder in folders for answer in answers_of(folder)):
        model = model_answer(answer)
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
