"""The text of one generated module, and the objects that its names stand for.

Decides identifiers: every name is made here, from a counter and a harmless hint. Refuses to know expressions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

BUILTINS: dict[str, Any] = {
    **{"abs": abs, "bool": bool, "dict": dict, "enumerate": enumerate, "float": float, "int": int, "len": len},
    **{"list": list, "max": max, "min": min, "range": range, "sorted": sorted, "str": str, "sum": sum, "tuple": tuple},
    **{"Exception": Exception, "IndexError": IndexError, "KeyError": KeyError, "ValueError": ValueError, "zip": zip},
}
"""Python's builtins that generated code may use; there are no others in its world."""

_HINT = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")


def _hint(text: str) -> str:
    found = _HINT.match(text[:40].lower())
    return found[0] if found else ""


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


@dataclass(eq=False)
class Source:
    """A module being written.

    Attributes:
        chunks: Texts of functions, in order.
        functions: Names of functions.
        bound: Objects by global name.
        locals: Names given out for locals.
        pure: Names of functions whose calls give the same value for the same arguments and do nothing else.
        written: How calls of some of them are written out over the cells of small matrices.
        expected: What the values of some parameters will probably be like.
    """

    chunks: list[str] = field(default_factory=list)
    functions: list[str] = field(default_factory=list)
    bound: dict[str, Any] = field(default_factory=dict)
    locals: set[str] = field(default_factory=lambda: {"c", "n", "r"})
    pure: set[str] = field(default_factory=set)
    written: dict[str, Callable[..., Any]] = field(default_factory=dict)
    expected: dict[str, Any] = field(default_factory=dict)
    _count: int = 0
    _by_object: dict[int, str] = field(default_factory=dict)
    _by_text: dict[str, str] = field(default_factory=dict)

    def fresh(self, prefix: str, hint: str = "") -> str:
        """A name that was never given out; it ends in a digit or holds one, so it is no keyword and no builtin."""
        self._count += 1
        hint = _hint(hint)
        return f"{prefix}{self._count}_{hint}" if hint else f"{prefix}{self._count}"

    def local(self, hint: str = "") -> str:
        """A new local."""
        name = self.fresh("v", hint)
        self.locals.add(name)
        return name

    def scoped(self) -> Callable[[], str]:
        """A supply of locals for one function of our own: they begin anew, so that equal functions have equal text."""
        count = 0

        def fresh() -> str:
            nonlocal count
            count += 1
            self.locals.add(f"t{count}")
            return f"t{count}"

        return fresh

    def bind(self, value: Any, hint: str = "") -> str:
        """A global name for an object; the same object keeps its name."""
        name = self._by_object.get(id(value))
        if name is None:
            name = self._by_object[id(value)] = self.fresh("g", hint)
            self.bound[name] = value
        return name

    def constant(self, value: Any) -> str:
        """JSON data as an atom of Python; what is no short literal becomes a global."""
        text = literal(value)
        return self.bind(value, "constant") if text is None or len(text) > 200 else text

    def define(self, hint: str, params: Sequence[str], lines: Sequence[str], shared: bool = False) -> str:
        """Adds a function; with `shared`, one with the same parameters and body is used again."""
        body = f"({', '.join(params)}):\n" + "\n".join("    " + line for line in lines) + "\n"
        if shared and body in self._by_text:
            return self._by_text[body]
        name = self.fresh("f", hint)
        self.functions.append(name)
        self.chunks.append(f"def {name}{body}")
        if shared:
            self._by_text[body] = name
        return name

    def text(self) -> str:
        """The whole module."""
        return "\n".join(self.chunks)
