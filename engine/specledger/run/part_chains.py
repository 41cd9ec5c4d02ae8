"""The chains of receipts that the parts of a world keep over an episode."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from specledger.core.binding import GENESIS, part_tip, state_digest


class PartChains:
    """The chain of each part's receipts, over one episode."""

    def __init__(self, names: Iterable[str]) -> None:
        """Begin the chain of every named part at 64 zeros."""
        self._tips = dict.fromkeys(names, GENESIS)
        self._known: dict[str, tuple[Any, str]] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """The parts that keep a chain."""
        return tuple(self._tips)

    def digest(self, name: str, state: Any) -> str:
        """The digest of a part's state; kept for the last state of each part, since no state changes in place."""
        known = self._known.get(name)
        if known is None or known[0] is not state:
            known = self._known[name] = (state, state_digest(state))
        return known[1]

    def mark(self) -> dict[str, str]:
        """The tips of all chains, for `reset`."""
        return dict(self._tips)

    def reset(self, tips: dict[str, str]) -> None:
        """Remove what was appended since a mark."""
        self._tips = dict(tips)

    def append(self, name: str, before: Any, after: Any, body: dict[str, Any], *, accepted: bool) -> dict[str, Any]:
        """Add one receipt to a part's chain.

        Args:
            name: The part.
            before: The part's state before the step.
            after: The part's state after it; after a refusal, the same.
            body: The receipt of the part's world.
            accepted: Whether the step was taken.

        Returns:
            The receipt with both state digests and both tips.
        """
        tip = self._tips[name]
        receipt = {
            **body,
            "accepted": accepted,
            "before": self.digest(name, before),
            "after": self.digest(name, after),
            "tip": tip,
        }
        self._tips[name] = receipt_tip = part_tip(tip, receipt)
        return {**receipt, "tip_after": receipt_tip}
