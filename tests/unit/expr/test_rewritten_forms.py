"""Statements of generated functions, and what they are rewritten to, line by line."""

import ast
from typing import Any

import pytest

from specledger.expr.generate.numbering import shape_of
from specledger.expr.generate.sharing import share
from specledger.expr.generate.source import Names

GLOBALS = frozenset({"twice", "noise", "overflow", "plus", "total", "safe", "keep", "bad", "W"})


def plus(first, second):
    """The sum of two matrices, cell by cell."""
    return [[f"({a} + {b})" for a, b in zip(*rows, strict=True)] for rows in zip(first, second, strict=True)]


def total(matrix):
    return "(" + " + ".join(cell for row in matrix for cell in row) + ")"


def safe(matrix):
    return f"(call if {matrix[0][0]} else 0)"


def keep(matrix):
    return matrix


def bad(matrix):
    raise TypeError


def rewritten(lines, expected):
    text = "def f1(x, y, state):\n" + "\n".join(f"    {line}" for line in lines)
    locals_ = {"x", "y", "state", "a", "b", "c", "n1", "n2"}
    names = Names(locals_, ["f1"], set(GLOBALS), set(GLOBALS - {"noise", "W"}))
    names.written.update(plus=plus, total=total, safe=safe, keep=keep, bad=bad)
    names.expected |= {name: shape_of(value) for name, value in (expected or {}).items()}
    return [line[4:] for line in ast.unparse(share(ast.parse(text), names)).splitlines()[1:]]


FIELD = {"state": {"f": [[1, 2]]}}
"""What is expected where a matrix of one row and two columns is."""

REWRITTEN: dict[str, tuple[list[str], Any, list[str]]] = {
    "sums of constants are folded": (["return 2 + 3"], None, ["return 5"]),
    "products and differences, too": (["return 2 * 3 - 1"], None, ["return 5"]),
    "quotients are not": (["return 7 // 2"], None, ["return 7 // 2"]),
    "a negated constant": (["return -(2)"], None, ["return -2"]),
    "inside another operation": (["return x + 2 * 3"], None, ["return x + 6"]),
    "texts are not": (["return 'a' + 'b'"], None, ["return 'a' + 'b'"]),
    "a copy is what was copied": (["a = x", "return a + x"], None, ["a = x", "return x + x"]),
    "a call is named, for what follows": (["return twice(x)"], None, ["return (s1_shared := twice(x))"]),
    "the same call in one expression": (
        ["return [twice(x), twice(x)]"],
        None,
        ["return [(s1_shared := twice(x)), s1_shared]"],
    ),
    "calls of other arguments": (
        ["return [twice(x), twice(y)]"],
        None,
        ["return [(s1_shared := twice(x)), (s2_shared := twice(y))]"],
    ),
    "a call that may give another value": (["return [noise(x), noise(x)]"], None, ["return [noise(x), noise(x)]"]),
    "functions of Python stay": (["return [len(x), len(x)]"], None, ["return [len(x), len(x)]"]),
    "also where a local holds the value": (["a = len(x)", "return len(x)"], None, ["a = len(x)", "return len(x)"]),
    "a call with names of arguments": (
        ["return [twice(x, k=1), twice(x, k=1)]"],
        None,
        ["return [twice(x, k=1), twice(x, k=1)]"],
    ),
    "equal sums": (["a = x + y", "b = x + y", "return [a, b]"], None, ["a = x + y", "b = a", "return [a, a]"]),
    "sums in another order": (
        ["a = x + y", "b = y + x", "return [a, b]"],
        None,
        ["a = x + y", "b = y + x", "return [a, b]"],
    ),
    "another operator": (["a = x + y", "b = x - y", "return b"], None, ["a = x + y", "b = x - y", "return b"]),
    "equal negations": (["a = -x", "b = -x", "return [a, b]"], None, ["a = -x", "b = -x", "return [a, a]"]),
    "other signs": (["a = not x", "b = -x", "return [a, b]"], None, ["a = not x", "b = -x", "return [a, b]"]),
    "equal checked integers": (
        [
            "a = (n1 if (n1 := x + 1) <= 9 else overflow())",
            "b = (n2 if (n2 := x + 1) <= 9 else overflow())",
            "return a + b",
        ],
        None,
        ["a = n1 if (n1 := (x + 1)) <= 9 else overflow()", "b = n1", "return n1 + n1"],
    ),
    "checked against another greatest one": (
        [
            "a = (n1 if (n1 := x + 1) <= 9 else overflow())",
            "b = (n2 if (n2 := x + 1) <= 8 else overflow())",
            "return a + b",
        ],
        None,
        [
            "a = n1 if (n1 := (x + 1)) <= 9 else overflow()",
            "b = n2 if (n2 := (x + 1)) <= 8 else overflow()",
            "return n1 + n2",
        ],
    ),
    "checked on both sides": (
        [
            "a = (n1 if -9 <= (n1 := x + 1) <= 9 else overflow())",
            "b = (n2 if -9 <= (n2 := x + 1) <= 9 else overflow())",
            "return b",
        ],
        None,
        ["a = n1 if -9 <= (n1 := (x + 1)) <= 9 else overflow()", "b = n1", "return n1"],
    ),
    "checked against another least one": (
        [
            "a = (n1 if -9 <= (n1 := x + 1) <= 9 else overflow())",
            "b = (n2 if -8 <= (n2 := x + 1) <= 9 else overflow())",
            "return b",
        ],
        None,
        [
            "a = n1 if -9 <= (n1 := (x + 1)) <= 9 else overflow()",
            "b = n2 if -8 <= (n2 := (x + 1)) <= 9 else overflow()",
            "return n2",
        ],
    ),
    "a call of one branch": (
        ["a = twice(x) if y else 0", "return twice(x)"],
        None,
        ["a = (s1_shared := twice(x)) if y else 0", "return (s2_shared := twice(x))"],
    ),
    "a call behind a condition": (
        ["a = y and twice(x)", "return twice(x)"],
        None,
        ["a = y and (s1_shared := twice(x))", "return (s2_shared := twice(x))"],
    ),
    "a call before it": (
        ["a = twice(x) and y", "return twice(x)"],
        None,
        ["a = (s1_shared := twice(x)) and y", "return s1_shared"],
    ),
    "a call behind a comparison": (
        ["a = twice(x) < y < twice(y)", "return [twice(x), twice(y)]"],
        None,
        ["a = (s1_shared := twice(x)) < y < (s2_shared := twice(y))", "return [s1_shared, (s3_shared := twice(y))]"],
    ),
    "equal comparisons, and another one": (
        ["a = x < y", "b = x < y", "c = x <= y", "return [a, b, c]"],
        None,
        ["a = x < y", "b = x < y", "c = x <= y", "return [a, a, c]"],
    ),
    "a field that was given": (["a = {'k': x}", "return a['k']"], None, ["a = {'k': x}", "return x"]),
    "two fields": (
        ["a = {'k': x, 'm': y}", "return [a['k'], a['m']]"],
        None,
        ["a = {'k': x, 'm': y}", "return [x, y]"],
    ),
    "fields of a copy and of what was copied": (
        ["a = {**state, 'k': x}", "return [a['k'], a['m'], state['m']]"],
        None,
        ["a = {**state, 'k': x}", "return [x, a['m'], state['m']]"],
    ),
    "a field of a display": (["return {'k': x}['k']"], None, ["return x"]),
    "beside a field that may be absent": (
        ["return {'k': x, 'm': state['o']}['k']"],
        None,
        ["return {'k': x, 'm': state['o']}['k']"],
    ),
    "beside a list of locals": (["return {'k': x, 'm': [1, y]}['k']"], None, ["return x"]),
    "a key that is no constant": (["return {x: 1}[x]"], None, ["return {x: 1}[x]"]),
    "a list is no scalar to be kept": (["a = [1, x]", "return a"], None, ["a = [1, x]", "return a"]),
    "lists of unknown parts": (
        ["a = [*x, 1]", "b = [*x, 1]", "return b"],
        None,
        ["a = [*x, 1]", "b = [*x, 1]", "return b"],
    ),
    "empty lists may grow": (["a = []", "b = []", "return b"], None, ["a = []", "b = []", "return b"]),
    "a field that was read": (["a = state['k']", "return state['k']"], None, ["a = state['k']", "return a"]),
    "an index that is no constant": (["a = state[x]", "return state[x]"], None, ["a = state[x]", "return state[x]"]),
    "what a list was given changes it": (
        ["a = []", "a.append(x)", "return twice(a)"],
        None,
        ["a = []", "a.append(x)", "return (s1_shared := twice(a))"],
    ),
    "what was read of it is forgotten": (
        ["a = state['k']", "b = twice(a)", "a.append(x)", "return [b, twice(a)]"],
        None,
        ["a = state['k']", "b = (s1_shared := twice(a))", "a.append(x)", "return [s1_shared, (s2_shared := twice(a))]"],
    ),
    "a name inside an expression": (
        ["a = (b := x + 1)", "return [b, x + 1]"],
        None,
        ["a = (b := (x + 1))", "return [b, b]"],
    ),
    "a global is no local": (["return W + W"], None, ["return W + W"]),
    "a global that a local holds": (["a = W", "return W"], None, ["a = W", "return a"]),
    "a function of the cells of a field": (
        ["return total(state['f'])"],
        FIELD,
        ["(s1_cell, s2_cell), = state['f']", "s3_cell = s1_cell + s2_cell", "return s3_cell"],
    ),
    "a matrix of two fields": (
        ["return plus(state['f'], state['f'])"],
        FIELD,
        [
            "(s1_cell, s2_cell), = state['f']",
            "s3_cell = s1_cell + s1_cell",
            "s4_cell = s2_cell + s2_cell",
            "return [[s3_cell, s4_cell]]",
        ],
    ),
    "matrices of sizes that do not fit": (
        ["return plus(state['f'], state['h'])"],
        {"state": {"f": [[1, 2]], "h": [[1]]}},
        [
            "(s1_cell, s2_cell), = state['f']",
            "(s3_cell,), = state['h']",
            "return (s4_shared := plus(state['f'], state['h']))",
        ],
    ),
    "one of unknown size": (
        ["return plus(state['f'], x)"],
        FIELD,
        ["(s1_cell, s2_cell), = state['f']", "return (s3_shared := plus(state['f'], x))"],
    ),
    "displays": (
        ["return plus([[1, x]], [[2, y]])"],
        None,
        ["s1_cell = 1 + 2", "s2_cell = x + y", "return [[s1_cell, s2_cell]]"],
    ),
    "cells that are locals": (["return keep([[1, x]])"], None, ["return [[1, x]]"]),
    "cells that are constants": (["return keep([[1, 2]])"], None, ["return [[1, 2]]"]),
    "a text that has the call in it": (["return safe([[x]])"], None, ["return safe([[x]]) if x else 0"]),
    "a function that refuses": (["return bad([[x]])"], None, ["return (s1_shared := bad([[x]]))"]),
    "a matrix is unpacked once": (
        ["a = state['f']", "return total(a) + total(a)"],
        FIELD,
        ["a = state['f']", "(s1_cell, s2_cell), = a", "s3_cell = s1_cell + s2_cell", "return s3_cell + s3_cell"],
    ),
    "before a condition": (
        ["a = state['f']", "return total(a) if x else 0"],
        FIELD,
        ["a = state['f']", "(s1_cell, s2_cell), = a", "s3_cell = s1_cell + s2_cell", "return s3_cell if x else 0"],
    ),
    "inside a condition": (
        ["return total(state['f']) if x else 0"],
        FIELD,
        ["(s1_cell, s2_cell), = state['f']", "s3_cell = s1_cell + s2_cell", "return s3_cell if x else 0"],
    ),
    "what the statement names itself stays in it": (
        ["return total([[(a := x + 1), a]])"],
        None,
        ["return (s1_shared := total([[(a := (x + 1)), a]]))"],
    ),
    "cells of a display are computed before it": (
        ["a = [[x + 1, y]]", "return total(a)"],
        None,
        ["s1_cell = x + 1", "a = [[s1_cell, y]]", "s2_cell = s1_cell + y", "return s2_cell"],
    ),
    "one cell": (
        ["a = [[x + y]]", "b = total(a)", "return b"],
        None,
        ["s1_cell = x + y", "a = [[s1_cell]]", "s2_cell = s1_cell", "b = s2_cell", "return s2_cell"],
    ),
}


@pytest.mark.parametrize(("lines", "expected", "found"), REWRITTEN.values(), ids=REWRITTEN)
def test_what_statements_are_rewritten_to(lines, expected, found):
    assert rewritten(lines, expected) == found
