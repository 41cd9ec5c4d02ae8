"""Focus variables on states that a random walk reaches: an edit does what it says or is none, a normal form is one."""

from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specledger.compile.plan import Plan
from specledger.compile.scenario import compile_scenario
from specledger.core.binding import state_digest
from specledger.core.diagnostics import Diagnostics
from specledger.core.digest import hash_json
from specledger.expr import conforms
from specledger.gates.documents import shipped_schemas
from specledger.kinds import load
from specledger.worlds.check import check_world
from specledger.worlds.model import World
from specledger.worlds.variables import Variables
from tests.conftest import examples

State = dict[str, Any]

SCENARIOS = ("basic", "hazard", "resource", "social", "tools")
LISTED = ("agents", "objects", "hazards", "tools")

small = st.integers(-1, 13)
spots = st.fixed_dictionaries({"x": small, "y": small})
ids = st.sampled_from(["self", "ann", "bob", "coin", "gem", "food", "new", "", "x" * 81])
anything = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    ids,
    spots,
    st.lists(ids, max_size=3),
    st.lists(spots, max_size=3),
    st.lists(st.builds(lambda id_, p: {"id": id_, **p}, ids, spots), max_size=3),
    st.lists(st.builds(lambda id_, p: {"id": id_, "kind": id_, **p, "props": {}}, ids, spots), max_size=3),
    st.lists(
        st.builds(lambda id_, p, n: {"id": id_, "kind": "lava", **p, "severity": n}, ids, spots, small), max_size=3
    ),
    st.lists(st.fixed_dictionaries({"id": ids, "kind": ids, "charges": small}), max_size=3),
)


@cache
def made(name: str) -> tuple[Plan, World, Variables]:
    bundle = load(f"specs/scenario/toy-{name}.yaml")[0]
    world = check_world(bundle.specs[bundle.main.refs["world",]], bundle, Diagnostics())
    assert world is not None
    return compile_scenario(bundle), world, Variables(world)


@st.composite
def places(draw: st.DrawFn) -> tuple[str, State]:
    """A scenario and a state that a walk of proposals reaches in it."""
    name = draw(st.sampled_from(SCENARIOS))
    plan, _, _ = made(name)
    state = plan.start(draw(st.integers(0, 40)))
    for pick in draw(st.lists(st.integers(0, 9), max_size=8)):
        proposals = plan.actors[0].propose(plan.actors[0].observe(state), {})
        action = proposals[pick % len(proposals)]["action"]
        state, _ = plan.actors[0].step(state, action["op"], action, {})
    return name, state


def same_kind(draw: st.DrawFn, value: Any) -> Any:
    """A value of the shape of another one, near it."""
    if isinstance(value, bool):
        return draw(st.booleans())
    if isinstance(value, int):
        return value + draw(st.integers(-4, 4))
    if isinstance(value, dict):
        return {key: same_kind(draw, inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [same_kind(draw, inner) for inner in draw(st.permutations(value))][draw(st.integers(0, 1)) :]
    return value if draw(st.booleans()) else draw(ids)


@pytest.mark.medium
@settings(max_examples=examples(150), deadline=None)
@given(places(), st.data())
def test_an_edit_does_what_is_wanted_or_is_none(place: tuple[str, State], data: st.DataObject) -> None:
    name, state = place
    _, world, variables = made(name)
    digest = state_digest(state)
    focus = data.draw(st.sampled_from(variables.names(state)))
    now = variables.read(state, focus)
    near = st.composite(lambda draw: same_kind(draw, now))()
    value = data.draw(st.one_of(near, st.sampled_from([now, *variables.alternatives(state, focus)]), anything))
    found = variables.mutate(state, focus, value)
    assert state_digest(state) == digest
    if found is None:
        assert value != now or type(value) is not type(now)
        return
    after, edit = found
    assert variables.read(after, focus) == edit["value"]
    assert conforms(after, world.state)
    assert shipped_schemas("axion").check("toy_env")(
        {field: after[field] for field in after if field not in ("carried", "thefts")}
    )
    assert {field for field in state if state[field] != after[field]} == edit["changed"].keys()
    assert all(state[field] == change["from"] for field, change in edit["changed"].items())
    assert after == {**state, **{field: change["to"] for field, change in edit["changed"].items()}}
    assert variables.mutate(state, focus, value) == found
    hash_json(edit)
    back = variables.mutate(after, focus, now)
    if back is not None:
        assert variables.normalize(back[0], [focus]).get("focus") == variables.normalize(state, [focus]).get("focus")


@pytest.mark.medium
@settings(max_examples=examples(60), deadline=None)
@given(places(), st.data())
def test_a_normal_form_does_not_know_the_order_of_lists_and_names(
    place: tuple[str, State], data: st.DataObject
) -> None:
    name, state = place
    variables = made(name)[2]
    names = variables.names(state)
    focus = data.draw(st.lists(st.sampled_from(names)))
    shuffled = {
        **state,
        **{key: data.draw(st.permutations(state[key])) for key in LISTED},
        "grid": {**state["grid"], "walls": data.draw(st.permutations(state["grid"]["walls"]))},
    }
    assert variables.names(shuffled) == names
    seen = variables.normalize(state, focus)
    assert variables.normalize(shuffled, data.draw(st.permutations(focus)) + focus[:1]) == seen
    assert {**seen["focus"], **seen["derived"]} == {each: variables.read(state, each) for each in focus}


@pytest.mark.medium
@settings(max_examples=examples(60), deadline=None)
@given(places(), st.data())
def test_a_normal_form_tells_what_changed_from_what_did_not(place: tuple[str, State], data: st.DataObject) -> None:
    name, state = place
    variables = made(name)[2]
    focus = data.draw(st.sampled_from(variables.names(state)))
    for value in variables.alternatives(state, focus):
        found = variables.mutate(state, focus, value)
        if found is not None:
            assert variables.normalize(found[0], [focus]) != variables.normalize(state, [focus])
