"""The digests that bind a run's facts to one another, with the domain tag of each.

Code that makes evidence and code that checks it share these rules.

- A state or an observation is bound by the tagged digest of its canonical JSON.
- A proposal's leaf is the canonical JSON of `{"index", "proposal"}`: its place in the set is committed to as well.
- A set is committed to by the RFC 6962 Merkle root over its leaves in order.
- A token's scope is `{"episode", "op", "t"}`, among several agents also the `agent`; its identifier is the digest of
  `{"commitment", "proposal", "scope"}`.
- A part's chain tip is the digest of (previous tip || canonical receipt), as in the coherence kernel's receipts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from specledger.core.canonical import canonical_ints
from specledger.core.digest import tagger
from specledger.core.merkle import root

GENESIS: Final = "0" * 64
"""What stands for the predecessor of a chain's first link."""
_KEPT_BYTES: Final = 4096  # of the leaves of a set whose root is kept

_state = tagger("specledger/state/v1")
_observation = tagger("specledger/observation/v1")
_scope = tagger("specledger/scope/v1")
_token = tagger("specledger/token/v1")
_part = tagger("specledger/part/v1")

proposal_digest = tagger("specledger/proposal/v1")
"""The digest of a proposal: of its leaf, so of its place in the set too."""


def state_digest(state: Any) -> str:
    """The digest of a state, or of a part's state."""
    return _state(canonical_ints(state))


def observation_digest(observation: Any) -> str:
    """The digest of what an agent was shown."""
    return _observation(canonical_ints(observation))


def leaf(index: int, proposal: Mapping[str, Any]) -> bytes:
    """The bytes that stand for one proposal in its set."""
    return canonical_ints({"index": index, "proposal": proposal})


def leaves_of(proposals: Sequence[Mapping[str, Any]]) -> list[bytes]:
    """The leaves of a set of proposals."""
    return [canonical_ints({"index": index, "proposal": proposal}) for index, proposal in enumerate(proposals)]


def set_root(leaves: Sequence[bytes]) -> str:
    """The Merkle root over the leaves of a set, as hex."""
    return _known_root(tuple(leaves)) if sum(map(len, leaves)) <= _KEPT_BYTES else root(leaves).hex()


@lru_cache(maxsize=1024)  # a run, its figures, the check of its receipts and its replay have equal sets
def _known_root(leaves: tuple[bytes, ...]) -> str:
    return root(leaves).hex()


def scope_digest(episode: int, t: int, op: str, agent: str = "") -> str:
    """The digest of what a token permits: one operation at one step of one episode, to one of several agents."""
    scope = {"episode": episode, "op": op, "t": t}
    return _scope(canonical_ints({**scope, "agent": agent} if agent else scope))


def token_id(proposal: str, commitment: str, scope: str) -> str:
    """The identifier of the token that binds these three digests."""
    return _token(canonical_ints({"commitment": commitment, "proposal": proposal, "scope": scope}))


def token_document(proposal: str, commitment: str, scope: str) -> dict[str, str]:
    """The token that binds these three digests, as a receipt holds it."""
    identifier = token_id(proposal, commitment, scope)
    return {"id": identifier, "proposal": proposal, "commitment": commitment, "scope": scope}


def part_tip(tip: str, receipt: Mapping[str, Any]) -> str:
    """The tip of a part's chain after a receipt."""
    return _part(tip.encode("ascii") + canonical_ints(receipt))
