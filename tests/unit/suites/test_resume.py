"""What was finished before a run ended early counts once: resumed runs and merged shards have the bytes of the whole."""

import json
import re
import shutil
from contextlib import contextmanager

import pytest

from specledger.core.canonical import canonical_bytes
from specledger.core.diagnostics import Rejected
from specledger.core.digest import tagged
from specledger.kinds import load
from specledger.kinds.running import RunOptions
from specledger.kinds.suite import SuiteRuns, merge
from specledger.pipeline.executing import execute
from specledger.pipeline.verifying import verify
from specledger.run.executor import Lost
from specledger.run.loop import run as run_loop
from specledger.run.loop import run_episode
from specledger.run.parallel_episodes import run_parallel
from specledger.run.workers import ALONE, E_WORKER_DIED, Processes

EPISODES = "specledger.run.parallel_episodes"


class Failing:
    """An executor that is lost after some pieces of work."""

    width, remote = 1, False

    def __init__(self, pieces):
        self.pieces = pieces

    @contextmanager
    def open(self, work, pieces=None):
        with ALONE.open(work) as self.crew:
            yield self

    def submit(self, index, item):
        self.crew.submit(index, item)

    def ready(self):
        return []

    def wait(self):
        self.pieces -= 1
        if self.pieces < 0:
            raise Lost(E_WORKER_DIED, "lost")
        return self.crew.wait()


def bytes_of(place):
    return {path.relative_to(place).as_posix(): path.read_bytes() for path in place.rglob("*") if path.is_file()}


@pytest.fixture
def suite(project):
    """The suite of eight runs, with its bytes when it is made at once."""
    (bundle,) = load("heights.yaml")
    return bundle, bytes_of(execute(bundle, project / "whole").place)


@pytest.fixture
def made(monkeypatch):
    """The numbers of the runs that are made, as they are made."""
    numbers = []
    call = SuiteRuns.__call__

    def noted(self, item):
        numbers.append(item)
        return call(self, item)

    monkeypatch.setattr(SuiteRuns, "__call__", noted)
    return numbers


def left_at(bundle, place, pieces):
    """The working folder of a suite whose executor is lost after some pieces."""
    with pytest.raises(Lost):
        execute(bundle, place, RunOptions(Failing(pieces)))
    assert not place.exists()
    (work,) = place.parent.glob(f".{place.name}.*.partial")
    return work


@pytest.mark.parametrize("pieces", [0, 3, 7])
def test_finished_runs_are_not_made_again(suite, project, made, pieces):
    bundle, expected = suite
    left_at(bundle, project / "out", pieces)
    made.clear()
    assert bytes_of(execute(bundle, project / "out", RunOptions(resume=True)).place) == expected
    assert made == list(range(pieces, 8))
    assert not list(project.glob(".out*"))


DAMAGE = {
    "a record is torn": lambda work: shorten(work / "finished/runs+long.climb.3"),
    "a record is missing": lambda work: (work / "finished/runs+long.climb.3").unlink(),
    "a run's receipts are changed": lambda work: shorten(work / "new/runs/long.climb.3/receipts.jsonl"),
    "a run's manifest is missing": lambda work: (work / "new/runs/long.climb.3/manifest.json").unlink(),
    "a run has a file too many": lambda work: (work / "new/runs/long.climb.3/notes").write_text(""),
}


def shorten(path):
    path.write_bytes(path.read_bytes()[:-1])


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_what_is_not_whole_does_not_count(suite, project, made, damage):
    bundle, expected = suite
    damage(left_at(bundle, project / "out", 3))
    made.clear()
    assert bytes_of(execute(bundle, project / "out", RunOptions(resume=True)).place) == expected
    assert made == [0, 3, 4, 5, 6, 7]


def test_another_run_is_not_continued(suite, project):
    bundle, expected = suite
    left_at(load("heights.yaml", set=["seed=5"])[0], project / "out", 3)
    with pytest.raises(Rejected, match="E_RESUME_OTHER"):
        execute(bundle, project / "out", RunOptions(resume=True))
    assert bytes_of(execute(bundle, project / "out").place) == expected
    assert not list(project.glob(".out*"))


def test_without_anything_to_resume_it_begins(suite, project):
    bundle, expected = suite
    assert bytes_of(execute(bundle, project / "out", RunOptions(resume=True)).place) == expected


@pytest.mark.parametrize("stop", [1, 4, 12, 29])
@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_whole_episodes_are_not_run_again(project, monkeypatch, stop, workers):
    (bundle,) = load("climb.yaml", set=["episodes=10"])
    expected = bytes_of(execute(bundle, project / "whole").place)

    def interrupt(done, _most):
        if done > stop:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        execute(bundle, project / "out", RunOptions(resume=True), interrupt)
    (work,) = project.glob(".out.*.partial")
    with (work / "new/receipts.jsonl").open("ab") as file:
        file.write(b'{"half')
    whole = (work / "new/receipts.jsonl").read_bytes().count(b'"type":"episode_end"')
    numbers = []

    def noted(plan, number):
        numbers.append(number)
        return run_episode(plan, number)

    monkeypatch.setattr(f"{EPISODES}.run_episode", noted)
    if workers > 1:
        monkeypatch.setattr(run_parallel, "__kwdefaults__", {"worth": 1, "held": (0, ())})
    done = execute(bundle, project / "out", RunOptions(Processes(workers), resume=True))
    assert bytes_of(done.place) == expected
    assert workers > 1 or numbers == (list(range(whole, 10)) if whole else [])


def test_a_run_of_a_suite_goes_on_from_its_whole_episodes(project, monkeypatch):
    (bundle,) = load("heights.yaml", set=["runs.long.set={episodes: 6}", "mutants=[]"])
    expected = bytes_of(execute(bundle, project / "whole").place)
    numbers = []

    def interrupted(plan, number):
        numbers.append(number)
        if len(numbers) == 9:
            raise KeyboardInterrupt
        return run_episode(plan, number)

    def each(plan, progress, events):
        own = (event for number in range(plan.episodes) for event in interrupted(plan, number))
        return run_loop(plan, progress, own if events is None else events)

    monkeypatch.setattr(f"{EPISODES}.run", each)
    monkeypatch.setattr(f"{EPISODES}.run_episode", interrupted)
    with pytest.raises(KeyboardInterrupt):
        execute(bundle, project / "out", RunOptions(resume=True))
    assert bytes_of(execute(bundle, project / "out", RunOptions(resume=True)).place) == expected
    assert numbers[:9] == [*range(6), 0, 1, 2]
    assert numbers[9:13] == [2, 3, 4, 5]


@pytest.fixture
def shards(suite, project):
    """The suite in three shards."""
    return [execute(suite[0], project / f"shard-{number}", RunOptions(shard=(number, 3))).place for number in (1, 2, 3)]


def test_merged_shards_are_the_suite(suite, project, shards, made):
    merged = merge(shards[::-1], project / "merged", RunOptions())
    assert bytes_of(merged.place) == suite[1]
    assert made == []
    assert verify(merged.place).checks == verify(project / "whole").checks


def test_a_shard_is_made_again_in_its_place_and_is_no_evidence(suite, project, shards):
    before = bytes_of(shards[1])
    assert bytes_of(execute(suite[0], shards[1], RunOptions(shard=(2, 3))).place) == before
    with pytest.raises(Rejected, match="E_NO_EVIDENCE") as rejected:
        verify(shards[1])
    assert "`spec merge`" in str(rejected.value.diagnostics[0].hint)


def edit(place, **changes):
    document = json.loads((place / "shard.json").read_bytes()) | changes
    (place / "shard.json").write_bytes(canonical_bytes(document) + b"\n")


def rewrite(place, change):
    """Change the record of a run, and make its digest fit again."""
    record = place / "finished/runs+long.climb.3"
    data = change(record.read_bytes()[64:])
    record.write_bytes(tagged("specledger/finished-run/v1", data).encode() + data)


REFUSED = {
    "one is missing": (lambda all_: all_.pop(), "shard 3 of 3 is missing"),
    "one is there twice": (lambda all_: all_.append(all_[0]), "shard 1 of 3 is there twice"),
    "one is no shard": (lambda all_: (all_[0] / "shard.json").unlink(), "shard.json is missing"),
    "one is malformed": (lambda all_: edit(all_[0], shard=[4, 3]), "shard.json is malformed"),
    "one has other specs": (lambda all_: edit(all_[1], specs="0" * 64), "is a shard of other specs"),
    "one is of another number": (lambda all_: edit(all_[1], shard=[2, 4]), "or of another number"),
    "one is by another engine": (lambda all_: edit(all_[1], engine="0" * 64), "other source files"),
    "its specs were changed": (lambda all_: changed_specs(all_[0]), "its specs are others than it says"),
    "a sample is forged": (
        lambda all_: rewrite(all_[0], lambda data: re.sub(rb'("highest":\[\[)[0-9]', rb"\g<1>9", data)),
        "its record says something else than its receipts",
    ),
    "a replay is of another form": (
        lambda all_: rewrite(all_[0], lambda data: data.replace(b'"noticed":false', b'"noticed": null')),
        "its record says something else than its receipts",
    ),
    "a record is no record": (lambda all_: rewrite(all_[0], lambda _: b"[" * 100_000), "is missing or changed"),
    "a record lacks a key": (
        lambda all_: rewrite(all_[0], lambda data: data.replace(b'"place"', b'"plaze"')),
        "is missing or changed",
    ),
    "a file is a link": (lambda all_: (all_[0] / "specs/leak.yaml").symlink_to("/etc/hostname"), "leak.yaml is a link"),
    "a run is missing": (lambda all_: shutil.rmtree(all_[2] / "runs"), "is missing or changed"),
    "a run is changed": (lambda all_: shorten(all_[0] / "runs/long.climb.3/receipts.jsonl"), "long.climb.3 is missing"),
}


def changed_specs(place):
    shutil.copy(place / "runs/long.climb.3/specs.json", place / "suite.json")


@pytest.mark.parametrize(("change", "said"), REFUSED.values(), ids=REFUSED)
def test_shards_that_do_not_belong_together_are_refused(project, shards, change, said):
    change(shards)
    with pytest.raises(Rejected) as rejected:
        merge(shards, project / "merged", RunOptions())
    (found,) = rejected.value.diagnostics
    assert (found.code, said in found.message) == ("E_SHARD", True), found.message
    assert not (project / "merged").exists()


def test_more_shards_than_runs(suite, project):
    places = [execute(suite[0], project / f"s{n}", RunOptions(shard=(n, 9))).place for n in range(1, 10)]
    assert bytes_of(merge(places, project / "merged", RunOptions()).place) == suite[1]
