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


BLOCKED: Final = _word(
    code(
        "E_MODEL_BLOCKED",
        "a model refused the prompt",
        "The service looked at the prompt and gave no answer; its reason is in the detail. Another wording may pass.",
    )
)
EMPTY: Final = _word(
    code(
        "E_MODEL_EMPTY",
        "a model answered nothing",
        "The service gave no candidate, or one without text. With a small `max_output_tokens` a model may spend all on "
        "thinking: set `thinking_budget`, or allow more.",
    )
)
WITHHELD: Final = _word(
    code(
        "E_MODEL_WITHHELD",
        "a model stopped for another reason than being done",
        "The service ended the answer itself, for safety or recitation for example; `finish` names its reason. What "
        "came before is kept as text and is not used.",
    )
)
TRUNCATED: Final = _word(
    code(
        "E_MODEL_TRUNCATED",
        "a model reached its limit of tokens",
        "The answer stops in the middle, at `max_output_tokens`. What came is kept as text. Allow more tokens, ask for "
        "fewer laws, or limit the thinking.",
    )
)
MALFORMED: Final = _word(
    code(
        "E_MODEL_MALFORMED",
        "a model's service answered something else",
        "The HTTP response is not an answer of the API: it is not JSON, or JSON of another shape. A proxy may have "
        "answered. A text that is not JSON is not a failure: the parser of laws reports it.",
    )
)
TIMED_OUT: Final = _word(
    code(
        "E_MODEL_TIMED_OUT",
        "a model did not answer in time",
        "There was no whole answer within `deadline_ms`, all tries and waits together.",
    )
)
REFUSED: Final = _word(
    code(
        "E_MODEL_REFUSED",
        "a model's service cannot be reached",
        "No connection: the address is wrong, the network is down, or no service listens there.",
    )
)
CUT_OFF: Final = _word(
    code(
        "E_MODEL_CUT_OFF",
        "a model's service closed in the middle of an answer",
        "The connection ended before the whole answer was there. What came is not used.",
    )
)
RATE_LIMITED: Final = _word(
    code(
        "E_MODEL_RATE_LIMITED",
        "a model's service allows no more requests now",
        "HTTP 429 to every try. Wait, use fewer workers, or ask for a higher quota.",
    )
)
UNAVAILABLE: Final = _word(
    code(
        "E_MODEL_UNAVAILABLE",
        "a model's service is out of order",
        "HTTP 5xx to every try. Try again later.",
    )
)
UNAUTHORISED: Final = _word(
    code(
        "E_MODEL_UNAUTHORISED",
        "a model's service does not accept the key",
        "The key is wrong, revoked, or may not use this model. The key itself is shown nowhere.",
    )
)
INVALID: Final = _word(
    code(
        "E_MODEL_INVALID",
        "a model's service does not accept the request",
        "HTTP 4xx: the model does not exist, or a setting is out of its range; the detail says which status came.",
    )
)
REDIRECTED: Final = _word(
    code(
        "E_MODEL_REDIRECTED",
        "a model's service points to another address",
        "A redirect is never followed, because the key would go with it.",
    )
)
TOO_LARGE: Final = _word(
    code(
        "E_MODEL_TOO_LARGE",
        "a model answered too much",
        f"More than {MOST_TEXT} bytes of text, or more over HTTP than such a text can need. Nothing of it is kept.",
    )
)
EXHAUSTED: Final = _word(
    code(
        "E_MODEL_EXHAUSTED",
        "a model has no answer left",
        "A scripted model has given its last answer, or an enumeration has come to its end.",
    )
)
OVER_LIMIT: Final = _word(
    code(
        "E_MODEL_OVER_LIMIT",
        "a run has used what its model may use",
        "The calls of the run have reached `limits.tokens` or `limits.money` of the model's spec, and nothing more is "
        "asked. Raise the limit, or run fewer episodes.",
    )
)

FAILURES: Final[Mapping[str, str]] = MappingProxyType(_FAILURES)
"""The code that explains each failure."""

LASTING: Final = frozenset({UNAUTHORISED, INVALID, REDIRECTED, OVER_LIMIT})
"""Failures that the next question would meet as well, until the user mends what is wrong."""
