"""What rules say of many trajectories: how often each could have been broken, was broken, or could not be judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from msgspec import Struct, field

from specledger.core.events import Severity
from specledger.core.verdict import Verdict, combine
from specledger.wings.trajectories.coverage import Watch
from specledger.wings.trajectories.model import Call, Entry, Finding, Trajectory, denied_calls
from specledger.wings.trajectories.reading import knows_request
from specledger.wings.trajectories.room import OTHERS, beginning, count_text
from specledger.wings.trajectories.rules.plans import BROKEN, HELD, UNJUDGED, Outcome
from specledger.wings.trajectories.rules.policy import Policy

MOST_BREACHES: Final = 25
"""Breaches of one rule that a scan keeps; the others are counted."""
MOST_UNREAD: Final = 5
"""Findings of one code that a scan keeps; the others are counted."""


class Breach(Struct, frozen=True):
    """A call, or a message, that broke a rule.

    Attributes:
        line: The line of the log; 0 where the format has no lines.
        reason: What the rule says of it, with the value.
    """

    rule: str
    trajectory: str
    file: str
    line: int
    call: str
    tool: str
    reason: str


class Unread(Struct, frozen=True):
    """A finding of a log, and where it is.

    Attributes:
        line: The line of the log; 0 where the format has no lines.
    """

    trajectory: str
    file: str
    line: int
    message: str


class RuleCount(Struct):
    """How often a rule came to each outcome.

    Attributes:
        severity: What a breach does.
        trajectories: In how many trajectories it was broken.
        withheld: How many of the verdicts are from before a value was withheld.
        reasons: Why it was not judged, with the number of times.
        breakable: Whether these logs could break it: not where all it forbids is an earlier call of a tool that was
            never called.
    """

    severity: Severity
    held: int = 0
    broken: int = 0
    unjudged: int = 0
    trajectories: int = 0
    withheld: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    breaches: list[Breach] = field(default_factory=list)
    breakable: bool = True

    @property
    def opportunities(self) -> int:
        """How often there was something to judge."""
        return self.held + self.broken + self.unjudged

    @property
    def verdict(self) -> Verdict:
        """FAIL if broken, unless it only warns; INCONCLUSIVE if it was not always judged, or never."""
        if self.broken and self.severity.impact.fails_run:
            return Verdict.FAIL
        return Verdict.INCONCLUSIVE if self.unjudged or not self.opportunities else Verdict.PASS


class Scan(Struct):
    """The counts of a scan.

    Attributes:
        calls: How often each tool was called.
        findings: What could not be read, by its code.
        unread: The first of those of each code.
        formats: The number of trajectories of each format.
        misfits: How many calls do not fit their tool, where tools are known.
        denied: How many calls a guard denied, so that they were never made and nothing judges them.
        unable: Rules that could notice nothing in any log.
        misspelt: Rules with a word that is misspelt, it seems.
    """

    rules: dict[str, RuleCount]
    trajectories: int = 0
    calls: Counter[str] = field(default_factory=Counter)
    findings: Counter[str] = field(default_factory=Counter)
    unread: dict[str, list[Unread]] = field(default_factory=dict)
    formats: Counter[str] = field(default_factory=Counter)
    misfits: int = 0
    denied: int = 0
    unable: tuple[str, ...] = ()
    misspelt: tuple[str, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """The verdict of all rules.

        INCONCLUSIVE where no rule was judged whose breach is a failure, a rule can notice nothing or is misspelt, or
        something could not be read or does not fit.
        """
        judged = [count for count in self.rules.values() if count.opportunities]
        verdicts = [count.verdict for count in judged]
        open_ = self.findings or self.misfits or self.unable or self.misspelt
        if open_ or not any(count.severity.impact.fails_run for count in judged):
            verdicts.append(Verdict.INCONCLUSIVE)
        return combine(verdicts)


def scan(policy: Policy, trajectories: Iterable[Trajectory], watch: Watch | None = None) -> Scan:
    """Judge trajectories by a policy, one in memory at a time; `watch` hears every entry with its outcomes."""
    result = Scan({rule.name: RuleCount(severity=Severity(rule.severity)) for rule in policy.rules})
    for trajectory in trajectories:
        result.trajectories += 1
        result.formats[trajectory.format or "unknown"] += 1
        broken = set()
        denied = denied_calls(trajectory)
        session = policy.begin(retracts=bool(denied), messages=knows_request(trajectory))
        for entry in trajectory.entries:
            if type(entry) is Finding:
                _note_unread(result, entry, trajectory)
                continue
            if type(entry) is Call:
                if entry.id in denied:
                    result.denied += 1
                    session.hear(entry)
                    continue
                count_text(result.calls, entry.tool)
            outcomes = session.hear(entry)
            if watch is not None:
                watch.hear(entry, outcomes)
            for outcome in outcomes:
                _count(result.rules[outcome.rule], outcome, trajectory, entry)
                if outcome.status is BROKEN:
                    broken.add(outcome.rule)
        for rule in broken:
            result.rules[rule].trajectories += 1
    for plan in policy.rules:
        only = plan.only_forbids_earlier
        known = OTHERS not in result.calls
        result.rules[plan.name].breakable = only is None or not known or any(map(only.matches, result.calls))
    return result


def _note_unread(result: Scan, finding: Finding, trajectory: Trajectory) -> None:
    result.findings[finding.code] += 1
    first = result.unread.setdefault(finding.code, [])
    if len(first) < MOST_UNREAD:
        first.append(Unread(beginning(trajectory.id), trajectory.file, finding.line, beginning(finding.message)))


def _said(outcome: Outcome) -> str:
    """What a rule says of a breach; with the value and where it was found, unless its message has the value."""
    if not outcome.value or outcome.value in outcome.reason:
        return outcome.reason
    return f"{outcome.reason} ({outcome.value}{f'; found in {outcome.source}' if outcome.source else ''})"


def _count(count: RuleCount, outcome: Outcome, trajectory: Trajectory, entry: Entry) -> None:
    count.withheld += outcome.withheld and outcome.status is not UNJUDGED
    if outcome.status is HELD:
        count.held += 1
    elif outcome.status is UNJUDGED:
        count.unjudged += 1
        count_text(count.reasons, outcome.reason)
    else:
        count.broken += 1
        if len(count.breaches) < MOST_BREACHES:
            tool = entry.tool if isinstance(entry, Call) else ""
            ids = map(beginning, (outcome.call, tool, _said(outcome)))
            breach = Breach(outcome.rule, beginning(trajectory.id), trajectory.file, entry.line, *ids)
            count.breaches.append(breach)
