"""Chance in starts and actions: seeded, recorded, drawn after the action, seen by no gate."""

from types import SimpleNamespace
from typing import Any

import pytest

from specledger.core.rng import Stream
from specledger.kinds import load
from specledger.report.states import states
from specledger.run.loop import run
from tests.toys import findings_of, number_scenario, plan_of, shipped_plan, write_specs

CHANCE: dict[str, Any] = {
    "draw": {"first": {"from": "[10, 20, 30]", "stream": "start"}},
    "start": {"x": "first", "purse": "100"},
    "actions": {
        "add": {
            "args": {"n": "int"},
            "effects": [{"set": "x", "to": "x + n"}],
            "draw": {"gust": {"from": "range(x % 4)", "stream": "wind"}},
            "chance": [{"set": "x", "to": "x + 100 * n * gust"}],
        }
    },
}
SEED, EPISODES = 5, 12


@pytest.fixture
def bodies(tmp_path):
    """`(changes) -> [(type, body)]` of a run of the world of one number with chance."""

    def made(**changes):
        scenario = {"seed": SEED, "episodes": EPISODES, "horizon": 5, **changes.pop("scenario", {})}
        path = number_scenario(tmp_path, world={**CHANCE, **changes.pop("world", {})}, scenario=scenario, **changes)
        return [(event.type, event.body) for event in run(plan_of(path))]

    return made


def test_what_is_drawn_is_what_the_named_streams_give(bodies):
    """A second way to compute it: from the receipts, the seed and the names alone."""
    x, proposals = 0, []
    empty = drawn = 0
    for type_, body in bodies():
        if type_ == "episode":
            x = Stream.named(SEED, "start", "start", body["episode"], "first").choice([10, 20, 30])
            assert body["drawn"] == {"first": x}
            assert body["state"]["x"] == x
        if type_ == "commit":
            proposals = body["proposals"]
        if type_ == "step":
            n = proposals[body["chosen"]]["action"]["n"]
            alone = x + n
            if alone % 4 == 0:
                assert "chance" not in body
                x, empty = alone, empty + 1
                continue
            stream = Stream.named(SEED, "action", "wind", "add", body["episode"], body["t"], "gust")
            gust = stream.choice(list(range(alone % 4)))
            x, drawn = alone + 100 * n * gust, drawn + 1
            changed = {"x": {"from": alone, "to": x}} if gust else {}
            assert body["chance"] == {"drawn": {"gust": gust}, "changed": changed}
    assert empty > 5
    assert drawn > 5
    starts = {body["drawn"]["first"] for type_, body in bodies() if type_ == "episode"}
    assert starts == {10, 20, 30}


def test_each_value_of_a_stream_is_a_draw_of_its_own(tmp_path):
    """At a start, after an action and in a drift: by the name of the value, too."""
    two = {name: {"from": "range(1000)", "stream": "one"} for name in ("first", "second")}
    to = [{"set": "x", "to": "first"}, {"set": "purse", "to": "second"}]
    action = {"add": {"args": {"n": "int"}, "draw": two, "chance": to, "outcome": {"was": "x"}}}
    world = {"draw": two, "start": {"x": "first", "purse": "second"}, "actions": action}
    drift = {"at": "true", "draw": two, "effects": to}
    scenario = {"seed": SEED, "drift": ["drift"], "episodes": 2, "horizon": 2}
    found = [
        (event.type, [drawn, event.body["episode"], event.body.get("t")])
        for event in run(plan_of(number_scenario(tmp_path, world=world, scenario=scenario, drift=drift)))
        if (drawn := event.body.get("drawn") or event.body.get("chance", {}).get("drawn"))
    ]
    assert [type_ for type_, _ in found] == ["episode", *["drift", "step"] * 2] * 2
    for type_, (drawn, episode, t) in found:
        names = {
            "episode": ("start", "one", episode),
            "step": ("action", "one", "add", episode, t),
            "drift": ("drift", "one", 0, episode, t),
        }
        for name in two:
            assert drawn[name] == Stream.named(SEED, *names[type_], name).choice(range(1000))
    drawn = [tuple(each.values()) for _, (each, _, _) in found]
    assert len({*drawn}) == len(drawn) == len([1 for first, second in drawn if first != second])


def test_a_gate_sees_what_the_action_alone_makes(bodies):
    """A gate that could see the draw would reject; the record and an invariant see what came of it."""
    found = bodies(
        governor={"gates": [{"id": "near", "require": "next.x <= x + 3", "reason": "far"}]},
        world={"record": {"x": "next.x"}},
        invariant={"require": "x <= previous.x + 3"},
        scenario={"invariants": ["invariant"]},
    )
    steps = [body for type_, body in found if type_ == "step"]
    assert all(body["chosen"] is not None for body in steps)
    blown = [body for body in steps if body.get("chance", {}).get("drawn", {}).get("gust")]
    assert blown
    assert all(body["violations"] and body["record"]["x"] == body["chance"]["changed"]["x"]["to"] for body in blown)


def test_chance_is_no_doing_of_the_action(bodies):
    steps = [body for type_, body in bodies(governor={"potentials": {"x": {"is": "x"}}}) if type_ == "step"]
    for body in steps:
        assert body["potentials"]["x"]["to"] - body["potentials"]["x"]["from"] <= 3
        caused = [rebase for rebase in body["rebases"] if rebase["cause"] == "chance"]
        assert bool(caused) == bool(body.get("chance", {}).get("changed"))


def test_the_shipped_world_draws_in_starts_and_steps():
    found = [(event.type, event.body) for event in run(shipped_plan("thin-ice"))]
    assert {body["drawn"]["first"] for type_, body in found if type_ == "episode"} >= {4, 6}
    assert {body["chance"]["drawn"]["slide"] for type_, body in found if "chance" in body} == {0, 1}


def test_states_are_recomputed_with_what_was_drawn(tmp_path):
    path = number_scenario(tmp_path, world=CHANCE, scenario={"seed": SEED, "episodes": 3})
    found = [(event.type, event.body) for event in run(plan_of(path))]
    evidence: Any = SimpleNamespace(specs=load(str(path))[0], bodies=lambda: found)
    assert len(list(states(evidence))) == 12


@pytest.mark.medium
@pytest.mark.wing("kernel")
def test_no_action_draws_under_a_kernel():
    chance = (
        "world.actions.noop.draw={d: {from: '[1]', stream: s}}",
        "world.actions.noop.chance=[{set: tick, to: tick + d}]",
    )
    findings_of(shipped_plan, "axion-basic", *chance, code="E_CHANCE")
    several = [change.replace("noop", op) for op in ("wait", "noop", "signal") for change in chance]
    findings_of(shipped_plan, "axion-basic", *several, code="E_CHANCE", words="the action 'noop' of the world")


PART: dict[str, Any] = {"p": {"world": "inner", "follow": {"add": {"action": "add", "args": {"n": "n"}}}}}


@pytest.mark.parametrize(
    ("world", "code", "words"),
    [
        ({"actions": {"add": {**CHANCE["actions"]["add"], "chance": []}}}, "E_CHANCE", "has `draw` and no `chance` or"),
        ({"actions": {"add": {**CHANCE["actions"]["add"], "draw": {}}}}, "E_CHANCE", "has `chance` and no `draw`"),
        ({"parts": PART}, "E_CHANCE", "of part 'p' draws"),
        ({"draw": {"first": {"from": "3", "stream": "s"}}}, "E_DECLARATION", "from a list, not from int"),
        ({"draw": {"first": {"from": "[1].filter(i, i > 1)", "stream": "s"}}}, "E_START_INCOMPLETE", "nothing to draw"),
        ({"constants": {"first": 1}}, "E_NAME_TAKEN", "'first'"),
        ({"draw": {"d": {"from": "[double(1)]", "stream": "s"}, **CHANCE["draw"]}}, "E_NOT_SEALABLE", "'d' is double"),
        ({"start": {"x": "first + purse", "purse": "100"}}, "E_EXPR_UNKNOWN_NAME", "purse"),
    ],
)
def test_wrong_forms(tmp_path, world, code, words):
    inner: dict[str, Any] = {
        "state": {"x": "int"},
        "actions": CHANCE["actions"],
        "draw": CHANCE["draw"],
        "start": {"x": "first"},
    }
    write_specs(tmp_path, {"world/inner": inner})
    found = findings_of(plan_of, number_scenario(tmp_path, world={**CHANCE, **world}), code=code)
    assert any(words in each.message for each in found)
