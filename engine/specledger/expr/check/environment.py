"""Names in scope of an expression, and the scopes and sessions of the checker.

A name is a variable, a constant, a derived value, a native function or a defined function. The values of variables
arrive at evaluation, as bindings. A scope has the variables that a text sees (those of the environment, or the fields
of a record for its derived values) and caches checked instances of defined functions. A session is one check.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Mapping
from copy import copy
from functools import lru_cache
from itertools import filterfalse
from types import MappingProxyType
from typing import Any

from msgspec import Struct, field

from specledger.core.diagnostics import Diagnostics
from specledger.core.spans import Span, Text
from specledger.expr.check.analysis import TooLarge
from specledger.expr.check.relations import widened
from specledger.expr.check.tree import Instance
from specledger.expr.check.types import Defined, Native, RecordType, Type
from specledger.expr.eval.builtins import STANDARD
from specledger.expr.limits import MAX_EXPANDED_NODES
from specledger.expr.parse.syntax import Ast, Node

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*\Z")

_RESERVED = """
as break const continue else false for function if import in let loop namespace null package return true var void while
"""
RESERVED = frozenset(_RESERVED.split())
"""Reserved words of CEL: no variable, parameter or function can have such a name (fields can)."""

ENGINE_NAMES = frozenset(
    {"now", "next", "previous", "outcome", "action", "proposal", "proposals", "rejected", "writes", "cost", "seen"}
    | {"claims"}
)
"""Names that the engine itself gives somewhere; a spec's constants, state, functions and arguments cannot take them."""


Function = Native | Defined


_SORTS = ("variables", "functions", "constants", "derived")


@dataclasses.dataclass(frozen=True)
class Environment:
    """What the names of an expression mean. Standard functions are always available and cannot be replaced.

    Attributes:
        variables: name -> type; the caller binds a value to each that an expression reads (`Checked.variables`).
        functions: name -> `Native` or `Defined`.
        constants: name -> (type, value).
        derived: name -> `Defined` without parameters, used like a variable; it reads variables of this environment.
        clock: name -> type of what the clock of the run gives, where nothing else has the name.
    """

    variables: Mapping[str, Type] = dataclasses.field(default_factory=dict)
    functions: Mapping[str, Function] = dataclasses.field(default_factory=dict)
    constants: Mapping[str, tuple[Type, Any]] = dataclasses.field(default_factory=dict)
    derived: Mapping[str, Defined] = dataclasses.field(default_factory=dict)
    clock: Mapping[str, Type] = dataclasses.field(default_factory=dict)
    scope: Scope | None = dataclasses.field(default=None, init=False, repr=False, compare=False)
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

    def timed(self, clock: Mapping[str, Type]) -> Environment:
        """Returns this environment with names of the clock of the run; whatever else has such a name keeps it."""
        extended = copy(self)
        object.__setattr__(extended, "scope", None)
        object.__setattr__(extended, "clock", MappingProxyType({**self.clock, **clock}))
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

    def conflict(self, name: str, *, called: bool = False) -> str | None:
        """Why `name` cannot be given to something new here, as a clause for a message; None when it can.

        What is `called` cannot have the name of a function that every world has; what is read can.
        """
        if name in RESERVED:
            return "is a reserved word of CEL"
        if not is_name(name):
            return "is not a name: letters, digits and _, not beginning with a digit"
        native = {name for name, function in self.functions.items() if isinstance(function, Native)}
        functions = self.functions.keys() - (set() if called else native)
        kinds: dict[str, Collection[str]] = {
            "a standard function": STANDARD if called else (),
            "a variable": self.variables,
            "a constant": self.constants,
            "a derived value": self.derived,
            "a function": functions,
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


_VARIANTS = 8
"""Instances of one function after which argument ranges are forgotten, so that literals do not multiply code."""

InstanceKey = tuple[str, Defined, tuple[Type, ...]]


class Scope(Struct, eq=False):
    """The variables and derived values that a text can read, and the functions checked there.

    Attributes:
        derived: name -> body, read like a variable.
        owner: The record whose fields the variables are; None for the environment itself.
        instances: Functions already checked here.
        trees: Parsed bodies, shared by the scopes of one environment.
        records: Scopes of record types, shared likewise.
    """

    environment: Environment
    variables: Mapping[str, Type]
    derived: Mapping[str, Defined]
    owner: RecordType | None = None
    instances: dict[InstanceKey, Instance] = field(default_factory=dict)
    trees: dict[Defined, Ast] = field(default_factory=dict)
    records: dict[RecordType, Scope] = field(default_factory=dict)
    _variants: dict[str, int] = field(default_factory=dict)

    def of_record(self, record: RecordType) -> Scope:
        """The scope in which the derived values of a record are checked."""
        if record not in self.records:
            self.records[record] = Scope(
                self.environment, record.fields, record.derived, record, trees=self.trees, records=self.records
            )
        return self.records[record]

    def key(self, name: str, definition: Defined, args: tuple[Type, ...]) -> InstanceKey:
        """The key of the instance for these argument types."""
        key = (name, definition, args)
        if key in self.instances or self._variants.get(name, 0) < _VARIANTS:
            return key
        return (name, definition, tuple(map(widened, args)))

    def keep(self, key: InstanceKey, instance: Instance) -> None:
        """Remembers a checked instance."""
        self.instances[key] = instance
        self._variants[key[0]] = self._variants.get(key[0], 0) + 1


def scope_of(environment: Environment) -> Scope:
    """The scope of an environment, made once."""
    known = environment.scope
    if isinstance(known, Scope):
        return known
    scope = Scope(environment, environment.variables, environment.derived)
    object.__setattr__(environment, "scope", scope)
    return scope


class Frame(Struct, frozen=True):
    """A call being checked: the definition's name and where it is called."""

    name: str
    definition: Defined
    text: Text
    node: Node


class Session(Struct, eq=False):
    """One check: its findings, the calls that are open, the nodes seen, the instances that have mistakes."""

    diagnostics: Diagnostics
    frames: list[Frame] = field(default_factory=list)
    nodes: int = 0
    failed: set[InstanceKey] = field(default_factory=set)

    def count(self) -> None:
        """Counts one node.

        Raises:
            TooLarge: There have been too many.
        """
        self.nodes += 1
        if self.nodes > MAX_EXPANDED_NODES:
            raise TooLarge

    def error(
        self,
        code: str,
        message: str,
        span: Span,
        *,
        hint: str | None = None,
        expected: str | None = None,
        found: str | None = None,
    ) -> None:
        """Reports a finding, with the calls that led to it; one that another call led to already is not repeated."""
        if self.diagnostics.contains(code, message, span):
            return
        related = tuple(
            (f"`{frame.name}` is used here", frame.text.span(frame.node.start, frame.node.end))
            for frame in reversed(self.frames)
        )
        self.diagnostics.error(code, message, span, hint=hint, expected=expected, found=found, related=related[:4])
