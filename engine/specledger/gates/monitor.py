"""Monitors: what an invariant remembers of an episode, and how each step changes it.

A step is one decision of every agent. A write is made once a step, in the state after it, or after every action; with
one agent these are the same. `within`, `at_most` and `mean` are invariants whose memory the engine writes once a step;
their expressions are the same CEL.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec import Struct

from specledger.core.spans import Text
from specledger.expr import BOOL, INT, Checked, Emitter, RecordType, Type, compile_function
from specledger.expr.check.checker import check
from specledger.gates.governor import Footing
from specledger.lang.bind import bind, emit_let, fields_of
from specledger.lang.effects import PlannedEffect, emit_effects, emit_fitting
from specledger.lang.memory import E_MEMORY, check_fields, check_writes
from specledger.lang.scope import E_NAME_TAKEN, Fields, Let, Scope
from specledger.spec.invariant import Invariant as InvariantSpec


class ShortForm(Struct, frozen=True):
    """The memory of an invariant that is written in short form.

    Attributes:
        conditions: The expressions of the spec under the names that the others read: the key in the form, and its type.
        fields: The numbers that are kept: each with its value at the start, and after a step.
        summed: Those of the sort of the numbers among the conditions, int or qfixed; the others are ints.
        require: What must hold after the step, or at the end of the episode, as an expression.
    """

    conditions: Mapping[str, tuple[str, Type]]
    fields: Mapping[str, tuple[str, str]]
    require: Callable[[InvariantSpec], str]
    summed: tuple[str, ...] = ()


def _within(model: InvariantSpec) -> str:
    assert model.within is not None  # noqa: S101 - its own form
    return f"within_waiting <= {model.within.steps}"


def _at_most(model: InvariantSpec) -> str:
    assert model.at_most is not None  # noqa: S101 - its own form
    within = f"at_most_count <= {model.at_most.times}"
    return within if model.scope == "episode" else f"{within} || !at_most_counts"


def _mean(model: InvariantSpec) -> str:
    bounds = {"min": "mean_sum >= mean_min * mean_steps", "max": "mean_sum <= mean_max * mean_steps"}
    return " && ".join(text for key, text in bounds.items() if getattr(model.mean, key) is not None)


_SHORT_FORMS: Final = {
    "within": ShortForm(
        {"within_after": ("after", BOOL), "within_require": ("require", BOOL)},
        {
            "within_waiting": (
                "within_after && !within_require ? 1 : 0",
                "within_require ? 0 : within_waiting > 0 ? within_waiting + 1 : within_after ? 1 : 0",
            )
        },
        _within,
    ),
    "at_most": ShortForm(
        {"at_most_counts": ("count", BOOL)},
        {"at_most_count": ("0", "at_most_count + (at_most_counts ? 1 : 0)")},
        _at_most,
    ),
    "mean": ShortForm(
        {"mean_of": ("of", INT), "mean_min": ("min", INT), "mean_max": ("max", INT)},
        {"mean_sum": ("0", "mean_sum + mean_of"), "mean_steps": ("0", "mean_steps + 1")},
        _mean,
        ("mean_sum",),
    ),
}


class Monitor(Struct, frozen=True):
    """The memory of an invariant.

    Attributes:
        let: The expressions of a short form, which the others read.
        type: The type of what is remembered.
        start: Its values in the first state of an episode.
        writes: What a step changes, each where its `when` holds.
        acts: What every action of several agents changes.
        witness: The memory of a short form, which is the witness of an invariant that states none.
    """

    let: Let
    type: RecordType
    start: Let
    writes: tuple[PlannedEffect, ...]
    acts: tuple[PlannedEffect, ...]
    witness: Let

    def needed(self, read: frozenset[str]) -> Let:
        """The expressions of a short form among the names that are read."""
        return Let(tuple((name, checked) for name, checked in self.let if name in read))


def check_monitor(model: InvariantSpec, footing: Footing, scope: Scope) -> tuple[Monitor | None, Scope, Checked | None]:
    """Check what an invariant remembers.

    Returns:
        The memory, None if it has none; the scope of `when` and `witness`; what is required, None if that is wrong.
    """
    for key, form in _SHORT_FORMS.items():
        if getattr(model, key) is not None:
            return _short(key, form, model, scope.within(previous=footing.state))
    memory, remember = model.memory, model.remember
    if memory is None and not remember:
        scope = scope.within(previous=footing.state)
        return None, scope, scope.expression("require", expect=BOOL)
    types, start, inner = check_fields(memory, scope)
    inner = inner.within(previous=footing.state)
    scope.sealed(types, "memory", "fields")
    writes, acts = _writes(model, types, footing, inner)
    monitor = Monitor(Let(), RecordType("memory", types), start, writes, acts, Let())
    return monitor, inner, inner.expression("require", expect=BOOL)


def _writes(
    model: InvariantSpec, types: Mapping[str, Type], footing: Footing, scope: Scope
) -> tuple[tuple[PlannedEffect, ...], tuple[PlannedEffect, ...]]:
    """The writes for each step, and those for each action where several agents act; a step has no one action there."""
    acting = scope.within(action=_optional(footing.action, "op"), outcome=_optional(footing.outcome))
    acting = acting.timed(footing.actor)
    by_action = {index for index, write in enumerate(model.remember) if footing.several and write.on == "action"}
    planned = check_writes(model.remember, types, acting)
    if footing.several:
        for index in planned.keys() - by_action:
            read = sorted((planned[index].variables | planned[index].clock) & {"action", "outcome", "actor"})
            if read:
                message = f"{read[0]!r} is that of one agent, and a step has an action of each"
                hint = "add `on: action` to write after every action"
                scope.diagnostics.error(E_MEMORY, message, scope.source.span("remember", index), hint=hint)
    by_step = tuple(effect for index, effect in planned.items() if index not in by_action)
    return by_step, tuple(effect for index, effect in planned.items() if index in by_action)


def _optional(record: RecordType, *always: str) -> RecordType:
    """A record whose fields may be missing: at a step without an action there are no arguments and no outcome."""
    return RecordType(record.name, record.fields, frozenset(record.fields) - {*always}, record.derived)


def _short(
    key: str, form: ShortForm, model: InvariantSpec, scope: Scope
) -> tuple[Monitor | None, Scope, Checked | None]:
    taken = [name for name in (*form.conditions, *form.fields) if scope.environment.conflict(name) is not None]
    for name in taken:
        message = f"the memory of `{key}` has the name {name!r}, which is in use here"
        scope.wrong(E_NAME_TAKEN, message, key)
    if taken:
        return None, scope, None
    given = {name: at for name, at in form.conditions.items() if getattr(getattr(model, key), at[0]) is not None}
    number = scope.numbers(*((key, at) for at, type_ in given.values() if type_ == INT))
    types = {name: number if type_ == INT else type_ for name, (_, type_) in given.items()}
    let = [(name, scope.expression(key, at, expect=types[name])) for name, (at, _) in given.items()]
    kept = {name: number if name in form.summed else INT for name in form.fields}
    inner = scope.within(**kept)
    reading = inner.within(**types)

    def expression(text: str, expect: Type) -> Checked | None:
        return check(Text.inline(text), reading.environment, scope.diagnostics, expect)

    start = [(name, expression(first, kept[name])) for name, (first, _) in form.fields.items()]
    after = [(name, expression(then, kept[name])) for name, (_, then) in form.fields.items()]
    effects = [PlannedEffect("set", (name,), kept[name], None, (value,)) for name, value in after if value is not None]
    monitor = Monitor(
        Let(tuple((name, checked) for name, checked in let if checked is not None)),
        RecordType("memory", kept),
        Fields(tuple((name, checked) for name, checked in start if checked is not None)),
        tuple(effects),
        (),
        Fields(tuple((name, checked) for name in form.fields if (checked := expression(name, kept[name])) is not None)),
    )
    required = expression(form.require(model), BOOL) if len(monitor.let.items) == len(given) else None
    return monitor, inner, required


def compile_monitor_begin(monitor: Monitor, footing: Footing) -> Callable[[Any], dict[str, Any]]:
    """`state -> memory` in the first state of an episode, which is `previous` there, too."""

    def compose(emitter: Emitter) -> str:
        state = emitter.local("state")
        emitter.expect(state, footing.like)
        sources = {"now": state, "previous": state, **fields_of(emitter, state, footing.state.fields)}
        let = monitor.needed(monitor.start.variables)
        lines, names = bind(emitter, monitor.start.variables | let.variables, sources)
        lines += emit_let(emitter, let, names)
        more, display = emit_fitting(emitter, monitor.start, monitor.type.fields, names)
        return emitter.function("begin", [state], [*lines, *more, f"return {display}"])

    return compile_function(compose)


def compile_monitor_writes(
    monitor: Monitor, writes: tuple[PlannedEffect, ...], footing: Footing
) -> Callable[..., dict[str, Any]]:
    """`(previous, state, action, outcome, memory) -> memory` after some writes of a monitor."""

    def compose(emitter: Emitter) -> str:
        hints = ("previous", "state", "action", "outcome", "memory", "after")
        previous, state, action, outcome, memory, after = (emitter.local(hint) for hint in hints)
        emitter.expect(previous, footing.like)
        emitter.expect(state, footing.like)
        sources = {
            "now": state,
            "previous": previous,
            "action": action,
            "outcome": outcome,
            **fields_of(emitter, state, footing.state.fields),
            **fields_of(emitter, memory, monitor.type.fields),
        }
        read = frozenset[str]().union(*(write.variables for write in writes))
        let = monitor.needed(read)
        lines, names = bind(emitter, read | let.variables, sources)
        lines += [*emit_let(emitter, let, names), f"{after} = {memory}"]
        lines += [*emit_effects(emitter, writes, names, after), f"return {after}"]
        return emitter.function("remember", [previous, state, action, outcome, memory], lines)

    return compile_function(compose)
