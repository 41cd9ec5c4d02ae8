"""The fuzzer: it finds what does not hold, minimises it, and repeats it; what it was given before holds."""

import json
import random

import pytest

from specledger.wings.editor.authoring_tools import AuthoringTools
from tools import fuzz, fuzz_forged, fuzz_targets
from tools.fuzz_mutations import changed
from tools.fuzz_target import Target
from tools.fuzz_targets import TARGETS

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")  # of FastMCP

KEPT = [path for path in sorted(fuzz.CORPUS.rglob("*")) if path.is_file()]


class Fragile(Target):
    """Cannot read a word."""

    name = "fragile"

    def seeds(self):
        return [b"one\ntwo\nthree\n"]

    def run(self, data):
        assert b"null" not in data, "a word"


@pytest.mark.medium
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


def test_forged_receipts_that_are_accepted_are_noticed(target, monkeypatch):
    forged = target("forged")
    first = forged.seeds()[0].replace(b'"success":false', b'"success":true', 1)
    assert fuzz.failure(forged, first) is None
    monkeypatch.setattr(fuzz_forged, "command", lambda *words: (0, "{}", ""))
    assert "forged receipts are verified" in (fuzz.failure(forged, first) or "")


def test_forged_specs_that_only_one_verifier_accepts_are_noticed(target, monkeypatch):
    forged = target("forged")
    other = forged.seeds()[1].replace(b'"horizon": ', b'"horizon": 1', 1)
    assert fuzz.failure(forged, other) is None
    monkeypatch.setattr(fuzz_forged, "command", lambda *words: (0, "{}", ""))
    assert "the second verifier refutes" in (fuzz.failure(forged, other) or "")


@pytest.mark.medium
def test_a_path_that_leads_out_of_the_project_is_noticed(target, monkeypatch):
    authoring = target("mcp")
    messages = (fuzz.CORPUS / "mcp/link").read_bytes()
    assert fuzz.failure(authoring, messages) is None
    called = authoring.called
    monkeypatch.setattr(AuthoringTools, "_inside", lambda self, written: written)
    why = fuzz.failure(authoring, messages) or ""
    assert authoring.called > called
    assert "outside.yaml" in why


@pytest.mark.medium
def test_a_client_of_the_server_calls_each_tool(target):
    authoring = target("mcp")
    for seed in authoring.seeds():
        assert fuzz.failure(authoring, seed) is None
    assert authoring.called == 7


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


@pytest.mark.medium
@pytest.mark.parametrize("inputs", [pytest.param(42, id="few"), pytest.param(1400, id="many", marks=pytest.mark.slow)])
def test_changed_inputs_hold(inputs, tmp_path):
    assert fuzz.fuzz(list(TARGETS), 0, lambda number: number < inputs, tmp_path) == []
