"""A checked world written as Python functions over plain states; nothing here changes a state in place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple, NoReturn

from specledger.core.diagnostics import code
from specledger.expr import Checked, Emitter, EvaluationError, compile_function
from specledger.lang.bind import Preload, bind, emit_let, emit_record, fields_of
from specledger.lang.effects import PlannedEffect, demand, emit_effects, emit_fitting
from specledger.lang.scope import Fields, Let
from specledger.worlds.drawn_results import Locals, emit_around_result
from specledger.worlds.model import PlannedAction, PlannedCoupling, PlannedPart, World

E_RESULT_ABSENT = code("E_RESULT_ABSENT", "a result that is read was not recorded")

EVERYTHING: Final[frozenset[tuple[str, ...]]] = frozenset({()})
"""The paths of an outcome, where all of it is wanted."""


class Call(NamedTuple):
    """The locals that hold what a step is about."""

    state: str
    op: str
    args: str
    inputs: str


class Made(NamedTuple):
    """The locals that hold what a step makes: the next state, and the outcome."""

    state: str
    outcome: str


def supplied(emitter: Emitter, inputs: str, world: World) -> dict[str, str]:
    """Python source of what a step is supplied with, out of the local that holds it."""
    sources = fields_of(emitter, inputs, world.inputs.fields)
    if world.others is not None:  # a prediction, and a step in turn, is one in which the others do nothing
        idle = emitter.bind({name: {"op": ""} for name in world.others.fields})
        sources["others"] = f"{inputs}.get('others', {idle})"
    return sources


def write_step(
    emitter: Emitter, preload: Preload, world: World, call: Call, wanted: frozenset[tuple[str, ...]] = EVERYTHING
) -> tuple[list[str], Made]:
    """Lines that take a step.

    The next state is the one after the action's effects, the parts' steps and `every_step`; the first two read the
    state before, `every_step` reads what they made.

    `wanted` are the paths of the outcome that the caller reads; the rest is left out, since a prediction needs little
    of it.
    """
    known, unknown = emitter.bind(frozenset(world.actions)), emitter.bind(UnknownActionError, "UnknownActionError")
    lines = [f"if {call.op} not in {known}:", f"    raise {unknown}({call.op})"]
    targets = Made(emitter.local("after"), emitter.local("outcome"))
    inputs = supplied(emitter, call.inputs, world)
    word = "if"
    for name, action in world.actions.items():
        step = _Step(emitter, preload, world, name, wanted, call.inputs)
        loading, given = bind(emitter, step.needed, {**fields_of(emitter, call.args, action.args.fields), **inputs})
        taken = [*loading, *step.lines(call.state, given, targets)]
        if len(world.actions) == 1:
            return lines + taken, targets
        lines += [f"{word} {call.op} == {emitter.constant(name)}:", *_indented(taken)]
        word = "elif"
    return lines, targets


def no_result(action: str) -> NoReturn:
    """Refuse an effect that reads a result which nothing gave.

    Raises:
        EvaluationError: E_RESULT_ABSENT.
    """
    raise EvaluationError(E_RESULT_ABSENT, f"`{action}` has no result here: none was recorded, and none is simulated")


class UnknownActionError(LookupError):
    """A step was asked for an operation that the world does not have: a caller's mistake, never a spec's."""


def _below(wanted: frozenset[tuple[str, ...]], name: str) -> frozenset[tuple[str, ...]]:
    """The wanted paths inside one field; all of the field, if anything above it is wanted whole."""
    return EVERYTHING if () in wanted else frozenset(path[1:] for path in wanted if path[0] == name)


class _Step:
    """Writes one action of a world, with the actions of the parts that follow it.

    Attributes:
        needed: The variables that its expressions read, those that it defines itself among them.
    """

    def __init__(
        self,
        emitter: Emitter,
        preload: Preload,
        world: World,
        name: str,
        wanted: frozenset[tuple[str, ...]],
        inputs: str = "{}",
    ) -> None:
        self._emitter = emitter
        self._preload = preload
        self._world = world
        self._action = world.actions[name]
        self._name, self._inputs = name, inputs
        self._wanted = wanted
        self._told = Fields(tuple((key, checked) for key, checked in self._action.outcome if _below(wanted, key)))
        self._couplings = {
            part: coupling.follow[name] for part, coupling in world.parts.items() if name in coupling.follow
        }
        of_parts = (
            coupling.let.variables | _free(coupling.args, coupling.let) for coupling in self._couplings.values()
        )
        self.needed = _reads(self._action, self._told).union(*of_parts)

    def lines(self, state: str, given: Mapping[str, str], targets: Made) -> list[str]:
        """Lines of the step from a state, with a local for each argument and input that is needed."""
        emitter, action = self._emitter, self._action
        sources = {"now": state, **fields_of(emitter, state, self._world.state.fields)}
        names = {**given, **self._preload.load(self.needed, sources)}
        if action.draws_result:
            around = Locals(state, targets.state, self._inputs)
            lines = emit_around_result(emitter, action, names, around, _guarded)
        else:
            lines = self._result(names) if "result" in self.needed and action.result.fields else []
            lines += [*emit_let(emitter, action.let, names), f"{targets.state} = {{**{state}}}"]
            lines += _guarded(emitter, action, names, targets.state)
        outcomes = {key: emitter.expression(checked, names) for key, checked in self._told}
        for part, coupling in self._couplings.items():
            inner = Made(emitter.local(part), emitter.local("told"))
            lines += self._part(part, coupling, sources[part], dict(names), inner)
            lines.append(f"{targets.state}[{emitter.constant(part)}] = {inner.state}")
            outcomes[part] = inner.outcome
        report = ", ".join(f"{emitter.constant(key)}: {value}" for key, value in outcomes.items())
        lines.append(f"{targets.outcome} = {{{report}}}")
        return lines + _every_step(emitter, self._world, targets.state)

    def _result(self, names: dict[str, str]) -> list[str]:
        """Lines that give the result: what came from outside, else what is simulated."""
        emitter, action = self._emitter, self._action
        names["result"] = local = emitter.local("result")
        lines = [f"{local} = {self._inputs}.get('result')", f"if {local} is None:"]
        if not action.simulate.items:
            refuse = emitter.bind(no_result, "no_result")
            return [*lines, f"    {refuse}({emitter.constant(self._name)})"]
        fitting, display = emit_fitting(emitter, action.simulate, action.result.fields, names)
        return [*lines, *_indented([*fitting, f"{local} = {display}"])]

    def _part(
        self, part: str, coupling: PlannedCoupling, source: str, names: dict[str, str], targets: Made
    ) -> list[str]:
        """Lines of the step that a part takes; a part is given no inputs."""
        emitter, world = self._emitter, self._world.parts[part].world
        lines = emit_let(emitter, coupling.let, names)
        given = {}
        takes = world.actions[coupling.action].args.fields
        for key, checked in coupling.args:
            given[key] = emitter.local(key)
            lines.append(f"{given[key]} = {emitter.expression(checked, names)}")
            lines += demand(emitter, given[key], takes[key], checked, f"{key} of {part}'s {coupling.action}")
        step = _Step(emitter, self._preload, world, coupling.action, _below(self._wanted, part))
        state = self._preload.load([part], {part: source})[part]
        return lines + step.lines(state, given, targets)


def _guarded(emitter: Emitter, action: PlannedAction, names: Mapping[str, str], after: str) -> list[str]:
    """The effects of an action on the copy of the state in `after`, or what it does otherwise."""
    effects = emit_effects(emitter, action.effects, names, after, copied=True)
    otherwise = emit_effects(emitter, action.otherwise, names, after, copied=True)
    if action.when.text.value == "true":
        return effects
    lines = [f"if {emitter.expression(action.when, names)}:", *_indented(effects or ["pass"])]
    return [*lines, "else:", *_indented(otherwise)] if otherwise else lines


def _every_step(emitter: Emitter, world: World, after: str) -> list[str]:
    """What is done after every action to the copy in `after`, unless an effect still reads that as `now`."""
    needed = frozenset[str]().union(*(effect.variables for effect in world.every_step))
    lines, names = bind(emitter, needed, {"now": after, **fields_of(emitter, after, world.state.fields)})
    return lines + emit_effects(emitter, world.every_step, names, after, copied="now" not in needed)


def _reads(action: PlannedAction, outcome: Let) -> frozenset[str]:
    """The variables that an action's own expressions read, with the part of its outcome that is needed."""
    effects: Iterable[PlannedEffect] = (*action.effects, *action.otherwise)
    read = action.when.variables.union(*(effect.variables for effect in effects))
    simulated = bool(action.result.fields) and not action.draws_result
    if simulated and "result" in read | outcome.variables | action.let.variables:
        read |= action.simulate.variables
    return action.let.variables | ((read | outcome.variables) - {name for name, _ in action.let})


def _free(let: Let, before: Let) -> frozenset[str]:
    """What the expressions of `let` read beyond the names that `before` gives."""
    read = frozenset[str]().union(*(checked.variables for _, checked in let))
    return read - {name for name, _ in before}


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def compile_step(world: World, like: Mapping[str, Any] | None = None) -> Callable[..., Any]:
    """`(state, op, args, inputs) -> (next state, outcome)`; `like` is a state with the sizes to be expected."""

    def compose(emitter: Emitter) -> str:
        call = Call(*(emitter.local(hint) for hint in Call._fields))
        emitter.expect(call.state, like)
        preload = Preload(emitter)
        lines, targets = write_step(emitter, preload, world, call)
        return emitter.function("step", call, [*preload.lines, *lines, f"return {targets.state}, {targets.outcome}"])

    return compile_function(compose)


def undisclosed(world: World) -> str:
    """What a step needs beside an observation, in words: inputs, and fields not shown under their names; else empty."""
    shown = {name for name, checked in world.observe if checked.text.value.strip() == name}
    hidden = [f"`{name}`" for name in world.state.fields if name not in shown]
    needed = [f"`{name}`" for name in world.inputs.fields]
    said = f"its `observe` does not show {', '.join(hidden)}" if hidden else ""
    asked = f"its step needs the input {', '.join(needed)}" if needed else ""
    return " and ".join(words for words in (said, asked) if words)


def compile_over(
    world: World, expressions: Let, like: Mapping[str, Any] | None = None
) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """`state -> {name: value}` for expressions that read one state, such as `observe`; `like` as for a step."""

    def compose(emitter: Emitter) -> str:
        state = emitter.local("state")
        emitter.expect(state, like)
        lines, names = bind(emitter, expressions.variables, state_sources(emitter, world, state))
        return emitter.function("over", [state], [*lines, f"return {emit_record(emitter, expressions, names)}"])

    return compile_function(compose)


def compile_predicate(world: World, predicate: Checked | None, default: bool) -> Callable[[dict[str, Any]], bool]:
    """`state -> bool` for one expression over a state, or the default where there is none."""
    return (lambda _state: default) if predicate is None else compile_value(world, predicate)


def compile_value(world: World, expression: Checked) -> Callable[[dict[str, Any]], Any]:
    """`state -> value` of one expression over a state."""

    def compose(emitter: Emitter) -> str:
        state = emitter.local("state")
        lines, names = bind(emitter, expression.variables, state_sources(emitter, world, state))
        return emitter.function("value", [state], [*lines, f"return {emitter.expression(expression, names)}"])

    return compile_function(compose)


def compile_between(
    world: World, expressions: Let, like: Mapping[str, Any] | None = None
) -> Callable[..., dict[str, Any]]:
    """`(state, next state, outcome) -> {name: value}` for expressions that read a step: `record`, `receipt`."""

    def compose(emitter: Emitter) -> str:
        state, after, outcome = (emitter.local(hint) for hint in ("state", "next", "outcome"))
        emitter.expect(state, like)
        emitter.expect(after, like)
        sources = {**state_sources(emitter, world, state), "next": after, "outcome": outcome}
        lines, names = bind(emitter, expressions.variables, sources)
        figures = Let(tuple(item for item in expressions if item[0] not in expressions.labels))
        lines += emit_let(emitter, figures, names)
        shown = [(name, names[name]) for name, _ in figures]
        shown += [(n, emitter.expression(c, names)) for n, c in expressions if n in expressions.labels]
        display = ", ".join(f"{emitter.constant(name)}: {value}" for name, value in shown)
        return emitter.function("between", [state, after, outcome], [*lines, f"return {{{display}}}"])

    return compile_function(compose)


def part_receipt(
    part: PlannedPart, name: str, like: Mapping[str, Any] | None = None
) -> Callable[..., dict[str, Any]] | None:
    """The receipt of a part's step as a function of the whole world's step, or None if its world keeps no receipts."""
    if not part.world.receipt.items:
        return None
    describe = compile_between(part.world, part.world.receipt, None if like is None else like[name])

    def receipt(state: dict[str, Any], after: dict[str, Any], outcome: dict[str, Any]) -> dict[str, Any]:
        return describe(state[name], after[name], outcome[name])

    return receipt


def state_sources(emitter: Emitter, world: World, state: str) -> dict[str, str]:
    """Python source of what a state gives, out of the local that holds it."""
    return {"now": state, **fields_of(emitter, state, world.state.fields)}
