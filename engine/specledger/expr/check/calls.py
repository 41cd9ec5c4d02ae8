"""Calls: of native functions, by overload; of defined functions, by checking their bodies for the argument types."""

from __future__ import annotations

from operator import is_
from typing import Final

from msgspec.structs import replace

from specledger.core.diagnostics import Diagnostics, suggest
from specledger.expr.check.analysis import bounded, captures_of, work
from specledger.expr.check.environment import Frame, InstanceKey, Scope
from specledger.expr.check.excluded_names import FOREIGN, OTHER_ARGUMENTS, refuse
from specledger.expr.check.excluded_names import FUNCTIONS as OUTSIDE_FUNCTIONS
from specledger.expr.check.excluded_names import METHODS as OUTSIDE_METHODS
from specledger.expr.check.names import Names, dotted, use
from specledger.expr.check.operators import Refusal, aligned, as_fixed, fixed_like, has_double, holds_fixed
from specledger.expr.check.overloads import choose, promoted, shown, takes, wrong_argument
from specledger.expr.check.tree import Instance, MakeList, NativeCall, Slot, Typed, Value
from specledger.expr.check.types import (
    DOUBLE,
    FIXED,
    MISTAKEN,
    NOTHING,
    Defined,
    IntType,
    ListType,
    Native,
    RecordType,
    Scalar,
    Type,
    without_choices,
)
from specledger.expr.errors import (
    E_EXPR_ARGUMENTS,
    E_EXPR_NO_PROMOTION,
    E_EXPR_OUTSIDE_PROFILE,
    E_EXPR_RECURSION,
    E_EXPR_TYPE,
    E_EXPR_UNKNOWN_NAME,
)
from specledger.expr.eval.builtins import METHODS, STANDARD
from specledger.expr.parse.parser import parse
from specledger.expr.parse.syntax import Call, ListLiteral, Node

_LIBRARIES: Final = frozenset({"Math", "math", "np", "numpy"})
"""What other languages put before the names of mathematical functions."""


class Calls(Names):
    """Calls of every kind."""

    def call(self, node: Call) -> Typed | None:
        """`function(args)` or `target.function(args)`."""
        name = node.function
        if node.target is not None:
            qualified = self._qualified(node.target, name)
            if qualified is None:
                return self._method(node, node.target)
            name = qualified
        function = self.scope.environment.functions.get(name) or STANDARD.get(name)
        if f"{name}()" in self.session.diagnostics.refused:
            self.check_all(node.args)
            return None
        if function is None:
            self._unknown_function(node, name, OUTSIDE_FUNCTIONS.get(name) or OUTSIDE_METHODS.get(name))
            return None
        args = self.check_all(node.args)
        if isinstance(function, Native):
            return None if args is None else self._native(node, function, args)
        if len(node.args) != len(function.params):
            self._wrong_count(node, name, f"({', '.join(function.params)})")
            return None
        types = (MISTAKEN,) * len(node.args) if args is None else tuple(arg.type for arg in args)
        if args is not None and (fixed := self._with_fixed(node, name, function, args)):
            return fixed
        instance = self._instance(node, name, function, types, self.scope)
        return None if instance is None or args is None else use(instance, node, args)

    def _with_fixed(self, node: Call, name: str, function: Defined, args: tuple[Typed, ...]) -> Typed | None:
        """The call with its literal decimals as fixed-point numbers, if it fits its place only so."""
        decimals = tuple(arg if isinstance(arg.type, IntType) else as_fixed(arg, fixed_like(arg.type)) for arg in args)
        zeros = tuple(as_fixed(arg, fixed_like(arg.type)) for arg in args)
        if all(map(is_, zeros, args)):
            return None
        plain = self._tried(node, name, function, args)
        if plain is not None and (holds_fixed(plain.type) or not (self.fixed and has_double(plain.type))):
            return plain
        fixed = (self._tried(node, name, function, given) for given in (decimals, zeros))
        return next((call for call in fixed if call is not None and (plain is None or holds_fixed(call.type))), plain)

    def _tried(self, node: Call, name: str, function: Defined, args: tuple[Typed, ...]) -> Typed | None:
        """The call with these arguments; None, not reported, if its body has mistakes."""
        types = tuple(arg.type for arg in args)
        key = self.scope.key(name, function, tuple(map(without_choices, types)))
        if key in self.session.failed:
            return None
        diagnostics, self.session.diagnostics = self.session.diagnostics, Diagnostics()
        try:
            instance = self._instance(node, name, function, types, self.scope)
        finally:
            self.session.diagnostics = diagnostics
        if instance is None:
            self.session.failed.add(key)
            return None
        return use(instance, node, args)

    def _is_function(self, name: str) -> bool:
        return name in self.scope.environment.functions or name in STANDARD or name in OUTSIDE_FUNCTIONS

    def _qualified(self, target: Node, name: str) -> str | None:
        """`math.abs`, when the target is no value but a qualifier; a qualified function hides a variable `math`."""
        prefix, scope = dotted(target), self.scope
        first = prefix.split(".", 1)[0] if prefix else ""
        if prefix is None or first in self.names:
            return None
        if self._is_function(f"{prefix}.{name}"):
            return f"{prefix}.{name}"
        values = {known.split(".", 1)[0] for known in (*scope.variables, *scope.derived, *scope.environment.constants)}
        return None if first in values or name in METHODS or name in OUTSIDE_METHODS else f"{prefix}.{name}"

    def _method(self, node: Call, target: Node) -> Typed | None:
        name = node.function
        native = METHODS.get(name)
        if native is None:
            group = OUTSIDE_METHODS.get(name)
            if group is None and self._is_function(name):
                example = f"{name}({self.source(target)}{', ...' if node.args else ''})"
                self.refuse(node, E_EXPR_UNKNOWN_NAME, f"`{name}` is not called on a value", f"write `{example}`")
            else:
                self._unknown_function(node, name, group)
            return None
        args = self.check_all((target, *node.args))
        return None if args is None else self._native(node, native, args)

    def _unknown_function(self, node: Call, name: str, group: str | None) -> None:
        if group is not None:
            refuse(node, name, group, self.text, self.session.error)
            return
        start = node.start if "." in name else node.function_start
        span = self.text.span(start, node.function_start + len(node.function))
        functions = [*self.scope.environment.functions, *STANDARD]
        near = suggest(name, functions if node.target is None or "." in name else METHODS)
        defined = isinstance(self.scope.environment.functions.get(near or ""), Defined)
        foreign = None if defined else self._foreign(node)
        hint = foreign or (f"did you mean `{near}`?" if near else None)
        self.session.error(E_EXPR_UNKNOWN_NAME, f"unknown function `{name}`", span, hint=hint)

    def _foreign(self, node: Call) -> str | None:
        """What the profile has instead of a function of another language."""
        of = node.target is not None and self.source(node.target) not in _LIBRARIES
        values = ((node.target,) if node.target is not None and of else ()) + node.args
        instead = FOREIGN.get(node.function)
        return None if instead is None else instead.format(self.source(values[0]) if values else "x")

    def _wrong_count(self, node: Call, name: str, takes: str) -> None:
        count = len(node.args)
        message = f"`{name}` takes {takes}, not {count} argument{'' if count == 1 else 's'}"
        self.refuse(node, E_EXPR_ARGUMENTS, message, OTHER_ARGUMENTS.get(name))

    # -- native functions

    def _native(self, node: Call, native: Native, args: tuple[Typed, ...]) -> Typed | None:
        if native is STANDARD["qfixed"] and len(args) == 1:
            decimal = as_fixed(args[0], FIXED)
            if decimal is not args[0]:
                return replace(decimal, start=node.start, end=node.end)
        args = aligned(args)
        types = tuple(arg.type for arg in args)
        choice = choose(native, types)
        if choice is None:
            self._no_overload(node, native, args)
            return None
        if native is STANDARD["sort_by"] and not self._sortable(node, args):
            return None
        return NativeCall(native, args, choice.accepts, type=choice.result, start=node.start, end=node.end)

    def _no_overload(self, node: Call, native: Native, args: tuple[Typed, ...]) -> None:
        types = [arg.type for arg in args]
        rows = " or ".join(shown(signature.params) for signature in native.overloads)
        if not takes(native, len(args)):
            self._wrong_count(node, native.name, rows)
            return
        doubles = promoted(types)
        if doubles and choose(native, doubles):
            message = f"`{native.name}` mixes int and double"
            if native.name.startswith("math."):
                message += ", which is CEL, but outside the profile"
                self.refuse(node, E_EXPR_OUTSIDE_PROFILE, message, "write `double(n)` for the ints")
            else:
                self.refuse_operands(node, Refusal(E_EXPR_NO_PROMOTION, message), args)
            return
        if native.name == "string" and types == [DOUBLE]:
            hint = "round it to an int first: `string(int(x))`"
            self.refuse(node, E_EXPR_OUTSIDE_PROFILE, "`string(double)` is CEL, but outside the profile", hint)
            return
        wrong = wrong_argument(native, types)
        at, needed = (args[wrong[0]], str(wrong[1])) if wrong else (node, rows)
        message = f"`{native.name}` cannot take {shown(types)}"
        actual = str(at.type) if isinstance(at, Typed) else shown(types)
        is_list = native.name == "contains" and isinstance(types[0], ListType)
        instead = f"write `{self.source(args[1])} in {self.source(args[0])}`" if is_list else None
        if native is STANDARD["qfixed"] and holds_fixed(types[0]):
            instead = f"write `{self.source(args[0])}`, which is fixed point"
        self.session.error(E_EXPR_TYPE, message, self.span(at), expected=needed, found=actual, hint=instead)

    def _sortable(self, node: Call, args: tuple[Typed, ...]) -> bool:
        """`sort_by` needs fields named by literals, which every record has and which have an order."""
        record = args[0].type.item if isinstance(args[0].type, ListType) else None
        written = node.args[1].items if isinstance(node.args[1], ListLiteral) else ()
        items = args[1].items if isinstance(args[1], MakeList) else ()
        keys = [item.value for item in items if isinstance(item, Value)]
        if record == NOTHING:
            return True
        if not isinstance(record, RecordType) or not keys or len(keys) != len(written):
            message = "`sort_by` takes a list of records and a list of field names in quotes"
            self.refuse(node, E_EXPR_ARGUMENTS, message, "write `sort_by(items, ['kind', 'id'])`")
            return False
        for key, literal in zip(keys, written, strict=True):
            type_ = record.fields.get(key)
            if type_ is None:
                self.unknown_field(record, key, (literal.start, literal.end))
                return False
            if not isinstance(type_, IntType | Scalar) or str(type_) not in ("int", "qfixed", "string", "bool"):
                self.refuse(literal, E_EXPR_TYPE, f"`sort_by` orders ints, strings and bools, not {type_}")
                return False
        return True

    # -- defined functions

    def derived(self, node: Node, name: str, definition: Defined, record: Typed | None) -> Typed | None:
        """The use of a derived value of the scope, or of a record."""
        scope = self.scope
        if record is not None and isinstance(record.type, RecordType):
            scope = scope.of_record(record.type)
        instance = self._instance(node, name, definition, (), scope)
        return None if instance is None else use(instance, node, record=record)

    def _instance(
        self, node: Node, name: str, definition: Defined, args: tuple[Type, ...], scope: Scope
    ) -> Instance | None:
        """The definition, checked for arguments of these types in this scope; None when it has mistakes."""
        key = scope.key(name, definition, tuple(map(without_choices, args)))
        known = scope.instances.get(key)
        if known is not None:
            return known
        if any(frame.definition == definition and frame.name == name for frame in self.session.frames):
            names = [frame.name for frame in self.session.frames]
            circle = " -> ".join(f"`{step}`" for step in [*names[names.index(name) :], name])
            self.refuse(node, E_EXPR_RECURSION, f"`{name}` reaches itself: {circle}")
            return None
        self.session.frames.append(Frame(name, definition, self.text, node))
        try:
            return self._checked_instance(key, scope)
        finally:
            self.session.frames.pop()

    def _checked_instance(self, key: InstanceKey, scope: Scope) -> Instance | None:
        name, definition, types = key
        ast = scope.trees.get(definition) or parse(definition.body, self.session.diagnostics)
        if ast is None:
            return None
        scope.trees[definition] = ast
        slots = tuple(Slot(param) for param in definition.params)
        named = dict(zip(definition.params, zip(slots, types, strict=True), strict=True))
        body = type(self)(self.session, scope, definition.body, named).check(ast.root)
        if body is None:
            return None
        size = bounded(body)
        measures = size.weight, size.height, size.nodes, work(body)
        instance = Instance(name, definition.body, slots, body, captures_of(body), *measures)
        scope.keep(key, instance)
        return instance
