"""The field functions under the names by which expressions call them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from specledger.expr import INT, EvaluationError, IntType, ListType, Native, RecordType, Signature
from specledger.expr.check.types import Type
from specledger.expr.errors import E_EVAL_ARGUMENT
from specledger.lang.declare import CELL, FIELD, FIELD_SIDE
from specledger.worlds import fields
from specledger.worlds.written import WRITTEN, Cells


def _strict(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with its ValueError turned into the evaluation error that expressions know."""

    def call(*args: Any) -> Any:
        try:
            return function(*args)
        except ValueError as error:
            raise EvaluationError(E_EVAL_ARGUMENT, f"{name}: {error}") from None

    return call


def _native(function: Callable[..., Any], *params: Type, result: Type, cost: int = FIELD_SIDE) -> Native:
    name = function.__name__
    overloads, write = (Signature(params, result),), WRITTEN.get(name)
    written = None if write is None else _fitting(write, params)
    return Native(name, overloads, _strict(name, function), cost=cost, fast=function, written=written)


def _fitting(write: Callable[..., str | Cells], params: tuple[Type, ...]) -> Callable[..., str | Cells]:
    """The writer of a call, which refuses an argument whose elements it is not given."""

    def fits(given: Any, type_: Type) -> bool:
        if isinstance(type_, ListType):
            return type(given) is list and all(fits(each, type_.item) for each in given)
        return type(given) is str

    def written(*given: Any) -> str | Cells:
        if not all(map(fits, given, params)):
            raise TypeError("an argument's elements are not known")
        return write(*given)

    return written


_COUNT = IntType(low=0)
_CELLS = ListType(RecordType("cell", {"x": INT, "y": INT}))

FIELD_FUNCTIONS: Final[Mapping[str, Native]] = {
    native.name: native
    for native in (
        _native(fields.field_add, FIELD, FIELD, result=FIELD),
        _native(fields.field_sub, FIELD, FIELD, result=FIELD),
        _native(fields.field_scale, INT, FIELD, result=FIELD),
        _native(fields.field_combine, ListType(INT), ListType(FIELD), result=FIELD, cost=0),
        _native(fields.beside, FIELD, CELL, INT, result=IntType(0, 4), cost=0),
        _native(fields.field_clamp, FIELD, INT, INT, result=FIELD),
        _native(fields.field_floor, FIELD, INT, result=FIELD),
        _native(fields.field_over, FIELD, INT, result=FIELD),
        _native(fields.field_min, FIELD, result=INT),
        _native(fields.field_max, FIELD, result=INT),
        _native(fields.sum_sq, FIELD, result=_COUNT),
        _native(fields.grad_energy, FIELD, result=_COUNT),
        _native(fields.laplacian, FIELD, result=FIELD),
        _native(fields.field_at, FIELD, CELL, INT, result=INT, cost=0),
        _native(fields.field_put, FIELD, CELL, INT, result=FIELD),
        _native(fields.window, FIELD, CELL, INT, INT, result=FIELD),
        _native(fields.mask, FIELD, ListType(INT), result=FIELD),
        _native(fields.mask_or, FIELD, FIELD, result=FIELD),
        _native(fields.distances, FIELD, CELL, result=FIELD, cost=1024),
        _native(fields.cells_at_least, FIELD, INT, result=_CELLS),
        _native(fields.cells_at_most, FIELD, INT, result=_CELLS),
    )
}
"""Name -> native function, for every world's environment."""
