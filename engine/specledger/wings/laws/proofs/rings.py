"""Direct judging of claims on trajectories, and enumeration of all rings of a length.

Every counterexample of the prover is confirmed here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import product

from msgspec import Struct

from specledger.wings.laws.automaton import Additive
from specledger.wings.laws.claim import BINARY, steps_on
from specledger.wings.laws.proofs.clauses import as_condition, terms_of
from specledger.wings.laws.proofs.question import And, Commutes, Condition, Linear, Local, Not, Opaque, Question, State

Holds = Callable[[State, Sequence[State]], bool]
"""Whether something holds of an initial state and the states from t on."""


class OutOfCells(Exception):  # noqa: N818 - a limit that was met, not an error of the engine
    """The budget of cells is used up."""


class Judge(Struct, frozen=True):
    """How an instance of a claim is judged.

    Attributes:
        span: Steps after t that are looked at.
        from_start: Whether the initial state is looked at for t > 0.
        rotates: Whether a rotation of the ring changes nothing.
        holds: Of the initial state and the states at t, … t + span.
        step: The rule's; it remembers what it was asked.
    """

    span: int
    from_start: bool
    rotates: bool
    holds: Holds
    step: Callable[[State], State]


def judge(question: Question, length: int) -> Judge:
    """The judge of a question's claim on rings of so many cells."""
    claim, step = question.claim, cache(question.rule.step)
    if isinstance(claim, Opaque):
        return Judge(steps_on(claim.span, length), claim.from_start, False, claim.holds, step)
    if isinstance(claim, Commutes):
        return Judge(1, False, True, lambda _, states: step(claim.image(states[0])) == claim.image(states[1]), step)
    if isinstance(claim, Local):
        trigger, results = claim.trigger, claim.results
        return Judge(
            1,
            False,
            True,
            lambda _, states: all(
                after in results for before, after in zip(states[0], states[1], strict=True) if before == trigger
            ),
            step,
        )
    condition = as_condition(claim) or And(())
    times = [term.at for term in terms_of(condition)]
    span = max((at for at in times if at is not None), default=0)
    return Judge(span, None in times, True, truth(condition), step)


def truth(condition: Condition) -> Holds:
    """Whether a condition holds; totals of a state are computed once."""
    return _truth(condition, {term.observable: cache(term.observable.total) for term in terms_of(condition)})


def _truth(condition: Condition, totals: Mapping[Additive, Callable[[State], int]]) -> Holds:
    match condition:
        case Linear(terms, op, bound):
            compare, read = BINARY[op], [(term.coefficient, totals[term.observable], term.at) for term in terms]
            return lambda start, states: compare(
                sum(times * total(start if at is None else states[at]) for times, total, at in read), bound
            )
        case Not(part):
            denied = _truth(part, totals)
            return lambda start, states: not denied(start, states)
    parts = [_truth(part, totals) for part in condition.parts]
    if isinstance(condition, And):
        return lambda start, states: all(part(start, states) for part in parts)
    return lambda start, states: any(part(start, states) for part in parts)


def first_violation(question: Question, judging: Judge, ring: State, budget: list[int]) -> int | None:
    """The first t at which the claim fails on the trajectory from an admitted ring, or None.

    The trajectory ends at the horizon, or where it repeats itself. Where any state may be an initial state, an instance
    at t = 0 stands for all.

    Args:
        question: The question.
        judging: How it is judged on rings of this length.
        ring: The initial state.
        budget: The cells that may still be used; what was used is taken off.

    Raises:
        OutOfCells: The budget is used up.
    """
    until, step = question.until(len(ring)), judging.step
    states, seen, t = [ring], set(), 0
    while t + judging.span <= until and states[0] not in seen:
        seen.add(states[0])
        while len(states) <= judging.span:
            states.append(step(states[-1]))
        spend(budget, len(ring) * (judging.span + 1))
        if not judging.holds(ring, states):
            return t
        if steady(question) and not judging.from_start:
            break
        states = [*states[1:], step(states[-1])]
        t += 1
    return None


def steady(question: Question) -> bool:
    """Whether the contract admits every state of a ring as an initial state."""
    return question.start is None and question.where == And(())


def admitted(question: Question, ring: State) -> bool:
    """Whether the contract admits a ring as an initial state."""
    return (
        question.shortest <= len(ring)
        and (question.longest is None or len(ring) <= question.longest)
        and (question.start is None or question.start.issuperset(ring))
        and truth(question.where)(ring, [])
    )


def spend(budget: list[int], cells: int) -> None:
    """Take cells off a budget.

    Raises:
        OutOfCells: There are not as many left.
    """
    budget[0] -= cells
    if budget[0] < 0:
        raise OutOfCells


def smallest_violation(question: Question, cells: int) -> tuple[State, int] | int:
    """The smallest ring on which the claim fails, with its t, or the length up to which there is none.

    Of the rings of a length it is one that fails earliest, and of these the first in the order of symbols.
    """
    budget, length = [cells], question.shortest
    while question.longest is None or length <= question.longest:
        judging = judge(question, length)
        alphabet = range(question.rule.symbols) if question.start is None else sorted(question.start)
        rings = len(alphabet) ** length // (length if judging.rotates else 1)
        if rings * length * (judging.span + 2) > budget[0]:
            break
        try:
            violation = _search(question, judging, length, budget)
        except OutOfCells:
            break
        if violation is not None:
            return violation
        length += 1
    return length - 1


def _search(question: Question, judging: Judge, length: int, budget: list[int]) -> tuple[State, int] | None:
    alphabet = range(question.rule.symbols) if question.start is None else sorted(question.start)
    rings = necklaces(alphabet, length) if judging.rotates else product(alphabet, repeat=length)
    starts = _starts(question, rings, budget)
    if judging.from_start:
        return _search_orbits(question, judging, starts, budget)
    last = question.until(length) - judging.span
    return _search_levels(judging, starts, budget, min(0, last) if steady(question) else last)


def _starts(question: Question, rings: Iterator[State], budget: list[int]) -> Iterator[State]:
    admits = truth(question.where)
    for ring in rings:
        spend(budget, len(ring))
        if admits(ring, []):
            yield ring


def _search_orbits(
    question: Question, judging: Judge, starts: Iterator[State], budget: list[int]
) -> tuple[State, int] | None:
    best: tuple[State, int] | None = None
    for ring in starts:
        t = first_violation(question, judging, ring, budget)
        if t is not None and (best is None or t < best[1]):
            best = ring, t
            if t == 0:
                break
    return best


def _search_levels(judging: Judge, starts: Iterator[State], budget: list[int], last: float) -> tuple[State, int] | None:
    """All starts step by step together; what was judged once is not judged again."""
    step, span, t = judging.step, judging.span, 0
    level: dict[State, State] = {}
    seen: set[State] = set()
    fresh: Iterator[tuple[State, State]] = ((ring, ring) for ring in starts)
    while t <= last:
        level = {}
        for state, ring in fresh:
            if state in seen:
                continue
            seen.add(state)
            level[state] = ring
            states = [state]
            while len(states) <= span:
                states.append(step(states[-1]))
            spend(budget, len(ring) * (span + 1))
            if not judging.holds(ring, states):
                return ring, t
        if not level:
            break
        fresh = ((step(state), ring) for state, ring in level.items())
        t += 1
    return None


def necklaces(alphabet: Sequence[int], length: int) -> Iterator[State]:
    """The least of each class of rings that are rotations of each other. Source: Fredricksen, Kessler, Maiorana."""
    word, size = [0] * length, len(alphabet)
    yield tuple(alphabet[0] for _ in word)
    while (last := next((i for i in reversed(range(length)) if word[i] < size - 1), None)) is not None:
        word[last] += 1
        for i in range(last + 1, length):
            word[i] = word[i - last - 1]
        if length % (last + 1) == 0:
            yield tuple(alphabet[digit] for digit in word)
