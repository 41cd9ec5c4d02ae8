"""Decides a question: a proof for every ring, else the smallest counterexample, else rings up to a length.

The smallest rings are tried first, then a proof in its cheapest form, then a proof by cases. Then rings are enumerated,
so that a counterexample is the smallest if that many rings can be tried.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

from specledger.core.canonical import MAX_INTEGER, canonical_bytes
from specledger.wings.laws.proofs.circulations import circuit, tours
from specledger.wings.laws.proofs.clauses import TooManyClauses, as_condition, terms_of
from specledger.wings.laws.proofs.linear import Open, TooWide, closed_facts, closed_windows, largest_in, prove_linear
from specledger.wings.laws.proofs.potentials import climb, current
from specledger.wings.laws.proofs.question import (
    And,
    Answer,
    Commutes,
    Condition,
    Conserved,
    Limits,
    Local,
    Monotone,
    Opaque,
    Proved,
    ProvedUpTo,
    Question,
    Refuted,
    State,
    Undecided,
    facts,
)
from specledger.wings.laws.proofs.rings import OutOfCells, admitted, first_violation, judge, smallest_violation
from specledger.wings.laws.proofs.windows import change, code_of, digits, graph, over, seen

FORMAT = "proof/v1"
DEFAULT = Limits()
MANY = 1 << 20  # cells: a ring that is longer than any
_GLANCE = 2000  # cells of the smallest rings, which refute most false claims before any proof is tried


Tried: TypeAlias = dict[int, tuple[State, int] | int]
"""What `smallest_violation` gives, by the cells that it may use."""


class Unproved(Exception):  # noqa: N818 - an answer, not an error
    """A procedure found no proof.

    Attributes:
        suspects: Initial states that may be counterexamples, the shortest first.
    """

    def __init__(self, why: str, suspects: Iterable[State] = ()) -> None:
        super().__init__(why)
        self.why = why
        self.suspects = suspects


def prove(question: Question, limits: Limits = DEFAULT, tried: Tried | None = None) -> Answer:
    """Decide a question as far as the limits allow.

    Args:
        question: The question.
        limits: Bounds on the work.
        tried: What came of the rings that were tried for the same question without `longest`; it is added to.

    Raises:
        ValueError: The question is malformed: alphabets, tables or ranges do not fit each other.
    """
    _validate(question)
    longest = question.longest or MANY
    span, until = judge(question, longest).span, question.until(longest)
    if until < span:
        why = f"the claim looks {span} steps ahead, beyond the horizon {until}: it has no instance"
        return Undecided(why, question.contract)
    try:
        return _decide(question, limits, {} if tried is None else tried)
    except Exception as error:
        if not isinstance(question.claim, Opaque):
            raise
        return Undecided(f"the claim could not be judged: {error}", question.contract)


def _decide(question: Question, limits: Limits, tried: Tried) -> Answer:
    smallest = _smallest(question, min(limits.cells, _GLANCE), tried)
    if isinstance(smallest, tuple):
        return _refuted(question, *smallest)
    suspected, why = None, ""
    for cases in (1, limits.nodes):
        try:
            answer = _certified(question, _proof(question, limits, cases))
            if isinstance(answer, Proved) and len(canonical_bytes(answer.certificate)) > limits.certificate:
                raise Unproved(f"its certificate would have more than {limits.certificate} bytes")
            return answer
        except Unproved as unproved:
            why, suspected = unproved.why, _confirm(question, unproved.suspects, limits)
            if suspected:
                break
    smallest = _smallest(question, limits.cells, tried)
    if isinstance(smallest, tuple):
        return _refuted(question, *smallest)
    if question.longest is not None and smallest >= question.longest:
        return _certified(question, {"kind": "exhaustive", "length": question.longest})
    if suspected:
        note = f"built from a circulation; of shorter rings, those of up to {smallest} cells were all tried"
        return Refuted(*suspected, note, question.contract)
    if smallest < question.shortest:
        return Undecided(f"{why}; rings of {question.shortest} cells are too many to try", question.contract)
    certificate = _document(question, {"kind": "exhaustive", "length": smallest})
    return ProvedUpTo(smallest, certificate, question.contract, why)


def try_rings(question: Question, limits: Limits = DEFAULT) -> Answer:
    """Decide a question about the rings of a small range by trying them all.

    An error while a claim is judged is raised.
    """
    _validate(question)
    longest = question.longest or MANY
    smallest = smallest_violation(question, limits.cells)
    if isinstance(smallest, tuple):
        return _refuted(question, *smallest)
    if smallest < longest:
        return Undecided(f"rings of {smallest + 1} cells are too many to try", question.contract)
    return _certified(question, {"kind": "exhaustive", "length": longest})


def _smallest(question: Question, cells: int, tried: Tried) -> tuple[State, int] | int:
    """The smallest ring on which the claim fails, as `smallest_violation` finds it."""
    if cells not in tried:
        tried[cells] = smallest_violation(question, cells)
    outcome, longest = tried[cells], question.longest or MANY
    return outcome if (len(outcome[0]) if isinstance(outcome, tuple) else outcome) <= longest else longest


def _refuted(question: Question, ring: State, t: int) -> Refuted:
    return Refuted(ring, t, "no smaller ring fails: all were tried", question.contract)


def _certified(question: Question, proof: dict[str, Any]) -> Answer:
    if largest_in(proof) > MAX_INTEGER:
        return Undecided("the certificate needs integers beyond 2^53 - 1", question.contract)
    return Proved(_document(question, proof), question.contract)


def _document(question: Question, proof: dict[str, Any]) -> dict[str, Any]:
    return {"format": FORMAT, "question": facts(question), "proof": proof}


def _proof(question: Question, limits: Limits, cases: int) -> dict[str, Any]:
    """The proof of a question for every ring."""
    claim = question.claim
    match claim:
        case Conserved() | Monotone() if question.start is None and question.where == And(()) and cases == 1:
            return _prove_change(question, claim, limits)
        case Commutes() | Local():
            return _prove_windows(question, claim)
        case Opaque():
            raise Unproved(claim.why)
    try:
        return prove_linear(question, claim, limits, cases)
    except TooManyClauses:
        raise Unproved(f"the claim has more than {limits.conjuncts} alternatives") from None
    except TooWide as wide:
        raise Unproved(str(wide)) from None
    except Open as left:
        raise Unproved("a circulation meets the negated claim", _suspects(left, limits)) from None


def _suspects(left: Open, limits: Limits) -> Iterable[State]:
    if left.initial:
        ring = circuit(left.met.flow, left.windows, limits.ring) if left.met.whole else None
        if ring:
            yield ring
        yield from tours(left.met.flow, left.windows, limits.ring)


def _confirm(question: Question, suspects: Iterable[State], limits: Limits) -> tuple[State, int] | None:
    budget = [limits.cells]
    for ring in (suspect for suspect in suspects if admitted(question, suspect)):
        try:
            t = first_violation(question, judge(question, len(ring)), ring, budget)
        except OutOfCells:
            return None
        if t is not None:
            return ring, t
    return None


def _prove_change(question: Question, claim: Conserved | Monotone, limits: Limits) -> dict[str, Any]:
    """A current, or a potential: exact over all states, since the cycle that stands against it is a counterexample."""
    symbols, width = question.rule.symbols, seen(question.rule, claim.observable, 1)
    if symbols**width > max(limits.windows, len(question.rule.table)):
        raise Unproved(f"{symbols}^{width} windows are more than {limits.windows}")
    windows, growth = graph(symbols, width), change(question.rule, claim.observable)
    if isinstance(claim, Conserved):
        potential = current(windows, growth)
        if potential is None:
            raise Unproved("a cycle of windows changes the observable")
        return {"kind": "current", "potential": potential}
    sign = 1 if claim.direction == "<=" else -1
    heights, _ = climb(windows, [sign * value for value in growth])
    if heights is None:
        raise Unproved("a cycle of windows moves the observable the other way")
    return {"kind": "potential", "potential": heights}


def _prove_windows(question: Question, claim: Commutes | Local) -> dict[str, Any]:
    """Every window of the rule that can occur, one by one."""
    rule, symbols, width = question.rule, question.rule.symbols, question.rule.width
    size, closed = closed_windows(question, width)
    occurring = {code for code, _, _ in graph(symbols, width, closed, size).arcs}
    occurring |= over(symbols, width, range(symbols) if question.start is None else question.start)
    for code in sorted(occurring):
        cells, after = digits(code, symbols, width), rule.table[code]
        if isinstance(claim, Local):
            fits = cells[rule.radius] != claim.trigger or after in claim.results
        else:
            image = [claim.symbol_map[cell] for cell in (cells[::-1] if claim.reflect else cells)]
            fits = rule.table[code_of(image, symbols)] == claim.symbol_map[after]
        if not fits:
            padding = (0,) * (question.shortest - width)
            raise Unproved(f"the window {[*cells]} fails", [(*cells, *padding)])
    return {"kind": "windows", "closed": closed_facts(size, closed)}


def _validate(question: Question) -> None:
    rule, claim = question.rule, question.claim
    symbols, alphabet = rule.symbols, range(rule.symbols)
    complete = len(rule.table) == symbols**rule.width and all(cell in alphabet for cell in rule.table)
    _require(symbols >= 1 and complete, "the table is not one of the alphabet")
    _require(1 <= question.shortest <= (question.longest or question.shortest), "the range of rings is empty")
    _require(question.start is None or (bool(question.start) and question.start <= set(alphabet)), "foreign start")
    _require(question.until(question.shortest) >= 0, "a negative horizon")
    _require(all(term.at is None for term in terms_of(question.where)), "preconditions are about the initial state")
    if isinstance(claim, Commutes):
        fits = len(claim.symbol_map) == symbols and all(cell in alphabet for cell in claim.symbol_map)
        _require(fits, "the symbol map is not one of the alphabet")
    if isinstance(claim, Local):
        _require(claim.trigger in alphabet and claim.results <= set(alphabet), "foreign symbols")
    conditions: list[Condition] = [question.where, as_condition(claim) or And(())]
    for term in (term for condition in conditions for term in terms_of(condition)):
        observable = term.observable
        fits = observable.symbols == symbols and len(observable.weights) == symbols**observable.width
        _require(fits and observable.width >= 1 and (term.at is None or term.at >= 0), "an observable does not fit")


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise ValueError(message)
