"""The desk of a kernel: documents instead of bare proposals, tokens bound to them, an audit entry for each ruling.

Decides the order of one decision: offers, document, commitment, challenges, ruling, entry, token, entry, act. Every
ruling and every refusal is an `audit` event before anything acts. Refuses to know what is ruled and what is probed.

Source: toy-pseudo-axion, Kernel; DESIGN: probes attach to four places of the one loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

from specledger.agents.mind import Choice, Occasion, first
from specledger.agents.narration import Narration
from specledger.compile.active_plan import Underway, follow
from specledger.compile.decision_controller import Acts, DecisionController, Moment
from specledger.compile.plan import Judgement, Plan, Proposal
from specledger.compile.probe_target import KernelSubject
from specledger.compile.submission_json import first_action, shown
from specledger.core.binding import token_document
from specledger.core.entries import Entries, Mode
from specledger.core.events import Event
from specledger.core.rng import Stream
from specledger.gates.admission import ALLOW, DENY, Admission, Ruling
from specledger.gates.capability import Refused
from specledger.gates.digests import Submission, receive
from specledger.gates.keys import Signing
from specledger.gates.signatures import SecretSigner
from specledger.gates.snapshots import Challenges, Vault
from specledger.gates.tokens import Asked, TokenActuator
from specledger.gates.vocabulary import Vocabulary
from specledger.oracles.answer import TIMED_OUT, Answer
from specledger.oracles.tape import Halted, Place
from specledger.probes.check import Probe
from specledger.probes.runner import Probing
from specledger.probes.subject import PLACES, Situation


@dataclass(frozen=True, slots=True)
class Kernel:
    """What a scenario's kernel is made of.

    Attributes:
        admission: Rules about documents.
        vocabulary: How claims are worded.
        narration: Makes them.
        probes: In the scenario's order.
        weigh: `(observation, memory, action, predicted state, occasion) -> score`, where a rule is broken.
        unused: `state -> variables that the declared procedure does not read`.
        deterministic: Whether the agent draws nothing.
        ms_per_tick: Kernel time of one step.
        signing: How tokens are signed with a key; None where a secret from the run's seed signs them.
    """

    admission: Admission
    vocabulary: Vocabulary
    narration: Narration
    probes: Sequence[Probe]
    weigh: Callable[[Any, Any, Mapping[str, Any], Any, Occasion], int]
    unused: Callable[[Any], list[str]]
    deterministic: bool
    ms_per_tick: int
    signing: Signing | None = None


class KernelToken(NamedTuple):
    """A capability token, as the loop knows it."""

    proposal: str
    commitment: str
    scope: str
    token: dict[str, Any]

    def document(self) -> dict[str, str]:
        """The binding as a receipt holds it; the token itself, a `capability_token`, stands in the audit log."""
        return token_document(self.proposal, self.commitment, self.scope)


class KernelController(DecisionController):
    """The desk of one run under a kernel."""

    def __init__(self, plan: Plan) -> None:
        """Serve one run; the plan has its kernel."""
        super().__init__(plan)
        assert plan.kernel is not None  # noqa: S101 - see the compiler
        kernel = self.kernel = plan.kernel
        self.plan = plan
        tape = None if plan.oracle is None else plan.oracle.tape
        self.entries = Entries(Mode.SIMULATED) if tape is None else Entries(tape.mode, tape.head)
        self.challenges = Challenges()
        self.vault = Vault(Stream.named(plan.seed, "nonce"), self.challenges)
        self.revealed: dict[str, bytes] = {}
        self.submission: Submission = receive(None)
        self.acting: TokenActuator | None = None
        signing = kernel.signing
        self._signer = SecretSigner.named(plan.seed) if signing is None else signing.signer(plan.signatures)
        self.granted = ""
        self.now_ms = 0
        self.underway: Underway | None = None
        self._left: Underway | None = None
        self._probing = Probing(kernel.probes, plan.seed, plan.horizon)
        self._ruling: Ruling | None = None
        self._waiting: list[Event] = []

    def propose(self, moment: Moment) -> list[Proposal]:
        """The next step of the plan that is under way; where none is, what the agent submits."""
        return self.decide(moment) if self.underway is None else [self.underway.proposal()]

    def decide(self, moment: Moment) -> list[Proposal]:
        """What the agent submits as a set of one: its first action, its score, and the document as it was received.

        A set of none, if the agent proposes nothing; the kernel then receives nothing, and denies that.

        Raises:
            Halted: The agent was ended at this decision.
        """
        if self.plan.oracle is None:
            return self._propose(moment)
        try:
            return self.plan.oracle.watch(self.place(moment), lambda: self._propose(moment))
        except Halted as halted:
            self.enter_halt(halted.answer)
            raise

    def place(self, moment: Moment) -> Place:
        """Which decision this is, and what was submitted before it."""
        tick = moment.episode * self.plan.horizon + moment.t
        return Place(moment.episode, moment.t, tick, self.submission.proposal_hash, self.submission.trace_hash)

    def enter_halt(self, answer: Answer) -> None:
        """Log that the agent was ended, as the watchdog does."""
        self._enter(halt_event(answer.failure == TIMED_OUT), self.submission, codes=(answer.reason,))

    def _propose(self, moment: Moment) -> list[Proposal]:
        decider = self.kernel.narration.decider
        occasion = Occasion(moment.episode, moment.t)
        choice = first(decider.propose(moment.observation, moment.memory, occasion), decider.label)
        submitted = None if choice is None else self.submit(moment, choice, occasion)
        self.submission = receive(submitted)
        if choice is None:
            return []
        action = first_action(self.submission)
        return [{"action": action, "score": choice.score, "document": shown(self.submission)}]

    def submit(self, moment: Moment, choice: Choice, occasion: Occasion) -> object:
        """The document of a choice; whatever else is returned is received, hashed and judged all the same."""
        narration = self.kernel.narration
        return narration.document(moment.state, moment.memory, choice, occasion, self.vault.snapshot)

    def judge(
        self, moment: Moment, proposals: list[Proposal], pending: int, writes: list[int], memory: Any
    ) -> list[Judgement]:
        """The ruling about the document, once for all steps of its plan, then the governor's gates on its action."""
        if self.underway is None:
            ruling = self._ruling = self.kernel.admission.rule(moment.state, self.submission)
            if not ruling.allowed:
                return [Judgement(list(ruling.rejected), 0, {}, {}) for _ in proposals]
        bare = [{"action": proposal["action"], "score": proposal["score"]} for proposal in proposals]
        return self.plan.judge(moment.state, bare, pending, writes, memory)

    def actuator(self) -> Acts:
        """The token actuator of one episode."""
        self.acting, self._left = TokenActuator(self.plan.step, self._signer), None
        return _Acting(self, self.acting)

    def grant(self, acting: TokenActuator) -> dict[str, Any]:
        """The token of the plan that is under way; where none is, issue the one that the last ruling allows.

        Raises:
            Refused: It allows none.
        """
        if self.underway is not None:
            return self.underway.token
        ruling = self._ruling
        if ruling is None or not ruling.allowed or ruling.scope is None:
            raise Refused("no_ruling")
        token = acting.issue(self.submission, ruling.capability, ruling.scope, self.now_ms)
        self.granted = token["binding"]["scope_hash"]
        return token

    def attend(self, place: str, moment: Moment) -> Iterator[Event]:
        """Entries first, then the probes of the place; what they attempt is entered before they are told."""
        self.now_ms = (moment.episode * self.plan.horizon + moment.t) * self.kernel.ms_per_tick
        if place == "before_propose":
            going, self._left = self._left, None
            self.underway = going if going is not None and going.fits(moment) else None
        elif place == "error":
            self._enter("INTERNAL_ERROR", self.submission, codes=("error",))
        elif place == "after_token":
            self._enter_ruling(moment)
        yield from self._flush()
        if not self.kernel.probes or place not in PLACES or self.underway is not None:
            return  # a step of a plan that was ruled about gives nothing new to probe
        if place == "after_token" and moment.token is None:
            return
        situation = Situation(moment.episode, moment.t, moment.state, moment.memory)
        for event in self._probing.attend(place, situation, KernelSubject(self, moment)):
            yield from self._flush()
            yield event

    def enter_ruling(self, ruling: Ruling) -> None:
        """Log what was ruled about a submission."""
        self._enter(
            "POLICY_DECISION",
            ruling.submission,
            verdict=ruling.verdict,
            codes=ruling.codes,
            witnesses=ruling.witnesses,
        )

    def enter_refusal(self, reason: str) -> None:
        """Log that an execution was refused."""
        self._enter("CAPABILITY_DENIED", self.submission, codes=(f"refused:{reason}",))

    def act(self, token: dict[str, Any], proposal: Proposal, state: Any, inputs: Mapping[str, Any]) -> tuple[Any, Any]:
        """Execute one step of a plan; if it leaves one that its token covers, that comes next.

        Raises:
            Refused: The token does not permit it; the plan ends then.
        """
        assert self.acting is not None  # noqa: S101 - an episode is under way
        index = 0 if self.underway is None else self.underway.index
        asked = Asked(proposal["action"], self.granted, self.now_ms)
        after, outcome = self.acting.act(token, index, self.submission, asked, state, inputs)
        self._left = follow(token, self.submission, index + 1, proposal["score"], after)
        return after, outcome

    def _enter_ruling(self, moment: Moment) -> None:
        ruling, underway = self._ruling, self.underway
        if underway is not None:
            verdict = DENY if moment.token is None else ALLOW
            self._enter("POLICY_DECISION", self.submission, verdict=verdict, codes=(f"step:{underway.index}",))
        if ruling is None:
            return
        self.enter_ruling(ruling)
        if moment.token is not None:
            tokens = (moment.token.token,)
            self._enter("CAPABILITY_ISSUED", self.submission, verdict=ruling.verdict, tokens=tokens)
        self._ruling = None

    def _enter(self, event: str, submission: Submission, **told: Any) -> None:
        entry = self.entries.seal(
            event,
            at_ms=self.now_ms,
            proposal_hash=submission.proposal_hash,
            trace_hash=submission.trace_hash,
            **told,
        )
        self._waiting.append(Event("audit", entry))

    def _flush(self) -> Iterator[Event]:
        waiting, self._waiting = self._waiting, []
        yield from waiting


def halt_event(in_vain: bool) -> str:
    """The event of the entry for an agent that was ended in vain waiting, or that ended by itself."""
    return "FATAL_HANG" if in_vain else "INTERNAL_ERROR"


class _Acting:
    """One episode's token actuator behind the loop's two calls."""

    def __init__(self, desk: KernelController, acting: TokenActuator) -> None:
        self._desk = desk
        self._acting = acting

    def issue(self, proposal: str, commitment: str, scope: str) -> KernelToken:
        with self._entering_refusals():
            return KernelToken(proposal, commitment, scope, self._desk.grant(self._acting))

    def act(
        self,
        token: KernelToken,
        index: int,
        proposal: Mapping[str, Any],
        scope: str,
        state: Any,
        inputs: Mapping[str, Any],
    ) -> tuple[Any, Any]:
        with self._entering_refusals():
            return self._desk.act(token.token, dict(proposal), state, inputs)

    @contextmanager
    def _entering_refusals(self) -> Iterator[None]:
        try:
            yield
        except Refused as refused:
            self._desk.enter_refusal(refused.reason)
            raise
