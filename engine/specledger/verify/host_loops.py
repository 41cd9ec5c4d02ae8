"""Macros that CEL lacks, `reduce` and `closure`, as functions of the other engine.

The loop is here, written a second time; what is evaluated in it, the other engine evaluates.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from specledger.expr.check.tree import DefinedCall, Fold, Search, Typed, walk
from specledger.expr.parse.syntax import Call, Closure, Name, Node, Reduce, binding
from specledger.lang.words import free_names


class HostLoop(Struct, frozen=True):
    """One macro as a function.

    Attributes:
        node: The macro, those inside it replaced by calls.
        given: The names from around it that it reads; their values are the last arguments.
    """

    name: str
    node: Reduce | Closure
    given: tuple[str, ...]

    @property
    def call(self) -> Call:
        """What stands in the macro's place."""
        return Call(self.name, None, (*binding(self.node)[0], *map(Name, self.given)))

    @property
    def variables(self) -> tuple[str, ...]:
        """The names that its body reads."""
        return (*binding(self.node)[1], *self.given)

    def run(self, body: Callable[[Mapping[str, Any]], Any], *args: Any) -> Any:
        """The value of a call, by the values of the body."""
        first, second, *more = args
        around = dict(zip(self.given, more, strict=True))
        if isinstance(self.node, Reduce):
            for item in first:
                second = body({**around, self.node.accumulator: second, self.node.variable: item})
            return second
        found: dict[Hashable, dict[str, Any]] = {}
        layer = first
        for distance in range(second + 1):
            new: list[Any] = []
            for item in layer:
                if _key(item) not in found:
                    found[_key(item)] = {"item": item, "distance": distance}
                    new.append(item)
            if not new or distance == second:
                break
            layer = [near for item in new for near in body({**around, self.node.variable: item})]
        return list(found.values())


def host_loops(root: Node) -> tuple[Node, tuple[HostLoop, ...]]:
    """A tree with calls in the place of the macros that CEL lacks, and what is called, inner ones first."""
    loops: list[HostLoop] = []

    def rewritten(part: Any) -> Any:
        if isinstance(part, tuple):
            return tuple(map(rewritten, part))
        if not isinstance(part, Node):
            return part
        node = replace(part, **{name: rewritten(getattr(part, name)) for name in part.__struct_fields__})
        if not isinstance(node, Reduce | Closure):
            return node
        _, own, inner = binding(node)
        given = sorted(free_names(inner[0]) - {*own})
        loops.append(HostLoop(f"loop_{len(loops)}", node, tuple(given)))
        return loops[-1].call

    return rewritten(root), tuple(loops)


def loops_in(root: Typed) -> frozenset[str]:
    """The macros of an expression that CEL lacks: the other engine evaluates what is in them, not their loops."""
    names = {Fold: "reduce", Search: "closure"}
    return frozenset(names[type(node)] for node in everywhere(root) if isinstance(node, Fold | Search))


def everywhere(root: Typed) -> Iterator[Typed]:
    """All nodes, bodies of defined functions included, each body once."""
    waiting, seen = [root], set[int]()
    while waiting:
        for node in walk(waiting.pop()):
            yield node
            if isinstance(node, DefinedCall) and id(node.instance) not in seen:
                seen.add(id(node.instance))
                waiting.append(node.instance.body)


def _key(value: Any) -> Hashable:
    if isinstance(value, dict):
        return tuple(sorted((key, _key(each)) for key, each in value.items()))
    return tuple(map(_key, value)) if isinstance(value, list) else value
