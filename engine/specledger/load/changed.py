"""Changes of a spec that another one states, by dotted paths: what their values refer to.

A path leads on into the specs that the changed one refers to. Where it ends at a reference, its value is one, too:
`agents.bob.agent: reckless`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

from pydantic import BaseModel

from specledger.load.document import Node, Path
from specledger.load.shapes import Shape
from specledger.spec.base import ChangesMark, SpecKinds

ADD: Final = "add"
"""The only key of a mapping that adds elements at the end of a list."""

_STEP: Final = re.compile(r'\s*(?:"([^"]*)"|([^."]+))\s*(?:\.|$)')
_KEY: Final = re.compile(r"([a-z]+)/[a-z0-9_-]+@[0-9a-f]{16}")


def read_path(text: str) -> tuple[str, ...]:
    """The keys of a dotted path, of which one with a dot stands in double quotes; nothing for what is no path."""
    steps, at = [], 0
    while at < len(text):
        match = _STEP.match(text, at)
        if match is None:
            return ()
        steps.append(match[1] if match[1] is not None else match[2].strip())
        at = match.end()
    return tuple(steps)


def changes_at(shape: Shape) -> ChangesMark | None:
    """What is changed, if changes of a spec stand at a place."""
    return next((mark for leaf in (shape, *shape.leaves) for mark in leaf.marks if isinstance(mark, ChangesMark)), None)


@cache
def changes_inside(model: type[BaseModel]) -> bool:
    """Whether documents of a model may state changes of other specs."""
    return _any_changes(Shape(model), frozenset())


def _any_changes(shape: Shape, seen: frozenset[object]) -> bool:
    if changes_at(shape) is not None:
        return True
    below = [*shape.fields.values(), *shape.values, *shape.elements, *(leaf for leaf in shape.leaves if leaf != shape)]
    inner = seen | {shape.model}
    return any(_any_changes(next_, inner) for next_ in below if next_.model is None or next_.model not in inner)


def keys_in(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    """The keys of specs inside the resolved values of changes, with the kinds of the specs."""
    match = _KEY.fullmatch(value) if isinstance(value, str) else None
    if match is not None:
        yield path, match[1]
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, inner in members:
        yield from keys_in(inner, (*path, step))


def references_of_changes(node: Node, shape: Shape, kinds: SpecKinds, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """The paths of references inside the values of changes, as they are written, with the kinds that they refer to."""
    mark = changes_at(shape)
    if mark is not None:
        for name, value in node.members.items():
            shapes: tuple[Shape, ...] = (Shape(kinds[mark.kind].model),)
            for key in read_path(name):
                shapes = _inside(shapes, key, kinds)
            yield from {item: None for own in shapes for item in _references(own, value, (*path, name))}
        return
    for step, inner in _members(node):
        below = shape.inside(step)
        yield from {item: None for own in below for item in references_of_changes(inner, own, kinds, (*path, step))}


def _inside(shapes: tuple[Shape, ...], step: str, kinds: SpecKinds) -> tuple[Shape, ...]:
    """What may stand below a place, which may be inside the spec that is referred to; a step may name an element."""
    own = [Shape(kinds[shape.reference].model) if shape.reference is not None else shape for shape in shapes]
    return tuple(inner for shape in own for inner in (shape.inside(step) or shape.inside(0)))


def _members(node: Node) -> list[tuple[str | int, Node]]:
    return [*node.members.items()] if node.is_mapping else [*enumerate(node.elements)]


def _references(shape: Shape, node: Node, path: Path) -> Iterator[tuple[Path, str]]:
    if shape.reference is not None:
        if node.value is not None:
            yield path, shape.reference
        return
    added = node.members.get(ADD) if len(node.members) == 1 else None
    if added is not None and any(leaf.elements for leaf in shape.leaves):
        yield from _references(shape, added, (*path, ADD))
        return
    for step, inner in _members(node):
        for below in shape.inside(step):
            yield from _references(below, inner, (*path, step))
