"""What a step of the gridworld says of itself, against plain recomputation; and that lambda is only ever said."""

from functools import cache

import pytest

from specledger.run.loop import run
from specledger.worlds.fields import distances
from tests.toys import followed, shipped_plan

ONE = 1_000_000


@cache
def events(name, *settings):
    return tuple(run(shipped_plan(name, *settings)))


def steps(name, *settings):
    """Each step's body with the state before it, followed through the receipts."""
    for event, before, after in followed(shipped_plan(name, *settings), events(name, *settings)):
        if event.type == "step":
            yield before, after, event.body


def length(state, goal):
    ways = distances([[1 if code in (1, 2) else 0 for code in row] for row in state["grid"]], state["position"])
    return ways[goal["y"]][goal["x"]]


@pytest.mark.parametrize("name", ["hazard", "scattered", "rooms"])
def test_the_record_of_a_step(name):
    spent = 0
    for before, after, body in steps(name):
        said = body["record"]
        goal, place = after["goal"], after["position"]
        apart = [
            abs(state["position"]["x"] - goal["x"]) + abs(state["position"]["y"] - goal["y"])
            for state in (before, after)
        ]
        assert said["task_performance"] == apart[1]
        assert said["reward"] == apart[0] - apart[1]
        assert said["reached"] == (place == goal)
        assert said["distance"] == length(after, goal)
        assert said["distance_before"] == length(before, goal)
        assert said["place"] == place["y"] * 256 + place["x"]
        assert (said["hazard_hit"], said["bump"], said["outside_K"], said["negative_b"]) == (0, 0, 0, 0)
        assert said["work"] == body["cost"]["total"] == before["coherence"]["b"] - after["coherence"]["b"]
        assert said["V_total"] == said["V_coh"] + said["lambda"] * said["task_performance"]
        assert said["lambda"] == (ONE if after["t"] < 25 else 2 * ONE)
        spent += said["work"]
    assert spent > 0


@pytest.mark.parametrize("name", ["hazard", "concave", "comb", "looped-maze"])
def test_regret_is_the_steps_lost_and_never_negative(name):
    """Over a stretch without a drift: steps taken, less those resting on the goal, less what the way became shorter."""
    stretch: list[dict[str, int]] = []
    stretches = [stretch]
    for event in events(name):
        if event.type in ("episode", "drift"):
            stretch = []
            stretches.append(stretch)
        elif event.type == "step":
            stretch.append(event.body["record"])
    assert len(stretches) > 2
    for records in filter(None, stretches):
        resting = sum(said["distance_before"] == 0 == said["distance"] for said in records)
        shorter = records[0]["distance_before"] - records[-1]["distance"]
        assert sum(said["regret"] for said in records) == len(records) - resting - shorter
        assert min(said["regret"] for said in records) >= 0


# --- lambda


@pytest.mark.medium
@pytest.mark.parametrize("name", ["hazard", "concave"])
def test_lambda_changes_what_is_reported_and_no_decision(name):
    """With another lambda every receipt is the same but for the two figures, and the digests of the specs."""
    other = ("world.constants.LAMBDA_FROM=[0, 3, 9]", "world.constants.LAMBDA=[5, 0, 70000000]")
    apart = set()
    for first, second in zip(events(name), events(name, *other), strict=True):
        if first.type == "start":
            assert first.body | {"specs": ""} == second.body | {"specs": ""}
        elif first.type == "step":
            said, says = dict(first.body["record"]), dict(second.body["record"])
            apart.add((said.pop("lambda"), says.pop("lambda")))
            said.pop("V_total"), says.pop("V_total")
            assert first.body | {"record": said} == second.body | {"record": says}
        else:
            assert first.body == second.body
    assert apart == {(ONE, 5), (ONE, 0), (ONE, 70 * ONE), (2 * ONE, 70 * ONE)}


# --- budget


def lost(name, budget, *settings):
    """The sum of distances over a run with a budget, and what was spent of it in its first episode."""
    found = [body["record"] for _, _, body in steps(name, f"world.with.budget={budget}", "horizon=50", *settings)]
    return sum(said["task_performance"] for said in found), [said["b"] for said in found]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["simple", "hazard", "rooms"])
def test_with_more_budget_the_performance_is_better(name):
    found = [lost(name, budget)[0] for budget in (0.0, 10.0, 25.0, 200.0)]
    assert found == sorted(found, reverse=True)
    assert len(set(found)) == 4


@pytest.mark.slow
def test_where_the_budget_is_ignored_more_of_it_is_not_better():
    """What the test above would see of a governor that debits nothing: the same performance with any budget."""
    found = {lost("simple", budget, "governor.supply.charge=0")[0] for budget in (10.0, 25.0, 200.0)}
    assert len(found) == 1


@pytest.mark.slow
@pytest.mark.parametrize("budget", [0.0, 3.4, 3.5, 3.6, 3.7, 4.0, 10.0, 33.3])
@pytest.mark.parametrize("name", ["simple", "concave"])
def test_a_budget_is_never_negative_and_its_end_leaves_something_to_do(name, budget):
    _, budgets = lost(name, budget)
    assert len(budgets) >= 50
    assert min(budgets) >= 0
    assert budgets[:50] == sorted(budgets[:50], reverse=True)
