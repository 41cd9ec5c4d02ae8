"""What the clients of all services share: deadlines, retries, limits, and the failure that an error is."""

from __future__ import annotations

import logging
import os
import sys
import tempfile
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

from specledger.core.canonical import MAX_INTEGER
from specledger.core.digest import hash_json
from specledger.oracles.failures import (
    CUT_OFF,
    INVALID,
    MALFORMED,
    OVER_LIMIT,
    RATE_LIMITED,
    REDIRECTED,
    REFUSED,
    TIMED_OUT,
    TOO_LARGE,
    UNAUTHORISED,
    UNAVAILABLE,
)
from specledger.oracles.model import NO_TOKENS, ModelAnswer, ModelRequest, TokenUsage, failed
from specledger.oracles.retry_clock import Clock
from specledger.oracles.service import Deadline, EncodedError, Key, LateError, TooLargeError
from specledger.spec.base import QFIXED_ONE
from specledger.spec.model import Price, Service

if sys.platform != "win32":
    import fcntl


_SLOT_POLL: Final = 0.05  # seconds between two looks for a free slot


class CallGate:
    """Lets calls through one at a time for each slot, and not more often than is allowed.

    All processes of this user share slots and minutes. A slot is a locked file, so that a process that ends gives its
    slot back. Nothing here is part of evidence.
    """

    def __init__(self, name: str, per_minute: int | None, slots: int | None, clock: Clock) -> None:
        """Gate the calls of the model of this name; None for any number of calls in a minute, or at once."""
        self._name, self._slots, self._clock = name[:32], slots, clock
        self._gap = None if per_minute is None else 60.0 / per_minute

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for a slot and for the next time at which a call may be made, and hold the slot."""
        if sys.platform == "win32" or (self._gap is None and self._slots is None):
            yield
            return
        folder = Path(tempfile.gettempdir()) / f"specledger-calls-{os.getuid()}"
        folder.mkdir(mode=0o700, exist_ok=True)
        slot = None if self._slots is None else self._take(folder, self._slots)
        try:
            if self._gap is not None:
                self._space(folder, self._gap)
            yield
        finally:
            if slot is not None:
                os.close(slot)

    def _take(self, folder: Path, slots: int) -> int:
        while True:
            for number in range(slots):
                file = _open(folder / f"{self._name}.{number}")
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    os.close(file)
                else:
                    return file
            self._clock.wait(_SLOT_POLL)

    def _space(self, folder: Path, gap: float) -> None:
        """Book the next time that is free, and wait for it."""
        file = _open(folder / f"{self._name}.next")
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            content = os.read(file, 64).decode("ascii", "replace")
            now = self._clock.now()
            free = float(content) if content.replace(".", "", 1).isdigit() else now
            at = max(now, min(free, now + 3600))  # after a restart of the machine its clock begins anew
            os.ftruncate(file, 0)
            os.pwrite(file, f"{at + gap:.6f}".encode("ascii"), 0)
        finally:
            os.close(file)
        if at > now:
            self._clock.wait(at - now)


def _open(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)


LONGEST_PAUSE: Final = 3_600
"""Seconds that a service may ask to wait; longer waits are cut."""


def status_failure(status: int, detail: str, *, wrong_key: bool = False) -> tuple[str, str]:
    """The failure of an HTTP status that is no success, and a word more."""
    if status in (401, 403) or wrong_key:
        return UNAUTHORISED, detail
    if status == 429:
        return RATE_LIMITED, detail
    if 300 <= status < 400:
        return REDIRECTED, f"HTTP {status}"
    if 400 <= status < 500:
        return INVALID, detail
    return (UNAVAILABLE, detail) if 500 <= status < 600 else (MALFORMED, f"HTTP {status}")


def connection_failure(error: BaseException) -> tuple[str, str]:
    """The failure of an error that is no answer of the service, and its class; never its text."""
    import httpx2  # noqa: PLC0415 - loaded already where an error is read

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


def count_of(value: object) -> int | None:
    """A number of tokens as the service reported it; None if it is not a valid one."""
    return value if type(value) is int and 0 <= value <= MAX_INTEGER else None


AGAIN: Final = frozenset({RATE_LIMITED, UNAVAILABLE})
"""After these it is asked again."""

LONGEST_WAIT: Final = 30.0
"""Seconds between two tries at most, unless the service asks for more; they begin with one and double."""

_PATIENCE: Final = {"deadline_ms", "retries", "per_minute", "concurrency", "key", "limits", "price", "api_version"}
"""Settings that no answer depends on: how long one waits, what one pays, and by which interface one asks."""

_TALKATIVE: Final = ("google_genai", "openai", "httpx2", "httpcore2")


class ServiceClient(ABC):
    """Asks a service over HTTP."""

    def __init__(self, oracle: str, config: Service, key: Key, clock: Clock | None) -> None:
        self.last_usage = NO_TOKENS
        self._spent = Spent(config)
        self._service = config
        self._key = key
        self._clock = clock or Clock()
        self._end = 0.0
        self._deadline = Deadline()
        name = hash_json(service_identity(oracle, config))
        self._gate = CallGate(name, config.per_minute, config.concurrency, self._clock)

    @abstractmethod
    def _send(self, request: ModelRequest) -> ModelAnswer:
        """Send a request, and read the answer."""

    @abstractmethod
    def _reason(self, error: Exception) -> tuple[str, str]:
        """Why a call failed, and a word more; never the text of an exception that is not the service's own message."""

    def _call(self, request: ModelRequest) -> tuple[ModelAnswer, float]:
        """One call, and for how many seconds the service asks to wait before the next one."""
        try:
            with quiet(), self._deadline.within(self._left_ms() / 1000):
                return self._send(request), 0.0
        except Exception as error:  # the service and its package are outside: whatever they raise is an answer
            failure, detail = self._reason(error)
            return failed(failure, self._key.hide(detail)), pause_of(error)

    def ask(self, request: ModelRequest) -> ModelAnswer:
        """Ask, again after HTTP 429 or 5xx, until there is an answer or the time is over; within the limits."""
        if over := self._spent.over():
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
        self._spent.add(answer.usage)
        return answer

    def _temperature(self, request: ModelRequest) -> float:
        """That of the request, else the model's own."""
        return (self._service.temperature if request.temperature is None else request.temperature) / QFIXED_ONE

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


def pricing(service: Service | None) -> Callable[[int, int], int] | None:
    """What tokens of questions and of answers cost, in millionths; None without a price."""
    price = None if service is None else service.price
    return None if price is None else partial(cost_of, price)


def service_identity(oracle: str, config: Service) -> dict[str, Any]:
    """What an answer depends on beside the request: all settings but how long one waits and what one pays."""
    settings = config.model_dump(exclude=_PATIENCE)
    if settings["seed"] is None:
        del settings["seed"]
    return {"oracle": oracle, **settings}


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
