"""What a Gemini service sent, or an error of the connection, as an answer of a model."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from specledger.core.canonical import NotCanonical, canonical_bytes
from specledger.core.floats import FLOATS_ANYWHERE
from specledger.oracles.failures import BLOCKED, EMPTY, TRUNCATED, WITHHELD
from specledger.oracles.http_failures import connection_failure, count_of, status_failure
from specledger.oracles.model import Call, ModelAnswer, ModelRequest, TokenUsage, answered, estimated_usage, failed

if TYPE_CHECKING:
    from google.genai.types import FunctionCall, GenerateContentResponse

DONE: Final = frozenset({None, "STOP", "FINISH_REASON_UNSPECIFIED"})
"""The finish reasons of a complete answer."""

FULL: Final = "MAX_TOKENS"


def read_answer(response: GenerateContentResponse, request: ModelRequest, hide: Callable[[str], str]) -> ModelAnswer:
    """The answer that a response holds: its first candidate's text, without thoughts, and its calls.

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
    calls = [_call(part.function_call, hide) for part in parts if part.function_call] if request.tools else []
    return answered(text, usage, finish, calls) if text or calls else failed(EMPTY, "no text", usage, finish)


def reason_of(error: Exception) -> tuple[str, str]:
    """Why a call failed, and a word more; never the text of an exception that is not the service's own message."""
    from google.genai.errors import APIError  # noqa: PLC0415 - loaded already where an error is read

    if not isinstance(error, APIError):
        return connection_failure(error)
    detail = f"HTTP {error.code} {_word(error.status) or ''}: {_word(error.message) or ''}"
    wrong_key = error.code == 400 and "API_KEY" in str(error.details)
    return status_failure(error.code, detail, wrong_key=wrong_key)


def _usage(response: GenerateContentResponse, request: ModelRequest, text: str) -> TokenUsage:
    """What the service counted; what it does not say is estimated."""
    counts = response.usage_metadata
    guess = estimated_usage(request, text)
    if counts is None:
        return guess
    prompt, output = count_of(counts.prompt_token_count), count_of(counts.candidates_token_count)
    return TokenUsage(
        guess.prompt_tokens if prompt is None else prompt,
        guess.output_tokens if output is None else output,
        count_of(counts.thoughts_token_count) or 0,
        estimated=prompt is None or (output is None and bool(text)),
    )


def _call(call: FunctionCall, hide: Callable[[str], str]) -> Call:
    """A call as the service told it; arguments that are no JSON value are empty text, which is no JSON either."""
    try:
        arguments = canonical_bytes(call.args or {}, FLOATS_ANYWHERE).decode()
    except NotCanonical:
        arguments = ""
    return Call(hide(call.name or ""), hide(arguments))


def _word(value: Any) -> str | None:
    """A word of the service, be it a text or a member of an enumeration."""
    if value is None:
        return None
    return str(getattr(value, "value", value))
