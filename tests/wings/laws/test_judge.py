"""Judging many starts at once: named laws on named rings, and what plain judging says of the same."""

import numpy as np
import pytest

from specledger.expr import EvaluationError
from specledger.wings.laws import judge as judging
from specledger.wings.laws.judge import judge, judge_and_see
from specledger.wings.laws.run import Run
from tests.toys.claims import T0, T1, measured, obs, op


def law(template, claim, expr="count('X')", **fields):
    return measured(expr, claim, template, **fields)


NONE = op("==", obs("N"), {"const": 0})
SAME = op("==", obs("N"), obs("N", T0))

LAWS = {
    "holds from the start on": (law("invariant", SAME, "count('>') + count('X')"), ["><..", ">>><<..."], [51, 51], [-1, -1]),
    "breaks at once": (law("invariant", NONE), ["X...", "...."], [51, 51], [0, -1]),
    "breaks later": (law("invariant", NONE), [">.<.", ">...<.", ">.>."], [51, 51, 51], [1, 2, -1]),
    "breaks where the ring closes": (law("invariant", NONE), ["<..>", "<...>....."], [51, 51], [-1, 3]),
    "a premise that seldom holds": (
        law("implication_state", op("=>", op(">", obs("N"), {"const": 0}), op("==", obs("N"), {"const": 1}))),
        ["X....", "....", "XX..."],
        [11, 0, 31],
        [-1, -1, 0],
    ),
    "a start that is not usable": (law("invariant", NONE, preconditions=["count('X') == 0"]), ["X...", "...."], [0, 51], [-1, -1]),
    "a step later": (law("implication_step", op("=>", op(">", obs("N"), {"const": 0}), op("==", obs("N", T1), {"const": 0}))), ["X....", "...."], [10, 0], [-1, -1]),
    "a ring of two words": (law("invariant", SAME, "count('>')"), [">" + "." * 99, ">.<" + "." * 97], [51, 51], [-1, 1]),
}  # fmt: skip


@pytest.fixture(params=[judging.MAX_HELD, 300, 1], autouse=True)
def held(request, monkeypatch):
    """How starts are divided into parts changes nothing."""
    monkeypatch.setattr(judging, "MAX_HELD", request.param)


@pytest.mark.parametrize(("candidate", "rings", "hits", "violated"), LAWS.values(), ids=LAWS)
def test_named_rings(law_of, candidate, rings, hits, violated):
    checked = law_of(candidate)
    starts = [checked.universe.cells(ring) for ring in rings]
    plain = [Run(checked, start) for start in starts]
    assert [-1 if (t := run.first_violation()) is None else t for run in plain] == violated
    judged = judge(checked, starts)
    assert judged.violated.tolist() == violated
    assert judged.hits.tolist() == hits
    assert judged.usable.tolist() == [run.usable() for run in plain]


def test_rings_may_have_rules_of_their_own(law_of):
    checked = law_of(law("invariant", SAME, "count('>')"))
    starts = [checked.universe.cells(">...")] * 2
    judged = judge(checked, starts, (np.array([0, 4]), np.array([0, 1])))  # as it is; `.>.` stays `>`
    assert judged.violated.tolist() == [-1, 1]


def test_only_so_many_steps_are_judged(law_of):
    checked = law_of(law("invariant", NONE))
    starts = [checked.universe.cells(">...<.....")]
    assert judge(checked, starts, last=1).violated.tolist() == [-1]
    assert judge(checked, starts, last=2).violated.tolist() == [2]


def test_an_overflow_is_an_error_and_no_answer(law_of):
    checked = law_of(law("invariant", SAME, "(count('>') * 3037000499) * (count('>') * 3037000499)"))
    assert judge(checked, [checked.universe.cells(">...")]).violated.tolist() == [-1]
    with pytest.raises(EvaluationError):
        judge(checked, [checked.universe.cells(">>..")])


def test_a_sum_that_leaves_few_bits_is_exact(law_of):
    """Weights are kept in few bits, and what is made of them in 64."""
    checked = law_of(
        law("invariant", op(">=", op("*", op("*", obs("N"), obs("N")), {"const": 1000}), {"const": 0}), "grid_length")
    )
    assert judge(checked, [(0,) * 200]).violated.tolist() == [-1]


def test_what_happened_from_each_start_is_seen(law_of):
    checked = law_of(law("invariant", NONE))
    rings = ["....", "X...", ">...", ".>.<", ".XX.", "X" * 200]
    seen = judge_and_see(checked, [checked.universe.cells(ring) for ring in rings])[1]
    assert seen.filled.tolist() == [0, 1, 1, 2, 2, 200]
    assert seen.crossed.tolist() == [False, True, True, True, True, True]
    assert seen.active.tolist() == [False, True, False, True, True, True]


def test_no_more_is_held_than_one_part(law_of, monkeypatch):
    held = []
    judge_part = judging._judge_part

    def judged_part(*arguments):
        judged, trajectory = judge_part(*arguments)
        held.append(trajectory.rows.size)
        return judged, trajectory

    monkeypatch.setattr(judging, "_judge_part", judged_part)
    monkeypatch.setattr(judging, "MAX_HELD", 10_000)
    checked = law_of(law("invariant", NONE))
    judge(checked, [(0,) * 20] * 60)
    assert len(held) > 5
    assert max(held) < 13_000  # with the cells that are repeated before and behind each ring
