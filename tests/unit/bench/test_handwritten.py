"""The loop that benchmarks compare the engine with does the same work: the same bytes, whatever the numbers are."""

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench import kernel
from bench.handwritten import Run
from bench.task import read_task
from specledger.compile.scenario import compile_scenario
from specledger.core.diagnostics import Diagnostics
from specledger.evidence.chain import Chain, run_id
from specledger.evidence.result import Tally
from specledger.kinds import load
from specledger.run.loop import run
from specledger.verify.replay import first_difference
from specledger.worlds.check import check_world
from specledger.worlds.emit import compile_between, compile_step

HAZARD = "specs/scenario/hazard.yaml"

HOT = """
spec: world/v1
name: hot
extends: governed-gridworld
constants: {HEADROOM: 970, EXPOSURE: -30, RECOVERY: 5, RESERVE: 9, STRAIN: 1}
"""

CASES = {
    "as shipped": (),
    "other draws": ("seed=7", "episodes=4"),
    "a budget that runs out": ("world.with.budget=200.05", "horizon=90"),
    "hardly any budget": ("world.with.budget=10.0",),
    "no budget": ("world.with.budget=0.0", "episodes=1"),
    "a restless goal": ("drift.0.with.every=3",),
    "an open map": ('map.drawing="S.!.\\n..!.\\n...G\\n"', "horizon=20"),
}


def make_both(bundle):
    """The lines, the head and root, and the result of a run, by the engine and by hand."""
    chain, tally, lines = Chain(run_id(bundle.digest)), Tally(), []
    for event in run(compile_scenario(bundle)):
        lines.append(chain.seal(event))
        tally.add(event.type, event.body)
    engine = lines, {"count": chain.count, "head": chain.head, "root": chain.root}, tally.result()
    by_hand = Run(read_task(bundle))
    return engine, (list(by_hand.receipts()), by_hand.chain.receipts(), by_hand.result())


def check_same(bundle):
    """Compare a run of the engine with the one by hand, and give the engine's result."""
    engine, by_hand = make_both(bundle)
    for number, (made, given_) in enumerate(zip(engine[0], by_hand[0], strict=True)):
        assert made == given_, first_difference(number, made, given_)
    assert engine[1:] == by_hand[1:]
    return engine[2]


@cache
def check_case(changes):
    return check_same(load(HAZARD, set=list(changes))[0])


@pytest.mark.medium
@pytest.mark.parametrize("changes", CASES.values(), ids=CASES)
def test_the_receipts_are_the_same_bytes(changes):
    result = check_case(changes)
    assert result["verdict"] == "PASS"
    assert result["steps"] > 0


@pytest.mark.medium
def test_the_receipts_are_the_same_bytes_when_constants_change(tmp_path):
    (tmp_path / "hot.yaml").write_text(HOT, encoding="utf-8")
    scenario = tmp_path / "other.yaml"
    scenario.write_text("spec: scenario/v1\nname: other\nextends: hazard\nworld: hot\n", encoding="utf-8")
    bundle = load(str(scenario))[0]
    assert read_task(bundle).world.HEADROOM == 970
    assert check_same(bundle)["rejections"]["admissible"] > 0


def test_the_cases_reach_every_gate_that_a_sincere_agent_can_meet():
    results = [check_case(changes)["rejections"] for changes in CASES.values()]
    reached = {gate for rejections in results for gate, count in rejections.items() if count}
    assert set(results[0]) - reached == {"schema", "prediction", "budget_insufficient"}


@st.composite
def kernel_steps(draw_):
    height, width = draw_(st.integers(1, 3)), draw_(st.integers(1, 4))

    def field(values):
        row = st.lists(values, min_size=width, max_size=width)
        return draw_(st.lists(row, min_size=height, max_size=height))

    rho, drho = st.sampled_from([0, 1, 500, 999, 1000]), st.sampled_from([-501, -500, -1, 0, 1, 500, 501])
    phase, heat = st.integers(-90, 90), st.integers(0, 30)
    b, spend = draw_(st.integers(-3, 3)), draw_(st.integers(0, 3))
    return (
        {"rho": field(rho), "theta": field(phase), "C": field(heat), "b": b, "t": 3},
        field(drho),
        field(phase),
        spend,
    )


@pytest.fixture(scope="module")
def coherence():
    bundle = load("specs/world/coherence.yaml")[0]
    diagnostics = Diagnostics()
    world = check_world(bundle.main, bundle, diagnostics)
    diagnostics.raise_if_errors()
    assert world is not None
    constants = read_task(load(HAZARD)[0]).kernel
    return compile_step(world), compile_between(world, world.receipt), constants


@pytest.mark.medium
@given(case=kernel_steps())
def test_the_kernel_is_that_of_the_spec_on_fields_of_any_size(coherence, case):
    take, tell, constants = coherence
    state, drho, dtheta, spend = case
    after, outcome = take(state, "step", {"drho": drho, "dtheta": dtheta, "spend": spend}, {})
    made = kernel.step(state, drho, dtheta, spend, constants)
    before, now = kernel.potential(state, constants), kernel.potential(made.after, constants)
    assert made.after == after
    assert {"rho": made.rho, "C": made.floored, "b": state["b"]} == outcome["raw"]
    assert kernel.receipt(state, made, before, now) == tell(state, after, outcome)
