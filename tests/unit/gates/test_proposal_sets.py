"""Proposals of one set are judged independently: a step of one changes no other, and neither does its error."""

import pytest

from tests.toys import compile_specs, documents_of

WORLD = {
    "state": {"x": "int", "y": "int", "log": {"type": "array", "items": "int", "maxItems": 9}},
    "start": {"x": 0, "y": 5, "log": "[3, 4, 5]"},
    "actions": {
        "share": {
            "args": {"n": "int"},
            "let": {"part": "12 / x", "whole": "part * n"},
            "effects": [{"set": "y", "to": "whole"}],
            "outcome": {"part": "part", "whole": "whole"},
        },
        "add": {"args": {"n": "int"}, "effects": [{"set": "x", "to": "x + n"}]},
    },
    "every_step": [{"set": "y", "to": "y + 1"}, {"remove": "log", "as": "e", "where": "e == now.y"}],
    "observe": {"x": "x"},
}
GOVERNOR = {
    "gates": [{"id": "shown", "deny": "true", "reason": "shown", "witness": {"x": "next.x", "y": "next.y"}}],
    "choose": {"maximise": "proposal.score"},
}
AGENT = {
    "candidates": [{"op": op, "for_each": {"n": "[1, 2, 3]"}} for op in ("share", "add")],
    "score": "action.n",
}


@pytest.fixture
def made(tmp_path):
    return compile_specs(tmp_path, documents_of(WORLD, AGENT, GOVERNOR))


def judge(made, x, *proposals):
    """Per proposal what the only gate was shown, or the code of the error."""
    asked = [{"action": {"op": op, "n": n}, "score": n} for op, n in proposals]
    found = made.actors[0].judge({"x": x, "y": 5, "log": [3, 4, 5]}, asked, 0, [0] * len(asked))
    return [each.error.code if each.error else each.rejected[0]["witness"] for each in found]


def test_proposals_share_what_the_state_gives_and_nothing_else(made):
    found = judge(made, 4, ("share", 1), ("add", 1), ("share", 3), ("add", 2))
    assert found == [{"x": 4, "y": 4}, {"x": 5, "y": 6}, {"x": 4, "y": 10}, {"x": 6, "y": 6}]


@pytest.mark.parametrize("others", [(), (("add", 2), ("add", 3))])
def test_what_one_operation_cannot_evaluate_is_no_error_of_another(made, others):
    found = judge(made, 0, *others, ("share", 1), ("add", 1), ("share", 2))
    assert found[len(others) :] == ["E_EVAL_DIVISION_BY_ZERO", {"x": 1, "y": 6}, "E_EVAL_DIVISION_BY_ZERO"]
    assert judge(made, 0, *others, ("add", 1))[-1] == {"x": 1, "y": 6}


def test_every_step_reads_the_state_as_the_action_left_it(made):
    """All effects of the list read `y` as it was before the first of them changes it."""
    state = {"x": 1, "y": 5, "log": [3, 4, 5, 6]}
    after, _ = made.actors[0].step(state, "add", {"op": "add", "n": 1}, {})
    assert after == {"x": 2, "y": 6, "log": [3, 4, 6]}
    assert state == {"x": 1, "y": 5, "log": [3, 4, 5, 6]}
