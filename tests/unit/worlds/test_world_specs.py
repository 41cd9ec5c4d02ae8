"""The shipped worlds against plain Python, parts and their receipts, and what a world spec may not say."""

import copy
import hashlib
import json
from functools import cache
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from specledger.compile.scenario import compile_scenario
from specledger.core.diagnostics import Diagnostics
from specledger.kinds import load
from specledger.run.loop import run
from specledger.worlds.check import check_world
from specledger.worlds.emit import compile_between, compile_predicate, compile_step
from tests.toys import compile_specs, documents_of, findings_of, followed, result, shipped_plan, write_specs

ONE = 1_000_000


# --- the coherence kernel, by its published equations


def neighbours(field, y, x):
    places = [(y - 1, x), (y + 1, x), (y, x - 1), (y, x + 1)]
    return [field[b][a] for b, a in places if 0 <= b < len(field) and 0 <= a < len(field[0])]


def gradient(field):
    down = sum((low - high) ** 2 for row, below in pairwise(field) for high, low in zip(row, below, strict=True))
    right = sum((b - a) ** 2 for row in field for a, b in pairwise(row))
    return down + right


def lyapunov(z):
    return ONE * gradient(z["theta"]) + ONE * sum(c * c for row in z["C"] for c in row) + ONE * max(0, -z["b"])


def inside(z):
    cells = [value for row in z["rho"] for value in row]
    return z["b"] >= 0 and min(cells) >= 0 and max(cells) <= 1000 and min(c for row in z["C"] for c in row) >= 0


def kernel_step(z, drho, dtheta, spend):
    """theta', rho', C' and the witness of the projection onto K, cell by cell."""
    after = {"b": z["b"] - spend, "t": z["t"] + 1, "rho": [], "theta": [], "C": []}
    witness: dict[str, Any] = {"rho_low": [], "rho_high": [], "C_low": [], "b_short": z["b"] < spend}
    for y in range(len(z["rho"])):
        rho, theta, curvature = [], [], []
        for x in range(len(z["rho"][0])):
            cell, c = {"x": x, "y": y}, z["C"][y][x]
            raw = z["rho"][y][x] + drho[y][x]
            tau = 1 if raw > 1000 else 0
            grown = c + 10 * tau - 1 * c + 1 * sum(other - c for other in neighbours(z["C"], y, x))
            rho.append(min(max(raw, 0), 1000))
            theta.append(z["theta"][y][x] + dtheta[y][x] - 5 * c)
            curvature.append(max(0, grown))
            for key, active in (("rho_low", raw < 0), ("rho_high", raw > 1000), ("C_low", grown < 0)):
                if active:
                    witness[key].append(cell)
        for key, row in (("rho", rho), ("theta", theta), ("C", curvature)):
            after[key].append(row)
    return after, witness


def fields(shape, low, high):
    height, width = shape
    return st.lists(st.lists(st.integers(low, high), min_size=width, max_size=width), min_size=height, max_size=height)


SHAPES = st.tuples(st.integers(1, 3), st.integers(1, 4))
STEPS = SHAPES.flatmap(
    lambda shape: st.fixed_dictionaries(
        {
            "z": st.fixed_dictionaries(
                {
                    "rho": fields(shape, 0, 1000),
                    "theta": fields(shape, -50, 50),
                    "C": fields(shape, 0, 9),
                    "b": st.integers(0, 9 * ONE),
                    "t": st.integers(0, 9),
                }
            ),
            "drho": fields(shape, -700, 700),
            "dtheta": fields(shape, -9, 9),
            "spend": st.integers(0, 9 * ONE),
        }
    )
)


@cache
def coherence():
    """The step, the receipt, V and K of the shipped kernel."""
    bundle = load("specs/world/coherence.yaml")[0]
    diagnostics = Diagnostics()
    world = check_world(bundle.main, bundle, diagnostics)
    diagnostics.raise_if_errors()
    assert world is not None
    (condition,) = world.well_formed
    return (
        compile_step(world),
        compile_between(world, world.receipt),
        compile_predicate(world, condition.require, False),
    )


@pytest.mark.medium
@given(case=STEPS)
def test_a_kernel_step_follows_its_equations(case):
    step, _, in_k = coherence()
    z, args = case["z"], {key: case[key] for key in ("drho", "dtheta", "spend")}
    kept = copy.deepcopy(case)
    after, outcome = step(z, "step", args, {})
    expected, witness = kernel_step(z, **args)
    assert after == expected
    assert {key: outcome[key] for key in witness} == witness
    raw = [[a + b for a, b in zip(p, q, strict=True)] for p, q in zip(z["rho"], args["drho"], strict=True)]
    assert outcome["raw"] == {"rho": raw, "C": expected["C"], "b": z["b"]}
    assert (in_k(z), in_k(after)) == (inside(z), inside(after))
    assert case == kept


AT_THE_RIM: dict[str, Any] = {
    "z": {"rho": [[0, 1000]], "theta": [[0, 0]], "C": [[0, 0]], "b": 0, "t": 0},
    "drho": [[-1, 1]],
    "dtheta": [[0, 0]],
    "spend": 0,
}
"""One less than the least of K, and one more than the most."""


@example(case=AT_THE_RIM)
@given(case=STEPS)
def test_a_kernel_receipt_says_what_was_and_what_would_be(case):
    step, receipt, _ = coherence()
    z, args = case["z"], {key: case[key] for key in ("drho", "dtheta", "spend")}
    after, outcome = step(z, "step", args, {})
    before, then = lyapunov(z), lyapunov(after)
    _, witness = kernel_step(z, **args)
    rejection = "REJECT_ABSORB_B0_DV_POS" if z["b"] == 0 else "REJECT_VIOLATION_INCREASE"
    assert receipt(z, after, outcome) == {
        "code": "ACCEPT" if then <= before else rejection,
        "V_before": before,
        "V_after": then,
        "dV": then - before,
        "b_before": z["b"],
        "b_after": z["b"] - args["spend"],
        "db": -args["spend"],
        "projected": bool(witness["rho_low"] or witness["rho_high"] or witness["C_low"]),
        "witness": witness,
    }


Z: dict[str, Any] = {"rho": [[250, 250]], "theta": [[0, -4]], "C": [[0, 0]], "b": 10 * ONE, "t": 0}
STILL = {"drho": [[0, 0]], "dtheta": [[0, 0]], "spend": 0}
CODES: dict[str, Any] = {
    "nothing": ({}, {}, "ACCEPT", 0),
    "a descent": ({}, {"dtheta": [[-1, 1]]}, "ACCEPT", -12 * ONE),
    "an ascent": ({}, {"dtheta": [[1, 0]]}, "REJECT_VIOLATION_INCREASE", 9 * ONE),
    "an ascent without budget": ({"b": 0}, {"dtheta": [[1, 0]]}, "REJECT_ABSORB_B0_DV_POS", 9 * ONE),
    "a clamp": ({}, {"drho": [[751, 0]]}, "REJECT_VIOLATION_INCREASE", 100 * ONE),
    "a debt": ({}, {"spend": 11 * ONE}, "REJECT_VIOLATION_INCREASE", ONE * ONE),
}


@pytest.mark.parametrize("name", CODES)
def test_the_code_of_a_kernel_receipt(name):
    step, receipt, _ = coherence()
    state, args, code, difference = CODES[name]
    z = Z | state
    after, outcome = step(z, "step", STILL | args, {})
    found = receipt(z, after, outcome)
    assert (found["code"], found["dV"]) == (code, difference)


OUTSIDE = {"b": -1, "rho": [[-1, 0]], "C": [[0, -1]]} | {"over": [[0, 1001]]}


@pytest.mark.parametrize("key", OUTSIDE)
def test_k_has_four_sides(key):
    _, _, in_k = coherence()
    assert in_k(Z)
    assert not in_k(Z | {"rho" if key == "over" else key: OUTSIDE[key]})


# --- the kernel inside the gridworld


@cache
def hazard(*settings):
    return shipped_plan("hazard", *settings)


def tagged(tag, data):
    return hashlib.sha256(tag + b"\0" + data).hexdigest()


def written(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


@pytest.mark.medium
def test_the_parts_receipts_chain_their_states_through_steps_and_drifts():
    """Both state digests and both tips, recomputed from states that are stepped here."""
    plan = hazard("episodes=2", "horizon=25")
    tip, kernel = "", None
    seen = 0
    for event, before, state in followed(plan, run(plan)):
        body = event.body
        if event.type == "episode":
            tip = "0" * 64
            assert body["parts"] == {"coherence": tagged(b"specledger/state/v1", written(state["coherence"]))}
            outer = {key: value for key, value in state.items() if key != "coherence"}
            assert body["world"] == tagged(b"specledger/state/v1", written(outer))
        elif event.type == "step":
            kernel = body["parts"]["coherence"]
            assert kernel["before"] == tagged(b"specledger/state/v1", written(before["coherence"]))
            assert kernel["after"] == tagged(b"specledger/state/v1", written(state["coherence"]))
            assert kernel["accepted"]
            assert kernel["tip"] == tip
            bare = {key: value for key, value in kernel.items() if key != "tip_after"}
            tip = tagged(b"specledger/part/v1", tip.encode() + written(bare))
            assert kernel["tip_after"] == tip
            assert kernel["V_after"] == lyapunov(state["coherence"]) == body["record"]["V_coh"]
            seen += 1
    assert seen == 50


DIRECTIONS = {"N": (0, -1), "S": (0, 1), "E": (1, 0), "W": (-1, 0), "Stay": (0, 0)}
ROOM = [[1] * 7, [1, 0, 0, 0, 0, 0, 1], [1, 0, 0, 0, 2, 0, 1], [1, 0, 0, 0, 0, 0, 1], [1] * 7]


def coupling(position, heading, grid, headroom, direction):
    """What the grid action asks of the kernel, by the words of the world's `doc`."""
    x, y = (position[0] + DIRECTIONS[direction][0], position[1] + DIRECTIONS[direction][1])
    near = [(x, y - 1), (x, y + 1), (x - 1, y), (x + 1, y)]
    exposed = sum(1 for a, b in near if 0 <= b < len(grid) and 0 <= a < len(grid[0]) and grid[b][a] == 2)
    exposed = 0 if direction == "Stay" else exposed
    ahead = (x + DIRECTIONS[direction][0], y + DIRECTIONS[direction][1])
    facing = 0 <= ahead[1] < len(grid) and 0 <= ahead[0] < len(grid[0]) and grid[ahead[1]][ahead[0]] == 2
    running = direction != "Stay" and direction == heading and facing
    gap = 100 if running else 1 if direction == "Stay" else 0
    calm = 50 if headroom + 50 <= 250 else 0
    return (-50 * exposed if exposed else calm), gap


@pytest.mark.medium
@given(
    position=st.tuples(st.integers(1, 5), st.integers(1, 3)),
    goal=st.tuples(st.integers(1, 5), st.integers(1, 3)),
    heading=st.sampled_from(list(DIRECTIONS)),
    headroom=st.integers(0, 250),
    direction=st.sampled_from(list(DIRECTIONS)),
    charge=st.integers(0, 9 * ONE),
)
def test_a_kernel_action_depends_on_action_hazards_and_heading_and_not_on_the_goal(
    position, goal, heading, headroom, direction, charge
):
    plan = hazard()
    start = plan.start(0)
    kernel = start["coherence"] | {"rho": [[headroom, 250]]}
    state = start | {"grid": ROOM, "coherence": kernel, "heading": heading}
    state |= {"position": {"x": position[0], "y": position[1]}, "goal": {"x": goal[0], "y": goal[1]}}
    after, outcome = plan.actors[0].step(state, "move", {"dir": direction}, {"charge": charge})
    drho, gap = coupling(position, heading, ROOM, headroom, direction)
    left, right = after["coherence"]["theta"][0]
    assert right - left == -40 + gap
    assert outcome["coherence"]["raw"]["rho"] == [[headroom + drho, 250]]
    assert after["coherence"]["b"] == kernel["b"] - charge
    assert after["coherence"]["t"] == kernel["t"] + 1


def test_four_moves_and_staying_are_five_different_kernel_actions():
    plan = hazard()
    start = plan.start(0)
    state = start | {"grid": ROOM, "position": {"x": 2, "y": 2}, "goal": {"x": 5, "y": 1}}
    shifts = {
        d: plan.actors[0].step(state, "move", {"dir": d}, {"charge": 0})[0]["coherence"]["theta"][0] for d in DIRECTIONS
    }
    assert len({tuple(shift) for shift in shifts.values()}) == 5
    assert shifts["Stay"] == [0, -39]


@pytest.mark.slow
def test_the_kernel_normally_accepts_and_sometimes_rightly_rejects():
    """40 episodes of the hazard map: most proposals pass, the kernel rejects some, and something is always allowed."""
    tally: dict[str, int] = {}
    proposals = accepted = stuck = 0
    for event in run(hazard("episodes=40")):
        if event.type != "step":
            continue
        for decision in event.body["decisions"]:
            proposals += 1
            accepted += not decision["rejected"]
            for failing in decision["rejected"]:
                tally[failing["gate"]] = tally.get(failing["gate"], 0) + 1
                if failing["gate"] == "lyapunov":
                    assert failing["witness"]["V_next"] > failing["witness"]["V_prev"]
                if failing["gate"] == "admissible":
                    assert min(failing["witness"]["rho"][0]) < 0
        stuck += event.body["chosen"] is None
    assert proposals == 40 * 50 * 5
    assert 0.5 < accepted / proposals < 0.9
    assert tally["lyapunov"] > 0.001 * proposals
    assert stuck == 0


# --- two tanks


def tank(state, p, v):
    transfer = min(state["h1"], 40) if p else 0
    outflow = state["h2"] * v // 1600 if state["h2"] >= 0 else -(-state["h2"] * v // 1600)
    levels = {"h1": state["h1"] + state["inflow"] - transfer, "h2": state["h2"] + transfer - outflow}
    return {**state, **levels, "pump": p, "valve": v, "t": state["t"] + 1}


@cache
def tanks(*settings):
    return shipped_plan("two-tank", *settings)


@given(
    h1=st.integers(-9, 1000), h2=st.integers(-9, 1000), inflow=st.integers(0, 40), p=st.sampled_from([0, 1]),
    v=st.sampled_from([0, 40, 80]), old=st.sampled_from([(0, 0), (1, 80)]),
)  # fmt: skip
def test_the_tanks_follow_their_flows(h1, h2, inflow, p, v, old):
    state = {"h1": h1, "h2": h2, "inflow": inflow, "pump": old[0], "valve": old[1], "t": 3}
    assert tanks().actors[0].step(state, "command", {"p": p, "v": v}, {})[0] == tank(state, p, v)


@pytest.mark.slow
def test_two_thousand_steps_of_water_without_a_violation():
    told = result(tanks("horizon=2000", "episodes=1"))
    assert (told["verdict"], told["steps"], told["violations"]) == ("PASS", 2000, {})
    assert told["drifts"] == 79
    assert told["rejections"]["overflow"] > 0


def test_without_its_gate_a_tank_overflows():
    """So the gate prevents something, and the invariant sees it."""
    told = result(tanks("horizon=2000", "episodes=1", "governor.gates.overflow.require=true"))
    assert told["violations"] == {"no-overflow": 1}
    assert told["verdict"] == "FAIL"
    assert told["rejections"]["overflow"] == 0


@given(h1=st.integers(0, 1000), h2=st.integers(0, 1000), inflow=st.integers(0, 40))
def test_pumping_with_an_open_valve_is_always_admitted(h1, h2, inflow):
    """Which is why no level between the bounds leaves the governor without an action."""
    state = {"h1": h1, "h2": h2, "inflow": inflow, "pump": 0, "valve": 0, "t": 0}
    actions = [{"op": "command", "p": p, "v": v} for p in (0, 1) for v in (0, 40, 80)]
    found = tanks().actors[0].judge(state, [{"action": action, "score": 0} for action in actions], 0, [0] * 6)
    admitted = [action for action, judgement in zip(actions, found, strict=True) if not judgement.rejected]
    assert admitted
    for action in admitted:
        after = tank(state, action["p"], action["v"])
        assert 0 <= after["h1"] <= 1000
        assert 0 <= after["h2"] <= 1000


def test_a_dry_tank_is_a_reason_of_its_own():
    state = {"h1": 0, "h2": 104, "inflow": 20, "pump": 0, "valve": 0, "t": 0}
    drain = {"action": {"op": "command", "p": 0, "v": 80}, "score": 0}
    (found,) = tanks().actors[0].judge(state, [drain], 0, [0])
    assert found.rejected == [{"gate": "dry", "reason": "dry_tank", "witness": {"h2": 99}}]


# --- worlds of one's own


WORLD: dict[str, Any] = {
    "constants": {"STEP": 2},
    "state": {"x": "int", "log": {"type": "array", "items": "int"}},
    "start": {"x": 1, "log": "[]"},
    "functions": {"twice": {"args": ["n"], "is": "2 * n"}},
    "actions": {
        "add": {
            "args": {"n": "int"},
            "let": {"total": "x + n"},
            "when": "total < 10",
            "effects": [{"set": "x", "to": "total"}],
            "otherwise": [{"set": "x", "to": "0"}],
            "outcome": {"was": "x"},
        }
    },
    "every_step": [{"append": "log", "value": "x"}],
    "observe": {"x": "x"},
}
AGENT: dict[str, Any] = {"candidates": [{"op": "add", "for_each": {"n": "[3]"}}], "score": "0"}
GOVERNOR: dict[str, Any] = {"gates": [], "choose": {"maximise": "proposal.score"}}
INNER: dict[str, Any] = {
    "state": {"n": "int"},
    "functions": {"half": {"args": ["z"], "is": "z.n / 2"}},
    "actions": {"tick": {"args": {"by": "int"}, "effects": [{"set": "n", "to": "n + by"}], "outcome": {"was": "n"}}},
    "receipt": {"code": "'ACCEPT'", "old": "n", "new": "next.n", "told": "outcome.was"},
}


@pytest.fixture
def make(tmp_path):
    def compiled(inner=None, **changes):
        documents = documents_of(WORLD, AGENT, GOVERNOR, horizon=3)
        documents = {kind: {**body, **changes.get(kind, {})} for kind, body in documents.items()}
        return compile_specs(tmp_path, documents | {"world/inner": {**INNER, **(inner or {})}})

    return compiled


def part(**changes):
    follow = {"add": {"action": "tick", "let": {"more": "n + x"}, "args": {"by": "more"}}}
    return {"world": "inner", "start": {"n": "5 * STEP"}, "follow": follow} | changes


def test_what_every_step_does_reads_what_the_action_made(make):
    step = make().actors[0].step
    state = {"x": 1, "log": [7]}
    assert step(state, "add", {"n": 3}, {}) == ({"x": 4, "log": [7, 4]}, {"was": 1})
    assert step(state, "add", {"n": 9}, {}) == ({"x": 0, "log": [7, 0]}, {"was": 1})
    assert state == {"x": 1, "log": [7]}


def test_an_operation_that_no_world_has_is_a_callers_mistake(make):
    with pytest.raises(LookupError, match="fly"):
        make().actors[0].step({"x": 1, "log": []}, "fly", {}, {})


def test_a_part_acts_on_the_state_before_and_tells_what_it_did(make):
    made = make(world={"parts": {"p": part()}})
    state = made.start(0)
    assert state == {"x": 1, "log": [], "p": {"n": 10}}
    after, outcome = made.actors[0].step(state, "add", {"n": 3}, {})
    assert after == {"x": 4, "log": [4], "p": {"n": 14}}
    assert outcome == {"was": 1, "p": {"was": 10}}


def test_a_part_that_an_action_leaves_alone_stays_and_keeps_no_receipt(make):
    actions = {**WORLD["actions"], "rest": {}}
    made = make(
        world={"parts": {"p": part()}, "actions": actions},
        agent={
            "candidates": [{"op": "rest"}, {"op": "add", "for_each": {"n": "[3]"}}],
            "score": "action.op == 'rest' ? x : 3",
        },
    )
    steps = [event.body for event in run(made) if event.type == "step"]
    assert [set(step["parts"]) for step in steps] == [{"p"}, set(), set()]
    assert [made.actors[0].step(made.start(0), op, {"n": 3}, {})[0]["p"] for op in ("add", "rest")] == [
        {"n": 14},
        {"n": 10},
    ]


def test_the_functions_and_constants_of_a_part_are_known_to_its_world(make):
    made = make(world={"parts": {"p": part()}, "observe": {"x": "x", "halved": "half(p)"}})
    assert made.actors[0].observe(made.start(0)) == {"x": 1, "halved": 5}


def test_a_part_inside_a_part(make, tmp_path):
    write_specs(tmp_path, {"world/outer": {**WORLD, "parts": {"p": part()}}})
    follow = {"add": {"action": "add", "args": {"n": "n + 1"}}}
    made = make(
        world={"functions": {}, "parts": {"q": {"world": "outer", "follow": follow}}},
    )
    after, outcome = made.actors[0].step(made.start(0), "add", {"n": 3}, {})
    assert after == {"x": 4, "log": [4], "q": {"x": 5, "log": [5], "p": {"n": 15}}}
    assert outcome == {"was": 1, "q": {"was": 1, "p": {"was": 10}}}


def test_derived_values_are_virtual_fields_of_every_state(make):
    made = make(
        world={"derived": {"level": "x * STEP", "above": "level + 1"}, "observe": {"above": "above"}},
        agent={"score": "above"},
        governor={
            "gates": [
                {"id": "g", "deny": "next.above > 10 && above < 10", "reason": "r", "witness": {"was": "now.level"}}
            ]
        },
    )
    state = {"x": 3, "log": []}
    assert made.actors[0].observe(state) == {"above": 7}
    (found,) = made.actors[0].judge(state, [{"action": {"op": "add", "n": 3}, "score": 0}], 0, [0])
    assert found.rejected == [{"gate": "g", "reason": "r", "witness": {"was": 6}}]


def test_a_let_is_in_no_order_and_may_go_through_functions(make):
    let = {"a": "through(1)", "b": "[3].map(a, a + 1)[0]", "c": "twice(b)", "total": "x + n + a - 9"}
    functions = {**WORLD["functions"], "through": {"args": ["k"], "is": "k + c"}}
    for names in (list(let), list(reversed(let))):
        actions = {"add": {**WORLD["actions"]["add"], "let": {name: let[name] for name in names}}}
        after, _ = (
            make(world={"functions": functions, "actions": actions})
            .actors[0]
            .step({"x": 1, "log": []}, "add", {"n": 3}, {})
        )
        assert after["x"] == 1 + 3 + (1 + 8) - 9


ADD = WORLD["actions"]["add"]
REFUSED: dict[str, Any] = {
    "a let in a circle": ({"actions": {"add": ADD | {"let": {"a": "b", "b": "a", "total": "n"}}}}, "E_LET_CYCLE", "a, b"),
    "a let of itself": ({"actions": {"add": ADD | {"let": {"total": "total"}}}}, "E_LET_CYCLE", "total"),
    "a field with a name of the engine": ({"state": {**WORLD["state"], "next": "int"}}, "E_NAME_TAKEN", "'next'"),
    "a function with a standard name": ({"functions": {"size": {"args": ["a"], "is": "a"}}}, "E_NAME_TAKEN", "'size'"),
    "a field with a reserved name": ({"state": {**WORLD["state"], "while": "int"}}, "E_NAME_TAKEN", "'while'"),
    "a field with a name of a constant": ({"state": {**WORLD["state"], "STEP": "int"}}, "E_NAME_TAKEN", "'STEP'"),
    "a field with a name of a function": ({"state": {**WORLD["state"], "twice": "int"}}, "E_NAME_TAKEN", "'twice'"),
    "a constant with a name of the engine": ({"constants": {"STEP": 2, "now": 1}}, "E_NAME_TAKEN", "'now'"),
    "a function with a name of a field function": (
        {"functions": {"mask": {"args": ["a"], "is": "a"}}}, "E_NAME_TAKEN", "'mask'",
    ),
    "a parameter with a reserved name": ({"functions": {"f": {"args": ["in"], "is": "1"}}}, "E_NAME_TAKEN", "'in'"),
    "two parameters of one name": ({"functions": {"f": {"args": ["a", "a"], "is": "a"}}}, "E_NAME_TAKEN", "'a'"),
    "an argument with the name of a field": (
        {"actions": {"add": ADD | {"args": {"x": "int", "n": "int"}}}}, "E_NAME_TAKEN", "'x'",
    ),
    "an argument with a name of the engine": (
        {"actions": {"add": ADD | {"args": {"proposal": "int", "n": "int"}}}}, "E_NAME_TAKEN", "'proposal'",
    ),
    "an argument with the name of the operation": (
        {"actions": {"add": ADD | {"args": {"op": "int", "n": "int"}}}}, "E_NAME_TAKEN", "'op'",
    ),
    "an argument with the name of an input": ({"inputs": {"n": "int"}}, "E_NAME_TAKEN", "'n'"),
    "a let with the name of an argument": ({"actions": {"add": ADD | {"let": {"n": "1", "total": "1"}}}}, "E_NAME_TAKEN", "'n'"),
    "a let with the name of a field": ({"actions": {"add": ADD | {"let": {"x": "1", "total": "1"}}}}, "E_NAME_TAKEN", "'x'"),
    "an input with the name of a field": ({"inputs": {"x": "int"}}, "E_NAME_TAKEN", "'x'"),
    "a derived value with the name of a field": ({"derived": {"x": "1"}}, "E_NAME_TAKEN", "'x'"),
    "an observation with the name of a constant": ({"observe": {"STEP": "x"}}, "E_NAME_TAKEN", "'STEP'"),
    "an observation with the name of a function": ({"observe": {"twice": "x"}}, "E_NAME_TAKEN", "'twice'"),
    "an observation with a name of the engine": ({"observe": {"action": "x"}}, "E_NAME_TAKEN", "'action'"),
    "an observation with a reserved name": ({"observe": {"in": "x"}}, "E_NAME_TAKEN", "'in'"),
    "an observation of a double": ({"observe": {"part": "0.5"}}, "E_NOT_SEALABLE", "'part'"),
    "a state of doubles": (
        {"state": {"x": "int", "log": {"type": "array", "items": "double"}}, "every_step": []}, "E_NOT_SEALABLE", "'log'",
    ),
    "an unknown type": ({"state": {**WORLD["state"], "y": "integer"}}, "E_DECLARATION", "'integer'"),
    "arguments that disagree": (
        {"actions": {"add": ADD, "say": {"args": {"n": "string"}}}}, "E_WORLD_ACTION", "'n'",
    ),
    "a start value for nothing": ({"start": {**WORLD["start"], "y": "1"}}, "E_WORLD_START", "'y'"),
    "a start value that reads the state": ({"start": {"x": "1", "log": "[x]"}}, "E_EXPR_UNKNOWN_NAME", "x"),
    "a drawing of what is no field": ({"drawing": {"cells": "x", "legend": {}}}, "E_WORLD_START", "'x'"),
    "a part of an unknown action": ({"parts": {"p": part(follow={"ad": {"action": "tick", "args": {"by": "1"}}})}}, "E_WORLD_PART", "'ad'"),
    "a part by an unknown action": ({"parts": {"p": part(follow={"add": {"action": "tack", "args": {"by": "1"}}})}}, "E_WORLD_PART", "'tack'"),
    "a part with other arguments": ({"parts": {"p": part(follow={"add": {"action": "tick"}})}}, "E_WORLD_PART", "by"),
    "a part with the name of a field": ({"parts": {"x": part()}}, "E_WORLD_PART", "'x'"),
    "a part without a start": ({"parts": {"p": part(start={})}}, "E_WORLD_START", "'n'"),
    "a part with a start for nothing": ({"parts": {"p": part(start={"n": "1", "m": "1"})}}, "E_WORLD_START", "'m'"),
    "a part whose name is told already": ({"parts": {"was": part()}}, "E_WORLD_PART", "'was'"),
    "two parts with the same functions": ({"parts": {"p": part(), "q": part()}}, "E_WORLD_PART", "half"),
    "a part whose world needs inputs": ({"parts": {"p": part()}}, "E_WORLD_PART", "fuel", {"inputs": {"fuel": "int"}}),
    "a constant that a part defines otherwise": ({"parts": {"p": part()}}, "E_NAME_TAKEN", "'STEP'", {"constants": {"STEP": 3}}),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_world_may_not_say(make, name):
    world, code, words, *inner = REFUSED[name]
    (found,) = findings_of(make, *inner, world=world, code=code, words=words, file="world.yaml")
    assert found.hint == "did you mean 'add'?" or "'ad'" not in words


TYPES = {
    "a near name": ("integr", "did you mean 'int'?", None),
    "a name in another language": ("str", "did you mean 'string'?", None),
    "no near name": ("EVRY", None, "one of int, bool, string, double, qfixed, cell, field"),
    "inside a list": (
        {"type": "array", "items": "EVRY"},
        None,
        "one of int, bool, string, double, qfixed, cell, field",
    ),
    "near, inside a list": ({"type": "array", "items": "cel"}, "did you mean 'cell'?", None),
}


@pytest.mark.parametrize(("type_", "hint", "expected"), TYPES.values(), ids=TYPES)
def test_an_unknown_type_says_which_was_meant_or_which_there_are(make, type_, hint, expected):
    found = findings_of(make, world={"state": {**WORLD["state"], "y": type_}}, code="E_DECLARATION")
    assert (found[0].hint, found[0].expected) == (hint, expected)


def test_a_constant_may_be_repeated_in_a_part(make):
    assert make(inner={"constants": {"STEP": 2}}, world={"parts": {"p": part()}}).start(0)["p"] == {"n": 10}


def test_the_findings_of_a_parts_world_are_at_its_own_place(make):
    found = findings_of(make, inner={"observe": {"z": "zz"}}, world={"parts": {"p": part()}})
    assert ["inner.yaml" in str(finding.span) for finding in found] == [True]


def union_world(tmp_path, first, second, gate):
    """A run of one step in a world whose two actions share an argument and an outcome of different ranges."""
    files = {
        "two.yaml": f"""
spec: world/v1
name: two
state: {{n: int}}
start: {{n: 0}}
actions:
  inc: {{args: {{k: {first}}}, effects: [{{set: n, to: n + k}}], outcome: {{z: "1"}}}}
  jnc: {{args: {{k: {second}}}, effects: [{{set: n, to: n - k}}], outcome: {{z: 0 - 1}}}}
""",
        "g.yaml": f"""
spec: governor/v1
name: g
constants: {{LIMITS: [0, 0, 1]}}
gates: [{{id: p, require: "{gate}", reason: bad}}]
choose: {{maximise: 0}}
""",
        "a.yaml": 'spec: agent/v1\nname: a\ncandidates: [{op: jnc, for_each: {k: "[0 - 1]"}}]\nscore: 0\n',
        "s.yaml": "spec: scenario/v1\nname: s\nworld: two\ngovernor: g\nagent: a\nhorizon: 1\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text.lstrip())
    (bundle,) = load(str(tmp_path / "s.yaml"))
    return [event.body for event in run(compile_scenario(bundle)) if event.type == "step"]


@pytest.mark.parametrize("gate", ["LIMITS[action.k] == 1", "LIMITS[outcome.z] == 1"])
def test_what_actions_share_has_the_range_of_all_of_them(tmp_path, gate):
    (step,) = union_world(tmp_path, "{enum: [0, 1, 2]}", "{type: integer, minimum: -5, maximum: 5}", gate)
    assert step["chosen"] is None
    assert step["decisions"][0]["error"]["code"] == "E_EVAL_INDEX"


def told_of(tmp_path, text):
    path = tmp_path / "w.yaml"
    path.write_text(text)
    (bundle,) = load(str(path))
    diagnostics = Diagnostics()
    check_world(bundle.main, bundle, diagnostics)
    return [(found.code, found.message) for found in diagnostics.sorted()]


HEAD = "spec: world/v1\nname: w\nactions: {go: {}}\n"


def test_a_field_may_be_named_self(tmp_path):
    text = HEAD + "state: {self: int}\nstart: {self: 0}\nobserve: {self: self}\nderived: {twice: self + self}\n"
    assert told_of(tmp_path, text) == []


def test_types_that_double_at_every_level_are_refused_at_once(tmp_path):
    names = "".join(f"  t{n}: {{properties: {{a: t{n + 1}, b: t{n + 1}}}}}\n" for n in range(24))
    found = told_of(tmp_path, f"{HEAD}types:\n{names}  t24: int\nstate: {{x: t0}}\n")
    assert found == [("E_DECLARATION", "a type has at most 4096 parts, all names in it written out")]


def test_types_that_are_named_too_deep_are_refused(tmp_path):
    names = "".join(f"  t{n}: t{n + 1}\n" for n in range(1000))
    found = told_of(tmp_path, f"{HEAD}types:\n{names}  t1000: int\nstate: {{x: t0}}\n")
    assert found == [("E_DECLARATION", "types name each other more than 32 deep")]
