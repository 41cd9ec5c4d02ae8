"""What the receipts of a run of a scenario add up to."""

from typing import Annotated, Any, NotRequired, TypedDict

from specledger.core.verdict import Verdict
from specledger.evidence.receipts.guard import GuardCounts
from specledger.evidence.receipts.recording import RuleCounts


class RunResult(TypedDict):
    """The result of a run, as its manifest and the receipts of suites state it.

    Attributes:
        verdict: The verdict; where an end is expected PASS if it came.
        status: The verdict on the run itself, where an end is expected.
        met: Whether the run ended as expected.
        episodes: How many episodes ended.
        successes: How many episodes reached the goal.
        steps: How many steps there were.
        proposals: How many proposals were decided about.
        drifts: How many drifts happened.
        checks: How often an invariant, a probe or a fatal rule was judged.
        errors: How many errors, decisions with an error, and probes with the verdict ERROR there were.
        rejections: By gate how often it rejected a proposal.
        violations: By fatal invariant how often it was broken; `progress` counts steps in which nothing was chosen.
        warnings: By invariant of severity `warn` how often it was broken.
        agents: By agent, if there are several, how often it acted and how many proposals it made.
        probes: By probe how often it came to each verdict.
        claims: By challenge how many claims were tested, how many held, and what makes them doubtful.
        faults: By reason how many faults of agents there were.
        unread: By form how many claims could not be read.
        rules: By rule of a policy how often it held, was broken and was not judged.
        unjudged: By gate and invariant of a recording how often it was not judged, by reason.
        unknown: By reason how often something of a recording is not known.
        guard: How many calls a guard decided, if one wrote the recording.
        calibration: By probe how the stated confidence of the agent compares with what held, where it was less than
            sure.
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
