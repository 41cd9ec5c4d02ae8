"""Drifts: when they fire, what they draw and change, that seeds decide, and what a drift may not say."""

import copy
import json
from collections import Counter, deque
from functools import cache
from typing import Any

import pytest

from specledger.evidence.result import Tally
from specledger.run.loop import run
from tests.toys import compile_specs, documents_of, findings_of, followed, shipped_plan

# --- the shipped goal drift


@cache
def events(name, *settings):
    return tuple(run(shipped_plan(name, *settings)))


def bodies(found, kind):
    return [event.body for event in found if event.type == kind]


@pytest.mark.slow
@pytest.mark.parametrize("every", [1, 7, 20, 50, 51])
def test_a_goal_drift_fires_after_every_so_many_steps_and_never_at_the_first(every):
    found = events("simple", f"drift.0.with.every={every}", "episodes=2")
    due = [t for t in range(50) if t > 0 and t % every == 0]
    assert bodies(found, "start")[0]["drifts"] == [{"drift": "goal-drift", "schedule": due}]
    fired = [(drift["episode"], drift["t"]) for drift in bodies(found, "drift")]
    assert fired == [(episode, t) for episode in range(2) for t in due]


def reachable(grid, cell):
    """Cells that a path over free cells joins with a cell, itself included."""
    seen, queue = {(cell["x"], cell["y"])}, deque([(cell["x"], cell["y"])])
    while queue:
        x, y = queue.popleft()
        for a, b in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)):
            if (a, b) not in seen and grid[b][a] == 0:
                seen.add((a, b))
                queue.append((a, b))
    return seen


def drifts_of(*settings):
    """Each drift of the hazard map with the whole state before it."""
    known = followed(shipped_plan("hazard"), events("hazard", *settings))
    return [(event.body, before) for event, before, _ in known if event.type == "drift"]


@pytest.mark.medium
def test_the_goal_goes_to_another_free_cell_that_a_safe_path_reaches():
    drifts = drifts_of("episodes=4", "drift.0.with.every=5")
    assert len(drifts) == 4 * 9
    for body, state in drifts:
        goal = body["changed"]["goal"]
        to = (goal["to"]["x"], goal["to"]["y"])
        assert goal["from"] == state["goal"] != goal["to"] == body["drawn"]["to"]
        assert to in reachable(state["grid"], state["position"])
        assert goal["to"] != state["position"]
        assert state["grid"][to[1]][to[0]] == 0
    assert len({json.dumps(body["drawn"]) for body, _ in drifts}) > 10


@pytest.mark.medium
def test_equal_seeds_have_equal_drifts_and_others_have_others():
    drifts = {seed: bodies(events("hazard", f"seed={seed}"), "drift") for seed in (1, 2)}
    again = tuple(run(shipped_plan("hazard", "seed=1")))
    assert bodies(again, "drift") == drifts[1]
    drawn = {seed: json.dumps([drift["drawn"] for drift in found]) for seed, found in drifts.items()}
    assert len(set(drawn.values())) == 2


# --- drifts of one's own

WORLD: dict[str, Any] = {
    "constants": {"MOST": 9},
    "state": {"x": "int", "y": "int", "small": {"type": "integer", "minimum": 0, "maximum": 9}},
    "start": {"x": "0", "y": "0", "small": "0"},
    "actions": {"rest": {"effects": [{"set": "y", "to": "y + 1"}]}},
    "observe": {"x": "x"},
}
AGENT = {"candidates": [{"op": "rest"}], "score": "0"}


@pytest.fixture
def make(tmp_path):
    def compiled(drifts, **scenario):
        others = {f"drift/{name}": drift for name, drift in drifts.items()}
        body = {"horizon": 8, "seed": 5, "drift": list(drifts), **scenario}
        return compile_specs(tmp_path, documents_of(WORLD, AGENT, others=others, **body))

    return compiled


JUMP: dict[str, Any] = {
    "at": "t % 3 == 1",
    "draw": {"to": {"from": "range(100)", "stream": "jump"}},
    "effects": [{"set": "x", "to": "to"}],
}


def drawn(plan):
    return [body["drawn"] for event in run(plan) if event.type == "drift" for body in [event.body]]


def test_two_drifts_of_one_step_come_in_the_scenarios_order_each_after_the_other(make):
    first = {"at": "t == 2", "effects": [{"set": "x", "to": "x + 1"}]}
    second = {"at": "t == 2", "effects": [{"set": "x", "to": "x * 10"}]}
    plan = make({"first": first, "second": second}, horizon=3)
    assert [(event.body["drift"], event.body["changed"]) for event in run(plan) if event.type == "drift"] == [
        ("first", {"x": {"from": 0, "to": 1}}),
        ("second", {"x": {"from": 1, "to": 10}}),
    ]
    other = make({"second": second, "first": first}, horizon=3)
    assert [
        event.body["changed"]["x"]["to"] for event in run(other) if event.type == "drift" and event.body["changed"]
    ] == [1]
    kinds = [event.type for event in run(plan)]
    assert kinds[2:9] == ["commit", "step", "commit", "step", "drift", "drift", "commit"]


def test_the_schedule_is_in_the_first_receipt_before_anything_is_drawn(make):
    plan = make({"jump": JUMP, "never": {**JUMP, "at": "false"}})
    start = next(event.body for event in run(plan))
    assert start["drifts"] == [{"drift": "jump", "schedule": [1, 4, 7]}, {"drift": "never", "schedule": []}]


def test_drifts_of_one_stream_draw_apart(make):
    """Two drifts, two values of one drift, every step and every episode: none repeats another's draws."""
    two = {**JUMP, "draw": {**JUMP["draw"], "also": {"from": "range(100)", "stream": "jump"}}}
    plan = make({"jump": two, "hop": JUMP}, episodes=3, horizon=30)
    values = [value for draw in drawn(plan) for value in draw.values()]
    assert len(values) == 3 * 10 * 3
    assert max(Counter(values).values()) < 8
    pairs = [draw for draw in drawn(plan) if len(draw) == 2]
    assert any(draw["to"] != draw["also"] for draw in pairs)


def test_a_drift_that_draws_does_not_change_what_another_draws(make):
    alone = drawn(make({"jump": JUMP}))
    both = drawn(
        make(
            {
                "jump": JUMP,
                "hop": {
                    **JUMP,
                    "draw": {"a": {"from": "range(7)", "stream": "hop"}},
                    "effects": [{"set": "x", "to": "a"}],
                },
            }
        )
    )
    assert [draw for draw in both if "to" in draw] == alone


def test_a_drift_with_nothing_to_draw_or_whose_condition_fails_does_not_happen(make):
    empty = {**JUMP, "draw": {"to": {"from": "[1, 2].filter(n, n > 5)", "stream": "s"}}}
    one_empty = {**JUMP, "draw": {**JUMP["draw"], "no": {"from": "[1].filter(n, n > 5)", "stream": "s"}}}
    plan = make({"empty": empty, "half": one_empty, "shy": {**JUMP, "when": "y > 5"}})
    fired = [(event.body["drift"], event.body["t"]) for event in run(plan) if event.type == "drift"]
    assert fired == [("shy", 7)]


def test_the_source_of_a_condition_that_fails_is_not_asked(make):
    """`when` guards what is drawn, also from errors."""
    plan = make({"jump": {**JUMP, "when": "y > 3", "draw": {"to": {"from": "[6 / (y - 1)]", "stream": "s"}}}})
    assert [draw["to"] for draw in drawn(plan)] == [2, 1]


def test_drift_effects_are_simultaneous_and_ranged(make):
    swap = {"at": "t == 2", "effects": [{"set": "x", "to": "y"}, {"set": "y", "to": "x"}]}
    plan = make({"swap": swap}, horizon=3)
    assert [event.body["changed"] for event in run(plan) if event.type == "drift"] == [
        {"x": {"from": 0, "to": 2}, "y": {"from": 2, "to": 0}}
    ]
    state = {"x": 4, "y": 7, "small": 1}
    kept = copy.deepcopy(state)
    assert plan.drifts[0].apply(state, []) == {"x": 7, "y": 4, "small": 1}
    assert state == kept


@pytest.mark.parametrize(
    ("drift", "code"),
    [
        ({"at": "t == 2", "effects": [{"set": "small", "to": "y * 5"}]}, "E_EVAL_STATE"),
        ({"at": "t == 2", "effects": [{"set": "x", "to": "1 / x"}]}, "E_EVAL_DIVISION_BY_ZERO"),
        ({"at": "t == 2", "when": "1 / x > 0", "effects": [{"set": "x", "to": "1"}]}, "E_EVAL_DIVISION_BY_ZERO"),
        ({**JUMP, "at": "t == 2", "draw": {"to": {"from": "[1 / x]", "stream": "s"}}}, "E_EVAL_DIVISION_BY_ZERO"),
    ],
    ids=["a value out of range", "an effect", "a condition", "a source"],
)
def test_an_error_in_a_drift_ends_the_episode_before_anything_changed(make, drift, code):
    plan = make({"bad": drift}, episodes=2)
    found = list(run(plan))
    one = ["episode", *["commit", "step"] * 2, "error", "episode_end"]
    assert [event.type for event in found] == ["start", *one, *one, "end"]
    tally = Tally()
    for event in found:
        tally.add(event.type, event.body)
        if event.type == "error":
            assert (event.body["t"], event.body["code"]) == (2, code)
    last = [event.body for event in found if event.type == "step"][-1]
    assert bodies(found, "episode_end")[-1]["state"] == last["after"]
    assert tally.verdict == "ERROR"


EVER = {"at": "t >= 0", "effects": [{"set": "x", "to": "x + 1"}]}
HARD = {**EVER, "at": "range(200).all(n, n + t >= 0)"}
TOO_MUCH: dict[str, Any] = {  # drifts, how often each is named, horizon, the two bounds, and what is said
    "all fit": ({"a": EVER, "b": EVER}, 1, 100, (10_000, 2 * 290), None),
    "together too long": ({"a": EVER, "b": EVER}, 1, 100, (10_000, 2 * 290 - 1), "E_DRIFT_DUE"),
    "one that is named often": ({"a": EVER}, 5, 100, (10_000, 5 * 290 - 1), "E_DRIFT_DUE"),
    "one that is named often fits": ({"a": EVER}, 5, 100, (10_000, 5 * 290), None),
    "one that is named often is evaluated once": ({"a": HARD}, 5, 10, (30_000, 10_000), None),
    "together too much work": ({"a": HARD, "b": HARD, "c": HARD}, 1, 10, (30_000, 10_000), "E_EVAL_LIMIT"),
}


@pytest.mark.parametrize("name", TOO_MUCH)
def test_schedules_of_all_drifts_share_work_and_room(make, monkeypatch, name):
    drifts, times, horizon, (work, room), code = TOO_MUCH[name]
    monkeypatch.setattr("specledger.worlds.drift.MAX_SCHEDULE", work)
    monkeypatch.setattr("specledger.worlds.drift.MAX_LISTED", room)
    scenario = {"horizon": horizon, "drift": [each for each in drifts for _ in range(times)]}
    if code is None:
        plan = make(drifts, **scenario)
        numbers = ["", *(f".{number}" for number in range(2, times + 1))]
        assert [one.name for one in plan.drifts] == [f"{each}{number}" for each in drifts for number in numbers]
        return
    assert [finding.code for finding in findings_of(make, drifts, **scenario)] == [code]


REFUSED: dict[str, Any] = {
    "a schedule that reads the state": ({"at": "x > 0"}, "E_EXPR_UNKNOWN_NAME", "x"),
    "a schedule that is no condition": ({"at": "t"}, "E_EXPR_TYPE", "int"),
    "a schedule that cannot be computed": ({"at": "1 / t > 0"}, "E_EVAL_DIVISION_BY_ZERO", ""),
    "a constant that hides the step": ({"constants": {"t": 5}}, "E_NAME_TAKEN", "'t'"),
    "a source that is no list": ({"draw": {"to": {"from": "7", "stream": "s"}}}, "E_DECLARATION", "from a list"),
    "a draw with the name of a field": ({"draw": {"x": {"from": "[7]", "stream": "s"}}}, "E_NAME_TAKEN", "'x'"),
    "a draw with a name of the engine": ({"draw": {"next": {"from": "[7]", "stream": "s"}}}, "E_NAME_TAKEN", "'next'"),
    "an effect of another type": ({"effects": [{"set": "x", "to": "'far'"}]}, "E_EXPR_TYPE", "string"),
    "an effect on nothing": ({"effects": [{"set": "z", "to": "1"}]}, "E_EFFECT_TARGET", "'z'"),
    "a condition that is none": ({"when": "x"}, "E_EXPR_TYPE", "int"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_drift_may_not_say(make, name):
    change, code, words = REFUSED[name]
    findings_of(make, {"wrong": {**JUMP, **change}}, code=code, words=words, file="wrong.yaml")
