"""The classes of the document: where they are, what their fields are called, and what they are by default."""

from importlib import import_module
from inspect import Parameter, signature
from types import MappingProxyType
from typing import Any

import pytest
from msgspec import NODEFAULT
from msgspec.structs import fields

from specledger.oracles.gemini import GeminiClient
from specledger.oracles.model import TokenUsage
from specledger.spec.model import GeminiConfig
from specledger.wings.discovery.contract import UniverseContract, contract_of
from specledger.wings.discovery.memory import DiscoveryMemory, DiscoveryMemorySnapshot
from specledger.wings.discovery.parser import ParseResult
from specledger.wings.discovery.prompt import ProposalRequest
from specledger.wings.discovery.proposer import LawProposer, ProposalBatch, ProposerConfig
from specledger.wings.discovery.redundancy import RedundancyDetector, RedundancyMatch
from specledger.wings.discovery.spec import discovery
from tests.wings.discovery.shipped import universe

COMPONENTS = {
    "LawProposer": "specledger.wings.discovery.proposer",
    "GeminiClient": "specledger.oracles.gemini",
    "PromptBuilder": "specledger.wings.discovery.prompt",
    "ResponseParser": "specledger.wings.discovery.parser",
    "RankingModel": "specledger.wings.discovery.ranking",
    "RedundancyDetector": "specledger.wings.discovery.redundancy",
    "DiscoveryMemory": "specledger.wings.discovery.memory",
}


@pytest.mark.parametrize(("name", "module"), COMPONENTS.items())
def test_each_component_is_a_class_of_a_module_of_its_own(name, module):
    assert getattr(import_module(module), name).__module__ == module


NONE: Any = NODEFAULT
SHAPES: dict[Any, dict[str, Any]] = {
    ProposerConfig: {
        "max_token_budget": 8000,
        "include_counterexamples": True,
        "strict_parsing": False,
        "add_to_redundancy_filter": True,
        "verbose": False,
    },
    ProposalRequest: {"count": 5, "target_templates": None, "exclude_templates": None, "temperature": None},
    ProposalBatch: dict.fromkeys(
        [
            *("laws", "features", "rejections", "redundant", "prompt_hash", "prompt_tokens", "response_tokens"),
            *("runtime_ms", "warnings"),
        ],
        NONE,
    ),
    TokenUsage: {"prompt_tokens": NONE, "output_tokens": NONE, "thinking_tokens": 0, "estimated": False},
    UniverseContract: dict.fromkeys(
        ["universe_id", "symbols", "state_representation", "capabilities", "config_knobs"], NONE
    ),
    ParseResult: dict.fromkeys(["laws", "rejections", "warnings"], NONE),
    RedundancyMatch: dict.fromkeys(["matched_law_id", "similarity", "match_type", "details"], NONE),
    DiscoveryMemorySnapshot: {
        **dict.fromkeys(["accepted_laws", "falsified_laws", "unknown_laws", "counterexamples"], ()),
        "capabilities": {},
    },
}


def default(field):
    return field.default if field.default_factory is NODEFAULT else dict(field.default_factory())


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_fields_have_the_names_the_order_and_the_defaults_of_the_document(shape):
    assert {field.name: default(field) for field in fields(shape)} == SHAPES[shape]
    assert [field.name for field in fields(shape)] == list(SHAPES[shape])


def test_a_model_of_gemini_is_asked_as_the_document_says_and_its_configuration_holds_no_key():
    data = GeminiConfig().model_dump()
    assert (data.pop("deadline_ms"), data.pop("retries")) == (60_000, 3)  # how long one waits is not in the document
    ours = dict.fromkeys(("concurrency", "key", "per_minute", "price", "seed"))
    for name, default in [*ours.items(), ("limits", {"money": None, "tokens": None}), ("api_version", "v1beta")]:
        assert data.pop(name) == default
    assert data == {
        "model": "gemini-2.5-flash",
        "temperature": "0.7",
        "top_p": "0.95",
        "top_k": 40,
        "max_output_tokens": 8192,
        "json_mode": True,
        "thinking_budget": None,
    }
    assert signature(GeminiClient).parameters["api_key"].default is None


CALLS: dict[str, tuple[Any, list[str]]] = {
    "propose": (LawProposer.propose, ["memory", "request"]),
    "generate": (GeminiClient.generate, ["prompt", "system_instruction", "temperature"]),
    "generate_json": (GeminiClient.generate_json, ["prompt", "system_instruction"]),
    "count_tokens": (GeminiClient.count_tokens, ["text"]),
    "add_known_law": (RedundancyDetector.add_known_law, ["law"]),
    "check": (RedundancyDetector.check, ["law"]),
    "filter_batch": (RedundancyDetector.filter_batch, ["laws"]),
    "record_evaluation": (DiscoveryMemory.record_evaluation, ["law", "verdict"]),
}


@pytest.mark.parametrize("name", CALLS)
def test_methods_take_the_arguments_of_the_document(name):
    method, expected = CALLS[name]
    given = list(signature(method).parameters.values())[1:]
    assert [each.name for each in given if each.kind is not Parameter.KEYWORD_ONLY] == expected
    optional = {each.name for each in given if each.default is not Parameter.empty}
    assert optional >= {"request", "system_instruction", "temperature"} & set(expected)


def test_the_proposer_of_a_discovery_has_the_defaults_of_the_class():
    kept_whole = {"verbose": False}  # of the class alone: the evidence of a discovery is whole
    assert discovery.Proposer().model_dump() | kept_whole == SHAPES[ProposerConfig]
    assert discovery.Request().model_dump() == SHAPES[ProposalRequest]
    limits = {"max_accepted": 30, "max_falsified": 20, "max_unknown": 20, "max_counterexamples": 20}
    assert discovery.MemoryLimits().model_dump() == limits


def test_the_contract_of_the_kinetic_grid():
    contract = contract_of(universe()[1])
    assert (contract.universe_id, list(contract.symbols)) == ("kinetic_grid_v1", [".", ">", "<", "X"])
    assert contract.state_representation == "string"
    assert dict(contract.config_knobs) == {"grid_length_range": [4, 200], "boundary": "periodic"}
    observables, transforms, families = (
        {name.partition("(")[0] for name in contract.capabilities[key]}
        for key in ("primitive_observables", "transforms", "generator_families")
    )
    assert observables >= {"count", "grid_length", "incoming_collisions"}
    assert transforms == {"mirror_swap", "shift_k", "swap_only", "mirror_only"}
    assert families >= {
        *("random_density_sweep", "constrained_pair_interactions", "edge_wrapping_cases"),
        *("symmetry_metamorphic_suite", "adversarial_mutation_search"),
    }
    assert "count(symbol)" in contract.capabilities["primitive_observables"]


def test_a_snapshot_is_made_by_the_memory_and_holds_what_the_universe_offers():
    offered = DiscoveryMemory(universe=universe()[1]).snapshot().capabilities
    assert isinstance(offered, MappingProxyType)
    assert offered["universe_id"] == "kinetic_grid_v1"
