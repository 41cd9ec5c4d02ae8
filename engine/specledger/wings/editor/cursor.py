"""Where a cursor is in the text of a spec, also in one that cannot be parsed because it is being typed.

The way from the root is read off indentation and, inside braces, off brackets and commas.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from specledger.load.document import Document, Node, Path

_KEY: Final = re.compile(r"(?P<key>\"[^\"]*\"|'[^']*'|[^\s#\[\]{},\"'][^#\[\]{},]*?)\s*:(?:\s+|$)(?P<value>.*)$")
_DASH: Final = re.compile(r"-(?:\s+|$)")
_FLOW: Final = re.compile(r"\"[^\"]*\"|'[^']*'|[\[\]{},]|:(?=\s|$)|[^\[\]{},:\"'\s]+(?:[ ]+[^\[\]{},:\"'\s]+)*|:")


class Cursor(Struct, frozen=True):
    """What is being typed.

    Attributes:
        path: The keys and indices of the collection that it is in.
        key: The key whose value is being typed; None where a key, or an element of a list, is.
        prefix: What stands before the cursor of the key or the value.
        element: Whether an element of a list is being typed.
    """

    path: Path
    key: str | None = None
    prefix: str = ""
    element: bool = False

    @property
    def value_path(self) -> Path:
        """The path of the value that is being typed."""
        return self.path if self.key is None else (*self.path, self.key)


class _Line(Struct, frozen=True):
    """A line of a block collection: what it opens, from its indentation on."""

    levels: tuple[tuple[int, str | int], ...]
    rest: str
    column: int


def cursor_at(lines: Sequence[str], row: int, column: int) -> Cursor:
    """The cursor at a line and a column, both from 0."""
    above = [_line(line) for line in lines[:row] if line.strip() and not line.lstrip().startswith("#")]
    here = _line(lines[row][:column] if row < len(lines) else "")
    levels = [*here.levels]
    limit = levels[0][0] if levels else here.column
    dashed = bool(levels) and levels[0][1] == 0 and isinstance(levels[0][1], int)
    for line in reversed(above):
        for at, step in reversed(line.levels):
            if at < limit or (at == limit and dashed and isinstance(step, str)):
                levels.insert(0, (at, step))
                limit, dashed = at, isinstance(step, int)
    path = tuple(step for _, step in levels)
    on_line = bool(here.levels)
    if any(mark in here.rest for mark in "[{"):
        return _in_flow(path, here.rest)
    last = here.levels[-1][1] if on_line else None
    if isinstance(last, str):
        return Cursor(path[:-1], last, here.rest)
    return Cursor(path, prefix=here.rest, element=isinstance(last, int))


def _line(text: str) -> _Line:
    """The dashes and the key that a line begins with, each with its column, and what follows."""
    levels: list[tuple[int, str | int]] = []
    column = len(text) - len(text.lstrip(" "))
    rest = text[column:]
    while (dash := _DASH.match(rest)) is not None:
        levels.append((column, 0))
        column += dash.end()
        rest = rest[dash.end() :]
    key = _KEY.match(rest)
    if key is not None:
        levels.append((column, key["key"].strip("\"'")))
        rest = key["value"]
    return _Line(tuple(levels), rest, column)


def _in_flow(path: Path, text: str) -> Cursor:
    """The cursor at the end of a text that opens braces or brackets."""
    stack: list[tuple[str, str | int | None]] = []
    word = ""
    for match in _FLOW.finditer(text):
        token = match[0]
        if token in ("{", "["):
            stack.append((token, 0 if token == "[" else None))
            word = ""
        elif token in ("}", "]"):
            stack = stack[:-1]
            word = ""
        elif not stack:
            continue
        elif token == ",":
            mark, step = stack[-1]
            stack[-1] = (mark, None if mark == "{" else 0)
            word = ""
        elif token == ":":
            if stack[-1][0] == "{" and stack[-1][1] is None:
                stack[-1] = ("{", word.strip("\"'"))
                word = ""
        else:
            word = token
    if not stack:
        return Cursor(path, prefix="")
    steps = (*path, *(step for _, step in stack[:-1] if step is not None))
    mark, step = stack[-1]
    prefix = word if text.endswith(word) else ""
    if mark == "[":
        return Cursor((*steps, 0), prefix=prefix, element=True)
    return Cursor(steps, str(step), prefix) if step is not None else Cursor(steps, prefix=prefix)


def node_at(document: Document, offset: int) -> tuple[Path, Node, bool] | None:
    """The path and the innermost value at an offset, and whether it is the key that is there; None if none is."""
    hit: tuple[Path, Node, bool] | None = None
    for path, node in document.root.walk():
        if node.key is not None and node.key.start <= offset <= node.key.end:
            return path, node, True
        if node.style not in ("block", "flow") and node.place.start <= offset <= node.place.end:
            hit = path, node, False
    return hit
