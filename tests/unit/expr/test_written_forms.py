"""How each operator and function is written in generated code: plainly where types allow it, else checked or exact."""

import re

import pytest

from specledger.core.spans import Text
from specledger.expr import (
    BOOL,
    DOUBLE,
    INT,
    STRING,
    Defined,
    Emitter,
    Environment,
    IntType,
    ListType,
    MapType,
    RecordType,
)
from specledger.expr.check.types import DYN
from specledger.expr.generate import fast_forms, render

WORLD = Environment(
    variables={
        **{"a": INT, "b": INT, "n": IntType(0, 9), "m": IntType(-9, 9), "p": IntType(1, 9)},
        **{"x": DOUBLE, "y": DOUBLE, "s": STRING, "u": STRING, "c": BOOL, "d": DYN},
        **{"l": ListType(INT, 8), "k": ListType(IntType(0, 9), 5), "g": ListType(ListType(INT, 4), 4)},
        **{
            "q": ListType(DOUBLE, 4),
            "f": MapType(INT, STRING),
            "r": RecordType("r", {"x": INT, "l": ListType(INT, 8)}),
        },
    }
)
WRITTEN = {
    "a + b": "(v1 if MIN <= (v1 := a + b) <= MAX else g2())",
    "n + p": "(n + p)",
    "a - 1": "(v1 if MIN <= (v1 := a - 1) else g2())",
    "a * 2": "(v1 if MIN <= (v1 := a * 2) <= MAX else g2())",
    "n * p": "(n * p)",
    "-a": "(v1 if (v1 := -a) <= MAX else g2())",
    "-n": "(-n)",
    "-x": "(-x)",
    "!c": "(not c)",
    "a / b": "(v1 if (v1 := (a // b if (a >= 0) == (b > 0) else -(-a // b))) <= MAX else g2())",
    "a / 2": "(a // 2 if a >= 0 else -(-a // 2))",
    "n / p": "(n // p)",
    "m / p": "(m // p if m >= 0 else -(-m // p))",
    "m / 3": "(m // 3 if m >= 0 else -(-m // 3))",
    "(a + 1) / 3": "(v1 // 3 if (v1 := (v2 if (v2 := a + 1) <= MAX else g3())) >= 0 else -(-v1 // 3))",
    "a % b": "exact(a, b)",
    "n % p": "(n % p)",
    "m % p": "(m % p if m >= 0 else -(-m % p))",
    "m % 3": "(m % 3 if m >= 0 else -(-m % 3))",
    "(a + b) % 3": "(v1 % 3 if (v1 := (v2 if MIN <= (v2 := a + b) <= MAX else g3())) >= 0 else -(-v1 % 3))",
    "(a + b) % p": "(v1 % p if (v1 := (v2 if MIN <= (v2 := a + b) <= MAX else g3())) >= 0 else -(-v1 % p))",
    "m % m": "exact(m, m)",
    "x + y": "(x + y)",
    "x / 2.0": "(x / 2.0)",
    "x / 0.0": "g1(x, 0.0)",
    "x / y": "g1(x, y)",
    "x * y": "(x * y)",
    "s + u": "g1(s, u)",
    "l + l": "(l + l)",
    "k + k": "(k + k)",
    "a in l": "(a in l)",
    "a in k": "(a in k)",
    "s in f": "(s in f)",
    "a in [1, 2, 3]": "(a in (1, 2, 3,))",
    "a in [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]": "(a in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,))",
    "a in [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17]": "(a in constant)",
    "a in [1, b]": "(a in [1, b])",
    "x in q": "exact(x, q)",
    "a in []": "exact(a, [])",
    "a == b": "(a == b)",
    "x == y": "(x == y)",
    "s == u": "(s == u)",
    "l == l": "(l == l)",
    "q == q": "exact(q, q)",
    "r == r": "(r == r)",
    "a < b": "(a < b)",
    "s < u": "(s < u)",
    "d + a": "exact(d, a)",
    "d == a": "exact(d, a)",
    "d < a": "exact(d, a)",
    "d.x": "g1(d, 'x')",
    "d[0]": "g1(d, 0)",
    "d && c": "(g1(d) and c)",
    "d ? 1 : 2": "(1 if g1(d) else 2)",
    "r.x": "r['x']",
    "has(r.x)": "('x' in r)",
    'f["a"]': "f['a']",
    "l[0]": "l[0]",
    "l[a]": "l[a if a >= 0 else g1()]",
    "l[n]": "l[n]",
    "l[-1]": "l[(-1) if (-1) >= 0 else g1()]",
    "l[a + 1]": "l[v1 if (v1 := (v2 if (v2 := a + 1) <= MAX else g3())) >= 0 else g4()]",
    "g[n][m]": "g[n][m if m >= 0 else g1()]",
    "c && c || c": "((c and c) or c)",
    "c ? a : b": "(a if c else b)",
    "[1, 2]": "[1, 2]",
    "[a, 1]": "[a, 1]",
    "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]": "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]",
    "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17]": "constant",
    '{"a": 1, "b": a}': "{'a': 1, 'b': a}",
    "{s: 1}": "g1([(s, 1)])",
    "int(a)": "a",
    "int(x)": "int(x)",
    "int(s)": "int(s)",
    "double(a)": "float(a)",
    "double(x)": "x",
    "string(a)": "str(a)",
    "string(s)": "s",
    "bool(c)": "c",
    "bool(s)": "bool(s)",
    "size(l)": "len(l)",
    "s.contains(u)": "(u in s)",
    "s.startsWith(u)": "s.startswith(u)",
    "s.endsWith(u)": "s.endswith(u)",
    "math.bitAnd(a, b)": "(a & b)",
    "math.bitOr(a, b)": "(a | b)",
    "math.bitXor(a, b)": "(a ^ b)",
    "math.bitNot(a)": "(~a)",
    "math.greatest(a, b)": "(a if a >= b else b)",
    "math.greatest(a)": "a",
    "math.greatest(a, b, 3)": "max(a, b, 3)",
    "math.greatest(l)": "max(l)",
    "math.greatest(x, y)": "math(x, y)",
    "math.least(a, b)": "(a if a <= b else b)",
    "math.least(a + 1, b)": "(v1 if (v1 := (v2 if (v2 := a + 1) <= MAX else g3())) <= b else b)",
    "math.least(q)": "math(q)",
    "math.abs(a)": "(v1 if (v1 := abs(a)) <= MAX else g2())",
    "math.abs(n)": "(abs(n))",
    "math.abs(m)": "(abs(m))",
    "math.abs(x)": "abs(x)",
    "isqrt(n)": "isqrt(n)",
    "range(n)": "list(range(n))",
    "range(a)": "range(a)",
    "sum(l)": "(v1 if MIN <= (v1 := sum(l)) <= MAX else g2())",
    "sum(k)": "(sum(k))",
    "minimum(l, 0)": "min(l, default=0)",
    "maximum(k, 1)": "max(k, default=1)",
    "argmin(l)": "(l.index(min(l)) if l else -1)",
    "argmax(l + l)": "(v1.index(max(v1)) if (v1 := (l + l)) else -1)",
    "a * b * n": "(v1 if MIN <= (v1 := (v2 if MIN <= (v2 := a * b) <= MAX else g3()) * n) <= MAX else g3())",
    "9223372036854775807 + n": "(v1 if (v1 := MAX + n) <= MAX else g2())",
    "n - 9223372036854775807": "(n - MAX)",
}
"""In the text MAX and MIN are the ends of 64 bits, `g1` is what raises or checks, and names stand without numbers."""


def short(text):
    text = re.sub(r"\b[vgf]\d+_(\w+)", r"\1", text)
    text = text.replace(str(2**63 - 1), "MAX").replace(str(-(2**63)), "MIN")
    known: dict[str, str] = {}
    return re.sub(r"\b[vg]\d+\b", lambda found: known.setdefault(found[0], f"{found[0][0]}{len(known) + 1}"), text)


def written(checked, text):
    emitter = Emitter()
    expression = checked(text, WORLD)
    names = {name: emitter.local(name) for name in sorted(expression.variables)}
    return emitter.expression(expression, names), emitter


@pytest.mark.parametrize(("text", "code"), WRITTEN.items(), ids=WRITTEN)
def test_how_an_expression_is_written(checked, text, code):
    found, emitter = written(checked, text)
    assert short(found) == code
    assert emitter.source == ""


LOOPS = {
    "l.map(i, i)": ["n = []", "for t1 in c:", "    n.append(t1)", "return n"],
    "l.filter(i, i > 0)": ["n = []", "for t1 in c:", "    if (t1 > 0):", "        n.append(t1)", "return n"],
    "l.all(i, i > 0)": ["for t1 in c:", "    if not (t1 > 0):", "        return False", "return True"],
    "l.exists(i, i > 0)": ["for t1 in c:", "    if (t1 > 0):", "        return True", "return False"],
    "l.exists_one(i, i > 0)": ["n = 0", "for t1 in c:", "    if (t1 > 0):", "        n += 1", "return n == 1"],
    "l.map(i, i > 0, [i])": [
        "n = []",
        "for t1 in c:",
        "    if (t1 > 0):",
        "        n.append([t1])",
        "return n",
    ],
}


@pytest.mark.parametrize(("text", "lines"), LOOPS.items(), ids=LOOPS)
def test_a_macro_is_a_loop_in_a_function_of_its_own(checked, text, lines):
    found, emitter = written(checked, text)
    head, *body = emitter.source.splitlines()
    assert short(found) == f"{short(head).removeprefix('def ').partition('(')[0]}(l)"
    assert head.endswith("(c):")
    assert body == [f"    {line}" for line in lines]


CALLS = {
    "what is read from around it is handed in": ("l.map(i, i + n + m)", "map(l, n, m)", "map(c, a0, a1)"),
    "a range is gone over as it is": ("range(n).map(i, i)", "map(range(n))", "map(c)"),
    "what is dynamic must be a list": ("d.map(i, i)", "map(g1(d))", "map(c)"),
}


@pytest.mark.parametrize(("text", "call", "head"), CALLS.values(), ids=CALLS)
def test_what_a_loop_is_given(checked, text, call, head):
    found, emitter = written(checked, text)
    assert short(found) == call
    assert short(emitter.source.splitlines()[0]) == f"def {head}:"


SIZES = {
    "as many as are written out": (2, "[1, 2]"),
    "one more is a constant of the module": (1, "constant"),
}


@pytest.mark.parametrize(("most", "code"), SIZES.values(), ids=SIZES)
def test_a_long_list_of_constants_is_one_object(checked, monkeypatch, most, code):
    monkeypatch.setattr(fast_forms, "MOST_WRITTEN", most)
    assert short(written(checked, "[1, 2]")[0]) == code


SMALL = WORLD.extend(functions={"near": Defined(("v",), Text.inline("v + n < 5"))})
INLINED = {
    "a small one stands in place of its call": (5, 1, "near(n)", "((n + n) < 5)", False),
    "a larger one is a function": (4, 1, "near(n)", "near(n, n)", True),
    "one inside another is, where it is too deep": (5, 0, "near(n)", "near(n, n)", True),
    "one whose argument is computed is": (5, 1, "near(n + 1)", "near((n + 1), n)", True),
}


@pytest.mark.parametrize(("nodes", "depth", "text", "code", "made"), INLINED.values(), ids=INLINED)
def test_where_a_definition_stands(checked, monkeypatch, nodes, depth, text, code, made):
    monkeypatch.setattr(render, "_INLINE_NODES", nodes)
    monkeypatch.setattr(render, "_INLINE_DEPTH", depth)
    emitter = Emitter()
    expression = checked(text, SMALL)
    found = emitter.expression(expression, {name: emitter.local(name) for name in expression.variables})
    assert short(found) == code
    assert bool(emitter.source) is made


LEVELS = {3: ("((a and b) or c)", 0), 2: ("((a and b) or c)", 0), 1: ("(part(a, b) or c)", 1), 0: ("part(a, b, c)", 2)}


@pytest.mark.parametrize(("most", "code"), LEVELS.items(), ids=map(str, LEVELS))
def test_what_is_nested_too_deep_is_a_function_of_its_own(checked, monkeypatch, most, code):
    monkeypatch.setattr(render, "MOST_LEVELS", most)
    world = Environment(variables={"a": BOOL, "b": BOOL, "c": BOOL})
    emitter = Emitter()
    expression = checked("a && b || c", world)
    found = emitter.expression(expression, {name: emitter.local(name) for name in "abc"})
    assert (short(found), emitter.source.count("def ")) == code
