"""Draws with weights, after every action, and once per episode, against plain Python and receipts."""

from collections import Counter
from itertools import accumulate
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specledger.core.rng import Stream
from specledger.expr import EvaluationError
from specledger.kinds import KINDS, load
from specledger.kinds.running import RunOptions
from specledger.lang.draws import Weighted, draw_from
from specledger.pipeline.executing import execute
from specledger.verify.assurance_levels import Reader
from specledger.verify.run import RUN
from tests.toys import FREE, bodies, compile_specs, documents_of, findings_of, write_specs
from tests.verifying import verify_bundle

SHOP: dict[str, Any] = {
    "constants": {"DOSES": [0.0, 0.25, 1.25]},
    "state": {"stock": "int", "sold": "int", "level": "qfixed"},
    "draw": {
        "price": {"from": [2, 3, 5], "weights": [5, 3, 2], "once": "episode"},
        "first": {"from": [4, 6]},
    },
    "start": {"stock": "first", "sold": "0", "level": "0.0"},
    "actions": {
        "order": {
            "effects": [{"set": "stock", "to": "stock + 2"}],
            "draw": {"late": {"from": [0, 1], "weights": "[stock, 2 * price]"}},
            "chance": [{"set": "stock", "to": "stock - late"}],
        }
    },
    "chance": {
        "draw": {
            "asked": {"from": [0, 1, 2, 3], "weights": [1, 4, 4, 1]},
            "dose": {"from": "DOSES", "stream": "doses"},
        },
        "effects": [
            {"set": "sold", "to": "sold + math.least(asked, stock)"},
            {"set": "stock", "to": "stock - math.least(asked, stock)"},
            {"set": "level", "to": "level + dose"},
        ],
    },
    "observe": {"price": "price"},
    "record": {"stock": "next.stock", "sold": "next.sold", "level": "next.level", "price": "price"},
}
BUYER: dict[str, Any] = {"candidates": [{"op": "order"}], "score": "price"}
WATCH: dict[str, Any] = {**FREE, "gates": [{"id": "dear", "deny": "price > 4 && t == 3", "reason": "dear"}]}
SEED, EPISODES, HORIZON = 11, 40, 6


def shop(**changes):
    return documents_of({**SHOP, **changes}, BUYER, WATCH, seed=SEED, episodes=EPISODES, horizon=HORIZON)


def drawn(items, weights, *names):
    """One of the items by the published rule: the first whose weight, with those before it, exceeds the integer."""
    number = Stream.named(SEED, *names).integer(0, sum(weights) - 1)
    return next(item for item, below in zip(items, accumulate(weights), strict=True) if number < below)


def test_what_is_drawn_follows_the_published_rule(tmp_path):
    plan = compile_specs(tmp_path, shop())
    starts, steps = bodies(plan, "episode"), bodies(plan)
    denied = 0
    for start in starts:
        episode = start["episode"]
        price = drawn([2, 3, 5], [5, 3, 2], "start", "price", episode, "price")
        stock, sold, level = drawn([4, 6], [1, 1], "start", "first", episode, "first"), 0, 0
        assert start["drawn"] == {"price": price, "first": stock}
        assert start["state"]["price"] == price
        for step in (step for step in steps if step["episode"] == episode):
            t = step["t"]
            if step["chosen"] is None:
                denied += 1
                assert (price, t) == (5, 3)
                assert "chance" not in step
                continue
            stock += 2
            late = drawn([0, 1], [stock, 2 * price], "action", "late", "order", episode, t, "late")
            asked = drawn([0, 1, 2, 3], [1, 4, 4, 1], "step", "asked", "", episode, t, "asked")
            dose = drawn([0, 250_000, 1_250_000], [1, 1, 1], "step", "doses", "", episode, t, "dose")
            sold, stock, level = sold + min(asked, stock - late), stock - late - min(asked, stock - late), level + dose
            assert step["chance"]["drawn"] == {"late": late, "asked": asked, "dose": dose}
            assert step["record"] == {"stock": stock, "sold": sold, "level": level, "price": price}
    assert denied > 0


@given(st.lists(st.integers(0, 9), min_size=1, max_size=6).filter(any), st.integers(0, 99))
def test_an_element_of_weight_0_is_never_drawn(weights, seed):
    items = Weighted(list(range(len(weights))), weights)
    seen = Counter(draw_from(Stream.named(seed, "w", index), items) for index in range(200))
    assert {item for item in seen if weights[item] == 0} == set()
    certain = [item for item, weight in enumerate(weights) if weight == sum(weights)]
    assert not certain or set(seen) == set(certain)


@pytest.mark.parametrize("weights", [[1], [1, -1], [0, 0], [2**53 - 1, 1]], ids=["count", "negative", "none", "sum"])
def test_weights_that_fit_no_list_are_an_error_of_the_episode(tmp_path, weights):
    with pytest.raises(EvaluationError):
        Weighted([1, 2], weights)
    actions = {
        "order": {
            "draw": {"late": {"from": "[0, 1].map(x, x)", "weights": weights}},
            "chance": SHOP["actions"]["order"]["chance"],
        }
    }
    errors = bodies(compile_specs(tmp_path, shop(actions=actions)), "error")
    assert {error["code"] for error in errors} == {"E_DRAW_WEIGHTS"}
    assert len(errors) == EPISODES


@pytest.mark.medium
def test_evidence_replays_and_a_second_evaluator_agrees(tmp_path):
    pytest.importorskip("cel_expr_python", reason="the extra `judge`")
    finished = execute(load(str(write_specs(tmp_path, shop())))[0], tmp_path / "out", RunOptions())
    judge = verify_bundle(finished.place, RUN, KINDS, Reader(judge=True)).facts["judge"]
    assert judge["judged"] == judge["of"] > 0


def step_chance(**draw):
    return {"chance": {"draw": {"asked": {"from": [0, 1], **draw}}, "effects": [{"set": "sold", "to": "asked"}]}}


WRONG = {
    "a weight too few": (step_chance(weights=[1]), "E_DRAW_WEIGHTS", "1 weights for 2 elements"),
    "a weight below 0": (step_chance(weights=[1, -1]), "E_DRAW_WEIGHTS", "below 0"),
    "no weight": (step_chance(weights="[0, 0]"), "E_DRAW_WEIGHTS", "sum up to 0"),
    "weights of another sort": (step_chance(weights="[0.5, 0.5]"), "E_EXPR_NO_PROMOTION", "expected int"),
    "a list of two sorts": (step_chance(**{"from": [1, "a"]}), "E_EXPR_OUTSIDE_PROFILE", "int and string"),
    "a name of an action's draw": (
        {"chance": {"draw": {"late": {"from": [1]}}, "effects": [{"set": "sold", "to": "late"}]}},
        "E_NAME_TAKEN",
        "drawn after the action 'order'",
    ),
    "a field of the state": (
        {"draw": {**SHOP["draw"], "sold": {"from": [1], "once": "episode"}}},
        "E_NAME_TAKEN",
        "a field of the state already",
    ),
    "a draw of this step under the eyes of an action": (
        {"every_step": [{"set": "sold", "to": "asked"}]},
        "E_EXPR_UNKNOWN_NAME",
        "asked",
    ),
    "a double in the state": ({"state": {**SHOP["state"], "x": "double"}}, "E_NOT_SEALABLE", "double"),
}


@pytest.mark.parametrize(("change", "code", "words"), WRONG.values(), ids=WRONG)
def test_wrong_draws_are_found_at_their_place(tmp_path, change, code, words):
    found = findings_of(compile_specs, tmp_path, shop(**change), code=code, words=words, file="world.yaml")
    hints = {"E_DRAW_WEIGHTS": "one weight", "E_NOT_SEALABLE": "write `qfixed`"}
    assert hints.get(code, "") in (found[0].hint or "")


@pytest.mark.parametrize("place", ["gates", "score", "invariant"])
def test_nothing_judges_what_is_not_drawn_yet(tmp_path, place):
    found = shop()
    if place == "gates":
        found["governor"] = {**FREE, "gates": [{"id": "one", "deny": "asked > 2", "reason": "r"}]}
    elif place == "score":
        found["agent"] = {**BUYER, "score": "asked"}
    else:
        found["invariant/rule"] = {"require": "asked < 9"}
        found["scenario"]["invariants"] = ["rule"]
    findings_of(compile_specs, tmp_path, found, code="E_EXPR_UNKNOWN_NAME", words="asked")
