"""The digests that receipts hold of a world: of its states, of observations, and of its parts' receipts."""

from __future__ import annotations

from typing import Any, Final

from engine.core.canonical import canonical_ints
from engine.core.digest import tagger

STATE_TAG: Final = "specledger/state/v1"
OBSERVATION_TAG: Final = "specledger/observation/v1"
PART_TAG: Final = "specledger/part/v1"
GENESIS: Final = "0" * 64

_state = tagger(STATE_TAG)
_observation = tagger(OBSERVATION_TAG)
_part = tagger(PART_TAG)


def state_digest(state: Any) -> str:
    """The digest of a state, or of a part's state."""
    return _state(canonical_ints(state))


def observation_digest(observation: Any) -> str:
    """The digest of what an agent was shown."""
    return _observation(canonical_ints(observation))


def part_tip(tip: str, receipt: dict[str, Any]) -> str:
    """The chain tip after a part's receipt: the tagged digest of (previous tip || canonical receipt).

    Source: the coherence kernel's receipts.
    """
    return _part(tip.encode("ascii") + canonical_ints(receipt))
