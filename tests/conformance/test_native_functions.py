"""What a function written in Python costs, what it may return, and whether it can fail, as the checker of types relies on.

Another cost is another bound of work of every expression that calls it; another range is a check at run time less.
"""

from importlib import import_module

import pytest

FUNCTIONS: dict[str, dict[str, tuple[int, bool, str]]] = {
    "expr.eval.builtins": {
        "size": (
            1,
            True,
            "int -9223372036854775808..9223372036854775807; int -9223372036854775808..9223372036854775807; int -9223372036854775808..9223372036854775807",
        ),
        "int": (
            1,
            False,
            "int -9223372036854775808..9223372036854775807; int -9223372036854775808..9223372036854775807; int -9223372036854775808..9223372036854775807",
        ),
        "double": (1, False, "double; double; double"),
        "string": (1, True, "string; string; string"),
        "bool": (1, False, "bool; bool"),
        "math.abs": (
            1,
            False,
            "int -9223372036854775808..9223372036854775807; qfixed -9223372036854775808..9223372036854775807; double",
        ),
        "math.greatest": (
            1,
            False,
            "int -9223372036854775808..9223372036854775807; qfixed -9223372036854775808..9223372036854775807; double; ..., int -9223372036854775808..9223372036854775807; ..., qfixed -9223372036854775808..9223372036854775807; ..., double",
        ),
        "math.least": (
            1,
            False,
            "int -9223372036854775808..9223372036854775807; qfixed -9223372036854775808..9223372036854775807; double; ..., int -9223372036854775808..9223372036854775807; ..., qfixed -9223372036854775808..9223372036854775807; ..., double",
        ),
        "math.ceil": (1, True, "double"),
        "math.floor": (1, True, "double"),
        "math.round": (1, True, "double"),
        "math.trunc": (1, True, "double"),
        "math.sign": (1, True, "int -1..1; int -1..1; double"),
        "math.isNaN": (1, True, "bool"),
        "math.isInf": (1, True, "bool"),
        "math.isFinite": (1, True, "bool"),
        "math.bitAnd": (1, True, "int -9223372036854775808..9223372036854775807"),
        "math.bitOr": (1, True, "int -9223372036854775808..9223372036854775807"),
        "math.bitXor": (1, True, "int -9223372036854775808..9223372036854775807"),
        "math.bitNot": (1, True, "int -9223372036854775808..9223372036854775807"),
        "math.bitShiftLeft": (1, False, "int -9223372036854775808..9223372036854775807"),
        "math.bitShiftRight": (1, False, "int -9223372036854775808..9223372036854775807"),
        "qfixed": (1, False, "qfixed -9223372036854775808..9223372036854775807"),
        "millionths": (1, True, "int -9223372036854775808..9223372036854775807"),
        "sum": (
            1,
            False,
            "int -9223372036854775808..9223372036854775807; qfixed -9223372036854775808..9223372036854775807",
        ),
        "isqrt": (1, False, "int -9223372036854775808..9223372036854775807"),
        "argmin": (1, True, "int -1..65536; int -1..65536; int -1..65536"),
        "argmax": (1, True, "int -1..65536; int -1..65536; int -1..65536"),
        "minimum": (
            1,
            True,
            "int -9223372036854775808..9223372036854775807; qfixed -9223372036854775808..9223372036854775807; double",
        ),
        "maximum": (
            1,
            True,
            "int -9223372036854775808..9223372036854775807; qfixed -9223372036854775808..9223372036854775807; double",
        ),
        "range": (1, False, "list<int>"),
        "sort_by": (8, False, "list<T>"),
    },
    "worlds.cells": {
        "ring": (1, False, "list<cell>"),
        "cells_by_distance": (1, False, "list<cell>"),
        "cells_mask": (16, False, "list<list<int>>"),
        "dilate": (1024, False, "list<list<int>>"),
        "reach": (256, False, "int 0..8321"),
        "wall_edits": (20, False, "list<list<cell>>"),
        "fresh": (1, False, "string"),
    },
    "worlds.natives": {
        "field_add": (256, False, "list<list<int>>"),
        "field_sub": (256, False, "list<list<int>>"),
        "field_scale": (256, False, "list<list<int>>"),
        "field_combine": (0, False, "list<list<int>>"),
        "beside": (0, False, "int 0..4"),
        "field_clamp": (256, False, "list<list<int>>"),
        "field_floor": (256, False, "list<list<int>>"),
        "field_erode": (256, False, "list<list<int>>"),
        "field_over": (256, False, "list<list<int>>"),
        "field_min": (256, False, "int -9223372036854775808..9223372036854775807"),
        "field_max": (256, False, "int -9223372036854775808..9223372036854775807"),
        "sum_sq": (256, False, "int 0..9223372036854775807"),
        "grad_energy": (256, False, "int 0..9223372036854775807"),
        "laplacian": (256, False, "list<list<int>>"),
        "field_at": (0, False, "int -9223372036854775808..9223372036854775807"),
        "field_put": (256, False, "list<list<int>>"),
        "window": (256, False, "list<list<int>>"),
        "mask": (256, False, "list<list<int>>"),
        "mask_or": (256, False, "list<list<int>>"),
        "distances": (1024, False, "list<list<int>>"),
        "cells_at_least": (256, False, "list<cell>"),
        "cells_at_most": (256, False, "list<cell>"),
    },
    "worlds.paths": {
        "field_paste": (256, False, "list<list<int>>"),
        "field_count": (256, False, "int 0..9223372036854775807"),
        "open_distances": (1024, False, "list<list<int>>"),
        "path_length": (1024, False, "int -1..9223372036854775807"),
        "viability": (65536, False, "list<list<list<int>>>"),
        "digest_of": (256, False, "string"),
    },
}


def functions_of(module):
    """The functions of a module, in its table or tables."""
    tables = [value for name, value in vars(module).items() if name.endswith("_FUNCTIONS") or name.startswith("_OF_")]
    rows = [row for table in tables for row in (table.values() if hasattr(table, "values") else table)]
    return {row.name: row for row in rows if hasattr(row, "overloads")}


def results_of(function):
    return "; ".join(f"{'..., ' if each.variadic else ''}{written(each.result)}" for each in function.overloads)


def written(type_):
    """A type with the range of its integers."""
    low, high = (getattr(type_, end, None) for end in ("low", "high"))
    return str(type_) if low is high is None else f"{type_} {low}..{high}"


@pytest.mark.parametrize("module", FUNCTIONS)
def test_what_the_checker_of_types_relies_on(module):
    found = functions_of(import_module(f"specledger.{module}"))
    assert {name: (each.cost, each.total, results_of(each)) for name, each in found.items()} == FUNCTIONS[module]
