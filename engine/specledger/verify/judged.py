"""Counts of the verdicts that a second evaluator judged, and their summary.

A verdict that was not judged never counts as agreement.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from msgspec import Struct, field
from msgspec.structs import asdict

from specledger.core.diagnostics import code
from specledger.expr import Checked
from specledger.verify.checks import Broken, Lacking, Verification
from specledger.verify.reference import Names, Unjudged

E_JUDGE = code("E_JUDGE", "a second evaluator disagrees with a verdict")

NO_EXPRESSION: Final = "no verdict in this evidence is that of an expression about a state"

UNVALUED: Final = "the engine could not evaluate it"
"""Why a verdict is not judged where our engine has none: an expression without a value is an error in the run."""


class Count(Struct):
    """How many verdicts there are, and what became of them.

    Attributes:
        judged: Verdicts on which the other engine agrees.
        ours: Those of them whose expressions call functions of ours, by the functions.
        open: Verdicts of expressions that were not judged, by the reason.
        without: Verdicts that are no expression's, by what they are.
        against: The first verdict on which the engines differ, if there is one.
    """

    judged: int = 0
    ours: Counter[str] = field(default_factory=Counter)
    open: Counter[str] = field(default_factory=Counter)
    without: Counter[str] = field(default_factory=Counter)
    against: str | None = None

    @property
    def all(self) -> int:
        """How many verdicts of expressions there are."""
        return self.judged + self.open.total() + (self.against is not None)

    def take(self, other: Count, where: str = "") -> None:
        """Add what was counted elsewhere, at a place if it has a name."""
        self.judged += other.judged
        self.ours += other.ours
        self.open += other.open
        self.without += other.without
        if other.against is not None and self.against is None:
            self.against = f"{where}: {other.against}" if where else other.against

    @classmethod
    def of(cls, counted: Mapping[str, Any]) -> Count:
        """The count that `drain` described, whose counters a cluster returns as plain mappings."""
        given: dict[str, Any] = {
            name: Counter(value) if isinstance(value, Mapping) else value for name, value in counted.items()
        }
        return cls(**given)

    def drain(self) -> dict[str, Any]:
        """What was counted, as `of` reads it; this one begins again."""
        counts, empty = asdict(self), asdict(Count())
        for name, value in empty.items():  # whoever counts here holds this object
            setattr(self, name, value)
        return counts

    def compare(
        self, what: str, recorded: str, verdict: Callable[[], str], names: Names, rules: tuple[Checked, ...]
    ) -> None:
        """Compare a recorded verdict of `rules` with the other engine's, which `verdict` asks for, and count it."""

        def difference() -> str | None:
            judged = verdict()
            return None if judged == recorded else f"recorded {recorded}, judged {judged}"

        self.settle(what, difference, lambda: names.ours(rules))

    def settle(self, what: str, difference: Callable[[], str | None], ours: Callable[[], Iterable[str]]) -> None:
        """Count one verdict; `difference` says what is recorded and what is judged, or None if both engines agree."""
        try:
            mismatch = difference()
        except Unjudged as unjudged:
            self.open[unjudged.why] += 1
            return
        if mismatch is None:
            self.judged += 1
            self.ours.update(ours())
        elif self.against is None:
            self.against = f"{what}: {mismatch}"


def summary(count: Count, verification: Verification) -> str:
    """The summary of a count.

    Raises:
        Broken: E_JUDGE, at the first verdict on which the engines differ.
        Lacking: Not every verdict could be judged, or there is none.
    """
    verification.facts["judge"] = {
        "judged": count.judged,
        "of": count.all,
        "with_functions_of_ours": dict(sorted(count.ours.items())),
        "not_judged": dict(sorted(count.open.items())),
        "no_expression": dict(sorted(count.without.items())),
    }
    if count.against is not None:
        raise Broken(E_JUDGE, count.against)
    if not count.all:
        raise Lacking("; ".join(filter(None, [NO_EXPRESSION, _listed("no expressions", count.without)])))
    words = [f"judged {count.judged} of {count.all} verdicts of expressions"]
    words += [_listed("calling functions of ours", count.ours), _listed("not judged", count.open)]
    text = "; ".join(filter(None, [*words, _listed("no expressions", count.without)]))
    if count.judged < count.all:
        raise Lacking(text)
    return text


def _listed(title: str, counts: Counter[str]) -> str:
    return f"{title}: " + ", ".join(f"{name} {number}" for name, number in sorted(counts.items())) if counts else ""
