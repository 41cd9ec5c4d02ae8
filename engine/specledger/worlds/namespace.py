"""Checks the focus variables of a world: their expressions, and that no two names can be mistaken for each other."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Final

from msgspec.structs import replace

from specledger.core.diagnostics import code
from specledger.expr import MISTAKEN, STRING, Environment, ListType, RecordType
from specledger.lang.effects import check_effects
from specledger.lang.scope import E_DECLARATION, Fields, Scope
from specledger.spec.world import Attempts as AttemptsSpec
from specledger.spec.world import World as WorldSpec
from specledger.worlds.model import Namespace, PlannedAction, PlannedAttempts, PlannedVariable

E_VARIABLE = code("E_VARIABLE", "a focus variable does not fit its world")

FOCUS: Final = "focus"
"""Where a normal form keeps the variables that are edited directly."""

DERIVED: Final = "derived"
"""Where it keeps those that follow from others."""


def check_variables(
    model: WorldSpec, state: RecordType, actions: Mapping[str, PlannedAction], scope: Scope
) -> Namespace:
    """Check what a world says about its focus variables; wrong entries are findings and left out."""
    _told_apart(sorted(model.variables), scope)
    variables = [_variable(name, model, state, scope) for name in sorted(model.variables)]
    for name in sorted(model.alternatives.keys() - model.variables.keys()):
        scope.wrong(E_VARIABLE, f"there is no variable {name!r}", "alternatives", name)
    for name in sorted(model.context.keys() & {FOCUS, DERIVED}):
        scope.wrong(E_VARIABLE, f"the variables themselves are found under {name!r}", "context", name)
    context = scope.each(model.context, "context")
    scope.sealed(context.types, "context")
    known = Environment(functions=scope.environment.functions, constants=scope.environment.constants)
    stateless = replace(scope, environment=known)
    labels = []
    for op in sorted(model.labels):
        if op not in model.actions:
            scope.wrong(E_VARIABLE, f"the world has no action {op!r}", "labels", op)
        elif op in actions:
            checked = stateless.within(**actions[op].args.fields).expression("labels", op, expect=STRING)
            labels += [] if checked is None else [(op, checked)]
    return Namespace(tuple(variable for variable in variables if variable is not None), context, Fields(tuple(labels)))


def split_name(name: str) -> tuple[str, str, str]:
    """A name as (text before the parameter, the parameter, text after it)."""
    before, _, rest = name.partition("<")
    parameter, _, after = rest.partition(">")
    return before, parameter, after


def _told_apart(names: list[str], scope: Scope) -> None:
    """Find pairs of names that could name the same variable."""
    for name, other in combinations(names, 2):
        if _overlap(split_name(name), split_name(other)):
            scope.wrong(E_VARIABLE, f"{name!r} and {other!r} can name the same variable", "variables", other)


def _overlap(first: tuple[str, str, str], other: tuple[str, str, str]) -> bool:
    (a, a_parameter, a_after), (b, b_parameter, b_after) = first, other
    if not a_parameter and not b_parameter:
        return a == b
    if not a_parameter or not b_parameter:
        whole, (before, _, after) = (a, other) if b_parameter else (b, first)
        return len(whole) > len(before) + len(after) and whole.startswith(before) and whole.endswith(after)
    return (a.startswith(b) or b.startswith(a)) and (a_after.endswith(b_after) or b_after.endswith(a_after))


def _variable(name: str, model: WorldSpec, state: RecordType, scope: Scope) -> PlannedVariable | None:
    spec = model.variables[name]
    location = ("variables", name)
    _, parameter, _ = split_name(name)
    if bool(parameter) != (spec.over is not None):
        scope.wrong(E_VARIABLE, "`over` goes with a name that has a parameter, such as `distance:<id>`", *location)
    over = scope.expression(*location, "over", expect=ListType(STRING)) if spec.over is not None else None
    if parameter:
        scope = scope.declare({parameter: STRING}, *location)
    read = scope.expression(*location, "read")
    value = MISTAKEN if read is None else read.type
    scope.sealed({"read": value}, *location)
    inner = scope.declare({"value": value}, *location)
    normal = inner.expression(*location, "normal", expect=value) if spec.normal is not None else None
    alternatives = None
    if name in model.alternatives:
        alternatives = inner.expression("alternatives", name, expect=ListType(value))
    require = inner.condition(spec.require, *location, "require")
    effects = check_effects(spec.effects or (), state, inner, *location, "effects")
    attempts = None if spec.attempts is None else _attempts(spec.attempts, state, inner, *location, "try")
    if read is None or require is None or (spec.attempts is not None and attempts is None):
        return None
    said = spec.doc or ""
    return PlannedVariable(name, said, parameter, over, read, normal, require, effects, attempts, alternatives)


def _attempts(spec: AttemptsSpec, state: RecordType, scope: Scope, *location: str) -> PlannedAttempts | None:
    source = scope.expression(*location, "for")
    item = source.type.item if source is not None and isinstance(source.type, ListType) else MISTAKEN
    if source is not None and not isinstance(source.type, ListType):
        scope.wrong(E_DECLARATION, f"what is tried comes from a list, not from {source.type}", *location, "for")
    scope.sealed({"for": item}, *location)
    inner = scope.declare({spec.element: item}, *location)
    require = inner.condition(spec.require, *location, "require")
    effects = check_effects(spec.effects, state, inner, *location, "effects")
    if source is None or require is None or item is MISTAKEN:
        return None
    return PlannedAttempts(source, spec.element, require, effects)
