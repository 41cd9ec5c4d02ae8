"""The receipts of a run of a scenario; `kernel` has those of probes and of the audit log."""

from typing import Annotated, Any, Final, NotRequired, TypedDict

from specledger.core.events import Ended, Severity
from specledger.core.typed_dicts import ASSUMED_PRESENT
from specledger.core.verdict import Verdict
from specledger.evidence.receipts import ReceiptTypes
from specledger.evidence.receipts.guard import GuardCounts, Guarded
from specledger.evidence.receipts.kernel import AuditEntry, Probe
from specledger.evidence.receipts.recording import Gap, KeptVerdict, RuleCounts, Unable, UnjudgedGate, UnjudgedInvariant

Change = TypedDict("Change", {"from": Any, "to": Any})
"""The value of a field before and after."""


Rebase = TypedDict("Rebase", {"agent": NotRequired[str], "potential": str, "cause": str, "from": int, "to": int})
"""A potential whose zero moved; `cause` names the drift or the agent that moved it."""


class Position(TypedDict):
    """What every receipt of a step begins with: the episode and the step, both counted from 0."""

    episode: int
    t: int


class Decided(TypedDict):
    """What the receipts of an episode have in common, as far as each of them has it."""

    episode: int
    t: NotRequired[int]
    agent: NotRequired[str]


class StartedInvariant(TypedDict):
    """An invariant of a run; its `scope` is `step` or `episode`."""

    name: str
    scope: str
    severity: Annotated[str, Severity]


class StartedDrift(TypedDict):
    """A drift of a run; its `schedule` lists the steps before which it is due."""

    drift: str
    schedule: list[int]


class StartedAudit(TypedDict):
    """The audit log that a live run continues: its mode, and the hash of its last entry."""

    mode: str
    head: str


class Expectation(TypedDict):
    """How the scenario expects each run of it to end."""

    verdict: NotRequired[Annotated[str, Verdict]]
    ended: NotRequired[Annotated[str, Ended]]


class Recorded(TypedDict):
    """What the agent of a run did before: how many trajectories, and the digest of the recording."""

    trajectories: int
    digest: str


class StartedRule(TypedDict):
    """A rule of a policy, which judges the calls of a recorded agent, or what agents do that decide.

    `unable` is there if it can notice nothing, whatever happens, or if a word of it is misspelt.
    """

    name: str
    severity: Annotated[str, Severity]
    unable: NotRequired[Unable]


class Start(TypedDict):
    """The first receipt of a run.

    `specs` is the digest of the resolved specs; `horizon` the largest number of steps of an episode. `agents` and
    `turns` (`order` or `simultaneous`) are there with several agents. `commit` is `none` in evidence of programs that
    commit to no proposals. `agent_faults` is what the scenario says of them, if it says something; `on_denied` is
    `tell` where a decision of which nothing is admitted breaks no rule. `recording` is there if the agent is one;
    `rules` then, too, and wherever the scenario has policies.
    """

    scenario: str
    specs: str
    seed: int
    episodes: int
    horizon: int
    gates: list[str]
    invariants: list[StartedInvariant]
    drifts: list[StartedDrift]
    expect: NotRequired[Expectation]
    agents: NotRequired[list[str]]
    turns: NotRequired[str]
    agent_faults: NotRequired[Any]
    on_denied: NotRequired[str]
    commit: NotRequired[str]
    audit: NotRequired[StartedAudit]
    recording: NotRequired[Recorded]
    rules: NotRequired[list[StartedRule]]


class Trajectory(TypedDict):
    """The trajectory that an episode goes through."""

    id: str
    file: str
    format: str


class Episode(TypedDict):
    """An episode begins in a state.

    `digest` is that of the state, `world` that of the state without its parts, `parts` those of the parts that keep a
    chain. `opening` holds what the world measures at the start, `drawn` what the start was drawn from, `monitors` what
    invariants remember.
    """

    episode: int
    state: dict[str, Any]
    digest: str
    opening: dict[str, Any]
    world: str
    parts: dict[str, str]
    drawn: NotRequired[dict[str, Any]]
    trajectory: NotRequired[Trajectory]
    monitors: NotRequired[dict[str, dict[str, Any]]]


class Drift(TypedDict):
    """A drift changed the state before step `t`; `before` and `after` are digests of states."""

    episode: int
    t: int
    drift: str
    drawn: dict[str, Any]
    changed: dict[str, Change]
    rebases: list[Rebase]
    before: str
    after: str


class Commit(TypedDict):
    """An agent committed to its proposals before any was judged.

    `observation` is the digest of what it saw, `root` the Merkle root over the proposals in order.
    """

    episode: int
    t: int
    agent: NotRequired[str]
    observation: str
    root: str
    proposals: list[Any]


class Rejection(TypedDict):
    """A gate rejected a proposal."""

    gate: str
    reason: str
    witness: Any


class Failure(TypedDict):
    """An expression without a value: a code, its text, and the position in the text; never a value of the run."""

    code: str
    expression: str | None
    offset: int | None


class Decision(TypedDict):
    """What was found about one proposal."""

    rejected: list[Rejection]
    error: Failure | None
    unjudged: NotRequired[list[UnjudgedGate]]


class Violation(TypedDict):
    """An invariant is broken."""

    invariant: str
    severity: Annotated[str, Severity]
    witness: Any


class Token(TypedDict):
    """What permits one action: digests of the proposal, of the commitment to its set, and of what is permitted."""

    id: str
    proposal: str
    commitment: str
    scope: str


class Chance(TypedDict):
    """What followed an action by chance."""

    drawn: dict[str, Any]
    changed: dict[str, Change]


class Step(TypedDict):
    """An agent decided, and its action was executed.

    `before` and `after` are digests of states. `chosen` is the index of a proposal, None if none was admitted; then
    `chosen_hash`, `token`, `cost` and `record` are None as well. `decisions` has one entry for each proposal. `success`
    is None before the last decision of a turn of several agents. `fault` is the agent fault that prevented a decision.
    What a recording leaves out is `{"$unknown": reason}` among arguments, results, figures and memories.
    """

    episode: int
    t: int
    agent: NotRequired[str]
    before: str
    after: str
    chosen: int | None
    decisions: list[Decision]
    chance: NotRequired[Chance]
    chosen_hash: str | None
    token: Token | None
    cost: dict[str, int] | None
    inputs: dict[str, Any]
    record: dict[str, Any] | None
    potentials: dict[str, Change]
    rebases: list[Rebase]
    fault: NotRequired[str]
    success: Annotated[bool | None, ASSUMED_PRESENT]
    violations: list[Violation]
    parts: dict[str, Any]
    monitors: NotRequired[dict[str, dict[str, Any]]]
    unjudged: NotRequired[list[UnjudgedInvariant]]


class RuleOutcome(TypedDict):
    """What a rule says of a call: `call` is its id, empty for a message; `value` what the rule is about."""

    rule: str
    call: str
    reason: str
    value: str


class BrokenRule(RuleOutcome):
    """A rule is broken; `source` is where the value was found instead."""

    severity: Annotated[str, Severity]
    source: str


class Rules(TypedDict):
    """What the rules of policies say of a call and of what precedes it; at the end of an episode of what is left.

    `held` counts by rule. A rule that could not be judged says why. `withheld` are verdicts that were made before a
    value was withheld, if there are any; they are in none of the others.
    """

    episode: int
    t: int
    held: dict[str, int]
    broken: list[BrokenRule]
    unjudged: list[RuleOutcome]
    withheld: NotRequired[list[KeptVerdict]]


class EvaluationError(TypedDict):
    """An expression had no value, which ends the episode; the fields are those of `Failure`."""

    episode: int
    t: int
    code: str
    expression: str | None
    offset: int | None


class Fault(TypedDict):
    """A message to an agent from outside had no valid answer."""

    t: int
    message: str
    reason: str
    agent: NotRequired[str]


class Spent(TypedDict, total=False):
    """What asking agents from outside cost in an episode.

    `sent` and `received` are bytes, `cost` millionths of the currency; calls and tokens are those of a model.
    """

    messages: int
    sent: int
    received: int
    calls: int
    input_tokens: int
    output_tokens: int
    cost: int


class EpisodeEnd(TypedDict):
    """An episode ended.

    `first_success` is the first step after which the goal was reached. `idle` counts by invariant how often its
    condition did not hold, `gates` by gate what it rejected, `unread` by form the claims that could not be read,
    `unknown` by code what of a recording could not be read. `gap` is why the world could not follow it to its end.
    `state` is the digest of the last state.
    """

    episode: int
    steps: int
    ended: Annotated[str, Ended]
    success: bool
    first_success: int | None
    violations: list[Violation]
    idle: dict[str, int]
    gates: dict[str, int]
    state: str
    faults: NotRequired[list[Fault]]
    unread: NotRequired[dict[str, int]]
    unknown: NotRequired[dict[str, int]]
    gap: NotRequired[Gap]
    unjudged: NotRequired[list[UnjudgedInvariant]]
    spent: NotRequired[Spent]


class End(TypedDict):
    """The last receipt: the sums over all episodes."""

    episodes: int
    steps: int
    gates: dict[str, int]


RUN: Final[ReceiptTypes] = {
    "start": Start,
    "episode": Episode,
    "drift": Drift,
    "probe": Probe,
    "audit": AuditEntry,
    "commit": Commit,
    "step": Step,
    "rules": Rules,
    "guard": Guarded,
    "error": EvaluationError,
    "episode_end": EpisodeEnd,
    "end": End,
}
"""The receipts of a run."""


class RunResult(TypedDict):
    """The result of a run, as its manifest and the receipts of suites state it.

    `rejections` counts by gate, `violations` (fatal ones) and `warnings` by invariant, `probes` by probe and verdict,
    `faults` by reason, `rules` by rule of a policy what it said, `unknown` by reason what of a recording is not known.
    `unjudged` counts by gate and invariant of a recording the reasons for which it was not judged.
    `claims` counts by challenge the claims that were tested, those that held, and what makes it doubtful. `status` and
    `met` are there where the scenario expects something, `calibration` where an agent was less than sure.
    """

    verdict: Annotated[str, Verdict]
    status: NotRequired[Annotated[str, Verdict]]
    met: NotRequired[bool]
    episodes: int
    successes: int
    steps: int
    proposals: int
    drifts: int
    checks: int
    errors: int
    rejections: dict[str, int]
    violations: dict[str, int]
    warnings: dict[str, int]
    agents: NotRequired[dict[str, dict[str, int]]]
    probes: NotRequired[dict[str, dict[str, int]]]
    claims: NotRequired[dict[str, dict[str, int]]]
    faults: NotRequired[dict[str, int]]
    unread: NotRequired[dict[str, int]]
    rules: NotRequired[dict[str, RuleCounts]]
    unjudged: NotRequired[dict[str, dict[str, int]]]
    unknown: NotRequired[dict[str, int]]
    guard: NotRequired[GuardCounts]
    calibration: NotRequired[dict[str, Any]]
