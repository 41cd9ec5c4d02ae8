"""How far proofs of laws reach: random laws of random rules, decided by the prover and by trying every small ring.

A law compares how often two random patterns occur, now and some steps later. Each answer is compared with what all
rings of a few cells say, and each certificate is checked; the table says how many laws that hold on all of these rings
were proved for every ring.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import product
from statistics import median
from time import process_time
from typing import Final, NamedTuple

import numpy as np
from msgspec import Struct

from specledger.core.rng import Stream
from specledger.wings.laws.automaton import Additive, Rule
from specledger.wings.laws.proofs.prove import prove
from specledger.wings.laws.proofs.question import (
    Always,
    Condition,
    Limits,
    Linear,
    Proved,
    ProvedUpTo,
    Question,
    Refuted,
    Term,
    facts,
    implies,
)
from specledger.wings.laws.verify.certificates import check_certificate

SHORTEST: Final = 3
"""Fewest cells of the rings that are all tried."""
AHEAD: Final = (1, 2, 3)
WIDTHS: Final = (1, 2, 3, 4)
FORMS: Final = ("never more", "none stays none", "some stays some", "bounded by another")

Counts = np.ndarray


class Automata(NamedTuple):
    """Random rules: symbols, radius, and the most cells of the rings that are all tried."""

    symbols: int
    radius: int
    longest: int


AUTOMATA: Final = (Automata(2, 1, 12), Automata(2, 2, 12), Automata(3, 1, 8), Automata(3, 2, 8))
TWO_SYMBOLS, THREE_SYMBOLS = AUTOMATA[1], AUTOMATA[3]


class Tried(Struct, frozen=True):
    """One law with its answer, whether it holds on all small rings, and the seconds of proof and check."""

    answer: str
    holds: bool
    proof: float
    check: float


def law_of(
    stream: Stream, automata: Automata, form: str, width: int, ahead: int
) -> tuple[Rule, Condition, Callable[..., Counts], int, int]:
    """A rule, a claim about it, the same claim as a function of counts, and the two patterns as numbers."""
    share, symbols = stream.choice((25, 64, 128, 192)), automata.symbols
    drawn = stream.bytes(symbols ** (2 * automata.radius + 1))
    rule = Rule(symbols, tuple(1 + byte % (symbols - 1) if byte < share else 0 for byte in drawn))
    count = symbols**width
    first, second = (stream.integer(0, count - 1) for _ in range(2))
    one, other = (
        Additive(symbols, width, tuple(int(code == pattern) for code in range(count))) for pattern in (first, second)
    )
    now, later = Term(1, one, 0), Term(1, other, ahead)
    if form == FORMS[0]:
        claim: Condition = Linear((Term(1, one, ahead), Term(-1, one, 0)), "<=", 0)
        return rule, claim, lambda a, b, a_later, b_later: a_later <= a, first, second
    if form == FORMS[1]:
        claim = implies(Linear((now,), "==", 0), Linear((later,), "==", 0))
        return rule, claim, lambda a, b, a_later, b_later: (a > 0) | (b_later == 0), first, second
    if form == FORMS[2]:
        claim = implies(Linear((now,), ">", 0), Linear((later,), ">", 0))
        return rule, claim, lambda a, b, a_later, b_later: (a == 0) | (b_later > 0), first, second
    claim = Linear((later, Term(-1, one, 0)), "<=", 0)
    return rule, claim, lambda a, b, a_later, b_later: b_later <= a, first, second


def holds_on_small_rings(
    rule: Rule, longest: int, says: Callable[..., Counts], patterns: tuple[int, int], width: int, ahead: int
) -> bool:
    """Whether a claim holds in every state of every ring of few cells."""
    table, symbols = np.array(rule.table, dtype=np.int64), rule.symbols
    for cells in range(SHORTEST, longest + 1):
        states = np.arange(symbols**cells)
        rows = np.array([states // symbols ** (cells - 1 - cell) % symbols for cell in range(cells)])
        later = rows
        for _ in range(ahead):
            later = table[_windows(later, symbols, rule.width, -rule.radius)]
        read = [_windows(at, symbols, width, 0) for at in (rows, later)]
        counts = [(codes == pattern).sum(axis=0) for codes in read for pattern in patterns]
        if not says(*counts).all():
            return False
    return True


def _windows(rows: Counts, symbols: int, width: int, offset: int) -> Counts:
    """The code of the window at each cell, for every state."""
    codes = np.zeros_like(rows)
    for cell in range(width):
        codes = symbols * codes + np.roll(rows, -(cell + offset), axis=0)
    return codes


def tried(number: int, width: int, ahead: int, limits: Limits, automata: Automata = TWO_SYMBOLS) -> Iterator[Tried]:
    """So many random laws of each form, each decided and compared.

    Raises:
        AssertionError: An answer is not what the small rings say.
    """
    for form, index in product(FORMS, range(number)):
        drawn = (form, width, ahead, index) if automata == TWO_SYMBOLS else (*automata[:2], form, width, ahead, index)
        rule, claim, says, *patterns = law_of(Stream.named(7, *drawn), automata, form, width, ahead)
        question = Question(rule, Always(claim), shortest=SHORTEST)
        begun = process_time()
        answer = prove(question, limits)
        took, begun = process_time() - begun, process_time()
        holds = holds_on_small_rings(rule, automata.longest, says, (patterns[0], patterns[1]), width, ahead)
        if isinstance(answer, Refuted):
            assert len(answer.ring) > automata.longest or not holds, drawn
        if isinstance(answer, Proved | ProvedUpTo):
            assert holds, drawn
            begun = process_time()
            check_certificate(answer.certificate, facts(question))
        yield Tried(type(answer).__name__, holds, took, process_time() - begun)


def table(number: int, limits: Limits, automata: Automata) -> Iterator[str]:
    """A row for each number of steps ahead and each width of the patterns."""
    yield f"| {' | '.join(_HEADS)} |"
    yield f"|{' --- |' * len(_HEADS)}"
    for ahead, width in product(AHEAD, WIDTHS):
        laws = list(tried(number, width, ahead, limits, automata))
        proved = [law for law in laws if law.answer == "Proved"]
        held = Counter(law.answer for law in laws if law.holds)
        longer = held["Refuted"]
        left = held.total() - len(proved) - longer
        times = f"{1000 * max(law.proof for law in laws):.0f} ms | "
        times += f"{1000 * median(law.check for law in proved):.0f} ms" if proved else "none"
        cells = f"{width}, {width + 2 * automata.radius * ahead}"
        yield f"| t + {ahead} | {cells} | {held.total()} of {len(laws)} | {len(proved)} | {longer} | {left} | {times} |"


_HEADS: Final = (
    "reads",
    "cells of a pattern, of a window",
    "hold on small rings",
    "proved",
    "refuted by a longer ring",
    "open",
    "slowest proof",
    "median check",
)

if __name__ == "__main__":
    drawn = int(sys.argv[1]) if len(sys.argv) > 1 else 25
    for kind in AUTOMATA:
        print(f"\n{kind.symbols} symbols, radius {kind.radius}", flush=True)
        for line in table(drawn, Limits(), kind):
            print(line, flush=True)
