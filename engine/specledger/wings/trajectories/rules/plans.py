"""What a compiled policy is made of, and what becomes of the opportunities of its rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any

from msgspec import Struct

from specledger.core.events import Severity
from specledger.wings.trajectories.rules.conditions import Condition, Reader
from specledger.wings.trajectories.rules.extraction import ValueReader
from specledger.wings.trajectories.rules.paths import Reader as PathReader


class Status(StrEnum):
    """What became of an opportunity of a rule."""

    HELD = "held"
    BROKEN = "broken"
    UNJUDGED = "unjudged"


HELD, BROKEN, UNJUDGED = Status
"""The same as names of the module, which are read in a sixth of the time."""


class Outcome(Struct, frozen=True):
    """What a rule makes of a call or a message; `call` is empty for a message.

    Attributes:
        demand: The key of the rule that is broken: from, not_from, after, not_after or require; empty otherwise.
    """

    rule: str
    status: Status
    reason: str = ""
    value: str = ""
    source: str = ""
    call: str = ""
    severity: str = Severity.FATAL.value
    withheld: bool = False
    demand: str = ""


class EarlierPlan(Struct, frozen=True, eq=False):
    """An earlier call that a rule needs, or forbids: `number` is its place among the plans of a policy."""

    number: int
    matches: Callable[[str], bool]
    condition: Condition
    since: Callable[[str], bool] | None = None
    same: tuple[tuple[PathReader, PathReader], ...] = ()


class MemoryPlan(Struct, frozen=True):
    """A term of a rule's memory.

    Attributes:
        sort: count, sum or repeats.
        term: What a sum adds.
        within: The seconds before a call in which calls are counted or added; None for all calls.
    """

    sort: str
    term: Condition | None = None
    within: int | None = None


class RulePlan(Struct, frozen=True, eq=False):
    """A compiled rule."""

    name: str
    severity: str
    matches: Callable[[str], bool] | None
    pattern: Any
    when: Condition
    readers: Mapping[str, Reader]
    memory: Mapping[str, MemoryPlan]
    each: ValueReader | None
    types: tuple[str, ...]
    sources: tuple[int, ...]
    forbidden: tuple[int, ...]
    stems: bool
    after: EarlierPlan | None
    not_after: EarlierPlan | None
    require: Condition | None
    message: str
    fixed: frozenset[str] = frozenset()

    @property
    def only_forbids_earlier(self) -> EarlierPlan | None:
        """The earlier call that it forbids, if it demands nothing else."""
        others = self.sources or self.forbidden or self.after is not None or self.require is not None
        return None if others else self.not_after

    def forbids(self, tool: str) -> bool:
        """Whether every call of a tool breaks the rule, whatever its arguments are."""
        concerned = Severity(self.severity).impact.denies_call and self.matches is not None and self.matches(tool)
        plain = self.each is None and self.when.checked is None and self.pattern is None
        if not (concerned and plain) or self.require is None or self.require.names:
            return False
        return self.require.decide({}) is False
