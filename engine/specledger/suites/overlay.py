"""Changes to a resolved scenario and to the specs that it refers to.

The outcome is resolved again: validated, with its own keys and digest. No file is read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from specledger.core.diagnostics import Diagnostic, Rejected, code, suggest
from specledger.core.spans import Span
from specledger.load.bundle import Bundle, Resolved, decode, dump, encode, find_references, gather, key_of, restore
from specledger.load.shapes import Shape, known_keys

E_SUITE_SET = code("E_SUITE_SET", "a change of a suite has no place, or leads to no valid spec")

_STEP: Final = re.compile(r'\s*(?:"([^"]*)"|([^."]+))\s*(?:\.|$)')

Path = tuple[str | int, ...]


class Change(Struct, frozen=True):
    """One change: where in the spec at hand, the new value, and where the suite says so.

    Attributes:
        steps: The keys, from the root of a spec on.
        value: What comes to stand there; None takes away what stands there.
    """

    steps: tuple[str, ...]
    value: Any
    span: Span | None


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


def overlay(bundle: Bundle, key: str, places: Mapping[str, Any], changes: Sequence[Change]) -> Bundle:
    """A scenario of a bundle with changes.

    `places` gives by the scenario's key the key of another spec or a list of keys, or any plain value; `bundle` holds
    every spec that may come into a place. The changes are applied after that, in order.

    Raises:
        Rejected: E_SUITE_SET, at the change that has no place, or that makes a spec invalid.
    """
    known = dict(bundle.specs)
    spec = known[key]
    if places:
        spec = _resolve(spec, {**decode(spec.data), **places}, known, None)
        known[spec.key] = spec
    return gather(_apply(spec.key, tuple(changes), known), known)


def _apply(key: str, changes: tuple[Change, ...], known: dict[str, Resolved]) -> str:
    """The key of a spec after changes; what it becomes is added to the known ones."""
    if not changes:
        return key
    spec = known[key]
    data = decode(spec.data)
    for change in changes:
        references = {path for path, _ in find_references(Shape(type(spec.model)), data)}
        data = _put(data, (Shape(type(spec.model)),), change, (), (references, known))
    changed = _resolve(spec, data, known, changes[-1].span)
    known[changed.key] = changed
    return changed.key


def _put(
    node: Any,
    shapes: tuple[Shape, ...],
    change: Change,
    path: Path,
    around: tuple[set[Path], dict[str, Resolved]],
) -> Any:
    """A value with the change made below it."""
    references, known = around
    if not change.steps:
        return change.value
    if path in references:
        if node not in known:
            raise _refusal(change, f"{node!r} is no spec of this suite: name it outside of `set`", [])
        return _apply(node, (change,), known)
    step, rest = change.steps[0], Change(change.steps[1:], change.value, change.span)
    key: str | int = step
    if isinstance(node, list):
        key = _index(node, step, change)
        children: Mapping[Any, Any] = dict(enumerate(node))
    elif isinstance(node, dict):
        if step not in node and (rest.steps or step not in known_keys(shapes)):
            raise _refusal(change, f"there is no `{step}` here", [*node, *known_keys(shapes)])
        children = node
    else:
        raise _refusal(change, f"there is nothing inside {node!r}", [])
    left = {name: child for name, child in children.items() if name != key}
    if rest.steps or change.value is not None:
        inner = tuple(shape for outer in shapes for shape in outer.inside(key))
        left[key] = _put(children.get(key), inner, rest, (*path, key), around)
    return [left[index] for index in sorted(left)] if isinstance(node, list) else left


def _index(elements: list[Any], step: str, change: Change) -> int:
    labels = [_label(element) for element in elements]
    index = int(step) if step.isascii() and step.isdigit() and len(step) < 9 else len(elements)
    if step in labels:
        index = labels.index(step)
    if index >= len(elements):
        raise _refusal(change, f"there is no element `{step}` here", [label for label in labels if label is not None])
    return index


def _label(element: Any) -> str | None:
    """What an element is called: its id or name, the name in a key, or itself."""
    if isinstance(element, str):
        return element.partition("/")[2].partition("@")[0] or element
    return next((str(element[key]) for key in ("id", "name") if key in element), None) if element else None


def _resolve(spec: Resolved, data: Any, known: Mapping[str, Resolved], span: Span | None) -> Resolved:
    """The resolved form of changed data."""
    try:
        model = restore(type(spec.model), encode(data))
        form = dump(model)
    except ValueError as error:  # of the models; only their package knows its kind
        parts = [line.split(" [type=")[0].strip().removeprefix("Value error, ") for line in str(error).splitlines()]
        whole = parts[2:] and parts[2].startswith("For further")  # of a model's own rule: there is no line of a place
        message = parts[1] if whole else f"{parts[1]}: {parts[2]}" if len(parts) > 2 else parts[0]
        raise Rejected([Diagnostic(E_SUITE_SET, f"{spec.name} would be invalid: {message}", span)]) from None
    refs = {}
    for path, kind in find_references(Shape(type(spec.model)), form):
        target: Any = form
        for step in path:
            target = target[step]
        if not isinstance(target, str) or target not in known or known[target].kind != kind:
            message = f"{spec.name} would refer to {target!r}, which is no {kind} of this suite"
            raise Rejected([Diagnostic(E_SUITE_SET, message, span, hint=f"name the {kind} outside of `set`")])
        refs[path] = target
    origins = {path: node for path, node in spec.origins.items() if _at(form, path) == _at(spec.data, path)}
    return Resolved(spec.kind, model.name, key_of(spec.kind, model.name, form), model, form, refs, origins)


def _at(value: Any, path: Path) -> Any:
    """What stands at a path of a resolved form, None where nothing does."""
    try:
        for step in path:
            value = value[step]
    except (LookupError, TypeError):
        return None
    return value


def _refusal(change: Change, message: str, candidates: Sequence[str]) -> Rejected:
    near = suggest(change.steps[0], candidates)
    names = ", ".join(dict.fromkeys(candidates))
    hint = f"did you mean `{near}`?" if near else f"there is {names}" if names else None
    return Rejected([Diagnostic(E_SUITE_SET, message, change.span, hint=hint)])
