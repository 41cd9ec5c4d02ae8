"""Texts of reports: bounded, and escaped so that nothing that evidence says can be markup."""

from __future__ import annotations

from typing import Final

from specledger.core.diagnostics import printable

_ENTITIES: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"})
_PIECE: Final = 1000  # characters that `printable` keeps


def escape(text: str) -> str:
    """The text as it may stand between tags and in attributes, on one line, without control characters."""
    pieces = (printable(text[at : at + _PIECE]) for at in range(0, len(text), _PIECE))
    return "".join(pieces).translate(_ENTITIES)


def shorten(text: str, most: int) -> str:
    """The text, or as much of it as fits with an ellipsis into so many characters."""
    return text if len(text) <= most else text[: max(most - 1, 0)] + "\u2026"


def shorten_at_word(text: str, most: int) -> str:
    """The text, or its whole words that fit with an ellipsis; a word that is longer than the rest is cut."""
    if len(text) <= most:
        return text
    kept = text[: max(most - 1, 0)]
    if not text[len(kept)].isspace():
        kept = kept[: kept.rfind(" ", most // 2) + 1] or kept
    return f"{kept.rstrip()}\u2026"
