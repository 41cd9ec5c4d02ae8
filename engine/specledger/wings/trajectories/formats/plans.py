"""What a compiled format is made of, and how its paths and conditions read the parts of a log."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from specledger.core.log_json import as_text
from specledger.wings.trajectories.model import Speaker
from specledger.wings.trajectories.rules.paths import ANY, Path, below

Roots = Mapping[str, Any]
"""What the roots of paths stand for: record, trajectory, entry, item."""


class ConditionPlan(Struct, frozen=True):
    """Values at paths, and paths that lead to something."""

    when: tuple[tuple[Path, tuple[str | int | bool, ...]], ...] = ()
    has: tuple[Path, ...] = ()

    def part(self, *, of_items: bool) -> ConditionPlan:
        """What it says of items, or of the rest."""
        return ConditionPlan(
            tuple(pair for pair in self.when if (pair[0].root == "item") is of_items),
            tuple(path for path in self.has if (path.root == "item") is of_items),
        )

    def holds(self, roots: Roots) -> bool:
        """Whether it is so."""
        return all(
            any(_equal(node, value) for node in nodes(path, roots) for value in values) for path, values in self.when
        ) and all(nodes(path, roots) for path in self.has)

    def recorded(self, roots: Roots) -> bool:
        """Whether something stands at each of its values."""
        return all(nodes(path, roots) for path, _ in self.when) and all(nodes(path, roots) for path in self.has)


class ClausePlan(Struct, frozen=True):
    """A clause: which entries it is about, and where its parts stand.

    Attributes:
        sort: message, call, result, finding or ignore.
        paths: The paths of its keys.
        plain: The name of the argument that arguments are which are a text, and no JSON object; empty if there is none.
    """

    sort: str
    condition: ConditionPlan
    of_items: ConditionPlan
    each: Path | None
    paths: Mapping[str, Path]
    failed: ConditionPlan | None = None
    speaker: Speaker = Speaker.SYSTEM
    plain: str = ""

    @property
    def roots(self) -> frozenset[str]:
        """The roots of all its paths."""
        conditions = [self.condition, self.of_items]
        tested = [path for plan in conditions for path in (*(path for path, _ in plan.when), *plan.has)]
        within = [] if self.each is None else [self.each]
        return frozenset(path.root for path in (*tested, *within, *self.paths.values()))


class FormatPlan(Struct, frozen=True):
    """A compiled format; its clauses are messages, then calls, results, findings, and what is ignored.

    Attributes:
        of_trajectories, of_records: The findings that are not of an entry.
    """

    name: str
    paths: Mapping[str, Path]
    clauses: tuple[ClausePlan, ...]
    of_trajectories: tuple[ClausePlan, ...] = ()
    of_records: tuple[ClausePlan, ...] = ()


def nodes(path: Path, roots: Roots) -> list[Any]:
    """What a path leads to, lists as they are; what is null is not there."""
    if path.root not in roots:
        return []
    values = [roots[path.root]]
    for step in path.steps:
        values = [inner for node in values for inner in below(node, step)]
    return [value for value in values if value is not None]


def elements(path: Path, roots: Roots) -> list[Any]:
    """What a path of several leads to: a list at its end stands for its elements, as in paths of rules."""
    several = path.steps[-1:] != (ANY,)
    found = [inner for node in nodes(path, roots) for inner in (node if several and type(node) is list else (node,))]
    return [value for value in found if value is not None]


def _equal(node: Any, value: str | int | bool) -> bool:
    if type(node) is type(value):
        return bool(node == value)
    return type(node) is not bool and type(value) is int and as_text(node) == str(value)
