"""Compiles an agent that is a recording: what its scenario may have, its policies, and where its logs are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from specledger.compile.extension import Recordings, Stage
from specledger.compile.plan import Actor, Plan, PlannedRecording
from specledger.compile.roles import Role
from specledger.compile.scenario import E_RECORDING
from specledger.core.diagnostics import Diagnostics, suggest
from specledger.expr import STRING
from specledger.load import Resolved
from specledger.spec.agent import Recording
from specledger.spec.scenario import Scenario
from specledger.wings.trajectories.findings import E_LOG_FORMAT
from specledger.wings.trajectories.formats.names import known_formats
from specledger.wings.trajectories.model import Trajectory
from specledger.wings.trajectories.recording.controller import RecordedController
from specledger.wings.trajectories.recording.misfits import misfits_of
from specledger.wings.trajectories.recording.store import Parts, logs_of, read, store
from specledger.wings.trajectories.rules.called import Called
from specledger.wings.trajectories.rules.of_scenario import (
    compile_policies,
    model_of,
    stated_rules,
    tools_of,
    with_misspelt,
)
from specledger.wings.trajectories.rules.policy import Policy
from specledger.wings.trajectories.rules.reach import Tools
from specledger.wings.trajectories.simulation import compile_simulated
from specledger.wings.trajectories.tools.fit import tool_problems
from specledger.wings.trajectories.tools.schemas import Schemas, argument_names, compared
from specledger.worlds.model import World


def compile_recording(stage: Stage, role: Role) -> PlannedRecording | None:
    """The recording of a role; None, with findings, if it or its scenario is wrong."""
    recording, spec = role.decider.trajectories, stage.bundle.main
    assert recording is not None  # noqa: S101 - the caller looked
    _check_scenario(stage, role)
    _check_recording(recording, role.agent, stage.world, stage.diagnostics)
    policies = compile_policies(stage)
    if stage.diagnostics.has_errors:
        return None
    model = spec.model
    assert isinstance(model, Scenario)  # noqa: S101 - what has roles is one
    closed = model.guard is None or model.guard.fail == "closed"
    log = (spec.name, stage.bundle.digest)
    tools = _tools(recording, stage.world)
    stated = stated_rules(stage, policies, tools)
    rules = partial(with_misspelt, stated, [(policy, model_of(stage, policy)) for policy in policies], tools=tools)
    return _planned(recording, role.agent, stage.world, policies, stated, rules, log, closed=closed)


def _tools(recording: Recording, world: World) -> Tools | None:
    """The tools that a recorded agent had; None if nobody knows."""
    if recording.tools is not None:
        return {tool: argument_names(schema) for tool, schema in _schemas(recording.tools).items()}
    return tools_of(world) if recording.otherwise is None else None


def _schemas(tools: Mapping[str, Mapping[str, Any] | None]) -> Schemas:
    return {tool: None if schema is None else compared(schema) for tool, schema in tools.items()}


def _planned(
    recording: Recording,
    agent: Resolved,
    world: World,
    policies: tuple[Policy, ...],
    stated: tuple[dict[str, Any], ...],
    rules: Callable[[Called], tuple[dict[str, Any], ...]],
    log: tuple[str, str],
    *,
    closed: bool,
) -> PlannedRecording:
    problems = None if recording.tools is None else tool_problems(_schemas(recording.tools))

    def make(
        actor: Actor, trajectories: Iterator[Trajectory], kind: type[RecordedController] = RecordedController
    ) -> RecordedController:
        return kind(
            actor, world, recording.otherwise, policies, trajectories, log=log, closed=closed, problems=problems
        )

    def forbids(tool: str) -> str:
        if closed and recording.otherwise is None and tool not in world.actions:
            return f"the world has no action {tool}"
        names = (f"{policy.name}.{rule.name}" for policy in policies for rule in policy.rules if rule.forbids(tool))
        return next(names, "")

    def live(plan: Plan, head: Mapping[str, str]) -> Any:
        from specledger.wings.trajectories.recording.live import LiveController, LiveEpisode  # noqa: PLC0415

        return LiveEpisode(plan, head, partial(make, kind=LiveController))

    def store_logs(logs: Sequence[Path], path: Path) -> PlannedRecording:
        return store(planned, logs or logs_of(agent, recording), recording.format, path, parts)

    parts = Parts(make, rules)
    planned = PlannedRecording(
        rules=stated,
        store=store_logs,
        read=lambda path: read(planned, path, parts),
        live=live,
        forbids=forbids,
    )
    return planned


def _check_scenario(stage: Stage, role: Role) -> None:
    """Find keys of the scenario that a recording has no use for."""
    spec, model, wrong = stage.bundle.main, stage.bundle.main.model, stage.diagnostics.error
    assert isinstance(model, Scenario)  # noqa: S101 - what has roles is one
    if role.name:
        wrong(E_RECORDING, "a recording is the one agent of its scenario", spec.span("agents"))
    if role.rules.admission is not None:
        hint = "use a governor without `admission`"
        wrong(E_RECORDING, "a recording gives no documents to admit", role.governor.span("admission"), hint=hint)
    asks = role.decider.trajectories is not None and role.decider.trajectories.asks is not None
    for key in ("request", "time"):
        if key in model.model_fields_set:
            message = f"`{key}` has no meaning for a recording: its logs have requests and times"
            wrong(E_RECORDING, message, spec.span(key), hint="leave it out")
    for key in ("horizon", "episodes", "until", "drift", *(() if asks else ("probes",)), "agent_faults"):
        if key in model.model_fields_set:
            message = (
                f"`{key}` has no meaning for a recording: its trajectories say how long they are, and what happened"
            )
            hint = "`asks` in the agent names a model that answers them" if key == "probes" else "leave it out"
            wrong(E_RECORDING, message, spec.span(key), hint=hint)
    if drawing := stage.world.drawing_in_a_step:
        message = f"{drawing} draws, and what a recording left is not drawn"
        hint = "say what comes back as the `result` of an action"
        wrong(E_RECORDING, message, spec.span("world"), hint=hint)


def _check_recording(recording: Recording, agent: Resolved, world: World, diagnostics: Diagnostics) -> None:
    written = bool(agent.origins)  # evidence has the lines, so whoever verifies it needs no format
    if written and recording.format is not None and recording.format not in (known := known_formats()):
        near = suggest(recording.format, known)
        hint = f"did you mean `{near}`?" if near else f"formats are {', '.join(known)}"
        at = agent.span("trajectories", "format")
        diagnostics.error(E_LOG_FORMAT, f"there is no format {recording.format!r}", at, hint=hint)
    if recording.otherwise is None:
        return
    action = world.actions.get(recording.otherwise)
    at = agent.span("trajectories", "otherwise")
    if action is None:
        near = suggest(recording.otherwise, world.actions)
        hint = f"did you mean `{near}`?" if near else f"its actions are {', '.join(sorted(world.actions))}"
        diagnostics.error(E_RECORDING, f"the world has no action {recording.otherwise!r}", at, hint=hint)
    elif dict(action.args.fields) != {"tool": STRING} or action.result.fields:
        message = f"the action {recording.otherwise!r} has other arguments than `tool`, or a result"
        hint = "`args: {tool: string}` takes the calls of all other tools"
        diagnostics.error(E_RECORDING, message, at, hint=hint)


RECORDINGS: Final = Recordings(compile_recording, compile_simulated, misfits_of)
