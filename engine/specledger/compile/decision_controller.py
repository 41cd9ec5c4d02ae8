"""The desk of a run: what the loop asks at each decision, beside the plan's pure functions.

The plain desk proposes, judges and acts as the plan says. A kernel's desk (`compile.kernel`) keeps what lasts from
decision to decision: the audit chain, tokens, nonces. Decides nothing of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Protocol

from specledger.compile.plan import Judgement, Plan, Proposal, State
from specledger.core.events import Event
from specledger.gates.capability import Actuator


class Moment(NamedTuple):
    """Where the loop stands when it turns to its desk.

    Attributes:
        episode, t: When.
        state: The state in which the agent decides.
        observation, memory: What the agent sees and remembers there.
        token: What acting is bound to, None before it was issued and where nothing was admitted.
    """

    episode: int
    t: int
    state: State
    observation: Any
    memory: Any
    token: Any = None


class Token(Protocol):
    """What the loop knows of a token."""

    @property
    def proposal(self) -> str:
        """The digest of the proposal that it was issued for."""

    @property
    def scope(self) -> str:
        """The digest of the scope that it permits."""

    def document(self) -> dict[str, str]:
        """The token as a receipt holds it."""


class Acts(Protocol):
    """What issues tokens for one episode, and acts by them."""

    def issue(self, proposal: str, commitment: str, scope: str) -> Any:
        """Issue the token of one decision.

        Raises:
            Refused: None is issued.
        """

    def act(
        self,
        token: Any,
        index: int,
        proposal: Mapping[str, Any],
        scope: str,
        state: Any,
        inputs: Mapping[str, Any],
    ) -> tuple[Any, Any]:
        """Execute the action of a committed proposal.

        Raises:
            Refused: The token does not permit it. Nothing is executed then.
        """


class DecisionController:
    """The plain desk: nothing attaches to the loop."""

    def __init__(self, plan: Plan) -> None:
        """Serve one run of a plan."""
        self._plan = plan

    def propose(self, moment: Moment) -> list[Proposal]:
        """The agent's proposals."""
        return self._plan.propose(moment.observation, moment.memory)

    def judge(
        self, moment: Moment, proposals: list[Proposal], pending: int, writes: list[int], memory: Any
    ) -> list[Judgement]:
        """The governor's judgement of each; `memory` is the governor's own."""
        return self._plan.judge(moment.state, proposals, pending, writes, memory)

    def actuator(self) -> Acts:
        """What acts in one episode."""
        return Actuator(self._plan.step)

    def attend(self, place: str, moment: Moment) -> Iterable[Event]:
        """What happens at a place of a step: `before_propose`, `after_commit`, `after_token`, `after_act`, `error`."""
        return ()
