"""What the one-file verifier answers about making things again: passed, refuted, not asked for, not able to."""

import json

import pytest

from specledger.evidence.guide import guide
from specledger.evidence.layout import ATTESTATION, CHECKPOINT, PROVENANCE, TIMESTAMP
from specledger.pipeline import execute, load_runs
from tools import verify as one_file
from tools.verifier.guide import GUIDE_WORDS, words_digest

AGAIN = "made again by this file: the same bytes"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    (bundle,) = load_runs(["specs/scenario/small-budget.yaml"], ["horizon=3", "episodes=2"])
    folder = tmp_path_factory.mktemp("run") / "bundle"
    execute(bundle, folder)
    return folder


def asked(capsys, *words):
    """The exit code, the check of replay (None without it) and the sentence of what was not checked."""
    code = one_file.main([*map(str, words), "--json"])
    said = json.loads(capsys.readouterr().out)
    checks = {one["name"]: one for one in said["checks"]}
    return code, checks.get(AGAIN), said["unchecked"]


def test_an_honest_bundle_is_made_again(place, capsys):
    code, again, unchecked = asked(capsys, place, "--level", "L4")
    assert (code, again["status"]) == (0, "passed")
    assert "static types" in unchecked
    assert "replay" not in unchecked


def test_without_replay_nothing_is(place, capsys):
    code, again, unchecked = asked(capsys, place, "--no-replay")
    assert (code, again) == (0, None)
    assert "you asked for none" in unchecked


def other_engine(*_):
    raise one_file.Open("E_REPLAY", "no such thing here")


@pytest.mark.parametrize(("words", "exit_code"), [((), 3), (("--level", "L4"), 3), (("--no-replay",), 0)])
def test_what_cannot_be_made_again_counts_unless_nobody_asked(place, capsys, monkeypatch, words, exit_code):
    monkeypatch.setattr(one_file, "made_again", other_engine)
    code, again, unchecked = asked(capsys, place, *words)
    assert code == exit_code
    assert exit_code == 0 or (again["status"] == "not made" and "no such thing here" in unchecked)


LAST = {
    "made again": ((), 0, "PASS. Not checked here: "),
    "nobody asked": (("--no-replay",), 0, "PASS, not made again (you asked for none). Not checked here: "),
    "asked for both": (("--level", "L4", "--no-replay"), 3, "NOT REFUTED, not made again: L4 was asked for and replay"),
    "unable": ((), 3, "NOT REFUTED, not made again: no such thing here. Not checked here: "),
}


@pytest.mark.parametrize("name", LAST)
def test_the_last_line_says_pass_alone_only_if_it_was_made_again(place, capsys, monkeypatch, name):
    words, exit_code, begins = LAST[name]
    if name == "unable":
        monkeypatch.setattr(one_file, "made_again", other_engine)
    assert one_file.main([str(place), *words]) == exit_code
    assert capsys.readouterr().out.splitlines()[-1].startswith(begins)


def test_a_crash_refutes_nothing(place, capsys, monkeypatch):
    def crash(*_):
        raise KeyError("a defect")

    monkeypatch.setattr(one_file.Replay, "receipts", crash)
    code, again, unchecked = asked(capsys, place)
    assert (code, again["status"]) == (3, "not made")
    assert "cannot make it again" in unchecked


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("stamped", [False, True])
def test_the_words_of_the_guide_are_those_of_the_engine(signed, stamped):
    manifest = {"run": "a" * 32, "specs": "b" * 64, "receipts": {"count": 314, "root": "c" * 64}}
    covers = [*([ATTESTATION, CHECKPOINT, PROVENANCE] if signed else []), *([TIMESTAMP] if stamped else [])]
    text = guide(manifest, "d" * 64, covers).decode()
    assert words_digest(text, "d" * 64, manifest) == GUIDE_WORDS[signed, stamped], "put this digest into the table"
    assert words_digest(text.replace("Python", "Pithon"), "d" * 64, manifest) != GUIDE_WORDS[signed, stamped]
    assert words_digest(text, "e" * 64, manifest) != GUIDE_WORDS[signed, stamped]
