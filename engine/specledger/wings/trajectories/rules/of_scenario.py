"""The policies of a scenario: compiled, and what they say of a call as a receipt holds it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from specledger.compile.extension import Stage
from specledger.core.diagnostics import Diagnostics, Rejected
from specledger.core.events import Event, Severity
from specledger.wings.trajectories.rules import codes
from specledger.wings.trajectories.rules.accesses import absent_tools, accesses
from specledger.wings.trajectories.rules.called import Called
from specledger.wings.trajectories.rules.compile import compile_policy
from specledger.wings.trajectories.rules.plans import BROKEN, HELD, UNJUDGED, Outcome
from specledger.wings.trajectories.rules.policy import Policy
from specledger.wings.trajectories.rules.reach import Tools, near_tool, obstacle
from specledger.wings.trajectories.rules.spelling import misspelling
from specledger.wings.trajectories.spec.policy import Policy as PolicySpec
from specledger.worlds.model import World

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


def stated_rules(stage: Stage, policies: Sequence[Policy], tools: Tools | None) -> tuple[dict[str, Any], ...]:
    """Each rule as the first receipt of a run states it: name, severity, and why it can notice nothing, if so.

    `tools` are all that the world knows; what they keep a rule from is a warning, too.
    """
    stated = []
    for policy in policies:
        resolved, model = stage.bundle.specs[policy.key], model_of(stage, policy)
        for rule in policy.rules:
            kept = obstacle(model, rule, tools)
            unable = {} if kept is None else {"unable": {kept.lacks: kept.reason}}
            stated.append({"name": f"{policy.name}.{rule.name}", "severity": rule.severity, **unable})
            if kept is not None and kept.of_tools:
                message = f"the rule can notice nothing in this scenario: {kept.reason}"
                at = resolved.span(*kept.steps)
                stage.diagnostics.warn(codes.W_POLICY_UNABLE, message, at, hint=kept.hint or None)
            for access, tool, steps in () if tools is None else absent_tools(accesses(model, rule.name), tools):
                if (kept is None or steps != kept.steps) and not access.alternatives:
                    message = f"the world has no action {tool}, which `{access.key}` names"
                    hint = near_tool([tool], tools or ())
                    stage.diagnostics.warn(codes.W_POLICY_TOOL, message, resolved.span(*steps), hint=hint)
    return tuple(stated)


def model_of(stage: Stage, policy: Policy) -> PolicySpec:
    """A policy as it is written."""
    model = stage.bundle.specs[policy.key].model
    assert isinstance(model, PolicySpec)  # noqa: S101 - the kind's own model
    return model


def with_misspelt(
    rules: Sequence[dict[str, Any]], policies: Sequence[tuple[Policy, PolicySpec]], called: Called, tools: Tools | None
) -> tuple[dict[str, Any], ...]:
    """What the first receipt states of each rule, with the word that is misspelt, by the tools that logs call."""
    models = [(model, rule.name) for policy, model in policies for rule in policy.rules]
    stated = []
    for rule, (model, name) in zip(rules, models, strict=True):
        wrong = None if "unable" in rule else misspelling(model, name, called, tools)
        stated.append(rule if wrong is None else {**rule, "unable": {wrong.lacks: f"{wrong.reason}; {wrong.hint}"}})
    return tuple(stated)


def tools_of(world: World) -> Tools:
    """The actions of a world as the tools that there are."""
    return {op: tuple(action.args.fields) for op, action in world.actions.items()}


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
