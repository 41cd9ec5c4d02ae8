"""The reference panel twice: as specs, and as a program that shares no code with the engine."""

import ast
import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import yaml

from specledger.kinds import load
from specledger.kinds.running import RunOptions
from specledger.pipeline.executing import execute

ROOT = Path(__file__).resolve().parents[4]
SUITE = yaml.safe_load((ROOT / "examples/panel/both-panels.yaml").read_text(encoding="utf-8"))
KINDS = [arm["agent"] for name, arm in SUITE["runs"].items() if not name.endswith("_program")]
FAST = ("pseudo", "memoriser")
pytestmark = pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")  # a test runner may have threads


def program(kind, declares="honest"):
    return f"{{use: examples/panel/program.yaml, with: {{kind: {kind}, declares: {declares}}}}}"


@cache
def verdicts(agent):
    """What every probe found in an episode, by step and probe, with the choices that were answered."""
    sets = [f"agent={agent}", "episodes=1", "horizon=6", "with.seed=12", "governor.admission.watchdog_ms=20000"]
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        bundle = load("specs/scenario/axion-panel.yaml", set=sets)[0]
        place = execute(bundle, Path(folder) / "out", RunOptions(trusted=True)).place
        receipts = [json.loads(line) for line in (place / "receipts.jsonl").read_bytes().splitlines()]
    found = {}
    for body in (one["body"] for one in receipts if one["type"] == "probe"):
        evidence = body["evidence"]
        asked = [(one["variable"], one["predicted"], one["after"]) for one in evidence.get("trials", ())]
        if evidence.get("deterministic"):  # a program is asked again about what it missed: it gives the same answers
            asked = list(dict.fromkeys(asked))
        told = evidence.get("taken"), evidence.get("reasons"), evidence.get("before"), asked
        found[body["episode"], body["t"], body["probe"]] = (body["verdict"], body["cause"], *told)
    return found


@pytest.mark.medium
@pytest.mark.parametrize(
    "kind", [kind if kind in FAST else pytest.param(kind, marks=pytest.mark.slow) for kind in KINDS]
)
def test_both_are_judged_alike(kind):
    agent = SUITE["runs"][f"{kind.replace('-', '_')}_program"]["agent"]
    assert verdicts(kind) == verdicts(program(kind, agent["with"].get("declares", "honest")))


def test_another_kind_is_judged_otherwise():
    assert verdicts("memoriser") != verdicts(program("pseudo"))


def flagged(agent):
    return {probe for (_, _, probe), found in verdicts(agent).items() if found[0] == "FAIL"}


@pytest.mark.medium
def test_the_kernel_keeps_the_memory_of_the_declared_procedure():
    """What declares that it learns by heart is found by challenges alone: the declared procedure chooses as it does."""
    assert "layer-r" in flagged(program("memoriser"))
    assert "layer-r" not in flagged(program("memoriser", "memoriser"))


@pytest.mark.medium
def test_a_declared_procedure_that_draws_excuses_what_it_may_choose():
    assert flagged(program("dice", "dice")) == set()
    assert "layer-r" in flagged(program("drawing-fabricator"))
    assert "layer-r" not in flagged(program("drawing-fabricator", "drawing-fabricator"))


@pytest.mark.medium
def test_the_start_of_another_episode_convicts_nobody_who_draws():
    assert "layer-d" not in flagged(program("dice")) | flagged(program("drawing-fabricator"))


def test_the_program_imports_the_standard_library_alone():
    tree = ast.parse((ROOT / "examples/panel/panel.py").read_text(encoding="utf-8"))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert imported == {"hashlib", "json", "os", "re", "sys"}
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
