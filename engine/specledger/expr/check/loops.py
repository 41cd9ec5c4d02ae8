"""Types of macros: over a list, and over all that is reached from some items."""

from __future__ import annotations

from typing import Final

from specledger.expr.check import ranges
from specledger.expr.check.analysis import body_weight
from specledger.expr.check.calls import Calls
from specledger.expr.check.relations import join, mismatch, plain, undecided, widened
from specledger.expr.check.tree import Fold, Loop, Search, Slot, Typed, Value
from specledger.expr.check.types import (
    BOOL,
    DYN,
    NOTHING,
    STRING,
    IntType,
    ListType,
    MapType,
    RecordType,
    Type,
)
from specledger.expr.errors import E_EXPR_ARGUMENTS, E_EXPR_LIMIT, E_EXPR_OUTSIDE_PROFILE, E_EXPR_TYPE
from specledger.expr.limits import MAX_LIST
from specledger.expr.parse.syntax import Closure, Macro, Node, Reduce

_ROUNDS: Final = 4
"""How often a body is typed until the type of what begins as an empty list is known: once a level of lists."""


class Loops(Calls):
    """Macros."""

    def condition(self, node: Node, purpose: str) -> Typed | None:
        """A part that must be a bool."""
        typed = self.check(node)
        if typed is None or typed.type in (BOOL, DYN, NOTHING):
            return typed
        hint = f"compare it: `{self.source(node)} != 0`" if isinstance(typed.type, IntType) else None
        self.session.error(
            E_EXPR_TYPE,
            f"{purpose} must be a bool, not {typed.type}",
            self.span(node),
            hint=hint,
            expected="bool",
            found=str(typed.type),
        )
        return None

    def loop(self, node: Macro | Reduce | Closure) -> Typed | None:
        """A macro."""
        if isinstance(node, Macro):
            return self._macro(node)
        return self._reduce(node) if isinstance(node, Reduce) else self._closure(node)

    def _macro(self, node: Macro) -> Typed | None:
        target = self.check(node.target)
        if target is None:
            return None
        item = self._item_of(node, node.kind, target)
        if item is None:
            return None
        slot = Slot(node.variable)
        condition: Typed | None = None
        predicate = f"the predicate of `{node.kind}`"
        with self.naming(node.variable, slot, DYN if item == NOTHING else item):
            if node.condition is not None:
                condition = self.condition(node.condition, predicate)
            with self.knowing(ranges.proved(condition) if condition else {}):
                body = self.check(node.body) if node.kind == "map" else self.condition(node.body, predicate)
        if body is None or (node.condition is not None and condition is None):
            return None
        most = target.type.most if isinstance(target.type, ListType) else ListType(DYN).most
        results: dict[str, Type] = {"map": ListType(body.type, most), "filter": ListType(item, most)}
        weight = body_weight(body, condition)
        type_ = results.get(node.kind, BOOL)
        return Loop(node.kind, target, slot, body, condition, weight, type=type_, start=node.start, end=node.end)

    def _item_of(self, node: Node, kind: str, target: Typed) -> Type | None:
        type_ = target.type
        if isinstance(type_, ListType):
            return type_.item
        if type_ in (DYN, NOTHING):
            return DYN
        if isinstance(type_, MapType | RecordType):
            if kind in ("all", "exists", "exists_one"):
                return type_.key if isinstance(type_, MapType) else STRING
            known = "" if kind == "reduce" else "CEL, but "  # CEL has no `reduce`
            message = f"`{kind}` over a map has no stated order: it is {known}outside the profile"
            self.refuse(node, E_EXPR_OUTSIDE_PROFILE, message, "`all`, `exists` and `exists_one` take maps")
            return None
        self.refuse(target, E_EXPR_TYPE, f"`{kind}` goes over a list, not over {type_}")
        return None

    def _reduce(self, node: Reduce) -> Typed | None:
        """The body gives the next value of the accumulator, of the type that it begins with."""
        target, initial = self.check(node.target), self.check(node.initial)
        item = None if target is None else self._item_of(node, "reduce", target)
        if target is None or initial is None or item is None:
            return None
        return self._folded(node, target, initial, item, widened(initial.type), _ROUNDS)

    def _folded(self, node: Reduce, target: Typed, initial: Typed, item: Type, kept: Type, rounds: int) -> Typed | None:
        """The loop, for an accumulator of type `kept`; items of an empty list get their type from the body."""
        accumulator, slot = Slot(node.accumulator), Slot(node.variable)
        with self.naming(node.accumulator, accumulator, kept), self.naming(node.variable, slot, _some(item)):
            body = self.check(node.body)
        if body is None:
            return None
        wrong = mismatch(body.type, kept)
        if wrong is None:
            weight = body_weight(body, None)
            return Fold(target, initial, accumulator, slot, body, weight, type=kept, start=node.start, end=node.end)
        grown = join(kept, body.type) if undecided(kept) and rounds else None
        if grown is not None:
            return self._folded(node, target, initial, item, widened(grown), rounds - 1)
        self.session.error(
            E_EXPR_TYPE,
            f"`{node.accumulator}` begins as {initial.type}, and what follows is {body.type}: {wrong}",
            self.span(node.body),
            hint="the last expression of `reduce` has the type of the one before it",
            expected=str(kept),
            found=str(body.type),
        )
        return None

    def _closure(self, node: Closure) -> Typed | None:
        """The body gives a list of items, of the type of those to begin with."""
        origins, limit = self.check(node.origins), self._limit(node.limit)
        if origins is None or limit is None:
            return None
        if not isinstance(origins.type, ListType):
            hint = f"write `closure([{self.source(node.origins)}], ...)`"
            message = f"`closure` begins with a list, not with {origins.type}"
            self.refuse(node.origins, E_EXPR_TYPE, message, hint)
            return None
        return self._searched(node, origins, origins.type.most, widened(origins.type.item), limit)

    def _searched(self, node: Closure, origins: Typed, most: int, item: Type, limit: int) -> Typed | None:
        """The search for items of a type, which the body gives where there is nothing to begin with."""
        slot = Slot(node.variable)
        with self.naming(node.variable, slot, _some(item)):
            body = self.check(node.body)
        if body is None:
            return None
        if item == NOTHING and isinstance(body.type, ListType) and body.type.item not in (NOTHING, DYN):
            return self._searched(node, origins, most, widened(body.type.item), limit)
        wrong = mismatch(body.type, ListType(item))
        if wrong is not None or not plain(item):
            message = f"`closure` goes from {item} to a list of the same: {wrong}"
            hint = "the third argument of `closure` makes a list out of an item"
            if wrong is None:
                message, hint = f"`closure` cannot compare items of type {item}", "leave doubles out of the items"
            expected, found = f"list<{item}>", str(body.type)
            self.session.error(E_EXPR_TYPE, message, self.span(node.body), hint=hint, expected=expected, found=found)
            return None
        most = _reached(most, body.type.most if isinstance(body.type, ListType) else MAX_LIST, limit)
        record = RecordType("", {"item": item, "distance": IntType(0, limit)})
        weight, type_ = body_weight(body, None), ListType(record, most)
        return Search(origins, slot, body, limit, weight, type=type_, start=node.start, end=node.end)

    def _limit(self, node: Node) -> int | None:
        """How many steps a `closure` may take: a literal or a constant."""
        typed = self.check(node)
        if typed is None:
            return None
        hint = f"how many steps are taken at most: a literal or a constant from 0 to {MAX_LIST}"
        if not isinstance(typed, Value) or type(typed.type) is not IntType:
            self.refuse(node, E_EXPR_ARGUMENTS, "the limit of `closure` must be known before anything runs", hint)
            return None
        if not 0 <= typed.value <= MAX_LIST:
            self.refuse(node, E_EXPR_LIMIT, f"the limit of `closure` cannot be {typed.value}", hint)
            return None
        return int(typed.value)


def _some(item: Type) -> Type:
    return DYN if item == NOTHING else item


def _reached(origins: int, each: int, limit: int) -> int:
    """How many items a closure can hold: the origins, and in each step as many as the items before lead to."""
    layer = total = origins
    for _ in range(limit):
        layer *= each
        total += layer
        if not layer or total >= MAX_LIST:
            break
    return min(total, MAX_LIST)
