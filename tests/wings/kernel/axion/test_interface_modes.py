"""Interface modes: factors are what the reference says, a question about one leaves the environment alone, and P5' separates."""

import pytest

from specledger.compile.scenario import compile_scenario
from specledger.core.diagnostics import Diagnostics
from specledger.kinds import load
from specledger.pipeline.executing import execute
from specledger.worlds.check import check_world
from specledger.worlds.variables import Variables

UNIT = 1_000_000
NAMES = [f"F:{i}" for i in range(8)]
TUNED = "seeds=[501]"


@pytest.fixture(scope="module")
def crowded():
    """The variables of the world of factors, and the start states of 12 episodes with others, objects and walls."""
    bundle = load("mci-latent", kind="scenario", set=["with.others=6", "episodes=12"])[0]
    world = check_world(bundle.specs[bundle.main.refs["world",]], bundle, Diagnostics())
    assert world is not None
    plan = compile_scenario(bundle)
    return Variables(world), [plan.start(number) for number in range(12)]


def expected(state):
    """The factors of the reference, by plain Python."""
    here = state["self"]
    walls = {(wall["x"], wall["y"]) for wall in state["grid"]["walls"]}

    def dist(other):
        return abs(other["x"] - here["x"]) + abs(other["y"] - here["y"])

    reached = frontier = {(here["x"], here["y"])}
    for _ in range(3):
        near = {(x + dx, y + dy) for x, y in frontier for dx, dy in ((0, 1), (0, -1), (1, 0), (-1, 0))}
        frontier = {p for p in near if p not in walls and 0 <= p[0] < 12 and 0 <= p[1] < 12} - reached
        reached = reached | frontier
    threat = min(map(dist, state["hazards"]), default=1000)
    shares = [
        (here["energy"], 100),
        (len(here["inventory"]), 10),
        (threat, 10),
        (int(threat <= 1), 1),
        (min(map(dist, state["objects"]), default=1000), 10),
        (min(map(dist, state["agents"]), default=1000), 10),
        (len(reached), 64),
        (sum(dist(wall) <= 3 for wall in state["grid"]["walls"]), 25),
    ]
    return [min(UNIT, number * UNIT // whole) for number, whole in shares]


@pytest.mark.medium
def test_factors_are_those_of_the_reference(crowded):
    variables, states = crowded
    for state in states:
        assert [variables.read(state, name) for name in NAMES] == expected(state)


def test_a_question_about_a_factor_changes_that_factor_alone(crowded):
    variables, states = crowded
    for state in states[:4]:
        before = {name: variables.read(state, name) for name in NAMES}
        for name in NAMES:
            for value in variables.alternatives(state, name):
                after, edit = variables.mutate(state, name, value)
                assert set(edit["changed"]) == {"offsets"}
                assert {one: variables.read(after, one) for one in NAMES} == {**before, name: value}


@pytest.mark.parametrize(
    ("factor", "first"),
    [(100_000, [150_000, 50_000]), (400_000, [500_000, 300_000]), (900_000, [675_000, UNIT]), (0, [50_000])],
)
def test_a_mutation_is_a_twentieth_or_a_quarter_and_mirrored_near_one(crowded, factor, first):
    variables, states = crowded
    state, _ = variables.mutate(states[0], "F:0", factor)
    assert variables.alternatives(state, "F:0")[: len(first)] == first


def test_a_factor_outside_its_range_is_unreachable(crowded):
    variables, states = crowded
    assert [variables.mutate(states[0], "F:2", value) for value in (-1, UNIT + 1, "1")] == [None] * 3


@pytest.mark.slow
def test_the_modes_separate_honest_from_pseudo_and_the_minimal_one_has_a_cliff(tmp_path):
    bundle = load("interface-modes", kind="suite")[0]
    arms = [*bundle.main.data["runs"]]
    small = [f"runs.{arm}.{TUNED}" for arm in arms] + [f"runs.{arm}.set.episodes=6" for arm in arms]
    small += [f"runs.minimal_pseudo_{end}.set.episodes=40" for end in (0, 9)]
    small += ["mutants=[]", "tuned_on=[]"]
    finished = execute(load("interface-modes", kind="suite", set=small)[0], tmp_path / "small")
    checks = {each["check"]: each for each in finished.receipts if each["type"] == "check"}
    last = checks.pop("minimal-has-a-cliff")  # whose interval needs hundreds of episodes to be apart from one half
    assert {name: each["verdict"] for name, each in checks.items()} == dict.fromkeys(checks, "PASS")
    assert last["witness"]["cliff"] == 3
