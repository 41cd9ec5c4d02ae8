"""A step is one decision of every agent: what invariants remember and when they are judged, against plain Python."""

from itertools import pairwise

import pytest

from tests.toys import bodies, compile_specs, findings_of

SCRIPT = [2, 3, -1, 0, 2, 2, 1, 3, 3, -2, 2, 0, 1, 2, 3, -3, 2, 2]
"""The number `x` after each action; 18 actions are nine steps of two agents, or six of three."""
START = 2
NAMES = "abc"


def documents(agents, turns, rules, **scenario):
    names = NAMES[:agents]
    return {
        "world": {
            "constants": {"SCRIPT": SCRIPT},
            "state": {"x": "int", "k": "int"},
            "start": {"x": str(START), "k": "0"},
            "actions": {
                "go": {
                    "effects": [{"set": "x", "to": "SCRIPT[k]"}, {"set": "k", "to": "k + 1"}],
                    "outcome": {"was": "x"},
                }
            },
            "observe": {"x": "x"},
            "agents": {name: {} for name in names},
        },
        "agent": {"candidates": [{"op": "go"}], "score": "0"},
        "governor": {"gates": [], "choose": {"maximise": "0"}},
        "scenario": {
            "world": "world",
            "agents": {name: {"agent": "agent", "governor": "governor"} for name in names},
            "order": list(names),
            "turns": turns,
            "horizon": len(SCRIPT) // agents,
            "invariants": sorted(rules),
            **scenario,
        },
        **{f"invariant/{name}": body for name, body in rules.items()},
    }


def broken(folder, agents, turns, invariant, **scenario):
    """Per breach of an invariant its step and agent, or `end`; and what it remembers at the end."""
    made = compile_specs(folder, documents(agents, turns, {"rule": {"severity": "warn", **invariant}}, **scenario))
    steps, (end,) = bodies(made), bodies(made, "episode_end")
    found = [(step["t"], step["agent"]) for step in steps for _ in step["violations"]]
    return found + ["end"] * len(end["violations"]), steps[-1].get("monitors", {}).get("rule")


def step_states(agents):
    """`x` at the start and after every step."""
    return [START, *SCRIPT[agents - 1 :: agents]]


def within(states, limit):
    def overdue(number):
        answered = max((i for i in range(number + 1) if states[i] < 0), default=-1)
        asked = [i for i in range(answered + 1, number + 1) if states[i] > 1]
        return bool(asked) and number - asked[0] >= limit

    return [number for number in range(1, len(states)) if overdue(number)]


def at_most(states, times):
    return [number for number in range(1, len(states)) if states[number] == 2][times:]


def changes(states, times):
    return [number for number in range(1, len(states)) if states[number] != states[number - 1]][times:]


def highest(states, slack):
    return [number for number in range(1, len(states)) if states[number] < max(states[: number + 1]) - slack]


FORMS = {
    "within 0": ({"within": {"after": "x > 1", "steps": 0, "require": "x < 0"}}, within, 0),
    "within 1": ({"within": {"after": "x > 1", "steps": 1, "require": "x < 0"}}, within, 1),
    "within 3": ({"within": {"after": "x > 1", "steps": 3, "require": "x < 0"}}, within, 3),
    "at most": ({"at_most": {"count": "x == 2", "times": 1}}, at_most, 1),
    "at most, changes": ({"at_most": {"count": "x != previous.x", "times": 2}}, changes, 2),
    "a memory": (
        {
            "memory": {"fields": {"most": {"type": "int", "start": "x"}}},
            "remember": [{"id": "rise", "when": "x > most", "effect": {"set": "most", "to": "x"}}],
            "require": "x >= most - 1",
        },
        highest,
        1,
    ),
}


@pytest.mark.parametrize("agents", [2, 3])
@pytest.mark.parametrize("turns", ["order", "simultaneous"])
@pytest.mark.parametrize(("form", "oracle", "limit"), FORMS.values(), ids=FORMS)
def test_what_is_written_once_a_step_is_judged_at_its_end(tmp_path, agents, turns, form, oracle, limit):
    wanted = [(number - 1, NAMES[agents - 1]) for number in oracle(step_states(agents), limit)]
    assert broken(tmp_path, agents, turns, form)[0] == wanted


@pytest.mark.parametrize("agents", [2, 3])
@pytest.mark.parametrize("turns", ["order", "simultaneous"])
def test_a_mean_is_that_of_the_states_after_steps(tmp_path, agents, turns):
    rest = step_states(agents)[1:]
    form = {"scope": "episode", "mean": {"of": "x", "min": "100"}}
    assert broken(tmp_path, agents, turns, form) == (["end"], {"mean_sum": sum(rest), "mean_steps": len(rest)})


@pytest.mark.parametrize("agents", [2, 3])
def test_a_state_within_a_step_is_judged_by_an_invariant_without_a_memory(tmp_path, agents):
    fell = [(k // agents, NAMES[k % agents]) for k, (was, now) in enumerate(pairwise([START, *SCRIPT])) if now < was]
    assert broken(tmp_path, agents, "order", {"require": "x >= previous.x"})[0] == fell


BY_ACTION = {
    "memory": {"fields": {"rises": {"type": "int", "start": "0"}, "steps": {"type": "int", "start": "0"}}},
    "remember": [
        {
            "id": "rise",
            "on": "action",
            "when": "actor == 'b' && action.op == 'go' && x > previous.x",
            "effect": {"set": "rises", "to": "rises + (outcome.was == previous.x ? 1 : 100)"},
        },
        {"id": "step", "effect": {"set": "steps", "to": "steps + 1"}},
    ],
    "require": "rises < 1",
}


@pytest.mark.parametrize("agents", [2, 3])
@pytest.mark.parametrize("turns", ["order", "simultaneous"])
def test_a_write_for_each_action_reads_who_acted(tmp_path, agents, turns):
    rose = [k for k, (was, now) in enumerate(pairwise([START, *SCRIPT])) if now > was and k % agents == 1]
    ends = range(len(SCRIPT)) if turns == "order" else range(agents - 1, len(SCRIPT), agents)
    found, remembered = broken(tmp_path, agents, turns, BY_ACTION)
    assert found == [(k // agents, NAMES[k % agents]) for k in ends if k >= rose[0]]
    assert remembered == {"rises": len(rose), "steps": len(SCRIPT) // agents}


@pytest.mark.parametrize(
    "ended", [{"until": "k == 5"}, {"invariants": ["fatal", "rule"]}], ids=["until", "a fatal breach"]
)
def test_a_step_that_the_episode_ends_in_is_counted_and_judged(tmp_path, ended):
    """The fifth action is the first one of the third step."""
    rule = {"severity": "warn", "at_most": {"count": "true", "times": 2}}
    rules = {"rule": rule, "fatal": {"require": "k != 5"}}
    made = compile_specs(tmp_path, documents(2, "order", rules, **{"invariants": ["rule"], **ended}))
    last = bodies(made)[-1]
    assert (last["t"], last["agent"], last["monitors"]) == (2, "a", {"rule": {"at_most_count": 3}})
    assert [one["invariant"] for one in last["violations"]][-1] == "rule"


WRONG = {
    "the action of a step": ({"when": "action.op == 'go'"}, "E_MEMORY", "'action' is that of one agent"),
    "the outcome of a step": ({"when": "has(outcome.was)"}, "E_MEMORY", "'outcome' is that of one agent"),
    "the actor of a step": ({"when": "actor == 'a'"}, "E_MEMORY", "'actor' is that of one agent"),
}


@pytest.mark.parametrize(("change", "code", "words"), WRONG.values(), ids=WRONG)
def test_a_step_of_several_agents_has_no_action_of_its_own(tmp_path, change, code, words):
    write = {"id": "w", "effect": {"set": "most", "to": "x"}, **change}
    rule = {"memory": {"fields": {"most": {"type": "int", "start": "x"}}}, "remember": [write], "require": "true"}
    found = findings_of(compile_specs, tmp_path, documents(2, "order", {"rule": rule}), code=code, words=words)
    assert code != "E_MEMORY" or "`on: action`" in found[0].hint


MIXED = {
    "memory": {"fields": {"steps": {"type": "int", "start": "0"}, "acts": {"type": "int", "start": "0"}}},
    "remember": [
        {"id": "step", "effect": {"set": "steps", "to": "steps + 1"}},
        {"id": "act", "on": "action", "effect": {"set": "acts", "to": "acts + 1"}},
    ],
    "require": "steps <= 1 && acts != 3",
}
"""Broken after the third action, and from the end of the second step on."""


@pytest.mark.parametrize("agents", [2, 3])
def test_an_invariant_that_remembers_steps_and_actions_is_judged_after_both(tmp_path, agents):
    wanted = [k for k in range(len(SCRIPT)) if k + 1 == 3 or (k + 1) // agents > 1]
    found, _ = broken(tmp_path, agents, "order", MIXED)
    assert found == [(k // agents, NAMES[k % agents]) for k in wanted]


@pytest.mark.parametrize(("fatal", "wanted"), [("k != 3", ["fatal", "rule"]), ("k != 2", ["fatal"])])
def test_what_a_fatal_breach_between_turns_leaves_is_judged_after_the_writes_of_its_step(tmp_path, fatal, wanted):
    rule = {**MIXED, "severity": "warn", "require": "steps <= 1"}
    rules = {"fatal": {"require": fatal}, "rule": rule}
    made = compile_specs(tmp_path, documents(2, "order", rules, invariants=["fatal", "rule"]))
    last = bodies(made)[-1]
    assert [one["invariant"] for one in last["violations"]] == wanted
    assert last["monitors"]["rule"]["steps"] == len(wanted)
