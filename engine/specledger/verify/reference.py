"""The reference implementation of CEL (`cel-expr-python`), which evaluates checked expressions.

Functions that CEL lacks are passed to it and computed by our code; callers are told which. There is no fallback to our
evaluator: an expression without a value there raises `Unjudged`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Final, Self

from msgspec import Struct
from msgspec.structs import replace

from specledger.core.clock import READERS
from specledger.core.diagnostics import code, missing_package
from specledger.core.spans import Text
from specledger.core.unknown import first_unknown
from specledger.expr import Ast, Checked
from specledger.expr.check.tree import DefinedCall, Fold, NativeCall, Search, Typed, walk
from specledger.expr.check.types import Native
from specledger.expr.eval.builtins import PROFILE_FUNCTIONS, STANDARD
from specledger.expr.parse.syntax import Call, Closure, Name, Node, Reduce, binding
from specledger.expr.unparse import CLOCK_PREFIX, expand, to_cel
from specledger.lang.words import free_names

E_JUDGE_PACKAGE = code("E_JUDGE_PACKAGE", "the second evaluator is not installed")

MOST_ROUNDS: Final = 200_000
"""Rounds of `reduce` and `closure` in one evaluation; a round asks the other engine once."""

BEYOND: Final = "beyond the other evaluator"
"""Why there is no value of what the other engine does not compile."""


class Unjudged(Exception):  # noqa: N818 - says what happened, not that the engine failed
    """The other engine gives no value."""

    def __init__(self, why: str) -> None:
        self.why = why
        super().__init__(why)


def require_reference() -> None:
    """Check that the other engine is installed."""
    _cel()


def _cel() -> tuple[Any, Any]:
    try:
        from cel_expr_python import cel  # noqa: PLC0415 - only who judges loads it
        from cel_expr_python.ext import ext_math  # noqa: PLC0415 - as above
    except ImportError:
        raise missing_package(E_JUDGE_PACKAGE, "cel-expr-python", "judge") from None
    return cel, ext_math


class Unrecorded(Unjudged):
    """The value depends on what a recording leaves out."""

    def __init__(self) -> None:
        super().__init__("a recording leaves out what it reads")


class Reference:
    """Evaluates expressions by the other engine; each is compiled there once."""

    def __init__(self) -> None:
        self._cel, self._math = _cel()
        self._compiled: dict[Checked, tuple[Any, tuple[str, ...]]] = {}
        self._texts: dict[tuple[str, tuple[str, ...]], Any] = {}
        self._natives: dict[Checked, frozenset[str]] = {}
        self._left = 0

    def value(self, checked: Checked, given: Callable[[str], Any]) -> Any:
        """The value of an expression.

        What a recording leaves out is not given to the other engine: whatever reads it there is an error, which `&&`
        and `||` absorb as here.

        Raises:
            Unjudged: The other engine does not compile it, or finds an error.
            Unrecorded: It finds an error, and a value was left out.
        """
        if checked not in self._compiled:
            self._compiled[checked] = self._compile(checked)
        expression, names = self._compiled[checked]
        self._left = MOST_ROUNDS
        if expression is None:
            raise Unjudged(BEYOND)
        data: dict[str, Any] = {}
        left_out = False
        for name in names:
            try:
                value = self._read(name, given)
            except Unrecorded:
                left_out = True
                continue
            if first_unknown(value) is not None:
                left_out = True
                if type(value) is not dict:
                    continue
                value = _known_part(checked, name, value)
            *path, last = name.split(".")
            inside = data
            for part in path:
                inside = inside.setdefault(part, {})
            inside[last] = value
        try:
            return _evaluated(expression, data)
        except Unjudged as unjudged:
            raise Unrecorded if left_out else unjudged from None

    def _read(self, name: str, given: Callable[[str], Any]) -> Any:
        """What a name of expanded text stands for: a verdict is judged while the clock stands where it was given."""
        reader = READERS.get(name.removeprefix(CLOCK_PREFIX)) if name.startswith(CLOCK_PREFIX) else None
        return given(name) if reader is None else reader()

    def say(self, text: str, given: Mapping[str, Any]) -> Any:
        """The value of CEL text that no checker of ours has seen; no given name has a dot."""
        key = text, tuple(sorted(given))
        if key not in self._texts:
            variables = dict.fromkeys(key[1], self._cel.Type.DYN)
            try:
                self._texts[key] = self._cel.NewEnv(variables=variables).compile(text)
            except RuntimeError:
                self._texts[key] = None
        if self._texts[key] is None:
            raise Unjudged(BEYOND)
        return _evaluated(self._texts[key], dict(given))

    def ours(self, rules: tuple[Checked, ...], defined: Mapping[str, Checked]) -> frozenset[str]:
        """The functions of ours that expressions call, themselves or through what they name."""
        waiting, seen = list(rules), set[Checked]()
        called: frozenset[str] = frozenset()
        while waiting:
            checked = waiting.pop()
            if checked in seen:
                continue
            seen.add(checked)
            if checked not in self._natives:
                self._natives[checked] = frozenset(foreign(checked.root)) | _loops_in(checked.root)
            called |= self._natives[checked]
            waiting += [defined[name] for name in checked.variables if name in defined]
        return called

    def _compile(self, checked: Checked) -> tuple[Any, tuple[str, ...]]:
        clock = (CLOCK_PREFIX + name for name in checked.clock)
        names = tuple(sorted({*checked.variables, *clock}))
        root, loops = _host_loops(expand(checked.root, checked.variables))
        functions = [
            self._function(name, sorted({len(signature.params) for signature in native.overloads}), native.call)
            for name, native in sorted(foreign(checked.root).items())
        ]
        for loop in loops:  # a body calls only loops before its own
            body = self._expression(binding(loop.node)[2][0], loop.variables, functions)
            functions.append(self._function(loop.name, [len(loop.call.args)], self._looping(loop, body)))
        return self._expression(root, [name.split(".")[0] for name in names], functions), names

    def _expression(self, root: Node, names: Iterable[str], functions: list[Any]) -> Any:
        cel, text = self._cel, to_cel(Ast(root, Text.inline("")))
        variables = dict.fromkeys(names, cel.Type.DYN)
        for unchecked in (False, True):
            try:
                extensions = [self._math.ExtMath(), cel.CelExtension("ours", functions)]
                environment = cel.NewEnv(variables=variables, extensions=extensions)
                return environment.compile(text, disable_check=unchecked)
            except RuntimeError:
                continue
        return None

    def _function(self, name: str, counts: list[int], call: Callable[..., Any]) -> Any:
        kind = self._cel.Type.DYN
        overloads = [self._cel.Overload(f"{name}_{n}", kind, [kind] * n, False, _plainly(call)) for n in counts]
        return self._cel.FunctionDecl(name, overloads)

    def _looping(self, loop: _HostLoop, body: Any) -> Callable[..., Any]:
        def evaluated(given: Mapping[str, Any]) -> Any:
            self._left -= 1
            if body is None or self._left < 0:
                raise Unjudged(BEYOND)
            return _evaluated(body, given)

        return partial(loop.run, evaluated)


def _known_part(checked: Checked, name: str, record: dict[str, Any]) -> dict[str, Any]:
    """A record without what is unknown in it, for an expression that reads its members alone.

    Raises:
        Unjudged: It reads all of the record.
    """
    if (name,) in checked.reads:
        raise Unjudged("it reads a whole record of which a recording leaves out a part")
    return {key: value for key, value in record.items() if first_unknown(value) is None}


class Names:
    """The names in a rule: given values, and expressions that the other engine evaluates."""

    def __init__(
        self,
        reference: Reference,
        values: Mapping[str, Any],
        defined: Mapping[str, Checked] | None = None,
        outer: Names | None = None,
    ) -> None:
        """Begin with values and expressions; the latter are evaluated when something reads them."""
        self._reference = reference
        self._values = dict(values)
        self._own = dict(defined or {})
        self._outer = outer
        self._items: tuple[str, ...] = ()
        self.defined: dict[str, Checked] = {**(outer.defined if outer else {}), **self._own}

    def inner(
        self, values: Mapping[str, Any], per_proposal: Mapping[str, Checked], cost: Mapping[str, Checked]
    ) -> Self:
        """The names of one proposal: its own values, what is named for each, and what the decision costs."""
        names = type(self)(self._reference, values, {**{f"{_ITEM}{name}": item for name, item in cost.items()}}, self)
        names._items = tuple(names._own)
        names._own |= per_proposal
        names.defined |= per_proposal
        return names

    def bind(self, **values: Any) -> None:
        """Give further values."""
        self._values |= values

    def ours(self, rules: tuple[Checked, ...]) -> frozenset[str]:
        """The functions of ours that expressions call, themselves or through these names."""
        return self._reference.ours(rules, self.defined)

    def truth(self, checked: Checked) -> bool:
        """Whether an expression holds."""
        return truth(self._reference.value(checked, self.value))

    def truth_if_known(self, checked: Checked) -> bool | None:
        """Whether an expression holds; None if a recording leaves out what that depends on."""
        try:
            return self.truth(checked)
        except Unrecorded:
            return None

    def value(self, name: str) -> Any:
        """The value of a name.

        Raises:
            Unjudged: It is not known here, or the other engine gives no value.
        """
        if name not in self._values:
            if name in self._own:
                self._values[name] = self._reference.value(self._own[name], self.value)
            elif name == "cost" and self._outer is not None:
                self._values[name] = sum(self.value(item) for item in self._items)
            elif self._outer is not None:
                return self._outer.value(name)
            else:
                raise Unjudged("it reads what is not known here")
        return self._values[name]


def truth(value: Any) -> bool:
    """A value that must be a truth value."""
    if not isinstance(value, bool):
        raise Unjudged("the other evaluator gives no truth value")
    return value


def _evaluated(expression: Any, data: Mapping[str, Any]) -> Any:
    try:
        value = expression.eval(data=data)
    except RuntimeError:
        raise Unjudged("the other evaluator gives no value") from None
    if value.type().name() == "ERROR":
        raise Unjudged("the other evaluator gives an error")
    return plain(value)


_ITEM: Final = "cost of "  # no name of an expression begins so


def foreign(root: Typed) -> dict[str, Native]:
    """The functions that an expression calls and CEL lacks, by name, bodies of defined functions included."""
    return {
        node.native.name: node.native
        for node in _everywhere(root)
        if isinstance(node, NativeCall)
        and (node.native.name not in STANDARD or node.native.name in PROFILE_FUNCTIONS)
        and node.native.name not in _MEMBERS
    }


_MEMBERS: Final = ("contains", "startsWith", "endsWith")


def _plainly(call: Callable[..., Any]) -> Callable[..., Any]:
    def with_plain_values(*args: Any) -> Any:
        return call(*map(plain, args))

    return with_plain_values


def plain(value: Any) -> Any:
    """A value of the other engine as Python has it: lists, dicts and scalars."""
    value = value.plain_value() if hasattr(value, "plain_value") else value
    if isinstance(value, dict):
        return {key: plain(member) for key, member in value.items()}
    if isinstance(value, list) or (hasattr(value, "__getitem__") and not isinstance(value, str | bytes)):
        return [plain(member) for member in value]
    return value


class _HostLoop(Struct, frozen=True):
    """`reduce` or `closure`, which CEL lacks, as a function; what is evaluated in it, the other engine evaluates.

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
        reached: dict[Hashable, dict[str, Any]] = {}
        layer = first
        for distance in range(second + 1):
            new: list[Any] = []
            for item in layer:
                if _key(item) not in reached:
                    reached[_key(item)] = {"item": item, "distance": distance}
                    new.append(item)
            if not new or distance == second:
                break
            layer = [near for item in new for near in body({**around, self.node.variable: item})]
        return list(reached.values())


def _host_loops(root: Node) -> tuple[Node, tuple[_HostLoop, ...]]:
    """A tree with calls in the place of the macros that CEL lacks, and what is called, inner ones first."""
    loops: list[_HostLoop] = []

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
        loops.append(_HostLoop(f"loop_{len(loops)}", node, tuple(given)))
        return loops[-1].call

    return rewritten(root), tuple(loops)


def _loops_in(root: Typed) -> frozenset[str]:
    """The macros of an expression that CEL lacks: the other engine evaluates what is in them, not their loops."""
    names = {Fold: "reduce", Search: "closure"}
    return frozenset(names[type(node)] for node in _everywhere(root) if isinstance(node, Fold | Search))


def _everywhere(root: Typed) -> Iterator[Typed]:
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
        return tuple(sorted((key, _key(member)) for key, member in value.items()))
    return tuple(map(_key, value)) if isinstance(value, list) else value
