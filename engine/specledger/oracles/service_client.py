"""What the clients of all services share: deadlines, retries, limits, and that a failure is an answer."""

from __future__ import annotations

import logging
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from specledger.core.digest import hash_json
from specledger.oracles.call_gate import CallGate
from specledger.oracles.failures import OVER_LIMIT, RATE_LIMITED, UNAVAILABLE
from specledger.oracles.model import NO_TOKENS, ModelAnswer, ModelRequest, TokenUsage, estimate_tokens, failed
from specledger.oracles.retry_clock import Clock, MachineClock
from specledger.oracles.service import Deadline, Key
from specledger.spec.model import Price, Service

AGAIN: Final = frozenset({RATE_LIMITED, UNAVAILABLE})
"""After these it is asked again."""

LONGEST_WAIT: Final = 30.0
"""Seconds between two tries at most, unless the service asks for more; they begin with one and double."""

_PATIENCE: Final = {"deadline_ms", "retries", "per_minute", "concurrency", "key", "limits", "price"}
"""Settings that no answer depends on."""

_TALKATIVE: Final = ("google_genai", "openai", "httpx2", "httpcore2")


class ServiceClient(ABC):
    """Asks a service over HTTP.

    Attributes:
        last_usage: What the last call cost.
        spent: What all calls cost; set it to what an earlier part of the run has used.
    """

    def __init__(self, config: Service, key: Key, clock: Clock | None) -> None:
        self.last_usage = NO_TOKENS
        self.spent = Spent(config)
        self._service = config
        self._key = key
        self._clock = clock or MachineClock()
        self._end = 0.0
        self._deadline = Deadline()
        self._gate = CallGate(hash_json(dict(self.identity)), config.per_minute, config.concurrency, self._clock)

    @property
    @abstractmethod
    def identity(self) -> Mapping[str, Any]:
        """The service's model and its settings."""

    @property
    def outside(self) -> bool:
        """Always."""
        return True

    @abstractmethod
    def _call(self, request: ModelRequest) -> tuple[ModelAnswer, float]:
        """One call, and for how many seconds the service asks to wait before the next one."""

    def ask(self, request: ModelRequest) -> ModelAnswer:
        """Ask, again after HTTP 429 or 5xx, until there is an answer or the time is over; within the limits."""
        if over := self.spent.over():
            self.last_usage = NO_TOKENS
            return failed(OVER_LIMIT, over)
        self._begin()
        tries = 0
        while True:
            with self._gate.turn():
                answer, pause = self._call(request)
            wait = max(pause, min(2.0**tries, LONGEST_WAIT))
            tries += 1
            if answer.failure not in AGAIN or tries > self._service.retries or wait >= self._end - self._clock.now():
                break
            self._clock.wait(wait)
        self.last_usage = answer.usage
        self.spent.add(answer.usage)
        return answer

    def count_tokens(self, text: str) -> int:
        """An estimate."""
        return estimate_tokens(text)

    def _begin(self) -> None:
        self._end = self._clock.now() + self._service.deadline_ms / 1000

    def _left_ms(self) -> int:
        """Milliseconds until the time is over, at least one: zero would mean no deadline."""
        return max(1, round((self._end - self._clock.now()) * 1000))

    def _late(self) -> bool:
        return self._clock.now() > self._end


class Spent:
    """The tokens that calls have used, and what they cost, against the limits of a model's spec."""

    def __init__(self, config: Service) -> None:
        self._limits, self._price = config.limits, config.price
        self._input = self._output = 0

    def add(self, usage: TokenUsage) -> None:
        """Count a call."""
        self._input += usage.prompt_tokens
        self._output += usage.output_tokens + usage.thinking_tokens

    @property
    def money(self) -> int:
        """What the calls cost, in millionths of the currency, rounded up."""
        return 0 if self._price is None else cost_of(self._price, self._input, self._output)

    def over(self) -> str:
        """Which limit is reached, for people; empty if none is."""
        tokens, money = self._limits.tokens, self._limits.money
        if tokens is not None and self._input + self._output >= tokens:
            return f"limits.tokens: {self._input + self._output} of {tokens}"
        if money is not None and self.money >= money:
            return f"limits.money: {self.money} of {money} millionths"
        return ""


def cost_of(price: Price, prompt: int, output: int) -> int:
    """What tokens cost, in millionths of the currency, rounded up; thinking is output."""
    return -(-(prompt * price.input + output * price.output) // 1_000_000)


def service_identity(oracle: str, config: Service) -> dict[str, Any]:
    """What an answer depends on beside the request: all settings but how long one waits and what one pays."""
    told = config.model_dump(exclude=_PATIENCE)
    if told["seed"] is None:
        del told["seed"]
    return {"oracle": oracle, **told}


@contextmanager
def quiet() -> Iterator[None]:
    """Keep the packages of services from writing of their own accord: they repeat what a service sends."""
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
