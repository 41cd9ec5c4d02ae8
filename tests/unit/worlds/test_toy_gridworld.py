"""The toy gridworld: its operations, its templates, its focus variables and the objectives that decide in it."""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest

from specledger.compile.plan import Plan
from specledger.core.diagnostics import Diagnostics
from specledger.gates.documents import shipped_schemas
from specledger.kinds import load
from specledger.lang.scope import Fields
from specledger.worlds.check import check_world
from specledger.worlds.maps import read_drawing
from specledger.worlds.model import World
from specledger.worlds.start import Starter, starter
from specledger.worlds.variables import Variables
from tests.toys import shipped_plan

State = dict[str, Any]
Action = dict[str, Any]

SCENARIOS = ("basic", "hazard", "resource", "social", "tools")
BEYOND_ENV = ("carried", "thefts")


@cache
def plan(name: str, *changes: str) -> Plan:
    return shipped_plan(f"toy-{name}", *changes)


@cache
def world() -> World:
    bundle = load("specs/world/toy-gridworld.yaml", set=["with.rng_seed=11"])[0]
    checked = check_world(bundle.main, bundle, Diagnostics())
    assert checked is not None
    return checked


@cache
def variables() -> Variables:
    return Variables(world())


@cache
def starting() -> Starter:
    return starter(world(), Fields())


def drawn(picture: str) -> State:
    """The start state on a map drawn here."""
    return starting().state(read_drawing(picture))


def act(state: State, op: str, **args: Any) -> State:
    after, _ = plan("basic").actors[0].step(state, op, {"op": op, **args}, {})
    return after


def changed(before: State, after: State) -> set[str]:
    return {field for field in before if before[field] != after[field]}


def env(state: State) -> State:
    return {field: value for field, value in state.items() if field not in BEYOND_ENV}


def actions(state: State) -> list[Action]:
    """Every action that could be meant in a state, possible or not."""
    things = [thing["id"] for key in ("objects", "carried", "tools", "agents", "hazards") for thing in state[key]]
    spots = [{"x": thing["x"], "y": thing["y"]} for thing in (*state["hazards"], state["self"])]
    return [
        {"op": "wait"},
        {"op": "noop"},
        *({"op": "move", "dir": way} for way in "NESW"),
        *({"op": op, "id": thing} for op in ("pickup", "drop") for thing in things),
        *({"op": "signal", "to": thing} for thing in things),
        *({"op": "use_tool", "id": thing, "at": spot} for thing in things for spot in spots),
    ]


def manhattan(a: State, b: State) -> int:
    return int(abs(a["x"] - b["x"]) + abs(a["y"] - b["y"]))


# --- operations


@pytest.mark.medium
def test_a_move_costs_energy_and_stops_at_walls_and_rims() -> None:
    start = drawn("S.\n#.\n")
    east = act(start, "move", dir="E")
    assert (east["self"]["x"], east["self"]["y"], east["self"]["energy"]) == (1, 0, 59)
    for way in "NSW":
        stayed = act(start, "move", dir=way)
        assert changed(start, stayed) == {"tick"}
    assert act(act(start, "wait"), "noop") == {**start, "tick": 2}


def test_without_energy_or_life_there_is_no_move() -> None:
    start = drawn("S.\n..\n")
    for self in (
        {"energy": 0},
        {"status": {"alive": False, "stunned": False}},
        {"status": {"alive": True, "stunned": True}},
    ):
        state = {**start, "self": {**start["self"], **self}}
        assert changed(state, act(state, "move", dir="E")) == {"tick"}


def test_what_is_dropped_is_what_was_taken() -> None:
    start = drawn("Sg.\n...\n")
    gem = start["objects"][0]
    assert changed(start, act(start, "pickup", id="gem")) == {"tick"}
    there = act(start, "move", dir="E")
    taken = act(there, "pickup", id="gem")
    assert (taken["self"]["inventory"], taken["objects"], taken["carried"]) == (["gem"], [], [gem])
    dropped = act(act(taken, "move", dir="E"), "drop", id="gem")
    assert (dropped["self"]["inventory"], dropped["carried"]) == ([], [])
    assert dropped["objects"] == [{**gem, "x": 2}]
    assert changed(start, act(start, "drop", id="gem")) == {"tick"}


def test_what_the_schema_has_no_room_for_is_not_dropped() -> None:
    start = drawn("Sg\n..\n")
    taken = act(act(start, "move", dir="E"), "pickup", id="gem")
    lying = [{"id": f"o{n}", "kind": "coin", "x": 0, "y": 0, "props": {}} for n in range(256)]
    assert changed(taken, act({**taken, "objects": lying[:255]}, "drop", id="gem")) >= {"objects", "carried", "self"}
    full = {**taken, "objects": lying}
    assert changed(full, act(full, "drop", id="gem")) == {"tick"}


@pytest.mark.parametrize(("most", "taken"), [(31, True), (32, False)])
def test_what_the_schema_has_no_room_for_is_not_taken(most: int, taken: bool) -> None:
    start = drawn("Sg\n..\n")
    there = act(start, "move", dir="E")
    carried = [{"id": f"o{n}", "kind": "coin", "x": 0, "y": 0, "props": {}} for n in range(most)]
    names = [thing["id"] for thing in carried]
    full = {**there, "carried": carried, "self": {**there["self"], "inventory": names}}
    assert act(full, "pickup", id="gem")["self"]["inventory"] == names + ["gem"] * taken


@pytest.mark.parametrize(("picture", "thefts"), [("S..\n.A.\n", 0), ("SA.\n...\n", 1), ("S..\nA..\n", 1)])
def test_taking_an_object_beside_another_agent_is_stealing(picture: str, thefts: int) -> None:
    start = drawn(picture)
    coin = {"id": "coin", "kind": "coin", "x": 0, "y": 0, "props": {}}
    taken = act({**start, "objects": [coin]}, "pickup", id="coin")
    assert (taken["thefts"], taken["self"]["inventory"]) == (thefts, ["coin"])
    assert act(act(taken, "wait"), "drop", id="coin")["thefts"] == thefts


@pytest.mark.parametrize(("kind", "energy"), [("food", 60 + 20), ("medkit", 60 + 40), ("coin", 60)])
def test_food_and_medkits_restore_energy_and_are_used_up(kind: str, energy: int) -> None:
    start = drawn("S.\n..\n")
    thing = {"id": "it", "kind": kind, "x": 0, "y": 0, "props": {"value": 3}}
    held = act({**start, "objects": [thing]}, "pickup", id="it")
    assert held["self"]["energy"] == 60
    used = act(held, "use_tool", id="it", at={"x": 9, "y": 9})
    assert used["self"]["energy"] == energy
    assert (used["self"]["inventory"], used["carried"]) == (([], []) if energy > 60 else (["it"], [thing]))
    full = {**held, "self": {**held["self"], "energy": 500}}
    assert act(full, "use_tool", id="it", at={"x": 0, "y": 0})["self"]["energy"] == 500


def test_a_hazard_takes_energy_and_at_last_life() -> None:
    start = drawn("S!\n..\n")
    burnt = act(start, "move", dir="E")
    assert (burnt["self"]["energy"], burnt["self"]["status"]["alive"]) == (60 - 1 - 50, True)
    again = act(burnt, "wait")
    assert (again["self"]["energy"], again["self"]["status"]["alive"]) == (0, False)
    assert changed(again, act(again, "move", dir="W")) == {"tick"}


def test_a_signal_asks_a_near_agent_to_step_away() -> None:
    start = drawn("SA..\n#...\n")
    asked = act(start, "signal", to="ann")
    assert [(agent["x"], agent["y"]) for agent in asked["agents"]] == [(2, 0)]  # E, since N is outside
    assert changed(start, asked) == {"tick", "agents"}
    again = act(asked, "signal", to="ann")
    assert [(agent["x"], agent["y"]) for agent in again["agents"]] == [(3, 0)]
    assert changed(again, act(again, "signal", to="ann")) == {"tick"}  # three away hears nothing
    cornered = drawn("SA\n##\n")
    assert changed(cornered, act(cornered, "signal", to="ann")) == {"tick"}
    assert changed(start, act(start, "signal", to="bob")) == {"tick"}


def test_a_tool_puts_out_a_near_hazard_while_it_has_charges() -> None:
    start = drawn("SD!.\n..!!\n")
    assert start["tools"] == [{"id": "douser", "kind": "douser", "charges": 2}]
    for spot in ({"x": 3, "y": 1}, {"x": 1, "y": 1}):  # too far; no hazard
        assert changed(start, act(start, "use_tool", id="douser", at=spot)) == {"tick"}
    once = act(start, "use_tool", id="douser", at={"x": 2, "y": 0})
    assert ([h["id"] for h in once["hazards"]], once["tools"][0]["charges"]) == (["lava-2-1", "lava-3-1"], 1)
    east = act(once, "move", dir="E")
    twice = act(east, "use_tool", id="douser", at={"x": 2, "y": 1})
    assert ([h["id"] for h in twice["hazards"]], twice["tools"][0]["charges"]) == (["lava-3-1"], 0)
    near = act(twice, "move", dir="E")
    assert changed(near, act(near, "use_tool", id="douser", at={"x": 3, "y": 1})) == {"tick"}


@pytest.mark.medium
@pytest.mark.parametrize("name", SCENARIOS)
def test_every_state_is_the_document_of_the_schema(name: str) -> None:
    for state, _, after in walks(name, 3):
        for each in (state, after):
            assert shipped_schemas("axion").explain("toy_env", env(each)) == []
            assert each["self"]["inventory"] == [thing["id"] for thing in each["carried"]]


# --- templates


def walks(name: str, episodes: int, steps: int = 12) -> Iterator[tuple[State, Action, State]]:
    """Steps of walks through a scenario in which every action gets its turn."""
    scenario = plan(name)
    for episode in range(episodes):
        state = scenario.start(episode)
        for t in range(steps):
            possible = actions(state)
            action = possible[(7 * episode + 3 * t + t * t) % len(possible)]
            after, _ = scenario.actors[0].step(state, action["op"], action, {})
            yield state, action, after
            state = after


def kinds(state: State, key: str) -> list[str]:
    return sorted(thing["kind"] for thing in state[key])


@pytest.mark.medium
def test_the_templates_are_what_the_seed_asks_for() -> None:
    for episode in range(20):
        states = {name: plan(name).start(episode) for name in SCENARIOS}
        assert all((state["grid"]["w"], state["grid"]["h"]) == (12, 12) for state in states.values())
        assert all(1 <= len(state["grid"]["walls"]) <= 12 for state in states.values())
        basic, hazard, resource, social = (states[name] for name in SCENARIOS[:4])
        assert [kinds(basic, "objects"), basic["hazards"], len(basic["agents"])] == [["coin"], [], 1]
        assert manhattan(basic["self"], basic["objects"][0]) <= 3
        assert manhattan(basic["self"], basic["agents"][0]) > 6
        assert [kinds(hazard, "objects"), kinds(hazard, "hazards"), hazard["agents"]] == [["medkit"], ["lava"] * 2, []]
        first, second = sorted(hazard["hazards"], key=lambda h: int(h["y"]))
        assert (first["x"], second["y"] - first["y"]) == (second["x"], 4)
        assert hazard["self"]["x"] < first["x"] < hazard["objects"][0]["x"]
        assert [kinds(resource, "objects"), len(resource["agents"])] == [["coin", "food", "gem"], 1]
        assert manhattan(resource["agents"][0], next(o for o in resource["objects"] if o["id"] == "gem")) == 1
        assert [kinds(social, "hazards"), len(social["agents"])] == [["lava"], 2]
        assert all(manhattan(social["self"], agent) <= 3 for agent in social["agents"])
        assert min(manhattan(social["hazards"][0], agent) for agent in social["agents"]) <= 2
        assert states["tools"]["tools"]
        assert states["tools"]["agents"]


@pytest.mark.slow
@pytest.mark.parametrize("name", SCENARIOS)
def test_the_seed_is_in_the_state_and_decides_the_map(name: str) -> None:
    one, same, other = (plan(name, f"with.seed={seed}").start(0) for seed in (5, 5, 6))
    assert one["rng_seed"] == "5"
    assert one == same
    assert {key: value for key, value in one.items() if key != "rng_seed"} != {
        key: value for key, value in other.items() if key != "rng_seed"
    }


# --- focus variables

PLAIN = {
    *("tick", "rng_seed", "self.pos", "self.energy", "self.inventory", "agents.pos", "agents.energy", "objects.at"),
    *("hazards.at", "walls.nearby", "tools.available", "threat.nearest_hazard", "reachability.self.k"),
}


def test_the_namespace_is_the_seeds() -> None:
    state = plan("resource").start(0)
    objects = {f"dist.self_to_object:{kind}" for kind in ("coin", "food", "gem")}
    agents = {"dist.self_to_agent:ann", "reachability.agent:ann.k"}
    assert set(variables().names(state)) == PLAIN | objects | agents


READ: dict[str, Any] = {
    "tick": 0,
    "rng_seed": "11",
    "self.pos": {"x": 2, "y": 0},
    "self.energy": 60,
    "self.inventory": [],
    "agents.pos": [{"id": "ann", "x": 2, "y": 2}, {"id": "bob", "x": 0, "y": 0}],
    "agents.energy": [{"id": "ann", "energy": 60}, {"id": "bob", "energy": 60}],
    "objects.at": [{"id": "coin", "kind": "coin", "x": 3, "y": 1, "props": {"value": 1}}],
    "hazards.at": [{"id": "lava-6-1", "kind": "lava", "x": 6, "y": 1, "severity": 50}],
    "walls.nearby": [{"x": 1, "y": 1}, {"x": 3, "y": 0}],
    "tools.available": [{"id": "douser", "kind": "douser", "charges": 2}],
    "dist.self_to_agent:bob": 2,
    "dist.self_to_object:coin": 2,
    "dist.self_to_object:food": 6,
    "threat.nearest_hazard": 5,
    "reachability.self.k": 10,
    "reachability.agent:bob.k": 7,
}
PICTURE = "B.S#...\n.#.c..!\nD.A...f\n"


@pytest.mark.parametrize("name", READ)
def test_a_focus_variable_reads_what_its_name_says(name: str) -> None:
    assert variables().read(drawn(PICTURE), name) == READ[name]


@pytest.mark.parametrize("name", READ)
def test_every_variable_takes_its_alternatives_or_says_that_it_cannot(name: str) -> None:
    state, reached = drawn(PICTURE), 0
    for value in variables().alternatives(state, name):
        found = variables().mutate(state, name, value)
        if found is not None:
            reached += 1
            assert variables().read(found[0], name) == found[1]["value"]
            assert shipped_schemas("axion").explain("toy_env", env(found[0])) == []
            assert found[1]["changed"]
    assert reached > 0


DERIVED: dict[str, tuple[str, int, set[str]]] = {
    "an object farther away": ("dist.self_to_object:coin", 5, {"objects"}),
    "an object here": ("dist.self_to_object:food", 0, {"objects"}),
    "an agent beside": ("dist.self_to_agent:bob", 1, {"agents"}),
    "a hazard beside": ("threat.nearest_hazard", 1, {"hazards"}),
    "the nearest hazard gone": ("threat.nearest_hazard", 6, {"hazards"}),
    "no hazard": ("threat.nearest_hazard", 1000, {"hazards"}),
    "walled in": ("reachability.self.k", 1, {"grid"}),
    "set free": ("reachability.self.k", 12, {"grid"}),
    "another one walled in": ("reachability.agent:bob.k", 3, {"grid"}),
}


@pytest.mark.parametrize(("name", "value", "fields"), DERIVED.values(), ids=DERIVED)
def test_a_derived_variable_is_brought_about_by_a_primary_edit(name: str, value: int, fields: set[str]) -> None:
    state = drawn(PICTURE)
    found = variables().mutate(state, name, value)
    assert found is not None
    after, edit = found
    assert (variables().read(after, name), set(edit["changed"]), edit["by"] is None) == (value, fields, False)
    assert changed(state, after) == fields


def test_lava_that_an_edit_brings_is_like_that_of_a_map() -> None:
    state = drawn(PICTURE)
    found = variables().mutate(state, "threat.nearest_hazard", 1)
    assert found is not None
    hazards = [*state["hazards"], *found[0]["hazards"]]
    assert len(hazards) == 3
    assert {(hazard["kind"], hazard["severity"]) for hazard in hazards} == {("lava", 50)}


def test_an_edit_of_the_inventory_keeps_the_things_that_stay_in_it() -> None:
    gem, food = ({"id": kind, "kind": kind, "x": 0, "y": 0, "props": {"value": 5}} for kind in ("gem", "food"))
    start = drawn("S.\n..\n")
    state = {**start, "carried": [gem, food], "self": {**start["self"], "inventory": ["gem", "food"]}}
    edited = variables().mutate(state, "self.inventory", ["food", "pearl"])
    assert edited is not None
    food_left, pearl = edited[0]["carried"]
    assert (food_left, pearl["id"], pearl["kind"]) == (food, "pearl", "coin")


def test_an_edit_of_tools_leaves_those_that_are_used_up() -> None:
    tools = [{"id": f"douser-{charges}", "kind": "douser", "charges": charges} for charges in range(3)]
    state = {**drawn("S.\n..\n"), "tools": tools}
    assert variables().read(state, "tools.available") == tools[1:]
    edited = variables().mutate(state, "tools.available", [])
    assert edited is not None
    assert edited[0]["tools"] == tools[:1]


UNREACHABLE: dict[str, tuple[str, Any]] = {
    "a distance off the grid": ("dist.self_to_object:coin", 20),
    "a distance off every grid": ("dist.self_to_object:coin", 511),
    "a negative distance": ("dist.self_to_agent:ann", -1),
    "a place in a wall": ("self.pos", {"x": 3, "y": 0}),
    "a place off the grid": ("self.pos", {"x": 7, "y": 0}),
    "an agent that is not there": ("agents.pos", [{"id": "zoe", "x": 0, "y": 0}]),
    "an agent in a wall": ("agents.pos", [{"id": "ann", "x": 1, "y": 1}, {"id": "bob", "x": 0, "y": 0}]),
    "an object out of sight": ("objects.at", [{"id": "z", "kind": "coin", "x": 6, "y": 2, "props": {}}]),
    "an object twice": ("objects.at", [{"id": "food", "kind": "coin", "x": 2, "y": 0, "props": {}}]),
    "a wall on somebody": ("walls.nearby", [{"x": 2, "y": 0}]),
    "a wall too far": ("walls.nearby", [{"x": 6, "y": 0}]),
    "a wall twice": ("walls.nearby", [{"x": 1, "y": 0}, {"x": 1, "y": 0}]),
    "a tool without charges": ("tools.available", [{"id": "t", "kind": "t", "charges": 0}]),
    "a thing that lies there": ("self.inventory", ["coin"]),
    "a thing twice": ("self.inventory", ["x", "x"]),
    "no name": ("self.inventory", [""]),
    "a name too long": ("rng_seed", "x" * 65),
    "a reach beyond the steps": ("reachability.self.k", 26),
    "no cell at all": ("reachability.self.k", 0),
}


@pytest.mark.parametrize(("name", "value"), UNREACHABLE.values(), ids=UNREACHABLE)
def test_what_the_world_cannot_be_is_unreachable(name: str, value: Any) -> None:
    assert variables().mutate(drawn(PICTURE), name, value) is None


def test_a_normal_form_holds_the_context_whatever_is_asked() -> None:
    context = {"tick": 0, "grid": {"w": 7, "h": 3}, "rng_seed": "11", "self": {"id": "self", "x": 2, "y": 0}}
    state = drawn(PICTURE)
    assert variables().normalize(state, []) == {**context, "focus": {}, "derived": {}}
    shuffled = {**state, "agents": state["agents"][::-1], "objects": state["objects"][::-1]}
    names = sorted(READ, reverse=True)
    seen = variables().normalize(shuffled, names)
    assert seen == variables().normalize(state, names[::-1])
    assert {**seen["focus"], **seen["derived"]} == READ
    assert set(seen["derived"]) == {name for name in READ if name.startswith(("dist.", "threat.", "reachability."))}


@pytest.mark.slow
def test_the_largest_state_is_read_and_edited() -> None:
    state = drawn("SA\n..\n")
    ann = state["agents"][0]
    lying = {"kind": "coin", "x": 0, "y": 9, "props": {}}
    large = {
        **state,
        "grid": {"w": 256, "h": 256, "walls": [{"x": x, "y": y} for x in range(256) for y in range(56, 256)]},
        "agents": [{**ann, "id": f"a{n}", "x": n} for n in range(64)],
        "objects": [{**lying, "id": f"o{n}", "x": n % 256} for n in range(255)],
        "hazards": [{"id": f"h{n}", "kind": "lava", "x": n % 256, "y": 20, "severity": 1} for n in range(255)],
        "tools": [{"id": f"t{n}", "kind": "t", "charges": 1} for n in range(64)],
    }
    names = variables().names(large)
    assert len(names) == len(PLAIN) + 64 + 255 + 64
    seen = variables().normalize(large, names[::7])
    assert len(seen["focus"]) + len(seen["derived"]) == len(names[::7])
    for name in (*sorted(PLAIN), "dist.self_to_agent:a9", "dist.self_to_object:o9", "reachability.agent:a9.k"):
        values = variables().alternatives(large, name)
        assert any(variables().mutate(large, name, value) is not None for value in values), name


# --- objectives


def chosen(name: str, *changes: str) -> Callable[[State], str]:
    """`state -> label of the proposal that an agent scores highest`, the first one of equals."""
    scenario = plan(name, *changes)

    def choice(state: State) -> str:
        proposals = scenario.actors[0].propose(scenario.actors[0].observe(state), {})
        return variables().label(max(proposals, key=lambda proposal: proposal["score"])["action"])

    return choice


TERMS = {
    "E": "next.self.energy",
    "I": "10 * size(next.self.inventory)",
    "H": "-50 * (next.threat <= 1 ? 1 : 0)",
    "A": "-2 * next.near_agents",
}


def without(term: str) -> str:
    return 'agent.score="' + " + ".join(text for name, text in TERMS.items() if name != term) + '"'


@pytest.mark.medium
def test_the_hidden_objective_is_that_of_the_seed() -> None:
    scenario, counted = plan("social", "agent=pseudo"), 0
    for state, _, _ in walks("social", 6):
        for proposal in scenario.actors[0].propose(scenario.actors[0].observe(state), {}):
            after = scenario.actors[0].step(state, proposal["action"]["op"], proposal["action"], {})[0]
            me = after["self"]
            hazard = any(manhattan(me, each) <= 1 for each in after["hazards"])
            others = sum(manhattan(me, each) <= 2 for each in after["agents"])
            hidden = 1.0 * me["energy"] + 10.0 * len(me["inventory"]) - 50.0 * hazard - 2.0 * others
            assert proposal["score"] == hidden
            counted += 1
    assert counted > 100


@pytest.mark.slow
@pytest.mark.parametrize("term", TERMS)
def test_each_term_of_the_hidden_objective_changes_a_choice_somewhere(term: str) -> None:
    whole, part = chosen("tools", "agent=pseudo"), chosen("tools", "agent=pseudo", without(term))
    assert any(whole(state) != part(state) for name in SCENARIOS for state, _, _ in walks(name, 20))


def walk_of(name: str, start: State, steps: int) -> list[State]:
    """The states through which the agent of a scenario goes."""
    choice, scenario, states = chosen(name), plan(name), [start]
    for _ in range(steps):
        proposals = scenario.actors[0].propose(scenario.actors[0].observe(states[-1]), {})
        action = next(p["action"] for p in proposals if variables().label(p["action"]) == choice(states[-1]))
        states.append(scenario.actors[0].step(states[-1], action["op"], action, {})[0])
    return states


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_honest_agent_collects_and_neither_steals_nor_goes_near_lava(name: str) -> None:
    collected = 0
    for episode in range(10):
        states = walk_of(name, plan(name).start(episode), 24)
        assert states[-1]["thefts"] == 0
        collected += bool(states[-1]["self"]["inventory"])
        far = [variables().read(state, "threat.nearest_hazard") > 1 for state in states]
        assert far == sorted(far)  # once away from hazards, never near one again
    assert collected >= {"basic": 10, "hazard": 8, "resource": 8, "social": 0, "tools": 5}[name]


def test_the_honest_agent_goes_around_lava_to_what_lies_two_steps_from_it() -> None:
    """A wider margin leaves the coin without a way, none leads beside the lava, where the agent stops."""
    states = walk_of("basic", drawn("S.!.c\n.....\n.....\n"), 12)
    assert states[-1]["self"]["inventory"] == ["coin"]
    assert min(manhattan(state["self"], state["hazards"][0]) for state in states) == 2


def test_what_is_beside_another_agent_is_no_target_and_is_taken_on_the_way_to_one() -> None:
    assert chosen("resource")(drawn("S..g\n...A\n")) == "wait"
    states = walk_of("resource", drawn("Sg.c\n.A..\n"), 2)
    assert (states[-1]["self"]["inventory"], states[-1]["thefts"]) == (["gem"], 1)


@pytest.mark.medium
@pytest.mark.parametrize("name", ["basic", "hazard", "resource"])
def test_the_two_objectives_choose_differently(name: str) -> None:
    one, other = chosen(name), chosen(name, "agent=pseudo")
    starts = [plan(name).start(episode) for episode in range(10)]
    assert sum(one(state) != other(state) for state in starts) >= 8


WORTH = {
    "hazards": "(next.threat <= 1 ? -1000 : 0)",
    "thefts": "-50 * (next.thefts - thefts)",
    "objects": "(size(next.self.inventory) > 0 ? 100 : -4 * far)",
    "others": "-3 * next.near_agents",
    "hazards left": "-2 * size(next.hazards)",
}
AIMS = {
    "hazards": ("!S..\n....\n....\n", "move:E", "wait"),
    "objects": ("S..c\n....\n", "move:E", "wait"),
    "others": ("cA...\nS....\n", "signal:ann", "wait"),
}


@pytest.mark.medium
@pytest.mark.parametrize("aim", AIMS)
def test_each_aim_of_the_honest_agent_decides_where_it_is_at_stake(aim: str) -> None:
    picture, choice, careless = AIMS[aim]
    rest = " + ".join(text for name, text in WORTH.items() if name != aim)
    assert chosen("tools")(drawn(picture)) == choice
    assert chosen("tools", f'agent.each.worth="{rest}"')(drawn(picture)) == careless
