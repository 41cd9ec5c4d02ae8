"""Invariants: what they compare, when they are looked at, what a breach does; and each shipped one on states by hand."""

import copy
from functools import cache
from typing import Any

import pytest

from tests.toys import bodies, compile_specs, documents_of, findings_of, result, shipped_plan

WORLD: dict[str, Any] = {
    "constants": {"LIMIT": 3},
    "state": {"x": "int", "y": "int"},
    "start": {"x": 0, "y": 0},
    "functions": {"twice": {"args": ["n"], "is": "2 * n"}},
    "actions": {"add": {"args": {"n": "int"}, "effects": [{"set": "x", "to": "x + n"}]}},
    "observe": {"x": "x"},
}
AGENT = {"candidates": [{"op": "add", "for_each": {"n": "[1]"}}], "score": "0"}


@pytest.fixture
def make(tmp_path):
    """Compile the scenario with invariants by name; other keywords replace fields of one document."""

    def compiled(invariants=None, **changes):
        others = {"drift/jump": DRIFT, **{f"invariant/{name}": body for name, body in (invariants or {}).items()}}
        documents = documents_of(WORLD, AGENT, others=others, horizon=5, invariants=sorted(invariants or {}))
        return compile_specs(tmp_path, {key: {**body, **changes.get(key, {})} for key, body in documents.items()})

    return compiled


DRIFT = {"at": "t == 2", "effects": [{"set": "x", "to": "x + 100"}, {"set": "y", "to": "1"}]}


def test_a_breach_names_the_invariant_its_severity_and_its_witness(make):
    below = {"require": "twice(x) < twice(LIMIT)", "severity": "warn", "witness": {"x": "x", "before": "previous.x"}}
    made = make({"below": below})
    assert [step["violations"] for step in bodies(made)] == [
        [],
        [],
        *([{"invariant": "below", "severity": "warn", "witness": {"x": x, "before": x - 1}}] for x in (3, 4, 5)),
    ]
    assert result(made)["warnings"] == {"below": 3}
    assert result(made)["verdict"] == "PASS"


@pytest.mark.medium
def test_a_fatal_breach_ends_its_episode_and_no_other(make):
    made = make({"below": {"require": "x < LIMIT"}}, scenario={"episodes": 2})
    assert [step["t"] for step in bodies(made)] == [0, 1, 2, 0, 1, 2]
    assert [end["ended"] for end in bodies(made, "episode_end")] == ["fatal", "fatal"]
    assert result(made)["violations"] == {"below": 2}
    assert result(made)["verdict"] == "FAIL"


def test_a_fatal_breach_wins_over_until(make):
    made = make({"below": {"require": "x < LIMIT"}}, scenario={"until": "x >= LIMIT"})
    assert [end["ended"] for end in bodies(made, "episode_end")] == ["fatal"]


def test_an_invariant_is_looked_at_only_where_its_condition_holds(make):
    made = make({"later": {"when": "x > 4", "require": "x < LIMIT"}})
    assert [len(step["violations"]) for step in bodies(made)] == [0, 0, 0, 0, 1]


def test_previous_is_the_state_before_the_step_and_after_the_drift(make):
    """A drift may do what no step may."""
    made = make({"slow": {"require": "x == previous.x + 1"}}, scenario={"drift": ["jump"]})
    assert len(bodies(made, "drift")) == 1
    assert [step["violations"] for step in bodies(made)] == [[]] * 5


def test_a_step_that_takes_no_action_is_looked_at_too(make):
    """The drift has broken what no action could: that nothing was admitted does not hide it."""
    made = make(
        {"level": {"require": "y == 0", "severity": "warn"}},
        governor={"gates": [{"id": "never", "deny": "true", "reason": "r"}]},
        scenario={"drift": ["jump"]},
    )
    assert [step["chosen"] for step in bodies(made)] == [None] * 5
    found = [[one["invariant"] for one in step["violations"]] for step in bodies(made)]
    assert [names.count("level") for names in found] == [0, 0, 1, 1, 1]
    assert [names.count("progress") for names in found] == [1] * 5


def test_an_invariant_of_an_episode_compares_its_end_with_its_start(make):
    grown = {"scope": "episode", "require": "x < previous.x + 4", "witness": {"from": "previous.x", "to": "x"}}
    made = make({"grown": grown}, scenario={"drift": ["jump"]})
    assert [step["violations"] for step in bodies(made)] == [[]] * 5
    (end,) = bodies(made, "episode_end")
    assert end["violations"] == [{"invariant": "grown", "severity": "fatal", "witness": {"from": 0, "to": 105}}]
    assert result(made)["verdict"] == "FAIL"


def test_one_that_both_governor_and_scenario_name_is_looked_at_once(make):
    made = make({"below": {"require": "x < LIMIT", "severity": "warn"}}, governor={"invariants": ["below"]})
    assert [invariant.name for invariant in made.invariants] == ["below"]
    assert [len(step["violations"]) for step in bodies(made)] == [0, 0, 1, 1, 1]
    alone = make({"below": {"require": "x < LIMIT"}}, governor={"invariants": ["below"]}, scenario={"invariants": []})
    assert [invariant.name for invariant in alone.invariants] == ["below"]


def test_without_an_invariant_nothing_was_checked(make):
    assert result(make())["verdict"] == "INCONCLUSIVE"


REFUSED = {
    "no condition": ({"require": "x"}, "E_EXPR_TYPE"),
    "an unknown field": ({"require": "previous.z == 0"}, "E_EXPR_UNKNOWN_FIELD"),
    "the next state": ({"require": "next.x == 0"}, "E_EXPR_UNKNOWN_NAME"),
    "a witness of a double": ({"require": "true", "witness": {"half": "0.5"}}, "E_NOT_SEALABLE"),
    "a constant with the name of a field": ({"constants": {"x": 1}, "require": "true"}, "E_NAME_TAKEN"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(make, name):
    body, code = REFUSED[name]
    assert len(findings_of(make, {"wrong": body}, code=code, file="wrong.yaml")) == 1


# --- the shipped invariants, on states by hand


@cache
def shipped(scenario):
    return shipped_plan(scenario)


def changed(state, **changes):
    after = copy.deepcopy(state)
    kernel = {key: value for key, value in changes.items() if key in state.get("coherence", {}) and key != "t"}
    if kernel:
        after["coherence"] |= kernel
    return after | {key: value for key, value in changes.items() if key not in kernel}


# scenario, invariant: a change that keeps it, a change that breaks it, its witness
SHIPPED: dict[tuple[str, str], Any] = {
    ("hazard", "admissibility"): ({"rho": [[0, 1000]]}, {"rho": [[-1, 250]]}, {"rho": [[-1, 250]]}),
    ("maze", "admissibility"): ({"C": [[0, 5]]}, {"C": [[0, -1]]}, {"C": [[0, -1]]}),
    ("simple", "admissibility"): ({"b": 0}, {"b": -1}, {"b": -1}),
    ("hazard", "budget-law"): ({"b": 0}, {"b": -1}, {"b": -1, "b_before": 1_000_000_000}),
    ("simple", "budget-law"): ({"b": 1_000_000_000}, {"b": 1_000_000_001}, {"b": 1_000_000_001}),
    ("hazard", "coherence-descends"): ({"theta": [[40, 0]]}, {"theta": [[0, 41]]}, {"V": 1681_000_000}),
    ("hazard", "no-hazard-entered"): ({"position": {"x": 4, "y": 1}}, {"position": {"x": 5, "y": 1}}, {}),
    ("hazard", "no-bump"): ({"t": 9}, {"bumps": 1}, {}),
    ("two-tank", "no-overflow"): ({"h1": 1000, "h2": 0}, {"h1": 1001}, {"h1": 1001}),
}


@pytest.mark.parametrize(("scenario", "name"), SHIPPED)
def test_a_shipped_invariant_holds_and_breaks(scenario, name):
    plan = shipped(scenario)
    (invariant,) = (item for item in plan.invariants if item.name == name)
    keeps, breaks, witness = SHIPPED[scenario, name]
    start = plan.start(0)
    assert invariant.judge(start, start) is None
    assert invariant.judge(start, changed(start, **keeps)) is None
    found = invariant.judge(start, changed(start, **breaks))
    assert found is not None
    assert found.items() >= witness.items()
    assert invariant.severity == "fatal"


@pytest.mark.parametrize("key", ["h1", "h2"])
@pytest.mark.parametrize(("value", "holds"), [(0, True), (1000, True), (-1, False), (1001, False)])
def test_both_tanks_have_both_bounds(key, value, holds):
    plan = shipped("two-tank")
    (invariant,) = plan.invariants
    start = plan.start(0)
    assert (invariant.judge(start, changed(start, **{key: value})) is None) == holds


@pytest.mark.parametrize("after_fatal", ["judged", "skipped"])
def test_an_episode_that_a_fatal_breach_ended_counts_unless_the_invariant_says_otherwise(make, after_fatal):
    made = make(
        {
            "low": {"require": "x < 3"},
            "far": {"scope": "episode", "severity": "warn", "require": "x == 5", "after_fatal": after_fatal},
        }
    )
    (ended,) = bodies(made, "episode_end")
    assert (ended["ended"], ended["steps"]) == ("fatal", 3)
    assert [one["invariant"] for one in ended["violations"]] == (["far"] if after_fatal == "judged" else [])
    assert ended["idle"] == ({} if after_fatal == "judged" else {"far": 1})


SHORT: dict[str, dict[str, Any]] = {
    "within": {"within": {"after": "x > 1", "steps": 0, "require": "x < 5"}},
    "at_most": {"at_most": {"count": "x > 1", "times": 0}},
    "mean": {"mean": {"of": "x", "min": 0, "max": 9}, "scope": "episode"},
}
TAKEN = [
    *(("within", f"within_{name}") for name in ("waiting", "after", "require")),
    *(("at_most", f"at_most_{name}") for name in ("count", "counts")),
    *(("mean", f"mean_{name}") for name in ("sum", "steps", "of", "min", "max")),
]


@pytest.mark.parametrize("owner", ["world", "invariant"])
@pytest.mark.parametrize(("form", "name"), TAKEN)
def test_a_name_of_the_memory_is_not_given_to_something_else(make, owner, form, name):
    """A field of the world would be shadowed: the condition that reads it would read the memory."""
    body = SHORT[form]
    world = {"state": {**WORLD["state"], name: "int"}, "start": {**WORLD["start"], name: 5}}
    changes: dict[str, Any] = {"world": world} if owner == "world" else {}
    invariant = body if owner == "world" else {**body, "constants": {name: 0}}
    assert len(findings_of(make, {"short": invariant}, **changes, code="E_NAME_TAKEN", words=name)) == 1


def test_the_memory_of_each_invariant_is_in_the_receipts(make):
    made = make({"few": {"at_most": {"count": "x % 2 == 0", "times": 2}}})
    assert [body["monitors"] for body in bodies(made, "episode")] == [{"few": {"at_most_count": 0}}]
    assert [body["monitors"]["few"]["at_most_count"] for body in bodies(made)] == [0, 1, 1, 2, 2]


WITNESSES = {
    "within": ({"within": {"after": "x > 1", "steps": 1, "require": "x > 9"}}, {"within_waiting": 2}),
    "at_most": ({"at_most": {"count": "x % 2 == 0", "times": 1}}, {"at_most_count": 2}),
    "mean": ({"mean": {"of": "x", "max": "2"}, "scope": "episode"}, {"mean_sum": 15, "mean_steps": 5}),
    "its own": ({"at_most": {"count": "true", "times": 2}, "witness": {"n": "at_most_count + x"}}, {"n": 6}),
    "no short form": ({"require": "most > 0", "memory": {"fields": {"most": {"type": "int", "start": "x"}}}}, {}),
}


@pytest.mark.parametrize(("document", "witness"), WITNESSES.values(), ids=WITNESSES)
def test_the_memory_of_a_short_form_is_its_witness_if_none_is_given(make, document, witness):
    made = make({"odd": document})
    found = [
        each["witness"]
        for type_ in ("step", "episode_end")
        for body in bodies(made, type_)
        for each in body["violations"]
    ]
    assert found == [witness]


WITHIN = {"after": "x > 1", "steps": 2, "require": "x > 2"}
FIELDS = {"fields": {"most": {"type": "int", "start": "x"}}}


@pytest.mark.parametrize(
    ("document", "code", "message"),
    [
        ({}, "E_SPEC_VALUE", "exactly one of `require`, `within`, `at_most`, `mean`"),
        ({"require": "true", "within": WITHIN}, "E_SPEC_VALUE", "exactly one of"),
        ({"within": WITHIN, "memory": FIELDS}, "E_SPEC_VALUE", "a memory of its own"),
        ({"within": WITHIN, "scope": "episode"}, "E_SPEC_VALUE", "after every step"),
        ({"within": {**WITHIN, "steps": 10**9}}, "E_SPEC_VALUE", "1000000"),
        ({"within": {**WITHIN, "after": "y"}}, "E_EXPR_TYPE", "bool"),
        ({"mean": {"of": "x", "min": "1"}}, "E_SPEC_VALUE", "`scope: episode`"),
        ({"mean": {"of": "x"}, "scope": "episode"}, "E_SPEC_VALUE", "a `min`, a `max` or both"),
        ({"mean": {"of": "1.5", "min": "1"}, "scope": "episode"}, "E_EXPR_NO_PROMOTION", "int"),
        ({"at_most": {"count": "x > 1", "times": -1}}, "E_SPEC_VALUE", "0"),
        ({"require": "true", "memory": FIELDS, "scope": "proposal"}, "E_SPEC_VALUE", "remembers nothing"),
        ({"require": "true", "after_fatal": "skipped"}, "E_SPEC_VALUE", "`scope: episode`"),
        (
            {"require": "true", "remember": [{"id": "w", "effect": {"set": "most", "to": "x"}}]},
            "E_EFFECT_TARGET",
            "most",
        ),
        (
            {
                "require": "true",
                "memory": FIELDS,
                "remember": [{"id": "w", "effect": {"set": "most", "to": "x", "when": "x > 1"}}],
            },
            "E_MEMORY",
            "move this condition",
        ),
        ({"require": "most > 0", "memory": {"fields": {"x": {"type": "int", "start": "0"}}}}, "E_NAME_TAKEN", "x"),
    ],
)
def test_a_memory_that_means_nothing_is_refused_at_its_place(make, document, code, message):
    found = [one for one in findings_of(make, {"odd": document}, code=code) if one.code == code]
    assert message in f"{found[0].message} {found[0].hint} {found[0].expected}"
    assert found[0].span is not None
