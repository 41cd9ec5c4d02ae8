"""The field functions under the names by which expressions call them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from engine.expr import INT, EvaluationError, ListType, Native, RecordType, Signature
from engine.expr.errors import E_EVAL_ARGUMENT, E_EVAL_OVERFLOW
from engine.expr.limits import INT_MAX, INT_MIN
from engine.expr.statements.declare import CELL, FIELD
from engine.expr.types import Type
from engine.worlds import fields


def _strict(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with its ValueError turned into the evaluation error that expressions know."""

    def call(*args: Any) -> Any:
        try:
            return function(*args)
        except ValueError as error:
            raise EvaluationError(E_EVAL_ARGUMENT, f"{name}: {error}") from None

    return call


def _sized(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with results outside 64 bits turned into an overflow, as CEL's own arithmetic would."""

    def call(*args: Any) -> Any:
        result = function(*args)
        for row in result if isinstance(result, list) else [[result]]:
            for value in row:
                if not INT_MIN <= value <= INT_MAX:
                    raise EvaluationError(E_EVAL_OVERFLOW, f"{function.__name__}: a value leaves 64 bits")
        return result

    return call


def _native(
    function: Callable[..., Any], *params: Type, result: Type, cost: int = 64, total: bool = False, grows: bool = False
) -> Native:
    name = function.__name__
    call = function if total else _strict(name, _sized(function) if grows else function)
    return Native(name, (Signature(params, result),), call, total=total, cost=cost)


_CELLS = ListType(RecordType("cell", {"x": INT, "y": INT}))

FIELD_FUNCTIONS: Final[Mapping[str, Native]] = {
    native.name: native
    for native in (
        _native(fields.field_add, FIELD, FIELD, result=FIELD, grows=True),
        _native(fields.field_sub, FIELD, FIELD, result=FIELD, grows=True),
        _native(fields.field_scale, INT, FIELD, result=FIELD, grows=True),
        _native(fields.field_clamp, FIELD, INT, INT, result=FIELD, total=True),
        _native(fields.field_floor, FIELD, INT, result=FIELD, total=True),
        _native(fields.field_over, FIELD, INT, result=FIELD, total=True),
        _native(fields.field_min, FIELD, result=INT),
        _native(fields.field_max, FIELD, result=INT),
        _native(fields.sum_sq, FIELD, result=INT, grows=True),
        _native(fields.grad_energy, FIELD, result=INT, grows=True),
        _native(fields.laplacian, FIELD, result=FIELD, grows=True),
        _native(fields.field_at, FIELD, CELL, INT, result=INT, cost=2, total=True),
        _native(fields.field_put, FIELD, CELL, INT, result=FIELD, total=True),
        _native(fields.window, FIELD, CELL, INT, INT, result=FIELD),
        _native(fields.mask, FIELD, ListType(INT), result=FIELD, total=True),
        _native(fields.mask_or, FIELD, FIELD, result=FIELD),
        _native(fields.distances, FIELD, CELL, result=FIELD, cost=1024, total=True),
        _native(fields.cells_at_least, FIELD, INT, result=_CELLS, total=True),
        _native(fields.cells_at_most, FIELD, INT, result=_CELLS, total=True),
    )
}
"""Name -> native function, for every world's environment."""
