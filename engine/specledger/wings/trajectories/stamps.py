"""Time stamps of logs, in one form: microseconds since 1970 in UTC.

Read are times as RFC 3339 and ISO 8601 write them, and numbers since 1970: of seconds, milliseconds, microseconds or
nanoseconds, which their size tells apart. A time without an offset is taken to be UTC, as its log has no other. What is
no time stays the text that it was.
"""

from __future__ import annotations

import re
from datetime import date, datetime
from fractions import Fraction
from typing import Any, Final

from specledger.core.canonical import MAX_INTEGER
from specledger.core.log_json import as_text

Stamp = int | str
"""Microseconds, the text that is no time, or an empty text where there is none."""

_WRITTEN: Final = re.compile(
    r"\s*([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]{1,30}))?)?"
    r"\s*(?:[Zz]|([+-])([0-9]{2}):?([0-9]{2})?)?\s*"
)
NANOSECONDS: Final = Fraction(1, 1000)
"""The microseconds of one."""
_NUMBER: Final = re.compile(r"\s*[0-9]{1,20}(?:\.[0-9]{1,30})?\s*")
_BEGIN: Final = datetime(1970, 1, 1)  # noqa: DTZ001 - of times in UTC without an offset
_EPOCH: Final = _BEGIN.toordinal()
_MICROSECONDS: Final = 1_000_000
_SCALES: Final = ((10**11, Fraction(10**6)), (10**14, Fraction(10**3)), (10**17, Fraction(1)))
"""Below which size a number counts what: seconds, milliseconds, microseconds; nanoseconds above all of them."""
_LONGEST: Final = 200


def stamp_of(value: Any, scale: Fraction | None = None) -> Stamp:
    """A time stamp as a log writes it, in microseconds; the text if it is no time, cut at a length.

    Where the log's format says what its numbers count, `scale` is how many microseconds that are.
    """
    text = value if isinstance(value, str) else as_text(value)
    if not text:
        return ""
    number = _microseconds(text, scale) if len(text) <= _LONGEST else None
    return text[:_LONGEST] if number is None or abs(number) > MAX_INTEGER else number


def stamp_at(microseconds: int) -> Stamp:
    """The time stamp of a number of microseconds; a text where no stamp is so large."""
    return microseconds if abs(microseconds) <= MAX_INTEGER else f"{microseconds} microseconds"


def _usual(text: str) -> int | None:
    """The microseconds of a time as most logs write it, `2026-05-14T09:00:05.123Z`; None for any other text."""
    marks = text[4:11:3] + text[-1:]
    if marks != "--TZ" or text[19:20] not in (".", "Z") or text[11:13] > "23":
        return None
    try:
        passed = datetime.fromisoformat(text[:-1]) - _BEGIN
    except (ValueError, TypeError):
        return None
    return (passed.days * 86_400 + passed.seconds) * _MICROSECONDS + passed.microseconds


def _microseconds(text: str, scale: Fraction | None) -> int | None:
    if (usual := _usual(text)) is not None:
        return usual
    written = _WRITTEN.fullmatch(text)
    if written is not None:
        return _of_date(written)
    number = _NUMBER.fullmatch(text)
    if number is None:
        return None
    counted = Fraction(text.strip()) if "." in text else int(text)
    scale = scale or next((scale for most, scale in _SCALES if counted < most), NANOSECONDS)
    return counted * scale.numerator // scale.denominator


def _of_date(written: re.Match[str]) -> int | None:
    """The microseconds of a written time; None if a clock or a calendar has no such one. A leap second is the next."""
    year, month, day, hour, minute, second = (int(part or 0) for part in written.groups()[:6])
    fraction, sign, hours, minutes = written.groups()[6:]
    try:
        days = date(year, month, day).toordinal() - _EPOCH
    except ValueError:
        return None
    offset = int(hours or 0), int(minutes or 0)
    if hour > 23 or minute > 59 or second > 60 or offset[0] > 23 or offset[1] > 59:
        return None
    east = (offset[0] * 60 + offset[1]) * (-60 if sign == "-" else 60)
    seconds = days * 86_400 + hour * 3600 + minute * 60 + second - east
    return seconds * _MICROSECONDS + int((fraction or "0")[:6].ljust(6, "0"))
