"""From memory to batch as the document draws it: the order, what each part is given, and the loop around it."""

import json
import socket
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from specledger.core.diagnostics import Rejected
from specledger.kinds import load
from specledger.oracles.gemini import GeminiClient
from specledger.oracles.service import ADDRESS, KEYS
from specledger.spec.model import GeminiConfig
from specledger.wings.discovery import worker
from specledger.wings.discovery.coordinator import run_discovery
from specledger.wings.discovery.memory import DiscoveryMemory
from specledger.wings.discovery.parser import ResponseParser
from specledger.wings.discovery.prompt import ProposalRequest
from specledger.wings.discovery.proposer import LawProposer, ProposerConfig
from specledger.wings.discovery.redundancy import RedundancyDetector
from specledger.wings.discovery.worker import open_all, try_proposed
from specledger.wings.laws.decision import answer_of
from specledger.wings.laws.proofs.question import Refuted
from tests.conformance.proposer.made import (
    LEFT,
    MIRROR,
    RIGHT,
    SMALL,
    VERDICT,
    candidate,
    conserved,
    parsed,
    proposer,
    scripted,
    tools_for,
)
from tests.toys.claims import named, obs, op
from tests.unit.oracles.loopback import KEY, Reply, Service, response, usage
from tests.unit.oracles.loopback import candidate as said
from tests.wings.discovery.shipped import templates, universe

NO_LAW = {"law_id": "vague", "template": "invariant", "claim": "N is nice"}


def fenced(*laws):
    return f"Here you are:\n```json\n{json.dumps(list(laws))[:-1]},] // done\n```"


ANSWER = fenced(
    conserved(law_id="right"), conserved(law_id="again", name="M"), NO_LAW, conserved(LEFT, law_id="left"), MIRROR
)


@pytest.fixture(autouse=True)
def no_keys(monkeypatch):
    for variable in KEYS:
        monkeypatch.delenv(variable, raising=False)


class Spy:
    """Passes a call on, and writes down who was called with what and what it gave."""

    def __init__(self, log, word, inner, method):
        self._log, self._word, self._inner, self._method = log, word, inner, method

    def __getattr__(self, name):
        found = getattr(self._inner, name)
        if name != self._method:
            return found

        def call(*arguments, **named):
            given = found(*arguments, **named)
            self._log.append((self._word, arguments, given))
            return given

        return call


class OutputFormat(DiscoveryMemory):
    """A memory that says when a snapshot is taken."""

    log: list[Any]

    def snapshot(self):
        taken = super().snapshot()
        self.log.append(("memory", (), taken))
        return taken


def test_the_parts_work_in_the_order_of_the_document_and_each_on_what_the_one_before_gave():
    log: list[Any] = []
    config, tools = ProposerConfig(verbose=True), tools_for(ProposerConfig())
    watched: Any = replace(
        tools,
        builder=Spy(log, "prompt", tools.builder, "build"),
        parser=Spy(log, "parser", tools.parser, "parse"),
        ranking=Spy(log, "ranking", tools.ranking, "rank"),
    )
    model: Any = Spy(log, "model", scripted({"text": ANSWER}), "ask")
    detector: Any = Spy(log, "redundancy", RedundancyDetector(), "filter_batch")
    memory = OutputFormat(universe=universe()[1])
    memory.log = log
    memory.record_evaluation(parsed(conserved("grid_length", law_id="length")), {"status": "PASS", "method": "sample"})
    batch = LawProposer(model, watched, config, detector).propose(memory, ProposalRequest(count=6))

    assert [word for word, _, _ in log] == ["memory", "prompt", "model", "parser", "redundancy", "ranking"]
    (_, _, snapshot), (_, built, prompt), (_, asked, answer), (_, read, result), (_, seen, left), (_, ranked, _) = log
    assert built[0] == snapshot
    assert (asked[0].system, asked[0].prompt) == (prompt.system, prompt.text)
    assert prompt.system.startswith("You propose laws")
    assert read == (answer.text,)
    assert list(seen[0]) == list(result.laws)
    assert ranked[0] == left.unique
    assert [law.document["law_id"] for law in batch.laws] == ["mirror", "right", "left"]
    assert [each["novelty"] for each in batch.features] == [800_000, 700_000, 700_000]  # one invariant was accepted
    assert [(law.document["law_id"], match.matched_law_id) for law, match in batch.redundant] == [("again", "right")]
    assert [rejected for rejected, _ in batch.rejections] == [NO_LAW]
    assert batch.prompt_hash == prompt.digest
    assert batch.warnings


def test_a_service_is_told_the_system_instruction_the_prompt_and_the_temperature_of_the_request():
    """From the prompt builder to the service and back, over HTTP to this machine."""
    service = Service()
    service.will(Reply(response(said(json.dumps([MIRROR])), **usage(700, 90, 9))))
    client = GeminiClient(GeminiConfig(), environment={"GEMINI_API_KEY": KEY, ADDRESS: service.address})
    try:
        asked = LawProposer(client, tools_for(ProposerConfig()), ProposerConfig(verbose=True))
        batch = asked.propose(DiscoveryMemory(), ProposalRequest(temperature=250_000))
    finally:
        client.close()
        service.close()
    ((_, _, body),) = service.requests
    exchange: Any = asked.get_last_exchange()
    assert body["systemInstruction"]["parts"] == [{"text": exchange["system"]}]
    assert body["contents"][0]["parts"] == [{"text": exchange["prompt"]}]
    settings = body["generationConfig"]
    assert (settings["temperature"], settings["responseMimeType"]) == (0.25, "application/json")
    assert [law.document["law_id"] for law in batch.laws] == ["mirror"]
    assert (batch.prompt_tokens, batch.response_tokens) == (700, 99)
    spent = client.last_usage
    assert (spent.prompt_tokens, spent.output_tokens, spent.thinking_tokens) == (700, 90, 9)


# Configuration of the proposer


@pytest.mark.medium
def test_the_budget_and_the_gallery_are_the_configurations():
    memory = DiscoveryMemory()
    shown = {"excerpt": {"from": 0, "states": [".>.<", "..X."]}, "observables": {"t": {}, "t_plus_1": {}}}
    ring = {"start": ".>.<", "t": 1, **shown}
    for number in range(1, 30):
        law = parsed(conserved(f"{number} * count('X')", law_id=f"law-{number}"))
        memory.record_evaluation(law, {"status": "FAIL", "method": "refutation", "counterexample": ring})

    def prompt(**config):
        asked = proposer({"text": "[]"}, verbose=True, **config)
        tokens = asked.propose(memory).prompt_tokens
        exchange: Any = asked.get_last_exchange()
        return tokens, exchange["prompt"]

    large, whole = prompt(max_token_budget=16_000)
    small, cut = prompt(max_token_budget=large - 100)
    assert small <= large - 100
    assert len(cut) < len(whole)
    assert "from t = 0; refuted" in whole
    assert "from t = 0; refuted" not in prompt(max_token_budget=16_000, include_counterexamples=False)[1]


def test_strict_parsing_rejects_what_lenient_parsing_mends():
    strict, lenient = (
        proposer({"text": fenced(MIRROR)}, strict_parsing=strict).propose(DiscoveryMemory()) for strict in (True, False)
    )
    assert (len(strict.laws), len(lenient.laws)) == (0, 1)
    assert strict.rejections[0][1].startswith("E_ANSWER_MENDED")


@pytest.mark.parametrize("learns", [True, False])
def test_proposed_laws_become_known_if_that_is_configured(learns):
    asked = proposer({"laws": [MIRROR]}, then="repeat", add_to_redundancy_filter=learns)
    found = [asked.propose(DiscoveryMemory()) for _ in range(2)]
    assert [(len(batch.laws), len(batch.redundant)) for batch in found] == [(1, 0), (0, 1) if learns else (1, 0)]


# Without an API; debugging


def test_a_scripted_model_needs_neither_key_nor_network(monkeypatch):
    def nobody(*arguments, **named):
        raise AssertionError("the network was used")

    monkeypatch.setattr(socket, "socket", nobody)
    batches = [proposer({"text": ANSWER}).propose(DiscoveryMemory()).document() for _ in range(2)]
    assert batches[0] == batches[1]
    assert len(batches[0]["laws"]) == 3


def test_what_helps_to_find_a_mistake():
    asked = proposer({"text": ANSWER}, verbose=True)
    batch = asked.propose(DiscoveryMemory())
    exchange: Any = asked.get_last_exchange()
    assert exchange["response"] == ANSWER
    assert exchange["prompt"].startswith("# Universe capabilities")
    assert exchange["prompt_hash"] == batch.prompt_hash
    assert asked.stats | {"calls": 1, "parsed": 4, "proposed": 3, "rejected": 1, "redundant": 1} == asked.stats
    assert "forbidden" in batch.rejections[0][1]
    assert batch.redundant[0][1].match_type == "fingerprint"


# The schema of a law, as the parser takes it

WHOLE = conserved(
    schema_version="1.0.0",
    law_id="everything",
    quantifiers={"T": 20, "H": 4},
    preconditions=[{"lhs": "count('>')", "op": ">", "rhs": "0"}],
    claim="The number of right-movers never changes.",
    transform=None,
    direction=None,
    bound_value=None,
    bound_op=None,
    proposed_tests=[{"family": "random_density_sweep", "params": {"cases": 10}}],
    capability_requirements={"primitive_observables": ["count(symbol)"], "transforms": [], "generator_families": []},
)


def test_a_law_with_every_field_of_the_document_is_read():
    result = ResponseParser(universe()[0], templates(), strict=True).parse(json.dumps([WHOLE]))
    assert result.rejections == ()
    (law,) = result.laws
    assert law.document == {key: value for key, value in WHOLE.items() if value is not None}
    assert (law.plan.law.T, law.plan.law.forbidden, law.plan.law.unknown) == (20, "a change", None)


def read(*laws, **how):
    return ResponseParser(universe()[0], templates(), **how).parse(json.dumps(list(laws)))


STRAYS = {"bound_op": "<", "bound_value": 3, "direction": "<=", "transform": "mirror_swap"}


def test_fields_of_other_templates_change_nothing_of_what_a_law_says():
    """What no part of the form reads is left out, with a warning; strict parsing takes no such law."""
    (law,) = (result := read(conserved(law_id="other", **STRAYS))).laws
    assert STRAYS.keys().isdisjoint(law.document)
    assert [warning.partition(": ")[2][:11] for warning in result.warnings] == ["W_LAW_FIELD"] * len(STRAYS)
    detector = RedundancyDetector()
    detector.add_known_law(parsed(conserved()))
    match = detector.check(law)
    assert match is not None
    assert match.match_type == "exact"
    (rejection,) = read(conserved(**STRAYS), strict=True).rejections
    assert rejection[1].startswith("E_LAW_FIELD")


def test_a_transform_is_part_of_a_symmetry_alone():
    """An X that stays: false. As the symmetry that its stray transform names it would be true."""
    stays = {"trigger_symbol": "X", "result_op": "==", "result_symbol": "X", "exprs": ()}
    (law,) = read(candidate("local_transition", transform="mirror_swap", **stays)).laws
    assert isinstance(answer_of(law.plan.law), Refuted)


def test_laws_that_differ_are_no_duplicates_because_both_name_a_transform():
    laws = read(*(conserved(expr, law_id=expr, transform="mirror_swap") for expr in (RIGHT, LEFT))).laws
    assert len(RedundancyDetector().filter_batch(laws).unique) == len(laws) == 2


@pytest.mark.parametrize("field", ["forbidden", "template"])
def test_what_a_law_must_say_is_more_than_white_space(field):
    ((_, reason),) = read({**conserved(), field: " \t "}).rejections
    assert reason.startswith("E_ANSWER_FIELD")
    with pytest.raises(Rejected):
        parsed({**conserved(), field: " \t "})


def test_unmeasured_laws_with_sorted_observables_are_the_same_in_normal_form():
    claim = op("==", obs("One"), obs("Two"))
    both = named(One="entropy('X')", Two="chaos( '<' )")
    laws = [conserved() | {"claim_ast": claim, "observables": order} for order in (both, both[::-1])]
    detector = RedundancyDetector()
    detector.add_known_law(parsed(laws[0]))
    match = detector.check(parsed({**laws[1], "law_id": "other", "forbidden": "other words"}))
    assert match is not None
    assert (match.match_type, match.similarity) == ("normalized", 1_000_000)


# The loop


@pytest.mark.medium
def test_the_loop_of_the_document_gives_what_a_discovery_gives():
    """Snapshot, propose, evaluate, record: written as the document writes it, beside `run_discovery`."""
    workbench, planned = open_all(load(str(SMALL), set=["lag=1", "escalation.every=99"])[0])
    kept: dict[str, Any] = {}

    def evaluate(plan, document, effort):
        name = document["law_id"] if effort is plan.model.trial else "harder"
        if name not in kept or name == "harder":
            kept[name] = try_proposed(plan, document, effort)
        return kept[name]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(worker, "try_proposed", evaluate)
        facts = list(run_discovery(workbench, planned.identity, planned.open(False).ask))
    told = [body for kind, body, *_ in facts if kind in ("iteration", "law")]

    memory = DiscoveryMemory(workbench.plan.model.memory, workbench.plan.checked)
    asking = LawProposer(planned.open(False), workbench.tools, ProposerConfig(max_token_budget=16_000))
    expected: list[tuple[Any, ...]] = []
    for _ in range(workbench.plan.model.iterations):
        batch = asking.propose(memory, workbench.request)
        expected.append((batch.prompt_hash, batch.document()["rejections"], len(batch.redundant), list(batch.warnings)))
        for law, features in zip(batch.laws, batch.features, strict=True):
            verdict = evaluate(workbench.plan, dict(law.document), workbench.plan.model.trial)["verdict"]
            expected.append((law.document, features.document(), verdict))
            memory.record_evaluation(law, verdict)
    found = [
        (each["prompt"]["digest"], each["rejections"], len(each["redundant"]), each["warnings"])
        if "prompt" in each
        else (each["document"], each["features"], each["verdict"])
        for each in told
    ]
    assert found == expected
    assert len(found) > workbench.plan.model.iterations


def test_accepted_laws_are_tried_harder_from_time_to_time():
    workbench, planned = open_all(load(str(SMALL), set=["lag=1", "escalation.every=1", "held_out.mutants=0"])[0])
    efforts = []

    def evaluate(plan, document, effort):
        efforts.append((document["law_id"], "harder" if effort is plan.model.escalation else "first"))
        return {"verdict": VERDICT, "error": None}

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(worker, "try_proposed", evaluate)
        facts = list(run_discovery(workbench, planned.identity, planned.open(False).ask))
    kinds = [kind for kind, *_ in facts]
    assert efforts == [
        *[("right", "first"), ("right", "harder"), ("swap", "first"), ("swap", "harder")],
        *[("gap", "first"), ("leaves", "first"), ("gap", "harder"), ("leaves", "harder")],
    ]
    assert [kind for kind in kinds if kind in ("law", "escalation")] == [
        *["law", "escalation", "law", "escalation", "law", "law", "escalation", "escalation"],
    ]
    model = workbench.plan.model
    assert model.escalation.cases > model.trial.cases
    law = {"law_id": "x", **MIRROR}
    tried = [workbench.plan.law(law, effort).law for effort in (model.trial, model.escalation)]
    assert [(each.cases, each.T) for each in tried] == [(60, 6), (80, 8)]


@pytest.mark.medium
def test_the_shipped_discoveries_escalate_harder_than_they_try():
    for path in sorted(Path("specs/discovery").glob("*.yaml")):
        model: Any = load(str(path))[0].main.model
        assert model.escalation.every <= model.iterations
        assert model.escalation.cases > model.trial.cases
        assert model.escalation.mutations > model.trial.mutations
        assert model.escalation.T > model.trial.T
