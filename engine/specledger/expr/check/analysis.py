"""Analyses of checked expressions: the data that they read, their size, and a bound of their work.

Read paths follow calls (a parameter is the place it is given) and derived values; a path ends at the first index, macro
or use of a whole value. Work is what `limits.MAX_WORK` bounds: at every loop, items times the weight of its body.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from specledger.expr.check import tree
from specledger.expr.check.tree import PARTS, Path, Slot, Typed, parts, path_of, walk
from specledger.expr.check.types import (
    BOOL,
    DOUBLE,
    DYN,
    STRING,
    ChoiceType,
    IntType,
    ListType,
    MapType,
    RecordType,
    Type,
)
from specledger.expr.limits import (
    CHARACTERS_OF_WORK,
    INT_MIN,
    MAX_EXPANDED_HEIGHT,
    MAX_EXPANDED_NODES,
    MAX_LIST,
    MAX_STRING,
)

_Places = Mapping[Slot, Path]


def captures_of(body: Typed) -> tuple[tree.Variable, ...]:
    """The variables that a body needs around it, its callees included, by name."""
    captures: dict[str, tree.Variable] = {}
    for node in walk(body):
        if isinstance(node, tree.Variable):
            captures.setdefault(node.name, node)
        elif isinstance(node, tree.DefinedCall) and node.record is None:
            for variable in node.instance.captures:
                captures.setdefault(variable.name, variable)
    return tuple(captures[name] for name in sorted(captures))


def clock_read(root: Typed) -> frozenset[str]:
    """The names of the clock that an evaluation may read, bodies of called functions included."""
    names, waiting, seen = set[str](), [root], set[int]()
    while waiting:
        for node in walk(waiting.pop()):
            if isinstance(node, tree.ClockRead):
                names.add(node.name)
            elif isinstance(node, tree.DefinedCall) and id(node.instance) not in seen:
                seen.add(id(node.instance))
                waiting.append(node.instance.body)
    return frozenset(names)


def reads_of(root: Typed) -> frozenset[Path]:
    """Paths that an evaluation may read."""
    return frozenset(_reads(root, {}, ()))


def _reads(node: Typed, places: _Places, prefix: Path) -> set[Path]:
    variable_path = path_of(node)
    if isinstance(node, tree.Present):
        asked = path_of(node.operand)
        variable_path = asked and (asked[0], (*asked[1], node.key))
    if variable_path is not None:
        path = _path(variable_path, places, prefix)
        return set() if path is None else {path}
    paths: set[Path] = set()
    if not isinstance(node, tree.DefinedCall):
        for part in parts(node):
            paths |= _reads(part, places, prefix)
        return paths
    inner: dict[Slot, Path] = {}
    for slot, arg in zip(node.instance.params, node.args, strict=True):
        given = path_of(arg)
        path = given and _path(given, places, prefix)
        if path is None:
            paths |= _reads(arg, places, prefix)
        else:
            inner[slot] = path
    if node.record is None:
        return paths | _reads(node.instance.body, inner, prefix)
    given = path_of(node.record)
    path = given and _path(given, places, prefix)
    if path is None:
        return paths | _reads(node.record, places, prefix)
    return paths | _reads(node.instance.body, inner, path)


def _path(origin: tuple[Slot | str, Path], places: _Places, prefix: Path) -> Path | None:
    """A place as a path from a variable; None for the variable of a macro."""
    root, keys = origin
    if isinstance(root, str):
        return (*prefix, root, *keys)
    return None if root not in places else places[root] + keys


class Size(Struct, frozen=True):
    """Nodes and height of an expanded tree; `weight` counts nodes, a loop as one, a native by its cost."""

    nodes: int
    height: int
    weight: int


class TooLarge(Exception):  # noqa: N818 - becomes a diagnostic of the checker
    """The expanded expression is beyond its bound."""


def bounded(node: Typed) -> Size:
    """The size of a tree; `TooLarge` is raised where it is beyond its bound."""
    expanded = size(node)
    if expanded.height > MAX_EXPANDED_HEIGHT or expanded.nodes > MAX_EXPANDED_NODES:
        raise TooLarge
    return expanded


def size(node: Typed) -> Size:
    """Measures a tree; called functions count with their bodies."""
    if type(node) not in PARTS:
        return Size(1, 1, 1)
    sizes = [size(part) for part in parts(node)]
    nodes = 1 + sum(part.nodes for part in sizes)
    height = 1 + max((part.height for part in sizes), default=0)
    weight = 1 + sum(part.weight for part in sizes)
    if isinstance(node, tree.DefinedCall):
        nodes += node.instance.nodes
        height = max(height, 1 + node.instance.height)
        weight += node.instance.weight
    elif isinstance(node, tree.NativeCall):
        weight += node.native.cost
    elif isinstance(node, tree.Loop | tree.Search | tree.Fold):
        weight = 1 + sum(part.weight for part in sizes[: 2 if isinstance(node, tree.Fold) else 1])
    return Size(nodes, height, weight)


def body_weight(body: Typed, condition: Typed | None) -> int:
    """Work of one iteration of a loop, loops inside it left out (they count when they begin)."""
    return 1 + size(body).weight + (size(condition).weight if condition else 0)


def most(type_: Type) -> int:
    """The greatest number of items that a list, map or record of this type can have."""
    if isinstance(type_, ListType):
        return type_.most
    return len(type_.fields) if isinstance(type_, RecordType) else MAX_LIST


def charged(node: Typed) -> tuple[tuple[Typed, int], ...]:
    """The collections whose length a node is charged for, each with the work of one item.

    A list literal counts by its nodes already, unless a macro goes over it.
    """
    if isinstance(node, tree.Loop | tree.Fold):
        return ((node.target, node.weight),)
    if isinstance(node, tree.Search):
        return ((node.origins, 1),)
    if isinstance(node, tree.NativeCall):
        return tuple((arg, 1 + node.native.cost) for arg in node.args if _long(arg))
    if isinstance(node, tree.Operation) and node.operator == "in":
        container = node.args[1]
        return ((container, 1),) if isinstance(container.type, ListType) and _long(container) else ()
    if isinstance(node, tree.Operation) and node.operator in ("+", "==", "!="):
        return tuple((arg, 1) for arg in node.args if _long(arg))
    return ()


def longest(text: Typed) -> int:
    """Characters of a string expression at most, as far as its form tells."""
    if isinstance(text, tree.Operation) and text.operator == "+":
        return sum(map(longest, text.args))
    if _written(text) and isinstance(text, tree.NativeCall) and isinstance(text.args[0].type, IntType):
        return len(str(INT_MIN))
    return len(text.value) if isinstance(text, tree.Value) and type(text.value) is str else MAX_STRING + 1


def may_be_large(node: Typed) -> bool:
    """Whether a node makes a value that could take much memory; what is only read is there already."""
    if isinstance(node, tree.Value | tree.Variable | tree.ClockRead | tree.Local | tree.Field | tree.Item) or _small(
        node.type
    ):
        return False
    return not (isinstance(node.type, RecordType) and all(map(_small, node.type.fields.values())))


def _small(type_: Type) -> bool:
    return isinstance(type_, IntType | ChoiceType) or type_ in (BOOL, DOUBLE)


def depth_of(type_: Type) -> int:
    """1 for lists of numbers, 2 for lists of these, 0 for whatever has no size by its lengths alone."""
    depth = 0
    while isinstance(type_, ListType):
        type_, depth = type_.item, depth + 1
    return depth if depth <= 2 and _small(type_) else 0


def _written(node: Typed) -> bool:
    """Whether a node is a call of `string`, which makes no long text."""
    return isinstance(node, tree.NativeCall) and node.native.name == "string"


def made_text(node: Typed) -> int:
    """Characters at most of the text that a node makes; 0 if it makes none that could be long."""
    if isinstance(node, tree.Operation) and node.operator == "+" and node.type in (STRING, DYN):
        return min(longest(node), MAX_STRING)
    return MAX_STRING if isinstance(node, tree.NativeCall) and node.type == STRING and not _written(node) else 0


def _long(node: Typed) -> bool:
    return isinstance(node.type, ListType | MapType) and not isinstance(node, tree.MakeList)


def work(node: Typed) -> int:
    """An upper bound of the work of one evaluation, by the sizes that types declare."""
    if type(node) not in PARTS:
        return 0
    total = sum(most(collection.type) * cost for collection, cost in charged(node))
    total += made_text(node) // CHARACTERS_OF_WORK
    if isinstance(node, tree.Loop):
        inner = work(node.body) + (work(node.condition) if node.condition else 0)
        return total + work(node.target) + most(node.target.type) * inner
    if isinstance(node, tree.Fold):
        return total + work(node.target) + work(node.initial) + most(node.target.type) * work(node.body)
    if isinstance(node, tree.Search):
        return total + work(node.origins) + most(node.type) * (node.weight + most(node.body.type) + work(node.body))
    if isinstance(node, tree.DefinedCall):
        total += node.instance.work
    if isinstance(node, tree.NativeCall) and isinstance(node.type, ListType):  # it is charged for its length
        total += most(node.type)
    return total + sum(map(work, parts(node)))
