"""Evidence of discoveries with each kind of model passes both verifiers, a live service included."""

import json
import shutil

import pytest

from specledger.kinds.running import RunOptions
from specledger.oracles.service import ADDRESS
from specledger.pipeline.checking import load_runs
from specledger.pipeline.executing import execute
from specledger.pipeline.verifying import verify
from tests.conformance.tampered.verifiers import by_tool
from tests.unit.oracles.loopback import KEY, Reply, Service, candidate, response, usage
from tools.conformance import Laid
from tools.tampering.bases import DISCOVERY, ROOT

LAWS = [
    {"law_id": "right", "template": "invariant", "observables": [{"name": "R", "expr": "count('>') + count('X')"}], "claim_ast": {"op": "==", "lhs": {"obs": "R", "t": {"var": "t"}}, "rhs": {"obs": "R", "t": {"const": 0}}}, "forbidden": "a change of R"},
    {"law_id": "swap", "template": "symmetry_commutation", "claim": "c", "transform": "swap_only", "forbidden": "another future"},
]  # fmt: skip


@pytest.fixture
def gemini(monkeypatch):
    """A loopback service that speaks the protocol of Gemini."""
    service = Service()
    service.will(*[Reply(response(candidate(json.dumps(LAWS)), **usage(700, 90, 9))) for _ in range(2)])
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    monkeypatch.setenv(ADDRESS, service.address)
    yield service
    service.close()


def discovered(tmp_path, target, *changes):
    (bundle,) = load_runs([str(target)], list(changes))
    execute(bundle, tmp_path / "out", options=RunOptions(trusted=True))
    return tmp_path / "out"


@pytest.mark.medium
def test_a_live_model(tmp_path, gemini):
    shutil.copytree(DISCOVERY, tmp_path, dirs_exist_ok=True)
    live = "spec: model/v1\nname: live\ngemini: {temperature: 0.25, top_p: 0.5}\n"
    (tmp_path / "live.yaml").write_text(live, encoding="utf-8")
    place = discovered(tmp_path, tmp_path / "small.yaml", "model=live", "iterations=2")
    assert len(gemini.requests) == 2
    assert verify(place).verdict == "PASS"
    assert by_tool(Laid(place, {})).exit == 0


@pytest.mark.medium
def test_an_enumerated_model(tmp_path):
    place = discovered(tmp_path, ROOT / "specs/discovery/kinetic-enumerated.yaml", "iterations=2")
    assert by_tool(Laid(place, {})).exit == 0


@pytest.mark.slow
@pytest.mark.parametrize("suite", ["gridworld-replay-exact", "gridworld-mutants"])
def test_a_shipped_suite(tmp_path, suite):
    place = discovered(tmp_path, ROOT / f"specs/suite/{suite}.yaml")
    assert by_tool(Laid(place, {})).exit == 0
