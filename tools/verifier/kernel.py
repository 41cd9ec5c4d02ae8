"""The desk of a kernel: documents instead of bare proposals, tokens bound to them, an audit entry for each ruling.

It stands where the plain desk of a run stands (`replay`). The order of one decision is that of docs/probes.md and
docs/kernel.md: offers, document, commitment, challenges, ruling, entry, token, entry, act.
"""

from tools.verifier.basis import ZEROS
from tools.verifier.kernel_forms import Submission, receive_bytes, receive_value
from tools.verifier.kernel_made import KernelParts
from tools.verifier.kernel_tokens import Denied, Entries, Tokens, Vault
from tools.verifier.outside import Ended, received_bytes
from tools.verifier.probe_ask import challenged
from tools.verifier.probe_offer import Probing
from tools.verifier.probe_subject import Here, Subject

PROBED = ("before_propose", "after_commit", "after_token", "after_act")


class Underway:
    """A plan of which a step was executed, and another one that its token covers is left."""

    def __init__(self, token, submission, index, score, state):
        self.token, self.submission, self.index, self.score, self.state = token, submission, index, score, state


class KernelDesk:
    """The desk of one run under a kernel.

    Attributes:
        submission: What was submitted last.
        tokens: Those of the episode.
        granted: The hash of the scope that was granted last.
        now_ms: Kernel time.
    """

    def __init__(self, run, signatures=()):
        """`run` is the replayed run; `signatures` are those of its recorded tokens, for a kernel that has a key."""
        self.run, self.parts = run, KernelParts(run, signatures)
        self.admission, self.narrator = self.parts.admission, self.parts.narrator
        self.entries = Entries() if run.tape is None else Entries(run.tape.mode, run.tape.head)
        self.vault, self.submission = Vault(run.seed), receive_value(None)
        self.probing = Probing(self.parts.probes, run.seed, run.horizon, self.parts.ground.over, challenged)
        self.tokens, self.granted, self.now_ms = None, "", 0
        self.underway = self.left = self.ruling = None
        self.waiting = []

    def gates(self):
        """What can deny beside the schema and the governor's own gates."""
        return self.admission.gates()

    def open(self):
        """An episode begins: no token is left of the one before."""
        self.tokens, self.left = Tokens(self.run.world.step, self.parts.signer), None

    def propose(self, moment):
        """The next step of the plan that is under way; where none is, what is submitted."""
        if self.underway is not None:
            going = self.underway
            action, document = going.submission.action(going.index), going.submission.proposal_hash
            return [{"action": action, "score": going.score, "document": document}]
        if self.run.agent is None:
            answer = self.run.tape.asked(moment.episode, moment.t)
            if answer["failure"] in ("timed_out", "died"):
                self.halt(answer)
            self.submission = receive_answer(answer)
            return [self.submission.proposal(0)]
        answer = None if self.run.tape is None else self.run.tape.recorded(moment.episode, moment.t)
        if answer is not None:
            self.halt(answer)
        return self.decide(moment)

    def halt(self, answer):
        """The agent was ended at this decision, and that was logged."""
        event = "FATAL_HANG" if answer["failure"] == "timed_out" else "INTERNAL_ERROR"
        self.enter(event, self.submission, codes=(answer["reason"],))
        raise Ended(answer)

    def decide(self, moment):
        """What an agent inside submits."""
        decider, occasion = self.narrator.decider, (moment.episode, moment.t, 0)
        choice = decider.choose(moment.seen, moment.memory, occasion)
        if choice is None:
            self.submission = receive_value(None)
            return []
        told = self.narrator.document(moment.state, moment.memory, choice, occasion, self.vault.snapshot)
        self.submission = receive_value(told)
        return [self.submission.proposal(choice.score)]

    def judge(self, moment, proposals, judge_plainly):
        """The ruling about the document, once for its whole plan, then the governor's gates on its action."""
        if self.underway is None:
            ruling = self.ruling = self.admission.rule(moment.state, self.submission)
            if ruling.verdict == "deny":
                return [self.run.rejected(ruling.rejected) for _ in proposals]
        return judge_plainly([{"action": one["action"], "score": one["score"]} for one in proposals])

    def issue(self):
        """The capability token of a choice: that of the plan under way, or the one that the ruling allows."""
        if self.underway is not None:
            return self.underway.token
        ruling = self.ruling
        if ruling is None or ruling.scope is None:
            return self.denied(Denied("no_ruling"))
        try:
            token = self.tokens.issue(self.submission, ruling.capability, ruling.scope, self.now_ms)
        except Denied as denied:
            return self.denied(denied)
        self.granted = token["binding"]["scope_hash"]
        return token

    def act(self, token, proposal, state, inputs):
        """Execute one step of a plan; if that leaves one which its token covers, it comes next."""
        index = 0 if self.underway is None else self.underway.index
        try:
            made = self.tokens.act(
                token, index, self.submission, proposal["action"], self.granted, self.now_ms, state, inputs
            )
        except Denied as denied:
            return self.denied(denied)
        actions, index = self.submission.actions, index + 1
        covered = min(len(actions), token["scope"]["rate_limit"]["max_calls"])
        going = index < covered and actions[index]
        self.left = Underway(token, self.submission, index, proposal["score"], made[0]) if going else None
        return made

    def denied(self, denied):
        """A refusal is logged before it is told."""
        self.enter_refusal(denied.reason)
        raise denied

    def attend(self, place, moment):
        """The receipts of a place of the loop: entries first, then probes, each after what it led to."""
        self.now_ms = (moment.episode * self.run.horizon + moment.t) * self.parts.ms_per_tick
        if place == "before_propose":
            going, self.left = self.left, None
            self.underway = going if going is not None and going.state is moment.state else None
        elif place == "error":
            self.enter("INTERNAL_ERROR", self.submission, codes=("error",))
        elif place == "after_token":
            self.enter_decision(moment)
        yield from self.flush()
        idle = self.underway is not None or (place == "after_token" and moment.token is None)
        if place not in PROBED or idle:
            return
        here = Here(moment.episode, moment.t, moment.state, moment.memory)
        for body in self.probing.attend(place, here, Subject(self, moment)):
            yield from self.flush()
            yield "probe", body

    def enter_decision(self, moment):
        """Log what was ruled, and the token that was issued for it."""
        if self.underway is not None:
            verdict = "deny" if moment.token is None else "allow"
            codes = (f"step:{self.underway.index}",)
            self.enter("POLICY_DECISION", self.submission, verdict=verdict, codes=codes)
        if self.ruling is None:
            return
        self.enter_ruling(self.ruling)
        if moment.token is not None:
            told = {"verdict": self.ruling.verdict, "tokens": (moment.token,)}
            self.enter("CAPABILITY_ISSUED", self.submission, **told)
        self.ruling = None

    def enter_ruling(self, ruling):
        """Log a ruling."""
        told = {"verdict": ruling.verdict, "codes": ruling.codes, "witnesses": ruling.witnesses}
        self.enter("POLICY_DECISION", ruling.submission, **told)

    def enter_refusal(self, reason):
        """Log that an execution was refused."""
        self.enter("CAPABILITY_DENIED", self.submission, codes=(f"refused:{reason}",))

    def enter(self, event, submission, **told):
        """Make an entry; its receipt comes at the next place."""
        self.waiting.append(("audit", self.entries.seal(event, self.now_ms, submission, **told)))

    def flush(self):
        """The receipts of the entries that wait."""
        waiting, self.waiting = self.waiting, []
        yield from waiting


def receive_answer(answer):
    """Take what is on the tape for a decision; where there are no bytes, the failure is what is denied."""
    data = received_bytes(answer)
    if data is not None:
        return receive_bytes(data)
    if not answer["failure"]:
        return receive_value(None)
    return Submission(None, answer["sha256"] or ZEROS, problem=answer["failure"])
