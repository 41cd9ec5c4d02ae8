"""The short form in which an agent from outside states its choice and its reasons, and the document made of it.

A statement is `{action, claims, commitment}`, with `then` for the further steps of a plan. The kernel itself adds what
it knows: the environment, the digest of the state seen through the claimed variables, the trace of the declared
procedure, and the words of the vocabulary. The fork snapshot holds the agent's own commitment, and names the hash of
the answer that it came in.

A claim that predicts another choice than the action becomes a causal claim, the first one of each variable; every claim
becomes a counterfactual. A claim that gives a direction in place of a value speaks of the first of the world's
alternatives in that direction, and of the present value where there is none: it says nothing then.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from specledger.agents.claims import BECOMES, REMOVED, Supposed, claim, counterfactuals, toward
from specledger.agents.narration import FORK, Narration, supporting, write_choice, write_trace
from specledger.agents.procedure import Choice, DecisionPoint
from specledger.core.canonical import NotCanonical, canonical_bytes
from specledger.core.digest import hash_json, sha256_raw
from specledger.core.floats import FLOATS_ANYWHERE, is_exact
from specledger.spec.base import QFIXED_ONE


class Origin(NamedTuple):
    """Where a statement comes from.

    Attributes:
        name: Of the document that is made of it; no two documents have the same.
        received: The SHA-256 of the answer.
    """

    name: str
    received: str


PAYLOAD: Final = ("action", "claims", "then")
"""The fields of a statement that its commitment covers; the last one only where it is given."""


def payload_of(statement: Mapping[str, Any]) -> bytes:
    """What the commitment of a statement covers.

    Raises:
        NotCanonical: It has no canonical form; `not_exact`, if that form is rounded.
    """
    payload = {name: statement[name] for name in PAYLOAD if name in statement}
    written = canonical_bytes(payload, FLOATS_ANYWHERE)
    if not is_exact(payload):
        raise NotCanonical("not_exact", "$", "a fraction has more than 8 decimals")
    return written


def commitment_of(nonce: bytes, payload: bytes) -> str:
    """The commitment to a payload: the SHA-256 of the nonce and the payload, in hex."""
    return sha256_raw(nonce + payload).hex()


def choice_of(narration: Narration, action: Mapping[str, Any]) -> Choice:
    """An action as a choice; its score is unknown, and 0.

    Raises:
        NotCanonical: `unknown_action`, if the world has no such action.
    """
    return Choice(dict(action), 0, _label(narration, action, "unknown_action"))


def document_of(
    narration: Narration,
    statement: Mapping[str, Any],
    origin: Origin,
    state: Any,
    memory: Any,
    point: DecisionPoint,
) -> dict[str, Any]:
    """The proposal that a statement amounts to.

    Without `commitment` in the statement the document has no fork snapshot; `memory` is what the declared procedure
    remembers.

    Raises:
        NotCanonical: `unknown_action` or `unknown_choice`, if it names an action that the world does not have; or
            something that must be hashed has no canonical form.
    """
    views, choice = narration.views, choice_of(narration, statement["action"])
    steps = [choice.action, *(choice_of(narration, action).action for action in statement.get("then", ()))]
    known = frozenset(views.names(state))
    claims = [_supposed(narration, one, known, state) for one in statement["claims"]]
    focus = list(dict.fromkeys(one.variable for one, _, _ in claims if one.variable in known))
    digest = hash_json(views.normalize(state, focus))
    if narration.declared is None:
        nodes, edges = write_choice(focus, digest, choice.label, narration.words)
    else:
        declared = narration.declared.explain(views.observe(state), memory, point, choice.label)
        nodes, edges = write_trace(narration.declared, declared, focus, digest, choice.label, narration.words)
    causal: list[dict[str, Any]] = []
    for number, (one, way, confidence) in enumerate(claims):
        if one.choice.label != choice.label and one.variable not in {each["var"] for each in causal}:
            nodes_of = supporting(nodes, one.choice.label, narration.words.weighed)
            causal.append(claim(number, one, nodes_of, narration.say, way, confidence))
    commitment = statement.get("commitment")
    snapshot = {
        "fork_id": FORK,
        "state_digest": digest,
        "focus_vars": focus,
        "commitment": commitment,
        "nonce_ref": f"statement:{origin.received}",
    }
    trace = {
        "nodes": nodes,
        "edges": edges,
        "fork_snapshots": [] if commitment is None else [snapshot],
        "causal_claims": causal,
        "counterfactuals": counterfactuals([one for one, _, _ in claims], digest),
    }
    return narration.proposal(origin.name, state, choice, steps, trace)


def directions_of(narration: Narration, statement: Mapping[str, Any]) -> dict[str, str]:
    """By variable, the direction of the claim that became its causal claim; claims that give a value are left out."""
    chosen, found = choice_of(narration, statement["action"]).label, dict[str, str]()
    for one in statement["claims"]:
        if _choice(narration, one) != chosen:
            found.setdefault(one["variable"], _way(one) if "direction" in one else "")
    return {variable: way for variable, way in found.items() if way}


def confidences_of(statement: Mapping[str, Any]) -> dict[str, int]:
    """By counterfactual, the confidence that its claim states, in millionths; claims that state none are left out."""
    return {
        f"cf-{number}": round(one["confidence"] * QFIXED_ONE)
        for number, one in enumerate(statement["claims"])
        if "confidence" in one
    }


def _label(narration: Narration, action: Mapping[str, Any], problem: str) -> str:
    try:
        return narration.decider.label(action)
    except LookupError:
        raise NotCanonical(problem, "$", "the world has no such action") from None


def _choice(narration: Narration, one: Mapping[str, Any]) -> str:
    chosen = one["choice"]
    return chosen if isinstance(chosen, str) else _label(narration, chosen, "unknown_choice")


def _way(one: Mapping[str, Any]) -> str:
    """How the variable of a claim changes, in the words of a claim."""
    if "becomes" in one:
        return f"{BECOMES} {canonical_bytes(one['becomes'], FLOATS_ANYWHERE).decode()}"
    return REMOVED if one["direction"] == "removed" else str(one["direction"])


def _supposed(
    narration: Narration, one: Mapping[str, Any], known: frozenset[str], state: Any
) -> tuple[Supposed, str, Any]:
    """A claim as a change that was thought through, its direction and confidence."""
    variable, way = one["variable"], _way(one)
    before = narration.views.read(state, variable) if variable in known else None
    fitting = toward(narration.views, state, variable, way) if "direction" in one and variable in known else []
    value = one["becomes"] if "becomes" in one else fitting[0] if fitting else before
    choice = Choice({}, 0, _choice(narration, one))
    return Supposed(variable, before, value, choice), way, one.get("confidence", 1)
