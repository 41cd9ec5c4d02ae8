"""Checks how reports show a world: its picture, which is drawn from receipts alone, and the units of its integers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from specledger.core.diagnostics import code, suggest
from specledger.expr import INT, MISTAKEN, Checked, IntType, RecordType, Type
from specledger.expr.check.relations import assignable
from specledger.lang.declare import CELL, FIELD
from specledger.lang.scope import Let, Scope
from specledger.spec.picture import Chart
from specledger.spec.world import World as WorldSpec
from specledger.worlds.model import Namespace

E_PICTURE = code("E_PICTURE", "a picture names what its world does not have")
E_WORLD_UNIT = code("E_WORLD_UNIT", "a unit is for no integer of the world")


def check_picture(model: WorldSpec, state: RecordType, record: Mapping[str, Type], scope: Scope) -> Checked | None:
    """The map of a state, if the world has a picture; whatever is wrong in that is a finding."""
    picture = model.picture
    if picture is None:
        return None
    _check_codes(model, scope)
    sound = {label: type_ for label, type_ in record.items() if type_ is not MISTAKEN}
    record = {**dict.fromkeys(model.record, INT), **sound}  # a label whose expression is wrong has a finding already
    ints = [label for label, type_ in record.items() if isinstance(type_, IntType)]
    places = [label for label, type_ in record.items() if label in ints or _same(type_, CELL)]
    cells = [name for name, type_ in state.fields.items() if isinstance(type_, RecordType)]
    for name, token in picture.tokens.items():
        if not _same(_at(state, token.start), CELL):
            _wrong(scope, f"{token.start!r} is no cell of the state", cells, token.start, "tokens", name, "start")
        if token.each is not None and token.each not in places:
            message = f"{token.each!r} is no label of the record that holds a place"
            _wrong(scope, message, places, token.each, "tokens", name, "each")
    for name, chart in picture.charts.items():
        label, rest = (chart.of, ("of",)) if isinstance(chart, Chart) else (chart, ())
        if label not in ints:
            _wrong(scope, f"{label!r} is no int of the record", ints, label, "charts", name, *rest)
    return scope.expression("picture", "cells", expect=FIELD)


def check_units(
    model: WorldSpec, state: RecordType, figures: Iterable[Let], named: Namespace, scope: Scope
) -> Mapping[str, int]:
    """The units by what has them: an int of the state, figures or variables, or a function; else there is a finding."""
    types: dict[str, Type] = {variable.name: variable.read.type for variable in named.variables}
    types |= {name: type_ for let in figures for name, type_ in let.types.items()} | dict(state.fields)
    known = [*(name for name, type_ in types.items() if type(type_) is IntType), *model.functions]
    for name in (name for name in model.units if name not in known and types.get(name) is not MISTAKEN):
        message = f"{name!r} is no int of the state, `record`, `opening`, `receipt` or `variables`, and no function"
        scope.wrong(E_WORLD_UNIT, message, "units", name, near=suggest(name, known))
    return model.units


def _check_codes(model: WorldSpec, scope: Scope) -> None:
    """Each colour belongs to a constant of the world, and no two to the same integer."""
    seen: dict[int, str] = {}
    assert model.picture is not None  # noqa: S101 - looked at before
    for name in sorted(model.picture.colours):
        value = model.constants.get(name)
        if not isinstance(value, int) or isinstance(value, bool):
            codes = [known for known, constant in model.constants.items() if isinstance(constant, int)]
            _wrong(scope, f"{name!r} is no constant of this world that is an int", codes, name, "colours", name)
        elif value in seen:
            _wrong(scope, f"{name!r} is the same integer as {seen[value]!r}", (), name, "colours", name)
        else:
            seen[value] = name


def _at(state: RecordType, path: str) -> Type | None:
    """The type at a dotted path of the state, or None where there is none."""
    type_: Type | None = state
    for name in path.split("."):
        if type_ is MISTAKEN:
            return MISTAKEN
        type_ = type_.fields.get(name) if isinstance(type_, RecordType) and name not in type_.optional else None
    return type_


def _same(type_: Type | None, wanted: Type) -> bool:
    return type_ is not None and assignable(type_, wanted) and assignable(wanted, type_)


def _wrong(scope: Scope, message: str, known: Iterable[str], name: str, *path: str) -> None:
    scope.wrong(E_PICTURE, message, "picture", *path, near=suggest(name, known))
