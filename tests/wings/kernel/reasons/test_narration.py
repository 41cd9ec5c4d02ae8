"""Narration: who is asked what would change the choice, what a trace declares, and what a document says."""

import copy
import json
from functools import cache

import pytest
from msgspec.structs import replace

from specledger.core.digest import hash_json
from specledger.core.rng import Stream
from specledger.run.loop import run
from specledger.run.session import greeting
from specledger.wings.kernel.documents.digests import mass_units, receive
from specledger.wings.kernel.documents.schemas import axion
from specledger.wings.kernel.documents.snapshots import Challenges, Vault
from specledger.wings.kernel.plan import kernel_of
from specledger.wings.kernel.reasons.claims import (
    DECREASES,
    INCREASES,
    MASS_UNIT,
    REMOVED,
    Bounds,
    derive_claims,
    direction,
    equal_masses,
    has_direction,
)
from specledger.wings.kernel.reasons.narration import FORK, replay_trace
from specledger.wings.kernel.reasons.procedure import DecisionPoint, Procedure, first_best
from specledger.wings.kernel.spec.vocabulary import TraceWords
from tests.toys import ROOT, plan_of, shipped_plan

WHEN = DecisionPoint(0, 0)


@cache
def compiled(agent, scenario):
    plan = shipped_plan(f"axion-{scenario}", f"agent={agent}")
    return plan, kernel_of(plan.actors[0]), Vault(Stream.named(plan.seed, "nonce"), Challenges())


class Case:
    """The first decision of an episode."""

    def __init__(self, agent, scenario="resource", episode=0):
        self.plan, self.kernel, self.vault = compiled(agent, scenario)
        self.narration = self.kernel.narration
        self.views = self.narration.views
        self.state = self.plan.start(episode)
        self.memory = self.plan.actors[0].begin(self.views.observe(self.state))
        self.choice = self.narration.choose(self.state, self.memory, WHEN)

    def document(self, snapshot=None):
        snapshot = snapshot or self.vault.snapshot
        return self.narration.document(self.state, self.memory, self.choice, WHEN, snapshot)


@pytest.fixture(scope="module", params=["honest", "pseudo"])
def case(request):
    return Case(request.param)


def test_the_choice_is_the_first_proposal_with_the_greatest_score():
    proposals = [{"action": {"op": op}, "score": score} for op, score in (("a", 1), ("b", 3), ("c", 3))]
    chosen = first_best(proposals, lambda action: action["op"])
    assert chosen is not None
    assert chosen.label == "b"
    assert first_best([], lambda action: action["op"]) is None


@pytest.mark.parametrize("count", [1, 2, 3, 6, 7, 11, 128])
def test_masses_are_shared_out_exactly(count):
    shares = equal_masses(count)
    assert mass_units(shares) == MASS_UNIT
    assert all(0 <= share <= 1 for share in shares)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (1, 2, "increase"),
        (2, 1, "decrease"),
        ([], [1], "categorical"),
        ("a", "b", "categorical"),
        (0, True, "categorical"),
    ],
)
def test_the_direction_of_a_change(before, after, said):
    assert direction(before, after) == said


@pytest.mark.medium
def test_a_document_is_valid_and_admitted(case):
    document = case.document()
    assert axion().explain("proposal", document) == []
    ruling = case.kernel.admission.rule(case.state, receive(document))
    assert (ruling.verdict, ruling.witnesses) == ("allow", ())
    assert ruling.scope["allowed_ops"] == [case.choice.action["op"]]


def test_a_document_speaks_of_different_variables_and_of_other_choices(case):
    trace = case.document()["trace"]
    claimed = [claim["var"] for claim in trace["causal_claims"]]
    assert 1 <= len(claimed) <= 3
    assert len(set(claimed)) == len(claimed)
    told = {one["cf_id"]: one for one in trace["counterfactuals"]}
    assert len(told) >= 3
    for claim in trace["causal_claims"]:
        said = case.kernel.vocabulary.parse(claim["expected_effect_on_choice"])
        one = told[said["counterfactual"]]
        assert said["choice"] == one["predicted_outcome"]["choice"] != case.choice.label
        assert one["mutation"]["var"] == claim["var"]


def test_claims_are_what_the_teller_would_do(case):
    """Each claim is brought about and the teller asked: for whoever tells of itself that is also what it would do."""
    teller = case.narration.teller
    for one in case.document()["trace"]["counterfactuals"]:
        changed, _ = case.views.mutate(case.state, one["mutation"]["var"], one["mutation"]["new_value"])
        asked = teller.choose(case.views.observe(changed), case.memory, WHEN)
        assert asked.label == one["predicted_outcome"]["choice"]


def replayed(case, trace, chosen=None):
    declared, seen = case.narration.declared, case.views.observe(case.state)

    def digest(focus):
        return hash_json(case.views.normalize(case.state, focus)) if isinstance(focus, list) else ""

    return replay_trace(trace, declared, seen, case.memory, WHEN, digest, chosen or case.choice.label, TraceWords())


def test_a_trace_of_the_declared_procedure_is_reproduced():
    case = Case("honest")
    found = replayed(case, case.document()["trace"])
    assert found["ends"]
    assert found["equal"] == found["nodes"] >= 4


def test_a_trace_of_another_procedure_ends_in_a_choice_that_it_does_not_give():
    case = Case("pseudo")
    found = replayed(case, case.document()["trace"])
    assert not found["ends"]
    assert found["equal"] == found["nodes"] - 1  # every other node is the other procedure's, and honestly computed


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("output",), 12345),
        (("inputs",), {"op": "wait", "more": 1}),
        (("inputs",), "no record"),
        (("expression",), "something else"),
    ],
)
@pytest.mark.parametrize("number", [0, 2, -1])
def test_an_altered_node_does_not_come_out_equal(number, place, value):
    case = Case("honest")
    trace = copy.deepcopy(case.document()["trace"])
    trace["nodes"][number]["payload"][place[0]] = value
    found = replayed(case, trace)
    assert found["equal"] == found["nodes"] - 1
    assert found["ends"] == (number != -1)


def test_an_unknown_node_is_none_of_the_procedure():
    case = Case("honest")
    trace = copy.deepcopy(case.document()["trace"])
    trace["nodes"].append({"id": 99, "kind": "simulation", "summary": "so be it", "payload": {}})
    assert not replayed(case, trace)["ends"]


def test_nonces_are_fresh_and_a_repeated_document_says_the_same(case):
    one, other = case.document()["trace"], case.document()["trace"]
    assert one["fork_snapshots"][0]["commitment"] != other["fork_snapshots"][0]["commitment"]
    assert one["fork_snapshots"][0]["state_digest"] == other["fork_snapshots"][0]["state_digest"]
    assert one["fork_snapshots"][0]["fork_id"] == FORK
    assert all(one[part] == other[part] for part in ("nodes", "edges", "causal_claims", "counterfactuals"))


@pytest.mark.medium
def test_a_variable_that_is_not_there_is_passed_over():
    case = Case("honest", scenario="hazard")
    narration = replace(case.narration, vary=("dist.self_to_agent:nobody", *case.narration.vary))
    document = narration.document(case.state, case.memory, case.choice, WHEN, case.vault.snapshot)
    assert "dist.self_to_agent:nobody" not in document["trace"]["fork_snapshots"][0]["focus_vars"]


def test_a_procedure_that_never_changes_its_choice_has_no_claims_and_three_counterfactuals():
    case = Case("honest")
    stubborn = Procedure(
        "stubborn",
        "agent/stubborn@0",
        "0",
        lambda _seen, _memory, _occasion: [{"action": {"op": "wait"}, "score": 0}],
        case.narration.decider.label,
    )
    claimed, idle = derive_claims(
        stubborn, case.views, case.state, case.memory, "wait", case.narration.vary, Bounds(3, 3), WHEN
    )
    assert claimed == []
    assert len(idle) == 3


@pytest.mark.medium
def test_an_agent_gives_as_many_counterfactuals_as_its_kernel_demands():
    changes = ("governor.admission.counterfactuals=6", "probes=[]", "episodes=1", "horizon=2")
    plan = shipped_plan("axion-resource", "agent=honest", *changes)
    documents = [event.body["proposals"][0]["document"] for event in run(plan) if event.type == "commit"]
    assert [len(json.loads(document)["trace"]["counterfactuals"]) for document in documents] == [6, 6]


@pytest.mark.medium
@pytest.mark.parametrize("least", [3, 6])
def test_a_program_is_told_how_many_counterfactuals_its_kernel_demands(least):
    place = ROOT / "examples" / "agents" / "reasons.yaml"
    assert greeting(plan_of(place, f"governor.admission.counterfactuals={least}"))["counterfactuals"] == least


@pytest.mark.parametrize(
    ("way", "before", "value", "leads_there"),
    [
        (INCREASES, 3, 4, True),
        (DECREASES, 3, 4, False),
        (INCREASES, [1], [1, 2], True),
        (DECREASES, [1], [], True),
        (REMOVED, [1], [], True),
        (REMOVED, [], [], False),
        (INCREASES, [1], [2], False),
        (INCREASES, False, True, False),
        (INCREASES, "a", "ab", False),
        (INCREASES, {"x": 1}, {"x": 2}, False),
    ],
)
def test_a_change_has_a_direction(way, before, value, leads_there):
    assert has_direction(way, before, value) is leads_there


@pytest.mark.medium
def test_the_words_of_a_trace_are_those_of_the_vocabulary():
    """Its nodes come out equal when they are computed again, since the kernel reads the same words."""
    words = "governor.admission.vocabulary.trace={weighed: simulation, declared: evaluation, seen: assumption, chosen: inference}"
    kinds = {}
    for sets in ([], [words]):
        plan = shipped_plan(
            "axion-hazard", "episodes=1", "horizon=4", "probes=[{use: p5-causal}]", "probes.p5-causal.steps=4", *sets
        )
        events = [*run(plan)]
        documents = [
            json.loads(one["document"]) for event in events if event.type == "commit" for one in event.body["proposals"]
        ]
        kinds[len(sets)] = [node["kind"] for node in documents[0]["trace"]["nodes"]]
        traces = [
            event.body["evidence"]["trace"]
            for event in events
            if event.type == "probe" and "trace" in event.body["evidence"]
        ]
        assert traces
        assert all(one["equal"] == one["nodes"] and one["ends"] for one in traces)
    assert kinds[0][:3] == ["observation", "assumption", "evaluation"]
    assert kinds[1][:3] == ["assumption", "evaluation", "simulation"]
