"""What expressions are worth, and how they fail: the same from the exact evaluation and from generated code."""

import math

import pytest

from specledger.core.spans import Text
from specledger.expr import DYN, EvaluationError, ListType, compile_expression, evaluate
from specledger.expr.limits import INT_MAX, INT_MIN

OVERFLOW, ZERO, KEY = "E_EVAL_OVERFLOW", "E_EVAL_DIVISION_BY_ZERO", "E_EVAL_NO_SUCH_KEY"
INDEX, ARGUMENT, WRONG, LIMIT = "E_EVAL_INDEX", "E_EVAL_ARGUMENT", "E_EVAL_TYPE", "E_EVAL_LIMIT"

VALUES = [
    # integers truncate and overflow
    ("7 / 2", 3), ("-7 / 2", -3), ("7 / -2", -3), ("-7 / -2", 3), ("7 % -2", 1), ("-7 % 2", -1), ("-7 % -2", -1),
    ("i / 2", 3), ("-i / 2", -3), ("i % 4", 3), ("(i - 10) / 2", -1), ("(i - 10) % 2", -1), ("i - 10 / 3 * 2", 1),
    ("-9223372036854775808", INT_MIN), ("9223372036854775807", INT_MAX), ("0x10", 16), ("-0x10", -16), ("--i", 7),
    ("-9223372036854775807 - 1", INT_MIN), ("math.abs(i - 9) + math.abs(9 - i)", 4), ("!!b", True),
    # doubles follow IEEE 754
    ("x / 0.0", math.inf), ("-x / 0.0", -math.inf), ("0.0 / 0.0 == 0.0 / 0.0", False), ("x * 1e308 * 1e308", math.inf),
    ("1.0 / -0.0", -math.inf), ("double(i) / 2.0", 3.5), ("math.round(-0.5)", -1.0), ("math.round(2.5)", 3.0),
    ("math.round(0.49999999999999994)", 0.0), ("math.ceil(-0.5)", -0.0), ("math.trunc(-1.5)", -1.0), ("math.floor(x)", 2.0),
    # strings are code points
    ("size(s)", 5), ("s.size()", 5), ("s + '!'", "héllo!"), ("'a' < 'b' && 'Z' < 'a'", True), ("s.contains('él')", True),
    ("s.startsWith('h') && s.endsWith('lo')", True), ("r'\\d' + '\\x41\\u00e9\\U0001f600\\101'", "\\dAé😀A"), ("''''a'b'''", "'a'b"),
    # lists and maps
    ("ints[0] + ints[n - 1]", 5), ("ints + [9]", [3, 1, 2, 9]), ("2 in ints", True), ("'a' in m", True), ("m['b'] + m.a", 3),
    ("{'x': 1, 'y': i}.y", 7), ("{i: 'seven'}[7]", "seven"), ("{true: 1}[b]", 1), ("size({'a': 1, 'b': 2})", 2), ("size(m)", 2), ("size(maybe)", 1), ("size(full)", 2),
    ("[[1], []] == [[1], []]", True), ("p == {'y': 0, 'x': 1}", True), ("[p, q][1].x", -2), ("doubles == doubles", True),
    ("{'a': x} == {'a': x}", True), ("has(maybe.o)", False), ("has(maybe.a)", True), ("has(m.zzz)", False), ("has(next.threat)", True), ("has({'a': 1}.b)", False),
    ("p['x']", 1), ("{'a': 1, 'b': 2}[strings[0]]", 2), ("'x' in p", True), ("deep.er.name", 12), ("NAMES[1]", "E"), ("[1, 2,]", [1, 2]),
    # macros
    ("ints.all(v, v > 0)", True), ("ints.exists(v, v == 2)", True), ("ints.exists_one(v, v > 1)", False), ("ints.map(v, v * 2)", [6, 2, 4]),
    ("ints.map(v, v > 1, v * v)", [9, 4]), ("ints.filter(v, v != 1)", [3, 2]), ("m.all(k, m[k] > 0)", True), ("p.exists(k, k == 'y')", True),
    ("[].all(v, v > 0)", True), ("[].exists(v, v > 0)", False), ("ints.filter(v, v > 1).filter(w, w < 3).exists_one(u, true)", True),
    ("ints.map(a, ints.map(b, a * b).filter(c, c > a))", [[9, 6], [3, 2], [6, 4]]), ("hazards.filter(h, dist(h, here) < 3).map(h, h.id)", ["h1"]),
    # conditions
    ("b ? 1 : 2", 1), ("!b ? 1 : i > 3 ? 2 : 3", 2), ("b || 1 / 0 == 1", True), ("1 / 0 == 1 || b", True), ("!b && 1 / 0 == 1", False),
    ("1 / 0 == 1 && !b", False), ("false ? 1 / 0 : 5", 5), ("[0, 1].exists(v, 1 / v == 1)", True), ("[0, 2].all(v, 1 / v == 1)", False),
    # dynamic values
    ("d.k[0] + 1", 2), ("d.k[1] == 2", True), ("d.k[0] == 1.0", True), ("d.k[0] < 1.5", True), ("d.k[2] == 'z'", True), ("d.k[2] == 1", False),
    ("d == null", False), ("d.k[0] in ints", True), ("size(d.k)", 3), ("d.k.exists(v, v == 'z')", True), ("int(d.k[1])", 2), ("'k' in d", True),
    ("d['k'][d.k[0]]", 2.0), ("string(d.k[0])", "1"), ("has(d.k) && !has(d.z)", True), ("d.k.map(v, v == 1)", [True, False, False]),
    ("{'a': d}.a.k[0] == 1", True), ("!(d.k[0] == d.k[1])", True),
    # functions of the standard
    ("int('-12') + int(2.9) + int(-2.9) + int(i)", -5), ("double('1e3')", 1000.0), ("string(i) + string(b)", "7true"), ("bool('True')", True),
    ("math.greatest(3, i, 5)", 7), ("math.least([4, 2, 3])", 2), ("math.greatest(1.5, x)", 2.5), ("math.sign(-i)", -1), ("math.isNaN(0.0 / 0.0)", True),
    ("math.bitAnd(12, 10)", 8), ("math.bitOr(12, 10)", 14), ("math.bitXor(12, 10)", 6), ("math.bitNot(0)", -1), ("math.bitShiftLeft(1, 63)", INT_MIN),
    ("math.bitShiftRight(-1, 1)", INT_MAX), ("math.bitShiftLeft(1, 64)", 0), ("math.isInf(x / 0.0) && math.isFinite(x)", True), ("math.sign(-x)", -1.0),
    # ours
    ("sum(ints)", 6), ("sum([])", 0), ("isqrt(99)", 9), ("argmin(ints)", 1), ("argmax([1, 5, 5])", 1), ("argmin([])", -1), ("argmax(doubles)", 0),
    ("minimum([], 9)", 9), ("minimum(ints, 9)", 1), ("maximum(ints, 9)", 3), ("maximum(doubles, 0.0)", 0.5), ("range(n)", [0, 1, 2]), ("range(-1)", []),
    ("sum(range(5).map(v, v * v))", 30), ("sort_by(hazards, ['kind', 'id']).map(h, h.id)", ["h2", "h1"]), ("sort_by(hazards, ['x'])[0].id", "h1"),
    # functions of the spec
    ("at(p)", 6), ("at(q)", 1), ("at({'x': 0, 'y': 1})", 7), ("twice(i) + size(twice(s))", 24), ("threat", 2), ("next.threat", 1), ("next.danger", True),
    ("inside(p) && !inside(q)", True), ("near(p, 1)", True), ("field_sum(grid)", 26), ("dist(hazards[1], p)", 3),
]  # fmt: skip

ERRORS = [
    ("9223372036854775807 + i", OVERFLOW, "9223372036854775807 + i"), ("-9223372036854775808 - i", OVERFLOW, None), ("9223372036854775807 * i", OVERFLOW, None),
    ("-(-9223372036854775808 + i - 7)", OVERFLOW, "-("), ("(-9223372036854775808 + i - 7) / -1", OVERFLOW, None), ("(-9223372036854775808 + i - 7) % -1", OVERFLOW, None),
    ("math.abs(-9223372036854775808 + i - 7)", OVERFLOW, "math.abs("), ("sum([9223372036854775807, i])", OVERFLOW, "sum("), ("int(x * 1e300)", OVERFLOW, None),
    ("sum([4611686018427387904] + [4611686018427387904])", OVERFLOW, "sum("), ("size(maybe) - 9223372036854775807 - 3", OVERFLOW, None), ("9223372036854775806 + size(full)", OVERFLOW, None),
    ("int(9223372036854775807.0)", OVERFLOW, None), ("int('9223372036854775808')", OVERFLOW, None), ("(9223372036854775807 + i) - i", OVERFLOW, "9223372036854775807 + i"),
    # a field that nobody selects
    ("{'a': 6, 'b': n / (n - n)}.a", ZERO, "n / (n"), ("{'a': n, 'b': ints[i + 9]}.a + 1", INDEX, "ints[i"), ("{'a': {'c': [n / (i - i)]}, 'b': n}.b", ZERO, "n / (i"),
    ("1 / (i - 7)", ZERO, "1 / (i"), ("i % (n - 3)", ZERO, "i % (n"), ("b && 1 / (i - 7) == 1", ZERO, "1 / (i"), ("!b || 1 / (i - 7) == 1", ZERO, None),
    ("ints[3]", INDEX, "ints[3]"), ("ints[-1]", INDEX, None), ("ints[n - 4]", INDEX, None), ("ints[i - 8]", INDEX, None), ("[][i]", INDEX, None), ("[1][d.k[0]]", INDEX, None),
    ("m['z']", KEY, "m['z']"), ("m.z", KEY, "m.z"), ("maybe.o", KEY, "maybe.o"), ("{i: 1}[8]", KEY, None), ("d.z", KEY, "d.z"), ("d['z']", KEY, None),
    ("isqrt(-i)", ARGUMENT, "isqrt("), ("math.greatest(ints.filter(v, v > 9))", ARGUMENT, None), ("int('1x')", ARGUMENT, None), ("int(' 1')", ARGUMENT, None), ("int('1_0')", ARGUMENT, None),
    ("double('1,5')", ARGUMENT, None), ("double('0x1p3')", ARGUMENT, None), ("bool('yes')", ARGUMENT, None), ("math.bitShiftLeft(1, -i)", ARGUMENT, None), ("{s: 1, s: 2}", ARGUMENT, "s: 2}"),
    ("field_sum([[1001]])", ARGUMENT, "field_sum("), ("d + 1", WRONG, "d + 1"), ("d && b", WRONG, "d"), ("d ? 1 : 2", WRONG, "d"), ("d.k.z", WRONG, "d.k.z"), ("d < 1", WRONG, None),
    ("-d", WRONG, None), ("!d", WRONG, None), ("d - d", WRONG, None), ("d * d", WRONG, None), ("d / d", WRONG, None), ("d % 2", WRONG, None), ("1 in d.k[0]", WRONG, None), ("d.k[0][0]", WRONG, None),
    ("d[0]", KEY, None), ("d.k['a']", WRONG, None), ("size(d.k[0])", WRONG, "size("), ("d.map(v, v)", WRONG, "d.map("), ("d.k[0].all(v, true)", WRONG, None), ("string(d.k[1])", WRONG, None),
    ("int(d)", WRONG, None), ("bool(d)", WRONG, None), ("double(d)", WRONG, None), ("near(d, 1)", WRONG, "near("), ("[1, 2].filter(v, d)", WRONG, "d"), ("math.abs(d)", WRONG, None),
    ("has(d.k.z)", WRONG, None), ("math.greatest(d, 1)", WRONG, None), ("math.greatest(d.k[0], d.k[1])", WRONG, None), ("math.sign(d)", WRONG, None), ("d.k[2] + 1", WRONG, None), ("d.k[0] + 1.0", WRONG, None),
    ("range(70000)", LIMIT, "range("), ("range(60000) + range(60000)", LIMIT, None), ("range(60000).all(a, !range(60000).exists(c, c > a + 70000))", LIMIT, None),
    ("range(60000).map(a, range(60000)) == []", LIMIT, None), ("b || range(60000).all(a, range(60000).exists(c, c > 70000))", True, None),
    ("range(60000).all(a, !range(60000).exists(c, c > 70000)) || b", LIMIT, None),
]  # fmt: skip


def same(a, b):
    if isinstance(a, float) and isinstance(b, float):
        return (math.isnan(a) and math.isnan(b)) or (a == b and math.copysign(1, a) == math.copysign(1, b))
    return type(a) is type(b) and a == b


@pytest.mark.parametrize(("text", "value"), VALUES, ids=[text[:50] for text, _ in VALUES])
def test_value(checked, values, text, value):
    found = checked(text)
    assert same(evaluate(found, values), value)
    order = sorted(found.variables)
    assert same(compile_expression(found, order)(*(values[name] for name in order)), value)


@pytest.mark.parametrize(
    ("text", "code", "part"),
    [
        pytest.param(*row, id=row[0][:50], marks=[pytest.mark.slow] * (row[0].count("range(60000).") > 1))
        for row in ERRORS
    ],
)
def test_error(checked, values, text, code, part):
    found = checked(text)
    order = sorted(found.variables)
    compiled = compile_expression(found, order)
    for run in (lambda: evaluate(found, values), lambda: compiled(*(values[name] for name in order))):
        if code is True:
            assert run() is True
            continue
        with pytest.raises(EvaluationError) as raised:
            run()
        assert raised.value.code == code
        assert raised.value.text == Text.inline(text)
        if part is not None:
            assert text[raised.value.offset :].startswith(part)
        assert str(raised.value).startswith(f"{code}: ")


def test_an_error_in_a_function_is_placed_in_its_body(checked, values):
    with pytest.raises(EvaluationError) as raised:
        evaluate(checked("twice(9223372036854775807)"), values)
    assert str(raised.value.span) == "functions.yaml:1:1"


def test_an_absorbed_error_leaves_the_place_of_a_later_one(checked, values):
    with pytest.raises(EvaluationError) as raised:
        evaluate(checked("(twice(9223372036854775807) == 1 || b) && next.hazards[5].x == 0"), values)
    assert raised.value.text == Text.inline("(twice(9223372036854775807) == 1 || b) && next.hazards[5].x == 0")


WORK = {
    "ints.all(v, true)": 2,
    "ints.all(v, v > 0)": 4,
    "ints.filter(v, v > 0)": 4,
    "ints.map(v, v > 0, v)": 5,
    "ints.map(v, ints.map(w, v + w))": 3,  # the loop inside counts when it begins
    "ints.map(v, twice(v))": 1 + 2 + 3,
}


@pytest.mark.parametrize(("text", "work"), WORK.items())
def test_the_work_of_an_item_is_one_and_the_nodes_of_what_is_done_with_it(checked, text, work):
    assert checked(text).root.weight == work


def test_work_is_counted_anew_for_each_evaluation(checked, values):
    found = checked("range(1000).all(v, range(300).exists(w, w >= 0))")
    compiled = compile_expression(found, [])
    assert all(compiled() for _ in range(4))
    assert all(evaluate(found, values) for _ in range(4))


def test_a_missing_binding_is_the_callers_mistake(checked):
    with pytest.raises(KeyError, match="p, q"):
        evaluate(checked("dist(p, q)"), {})
    with pytest.raises(ValueError, match="without a local"):
        compile_expression(checked("dist(p, q)"), ["p"])


def test_values_are_not_changed(checked, values):
    before = repr(values)
    for text, _ in VALUES:
        evaluate(checked(text), values)
    assert repr(values) == before


def test_a_long_string_is_refused(checked, environment, values):
    found = checked("l.map(v, s + s)[0]", environment.extend(variables={"l": ListType(DYN)}))
    long = {"l": [1], "s": "a" * 40_000}
    for run in (lambda: evaluate(found, long), lambda: compile_expression(found, ["l", "s"])([1], long["s"])):
        with pytest.raises(EvaluationError, match="E_EVAL_LIMIT"):
            run()
