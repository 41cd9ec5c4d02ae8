"""Types of literals, operators, conditions, lists, maps and macros, from the types of their parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from specledger.core.diagnostics import Diagnostics, suggest
from specledger.expr.check import ranges, tree
from specledger.expr.check.analysis import body_weight
from specledger.expr.check.calls import Calls
from specledger.expr.check.environment import Session
from specledger.expr.check.operators import (
    Refusal,
    aligned,
    as_fixed,
    binary,
    hint_of_mixture,
    holds_fixed,
    mixed,
    unary,
)
from specledger.expr.check.relations import join, mismatch, plain, undecided, widened
from specledger.expr.check.tree import Slot, Typed, Value
from specledger.expr.check.types import (
    BOOL,
    DOUBLE,
    DYN,
    FIXED,
    MISTAKEN,
    NOTHING,
    NULL,
    STRING,
    ChoiceType,
    FixedType,
    IntType,
    ListType,
    MapType,
    RecordType,
    Type,
)
from specledger.expr.errors import (
    E_EXPR_ARGUMENTS,
    E_EXPR_LIMIT,
    E_EXPR_NO_PROMOTION,
    E_EXPR_OUTSIDE_PROFILE,
    E_EXPR_TYPE,
)
from specledger.expr.limits import MAX_LIST
from specledger.expr.parse import syntax
from specledger.expr.parse.syntax import Node

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

    def loop(self, node: syntax.Macro | syntax.Reduce | syntax.Closure) -> Typed | None:
        """A macro."""
        if isinstance(node, syntax.Macro):
            return self._macro(node)
        return self._reduce(node) if isinstance(node, syntax.Reduce) else self._closure(node)

    def _macro(self, node: syntax.Macro) -> Typed | None:
        target = self.check(node.target)
        if target is None:
            return None
        item = self._item_of(node, node.kind, target)
        if item is None:
            return None
        slot = Slot(node.variable)
        target = self._typed_by_use(target, lambda type_: self._in_macro(node, slot, type_)[1] is not None)
        item = target.type.item if isinstance(target.type, ListType) else item
        condition, body = self._in_macro(node, slot, item)
        if body is None:
            return None
        most = target.type.most if isinstance(target.type, ListType) else ListType(DYN).most
        results: dict[str, Type] = {"map": ListType(body.type, most), "filter": ListType(item, most)}
        weight = body_weight(body, condition)
        type_ = results.get(node.kind, BOOL)
        return tree.Loop(node.kind, target, slot, body, condition, weight, type=type_, start=node.start, end=node.end)

    def _in_macro(self, node: syntax.Macro, slot: Slot, item: Type) -> tuple[Typed | None, Typed | None]:
        """The condition of a macro, if it has one, and its body; the body is None where one of them is wrong."""
        condition: Typed | None = None
        predicate = f"the predicate of `{node.kind}`"
        with self.naming(node.variable, slot, DYN if item == NOTHING else item):
            if node.condition is not None:
                condition = self.condition(node.condition, predicate)
            with self.knowing(ranges.proved(condition) if condition else {}):
                body = self.check(node.body) if node.kind == "map" else self.condition(node.body, predicate)
        return condition, None if node.condition is not None and condition is None else body

    def _typed_by_use(self, target: Typed, fits: Callable[[Type], bool]) -> Typed:
        """A list of literal decimals: as fixed-point numbers where it does not fit, as doubles, what it is used for."""
        decimals = isinstance(target.type, ListType) and target.type.item == DOUBLE
        fixed = as_fixed(target, ListType(FIXED)) if decimals else target
        if not holds_fixed(fixed.type):
            return target
        session, self.session = self.session, Session(Diagnostics(), self.session.frames, self.session.nodes)
        try:
            return target if fits(DOUBLE) else fixed
        finally:
            self.session = session

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

    def _reduce(self, node: syntax.Reduce) -> Typed | None:
        """The body gives the next value of the accumulator, of the type that it begins with."""
        target, initial = self.check(node.target), self.check(node.initial)
        item = None if target is None else self._item_of(node, "reduce", target)
        if target is None or initial is None or item is None:
            return None
        kept, over, first = widened(initial.type), target, initial
        target = self._typed_by_use(over, lambda type_: self._folded(node, over, first, type_, kept, 0) is not None)
        item = target.type.item if isinstance(target.type, ListType) else item
        return self._folded(node, target, initial, item, widened(initial.type), _ROUNDS)

    def _folded(
        self, node: syntax.Reduce, target: Typed, initial: Typed, item: Type, kept: Type, rounds: int
    ) -> Typed | None:
        """The loop, for an accumulator of type `kept`; items of an empty list get their type from the body."""
        accumulator, slot = Slot(node.accumulator), Slot(node.variable)
        with self.naming(node.accumulator, accumulator, kept), self.naming(node.variable, slot, _some(item)):
            body = self.check(node.body)
        if body is None:
            return None
        wrong = mismatch(body.type, kept)
        if wrong is None:
            weight = body_weight(body, None)
            return tree.Fold(
                target, initial, accumulator, slot, body, weight, type=kept, start=node.start, end=node.end
            )
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

    def _closure(self, node: syntax.Closure) -> Typed | None:
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

    def _searched(self, node: syntax.Closure, origins: Typed, most: int, item: Type, limit: int) -> Typed | None:
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
            expected, actual = f"list<{item}>", str(body.type)
            self.session.error(E_EXPR_TYPE, message, self.span(node.body), hint=hint, expected=expected, found=actual)
            return None
        most = _reached(most, body.type.most if isinstance(body.type, ListType) else MAX_LIST, limit)
        record = RecordType("", {"item": item, "distance": IntType(0, limit)})
        weight, type_ = body_weight(body, None), ListType(record, most)
        return tree.Search(origins, slot, body, limit, weight, type=type_, start=node.start, end=node.end)

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


def _reached(origins: int, branching: int, limit: int) -> int:
    """How many items a closure can hold: the origins, and in each step as many as the items before lead to."""
    layer = total = origins
    for _ in range(limit):
        layer *= branching
        total += layer
        if not layer or total >= MAX_LIST:
            break
    return min(total, MAX_LIST)


def _literal_type(value: bool | int | float | str | None) -> Type:
    if isinstance(value, bool):
        return BOOL
    if isinstance(value, int):
        return IntType(value, value)
    if isinstance(value, float):
        return DOUBLE
    return NULL if value is None else STRING


class Forms(Loops):
    """Every form."""

    def check(self, node: Node) -> Typed | None:
        """The checked node; None when something in it, or that it reads, is wrong, which has been reported."""
        self.session.count()
        typed: Typed | None
        match node:
            case syntax.Literal():
                typed = Value(node.value, type=_literal_type(node.value), start=node.start, end=node.end)
            case syntax.Name():
                typed = self.name(node)
            case syntax.Select():
                typed = self.select(node)
            case syntax.Has():
                typed = self.has(node)
            case syntax.Index():
                typed = self.index(node)
            case syntax.Unary():
                typed = self._operation(node, "neg" if node.operator == "-" else "!", (node.operand,))
            case syntax.Binary():
                typed = self._operation(node, node.operator, (node.left, node.right))
            case syntax.Logical():
                typed = self._logical(node)
            case syntax.Conditional():
                typed = self._conditional(node)
            case syntax.Call():
                typed = self.call(node)
            case syntax.ListLiteral():
                typed = self._list(node)
            case syntax.MapLiteral():
                typed = self._map(node)
            case syntax.Macro() | syntax.Reduce() | syntax.Closure():
                typed = self.loop(node)
            case _:
                raise TypeError(f"no form of expressions: {type(node).__name__}")
        return None if typed is None or typed.type is MISTAKEN else typed

    def _operation(self, node: Node, operator: str, operands: tuple[Node, ...]) -> Typed | None:
        with self.wanting_fixed(any(isinstance(self.known_type(operand), FixedType) for operand in operands)):
            args = self.check_all(operands)
        if args is None:
            return None
        args = args if operator in ("*", "/") else aligned(args)
        result = unary(operator, args[0].type) if len(args) == 1 else binary(operator, args[0].type, args[1].type)
        if isinstance(result, Refusal):
            self.refuse_operands(node, result, args)
            return None
        if operator in ("==", "!=", "in") and not (self._occurs(*args) and self._occurs(*reversed(args))):
            return None
        return tree.Operation(operator, args, type=result, start=node.start, end=node.end)

    def _occurs(self, left: Typed, other: Typed) -> bool:
        """Whether a text that is one of a few can be what it is compared with; what it never is, is reported."""
        if not isinstance(left.type, ChoiceType):
            return True
        values = left.type.values
        texts = other.items if isinstance(other, tree.MakeList) else (other,)
        written = (text for text in texts if isinstance(text, Value) and isinstance(text.value, str))
        wrong = next((text for text in written if text.value not in values), None)
        if wrong is not None:
            near = suggest(str(wrong.value), values)
            known = ", ".join(f"'{value}'" for value in values if value)
            hint = f"did you mean `'{near}'`?" if near else f"it is one of {known}"
            self.refuse(wrong, E_EXPR_TYPE, f"`{self.source(left)}` is never {wrong.value!r}", hint)
        return wrong is None

    def _logical(self, node: syntax.Logical) -> Typed | None:
        """Operands to the right are checked with what those to the left have proved."""
        args: list[Typed] = []
        known: ranges.Facts = {}
        for operand in node.operands:
            with self.knowing(known):
                typed = self.condition(operand, f"an operand of `{node.operator}`")
            if typed is not None:
                args.append(typed)
                known = ranges.merged(known, ranges.proved(typed, node.operator == "&&"))
        if len(args) != len(node.operands):
            return None
        return tree.Junction(node.operator, tuple(args), type=BOOL, start=node.start, end=node.end)

    def _conditional(self, node: syntax.Conditional) -> Typed | None:
        condition = self.condition(node.condition, "the condition of `?`")
        with self.knowing(ranges.proved(condition) if condition else {}):
            then = self.check(node.then)
        with self.knowing(ranges.proved(condition, False) if condition else {}):
            otherwise = self.check(node.otherwise)
        if condition is None or then is None or otherwise is None:
            return None
        then, otherwise = aligned((then, otherwise))
        joined = join(then.type, otherwise.type)
        if joined is None:
            message = f"the results of `?` have different types: {then.type} and {otherwise.type}"
            code = E_EXPR_NO_PROMOTION if mixed(then.type, otherwise.type) else E_EXPR_TYPE
            self.refuse_operands(node, Refusal(code, message), (then, otherwise))
            return None
        return tree.Choice(condition, then, otherwise, type=joined, start=node.start, end=node.end)

    def _joined(self, node: Node, what: str, parts: tuple[Typed, ...]) -> Type | None:
        """The type that all parts of a literal share; reported when there is none."""
        result: Type = NOTHING
        for part in parts:
            wider = join(result, part.type)
            if wider is None:
                message = f"{what} of {result} and {part.type} is CEL, but outside the profile"
                self.refuse(part, E_EXPR_OUTSIDE_PROFILE, message, hint_of_mixture(result, part.type))
                return None
            result = wider
        return result

    def _list(self, node: syntax.ListLiteral) -> Typed | None:
        checked = self.check_all(node.items)
        items = None if checked is None else aligned(checked)
        item = None if items is None else self._joined(node, "a list", items)
        if items is None or item is None:
            return None
        return tree.MakeList(items, type=ListType(item, len(items)), start=node.start, end=node.end)

    def _map(self, node: syntax.MapLiteral) -> Typed | None:
        """A record when all keys are literal strings; else a map of one key type and one value type."""
        keys = self.check_all(tuple(key for key, _ in node.entries))
        values = self.check_all(tuple(value for _, value in node.entries))
        if keys is None or values is None or not self._keys_differ(keys):
            return None
        entries = tuple(zip(keys, values, strict=True))
        if all(isinstance(key, Value) and isinstance(key.value, str) for key in keys):
            fields = {key.value: value.type for key, value in entries if isinstance(key, Value)}
            return tree.MakeMap(entries, type=RecordType("", fields), start=node.start, end=node.end)
        key_type = self._joined(node, "a map with keys", keys)
        value_type = self._joined(node, "a map with values", values)
        if key_type is None or value_type is None:
            return None
        if type(key_type) is not IntType and key_type not in (STRING, BOOL):
            self.refuse(keys[0], E_EXPR_TYPE, f"keys of a map are strings, ints or bools, not {key_type}")
            return None
        plain = IntType() if isinstance(key_type, IntType) else key_type
        return tree.MakeMap(entries, type=MapType(value_type, plain), start=node.start, end=node.end)

    def _keys_differ(self, keys: tuple[Typed, ...]) -> bool:
        seen: set[tuple[type, object]] = set()
        for key in keys:
            if isinstance(key, Value) and isinstance(key.value, str | int | bool):
                if (type(key.value), key.value) in seen:
                    self.refuse(key, E_EXPR_ARGUMENTS, f"the key `{self.source(key)}` is given twice")
                    return False
                seen.add((type(key.value), key.value))
        return True
