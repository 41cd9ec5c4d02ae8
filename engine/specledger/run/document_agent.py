"""Agents under a kernel: the one interface through which the kernel and its probes ask an agent.

`SpecAgent` answers for an agent that is a spec. An agent from outside is `outside_agent.OutsideDocuments`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from specledger.agents.procedure import Choice, DecisionPoint, Procedure, first_best
from specledger.compile.plan import KernelPlan, Plan
from specledger.core.rng import Stream
from specledger.gates.digests import Submission, receive
from specledger.gates.snapshots import Challenge, Challenges, Vault
from specledger.oracles.recording import Place
from specledger.probes.target import Situation, Weighed
from specledger.run.controller import Moment


class Submitted(NamedTuple):
    """The answer of an agent to one decision: the document as it was received, and the score it gives its choice."""

    submission: Submission
    score: int


class DocumentAgent(Protocol):
    """An agent that submits documents, and that probes can ask again about clones of a state.

    Attributes:
        deterministic: Whether the agent declares that it draws nothing.
    """

    deterministic: bool

    def decide(self, moment: Moment, place: Place) -> Submitted | None:
        """Submit a document for a decision of the run; None if the agent proposes nothing.

        Raises:
            Halted: The process that asked the agent was ended.
        """

    def choose(self, situation: Situation, asked: int) -> Choice | None:
        """Choose in a situation; `asked` counts the earlier questions there."""

    def document(self, situation: Situation, choice: Choice, asked: int = 0, *, snapshots: bool = True) -> Any:
        """Explain a choice as a document, with fork snapshots or without."""

    def reveal(self, challenge: Challenge) -> bytes:
        """The nonce that a challenge asks for.

        Raises:
            Refused: The agent does not have it, or revealed it before.
        """

    def weigh(self, situation: Situation, does: str, pay: Callable[[Any], Any]) -> Weighed | None:
        """The value of an offer by the agent's own score; None if it proposes nothing.

        Args:
            situation: Where the offer is made.
            does: What the offer asks for.
            pay: `predicted state -> paid state`.
        """


class SpecAgent:
    """An agent that is a spec: its answers are computed by the compiled functions of the plan."""

    def __init__(self, plan: Plan, kernel: KernelPlan, challenges: Challenges) -> None:
        """Answer for the agent of one run; nonces are revealed under `challenges` alone."""
        self._plan = plan
        self._kernel = kernel
        self._narration = kernel.narration
        self._vault = Vault(Stream.named(plan.seed, "nonce"), challenges)
        self.deterministic = kernel.deterministic

    def decide(self, moment: Moment, place: Place) -> Submitted | None:
        """Submit the document of the best proposal; under a watchdog in a live run.

        Raises:
            Halted: The process that asked the agent was ended.
        """
        if self._plan.oracle is None:
            return self.submit(moment)
        return self._plan.oracle.watch(place, lambda: self.submit(moment))

    def submit(self, moment: Moment) -> Submitted | None:
        """The document of the best proposal."""
        decider: Procedure = self._narration.decider
        point = DecisionPoint(moment.episode, moment.t)
        choice = first_best(decider.propose(moment.observation, moment.memory, point), decider.label)
        if choice is None:
            return None
        situation = Situation(moment.episode, moment.t, moment.state, moment.memory)
        return Submitted(receive(self.document(situation, choice)), choice.score)

    def choose(self, situation: Situation, asked: int) -> Choice | None:
        """The choice of the decider."""
        return choice_of(self._kernel, self._narration.decider, situation, asked)

    def document(self, situation: Situation, choice: Choice, asked: int = 0, *, snapshots: bool = True) -> Any:
        """The narrated proposal of a choice."""
        point = DecisionPoint(situation.episode, situation.t, asked)
        snapshot = self._vault.snapshot if snapshots else None
        return self._narration.document(situation.state, situation.memory, choice, point, snapshot)

    def reveal(self, challenge: Challenge) -> bytes:
        """The nonce from the agent's vault.

        Raises:
            Refused: The vault does not have it, or revealed it before.
        """
        return self._vault.reveal(challenge)

    def weigh(self, situation: Situation, does: str, pay: Callable[[Any], Any]) -> Weighed | None:
        """The score of the best that an offer leads to; for reusing a token, of the best of the other proposals."""
        seen = self._narration.views.observe(situation.state)
        point = DecisionPoint(situation.episode, situation.t)
        proposals = self._narration.decider.propose(seen, situation.memory, point)
        choice = first_best(proposals, self._narration.decider.label)
        if choice is None:
            return None
        actions = [proposal["action"] for proposal in proposals]
        tempting = [one for one in actions if one != choice.action] if does == "reuse_token" else [choice.action]
        paid = []
        for action in tempting:
            predicted, _ = self._plan.step(situation.state, action["op"], action, {})
            paid.append(self._kernel.weigh(seen, situation.memory, action, pay(predicted), point))
        if not paid:
            return Weighed(choice.score, choice.score, choice.action)
        best = max(range(len(paid)), key=paid.__getitem__)
        return Weighed(choice.score, paid[best], tempting[best])


def choice_of(kernel: KernelPlan, procedure: Procedure, situation: Situation, asked: int) -> Choice | None:
    """The choice of a procedure in a situation."""
    seen = kernel.narration.views.observe(situation.state)
    return procedure.choose(seen, situation.memory, DecisionPoint(situation.episode, situation.t, asked))
