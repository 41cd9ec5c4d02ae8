"""Drifts: exogenous changes of a world, on a schedule known before the run, with values drawn by named streams."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from engine.core.diagnostics import Diagnostics
from engine.expr import BOOL, INT, Checked, Emitter, Environment, ListType, compile_expression, compile_function
from engine.expr.evaluator import evaluate_within
from engine.expr.measure import size, work
from engine.expr.statements.bind import bind, fields_of
from engine.expr.statements.effects import PlannedEffect, check_effects, emit_effects
from engine.expr.statements.scope import E_DECLARATION, E_NAME_TAKEN, Scope
from engine.expr.types import Type
from engine.load import Resolved
from engine.spec.drift import Drift as DriftSpec
from engine.worlds.model import World

MAX_SCHEDULE: Final = 200_000_000
"""Work of evaluating the `at` of one drift for all steps of an episode, in nodes as `expr.limits` counts them."""


@dataclass(frozen=True, slots=True)
class Drift:
    """A checked drift.

    Attributes:
        at: Whether it is due, from the step number `t` alone.
        when: Whether the state lets it happen.
        draws: Name, stream and source list of each drawn value.
        effects: What it does to the state.
    """

    at: Checked
    when: Checked
    draws: tuple[tuple[str, str, Checked], ...]
    effects: tuple[PlannedEffect, ...]

    def schedule(self, horizon: int) -> frozenset[int]:
        """The steps before `horizon` at which it is due.

        Raises:
            EvaluationError: If `at` cannot be evaluated for one of them, or all of them take too much work.
        """
        if horizon * (size(self.at.root).weight + work(self.at.root)) <= MAX_SCHEDULE:
            due = compile_expression(self.at, ("t",))
            return frozenset(t for t in range(horizon) if due(t))
        found, left = [], MAX_SCHEDULE // 20  # the exact evaluation takes so many times the time
        for t in range(horizon):
            at, left = evaluate_within(self.at, {"t": t}, left)
            found += [t] if at else []
        return frozenset(found)


def check_drift(spec: Resolved, world: World, diagnostics: Diagnostics) -> Drift | None:
    """Check a drift against the world that it changes; None, with findings, if it is wrong."""
    model = spec.model
    assert isinstance(model, DriftSpec)  # noqa: S101 - a reference of kind drift holds nothing else
    scope = Scope(world.environment, spec, diagnostics)
    scope = scope.constants(model.constants, "constants").functions(model.functions, "functions")
    if "t" in scope.environment.constants:
        scope.wrong(E_NAME_TAKEN, "'t' is a constant here, but `at` reads the number of the step by this name", "at")
        return None
    clock = Environment({"t": INT}, constants=scope.environment.constants)
    at = Scope(clock, spec, diagnostics).expression("at", expect=BOOL)
    when = scope.condition(model.when, "when")
    drawn: dict[str, Type] = {}
    draws = []
    for name, draw in sorted(model.draw.items()):
        source = scope.expression("draw", name, "from")
        if source is None:
            continue
        if not isinstance(source.type, ListType):
            scope.wrong(E_DECLARATION, f"a value is drawn from a list, not from {source.type}", "draw", name, "from")
            continue
        drawn[name] = source.type.item
        draws.append((name, draw.stream, source))
    scope.sealed(drawn, "draw")
    inner = scope.declare(drawn, "draw")
    effects = check_effects(model.effects, world.state, inner, "effects")
    if at is None or when is None or len(draws) < len(model.draw) or len(effects) < len(model.effects):
        return None
    return Drift(at, when, tuple(draws), effects)


def compile_sources(drift: Drift, world: World) -> Callable[[dict[str, Any]], list[list[Any]] | None]:
    """`state -> lists to draw from`, or None where `when` does not hold."""

    def compose(emitter: Emitter) -> str:
        state = emitter.local("state")
        sources = {"now": state, **fields_of(emitter, state, world.state.fields)}
        needed = drift.when.variables.union(*(source.variables for _, _, source in drift.draws))
        lines, names = bind(emitter, needed, sources)
        lists = ", ".join(emitter.expression(source, names) for _, _, source in drift.draws)
        refuse = [f"if not {emitter.expression(drift.when, names)}:", "    return None"]
        return emitter.function("sources", [state], [*lines, *refuse, f"return [{lists}]"])

    return compile_function(compose)


def compile_change(drift: Drift, world: World) -> Callable[[dict[str, Any], list[Any]], dict[str, Any]]:
    """`(state, drawn values) -> next state`."""

    def compose(emitter: Emitter) -> str:
        state, drawn, after = (emitter.local(hint) for hint in ("state", "drawn", "after"))
        sources = {"now": state, **fields_of(emitter, state, world.state.fields)}
        sources |= {name: f"{drawn}[{index}]" for index, (name, _, _) in enumerate(drift.draws)}
        needed = frozenset[str]().union(*(effect.variables for effect in drift.effects))
        lines, names = bind(emitter, needed, sources)
        lines += [f"{after} = {state}", *emit_effects(emitter, drift.effects, names, after), f"return {after}"]
        return emitter.function("change", [state, drawn], lines)

    return compile_function(compose)
