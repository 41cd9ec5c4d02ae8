"""What the provers say where no proof for every ring decides: within limits, within a horizon, and of what is malformed."""

from itertools import product

import pytest

from specledger.wings.laws.automaton import Additive, Rule
from specledger.wings.laws.proofs.prove import prove
from specledger.wings.laws.proofs.question import (
    Always,
    And,
    Commutes,
    Conserved,
    Limits,
    Linear,
    Local,
    Monotone,
    Not,
    Opaque,
    Or,
    Proved,
    ProvedUpTo,
    Question,
    Refuted,
    Term,
    Undecided,
    facts,
    implies,
)
from specledger.wings.laws.verify.certificates import check_certificate

# Movers: 0 is empty, 1 goes right, 2 goes left, 3 is both.


def meet(left, right):
    return (left in (1, 3)) + 2 * (right in (2, 3))


MOVERS = Rule(4, tuple(meet(left, right) for left, _, right in product(range(4), repeat=3)))
NO_COLLISION = frozenset({0, 1, 2})


def cells(*weights):
    return Additive(len(weights), 1, weights)


def elementary(number):
    return Rule(2, tuple(number >> i & 1 for i in range(8)))


TOTAL, LEFT, COLLISIONS = cells(0, 1, 1, 2), cells(0, 0, 1, 1), cells(0, 0, 0, 1)
INCOMING = Additive(4, 3, tuple(int(meet(a, c) == 3) for a, _, c in product(range(4), repeat=3)))
ONES = cells(0, 1)


def compare(left, op, right=0, *, at=0, then=0):
    """left(t + at) op right, which is an integer or an observable at t + then."""
    if isinstance(right, int):
        return Linear((Term(1, left, at),), op, right)
    return Linear((Term(1, left, at), Term(-1, right, then)), op, 0)


BRIDGE = implies(compare(INCOMING, ">"), compare(COLLISIONS, "==", INCOMING, at=1))


def question(claim, **said):
    return Question(**{"rule": MOVERS, "shortest": 4, "longest": 200, **said}, claim=claim)


def spread(ring):
    held = [i for i, cell in enumerate(ring) if cell]
    return held[-1] - held[0] if held else 0


SPREAD = Opaque("spread fits", 0, lambda _, states: spread(states[0]) < len(states[0]), from_start=False)


def test_what_is_not_additive_is_proved_up_to_a_length():
    asked = question(SPREAD)
    answer = prove(asked, Limits(cells=20_000))
    assert isinstance(answer, ProvedUpTo)
    assert answer.length == 5
    assert "not about additive observables" in answer.why
    assert check_certificate(answer.certificate, facts(asked), SPREAD.holds) == 5


def test_more_work_reaches_further():
    lengths = [getattr(prove(question(SPREAD), Limits(cells=cells)), "length", 0) for cells in (2_000, 3_000, 20_000)]
    assert lengths == [0, 4, 5]


def test_a_length_that_can_not_be_tried_leaves_the_question_open():
    answer = prove(question(SPREAD, shortest=60))
    assert isinstance(answer, Undecided)
    assert "too many to try" in answer.why


def test_a_counterexample_beyond_what_can_be_tried_is_built():
    answer = prove(question(Always(compare(COLLISIONS, "<", 30))), Limits(cells=1_000))
    assert isinstance(answer, Refuted)
    assert answer.ring == (3,) * 30
    assert "built from a circulation" in answer.note


def test_an_error_of_the_judge_is_no_refutation():
    answer = prove(question(Opaque("fails", 0, lambda start, states: 1 // 0 == 0)))
    assert isinstance(answer, Undecided)
    assert "could not be judged" in answer.why


def test_a_horizon_below_the_span_leaves_no_instance():
    answer = prove(question(Always(BRIDGE), horizon=0))
    assert isinstance(answer, Undecided)
    assert "no instance" in answer.why


def test_a_violation_beyond_the_horizon_is_none():
    late = Always(compare(COLLISIONS, "=="))
    said = {"start": NO_COLLISION, "shortest": 5, "longest": 5}
    assert isinstance(prove(question(late, **said, horizon=1)), Refuted)
    asked = question(late, **said, horizon=0)
    answer = prove(asked)
    assert isinstance(answer, Proved)
    assert check_certificate(answer.certificate, facts(asked)) is None


def test_the_contract_is_in_words():
    start = {"start": frozenset({1, 0}), "where": compare(LEFT, "==", at=None)}
    assert question(Conserved(TOTAL)).contract == "all states on rings of 4 to 200 cells"
    assert question(Conserved(TOTAL), **start, longest=None).contract == (
        "starts over {0, 1} that meet the preconditions on rings of 4 or more cells"
    )


def test_too_many_windows_or_alternatives_fall_back_on_rings():
    wide = Additive(2, 9, (1,) * 512)
    few = Limits(windows=1 << 8, wide=1 << 8, cells=4_000)
    answer = prove(question(Monotone(wide, "<="), rule=elementary(184)), few)
    assert isinstance(answer, ProvedUpTo)
    assert "windows" in answer.why
    many = Always(Not(And(tuple(compare(COLLISIONS, "!=", i) for i in range(210, 216)))))
    answer = prove(question(Always(Not(many.condition))), Limits(cells=2_000))
    assert isinstance(answer, Proved)
    answer = prove(question(Always(Or(tuple(compare(COLLISIONS, "==", i) for i in range(7))))), Limits(cells=2_000))
    assert isinstance(answer, ProvedUpTo)
    assert "alternatives" in answer.why


@pytest.mark.parametrize(
    "said",
    [
        {"rule": Rule(4, MOVERS.table[:-1])},
        {"rule": Rule(3, MOVERS.table[:27])},
        {"shortest": 0},
        {"longest": 3},
        {"start": frozenset()},
        {"start": frozenset({4})},
        {"horizon": -1},
        {"where": compare(TOTAL, "==", 0)},
        {"claim": Conserved(ONES)},
        {"claim": Conserved(Additive(4, 2, (0, 1, 2, 3)))},
        {"claim": Always(compare(TOTAL, "==", at=-1))},
        {"claim": Commutes(False, 0, (0, 1))},
        {"claim": Commutes(False, 0, (0, 1, 2, 4))},
        {"claim": Local(4, frozenset())},
    ],
)
def test_a_malformed_question_is_an_error_of_the_caller(said):
    with pytest.raises(ValueError, match=r"."):
        prove(question(**{"claim": Conserved(TOTAL), **said}))
