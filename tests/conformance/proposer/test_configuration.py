"""The configuration reference of the document, against the specs that ship."""

from pathlib import Path

import pytest

from specledger.kinds import load
from specledger.oracles.service import KEYS
from specledger.spec.model import GeminiConfig
from specledger.wings.discovery.spec.discovery import Discovery
from specledger.wings.discovery.worker import open_all

DISCOVERIES = sorted(path.stem for path in Path("specs/discovery").glob("*.yaml"))


def shipped(kind, name):
    return load(f"specs/{kind}/{name}.yaml")[0]


@pytest.mark.parametrize("name", DISCOVERIES)
def test_a_shipped_discovery_has_the_defaults_of_the_document(name):
    bundle = shipped("discovery", name)
    model = bundle.main.model
    assert isinstance(model, Discovery)
    assert model.proposer.model_dump() == {
        "max_token_budget": 16_000,
        "include_counterexamples": True,
        "strict_parsing": False,
        "add_to_redundancy_filter": True,
    }
    assert model.memory.model_dump() == {
        "max_accepted": 30,
        "max_falsified": 20,
        "max_unknown": 20,
        "max_counterexamples": 20,
    }
    assert bundle.specs[bundle.main.refs["ranking",]].name == "scientific-value"


def test_the_shipped_service_has_the_defaults_of_the_document():
    settings = shipped("model", "gemini-flash").main.model.gemini
    assert isinstance(settings, GeminiConfig)
    assert (settings.model, settings.temperature) == ("gemini-2.5-flash", 700_000)
    assert (settings.max_output_tokens, settings.json_mode) == (65_535, True)
    assert "kinetic-live" in DISCOVERIES
    live = shipped("discovery", "kinetic-live")
    assert live.specs[live.main.refs["model",]].name == "gemini-flash"


@pytest.mark.parametrize("name", DISCOVERIES)
def test_a_shipped_discovery_asks_by_what_its_spec_says(name, monkeypatch):
    """Nothing between the spec and the prompt has defaults of its own."""
    for variable in KEYS:
        monkeypatch.delenv(variable, raising=False)
    workbench, _ = open_all(shipped("discovery", name))
    assert (workbench.tools.builder._plan.budget, workbench.tools.builder._plan.counterexamples) == (16_000, True)
    assert (workbench.tools.strict, workbench.request.count, workbench.request.temperature) == (False, 5, None)
    assert len(workbench.plan.templates) == 8


def test_the_variables_of_the_environment():
    assert KEYS == ("GEMINI_API_KEY", "GOOGLE_API_KEY")
