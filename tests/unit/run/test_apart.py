"""Episodes that are made apart give the receipts of the loop, in the same order."""

from functools import partial

import pytest

from specledger.compile.scenario import compile_scenario
from specledger.core.canonical import canonical_bytes
from specledger.kinds import load
from specledger.run import parallel_episodes as apart
from specledger.run.loop import run, separate
from specledger.run.parallel_episodes import run_apart

SHORT = ["horizon=6", "episodes=5"]


def prepared(name, *changes):
    """A scenario's bundle and plan."""
    bundle = load(f"specs/scenario/{name}.yaml", set=[*SHORT, *changes])[0]
    return bundle, compile_scenario(bundle)


def told(events):
    """What events say, as receipts would."""
    return [(event.type, canonical_bytes(event.body)) for event in events]


@pytest.mark.parametrize(
    ("name", "apart_possible"),
    [
        ("hazard", True),
        ("two-tank", True),
        ("new-maze", True),  # its governor remembers for an episode
        ("concave", False),  # its agent remembers for the run
        ("axion-basic", False),  # its audit log goes on
    ],
)
def test_episodes_are_separate_where_nothing_goes_on(name, apart_possible):
    assert separate(prepared(name)[1]) is apart_possible


@pytest.mark.parametrize("changes", [(), ("agent.candidates=[{op: move, for_each: {dir: \"['Up']\"}}]",)])
@pytest.mark.parametrize("name", ["hazard", "patrol"])
def test_shares_are_the_run(name, changes, monkeypatch):
    bundle, plan = prepared(name, *changes)
    monkeypatch.setattr(apart, "spread", lambda work, given, workers: map(work, given))
    monkeypatch.setattr(apart, "_CHUNK", 12)
    seen = []
    made = run_apart(plan, partial(compile_scenario, bundle), 2, lambda done, most: seen.append((done, most)), worth=0)
    assert told(made) == told(run(plan))
    assert seen == sorted(seen)
    assert len(seen) == 30


def test_processes_make_the_same_run():
    bundle, plan = prepared("hazard")
    assert told(run_apart(plan, partial(compile_scenario, bundle), 2, worth=0)) == told(run(plan))


@pytest.mark.parametrize(
    ("name", "workers", "worth"),
    [("hazard", 1, 0), ("hazard", 2, 31), ("concave", 2, 0)],
    ids=["one", "short", "memory"],
)
def test_what_is_not_worth_processes_is_made_here(name, workers, worth, monkeypatch):
    bundle, plan = prepared(name)
    monkeypatch.setattr(apart, "spread", None)
    assert told(run_apart(plan, partial(compile_scenario, bundle), workers, worth=worth)) == told(run(plan))


def test_an_episode_that_is_too_long_to_wait_whole_is_made_here(monkeypatch):
    bundle, plan = prepared("hazard")
    monkeypatch.setattr(apart, "spread", None)
    monkeypatch.setattr(apart, "_CHUNK", 5)
    assert told(run_apart(plan, partial(compile_scenario, bundle), 2, worth=0)) == told(run(plan))
