"""The short form in which an agent from outside states its choice and its reasons, and the document made of it.

A statement is `{action, claims, commitment}`, with `then` for the further steps of a plan. The kernel itself adds what
it knows: the environment, the digest of the state seen through the claimed variables, the trace of the declared
procedure, and the words of the vocabulary. The fork snapshot holds the agent's own commitment, and names the hash of
the answer that it came in.

What names an action, a variable or a value is read as `lang.notation` says. A claim in which one of them cannot be read
is no claim; a statement with fewer readable claims than the kernel demands is none, if others could not be read.

A claim that predicts another choice than the action becomes a causal claim, the first one of each variable; every claim
becomes a counterfactual. A claim that gives a direction in place of a value speaks of the first of the world's
alternatives in that direction, and of the present value where there is none: it says nothing then.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from specledger.core.canonical import NotCanonical, canonical_bytes
from specledger.core.digest import hash_json, sha256_raw
from specledger.core.floats import FLOATS_ANYWHERE
from specledger.core.written_numbers import members_as_written
from specledger.expr import conforms
from specledger.lang import notation
from specledger.oracles.statement import PAYLOAD, TOO_FEW, UNREAD, payload_of
from specledger.spec.base import QFIXED_ONE
from specledger.wings.kernel.reasons.claims import BECOMES, REMOVED, Supposed, claim, counterfactuals, toward
from specledger.wings.kernel.reasons.narration import FORK, Narration, supporting, write_choice, write_trace
from specledger.wings.kernel.reasons.procedure import Choice, DecisionPoint


class Origin(NamedTuple):
    """Where a statement comes from.

    Attributes:
        name: Of the document that is made of it; no two documents have the same.
        received: The SHA-256 of the answer.
    """

    name: str
    received: str


def texts_of(statement: Mapping[str, Any], received: bytes) -> tuple[bytes, ...]:
    """The texts that the commitment of a statement may cover, given the answer that it came in.

    They are its canonical JSON, and the same with every number as it is written in the answer: `1.0` for 1. Both say
    the same, and both were fixed when the answer came.

    Raises:
        NotCanonical: As of `payload_of`.
    """
    return payload_of(statement), members_as_written(received, PAYLOAD)


def commitment_of(nonce: bytes, payload: bytes) -> str:
    """The commitment to a payload: the SHA-256 of the nonce and the payload, in hex."""
    return sha256_raw(nonce + payload).hex()


class Claimed(NamedTuple):
    """A claim that was read.

    Attributes:
        supposed: The change that was thought through.
        way: How the variable changes, in the words of a claim.
        confidence: As stated; None if it was left out.
        directed: Whether the claim gives a direction in place of a value.
    """

    supposed: Supposed
    way: str
    confidence: Any
    directed: bool


def choice_of(narration: Narration, action: Any, state: Any) -> Choice:
    """An action as a choice; its score is unknown, and 0.

    Raises:
        NotCanonical: `unknown_action`, if no action of the world is meant, or several could be.
    """
    read = narration.views.notation.action(action, {*notation.texts_in(state)})
    if read is None:
        raise NotCanonical("unknown_action", "$", "the world has no such action")
    return Choice(read, 0, narration.decider.label(read))


def claims_of(narration: Narration, statement: Mapping[str, Any], state: Any) -> tuple[list[Claimed], list[str]]:
    """The claims of a statement that can be read, and of each other one what cannot: a field of a claim."""
    known, texts = narration.views.names(state), {*notation.texts_in(state)}
    claims, unread = list[Claimed](), list[str]()
    for entry in statement["claims"]:
        read = _claimed(narration, entry, known, texts, state)
        if isinstance(read, str):
            unread.append(read)
        else:
            claims.append(read)
    return claims, unread


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
        NotCanonical: `unknown_action`, if it names an action that the world does not have; `unread_claims`, if too few
            of its claims can be read; `too_few_claims`, if a model gives too few; or something that must be hashed has
            no canonical form.
    """
    views, choice = narration.views, choice_of(narration, statement["action"], state)
    steps = [choice.action, *(choice_of(narration, action, state).action for action in statement.get("then", ()))]
    claims, unread = claims_of(narration, statement, state)
    if len(claims) < narration.least and (unread or statement.get("unread")):
        raise NotCanonical(UNREAD, "$", "too few of its claims can be read")
    if len(claims) < narration.least and narration.abstains:
        raise NotCanonical(TOO_FEW, "$", "it has too few claims")
    focus = list(dict.fromkeys(stated.supposed.variable for stated in claims))
    digest = hash_json(views.normalize(state, focus))
    if narration.declared is None:
        nodes, edges = write_choice(focus, digest, choice.label, narration.words)
    else:
        declared = narration.declared.explain(views.observe(state), memory, point, choice.label)
        nodes, edges = write_trace(narration.declared, declared, focus, digest, choice.label, narration.words)
    causal: list[dict[str, Any]] = []
    for number, (stated, way, confidence, _) in enumerate(claims):
        if stated.choice.label != choice.label and stated.variable not in {cause["var"] for cause in causal}:
            nodes_of = supporting(nodes, stated.choice.label, narration.words.weighed)
            causal.append(claim(number, stated, nodes_of, narration.say, way, 1 if confidence is None else confidence))
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
        "counterfactuals": counterfactuals([stated.supposed for stated in claims], digest),
    }
    return narration.proposal(origin.name, state, choice, steps, trace)


def directions_of(narration: Narration, statement: Mapping[str, Any], state: Any) -> dict[str, str]:
    """By variable, the direction of the claim that became its causal claim; claims that give a value are left out."""
    chosen, directions = choice_of(narration, statement["action"], state).label, dict[str, str]()
    for claimed in claims_of(narration, statement, state)[0]:
        if claimed.supposed.choice.label != chosen:
            directions.setdefault(claimed.supposed.variable, claimed.way if claimed.directed else "")
    return {variable: way for variable, way in directions.items() if way}


def confidences_of(narration: Narration, statement: Mapping[str, Any], state: Any) -> dict[str, int]:
    """By counterfactual, the confidence that its claim states, in millionths; claims that state none are left out."""
    return {
        f"cf-{number}": round(claim.confidence * QFIXED_ONE)
        for number, claim in enumerate(claims_of(narration, statement, state)[0])
        if claim.confidence is not None
    }


def _claimed(
    narration: Narration, claim: Mapping[str, Any], known: list[str], texts: Collection[str], state: Any
) -> Claimed | str:
    """A claim; the name of the field that cannot be read, if it is none."""
    views = narration.views
    variable = notation.name(claim["variable"], known)
    if variable is None:
        return "variable"
    before, directed = views.read(state, variable), "direction" in claim
    if directed:
        way = REMOVED if claim["direction"] == "removed" else str(claim["direction"])
        fitting = toward(views, state, variable, way)
        value = fitting[0] if fitting else before
    else:
        type_ = views.type(state, variable)
        value = notation.value(claim["becomes"], type_)
        if not conforms(value, type_):
            return "becomes"
        way = f"{BECOMES} {canonical_bytes(value, FLOATS_ANYWHERE).decode()}"
    label = views.notation.choice(claim["choice"], {*texts, *notation.texts_in(value)})
    if label is None:
        return "choice"
    return Claimed(Supposed(variable, before, value, Choice({}, 0, label)), way, claim.get("confidence"), directed)
