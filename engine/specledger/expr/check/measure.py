"""How large a checked expression is, and how much work its evaluation can be.

Decides nodes and height of the expanded tree, the weight of loop bodies, and a bound of the work of one evaluation.
Work is what `limits.MAX_WORK` counts: at every loop, items times the weight of its body. Refuses to know values.
"""

from __future__ import annotations

from dataclasses import dataclass

from specledger.expr.check.tree import DefinedCall, Loop, MakeList, NativeCall, Operation, Typed, parts
from specledger.expr.check.types import ListType, MapType, RecordType, Type
from specledger.expr.limits import MAX_LIST


@dataclass(frozen=True, slots=True)
class Size:
    """Nodes and height of an expanded tree; `weight` counts nodes, a loop as one, a native by its cost."""

    nodes: int
    height: int
    weight: int


def size(node: Typed) -> Size:
    """Measures a tree; called functions count with their bodies."""
    sizes = [size(part) for part in parts(node)]
    nodes = 1 + sum(part.nodes for part in sizes)
    height = 1 + max((part.height for part in sizes), default=0)
    weight = 1 + sum(part.weight for part in sizes)
    if isinstance(node, DefinedCall):
        nodes += node.instance.nodes
        height = max(height, 1 + node.instance.height)
        weight += node.instance.weight
    elif isinstance(node, NativeCall):
        weight += node.native.cost
    elif isinstance(node, Loop):
        weight = 1 + sizes[0].weight
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
    if isinstance(node, Loop):
        return ((node.target, node.weight),)
    if isinstance(node, NativeCall):
        return tuple((arg, 1 + node.native.cost) for arg in node.args if _long(arg))
    if isinstance(node, Operation) and node.operator == "in":
        container = node.args[1]
        return ((container, 1),) if isinstance(container.type, ListType) and _long(container) else ()
    if isinstance(node, Operation) and node.operator in ("+", "==", "!="):
        return tuple((arg, 1) for arg in node.args if _long(arg))
    return ()


def makes_list(node: NativeCall) -> bool:
    """Whether the length of a native's result is charged for too."""
    return isinstance(node.type, ListType)


def _long(node: Typed) -> bool:
    return isinstance(node.type, ListType | MapType) and not isinstance(node, MakeList)


def work(node: Typed) -> int:
    """An upper bound of the work of one evaluation, by the sizes that types declare."""
    total = sum(most(collection.type) * each for collection, each in charged(node))
    if isinstance(node, Loop):
        inner = work(node.body) + (work(node.condition) if node.condition else 0)
        return total + work(node.target) + most(node.target.type) * inner
    if isinstance(node, DefinedCall):
        total += work(node.instance.body)
    if isinstance(node, NativeCall) and makes_list(node):
        total += most(node.type)
    return total + sum(map(work, parts(node)))
