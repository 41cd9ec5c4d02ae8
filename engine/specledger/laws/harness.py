"""The harness: trying a law on cases.

Decides the cases of a law, the limit on their work, and what a trial found: a counterexample, or how strong the lack of
one is. Refuses to know provers. Work is counted in cells that are read, never timed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from specledger.laws.exact import Run
from specledger.laws.generators import Case
from specledger.laws.judge import Judged, judge
from specledger.laws.law import Law
from specledger.laws.minimise import minimise
from specledger.laws.power import Power, weigh
from specledger.laws.search import first_violation
from specledger.laws.verdict import Counterexample

State = tuple[int, ...]

MAX_WORK: Final = 500_000_000
"""Cells that one law may read: those of its cases times the steps, for the evolution and for each observable."""

EXCERPT: Final = 12
"""States of an excerpt at most."""


class Contradiction(AssertionError):  # noqa: N818 - says what was found
    """Two ways of judging a law disagree: an error of the engine, and no verdict."""


@dataclass(frozen=True)
class Trial:
    """What came of the cases of a law: a start that violates it and when, or what the lack of one is worth."""

    violation: tuple[State, int] | None
    power: Power


def work_of(law: Law, cases: tuple[Case, ...]) -> int:
    """Cells that judging a law on its cases and the search after it read at most."""
    cells = sum(len(case.start) for case in cases)
    share = -(-law.mutations * cells // max(1, len(cases)))
    return (cells + share) * (law.steps + 1) * (1 + len(law.observables))


def try_cases(law: Law, cases: tuple[Case, ...]) -> tuple[Trial, Judged]:
    """Judge a law on its cases.

    Raises:
        EvaluationError: An integer leaves 64 bits.
    """
    judged = judge(law, [case.cells for case in cases])
    violation = first_violation([case.start for case in cases], judged)
    return Trial(violation, weigh(law, cases, judged)), judged


def present(law: Law, start: State) -> Counterexample:
    """A small counterexample from a start that violates a law; the violation is judged by definition.

    Raises:
        Contradiction: It violates nothing.
        EvaluationError: An integer leaves 64 bits.
    """
    t = Run(law, start).first_violation()
    small, judged = (start, 0) if t is None else minimise(law, start, t)
    run = Run(law, small)
    at = run.first_violation()
    if t is None or at is None:
        raise Contradiction(f"{law.name}: {law.universe.text(small)!r} was said to violate the law")
    first = max(0, at - 2)
    states = run.states[first : max(at + 2, at + law.reach + 1)][:EXCERPT]
    return Counterexample(
        start=law.universe.text(small),
        t=at,
        first=first,
        states=tuple(map(law.universe.text, states)),
        observables=(run.values(run.states[at]), run.values(law.universe.rule.step(run.states[at]))),
        judged=judged,
    )
