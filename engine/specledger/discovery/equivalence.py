"""Equivalence: proves that two laws follow from each other under every rule, not only under their universe's own.

Two proved laws follow from each other trivially. So the states that a claim reads, at t, a step later and at the start,
are taken as any rings of one length, whatever the rule: one ring over tuples of symbols that no rule changes. The
prover answers whether each condition implies the other there, and its certificates are checked like any other. Samples
only tell laws apart. Symmetries need no proof: a rotation commutes with every rule, so that transforms which differ by
a rotation state the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from math import gcd
from typing import Any, Final

from msgspec import Struct

from specledger.core.canonical import canonical_bytes
from specledger.core.digest import tagged
from specledger.core.rng import Stream
from specledger.discovery.fingerprint import conditions_of
from specledger.laws.automaton import Additive, Rule
from specledger.laws.claim import BINARY, TRUE, steps_json
from specledger.laws.law import Law
from specledger.laws.law_question import question_of
from specledger.laws.observable import range_of
from specledger.laws.proofs.clauses import as_condition, terms_of
from specledger.laws.proofs.prove import prove
from specledger.laws.proofs.question import (
    Always,
    And,
    Claim,
    Commutes,
    Condition,
    Eventually,
    Limits,
    Linear,
    Local,
    Not,
    Opaque,
    Or,
    Proved,
    Question,
    Term,
    implies,
)

STATEMENT_TAG: Final = "specledger/statement/v1"
LIMITS: Final = Limits(cells=200, nodes=8)
"""Work of one implication; what is not proved within it counts as different."""

MOST_SYMBOLS: Final = 64
"""Tuples of symbols of which one ring is made."""

MIXED: Final = 96
"""Tuples of short rings on which statements are compared."""

UNIFORM: Final = 256
"""Tuples of rings of one symbol each, whose sums take many values, on which they are compared as well."""

_AHEAD: Final = 1
"""Steps that may be waited for so that a claim with a horizon is still one condition."""

Moment = int | None


class Ring(Struct, frozen=True):
    """The ring that repeats some cells so many times."""

    cells: tuple[int, ...]
    times: int = 1

    def total(self, observable: Additive) -> int:
        """The value of an observable on it: every repetition adds the same."""
        once = observable.total(self.cells) - observable.constant
        return self.times * once + observable.constant


Rings = tuple[Ring, ...]
"""One ring for each moment that a condition reads."""


class Statement(Struct, frozen=True):
    """What a law states, apart from its universe's rule.

    Attributes:
        shortest: Fewest cells of a ring.
        parts: The conditions that it is made of; two laws say the same if each part does.
        frame: Digest of what must be equal for one statement to follow from others: rings, starts, steps, form.
        key: Digest of what must be equal, and of what the parts are on some tuples of rings: laws that say the
            same have the same key, if they read the same moments.
        values: Digest of what their sums are there, up to a factor, if they are single comparisons; else empty. Laws of
            one key and equal values are most likely to say the same.
    """

    symbols: int
    shortest: int
    parts: tuple[Condition, ...]
    frame: str
    key: str
    values: str


def statement_of(law: Law) -> Statement | None:
    """What a law states; None if it is no Boolean combination of linear conditions, nor about single windows."""
    longest = law.universe.longest
    if law.unknown is not None or any(
        range_of(each, law.observables, longest) is None for each in (law.claim, law.where)
    ):
        return None
    question = question_of(law)
    if question is None or isinstance(question.claim, Opaque):
        return None
    form, parts = _split(question.claim)
    everywhere = question.start is None and law.where == TRUE
    remembers = any(term.at is None for part in parts for term in terms_of(part))
    about = {
        "rings": [law.universe.key, question.shortest],
        "starts": None if question.start is None else sorted(question.start),
        "where": None if law.where == TRUE else conditions_of(law),
        "steps": None if everywhere and not remembers else [law.template.first, steps_json(question.horizon)],
        "form": form,
    }
    symbols = question.rule.symbols
    seen = [_seen(part, symbols, question.shortest) for part in parts]
    frame = tagged(STATEMENT_TAG, canonical_bytes(about))
    key = tagged(STATEMENT_TAG, canonical_bytes([frame, *(held for held, _ in seen)]))
    return Statement(symbols, question.shortest, parts, frame, key, " ".join(values for _, values in seen))


def prove_equivalent(ours: Statement, theirs: Statement) -> tuple[dict[str, Any], ...] | None:
    """The certificates that two statements of one key follow from each other; None if that was not proved.

    There are two for each part that is written differently, and none where nothing is.
    """
    found: list[dict[str, Any]] = []
    if ours.key != theirs.key:
        return None
    for first, second in zip(ours.parts, theirs.parts, strict=True):
        if first == second:
            continue
        for premise, conclusion in ((first, second), (second, first)):
            certificate = _follows(premise, conclusion, ours)
            if certificate is None:
                return None
            found.append(certificate)
    return tuple(found)


def prove_implied(statement: Statement, others: Sequence[Statement]) -> dict[str, Any] | None:
    """The certificate that a statement follows from others together, whatever the rule; None if that was not proved.

    So do a weaker bound, and the conservation of a sum of conserved quantities. What every rule keeps follows from
    nothing at all. For statements that wait there is no such proof.
    """
    premises = [other.parts[0] for other in others if other.frame == statement.frame and len(other.parts) == 1]
    if len(statement.parts) != 1:
        return None
    return _follows(And(tuple(premises)), statement.parts[0], statement)


def irredundant(statements: Sequence[Statement | None]) -> list[int]:
    """The places of the statements that do not follow from those that were kept before them.

    What states nothing that can be compared is kept.
    """
    kept: list[int] = []
    for place, statement in enumerate(statements):
        before = [each for each in (statements[earlier] for earlier in kept) if each is not None]
        if statement is None or not _known(statement, before):
            kept.append(place)
    return kept


def _known(statement: Statement, before: Sequence[Statement]) -> bool:
    same = any(prove_equivalent(statement, each) is not None for each in before)
    return same or prove_implied(statement, before) is not None


def _split(claim: Claim) -> tuple[list[Any], tuple[Condition, ...]]:
    """What must be equal of two claims, and the conditions that must follow from each other."""
    if isinstance(claim, Commutes):
        return ["commutes", claim.reflect, list(claim.symbol_map)], ()
    if isinstance(claim, Local):
        return ["local", claim.trigger, sorted(claim.results)], ()
    if isinstance(claim, Eventually) and claim.within > _AHEAD:
        return ["eventually", claim.within], (claim.antecedent, claim.consequent)
    condition = as_condition(claim)
    assert condition is not None  # noqa: S101 - every other claim is a condition
    return ["always"], (condition,)


def _seen(condition: Condition, symbols: int, shortest: int) -> tuple[str, str]:
    """On which of the samples a condition holds, as digits; and a digest of its values, if it is one comparison."""
    moments = sorted({term.at for term in terms_of(condition)}, key=_place)

    def read(term: Term, rings: Rings) -> int:
        return term.coefficient * rings[moments.index(term.at)].total(term.observable)

    samples = _samples(symbols, shortest, len(moments))
    held = "".join("01"[holds(condition, rings, read)] for rings in samples)
    if not isinstance(condition, Linear):
        return held, ""
    sums = [sum(read(term, rings) for term in condition.terms) - condition.bound for rings in samples]
    values = _reduced(sums, condition.op)
    return held, tagged(STATEMENT_TAG, ",".join(f"{value:x}" for value in values).encode())


def _reduced(sums: Sequence[int], op: str) -> list[int]:
    """Sums that are compared with 0, so that comparisons which say the same of whole numbers are written alike."""
    if op in ("==", "!="):
        shared = gcd(*sums) or 1
        sign = -1 if next((value for value in sums if value), 0) < 0 else 1
        return [sign * value // shared for value in sums]
    risen = [value - (op == ">") if op in (">=", ">") else -value - (op == "<") for value in sums]  # each at least 0
    shared = gcd(*(value - risen[0] for value in risen)) or 1
    return [value // shared for value in risen]


def _place(moment: Moment) -> int:
    return -1 if moment is None else moment


def holds(condition: Condition, rings: Rings, read: Callable[[Term, Rings], int]) -> bool:
    """Whether a condition holds of the states at its moments."""
    if isinstance(condition, Linear):
        return bool(BINARY[condition.op](sum(read(term, rings) for term in condition.terms), condition.bound))
    if isinstance(condition, Not):
        return not holds(condition.part, rings, read)
    found = (holds(part, rings, read) for part in condition.parts)
    return all(found) if isinstance(condition, And) else any(found)


@lru_cache(maxsize=64)
def _samples(symbols: int, shortest: int, moments: int) -> tuple[Rings, ...]:
    """Rings for each moment, of one length: some so alike that they may be equal, some of one symbol each."""
    stream = Stream.named(0, "statements", symbols, shortest, moments)
    found: list[Rings] = []
    for number in range(MIXED):
        ring = [stream.integer(0, symbols - 1) for _ in range(shortest + number % 3)]
        rings = [Ring(tuple(ring))]
        for _ in range(moments - 1):
            other = stream.shuffle(ring) if stream.integer(0, 1) else list(ring)
            for _ in range(stream.integer(0, 2)):
                other[stream.integer(0, len(other) - 1)] = stream.integer(0, symbols - 1)
            rings.append(Ring(tuple(other)))
        found.append(tuple(rings))
    for number in range(UNIFORM):
        length, which = divmod(number, symbols**moments)
        cells = [which // symbols**place % symbols for place in range(moments)]
        found.append(tuple(Ring((cell,), shortest + length) for cell in cells))
    return tuple(found)


def _follows(premise: Condition, conclusion: Condition, statement: Statement) -> dict[str, Any] | None:
    """The certificate that one condition implies another, whatever the states at their moments are."""
    claim = implies(premise, conclusion)
    moments = sorted({term.at for term in terms_of(claim)}, key=_place)
    symbols = statement.symbols ** max(1, len(moments))
    widest = max((term.observable.width for term in terms_of(claim)), default=1)
    if symbols > MOST_SYMBOLS or symbols**widest > LIMITS.windows:
        return None
    joined = _read_together(claim, moments)
    answer = prove(Question(_still(symbols), Always(joined), statement.shortest, horizon=0), LIMITS)
    return answer.certificate if isinstance(answer, Proved) else None


def _read_together(condition: Condition, moments: list[Moment]) -> Condition:
    """The condition on one ring whose cells hold the symbols of all moments."""
    if isinstance(condition, Linear):
        terms = (
            Term(term.coefficient, _lifted(term.observable, moments.index(term.at), len(moments)))
            for term in condition.terms
        )
        return Linear(tuple(terms), condition.op, condition.bound)
    if isinstance(condition, Not):
        return Not(_read_together(condition.part, moments))
    parts = tuple(_read_together(part, moments) for part in condition.parts)
    return And(parts) if isinstance(condition, And) else Or(parts)


@lru_cache(maxsize=256)
def _lifted(observable: Additive, place: int, moments: int) -> Additive:
    """An observable of the symbols at one place of each tuple; the first place is the most significant digit."""
    symbols = observable.symbols
    wide, below = symbols**moments, symbols ** (moments - 1 - place)

    def codes(cells: int) -> Iterator[int]:
        if cells == 0:
            yield 0
            return
        for code in codes(cells - 1):
            for cell in range(wide):
                yield code * symbols + cell // below % symbols

    weights = tuple(observable.weights[code] for code in codes(observable.width))
    return Additive(wide, observable.width, weights, observable.constant)


@lru_cache(maxsize=8)
def _still(symbols: int) -> Rule:
    """The rule that changes nothing."""
    return Rule(symbols, tuple(cell // symbols % symbols for cell in range(symbols**3)))
