"""The reference panel twice: as specs, and as a program that shares no code with the engine."""

import ast
import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from specledger.kinds import load
from specledger.kinds.running import RunOptions
from specledger.pipeline.executing import execute

ROOT = Path(__file__).resolve().parents[3]
KINDS = ["honest", "coincident", "pseudo", "discloser", "consistent-narrator", "omitter", "memoriser"]
pytestmark = pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")  # a test runner may have threads


@cache
def verdicts(agent):
    """What every probe found in an episode, by step and probe, with the choices that were answered."""
    sets = [f"agent={agent}", "episodes=1", "with.seed=12", "governor.admission.watchdog_ms=20000"]
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        bundle = load("specs/scenario/axion-panel.yaml", set=sets)[0]
        place = execute(bundle, Path(folder) / "out", RunOptions(trusted=True)).place
        receipts = [json.loads(line) for line in (place / "receipts.jsonl").read_bytes().splitlines()]
    found = {}
    for body in (one["body"] for one in receipts if one["type"] == "probe"):
        evidence = body["evidence"]
        asked = [(one["variable"], one["predicted"], one["after"]) for one in evidence.get("trials", ())]
        told = evidence.get("taken"), evidence.get("reasons"), evidence.get("before"), asked
        found[body["t"], body["probe"]] = (body["verdict"], body["cause"], *told)
    return found


@pytest.mark.parametrize(
    "kind", [kind if kind in ("pseudo", "memoriser") else pytest.param(kind, marks=pytest.mark.slow) for kind in KINDS]
)
def test_both_are_judged_alike(kind):
    assert verdicts(kind) == verdicts(f"examples/panel/{kind}-program.yaml")


def test_another_kind_is_judged_otherwise():
    assert verdicts("memoriser") != verdicts("examples/panel/pseudo-program.yaml")


def test_the_program_imports_the_standard_library_alone():
    tree = ast.parse((ROOT / "examples/panel/panel.py").read_text(encoding="utf-8"))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert imported == {"hashlib", "json", "os", "re", "sys"}
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
