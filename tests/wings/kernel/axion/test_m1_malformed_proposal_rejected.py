"""A malformed proposal is denied, witnessed and logged, nothing acts, and the run goes on (toy-pseudo-axion, M1)."""

import copy

import pytest

from specledger.core.binding import GENESIS
from specledger.core.entries import entry_hash
from specledger.expr import EvaluationError
from specledger.wings.kernel.documents.digests import trace_commit
from specledger.wings.kernel.documents.schemas import axion

SHORT = ("episodes=1", "horizon=6", "probes=[]")
AT = 2
"""The step at which the agent submits something else; at all others it submits what it should."""


def changed(change, *, commit=True):
    """What the document becomes: `change` works on a copy, whose trace is then committed to anew."""

    def make(document):
        document = copy.deepcopy(document)
        change(document)
        if commit:
            document["trace"]["trace_commit"] = trace_commit(document["trace"])
        return document

    return make


def trace(key, value):
    return changed(lambda document: document["trace"].update({key: value}))


def first(key, **fields):
    return changed(lambda document: document["trace"][key][0].update(fields), commit=False)


MALFORMED = {
    "wrong_commit": (changed(lambda d: d["trace"].update(trace_commit="0" * 64), commit=False), "axion-i0"),
    "another_world": (changed(lambda d: d["env"].update(tick=99)), "axion-env"),
    "not_a_number": (first("counterfactuals", prob_mass=float("nan")), "schema"),
    "nothing": (lambda _document: None, "schema"),
    "no_json": (lambda _document: b"{", "schema"),
}
"""One for each way to be malformed; `test_outside_agents` has all of them, from a process of their own."""


@pytest.fixture(scope="module", params=sorted(MALFORMED))
def case(request, go):
    make, witness = MALFORMED[request.param]
    found = go("axion-resource", "honest", *SHORT, change=lambda t, document: make(document) if t == AT else document)
    return request.param, make, witness, found


def test_it_is_denied_and_nothing_acts(case):
    _, _, witness, found = case
    step = found.of("step")[AT]
    assert step["chosen"] is None
    assert step["token"] is None
    assert step["before"] == step["after"]
    assert witness in {one["gate"] for one in step["decisions"][0]["rejected"]}


def test_it_is_witnessed_and_logged_before_the_step(case):
    _, _, witness, found = case
    denied = [entry for entry in found.entries("POLICY_DECISION") if entry["kernel_decision"]["verdict"] == "deny"]
    assert len(denied) == 1
    assert witness in {one["invariant"] for one in denied[0]["witnesses"]}
    assert axion().explain("audit_entry", denied[0]) == []
    bodies = [event.body for event in found.events]
    assert bodies.index(denied[0]) < bodies.index(found.of("step")[AT])


def test_the_run_goes_on(case):
    found = case[-1]
    assert len(found.of("step")) == 6
    assert found.of("error") == []
    assert [step["chosen"] for step in found.of("step")] == [0, 0, None, 0, 0, 0]


def test_every_entry_is_linked_to_the_one_before(case):
    head = GENESIS
    for entry in case[-1].of("audit"):
        assert entry["prev_entry_hash"] == head
        assert entry["entry_hash"] == entry_hash(entry)
        head = entry["entry_hash"]


def test_an_agent_that_fails_is_an_error_that_is_logged_and_no_denial(go):
    def fail(t, document):
        if t == AT:
            raise EvaluationError("E_EVAL_DIVISION", "by zero")
        return document

    found = go("axion-resource", "honest", *SHORT, change=fail)
    assert [body["code"] for body in found.of("error")] == ["E_EVAL_DIVISION"]
    assert len(found.entries("INTERNAL_ERROR")) == 1
    assert len(found.of("step")) == AT
    assert found.of("episode_end")[0]["ended"] == "error"


@pytest.mark.medium
def test_an_execution_beyond_the_rate_is_refused_and_logged_and_the_run_goes_on(go):
    """One call in three ticks is granted, so two of three moves are refused."""
    wait = {"op": "noop", "args": {}}

    def idle(_t, document):
        document["payload"]["plan"]["steps"] = [wait]
        document["requested_capabilities"] = []
        document["trace"]["causal_claims"] = []
        document["trace"]["trace_commit"] = trace_commit(document["trace"])
        return document

    found = go("axion-resource", "honest", *SHORT, "governor.admission.free.noop.per_ms=300", change=idle)
    assert [step["chosen"] for step in found.of("step")] == [0, None, None, 0, None, None]
    assert [entry["kernel_decision"]["notes"].split()[-1] for entry in found.entries("CAPABILITY_DENIED")] == [
        "refused:rate"
    ] * 4
    refused = [step["decisions"][0]["rejected"] for step in found.of("step") if step["chosen"] is None]
    assert refused == [[{"gate": "token", "reason": "rate", "witness": {}}]] * 4
