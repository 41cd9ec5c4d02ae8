"""The clock of the run: what expressions read as `t`, `episode` and `actor`, against plain Python."""

import math
from itertools import zip_longest
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specledger.core.clock import CLOCK
from specledger.core.diagnostics import Diagnostics
from specledger.core.spans import Text
from specledger.expr import INT, STRING, Defined, Environment, IntType, compile_expression
from specledger.expr.check.checker import check
from specledger.expr.eval.evaluator import evaluate
from specledger.kinds import KINDS, load
from specledger.kinds.running import RunOptions
from specledger.pipeline.executing import execute
from specledger.run.actor_state import ActorState
from specledger.run.controller import DecisionController
from specledger.run.episode import Episode
from specledger.run.loop import run
from specledger.verify.assurance_levels import Reader
from specledger.verify.run import RUN
from tests.toys import bodies, compile_specs, findings_of, write_specs
from tests.verifying import verify_bundle

HORIZON, EPISODES = 5, 2
NAMES = ("alice", "bob")


def documents(turns="order", **changes) -> dict[str, dict[str, Any]]:
    """A bank whose accounts pay each other; nothing that an agent says tells who it is."""
    found: dict[str, dict[str, Any]] = {
        "world": {
            "state": {
                "alice": "int",
                "bob": "int",
                "night": "int",
                "log": {"type": "array", "items": "string", "maxItems": 40},
            },
            "start": {"alice": "10", "bob": "10", "night": "0", "log": "[]"},
            "derived": {"late": "t >= 3"},
            "actions": {
                "pay": {
                    "args": {"n": {"enum": [1, 2, 3]}},
                    "effects": [
                        {"set": "alice", "to": "actor == 'alice' ? alice - n : alice + n"},
                        {"set": "bob", "to": "actor == 'bob' ? bob - n : bob + n"},
                        {"append": "log", "value": "actor + string(t)"},
                    ],
                }
            },
            "every_step": [{"set": "night", "to": "t % 2 + episode"}],
            "observe": {"bob": "bob"},
            "agents": {name: {} for name in NAMES},
            "record": {"at": "t", "by": "actor", "night": "next.night", "late": "late", "log": "next.log"},
        },
        "agent": {
            "memory": {"fields": {"last": {"type": "int", "start": "t"}}},
            "remember": [{"id": "last", "effect": {"set": "last", "to": "t + (actor == 'bob' ? 100 : 0)"}}],
            "let": {"wanted": "t % 3 + 1"},
            "candidates": [{"op": "pay", "for_each": {"n": "[1, 2, 3]"}}],
            "score": "action.n == wanted ? 5 : last > 100 ? 1 : 0",
        },
        "governor": {
            "gates": [
                {
                    "id": "late",
                    "deny": "late && t < 99 && action.n == 3",
                    "reason": "late",
                    "witness": {"t": "t", "who": "actor", "e": "episode"},
                }
            ],
            "choose": {"maximise": "proposal.score"},
        },
        "invariant/own": {
            "severity": "warn",
            "when": "actor == 'bob' && t > 1",
            "require": "bob == 0",
            "witness": {"t": "t"},
        },
        "invariant/turns": {
            "severity": "warn",
            "memory": {"fields": {"n": {"type": "int", "start": "0"}}},
            "remember": [{"id": "n", "on": "action", "when": "actor == 'bob'", "effect": {"set": "n", "to": "n + 1"}}],
            "require": "n <= t + 1",
        },
        "invariant/end": {"scope": "episode", "severity": "warn", "require": "t != 4 || episode == 0"},
        "scenario": {
            "world": "world",
            "agents": {name: {"agent": "agent", "governor": "governor"} for name in NAMES},
            "order": list(NAMES),
            "turns": turns,
            "horizon": HORIZON,
            "episodes": EPISODES,
            "invariants": ["own", "turns", "end"],
        },
    }
    for key, change in changes.items():
        found[key] = {**found[key], **change}
    return found


def test_every_place_reads_where_the_loop_stands(tmp_path):
    steps = bodies(compile_specs(tmp_path, documents()))
    position = [(episode, t, name) for episode in range(EPISODES) for t in range(HORIZON) for name in NAMES]
    assert [(step["episode"], step["t"], step["agent"]) for step in steps] == position
    for step, (episode, t, name) in zip(steps, position, strict=True):
        assert step["chosen"] == t % 3
        log = [f"{who}{at}" for at in range(t + 1) for who in NAMES if (at, who) <= (t, name)]
        late = t >= 3
        assert step["record"] == {"at": t, "by": name, "night": t % 2 + episode, "late": late, "log": log}
        rejected = [gate["witness"] for judged in step["decisions"] for gate in judged["rejected"]]
        assert rejected == ([{"t": t, "who": name, "e": episode}] if late else [])
        broken = [breach["witness"] for breach in step["violations"]]
        assert broken == ([{"t": t}] if name == "bob" and t > 1 else [])
        assert step["monitors"]["turns"]["n"] == t + (name == "bob")


def test_the_action_of_each_of_several_at_one_moment_knows_its_actor(tmp_path):
    plan = compile_specs(tmp_path, documents("simultaneous", scenario={"invariants": ["turns", "end"]}))
    last = bodies(plan)[-1]
    assert last["record"]["log"] == [f"{name}{t}" for t in range(HORIZON) for name in NAMES]


def test_an_invariant_of_a_whole_episode_reads_its_last_step(tmp_path):
    ends = bodies(compile_specs(tmp_path, documents()), "episode_end")
    assert [[breach["invariant"] for breach in end["violations"]] for end in ends] == [[], ["end"]]


def test_episodes_that_take_turns_in_one_thread_keep_their_own_clock(tmp_path):
    plan = compile_specs(tmp_path, documents())
    alone = [event for event in run(plan) if event.type not in ("start", "end")]

    def episode(number):
        return Episode(plan, number, [ActorState(actor, DecisionController(actor)) for actor in plan.actors]).run()

    mixed = list(zip_longest(episode(0), episode(1)))
    assert [event for pair in zip(*mixed, strict=True) for event in pair if event is not None] == alone


def test_a_world_keeps_names_that_it_gives_itself(tmp_path):
    world = documents()["world"]
    own = {
        **world,
        "state": {**world["state"], "t": "int", "actor": "string"},
        "start": {**world["start"], "t": "7", "actor": "'nobody'"},
        "derived": {"late": "t >= 8"},
        "observe": {"t": "t", "actor": "actor", "bob": "bob"},
    }
    found = documents(world=own)
    found["scenario"]["invariants"] = []
    steps = bodies(compile_specs(tmp_path, found))
    assert {(step["record"]["at"], step["record"]["by"]) for step in steps} == {(7, "nobody")}


@pytest.mark.medium
def test_the_second_evaluator_reads_the_same_clock(tmp_path):
    pytest.importorskip("cel_expr_python", reason="the extra `judge`")
    path = write_specs(tmp_path, documents())
    finished = execute(load(str(path))[0], tmp_path / "out", RunOptions())
    judge = verify_bundle(finished.place, RUN, KINDS, Reader(judge=True)).facts["judge"]
    assert judge["judged"] == judge["of"] > 0


@given(st.integers(0, 2**53 - 1), st.integers(0, 10**6), st.sampled_from(["", "alice"]))
def test_generated_code_and_the_exact_evaluator_read_one_clock(t, episode, actor):
    clock = {"t": IntType(0, 2**53 - 1), "episode": INT, "actor": STRING}
    text = "(actor == 'alice' ? t : -t) % 1000 + [1, 2].map(x, x * episode)[1] + f(1)"
    functions = {"f": Defined(("x",), Text.inline("t / 2 + x"))}
    checked = check(Text.inline(text), Environment(functions=functions).timed(clock), Diagnostics())
    assert checked is not None
    CLOCK.set(episode, t, actor)
    value = math.fmod(t if actor else -t, 1000) + 2 * episode + t // 2 + 1
    assert checked.clock == {"t", "episode", "actor"}
    assert evaluate(checked, {}) == compile_expression(checked, ())() == value
    CLOCK.set(0, 0, "")


WRONG = {
    "an invariant after all acted at once": ("simultaneous", {}, "invariant/own", "unknown name `actor`"),
    "an observation": ("order", {"world": {"observe": {"t": "t"}}}, "world/world", "unknown name `t`"),
    "a start": (
        "order",
        {"world": {"start": {"alice": "t", "bob": "1", "night": "0", "log": "[]"}}},
        "world/world",
        "unknown name `t`",
    ),
    "a derived value of a start": (
        "order",
        {"world": {"well_formed": [{"id": "early", "require": "!late"}]}},
        "world/world",
        "derived value `late` reads `t`",
    ),
}


@pytest.mark.parametrize(("turns", "change", "file", "words"), WRONG.values(), ids=WRONG)
def test_places_outside_of_a_step_have_no_clock(tmp_path, turns, change, file, words):
    found = findings_of(compile_specs, tmp_path, documents(turns, **change))
    assert any(words in one.message and file in str(one.span) for one in found), found
    assert all(one.hint or one.related for one in found)


def test_a_world_of_one_agent_has_no_actor(tmp_path):
    found = documents()
    del found["world"]["agents"]
    del found["scenario"]["order"], found["scenario"]["turns"], found["scenario"]["agents"]
    found["scenario"] |= {"agent": "agent", "governor": "governor"}
    findings = findings_of(compile_specs, tmp_path, found)
    assert {one.message for one in findings if one.code == "E_EXPR_UNKNOWN_NAME"} == {"unknown name `actor`"}
    assert all("spec explain actor" in one.hint for one in findings if one.code == "E_EXPR_UNKNOWN_NAME")
