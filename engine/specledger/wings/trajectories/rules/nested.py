"""Texts inside values that are JSON themselves, as where an argument or a part of a result is the body of a request."""

from __future__ import annotations

import re
from typing import Any, Final

from specledger.core.canonical import NotCanonical, canonical_bytes
from specledger.core.log_json import parse_log_json

_BEGINS: Final = re.compile(r"\s*[{\[]")
_EXACT: Final = re.compile(r'\{"\$number":"([^"\\]*)"\}')
"""A number as a log has it, in canonical JSON; in a text its quotes are escaped."""
MOST: Final = 16_000_000
"""Characters of a text that is read as JSON."""


def json_inside(text: str) -> Any:
    """A text that is an object or a list of JSON, as a value; None if it is none, or too large."""
    if len(text) > MOST or not _BEGINS.match(text):
        return None
    try:
        return parse_log_json(text.encode())
    except (NotCanonical, ValueError):
        return None


def json_text(value: Any) -> str:
    """A value as JSON, with the numbers of its log."""
    return _EXACT.sub(r"\1", canonical_bytes(value).decode())
