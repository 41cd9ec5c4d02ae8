"""What was finished before a run ended early counts once: resumed runs and merged shards have the bytes of the whole."""

import json
import os
import shutil
from contextlib import chdir, contextmanager

import pytest

from specledger.compile.suite import DeferredPlan
from specledger.core.canonical import canonical_bytes
from specledger.core.diagnostics import Rejected
from specledger.core.digest import file_digest
from specledger.core.events import Event
from specledger.evidence.chain import Chain
from specledger.kinds import KINDS, load
from specledger.kinds.running import RunOptions
from specledger.kinds.scenario import merge as merge_scenario
from specledger.kinds.suite import SuiteRuns, merge
from specledger.pipeline.executing import execute
from specledger.pipeline.verifying import verify
from specledger.run.executor import Lost
from specledger.run.loop import run as run_loop
from specledger.run.loop import run_episode, run_parallel
from specledger.run.workers import ALONE, E_WORKER_DIED, Processes
from tests.toys.bundles import files_of
from tests.unit.suites.conftest import write_project

EPISODES = "specledger.run.loop"


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


@pytest.fixture(scope="module")
def once(tmp_path_factory):
    """The suite made at once, and in three shards, for all tests of this file."""
    folder = write_project(tmp_path_factory.mktemp("suite"))
    with chdir(folder):
        (bundle,) = load("heights.yaml")
        execute(bundle, folder / "whole")
        for number in (1, 2, 3):
            execute(bundle, folder / f"shard-{number}", RunOptions(shard=(number, 3)))
    return folder


@pytest.fixture
def suite(project, once):
    """The suite of eight runs, with its bytes when it is made at once."""
    whole = shutil.copytree(once / "whole", project / "whole")
    return load("heights.yaml")[0], files_of(whole)


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


@pytest.mark.medium
@pytest.mark.parametrize("pieces", [0, 3, 7])
def test_finished_runs_are_not_made_again(suite, project, made, pieces):
    bundle, expected = suite
    left_at(bundle, project / "out", pieces)
    made.clear()
    assert files_of(execute(bundle, project / "out", RunOptions(resume=True)).place) == expected
    assert made == list(range(pieces, 8))
    assert not list(project.glob(".out*"))


def stop_after(bundle, place, events, **options):
    """Interrupt a run of a scenario after so many events."""

    def interrupt(done, _most):
        if done > events:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        execute(bundle, place, RunOptions(resume=True, **options), interrupt)


def shorten(path):
    path.write_bytes(path.read_bytes()[:-1])


def change(path, old, new):
    """Replace the first occurrence of some bytes in a file."""
    assert old in path.read_bytes()
    path.write_bytes(path.read_bytes().replace(old, new, 1))


def forge(run, old, new):
    """Change a run's receipts, seal them again, and let its manifest list them."""
    receipts, manifest = run / "receipts.jsonl", json.loads((run / "manifest.json").read_bytes())
    change(receipts, old, new)
    chain = Chain(manifest["run"])
    lines = [json.loads(line) for line in receipts.read_bytes().splitlines()]
    receipts.write_bytes(b"".join(chain.seal(Event(one["type"], one["body"])) + b"\n" for one in lines))
    manifest["receipts"] = {"count": chain.count, "head": chain.head, "root": chain.root}
    listed = next(one for one in manifest["files"] if one["path"] == "receipts.jsonl")
    listed |= {"sha256": file_digest(receipts), "size": receipts.stat().st_size}
    (run / "manifest.json").write_bytes(canonical_bytes(manifest) + b"\n")


RUN = "new/runs/long.climb.3"
DAMAGE = {
    "receipts are shorter": lambda work: shorten(work / RUN / "receipts.jsonl"),
    "receipts are edited": lambda work: change(work / RUN / "receipts.jsonl", b'"success":false', b'"success":true'),
    "a result is edited": lambda work: change(work / RUN / "manifest.json", b'"successes":', b'"successes":9'),
    "a success is forged": lambda work: forge(work / RUN, b'"success":true', b'"success":false'),
    "a manifest is missing": lambda work: (work / RUN / "manifest.json").unlink(),
    "a manifest is a folder": lambda work: as_folder(work / RUN / "manifest.json"),
    "a file too many": lambda work: (work / RUN / "notes").write_text(""),
    "another run": lambda work: moved(work / "new/runs/long.climb.4", work / RUN),
}


def as_folder(path):
    path.unlink()
    path.mkdir()


def moved(path, place):
    shutil.rmtree(place)
    path.rename(place)


@pytest.mark.medium
@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_what_is_not_whole_does_not_count(suite, project, made, damage):
    bundle, expected = suite
    work = left_at(bundle, project / "out", 3)
    damage(work)
    kept = [number for number in (1, 2) if (work / "new" / made_at(bundle, number)).exists()]
    made.clear()
    assert files_of(execute(bundle, project / "out", RunOptions(resume=True)).place) == expected
    assert made == [number for number in range(8) if number not in kept]


def made_at(bundle, number):
    return DeferredPlan(bundle).plan.cases[number][1].place


@pytest.mark.medium
def test_files_that_no_run_leaves_are_removed(suite, project):
    bundle, expected = suite
    work = left_at(bundle, project / "out", 3)
    for place in ("notes", "new/notes", "new/runs/notes", "new/mutants/a/notes", "new/controls/b"):
        (work / place).parent.mkdir(parents=True, exist_ok=True)
        (work / place).write_text("")
    (work / "new/runs/.other.1.partial").mkdir()
    assert files_of(execute(bundle, project / "out", RunOptions(resume=True)).place) == expected


@pytest.mark.parametrize("place", ["new/receipts.jsonl", "before.jsonl", "identity", "new/runs/long.climb.9", "notes"])
def test_a_folder_with_links_is_not_continued(suite, project, place):
    bundle, expected = suite
    work = left_at(bundle, project / "out", 3)
    (project / "mine").write_text("mine")
    (work / place).unlink(missing_ok=True)
    (work / place).symlink_to(project / "mine")
    with pytest.raises(Rejected, match="E_RESUME_OTHER"):
        execute(bundle, project / "out", RunOptions(resume=True))
    assert files_of(execute(bundle, project / "out").place) == expected
    assert (project / "mine").read_text() == "mine"


@pytest.mark.medium
def test_another_run_is_not_continued(suite, project):
    bundle, expected = suite
    left_at(load("heights.yaml", set=["tuned_on=[5]"])[0], project / "out", 3)
    with pytest.raises(Rejected, match="E_RESUME_OTHER"):
        execute(bundle, project / "out", RunOptions(resume=True))
    assert files_of(execute(bundle, project / "out").place) == expected
    assert not list(project.glob(".out*"))


def test_without_anything_to_resume_it_begins(suite, project):
    bundle, expected = suite
    assert files_of(execute(bundle, project / "out", RunOptions(resume=True)).place) == expected


@pytest.mark.parametrize("stop", [1, 4, 12, 29])
@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_whole_episodes_are_not_run_again(project, monkeypatch, stop, workers):
    (bundle,) = load("climb.yaml", set=["episodes=10"])
    expected = files_of(execute(bundle, project / "whole").place)

    stop_after(bundle, project / "out", stop)
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
        monkeypatch.setattr(run_parallel, "__kwdefaults__", {"worth": 1, "held": (0, ()), "wanted": None})
    done = execute(bundle, project / "out", RunOptions(Processes(workers), resume=True))
    assert files_of(done.place) == expected
    assert workers > 1 or numbers == (list(range(whole, 10)) if whole else [])


@pytest.mark.medium
def test_a_run_of_a_suite_goes_on_from_its_whole_episodes(project, monkeypatch):
    (bundle,) = load("heights.yaml", set=["runs.long.set={episodes: 6}", "mutants=[]"])
    expected = files_of(execute(bundle, project / "whole").place)
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
    assert files_of(execute(bundle, project / "out", RunOptions(resume=True)).place) == expected
    assert numbers[:9] == [*range(6), 0, 1, 2]
    assert numbers[9:13] == [2, 3, 4, 5]


@pytest.fixture
def shards(suite, project, once):
    """The suite in three shards."""
    return [shutil.copytree(once / name, project / name) for name in ("shard-1", "shard-2", "shard-3")]


@pytest.mark.medium
def test_merged_shards_are_the_suite(suite, project, shards, made):
    merged = merge(shards[::-1], KINDS, project / "merged", RunOptions())
    assert files_of(merged.place) == suite[1]
    assert made == []
    assert verify(merged.place).checks == verify(project / "whole").checks


def test_a_shard_is_made_again_in_its_place_and_is_no_evidence(suite, project, shards):
    before = files_of(shards[1])
    assert files_of(execute(suite[0], shards[1], RunOptions(shard=(2, 3))).place) == before
    with pytest.raises(Rejected, match="E_NO_EVIDENCE") as rejected:
        verify(shards[1])
    assert "`spec merge`" in str(rejected.value.diagnostics[0].hint)


def edit(place, **changes):
    document = json.loads((place / "shard.json").read_bytes()) | changes
    (place / "shard.json").write_bytes(canonical_bytes(document) + b"\n")


RUN_OF_ONE = "runs/long.climb.3"
REFUSED = {
    "one is missing": (lambda all_: all_.pop(), "shard 3 of 3 is missing"),
    "one is there twice": (lambda all_: all_.append(all_[0]), "shard 1 of 3 is there twice"),
    "one is no shard": (lambda all_: (all_[0] / "shard.json").unlink(), "shard.json is missing"),
    "one is malformed": (lambda all_: edit(all_[0], shard=[4, 3]), "shard.json is malformed"),
    "they are of a huge number": (
        lambda all_: [edit(one, shard=[number, 10**15]) for number, one in enumerate(all_, 1)],
        "shard 4 of 1000000000000000 is missing",
    ),
    "one has other specs": (lambda all_: edit(all_[1], specs="0" * 64), "is a shard of other specs"),
    "one is of another number": (lambda all_: edit(all_[1], shard=[2, 4]), "or of another number"),
    "one is by another engine": (lambda all_: edit(all_[1], engine="0" * 64), "other source files"),
    "one names a case": (lambda all_: edit(all_[0], case="/../../escaped"), "shard.json is malformed"),
    "a source is edited": (lambda all_: comment(all_[0]), "has other files in specs/ than"),
    "all sources have another case": (
        lambda all_: change_all(all_, "specs/origin.json", b'"case":""', b'"case":"/../x"'),
        "there is no case '/../x'",
    ),
    "all specs were changed": (
        lambda all_: change_all(all_, "specs/suite/heights.yaml", b"ENOUGH: 2", b"ENOUGH: 1"),
        "its specs are others than it says",
    ),
    "all have a file beside the sources": (
        lambda all_: [(one / "specs/extra.yaml").write_bytes(b"") for one in all_],
        "specs/extra.yaml is none of the files",
    ),
    "all have a source that is not needed": (
        lambda all_: [(one / "specs/suite/extra.yaml").write_text("spec: suite/v1\n") for one in all_],
        "nothing leads to suite/extra.yaml",
    ),
    "no settings are in the sources": (
        lambda all_: [(one / "specs/origin.json").write_text("{}\n") for one in all_],
        "missing required field `format`",
    ),
    "the sources are missing": (
        lambda all_: [(one / "specs").rename(one / "other") for one in all_],
        "origin.json is missing",
    ),
    "a file is a link": (lambda all_: (all_[0] / "specs/leak.yaml").symlink_to("/etc/hostname"), "leak.yaml is a link"),
    "a file is a pipe": (lambda all_: os.mkfifo(all_[0] / "specs/pipe.yaml"), "is a link or no file"),
    "the runs are missing": (lambda all_: shutil.rmtree(all_[2] / "runs"), "is missing"),
    "a run is shorter": (lambda all_: shorten(all_[0] / RUN_OF_ONE / "receipts.jsonl"), "long.climb.3 is missing or"),
    "a success is forged": (
        lambda all_: forge(all_[0] / RUN_OF_ONE, b'"success":true', b'"success":false'),
        "long.climb.3 is missing or changed",
    ),
    "a result is edited": (
        lambda all_: change(all_[0] / RUN_OF_ONE / "manifest.json", b'"successes":', b'"successes":9'),
        "long.climb.3 is missing or changed",
    ),
}


def change_all(shards, name, old, new):
    for shard in shards:
        change(shard / name, old, new)


def comment(place):
    path = place / "specs/suite/heights.yaml"
    path.write_bytes(path.read_bytes() + b"# edited\n")


@pytest.mark.parametrize(("damage", "said"), REFUSED.values(), ids=REFUSED)
def test_shards_that_do_not_belong_together_are_refused(project, shards, damage, said):
    damage(shards)
    assert said in refusal(merge, shards, project / "merged")


def refusal(merge_, shards, place):
    with pytest.raises(Rejected) as rejected:
        merge_(shards, KINDS, place, RunOptions())
    (found,) = rejected.value.diagnostics
    assert found.code == "E_SHARD"
    assert not place.exists()
    return found.message


@pytest.fixture
def parts(project):
    """A scenario of ten episodes, its bytes when it is made at once, and its three shards."""
    (bundle,) = load("climb.yaml", set=["episodes=10"])
    made = [execute(bundle, project / f"part-{number}", RunOptions(shard=(number, 3))).place for number in (1, 2, 3)]
    return files_of(execute(bundle, project / "whole").place), made


def test_merged_shards_of_a_scenario_are_the_scenario(project, parts, monkeypatch):
    expected, shards = parts
    monkeypatch.setattr(f"{EPISODES}.run_episode", None)
    merged = merge_scenario([shards[2], shards[0], shards[1]], KINDS, project / "merged", RunOptions())
    assert files_of(merged.place) == expected


PARTS = {
    "receipts are shorter": lambda place: shorten(place / "receipts.jsonl"),
    "receipts are edited": lambda place: change(place / "receipts.jsonl", b'"success":false', b'"success":true'),
    "receipts are missing": lambda place: (place / "receipts.jsonl").unlink(),
    "receipts are those of another shard": lambda place: shutil.copy(
        place.with_name("part-1") / "receipts.jsonl", place / "receipts.jsonl"
    ),
    "receipts are no receipts": lambda place: (place / "receipts.jsonl").write_bytes(b"[" * 100_000 + b"\n"),
}


@pytest.mark.parametrize("damage", PARTS.values(), ids=PARTS)
def test_a_shard_of_a_scenario_that_was_changed_is_refused(project, parts, damage):
    damage(parts[1][1])
    assert "is missing or changed" in refusal(merge_scenario, parts[1], project / "merged")


def test_a_shard_of_a_scenario_is_resumed(project, parts):
    (bundle,) = load("climb.yaml", set=["episodes=10"])
    stop_after(bundle, project / "again", 16, shard=(2, 3))
    told = []
    options = RunOptions(resume=True, shard=(2, 3), tell=lambda *words: told.append(words))
    assert files_of(execute(bundle, project / "again", options).place) == files_of(parts[1][1])
    assert told == [(2, 3, "episode")]


def test_episodes_that_depend_on_one_another_have_no_shards(project):
    (bundle,) = load("climb.yaml", set=["agent.memory={scope: run, fields: {m: {type: int, start: n}}}"])
    with pytest.raises(Rejected, match="E_SHARD"):
        execute(bundle, project / "out", RunOptions(shard=(1, 2)))


@pytest.mark.parametrize("damage", ["edited", "forged", "specs", "linked"])
def test_episodes_that_were_changed_do_not_count(project, damage):
    (bundle,) = load("climb.yaml", set=["episodes=10"])
    expected = files_of(execute(bundle, project / "whole").place)
    stop_after(bundle, project / "out", 22)
    (work,) = project.glob(".out.*.partial")
    receipts = work / "new/receipts.jsonl"
    lines = receipts.read_bytes().splitlines(keepends=True)
    if damage == "edited":
        third = next(number for number, line in enumerate(lines) if b'"episode":2,' in line)
        lines[third] = lines[third].replace(b'"episode":2,', b'"episode":7,')
    elif damage == "forged":
        chain = Chain(json.loads(lines[0])["run"])
        documents = [json.loads(line) for line in lines]
        end = [one for one in documents if one["type"] == "episode_end"][2]
        end["body"]["success"] = not end["body"]["success"]
        lines = [chain.seal(Event(one["type"], one["body"])) + b"\n" for one in documents]
    elif damage == "specs":
        lines[0] = lines[0].replace(b'"seed":3', b'"seed":4')
    receipts.write_bytes(b"".join(lines))
    if damage == "linked":
        os.link(receipts, project / "mine")
    before = receipts.read_bytes()
    told = []
    options = RunOptions(resume=True, tell=lambda *words: told.append(words))
    assert files_of(execute(bundle, project / "out", options).place) == expected
    assert told == [({"edited": 2, "forged": 2, "specs": 0, "linked": 7}[damage], 10, "episode")]
    assert damage != "linked" or (project / "mine").read_bytes() == before


def relabelled(place, verdict="ERROR"):
    """Let a manifest say another verdict than its receipts give, or none."""
    manifest = json.loads((place / "manifest.json").read_bytes())
    manifest["result"] = {**manifest["result"], "verdict": verdict} if verdict else {}
    (place / "manifest.json").write_bytes(canonical_bytes(manifest) + b"\n")


COMPLETE = {
    "a scenario": ("climb.yaml", [], lambda _: None, True),
    "a suite": ("heights.yaml", [], lambda _: None, True),
    "a suite, a run of which was changed": ("heights.yaml", [], lambda place: altered(place, "runs"), False),
    "a suite with another verdict": ("heights.yaml", [], relabelled, False),
    "another verdict": ("climb.yaml", [], relabelled, False),
    "a manifest without a verdict": ("climb.yaml", [], lambda place: relabelled(place, None), False),
    "a changed file": ("climb.yaml", [], lambda place: altered(place, ""), False),
    "other specs": ("climb.yaml", ["seed=9"], lambda _: None, False),
    "no manifest": ("climb.yaml", [], shutil.rmtree, False),
}


def altered(place, folder):
    """Change a byte of receipts."""
    file = sorted((place / folder).rglob("receipts.jsonl"))[0]
    file.write_bytes(file.read_bytes().replace(b'"seq":1', b'"seq":8', 1))


@pytest.mark.medium
@pytest.mark.parametrize(("spec", "changes", "damage", "complete"), COMPLETE.values(), ids=COMPLETE)
def test_complete_evidence_is_not_made_again(project, spec, changes, damage, complete):
    (bundle,) = load(spec)
    first = execute(bundle, project / "out", RunOptions(resume=True))
    damage(project / "out")
    (again,) = load(spec, set=changes)
    done = execute(again, project / "out", RunOptions(resume=True))
    assert (first.complete, done.complete) == (False, complete)
    assert done.verdict is first.verdict
    assert (done.manifest, done.receipts) == (first.manifest, first.receipts) or changes
    assert done.manifest["specs"] == again.digest


def test_complete_evidence_shows_the_incidents_of_its_run(project):
    (bundle,) = load("climb.yaml", set=["agent.with.fear=2"])
    first, again = (execute(bundle, project / "out", RunOptions(resume=True)) for _ in range(2))
    assert again.complete
    assert again.incidents == first.incidents != ()


def test_a_link_is_no_complete_evidence(project):
    (bundle,) = load("climb.yaml")
    execute(bundle, project / "elsewhere")
    (project / "out").symlink_to(project / "elsewhere")
    with pytest.raises(Rejected) as caught:
        execute(bundle, project / "out", RunOptions(resume=True))
    assert [one.code for one in caught.value.diagnostics] == ["E_OUT_FOREIGN"]


def test_complete_evidence_is_not_written_again_unless_it_is_to_be_shared(project):
    (bundle,) = load("climb.yaml")
    folder = project / "out"
    execute(bundle, folder)
    assert execute(bundle, folder, RunOptions(resume=True)).complete
    assert not execute(bundle, folder, RunOptions()).complete
    assert not execute(bundle, folder, RunOptions(resume=True, shard=(1, 2))).complete


@pytest.mark.medium
def test_more_shards_than_runs(suite, project):
    places = [execute(suite[0], project / f"s{n}", RunOptions(shard=(n, 9))).place for n in range(1, 10)]
    assert files_of(merge(places, KINDS, project / "merged", RunOptions()).place) == suite[1]
