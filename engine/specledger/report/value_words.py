"""Values of the evidence for people: in words on one line, or laid out over indented lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from specledger.core.diagnostics import printable
from specledger.report.markup import shorten

_LONGEST: Final = 160  # characters of a value in words
_WIDTH: Final = 100  # characters of a line
_LARGE: Final = 1_000_000  # integers from here on have their digits in groups
_LONG_TEXT: Final = 80  # characters of a text that is shown


def in_words(value: Any) -> str:
    """A value on one line, shortened: `id coin-1, x 3, y 5`; `none` for an empty list."""
    return shorten(_words(value), _LONGEST)


def _words(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None or value in ([], {}):
        return "none"
    if isinstance(value, dict):
        return ", ".join(f"{name} {_inner(member)}" for name, member in value.items())
    if isinstance(value, list):
        return "; ".join(_words(member) if isinstance(member, dict) else _inner(member) for member in value)
    return f"{value:,}" if type(value) is int and abs(value) >= _LARGE else str(value)


def _inner(value: Any) -> str:
    return f"({_words(value)})" if isinstance(value, list | dict) and value else _words(value)


def laid_out(value: Any, margin: str = "") -> Iterator[str]:
    """The lines of a value: what fits stands on one line, a row of numbers too; long texts are shortened."""
    if isinstance(value, dict):
        for name, member in value.items():
            yield from _member(f"{margin}{printable(name)}:", member, margin)
    elif isinstance(value, list):
        for member in value:
            yield from _member(f"{margin}-", member, margin)
    else:
        yield f"{margin}{_line(value)}"


def _member(head: str, value: Any, margin: str) -> Iterator[str]:
    line = _line(value)
    row = isinstance(value, list) and not any(isinstance(member, list | dict) for member in value)
    if row or not isinstance(value, list | dict) or len(head) + len(line) < _WIDTH:
        yield f"{head} {line}"
    else:
        yield head
        yield from laid_out(value, f"{margin}  ")


def _line(value: Any) -> str:
    if isinstance(value, list) and value and all(type(member) is int for member in value):
        return " ".join(map(str, value))
    if isinstance(value, str) and len(value) > _LONG_TEXT:
        return f"{printable(value[:_LONG_TEXT])}\u2026 ({len(value):,} characters)"
    return printable(_words(value)) if isinstance(value, list | dict) else printable(str(_words(value)))
