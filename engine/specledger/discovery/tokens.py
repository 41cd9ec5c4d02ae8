"""Tokens of an answer: where each begins and ends, and what a scalar is worth.

Decides which texts, numbers and words are JSON, within the bounds of what can be hashed. Every text has tokens, and
each is found in a time that its own length bounds. Refuses to know what stands where. Source: RFC 8259.
"""

from __future__ import annotations

import json
import re
from math import isfinite
from typing import Any, Final

from specledger.core.canonical import MAX_INTEGER

TOKEN: Final = re.compile(
    r"(?P<space>[ \t\r\n]+)"
    r'|(?P<text>"[^"\\\x00-\x1f]*(?:\\[^\x00-\x1f][^"\\\x00-\x1f]*)*)(?P<end>"?)'
    r"|(?P<mark>[\[\]{},:])"
    r"|(?P<number>-?[0-9][0-9eE.+-]*)"
    r"|(?P<word>[A-Za-z_$][A-Za-z0-9_$]*)"
    r"|(?P<line>//[^\n]*)"
    r"|(?P<block>/\*)"
    r"|(?P<tick>`+)"
    r"|(?P<other>.)",
    re.DOTALL,
)
"""Its groups say what a token is; `end` is empty after a text that is not closed on its line."""

_INTEGER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)")
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_DIGITS: Final = 40  # characters of a number
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_WORDS: Final = {"true": True, "false": False, "null": None}
_SHOWN: Final = 24  # characters of a token in a reason


class Wrong(ValueError):  # noqa: N818 - says what a token is
    """A token that is no value."""


def scalar(kind: str | None, match: re.Match[str]) -> Any:
    """What a scalar is worth.

    Raises:
        Wrong: It is none.
    """
    if kind == "text":
        return _text(match)
    token = match[0]
    if kind == "word" and token in _WORDS:
        return _WORDS[token]
    if kind == "number" and len(token) <= _DIGITS and _NUMBER.fullmatch(token):
        value = int(token) if _INTEGER.fullmatch(token) else float(token)
        if isfinite(value) and abs(value) <= MAX_INTEGER:
            return value
    shown = token[:_SHOWN] + ("..." if len(token) > _SHOWN else "")
    limit = " within 2^53 - 1" if kind == "number" else ""
    raise Wrong(f"`{shown}` is no value{limit}")


def _text(match: re.Match[str]) -> str:
    """What a text is.

    Raises:
        Wrong: It is not closed on its line, has an escape that there is not, or half of a character.
    """
    if not match["end"]:
        raise Wrong("a text that is not closed on its line")
    try:
        value: str = json.loads(match[0]) if "\\" in match[0] else match[0][1:-1]
    except ValueError:
        raise Wrong("a text with an escape that there is not") from None
    if not value.isascii() and _SURROGATE.search(value):
        raise Wrong("a text with half of a character")
    return value
