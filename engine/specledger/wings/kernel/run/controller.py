"""The controller of a run under a kernel: it admits documents, issues tokens bound to them, and logs each ruling.

The order of a decision is: offers, document, commitment, challenges, ruling, audit entry, token, audit entry, act. Each
ruling and each refusal is an `audit` event before anything acts.

A token covers the steps of its plan up to `max_calls`, each once, and a decision executes one of them. So a plan of n
steps takes n decisions. The agent is asked only at the first; each of the others is committed to, judged by the
governor's gates, logged, and executed through the token of the first. A refusal ends the plan. So does a state that is
not the one that the last step led to. Then the agent is asked again.

Source: toy-pseudo-axion, Kernel; DESIGN: probes attach to four places of the one loop.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from typing import Any, Final, NamedTuple

from msgspec import Struct

from specledger.compile.plan import Actor, Judgement, Plan, Proposal, State
from specledger.core.binding import token_document
from specledger.core.canonical import parse_canonical
from specledger.core.entries import Entries, halt_event
from specledger.core.events import Event
from specledger.gates.capability import Refused
from specledger.oracles.answer import TIMED_OUT, Answer
from specledger.oracles.recording import Halted, Place
from specledger.run.controller import DecisionController, Moment
from specledger.run.loop import entries_of
from specledger.wings.kernel.documents.admission import ALLOW, DENY, Ruling
from specledger.wings.kernel.documents.digests import Submission, receive
from specledger.wings.kernel.documents.signatures import sign_by_secret
from specledger.wings.kernel.documents.snapshots import Challenges
from specledger.wings.kernel.documents.tokens import Asked, TokenActuator
from specledger.wings.kernel.plan import KernelPlan, kernel_of
from specledger.wings.kernel.probes.runner import ProbeRunner
from specledger.wings.kernel.probes.target import PLACES, Situation
from specledger.wings.kernel.run.document_agent import SpecAgent
from specledger.wings.kernel.run.outside_agent import DocumentAgent, OutsideAgent
from specledger.wings.kernel.run.probe_target import KernelProbeTarget

MOST_SHOWN: Final = 1 << 18
"""Bytes of a document that a receipt holds; a longer one is shown as its hash."""


class KernelToken(NamedTuple):
    """A capability token, as the loop knows it."""

    proposal: str
    commitment: str
    scope: str
    token: dict[str, Any]

    def document(self) -> dict[str, str]:
        """The binding as a receipt holds it; the whole `capability_token` is in the audit log."""
        return token_document(self.proposal, self.commitment, self.scope)


class ActivePlan(Struct, frozen=True):
    """A plan with executed steps and at least one step left.

    Attributes:
        index: The place of the next step.
        score: The score that the agent gave its first step.
        state: The state after the last step.
    """

    token: dict[str, Any]
    submission: Submission
    index: int
    score: int
    state: Any

    def proposal(self) -> Proposal:
        """The next step as a proposal; its document was shown in full at the first step, so its hash is enough."""
        action = parse_canonical(self.submission.actions[self.index])
        return {"action": action, "score": self.score, "document": self.submission.proposal_hash}


def next_step(
    token: Mapping[str, Any], submission: Submission, index: int, score: int, state: Any
) -> ActivePlan | None:
    """The plan from step `index` on; None where the plan ends or its token covers no more of it."""
    covered = min(len(submission.actions), token["scope"]["rate_limit"]["max_calls"])
    if index >= covered or not submission.actions[index]:
        return None
    return ActivePlan(dict(token), submission, index, score, state)


def as_proposal(submission: Submission, score: int) -> Proposal:
    """A submission as it is committed to.

    The action is the first step of its plan, or an operation that no world has. The document is the canonical form, or
    its hash if there is no such form or it is longer than `MOST_SHOWN`.
    """
    first, form = next(iter(submission.actions), b""), submission.form
    action: Any = parse_canonical(first) if first else {"op": ""}
    shown = submission.proposal_hash if form is None or len(form) > MOST_SHOWN else form.decode()
    return {"action": dict(action), "score": score, "document": shown}


class KernelController(DecisionController):
    """The controller of one actor under a kernel, in one run.

    Attributes:
        acting: The token actuator of the episode; there is none before the first.
        active: The plan that the next decision continues, if there is one.
    """

    def __init__(
        self,
        plan: Plan,
        actor: Actor,
        make_agent: Callable[[Plan, Actor, KernelPlan, Challenges], DocumentAgent] = SpecAgent,
        entries: Entries | None = None,
    ) -> None:
        """Control an actor that has a kernel; `make_agent` gives who is asked, several kernels share `entries`."""
        super().__init__(actor)
        kernel = self.kernel = kernel_of(actor)
        self.plan, self.entries = plan, entries or entries_of(plan)
        self.challenges = Challenges()
        self.agent = make_agent(plan, actor, kernel, self.challenges)
        if isinstance(self.agent, OutsideAgent):
            self.agent.on_borne_halt(self._enter_halt)
        self.submission: Submission = receive(None)
        self.acting: TokenActuator
        signing = kernel.signing
        self._signer = sign_by_secret(plan.seed) if signing is None else signing.signer(plan.signatures)
        self.granted = ""
        self.now_ms = 0
        self.active: ActivePlan | None = None
        self._left: ActivePlan | None = None
        self._issued: deque[tuple[Submission, dict[str, Any]]] = deque(maxlen=2)
        self._probes = ProbeRunner(kernel.probes, plan.seed, plan.horizon)
        self._target = KernelProbeTarget(self)
        self._ruling: Ruling | None = None
        self._waiting: list[Event] = []

    def propose(self, moment: Moment) -> list[Proposal]:
        """The next step of the active plan; without one, the agent's document as a set of one.

        The set is empty if the agent proposes nothing. The kernel then receives nothing, and denies that.

        Raises:
            Halted: The process that asked the agent was ended.
        """
        if self.active is not None:
            return [self.active.proposal()]
        with self._logging_ends():
            submitted = self.agent.decide(moment, self._place_of(moment))
        self.submission = receive(None) if submitted is None else submitted.submission
        return [] if submitted is None else [as_proposal(self.submission, submitted.score)]

    def judge(
        self, moment: Moment, proposals: list[Proposal], pending: int, writes: list[int], memory: Any
    ) -> list[Judgement]:
        """The ruling about the document, once for all steps of its plan, then the governor's gates on its action."""
        if self.active is None:
            ruling = self._ruling = self.kernel.admission.rule(moment.state, self.submission)
            if not ruling.allowed:
                return [Judgement(list(ruling.rejected), 0, {}, {}) for _ in proposals]
        bare = [{"action": proposal["action"], "score": proposal["score"]} for proposal in proposals]
        return self.actor.judge(moment.state, bare, pending, writes, memory)

    def choose(self, judgements: list[Judgement]) -> int | None:
        """The choice; if there is none, an agent from outside learns the gates that denied it, with their reasons."""
        chosen = super().choose(judgements)
        if chosen is None and isinstance(self.agent, OutsideAgent):
            self.agent.hear([each for judgement in judgements for each in judgement.rejected])
        return chosen

    def _place_of(self, moment: Moment) -> Place:
        tick = moment.episode * self.plan.horizon + moment.t
        return Place(moment.episode, moment.t, tick, self.submission.proposal_hash, self.submission.trace_hash)

    @contextmanager
    def _logging_ends(self) -> Iterator[None]:
        """Log that the process which asked the agent was ended."""
        try:
            yield
        except Halted as halted:
            self._enter_halt(halted.answer)
            raise

    def _enter_halt(self, answer: Answer) -> None:
        """Log that the process which asked the agent was ended."""
        self._enter(halt_event(answer.failure == TIMED_OUT), self.submission, codes=(answer.reason,))

    def faults(self) -> list[dict[str, Any]]:
        """The agent faults since the last call: `{t, message, reason}` of each."""
        return self.agent.faults()

    def prevented(self) -> str:
        """The agent fault for which the last decision is none; empty if it is one."""
        return self.agent.prevented if self.active is None else ""

    def unread(self) -> dict[str, int]:
        """How many claims of the agent could not be read since the last call, by what could not."""
        return self.agent.unread()

    def begin(self) -> None:
        """Begin an episode: no token and no plan of an earlier one is good."""
        self.acting, self._left = TokenActuator(self.actor.step, self._signer), None
        self._issued.clear()

    def issue(self, proposal: str, commitment: str, scope: str) -> KernelToken:
        """The token of the active plan; without one, a new token for what the last ruling allows."""
        token = self._grant() if self.active is None else self.active.token
        return KernelToken(proposal, commitment, scope, token)

    def _grant(self) -> dict[str, Any]:
        ruling = self._ruling
        with self._logging_refusals():
            if ruling is None or not ruling.allowed or ruling.scope is None:
                raise Refused("no_ruling")
            token = self.acting.issue(self.submission, ruling.capability, ruling.scope, self.now_ms)
        self.granted = token["binding"]["scope_hash"]
        self._issued.append((self.submission, token))
        return token

    def act(
        self,
        token: KernelToken,
        index: int,
        proposal: Mapping[str, Any],
        scope: str,
        state: State,
        inputs: Mapping[str, Any],
    ) -> tuple[State, dict[str, Any]]:
        """Execute one step of a plan; the next one follows, if the token covers it, and none after a refusal.

        Raises:
            Refused: The token does not permit it; the plan ends then.
        """
        at = 0 if self.active is None else self.active.index
        asked = Asked(proposal["action"], self.granted, self.now_ms)
        with self._logging_refusals():
            after, outcome = self.acting.act(token.token, at, self.submission, asked, state, inputs)
        self._left = next_step(token.token, self.submission, at + 1, proposal["score"], after)
        return after, outcome

    @contextmanager
    def _logging_refusals(self) -> Iterator[None]:
        try:
            yield
        except Refused as refused:
            self.enter_refusal(refused.reason)
            raise

    def events_at(self, hook: str, moment: Moment) -> Iterator[Event]:
        """Audit entries, then the probes of the place; an attempt of a probe is logged before the probe's event."""
        self.now_ms = (moment.episode * self.plan.horizon + moment.t) * self.kernel.ms_per_tick
        if hook == "before_propose":
            left, self._left = self._left, None
            # A state that something changed since is another object, even if it is equal.
            self.active = left if left is not None and left.state is moment.state else None
        elif hook == "error":
            self._enter("INTERNAL_ERROR", self.submission, codes=("error",))
        elif hook == "after_token":
            self._enter_decision(moment)
        yield from self._flush()
        if not self.kernel.probes or hook not in PLACES or self.active is not None:
            return  # a later step of a plan has nothing new to probe
        if hook == "after_token" and moment.token is None:
            return
        situation = Situation(moment.episode, moment.t, moment.state, moment.memory)
        self.agent.begin(self._place_of(moment))
        with self._logging_ends():
            for event in self._probes.events_at(hook, situation, self._target.at(moment)):
                yield from self._flush()
                yield Event(event.type, {**event.body, **self.actor.label})

    def try_document(self, state: Any, document: Any) -> Ruling:
        """Rule about a document that is no decision of the run, and log that."""
        ruling = self.kernel.admission.rule(state, receive(document))
        self._enter_ruling(ruling)
        return ruling

    def token_of(self, sort: str, own: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        """A token of an earlier decision (`stale`) or of another holder (`other`); None if none was issued yet.

        The other holder's is of the last submission and its scope, issued and signed by another kernel.
        """
        earlier = [(submission, token) for submission, token in self._issued if token is not own or sort == "other"]
        if not earlier:
            return None
        submission, token = earlier[-1]
        if sort == "stale":
            return token
        elsewhere = TokenActuator(_no_step, sign_by_secret(self.plan.seed, "another"))
        return elsewhere.issue(submission, token["capability"], token["scope"], self.now_ms)

    def try_action(self, token: Mapping[str, Any] | None, action: Mapping[str, Any], state: Any) -> str:
        """Execute an action that is no decision of the run; the reason of the refusal, which is logged, or empty."""
        asked = Asked(action, self.granted, self.now_ms)
        try:
            copy(self.acting).act(token, 0, self.submission, asked, state, {})
        except Refused as refused:
            self.enter_refusal(refused.reason)
            return refused.reason
        return ""

    def _enter_ruling(self, ruling: Ruling) -> None:
        fields = {"verdict": ruling.verdict, "codes": ruling.codes, "witnesses": ruling.witnesses}
        self._enter("POLICY_DECISION", ruling.submission, **fields)

    def enter_refusal(self, reason: str) -> None:
        """Log a refused execution."""
        self._enter("CAPABILITY_DENIED", self.submission, codes=(f"refused:{reason}",))

    def _enter_decision(self, moment: Moment) -> None:
        ruling, active = self._ruling, self.active
        if active is not None:
            verdict = DENY if moment.token is None else ALLOW
            self._enter("POLICY_DECISION", self.submission, verdict=verdict, codes=(f"step:{active.index}",))
        if ruling is None:
            return
        self._enter_ruling(ruling)
        if moment.token is not None:
            tokens = (moment.token.token,)
            self._enter("CAPABILITY_ISSUED", self.submission, verdict=ruling.verdict, tokens=tokens)
        self._ruling = None

    def _enter(self, event: str, submission: Submission, **fields: Any) -> None:
        entry = self.entries.seal(
            event,
            at_ms=self.now_ms,
            proposal_hash=submission.proposal_hash,
            trace_hash=submission.trace_hash,
            **fields,
        )
        self._waiting.append(Event("audit", entry))

    def _flush(self) -> Iterator[Event]:
        waiting, self._waiting = self._waiting, []
        yield from waiting


def control(plan: Plan, actor: Actor, entries: Entries) -> KernelController:
    """The controller of an actor under a kernel, which asks the agent where it is."""
    return KernelController(plan, actor, SpecAgent if actor.outside is None else OutsideAgent, entries)


def _no_step(*_given: Any) -> tuple[Any, Any]:
    """The step of an actuator whose tokens are shown and never used."""
    raise AssertionError("another holder's actuator does not act")
