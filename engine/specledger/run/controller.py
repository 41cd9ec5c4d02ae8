"""Decision controllers: what the loop asks at each decision."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from specledger.compile.plan import Actor, Judgement, Proposal, State
from specledger.core.events import Event
from specledger.gates.capability import Actuator

PLACES: Final = frozenset({"before_propose", "after_commit", "after_token", "after_act"})
"""The places of a step at which a controller may attach events."""
Foresee = Callable[[Mapping[str, Any]], tuple[list[dict[str, Any]], list[dict[str, str]]]]
"""`inputs -> violations, unjudged`: what invariants say of the only proposal, were it executed with these inputs."""


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


class Unrecorded(Exception):  # noqa: N818 - an outcome
    """A recording has a call that the world cannot follow: of a tool that it has no action for.

    Attributes:
        gap: `{reason, call, tool}`, as a receipt holds it.
    """

    def __init__(self, reason: str, call: str, tool: str) -> None:
        self.gap = {"reason": reason, "call": call, "tool": tool}
        super().__init__(reason)


def first_best(judgements: Sequence[Judgement]) -> int | None:
    """The index of the first admitted proposal with the greatest value, None if none is admitted."""
    chosen, greatest = None, 0
    for index, judgement in enumerate(judgements):
        if judgement.rejected or judgement.error is not None:
            continue
        if chosen is None or judgement.value > greatest:
            chosen, greatest = index, judgement.value
    return chosen


class DecisionController:
    """The controller of one actor in one run; the methods are in the order in which the loop calls them.

    This one is of an agent that is a spec and gives sets of proposals. Others ask another agent, receive documents, or
    attach events to a step, such as audit entries and probes.

    Attributes:
        attaches: The places of a step at which `events_at` may give events; None where it is asked at each of them.
    """

    attaches: frozenset[str] | None = None

    def __init__(self, actor: Actor) -> None:
        self.actor = actor

    def question(self, questions: Any) -> None:
        """Take what asks about the calls of a recording; no other controller is given any."""

    def begin(self) -> None:
        """Begin an episode: no token of an earlier one is good."""
        self._actuator = Actuator(self.actor.step)

    def events_at(self, hook: str, moment: Moment) -> Iterable[Event]:
        """The events that attach to a place of a step.

        Places are `before_propose`, `after_commit`, `after_token`, `after_act`; `error` or `halted` where an episode
        ends in one; `end` where that of a recording ends.
        """
        return ()

    def propose(self, moment: Moment) -> list[Proposal]:
        """The proposals of the agent.

        Raises:
            Halted: The process that asked the agent was ended.
            Unrecorded: The recording gives no proposal that the world can execute.
        """
        return self.actor.propose(moment.observation, moment.memory)

    def judge(
        self, moment: Moment, proposals: list[Proposal], pending: int, writes: list[int], memory: Any
    ) -> list[Judgement]:
        """Judge each of the proposals that were committed to, by the governor's gates.

        So many are `pending`: rejected since the last step with a cost. Each of them would cause so many memory
        `writes`. The `memory` is the governor's.
        """
        return self.actor.judge(moment.state, proposals, pending, writes, memory)

    def guard(self, moment: Moment, foresee: Foresee) -> Iterable[Event]:
        """The events that attach to a call of a recording between its judgement and the choice.

        `foresee` says which invariants the call would break with some inputs.
        """
        return ()

    def choose(self, judgements: list[Judgement]) -> int | None:
        """The index of the proposal that is executed; None if none is."""
        return first_best(judgements)

    def issue(self, proposal: str, commitment: str, scope: str) -> Any:
        """Issue the token of a decision: it tells its `proposal` and its `scope`, and is a receipt's `document()`.

        Raises:
            Refused: No token is issued.
        """
        return self._actuator.issue(proposal, commitment, scope)

    def act(
        self,
        token: Any,
        index: int,
        proposal: Mapping[str, Any],
        scope: str,
        state: State,
        inputs: Mapping[str, Any],
    ) -> tuple[State, dict[str, Any]]:
        """Execute the action of a committed proposal.

        Raises:
            Refused: The token does not permit it. Nothing is executed then.
        """
        return self._actuator.act(token, index, proposal, scope, state, inputs)

    def faults(self) -> list[dict[str, Any]]:
        """The agent faults since the last call: `{t, message, reason}` of each."""
        return []

    def prevented(self) -> str:
        """The agent fault for which the last decision is none; empty if it is one."""
        return ""

    def opening(self) -> dict[str, Any]:
        """What the first receipt of an episode says beside the state."""
        return {}

    def unknown(self) -> dict[str, int]:
        """How often something of the episode could not be read or is not recorded, by the reason."""
        return {}

    def unread(self) -> dict[str, int]:
        """How many claims of the agent could not be read since the last call, by what could not."""
        return {}
