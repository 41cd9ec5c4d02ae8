"""The policies of a scenario: compiled, and what they say of a call as a receipt holds it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from specledger.compile.extension import Stage
from specledger.core.diagnostics import Diagnostics, Rejected
from specledger.core.events import Event, Severity
from specledger.wings.trajectories.rules.compile import compile_policy
from specledger.wings.trajectories.rules.plans import BROKEN, HELD, UNJUDGED, Outcome
from specledger.wings.trajectories.rules.policy import Policy

RULES: Final = "rules"
"""The type of the receipt of what policies say."""


def compile_policies(stage: Stage) -> tuple[Policy, ...]:
    """The policies that a scenario names, each once, in their order; findings are added for what is wrong."""
    refs = stage.bundle.main.refs
    policies = []
    for key in dict.fromkeys(refs[path] for path in sorted(path for path in refs if path[0] == "policies")):
        found = Diagnostics()
        try:
            policies.append(compile_policy(stage.bundle.specs[key], found))
        except Rejected:
            for diagnostic in found.sorted():
                stage.diagnostics.add(diagnostic)
    return tuple(policies)


def names_of(policies: Sequence[Policy]) -> tuple[dict[str, str], ...]:
    """The name and the severity of each rule, as the first receipt of a run states them."""
    rules = ((policy.name, rule) for policy in policies for rule in policy.rules)
    return tuple({"name": f"{policy}.{rule.name}", "severity": rule.severity} for policy, rule in rules)


def rules_event(episode: int, t: int, outcomes: Sequence[tuple[str, Outcome]]) -> Event:
    """What policies, by their names, say at a step."""
    held: dict[str, int] = {}
    broken, unjudged, withheld = [], [], []
    for policy, outcome in outcomes:
        rule, status = f"{policy}.{outcome.rule}", outcome.status
        if status is HELD and not outcome.withheld:
            held[rule] = held.get(rule, 0) + 1
        elif outcome.withheld and status is not UNJUDGED:
            withheld.append({"rule": rule, "call": outcome.call, "status": status.value})
        else:
            body = {"rule": rule, "call": outcome.call, "reason": outcome.reason, "value": outcome.value}
            if status is BROKEN:
                broken.append({**body, "severity": Severity(outcome.severity).value, "source": outcome.source})
            else:
                unjudged.append(body)
    more = {"withheld": withheld} if withheld else {}
    return Event(RULES, {"episode": episode, "t": t, "held": held, "broken": broken, "unjudged": unjudged, **more})
