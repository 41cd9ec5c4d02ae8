"""Agents from outside under a kernel: what they are asked, and what becomes of their answers.

No answer can stop a run. The kernel receives what came, hashes and denies it, and the run continues with the next
decision. An episode ends only if the process that waited for the answer ended.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from specledger.compile.plan import Actor, Plan
from specledger.core.binding import GENESIS
from specledger.core.canonical import NotCanonical, parse_canonical
from specledger.oracles.answer import Answer, Unanswered
from specledger.oracles.recording import Place
from specledger.oracles.statement import ABSTENTIONS, FURTHER, PAYLOAD, REASON_DOCS, payload_of
from specledger.run.controller import Moment
from specledger.run.session import ANSWERS, AgentFault, AgentReply, Session
from specledger.wings.kernel.documents.digests import Submission, receive
from specledger.wings.kernel.documents.snapshots import Challenge, Challenges, opens
from specledger.wings.kernel.plan import KernelPlan
from specledger.wings.kernel.probes.planned_offer import PlannedOffer
from specledger.wings.kernel.probes.target import Reply, Situation
from specledger.wings.kernel.reasons.procedure import Choice, DecisionPoint
from specledger.wings.kernel.reasons.statement import (
    Origin,
    choice_of,
    claims_of,
    commitment_of,
    confidences_of,
    directions_of,
    document_of,
    texts_of,
)
from specledger.wings.kernel.run.document_agent import SpecAgent, Submitted, edited

REUSED: Final = "commitment_reused"
NOT_DECLARED: Final = "not_declared"
"""Why an answer is denied whose commitment the agent made before, and one that it did not say it `can` give."""

_CAN: Final = {"document": "document", "then": "plans"}
"""The fields of an answer that an agent must say that it can give."""

_SHOWN: Final = ("observation", "env", "variables", "denied")
"""Fields that a question about another state has too."""


class _Stated(NamedTuple):
    """What the agent submitted at one decision.

    Attributes:
        choice: The first step of its plan; None if it is no action of the world.
        texts: What the commitment of a statement may cover; none for a document.
    """

    situation: Situation
    submission: Submission
    choice: Choice | None
    reply: AgentReply | None = None
    texts: tuple[bytes, ...] = ()


class OutsideAgent:
    """An agent from outside that submits statements or documents to a kernel, and that probes can question.

    Attributes:
        prevented: The agent fault for which the last decision is none; empty if it is one.
        promised: That nothing but the agent's word says that it draws nothing.
    """

    promised: Final = True

    def __init__(self, plan: Plan, actor: Actor, kernel: KernelPlan, challenges: Challenges) -> None:
        """Answer for the agent of one run; nonces are asked for under `challenges` alone."""
        self._plan, self._kernel, self._challenges = plan, kernel, challenges
        self._narration, self._views = kernel.narration, kernel.narration.views
        self._session = Session(plan, ANSWERS, halting=True)
        self._place = Place(0, 0, 0)
        self._current: _Stated | None = None
        self._fresh: _Stated | None = None
        self._commitments: set[str] = set()
        self.prevented = ""
        self._unread: Counter[str] = Counter()
        self._denied = self._told = list[dict[str, str]]()  # of the last decision; of the one before this

    def on_borne_halt(self, enter: Callable[[Answer], None]) -> None:
        """Call this with each answer that did not come because its process ended, where the episode goes on."""
        self._session.bears = enter

    @property
    def deterministic(self) -> bool:
        """Whether the agent declares that the same question gets the same answer."""
        return self._session.said.get("deterministic") is True

    def begin(self, position: Place) -> None:
        """Say at which decision the questions that follow are asked."""
        if (position.episode, position.t) != self._place[:2]:
            self._told = self._denied if position.episode == self._place.episode else []
            self._denied = []
        self._place = position
        self._session.begin(position)
        if self._current is not None and (position.episode, position.t) != self._current.situation[:2]:
            self._current = self._fresh = None

    def hear(self, rejected: Sequence[Mapping[str, Any]]) -> None:
        """Learn which gates denied the decision, and why; the questions about the next one say so."""
        if self._plan.on_denied == "tell":
            self._denied = [self._denial(each["gate"], each["reason"]) for each in rejected]

    def _denial(self, gate: str, reason: str) -> dict[str, str]:
        doc = self._kernel.gate_docs.get(gate) or REASON_DOCS.get(reason, "")
        return {"gate": gate, "reason": reason, **({"doc": doc} if doc else {})}

    def decide(self, moment: Moment, position: Place) -> Submitted:
        """The answer, which is received and hashed whatever it is.

        Raises:
            Halted: The process that waited for it ended.
        """
        self.begin(position)
        situation = Situation(moment.episode, moment.t, moment.state, moment.memory)
        self.prevented = ""
        try:
            reply = self._session.tell(position, "decide", self._question(situation), keep=bool(self._kernel.probes))
        except AgentFault as fault:
            self.prevented = fault.reason
            self._current = _Stated(situation, _problem(fault.reason, fault.answer.sha256), None)
        else:
            self._current = self._stated(situation, reply)
            self._count_unread(self._current)
        return Submitted(self._current.submission, 0)

    def choose(self, situation: Situation, asked: int) -> Choice | None:
        """What the agent chooses: what it submitted here, or its answer to a question about the situation.

        Raises:
            Unanswered: `agent_fault` or `not_repeatable`.
            Halted: The process that waited for the answer ended.
        """
        stated = self._at(situation)
        if asked == 0 and stated is not None:
            return stated.choice
        fresh = situation.episode if situation.episode >= self._plan.episodes else None
        opens_episode = asked == 0 and fresh is not None
        question = self._question(situation)
        disguised = opens_episode or "disguise" in self._session.said.get("can", ())
        if not disguised:
            question = _shown(question)
        try:
            reply = self._session.suppose(
                self._place, "decide" if disguised else "ask", question, fresh=fresh, keep=opens_episode
            )
        except AgentFault:
            raise Unanswered("agent_fault") from None
        if opens_episode:
            self._fresh = self._stated(situation, reply)
            return self._fresh.choice
        return self._choice(reply, situation.state)

    def document(self, situation: Situation, choice: Choice, asked: int = 0, *, snapshots: bool = True) -> Any:
        """The document that the agent submitted in a situation; None if it submitted none."""
        stated = self._at(situation)
        return None if stated is None else stated.submission.document

    def restate(self, situation: Situation) -> Any:
        """The document that the agent gives again for what it submitted; None if it is none.

        Raises:
            Unanswered: `agent_fault`.
            Halted: The process that waited for the answer ended.
        """
        stated = self._at(situation)
        if stated is None or stated.reply is None:
            return None
        reply = self._follow(stated.reply, "restate", {"of": stated.reply.id})
        return self._read(situation, reply).document

    def directions(self, situation: Situation) -> Mapping[str, str]:
        """The directions that the statement submitted in a situation gives, by variable."""
        stated = self._at(situation)
        if stated is None or stated.reply is None or not stated.texts:
            return {}
        return directions_of(self._narration, stated.reply.body, situation.state)

    def confidences(self, situation: Situation) -> Mapping[str, int] | None:
        """By counterfactual, what the statement submitted in a situation states; None for a document, which says it."""
        stated = self._at(situation)
        if stated is None or stated.reply is None or not stated.texts:
            return None
        return confidences_of(self._narration, stated.reply.body, situation.state)

    def reveal(self, snapshot: Mapping[str, Any], challenge: Challenge) -> bytes:
        """The nonce with which the agent opens the commitment of a snapshot; empty if it does not.

        Raises:
            Unanswered: `agent_fault`.
            Halted: The process that waited for the answer ended.
        """
        matches = [
            exchange for exchange in (self._current, self._fresh) if exchange is not None and _holds(exchange, snapshot)
        ]
        if not self._challenges.close(challenge) or not matches or matches[0].reply is None:
            return b""
        fields = {"commitment": snapshot["commitment"], "nonce_ref": snapshot["nonce_ref"]}
        said = self._follow(matches[0].reply, "reveal", fields).body
        nonce, texts = bytes.fromhex(said["nonce"]), matches[0].texts
        if not texts:
            return nonce if opens(snapshot, nonce) else b""
        shown = said.get("payload", {})
        try:
            same = shown.keys() <= set(PAYLOAD) and payload_of(shown) == texts[0]
        except NotCanonical:
            return b""
        return nonce if same and snapshot["commitment"] in {commitment_of(nonce, text) for text in texts} else b""

    def offer(self, situation: Situation, offer: PlannedOffer, token: Mapping[str, Any] | None) -> Reply | None:
        """What the agent submits when it is told the offer; None if that names no action of the world.

        Raises:
            NotApplicable: The agent takes an edit that cannot be made in what it states.
            Unanswered: `agent_fault` or `not_repeatable`.
            Halted: The process that waited for the answer ended.
        """
        asked = self._question(situation)
        fields = _shown(asked) | {"offer": offer.message(token)}
        try:
            reply = self._session.suppose(self._place, "offer", fields)
        except AgentFault:
            raise Unanswered("agent_fault") from None
        body = reply.body
        if body["type"] == "declined":
            return Reply()
        if body["type"] == "call":
            return Reply(token=body.get("token"), action=body["action"], taken=offer.spec.call is not None)
        document = self._read(situation, reply).document
        if document is None or not body.get("takes") or offer.spec.edit is None:
            return None if document is None else Reply(document=document)
        return Reply(document=edited(self._kernel, offer, situation.state, document), taken=True)

    def _count_unread(self, stated: _Stated) -> None:
        """Count the claims of a decision that cannot be read; too few others are an agent fault."""
        if stated.reply is None or stated.reply.body["type"] != "statement":
            return
        body, problem = stated.reply.body, stated.submission.problem
        self._unread.update(claims_of(self._narration, body, stated.situation.state)[1])
        self._unread["form"] += body.get("unread", 0)
        self._unread["call"] += body.get(FURTHER, 0)
        if problem is not None and problem.code in ABSTENTIONS:
            self._session.note(self._place, "decide", problem.code)
            self.prevented = problem.code

    def unread(self) -> dict[str, int]:
        """How many claims could not be read since the last call, by what could not: a field, or their form."""
        unread, self._unread = +self._unread, Counter()
        return dict(sorted(unread.items()))

    def faults(self) -> list[dict[str, Any]]:
        """The agent faults since the last call: `{t, message, reason}` of each."""
        return self._session.faults()

    def _at(self, situation: Situation) -> _Stated | None:
        """What the agent submitted in a situation, if it was asked for a decision there."""
        for stated in (self._current, self._fresh):
            if stated is not None and stated.situation == situation:
                return stated
        return None

    def _question(self, situation: Situation) -> dict[str, Any]:
        shown = self._views.shown(situation.state)
        here = (situation.episode, situation.t) == self._place[:2]
        denied: dict[str, Any] = {"denied": self._told} if self._told and here else {}
        return {"episode": situation.episode, "t": situation.t, **shown, **denied}

    def _follow(self, reply: AgentReply, type_: str, fields: Mapping[str, Any]) -> AgentReply:
        try:
            return self._session.follow(self._place, reply, type_, fields)
        except AgentFault:
            raise Unanswered("agent_fault") from None

    def _stated(self, situation: Situation, reply: AgentReply) -> _Stated:
        """What the agent submitted; a commitment that it made before is refused."""
        submission = self._read(situation, reply)
        commitment, texts = reply.body.get("commitment"), tuple[bytes, ...]()
        if reply.body["type"] == "statement" and submission.problem is None:
            texts = texts_of(reply.body, reply.received)
        if commitment is not None and commitment in self._commitments:
            submission = _problem(REUSED, reply.sha256)
        elif commitment is not None:
            self._commitments.add(commitment)
        return _Stated(situation, submission, self._choice(reply, situation.state), reply, texts)

    def _read(self, situation: Situation, reply: AgentReply) -> Submission:
        """The document that an answer is, or amounts to."""
        body, can = reply.body, self._session.said.get("can", ())
        if any(field in body and word not in can for field, word in _CAN.items()):
            return _problem(NOT_DECLARED, reply.sha256)
        if body["type"] == "document":
            return receive(body["document"])
        origin = Origin(f"{self._narration.decider.name}/{reply.session}/{reply.id}", reply.sha256)
        point = DecisionPoint(situation.episode, situation.t)
        try:
            payload_of(body)
            return receive(document_of(self._narration, body, origin, situation.state, situation.memory, point))
        except NotCanonical as problem:
            return _problem(problem.code, reply.sha256)

    def _choice(self, reply: AgentReply, state: Any) -> Choice | None:
        """The first action of an answer; None if it is no action of the world."""
        action: Any = reply.body.get("action")
        if reply.body["type"] == "document":
            actions = receive(reply.body["document"]).actions
            action = parse_canonical(actions[0]) if actions and actions[0] else None
        try:
            return None if action is None else choice_of(self._narration, action, state)
        except NotCanonical:
            return None


def _shown(question: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a question that show the state, and why the decision before was denied."""
    return {name: question[name] for name in _SHOWN if name in question}


def _holds(stated: _Stated, snapshot: Mapping[str, Any]) -> bool:
    """Whether a document that was submitted holds a snapshot."""
    document = stated.submission.document
    return isinstance(document, dict) and snapshot in document["trace"]["fork_snapshots"]


def _problem(reason: str, received: str) -> Submission:
    """A submission that there is no document of; the hash of what came stands for it."""
    return Submission(None, received or GENESIS, GENESIS, problem=NotCanonical(reason, "$", "nothing to judge"))


DocumentAgent = SpecAgent | OutsideAgent
"""Who submits documents, and can be asked again by probes, about clones of a state."""
