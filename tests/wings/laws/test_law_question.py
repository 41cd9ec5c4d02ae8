"""The question that a law becomes."""

import pytest

from specledger.wings.laws import law_question
from specledger.wings.laws.automaton import Additive
from specledger.wings.laws.law_question import question_of, questions_of, within_range
from specledger.wings.laws.proofs.question import (
    Always,
    And,
    Commutes,
    Conserved,
    Eventually,
    Linear,
    Local,
    Monotone,
    Opaque,
)
from tests.toys.claims import T0, T1, obs, op


def law(template, claim=None, expr="count('X')", **fields):
    claimed = {} if claim is None else {"claim_ast": claim}
    return {"template": template, "observables": [{"name": "N", "expr": expr}], **claimed, **fields}


def asked(law):
    question = question_of(law)
    assert question is not None
    return question


SOME = op(">", obs("N"), {"const": 0})
NONE = op("==", obs("N"), {"const": 0})

CLAIMS = {
    "conserved": (law("invariant", op("==", obs("N"), obs("N", T0))), Conserved),
    "conserved, the other way round": (law("invariant", op("==", obs("N", T0), obs("N"))), Conserved),
    "not the same quantity": (law("invariant", op("==", obs("N"), op("*", {"const": 2}, obs("N", T0)))), Always),
    "shifted by a constant": (law("invariant", op("==", obs("N"), op("+", obs("N", T0), {"const": 1}))), Always),
    "monotone": (law("monotone", op("<=", obs("N", T1), obs("N")), direction="<="), Monotone),
    "a bound": (law("bound", op("<=", obs("N"), {"const": 3}), bound_op="<=", bound_value=3), Always),
    "an implication": (law("implication_step", op("=>", SOME, op("==", obs("N", T1), {"const": 0}))), Always),
    "eventually": (law("eventually", op("=>", SOME, NONE), quantifiers={"T": 5, "H": 2}), Eventually),
    "a symmetry": ({"template": "symmetry_commutation", "transform": "shift_k(2)"}, Commutes),
    "a transition": ({"template": "local_transition", "trigger_symbol": "X", "result_op": "!=", "result_symbol": "X"}, Local),
    "a scan": (law("invariant", SOME, "leftmost('X')"), Opaque),
    "a product": (law("invariant", op(">=", op("*", obs("N"), obs("N")), {"const": 0})), Opaque),
    "a scanned precondition": (law("invariant", SOME, preconditions=["leftmost('X') == 0"]), Opaque),
}  # fmt: skip


@pytest.mark.parametrize(("candidate", "kind"), CLAIMS.values(), ids=CLAIMS)
def test_what_a_claim_becomes(law_of, candidate, kind):
    question = asked(law_of(candidate))
    assert isinstance(question.claim, kind)


def test_factors_and_constants_are_brought_to_one_side(law_of):
    claim = op("<", op("+", op("*", {"const": 3}, obs("N")), {"const": 5}), op("-", obs("N"), {"const": 2}))
    question = asked(law_of(law("invariant", claim)))
    assert isinstance(question.claim, Always)
    assert isinstance(question.claim.condition, Linear)
    (term,) = question.claim.condition.terms
    assert (term.coefficient, term.at, question.claim.condition.op, question.claim.condition.bound) == (2, 0, "<", -7)
    assert term.observable == Additive(4, 1, (0, 0, 0, 1))


def test_what_a_transition_allows(law_of):
    fields = {"trigger_symbol": ">", "result_symbol": "X"}
    for operator, results in (("==", {3}), ("!=", {0, 1, 2})):
        question = asked(law_of({"template": "local_transition", "result_op": operator, **fields}))
        assert question.claim == Local(1, frozenset(results))


def test_the_contract_is_the_laws_own(law_of):
    plain, open_ = law_of(law("invariant", NONE)), law_of(law("invariant", NONE, starts={}))
    asked, wide = question_of(plain), question_of(open_)
    assert asked is not None
    assert wide is not None
    assert (asked.shortest, asked.longest, asked.horizon, asked.start) == (4, None, 50, frozenset({0, 1, 2}))
    assert (wide.start, wide.where) == (None, And(()))
    assert within_range(asked, plain).longest == 200


def test_a_scanned_precondition_is_part_of_the_function(law_of):
    law_ = law_of(law("invariant", NONE, preconditions=["leftmost('X') == 0"]))
    question = asked(law_)
    assert isinstance(question.claim, Opaque)
    assert question.claim.holds((0, 3), [(3, 3)])  # the start is not one of the law's
    assert not question.claim.holds((3, 0), [(3, 3)])


def test_a_precondition_that_is_no_linear_condition_is_left_out_at_first(law_of):
    law_ = law_of(law("invariant", NONE, preconditions=["leftmost('X') == 0 && count('<') > 1"]))
    strong, exact = questions_of(law_)
    assert (strong.exact, type(strong.question.claim)) == (False, Always)
    assert (exact.exact, type(exact.question.claim)) == (True, Opaque)
    assert strong.question.where == exact.question.where != And(())


LENGTHS = {
    "all": ([], (4, None)),
    "an upper bound": (["grid_length <= 5"], (4, 5)),
    "a lower bound": (["grid_length * 2 > 19"], (10, None)),
    "one length": (["grid_length == 27"], (27, 27)),
    "what must fit": (["count('>') == 29"], (29, None)),
    "either": (["grid_length == 9 || grid_length == 12"], (9, 12)),
    "not": (["!(grid_length > 8)"], (4, 8)),
    "a scan": (["rightmost('>') > 20"], (21, None)),
    "nothing": (["grid_length < 4"], (4, None)),
}


@pytest.mark.parametrize(("preconditions", "rings"), LENGTHS.values(), ids=LENGTHS)
def test_which_lengths_preconditions_leave(law_of, preconditions, rings):
    question = asked(law_of(law("invariant", NONE, preconditions=preconditions)))
    assert (question.shortest, question.longest) == rings


def test_whole_runs_are_asked_about_as_far_as_the_work_goes(law_of, monkeypatch):
    law_ = law_of(law("invariant", NONE, preconditions=["grid_length <= 5"], quantifiers={"T": 3}))
    cells = sum(len(law_.starts) ** size * size * (3 + 2) for size in (4, 5))
    for most, expected in ((cells - 1, []), (cells, [5])):
        monkeypatch.setattr(law_question, "MAX_CELLS", most)
        assert [each.question.longest for each in questions_of(law_) if each.whole] == expected


def test_a_later_fixed_step_cannot_be_asked_about(law_of):
    later = obs("N", {"const": 3})
    assert question_of(law_of(law("invariant", op("<=", obs("N"), later)))) is None
    equal = question_of(law_of(law("invariant", op("==", obs("N"), later))))  # the same at every step, so conserved
    assert equal is not None
    assert isinstance(equal.claim, Conserved)
