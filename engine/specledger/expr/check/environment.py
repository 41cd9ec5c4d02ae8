"""Names in scope of an expression.

A name is a variable, a constant, a derived value, a native function or a defined function. The values of variables
arrive at evaluation, as bindings.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from copy import copy
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
"""Reserved words of CEL: no variable, parameter or function can have such a name (fields can)."""


class Constant(NamedTuple):
    """A named literal; generated code contains the value itself."""

    type: Type
    value: Any


Function = Native | Defined


_SORTS = ("variables", "functions", "constants", "derived")


@dataclass(frozen=True)
class Environment:
    """What the names of an expression mean. Standard functions are always available and cannot be replaced.

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
    """The checker's cache for this environment."""

    def __post_init__(self) -> None:
        """Freezes the mappings.

        Raises:
            ValueError: A name is no CEL identifier, is reserved, or has two meanings. Callers refuse such names with a
                place in the spec first (`conflict`).
        """
        for name in _SORTS:
            names = MappingProxyType(dict(getattr(self, name)))
            self._refuse_invalid(name, names)
            object.__setattr__(self, name, names)

    def extend(
        self,
        *,
        variables: Mapping[str, Type] | None = None,
        functions: Mapping[str, Function] | None = None,
        constants: Mapping[str, tuple[Type, Any]] | None = None,
        derived: Mapping[str, Defined] | None = None,
    ) -> Environment:
        """Returns this environment with more names; a name of the same sort is replaced.

        Only the new names are validated, and sorts without new names are shared.

        Raises:
            ValueError: As for the constructor.
        """
        more = {"variables": variables, "functions": functions, "constants": constants, "derived": derived}
        extended = copy(self)
        object.__setattr__(extended, "scope", None)
        for name, added in more.items():
            if added:
                extended._refuse_invalid(name, added)
                object.__setattr__(extended, name, MappingProxyType({**getattr(self, name), **added}))
        return extended

    def _refuse_invalid(self, sort: str, names: Mapping[str, Any]) -> None:
        for name in filterfalse(is_name, names):
            raise ValueError(f"not a name: {name!r}")
        if sort == "functions":
            taken = sorted(names.keys() & STANDARD.keys())
            if taken:
                raise ValueError(f"standard functions cannot be replaced: {', '.join(taken)}")
            for name, function in names.items():
                if isinstance(function, Defined) and not _are_names(function.params):
                    raise ValueError(f"parameters of {name!r} are not different names: {function.params}")
            return
        others = [getattr(self, other) for other in _SORTS if other not in (sort, "functions")]
        twice = sorted(name for name in names if any(name in other for other in others))
        if twice:
            raise ValueError(f"names with two meanings: {', '.join(twice)}")
        if sort == "derived" and any(definition.params for definition in names.values()):
            raise ValueError("a derived value has no parameters")

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
