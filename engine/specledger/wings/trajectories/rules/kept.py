"""Verdicts that stay when values are withheld: what rules said of a call while the values that they read were there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from specledger.wings.trajectories.lines import readable
from specledger.wings.trajectories.model import Entry, Kept, Trajectory
from specledger.wings.trajectories.reading import knows_request
from specledger.wings.trajectories.rules.plans import Outcome, Status
from specledger.wings.trajectories.withholding import Withholding

REMARK: Final = "judged before a value was withheld, and not checked again"
_NONE: Final = "none"


def as_kept(outcomes: Sequence[Outcome], kept: Mapping[tuple[str, str], str]) -> list[Outcome]:
    """Outcomes of a call, in which a verdict that was kept stands where a withheld value leaves none."""
    result = []
    for outcome in outcomes:
        open_ = outcome.withheld and outcome.status is Status.UNJUDGED
        status = kept.get((outcome.rule, outcome.call)) if open_ else None
        if status is None:
            result.append(outcome)
        elif status != _NONE:
            result.append(replace(outcome, status=Status(status), reason=REMARK, value=""))
    return result


def withhold(trajectory: Trajectory, withholding: Withholding, policies: Sequence[Any]) -> Trajectory:
    """A trajectory without some values, and before each call or message what policies said of it by these values alone.

    Both may take more memory than what they are made of; it ends with a finding where its lines would not be read.
    """
    shown = withholding.apply(trajectory)
    messages = knows_request(trajectory)
    sessions = [(policy.key, policy.begin(messages=messages), policy.begin(messages=messages)) for policy in policies]
    entries = _with_verdicts(trajectory.entries, shown.entries, sessions)
    return replace(shown, entries=tuple(readable(entries)))


def _with_verdicts(
    whole: Sequence[Entry], shown: Sequence[Entry], sessions: Sequence[tuple[str, Any, Any]]
) -> Iterator[Entry]:
    for before, after in zip(whole, shown, strict=True):
        for key, knowing, withheld in sessions:
            known = {outcome.rule: outcome for outcome in knowing.hear(before)}
            for outcome in withheld.hear(after):
                if not (outcome.withheld and outcome.status is Status.UNJUDGED):
                    continue
                verdict = known.get(outcome.rule)
                if verdict is None or verdict.status is not Status.UNJUDGED:
                    status = _NONE if verdict is None else verdict.status.value
                    yield Kept(key, outcome.rule, outcome.call, status)  # type: ignore[arg-type]
        yield after
