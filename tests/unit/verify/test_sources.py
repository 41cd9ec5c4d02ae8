"""The sources in a bundle: whatever of them says something else than what ran is refused, and so is what nobody needs."""

import json
import shutil

import pytest

from specledger.core.diagnostics import Rejected
from specledger.core.verdict import Verdict
from specledger.evidence.bundle import BundleWriter
from specledger.evidence.layout import MAX_SOURCE, MAX_SOURCES
from specledger.kinds import KINDS
from specledger.pipeline.checking import load_runs
from specledger.pipeline.executing import execute
from specledger.verify.assurance_levels import Reader
from specledger.verify.checks import Status
from specledger.verify.run import RUN
from tests.unit.verify.conftest import SCENARIO
from tests.verifying import verify_bundle
from tools.tampering.forger import HELP, Forger, canonical

NAME = "source files resolve to the recorded specs"


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    place = tmp_path_factory.mktemp("sources") / "climb"
    (bundle,) = load_runs([str(SCENARIO)], ["horizon=2", "episodes=1"])
    execute(bundle, place)
    for name in HELP:
        (place / name).unlink()
    return place


@pytest.fixture
def forger(honest, tmp_path):
    return Forger(shutil.copytree(honest, tmp_path / "bundle"))


def origin(**fields):
    """How they are resolved is told otherwise."""
    return lambda f: f.write("specs/origin.json", canonical(json.loads(f.read("specs/origin.json")) | fields) + b"\n")


def moved(name, to):
    return lambda f: (f.folder / "specs" / name).rename(f.folder / "specs" / to)


def removed(name):
    return lambda f: f.remove(f"specs/{name}")


def emptied(f):
    for folder in (f.folder / "specs").iterdir():
        if folder.is_dir():
            shutil.rmtree(folder)


def filled(f):
    """Together they are too long, each is not."""
    for number in range(MAX_SOURCES // MAX_SOURCE + 1):
        f.write(f"specs/world/more{number}.yaml", b"#" * (MAX_SOURCE - 1) + b"\n")


FAULTS = {
    "a comment alone is no change": None,
    "a file that nobody needs": lambda f: f.write("specs/world/more.yaml", f.read("specs/world/pot.yaml")),
    "a file that is empty": lambda f: f.write("specs/world/pot.yaml", b""),
    "a file in another folder": moved("world/pot.yaml", "agent/pot.yaml"),
    "nothing says how they are resolved": removed("origin.json"),
    "nothing but how they are resolved": emptied,
    "how they are resolved is not canonical": lambda f: f.swap("specs/origin.json", b":", b": "),
    "other settings": origin(set=["horizon=2", "episodes=2"]),
    "no settings": origin(set=[]),
    "a setting that changes nothing there is": origin(set=["horizon=2", "episodes=1", "nothing=1"]),
    "a case": origin(case="seed=3"),
    "files that are too long together": filled,
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_sources_that_are_not_those_of_the_run_are_refused(forger, name):
    change = FAULTS[name]
    if change is None:
        forger.write("specs/world/pot.yaml", forger.read("specs/world/pot.yaml") + b"# as ever\n")
    else:
        change(forger)
    forger.relist()
    found = verify_bundle(forger.folder, RUN, KINDS, Reader(replay=False))
    failed = [(check.name, check.code) for check in found.checks if check.status is Status.FAILED]
    assert failed == ([] if change is None else [(NAME, "E_SOURCES")])


def test_what_differs_is_told_by_spec_and_field(forger):
    forger.swap("specs/invariant/bounded.yaml", b"<=", b"<")
    forger.relist()
    (check,) = [
        one for one in verify_bundle(forger.folder, RUN, KINDS, Reader(replay=False)).checks if one.code == "E_SOURCES"
    ]
    message = check.message or ""
    assert "invariant/bounded differs at require: the files say " in message
    assert len(message) <= 400


def test_honest_sources_are_accepted_and_told(honest):
    found = verify_bundle(honest, RUN, KINDS)
    assert found.verdict is Verdict.PASS
    assert [check.message for check in found.checks if check.name == NAME] == [
        "7 files, changed by --set horizon=2 --set episodes=1"
    ]


def test_without_sources_nothing_is_said_of_them(forger):
    forger.leave_out("specs")
    forger.relist()
    found = verify_bundle(forger.folder, RUN, KINDS)
    assert found.verdict is Verdict.PASS
    assert NAME not in [check.name for check in found.checks]


@pytest.mark.parametrize("link", ["specs", "specs/world", "specs/world/pot.yaml"])
def test_links_are_refused(forger, tmp_path, link):
    path = forger.folder / link
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    (check,) = [check for check in verify_bundle(forger.folder, RUN, KINDS, Reader(replay=False)).checks if check.code]
    assert check.code == "E_FILES"


@pytest.mark.medium
@pytest.mark.parametrize("specs", [{"a": [[]] * 1_000_000}, {"a": "x" * 16_777_216}], ids=["volume", "bytes"])
def test_a_run_of_specs_that_no_verifier_would_read_is_refused(tmp_path, specs):
    with pytest.raises(Rejected) as refused, BundleWriter(tmp_path / "x", "0" * 32, specs, "0" * 64):
        raise AssertionError
    assert [found.code for found in refused.value.diagnostics] == ["E_SPECS_SIZE"]
    assert list(tmp_path.iterdir()) == []


def test_a_run_from_files_that_no_verifier_would_read_is_refused(tmp_path):
    sources = {f"world/{number}.yaml": bytes(MAX_SOURCE) for number in range(9)}
    with pytest.raises(Rejected) as refused, BundleWriter(tmp_path / "x", "0" * 32, {}, "0" * 64, sources=sources):
        raise AssertionError
    assert [found.code for found in refused.value.diagnostics] == ["E_SOURCES_SIZE"]
    assert list(tmp_path.iterdir()) == []
