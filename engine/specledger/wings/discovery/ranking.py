"""Rankings: the order in which proposed laws are tried, by scores that a spec computes from facts.

All numbers are integers: weights and scores in millionths, a law's overall score as an exact sum of products of both.
So the order is the same on every machine, and so is the sensitivity: two laws change places where their overall scores
meet, which is the root of one linear equation in the weight. Source: law proposer, section 8.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from specledger.core.diagnostics import Diagnostics, code, coded
from specledger.expr import BOOL, INT, STRING, Environment, EvaluationError, ListType
from specledger.lang.scope import Scope
from specledger.load import Bundle, Resolved
from specledger.suites.measures import Reading
from specledger.wings.discovery.memory import LAW, DiscoveryMemorySnapshot, facts_of, thawed
from specledger.wings.discovery.spec.ranking import Ranking as RankingSpec

if TYPE_CHECKING:
    from specledger.wings.discovery.parser import ParsedLaw
    from specledger.wings.discovery.redundancy import RedundancyMatch

E_RANKING_RULE = code("E_RANKING_RULE", "a rule of a ranking could not be evaluated")

ONE: Final = 1_000_000
"""Scores, weights and shares are counted in millionths."""

_MOST_KNOWN: Final = 10_000  # laws of one list of the memory

_KNOWN: Final = ListType(LAW, _MOST_KNOWN)

ENVIRONMENT: Final = Environment(
    {
        "law": LAW,
        "accepted": _KNOWN,
        "falsified": _KNOWN,
        "unknown": _KNOWN,
        "similarity": INT,
        "match_type": STRING,
    }
)
"""What rules may read: the law, those that are remembered, and how much it resembles the known law nearest to it."""


class Rule(Struct, frozen=True):
    """What a fact adds to a score: `add` millionths where it holds (`when`), for each (`per`), or so much (`share`)."""

    add: int
    form: str
    reading: Reading

    def added(self, values: Mapping[str, Any]) -> int:
        """Millionths.

        Raises:
            EvaluationError: The fact has no value.
        """
        value = self.reading.read(values)
        return self.add * int(value) // (ONE if self.form == "share" else 1)


class Factor(Struct, frozen=True):
    """One score of a law; `weight` has the sign with which it counts. All numbers are millionths."""

    name: str
    weight: int
    start: int
    least: int
    most: int
    rules: tuple[Rule, ...]


class RankingPlan(Struct, frozen=True):
    """A compiled ranking.

    Attributes:
        lets: Named facts that rules read, in an order in which each reads only those before it.
        factors: In the order of their names.
        within: By which share of itself, in millionths, a weight is changed to see whether another law comes first.
    """

    name: str
    lets: tuple[tuple[str, Reading], ...]
    factors: tuple[Factor, ...]
    within: int


class RankingFeatures(Struct, frozen=True):
    """The scores of a law in millionths.

    Attributes:
        overall: The sum of the scores by their weights, rounded down.
        exact: The same sum in millionths of millionths, which decides the order.
    """

    scores: Mapping[str, int]
    overall: int
    exact: int

    def __getitem__(self, factor: str) -> int:
        return self.scores[factor]

    def document(self) -> dict[str, Any]:
        """The scores as JSON values."""
        return {"scores": dict(self.scores), "overall": self.overall}


class Ranked(Struct, frozen=True):
    """Laws in the order in which they should be tried, with their scores, and what could not be evaluated."""

    laws: tuple[ParsedLaw, ...]
    features: tuple[RankingFeatures, ...]
    warnings: tuple[str, ...] = ()


class Sensitivity(Struct, frozen=True):
    """What another weight of one factor would do, all other weights being as they are.

    Attributes:
        changes: Whether another law comes first for some weight within the share that the ranking names.
        at: The change of the weight nearest to 0 beyond which another law comes first, in millionths of the weight,
            rounded towards 0; None if there is none above -1, where the weight is 0.
        law: The place of that law in the order; None as before.
    """

    factor: str
    changes: bool
    at: int | None
    law: int | None


def compile_ranking(bundle: Bundle, key: str) -> RankingPlan:
    """Compile a ranking of a bundle."""
    diagnostics = Diagnostics()
    plan = check_ranking(bundle.specs[key], diagnostics)
    diagnostics.raise_if_errors()
    assert plan is not None  # noqa: S101 - it is missing only where there was a finding
    return plan


def check_ranking(spec: Resolved, diagnostics: Diagnostics) -> RankingPlan | None:
    """Check a ranking; None, with findings, if it is wrong."""
    model = spec.model
    assert isinstance(model, RankingSpec)  # noqa: S101 - a reference of kind ranking holds nothing else
    findings = Diagnostics()
    scope = Scope(ENVIRONMENT, spec, findings)
    scope = scope.constants(model.constants, "constants").functions(model.functions, "functions")
    lets, scope = scope.let(model.let, "let")
    factors = tuple(_factor(model, name, scope) for name in sorted(model.factors))
    scope.unused(model.functions)
    diagnostics.extend(findings.sorted())
    readings = tuple((name, Reading.of(checked)) for name, checked in lets)
    return None if findings.has_errors else RankingPlan(spec.name, readings, factors, model.sensitivity)


def _factor(model: RankingSpec, name: str, scope: Scope) -> Factor:
    factor = model.factors[name]
    rules = []
    for index, rule in enumerate(factor.rules):
        form = next(candidate for candidate in ("when", "per", "share") if getattr(rule, candidate) is not None)
        expect = BOOL if form == "when" else INT
        checked = scope.expression("factors", name, "rules", index, form, expect=expect)
        if checked is not None:
            rules.append(Rule(rule.add, form, Reading.of(checked)))
    weight = -factor.weight if factor.subtract else factor.weight
    return Factor(name, weight, factor.start, factor.least, factor.most, tuple(rules))


class RankingModel:
    """Scores laws and puts them in order."""

    def __init__(self, plan: RankingPlan) -> None:
        self.plan = plan

    def rank(
        self,
        laws: Sequence[ParsedLaw],
        known: DiscoveryMemorySnapshot | None = None,
        nearest: Sequence[RedundancyMatch | None] = (),
    ) -> Ranked:
        """Put laws in order, the best first; of equal ones the one that came first. `nearest` has a match for each."""
        memory = known or DiscoveryMemorySnapshot()
        lists = {"accepted": memory.accepted_laws, "falsified": memory.falsified_laws, "unknown": memory.unknown_laws}
        remembered = {name: [thawed(entry["facts"]) for entry in entries] for name, entries in lists.items()}
        warnings: list[str] = []
        scored = []
        for law, match in zip(laws, nearest or [None] * len(laws), strict=True):
            resembles = {"similarity": match.similarity, "match_type": match.match_type} if match else _NOTHING
            scored.append((law, self.score({"law": facts_of(law), **remembered, **resembles}, warnings)))
        scored.sort(key=lambda pair: -pair[1].exact)  # stable
        return Ranked(tuple(law for law, _ in scored), tuple(entry for _, entry in scored), tuple(warnings))

    def score(self, facts: Mapping[str, Any], warnings: list[str] | None = None) -> RankingFeatures:
        """The scores of a law."""
        values = dict(facts)
        for name, reading in self.plan.lets:
            try:
                values[name] = reading.read(values)
            except EvaluationError as error:
                values[name] = error.bare()
        scores, exact = {}, 0
        for factor in self.plan.factors:
            score = factor.start
            for index, rule in enumerate(factor.rules):
                try:
                    score += rule.added(values)
                except EvaluationError as error:
                    if warnings is not None:
                        subject = f"rule {index} of {factor.name} adds nothing to {facts['law']['id']}"
                        warnings.append(coded(E_RANKING_RULE, f"{subject}: {error.code}"))
            scores[factor.name] = min(max(score, factor.least), factor.most)
            exact += factor.weight * scores[factor.name]
        return RankingFeatures(scores, exact // ONE, exact)


_NOTHING: Final = {"similarity": 0, "match_type": ""}


def sensitivity(plan: RankingPlan, features: Sequence[RankingFeatures]) -> tuple[Sensitivity, ...]:
    """For each factor, whether another weight would put another law first."""
    return tuple(_sensitivity(factor, features, plan.within) for factor in plan.factors)


def _sensitivity(factor: Factor, features: Sequence[RankingFeatures], within: int) -> Sensitivity:
    """Solve, for every other law, for the weight at which it meets the first one.

    With the weight times (1 + x) the first law leads another by `lead + x * gain`. Of equal laws the one that came
    first stays first: the order of the others says which came later only where they are equal, so a law takes the
    lead where it is strictly better, beyond the root.
    """
    best: tuple[Fraction, Fraction, int] | None = None
    for index, other in enumerate(features[1:], start=1):
        lead = features[0].exact - other.exact
        gain = factor.weight * (features[0][factor.name] - other[factor.name])
        if gain == 0:
            continue
        root = Fraction(-lead, gain)
        if root > -1 and (best is None or abs(root) < best[0]):
            best = (abs(root), root, index)
    if best is None:
        return Sensitivity(factor.name, False, None, None)
    return Sensitivity(factor.name, best[0] < Fraction(within, ONE), int(best[1] * ONE), best[2])
