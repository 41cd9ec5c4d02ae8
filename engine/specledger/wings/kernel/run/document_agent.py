"""An agent that is a spec, under a kernel: it submits documents, and probes ask it again about clones of a state.

An agent from outside is `outside_agent.OutsideAgent`, with the same methods.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from specledger.compile.plan import Actor, Plan
from specledger.core.canonical import NotCanonical
from specledger.core.rng import Stream
from specledger.gates.capability import Refused
from specledger.oracles.recording import Place
from specledger.run.controller import Moment
from specledger.wings.kernel.documents.digests import Submission, receive
from specledger.wings.kernel.documents.snapshots import Challenge, Challenges, Vault, opens
from specledger.wings.kernel.plan import KernelPlan
from specledger.wings.kernel.probes.planned_offer import PlannedOffer
from specledger.wings.kernel.probes.target import Reply, Situation
from specledger.wings.kernel.reasons.procedure import Choice, DecisionPoint, Procedure, first_best


class Submitted(NamedTuple):
    """The answer of an agent to one decision: the document as it was received, and the score it gives its choice."""

    submission: Submission
    score: int


class SpecAgent:
    """An agent that is a spec: its answers are computed by the compiled functions of the plan."""

    def __init__(self, plan: Plan, actor: Actor, kernel: KernelPlan, challenges: Challenges) -> None:
        """Answer for an agent of one run; nonces are revealed under `challenges` alone."""
        self._plan, self._actor = plan, actor
        self._kernel = kernel
        self._narration = kernel.narration
        self._vault = Vault(
            Stream.named(plan.seed, "nonce", *actor.label.values()), challenges, kernel.narration.nonces
        )
        self._vault_of_offers = Vault(Stream.named(plan.seed, "nonce", "offer", *actor.label.values()), challenges)
        self.deterministic, self.promised = kernel.deterministic, False
        self.prevented = ""

    def begin(self, position: Place) -> None:
        """Nothing: a situation says where it is."""

    def decide(self, moment: Moment, position: Place) -> Submitted | None:
        """Submit the document of the best proposal; under a watchdog in a live run.

        Raises:
            Halted: The process that asked the agent was ended.
        """
        if self._plan.oracle is None:
            return self.submit(moment)
        return self._plan.oracle.watch(position, lambda: self.submit(moment))

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
        """The choice of the decider; `asked` counts the earlier questions there. Nothing is executed."""
        return choice_of(self._kernel, self._narration.decider, situation, asked)

    def document(self, situation: Situation, choice: Choice, asked: int = 0, *, snapshots: bool = True) -> Any:
        """The narrated proposal of a choice, with fork snapshots or without."""
        point = DecisionPoint(situation.episode, situation.t, asked)
        snapshot = self._vault.snapshot if snapshots else None
        return self._narration.document(situation.state, situation.memory, choice, point, snapshot)

    def restate(self, situation: Situation) -> Any:
        """The document of what the decider chooses there."""
        choice = self.choose(situation, 0)
        return None if choice is None else self.document(situation, choice, 1, snapshots=False)

    def directions(self, situation: Situation) -> Mapping[str, str]:
        """None: its documents say all that it claims."""
        return {}

    def confidences(self, situation: Situation) -> Mapping[str, int] | None:
        """None, as its documents say it, unless it states none: a document has no way to leave it out."""
        return {} if self._narration.confidence is None else None

    def reveal(self, snapshot: Mapping[str, Any], challenge: Challenge) -> bytes:
        """The nonce from the agent's vault, if it opens the commitment."""
        try:
            nonce = self._vault.reveal(challenge)
        except Refused:
            return b""
        return nonce if opens(snapshot, nonce) else b""

    def faults(self) -> list[dict[str, Any]]:
        """None: what a spec cannot answer is an evaluation error."""
        return []

    def unread(self) -> dict[str, int]:
        """None: its documents are its claims."""
        return {}

    def offer(self, situation: Situation, offer: PlannedOffer, token: Mapping[str, Any] | None) -> Reply | None:
        """Take the offer if the best that it leads to has a greater score than the choice without it.

        `token` is the one that the offer hands to the agent. None if the agent proposes nothing.
        """
        seen = self._narration.views.observe(situation.state)
        point = DecisionPoint(situation.episode, situation.t)
        proposals = self._narration.decider.propose(seen, situation.memory, point)
        choice = first_best(proposals, self._narration.decider.label)
        if choice is None:
            return None
        actions, call = [choice.action], offer.spec.call
        if call is not None and call.action == "other":
            actions = [proposal["action"] for proposal in proposals if proposal["action"] != choice.action]
        paid = []
        for action in actions:
            predicted, _ = self._actor.step(situation.state, action["op"], action, {})
            paid.append(self._kernel.weigh(seen, situation.memory, action, offer.pay(predicted), point))
        best = max(range(len(paid)), key=paid.__getitem__, default=None)
        reply = Reply(choice.score, choice.score if best is None else paid[best])
        if best is None or paid[best] <= choice.score:
            return reply
        if call is not None:
            return reply._replace(token=token, action=actions[best], taken=True)
        document = self._narration.document(
            situation.state, situation.memory, choice, point, self._vault_of_offers.snapshot
        )
        return reply._replace(document=edited(self._kernel, offer, situation.state, document), taken=True)


def edited(kernel: KernelPlan, offer: PlannedOffer, state: Any, document: Any) -> Any:
    """A proposal after the edit of an offer; its trace is committed to anew, unless the edit says to what.

    Raises:
        NotApplicable: It cannot be edited so.
    """
    changed = offer.patch(state, document)
    said = any(operation.path == "/trace/trace_commit" for operation in offer.spec.edit or ())
    trace = changed.get("trace")
    if said or not isinstance(trace, dict):
        return changed
    try:
        return {**changed, "trace": {**trace, "trace_commit": kernel.narration.commit(trace)}}
    except NotCanonical:
        return changed


def choice_of(kernel: KernelPlan, procedure: Procedure, situation: Situation, asked: int) -> Choice | None:
    """The choice of a procedure in a situation."""
    seen = kernel.narration.views.observe(situation.state)
    return procedure.choose(seen, situation.memory, DecisionPoint(situation.episode, situation.t, asked))
