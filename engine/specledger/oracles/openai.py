"""A model behind an OpenAI-compatible endpoint (chat completions), through openai 3.

Whatever goes wrong between here and the service is an answer with a failure. The environment of the package is not
consulted: a request carries the headers that are listed here and no others.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import asdict

from specledger.core.canonical import parse_json
from specledger.core.diagnostics import missing_package
from specledger.oracles.failures import EMPTY, MALFORMED, TRUNCATED, WITHHELD
from specledger.oracles.labels import logprob_tokens, most_probable
from specledger.oracles.model import Call, ModelAnswer, ModelRequest, TokenUsage, answered, estimated_usage, failed
from specledger.oracles.retry_clock import Clock
from specledger.oracles.service import E_MODEL_PACKAGE, Deadline, Key, open_connection, openai_access
from specledger.oracles.service_client import ServiceClient, connection_failure, count_of, quiet, status_failure
from specledger.spec.base import QFIXED_ONE
from specledger.spec.model import OpenAIConfig

if TYPE_CHECKING:
    from openai import OpenAI
    from openai._types import RequestOptions

_PATH: Final = "/chat/completions"
_MOST_LABELS: Final = 20  # of the likeliest tokens, as many as services give
_DONE: Final = frozenset({"stop", "tool_calls", "function_call"})


class OpenAIClient(ServiceClient):
    """Asks a model behind an OpenAI-compatible endpoint."""

    def __init__(
        self, config: OpenAIConfig, *, environment: Mapping[str, str] = os.environ, clock: Clock | None = None
    ) -> None:
        """Prepare to ask; nothing is sent yet."""
        self._config = config
        address, key = openai_access(config.endpoint, config.key, environment)
        super().__init__("openai", config, key, clock)
        self._client = _open(key, address, self._late, self._deadline)

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def _send(self, request: ModelRequest) -> ModelAnswer:
        from httpx2 import Response  # noqa: PLC0415 - as in `_open`

        options: RequestOptions = {"timeout": self._left_ms() / 1000}
        response = self._client.post(_PATH, cast_to=Response, body=self._body(request), options=options)
        return read_answer(response.content, request, self._key.hide)

    def _reason(self, error: Exception) -> tuple[str, str]:
        from openai import APIConnectionError, APIStatusError  # noqa: PLC0415 - as in `_open`

        if isinstance(error, APIStatusError):
            return status_failure(error.status_code, _told(error.status_code, error.body))
        wrapped = error.__cause__ if isinstance(error, APIConnectionError) else None
        return connection_failure(wrapped or error)

    def _body(self, request: ModelRequest) -> dict[str, Any]:
        """The body of a chat completion's request."""
        config = self._config
        system = [{"role": "system", "content": request.system}] if request.system else []
        body: dict[str, Any] = {
            "model": config.model,
            "messages": [*system, {"role": "user", "content": request.prompt}],
            "temperature": self._temperature(request),
            "top_p": config.top_p / QFIXED_ONE,
            config.tokens_field: config.max_output_tokens,
        }
        if config.seed is not None:
            body["seed"] = config.seed
        if config.reasoning_effort is not None:
            body["reasoning_effort"] = config.reasoning_effort
        if request.tools:
            body["tools"] = [{"type": "function", "function": asdict(tool)} for tool in request.tools]
            body["tool_choice"] = config.tool_choice
            body["parallel_tool_calls"] = False
        elif request.labels:
            body |= {"logprobs": True, "top_logprobs": _MOST_LABELS, config.tokens_field: 1}
        elif config.json_mode and request.schema is not None:
            schema = {"name": "answer", "schema": dict(request.schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        return body


def read_answer(body: bytes, request: ModelRequest, hide: Callable[[str], str]) -> ModelAnswer:
    """The answer that a response holds: its first choice's text and calls."""
    try:
        response = parse_json(body)
    except ValueError:
        return failed(MALFORMED, "no JSON")
    choices = response.get("choices") if isinstance(response, dict) else None
    if not isinstance(choices, list):
        return failed(MALFORMED, "no choices")
    choice = choices[0] if choices and isinstance(choices[0], dict) else {}
    message = choice.get("message")
    message = message if isinstance(message, dict) else {}
    text, refusal = (hide(_text(message.get(name))) for name in ("content", "refusal"))
    calls = [Call(hide(name), hide(arguments)) for name, arguments in _calls(message)] if request.tools else []
    usage = _usage(response.get("usage"), request, text + "".join(call.arguments for call in calls))
    finish = hide(_text(choice.get("finish_reason"))) or None
    if not choice:
        return failed(EMPTY, "no choice", usage)
    if refusal:
        return failed(WITHHELD, f"refusal: {refusal}", usage, finish, text or None)
    if request.labels:
        label = most_probable(list(logprob_tokens(choice)), request.labels)
        return answered(text if label is None else label, usage, finish)
    if finish == "length":
        return failed(TRUNCATED, "", usage, finish, text or None)
    if finish is not None and finish not in _DONE:
        return failed(WITHHELD, finish, usage, finish, text or None)
    return answered(text, usage, finish, calls) if text or calls else failed(EMPTY, "no text", usage, finish)


def _calls(message: Mapping[str, Any]) -> list[tuple[str, str]]:
    listed = message.get("tool_calls")
    functions = (
        [entry.get("function") for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []
    )
    return [(_text(entry.get("name")), _text(entry.get("arguments"))) for entry in functions if isinstance(entry, dict)]


def _usage(usage: Any, request: ModelRequest, text: str) -> TokenUsage:
    """What the service counted; what it does not say is estimated. Completion tokens include those of thinking."""
    guess = estimated_usage(request, text)
    counts = usage if isinstance(usage, dict) else {}
    prompt, output = count_of(counts.get("prompt_tokens")), count_of(counts.get("completion_tokens"))
    details = counts.get("completion_tokens_details")
    thinking = count_of(details.get("reasoning_tokens")) if isinstance(details, dict) else None
    if prompt is None or output is None:
        return guess
    thought = min(thinking or 0, output)
    return TokenUsage(prompt, output - thought, thought)


def _told(status: int, body: object) -> str:
    """The service's own words about a refusal; the package gives the value of `error`, if there is one."""
    words = [_text(body.get(name)) for name in ("type", "message")] if isinstance(body, dict) else []
    return f"HTTP {status} {': '.join(word for word in words if word)}".rstrip()


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _open(key: Key, address: str, late: Callable[[], bool], deadline: Deadline) -> OpenAI:
    """The package's client, which retries nothing itself."""
    try:
        import openai  # noqa: PLC0415 - takes a second; only who asks such a model loads it
    except ImportError:
        raise missing_package(E_MODEL_PACKAGE, "openai", "openai") from None
    headers = {"Authorization": f"Bearer {key.reveal()}", "User-Agent": "specledger"}
    with quiet():
        return openai.OpenAI(
            api_key=key.reveal(),
            base_url=address,
            max_retries=0,
            http_client=open_connection(address, late, deadline, headers),
        )
