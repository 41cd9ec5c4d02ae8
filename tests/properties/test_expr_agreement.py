"""Three evaluations of one expression agree: the exact one, the generated code, and the reference engine's.

Expressions are drawn well-typed over an environment with every kind of name; values are drawn at the edges of their types.
"""

import math
import re
from functools import cache

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from specledger.core.diagnostics import Diagnostics
from specledger.core.spans import Text
from specledger.expr import (
    BOOL,
    DOUBLE,
    DYN,
    FIXED,
    INT,
    STRING,
    Defined,
    Emitter,
    Environment,
    EvaluationError,
    FixedType,
    IntType,
    ListType,
    MapType,
    Native,
    RecordType,
    Signature,
    TypeVariable,
    check,
    compile_expression,
    conforms,
    contains,
    evaluate,
)
from specledger.expr.eval import evaluator as evaluator_module
from specledger.expr.eval.builtins import PROFILE_FUNCTIONS, STANDARD
from specledger.expr.generate import emitter as emitter_module
from specledger.expr.generate import source as source_module
from specledger.expr.limits import INT_MAX, INT_MIN
from specledger.expr.unparse import to_cel
from specledger.verify.reference import Reference
from tests.conftest import examples

CELL = RecordType("cell", {"x": INT, "y": IntType(-2, 5)})
NEAR = Defined((), Text.inline("dist(here, {'x': 0, 'y': 0})"))
FAR = Defined((), Text.inline("near * 2 + size(spots.filter(e, e.x > near))"))
RECORD = RecordType(
    "record",
    {"here": CELL, "spots": ListType(CELL, 4), "grid": ListType(ListType(IntType(0, 9))), "o": INT, "props": DYN},
    frozenset({"o"}),
    {"near": NEAR, "far": FAR},
)


def halved(value):
    if value % 2:
        raise EvaluationError("E_EVAL_ARGUMENT", "odd")
    return value // 2


T = TypeVariable("T")
FUNCTIONS: dict[str, Native | Defined] = {
    "inside": Defined(("c",), Text.inline("c.x >= 0 && c.y >= 0 && c.y < size(grid) && c.x < size(grid[0])")),
    "at": Defined(("c",), Text.inline("inside(c) ? grid[c.y][c.x] : WALL")),
    "dist": Defined(("a", "b"), Text.inline("math.abs(a.x - b.x) + math.abs(a.y - b.y)")),
    "pick": Defined(("c", "a", "b"), Text.inline("c ? a : b")),
    "twice": Defined(("v",), Text.inline("v + v")),
    "ignore": Defined(("v",), Text.inline("true")),
    "close": Defined(("c",), Text.inline("cells.filter(e, dist(e, c) <= 2).map(e, e.x)")),
    "halved": Native("halved", (Signature((INT,), INT),), halved),
    "first_of": Native("first_of", (Signature((ListType(T), T), T),), lambda xs, x: xs[0] if xs else x, total=True),
}
VARIABLES = {
    "i": INT, "j": IntType(-5, 20), "k": IntType(0, 100), "x": DOUBLE, "z": DOUBLE, "b": BOOL, "s": STRING, "d": DYN,
    "ints": ListType(INT), "few": ListType(IntType(-9, 9), 6), "doubles": ListType(DOUBLE), "strings": ListType(STRING),
    "p": CELL, "q": CELL, "cells": ListType(CELL, 5), "grid": ListType(ListType(IntType(0, 9), 4), 4),
    "rec": RECORD, "m": MapType(INT), "dyns": ListType(DYN), "u": FIXED, "w": FixedType(-5000, 2500000),
}  # fmt: skip
ENVIRONMENT = Environment(VARIABLES, FUNCTIONS, {"WALL": (INT, 1), "NAMES": (ListType(STRING), ["a", "k", "é"])})

EDGES = [0, 1, -1, 2, 7, -7, 63, 64, INT_MAX, INT_MIN, INT_MAX - 1, INT_MIN + 1, 2**53 + 1, 2**31, 3037000500]
integers = st.sampled_from(EDGES) | st.integers(INT_MIN, INT_MAX)
doubles = st.sampled_from([0.0, -0.0, 1.5, -2.5, 0.5, 1e300, math.inf, -math.inf, math.nan, 9.3e18, 4.0]) | st.floats()
strings = st.sampled_from(["", "a", "k", "12", "-3", "1.5", "é", "🐱a", "true", "x\ny"]) | st.text("ab", max_size=3)
scalars = st.none() | st.booleans() | integers | doubles | strings
dyns = scalars | st.lists(scalars, max_size=3) | st.dictionaries(st.sampled_from(["k", "x"]), scalars, max_size=2)
small = st.integers(-3, 6)
cells = st.fixed_dictionaries({"x": small | integers, "y": st.integers(-2, 5)})
grids = st.lists(st.lists(st.integers(0, 9), max_size=4), max_size=4)
records = st.fixed_dictionaries(
    {"here": cells, "spots": st.lists(cells, max_size=4), "grid": grids, "props": dyns}, optional={"o": integers}
)
BINDINGS = st.fixed_dictionaries(
    {
        "i": integers | small, "j": st.integers(-5, 20), "k": st.integers(0, 100), "x": doubles, "z": doubles,
        "b": st.booleans(), "s": strings, "d": dyns, "ints": st.lists(integers | small, max_size=4),
        "few": st.lists(st.integers(-9, 9), max_size=6), "doubles": st.lists(doubles, max_size=3),
        "strings": st.lists(strings, max_size=3), "p": cells, "q": cells, "cells": st.lists(cells, max_size=5),
        "grid": grids, "rec": records, "m": st.dictionaries(strings, integers, max_size=3),
        "dyns": st.lists(dyns, max_size=3), "u": integers | small, "w": st.integers(-5000, 2500000),
    }
)  # fmt: skip

# `{kind}` is an expression of that kind; `@kind` declares a macro's variable of that kind, visible up to the next `~`.
LEAVES = {
    "int": ["i", "j", "k", "0", "1", "-1", "2", "7", "9223372036854775807", "-9223372036854775808", "WALL", "rec.o",
            "rec.near", "rec.far", "p.x", "q.y", "size(ints)", "m['k']", "m.a"],
    "double": ["x", "z", "0.0", "1.5", "-2.0", "1e300", "0.5"],
    "bool": ["b", "true", "false", "has(rec.o)", "has(m.k)", "inside(p)"],
    "string": ["s", "'a'", "''", "'12'", "'é'"],
    "ints": ["ints", "few", "[]", "[1, 2]", "grid[0]", "range(k)", "close(q)"],
    "doubles": ["doubles", "[1.0, x]"],
    "strings": ["strings", "NAMES", "[s, 'a']"],
    "cell": ["p", "q", "rec.here", "cells[0]"],
    "cells": ["cells", "rec.spots", "[p, q]", "cells.filter(e, false)"],
    "dyn": ["d", "rec.props", "dyns[0]", "d.k", "d[0]"],
    "fixed": ["u", "w", "qfixed(2.5)"],
}  # fmt: skip
INTS = [
    "({int} + {int})",
    "({int} - {int})",
    "({int} * {int})",
    "{int} / {int}",
    "({int} % {int})",
    "-({int})",
    "{int} + {int} - {int}",
    "({int} / 3)",
    "({int} / -2)",
    "({int} % 4)",
    "({int} % -3)",
    "({bool} ? {int} : {int})",
]
PRODUCTIONS = {
    "int": [*INTS, "{ints}[{int}]", "{cell}.x", "{cell}.y", "math.abs({int})", "math.greatest({int}, {int})",
            "math.least({int}, {int}, {int})", "math.greatest({ints})", "math.least([{int}, {int}])", "size({string})",
            "size({ints})", "{cells}.size()", "sum({ints})", "isqrt({int})", "argmin({ints})", "argmax({doubles})",
            "minimum({ints}, {int})", "maximum({ints}, {int})", "int({double})", "int({string})", "int({dyn})",
            "math.bitAnd({int}, {int})", "math.bitXor({int}, {int})", "math.bitOr({int}, {int})", "math.bitNot({int})",
            "math.bitShiftLeft({int}, {int})", "math.bitShiftRight({int}, {int})", "math.sign({int})", "at({cell})",
            "dist({cell}, {cell})", "twice({int})", "halved({int})", "first_of({ints}, {int})",
            "pick({bool}, {int}, {int})", "({dyn} + {int})", "({dyn} % {int})", "m[{string}]", "math.abs({int} - {int})",
            "math.abs({int} - {int}) + math.abs({int} - {int})", "sum({ints}.map(@int, {int})~)",
            "size({cells}.filter(@cell, {bool})~)", "minimum({cells}.map(@cell, {int}), 99)", "{'a': {int}}.a",
            "{'a': {int}, 'b': {int}}['a']", "({int} >= 0 ? {int} : i)", "(i > 0 && i < 9 ? few[i] : j)",
            "(p.x >= 0 ? ints[p.x] : p.x)", "{ ({int} + 0): {int} }[1]", "{ints}.reduce(@int, @int, i, {int})",
            "({fixed} / {fixed})", "millionths({fixed})", "argmax([{fixed}, 0.5])", "math.sign({fixed})",
            "size(closure({ints}, @int, {ints}, 2)~)", "{cells}.reduce(@cell, @cell, p, {cell})~.x"],
    "double": ["({double} + {double})", "({double} - {double})", "({double} * {double})", "({double} / {double})",
               "({double} / 2.0)", "-({double})", "double({int})", "double({string})", "double({dyn})", "{doubles}[{int}]",
               "math.ceil({double})", "math.floor({double})", "math.round({double})", "math.trunc({double})",
               "math.abs({double})", "math.sign({double})", "math.greatest({double}, {double})", "math.least({doubles})",
               "({bool} ? {double} : {double})", "minimum({doubles}, {double})"],
    "bool": ["({int} == {int})", "({int} != {int})", "({int} < {int})", "({int} >= {int})", "({double} < {double})",
             "({double} == {double})", "({string} == {string})", "({string} < {string})", "({bool} == {bool})",
             "({bool} && {bool})", "({bool} || {bool})", "({bool} && {bool} && {bool})", "!({bool})", "({int} in {ints})",
             "({string} in {strings})", "({string} in m)", "({double} in {doubles})", "({int} in [1, 2, 3])",
             "({string} in ['a', 'b'])", "{string}.contains({string})", "{string}.startsWith({string})",
             "{string}.endsWith({string})", "({ints} == {ints})", "({doubles} == {doubles})", "({cell} == {cell})",
             "({cell} in {cells})", "({dyn} == {int})", "({dyn} == {double})", "({dyn} == {string})", "({dyn} == {dyn})",
             "({dyn} != null)", "({dyn} < {int})", "({dyn} >= {double})", "({dyn} in {ints})", "({dyn} && {bool})",
             "({bool} || {dyn})", "bool({string})", "inside({cell})", "ignore({int})", "ignore({dyn})",
             "math.isNaN({double})", "math.isInf({double})", "({bool} ? {bool} : {bool})", "{ints}.all(@int, {bool})",
             "{ints}.exists(@int, {bool})", "{ints}.exists_one(@int, {bool})", "{cells}.exists(@cell, {bool})",
             "{strings}.all(@string, {bool})", "m.exists(@string, {bool})", "{ints}.filter(@int, {bool})~.all(@int, {bool})",
             "({fixed} < {fixed})", "({fixed} == {fixed})", "({fixed} >= -0.5)", "(0 < {fixed})", "({fixed} in [0.5, u])",
             "dyns.exists(@dyn, {bool})", "has({dyn}.k)", "({int} in { ({int} + 0): {bool} })", "(b ? {dyn} : {bool})"],
    "string": ["({string} + {string})", "string({int})", "string({bool})", "{strings}[{int}]",
               "({bool} ? {string} : {string})", "pick({bool}, {string}, {string})"],
    "ints": ["({ints} + {ints})", "[{int}, {int}]", "[{int}]", "{ints}.map(@int, {int})", "{cells}.map(@cell, {int})",
             "{ints}.filter(@int, {bool})", "{ints}.map(@int, {bool}, {int})", "({bool} ? {ints} : {ints})",
             "{ints}.filter(@int, {bool})~.map(@int, {int})", "close({cell})", "range({int})", "grid[{int}]"],
    "doubles": ["[{double}, {double}]", "{ints}.map(@int, {double})", "({doubles} + {doubles})"],
    "strings": ["[{string}]", "{ints}.map(@int, {string})", "({strings} + {strings})"],
    "cell": ["{'x': {int}, 'y': j % 3}", "{cells}[{int}]", "({bool} ? {cell} : {cell})", "first_of({cells}, {cell})"],
    "cells": ["{cells}.filter(@cell, {bool})", "({cells} + {cells})", "sort_by({cells}, ['y', 'x'])",
              "{ints}.map(@int, {cell})", "{ints}.reduce(@cells, @int, [], {cells})",
             "closure({cells}, @cell, {cells}, 3).map(v0, v0.item)"],
    "fixed": ["({fixed} + {fixed})", "({fixed} - 0.25)", "({fixed} * ({int}))", "(({int}) * {fixed})", "({fixed} / ({int}))",
              "({fixed} % {fixed})", "-({fixed})", "qfixed({int})", "({bool} ? {fixed} : 0.25)", "math.abs({fixed})",
              "math.greatest({fixed}, 1.5, {fixed})", "sum([{fixed}, 0.5])", "minimum([{fixed}], 1.0)",
              "{ints}.reduce(@fixed, @int, u, {fixed})"],
    "dyn": ["{dyn}.k", "{dyn}[{int}]", "({bool} ? {dyn} : {int})", "first_of(dyns, {dyn})"],
}  # fmt: skip
ROOTS = ["int", "fixed", "double", "bool", "bool", "string", "ints", "cells", "cell", "dyn"]


@st.composite
def expressions(draw, depth=4):
    def expand(template, scope, left):
        return "".join(expand_part(part, scope, left) for part in template.split("~"))

    def expand_part(template, scope, left):
        parts = re.split(r"@(\w+)", template, maxsplit=1)
        text = re.sub(r"\{(\w+)\}", lambda match: grow(match[1], scope, left), parts[0])
        if len(parts) == 1:
            return text
        name = f"v{len(scope)}"
        return text + name + expand_part(parts[2], [*scope, (name, parts[1])], left)

    def grow(kind, scope, left):
        own = [name for name, of in scope if of == kind]
        leaves = LEAVES[kind] + own * 4
        if kind == "int":
            leaves += [f"{name}.x" for name, of in scope if of == "cell"] * 3
        return expand(draw(st.sampled_from(leaves + (PRODUCTIONS[kind] * 2 if left > 0 else []))), scope, left - 1)

    return grow(draw(st.sampled_from(ROOTS)), [], depth)


def checked_of(text):
    diagnostics = Diagnostics()
    checked = check(Text.inline(text), ENVIRONMENT, diagnostics)
    if checked is None:
        untyped = {"E_EXPR_TYPE", "E_EXPR_ARGUMENTS"} if "[]" in text else set()  # elements of `[]` may be anything
        codes = {found.code for found in diagnostics.sorted()}
        assert codes <= {"E_EXPR_LIMIT"} | untyped, (text, diagnostics.sorted())
    return checked


def same(a, b):
    """Equal with types, NaN and signs of zero told apart."""
    if type(a) is not type(b):
        return False
    if isinstance(a, float):
        return (math.isnan(a) and math.isnan(b)) or (a == b and math.copysign(1, a) == math.copysign(1, b))
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(value, b[key]) for key, value in a.items())
    return a == b


def outcome(function, *args):
    try:
        return "value", function(*args)
    except EvaluationError as error:
        return "error", error.code


def fast_function(checked):
    emitter = Emitter()
    names = {name: emitter.local(name) for name in sorted(checked.variables)}
    name = emitter.function("f", list(names.values()), [f"return {emitter.expression(checked, names)}"])
    return emitter.build()[name]


def assert_agreement(checked, values):
    exact = outcome(evaluate, checked, values)
    args = [values[name] for name in sorted(checked.variables)]
    try:
        fast = fast_function(checked)(*args)
    except Exception:
        event("fast code left it to the exact evaluation")
    else:
        assert exact[0] == "value", (to_cel(checked), exact, fast)
        assert same(fast, exact[1])
    event(exact[0])
    return exact


@pytest.mark.medium
@settings(max_examples=examples(150))
@given(expressions(), BINDINGS, st.sampled_from([0, 5, 20, 60, 200]))
def test_counted_work_stops_both_at_the_same_point(text, values, limit):
    checked = checked_of(text)
    if checked is None:
        return
    with pytest.MonkeyPatch.context() as patch:
        for module, most in [(emitter_module, -1), (evaluator_module, limit), (source_module, limit)]:
            patch.setattr(module, "MAX_WORK", most)
        assert assert_agreement(checked, values) is not None


@pytest.mark.medium
@settings(max_examples=examples(100))
@given(expressions(), BINDINGS)
def test_reads_and_variables_are_all_that_matters(text, values):
    checked = checked_of(text)
    if checked is None:
        return
    assert {path[0] for path in checked.reads} <= checked.variables
    pruned = {name: value for name, value in values.items() if name in checked.variables}
    full, less = outcome(evaluate, checked, values), outcome(evaluate, checked, pruned)
    assert full[0] == less[0]
    assert same(full[1], less[1])
    for name in ("p", "q"):
        read = {path[1] for path in checked.reads if path[0] == name and len(path) > 1}
        if name in checked.variables and (name,) not in checked.reads:
            changed = {**pruned, name: {key: pruned[name][key] if key in read else 3 for key in pruned[name]}}
            assert same(full[1], outcome(evaluate, checked, changed)[1])


# ---- the reference engine


@cache
def reference():
    cel = pytest.importorskip("cel_expr_python.cel", reason="the reference engine (extra `judge`) is not installed")
    from cel_expr_python.ext import ext_math

    kind = cel.Type
    anything = kind.Map(kind.STRING, kind.DYN)
    types = {
        "i": kind.INT, "j": kind.INT, "k": kind.INT, "x": kind.DOUBLE, "z": kind.DOUBLE, "b": kind.BOOL,
        "s": kind.STRING, "d": kind.DYN, "ints": kind.List(kind.INT), "few": kind.List(kind.INT),
        "doubles": kind.List(kind.DOUBLE), "strings": kind.List(kind.STRING), "p": anything, "q": anything,
        "cells": kind.List(anything), "grid": kind.List(kind.List(kind.INT)), "rec": anything,
        "m": kind.Map(kind.STRING, kind.INT), "dyns": kind.List(kind.DYN), "u": kind.INT, "w": kind.INT,
    }  # fmt: skip
    natives = [STANDARD[name] for name in PROFILE_FUNCTIONS] + [
        each for each in FUNCTIONS.values() if isinstance(each, Native)
    ]
    declared = [
        cel.FunctionDecl(
            native.name,
            [
                cel.Overload(f"{native.name}_{count}", kind.DYN, [kind.DYN] * count, False, plainly(native.call))
                for count in sorted({len(signature.params) for signature in native.overloads})
            ],
        )
        for native in natives
    ]
    extensions = [ext_math.ExtMath(), cel.CelExtension("ours", declared)]
    return cel.NewEnv(variables=types, extensions=extensions)


def plainly(call):
    def with_plain_values(*args):
        return call(*map(plain, args))

    return with_plain_values


def plain(value):
    value = value.plain_value() if hasattr(value, "plain_value") else value
    if isinstance(value, list) or (hasattr(value, "__getitem__") and not isinstance(value, dict | str)):
        return [plain(each) for each in value]
    return {key: plain(each) for key, each in value.items()} if isinstance(value, dict) else value


def reference_outcome(text, values):
    """(kind, value) of the reference engine; None where its own bounds refuse the expression."""
    for unchecked in (False, True):
        try:
            value = reference().compile(text, disable_check=unchecked).eval(data=values)
        except RuntimeError as error:
            if "recursion" in str(error) or "invalid single argument" in str(error):  # `math.greatest([])`
                return None
            if unchecked:
                return "error", str(error)
            continue
        if value.type().name() == "ERROR":
            return "error", value.plain_value()
        return "value", plain(value)
    raise AssertionError(text)


@pytest.mark.medium
@settings(max_examples=examples(300))
@given(expressions(), BINDINGS)
def test_exact_generated_and_reference_evaluation_agree(text, values):
    checked = checked_of(text)
    if checked is None:
        return
    kind, value = assert_agreement(checked, values)
    compiled = outcome(compile_expression(checked, sorted(values)), *(values[name] for name in sorted(values)))
    assert compiled[0] == kind
    assert same(compiled[1], value)
    assert contains(checked.type, checked.type)
    if kind == "value":
        assert conforms(value, checked.type), (text, value, checked.type)
    wanted = {name: values[name] for name in checked.variables}
    ours = {"reduce", "closure"} & Reference().ours((checked,), {})
    judged = None if ours else reference_outcome(to_cel(checked), wanted)
    if judged is None:
        event("beyond the reference engine")
        return
    assert judged[0] == kind, (to_cel(checked), wanted, judged, value)
    if kind == "value":
        assert same(judged[1], value), (to_cel(checked), wanted, judged, value)
