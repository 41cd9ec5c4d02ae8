"""The receipts of a run of a scenario; `kernel` has those of probes and of the audit log."""

from typing import Annotated, Any, Final, NotRequired, TypedDict

from specledger.core.events import Ended, Severity
from specledger.core.typed_dicts import ASSUMED_PRESENT
from specledger.evidence.receipts import ReceiptTypes
from specledger.evidence.receipts.guard import Guarded
from specledger.evidence.receipts.kernel import AuditEntry, Probe
from specledger.evidence.receipts.places import Change, Failure, Position, Rebase, Turn
from specledger.evidence.receipts.recording import Gap, KeptVerdict, UnjudgedGate, UnjudgedInvariant
from specledger.evidence.receipts.start import Start


class Trajectory(TypedDict):
    """The trajectory that an episode goes through.

    Attributes:
        id: Its name in the log.
        file: The name of the file that it was read from.
        format: The format of that file.
    """

    id: str
    file: str
    format: str


class Episode(TypedDict):
    """An episode begins in a state.

    Attributes:
        episode: The episode, counted from 0.
        state: The start state, whole.
        digest: The digest of the start state.
        opening: What the world measures at the start, by name.
        world: The digest of the state without the parts that keep receipts.
        parts: By name the digest of the state of each part that keeps receipts.
        drawn: Each value that the start was drawn from, by name.
        trajectory: The trajectory that it goes through, if the agent is recorded.
        monitors: By invariant what it remembers at the start.
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


class Drift(Position):
    """A drift changed the state before a step.

    Attributes:
        episode: The episode, counted from 0.
        t: The step, counted from 0 in the episode.
        drift: The name of its spec.
        drawn: Each drawn value by its name.
        changed: The value before and after of each field that changed.
        rebases: The potentials that it moved; none before the first decision of an episode.
        before: The digest of the state before.
        after: The digest of the state after.
    """

    drift: str
    drawn: dict[str, Any]
    changed: dict[str, Change]
    rebases: list[Rebase]
    before: str
    after: str


class Commit(Turn):
    """An agent committed to its proposals before any was judged.

    Attributes:
        episode: The episode, counted from 0.
        t: The step, counted from 0 in the episode.
        agent: The name of the agent, if there are several.
        observation: The digest of what the agent saw.
        root: The Merkle root over the proposals, in order.
        proposals: The proposals in order: the action, its score, and the claims; under a kernel the document.
    """

    observation: str
    root: str
    proposals: list[Any]


class Rejection(TypedDict):
    """A gate rejected a proposal.

    Attributes:
        gate: The id of the gate.
        reason: The reason that the gate gives.
        witness: The values that show it.
    """

    gate: str
    reason: str
    witness: Any


class Decision(TypedDict):
    """What was found about one proposal.

    Attributes:
        rejected: The gates that rejected it, with their reasons.
        error: The error for which it could not be judged, or null.
        unjudged: The gates of a recording that could not judge it.
    """

    rejected: list[Rejection]
    error: Failure | None
    unjudged: NotRequired[list[UnjudgedGate]]


class Violation(TypedDict):
    """An invariant is broken.

    Attributes:
        invariant: The name of the invariant, or of a rule of the engine such as `progress`.
        severity: What the breach means: `fatal` or `warn`.
        witness: The values that show it.
    """

    invariant: str
    severity: Annotated[str, Severity]
    witness: Any


class Token(TypedDict):
    """What permits one action.

    Attributes:
        id: The digest that binds the other three.
        proposal: The digest of the proposal.
        commitment: The Merkle root of the set that the proposal is from.
        scope: The digest of what is permitted.
    """

    id: str
    proposal: str
    commitment: str
    scope: str


class Chance(TypedDict):
    """What followed an action by chance.

    Attributes:
        drawn: Each drawn value by its name.
        changed: The value before and after of each field that changed.
    """

    drawn: dict[str, Any]
    changed: dict[str, Change]


class Step(Turn):
    """An agent decided, and its action was executed.

    What a recording leaves out is `{"$unknown": reason}` among arguments, results, figures and memories.

    Attributes:
        episode: The episode, counted from 0.
        t: The step, counted from 0 in the episode.
        agent: The name of the agent, if there are several.
        before: The digest of the state before.
        after: The digest of the state after; the same if nothing was chosen.
        chosen: The index of the chosen proposal, or null if none was admitted.
        decisions: What was found about each proposal, in order.
        chance: What was drawn after the action, if something was.
        chosen_hash: The digest of the chosen proposal, or null.
        token: The token that the action was executed with, or null.
        cost: The items of its price and their `total`, or null.
        inputs: What the governor supplied, and as `result` what the action gave back; empty if nothing was chosen.
        record: The figures of the world, or null if nothing was chosen.
        potentials: The value of each of the governor's potentials before and after the action.
        rebases: The potentials that were moved by what is newly seen, by chance or by another agent.
        fault: The fault of the agent that kept it from deciding, if the scenario bears one.
        success: Whether the goal is reached; null before the last decision of a turn of several agents.
        violations: The invariants of scope `step` that are broken; before them `progress` where nothing was chosen.
        parts: The receipt of each part that the action concerns, by name.
        monitors: By invariant what it remembers from here on.
        unjudged: The invariants of a recording that could not be judged.
    """

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
    """What a rule says of a call.

    Attributes:
        rule: The policy and the rule, as `policy.rule`.
        call: The id of the call; empty for a message.
        reason: Why, in a word.
        value: The value that the rule is about.
    """

    rule: str
    call: str
    reason: str
    value: str


class BrokenRule(RuleOutcome):
    """A rule is broken.

    Attributes:
        rule: The policy and the rule, as `policy.rule`.
        call: The id of the call; empty for a message.
        reason: Why, in a word.
        value: The value that the rule is about.
        severity: What the breach means: `fatal` or `warn`.
        source: Where the value was found instead.
    """

    severity: Annotated[str, Severity]
    source: str


class Rules(Position):
    """What the rules of policies say of a call and of what precedes it; at the end of an episode of what is left.

    Attributes:
        episode: The episode, counted from 0.
        t: The step, counted from 0 in the episode.
        held: By rule how often it held.
        broken: Each breach, with its call and its value.
        unjudged: Each time that a rule could not be judged, and why.
        withheld: Verdicts from before a value was withheld; they are in none of the others.
    """

    held: dict[str, int]
    broken: list[BrokenRule]
    unjudged: list[RuleOutcome]
    withheld: NotRequired[list[KeptVerdict]]


class EvaluationError(Position, Failure):
    """An expression had no value, which ends the episode.

    Attributes:
        episode: The episode, counted from 0.
        t: The step, counted from 0 in the episode.
        code: The code of the error.
        expression: The text of the expression, the path of a number out of range, or null.
        offset: The place in the expression, counted from 0, or null.
    """


class Fault(TypedDict):
    """A message to an agent from outside had no valid answer.

    Attributes:
        t: The step, counted from 0 in the episode.
        message: The type of the message.
        reason: What the answer lacked, in a word.
        agent: The name of the agent, if there are several.
    """

    t: int
    message: str
    reason: str
    agent: NotRequired[str]


class Spent(TypedDict, total=False):
    """What asking agents from outside cost in an episode.

    Attributes:
        messages: How many messages were sent to it.
        sent: The size of the messages to it, in bytes.
        received: The size of its answers, in bytes.
        calls: How often a model was called.
        input_tokens: The tokens that the model read.
        output_tokens: The tokens that the model wrote.
        cost: The price in millionths of the currency.
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

    Attributes:
        episode: The episode, counted from 0.
        steps: How many `step` receipts it has.
        ended: Why it ended, in a word.
        success: Whether the goal was reached after a step.
        first_success: The first step after which the goal was reached, or null.
        violations: The invariants of scope `episode` that are broken.
        idle: By invariant at how many states its condition `when` did not hold; others are absent.
        gates: By gate how often it rejected a proposal in the episode.
        state: The digest of the last state; empty without a start state.
        faults: The faults of agents from outside, in order.
        unread: By form how many claims could not be read.
        unknown: By code what of a recording could not be read, and calls that do not fit the listed tools.
        gap: Why the world could not follow a recording to its end.
        unjudged: The invariants of scope `episode` that read what the recording leaves out.
        spent: What asking agents from outside cost; by agent, if there are several.
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
    """The last receipt: the sums over all episodes.

    Attributes:
        episodes: How many episodes there were.
        steps: How many steps there were.
        gates: By gate how often it rejected a proposal.
    """

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
