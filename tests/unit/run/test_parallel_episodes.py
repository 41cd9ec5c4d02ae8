"""Episodes in several processes give the receipts of the loop, in the same order."""

import pytest

from specledger.compile.scenario import compile_scenario
from specledger.core.canonical import canonical_bytes
from specledger.kinds import load
from specledger.run import loop
from specledger.run.loop import run, run_parallel, separate
from specledger.run.scenario_run import EpisodeChunks
from specledger.run.workers import Processes


def prepared(name, *changes):
    """A scenario's bundle and plan."""
    bundle = load(f"specs/scenario/{name}.yaml", set=["horizon=6", "episodes=5", *changes])[0]
    return bundle, compile_scenario(bundle)


def bodies(events):
    return [(event.type, canonical_bytes(event.body)) for event in events]


@pytest.mark.medium
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("hazard", True),
        ("new-maze", True),  # its governor remembers for an episode
        ("concave", False),  # its agent remembers for the run
        pytest.param("axion-basic", False, marks=pytest.mark.wing("kernel")),  # its audit log continues
    ],
)
def test_episodes_are_separate_if_nothing_lasts_longer_than_one(name, expected):
    assert separate(prepared(name)[1]) is expected


@pytest.mark.parametrize("changes", [(), ("agent.candidates=[{op: move, for_each: {dir: \"['Up']\"}}]",)])
def test_chunks_give_the_events_of_the_run(changes, monkeypatch):
    bundle, plan = prepared("hazard", *changes)
    monkeypatch.setattr(loop, "spread", lambda work, given, workers: map(work, given))
    monkeypatch.setattr(loop, "_CHUNK", 12)
    seen = []
    made = run_parallel(
        plan, EpisodeChunks(bundle), Processes(2), lambda done, most: seen.append((done, most)), worth=0
    )
    assert bodies(made) == bodies(run(plan))
    assert seen == sorted(seen)
    assert len(seen) == 30


@pytest.mark.slow
def test_processes_give_the_events_of_the_run():
    bundle, plan = prepared("hazard")
    assert bodies(run_parallel(plan, EpisodeChunks(bundle), Processes(2), worth=0)) == bodies(run(plan))


@pytest.mark.parametrize(
    ("name", "workers", "worth", "chunk"),
    [("hazard", 1, 0, 99), ("hazard", 2, 31, 99), ("concave", 2, 0, 99), ("hazard", 2, 0, 5)],
    ids=["one worker", "a short run", "a memory of the run", "a long episode"],
)
def test_the_run_stays_in_this_process_with(name, workers, worth, chunk, monkeypatch):
    bundle, plan = prepared(name)
    monkeypatch.setattr(loop, "spread", None)
    monkeypatch.setattr(loop, "_CHUNK", chunk)
    assert bodies(run_parallel(plan, EpisodeChunks(bundle), Processes(workers), worth=worth)) == bodies(run(plan))
