"""The layout of a spec's text: two spaces a level, the order of keys of the models, double quotes, no trailing space.

The text is taken apart along the tree of its nodes and put together again line by line, so that comments, blank lines,
flow collections and the writing of scalars stay as their author has them. A comment belongs to what follows it, or to
what it is indented below. Keys of mappings with free names keep their order.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from specledger.load.document import Document, Node, Source
from specledger.load.shapes import ModelType, Shape
from specledger.spec.base import Spec

_STEP: Final = "  "
_HEAD: Final = (*Spec.model_fields, "extends", "params", "matrix", "use")
"""The keys that come first in a document; the last ones are of no model."""
_FIXED: Final = "\0"
"""Ends a line of a scalar after which no blank line may be added or left out; no text of a spec has this character."""
_FIXED_LINE: Final = re.compile(rf"(?:^ +)?{_FIXED}", re.MULTILINE)
_COMMENT: Final = re.compile(r"(?:^|(?<=\s))#.*")


class _Part(Struct):
    """A member of a block collection: the comments before it, and its own lines, all as if it were not indented."""

    lead: list[str]
    lines: list[str]


def layout(document: Document, model: ModelType) -> str:
    """The text of a document in the layout of the package; the same text if it is laid out so already."""
    text = _double_quotes(document)
    lines = _Layout(Source(document.path, text)).document(document.root, Shape(model))
    kept = [
        line for line, before in zip(lines, ["", *lines], strict=False) if line or (before and before[-1] != _FIXED)
    ]
    text = "\n".join(kept).rstrip("\n") + "\n"
    return _FIXED_LINE.sub("", text)


def comments(document: Document) -> list[str]:
    """The comments of a document, sorted."""
    covered = sorted(
        (part.start, part.end)
        for _, node in document.root.walk()
        for part in (node.key, node.place if node.style not in ("block", "flow") else None)
        if part is not None
    )
    texts, at = [], 0
    for start, end in [*covered, (len(document.text), len(document.text))]:
        gap = document.text[max(at - 1, 0) : start]
        texts += [match[0].rstrip() for match in _COMMENT.finditer(gap, min(at, 1)) if match[0].strip()]
        at = max(at, end)
    return sorted(comment for text in texts for comment in text.split("\n"))


def _double_quotes(document: Document) -> str:
    """The text with double quotes in place of single ones, where neither escapes nor quotes are inside."""
    text = document.text
    for _, node in document.root.walk():
        for part in (node.key, node.place if node.style == "single" else None):
            written = "" if part is None else text[part.start : part.end]
            inner = written[1:-1]
            if part is not None and written[:1] == "'" and not set(inner) & set("\"'\\\n"):
                text = f'{text[: part.start]}"{inner}"{text[part.end :]}'
    return text


def key_order(shapes: Sequence[Shape]) -> tuple[str, ...]:
    """The order of the keys of a mapping: that of the fields of its model, whose head comes first in a document."""
    order: dict[str, None] = {}
    for leaf in (leaf for shape in shapes for leaf in shape.leaves):
        if leaf.model is not None:
            head = _HEAD if issubclass(leaf.model, Spec) else ()
            last = _last_keys(leaf.model)
            order |= dict.fromkeys([*head, *(key for key in leaf.fields if key not in last), *leaf.fields])
    return tuple(order)


def _last_keys(model: ModelType) -> set[str]:
    """The keys that come from a model whose keys come last."""
    parents = [parent for parent in model.__mro__[1:] if vars(parent).get("keys_come_last")]
    return {key for parent in parents for key in Shape(parent).fields}


class _Layout:
    """Lays out the text of one source; positions of nodes are those of its text."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._lines = source.text.split("\n")

    def document(self, root: Node, shape: Shape) -> list[str]:
        """The lines of a document, with what stands before its first key."""
        if not root.is_mapping or root.style != "block":
            return [line.rstrip() for line in self._lines]
        first, _ = self._at(root.place.start)
        parts = self._mapping(root, (shape,), first, len(self._lines))
        return [*(line.rstrip() for line in self._lines[:first]), *_joined(parts)]

    def _mapping(self, node: Node, shapes: tuple[Shape, ...], start: int, end: int) -> list[_Part]:
        """The entries of a block mapping, in order; its lines are those from `start` to before `end`."""
        members = list(node.members.items())
        starts = [self._at(member.key.start if member.key else member.place.start) for _, member in members]
        column = starts[0][1]
        bounds, tail = self._bounds([member for _, member in members], [line for line, _ in starts], column, start, end)
        parts: dict[str, _Part] = {}
        for (key, member), (lead, line, stop) in zip(members, bounds, strict=True):
            inside = tuple(inner for shape in shapes for inner in shape.inside(key))
            parts[key] = _Part(self._lead(lead, line), self._entry(member, inside, line, stop))
        order = {key: number for number, key in enumerate(key_order(shapes))}
        known = sorted((key for key in parts if key in order), key=order.__getitem__)
        return [*(parts[known.pop(0) if key in order else key] for key in [*parts]), _Part(tail, [])]

    def _sequence(self, node: Node, shapes: tuple[Shape, ...], start: int, end: int) -> list[_Part]:
        """The items of a block sequence."""
        column = self._at(node.place.start)[1]
        dashes, after = [], self._at(node.place.start)[0]
        for item in node.elements:
            dashes.append(next(line for line in range(after, len(self._lines)) if self._content(line)))
            after = self._last(item) + 1
        bounds, tail = self._bounds(node.elements, dashes, column, start, end)
        inside = tuple(inner for shape in shapes for inner in shape.inside(0))
        parts = []
        for item, (lead, line, stop) in zip(node.elements, bounds, strict=True):
            above, lines = self._item(item, inside, line, stop, column)
            parts.append(_Part([*self._lead(lead, line), *above], lines))
        return [*parts, _Part(tail, [])]

    def _item(
        self, item: Node, shapes: tuple[Shape, ...], line: int, stop: int, column: int
    ) -> tuple[list[str], list[str]]:
        """The comments that go before an item, and its lines with its dash."""
        first, _ = self._at(item.place.start)
        if item.style != "block":
            if first > line:
                text = self._lines[line][column + 1 :].strip()
                below = [*self._lead(line + 1, first), *self._inline("", item, stop, column)]
                return [], [f"- {text}".rstrip(), *_indented(below)]
            return [], self._inline("- ", item, stop, column)
        parts = self._collection(item, shapes, line + 1 if first > line else line, stop)
        above = [*parts[0].lead]
        if first > line:
            comment = self._lines[line][column + 1 :].strip()
            above = [*([comment] if comment else []), *above]
        parts[0] = _Part([], parts[0].lines)
        lines = _indented(_joined(parts))
        return [text for text in above if text], [f"- {lines[0].strip()}", *lines[1:]]

    def _entry(self, member: Node, shapes: tuple[Shape, ...], line: int, stop: int) -> list[str]:
        """The lines of a key and its value."""
        key = self._source.text[member.key.start : member.key.end] if member.key else ""
        first, _ = self._at(member.place.start)
        column = self._at(member.key.start)[1] if member.key else 0
        if first == line:
            return self._inline(f"{key}: ", member, stop, column)
        rest = self._lines[line][self._at(member.key.end)[1] :] if member.key else ""
        head = f"{key}:{rest.rstrip().partition(':')[2]}"
        if member.style in ("literal", "folded") and first == line + 1 and head == f"{key}:":
            return self._inline(f"{key}: ", member, stop, column)
        if member.style == "block":
            return [head, *_indented(_joined(self._collection(member, shapes, line + 1, stop)))]
        return [head, *_indented([*self._lead(line + 1, first), *self._inline("", member, stop, column)])]

    def _collection(self, node: Node, shapes: tuple[Shape, ...], start: int, stop: int) -> list[_Part]:
        lay = self._mapping if node.is_mapping else self._sequence
        parts = lay(node, shapes, start, stop)
        while parts[0].lead[:1] == [""]:
            parts[0].lead.pop(0)
        while parts[-1].lead[-1:] == [""]:
            parts[-1].lead.pop()
        return parts

    def _inline(self, head: str, node: Node, stop: int, column: int) -> list[str]:
        """A scalar or a flow collection after `head`, with comments that are indented below it."""
        first, at = self._at(node.place.start)
        last = self._last(node)
        rows = [self._lines[line] for line in range(first + 1, last + 1)]
        if node.style in ("literal", "folded"):
            depth = min((_depth(row) for row in rows if row.strip()), default=0)
            rows = [_STEP + row[depth:] for row in rows]
        elif node.style == "flow":
            rows = [" " * max(_depth(row) - column, 0) + _trimmed(row.lstrip()) for row in rows]
        else:
            rows = [_STEP + _trimmed(row.lstrip()) for row in rows]
        rows = [row if row.strip() else _FIXED for row in rows]
        if rows and node.style in ("literal", "folded") and rows[-1] != _FIXED:
            rows[-1] += _FIXED if self._keeps(node) else ""
        below = _indented(self._lead(last + 1, stop))
        while below and not below[-1]:
            below.pop()
        return [head + _trimmed(self._lines[first][at:]), *rows, *below]

    def _bounds(
        self, nodes: Sequence[Node], lines: Sequence[int], column: int, start: int, end: int
    ) -> tuple[list[tuple[int, int, int]], list[str]]:
        """Of each member the line at which its comments begin, its first line, and the line before which it ends.

        Beside them the comments and blank lines after the last member.
        """
        stops = []
        for before, line in zip(nodes, [*lines[1:], end], strict=True):
            gap = range(self._last(before) + 1, line)
            deeper = [number for number in gap if self._lines[number].strip() and _depth(self._lines[number]) > column]
            stops.append(deeper[-1] + 1 if deeper else gap.start)
        return list(zip([start, *stops], lines, stops, strict=False)), self._lead(stops[-1], end)

    def _lead(self, start: int, stop: int) -> list[str]:
        """Comments and blank lines, without indentation."""
        return [self._lines[line].strip() for line in range(start, stop)]

    def _content(self, line: int) -> bool:
        text = self._lines[line].strip()
        return bool(text) and not text.startswith("#")

    def _last(self, node: Node) -> int:
        """The last line of a value, without comments after it."""
        inner = [*node.members.values(), *node.elements]
        if node.style == "block" and inner:
            return self._last(inner[-1])
        last, _ = self._at(max(node.place.end - 1, node.place.start))
        first, _ = self._at(node.place.start)
        while (
            node.style in ("literal", "folded")
            and not self._keeps(node)
            and last > first
            and not self._lines[last].strip()
        ):
            last -= 1
        return last

    def _keeps(self, node: Node) -> bool:
        """Whether the line breaks after a block scalar are part of it."""
        return self._source.text[node.place.start + 1] == "+"

    def _at(self, offset: int) -> tuple[int, int]:
        """The line and the column of an offset, both from 0."""
        position = self._source.position(offset)
        return position.line - 1, position.column - 1


def _joined(parts: Sequence[_Part]) -> list[str]:
    return [line for part in parts for line in (*part.lead, *part.lines)]


def _indented(lines: Sequence[str]) -> list[str]:
    return [_STEP + line if line else "" for line in lines]


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _trimmed(line: str) -> str:
    """The line without trailing space, unless its backslash escapes it."""
    bare = line.rstrip(" ")
    return f"{bare} " if bare.endswith("\\") and bare != line else bare
