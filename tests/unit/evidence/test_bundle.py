"""The folder of evidence: what is in it, what it may replace, and that a failure leaves what was there before."""

import errno
import hashlib
import json
import os
from contextlib import contextmanager
from pathlib import Path

import pytest

from specledger.core.canonical import NotCanonical
from specledger.core.diagnostics import Rejected
from specledger.core.events import Event
from specledger.evidence.bundle import BundleWriter
from specledger.evidence.chain import Chain
from specledger.evidence.layout import FORMAT, MAX_LINE
from specledger.evidence.result import Tally
from tests.toys.refusals import codes

RUN = "ab" * 16
DIGEST = "cd" * 32
SPECS = {"root": "scenario/a@0", "specs": {"scenario/a@0": {"name": "a", "horizon": 3}}}
EVENTS = [
    Event(
        "start",
        {"invariants": [{"name": "budget", "scope": "step", "severity": "fatal"}], "gates": ["wall"], "specs": DIGEST},
    ),
    Event("episode", {"episode": 0}),
    Event("step", {"decisions": [{"rejected": [], "error": None}], "chosen": 0, "violations": []}),
    Event("episode_end", {"success": True, "violations": [], "idle": {}}),
    Event("end", {"episodes": 1, "steps": 1}),
]
NAMES = ["manifest.json", "receipts.jsonl", "specs.json"]
SOURCES = {"world/a.yaml": b"a", "origin.json": b"{}"}
BREACH = {"invariant": "i", "severity": "fatal"}
FAILED = Event("step", {"decisions": [{"rejected": [], "error": None}], "chosen": 0, "violations": [BREACH]})


def writer(place, run=RUN, specs=SPECS, sources=None):
    return BundleWriter(place, run, specs, DIGEST, sources=sources)


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch):
    """That files are forced to the disk is seen where that fails; doing it takes most of the time."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


def write(place, events=EVENTS, meanwhile=lambda: None, **changes):
    """Write a bundle; `meanwhile` happens between the last event and the finish."""
    with writer(place, **changes) as bundle:
        for event in events:
            bundle.add(event)
        meanwhile()
        return bundle.finish()


def snapshot(folder):
    """Everything in a folder: what each path is, and its bytes or target."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            what = ("link", os.readlink(path))
        else:
            what = ("folder", "") if path.is_dir() else ("file", path.read_bytes())
        found[path.relative_to(folder).as_posix()] = what
    return found


@contextmanager
def unchanged(folder, exception=Rejected, code=None):
    """What is done is refused, and leaves everything in a folder as it was."""
    before = snapshot(folder)
    with pytest.raises(exception) as error:
        yield
    assert snapshot(folder) == before
    assert code is None or [found.code for found in error.value.diagnostics] == [code]


def test_what_a_bundle_holds(tmp_path):
    place = tmp_path / "evidence"
    manifest = write(place)
    assert sorted(path.name for path in place.iterdir()) == NAMES
    chain, tally = Chain(RUN), Tally()
    lines = [chain.seal(event) for event in EVENTS]
    for event in EVENTS:
        tally.add(event.type, event.body)
    receipts, specs = (place / "receipts.jsonl").read_bytes(), (place / "specs.json").read_bytes()
    assert receipts == b"".join(line + b"\n" for line in lines)
    assert specs == json.dumps(SPECS, sort_keys=True, separators=(",", ":")).encode() + b"\n"
    engine = manifest.pop("engine")
    assert set(engine) == {"name", "version"}
    assert manifest.pop("evaluator") == {"name": "cel-profile", "version": "1"}
    assert manifest == {
        "format": FORMAT,
        "run": RUN,
        "specs": DIGEST,
        "result": tally.result(),
        "receipts": {"count": len(EVENTS), "head": chain.head, "root": chain.root},
        "files": [
            {"path": name, "sha256": hashlib.sha256(data).hexdigest(), "size": len(data)}
            for name, data in (("receipts.jsonl", receipts), ("specs.json", specs))
        ],
    }
    assert manifest["result"]["verdict"] == "PASS"


def test_sources_and_failing_cases_are_listed_in_the_order_of_paths(tmp_path):
    place = tmp_path / "evidence"
    events = [FAILED if event.type == "step" else event for event in EVENTS]
    write(place, events=events, sources=SOURCES)
    manifest = write(place, events=events, sources=dict(reversed(SOURCES.items())))  # replaces the one before
    paths = ["counterexamples/00000002.json", "receipts.jsonl", "specs.json", "specs/origin.json", "specs/world/a.yaml"]
    assert [entry["path"] for entry in manifest["files"]] == paths
    assert sorted(path.relative_to(place).as_posix() for path in place.rglob("*.*")) == sorted(
        [*paths, "manifest.json"]
    )
    assert (place / "specs/world/a.yaml").read_bytes() == b"a"
    (case,) = [entry for entry in manifest["files"] if entry["path"] == paths[0]]
    assert case["sha256"] == hashlib.sha256((place / paths[0]).read_bytes()).hexdigest()


def test_bytes_do_not_depend_on_the_place_or_the_time(tmp_path):
    first, second = tmp_path / "a", tmp_path / "deeper" / "and deeper" / "b"
    assert write(first) == write(second)
    assert snapshot(first) == snapshot(second)


def lose(*names):
    def change(place):
        write(place)
        for name in names:
            (place / name).unlink()

    return change


REPLACED = {
    "an earlier bundle": lambda place: write(place, run="00" * 16, specs={"root": "an earlier one"}),
    "one without receipts": lose("receipts.jsonl"),
    "one without specs": lose("specs.json"),
    "a manifest alone": lose("receipts.jsonl", "specs.json"),
    "an empty folder": Path.mkdir,
}


@pytest.mark.parametrize("put", REPLACED.values(), ids=REPLACED)
def test_a_finished_bundle_replaces_what_was_one_or_nothing(tmp_path, put):
    put(tmp_path / "evidence")
    write(tmp_path / "evidence")
    write(tmp_path / "fresh")
    assert snapshot(tmp_path / "evidence") == snapshot(tmp_path / "fresh")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["evidence", "fresh"]


def test_files_are_forced_to_the_disk_when_all_of_their_bytes_are_written(tmp_path, monkeypatch):
    sizes = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: sizes.append(os.fstat(descriptor).st_size))
    manifest = write(tmp_path / "evidence")
    written = (tmp_path / "evidence" / "manifest.json").stat().st_size
    files = [*(entry["size"] for entry in manifest["files"]), written]
    assert [size for size in sizes if size in files] == files


def test_the_earlier_bundle_is_there_until_the_new_one_is_finished(tmp_path):
    place = tmp_path / "evidence"
    write(place, run="00" * 16)
    earlier = snapshot(place)
    with writer(place) as bundle:
        for event in EVENTS:
            bundle.add(event)
            assert snapshot(place) == earlier
        bundle.finish()
    assert snapshot(place) != earlier


def test_an_episode_is_in_the_file_when_it_has_ended(tmp_path):
    with writer(tmp_path / "evidence") as bundle:
        for event in EVENTS[:4]:
            bundle.add(event)
        (receipts,) = tmp_path.rglob("receipts.jsonl")
        assert receipts.read_bytes().count(b"\n") == 4


def test_what_a_killed_run_left_is_no_hindrance(tmp_path):
    abandoned = writer(tmp_path / "evidence")
    abandoned.__enter__().add(EVENTS[0])
    assert snapshot(tmp_path) != {}
    os.close(abandoned._workplace._lock)
    abandoned._workplace._lock = None
    write(tmp_path / "evidence")
    assert [path.name for path in tmp_path.iterdir()] == ["evidence"]
    abandoned.__exit__(None, None, None)
    assert sorted(path.name for path in (tmp_path / "evidence").iterdir()) == NAMES


def abandoned(folder, name=".evidence.999999999.partial"):
    """What a killed process left: half a bundle, and the earlier one that it had just set aside."""
    write(folder / "evidence", run="00" * 16)
    (folder / name / "new").mkdir(parents=True)
    (folder / name / "new" / "receipts.jsonl").write_text("torn")
    (folder / "evidence").rename(folder / name / "earlier")
    return folder / name


def test_what_another_process_left_when_it_was_killed_is_removed(tmp_path):
    abandoned(tmp_path)
    write(tmp_path / "evidence")
    assert [path.name for path in tmp_path.iterdir()] == ["evidence"]


def test_what_another_process_had_set_aside_is_put_back(tmp_path):
    earlier = snapshot(abandoned(tmp_path) / "earlier")
    with writer(tmp_path / "evidence"):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["evidence"]
    assert snapshot(tmp_path / "evidence") == earlier


def test_a_folder_in_which_another_process_works_is_left_alone(tmp_path):
    locks = pytest.importorskip("fcntl")
    busy = abandoned(tmp_path)
    before = snapshot(busy)
    descriptor = os.open(busy, os.O_RDONLY)
    try:
        locks.flock(descriptor, locks.LOCK_EX | locks.LOCK_NB)
        write(tmp_path / "evidence")
    finally:
        os.close(descriptor)
    assert snapshot(busy) == before


@pytest.mark.parametrize(
    "name",
    [
        ".evidence.old.partial",
        ".evidence2.1.partial",
        "evidence.1.partial",
        ".evidence.1.partial~",
        ".evidencex1.partial",
    ],
)
def test_a_folder_of_another_name_is_left_alone(tmp_path, name):
    other = abandoned(tmp_path, name)
    before = snapshot(other)
    write(tmp_path / "evidence")
    assert snapshot(other) == before


def test_a_file_or_a_link_by_the_name_of_a_working_folder_is_left_alone(tmp_path):
    (tmp_path / ".evidence.1.partial").write_text("precious")
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "precious.txt").write_text("precious")
    (tmp_path / ".evidence.2.partial").symlink_to("kept")
    before = snapshot(tmp_path)
    write(tmp_path / "evidence")
    assert {path: what for path, what in snapshot(tmp_path).items() if not path.startswith("evidence")} == before


def keep(path, data=b"precious"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def bundle_with(change, **changes):
    def make(place):
        write(place, **changes)
        change(place)

    return make


def replaced(name, put):
    """A bundle in which something else has the name of a file."""

    def change(place):
        (place / name).unlink()
        put(place / name)

    return bundle_with(change)


def link_to(make):
    """A link to something beside it."""

    def put(place):
        make(place.with_name("elsewhere"))
        place.symlink_to("elsewhere")

    return put


FOREIGN = {
    "a file": keep,
    "a folder with something else": lambda place: keep(place / "precious.txt"),
    "a bundle with something else": bundle_with(lambda place: keep(place / "precious.txt")),
    "a folder with an attached name": bundle_with(lambda place: (place / "checkpoint").mkdir()),
    "a link with an attached name": bundle_with(lambda place: (place / "checkpoint").symlink_to("specs.json")),
    "an attached file in an inner bundle": bundle_with(lambda place: keep(place / "runs/a/checkpoint")),
    "a bundle with an empty folder": bundle_with(lambda place: (place / "counterexamples").mkdir()),
    "notes among the sources": bundle_with(lambda place: keep(place / "specs/world/notes.txt"), sources=SOURCES),
    "notes among the cases": bundle_with(lambda place: keep(place / "counterexamples/notes.json", b"{}")),
    "a link among the sources": bundle_with(lambda place: (place / "specs/world/b.yaml").symlink_to("a.yaml"), sources=SOURCES),
    "a bundle without its manifest": bundle_with(lambda place: (place / "manifest.json").unlink()),
    "a manifest of something else": lambda place: keep(place / "manifest.json", b'{"format":"something else/v1"}'),
    "a manifest that is no record": lambda place: keep(place / "manifest.json", f'["format","{FORMAT}"]'.encode()),
    "a manifest that is no JSON": lambda place: keep(place / "manifest.json", b"\xff\x00"),
    "a manifest that is too large": lambda place: keep(place / "manifest.json", f'{{"format":"{FORMAT}","x":"{"y" * (1 << 20)}"}}'.encode()),
    "a folder called manifest": lambda place: keep(place / "manifest.json" / "precious.txt"),
    "a folder called receipts": replaced("receipts.jsonl", lambda path: keep(path / "precious.txt")),
    "a link in a bundle": replaced("specs.json", lambda path: path.symlink_to("manifest.json")),
    "a link to a bundle": link_to(write),
    "a link to an empty folder": link_to(Path.mkdir),
    "a link to nothing": lambda place: place.symlink_to("nowhere"),
}  # fmt: skip


@pytest.mark.parametrize("put", FOREIGN.values(), ids=FOREIGN)
def test_what_is_no_bundle_is_refused_and_stays(tmp_path, put):
    put(tmp_path / "evidence")
    with unchanged(tmp_path, code="E_OUT_FOREIGN"):
        write(tmp_path / "evidence")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_refused_without_waiting_for_its_other_end(tmp_path):
    (tmp_path / "folder").mkdir()
    for path in ("evidence", "folder/manifest.json"):
        os.mkfifo(tmp_path / path)
    for place in ("evidence", "folder"):
        assert codes(write, tmp_path / place) == ["E_OUT_FOREIGN"]


@pytest.mark.parametrize(
    "name", ["a file", "a bundle with something else", "a folder called receipts", "a link to nothing"]
)
def test_what_comes_to_the_place_during_the_run_stays(tmp_path, name):
    aside = tmp_path / "aside"
    aside.mkdir()
    FOREIGN[name](aside / "evidence")
    before = snapshot(aside)

    def come():
        for path in aside.iterdir():
            path.rename(tmp_path / path.name)
        aside.rmdir()

    assert codes(write, tmp_path / "evidence", meanwhile=come) == ["E_OUT_FOREIGN"]
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("place", [".", "", "..", "new/..", "kept/.."])
def test_the_folder_that_one_stands_in_is_refused(tmp_path, monkeypatch, place):
    here = tmp_path / "here"
    (here / "kept").mkdir(parents=True)
    (here / "precious.txt").write_text("precious")
    monkeypatch.chdir(here)
    with unchanged(tmp_path, code="E_OUT_FOREIGN"):
        write(Path(place))


UNWRITABLE = {
    "below a file": lambda folder: folder / "file" / "evidence",
    "far below a file": lambda folder: folder / "file" / "a" / "b" / "evidence",
    "below a link to nothing": lambda folder: folder / "link" / "evidence",
    "a name that is too long": lambda folder: folder / ("n" * 300),
    "a name that leaves no room for its working folder": lambda folder: folder / ("n" * 250),
}


@pytest.mark.parametrize("choose", UNWRITABLE.values(), ids=UNWRITABLE)
def test_a_place_that_cannot_be_made_is_refused_and_nothing_is_left(tmp_path, choose):
    (tmp_path / "file").write_text("precious")
    (tmp_path / "link").symlink_to(tmp_path / "file" / "nothing")
    with unchanged(tmp_path, code="E_OUT_UNWRITABLE"):
        write(choose(tmp_path))


def fail(number=1):
    """A function that fails as a full disk does, the first time, or the so many-th; before that it is the original."""
    calls = []

    def failing(original):
        def call(*arguments, **options):
            calls.append(arguments)
            if len(calls) == number:
                raise OSError(errno.ENOSPC, "No space left on device")
            return original(*arguments, **options)

        return call

    return failing


FAILURES = {
    "making the working folder": (Path, "mkdir", fail()),
    "reading the earlier manifest": (Path, "open", fail()),
    "opening the receipts": (Path, "open", fail(2)),
    "looking into what is there": (os, "scandir", fail()),
    "forcing the identity to the disk": (os, "fsync", fail()),
    "forcing the receipts to the disk": (os, "fsync", fail(2)),
    "forcing the specs to the disk": (os, "fsync", fail(3)),
    "forcing the manifest to the disk": (os, "fsync", fail(4)),
    "forcing the names in it to the disk": (os, "fsync", fail(5)),
    "forcing the name of the working folder to the disk": (os, "fsync", fail(7)),
    "forcing the moves to the disk": (os, "fsync", fail(9)),
    "reading for the manifest": (hashlib, "file_digest", fail()),
    "setting the earlier bundle aside": (Path, "rename", fail()),
    "moving the new bundle": (Path, "rename", fail(2)),
}


@pytest.mark.parametrize(("owner", "name", "failing"), FAILURES.values(), ids=FAILURES)
def test_a_failure_of_the_system_leaves_the_earlier_bundle(tmp_path, owner, name, failing):
    write(tmp_path / "evidence", run="00" * 16)
    with unchanged(tmp_path, code="E_OUT_UNWRITABLE"), pytest.MonkeyPatch.context() as patch:
        patch.setattr(owner, name, failing(getattr(owner, name)))
        write(tmp_path / "evidence")


@contextmanager
def files_of_at_most(size):
    """The system refuses to let any file of this process grow beyond `size` bytes."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_disk_that_fills_up_during_the_run_leaves_nothing(tmp_path):
    """A receipt larger than the file's buffer fails when it is added, and would fail again when the file is closed."""
    events = [EVENTS[0], Event("drift", {"drawn": "d" * 400_000}), EVENTS[4]]
    with unchanged(tmp_path, code="E_OUT_UNWRITABLE"), files_of_at_most(4096):
        write(tmp_path / "evidence", events=events, meanwhile=pytest.fail)


def test_a_file_that_cannot_be_closed_leaves_nothing_and_hides_nothing(tmp_path):
    with unchanged(tmp_path, ZeroDivisionError), files_of_at_most(16):
        write(tmp_path / "evidence", events=EVENTS[:3], meanwhile=lambda: 1 // 0)


INTERRUPTIONS = [RuntimeError, KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError]


@pytest.fixture(params=[False, True], ids=["new", "replacing"])
def place(tmp_path, request):
    """Where a bundle goes, and perhaps another one is."""
    if request.param:
        write(tmp_path / "evidence", run="00" * 16)
    return tmp_path / "evidence"


def interrupting(exception):
    def interrupt(*arguments):
        raise exception

    return interrupt


@pytest.mark.parametrize("interruption", INTERRUPTIONS)
@pytest.mark.parametrize("after", [0, 3, len(EVENTS)])
def test_an_interruption_leaves_what_was_there(tmp_path, place, interruption, after):
    with unchanged(tmp_path, interruption):
        write(place, events=EVENTS[:after], meanwhile=interrupting(interruption))


@pytest.mark.parametrize("name", ["canonical_bytes", "BundleWriter._sync", "_entry", "disk.sync_names"])
def test_an_interruption_in_mid_write_leaves_what_was_there(tmp_path, place, monkeypatch, name):
    monkeypatch.setattr(f"specledger.evidence.bundle.{name}", interrupting(KeyboardInterrupt))
    with unchanged(tmp_path, KeyboardInterrupt):
        write(place)


@pytest.mark.parametrize("done", [False, True], ids=["before it", "after it"])
def test_an_interruption_between_the_two_moves_puts_the_earlier_bundle_back(tmp_path, monkeypatch, done):
    """A signal arrives when the earlier bundle is about to be set aside, or has just been."""
    rename = Path.rename
    write(tmp_path / "evidence", run="00" * 16)

    def interrupted(path, target):
        if path.name != "evidence":
            return rename(path, target)
        monkeypatch.undo()
        if done:
            rename(path, target)
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "rename", interrupted)
    with unchanged(tmp_path, KeyboardInterrupt):
        write(tmp_path / "evidence")


def test_leaving_without_finishing_leaves_nothing(tmp_path):
    unfinished = writer(tmp_path / "evidence")
    assert snapshot(tmp_path) == {}
    with unfinished as bundle:
        for event in EVENTS:
            bundle.add(event)
    assert snapshot(tmp_path) == {}


def test_an_event_without_canonical_form_leaves_nothing(tmp_path):
    with unchanged(tmp_path, NotCanonical):
        write(tmp_path / "evidence", events=[EVENTS[0], Event("drift", {"drawn": 2**53})])


def test_a_receipt_that_no_verifier_would_read_is_refused_and_leaves_nothing(tmp_path):
    with unchanged(tmp_path, code="E_RECEIPT_SIZE"):
        write(tmp_path / "evidence", [Event("start", {"invariants": [], "gates": [], "specs": "x" * MAX_LINE})])


def test_a_writer_of_the_same_number_that_still_works_is_left_alone(tmp_path):
    """In two containers that share a folder, processes have the same number."""
    with writer(tmp_path / "evidence", run="00" * 16) as other:
        other.add(EVENTS[0])
        write(tmp_path / "evidence")
        for event in EVENTS[1:]:
            other.add(event)
        other.finish()
    assert [path.name for path in tmp_path.iterdir()] == ["evidence"]


def test_an_earlier_bundle_that_a_process_of_the_same_number_set_aside_is_put_back(tmp_path):
    earlier = snapshot(abandoned(tmp_path, f".evidence.{os.getpid()}.partial") / "earlier")
    with writer(tmp_path / "evidence"):
        pass
    assert snapshot(tmp_path / "evidence") == earlier
