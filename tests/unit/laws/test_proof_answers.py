"""What the provers say of laws that people know: of colliding movers on a ring, and of elementary automata."""

from itertools import product

import pytest

from specledger.laws.automaton import Additive, Rule
from specledger.laws.proofs.prove import prove
from specledger.laws.proofs.question import (
    Always,
    And,
    Commutes,
    Conserved,
    Eventually,
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
from specledger.verify.certificates import check_certificate

# Movers: 0 is empty, 1 goes right, 2 goes left, 3 is both.


def meet(left, right):
    return (left in (1, 3)) + 2 * (right in (2, 3))


MOVERS = Rule(4, tuple(meet(left, right) for left, _, right in product(range(4), repeat=3)))
NO_COLLISION = frozenset({0, 1, 2})


def cells(*weights):
    return Additive(len(weights), 1, weights)


def elementary(number):
    return Rule(2, tuple(number >> i & 1 for i in range(8)))


TOTAL, RIGHT, LEFT, MOMENTUM = cells(0, 1, 1, 2), cells(0, 1, 0, 1), cells(0, 0, 1, 1), cells(0, 1, -1, 0)
FREE, OCCUPIED, COLLISIONS, LENGTH = cells(0, 1, 1, 0), cells(0, 1, 1, 1), cells(0, 0, 0, 1), cells(1, 1, 1, 1)
EMPTY = cells(1, 0, 0, 0)
INCOMING = Additive(4, 3, tuple(int(meet(a, c) == 3) for a, _, c in product(range(4), repeat=3)))
EDGES = Additive(4, 2, tuple(int((a == 0) != (b == 0)) for a, b in product(range(4), repeat=2)))
RISES = Additive(4, 2, tuple(int(a == 0 and b != 0) for a, b in product(range(4), repeat=2)))
ONES, PAIRS = cells(0, 1), Additive(2, 2, (0, 0, 0, 1))


def compare(left, op, right=0, *, at=0, then=0):
    """left(t + at) op right, which is an integer or an observable at t + then."""
    if isinstance(right, int):
        return Linear((Term(1, left, at),), op, right)
    return Linear((Term(1, left, at), Term(-1, right, then)), op, 0)


def twice(observable, op, other, then=0):
    return Linear((Term(2, observable), Term(-1, other, then)), op, 0)


BRIDGE = implies(compare(INCOMING, ">"), compare(COLLISIONS, "==", INCOMING, at=1))
MIXED = And((compare(EMPTY, ">"), compare(EMPTY, "<", LENGTH)))

PROVED: dict[str, tuple] = {
    # name: (claim, kind of the proof, what else the question says)
    "particles are conserved": (Conserved(TOTAL), "current", {}),
    "right component is conserved": (Conserved(RIGHT), "current", {}),
    "left component is conserved": (Conserved(LEFT), "current", {}),
    "momentum is conserved": (Conserved(MOMENTUM), "current", {}),
    "particles at t are those at 0": (Always(compare(TOTAL, "==", TOTAL, then=None)), "circulation", {}),
    "particles never rise": (Monotone(TOTAL, "<="), "potential", {}),
    "collisions are those that came in": (Always(BRIDGE), "circulation", {}),
    "and without a condition": (Always(compare(COLLISIONS, "==", INCOMING, at=1)), "circulation", {}),
    "mirror and swap commute": (Commutes(True, 0, (0, 2, 1, 3)), "windows", {}),
    "a rotation commutes": (Commutes(False, 5, (0, 1, 2, 3)), "windows", {}),
    "collisions fit the ring": (Always(compare(COLLISIONS, "<=", LENGTH)), "circulation", {}),
    "collisions fit the longest ring": (Always(compare(COLLISIONS, "<=", 200)), "circulation", {}),
    "no start collides: half the ring": (
        Always(twice(COLLISIONS, "<=", LENGTH)),
        "circulation",
        {"start": NO_COLLISION},
    ),
    "half the particles of the start": (Always(twice(COLLISIONS, "<=", TOTAL, None)), "circulation", {}),
    "one way never collides": (Always(compare(COLLISIONS, "==")), "circulation", {"start": frozenset({0, 1})}),
    "none to the left, none collide": (
        Always(compare(COLLISIONS, "==")),
        "circulation",
        {"where": compare(LEFT, "==", at=None)},
    ),
    "one way stays one way": (Local(0, NO_COLLISION), "windows", {"start": frozenset({0, 1})}),
    "what comes in collides within a step": (
        Eventually(compare(INCOMING, ">"), compare(COLLISIONS, ">"), 1),
        "circulation",
        {},
    ),
    "three steps ahead": (
        Eventually(compare(COLLISIONS, ">"), compare(COLLISIONS, "<=", LENGTH), 3),
        "circulation",
        {},
    ),
    "a mixed ring has a rise": (Always(implies(MIXED, compare(RISES, ">"))), "circulation", {}),
    "edges come in pairs": (Always(compare(EDGES, "!=", 3)), "circulation", {}),
    "rule 184 conserves ones": (Conserved(ONES), "current", {"rule": elementary(184)}),
    "rule 226 conserves ones": (Conserved(ONES), "current", {"rule": elementary(226)}),
    "rule 170 conserves pairs": (Conserved(PAIRS), "current", {"rule": elementary(170)}),
    "rule 128 never adds ones": (Monotone(ONES, "<="), "potential", {"rule": elementary(128)}),
    "rule 254 never removes ones": (Monotone(ONES, ">="), "potential", {"rule": elementary(254)}),
    "rule 204 keeps each cell": (Local(1, frozenset({1})), "windows", {"rule": elementary(204)}),
    "rule 90 commutes with mirrors": (Commutes(True, 1, (0, 1)), "windows", {"rule": elementary(90)}),
    "rule 4 has no pairs after a step": (Always(compare(PAIRS, "==", at=1)), "circulation", {"rule": elementary(4)}),
    "few rings are all tried": (
        Opaque("first of all", 0, lambda start, states: sum(start) == sum(states[0])),
        "exhaustive",
        {"rule": elementary(184), "longest": 6},
    ),
    "what can not be": (Always(And(())), "circulation", {}),
}

REFUTED: dict[str, tuple] = {
    # name: (claim, the smallest ring, t, what else the question says)
    "free movers are conserved": (Conserved(FREE), (0, 0, 0, 3), 0, {}),
    "occupied cells are conserved": (Conserved(OCCUPIED), (0, 0, 0, 3), 0, {}),
    "collisions are conserved": (Conserved(COLLISIONS), (0, 0, 0, 3), 0, {}),
    "incoming collisions are conserved": (Conserved(INCOMING), (0, 0, 0, 3), 0, {}),
    "also on rings of one cell": (Conserved(FREE), (0, 0, 3), 0, {"shortest": 1}),
    "free movers never rise": (Monotone(FREE, "<="), (0, 0, 0, 3), 0, {}),
    "free movers never fall": (Monotone(FREE, ">="), (0, 1, 0, 2), 0, {}),
    "mirrors alone commute": (Commutes(True, 0, (0, 1, 2, 3)), (0, 0, 0, 1), 0, {}),
    "swaps alone commute": (Commutes(False, 0, (0, 2, 1, 3)), (0, 0, 0, 1), 0, {}),
    "half the ring": (Always(twice(COLLISIONS, "<=", LENGTH)), (0, 3, 3, 3), 0, {}),
    "no collision ever": (Always(compare(COLLISIONS, "==")), (0, 1, 0, 2), 1, {"start": NO_COLLISION}),
    "a collision stays": (Local(3, frozenset({3})), (0, 0, 0, 3), 0, {}),
    "a collision is over soon": (
        Eventually(compare(COLLISIONS, ">"), compare(COLLISIONS, "=="), 3),
        (0, 1, 0, 3),
        0,
        {},
    ),
    "always fewer than the longest ring": (Always(compare(COLLISIONS, "<", 40)), (3,) * 40, 0, {"longest": 40}),
    "few pairs": (Always(compare(PAIRS, "<", 30)), (1,) * 30, 0, {"rule": elementary(0), "longest": None}),
    "rule 110 conserves ones": (Conserved(ONES), (0, 0, 0, 1), 0, {"rule": elementary(110)}),
    "rule 184 conserves pairs": (Conserved(PAIRS), (0, 0, 1, 1), 0, {"rule": elementary(184)}),
    "rule 30 commutes with mirrors": (Commutes(True, 0, (0, 1)), (0, 1, 1), 0, {"rule": elementary(30), "shortest": 1}),
    "never": (Always(Or(())), (0, 0, 0, 0), 0, {}),
}


def question(claim, **said):
    return Question(**{"rule": MOVERS, "shortest": 4, "longest": 200, **said}, claim=claim)


@pytest.mark.parametrize("name", PROVED)
def test_a_true_law_is_proved_and_its_certificate_holds(name):
    claim, kind, said = PROVED[name]
    asked = question(claim, **said)
    answer = prove(asked)
    assert isinstance(answer, Proved), answer
    assert answer.certificate["proof"]["kind"] == kind
    assert check_certificate(answer.certificate, facts(asked), getattr(claim, "holds", None)) is None
    assert answer.contract == asked.contract


@pytest.mark.parametrize("name", REFUTED)
def test_a_false_law_is_refuted_by_the_smallest_ring(name):
    claim, ring, t, said = REFUTED[name]
    answer = prove(question(claim, **said))
    assert isinstance(answer, Refuted), answer
    assert (answer.ring, answer.t) == (ring, t)


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
    answer = prove(question(Monotone(wide, "<="), rule=elementary(184)), Limits(windows=1 << 8, cells=4_000))
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
