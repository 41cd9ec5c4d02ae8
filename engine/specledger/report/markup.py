"""XML elements as text, in which nothing that evidence says can be markup."""

from __future__ import annotations

from typing import Final

from specledger.core.diagnostics import printable

_ENTITIES: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"})


def escape(text: str) -> str:
    """The text as it may stand between tags and in attributes, on one line, without control characters."""
    return printable(text).translate(_ENTITIES)


def shorten(text: str, most: int) -> str:
    """The text, or as much of it as fits with an ellipsis into so many characters."""
    return text if len(text) <= most else text[: max(most - 1, 0)] + "\u2026"


def tag(name: str, /, *inner: str, **attributes: int | str) -> str:
    """An element with what is inside it, which is markup already.

    Args:
        name: Its name.
        inner: Elements, or text that `escape` made.
        attributes: In the order in which they are written; `_` stands for `-`, and one at the end is dropped.
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{str(value).translate(_ENTITIES)}"' for key, value in attributes.items()
    )
    return f"<{name}{written}>{''.join(inner)}</{name}>" if inner else f"<{name}{written}/>"


def label(text: str, x: int, y: int, most: int = 80, **attributes: int | str) -> str:
    """A text element of at most so many characters at a place."""
    return tag("text", escape(shorten(text, most)), x=x, y=y, **attributes)
