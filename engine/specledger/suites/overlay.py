"""Changes to a resolved scenario and to the specs that it refers to.

The outcome is resolved again: validated, with its own keys and digest. No file is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from specledger.core.diagnostics import Diagnostic, Rejected, code, suggest
from specledger.core.spans import Span
from specledger.load.bundle import (
    MAX_VALUES,
    Bundle,
    Resolved,
    decode,
    dump,
    encode,
    find_references,
    gather,
    key_of,
    restore,
    values_in,
)
from specledger.load.changed import ADD
from specledger.load.document import Node, Path
from specledger.load.findings import place_of
from specledger.load.resolve import E_REF_LIMIT
from specledger.load.shapes import Shape, known_keys
from specledger.spec.scenario import Scenario

E_SUITE_SET = code("E_SUITE_SET", "a change of a suite has no place, or leads to no valid spec")

_WRITTEN: Final = re.compile(r'"[^"]*"|[^."]+')
"""A key of a dotted path as it is written."""
_UNKNOWN_KEY: Final = "Extra inputs are not permitted"
"""What a model says of a key that it does not have."""

_MAPPING: Final = re.compile(r"Input should be a valid dictionary(?: or instance of \w+)?")
"""What a model says of a text where one of its parts is expected."""
_FEWER: Final = "a change copies the spec that it is made in: change a smaller one, or state fewer runs"


class Change(Struct, frozen=True):
    """One change: where in the spec at hand, the new value, and where the suite says so.

    Attributes:
        steps: The keys, from the root of a spec on.
        value: What comes to stand there; None takes away what stands there.
        value_node: The node of the value, if it was read from a file.
        whose: Which arm or mutant of which suite states it, and under which path.
        passed: How many keys of the whole path lie before `steps`.
    """

    steps: tuple[str, ...]
    value: Any
    value_node: Node | None
    whose: str = ""
    passed: int = 0

    @property
    def span(self) -> Span | None:
        """Where its value is written."""
        return None if self.value_node is None else place_of(self.value_node)

    @property
    def step_span(self) -> Span | None:
        """Where the first of its keys is written, inside the dotted path."""
        key = None if self.value_node is None else self.value_node.key
        if key is None:
            return self.span
        written = key.source.text[key.start : key.end]
        ranges = [match.span() for match in _WRITTEN.finditer(written)]
        if self.passed >= len(ranges):
            return key.span
        start, end = ranges[self.passed]
        return key.source.span(key.start + start, key.start + end)

    def below(self) -> Change:
        """The same change seen from below its first key."""
        return replace(self, steps=self.steps[1:], passed=self.passed + 1)


class Made:
    """The specs that changes make: those of one run are used again in the next one, if they come out alike.

    A suite changes specs for each of its runs, so they are counted as those are that files are resolved to.
    """

    def __init__(self) -> None:
        self._specs: dict[str, Resolved] = {}
        self._kept: set[str] = set()
        self._values = 0

    def renew(self) -> None:
        """Use none of the specs again: those to come are written elsewhere."""
        self._specs, self._kept = {}, set()

    def add(self, spec: Resolved, change: Change | None) -> Resolved:
        """The spec, or the one like it that was made before.

        Raises:
            Rejected: E_REF_LIMIT, if there are more values than a load may have.
        """
        if spec.key not in self._specs:
            self._values += values_in(spec.data)
            if self._values > MAX_VALUES:
                message = f"the specs that the changes make hold more than {MAX_VALUES} values and keys"
                span = None if change is None else change.span
                raise Rejected([Diagnostic(E_REF_LIMIT, message, span, hint=_FEWER)])
            self._specs[spec.key] = spec
        return self._specs[spec.key]

    def keep(self, bundle: Bundle) -> None:
        """Forget the specs that are no part of a run which was made of them, nor of one before."""
        self._kept |= self._specs.keys() & bundle.specs.keys()
        for key in self._specs.keys() - self._kept:
            self._values -= values_in(self._specs.pop(key).data)


def overlay(
    bundle: Bundle,
    key: str,
    places: Mapping[str, Any],
    changes: Sequence[Change],
    made: Made | None = None,
    stated: Change | None = None,
) -> Bundle:
    """A scenario of a bundle with changes; what they make is counted in `made`.

    `places` gives by the scenario's key the key of another spec or a list of keys, or any plain value; `bundle` holds
    every spec that may come into a place, and `stated` is where the places are written. The changes are applied after
    that, in order.

    Raises:
        Rejected: E_SUITE_SET, at the change that has no place, or that makes a spec invalid; E_REF_LIMIT.
    """
    known, made = dict(bundle.specs), made or Made()
    spec = known[key]
    if places:
        spec = made.add(_resolve(spec, {**decode(spec.data), **places}, known, stated, {}), stated)
        known[spec.key] = spec
    changed = gather(_apply(spec.key, tuple(changes), known, made), known)
    made.keep(changed)
    return changed


def _apply(key: str, changes: tuple[Change, ...], known: dict[str, Resolved], made: Made) -> str:
    """The key of a spec after changes; what it becomes is added to the known ones."""
    if not changes:
        return key
    spec = known[key]
    data = decode(spec.data)
    written: dict[Path, Node] = {}
    for change in changes:
        references = {path for path, _ in find_references(Shape(type(spec.model)), data)}
        data = _put(data, (Shape(type(spec.model)),), change, (), _Around(references, known, made, written))
    changed = made.add(_resolve(spec, data, known, changes[-1], written), changes[-1])
    known[changed.key] = changed
    return changed.key


class _Around(Struct, frozen=True):
    """What a change needs to know of the spec that it is made in.

    Attributes:
        references: The paths of its references.
        known: All specs by their keys.
        made: Counts those that are made.
        written: Gets the node of each new value, by its path.
    """

    references: set[Path]
    known: dict[str, Resolved]
    made: Made
    written: dict[Path, Node]

    def write(self, path: Path, node: Node) -> None:
        """Keep where a new value is written, and all that is in it."""
        self.written.update({(*path, *below): inner for below, inner in node.walk()})


def _put(node: Any, shapes: tuple[Shape, ...], change: Change, path: Path, around: _Around) -> Any:
    """A value with the change made below it."""
    if not change.steps:
        return _lay(node, change.value, change, path, around)
    if path in around.references:
        if node not in around.known:
            raise _refusal(change, f"{node!r} is no spec of this suite: name it outside of `set`", [])
        return _apply(node, (change,), around.known, around.made)
    step, rest = change.steps[0], change.below()
    key: str | int = step
    if isinstance(node, list):
        if not rest.steps and isinstance(change.value, dict) and _has_items(node):
            item = change.value_node and replace(change.value_node, value={step: change.value_node})
            return _lay(node, {step: change.value}, replace(rest, value_node=item), path, around)
        key = _index(node, step, change)
        children: Mapping[Any, Any] = dict(enumerate(node))
    elif isinstance(node, dict):
        if step not in node and (rest.steps or step not in known_keys(shapes)):
            given = () if rest.steps else known_keys(shapes)  # there is nothing inside a key that has no value
            raise _refusal(change, f"there is no `{step}` here", [*node, *given])
        children = node
    else:
        raise _refusal(change, f"there is nothing inside {node!r}", [])
    left = {name: child for name, child in children.items() if name != key}
    if rest.steps or change.value is not None:
        inner = tuple(shape for outer in shapes for shape in outer.inside(key))
        left[key] = _put(children.get(key), inner, rest, (*path, key), around)
    return [left[index] for index in sorted(left)] if isinstance(node, list) else left


def _lay(node: Any, value: Any, change: Change, path: Path, around: _Around) -> Any:
    """A value laid over another one as `extends` does: into a list of items by their ids, `{add: [...]}` at its end."""
    written = change.value_node
    if isinstance(node, list) and isinstance(value, dict):
        if [*value] == [ADD] and isinstance(value[ADD], list):
            added = None if written is None else written.child(ADD)
            for index, element in enumerate(() if added is None else added.elements):
                around.write((*path, len(node) + index), element)
            return [*node, *value[ADD]]
        if _has_items(node):
            return _merged(node, value, change, path, around)
    if written is not None:
        around.write(path, written)
    return value


def _merged(items: list[Any], changes: dict[str, Any], change: Change, path: Path, around: _Around) -> list[Any]:
    """Items after changes by their ids: null takes one away, one of an id that there is not comes to the end."""
    ids = [str(item["id"]) for item in items]
    nodes = {} if change.value_node is None else change.value_node.members
    for name, value in changes.items():
        if value is None and name not in ids:
            at = nodes[name].key_span if name in nodes else change.span
            raise _refusal(replace(change, steps=(name,)), f"there is no item `{name}` here", ids, at)
    changed = [{**item, **(changes.get(str(item["id"])) or {})} for item in items]
    kept = [item for item in changed if changes.get(str(item["id"]), item) is not None]
    merged = [*kept, *({"id": name, **changes[name]} for name in changes if name not in ids)]
    for index, item in enumerate(merged):
        node = nodes.get(str(item["id"]))
        if node is not None:
            around.write((*path, index), node)
    return merged


def _has_items(node: list[Any]) -> bool:
    """Whether a list is one of items with ids."""
    return bool(node) and all(isinstance(item, dict) and "id" in item for item in node)


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


def _resolve(
    spec: Resolved, data: Any, known: Mapping[str, Resolved], change: Change | None, written: Mapping[Path, Node]
) -> Resolved:
    """The resolved form of changed data; `written` are the nodes of its new values."""
    span, whose = (None, "") if change is None else (change.span, change.whose)
    try:
        model = restore(type(spec.model), encode(data))
        form = dump(model)
    except ValueError as error:  # of the models; only their package knows its kind
        parts = [line.split(" [type=")[0].strip().removeprefix("Value error, ") for line in str(error).splitlines()]
        whole = parts[2:] and parts[2].startswith("For further")  # of a model's own rule: there is no line of a place
        message = parts[1] if whole else f"{parts[1]}: {parts[2]}" if len(parts) > 2 else parts[0]
        key = parts[1].split(".")[0] if not whole and len(parts) > 2 else ""
        hint = _hint(spec, key)
        message = _MAPPING.sub("a mapping is expected", re.sub(r"\.[a-z-]*-?(?:str|record|dict)\b", "", message))
        node = _nearest(written, parts[1]) if key else None
        if node is not None and message.endswith(_UNKNOWN_KEY):
            span, message = node.key_span, message.replace(_UNKNOWN_KEY, "there is no such key")
        elif node is not None:
            span = node.span
        raise Rejected(
            [Diagnostic(E_SUITE_SET, f"{whose}{spec.name} would be invalid: {message}", span, hint)]
        ) from None
    refs = {}
    for path, kind in find_references(Shape(type(spec.model)), form):
        target: Any = form
        for step in path:
            target = target[step]
        if not isinstance(target, str) or target not in known or known[target].kind != kind:
            message = f"{whose}{spec.name} would refer to {target!r}, which is no {kind} of this suite"
            raise Rejected([Diagnostic(E_SUITE_SET, message, span, hint=f"name the {kind} outside of `set`")])
        refs[path] = target
    origins = _Overlaid(spec, form, written)
    return Resolved(spec.kind, model.name, key_of(spec.kind, model.name, form), model, form, refs, origins)


def _hint(spec: Resolved, key: str) -> str | None:
    """What to write where a key of a changed spec is refused."""
    scenario = isinstance(spec.model, Scenario)
    agents = decode(spec.data).get("agents") if scenario else None
    if agents and key in ("agent", "agents", "governor"):
        part = "governor" if key == "governor" else "agent"
        return f"of several agents name the one that is changed: `set: {{agents.{min(agents)}.{part}: ...}}`"
    if key == "agents" and scenario:
        return "this scenario is for one agent: `set: {agent: ...}`"
    return f"`spec explain {spec.kind}.{key}` says what may stand there" if key else None


class _Overlaid(Mapping[Path, Node]):
    """Where the values of a changed spec are written: new ones in the changes, others where they were before.

    It is looked up when asked: a suite changes a spec for each of its runs.
    """

    def __init__(self, spec: Resolved, form: Any, written: Mapping[Path, Node]) -> None:
        before = spec.origins
        self._before, self._data, self._form, self._written = before, spec.data, form, written
        if isinstance(before, _Overlaid):  # so that no spec is kept for what it became
            self._before, self._data, self._written = before._before, before._data, {**before._written, **written}

    def __getitem__(self, path: Path) -> Node:
        node = self._written.get(path)
        if node is not None and _is_at(self._form, path, node):
            return node
        if _at(self._form, path) != _at(self._data, path):
            raise KeyError(path)
        return self._before[path]

    def __iter__(self) -> Iterator[Path]:
        return (path for path in dict.fromkeys((*self._before, *self._written)) if path in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __bool__(self) -> bool:
        return bool(self._before) or bool(self._written)  # without counting


def _nearest(written: Mapping[Path, Node], dotted: str) -> Node | None:
    """The new value nearest to a place of a model, whose path names what a union tried, too."""
    path = tuple(int(step) if step.isdecimal() else step for step in dotted.split("."))
    return next((written[path[:end]] for end in range(len(path), 0, -1) if path[:end] in written), None)


def _at(value: Any, path: Path) -> Any:
    """What stands at a path of a resolved form, None where nothing does."""
    try:
        for step in path:
            value = value[step]
    except (LookupError, TypeError):
        return None
    return value


def _is_at(form: Any, path: Path, node: Node) -> bool:
    """Whether a scalar of a change is what stands at a path, which a later change may have moved."""
    value = _at(form, path)
    return node.style not in ("block", "flow") and value is not None and str(value) == str(node.plain())


def _refusal(change: Change, message: str, candidates: Sequence[str], at: Span | None = None) -> Rejected:
    near = suggest(change.steps[0], candidates)
    names = ", ".join(dict.fromkeys(candidates))
    hint = f"did you mean `{near}`?" if near else f"there is {names}" if names else None
    return Rejected([Diagnostic(E_SUITE_SET, f"{change.whose}{message}", at or change.step_span, hint=hint)])
