"""Tries a law on cases, searches further starts, minimises counterexamples.

`Run` confirms every counterexample. An integer that leaves 64 bits ends whatever is computed with an EvaluationError.
Work is counted in cells that are read, never timed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from specledger.core.rng import Stream
from specledger.wings.laws.generators import Case, Maker
from specledger.wings.laws.judge import Judged, judge, judge_and_see
from specledger.wings.laws.law import Law
from specledger.wings.laws.power import Power, weigh
from specledger.wings.laws.run import Run, State
from specledger.wings.laws.spec.universe import Generator
from specledger.wings.laws.verdict import Counterexample

MAX_WORK: Final = 500_000_000
"""Cells that one law may read: those of its cases times the steps, for the evolution and for each observable."""


class Contradiction(AssertionError):  # noqa: N818 - says what was found
    """Two ways of judging a law disagree: an error of the engine, and no verdict."""


def work_of(law: Law, cases: tuple[Case, ...]) -> int:
    """Cells that judging a law on its cases and the search after it read at most."""
    cells = sum(len(case.start) for case in cases)
    share = -(-law.mutations * cells // max(1, len(cases)))
    longest = max((len(case.start) for case in cases), default=0)
    return (cells + share) * (law.on(longest).steps + 1) * (1 + len(law.observables))


def try_cases(law: Law, cases: tuple[Case, ...]) -> tuple[tuple[State, int] | None, Power, Judged]:
    """Judge a law on its cases: a start that violates it and when, what the lack of one is worth, and the judgement.

    Raises:
        EvaluationError: An integer leaves 64 bits.
    """
    starts = [case.start for case in cases]
    judged, seen = judge_and_see(law, starts)
    violation = first_violation(starts, judged)
    return violation, weigh(cases, judged, seen), judged


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
    states = run.states[first : max(at + 2, at + run.law.reach + 1)][: law.trial.excerpt]
    evolved = [*run.states, law.universe.rule.step(run.states[-1])]
    return Counterexample(
        start=law.universe.text(small),
        t=at,
        first=first,
        states=tuple(map(law.universe.text, states)),
        observables={key: run.values(evolved[at + steps]) for key, steps in law.moments.items()},
        judged=judged,
    )


ROUNDS: Final = 5
POOL: Final = 48
"""Starts that are kept from round to round."""


def search(law: Law, cases: tuple[Case, ...], judged: Judged) -> tuple[State, int] | None:
    """A start that violates the law and the step at which it does, or None.

    Raises:
        EvaluationError: An integer leaves 64 bits.
    """
    if law.mutations < ROUNDS:
        return None
    stream = Stream.named(law.seed, "search", law.universe.name)
    maker = Maker(law.universe, Generator(make="mutations"), law.starts, law.universe.sizes, stream)
    pool = _best([case.start for case in cases], judged)
    for number in range(ROUNDS):
        count = law.mutations // ROUNDS
        starts = [maker.mutate(pool[index % len(pool)], 1 + (number + index) % 3) for index in range(count)]
        judged = judge(law, starts)
        violation = first_violation(starts, judged)
        if violation is not None:
            return violation
        pool = _best(starts, judged)[: POOL // 2] + pool[: POOL // 2]
    return None


def first_violation(starts: list[State], judged: Judged) -> tuple[State, int] | None:
    """The shortest start that violates the law; of those, the one that does so first."""
    violations = [
        (len(starts[index]), int(judged.violated[index]), index)
        for index in np.nonzero(judged.violated >= 0)[0].tolist()
    ]
    if not violations:
        return None
    _, t, index = min(violations)
    return starts[index], t


def _best(starts: list[State], judged: Judged) -> list[State]:
    """Short starts at which the antecedent holds often; those that are not usable come last."""
    hits = judged.hits.tolist()
    usable = judged.usable.tolist()
    order = sorted(range(len(starts)), key=lambda at: (not usable[at], len(starts[at]) > 32, -hits[at], at))
    return [starts[at] for at in order[:POOL]]


def minimise(law: Law, start: State, t: int) -> tuple[State, int]:
    """A start at least as small that violates the law no later.

    Returns:
        The start, and how many candidates were judged.

    Raises:
        EvaluationError: An integer leaves 64 bits.
    """
    spent, budget = 0, law.trial.candidates
    for shrink in (_shorter, _emptier, _shorter):
        chunk = len(start) // 2
        while chunk and spent < budget:
            candidates = list(dict.fromkeys(shrink(law, start, chunk)))[: budget - spent]
            spent += len(candidates)
            violation = _first(law, candidates, t) if candidates else None
            if violation is None:
                chunk //= 2
            else:
                start, t = violation
                chunk = min(chunk, len(start) // 2)
    return start, spent


def _first(law: Law, candidates: Sequence[State], t: int) -> tuple[State, int] | None:
    """The candidate that violates the law earliest, of those no later than `t`."""
    violated = judge(law, candidates, last=t).violated.tolist()
    violations = [(at, index) for index, at in enumerate(violated) if at >= 0]
    return None if not violations else (candidates[min(violations)[1]], min(violations)[0])


def _shorter(law: Law, start: State, chunk: int) -> Iterator[State]:
    """Some neighbouring cells less."""
    if len(start) - chunk >= law.universe.shortest:
        for offset in range(0, len(start), chunk):
            yield (*start[:offset], *start[offset + chunk :])


def _emptier(law: Law, start: State, chunk: int) -> Iterator[State]:
    """Some neighbouring things less."""
    empty = law.universe.empty
    if empty in law.starts:
        for offset in range(0, len(start), chunk):
            cells = start[offset : offset + chunk]
            if any(cell != empty for cell in cells):
                yield (*start[:offset], *[empty] * len(cells), *start[offset + chunk :])
