"""Recorded calls that do not fit the actions of a world: what `spec explain` says of a recording."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec import UNSET

from specledger.compile.roles import roles
from specledger.core.diagnostics import Diagnostics, Rejected, counted, suggest
from specledger.core.unknown import Unknown
from specledger.expr import RecordType, Type
from specledger.lang.statement import Statement
from specledger.load import Bundle
from specledger.spec.scenario import Scenario
from specledger.wings.trajectories.coverage_text import misfits_text
from specledger.wings.trajectories.formats.names import reader_named
from specledger.wings.trajectories.model import Call, Result
from specledger.wings.trajectories.reading import read_logs
from specledger.wings.trajectories.recording.fitting import MISFIT, Misfit, fit, fit_result, is_misfit
from specledger.wings.trajectories.recording.store import logs_of
from specledger.wings.trajectories.rules.paths import is_withheld
from specledger.wings.trajectories.tools.fit import Fit, Problems, no_such, shown
from specledger.worlds.check import check_world
from specledger.worlds.model import PlannedAction, World


def misfits_of(bundle: Bundle, logs: Sequence[Path]) -> Iterator[Statement]:
    """Which calls of logs do not fit the actions of a world; without logs, of those of a scenario's recorded agent."""
    spec, reader, otherwise = bundle.main, None, None
    if isinstance(bundle.main.model, Scenario):
        spec, role = bundle.specs[bundle.main.refs["world",]], roles(bundle)[0]
        recording = role.decider.trajectories
        if recording is not None:
            otherwise = recording.otherwise
            reader = None if recording.format is None else reader_named(recording.format)
            try:
                logs = logs or logs_of(role.agent, recording)
            except Rejected as rejected:
                yield Statement(f"no call is compared with actions: {rejected.diagnostics[0].message}")
                return
    world = check_world(spec, bundle, Diagnostics())
    if world is None or not logs:
        return
    compared = Fit(_action_problems(world, otherwise))
    for trajectory in read_logs(logs, reader):
        compared.hear(trajectory)
    if not compared.calls:
        yield Statement(f"all calls fit the actions of the world {world.name}: {compared.heard} of {compared.heard}")
        return
    verb = "does" if compared.calls == 1 else "do"
    head = f"{compared.calls} of {counted(compared.heard, 'call')} {verb} not fit the actions of the world {world.name}"
    yield Statement(head, tuple(map(Statement, misfits_text(compared.misfits))))


def _action_problems(world: World, otherwise: str | None) -> Problems:
    """Compares calls with the actions of a world; a tool without one is the action `otherwise`, which takes any."""

    def problems(call: Call, result: Result | None) -> Iterator[str]:
        action = world.actions.get(call.tool)
        if action is None or call.tool == otherwise:
            if otherwise is None:
                yield no_such("action", call.tool, world.actions)
            return
        yield from _arguments(call.arguments, action)
        if result is not None and not result.error and action.result.fields:
            yield from _result(result, action.result)

    return problems


def _arguments(given: Any, action: PlannedAction) -> Iterator[str]:
    if not action.args.fields or is_withheld(given):
        return
    if given is UNSET or type(given) is not dict:
        yield "its arguments are not recorded" if given is UNSET else f"its arguments are {shown(given)}, not an object"
        return
    for name, type_ in action.args.fields.items():
        if name in given:
            yield from _argument(given[name], type_, name, action)
        elif name not in action.args.optional:
            near = suggest(name, given.keys() - action.args.fields.keys())
            yield f"`args.{name}` is missing" + (f"; did you mean `args.{near}`?" if near else "")


def _argument(value: Any, type_: Type, name: str, action: PlannedAction) -> Iterator[str]:
    path = f"args.{name}"
    try:
        fitting = fit(value, type_, path)
    except Misfit as misfit:
        if misfit.reason == MISFIT and misfit.path == path:
            yield f"`{path}` is {shown(value)}, not {type_}"
        elif misfit.reason == MISFIT:
            yield f"`{misfit.path}` is of another type than {type_} has there"
        return
    if name in action.allowed and fitting not in action.allowed[name]:
        yield f"`{path}` is none of its choices"


def _result(result: Result, fields: RecordType) -> Iterator[str]:
    """What of a result is of another type than the action declares; what was not recorded is unknown, and fits."""
    members = fit_result(result, fields).values()
    unknown = (member for member in members if type(member) is Unknown)
    yield from dict.fromkeys(member.reason for member in unknown if is_misfit(member))
