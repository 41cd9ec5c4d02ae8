"""A statement in the protocol of agents: what its commitment covers, and why it may not be read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from specledger.core.canonical import NotCanonical, canonical_bytes
from specledger.core.floats import FLOATS_ANYWHERE, is_exact

UNREAD: Final = "unread_claims"
"""Why a statement is none of whose claims so few can be read that the kernel could not admit it."""

TOO_FEW: Final = "too_few_claims"
"""Why a statement of a model is none: it has fewer claims than the kernel demands, and all of them can be read."""

ABSTENTIONS: Final = frozenset({UNREAD, TOO_FEW})
"""Reasons for which there is no statement that could be admitted, and none that could break a rule."""

FURTHER: Final = "further_calls"
"""The field of a model's answer that counts the calls beside the first one which are of other actions."""

REASON_DOCS: Final[Mapping[str, str]] = {
    UNREAD: "too few of the reasons could be read",
    TOO_FEW: "too few reasons were given",
    "raised": "no function was called",
    "not_json": "the arguments of the call were no JSON object",
    "unknown_action": "the world has no such action, or not with these arguments",
    "no_capability": "this action is not permitted here",
}
"""What the reasons of a denial mean, in words for an agent that knows none of them."""

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
