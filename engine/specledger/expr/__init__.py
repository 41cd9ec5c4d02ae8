"""CEL profile v1: expressions of specs, from text to a checked tree to a Python function.

Other packages bring an `Environment` of names and compose the generated functions. Source: CEL language definition
(github.com/google/cel-spec).

docs/expressions.md has the language: types, operators, macros, functions and limits. What else CEL has is refused
by name (`check.excluded_names`).

One expression:

    env = Environment(variables={"p": CELL, "grid": ListType(ListType(INT))}, constants={"WALL": (INT, 1)})
    checked = check(Text.inline("p.x >= 0 ? grid[p.y][p.x] : WALL"), env, diagnostics, expect=INT)
    if checked is not None:                     # None: `diagnostics` says why, with places
        checked.type, checked.variables, checked.reads   # IntType, {"p", "grid"}, {("p", "x"), ("p", "y"), ("grid",)}
        evaluate(checked, {"p": {"x": 0, "y": 0}, "grid": [[7]]})       # exact, bounded; raises EvaluationError
        run = compile_expression(checked, ["p", "grid"])                # fast, the same answers and errors
        run({"x": 0, "y": 0}, [[7]])

A module of composed functions, as a world makes it. `compose` is called once for each emitter: a fast one, one whose
expressions call the exact evaluator, and one that heeds `emitter.expect(local, example)`, for matrices of known sizes.
Whenever a faster function raises anything, the next slower one decides. Fast functions are rewritten before they run
(`sharing`), so that what two expressions have in common is computed once:

    def compose(emitter: Emitter) -> str:
        state, to, position, grid, dir = (emitter.local(hint) for hint in ("state", "to", "position", "grid", "dir"))
        names = {"position": position, "grid": grid, "dir": dir, "to": to}      # variable -> Python local
        return emitter.function("move", [state, dir], [
            f"{position} = {state}['position']",
            f"{grid} = {state}['grid']",
            f"{to} = {emitter.expression(let_to, names)}",                      # Checked of "offset(position, dir)"
            f"if not {emitter.expression(when, names)}:",                       # Checked of "inside(to)"
            f"    return {state}",
            f"return {{**{state}, 'position': {to}}}",
        ])

    move = compile_function(compose)            # move(state, dir); raises EvaluationError
    move({"position": {"x": 0, "y": 0}, "grid": [[0, 0]], "t": 0}, "E")

Lines are made only of fixed templates, names and expressions of the emitter, `emitter.constant(json_value)` and
`emitter.bind(python_object)`; never of text from a spec. `expression(...)` is an atom (safe beside any operator), must
not stand in the iterable of a Python comprehension, and its variables must be locals holding values of their types.
"""

from specledger.expr.check.checker import Checked, check
from specledger.expr.check.environment import Environment, Function
from specledger.expr.check.relations import assignable, conformer, conforms, contains, join
from specledger.expr.check.types import (
    BOOL,
    DOUBLE,
    DYN,
    FIXED,
    INT,
    JSON,
    MISTAKEN,
    NULL,
    STRING,
    Defined,
    FixedType,
    IntType,
    ListType,
    MapType,
    Native,
    RecordType,
    Signature,
    Type,
    TypeVariable,
    one_of,
)
from specledger.expr.errors import EvaluationError, MissingFieldError, listening
from specledger.expr.eval.evaluator import evaluate
from specledger.expr.generate.compiler import compile_expression, compile_function, compile_functions
from specledger.expr.generate.emitter import Emitter
from specledger.expr.parse.parser import parse
from specledger.expr.parse.syntax import Ast

__all__ = [
    "BOOL",
    "DOUBLE",
    "DYN",
    "FIXED",
    "INT",
    "JSON",
    "MISTAKEN",
    "NULL",
    "STRING",
    "Ast",
    "Checked",
    "Defined",
    "Emitter",
    "Environment",
    "EvaluationError",
    "FixedType",
    "Function",
    "IntType",
    "ListType",
    "MapType",
    "MissingFieldError",
    "Native",
    "RecordType",
    "Signature",
    "Type",
    "TypeVariable",
    "assignable",
    "check",
    "compile_expression",
    "compile_function",
    "compile_functions",
    "conformer",
    "conforms",
    "contains",
    "evaluate",
    "join",
    "listening",
    "one_of",
    "parse",
]
