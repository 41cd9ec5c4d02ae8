"""A Gemini model over HTTP, through google-genai 3.4.

Whatever goes wrong between here and the service is an answer with a failure. Source: law proposer, section 4,
GeminiClient.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from specledger.core.canonical import parse_json
from specledger.core.diagnostics import missing_package
from specledger.oracles.failures import MALFORMED
from specledger.oracles.gemini_response import read_answer, reason_of
from specledger.oracles.http_failures import pause_of
from specledger.oracles.model import ModelAnswer, ModelRequest, estimate_tokens, failed
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
from specledger.oracles.service_client import ServiceClient, quiet, service_identity
from specledger.spec.base import QFIXED_ONE
from specledger.spec.model import GeminiConfig

if TYPE_CHECKING:
    from google.genai import Client
    from google.genai.types import GenerateContentConfig


class GeminiClient(ServiceClient):
    """Asks a Gemini model.

    Attributes:
        last_usage: What the last call cost.
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
        """Prepare to ask; nothing is sent yet.

        Args:
            config: What is asked how.
            api_key: The key; from the environment if left out.
            environment: Where the key and another address may stand.
            clock: Of this machine if left out.

        Raises:
            Rejected: E_MODEL_KEY, E_MODEL_ADDRESS, E_MODEL_PACKAGE.
        """
        self.count_estimated = False
        self._config = config
        key = Key(api_key) if api_key is not None else key_of(environment, [config.key] if config.key else KEYS)
        super().__init__(config, key, clock)
        self._client = _open(key, address_of(environment), self._late, self._deadline)

    @property
    def identity(self) -> Mapping[str, Any]:
        """The service's model and its settings."""
        return identity_of(self._config)

    def generate(
        self, prompt: str, system_instruction: str | None = None, temperature: float | None = None
    ) -> ModelAnswer:
        """Send a prompt, get a text; `temperature` in units, instead of the configured one."""
        held = None if temperature is None else round(temperature * QFIXED_ONE)
        return self.ask(ModelRequest(0, system_instruction or "", prompt, temperature=held))

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
        """The service's own count; an estimate, and `count_estimated`, where it gives none."""
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

    def _call(self, request: ModelRequest) -> tuple[ModelAnswer, float]:
        """One call, and for how many seconds the service asks to wait before the next one."""
        settings = self._settings(request)
        try:
            with quiet(), self._deadline.within(self._left_ms() / 1000):
                response = self._client.models.generate_content(
                    model=self._config.model, contents=request.prompt, config=settings
                )
                return read_answer(response, request, self._key.hide), 0.0
        except Exception as error:  # the service and its package are outside: whatever they raise is an answer
            failure, detail = reason_of(error)
            return failed(failure, self._key.hide(detail)), pause_of(error)

    def _settings(self, request: ModelRequest) -> GenerateContentConfig:
        from google.genai import types  # noqa: PLC0415 - as in `_open`

        config = self._config
        held = config.temperature if request.temperature is None else request.temperature
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
            temperature=held / QFIXED_ONE,
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


def identity_of(config: GeminiConfig) -> dict[str, Any]:
    """What an answer depends on beside the request: all settings but how long one waits."""
    return service_identity("gemini", config)


def _open(key: Key, address: str, late: Callable[[], bool], deadline: Deadline) -> Client:
    """The package's client: no way to another service, and no recording of its own, whatever the environment says.

    Raises:
        Rejected: E_MODEL_PACKAGE.
    """
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
                    httpx_client=open_connection(address, late, deadline),
                    async_client_args={"verify": trusted(), "ssl": trusted()},  # never used, but made
                ),
            )
    except ImportError:
        raise missing_package(E_MODEL_PACKAGE, "google-genai", "gemini") from None
