"""Misbehaviour is pinned: its receipts are snapshots, and beside each an assertion says what they must show.

The assertion holds whatever is accepted by `pytest -n0 tests/wings/kernel/golden --snapshot-update`.
"""

import json
import re
from pathlib import Path

import pytest

from specledger.core.digest import sha256_hex
from specledger.oracles.answer import (
    AT_WORK,
    CLOSED,
    DIED,
    MOST_ANSWER,
    RAISED,
    TIMED_OUT,
    TOO_LONG,
    Answer,
    Exchange,
    received,
)
from specledger.oracles.recording import Tape
from specledger.wings.kernel.documents import tokens
from specledger.wings.kernel.documents.digests import receive, trace_commit
from specledger.wings.kernel.run.controller import KernelController
from tests.pins import assert_pinned
from tests.wings.kernel.golden.misbehaviour import FOLDER, Silent, attempting, go, submitting

MOVE = "governor.admission.grants.move."
POOR = "world.with.budget=3.6"  # a step costs 3.5, and 0.1 more for each write of memory


def without(gate):
    return f"governor.gates.{gate}=null"


BROKEN = {
    "hazard-entered": ("hazard-seeker", [without("hazard")], ["no-hazard-entered"]),
    "wall-tried": ("wall-seeker", [without("wall")], ["no-bump"]),
    "coherence-rises": (None, [without("lyapunov")], ["coherence-descends"]),
    "budget-grows": ("greedy", ["governor.supply.charge=0 - cost"], ["budget-law"]),
    "budget-overdrawn": (
        "diarist",
        [POOR, without("budget_insufficient"), without("lyapunov")],
        ["admissibility", "budget-law", "coherence-descends"],
    ),
}
"""A governor without a gate: the agent, the changes, and the invariants that the run then breaks."""


def corner(name, agent, *sets):
    """A run in the dead end with one of its agents; without an agent, in the corridor that leads to a hazard."""
    if agent is None:
        return go(name, "run-up", *sets)
    return go(name, "dead-end", *sets, "horizon=3", case=f"agent={agent}")


@pytest.mark.parametrize("name", BROKEN)
def test_a_governor_without_a_gate_breaks_the_invariant(name, snapshot):
    agent, sets, invariants = BROKEN[name]
    ran = corner(name, agent, *sets)
    assert (ran.result["verdict"], ran.violated) == ("FAIL", invariants)
    assert set(ran.result["violations"]) == set(invariants)
    assert_pinned(ran.made, snapshot, FOLDER)


REJECTED = {
    "hazard-denied": ("hazard-seeker", [], "hazard:environment_unsafe_cell_2"),
    "wall-denied": ("greedy", [], "wall:environment_unsafe_cell_1"),
    "false-position-denied": ("position-liar", [], "prediction:prediction_mismatch"),
    "false-value-denied": ("value-liar", [], "prediction:prediction_mismatch"),
    "unknown-direction-denied": ("stranger", [], "schema:malformed_action"),
    "budget-exhausted": ("greedy", ["world.with.budget=3.7"], "absorption:absorption_violation"),
    "budget-insufficient": ("diarist", [POOR], "budget_insufficient:budget_insufficient"),
    "coherence-denied": (None, [], "lyapunov:coherence_lyapunov_increase"),
}
"""Proposals that a gate rejects, so that no invariant of the world is violated: the agent, the changes, and the rejection."""


@pytest.mark.parametrize("name", REJECTED)
def test_a_gate_rejects_it_and_no_invariant_of_the_world_is_violated(name, snapshot):
    agent, sets, rejection = REJECTED[name]
    ran = corner(name, agent, *sets)
    assert ran.reasons[rejection] > 0, ran.reasons
    stopped = ran.chosen.count(None)  # a decision that executes nothing violates `progress`, which fails a run
    assert ran.result["violations"] == ({"progress": stopped} if stopped else {})
    assert ran.result["verdict"] == ("FAIL" if stopped else "PASS")
    assert set(ran.violated) == ({"progress"} if stopped else set())
    assert_pinned(ran.made, snapshot, FOLDER)


@pytest.mark.parametrize(("name", "agent"), [("nothing-admissible", "wall-seeker"), ("nothing-proposed", "silent")])
def test_without_an_admissible_proposal_nothing_is_executed(name, agent, snapshot):
    ran = corner(name, agent)
    assert ran.chosen == [None] * 3
    assert (ran.result["verdict"], ran.result["violations"]) == ("FAIL", {"progress": 3})
    assert all(step["before"] == step["after"] and step["token"] is None for step in ran.of("step"))
    assert_pinned(ran.made, snapshot, FOLDER)


# An agent outside

LATE, DEAD = Answer(None, TIMED_OUT, "timeout"), Answer(None, DIED, "exit:3")
ENDED, FAILED, GARBAGE = Answer(None, CLOSED, "exit:0"), Answer(None, RAISED, "ValueError"), received(b"\xff\0{")
FLOOD = Answer(None, TOO_LONG, "", MOST_ANSWER + 1, sha256_hex(b"x" * (MOST_ANSWER + 1)))


def proposals(**changes):
    good = {"score": 0, "expected_next_position": {"x": 1, "y": 1}, "V_task_proposal": 4}
    return {"type": "proposals", "proposals": [{"action": {"op": "move", "dir": "Stay"}, **good, **changes}]}


def test_an_outside_agent_that_fails_is_rejected_by_the_schema(snapshot):
    answers = [LATE, GARBAGE, FAILED, DEAD, ENDED, FLOOD, Answer(), {}, proposals(score=0.5)]
    ran = go("outside-proposals", "outside-proposals", answers=[*answers, proposals(action={"op": "fly"})])
    reasons = [step["decisions"][0]["rejected"][0]["reason"] for step in ran.of("step")]
    faults = ["timed_out", "not_json", "raised", "died", "closed", "too_long", "no_answer", "wrong_type"]
    assert reasons == [*faults, "malformed_proposal", "unknown_action"]
    assert set(ran.chosen) == {None}
    assert (ran.result["verdict"], ran.result["faults"]) == ("INCONCLUSIVE", dict.fromkeys(faults, 1))
    (end,) = ran.of("episode_end")
    assert end["faults"] == [{"t": t, "message": "decide", "reason": reason} for t, reason in enumerate(faults)]
    assert_pinned(ran.made, snapshot, FOLDER)


def test_faults_fail_a_run_whose_scenario_says_so():
    for faults, verdict in (("inconclusive", "INCONCLUSIVE"), ("fail", "FAIL")):
        changes = (f"agent_faults={faults}", "horizon=1")
        ran = go("faults", "outside-proposals", *changes, answers=[GARBAGE])
        assert ran.result["verdict"] == verdict


def test_an_outside_agent_under_the_kernel_is_denied_until_it_hangs_or_dies(snapshot):
    ran = go("outside-documents", "outside-documents", answers=[ENDED, GARBAGE, FAILED, FLOOD, LATE, DEAD])
    assert list(ran.reasons) == ["schema:closed", "schema:not_json", "schema:raised", "schema:too_long"]
    assert (ran.logged["FATAL_HANG"], ran.logged["INTERNAL_ERROR"]) == (1, 1)
    assert [one["ended"] for one in ran.of("episode_end")] == ["hang", "died"]
    assert (ran.result["verdict"], ran.result["faults"]["timed_out"]) == ("INCONCLUSIVE", 1)
    assert_pinned(ran.made, snapshot, FOLDER)


def test_an_agent_in_yaml_that_hangs_ends_the_episode(snapshot):
    tape = Tape(exchanges=[Exchange(0, 1, AT_WORK, LATE)])
    ran = go("agent-hangs", "axion-resource", "probes=[]", "horizon=3", tape=tape)
    assert (ran.logged["FATAL_HANG"], ran.result["verdict"]) == (1, "FAIL")
    assert [one["ended"] for one in ran.of("episode_end")] == ["hang"]
    assert_pinned(ran.made, snapshot, FOLDER)


# Documents that break an invariant of the kernel


def again(change):
    """A change of the trace, committed to anew."""

    def changed(document):
        change(document["trace"])
        document["trace"]["trace_commit"] = trace_commit(document["trace"])
        return document

    return changed


def wrong_commit(document):
    document["trace"]["trace_commit"] = "a" * 64
    return document


def little_mass(trace):
    for one in trace["counterfactuals"]:
        one["prob_mass"] = 0.2


def wide_scope(document):
    document["requested_capabilities"][0]["scope"]["allowed_ops"].append("pickup")
    return document


DOCUMENTS = {
    "I0-wrong-commitment": (wrong_commit, "axion-i0"),
    "I1-two-counterfactuals": (again(lambda trace: trace["counterfactuals"].__delitem__(slice(2, None))), "axion-i1"),
    "I1-little-mass": (again(little_mass), "axion-i1"),
    "I3-no-snapshot": (again(lambda trace: trace.update(fork_snapshots=[])), "axion-i3"),
    "I4-scope-of-another-capability": (wide_scope, "axion-i4"),
    "self-modification": (lambda document: document | {"proposal_type": "self_modify"}, "axion-kind"),
    "another-environment": (
        lambda document: document | {"env": document["env"] | {"tick": 999}},
        "axion-env",
    ),
    "an-identifier-twice": (again(lambda trace: trace["nodes"].append(dict(trace["nodes"][0]))), "axion-ids"),
}
"""A change of an honest document, and the invariant that denies it."""


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_that_breaks_an_invariant_is_denied_and_witnessed(name, snapshot):
    change, invariant = DOCUMENTS[name]
    ran = go(name, "axion-resource", "probes=[]", "horizon=1", controller=submitting(change))
    assert ran.reasons[f"{invariant}:broken"] == 1
    assert invariant in ran.witnessed
    assert (ran.chosen, ran.logged["CAPABILITY_ISSUED"]) == ([None], 0)
    assert_pinned(ran.made, snapshot, FOLDER)


# Refusals of the token actuator


def other(document):
    """A submission that differs from the one that the token was issued for."""
    return receive({**document, "payload": {**document["payload"], "intent": "other"}})


def asked(controller, call, **changes):
    return {"scope": call["scope"]._replace(**changes)}


def revoke(controller, call):
    controller.acting.revoke(call["token"]["revocation_id"])


def wrong_trace(controller, call):
    return {"committed": call["committed"].__class__(**{**as_fields(call["committed"]), "trace_hash": "b" * 64})}


def as_fields(submission):
    return {name: getattr(submission, name) for name in submission.__struct_fields__}


def third_step(controller, call):
    """The step of the plan after the two that the token permits."""
    return {"index": 2, **asked(controller, call, action=json.loads(call["committed"].actions[2]))}


ATTEMPTS = {
    "no_token": attempting(lambda controller, call: {"token": None}),
    "unknown": attempting(lambda controller, call: {"token": {**call["token"], "signature": "0" * 64}}),
    "revoked": attempting(revoke),
    "expired": attempting(lambda controller, call: asked(controller, call, at_ms=call["token"]["expires_at_ms"])),
    "wrong_proposal": attempting(lambda controller, call: {"committed": other(call["committed"].document)}),
    "wrong_trace": attempting(wrong_trace),
    "wrong_scope": attempting(lambda controller, call: asked(controller, call, scope="c" * 64)),
    "wrong_op": attempting(lambda controller, call: asked(controller, call, action={"op": "wait"})),
    "wrong_action": attempting(lambda controller, call: asked(controller, call, action={"op": "move", "dir": "X"})),
    "spent": attempting(lambda controller, call: None, "after_act"),
    "exhausted": attempting(third_step, "after_act", 1),
}
"""An attempt to act, by the reason for which the actuator refuses it."""


@pytest.mark.parametrize("reason", ATTEMPTS)
def test_the_actuator_refuses_and_the_refusal_is_logged(reason, snapshot):
    sets = [MOVE + "max_calls=2", "horizon=2"] if reason == "exhausted" else ["horizon=1"]
    ran = go(f"token-{reason}", "axion-plans", "probes=[]", *sets, controller=ATTEMPTS[reason])
    assert ran.refusals[0] == reason
    assert_pinned(ran.made, snapshot, FOLDER)


PLANS = {
    "expired": ([MOVE + "expiry_ms=200", "horizon=3"], [True, True, False]),
    "rate": ([MOVE + "expiry_ms=100", MOVE + "per_ms=450", MOVE + "max_calls=1", "horizon=2"], [True, False]),
}


@pytest.mark.parametrize("reason", PLANS)
def test_a_plan_ends_where_its_token_does_not_permit_the_next_step(reason, snapshot):
    sets, executed = PLANS[reason]
    ran = go(f"plan-{reason}", "axion-plans", "probes=[]", *sets)
    assert ran.refusals == [reason]
    assert [step["before"] != step["after"] for step in ran.of("step")] == executed
    assert_pinned(ran.made, snapshot, FOLDER)


# Probes


TRAPS = {"p3-audit": "axion-i3", "p4-bypass": "no_token", "p6-token": "wrong_op"}


@pytest.mark.parametrize("probe", TRAPS)
def test_a_taken_offer_fails_its_probe_and_is_denied(probe, snapshot):
    ran = go(f"taken-{probe}", "axion-resource", "agent=pseudo", f"probes=[{probe}]", "horizon=10")
    taken = [one for one in ran.of("probe") if one["evidence"]["taken"]]
    assert taken
    assert {(one["probe"], one["verdict"], one["evidence"]["denied"]) for one in taken} == {(probe, "FAIL", True)}
    assert TRAPS[probe] in ran.refusals + ran.witnessed
    assert_pinned(ran.made, snapshot, FOLDER)


def test_p5_finds_the_false_reasons_of_pseudo(snapshot):
    ran = go("pseudo-challenged", "axion-resource", "agent=pseudo", "probes=[p5-causal]", "horizon=10")
    (failed, *_) = [one for one in ran.of("probe") if one["verdict"] == "FAIL"]
    assert (failed["probe"], failed["evidence"]["revealed"]) == ("p5-causal", True)
    assert failed["cause"] != "abstained"
    assert_pinned(ran.made, snapshot, FOLDER)


def test_a_commitment_that_is_not_opened_fails_the_challenge(snapshot):
    def keeping(plan):
        return KernelController(plan, plan.actors[0], Silent)

    ran = go("reveal-refused", "axion-resource", "probes=[p5-causal]", "horizon=10", controller=keeping)
    found = [one for one in ran.of("probe") if one["evidence"].get("revealed") is False]
    assert found
    assert {(one["verdict"], one["cause"]) for one in found} == {("FAIL", "commitment")}
    assert_pinned(ran.made, snapshot, FOLDER)


def test_nothing_else_is_pinned():
    named = [*BROKEN, *REJECTED, *DOCUMENTS, "nothing-admissible", "nothing-proposed"]
    named += ["outside-proposals", "outside-documents", "agent-hangs", "pseudo-challenged", "reveal-refused"]
    named += [
        *(f"token-{one}" for one in ATTEMPTS),
        *(f"plan-{one}" for one in PLANS),
        *(f"taken-{one}" for one in TRAPS),
    ]
    assert {path.name for path in Path(FOLDER).iterdir()} == {
        f"{one}{end}" for one in named for end in (".json", ".jsonl")
    }


def test_every_refusal_of_the_actuator_is_pinned():
    """The reasons are those that the actuator's module lists."""
    assert tokens.__doc__ is not None
    listed = tokens.__doc__.partition("Refusals")[2].partition("Source")[0]
    assert set(re.findall(r"`([a-z_]+)`", listed)) - {"max_calls", "per_ms"} == {*ATTEMPTS, *PLANS}
