"""`--set path=value`: changes to a resolved spec, also inside referenced specs. A misspelt path is an error."""

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace
from pydantic import BaseModel

from specledger.core.canonical import canonical_bytes
from specledger.core.diagnostics import Diagnostics, code, suggest
from specledger.core.floats import FLOATS_ANYWHERE
from specledger.core.spans import Span
from specledger.load.changed import ADD
from specledger.load.composing import is_by_cases
from specledger.load.document import Node, Path, Range, Source
from specledger.load.findings import describe
from specledger.load.input_filter import admit
from specledger.load.shapes import Shape, known_keys
from specledger.load.yaml_reader import parse

E_SET_SYNTAX = code("E_SET_SYNTAX", "A change that is not `path=value`")
E_SET_PATH = code("E_SET_PATH", "A change of something that is not there")
E_SET_VALUE = code("E_SET_VALUE", "A value that cannot be set")
E_SET_TWICE = code("E_SET_TWICE", "A change that is lost to a later one")

_STEP: Final = re.compile(r'"([^"]*)"|([^."=]+)')
IN_THE_MATRIX: Final = "choose cases by --case, or change the matrix in the file"
_LABELS: Final = ("id", "name", "use")


class Step(Struct, frozen=True):
    """One key of a path with its place in what was typed."""

    key: str
    place: Range


class Change(Struct, frozen=True):
    """One change of a spec; `steps` begin at that spec's root."""

    steps: tuple[Step, ...]
    value: Node

    def after(self, count: int) -> "Change":
        """The same change seen from below its first steps."""
        return replace(self, steps=self.steps[count:])

    @property
    def argument(self) -> Step | None:
        """The parameter that it gives an argument to, if it is of the form `with.param`."""
        return self.steps[1] if len(self.steps) == 2 and self.steps[0].key == "with" else None


def read_changes(settings: Sequence[str], diagnostics: Diagnostics) -> tuple[Change, ...]:
    """The changes that were typed, without those that are wrong."""
    changes = [_read(setting, diagnostics) for setting in settings]
    return tuple(change for change in changes if change is not None)


def changes_of(values: Mapping[str, Any]) -> list[str]:
    """New values by their paths, as they would be typed."""
    return [f"{path}={canonical_bytes(value, FLOATS_ANYWHERE).decode()}" for path, value in values.items()]


def see_none_lost(settings: Sequence[str]) -> None:
    """See that no change that somebody typed comes to nothing by a later one; wrong ones are left to `read_changes`.

    An index stands for another element after one was taken away, so what is taken away may be named twice.

    Raises:
        Rejected: E_SET_TWICE.
    """
    diagnostics = Diagnostics()
    earlier: list[tuple[tuple[str, ...], Change]] = []
    for change in read_changes(settings, Diagnostics()):
        keys = tuple(step.key for step in change.steps)
        lost = [other for path, other in earlier if path[: len(keys)] == keys]
        if lost and not (lost[-1].value.value is None and keys[-1].isdigit()):
            diagnostics.error(E_SET_TWICE, *_lost(lost[-1], change))
        earlier.append((keys, change))
    diagnostics.raise_if_errors()


def _lost(earlier: Change, change: Change) -> tuple[str, Span]:
    """What is said of a change that is lost to another, and where that stands."""
    names = [
        override.steps[0].place.source.text[: override.steps[-1].place.end].strip() for override in (earlier, change)
    ]
    same = len(earlier.steps) == len(change.steps)
    message = f"`{names[1]}` is set twice" if same else f"`{names[1]}` replaces what `{names[0]}` sets before it"
    return message, change.steps[-1].place.span


def name_of(setting: str) -> str:
    """The name that places in a setting have instead of a file's; its text is the setting."""
    return f"--set {setting.partition('=')[0].strip() or setting}"


def apply(
    root: Node,
    model: type[BaseModel],
    changes: Sequence[Change],
    diagnostics: Diagnostics,
    axes: Mapping[str, Node] = MappingProxyType({}),
) -> tuple[Node, dict[Path, tuple[Change, ...]]]:
    """The changed tree, and by the path of each reference the changes of the spec that it leads to.

    `axes` are the values of a matrix by the name of their axis; a change of one is refused.
    """
    applier = _Applier(diagnostics, axes)
    for change in changes:
        root = applier.visit(root, (Shape(model),), change, ())
    return root, applier.handed_on


def _read(setting: str, diagnostics: Diagnostics) -> Change | None:
    file = name_of(setting)
    source = Source(file, setting)
    steps, at = [], 0
    while match := _STEP.match(setting, at):
        group = 1 if match[1] is not None else 2
        steps.append(
            Step(match[group].strip() if group == 2 else match[1], Range.of(source, match.start(), match.end()))
        )
        at = match.end() + 1
        if setting[at - 1 : at] != ".":
            break
    if not steps or setting[at - 1 : at] != "=":
        location = source.span(0, max(len(setting), 1))
        diagnostics.error(E_SET_SYNTAX, "this is not `path=value`", location, expected="path=value, such as horizon=5")
        return None
    if not setting[at:].strip():
        diagnostics.error(E_SET_SYNTAX, "the value is missing", source.span(at, at), hint='write "" for an empty text')
        return None
    text = admit(" " * at + setting[at:], file, diagnostics)  # padded, so that columns count in what was typed
    document = None if text is None else parse(text, file, diagnostics)
    if document is None:
        return None
    holds_param = any("${" in str(node.value) for _, node in document.root.walk() if isinstance(node.value, str))
    if document.root.style not in ("plain", "single", "double", "flow") or holds_param:
        message = "a value on the command line is a scalar, [...] or {...}, without `${...}`"
        hint = "quote the text" if document.root.style == "block" else None
        diagnostics.error(E_SET_VALUE, message, document.root.span, hint=hint)
        return None
    return Change(tuple(steps), document.root)


class _Applier:
    """Applies changes to one spec and gathers what belongs to others."""

    def __init__(self, diagnostics: Diagnostics, axes: Mapping[str, Node]) -> None:
        self.handed_on: dict[Path, tuple[Change, ...]] = {}
        self._diagnostics = diagnostics
        self._axes = axes

    def visit(self, node: Node, shapes: tuple[Shape, ...], change: Change, path: Path) -> Node:
        """The node with the change made at the remaining steps, or the node as it is after a finding was reported."""
        if not change.steps:
            self._see_axes(node, change)
            laid = self._lay(node, change.value) if node.is_list and change.value.is_mapping else None
            if laid is not None:
                return laid
            self.handed_on = {other: kept for other, kept in self.handed_on.items() if other[: len(path)] != path}
            return replace(change.value, key=node.key)
        if any(shape.reference for shape in shapes):
            if change.steps[0].key not in ("with", "use"):
                self.handed_on[path] = (*self.handed_on.get(path, ()), change)
                return node
            node = _as_use(node)
        if node.is_mapping:
            return self._visit_member(node, shapes, change, path)
        if node.is_list:
            return self._visit_element(node, shapes, change, path)
        message = f"there is nothing inside {describe(node)}"
        whole = change.steps[0].place
        hint = f"set it as a whole: `{whole.source.text[: whole.start - 1]}=...`"
        self._diagnostics.error(E_SET_PATH, message, whole.span, hint=hint)
        return node

    def _lay(self, node: Node, value: Node) -> Node | None:
        """A list with a mapping laid over it, as `extends` does; None if the mapping replaces it."""
        added = value.members.get(ADD) if len(value.members) == 1 else None
        if added is not None and added.is_list:
            return replace(node, value=(*node.elements, *added.elements))
        if not has_items(node) or is_by_cases(value):
            return None
        changes = dict(value.members)
        items = []
        for item in node.elements:
            change = changes.pop(str(item.members["id"].value), None)
            if change is None:
                items.append(item)
            elif change.is_mapping:
                items.append(replace(item, value={**item.members, **change.members}))
            elif change.value is not None:
                items.append(replace(change, key=None))
        for name, change in changes.items():
            if change.is_mapping:
                named = Node(change.key or change.place, "plain", name)
                items.append(replace(change, key=None, value={"id": named, **change.members}))
            else:
                ids = [str(item.members["id"].value) for item in node.elements]
                self._refuse(Step(name, change.key or change.place), ids)
        return replace(node, value=tuple(items))

    def _visit_member(self, node: Node, shapes: tuple[Shape, ...], change: Change, path: Path) -> Node:
        members = node.members
        step, rest = change.steps[0], change.after(1)
        known = (*known_keys(shapes), *(("with",) if any(shape.reference for shape in shapes) else ()))
        arguments = bool(path) and path[-1] == "with"
        if step.key not in members and (rest.steps or not (step.key in known or arguments)):
            if step.key in known:
                self._unset(step, rest)
            else:
                self._refuse(step, [*members, *known])
            return node
        old = members.get(step.key, rest.value)
        inner = tuple(shape for outer in shapes for shape in outer.inside(step.key))
        key = step.place if not rest.steps else old.key or step.place
        new = replace(self.visit(old, inner, rest, (*path, step.key)), key=key)
        return replace(node, value={**members, step.key: new})

    def _visit_element(self, node: Node, shapes: tuple[Shape, ...], change: Change, path: Path) -> Node:
        elements = node.elements
        step, rest = change.steps[0], change.after(1)
        if not rest.steps and rest.value.is_mapping and has_items(node):
            only = replace(rest.value, value={step.key: replace(rest.value, key=step.place)})
            return self._lay(node, only) or node
        labels = [_label(element) for element in elements]
        if step.key.isascii() and step.key.isdigit() and len(step.key) < 9:
            index = int(step.key)
        else:
            index = labels.index(step.key) if step.key in labels else len(elements)
        if index >= len(elements):
            self._refuse(step, [label for label in labels if label is not None], f"{len(elements)} elements")
            return node
        if not rest.steps and rest.value.value is None:
            self._see_axes(elements[index], rest)
            self._close_gap((*path, index))
            return replace(node, value=(*elements[:index], *elements[index + 1 :]))
        inner = tuple(shape for outer in shapes for shape in outer.inside(index))
        new = self.visit(elements[index], inner, rest, (*path, index))
        return node.put((index,), new)

    def _close_gap(self, gone: Path) -> None:
        """What was handed on to an element that is taken away is dropped; the elements after it move up by one."""
        depth = len(gone) - 1
        moved = {}
        for path, changes in self.handed_on.items():
            step = path[depth] if path[:depth] == gone[:depth] and len(path) > depth else None
            if step == gone[depth]:
                continue
            later = isinstance(step, int) and step > int(gone[depth])
            moved[(*path[:depth], int(path[depth]) - 1, *path[depth + 1 :]) if later else path] = changes
        self.handed_on = moved

    def _see_axes(self, old: Node, change: Change) -> None:
        """Refuse to replace what an axis of a matrix says: the case would be called by what it does not have."""
        for name, axis in self._axes.items():
            if any(_is_written(inner, axis) for _, inner in old.walk()):
                message = f"this is a value of `{name}`, an axis of the matrix"
                self._diagnostics.error(E_SET_PATH, message, change.value.span, hint=IN_THE_MATRIX)

    def _unset(self, step: Step, below: Change) -> None:
        """Refuse to go below a key that the kind knows and the spec does not have."""
        typed = step.place.source.text
        value = typed[below.value.place.start :].strip()
        for inner in reversed(below.steps):
            value = f"[{value}]" if inner.key.isdigit() else f"{{{inner.key}: {value}}}"
        hint = f"set it as a whole: `{typed[: step.place.end].strip()}={value}`"
        self._diagnostics.error(E_SET_PATH, f"`{step.key}` is not set", step.place.span, hint=hint)

    def _refuse(self, step: Step, candidates: Sequence[str], holds: str | None = None) -> None:
        near = suggest(step.key, candidates)
        names = ", ".join(dict.fromkeys(candidates)) or "nothing"
        hint = f"did you mean `{near}`?" if near else f"there is {holds + ': ' if holds else ''}{names}"
        self._diagnostics.error(E_SET_PATH, f"there is no `{step.key}` here", step.place.span, hint=hint)


def _is_written(node: Node, axis: Node) -> bool:
    """Whether a node is the value of an axis, which keeps its place wherever it is put."""
    return node.place.source is axis.place.source and node.place == axis.place


def has_items(node: Node) -> bool:
    """Whether a node is a list whose elements have an `id`."""
    return bool(node.elements) and all("id" in element.members for element in node.elements)


def _as_use(node: Node) -> Node:
    """A reference in its long form, {use: name, with: {...}}."""
    parts = node.members if node.is_mapping else {"use": replace(node, key=None)}
    return Node(node.place, "flow", {"with": Node(node.place, "flow", {}), **parts}, node.key, node.flawed)


def _label(element: Node) -> str | None:
    """What an element of a list is called: its id, name or use, or itself if it is text."""
    if isinstance(element.value, str):
        return element.value
    return next((str(element.members[key].value) for key in _LABELS if key in element.members), None)
