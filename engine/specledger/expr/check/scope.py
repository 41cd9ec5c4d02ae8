"""Scopes and sessions of the checker.

A scope has the variables that a text sees (those of the environment, or the fields of a record for its derived values)
and caches checked instances of defined functions. A session is one check.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from specledger.core.diagnostics import Diagnostics
from specledger.core.spans import Span, Text
from specledger.expr.check.environment import Environment
from specledger.expr.check.relations import widened
from specledger.expr.check.tree import Instance
from specledger.expr.check.types import Defined, RecordType, Type
from specledger.expr.limits import MAX_EXPANDED_NODES
from specledger.expr.parse.syntax import Ast, Node

_VARIANTS = 8
"""Instances of one function after which argument ranges are forgotten, so that literals do not multiply code."""

InstanceKey = tuple[str, Defined, tuple[Type, ...]]


class Scope(Struct, eq=False):
    """The variables and derived values that a text can read, and the functions checked there.

    Attributes:
        environment: Functions and constants.
        variables: name -> type.
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


class TooLarge(Exception):  # noqa: N818 - becomes a diagnostic of the checker
    """The expanded expression is beyond its bound."""


class Frame(Struct, frozen=True):
    """A call being checked: the definition's name and where it is called."""

    name: str
    definition: Defined
    text: Text
    node: Node


class Session(Struct, eq=False):
    """One check: its findings, the calls that are open, the nodes seen."""

    diagnostics: Diagnostics
    frames: list[Frame] = field(default_factory=list)
    nodes: int = 0

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
