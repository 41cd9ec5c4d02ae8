"""What probes of a recorded decision never ask: a model that is asked about a call declares and commits to nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from specledger.wings.kernel.probes.planned_offer import PlannedOffer
from specledger.wings.kernel.probes.target import Answer, Attempt, ProbeTarget, Reply, Situation


class Undeclared(ProbeTarget):
    """A target without a procedure, commitments and tokens; specs of probes that ask for one of them are refused."""

    @property
    def declares(self) -> bool:
        """No procedure is declared."""
        return False

    def declared(self, situation: Situation, asked: int) -> Answer | None:
        """There is no procedure that would choose."""
        return None

    def directions(self, situation: Situation) -> Mapping[str, str]:
        """No direction is stated beside the claims."""
        return {}

    def toward(self, state: Any, variable: str, direction: str) -> list[Any]:
        """Texts have no directions."""
        return []

    def unused(self, state: Any) -> list[str]:
        """Nothing says what a procedure would not read."""
        return []

    def fresh(self, number: int) -> Situation:
        """A recording has no further episode."""
        raise LookupError("a recording has no fresh episode")

    def reveal(self, document: Any, variables: list[str]) -> bool:
        """Nothing was committed to."""
        return False

    def replay(self, document: Any, situation: Situation) -> dict[str, Any]:
        """There is no trace to compute again."""
        return {"equal": 0, "nodes": 0, "ends": False}

    def restate(self, document: Any, situation: Situation) -> bool:
        """Reasons are asked for once."""
        return False

    def token(self, sort: str) -> Mapping[str, Any] | None:
        """No token was issued."""
        return None

    def offer(self, situation: Situation, offer: PlannedOffer, token: Mapping[str, Any] | None) -> Reply | None:
        """Nothing can be offered to what happened."""
        return None

    def attempt(self, situation: Situation, reply: Reply) -> Attempt:
        """Nothing is attempted, and so nothing denied."""
        return Attempt(False, (), False)
