"""A Gemini model over HTTP, through google-genai 3.4.

Whatever goes wrong between here and the service is an answer with a failure. Source: law proposer, section 4,
GeminiClient.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from specledger.core.canonical import NotCanonical, canonical_bytes, parse_json
from specledger.core.diagnostics import missing_package
from specledger.core.floats import FLOATS_ANYWHERE
from specledger.oracles.failures import BLOCKED, EMPTY, MALFORMED, TRUNCATED, WITHHELD
from specledger.oracles.model import (
    Call,
    ModelAnswer,
    ModelRequest,
    TokenUsage,
    answered,
    estimate_tokens,
    estimated_usage,
    failed,
)
from specledger.oracles.retry_clock import Clock
from specledger.oracles.service import (
    E_MODEL_PACKAGE,
    KEYS,
    Deadline,
    Key,
    address_of,
    key_of,
    open_connection,
    trusted,
)
from specledger.oracles.service_client import (
    ServiceClient,
    connection_failure,
    count_of,
    quiet,
    status_failure,
)
from specledger.spec.base import QFIXED_ONE
from specledger.spec.model import GeminiConfig

if TYPE_CHECKING:
    from google.genai import Client
    from google.genai.types import FunctionCall, GenerateContentConfig, GenerateContentResponse


_DONE: Final = frozenset({None, "STOP", "FINISH_REASON_UNSPECIFIED"})
"""The finish reasons of a complete answer."""

_FULL: Final = "MAX_TOKENS"


def read_answer(response: GenerateContentResponse, request: ModelRequest, hide: Callable[[str], str]) -> ModelAnswer:
    """The answer that a response holds: its first candidate's text, without thoughts, and its calls.

    `hide` takes the key out of whatever the service repeats.
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
    if finish == _FULL:
        return failed(TRUNCATED, "", usage, finish, text or None)
    if finish not in _DONE:
        return failed(WITHHELD, finish or "", usage, finish, text or None)
    calls = [_call(part.function_call, hide) for part in parts if part.function_call] if request.tools else []
    return answered(text, usage, finish, calls) if text or calls else failed(EMPTY, "no text", usage, finish)


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
    """A call as the service reported it; arguments that are not JSON become empty text, which is not JSON either."""
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


class GeminiClient(ServiceClient):
    """Asks a Gemini model.

    Attributes:
        count_estimated: Whether the last count of tokens was a guess.
    """

    def __init__(
        self,
        config: GeminiConfig,
        api_key: str | None = None,
        *,
        environment: Mapping[str, str] = os.environ,
        clock: Clock | None = None,
    ) -> None:
        """Prepare to ask; nothing is sent yet. The key and another address are from the environment if left out."""
        self.count_estimated = False
        self._config = config
        key = Key(api_key) if api_key is not None else key_of(environment, [config.key] if config.key else KEYS)
        super().__init__("gemini", config, key, clock)
        self._client = _open(key, address_of(environment), config.api_version, self._late, self._deadline)

    def generate(
        self, prompt: str, system_instruction: str | None = None, temperature: float | None = None
    ) -> ModelAnswer:
        """Send a prompt, get a text; `temperature` in units, instead of the configured one."""
        fixed = None if temperature is None else round(temperature * QFIXED_ONE)
        return self.ask(ModelRequest(0, system_instruction or "", prompt, temperature=fixed))

    def generate_json(self, prompt: str, system_instruction: str | None = None) -> tuple[Any, ModelAnswer]:
        """Send a prompt, get a JSON value; None where there is none; the answer says why."""
        answer = self.generate(prompt, system_instruction)
        if answer.text is None or not answer.usable:
            return None, answer
        try:
            return parse_json(answer.text.encode()), answer
        except ValueError:
            return None, failed(MALFORMED, "the text is no JSON", answer.usage, answer.finish, answer.text)

    def count_tokens(self, text: str) -> int:
        """The service's own count; an estimate where it gives none."""
        self._begin()
        from google.genai import types  # noqa: PLC0415 - as in `_open`

        settings = types.CountTokensConfig(http_options=types.HttpOptions(timeout=self._left_ms()))
        try:
            with quiet(), self._deadline.within(self._left_ms() / 1000):
                models = self._client.models
                counted = models.count_tokens(model=self._config.model, contents=text, config=settings).total_tokens
        except Exception:  # the service and its package are outside: whatever they raise, a count can be guessed
            counted = None
        self.count_estimated = type(counted) is not int or counted < 0
        return estimate_tokens(text) if counted is None or self.count_estimated else counted

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def _send(self, request: ModelRequest) -> ModelAnswer:
        models, settings = self._client.models, self._settings(request)
        response = models.generate_content(model=self._config.model, contents=request.prompt, config=settings)
        return read_answer(response, request, self._key.hide)

    def _reason(self, error: Exception) -> tuple[str, str]:
        from google.genai.errors import APIError  # noqa: PLC0415 - loaded already where an error is read

        if not isinstance(error, APIError):
            return connection_failure(error)
        detail = f"HTTP {error.code} {_word(error.status) or ''}: {_word(error.message) or ''}"
        wrong_key = error.code == 400 and "API_KEY" in str(error.details)
        return status_failure(error.code, detail, wrong_key=wrong_key)

    def _settings(self, request: ModelRequest) -> GenerateContentConfig:
        from google.genai import types  # noqa: PLC0415 - as in `_open`

        config = self._config
        json_mode = config.json_mode and not request.tools
        declared = [
            types.FunctionDeclaration(
                name=tool.name, description=tool.description, parameters_json_schema=dict(tool.parameters)
            )
            for tool in request.tools
        ]
        called = types.FunctionCallingConfig(mode=types.FunctionCallingConfigMode.ANY)
        thinking = None
        if config.thinking_budget is not None:
            thinking = types.ThinkingConfig(thinking_budget=config.thinking_budget)
        return types.GenerateContentConfig(
            system_instruction=request.system or None,
            temperature=self._temperature(request),
            top_p=config.top_p / QFIXED_ONE,
            top_k=config.top_k,
            seed=config.seed,
            max_output_tokens=config.max_output_tokens,
            response_mime_type="application/json" if json_mode else None,
            response_json_schema=dict(request.schema) if json_mode and request.schema is not None else None,
            tools=[types.Tool(function_declarations=declared)] if declared else None,
            tool_config=types.ToolConfig(function_calling_config=called) if declared else None,
            automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True) if declared else None,
            thinking_config=thinking,
            http_options=types.HttpOptions(timeout=self._left_ms()),
        )


def _open(key: Key, address: str, version: str, late: Callable[[], bool], deadline: Deadline) -> Client:
    """The package's client: no way to another service, and no recording of its own, whatever the environment says."""
    try:
        from google import genai  # noqa: PLC0415 - takes 0.4 s; only who asks a Gemini model loads it
        from google.genai import types  # noqa: PLC0415
        from google.genai.client import DebugConfig  # noqa: PLC0415

        with quiet():
            return genai.Client(
                vertexai=False,
                api_key=key.reveal(),
                debug_config=DebugConfig(client_mode="", replays_directory="", replay_id=""),
                http_options=types.HttpOptions(
                    base_url=address,
                    api_version=version,
                    httpx_client=open_connection(address, late, deadline),
                    async_client_args={"verify": trusted(), "ssl": trusted()},  # never used, but made
                ),
            )
    except ImportError:
        raise missing_package(E_MODEL_PACKAGE, "google-genai", "gemini") from None
