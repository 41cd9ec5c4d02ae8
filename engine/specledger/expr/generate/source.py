"""The text of one generated module and its names.

Every identifier is made here, from a counter and a hint of letters, digits and underscores.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from specledger.core.spans import Text
from specledger.core.weight import footprint
from specledger.expr.check.tree import Slot
from specledger.expr.errors import E_EVAL_LIMIT, EvaluationError
from specledger.expr.generate.numbering import Shape
from specledger.expr.limits import CHARACTERS_OF_WORK, MAX_MEMORY, MAX_WORK

BUILTINS: dict[str, Any] = {
    **{"abs": abs, "bool": bool, "dict": dict, "enumerate": enumerate, "float": float, "int": int, "len": len},
    **{"list": list, "max": max, "min": min, "range": range, "sorted": sorted, "str": str, "sum": sum, "tuple": tuple},
    **{"Exception": Exception, "IndexError": IndexError, "KeyError": KeyError, "ValueError": ValueError, "zip": zip},
}
"""Python's builtins that generated code may use; there are no others in its world."""

_HINT = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")


def _hint(text: str) -> str:
    match = _HINT.match(text[:40].lower())
    return match[0] if match else ""


def literal(value: Any) -> str | None:
    """A null, bool, int, finite double or string as an atom of Python in ASCII; None for anything else."""
    if value is None or type(value) is bool:
        return repr(value)
    if type(value) is int:
        return repr(value) if value >= 0 else f"({value!r})"
    if type(value) is str:
        return ascii(value)
    if type(value) is float and value - value == 0.0:
        return f"({value!r})" if repr(value).startswith("-") else repr(value)
    return None


class Names(Struct, eq=False):
    """The names of a module.

    Attributes:
        pure: Those whose calls return the same value for the same arguments and have no effects.
        written: How calls of some of them are written over the cells of small matrices.
        expected: Shapes that the values of some parameters probably have.
    """

    locals: set[str] = field(default_factory=lambda: {"c", "n", "r"})
    functions: list[str] = field(default_factory=list)
    globals: set[str] = field(default_factory=set)
    pure: set[str] = field(default_factory=set)
    written: dict[str, Callable[..., Any]] = field(default_factory=dict)
    expected: dict[str, Shape] = field(default_factory=dict)
    _added: int = 0

    def local(self, hint: str) -> str:
        """A local that the optimiser adds; the prefix differs from all names in source."""
        self._added += 1
        name = f"s{self._added}_{hint}"
        self.locals.add(name)
        return name


class Source:
    """A module being written.

    Attributes:
        bound: Objects by global name.
        size: Characters of what was written, about.
    """

    def __init__(self) -> None:
        self.names = Names()
        self.bound: dict[str, Any] = {}
        self.size = 0
        self._functions: list[str] = []
        self._count = 0
        self._by_object: dict[int, str] = {}
        self._by_text: dict[str, str] = {}

    def fresh(self, prefix: str, hint: str = "") -> str:
        """A name that was never given out; it ends in a digit or holds one, so it is no keyword and no builtin."""
        self._count += 1
        hint = _hint(hint)
        return f"{prefix}{self._count}_{hint}" if hint else f"{prefix}{self._count}"

    def local(self, hint: str = "") -> str:
        """A new Python identifier for a local or parameter; it resembles `hint` as far as that is harmless."""
        name = self.fresh("v", hint)
        self.names.locals.add(name)
        return name

    def scoped(self) -> Callable[[], str]:
        """A supply of locals for one function of our own: they begin anew, so that equal functions have equal text."""
        count = 0

        def fresh() -> str:
            nonlocal count
            count += 1
            self.names.locals.add(f"t{count}")
            return f"t{count}"

        return fresh

    def bind(self, value: Any, hint: str = "") -> str:
        """A global name for an object (a callable, a table); the same object keeps its name."""
        name = self._by_object.get(id(value))
        if name is None:
            name = self._by_object[id(value)] = self.fresh("g", hint)
            self.bound[name] = value
            self.names.globals.add(name)
        return name

    def constant(self, value: Any) -> str:
        """JSON data as an atom of Python; what is no short literal becomes a global, which must not be changed."""
        text = literal(value)
        return self.bind(value, "constant") if text is None or len(text) > 200 else text

    def define(self, hint: str, params: Sequence[str], lines: Sequence[str], shared: bool = False) -> str:
        """Adds a function; with `shared`, one with the same parameters and body is used again."""
        body = f"({', '.join(params)}):\n" + "\n".join("    " + line for line in lines) + "\n"
        if shared and body in self._by_text:
            return self._by_text[body]
        name = self.fresh("f", hint)
        self.names.functions.append(name)
        self.size += len(body)
        self._functions.append(f"def {name}{body}")
        if shared:
            self._by_text[body] = name
        return name

    @property
    def source(self) -> str:
        """The text of the whole module."""
        return "\n".join(self._functions)


class Frame(Struct, eq=False):
    """One Python function being written, or one body written in place of its call.

    Attributes:
        variables: Variable of the expression -> Python source: a name, or a field of a name.
        fresh: Gives a new local of the Python function.
        slots: Parameter or macro variable -> Python source.
        outer: The frame of the expression around a loop that became a function of its own.
        handed: What that function is given, source in the outer frame -> its parameter.
        depth: Bodies written in place of their calls around this one.
        level: Expressions around the one being written.
    """

    variables: Mapping[str, str]
    fresh: Callable[[], str]
    slots: dict[Slot, str] = field(default_factory=dict)
    outer: Frame | None = None
    handed: dict[str, str] = field(default_factory=dict)
    depth: int = 0
    level: int = 0

    def slot(self, slot: Slot) -> str:
        """The source of a slot's value."""
        return self.slots[slot] if slot in self.slots else self._given(lambda outer: outer.slot(slot))

    def variable(self, name: str) -> str:
        """The source of a variable's value."""
        return self.variables[name] if self.outer is None else self._given(lambda outer: outer.variable(name))

    def _given(self, find: Callable[[Frame], str]) -> str:
        if self.outer is None:
            raise KeyError("a slot outside its scope")
        source = find(self.outer)
        return self.handed.setdefault(source, f"a{len(self.handed)}")


class Meter:
    """The work that a metered expression has left; shared by the functions of one module."""

    def __init__(self) -> None:
        self.left = MAX_WORK

    def begin(self) -> None:
        """A new evaluation begins."""
        self.left = MAX_WORK

    def spend(self, values: Any, cost: int) -> Any:
        """Charges for a collection and returns it."""
        self._take(len(values) * cost)
        return values

    def spend_text(self, value: Any) -> Any:
        """Charges for a value that was made, if it is a text, and returns it."""
        if type(value) is str:
            self._take(len(value) // CHARACTERS_OF_WORK)
        return value

    def _take(self, work: int) -> None:
        self.left -= work
        if self.left < 0:
            raise EvaluationError(E_EVAL_LIMIT, "the evaluation takes too much work")


class Memory:
    """The memory that the named values of a function have left: each takes its own, in place of what it took before.

    Attributes:
        texts: The expression of each of them.
    """

    def __init__(self) -> None:
        self.texts: list[Text] = []
        self.begin()

    def begin(self) -> None:
        """A new call begins: no value has a name yet."""
        self._sizes: dict[int, int] = {}
        self._left = MAX_MEMORY

    def hold(self, number: int, value: Any) -> Any:
        """Charge for the value that a name gets, and return it."""
        left = self._left + self._sizes.pop(number, 0)
        self._take(number, footprint(value, left), left)
        return value

    def hold_list(self, number: int, value: Any) -> Any:
        """As `hold`, for a list of numbers, or nothing."""
        if value is not None:
            self._take(number, 64 + 40 * len(value), self._left + self._sizes.pop(number, 0))
        return value

    def hold_matrix(self, number: int, value: Any) -> Any:
        """As `hold`, for lists of numbers in a list, or nothing."""
        if value is not None:
            size = 64 + 72 * len(value) + 40 * sum(map(len, value))
            self._take(number, size, self._left + self._sizes.pop(number, 0))
        return value

    def _take(self, number: int, size: int, left: int) -> None:
        self._sizes[number] = size
        self._left = left - size
        if self._left < 0:
            raise EvaluationError(E_EVAL_LIMIT, "the named values take too much memory", 0, self.texts[number])
