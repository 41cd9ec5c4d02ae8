"""What a statement amounts to: its claims, what cannot be read in it, and the document that is made of it, in full."""

from hashlib import sha256
from typing import Any

import pytest

from specledger.core.canonical import NotCanonical
from specledger.core.digest import hash_json
from specledger.core.entries import uuid_of
from specledger.wings.kernel.reasons.procedure import Choice, DecisionPoint
from specledger.wings.kernel.reasons.statement import (
    Origin,
    choice_of,
    claims_of,
    commitment_of,
    confidences_of,
    directions_of,
    document_of,
)
from tests.wings.kernel.reasons.small_world import STATE, narration, procedure

ORIGIN = Origin("agent/0/1", "ab")
POINT = DecisionPoint(0, 4)
MOVE = {"op": "move", "by": 2}


def becomes(variable: Any = "level", value: Any = 9, choice: Any = "wait", **more):
    return {"variable": variable, "becomes": value, "choice": choice, **more}


def goes(direction, variable="level", choice="wait", **more):
    return {"variable": variable, "direction": direction, "choice": choice, **more}


def stating(*claims, action: Any = "move 2", **more):
    return {"action": action, "claims": [*claims], **more}


CHOICES = {
    "a label": ("move 2", Choice(MOVE, 0, "move 2")),
    "an action": ({"op": "move", "by": 1}, Choice({"op": "move", "by": 1}, 0, "move 1")),
    "another notation": ("WAIT.", Choice({"op": "wait"}, 0, "wait")),
}


@pytest.mark.parametrize(("action", "choice"), CHOICES.values(), ids=CHOICES)
def test_an_action_is_a_choice_without_a_score(action, choice):
    assert choice_of(narration(), action, STATE) == choice


@pytest.mark.parametrize("action", ["fly", {"op": "move", "by": 3}, "move", {}])
def test_what_is_no_action_of_the_world_is_no_choice(action):
    with pytest.raises(NotCanonical) as caught:
        choice_of(narration(), action, STATE)
    assert (caught.value.code, str(caught.value)) == ("unknown_action", "$: the world has no such action")


# Of a claim: the variable, before, then, the choice, the way, the confidence, whether it gives a direction.
READ = {
    "a value": (becomes(), ("level", 3, 9, "wait", "becomes 9", None, False)),
    "a number in quotes": (becomes(value="9"), ("level", 3, 9, "wait", "becomes 9", None, False)),
    "the value that it has": (becomes(value=3), ("level", 3, 3, "wait", "becomes 3", None, False)),
    "a truth value": (becomes("flag", True), ("flag", False, True, "wait", "becomes true", None, False)),
    "another name": (becomes("`Level`"), ("level", 3, 9, "wait", "becomes 9", None, False)),
    "upwards: the first alternative above": (goes("increases"), ("level", 3, 9, "wait", "increases", None, True)),
    "downwards: the first alternative below": (goes("decreases"), ("level", 3, 1, "wait", "decreases", None, True)),
    "no alternative that way": (goes("removed"), ("level", 3, 3, "wait", "is removed", None, True)),
    "a confidence": (becomes(confidence=0.5), ("level", 3, 9, "wait", "becomes 9", 0.5, False)),
    "a confidence of none": (becomes(confidence=0), ("level", 3, 9, "wait", "becomes 9", 0, False)),
}


@pytest.mark.parametrize(("stated", "claimed"), READ.values(), ids=READ)
def test_a_claim_is_read(stated, claimed):
    claims, unread = claims_of(narration(), stating(stated), STATE)
    assert unread == []
    (claim,) = claims
    supposed = claim.supposed
    found = (supposed.variable, supposed.before, supposed.value, supposed.choice.label)
    assert (*found, claim.way, claim.confidence, claim.directed) == claimed
    assert supposed.choice == Choice({}, 0, claimed[3])


UNREAD = {
    "a name that there is not": (becomes("depth"), "variable"),
    "a value of another type": (becomes(value="high"), "becomes"),
    "a truth value in place of a number": (becomes(value=True), "becomes"),
    "a number in place of a truth value": (becomes("flag", 7), "becomes"),
    "no choice of the world": (becomes(choice="fly"), "choice"),
    "a choice that could be two": (becomes(choice="move"), "choice"),
    "nothing of it: the variable is said": (becomes("depth", "high", "fly"), "variable"),
    "neither value nor choice: the value is said": (becomes(value="high", choice="fly"), "becomes"),
}


@pytest.mark.parametrize(("stated", "field"), UNREAD.values(), ids=UNREAD)
def test_of_a_claim_that_cannot_be_read_the_field_is_said(stated, field):
    claims, unread = claims_of(narration(), stating(becomes(value=1), stated, becomes(value=2)), STATE)
    assert ([claim.supposed.value for claim in claims], unread) == ([1, 2], [field])


DIRECTIONS = {
    "a direction": ([goes("increases")], {"level": "increases"}),
    "a value": ([becomes()], {}),
    "the first of a variable": ([goes("decreases"), goes("increases")], {"level": "decreases"}),
    "a value before a direction": ([becomes(), goes("increases")], {}),
    "a direction before a value": ([goes("increases"), becomes()], {"level": "increases"}),
    "the same choice says nothing": ([goes("increases", choice="move 2"), goes("decreases")], {"level": "decreases"}),
    "two variables": (
        [goes("increases", "flag"), goes("decreases", choice="move 1")],
        {"flag": "increases", "level": "decreases"},
    ),
}


@pytest.mark.parametrize(("claims", "directions"), DIRECTIONS.values(), ids=DIRECTIONS)
def test_directions_are_those_of_the_claims_that_became_causal_ones(claims, directions):
    assert directions_of(narration(), stating(*claims), STATE) == directions


def test_confidences_are_numbered_as_counterfactuals_and_rounded_to_millionths():
    claims = [
        becomes("depth", confidence=0.1),
        becomes(value=1, confidence=1),
        becomes(value=2),
        becomes(value=7, confidence=0.1234566),
        becomes(value=9, confidence=0),
    ]
    assert confidences_of(narration(), stating(*claims), STATE) == {"cf-0": 1_000_000, "cf-2": 123_457, "cf-3": 0}


def refused(narrated, statement):
    with pytest.raises(NotCanonical) as caught:
        document_of(narrated, statement, ORIGIN, STATE, {}, POINT)
    return caught.value.code


BAD = becomes("depth")
REFUSED = {
    "one of two can be read, and two are demanded": (2, False, stating(becomes(), BAD), "unread_claims"),
    "one is given, and one beside it had no form": (2, False, stating(becomes(), unread=1), "unread_claims"),
    "a model gives one": (2, True, stating(becomes()), "too_few_claims"),
    "a model gives one that can be read": (2, True, stating(becomes(), BAD), "unread_claims"),
    "a further action that there is not": (0, False, stating(then=["fly"]), "unknown_action"),
    "an action that there is not": (0, False, stating(action="fly"), "unknown_action"),
}


@pytest.mark.parametrize(("least", "abstains", "statement", "code"), REFUSED.values(), ids=REFUSED)
def test_a_statement_that_is_none(least, abstains, statement, code):
    assert refused(narration(least=least, abstains=abstains), statement) == code


TAKEN = {
    "as many as are demanded, beside one that cannot be read": (1, True, stating(becomes(), BAD), 1),
    "as many as are demanded, beside one without a form": (1, True, stating(becomes(), unread=3), 1),
    "fewer, by a program": (2, False, stating(becomes(), unread=0), 1),
    "none demanded": (0, True, stating(BAD), 0),
}


@pytest.mark.parametrize(("least", "abstains", "statement", "number"), TAKEN.values(), ids=TAKEN)
def test_a_statement_with_claims_enough_or_of_a_program(least, abstains, statement, number):
    document = document_of(narration(least=least, abstains=abstains), statement, ORIGIN, STATE, {}, POINT)
    assert len(document["trace"]["counterfactuals"]) == number


def test_the_document_of_a_statement_without_a_declared_procedure():
    claims = [
        becomes(confidence=0.25),
        becomes("flag", True, "move 2"),
        becomes(value=7, choice="move 1"),
        goes("increases", "flag"),
    ]
    statement = stating(*claims, then=["wait", {"op": "move", "by": 1}], commitment="cd")
    digest = hash_json(STATE)
    found = document_of(narration(), statement, ORIGIN, STATE, {}, POINT)
    trace = {
        "trace_version": "0.2",
        "nodes": [
            {
                "id": 0,
                "kind": "observation",
                "summary": "the state as it was seen",
                "payload": {
                    "expression": "state_digest(focus_vars)",
                    "inputs": {"focus_vars": ["level", "flag"]},
                    "output": digest,
                },
            },
            {
                "id": 1,
                "kind": "inference",
                "summary": "the choice",
                "payload": {"expression": "undeclared", "inputs": {}, "output": "move 2"},
            },
        ],
        "edges": [{"from": 0, "to": 1, "type": "supports"}],
        "fork_snapshots": [
            {
                "fork_id": "fork-0",
                "state_digest": digest,
                "focus_vars": ["level", "flag"],
                "commitment": "cd",
                "nonce_ref": "statement:ab",
            }
        ],
        "causal_claims": [
            {
                "var": "level",
                "direction": "increase",
                "expected_effect_on_choice": "cf-0|level|becomes 9|wait",
                "confidence": 0.25,
                "supporting_nodes": [0],
            },
            {
                "var": "flag",
                "direction": "categorical",
                "expected_effect_on_choice": "cf-3|flag|increases|wait",
                "confidence": 1,
                "supporting_nodes": [0],
            },
        ],
        "counterfactuals": [
            {
                "cf_id": f"cf-{number}",
                "base_state_digest": digest,
                "mutation": {"var": name, "new_value": value},
                "predicted_outcome": {"choice": choice, "score": 0},
                "prob_mass": 0.25,
            }
            for number, (name, value, choice) in enumerate(
                [("level", 9, "wait"), ("flag", True, "move 2"), ("level", 7, "move 1"), ("flag", False, "wait")]
            )
        ],
    }
    assert found == {
        "proposal_id": uuid_of("proposal", "agent/0/1"),
        "proposal_type": "action",
        "env": {"shows": STATE},
        "payload": {
            "intent": "move 2",
            "plan": {
                "steps": [
                    {"op": "move", "args": {"by": 2}},
                    {"op": "wait", "args": {}},
                    {"op": "move", "args": {"by": 1}},
                ]
            },
        },
        "trace": {**trace, "trace_commit": narration().commit(trace)},
        "requested_capabilities": [{"for": "move"}],
    }


def test_with_a_declared_procedure_claims_rest_on_the_score_of_what_they_predict():
    narrated = narration(declared=procedure("told"))
    trace = document_of(narrated, stating(becomes()), ORIGIN, STATE, {"tired": 1}, POINT)["trace"]
    assert [(node["kind"], node["summary"], node["payload"]["output"]) for node in trace["nodes"]] == [
        ("observation", "the state as it was seen", hash_json({"level": 3})),
        ("assumption", "the declared score", "score(action)"),
        ("evaluation", "wait", 1),
        ("evaluation", "move 2", 2),
        ("inference", "the choice", "move 2"),
    ]
    assert [claim["supporting_nodes"] for claim in trace["causal_claims"]] == [[0, 2]]
    assert trace["fork_snapshots"] == []


@pytest.mark.parametrize(("nonce", "payload"), [(b"", b""), (b"n", b'{"a":1}'), (b'n{"a"', b":1}"), (bytes(16), b"{}")])
def test_a_commitment_is_the_sha_256_of_the_nonce_and_then_the_payload(nonce, payload):
    assert commitment_of(nonce, payload) == sha256(b"".join((nonce, payload))).hexdigest()
