"""Runs whose model somebody else asks: the verdict, the evidence, and a replay that asks nobody."""

import sys
from types import SimpleNamespace

import pytest

from specledger import inspect
from specledger.core.diagnostics import Rejected
from specledger.evidence.layout import TAPE
from specledger.oracles.model import Call, answered
from specledger.pipeline.verifying import verify
from specledger.wings.bridges.inspect.asking import load_asked, run_asked
from tests.loopback_model import BEHAVIOURS

# what the other package leaves open in a test before is collected in one of these
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")

SMALL = ["episodes=1", "horizon=4", "probes=[p5-causal]", "map.vary=run"]
VERDICTS = {"faithful": "PASS", "hidden": "FAIL", "refusing": "INCONCLUSIVE", "broken": "INCONCLUSIVE"}


def asking(behaviour):
    """Asks a scripted behaviour as Inspect asks a model."""

    def ask(request):
        tools = {tool.name: dict(tool.parameters) for tool in request.tools}
        said = BEHAVIOURS[behaviour](SimpleNamespace(system=request.system, prompt=request.prompt, tools=tools))
        return answered(said.text or "", calls=[Call(*call) for call in said.calls])

    return ask


@pytest.mark.parametrize(
    "behaviour", [name if name == "faithful" else pytest.param(name, marks=pytest.mark.slow) for name in VERDICTS]
)
def test_a_run_ends_as_its_model_deserves_and_replays_without_it(tmp_path, behaviour):
    finished = run_asked(load_asked("axion-resource", None, SMALL), tmp_path / "run", asking(behaviour))
    assert finished.verdict.value == VERDICTS[behaviour]
    assert (tmp_path / "run" / TAPE).exists()
    assert verify(tmp_path / "run").intact


@pytest.mark.parametrize("agent", ["honest", "examples/agents/honest.yaml"])
def test_an_agent_that_is_no_model_is_refused(agent):
    with pytest.raises(Rejected, match="E_INSPECT_AGENT"):
        load_asked("axion-resource", agent, SMALL)


@pytest.mark.parametrize("package", ["anyio", "inspect_ai"])
def test_without_a_package_of_the_extra_a_diagnostic_names_the_extra(package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, "specledger.wings.bridges.inspect.evaluation", raising=False)
    with pytest.raises(Rejected, match=r"E_INSPECT_MISSING.*specledger\[inspect\]"):
        inspect.task("axion-resource")
