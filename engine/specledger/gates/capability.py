"""No token, no actuation: the one way to act is through an `Actuator`, and it asks for a token bound to what is done.

A token names the proposal, the commitment to the set it came from, and the scope (episode, step and operation). It is
an identifier that anyone can recompute: it proves what an action was bound to, not who issued it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec import Struct

from specledger.core.binding import leaf, proposal_digest, token_id

TOKEN: Final = "token"
"""The gate of an execution, which no governor lists."""


class Refused(Exception):  # noqa: N818 - a refusal is an outcome
    """An attempt to act without a token that fits; `reason` is its code."""

    def __init__(self, reason: str) -> None:
        """Keep the reason: `no_token`, `spent`, `wrong_proposal` or `wrong_scope`."""
        self.reason = reason
        super().__init__(reason)


class Token(Struct, frozen=True):
    """A capability for one action.

    Attributes:
        proposal: Digest of the chosen proposal's leaf.
        commitment: Merkle root of the set that it was chosen from.
        scope: Digest of episode, step and operation.
    """

    id: str
    proposal: str
    commitment: str
    scope: str

    def document(self) -> dict[str, str]:
        """The token as a receipt holds it."""
        return {"id": self.id, "proposal": self.proposal, "commitment": self.commitment, "scope": self.scope}


class Actuator:
    """The only holder of a world's step function. It issues tokens and executes each at most once."""

    def __init__(self, step: Callable[..., tuple[Any, Any]]) -> None:
        """Hold the step function `(state, op, action, inputs) -> (next state, outcome)`."""
        self._step = step
        self._open: Token | None = None

    def issue(self, proposal: str, commitment: str, scope: str) -> Token:
        """Issue the token of one decision; a token that was issued before and not used is void from now on."""
        self._open = token = Token(token_id(proposal, commitment, scope), proposal, commitment, scope)
        return token

    def act(
        self,
        token: Token | None,
        index: int,
        proposal: Mapping[str, Any],
        scope: str,
        state: Any,
        inputs: Mapping[str, Any],
    ) -> tuple[Any, Any]:
        """Execute the action of a committed proposal, `op` and arguments as committed.

        What is executed is read from what was committed to, so the proposal's bytes are made again. The governor
        supplies `inputs`.

        Raises:
            Refused: If the token is missing, spent, or bound to another proposal or scope. Nothing is executed then.
        """
        if token is None:
            raise Refused("no_token")
        if token != self._open:
            raise Refused("spent")
        if token.proposal != proposal_digest(leaf(index, proposal)):
            raise Refused("wrong_proposal")
        if token.scope != scope:
            raise Refused("wrong_scope")
        self._open = None
        action = proposal["action"]
        return self._step(state, action["op"], action, inputs)
