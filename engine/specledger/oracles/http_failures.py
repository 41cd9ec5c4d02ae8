"""What an HTTP status, or an error of the connection, is as a failure of a model."""

from __future__ import annotations

from typing import Final

from specledger.core.canonical import MAX_INTEGER
from specledger.oracles.failures import (
    CUT_OFF,
    INVALID,
    MALFORMED,
    RATE_LIMITED,
    REDIRECTED,
    REFUSED,
    TIMED_OUT,
    TOO_LARGE,
    UNAUTHORISED,
    UNAVAILABLE,
)
from specledger.oracles.service import EncodedError, LateError, TooLargeError

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


def pause_of(error: BaseException) -> float:
    """For how many seconds the service asks to wait before the next try; 0 if it does not say."""
    headers = getattr(getattr(error, "response", None), "headers", None)
    asked = "" if headers is None else str(headers.get("retry-after", ""))
    return float(min(int(asked), LONGEST_PAUSE)) if asked.isascii() and asked.isdigit() and len(asked) < 10 else 0.0


def count_of(value: object) -> int | None:
    """A number of tokens as a service told it; None if it cannot be one."""
    return value if type(value) is int and 0 <= value <= MAX_INTEGER else None
