"""Drifts: exogenous changes of a world, on a schedule known before the run, with values drawn by named streams."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from specledger.core.diagnostics import Diagnostics, code
from specledger.expr import (
    BOOL,
    INT,
    Checked,
    Environment,
    EvaluationError,
    compile_expression,
)
from specledger.expr.check.analysis import size, work
from specledger.expr.eval.evaluator import evaluate_within
from specledger.lang.draws import Draws, check_draws
from specledger.lang.effects import PlannedEffect, check_effects
from specledger.lang.scope import E_NAME_TAKEN, Scope
from specledger.load import Resolved
from specledger.spec.drift import Drift as DriftSpec
from specledger.worlds.model import World

MAX_SCHEDULE: Final = 200_000_000
"""Work of evaluating the `at` of all drifts for all steps of an episode, in nodes as `expr.limits` counts them."""
MAX_LISTED: Final = 8_388_608
"""Bytes that the schedules of all drifts take where the first receipt lists them; no receipt is longer."""
_DEARER: Final = 20
"""How many times the time the exact evaluation takes."""

E_DRIFT_DUE = code("E_DRIFT_DUE", "drifts that are due too often")


class Drift(Struct, frozen=True):
    """A checked drift.

    Attributes:
        at: Whether it is due, from the step number `t` alone.
        when: Whether the state lets it happen.
        draws: Name, stream and source list of each drawn value.
    """

    at: Checked
    when: Checked
    draws: Draws
    effects: tuple[PlannedEffect, ...]


class Calendar:
    """Makes the schedules of one scenario, which share the work that they may take and the bytes in the receipt."""

    def __init__(self, horizon: int) -> None:
        """Begin for episodes of so many steps."""
        self._horizon = horizon
        self._work = MAX_SCHEDULE
        self._room = MAX_LISTED

    def schedule(self, drift: Drift, times: int) -> frozenset[int]:
        """The steps of an episode at which a drift is due that the scenario names so many times.

        Raises:
            EvaluationError: If `at` cannot be evaluated for one of them, or all schedules so far take too much work;
                E_DRIFT_DUE, if they are too long.
        """
        due = self._due(drift.at)
        self._room -= times * sum(len(str(t)) + 1 for t in due)
        if self._room < 0:
            message = f"the steps at which drifts are due take more than {MAX_LISTED} bytes"
            raise EvaluationError(E_DRIFT_DUE, message, 0, drift.at.text)
        return due

    def _due(self, at: Checked) -> frozenset[int]:
        whole = self._horizon * (size(at.root).weight + work(at.root))
        if whole <= self._work:
            self._work -= whole
            due = compile_expression(at, ("t",))
            return frozenset(t for t in range(self._horizon) if due(t))
        steps, left = [], self._work // _DEARER
        for t in range(self._horizon):
            holds, left = evaluate_within(at, {"t": t}, left)
            steps += [t] if holds else []
        self._work = left * _DEARER
        return frozenset(steps)


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
    scope = scope.timed(world.clock)
    when = scope.condition(model.when, "when")
    draws, drawn = check_draws(model.draw, scope)
    scope.sealed(drawn, "draw")
    inner = scope.declare(drawn, "draw")
    effects = check_effects(model.effects, world.state, inner, "effects")
    inner.unused(model.functions)
    if at is None or when is None or len(draws) < len(model.draw) or len(effects) < len(model.effects):
        return None
    return Drift(at, when, draws, effects)
