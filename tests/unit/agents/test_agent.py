"""What any agent means, on a world of one number: candidates, claims, memory and its writes, and what is refused."""

import copy
from typing import Any

import pytest

from specledger.agents.agent import Around, check_agent
from specledger.agents.propose import compile_weigh
from specledger.compile.scenario import compile_with_findings
from specledger.core.clock import CLOCK
from specledger.core.diagnostics import Diagnostics, Rejected, Severity
from specledger.expr import EvaluationError, RecordType
from specledger.kinds import load
from specledger.run.loop import run
from specledger.worlds.check import check_world
from tests.toys import NUMBER, plan_of, write_specs

WORLD: dict[str, Any] = {
    "constants": {"STEP": 2},
    "state": {"x": "int", "hidden": "int", "grid": "field"},
    "start": {"x": "0", "hidden": "5", "grid": "[[1, 2]]"},
    "functions": {
        "twice": {"args": ["n"], "is": "2 * n"},
        "cheat": {"args": ["n"], "is": "n + hidden"},
        "peek": {"args": ["p"], "is": "field_at(grid, p, 0)"},
    },
    "derived": {"secret": "hidden + 1"},
    "actions": {
        "add": {"args": {"n": "int"}, "effects": [{"set": "x", "to": "x + n"}]},
        "turn": {"args": {"a": {"enum": ["l", "r"]}, "b": "bool"}},
        "rest": {},
    },
    "observe": {"x": "x", "low": "x < 3"},
}
AGENT: dict[str, Any] = {"candidates": [{"op": "add", "for_each": {"n": "[1, 2]"}}], "score": "action.n"}
GOVERNOR: dict[str, Any] = {"gates": [], "choose": {"maximise": "proposal.score"}}


def compiled(folder, world, governor, scenario, agent):
    body = NUMBER["scenario"] | scenario
    documents = {"world": WORLD | world, "agent": AGENT | agent, "governor": GOVERNOR | governor, "scenario": body}
    return plan_of(write_specs(folder, documents))


@pytest.fixture
def make(tmp_path):
    """Compile the scenario; keywords replace fields of the agent, the dictionaries those of the other specs."""
    return lambda world={}, governor={}, scenario={}, **agent: compiled(tmp_path, world, governor, scenario, agent)


SEEN = {"x": 1, "low": True}


def actions(plan, seen=SEEN, memory=None):
    return [proposal["action"] for proposal in plan.actors[0].propose(seen, memory or {})]


def test_candidates_come_in_order_and_their_arguments_in_the_order_of_their_names(make):
    plan = make(
        candidates=[
            {"op": "rest"},
            {"op": "turn", "for_each": {"b": "[true, false]", "a": "['r', 'l']"}},
            {"op": "add", "for_each": {"n": "range(x + 1)"}},
        ],
        score="0",
    )
    turns = [{"op": "turn", "a": a, "b": b} for a in "rl" for b in (True, False)]
    assert actions(plan) == [{"op": "rest"}, *turns, {"op": "add", "n": 0}, {"op": "add", "n": 1}]


def test_a_candidate_may_have_a_condition_on_the_action(make):
    plan = make(
        candidates=[
            {"op": "add", "for_each": {"n": "range(6)"}, "when": "action.n % 2 == x"},
            {"op": "rest", "when": "low"},
        ],
        score="0",
    )
    assert actions(plan) == [{"op": "add", "n": n} for n in (1, 3, 5)] + [{"op": "rest"}]
    assert actions(plan, {"x": 0, "low": False}) == [{"op": "add", "n": n} for n in (0, 2, 4)]


def test_each_and_claims_and_score_are_computed_for_every_proposal(make):
    plan = make(
        governor={"claims": {"end": "int", "sure": "bool"}},
        constants={"BASE": 100},
        functions={"better": {"args": ["n"], "is": "twice(n) + BASE"}},
        let={"offset": "STEP * x"},
        each={"goal": "action.n + offset", "aim": "better(goal)"},
        claims={"end": "goal", "sure": "low"},
        score="aim + claims.end",
    )
    assert plan.actors[0].propose(SEEN, {}) == [
        {"action": {"op": "add", "n": n}, "end": n + 2, "sure": True, "score": 2 * (n + 2) + 100 + n + 2}
        for n in (1, 2)
    ]


def test_let_is_evaluated_once_even_where_nothing_is_proposed(make):
    plan = make(let={"bad": "1 / (x - 1)"}, candidates=[{"op": "rest", "when": "bad > 0"}], score="0")
    with pytest.raises(EvaluationError):
        plan.actors[0].propose(SEEN, {})
    assert plan.actors[0].propose({"x": 3, "low": False}, {}) == []


def test_a_decision_has_so_many_proposals_at_most(make):
    several = [{"op": "add", "for_each": {"n": "range(128)"}}] * 2
    assert len(make(candidates=several).actors[0].propose(SEEN, {})) == 256
    with pytest.raises(EvaluationError) as error:
        make(candidates=[*several, {"op": "rest"}], score="0").actors[0].propose(SEEN, {})
    assert error.value.code == "E_EVAL_LIMIT"


@pytest.mark.parametrize(
    ("a", "b", "fits"), [(256, 256, True), (256, 257, False), (60_000, 60_000, False), (60_000, 0, True)]
)
def test_arguments_are_combined_in_so_many_ways_at_most(make, a, b, fits):
    """Also where `when` would leave out nearly all of them: the bound is met before the combining begins."""
    candidate = {"op": "pair", "for_each": {"a": f"range({a})", "b": f"range({b})"}, "when": "action.a + action.b == 0"}
    plan = make({"actions": {"pair": {"args": {"a": "int", "b": "int"}}}}, candidates=[candidate], score="0")
    if fits:
        assert len(plan.actors[0].propose(SEEN, {})) == (1 if b else 0)
    else:
        with pytest.raises(EvaluationError) as error:
            plan.actors[0].propose(SEEN, {})
        assert error.value.code == "E_EVAL_LIMIT"


# --- memory

MEMORY: dict[str, Any] = {
    "memory": {
        "fields": {
            "last": {"type": "int", "start": "x - 1"},
            "seen_at": {"type": {"type": "object", "additionalProperties": "int"}, "start": "{}"},
            "log": {"type": {"type": "array", "items": "int", "maxItems": 3}, "start": "[]"},
        }
    },
    "remember": [
        {"id": "swap", "effect": {"set": "last", "to": "seen.x - x"}},
        {
            "id": "count",
            "when": "action.n > 1",
            "effect": {"put": "seen_at", "key": "string(x)", "value": "last + action.n"},
        },
        {"id": "note", "when": "size(log) < 3 && !low", "effect": {"append": "log", "value": "seen.x"}},
    ],
}


def test_memory_begins_at_the_first_observation(make):
    assert make(**MEMORY).actors[0].begin({"x": 7, "low": False}) == {"last": 6, "seen_at": {}, "log": []}


def test_writes_see_the_old_memory_both_observations_and_the_action(make):
    plan = make(**MEMORY)
    memory: dict[str, Any] = {"last": 40, "seen_at": {"9": 9}, "log": [8]}
    kept = copy.deepcopy(memory)
    action = {"op": "add", "n": 2}
    after = plan.actors[0].remember({"x": 3, "low": False}, memory, action, {"x": 5, "low": False})
    assert after == {"last": 2, "seen_at": {"9": 9, "3": 42}, "log": [8, 5]}
    assert memory == kept


@pytest.mark.parametrize(
    ("n", "low", "log", "count"), [(1, True, [], 1), (2, True, [], 2), (2, False, [], 3), (2, False, [1, 2, 3], 2)]
)
def test_the_writes_that_an_action_would_cause_are_counted_before_it(make, n, low, log, count):
    plan = make(**MEMORY)
    memory = {"last": 0, "seen_at": {}, "log": log}
    assert plan.actors[0].writes({"x": 0, "low": low}, memory, {"op": "add", "n": n}) == count


def test_the_count_reaches_the_governor(make):
    plan = make(governor={"cost": {"memory": "10 * writes"}}, **MEMORY)
    steps = [event.body for event in run(plan) if event.type == "step"]
    assert [step["cost"]["memory"] for step in steps] == [20, 20, 30, 30]  # `low` until x is 4


@pytest.mark.parametrize(("scope", "sizes"), [("episode", [0, 1, 2, 0, 1, 2]), ("run", [0, 1, 2, 3, 4, 5])])
def test_memory_lasts_for_an_episode_or_for_the_run(make, scope, sizes):
    plan = make(
        scenario={"episodes": 2, "horizon": 3},
        memory={"scope": scope, "fields": {"steps": {"type": "int", "start": "0"}}},
        remember=[{"id": "tick", "effect": {"set": "steps", "to": "steps + 1"}}],
        score="steps",
    )
    proposed = [event.body["proposals"] for event in run(plan) if event.type == "commit"]
    assert [proposals[0]["score"] for proposals in proposed] == sizes


# --- what is refused

REFUSED: dict[str, Any] = {
    "an unknown action": ({"candidates": [{"op": "ad"}]}, "E_AGENT_CANDIDATE", "'ad'", "did you mean 'add'?"),
    "a missing argument": ({"candidates": [{"op": "add"}]}, "E_AGENT_CANDIDATE", "takes n", 'list the values of each: `{op: add, for_each: {n: "[...]"}}`'),
    "an argument too many": ({"candidates": [{"op": "rest", "for_each": {"n": "[1]"}}]}, "E_AGENT_CANDIDATE", "no arguments", "leave out its `for_each`"),
    "values of another type": ({"candidates": [{"op": "add", "for_each": {"n": "['a']"}}]}, "E_EXPR_TYPE", "string", None),
    "a value that is no list": ({"candidates": [{"op": "add", "for_each": {"n": "1"}}]}, "E_EXPR_TYPE", "int", None),
    "a claim that nobody asks for": ({"claims": {"end": "1"}}, "E_AGENT_CLAIMS", "'end'", None),
    "the state": ({"score": "hidden"}, "E_EXPR_UNKNOWN_NAME", "hidden", None),
    "the whole state": ({"score": "now.hidden"}, "E_EXPR_UNKNOWN_NAME", "now", None),
    "a derived value": ({"let": {"s": "secret"}}, "E_EXPR_UNKNOWN_NAME", "secret", None),
    "the grid": ({"each": {"s": "grid[0][0]"}}, "E_EXPR_UNKNOWN_NAME", "grid", None),
    "the state through a function": ({"score": "cheat(1)"}, "E_EXPR_CAPTURE", "hidden", None),
    "the grid through a function": ({"score": "peek({'x': 0, 'y': 0})"}, "E_EXPR_CAPTURE", "grid", None),
    "the state in a memory's start": (
        {"memory": {"fields": {"m": {"type": "int", "start": "hidden"}}}}, "E_EXPR_UNKNOWN_NAME", "hidden", None,
    ),
    "the next observation in a condition": (
        {"memory": {"fields": {"m": {"type": "int", "start": "0"}}},
         "remember": [{"id": "r", "when": "seen.x > 0", "effect": {"set": "m", "to": "1"}}]},
        "E_EXPR_UNKNOWN_NAME", "seen", None,
    ),
    "a condition at the effect": (
        {"memory": {"fields": {"m": {"type": "int", "start": "0"}}},
         "remember": [{"id": "r", "effect": {"set": "m", "to": "1", "when": "true"}}]},
        "E_MEMORY", "up to the write", None,
    ),
    "a write to what is not remembered": (
        {"memory": {"fields": {"mind": {"type": "int", "start": "0"}}},
         "remember": [{"id": "r", "effect": {"set": "mnd", "to": "1"}}]},
        "E_EFFECT_TARGET", "'mnd'", "did you mean 'mind'?",
    ),
    "a write to what is seen": ({"remember": [{"id": "r", "effect": {"set": "x", "to": "1"}}]}, "E_EFFECT_TARGET", "'x'", None),
    "a memory with the name of what is seen": (
        {"memory": {"fields": {"x": {"type": "int", "start": "0"}}}}, "E_NAME_TAKEN", "'x'", None,
    ),
    "a constant with the name of what is seen": ({"constants": {"low": 3}}, "E_NAME_TAKEN", "'low'", None),
    "a constant of the world with another value": ({"constants": {"STEP": 3}}, "E_NAME_TAKEN", "'STEP'", None),
    "a let with a name of the engine": ({"let": {"seen": "1"}}, "E_NAME_TAKEN", "'seen'", None),
    "a let in a circle": ({"each": {"a": "b", "b": "a"}}, "E_LET_CYCLE", "a, b", None),
    "a score that is no number": ({"score": "low"}, "E_EXPR_TYPE", "bool", None),
    "a score that is a double": ({"score": "0.5"}, "E_EXPR_NO_PROMOTION", "double", None),
    "arguments of doubles": ({"candidates": [{"op": "add", "for_each": {"n": "[0.5]"}}]}, None, "double", None),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_an_agent_may_not_say(make, name):
    agent, code, words, hint = REFUSED[name]
    with pytest.raises(Rejected) as rejected:
        make(**agent)
    found = [finding for finding in rejected.value.diagnostics if code in (finding.code, None)]
    assert found, rejected.value.diagnostics
    assert words in found[0].message
    assert found[0].hint == hint or hint is None
    assert "agent.yaml" in str(found[0].span)


BOTH = {"candidates": [{"op": "add", "for_each": {"n": "[1, 2]"}}, {"op": "rest"}]}
READS: dict[str, Any] = {
    "in the score": ({**BOTH, "score": "action.n"}, True),
    "in an operand": ({**BOTH, "score": "x + math.abs(action.n)"}, True),
    "in the condition itself": ({**BOTH, "score": "action.n > 1 ? 1 : 0"}, True),
    "where it is there": ({**BOTH, "score": "has(action.n) ? action.n : 0"}, False),
    "where the action has it": ({**BOTH, "score": "action.op == 'add' ? action.n : 0"}, False),
    "beside a condition": ({**BOTH, "score": "action.op == 'add' && action.n > 1 ? 1 : 0"}, False),
    "of a candidate that is not always there": (
        {"candidates": [BOTH["candidates"][0], {"op": "rest", "when": "false"}], "score": "action.n"},
        False,
    ),
    "where every candidate has it": ({"candidates": BOTH["candidates"][:1], "score": "action.n"}, False),
}


@pytest.mark.parametrize(("agent", "wrong"), READS.values(), ids=READS)
def test_an_argument_that_a_candidate_lacks_is_not_read_of_every_proposal(make, tmp_path, agent, wrong):
    make(**agent)
    _, found = compile_with_findings(load(str(next(tmp_path.rglob("scenario.yaml"))))[0])
    said = [(one.code, one.message, one.severity) for one in found]
    message = "`action.n` is read of every proposal, and 'rest' has none"
    assert said == ([("W_AGENT_READS", message, Severity.WARNING)] if wrong else [])
    assert all("has(action.n)" in str(one.hint) for one in found)


NEVER: dict[str, Any] = {"id": "g", "deny": "false", "reason": "r"}
RULES: dict[str, Any] = {
    "in a gate": ({"gates": [NEVER | {"deny": "action.n > 1"}]}, True),
    "in a price": ({"gates": [NEVER], "cost": {"each": "action.n"}}, True),
    "in the condition of a gate": ({"gates": [NEVER | {"when": "action.n > 1"}]}, True),
    "under a condition": ({"gates": [NEVER | {"when": "has(action.n)", "deny": "action.n > 1"}]}, False),
    "beside a condition": ({"gates": [NEVER | {"deny": "has(action.n) && action.n > 1"}]}, False),
    "after another gate": (
        {"mode": "first", "gates": [NEVER | {"deny": "!has(action.n)"}, NEVER | {"id": "h", "deny": "action.n > 1"}]},
        False,
    ),
}


@pytest.mark.parametrize(("governor", "wrong"), RULES.values(), ids=RULES)
def test_a_governor_reads_no_argument_of_every_proposal_that_a_candidate_lacks(make, tmp_path, governor, wrong):
    make(governor=governor, score="0", **BOTH)
    _, found = compile_with_findings(load(str(next(tmp_path.rglob("scenario.yaml"))))[0])
    assert [one.code for one in found if one.code == "W_AGENT_READS"] == ["W_AGENT_READS"] * wrong


LISTED = {
    "a literal": ("['r', 'up']", ["'up'"]),
    "in a branch": ("low ? ['up'] : ['l']", ["'up'"]),
    "in an item's branch": ("[low ? 'l' : 'up']", ["'up'"]),
    "in a sum": ("['l'] + ['up', 'down']", ["'up'", "'down'"]),
    "a near one": ("['R']", ["'R'"]),
    "values that it takes": ("['l', 'r']", []),
    "what is computed": ("['up'].filter(d, d == 'l')", []),
}


@pytest.mark.parametrize(("values", "wrong"), LISTED.values(), ids=LISTED)
def test_a_literal_that_an_argument_never_is_is_a_finding_at_its_place(make, tmp_path, values, wrong):
    make(candidates=[{"op": "turn", "for_each": {"a": values, "b": "[true]"}}], score="0")
    _, found = compile_with_findings(load(str(next(tmp_path.rglob("scenario.yaml"))))[0])
    assert [one.code for one in found] == ["W_AGENT_ARGUMENT"] * len(wrong)
    assert [one.message.split()[3].rstrip(",") for one in found] == wrong


NEAR = [("['R']", "did you mean 'r'?"), ("['up']", "it is one of 'l', 'r'"), ("['left', 'L']", "it is one of 'l', 'r'")]


@pytest.mark.parametrize(("values", "hint"), NEAR)
def test_the_finding_names_a_near_value_or_all(make, tmp_path, values, hint):
    make(candidates=[{"op": "turn", "for_each": {"a": values, "b": "[true]"}}], score="0")
    _, found = compile_with_findings(load(str(next(tmp_path.rglob("scenario.yaml"))))[0])
    assert found[0].hint == hint


def test_a_candidate_that_is_no_action_lists_the_actions(make):
    with pytest.raises(Rejected) as rejected:
        make(candidates=[{"op": "leap"}])
    (finding,) = rejected.value.diagnostics
    assert (finding.code, finding.expected, finding.hint) == ("E_AGENT_CANDIDATE", "one of add, rest, turn", None)


def test_twenty_actions_are_listed_at_most(make):
    actions: dict[str, Any] = {f"do_{number:02}": {} for number in range(21)}
    with pytest.raises(Rejected) as rejected:
        make({"actions": actions}, candidates=[{"op": "leap"}], score="0")
    (finding,) = rejected.value.diagnostics
    assert finding.expected == f"one of {', '.join(sorted(actions)[:20])}"


def test_an_agent_that_does_not_predict_cannot_weigh_an_offer(tmp_path):
    bundle = load(
        str(
            write_specs(
                tmp_path, {"world": WORLD, "agent": AGENT, "governor": GOVERNOR, "scenario": NUMBER["scenario"]}
            )
        )
    )[0]
    world = check_world(bundle.specs[bundle.main.refs["world",]], bundle, Diagnostics())
    assert world is not None
    action = next(iter(world.actions.values())).args
    around = Around({}, {}, RecordType("observation", world.observe.types), {"add": action}, action, {})
    spec = bundle.specs[bundle.main.refs["agent",]]
    agent = check_agent(spec, around, Diagnostics())
    assert agent is not None
    with pytest.raises(ValueError, match="does not predict"):
        compile_weigh(agent)


def test_a_costly_value_that_reads_the_clock_is_found_anew_at_each_step(make):
    plan = make(let={"busy": "sum(range(100).map(i, i * t)) + 0 * x"}, each={"b": "busy"}, score="b")
    plan.actors[0].propose(SEEN, {})
    scores = []
    for t in (1, 2, 1):
        CLOCK.set(0, t, "")
        scores.append(plan.actors[0].propose(SEEN, {})[0]["score"])
    CLOCK.set(0, 0, "")
    assert scores == [4950, 9900, 4950]


def test_a_costly_value_is_that_of_what_is_seen(make):
    plan = make(let={"busy": "sum(range(100).map(i, i * x))"}, score="busy")
    seen = [{"x": x, "low": x < 3} for x in (1, 2, 1, 5)]
    assert [plan.actors[0].propose(each, {})[0]["score"] for each in seen] == [4950, 9900, 4950, 24750]


def test_claims_are_those_that_the_governor_asks_for(make):
    ask = {"claims": {"end": "int", "sure": "bool"}}
    with pytest.raises(Rejected) as rejected:
        make(governor=ask, claims={"end": "true"})
    assert [finding.code for finding in rejected.value.diagnostics] == ["E_AGENT_CLAIMS", "E_EXPR_TYPE"]
    assert "sure" in rejected.value.diagnostics[0].message


def test_a_constant_of_the_world_may_be_repeated(make):
    assert make(constants={"STEP": 2}, score="STEP").actors[0].propose(SEEN, {})[0]["score"] == 2
