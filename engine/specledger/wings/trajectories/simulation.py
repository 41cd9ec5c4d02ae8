"""Policies over agents that decide: each action that is executed is a call, and what it gives is its result.

Rules read of it what they read of a log: the action is the tool, its arguments are those of the call, its result is
simulated, and the request is the scenario's. An action that was denied was not made, and is no call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec import UNSET

from specledger.compile.extension import Stage
from specledger.compile.plan import PlannedPolicies, State
from specledger.core.events import Event
from specledger.expr import Checked
from specledger.expr.check.types import FixedType
from specledger.run.decision import Decision
from specledger.spec.base import QFIXED_ONE
from specledger.spec.scenario import Scenario
from specledger.wings.trajectories.model import Call, Entry, Message, Result, Speaker
from specledger.wings.trajectories.recording.fitting import as_logged
from specledger.wings.trajectories.rules.of_scenario import compile_policies, rules_event, stated_rules, tools_of
from specledger.wings.trajectories.rules.policy import Policy
from specledger.wings.trajectories.stamps import stamp_at
from specledger.worlds.emit import compile_value
from specledger.worlds.model import World
from specledger.worlds.results import compile_result


def compile_simulated(stage: Stage, seconds: Checked | None) -> PlannedPolicies | None:
    """The policies of a scenario whose agents decide; None, with findings, if they are wrong."""
    policies, model = compile_policies(stage), stage.bundle.main.model
    assert isinstance(model, Scenario)  # noqa: S101 - what has policies is one
    if stage.diagnostics.has_errors:
        return None
    simulated = {
        op: compile_result(stage.world, op)
        for op, action in stage.world.actions.items()
        if action.simulate.items and not action.draws_result
    }
    time = _time_of(stage.world, seconds)
    request = model.request or ""
    rules = stated_rules(stage, policies, tools_of(stage.world))
    return PlannedPolicies(rules, lambda: _Heard(policies, stage.world, simulated, time, request))


def _time_of(world: World, seconds: Checked | None) -> Callable[[State], int | str]:
    """The time stamp at a state, as calls have it; empty where the scenario has no `time`."""
    if seconds is None:
        return lambda _state: ""
    at, scale = compile_value(world, seconds), 1 if isinstance(seconds.type, FixedType) else QFIXED_ONE
    return lambda state: stamp_at(at(state) * scale)


class _Heard:
    """What the rules hear of an episode."""

    def __init__(
        self,
        policies: tuple[Policy, ...],
        world: World,
        simulated: Mapping[str, Callable[..., Any]],
        time: Callable[[State], int | str],
        request: str,
    ) -> None:
        self._sessions = [(policy.name, policy.begin()) for policy in policies]
        self._world, self._simulated, self._time = world, simulated, time
        self._calls = 0
        if request:
            self._hear(Message(Speaker.USER, request))

    def _hear(self, entry: Entry) -> list[Any]:
        return [(name, outcome) for name, session in self._sessions for outcome in session.hear(entry)]

    def acted(self, decision: Decision) -> Iterable[Event]:
        """What the rules say of the action of a decision; nothing of a decision of which nothing was executed.

        Raises:
            EvaluationError: The result that is simulated has no value, or its time has none.
        """
        if decision.chosen is None:
            return ()
        self._calls += 1
        op, id_ = decision.action["op"], f"#{self._calls}"
        types = self._world.actions[op].args.fields
        arguments = {name: as_logged(decision.action[name], type_) for name, type_ in types.items()}
        call = Call(id_, op, arguments, actor=decision.by.actor.name, time=self._time(decision.before))
        outcomes = self._hear(call)
        self._hear(Result(id_, self._result(decision, op), error=False))
        return [rules_event(decision.moment.episode, decision.moment.t, outcomes)] if outcomes else ()

    def _result(self, decision: Decision, op: str) -> Any:
        """The result of the action: nothing, without members, where it declares none; UNSET where none is simulated.

        One that was drawn is among the inputs.
        """
        type_, simulate = self._world.actions[op].result, self._simulated.get(op)
        if not type_.fields:
            return {}
        if simulate is not None:
            return as_logged(simulate(decision.before, decision.action, decision.inputs, ()), type_)
        drawn = decision.inputs.get("result")
        return UNSET if drawn is None else as_logged(drawn, type_)
