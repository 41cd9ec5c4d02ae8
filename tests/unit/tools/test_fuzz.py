"""The fuzzer: it finds what does not hold, minimises it, and repeats it; what it was given before holds."""

import json
import random

import pytest

from tools import fuzz, fuzz_targets
from tools.fuzz_mutations import changed
from tools.fuzz_targets import TARGETS, Target

KEPT = [path for path in sorted(fuzz.CORPUS.rglob("*")) if path.is_file()]


class Fragile(Target):
    """Cannot read a word."""

    name = "fragile"

    def seeds(self):
        return [b"one\ntwo\nthree\n"]

    def run(self, data):
        assert b"null" not in data, "a word"


def test_a_failing_input_is_minimised_written_and_found_again(tmp_path, monkeypatch):
    monkeypatch.setattr(fuzz, "TARGETS", {"fragile": Fragile})
    path, *_ = fuzz.fuzz(["fragile"], 0, lambda number: number < 5000, tmp_path / "out", str)
    data = path.read_bytes()
    assert b"null" in data
    assert data.count(b"\n") <= 1
    assert "a word" in path.with_suffix(".txt").read_text()
    assert fuzz.run_again(path) == 1
    again, *_ = fuzz.fuzz(["fragile"], 0, lambda number: number < 5000, tmp_path / "other", str)
    assert again.name == path.name


def test_inputs_follow_from_the_seed():
    seeds = [b"spec: world/v1\nname: a\n", b"x\ny\n"]
    made = [[changed(seeds, random.Random(f"{seed} {number}")) for number in range(50)] for seed in (1, 1, 2)]
    assert made[0] == made[1] != made[2]


@pytest.fixture
def target(tmp_path):
    return lambda name: TARGETS[name](tmp_path / name)


def test_a_verifier_that_accepts_all_is_noticed(target, monkeypatch):
    bundles = target("bundle")
    manifest = json.loads((bundles.whole / "manifest.json").read_bytes())
    manifest["result"]["verdict"] = "FAIL"
    forged = b"manifest.json\n" + json.dumps(manifest).encode()
    bundles.run(forged)
    monkeypatch.setattr(fuzz_targets, "command", lambda *words: (0, "{}", ""))
    assert "its result is another one" in (fuzz.failure(bundles, forged) or "")


def test_a_hook_that_lets_a_call_pass_is_noticed(target, monkeypatch):
    hooks = target("hook")
    event = b'{"session_id":"s","hook_event_name":"PreToolUse"}\n{"type":"error"}'
    assert fuzz.failure(hooks, event) is None
    monkeypatch.setattr("specledger.wings.guard.hook._failure", lambda *given: {})
    assert fuzz.failure(hooks, event) is not None


def test_a_defect_of_a_command_is_noticed(target, monkeypatch):
    logs = target("log")
    log = b'{"role":"user","content":"a"}\n'
    assert fuzz.failure(logs, log) is None

    def broken(*given):
        raise KeyError("n")

    monkeypatch.setattr("specledger.wings.trajectories.commands._existing", broken)
    assert "KeyError" in (fuzz.failure(logs, log) or "")


@pytest.mark.parametrize("path", KEPT, ids=[str(path.relative_to(fuzz.CORPUS)) for path in KEPT])
def test_a_kept_input_holds(target, path):
    assert fuzz.failure(target(path.parent.name), path.read_bytes()) is None


@pytest.mark.parametrize("inputs", [pytest.param(42, id="few"), pytest.param(1400, id="many", marks=pytest.mark.slow)])
def test_changed_inputs_hold(inputs, tmp_path):
    assert fuzz.fuzz(list(TARGETS), 0, lambda number: number < inputs, tmp_path) == []
