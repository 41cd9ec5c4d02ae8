"""Effects: every kind against plain Python, all at once, never in place; and targets that are not there."""

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specledger.expr import EvaluationError
from tests.conftest import examples
from tests.toys import compile_specs, documents_of, findings_of

ITEM = {"type": "object", "properties": {"id": "int", "tag": "string"}}
WORLD: dict[str, Any] = {
    "state": {
        "x": "int",
        "y": "int",
        "small": {"type": "integer", "minimum": 0, "maximum": 9},
        "numbers": {"type": "array", "items": "int"},
        "few": {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 9}, "maxItems": 3},
        "items": {"type": "array", "items": ITEM},
        "counts": {"type": "object", "additionalProperties": "int"},
        "home": {"type": "object", "properties": {"at": "cell", "open": "bool"}},
        "away": {"type": "object", "properties": {"at": "cell", "open": "bool"}},
        "maybe": {"type": "object", "properties": {"a": ITEM, "b": "int"}, "required": ["b"]},
    },
    "start": {
        "x": "1",
        "y": "2",
        "small": "5",
        "numbers": "[3, 1, 2]",
        "few": "[1, 2]",
        "items": "[{'id': 1, 'tag': 'a'}, {'id': 2, 'tag': 'b'}, {'id': 3, 'tag': 'a'}]",
        "counts": "{'a': 1}",
        "home": "{'at': {'x': 0, 'y': 0}, 'open': true}",
        "away": "{'at': {'x': 9, 'y': 9}, 'open': false}",
        "maybe": "{'b': 1}",
    },
    "actions": {"go": {"args": {"n": "int"}}},
    "observe": {"x": "x"},
}
AGENT = {"candidates": [{"op": "go", "for_each": {"n": "[0]"}}], "score": "0"}


def compiled(folder, effects, **action):
    actions = {"go": {"args": {"n": "int"}, "effects": effects, **action}}
    return compile_specs(folder, documents_of({**WORLD, "actions": actions}, AGENT))


@pytest.fixture
def act(tmp_path):
    """`effects -> what changes` from the start state, having made sure that the start state itself stays as it was."""

    def change(effects, n=0, **action):
        plan = compiled(tmp_path, effects, **action)
        before = plan.start(0)
        kept = copy.deepcopy(before)
        after, _ = plan.actors[0].step(before, "go", {"n": n}, {})
        assert before == kept
        return {name: value for name, value in after.items() if value != before[name]}

    return change


ITEMS = [{"id": 1, "tag": "a"}, {"id": 2, "tag": "b"}, {"id": 3, "tag": "a"}]
KINDS: dict[str, Any] = {
    "set": ([{"set": "x", "to": "x + 10"}], {"x": 11}),
    "set below": ([{"set": "home.at.x", "to": "7"}], {"home": {"at": {"x": 7, "y": 0}, "open": True}}),
    "set two below": (
        [{"set": "home.at.x", "to": "7"}, {"set": "home.at.y", "to": "home.at.x + 1"}, {"set": "home.open", "to": "false"}],
        {"home": {"at": {"x": 7, "y": 1}, "open": False}},
    ),
    "set below what was set": (
        [{"set": "home.at.y", "to": "1"}, {"set": "home", "to": "away"}, {"set": "home.at.x", "to": "7"}],
        {"home": {"at": {"x": 7, "y": 9}, "open": False}},
    ),
    "set below what was set below": (
        [{"set": "home.at.y", "to": "1"}, {"set": "home.at", "to": "away.at"}, {"set": "home.at.x", "to": "7"}],
        {"home": {"at": {"x": 7, "y": 9}, "open": True}},
    ),
    "append": ([{"append": "numbers", "value": "x"}, {"append": "numbers", "value": "y"}], {"numbers": [3, 1, 2, 1, 2]}),
    "remove": ([{"remove": "numbers", "as": "n_", "where": "n_ > y - 1"}], {"numbers": [1]}),
    "remove records": ([{"remove": "items", "as": "i", "where": "i.tag == 'a' && i.id > x"}], {"items": ITEMS[:2]}),
    "each": (
        [{"each": "items", "as": "i", "where": "i.id >= 2", "update": {"tag": "i.tag + 'x'", "id": "i.id * 10"}}],
        {"items": [ITEMS[0], {"id": 20, "tag": "bx"}, {"id": 30, "tag": "ax"}]},
    ),
    "each of all": (
        [{"each": "items", "as": "i", "update": {"id": "x"}}],
        {"items": [{"id": 1, "tag": "a"}, {"id": 1, "tag": "b"}, {"id": 1, "tag": "a"}]},
    ),
    "put a new entry": ([{"put": "counts", "key": "'b'", "value": "y"}], {"counts": {"a": 1, "b": 2}}),
    "put over an entry": ([{"put": "counts", "key": "'a'", "value": "counts['a'] + 1"}], {"counts": {"a": 2}}),
    "set an optional field": ([{"set": "maybe.a", "to": "{'id': 5, 'tag': 't'}"}], {"maybe": {"a": {"id": 5, "tag": "t"}, "b": 1}}),
    "nothing": ([], {}),
}  # fmt: skip


@pytest.mark.parametrize("name", KINDS)
def test_each_kind_of_effect_and_where_its_condition_holds(act, name):
    effects, change = KINDS[name]
    guarded = [{**effect, "when": "n == 1"} for effect in effects]
    assert act(effects) == change
    assert act(guarded) == {}
    assert act(guarded, n=1) == change


def test_the_right_side_of_an_effect_that_does_not_happen_is_not_computed(act):
    assert (
        act(
            [
                {"set": "x", "to": "1 / n", "when": "n != 0"},
                {"put": "counts", "key": "string(1 / n)", "value": "1", "when": "n != 0"},
            ]
        )
        == {}
    )


def test_what_happens_otherwise(act):
    action = {"when": "n > 0", "otherwise": [{"set": "y", "to": "x"}]}
    assert act([{"set": "x", "to": "9"}], **action) == {"y": 1}
    assert act([{"set": "x", "to": "9"}], n=1, **action) == {"x": 9}
    assert act([], n=1, **action) == {}


# --- never in place, for any list of effects

RIGHT = {
    "x": ["y", "n", "home.at.x"],
    "y": ["x + 1", "away.at.y"],
    "home": ["away", "home"],
    "away": ["home", "away"],
    "home.at": ["away.at", "home.at"],
    "away.at": ["home.at", "{'x': x, 'y': y}"],
    "home.at.x": ["x", "n + 1"],
    "away.at.y": ["y", "home.at.x"],
    "home.open": ["!home.open", "away.open"],
    "numbers": ["numbers", "[x, y]"],
    "items": ["items", "[items[0]]"],
    "counts": ["counts", "{'q': x}"],
}  # fmt: skip
SETS = st.sampled_from(list(RIGHT)).flatmap(lambda t: st.sampled_from(RIGHT[t]).map(lambda to: {"set": t, "to": to}))
OTHERS = st.sampled_from(
    [
        {"append": "numbers", "value": "x"},
        {"remove": "numbers", "as": "m", "where": "m > y"},
        {"append": "items", "value": "items[0]"},
        {"each": "items", "as": "i", "where": "i.id > x", "update": {"tag": "i.tag + i.tag"}},
        {"remove": "items", "as": "i", "where": "i.id == y"},
        {"put": "counts", "key": "string(x)", "value": "y"},
    ]
)
GUARDS = st.sampled_from([{}, {"when": "n > 0"}, {"when": "x < y"}])
EFFECTS = st.lists(st.builds(lambda effect, guard: effect | guard, SETS | OTHERS, GUARDS), max_size=6)


def read(expression, state, n):
    """The handful of right sides above, in Python."""
    names = {"home": state["home"], "away": state["away"], "numbers": state["numbers"], "items": state["items"]}
    at_home, at_away = state["home"]["at"], state["away"]["at"]
    table = {
        "x": state["x"], "y": state["y"], "n": n, "n + 1": n + 1, "x + 1": state["x"] + 1, "home.at.x": at_home["x"],
        "away.at.y": at_away["y"], "home.at": at_home, "away.at": at_away, "{'x': x, 'y': y}": {"x": state["x"], "y": state["y"]},
        "!home.open": not state["home"]["open"], "away.open": state["away"]["open"], "[x, y]": [state["x"], state["y"]],
        "[items[0]]": state["items"][:1], "counts": state["counts"], "{'q': x}": {"q": state["x"]}, **names,
    }  # fmt: skip
    return copy.deepcopy(table[expression])


def expected(effects, state, n):
    """The effects one after the other, each reading the state before all of them."""
    after = copy.deepcopy(state)
    for effect in effects:
        if not {None: True, "n > 0": n > 0, "x < y": state["x"] < state["y"]}[effect.get("when")]:
            continue
        if "set" in effect:
            *parents, last = effect["set"].split(".")
            place = after
            for name in parents:
                place = place[name]
            place[last] = read(effect["to"], state, n)
        elif effect.get("append") == "numbers":
            after["numbers"].append(state["x"])
        elif effect.get("remove") == "numbers":
            after["numbers"] = [m for m in after["numbers"] if not m > state["y"]]
        elif effect.get("append") == "items":
            after["items"].append(copy.deepcopy(state["items"][0]))
        elif "each" in effect:
            for item in after["items"]:
                item["tag"] *= 2 if item["id"] > state["x"] else 1
        elif effect.get("remove") == "items":
            after["items"] = [item for item in after["items"] if item["id"] != state["y"]]
        else:
            after["counts"][str(state["x"])] = state["y"]
    return after


@pytest.mark.medium
@settings(max_examples=examples(80))
@given(effects=EFFECTS, n=st.integers(-1, 1), x=st.integers(0, 3), y=st.integers(0, 3))
def test_any_list_of_effects_reads_the_old_state_and_never_changes_it(tmp_path_factory, effects, n, x, y):
    plan = compiled(tmp_path_factory.getbasetemp(), effects)
    state = {**plan.start(0), "x": x, "y": y}
    kept = copy.deepcopy(state)
    after, _ = plan.actors[0].step(state, "go", {"n": n}, {})
    assert after == expected(effects, kept, n)
    assert state == kept
    again, _ = plan.actors[0].step(state, "go", {"n": n}, {})
    assert again == after


# --- declared ranges

MISFITS: dict[str, Any] = {
    "above": ([{"set": "small", "to": "small + n"}], 5, "small would be 10, outside 0..9"),
    "below": ([{"set": "small", "to": "small - n"}], 6, "small would be -1, outside 0..9"),
    "an item": ([{"set": "few", "to": "[n]"}], 10, "list"),
    "an appended item": ([{"append": "few", "value": "n"}], 10, "an item of few would be 10, outside 0..9"),
    "a list that is full": (
        [{"append": "few", "value": "1"}, {"append": "few", "value": "2", "when": "n > 0"}],
        1,
        "list",
    ),
}


@pytest.mark.parametrize("name", MISFITS)
def test_a_value_outside_its_declared_range_is_an_error(tmp_path, name):
    effects, wrong, words = MISFITS[name]
    plan = compiled(tmp_path, effects)
    state = plan.start(0)
    plan.actors[0].step(state, "go", {"n": 0}, {})
    with pytest.raises(EvaluationError) as error:
        plan.actors[0].step(state, "go", {"n": wrong}, {})
    assert error.value.code == "E_EVAL_STATE"
    assert words in error.value.message
    assert "world.yaml" in str(error.value.span)


def test_a_range_is_enforced_in_updates_of_elements_and_in_every_step(tmp_path):
    items = {
        "type": "array",
        "items": {"type": "object", "properties": {"v": {"type": "integer", "minimum": 0, "maximum": 3}}},
    }
    world = copy.deepcopy(WORLD)
    world["state"] = {"x": "int", "list": items}
    world["start"] = {"x": "0", "list": "[{'v': 1}, {'v': 2}]"}
    world["actions"] = {"go": {"args": {"n": "int"}}}
    world["every_step"] = [
        {"set": "x", "to": "x + 1"},
        {"each": "list", "as": "e", "update": {"v": "e.v + now.x"}},  # `now` is the state before both
    ]
    plan = compile_specs(tmp_path, documents_of(world, AGENT))
    state, _ = plan.actors[0].step({"x": 1, "list": [{"v": 1}, {"v": 2}]}, "go", {"n": 0}, {})
    assert state == {"x": 2, "list": [{"v": 2}, {"v": 3}]}
    with pytest.raises(EvaluationError) as error:
        plan.actors[0].step(state, "go", {"n": 0}, {})
    assert error.value.code == "E_EVAL_STATE"


# --- what an effect may not say

REFUSED: dict[str, Any] = {
    "an unknown field": ([{"set": "smal", "to": "1"}], "E_EFFECT_TARGET", "'smal'", "did you mean 'small'?"),
    "an unknown field below": ([{"set": "home.opne", "to": "true"}], "E_EFFECT_TARGET", "'home.opne'", "did you mean 'open'?"),
    "below what is no record": ([{"set": "x.y", "to": "1"}], "E_EFFECT_TARGET", "'x.y'", None),
    "append to a number": ([{"append": "x", "value": "1"}], "E_EFFECT_TARGET", "needs a list", None),
    "remove from a map": ([{"remove": "counts", "as": "c", "where": "true"}], "E_EFFECT_TARGET", "needs a list", None),
    "put into a list": ([{"put": "numbers", "key": "'a'", "value": "1"}], "E_EFFECT_TARGET", "needs a map", None),
    "update of what is no record": ([{"each": "numbers", "as": "m", "update": {"v": "1"}}], "E_EFFECT_TARGET", "have none", None),
    "update of an unknown field": ([{"each": "items", "as": "i", "update": {"tga": "'z'"}}], "E_EFFECT_TARGET", "'tga'", "did you mean 'tag'?"),
    "below what may be missing": ([{"set": "maybe.a.id", "to": "1"}], "E_EFFECT_TARGET", "'a' may be missing", None),
    "another type": ([{"set": "x", "to": "'one'"}], "E_EXPR_TYPE", "", None),
    "an item of another type": ([{"append": "numbers", "value": "true"}], "E_EXPR_TYPE", "", None),
    "a key that is no string": ([{"put": "counts", "key": "1", "value": "1"}], "E_EXPR_TYPE", "", None),
    "a condition that is none": ([{"set": "x", "to": "1", "when": "x"}], "E_EXPR_TYPE", "", None),
    "an incomplete record": ([{"set": "home", "to": "{'open': true}"}], "E_EXPR_TYPE", "", None),
    "a range that no constant can fit": ([{"set": "small", "to": "'9'"}], "E_EXPR_TYPE", "", None),
    "an element with the name of a field": ([{"remove": "items", "as": "x", "where": "true"}], "E_NAME_TAKEN", "", None),
    "an element with the name of an argument": ([{"remove": "items", "as": "n", "where": "true"}], "E_NAME_TAKEN", "", None),
    "an unknown name": ([{"set": "x", "to": "z"}], "E_EXPR_UNKNOWN_NAME", "", None),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_an_effect_that_means_nothing(tmp_path, name):
    effects, code, words, hint = REFUSED[name]
    found = findings_of(compiled, tmp_path, effects, code=code, words=words, file="world.yaml")
    assert hint is None or [one.hint for one in found] == [hint]
