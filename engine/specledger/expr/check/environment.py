"""Names in scope of an expression.

Decides what a name can stand for: a variable, a constant, a derived value, a native or a defined function. Refuses to
know where values come from; a value arrives at evaluation as a binding.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import filterfalse
from types import MappingProxyType
from typing import Any, NamedTuple

from specledger.expr.check.types import Defined, Type
from specledger.expr.eval.builtins import STANDARD
from specledger.expr.functions import Native

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*\Z")

_RESERVED = """
as break const continue else false for function if import in let loop namespace null package return true var void while
"""
RESERVED = frozenset(_RESERVED.split())
"""Words that CEL keeps for itself: no variable, parameter or function can have such a name (fields can)."""


class Constant(NamedTuple):
    """A named literal; generated code contains the value itself."""

    type: Type
    value: Any


Function = Native | Defined


def _frozen(values: Mapping[str, Any] | None) -> Mapping[str, Any]:
    return MappingProxyType(dict(values or {}))


@dataclass(frozen=True)
class Environment:
    """What the names of an expression mean. Standard functions are always there and cannot be replaced.

    Attributes:
        variables: name -> type; the caller binds a value to each that an expression reads (`Checked.variables`).
        functions: name -> `Native` or `Defined`.
        constants: name -> (type, value).
        derived: name -> `Defined` without parameters, used like a variable; it reads variables of this environment.
    """

    variables: Mapping[str, Type] = field(default_factory=dict)
    functions: Mapping[str, Function] = field(default_factory=dict)
    constants: Mapping[str, tuple[Type, Any]] = field(default_factory=dict)
    derived: Mapping[str, Defined] = field(default_factory=dict)
    scope: object = field(default=None, init=False, repr=False, compare=False)
    """What the checker remembers of this environment."""

    def __post_init__(self) -> None:
        """Freezes the mappings.

        Raises:
            ValueError: A name is no CEL identifier, is reserved, or stands for two things. Callers refuse such names
                with a place in the spec first (`conflict`).
        """
        for name in ("variables", "functions", "constants", "derived"):
            object.__setattr__(self, name, _frozen(getattr(self, name)))
        values = [*self.variables, *self.constants, *self.derived]
        for name in filterfalse(is_name, {*values, *self.functions}):
            raise ValueError(f"not a name: {name!r}")
        if len(set(values)) != len(values):
            twice = sorted({name for name in values if values.count(name) > 1})
            raise ValueError(f"names that stand for two things: {', '.join(twice)}")
        taken = sorted(set(self.functions) & set(STANDARD))
        if taken:
            raise ValueError(f"standard functions cannot be replaced: {', '.join(taken)}")
        if any(definition.params for definition in self.derived.values()):
            raise ValueError("a derived value has no parameters")
        for name, function in self.functions.items():
            if isinstance(function, Defined) and not _are_names(function.params):
                raise ValueError(f"parameters of {name!r} are not different names: {function.params}")

    def extend(
        self,
        *,
        variables: Mapping[str, Type] | None = None,
        functions: Mapping[str, Function] | None = None,
        constants: Mapping[str, tuple[Type, Any]] | None = None,
        derived: Mapping[str, Defined] | None = None,
    ) -> Environment:
        """Returns this environment with more names; a name of the same sort is replaced.

        Raises:
            ValueError: As for the constructor.
        """
        return Environment(
            {**self.variables, **(variables or {})},
            {**self.functions, **(functions or {})},
            {**self.constants, **(constants or {})},
            {**self.derived, **(derived or {})},
        )

    def conflict(self, name: str) -> str | None:
        """Why `name` cannot be given to something new here, as a clause for a message; None when it can."""
        if name in RESERVED:
            return "is a reserved word of CEL"
        if not is_name(name):
            return "is not a name: letters, digits and _, not beginning with a digit"
        kinds = {
            "a standard function": STANDARD,
            "a variable": self.variables,
            "a constant": self.constants,
            "a derived value": self.derived,
            "a function": self.functions,
        }
        return next((f"is already {kind}" for kind, names in kinds.items() if name in names), None)


@lru_cache(maxsize=4096)
def is_name(text: str) -> bool:
    """Whether `text` can name a variable or a function (dots qualify)."""
    return _NAME.match(text) is not None and not set(text.split(".")) & RESERVED


@lru_cache(maxsize=4096)
def _are_names(params: tuple[str, ...]) -> bool:
    """Whether parameters have different names without dots."""
    return len(set(params)) == len(params) and all(is_name(param) and "." not in param for param in params)
