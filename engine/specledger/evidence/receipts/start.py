"""The first receipt of a run of a scenario: what it was asked for."""

from typing import Annotated, Any, NotRequired, TypedDict

from specledger.core.events import Ended, Severity
from specledger.core.verdict import Verdict
from specledger.evidence.receipts.recording import Unable


class StartedInvariant(TypedDict):
    """An invariant of a run.

    Attributes:
        name: The name of its spec.
        scope: What it is judged on: `step` or `episode`.
        severity: What a breach means: `fatal` or `warn`.
    """

    name: str
    scope: str
    severity: Annotated[str, Severity]


class StartedDrift(TypedDict):
    """A drift of a run.

    Attributes:
        drift: The name of its spec.
        schedule: The steps before which it is due, ascending.
    """

    drift: str
    schedule: list[int]


class StartedAudit(TypedDict):
    """The audit log that a live run continues.

    Attributes:
        mode: What the log says of its run in each entry.
        head: The hash of its last entry, 64 hexadecimal digits.
    """

    mode: str
    head: str


class Expectation(TypedDict):
    """How the scenario expects each run of it to end.

    Attributes:
        verdict: The verdict that is expected.
        ended: The end that is expected of every episode.
    """

    verdict: NotRequired[Annotated[str, Verdict]]
    ended: NotRequired[Annotated[str, Ended]]


class Recorded(TypedDict):
    """What the agent of a run did before.

    Attributes:
        trajectories: How many trajectories there are, one for each episode.
        digest: The digest of the recording, on which neither `run` nor `specs` depends.
    """

    trajectories: int
    digest: str


class StartedRule(TypedDict):
    """A rule of a policy, which judges the calls of a recorded agent, or what agents do that decide.

    Attributes:
        name: The policy and the rule, as `policy.rule`.
        severity: What a breach means: `fatal` or `warn`.
        unable: Why it can notice nothing, or which word of it is misspelt, if so.
    """

    name: str
    severity: Annotated[str, Severity]
    unable: NotRequired[Unable]


class Start(TypedDict):
    """The first receipt of a run.

    Attributes:
        scenario: The name of the scenario.
        specs: The digest of the resolved specs.
        seed: The seed of all that is drawn.
        episodes: How many episodes there are.
        horizon: The most steps of an episode; of recorded calls the most calls of a trajectory.
        gates: The ids of the gates in the order in which they judge, `schema` first.
        invariants: The invariants, in the order in which they are judged.
        drifts: The drifts with the steps at which they are due.
        expect: The end that the scenario expects, if it states one.
        agents: The names of several agents, in the order in which they act.
        turns: How several agents act: `order` or `simultaneous`.
        agent_faults: What the scenario says of faults of agents, if it says something.
        on_denied: `tell` where a decision of which nothing is admitted breaks no rule.
        commit: `none` where agents commit to no proposals; there are no `commit` receipts then.
        audit: The audit log that the run continues, if it does.
        recording: The trajectories, if the agent is recorded.
        rules: The rules of the policies, if the agent is recorded or there are policies.
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
