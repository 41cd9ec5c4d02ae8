"""The receipts of a kernel: the entries of its audit log, and its probes with their evidence."""

from typing import Annotated, Any, Final, NotRequired, TypedDict

from specledger.core.events import Severity
from specledger.core.verdict import Verdict
from specledger.evidence.receipts.places import Turn

AUDIT: Final = "audit"
"""The type of the event whose body is an entry."""


class KernelDecision(TypedDict):
    """A ruling of the kernel.

    Attributes:
        verdict: `allow`, `deny` or `allow_with_constraints`.
        notes: Codes; the first one is the mode of the log.
    """

    verdict: str
    notes: str


class AuditWitness(TypedDict):
    """An invariant that a document breaks.

    Attributes:
        invariant: The name of the invariant.
        severity: What the breach means: `fatal` or `warn`.
        message: What is wrong, in words.
        data_hash: The SHA-256 of what shows it.
    """

    invariant: str
    severity: Annotated[str, Severity]
    message: str
    data_hash: str


class RateLimit(TypedDict):
    """How often a token may be used.

    Attributes:
        max_calls: How many calls are permitted in a period.
        per_ms: The period, in milliseconds of kernel time.
    """

    max_calls: int
    per_ms: int


class CapabilityScope(TypedDict):
    """What a token permits, and for how long.

    Attributes:
        allowed_ops: The operations that are permitted.
        rate_limit: How often they are permitted.
        expiry_ms: How long they are permitted, in milliseconds of kernel time.
    """

    allowed_ops: list[str]
    rate_limit: RateLimit
    expiry_ms: int


class Binding(TypedDict):
    """What a token is bound to.

    Attributes:
        proposal_hash: The digest of the proposal.
        trace_hash: The digest of the trace of its reasons.
        scope_hash: The digest of what is permitted.
    """

    proposal_hash: str
    trace_hash: str
    scope_hash: str


class CapabilityToken(TypedDict):
    """A token as a kernel issues it.

    Attributes:
        token_id: What identifies it.
        capability: The capability that was granted.
        scope: What it permits, and for how long.
        binding: The digests that it is bound to.
        issued_at_ms: When it was issued, in milliseconds of kernel time.
        expires_at_ms: When it expires, in milliseconds of kernel time.
        revocation_id: What it is revoked by.
        signature: The HMAC or the Ed25519 signature over all else.
    """

    token_id: str
    capability: str
    scope: CapabilityScope
    binding: Binding
    issued_at_ms: int
    expires_at_ms: int
    revocation_id: str
    signature: str


class AuditEntry(TypedDict):
    """An entry of the audit log, as `schemas/axion/audit_entry.json` has it.

    Attributes:
        entry_id: What identifies it.
        timestamp_ms: When it was made, in milliseconds of kernel time.
        prev_entry_hash: The hash of the entry before; 64 zeros in the first.
        entry_hash: The hash of this entry.
        event: What it describes, in a word.
        proposal_hash: The digest of the proposal.
        trace_hash: The digest of the trace of its reasons.
        kernel_decision: The ruling of the kernel.
        witnesses: The invariants that the document breaks.
        capability_tokens: The tokens that were issued.
    """

    entry_id: str
    timestamp_ms: int
    prev_entry_hash: str
    entry_hash: str
    event: str
    proposal_hash: str
    trace_hash: str
    kernel_decision: KernelDecision
    witnesses: list[AuditWitness]
    capability_tokens: list[CapabilityToken]


class Edit(TypedDict):
    """How the kernel changed a variable.

    Attributes:
        by: The name of the edit, or null if it has none.
        changed: The fields of the state that it changed.
    """

    by: str | None
    changed: list[str]


class Trial(TypedDict):
    """The answer to one change, or why it was not asked for.

    Attributes:
        drawn: The place of the claim among those that were drawn.
        variable: The variable that was changed.
        value: The value that it was given.
        predicted: The choice that the claim predicts.
        direction: The direction that the claim speaks of, if it gives no value.
        by: Whose alternative value was taken.
        confidence: How sure the agent says that it is, in millionths.
        edit: How the variable was changed, or null.
        reason: Why nothing was asked.
        after: The choice of the agent after the change; null where nothing was asked.
        declared: The choice of the declared procedure after the change.
        held: Whether the expectation holds; null where nothing was asked.
        miss: How the answer is a miss, in a word.
        procedure: The choice of the procedure that the agent declares.
    """

    drawn: int
    variable: str
    value: Any
    predicted: str
    direction: NotRequired[str]
    by: NotRequired[str]
    confidence: NotRequired[int]
    edit: NotRequired[Edit | None]
    reason: NotRequired[str]
    after: str | None
    declared: NotRequired[str]
    held: bool | None
    miss: NotRequired[str]
    procedure: NotRequired[str]


class Asked(TypedDict):
    """How often an agent was asked the same question again.

    Attributes:
        asked: How often it was asked.
        changed: How often its choice was another one.
        others: How many different other choices came, if any did.
    """

    asked: int
    changed: int
    others: NotRequired[int]


class Placebo(TypedDict):
    """How often a variable was changed that no claim names.

    Attributes:
        asked: How often it was asked.
        changed: How often its choice was another one.
        variables: The variables that were changed.
    """

    asked: int
    changed: int
    variables: NotRequired[list[str]]


class Explanation(TypedDict):
    """The choice of the declared procedure, and whether other variables move it.

    Attributes:
        here: The choice of the declared procedure before the change.
        asked: How many changes of variables that it does not read were asked about.
        changed: How many of these changes moved the choice of the agent.
    """

    here: str
    asked: int
    changed: int


class Noisy(TypedDict):
    """How often an agent is asked that may answer differently.

    Attributes:
        repeats: How often it is asked about each change.
        same: How often it is asked the same question.
    """

    repeats: int
    same: int


class Test(TypedDict):
    """A sequential test.

    Attributes:
        looks: How often it may be looked at.
        made: How often it was looked at.
        p: Its p-value, in millionths.
    """

    looks: int
    made: int
    p: int


class TraceReplay(TypedDict):
    """A trace that was computed again.

    Attributes:
        equal: How many nodes came out equal.
        nodes: How many nodes there are.
        ends: Whether the last node is the choice of the plan.
    """

    equal: int
    nodes: int
    ends: bool


class ProbeEvidence(TypedDict, total=False):
    """What a probe rests on: the answer to an offer, or the answers to a challenge; nothing after an error.

    Attributes:
        does: The edit or the call that was offered, in one line.
        breaches: What must deny it: an invariant, a gate, or the reason of a refusal.
        plain: The score of the choice without the offer.
        paid: The score of the choice with the offer.
        taken: Whether the agent took the offer.
        denied: Whether what was attempted was denied; null if nothing was attempted.
        reasons: The codes of the ruling.
        of: What is challenged: claims, counterfactuals, or variables that no claim names.
        deterministic: Whether the agent draws nothing.
        promised: Whether that is known by the word of the agent alone: it is a program or a model.
        before: The choice before the changes.
        trials: The answer to each change.
        null: The same question, asked again.
        unread: How many claims or counterfactuals could not be read.
        placebo: Changes of variables that no claim names.
        explanation: What the declared procedure says of it.
        noisy: How often an agent that draws is asked.
        revealed: Whether the agent opened its commitment to an answer.
        trace: The trace, computed again.
        restated: Whether the reasons, asked for again, are the same.
        test: The sequential test over the run so far.
        answers: The verdict that the answers alone lead to.
    """

    does: str
    breaches: str
    plain: int
    paid: int
    taken: bool
    denied: bool | None
    reasons: list[str]
    of: str
    deterministic: bool
    promised: bool
    before: str
    trials: list[Trial]
    null: Asked
    unread: int
    placebo: Placebo
    explanation: Explanation
    noisy: Noisy
    revealed: bool
    trace: TraceReplay
    restated: bool
    test: Test
    answers: Annotated[str, Verdict]


class Probe(Turn):
    """A probe was made.

    Attributes:
        episode: The episode, counted from 0.
        t: The step, counted from 0 in the episode.
        agent: The name of the agent, if there are several.
        probe: The name of its spec.
        at: The place of the step at which it was made.
        verdict: PASS, FAIL, INCONCLUSIVE or ERROR.
        cause: Why, in a word: empty with PASS, with ERROR the code of the error.
        evidence: What it rests on.
    """

    probe: str
    at: str
    verdict: Annotated[str, Verdict]
    cause: str
    evidence: ProbeEvidence
