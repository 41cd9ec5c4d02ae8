"""Pins: what is in them, and how a difference from an accepted one is told, whatever somebody did to its files."""

import pytest

from specledger.compile.scenario import compile_scenario
from specledger.core.diagnostics import Rejected
from specledger.pipeline.checking import load_runs
from specledger.pipeline.executing import execute
from specledger.pipeline.golden import pin, pin_events, pin_matches
from specledger.run.scenario_run import make_run
from tests import toys

CLIMB = toys.CLIMB / "climb.yaml"


@pytest.fixture(scope="module")
def made():
    (bundle,) = load_runs([str(CLIMB)])
    return pin(bundle)


@pytest.fixture
def folder(made, tmp_path):
    made.write(tmp_path / "pins")
    return tmp_path / "pins"


def test_a_pin_is_made_of_the_receipts_that_a_run_writes(made, tmp_path):
    (bundle,) = load_runs([str(CLIMB)])
    manifest = execute(bundle, tmp_path / "out").manifest
    assert made.tree["receipts"] == manifest["receipts"]
    assert made.tree["result"] == manifest["result"]
    assert made.tree["specs"] == manifest["specs"]
    assert (tmp_path / "out" / "receipts.jsonl").read_bytes().splitlines() == list(made.receipts)


def test_the_events_of_a_run_have_the_pin_of_the_evidence_that_is_written(made):
    (bundle,) = load_runs([str(CLIMB)])
    events = pin_events(bundle, make_run(bundle, compile_scenario(bundle)))
    assert len(made.tree["episodes"]) == made.tree["result"]["episodes"] > 1
    assert (events.tree, events.receipts) == (made.tree, made.receipts)


def test_a_change_shows_in_the_digest_of_the_changed_spec_alone(made):
    """The scenario refers to its agent by a key that changes too; that is no change of the scenario."""
    (bundle,) = load_runs([str(CLIMB)], ["agent.doc=Another."])
    documents = pin(bundle).tree["documents"]
    assert {name for name, digest in made.tree["documents"].items() if documents[name] != digest} == {"agent/climber"}


def change(name, old, new):
    def make(folder):
        data = (folder / name).read_bytes()
        assert old in data
        (folder / name).write_bytes(data.replace(old, new, 1))

    return make


def lines(cut):
    def make(folder):
        held = (folder / "climb.jsonl").read_bytes().splitlines(keepends=True)
        (folder / "climb.jsonl").write_bytes(b"".join(cut(held)))

    return make


def write(name, data):
    return lambda folder: (folder / name).write_bytes(data)


DIFFERENCES = {
    "a field": (
        change("climb.jsonl", b'"chosen":1', b'"chosen":0'),
        "episode 0, step 0: receipt 3 differs at body.chosen: recorded 0, replayed 1",
    ),
    "a digest alone": (change("climb.jsonl", b'"after":"', b'"after":"0'), "episode 0, step 0: receipt 3 differs at body.after"),
    "white space": (change("climb.jsonl", b'"chosen":1', b'"chosen": 1'), "episode 0, step 0: receipt 3 differs at its form: recorded b'"),
    "no JSON": (change("climb.jsonl", b'{"body"', b'{"b\xffdy"'), "receipt 0 differs at its form"),
    "a receipt less": (lines(lambda held: held[:-1]), "receipt 19 is missing: replay goes on"),
    "a receipt more": (lines(lambda held: [*held, held[-1]]), "receipt 20 is one too many: replay has ended"),
    "an empty line more": (lines(lambda held: [*held, b"\n"]), "receipt 20 is one too many: replay has ended"),
    "no receipts": (write("climb.jsonl", b""), "receipt 0 is missing: replay goes on"),
    "the tree": (change("climb.json", b'"count": 20', b'"count": 21'), "the receipts are the same, the tree of digests is not"),
    "a changed spec": (
        lambda folder: [
            change("climb.json", b'"agent/climber": "', b'"agent/climber": "0')(folder),
            change("climb.jsonl", b'"chosen":1', b'"chosen":0')(folder),
        ],
        "changed specs: agent/climber; episode 0, step 0: receipt 3 differs at body.chosen: recorded 0, replayed 1",
    ),
    "a spec that is no longer there": (
        change("climb.json", b'"agent/climber": "', b'"agent/another": "'),
        "changed specs: agent/another, agent/climber; the receipts are the same",
    ),
    "a tree without documents": (write("climb.json", b"{}"), "the receipts are the same, the tree of digests is not"),
    "a tree that is no text": (write("climb.json", b"\xff\x00"), "the receipts are the same, the tree of digests is not"),
    "no tree": (lambda folder: (folder / "climb.json").unlink(), "nothing is pinned yet"),
    "no receipts beside the tree": (lambda folder: (folder / "climb.jsonl").unlink(), "nothing is pinned yet"),
}  # fmt: skip


@pytest.mark.parametrize(("tamper", "words"), DIFFERENCES.values(), ids=DIFFERENCES)
def test_a_difference_is_told(made, folder, tamper, words):
    assert pin_matches(made, folder) is None
    tamper(folder)
    told = pin_matches(made, folder)
    assert told is not None
    assert words in told
    made.write(folder)
    assert pin_matches(made, folder) is None


def test_how_lines_end_does_not_count(made, folder):
    """A checkout may turn LF into CR LF."""
    for path in folder.iterdir():
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert pin_matches(made, folder) is None


def test_a_folder_that_cannot_be_written_is_told(made, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(Rejected) as error:
        made.write(tmp_path / "file" / "pins")
    assert [one.code for one in error.value.diagnostics] == ["E_OUT_UNWRITABLE"]
