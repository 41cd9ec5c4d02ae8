"""Types of literals, operators, conditions, lists and maps, from the types of their parts."""

from __future__ import annotations

from specledger.core.diagnostics import suggest
from specledger.expr.check import ranges
from specledger.expr.check.fixed import aligned, apart
from specledger.expr.check.loops import Loops
from specledger.expr.check.operators import Refusal, binary, mixed, unary
from specledger.expr.check.relations import join
from specledger.expr.check.tree import Choice, Junction, MakeList, MakeMap, Operation, Typed, Value
from specledger.expr.check.types import (
    BOOL,
    DOUBLE,
    MISTAKEN,
    NOTHING,
    NULL,
    STRING,
    ChoiceType,
    IntType,
    ListType,
    MapType,
    RecordType,
    Type,
)
from specledger.expr.errors import E_EXPR_ARGUMENTS, E_EXPR_NO_PROMOTION, E_EXPR_OUTSIDE_PROFILE, E_EXPR_TYPE
from specledger.expr.parse.syntax import (
    Binary,
    Call,
    Closure,
    Conditional,
    Has,
    Index,
    ListLiteral,
    Literal,
    Logical,
    Macro,
    MapLiteral,
    Name,
    Node,
    Reduce,
    Select,
    Unary,
)


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
            case Literal():
                typed = Value(node.value, type=_literal_type(node.value), start=node.start, end=node.end)
            case Name():
                typed = self.name(node)
            case Select():
                typed = self.select(node)
            case Has():
                typed = self.has(node)
            case Index():
                typed = self.index(node)
            case Unary():
                typed = self._operation(node, "neg" if node.operator == "-" else "!", (node.operand,))
            case Binary():
                typed = self._operation(node, node.operator, (node.left, node.right))
            case Logical():
                typed = self._logical(node)
            case Conditional():
                typed = self._conditional(node)
            case Call():
                typed = self.call(node)
            case ListLiteral():
                typed = self._list(node)
            case MapLiteral():
                typed = self._map(node)
            case Macro() | Reduce() | Closure():
                typed = self.loop(node)
            case _:
                raise TypeError(f"no form of expressions: {type(node).__name__}")
        return None if typed is None or typed.type is MISTAKEN else typed

    def _operation(self, node: Node, operator: str, operands: tuple[Node, ...]) -> Typed | None:
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
        return Operation(operator, args, type=result, start=node.start, end=node.end)

    def _occurs(self, one: Typed, other: Typed) -> bool:
        """Whether a text that is one of a few can be what it is compared with; what it never is, is reported."""
        if not isinstance(one.type, ChoiceType):
            return True
        values = one.type.values
        texts = other.items if isinstance(other, MakeList) else (other,)
        written = (text for text in texts if isinstance(text, Value) and isinstance(text.value, str))
        wrong = next((text for text in written if text.value not in values), None)
        if wrong is not None:
            near = suggest(str(wrong.value), values)
            known = ", ".join(f"'{value}'" for value in values if value)
            hint = f"did you mean `'{near}'`?" if near else f"it is one of {known}"
            self.refuse(wrong, E_EXPR_TYPE, f"`{self.source(one)}` is never {wrong.value!r}", hint)
        return wrong is None

    def _logical(self, node: Logical) -> Typed | None:
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
        return Junction(node.operator, tuple(args), type=BOOL, start=node.start, end=node.end)

    def _conditional(self, node: Conditional) -> Typed | None:
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
        return Choice(condition, then, otherwise, type=joined, start=node.start, end=node.end)

    def _joined(self, node: Node, what: str, parts: tuple[Typed, ...]) -> Type | None:
        """The type that all parts of a literal share; reported when there is none."""
        result: Type = NOTHING
        for part in parts:
            wider = join(result, part.type)
            if wider is None:
                message = f"{what} of {result} and {part.type} is CEL, but outside the profile"
                hint = "write `double(n)` for the ints" if mixed(result, part.type) else "use one type"
                hint = "write `qfixed(n)` for the ints" if apart(result, part.type) else hint
                self.refuse(part, E_EXPR_OUTSIDE_PROFILE, message, hint)
                return None
            result = wider
        return result

    def _list(self, node: ListLiteral) -> Typed | None:
        found = self.check_all(node.items)
        items = None if found is None else aligned(found)
        item = None if items is None else self._joined(node, "a list", items)
        if items is None or item is None:
            return None
        return MakeList(items, type=ListType(item, len(items)), start=node.start, end=node.end)

    def _map(self, node: MapLiteral) -> Typed | None:
        """A record when all keys are literal strings; else a map of one key type and one value type."""
        keys = self.check_all(tuple(key for key, _ in node.entries))
        values = self.check_all(tuple(value for _, value in node.entries))
        if keys is None or values is None or not self._keys_differ(keys):
            return None
        entries = tuple(zip(keys, values, strict=True))
        if all(isinstance(key, Value) and isinstance(key.value, str) for key in keys):
            fields = {key.value: value.type for key, value in entries if isinstance(key, Value)}
            return MakeMap(entries, type=RecordType("", fields), start=node.start, end=node.end)
        key_type = self._joined(node, "a map with keys", keys)
        value_type = self._joined(node, "a map with values", values)
        if key_type is None or value_type is None:
            return None
        if type(key_type) is not IntType and key_type not in (STRING, BOOL):
            self.refuse(keys[0], E_EXPR_TYPE, f"keys of a map are strings, ints or bools, not {key_type}")
            return None
        plain = IntType() if isinstance(key_type, IntType) else key_type
        return MakeMap(entries, type=MapType(value_type, plain), start=node.start, end=node.end)

    def _keys_differ(self, keys: tuple[Typed, ...]) -> bool:
        seen: set[tuple[type, object]] = set()
        for key in keys:
            if isinstance(key, Value) and isinstance(key.value, str | int | bool):
                if (type(key.value), key.value) in seen:
                    self.refuse(key, E_EXPR_ARGUMENTS, f"the key `{self.source(key)}` is given twice")
                    return False
                seen.add((type(key.value), key.value))
        return True
