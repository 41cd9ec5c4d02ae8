"""The one place where probes ask: a run under a kernel, questioned on clones.

States and documents are values that nothing changes in place. Questions about the agent go to the agent itself. An
attempt to break a rule goes to the kernel's own admission and token actuator, which must refuse it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol

from specledger.compile.plan import Actor, Plan
from specledger.core.digest import hash_json
from specledger.gates.capability import TOKEN
from specledger.run.controller import Moment
from specledger.spec.base import QFIXED_ONE
from specledger.wings.kernel.documents.admission import Ruling
from specledger.wings.kernel.documents.digests import Submission
from specledger.wings.kernel.documents.snapshots import Challenges
from specledger.wings.kernel.plan import KernelPlan
from specledger.wings.kernel.probes.planned_offer import PlannedOffer
from specledger.wings.kernel.probes.target import Answer, Attempt, Reply, Situation
from specledger.wings.kernel.reasons.claims import toward
from specledger.wings.kernel.reasons.narration import replay_trace
from specledger.wings.kernel.reasons.procedure import Choice, DecisionPoint, Procedure
from specledger.wings.kernel.run.document_agent import choice_of
from specledger.wings.kernel.run.outside_agent import DocumentAgent

_RESTATED: Final = ("nodes", "edges", "causal_claims", "counterfactuals")
"""The parts of a trace that an agent must give again; commitments have new nonces."""


class ProbedKernel(Protocol):
    """What probes use of the controller of a run under a kernel; `try_...` log their ruling and change nothing else."""

    @property
    def plan(self) -> Plan:
        """The plan of the run."""

    @property
    def actor(self) -> Actor:
        """The actor that the controller decides for."""

    @property
    def kernel(self) -> KernelPlan:
        """The kernel of the actor."""

    @property
    def agent(self) -> DocumentAgent:
        """Who submits documents."""

    @property
    def submission(self) -> Submission:
        """What was submitted last."""

    @property
    def challenges(self) -> Challenges:
        """The challenges to open commitments."""

    def token_of(self, sort: str, own: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        """A token of an earlier decision (`stale`) or of another holder (`other`); None if none was issued yet."""

    def try_document(self, state: Any, document: Any) -> Ruling:
        """Rule about a document that is no decision of the run."""

    def try_action(self, token: Mapping[str, Any] | None, action: Mapping[str, Any], state: Any) -> str:
        """Execute an action that is no decision of the run; the reason of the refusal, or empty."""


class KernelProbeTarget:
    """Answers the questions of probes during one run."""

    def __init__(self, controller: ProbedKernel) -> None:
        self._controller = controller
        self._narration = controller.kernel.narration
        self._views = controller.kernel.narration.views
        self._moment: Moment | None = None
        self._revealed: dict[tuple[str, str], bytes] = {}

    @property
    def deterministic(self) -> bool:
        """Whether the agent declares itself deterministic."""
        return self._controller.agent.deterministic

    @property
    def promised(self) -> bool:
        """Whether nothing but the agent's word says so."""
        return self._controller.agent.promised

    @property
    def declares(self) -> bool:
        """Whether the agent declares a procedure."""
        return self._narration.declared is not None

    def at(self, moment: Moment) -> KernelProbeTarget:
        """The target, to be asked at a decision."""
        self._moment = moment
        return self

    def document(self, situation: Situation) -> Any:
        """The document that was committed to (None if it cannot be hashed), or that the agent submits elsewhere."""
        submission = self._controller.submission
        if self._is_current(situation):
            return submission.document if submission.problem is None else None
        choice = self._controller.agent.choose(situation, 0)
        return None if choice is None else self._controller.agent.document(situation, choice)

    def valid(self, document: Any) -> bool:
        """Whether a document is valid under its schema."""
        return document is not None and self._controller.kernel.admission.accepts(document)

    def choose(self, situation: Situation, asked: int) -> Answer | None:
        """The agent's choice."""
        return _answer(self._controller.agent.choose(situation, asked))

    def declared(self, situation: Situation, asked: int) -> Answer | None:
        """The choice of the declared procedure."""
        return _answer(choice_of(self._controller.kernel, self._procedure(), situation, asked))

    def read(self, claim: Mapping[str, Any], counterfactuals: list[Mapping[str, Any]]) -> dict[str, str] | None:
        """What a claim says under the governor's vocabulary."""
        return self._controller.kernel.vocabulary.read(claim, counterfactuals)

    def directions(self, situation: Situation) -> Mapping[str, str]:
        """The directions of an agent's statement."""
        return self._controller.agent.directions(situation)

    def confidences(self, document: Any, situation: Situation) -> Mapping[str, int]:
        """Those of the agent's statement, or of the claims in its document."""
        stated = self._controller.agent.confidences(situation)
        if stated is not None:
            return stated
        trace = document["trace"]
        read = ((self.read(claim, trace["counterfactuals"]), claim) for claim in trace["causal_claims"])
        return {
            said["counterfactual"]: round(claim["confidence"] * QFIXED_ONE) for said, claim in read if said is not None
        }

    def is_choice(self, label: str) -> bool:
        """Whether the world may have an action with a label."""
        return self._controller.kernel.is_choice(label)

    def names(self, state: Any) -> list[str]:
        """The variables of the world's namespace in a state."""
        return self._views.names(state)

    def alternatives(self, state: Any, variable: str) -> list[Any]:
        """The world's alternatives."""
        return self._views.alternatives(state, variable)

    def toward(self, state: Any, variable: str, direction: str) -> list[Any]:
        """The world's alternatives in a direction."""
        return toward(self._views, state, variable, direction)

    def mutate(self, state: Any, variable: str, value: Any) -> tuple[Any, dict[str, Any]] | None:
        """The world's edit."""
        return self._views.mutate(state, variable, value)

    def unused(self, state: Any) -> list[str]:
        """The variables that the declared procedure does not read."""
        return self._controller.kernel.unused(state)

    def fresh(self, number: int) -> Situation:
        """The start of an episode beyond those that the run plays."""
        plan, actor = self._controller.plan, self._controller.actor
        episode = plan.episodes + number
        state = plan.start(episode)
        return Situation(episode, 0, state, actor.begin(actor.observe(state)))

    def reveal(self, document: Any, variables: list[str]) -> bool:
        """Challenge the nonces of the snapshots with these variables, or of all snapshots if there are none."""
        snapshots = document["trace"]["fork_snapshots"]
        asked = [snapshot for snapshot in snapshots if not variables or set(variables) & set(snapshot["focus_vars"])]
        covered = {name for snapshot in asked for name in snapshot["focus_vars"]}
        return bool(asked) and set(variables) <= covered and all(self._opened(snapshot) for snapshot in asked)

    def replay(self, document: Any, situation: Situation) -> dict[str, Any]:
        """The trace computed again by the declared procedure on the observation that the kernel knows."""
        return replay_trace(
            document["trace"],
            self._procedure(),
            self._views.observe(situation.state),
            situation.memory,
            DecisionPoint(situation.episode, situation.t),
            lambda focus: self._digest(situation.state, focus),
            self._label(document["payload"]["plan"]["steps"][0]),
            self._narration.words,
        )

    def restate(self, document: Any, situation: Situation) -> bool:
        """Whether the agent, asked again, gives the trace that it committed to, except for its commitments."""
        again = self._controller.agent.restate(situation)
        return self.valid(again) and all(again["trace"][part] == document["trace"][part] for part in _RESTATED)

    def token(self, sort: str) -> Mapping[str, Any] | None:
        """A token of this episode that an offer hands out."""
        moment = self._moment
        assert moment is not None  # noqa: S101 - see `at`
        own = None if moment.token is None else moment.token.token
        return own if sort == "own" else self._controller.token_of(sort, own)

    def offer(self, situation: Situation, offer: PlannedOffer, token: Mapping[str, Any] | None) -> Reply | None:
        """The answer of the agent."""
        return self._controller.agent.offer(situation, offer, token)

    def attempt(self, situation: Situation, reply: Reply) -> Attempt:
        """Submit a document, or call the actuator; neither changes the run, except for its log."""
        if reply.action is None:
            ruling = self._controller.try_document(situation.state, reply.document)
            return Attempt(not ruling.allowed, tuple(gate["gate"] for gate in ruling.rejected), True)
        reason = self._controller.try_action(reply.token, reply.action, situation.state)
        return Attempt(True, (reason, TOKEN), True) if reason else Attempt(False, (), False)

    def _procedure(self) -> Procedure:
        declared = self._narration.declared
        assert declared is not None  # noqa: S101 - see `declares`
        return declared

    def _is_current(self, situation: Situation) -> bool:
        moment = self._moment
        assert moment is not None  # noqa: S101 - see `at`
        return (situation.episode, situation.t) == (moment.episode, moment.t) and situation.state == moment.state

    def _opened(self, snapshot: Mapping[str, Any]) -> bool:
        """Whether the agent opens a commitment by a nonce that opened no other one; each is asked for once."""
        reference = (snapshot["nonce_ref"], snapshot["commitment"])
        if reference not in self._revealed:
            challenge = self._controller.challenges.challenge(snapshot["nonce_ref"])
            nonce = self._controller.agent.reveal(snapshot, challenge)
            self._revealed[reference] = b"" if nonce in self._revealed.values() else nonce
        return self._revealed[reference] != b""

    def _digest(self, state: Any, focus: Any) -> str:
        """The digest under focus variables that a document names; empty if one of them is unknown."""
        known = self.names(state)
        if not isinstance(focus, list) or not all(name in known for name in focus):
            return ""
        return hash_json(self._views.normalize(state, focus))

    def _label(self, step: Mapping[str, Any]) -> str:
        try:
            return self._narration.decider.label({**step["args"], "op": step["op"]})
        except LookupError:
            return ""


def _answer(choice: Choice | None) -> Answer | None:
    return None if choice is None else Answer(choice.label, choice.score)
