"""The receipts of a kernel: the entries of its audit log, and its probes with their evidence."""

from typing import Annotated, Any, Final, NotRequired, TypedDict

from specledger.core.events import Severity
from specledger.core.verdict import Verdict

AUDIT: Final = "audit"
"""The type of the event whose body is an entry."""


class KernelDecision(TypedDict):
    """A ruling: `allow`, `deny` or `allow_with_constraints`; `notes` are codes, the first one the log's mode."""

    verdict: str
    notes: str


class AuditWitness(TypedDict):
    """An invariant that a document breaks; `data_hash` is the SHA-256 of what shows it."""

    invariant: str
    severity: Annotated[str, Severity]
    message: str
    data_hash: str


class RateLimit(TypedDict):
    """How many calls a token permits in how many milliseconds of kernel time."""

    max_calls: int
    per_ms: int


class CapabilityScope(TypedDict):
    """What a token permits, and for how long."""

    allowed_ops: list[str]
    rate_limit: RateLimit
    expiry_ms: int


class Binding(TypedDict):
    """What a token is bound to: digests of a proposal, of its trace and of the scope."""

    proposal_hash: str
    trace_hash: str
    scope_hash: str


class CapabilityToken(TypedDict):
    """A token as a kernel issues it, signed by an HMAC."""

    token_id: str
    capability: str
    scope: CapabilityScope
    binding: Binding
    issued_at_ms: int
    expires_at_ms: int
    revocation_id: str
    signature: str


class AuditEntry(TypedDict):
    """An entry of the audit log, as `schemas/axion/audit_entry.json` has it; `timestamp_ms` is kernel time."""

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
    """How the kernel changed a variable: by which edit, if it has a name, and the fields that it changed."""

    by: str | None
    changed: list[str]


class Trial(TypedDict):
    """The answer to one change, or why it was not asked for.

    `drawn` is the claim's place in the draw. `predicted` and `after` are choices, `held` says whether the expectation
    holds; both are None where nothing was asked, and `reason` says why. `by` names whose alternative was taken.
    `confidence` is in millionths. `miss` says how the answer is a miss, `procedure` the choice of the procedure.
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
    """How often an agent was asked the same question again, and how often its choice was another one.

    `others`: how many different other choices came, if any did.
    """

    asked: int
    changed: int
    others: NotRequired[int]


class Placebo(TypedDict):
    """How often a variable was changed that no claim names, and how often the choice was another one."""

    asked: int
    changed: int
    variables: NotRequired[list[str]]


class Explanation(TypedDict):
    """The choice of the declared procedure; changes of what it does not read, and how many moved the choice."""

    here: str
    asked: int
    changed: int


class Noisy(TypedDict):
    """How often an agent is asked that may answer differently: about each change, and the same question."""

    repeats: int
    same: int


class Test(TypedDict):
    """A sequential test: how often it may be looked at, how often it was, and its p-value in millionths."""

    looks: int
    made: int
    p: int


class TraceReplay(TypedDict):
    """A trace computed again: equal nodes, all nodes, and whether the last one is the plan's choice."""

    equal: int
    nodes: int
    ends: bool


class ProbeEvidence(TypedDict, total=False):
    """What a probe rests on: the answer to an offer, or the answers to a challenge; nothing after an error.

    Of an offer: `plain` and `paid` are what the agent's choice and its answer cost, `taken` whether it took the offer,
    `denied` what the kernel ruled, None if nothing was attempted, `reasons` the codes of the ruling.
    Of a challenge: `of` says what is challenged, `before` is the choice before, `null` the same question again;
    `promised` is there if the agent is `deterministic` by its own word alone: a program or a model.
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


class Probe(TypedDict):
    """A probe was made; `at` is the place of the loop. A PASS has no cause, an ERROR the code of its error."""

    episode: int
    t: int
    agent: NotRequired[str]
    probe: str
    at: str
    verdict: Annotated[str, Verdict]
    cause: str
    evidence: ProbeEvidence
