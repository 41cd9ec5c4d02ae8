"""What may be written at a cursor: keys, names of specs, and values that a key allows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal

from msgspec import Struct

from specledger.core.diagnostics import Rejected
from specledger.kinds import KINDS
from specledger.load import Search
from specledger.load.layout import key_order
from specledger.load.shapes import Shape, shapes_at
from specledger.pipeline.authoring import describe_key
from specledger.pipeline.targets import spec_names
from specledger.wings.editor.cursor import Cursor, cursor_at

_HEAD: Final = re.compile(r"^[\"']?spec[\"']?[ ]*:[ ]*[\"']?([a-z]+)", re.MULTILINE)


class Proposal(Struct, frozen=True):
    """One thing that may be written.

    Attributes:
        sort: What it is.
        doc: What it means; may be empty.
    """

    label: str
    sort: Literal["key", "name", "value"]
    doc: str = ""

    @property
    def text(self) -> str:
        """What is inserted."""
        return f"{self.label}: " if self.sort == "key" else self.label


def kind_in(text: str) -> str | None:
    """The kind that the head of a text names, if there is one of this name."""
    match = _HEAD.search(text)
    return match[1] if match is not None and match[1] in KINDS else None


def complete(text: str, row: int, column: int, search: Search) -> list[Proposal]:
    """What may be written at a line and a column, both from 0."""
    cursor = cursor_at(text.split("\n"), row, column)
    if cursor.path == () and cursor.key == "spec":
        return [Proposal(f"{kind}/v1", "value") for kind in KINDS]
    kind = kind_in(text)
    if kind is None:
        return [Proposal("spec", "key", "The kind and the version of the document.")] if cursor.path == () else []
    return list(_proposals(kind, cursor, search, text))


def _proposals(kind: str, cursor: Cursor, search: Search, text: str) -> Iterator[Proposal]:
    root = KINDS[kind].model
    if cursor.path == () and cursor.key == "extends":
        yield from _names(kind, search)
    elif cursor.value_path[:1] == ("use",):
        yield from _names("library", search)
    shapes = shapes_at(root, cursor.value_path)
    if cursor.key == "use":
        shapes += tuple(shape for shape in shapes_at(root, cursor.path) if shape.reference)
    for wanted in dict.fromkeys(shape.reference for shape in shapes if shape.reference):
        yield from _names(wanted, search)
    if cursor.key is not None or cursor.element:
        yield from (Proposal(value, "value") for value in _values(kind, cursor))
    if cursor.key is None:
        yield from _keys(kind, cursor, shapes)


def _names(kind: str, search: Search) -> Iterator[Proposal]:
    return (Proposal(name, "name", f"a spec of the kind {kind}") for name in spec_names([kind], search))


def _values(kind: str, cursor: Cursor) -> tuple[str, ...]:
    try:
        described = describe_key(kind, [str(step) for step in cursor.value_path])
    except Rejected:
        return ()
    return ("true", "false") if described.type == "true or false" else described.allowed


def _keys(kind: str, cursor: Cursor, shapes: tuple[Shape, ...]) -> Iterator[Proposal]:
    order = [key for key in key_order(shapes) if any(key in leaf.fields for shape in shapes for leaf in shape.leaves)]
    extra = ("extends", "params", "matrix", "use") if cursor.path == () else ()
    for key in [*order, *extra]:
        try:
            doc = describe_key(kind, [*map(str, cursor.path), key]).doc
        except Rejected:
            doc = ""
        yield Proposal(key, "key", doc)
