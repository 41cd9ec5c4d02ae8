"""Every mistake has a code, the exact place, and words that help."""

import pytest

from specledger.core.diagnostics import Diagnostics, codes, render
from specledger.core.spans import Position, Text
from specledger.expr import BOOL, DOUBLE, INT, STRING, Defined, IntType, ListType, RecordType, check
from specledger.expr import errors as errors_module

SYNTAX, NAME, FIELD, TYPE = "E_EXPR_SYNTAX", "E_EXPR_UNKNOWN_NAME", "E_EXPR_UNKNOWN_FIELD", "E_EXPR_TYPE"
PROMOTION, OUTSIDE, LIMIT = "E_EXPR_NO_PROMOTION", "E_EXPR_OUTSIDE_PROFILE", "E_EXPR_LIMIT"
ARGUMENTS, RECURSION, CAPTURE = "E_EXPR_ARGUMENTS", "E_EXPR_RECURSION", "E_EXPR_CAPTURE"

# text, code, the part that is pointed at, words of the message, words of the hint (None: no hint)
CASES = [
    # grammar
    ("1 +", SYNTAX, "", "ends too early", None),
    ("", SYNTAX, "", "ends too early: expected a value", None),
    ("i = 1", SYNTAX, "=", "`=` has no meaning", "`==`"),
    ("b & b", SYNTAX, "&", "no meaning", "`&&`"),
    ("b and b", SYNTAX, "and", "unexpected", "`&&`"),
    ("not b", SYNTAX, "not", "not a word of CEL", "write `!`"),
    # habits of other languages
    ("i => 3", SYNTAX, "=>", "not an operator of CEL", "write `>=`"),
    ("i =< 3", SYNTAX, "=<", "not an operator of CEL", "write `<=`"),
    ("i <> 3", SYNTAX, "<>", "not an operator of CEL", "write `!=`"),
    ("i === 3", SYNTAX, "===", "not an operator of CEL", "write `==`"),
    ("i ** 2", SYNTAX, "**", "not an operator of CEL", "`n * n`"),
    ("i += 1", SYNTAX, "+=", "not an operator of CEL", "changes nothing"),
    ("i ≥ 3", SYNTAX, "≥", "no meaning", "write `>=`"),
    ("b or b", SYNTAX, "or", "unexpected", "`||`"),
    ("i not in ints", SYNTAX, "not", "unexpected", "`!(x in list)`"),
    ("i is 3", SYNTAX, "is", "unexpected", "`==`"),
    ("if b then 1 else 2", SYNTAX, "if", "reserved word", "`condition ? a : b`"),
    ("len(ints)", NAME, "len", "unknown function `len`", "`size(ints)`"),
    ("ints.length", TYPE, "ints.length", "has no fields", "`size(ints)`"),
    ("max(i, 3)", NAME, "max", "unknown function `max`", "`math.greatest(a, b)`"),
    ("any(ints)", NAME, "any", "unknown function `any`", "`list.exists(x, condition)`"),
    ("str(i)", NAME, "str", "unknown function `str`", "`string(i)`"),
    ("ints.contains(3)", TYPE, "ints", "cannot take", "`3 in ints`"),
    ("1 < i < 5", TYPE, "1 < i < 5", "cannot take bool and int", "`1 < i && i < 5`"),
    ("s == forward", NAME, "forward", "unknown name", "`'forward'`"),
    ("None", NAME, "None", "unknown name `None`", "`null`"),
    ("(i + 1", SYNTAX, "", "expected `)`", None),
    ("[1, 2", SYNTAX, "", "expected `,` or `]`", None),
    ("b ? 1", SYNTAX, "", "expected `:`", None),
    ("b ? b ? 1 : 2 : 3", SYNTAX, "b ?", "needs brackets", "(b ? c : d)"),
    ("f(1,)", SYNTAX, ")", "expected an argument", None),
    ("1 2", SYNTAX, "2", "unexpected int", None),
    ("p.1", SYNTAX, ".1", "unexpected double", None),
    ("'abc", SYNTAX, "'", "no closing quote", "`\\'`"),
    ("'a\\q'", SYNTAX, "\\", "no such escape", "`\\\\`"),
    ("'\\ud800'", SYNTAX, "\\ud800", "no such character", None),
    ("9223372036854775808", SYNTAX, "9223372036854775808", "does not fit 64 bits", None),
    ("1e999", SYNTAX, "1e999", "does not fit a double", None),
    ("for", SYNTAX, "for", "reserved word", None),
    ("😀 + 1", SYNTAX, "😀", "`😀` has no meaning", None),
    ("i\x00", SYNTAX, "\x00", "`U+0000` has no meaning", None),
    ("!-i", SYNTAX, "-", "expected a value", None),
    # names
    ("outcome", NAME, "outcome", "unknown name `outcome`", "`spec explain outcome` says what it is, and which places can read it"),
    ("postion + 1", NAME, "postion", "unknown name `postion`", "here can be read `i`"),
    ("hazard", NAME, "hazard", "unknown name `hazard`", "`hazards`"),
    ("True", NAME, "True", "unknown name `True`", "`true`"),
    ("dist", NAME, "dist", "`dist` is a function", "`dist(...)`"),
    ("dits(p, q)", NAME, "dits", "unknown function `dits`", "`dist`"),
    ("math.absolute(i)", NAME, "math.absolute", "unknown function `math.absolute`", None),
    ("ints.len()", NAME, "len", "unknown function `len`", "`size(ints)`"),
    ("ints.sum()", NAME, "ints.sum()", "not called on a value", "`sum(ints)`"),
    ("s.startswith('a')", NAME, "startswith", "unknown function", "`startsWith`"),
    ("ints.all(v, w > 0)", NAME, "w", "unknown name `w`", None),
    ("ints.all(v, v > 0) && v > 0", NAME, "v", "unknown name `v`", None),
    # fields
    ("p.z", FIELD, "z", "cell has no field `z`", "`x`, `y`"),
    ("hazards[0].kin", FIELD, "kin", "hazard has no field `kin`", "`kind`"),
    ("next.thret", FIELD, "thret", "no field `thret`", "`threat`"),
    ("has(p.z)", FIELD, "z", "no field `z`", "`x`"),
    ("p['z']", FIELD, "'z'", "no field `z`", None),
    ("{'a': 1}.b", FIELD, "b", "{a: int} has no field `b`", None),
    # types
    ("i + 's'", TYPE, "i + 's'", "`+` cannot take int and string", "`string(n)`"),
    ("i && b", TYPE, "i", "must be a bool, not int", "`i != 0`"),
    ("b ? 1 : 's'", TYPE, "b ? 1 : 's'", "different types: int and string", None),
    ("s ? 1 : 2", TYPE, "s", "the condition of `?` must be a bool", None),
    ("!i", TYPE, "!i", "`!` needs a bool", None),
    ("-s", TYPE, "-s", "`-` needs a number", None),
    ("s.foo", TYPE, "s.foo", "string has no fields", None),
    ("ints['a']", TYPE, "'a'", "indexed by an int, not by string", None),
    ("ints[1.0]", TYPE, "1.0", "indexed by an int, not by double", None),
    ("m[1]", TYPE, "1", "keys of this map are string", None),
    ("mixed[s]", TYPE, "s", "a field must be named", None),
    ("p[1]", TYPE, "1", "named by strings", None),
    ("i[0]", TYPE, "i[0]", "int has no items", None),
    ("p == 1", TYPE, "p == 1", "can never be equal", None),
    ("i == null", TYPE, "i == null", "can never be equal", "`has(record.field)`"),
    ("'a' in s", TYPE, "'a' in s", "not into string", "`text.contains(part)`"),
    ("s in ints", TYPE, "s in ints", "`in` cannot take", None),
    ("p < q", TYPE, "p < q", "`<` cannot take cell and cell", None),
    ("i.all(v, true)", TYPE, "i", "goes over a list, not over int", None),
    ("ints.filter(v, v)", TYPE, "v", "predicate of `filter` must be a bool", None),
    ("size(i)", TYPE, "size(i)", "`size` cannot take (int)", None),
    ("isqrt('a')", TYPE, "'a'", "`isqrt` cannot take (string)", None),
    ("near(i, 2)", TYPE, "i", "`near` cannot take (int, int)", None),
    ("{[1]: 2}", TYPE, "[1]", "keys of a map are strings", None),
    ("{d: 2}", TYPE, "d", "not dyn", None),
    ("has(ints.a)", TYPE, "has(ints.a)", "has no fields", None),
    # int and double
    ("x + 1", PROMOTION, "x + 1", "mixes double and int", "`1.0`"),
    ("i * x", PROMOTION, "i * x", "mixes int and double", "`double(i)`"),
    ("size(ints) > x", PROMOTION, "size(ints) > x", "mixes int and double", "`double(size(ints))`"),
    ("WALL == HALF", PROMOTION, "WALL == HALF", "mixes int and double", "`double(WALL)`"),
    ("1 in doubles", PROMOTION, "1 in doubles", "mixes", "`1.0`"),
    ("b ? i : x", PROMOTION, "b ? i : x", "different types: int and double", "`double(i)`"),
    ("minimum(doubles, 9)", PROMOTION, "minimum(doubles, 9)", "`minimum` mixes", "`9.0`"),
    # outside the profile
    ("1u", OUTSIDE, "1u", "unsigned", "`1`"),
    ("b'x'", OUTSIDE, "b'x'", "bytes", None),
    (".i", OUTSIDE, ".", "begin with a dot", None),
    ("p.?x", OUTSIDE, "?", "optional fields", None),
    ("ints[?0]", OUTSIDE, "?", "optional indices", None),
    ("[?i]", OUTSIDE, "?", "optional items", None),
    ("{?'a': 1}", OUTSIDE, "?", "optional entries", None),
    ("Cell{x: 1}", OUTSIDE, "Cell", "messages", None),
    ("s.matches('a+')", OUTSIDE, "matches", "regular expressions", "`contains`"),
    ("timestamp('2024-01-01T00:00:00Z')", OUTSIDE, "timestamp", "timestamps", None),
    ("type(i)", OUTSIDE, "type", "types as values", None),
    ("dyn(i)", OUTSIDE, "dyn", "types as values", "statically"),
    ("int", OUTSIDE, "int", "as a value", None),
    ("uint(i)", OUTSIDE, "uint", "unsigned", "`int`"),
    ("string(x)", OUTSIDE, "string(x)", "`string(double)`", "`string(int(x))`"),
    ("optional.of(1)", OUTSIDE, "optional.of", "optionals", None),
    ("cel.bind(v, 1, v)", OUTSIDE, "cel.bind", "bindings", "`let`"),
    ("math.sqrt(x)", OUTSIDE, "math.sqrt", "square roots", None),
    ("s.split(',')", OUTSIDE, "split", "string extension", None),
    ("ints.all(k, v, v > k)", OUTSIDE, "all(k, v, v > k)", "two variables", None),
    ("ints.transformList(k, v, v)", OUTSIDE, "transformList", "two variables", None),
    ("m.reduce(a, k, 0, 1)", OUTSIDE, None, "`reduce` over a map has no stated order", None),
    ("ints.reduce(a, v, 0, s)", TYPE, "s", "`a` begins as int, and what follows is string", "has the type of the one"),
    ("ints.reduce(a, v, [], [s] + a + [v])", TYPE, None, "`+`", None),
    ("closure(i, v, [v], 3)", TYPE, "i", "`closure` begins with a list, not with int", "`closure([i], ...)`"),
    ("closure([i], v, [s], 3)", TYPE, "[s]", "goes from int to a list of the same", "makes a list out of an item"),
    ("closure([x], v, [v], 3)", TYPE, "[v]", "cannot compare items of type double", "leave doubles out"),
    ("reduce(ints, a, v, 0, v)", NAME, "reduce", "unknown function `reduce`", "`list.reduce(sum, x, "),
    ("m.map(k, k)", OUTSIDE, "m.map(k, k)", "has no stated order", "`exists`"),
    ("m.filter(k, k == 'a')", OUTSIDE, "m.filter(k, k == 'a')", "no stated order", None),
    ("[1, 'a']", OUTSIDE, "'a'", "a list of int and string", "one type"),
    ("[1, 2.0]", OUTSIDE, "2.0", "a list of int and double", "`double(n)`"),
    ("{1: 2, 'a': 3}", OUTSIDE, "'a'", "a map with keys of int and string", None),
    ("{s: 2, 'a': 's'}", OUTSIDE, "'s'", "a map with values of int and string", None),
    ("math.greatest(1, 2.0)", OUTSIDE, "math.greatest(1, 2.0)", "mixes int and double", "`double(n)`"),
    ("{'a': 1, 'b': 's'} == {'a': 's', 'b': 1}", OUTSIDE, "{'a': 1, 'b': 's'} == {'a': 's', 'b': 1}", "mix types", None),
    # arguments
    ("has(p)", ARGUMENTS, "has(p)", "takes one field selection", "'key' in map"),
    ("has(p.x, p.y)", ARGUMENTS, "has(p.x, p.y)", "takes one field selection", None),
    ("dist(p)", ARGUMENTS, "dist(p)", "`dist` takes (a, b), not 1 argument", None),
    ("size()", ARGUMENTS, "size()", "`size` takes", None),
    ("math.abs(1, 2)", ARGUMENTS, "math.abs(1, 2)", "not 2 arguments", None),
    ("ints.all(v)", ARGUMENTS, "all(v)", "`all` takes a name and an expression", None),
    ("ints.map(1, 2)", ARGUMENTS, "1", "must be a plain name", "`.map(x, ...)`"),
    ("ints.map(p.x, 2)", ARGUMENTS, "p.x", "must be a plain name", None),
    ("ints.reduce(a, v, 0)", ARGUMENTS, "reduce(a, v, 0)", "`reduce` takes 4 arguments, not 3", "`list.reduce(sum, x, "),
    ("ints.reduce(1, v, 0, v)", ARGUMENTS, "1", "must be a plain name", "`list.reduce(sum, x, "),
    ("ints.reduce(v, v, 0, v)", ARGUMENTS, None, "both names of `reduce` are the same", None),
    ("closure([i], v, [v])", ARGUMENTS, "closure([i], v, [v])", "`closure` takes 4 arguments, not 3", "how many steps"),
    ("closure([i], v, [v], i)", ARGUMENTS, "i", "the limit of `closure` must be known", "a literal or a constant"),
    ("closure([i], v, [v], 70000)", LIMIT, "70000", "the limit of `closure` cannot be 70000", "from 0 to 65536"),
    ("closure([i], v, [v], -1)", LIMIT, "-1", "the limit of `closure` cannot be -1", "from 0 to 65536"),
    ("{'a': 1, 'a': 2}", ARGUMENTS, "'a'", "given twice", None),
    ("sort_by(hazards, strings)", ARGUMENTS, "sort_by(hazards, strings)", "field names in quotes", "`sort_by(items, "),
    ("sort_by(hazards, [])", ARGUMENTS, "sort_by(hazards, [])", "field names in quotes", None),
    ("sort_by(hazards, ['id', 'knd'])", FIELD, "'knd'", "no field `knd`", "`kind`"),
    ("sort_by([next], ['here'])", TYPE, "'here'", "orders ints, strings and bools", None),
    # functions
    ("again(i)", RECURSION, None, "`again` reaches itself: `again` -> `again`", None),
    ("ping(i)", RECURSION, None, "`ping` reaches itself: `ping` -> `pong` -> `ping`", None),
    ("self_made", RECURSION, None, "`self_made` -> `self_made`", None),
    ("1 + needy(i)", CAPTURE, "needy(i)", "function `needy` reads `absent`, which is not visible here", None),
    ("needier(i)", CAPTURE, "needier(i)", "function `needier` reads `absent` (through `needy`)", None),
    # size
    ("1" + " + 1" * 32, LIMIT, None, "more than 32 terms", "`let`"),
    ("b" + " && b" * 33, LIMIT, None, "more than 32 operators", None),
    ("(" * 33 + "1" + ")" * 33, LIMIT, "(", "more than 32 brackets", None),
    ("[" + "1," * 300 + "1]", LIMIT, None, "more than 256 items", None),
    ("i" + " " * 9000, LIMIT, None, "9001 characters", None),
    ("{'a': " * 24 + "i" + "}" * 24 + ".a" * 25, LIMIT, None, "more than 48 levels", None),
    ("ints.map(v, " * 7 + "i" + ")" * 7, LIMIT, None, "more than 6 macros", None),
]  # fmt: skip


@pytest.mark.parametrize(("text", "code", "part", "message", "hint"), CASES, ids=[case[0][:40] for case in CASES])
def test_a_mistake_is_found_at_its_place(findings, text, code, part, message, hint):
    (found,) = findings(text)
    assert found.code == code
    assert message in found.message
    if hint is not None:
        assert found.hint is not None
        assert hint in found.hint
    if part is not None:
        start = text.rindex(part) if part else len(text)
        wanted = Text.inline(text).span(start, start + len(part))
        assert (found.span.start, found.span.end) == (wanted.start, wanted.end)


def test_a_place_in_a_function_is_told_with_its_calls(findings):
    (found,) = findings("1 + twice(p)")
    assert (found.code, str(found.span)) == ("E_EXPR_TYPE", "functions.yaml:1:1")
    assert [(text, str(span)) for text, span in found.related] == [("`twice` is used here", "<inline>:1:5")]
    (found,) = findings("broken(1)")
    assert (found.code, str(found.span)) == ("E_EXPR_SYNTAX", "functions.yaml:1:4")


def test_a_missing_capture_names_both_places(findings):
    (found,) = findings("needier(i)")
    assert [(text, str(span)) for text, span in found.related] == [("`absent` is read here", "functions.yaml:1:5")]


def test_a_capture_of_a_record_names_the_record(findings, environment):
    record = RecordType("broken", {"here": INT}, derived={"value": Defined((), Text.inline("here + gone"))})
    (found,) = findings("bad.value", environment.extend(variables={"bad": record}))
    assert found.code == "E_EXPR_CAPTURE"
    assert "derived value `value` reads `gone`, which broken does not have" in found.message


def test_all_mistakes_are_found_at_once(findings):
    found = findings("(hazard + 1) * p.z - size(i) + twice(nope)")
    assert [each.code for each in found] == ["E_EXPR_UNKNOWN_NAME", "E_EXPR_UNKNOWN_FIELD", "E_EXPR_TYPE",
                                             "E_EXPR_UNKNOWN_NAME"]  # fmt: skip


EXPECT = [
    ("42", DOUBLE, None),
    ("-1", DOUBLE, None),
    ("i", DOUBLE, "E_EXPR_NO_PROMOTION"),
    ("1 + 1", DOUBLE, "E_EXPR_NO_PROMOTION"),
    ("WALL", DOUBLE, "E_EXPR_NO_PROMOTION"),
    ("x", INT, "E_EXPR_NO_PROMOTION"),
    ("d", INT, "E_EXPR_TYPE"),
    ("s", BOOL, "E_EXPR_TYPE"),
    ("{'x': 1}", RecordType("cell", {"x": INT, "y": INT}), "E_EXPR_TYPE"),
    ("{'x': 1, 'y': 2, 'z': 3}", RecordType("cell", {"x": INT, "y": INT}), "E_EXPR_TYPE"),
    ("{'x': 1, 'y': 2}", RecordType("cell", {"x": INT, "y": INT}), None),
    ("[]", ListType(STRING), None),
    ("[1]", ListType(STRING), "E_EXPR_TYPE"),
    ("i", IntType(0, 3), None),
]


@pytest.mark.parametrize(("text", "expect", "code"), EXPECT, ids=[f"{text} as {expect}" for text, expect, _ in EXPECT])
def test_an_expression_fits_its_place(environment, text, expect, code):
    diagnostics = Diagnostics()
    found = check(Text.inline(text), environment, diagnostics, expect)
    assert [each.code for each in diagnostics.sorted()] == ([] if code is None else [code])
    assert (found is None) == (code is not None)
    for each in diagnostics.sorted():
        assert each.expected == str(expect)
        assert each.found is not None


def test_what_is_missing_is_said(findings):
    (found,) = findings("{'x': 1}", expect=RecordType("cell", {"x": INT, "y": INT}))
    assert "field `y` is missing" in found.message
    (found,) = findings("d", expect=INT)
    assert found.hint == "its type is not known before it runs: write `int(d)`"
    (found,) = findings("[[{'x': 1, 'y': 's'}]]", expect=ListType(ListType(RecordType("", {"x": INT, "y": INT}))))
    assert "in its items: in its items: in `y`: expected int, found string" in found.message


def test_a_place_follows_the_file_of_a_folded_scalar(environment):
    text = Text("b &&\nhazard", "world.yaml", ((0, Position(7, 11)), (5, Position(8, 13))))
    diagnostics = Diagnostics()
    assert check(text, environment, diagnostics) is None
    (found,) = diagnostics.sorted()
    shown = render(found, lambda _: "\n" * 6 + "    when: >- b &&\n            hazard")
    assert shown.splitlines()[:3] == [
        "world.yaml:8:13: error[E_EXPR_UNKNOWN_NAME]: unknown name `hazard`",
        "8 |             hazard",
        "  |             ^^^^^^",
    ]


def test_every_code_of_the_checker_has_a_case():
    registered = {name for name in vars(errors_module) if name.startswith("E_EXPR_")}
    assert registered == {code for _, code, *_ in CASES}
    assert registered <= set(codes())
