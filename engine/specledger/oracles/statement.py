"""A statement in the protocol of agents: what its commitment covers, and why it may not be read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from specledger.core.canonical import NotCanonical, canonical_bytes
from specledger.core.floats import FLOATS_ANYWHERE, is_exact

UNREAD: Final = "unread_claims"
"""Why a statement is none of whose claims so few can be read that the kernel could not admit it."""

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
