"""The walk of the checker, and the meaning of names and fields.

A name is looked up among locals, variables, derived values and constants, qualified names longest first. Source: CEL
language definition, "Name Resolution".
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from msgspec.structs import replace

from specledger.core.clock import READERS
from specledger.core.diagnostics import suggest
from specledger.core.spans import Span, Text
from specledger.expr.check.environment import ENGINE_NAMES, Scope, Session
from specledger.expr.check.excluded_names import FOREIGN, FUNCTIONS, TYPE_NAMES
from specledger.expr.check.misfits import hint_of_text
from specledger.expr.check.operators import Refusal, advice, holds_fixed
from specledger.expr.check.ranges import Facts, merged, narrowed
from specledger.expr.check.relations import as_map
from specledger.expr.check.tree import (
    ClockRead,
    DefinedCall,
    Field,
    Instance,
    Item,
    Local,
    Present,
    Slot,
    Typed,
    Value,
    Variable,
    path_of,
)
from specledger.expr.check.types import (
    BOOL,
    DOUBLE,
    DYN,
    JSON,
    MISTAKEN,
    NOTHING,
    STRING,
    Defined,
    IntType,
    ListType,
    MapType,
    RecordType,
    Type,
)
from specledger.expr.errors import (
    E_EXPR_CAPTURE,
    E_EXPR_NO_PROMOTION,
    E_EXPR_OUTSIDE_PROFILE,
    E_EXPR_TYPE,
    E_EXPR_UNKNOWN_FIELD,
    E_EXPR_UNKNOWN_NAME,
)
from specledger.expr.parse.syntax import Binary, Has, Index, MapLiteral, Name, Node, Select

_ORDER: Final = frozenset({"<", "<=", ">", ">=", "==", "!="})
_OWNERS: Final = frozenset(
    {"state", "self", "this", "world", "env", "args", "params", "constants", "memory", "observation", "next", "after"}
)
"""Words that other systems or other places put before the names of a state, of arguments or of constants."""
_OTHERS: Final = {"agent": "actor", "after": "next", "then": "next", "prev": "previous", "before": "previous"}
"""Words for what the engine gives under another name."""
_SHOWN: Final = 12
"""Names that a hint lists at most."""


def dotted(node: Node) -> str | None:
    """`a.b.c` when a node is nothing but names and dots."""
    keys: list[str] = []
    while isinstance(node, Select):
        keys.append(node.key)
        node = node.operand
    return ".".join([node.name, *reversed(keys)]) if isinstance(node, Name) else None


class Names(ABC):
    """One walk and its names: over an expression, or over a body for one combination of argument types."""

    def __init__(self, session: Session, scope: Scope, text: Text, names: Mapping[str, tuple[Slot, Type]]) -> None:
        self.session = session
        self.scope = scope
        self.text = text
        self.names = dict(names)
        self.facts: Facts = {}
        self.fixed = False

    @abstractmethod
    def check(self, node: Node) -> Typed | None:
        """The checked node; None when something in it is wrong, which has been reported."""

    def check_all(self, nodes: tuple[Node, ...]) -> tuple[Typed, ...] | None:
        """All of them, so that every mistake is reported; None when one is wrong."""
        checked = [self.check(node) for node in nodes]
        typed = tuple(node for node in checked if node is not None)
        return typed if len(typed) == len(checked) else None

    @contextmanager
    def knowing(self, facts: Facts) -> Iterator[None]:
        """Facts that hold while a part is checked."""
        before = self.facts
        self.facts = merged(before, facts)
        yield
        self.facts = before

    @contextmanager
    def naming(self, name: str, slot: Slot, type_: Type) -> Iterator[None]:
        """A macro's variable, visible while its body is checked."""
        before = self.names
        self.names = {**before, name: (slot, type_)}
        yield
        self.names = before

    def known(self, node: Typed, type_: Type) -> Type:
        """The type of a place with what conditions around it have proved."""
        if not self.facts or not isinstance(type_, IntType):
            return type_
        path = path_of(node)
        bounds = self.facts.get(path) if path else None
        return narrowed(type_, *bounds) if bounds else type_

    def span(self, node: Node | Typed) -> Span:
        """Where a node was written."""
        return self.text.span(node.start, node.end)

    def source(self, node: Node | Typed) -> str:
        """How a node was written, for a hint."""
        text = " ".join(self.text.value[node.start : node.end].split())
        return text if len(text) <= 40 else "..."

    def refuse(self, node: Node | Typed, code: str, message: str, hint: str | None = None) -> None:
        """Reports a mistake at a node."""
        self.session.error(code, message, self.span(node), hint=hint)

    def refuse_operands(self, node: Node, refusal: Refusal, operands: tuple[Typed, ...]) -> None:
        """Reports operands that do not go together; for ints beside doubles, says what to write."""
        hint = refusal.hint
        if any(holds_fixed(operand.type) for operand in operands):
            hint = hint or advice(operands, tuple(map(self.source, operands)))
        elif refusal.code == E_EXPR_NO_PROMOTION and self.fixed and (written := self._as_fixed(node, operands)):
            hint = f"write `{written}`"
        elif refusal.code == E_EXPR_NO_PROMOTION:
            hint = "write `double(n)` for the ints"
            whole = next((operand for operand in operands if isinstance(operand.type, IntType)), None)
            if whole is not None:
                literal = isinstance(whole, Value) and not whole.name
                hint = f"write `{self.source(whole)}.0`" if literal else f"write `double({self.source(whole)})`"
                other = next((operand for operand in operands if operand is not whole), None)
                if not literal and isinstance(other, Value) and not other.name and float(other.value).is_integer():
                    hint = f"write `{int(other.value)}`, or `double({self.source(whole)})` if a double is meant"
        hint = hint or hint_of_text(operands, self.scope.environment.constants)
        if isinstance(node, Binary) and isinstance(node.left, Binary) and {node.operator, node.left.operator} <= _ORDER:
            first, middle, last = map(self.source, (node.left.left, node.left.right, node.right))
            hint = f"write `{first} {node.left.operator} {middle} && {middle} {node.operator} {last}`"
        self.refuse(node, refusal.code, refusal.message, hint)

    def _as_fixed(self, node: Node, operands: tuple[Typed, ...]) -> str | None:
        """An int and a decimal literal as they are written where a fixed-point number is needed."""
        if not isinstance(node, Binary) or node.operator not in ("*", "+", "-"):
            return None
        if not any(isinstance(operand, Value) for operand in operands):
            return None
        sort = float if node.operator == "*" else int
        left, right = (
            f"qfixed({self.source(operand)})" if (operand.type == DOUBLE) == (sort is float) else self.source(operand)
            for operand in operands
        )
        return f"{left} {node.operator} {right}"

    def known_type(self, node: Node) -> Type | None:
        """The type of a name, or of a field of one, without a finding where there is none."""
        if isinstance(node, Name):
            known = self.names.get(node.name)
            constant = self.scope.environment.constants.get(node.name)
            return known[1] if known else self.scope.variables.get(node.name) or (constant and constant[0])
        owner = self.known_type(node.operand) if isinstance(node, Select) else None
        return owner.fields.get(node.key) if isinstance(node, Select) and isinstance(owner, RecordType) else None

    @contextmanager
    def wanting_fixed(self, wanted: bool) -> Iterator[None]:
        """Whether a part stands where a fixed-point number is needed, for hints."""
        before = self.fixed
        self.fixed = before or wanted
        yield
        self.fixed = before

    @abstractmethod
    def derived(self, node: Node, name: str, definition: Defined, record: Typed | None) -> Typed | None:
        """The use of a derived value of the scope, or of a record."""

    def resolved(self, name: str, node: Node) -> Typed | None:
        """What a (possibly qualified) name means; None when nothing, which is not reported."""
        if name in self.names:
            slot, type_ = self.names[name]
            local = Local(slot, type=type_, start=node.start, end=node.end)
            return replace(local, type=self.known(local, type_))
        if name in self.scope.variables:
            sure = self.scope.owner is None or name not in self.scope.owner.optional
            kind = self.scope.variables[name]
            if kind == JSON:
                self._refuse_json(name, node)
                kind = MISTAKEN
            variable = Variable(name, sure, type=kind, start=node.start, end=node.end)
            return replace(variable, type=self.known(variable, variable.type))
        if name in self.scope.environment.constants:
            type_, value = self.scope.environment.constants[name]
            exact = type(type_)(value, value) if isinstance(type_, IntType) else type_
            return Value(value, name, type=exact, start=node.start, end=node.end)
        return None

    def _refuse_json(self, name: str, node: Node) -> None:
        hint = "declare its type, such as string or a record, to read it"
        self.refuse(node, E_EXPR_TYPE, f"`{name}` is json, which is carried and read by nothing", hint)

    def name(self, node: Name) -> Typed | None:
        """A plain name."""
        resolved = self.resolved(node.name, node)
        if resolved is not None:
            return resolved
        if node.name in self.scope.derived:
            return self.derived(node, node.name, self.scope.derived[node.name], None)
        if node.name in self.scope.environment.clock:
            type_ = self.scope.environment.clock[node.name]
            return ClockRead(node.name, type=type_, start=node.start, end=node.end)
        if node.name not in self.session.diagnostics.refused:
            self._unknown_name(node)
        return None

    def _unknown_name(self, node: Name) -> None:
        environment = self.scope.environment
        near = [*self.names, *self.scope.variables, *self.scope.derived, *environment.constants, *environment.clock]
        holder = next((name for name, type_ in self._records() if node.name in type_.fields), None)
        other = _OTHERS.get(node.name) if holder is None else f"{holder}.{node.name}"
        suggestion = other if holder or other in near else suggest(node.name, [*near, "true", "false", "null"])
        hint = f"did you mean `{suggestion}`?" if suggestion else None
        if node.name in TYPE_NAMES:
            message = f"`{node.name}` as a value is CEL, but outside the profile"
            self.refuse(node, E_EXPR_OUTSIDE_PROFILE, message, "types are checked before anything runs")
        elif self.session.frames:
            self._not_captured(node, hint)
        elif node.name in environment.functions or node.name in FUNCTIONS:
            self.refuse(node, E_EXPR_UNKNOWN_NAME, f"`{node.name}` is a function", f"call it: `{node.name}(...)`")
        else:
            known = ", ".join(f"`{name}`" for name in near[:_SHOWN])
            listed = f"here can be read {known}" if known else None
            if node.name in ENGINE_NAMES or node.name in READERS:
                where = f"`spec explain {node.name}` says what it is, and which places can read it"
                listed = f"{where}; {listed}" if listed else where
            elif listed:
                listed += f"; a text is in quotes: `'{node.name}'`"
            instead = FOREIGN[node.name].format("x") if node.name in FOREIGN else None
            self.refuse(node, E_EXPR_UNKNOWN_NAME, f"unknown name `{node.name}`", instead or hint or listed)

    def _records(self) -> Iterator[tuple[str, RecordType]]:
        return ((name, type_) for name, type_ in self.scope.variables.items() if isinstance(type_, RecordType))

    def _not_captured(self, node: Name, hint: str | None) -> None:
        """A free name of a body: reported where the checked expression calls it, since there it is not visible."""
        frames = self.session.frames
        first, last = frames[0], frames[-1]
        owner = self.scope.owner
        reason = f"which {owner} does not have" if owner is not None else "which is not visible here"
        through = f" (through `{last.name}`)" if len(frames) > 1 else ""
        kind = "function" if first.definition.params else "derived value"
        message = f"{kind} `{first.name}` reads `{node.name}`{through}, {reason}"
        related: tuple[tuple[str, Span], ...] = ((f"`{node.name}` is read here", self.span(node)),)
        call = first.text.span(first.node.start, first.node.end)
        if first.definition.params or not self.session.diagnostics.relates(E_EXPR_CAPTURE, related[0][1]):
            self.session.diagnostics.error(E_EXPR_CAPTURE, message, call, hint=hint, related=related)

    def select(self, node: Select) -> Typed | None:
        """`operand.key`, or a qualified name."""
        name = dotted(node)
        if name is not None and name.split(".")[0] not in self.names:
            resolved = self.resolved(name, node)
            if resolved is not None:
                return resolved
        if isinstance(node.operand, Name) and self._is_bare(node.operand.name, node.key):
            message = f"unknown name `{node.operand.name}`"
            self.refuse(
                node.operand, E_EXPR_UNKNOWN_NAME, message, f"write `{node.key}`, without `{node.operand.name}.`"
            )
            return None
        operand = self.check(node.operand)
        return None if operand is None else self._field(operand, node.key, node, (node.key_start, node.end))

    def _is_bare(self, owner: str, key: str) -> bool:
        """Whether `owner.key` was written for what is read here as `key`."""
        known = {**self.names, **self.scope.variables, **self.scope.derived, **self.scope.environment.constants}
        other = _OTHERS.get(owner) in known
        return owner in _OWNERS and owner not in known and not other and key in known and not self.session.frames

    def _field(self, operand: Typed, key: str, node: Node, position: tuple[int, int]) -> Typed | None:
        type_ = operand.type
        if isinstance(type_, RecordType):
            if key in type_.fields:
                if type_.fields[key] == JSON:
                    self._refuse_json(key, node)
                    return None
                sure = key not in type_.optional
                field = Field(operand, key, sure, type=type_.fields[key], start=node.start, end=node.end)
                return replace(field, type=self.known(field, field.type))
            if key in type_.derived:
                return self.derived(node, key, type_.derived[key], operand)
            self.unknown_field(type_, key, position)
            return None
        if isinstance(type_, MapType) and type_.key == STRING:
            return Field(operand, key, sure=False, type=type_.value, start=node.start, end=node.end)
        if type_ in (DYN, NOTHING):
            return Field(operand, key, sure=False, type=DYN, start=node.start, end=node.end)
        hint = FOREIGN[key].format(self.source(operand)) if key in ("len", "length", "count") else None
        hint = {"size": f"write `size({self.source(operand)})`", "next": f"write `next.{self.source(operand)}`"}.get(
            key, hint
        )
        self.refuse(node, E_EXPR_TYPE, f"{type_} has no fields, so no `{key}`", hint)
        return None

    def unknown_field(self, record: RecordType, key: str, position: tuple[int, int]) -> None:
        """Reports a field that a record does not have."""
        near = suggest(key, [*record.fields, *record.derived])
        known = ", ".join(f"`{name}`" for name in [*record.fields, *record.derived][:8])
        hint = f"did you mean `{near}`?" if near else f"it has {known}" if known else None
        message = f"{record} has no field `{key}`"
        self.session.error(E_EXPR_UNKNOWN_FIELD, message, self.text.span(*position), hint=hint)

    def has(self, node: Has) -> Typed | None:
        """`has(operand.key)`: a question about a map, or about a field that a record may lack."""
        operand = self.check(node.operand)
        if operand is None:
            return None
        type_ = operand.type
        literal = isinstance(node.operand, MapLiteral)
        if isinstance(type_, RecordType) and node.key not in type_.fields and not literal:
            if node.key in type_.derived:
                return Value(True, type=BOOL, start=node.start, end=node.end)
            self.unknown_field(type_, node.key, (node.key_start, node.key_start + len(node.key)))
            return None
        if isinstance(type_, RecordType) or type_ == DYN or (isinstance(type_, MapType) and type_.key == STRING):
            return Present(operand, node.key, type=BOOL, start=node.start, end=node.end)
        self.refuse(node, E_EXPR_TYPE, f"{type_} has no fields, so `has` cannot ask for `{node.key}`")
        return None

    def index(self, node: Index) -> Typed | None:
        """`operand[index]`."""
        operand, index = self.check(node.operand), self.check(node.index)
        if operand is None or index is None:
            return None
        type_ = operand.type
        if isinstance(type_, RecordType) and isinstance(index, Value) and isinstance(index.value, str):
            return self._field(operand, index.value, node, (index.start, index.end))
        result = self._item_type(type_, index.type)
        if result is None:
            self._no_item(node, operand, index)
            return None
        return Item(operand, index, type=DYN if result == NOTHING else result, start=node.start, end=node.end)

    def _item_type(self, type_: Type, index: Type) -> Type | None:
        if type_ in (DYN, NOTHING):
            return DYN
        if isinstance(type_, ListType):
            return type_.item if type(index) is IntType or index in (DYN, NOTHING) else None
        values = as_map(type_) if isinstance(type_, MapType | RecordType) else None
        if values is None:
            return None
        same = type(index) is IntType if isinstance(values.key, IntType) else index == values.key
        return values.value if same or index == DYN else None

    def _no_item(self, node: Index, operand: Typed, index: Typed) -> None:
        type_ = operand.type
        if isinstance(type_, ListType):
            self.refuse(node.index, E_EXPR_TYPE, f"a list is indexed by an int, not by {index.type}")
        elif isinstance(type_, MapType):
            self.refuse(node.index, E_EXPR_TYPE, f"the keys of this map are {type_.key}, not {index.type}")
        elif isinstance(type_, RecordType) and index.type in (STRING, DYN):
            message = f"the fields of {type_} have different types: a field must be named"
            self.refuse(node.index, E_EXPR_TYPE, message, "write `.name` or `['name']`")
        elif isinstance(type_, RecordType):
            self.refuse(node.index, E_EXPR_TYPE, f"the fields of a record are named by strings, not by {index.type}")
        else:
            self.refuse(node, E_EXPR_TYPE, f"{type_} has no items")


def use(instance: Instance, node: Node, args: tuple[Typed, ...] = (), record: Typed | None = None) -> DefinedCall:
    """The call of a checked instance."""
    return DefinedCall(instance, args, record, type=instance.body.type, start=node.start, end=node.end)
