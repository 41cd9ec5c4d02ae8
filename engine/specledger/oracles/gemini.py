"""A Gemini model over HTTP, through google-genai 3.4.

Whatever goes wrong between here and the service is an answer with a failure. Source: law proposer, section 4,
GeminiClient.
"""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from specledger.core.canonical import parse_json
from specledger.core.diagnostics import Diagnostic, Rejected
from specledger.oracles.failures import MALFORMED, RATE_LIMITED, UNAVAILABLE
from specledger.oracles.gemini_response import pause_of, read_answer, reason_of
from specledger.oracles.model import NO_TOKENS, ModelAnswer, ModelRequest, estimate_tokens, failed
from specledger.oracles.retry_clock import Clock, MachineClock
from specledger.oracles.service import E_MODEL_PACKAGE, Deadline, Key, address_of, key_of, open_connection, trusted
from specledger.spec.base import QFIXED_ONE
from specledger.spec.model import GeminiConfig

if TYPE_CHECKING:
    from google.genai import Client
    from google.genai.types import GenerateContentConfig

AGAIN: Final = frozenset({RATE_LIMITED, UNAVAILABLE})
"""After these it is asked again."""

LONGEST_WAIT: Final = 30.0
"""Seconds between two tries at most, unless the service asks for more; they begin with one and double."""

_TALKATIVE: Final = ("google_genai", "httpx2", "httpcore2")
_PATIENCE: Final = frozenset({"deadline_ms", "retries"})  # say how long to wait, not what is asked


class GeminiClient:
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
        self.last_usage = NO_TOKENS
        self.count_estimated = False
        self._config = config
        self._key = key_of(environment) if api_key is None else Key(api_key)
        self._clock = clock or MachineClock()
        self._end = 0.0
        self._deadline = Deadline()
        self._client = _open(self._key, address_of(environment), self._late, self._deadline)

    @property
    def identity(self) -> Mapping[str, Any]:
        """The service's model and its settings."""
        return identity_of(self._config)

    @property
    def outside(self) -> bool:
        """Always."""
        return True

    def ask(self, request: ModelRequest) -> ModelAnswer:
        """Ask, again after HTTP 429 or 5xx, until there is an answer or the time is over."""
        self._end = self._clock.now() + self._config.deadline_ms / 1000
        tries = 0
        while True:
            answer, pause = self._call(request)
            wait = max(pause, min(2.0**tries, LONGEST_WAIT))
            tries += 1
            if answer.failure not in AGAIN or tries > self._config.retries or wait >= self._end - self._clock.now():
                break
            self._clock.wait(wait)
        self.last_usage = answer.usage
        return answer

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
        self._end = self._clock.now() + self._config.deadline_ms / 1000
        from google.genai import types  # noqa: PLC0415 - as in `_open`

        settings = types.CountTokensConfig(http_options=types.HttpOptions(timeout=self._left_ms()))
        try:
            with _quiet(), self._deadline.within(self._left_ms() / 1000):
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
            with _quiet(), self._deadline.within(self._left_ms() / 1000):
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
        thinking = None
        if config.thinking_budget is not None:
            thinking = types.ThinkingConfig(thinking_budget=config.thinking_budget)
        return types.GenerateContentConfig(
            system_instruction=request.system or None,
            temperature=held / QFIXED_ONE,
            top_p=config.top_p / QFIXED_ONE,
            top_k=config.top_k,
            max_output_tokens=config.max_output_tokens,
            response_mime_type="application/json" if config.json_mode else None,
            response_json_schema=dict(request.schema) if config.json_mode and request.schema is not None else None,
            thinking_config=thinking,
            http_options=types.HttpOptions(timeout=self._left_ms()),
        )

    def _left_ms(self) -> int:
        """Milliseconds until the time is over, at least one: zero would mean no deadline."""
        return max(1, round((self._end - self._clock.now()) * 1000))

    def _late(self) -> bool:
        return self._clock.now() > self._end


def identity_of(config: GeminiConfig) -> dict[str, Any]:
    """What an answer depends on beside the request: all settings but how long one waits."""
    return {"oracle": "gemini", **config.model_dump(exclude=set(_PATIENCE))}


def _open(key: Key, address: str, late: Callable[[], bool], deadline: Deadline) -> Client:
    """The package's client: no way to another service, and no recording of its own, whatever the environment says.

    Raises:
        Rejected: E_MODEL_PACKAGE.
    """
    try:
        from google import genai  # noqa: PLC0415 - takes 0.4 s; only who asks a Gemini model loads it
        from google.genai import types  # noqa: PLC0415
        from google.genai.client import DebugConfig  # noqa: PLC0415

        with _quiet():
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
        raise Rejected([Diagnostic(E_MODEL_PACKAGE, "the package `google-genai` is not installed")]) from None


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep the package from writing of its own accord.

    It warns of two keys though it was given one, and it and what it is made of repeat what a service sends.
    """
    levels = {name: logging.getLogger(name).level for name in _TALKATIVE}
    for name in levels:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)
