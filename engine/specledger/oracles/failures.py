"""The failures of a model, each with the diagnostic code that explains it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from specledger.core.diagnostics import code

MOST_TEXT: Final = 524_288
"""Bytes of an answer's text at most, as canonical JSON writes it; the longest answer of the seed, 65,535 tokens, is
about half of that."""

_FAILURES: dict[str, str] = {}


def _word(code_: str) -> str:
    """The name of a failure in records, from the code that explains it."""
    word = code_.removeprefix("E_MODEL_").lower()
    _FAILURES[word] = code_
    return word


BLOCKED: Final = _word(code("E_MODEL_BLOCKED", "a model refused the prompt"))
EMPTY: Final = _word(code("E_MODEL_EMPTY", "a model answered nothing"))
WITHHELD: Final = _word(code("E_MODEL_WITHHELD", "a model stopped for another reason than being done"))
TRUNCATED: Final = _word(code("E_MODEL_TRUNCATED", "a model reached its limit of tokens"))
MALFORMED: Final = _word(code("E_MODEL_MALFORMED", "a model's service answered something else"))
TIMED_OUT: Final = _word(code("E_MODEL_TIMED_OUT", "a model did not answer in time"))
REFUSED: Final = _word(code("E_MODEL_REFUSED", "a model's service cannot be reached"))
CUT_OFF: Final = _word(code("E_MODEL_CUT_OFF", "a model's service closed in the middle of an answer"))
RATE_LIMITED: Final = _word(code("E_MODEL_RATE_LIMITED", "a model's service allows no more requests now"))
UNAVAILABLE: Final = _word(code("E_MODEL_UNAVAILABLE", "a model's service is out of order"))
UNAUTHORISED: Final = _word(code("E_MODEL_UNAUTHORISED", "a model's service does not accept the key"))
INVALID: Final = _word(code("E_MODEL_INVALID", "a model's service does not accept the request"))
REDIRECTED: Final = _word(code("E_MODEL_REDIRECTED", "a model's service points to another address"))
TOO_LARGE: Final = _word(code("E_MODEL_TOO_LARGE", "a model answered too much"))
EXHAUSTED: Final = _word(code("E_MODEL_EXHAUSTED", "a model has no answer left"))
OVER_LIMIT: Final = _word(code("E_MODEL_OVER_LIMIT", "a run has used what its model may use"))

FAILURES: Final[Mapping[str, str]] = MappingProxyType(_FAILURES)
"""The code that explains each failure."""

LASTING: Final = frozenset({UNAUTHORISED, INVALID, REDIRECTED, OVER_LIMIT})
"""Failures that the next question would meet as well, until the user mends what is wrong."""

UNASKED: Final = LASTING | {TIMED_OUT, REFUSED, CUT_OFF, RATE_LIMITED, UNAVAILABLE}
"""Failures of the connection to a model or of its account, which may be gone the next time."""
