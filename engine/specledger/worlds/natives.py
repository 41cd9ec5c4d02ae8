"""Field functions under the names by which expressions call them, also written out over the cells of small matrices.

A function that is written out gives the same as its namesake in `fields`. A scalar is given as its source, a field as
its rows of sources. `strict` raises ValueError where sizes differ: the call is then left as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any, Final

from specledger.expr import INT, EvaluationError, IntType, ListType, Native, RecordType, Signature
from specledger.expr.check.types import Type
from specledger.expr.errors import E_EVAL_ARGUMENT
from specledger.lang.declare import CELL, FIELD, FIELD_SIDE
from specledger.worlds import fields

Cells = list[list[str]]


def _each(form: str) -> Callable[[Cells, Cells], Cells]:
    def written(f: Cells, g: Cells) -> Cells:
        rows = zip(f, g, strict=True)
        return [[form.format(a, b) for a, b in zip(p, q, strict=True)] for p, q in rows]

    return written


def _of_each(form: str) -> Callable[..., Cells]:
    return lambda f, *given: [[form.format(a, *given) for a in row] for row in f]


def _scale(k: str, f: Cells) -> Cells:
    return [[f"{k} * {a}" for a in row] for row in f]


def _combine(weights: list[str], terms: list[Cells]) -> Cells:
    if not terms:
        raise ValueError("nothing to combine")
    result = [["" for _ in row] for row in terms[0]]
    for k, f in zip(weights, terms, strict=True):
        for line, row in zip(result, f, strict=True):
            for x, (before, a) in enumerate(zip(line, row, strict=True)):
                term = "" if k == "(0)" else a if k == "(1)" else f"{k} * {a}"
                line[x] = f"{before} + {term}" if before and term else before or term
    return [[cell or "0" for cell in line] for line in result]


def _cells(f: Cells) -> list[str]:
    return [a for row in f for a in row]


def _least(f: Cells) -> str:
    return f"min({', '.join(_cells(f))})" if len(_cells(f)) > 1 else f[0][0]


def _greatest(f: Cells) -> str:
    return f"max({', '.join(_cells(f))})" if len(_cells(f)) > 1 else f[0][0]


def _sum_sq(f: Cells) -> str:
    return " + ".join(f"{a} * {a}" for a in _cells(f))


def _differences(f: Cells) -> list[str]:
    across = [f"({b} - {a})" for row in f for a, b in pairwise(row)]
    return across + [f"({b} - {a})" for p, q in pairwise(f) for a, b in zip(p, q, strict=True)]


def _grad_energy(f: Cells) -> str:
    return " + ".join(f"{difference} * {difference}" for difference in _differences(f)) or "0"


def _laplacian(f: Cells) -> Cells:
    height, width = len(f), len(f[0])

    def cell(x: int, y: int) -> str:
        beside = [(x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1)]
        near = [f[b][a] for a, b in beside if 0 <= a < width and 0 <= b < height]
        return f"{' + '.join(near)} - {len(near)} * {f[y][x]}" if near else "0"

    return [[cell(x, y) for x in range(width)] for y in range(height)]


def _cells_where(sign: str) -> Callable[[Cells, str], str]:
    def written(f: Cells, bound: str) -> str:
        condition = " or ".join(f"{a} {sign} {bound}" for a in _cells(f))
        return f"call if {condition} else []"

    return written


WRITTEN: Final[Mapping[str, Callable[..., str | Cells]]] = {
    "field_add": _each("{} + {}"),
    "field_sub": _each("{} - {}"),
    "field_scale": _scale,
    "field_combine": _combine,
    "field_clamp": _of_each("{1} if {0} < {1} else {2} if {0} > {2} else {0}"),
    "field_floor": _of_each("{1} if {0} < {1} else {0}"),
    "field_over": _of_each("1 if {0} > {1} else 0"),
    "field_min": _least,
    "field_max": _greatest,
    "sum_sq": _sum_sq,
    "grad_energy": _grad_energy,
    "laplacian": _laplacian,
    "cells_at_least": _cells_where(">="),
    "cells_at_most": _cells_where("<="),
}
"""Name of a native -> how its calls are written out."""


def _strict(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with its ValueError turned into the evaluation error that expressions know."""

    def call(*args: Any) -> Any:
        try:
            return function(*args)
        except ValueError as error:
            raise EvaluationError(E_EVAL_ARGUMENT, f"{name}: {error}") from None

    return call


def native(function: Callable[..., Any], *params: Type, result: Type, cost: int = FIELD_SIDE) -> Native:
    """A Python function as expressions call it; its ValueError becomes an evaluation error."""
    name = function.__name__
    overloads, write = (Signature(params, result),), WRITTEN.get(name)
    written = None if write is None else _fitting(write, params)
    return Native(name, overloads, _strict(name, function), cost=cost, fast=function, written=written)


def _fitting(write: Callable[..., str | Cells], params: tuple[Type, ...]) -> Callable[..., str | Cells]:
    """The writer of a call, which refuses an argument whose elements it is not given."""

    def fits(given: Any, type_: Type) -> bool:
        if isinstance(type_, ListType):
            return type(given) is list and all(fits(item, type_.item) for item in given)
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
        native(fields.field_add, FIELD, FIELD, result=FIELD),
        native(fields.field_sub, FIELD, FIELD, result=FIELD),
        native(fields.field_scale, INT, FIELD, result=FIELD),
        native(fields.field_combine, ListType(INT), ListType(FIELD), result=FIELD, cost=0),
        native(fields.beside, FIELD, CELL, INT, result=IntType(0, 4), cost=0),
        native(fields.field_clamp, FIELD, INT, INT, result=FIELD),
        native(fields.field_floor, FIELD, INT, result=FIELD),
        native(fields.field_erode, FIELD, result=FIELD),
        native(fields.field_over, FIELD, INT, result=FIELD),
        native(fields.field_min, FIELD, result=INT),
        native(fields.field_max, FIELD, result=INT),
        native(fields.sum_sq, FIELD, result=_COUNT),
        native(fields.grad_energy, FIELD, result=_COUNT),
        native(fields.laplacian, FIELD, result=FIELD),
        native(fields.field_at, FIELD, CELL, INT, result=INT, cost=0),
        native(fields.field_put, FIELD, CELL, INT, result=FIELD),
        native(fields.window, FIELD, CELL, INT, INT, result=FIELD),
        native(fields.mask, FIELD, ListType(INT), result=FIELD),
        native(fields.mask_or, FIELD, FIELD, result=FIELD),
        native(fields.distances, FIELD, CELL, result=FIELD, cost=1024),
        native(fields.cells_at_least, FIELD, INT, result=_CELLS),
        native(fields.cells_at_most, FIELD, INT, result=_CELLS),
    )
}
"""Name -> native function, for every world's environment."""
