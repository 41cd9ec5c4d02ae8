"""What a Gemini service sent, or an error of the connection, as an answer of a model."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from specledger.core.canonical import MAX_INTEGER
from specledger.oracles.failures import (
    BLOCKED,
    CUT_OFF,
    EMPTY,
    INVALID,
    MALFORMED,
    RATE_LIMITED,
    REDIRECTED,
    REFUSED,
    TIMED_OUT,
    TOO_LARGE,
    TRUNCATED,
    UNAUTHORISED,
    UNAVAILABLE,
    WITHHELD,
)
from specledger.oracles.model import ModelAnswer, ModelRequest, TokenUsage, answered, estimated_usage, failed
from specledger.oracles.service import EncodedError, LateError, TooLargeError

if TYPE_CHECKING:
    from google.genai.errors import APIError
    from google.genai.types import GenerateContentResponse

DONE: Final = frozenset({None, "STOP", "FINISH_REASON_UNSPECIFIED"})
"""The finish reasons of a complete answer."""

FULL: Final = "MAX_TOKENS"

LONGEST_PAUSE: Final = 3_600
"""Seconds that a service may ask to wait; longer waits are cut."""


def read_answer(response: GenerateContentResponse, request: ModelRequest, hide: Callable[[str], str]) -> ModelAnswer:
    """The answer that a response holds: its first candidate's text, without thoughts.

    Args:
        response: What the package made of the service's JSON.
        request: What was asked.
        hide: Takes the key out of a text, should the service repeat it.
    """
    candidate = response.candidates[0] if response.candidates else None
    parts = (candidate.content.parts or []) if candidate is not None and candidate.content is not None else []
    text = hide("".join(part.text for part in parts if part.text and not part.thought))
    finish = None if candidate is None else _word(candidate.finish_reason)
    finish = None if finish is None else hide(finish)
    usage = _usage(response, request, text)
    feedback = response.prompt_feedback
    if feedback is not None and feedback.block_reason is not None:
        return failed(BLOCKED, hide(_word(feedback.block_reason) or ""), usage, finish)
    if candidate is None:
        return failed(EMPTY, "no candidate", usage)
    if finish == FULL:
        return failed(TRUNCATED, "", usage, finish, text or None)
    if finish not in DONE:
        return failed(WITHHELD, finish or "", usage, finish, text or None)
    return answered(text, usage, finish) if text else failed(EMPTY, "no text", usage, finish)


def reason_of(error: Exception) -> tuple[str, str]:
    """Why a call failed, and a word more; never the text of an exception that is not the service's own message."""
    import httpx2  # noqa: PLC0415 - loaded already where an error is read
    from google.genai.errors import APIError  # noqa: PLC0415

    if isinstance(error, APIError):
        return _refusal(error)
    known: tuple[tuple[str, tuple[type[Exception], ...]], ...] = (
        (TOO_LARGE, (TooLargeError,)),
        (TIMED_OUT, (LateError, httpx2.TimeoutException)),
        (MALFORMED, (EncodedError, httpx2.DecodingError)),
        (REFUSED, (httpx2.ConnectError, httpx2.ProxyError)),
        (CUT_OFF, (httpx2.TransportError,)),
    )
    failure = next((failure for failure, classes in known if isinstance(error, classes)), MALFORMED)
    return failure, type(error).__name__


def pause_of(error: Exception) -> float:
    """For how many seconds the service asks to wait before the next try; 0 if it does not say."""
    headers = getattr(getattr(error, "response", None), "headers", None)
    asked = "" if headers is None else str(headers.get("retry-after", ""))
    return float(min(int(asked), LONGEST_PAUSE)) if asked.isascii() and asked.isdigit() and len(asked) < 10 else 0.0


def _refusal(error: APIError) -> tuple[str, str]:
    status = error.code
    detail = f"HTTP {status} {_word(error.status) or ''}: {_word(error.message) or ''}"
    if status in (401, 403) or (status == 400 and "API_KEY" in str(error.details)):
        return UNAUTHORISED, detail
    if status == 429:
        return RATE_LIMITED, detail
    if 300 <= status < 400:
        return REDIRECTED, f"HTTP {status}"
    if 400 <= status < 500:
        return INVALID, detail
    return (UNAVAILABLE, detail) if 500 <= status < 600 else (MALFORMED, f"HTTP {status}")


def _usage(response: GenerateContentResponse, request: ModelRequest, text: str) -> TokenUsage:
    """What the service counted; what it does not say is estimated."""
    counts = response.usage_metadata
    guess = estimated_usage(request, text)
    if counts is None:
        return guess
    prompt, output = _count(counts.prompt_token_count), _count(counts.candidates_token_count)
    return TokenUsage(
        guess.prompt_tokens if prompt is None else prompt,
        guess.output_tokens if output is None else output,
        _count(counts.thoughts_token_count) or 0,
        estimated=prompt is None or (output is None and bool(text)),
    )


def _count(value: object) -> int | None:
    return value if type(value) is int and 0 <= value <= MAX_INTEGER else None


def _word(value: Any) -> str | None:
    """A word of the service, be it a text or a member of an enumeration."""
    if value is None:
        return None
    return str(getattr(value, "value", value))
