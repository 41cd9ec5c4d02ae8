"""The governor's own memory and potentials: what a drift, what an action and what seeing does to them."""

from typing import Any

from specledger.compile.plan import PlannedWatch
from specledger.run.governor_state import Watch, Watched


def planned(remembers="episode"):
    """A memory of the greatest number seen; potentials: how far the state is below it, and the memory itself."""
    return PlannedWatch(
        remembers=remembers,
        begin=lambda observation: observation,
        remember=lambda observation, memory, action, seen: max(memory, seen),
        potentials=lambda state, memory: {"below": memory - state["x"], "best": memory},
    )


def begun(remembers="episode"):
    watch = Watch(planned(remembers))
    watch.begin()
    watch.observe(5, {"x": 1}, fresh=True)
    return watch


def test_a_governor_that_keeps_nothing_has_nothing_to_tell():
    watch = Watch(None)
    watch.begin()
    watch.observe(5, {"x": 1}, fresh=True)
    nothing: dict[str, Any] = {"potentials": {}, "rebases": []}
    assert watch.drift("push", {"x": 2}) == ([], Watched())
    assert watch.act(5, {"op": "go"}, {"x": 2}, 9) == (nothing, Watched())
    assert (watch.stand(), watch.kept) == (nothing, Watched())


def test_a_drift_is_a_cause():
    watch = begun()
    rebases, kept = watch.drift("push", {"x": 4})
    assert rebases == [{"potential": "below", "cause": "push", "from": 4, "to": 1}]
    assert kept == Watched(5, {"below": 1, "best": 5})
    assert watch.kept == Watched(5, {"below": 4, "best": 5}), "looking ahead keeps nothing"


def test_before_the_first_look_a_drift_moves_nothing():
    watch = Watch(planned())
    watch.begin()
    assert watch.drift("push", {"x": 4}) == ([], Watched())


def test_an_action_is_judged_with_the_memory_of_before_and_seeing_is_a_cause():
    told, kept = begun().act(5, {"op": "go"}, {"x": 3}, 8)
    assert told == {
        "potentials": {"below": {"from": 4, "to": 2}, "best": {"from": 5, "to": 5}},
        "rebases": [
            {"potential": "below", "cause": "seen", "from": 2, "to": 5},
            {"potential": "best", "cause": "seen", "from": 5, "to": 8},
        ],
    }
    assert kept == Watched(8, {"below": 5, "best": 8})


def test_what_a_drift_brings_into_sight_is_remembered_before_it_is_judged():
    watch = begun()
    _, watch.kept = watch.drift("push", {"x": 4})
    watch.observe(7, {"x": 4}, fresh=True)
    assert watch.kept == Watched(7, {"below": 3, "best": 7})
    rebases = [
        {"potential": "below", "cause": "seen", "from": 1, "to": 3},
        {"potential": "best", "cause": "seen", "from": 5, "to": 7},
    ]
    assert watch.stand()["rebases"] == rebases
    told, _ = watch.act(7, {"op": "go"}, {"x": 5}, 6)
    assert told["rebases"] == rebases
    assert told["potentials"]["below"] == {"from": 3, "to": 2}
    watch.observe(9, {"x": 4}, fresh=False)
    assert watch.stand()["rebases"] == [], "what was seen after an action is in the memory already"


def test_where_nothing_new_is_seen_there_is_no_rebase():
    told, _ = begun().act(5, {"op": "go"}, {"x": 3}, 4)
    assert told["rebases"] == []


def test_standing_leaves_every_potential():
    assert begun().stand() == {
        "potentials": {"below": {"from": 4, "to": 4}, "best": {"from": 5, "to": 5}},
        "rebases": [],
    }


def test_the_scope_says_whether_an_episode_begins_with_the_memory_of_the_last():
    for remembers, expected in (("episode", 2), ("run", 5)):
        watch = begun(remembers)
        watch.begin()
        assert watch.kept.values is None
        watch.observe(2, {"x": 1}, fresh=True)
        assert watch.kept == Watched(expected, {"below": expected - 1, "best": expected})
