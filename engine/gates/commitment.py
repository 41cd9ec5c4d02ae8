"""The commitment to a proposal set: made and receipted before any proposal is judged.

A leaf is the canonical JSON of `{"index", "proposal"}`, so that the order of the set is committed to as well. The root
is the RFC 6962 Merkle root over the leaves in order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from engine.core.canonical import canonical_ints
from engine.core.digest import tagger
from engine.core.merkle import root

PROPOSAL_TAG: Final = "specledger/proposal/v1"

proposal_digest = tagger(PROPOSAL_TAG)
"""The digest of a proposal: of its leaf, so of its place in the set too."""


def leaf(index: int, proposal: Mapping[str, Any]) -> bytes:
    """The bytes that stand for one proposal in its set."""
    return canonical_ints({"index": index, "proposal": proposal})


def set_root(leaves: Sequence[bytes]) -> str:
    """The Merkle root over the leaves of a set, as hex."""
    return root(leaves).hex()
