"""Decision controllers: what the loop asks at each decision.

A controller belongs to one actor and lasts for one run. It asks the agent, has its proposals judged, issues tokens, and
yields the events that attach to a step, such as audit entries and probes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, Protocol

from specledger.compile.plan import Actor, Judgement, Proposal, State
from specledger.core.events import Event
from specledger.gates.capability import Actuator


class Moment(NamedTuple):
    """The point of the loop at which it calls its controller.

    Attributes:
        observation, memory: What the agent sees and remembers there.
        token: The token of the decision; None before it is issued, and if nothing was admitted.
    """

    episode: int
    t: int
    state: State
    observation: Any
    memory: Any
    token: Any = None


class Token(Protocol):
    """The part of a token that the loop reads."""

    @property
    def proposal(self) -> str:
        """The digest of the proposal that it was issued for."""

    @property
    def scope(self) -> str:
        """The digest of the scope that it permits."""

    def document(self) -> dict[str, str]:
        """The token as a receipt holds it."""


class EpisodeActuator(Protocol):
    """Issues the tokens of one episode and executes actions through them."""

    def issue(self, proposal: str, commitment: str, scope: str) -> Any:
        """Issue the token of one decision.

        Raises:
            Refused: No token is issued.
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


class DecisionController(Protocol):
    """The calls of the loop, in the order of a step."""

    def propose(self, moment: Moment) -> list[Proposal]:
        """The proposals of the agent.

        Raises:
            Halted: The process that asked the agent was ended.
        """

    def judge(
        self, moment: Moment, proposals: list[Proposal], pending: int, writes: list[int], memory: Any
    ) -> list[Judgement]:
        """Judge each proposal.

        Args:
            moment: The decision.
            proposals: What was committed to.
            pending: Proposals rejected since the last step with a cost.
            writes: The memory writes that each proposal would cause.
            memory: The governor's memory.
        """

    def actuator(self) -> EpisodeActuator:
        """The actuator of the next episode."""

    def faults(self) -> list[dict[str, Any]]:
        """The agent faults since the last call: `{t, message, reason}` of each."""

    def events_at(self, place: str, moment: Moment) -> Iterable[Event]:
        """The events that attach to a place of a step.

        Args:
            place: `before_propose`, `after_commit`, `after_token`, `after_act`; `error` or `halted` where an episode
                ends in one.
            moment: The decision.
        """


class ProposalController:
    """The controller of a run whose agent gives sets of proposals. No event attaches to its steps."""

    def __init__(
        self,
        actor: Actor,
        propose: Callable[[Moment], list[Proposal]],
        faults: Callable[[], list[dict[str, Any]]] = list,
    ) -> None:
        """Control an actor in one run, with the agent's answers from `propose` and its faults from `faults`."""
        self._actor = actor
        self.propose = propose
        self.faults = faults

    def judge(
        self, moment: Moment, proposals: list[Proposal], pending: int, writes: list[int], memory: Any
    ) -> list[Judgement]:
        """Judge each proposal by the governor's gates."""
        return self._actor.judge(moment.state, proposals, pending, writes, memory)

    def actuator(self) -> EpisodeActuator:
        """The actuator of the next episode."""
        return Actuator(self._actor.step)

    def events_at(self, place: str, moment: Moment) -> Iterable[Event]:
        """No events."""
        return ()
