"""The named cases of the canonical form."""

import enum
from collections import OrderedDict, namedtuple
from datetime import date
from decimal import Decimal
from types import MappingProxyType

import orjson
import pytest

from specledger.core.canonical import (
    MAX_INTEGER,
    NotCanonical,
    canonical_bytes,
    canonical_ints,
    parse_canonical,
    pretty,
)
from specledger.core.diagnostics import codes
from specledger.core.floats import FLOATS_ANYWHERE
from specledger.core.spans import Position


def nested(depth, container="list"):
    value: object = None
    for _ in range(depth):
        value = [value] if container == "list" else {"a": value}
    return value


class Word(enum.StrEnum):
    A = "a"


class Level(enum.IntEnum):
    ONE = 1


class Named(str):
    pass


Pair = namedtuple("Pair", "a b")
CYCLE: list = []
CYCLE.append(CYCLE)

FORMS = {
    "null": (None, b"null"),
    "true is no 1": (True, b"true"),
    "false is no 0": (False, b"false"),
    "zero": (0, b"0"),
    "negative zero": (-0, b"0"),
    "2^53 - 1": (2**53 - 1, b"9007199254740991"),
    "-(2^53 - 1)": (-(2**53 - 1), b"-9007199254740991"),
    "empty": ([{}, [], ""], b'[{},[],""]'),
    "arrays keep their order": ([3, 1, 2], b"[3,1,2]"),
    "a tuple is an array": ((1, (2,)), b"[1,[2]]"),
    "keys are sorted": ({"b": 1, "a": 2, "B": 3, "": 4}, b'{"":4,"B":3,"a":2,"b":1}'),
    "keys are sorted inside": ([{"b": {"d": 1, "c": 2}, "a": 3}], b'[{"a":3,"b":{"c":2,"d":1}}]'),
    "UTF-8 order, not UTF-16": (
        {"\U0001f600": 1, "\uffee": 2, "z": 3},
        '{"z":3,"\uffee":2,"\U0001f600":1}'.encode(),
    ),
    "non-ASCII is raw": ("\xe9\u20ac", '"\xe9\u20ac"'.encode()),
    "astral is raw": ("\U0001f600", b'"\xf0\x9f\x98\x80"'),
    "composed and decomposed differ": (["\xe9", "e\u0301"], '["\xe9","e\u0301"]'.encode()),
    "quotation mark, backslash": ('"\\/', b'"\\"\\\\/"'),
    "short escapes": ("\b\t\n\f\r", b'"\\b\\t\\n\\f\\r"'),
    "other controls": ("\0\x1b\x1f", b'"\\u0000\\u001b\\u001f"'),
    "delete and separators are raw": ("\x7f\u2028\u2029", b'"\x7f\xe2\x80\xa8\xe2\x80\xa9"'),
    "keys are escaped": ({"\n": 1}, b'{"\\n":1}'),
    "64 lists": (nested(64), b"[" * 64 + b"null" + b"]" * 64),
    "64 objects": (nested(64, "dict"), b'{"a":' * 64 + b"null" + b"}" * 64),
}

FLOATS = {
    "6.0": (6.0, b"6"),
    "-0.0": (-0.0, b"0"),
    "0.1 + 0.2": (0.1 + 0.2, b"0.3"),
    "1e-9": (1e-9, b"0"),
    "-1e-9": (-1e-9, b"0"),
    "5e-324": (5e-324, b"0"),
    "1e-8": (1e-8, b"0.00000001"),
    "-1e-8": (-1e-8, b"-0.00000001"),
    "1/3": (1 / 3, b"0.33333333"),
    "2/3": (2 / 3, b"0.66666667"),
    "a tie goes to the even digit": ([0.001953125, 0.005859375], b"[0.00195312,0.00585938]"),
    "1e5 without exponent": (1e5, b"100000"),
    "100.0 keeps its zeros": (100.0, b"100"),
    "0.5": (-0.5, b"-0.5"),
    "2^53 - 1": (float(2**53 - 1), b"9007199254740991"),
    "0.99999999999": (0.99999999999, b"1"),
    "beside plain values": ({"b": [0.25, "\u20ac"], "a": {"c": 1}}, '{"a":{"c":1},"b":[0.25,"\u20ac"]}'.encode()),
}

REFUSED = {
    "2^53": (2**53, "E_CANON_RANGE", "$"),
    "-2^53": (-(2**53), "E_CANON_RANGE", "$"),
    "a huge integer": ({"a": 10**5000}, "E_CANON_RANGE", "$.a"),
    "1e300": (1e300, "E_CANON_RANGE", "$"),
    "2.0^53": (2.0**53, "E_CANON_RANGE", "$"),
    "not a number": ([float("nan")], "E_CANON_NUMBER", "$[0]"),
    "infinity": ([float("inf")], "E_CANON_NUMBER", "$[0]"),
    "-infinity": ([float("-inf")], "E_CANON_NUMBER", "$[0]"),
    "lone surrogate": (["", "a\ud800"], "E_CANON_TEXT", "$[1]"),
    "lone low surrogate": ("\udfff", "E_CANON_TEXT", "$"),
    "surrogates that would pair": ("\ud83d\ude00", "E_CANON_TEXT", "$"),
    "lone surrogate in a key": ({"\ud800": 1}, "E_CANON_TEXT", '$["\\ud800"]'),
    "65 lists": (nested(65), "E_CANON_DEPTH", "$" + "[0]" * 64),
    "65 objects": (nested(65, "dict"), "E_CANON_DEPTH", "$" + ".a" * 64),
    "65 lists around a float": ([0.5, nested(64)], "E_CANON_DEPTH", "$[1]" + "[0]" * 63),
    "100000 lists": (nested(100_000), "E_CANON_DEPTH", "$" + "[0]" * 64),
    "a cycle": (CYCLE, "E_CANON_DEPTH", "$" + "[0]" * 64),
    "bytes": ({"a": b"x"}, "E_CANON_TYPE", "$.a"),
    "a set": ({"a": [{1}]}, "E_CANON_TYPE", "$.a[0]"),
    "a decimal": (Decimal(1), "E_CANON_TYPE", "$"),
    "an enum of strings": (Word.A, "E_CANON_TYPE", "$"),
    "an enum of integers": ([Level.ONE], "E_CANON_TYPE", "$[0]"),
    "a subclass of str": ([Named("x")], "E_CANON_TYPE", "$[0]"),
    "a named tuple": (Pair(1, 2), "E_CANON_TYPE", "$"),
    "a subclass of dict": (OrderedDict(a=1), "E_CANON_TYPE", "$"),
    "another mapping": (MappingProxyType({}), "E_CANON_TYPE", "$"),
    "a dataclass": (Position(1, 2), "E_CANON_TYPE", "$"),
    "a date": ([date(2024, 1, 1)], "E_CANON_TYPE", "$[0]"),
    "an integer key": ({"a": {1: 2}}, "E_CANON_TYPE", "$.a"),
    "a boolean key": ({True: 2}, "E_CANON_TYPE", "$"),
    "no key": ({None: 2}, "E_CANON_TYPE", "$"),
    "a key of a subclass of str": ({Named("x"): 1}, "E_CANON_TYPE", "$"),
    "a path with other keys": ({"a b": {"": {"x\n\u202e": 1j}}}, "E_CANON_TYPE", '$["a b"][""]["x\\n\\u202e"]'),
}

LINES = {
    "white space": (b'{"a": 1}', "E_CANON_FORM"),
    "leading space": (b" 1", "E_CANON_FORM"),
    "line break": (b"1\n", "E_CANON_FORM"),
    "unsorted keys": (b'{"b":1,"a":2}', "E_CANON_FORM"),
    "duplicate keys": (b'{"a":1,"a":2}', "E_CANON_FORM"),
    "the same member twice": (b'{"a":1,"a":1}', "E_CANON_FORM"),
    "needless escape": (b'"\\u0061"', "E_CANON_FORM"),
    "escaped solidus": (b'"\\/"', "E_CANON_FORM"),
    "upper-case escape": (b'"\\u001B"', "E_CANON_FORM"),
    "long escape": (b'"\\u000a"', "E_CANON_FORM"),
    "escaped non-ASCII": (b'"\\u20ac"', "E_CANON_FORM"),
    "escaped pair": (b'"\\ud83d\\ude00"', "E_CANON_FORM"),
    "-0": (b"-0", "E_CANON_FORM"),
    "-0.0": (b"-0.0", "E_CANON_FLOAT"),
    "6.0": (b"6.0", "E_CANON_FLOAT"),
    "0.5": (b"[0.5]", "E_CANON_FLOAT"),
    "exponent": (b"1e5", "E_CANON_FLOAT"),
    "2^53": (b"9007199254740992", "E_CANON_RANGE"),
    "2^53 + 1": (b"9007199254740993", "E_CANON_RANGE"),
    "2^64": (b"18446744073709551616", "E_CANON_RANGE"),
    "26 digits": (b"1" + b"0" * 25, "E_CANON_RANGE"),
    "400 digits": (b"9" * 400, "E_CANON_JSON"),
    "leading zero": (b"01", "E_CANON_JSON"),
    "plus": (b"+1", "E_CANON_JSON"),
    "NaN": (b"NaN", "E_CANON_JSON"),
    "Infinity": (b"-Infinity", "E_CANON_JSON"),
    "trailing comma": (b"[1,]", "E_CANON_JSON"),
    "comment": (b"1/**/", "E_CANON_JSON"),
    "two documents": (b"1 2", "E_CANON_JSON"),
    "nothing": (b"", "E_CANON_JSON"),
    "cut": (b'{"a":', "E_CANON_JSON"),
    "raw control": (b'"\n"', "E_CANON_JSON"),
    "escaped lone surrogate": (b'"\\ud800"', "E_CANON_JSON"),
    "encoded surrogate": (b'"\xed\xa0\x80"', "E_CANON_JSON"),
    "overlong encoding": (b'"\xc0\x80"', "E_CANON_JSON"),
    "no UTF-8": (b'"\xff"', "E_CANON_JSON"),
    "byte order mark": (b"\xef\xbb\xbf1", "E_CANON_JSON"),
    "UTF-16": ("1".encode("utf-16-le"), "E_CANON_JSON"),
    "65 lists": (b"[" * 65 + b"]" * 65, "E_CANON_DEPTH"),
    "500000 brackets": (b"[" * 500_000, "E_CANON_JSON"),
    "too large": (b'"' + b"x" * (1 << 20) + b'"', "E_CANON_SIZE"),
}


@pytest.mark.parametrize(("value", "form"), FORMS.values(), ids=FORMS)
def test_form(value, form):
    assert canonical_bytes(value) == canonical_ints(value) == canonical_bytes(value, FLOATS_ANYWHERE) == form


@pytest.mark.parametrize(("value", "form"), FLOATS.values(), ids=FLOATS)
def test_form_of_floats(value, form):
    assert canonical_bytes(value, FLOATS_ANYWHERE) == form


@pytest.mark.parametrize("value", [value for value, _ in FLOATS.values()], ids=FLOATS)
def test_floats_are_refused_where_they_are_not_allowed(value):
    with pytest.raises(NotCanonical) as caught:
        canonical_bytes({"x": value})
    assert caught.value.code == "E_CANON_FLOAT"
    assert caught.value.path.startswith("$.x")


@pytest.mark.parametrize(("value", "code", "path"), REFUSED.values(), ids=REFUSED)
def test_refused(value, code, path):
    with pytest.raises(NotCanonical) as caught:
        canonical_bytes(value, FLOATS_ANYWHERE)
    assert (caught.value.code, caught.value.path) == (code, path)
    assert str(caught.value) == f"{path}: {caught.value.message}"


@pytest.mark.parametrize("name", ["2^53", "-2^53", "a huge integer", "lone surrogate", "lone surrogate in a key", "bytes",
                                  "a set", "a decimal", "a subclass of str", "an integer key", "a named tuple", "a dataclass", "a date", "100000 lists"])  # fmt: skip
def test_the_fast_path_refuses_alike(name):
    value, code, path = REFUSED[name]
    with pytest.raises(NotCanonical) as caught:
        canonical_ints(value)
    assert (caught.value.code, caught.value.path) == (code, path)


@pytest.mark.parametrize(("line", "code"), LINES.values(), ids=LINES)
def test_parse_refuses(line, code):
    with pytest.raises(NotCanonical) as caught:
        parse_canonical(line)
    assert caught.value.code == code


def test_parse_says_where_the_bytes_differ():
    with pytest.raises(NotCanonical, match="at byte 5"):
        parse_canonical(b'{"a": 1}')
    with pytest.raises(NotCanonical, match="at byte 3"):
        parse_canonical(b"123 ")


def test_parse_looks_at_no_more_bytes_than_allowed():
    assert parse_canonical(b"[1,2]", limit=5) == [1, 2]
    with pytest.raises(NotCanonical, match="5 bytes, more than 4"):
        parse_canonical(b"[1,2]", limit=4)


def test_every_code_has_a_page_and_a_case():
    cases = {code for _, code, _ in REFUSED.values()} | {code for _, code in LINES.values()}
    assert cases == {name for name in codes() if name.startswith("E_CANON_")}


def test_a_long_key_is_cut_in_the_path():
    with pytest.raises(NotCanonical) as caught:
        canonical_bytes({"k" * 10_000: {"x": 1j}})
    assert caught.value.path == "$." + "k" * 64 + ".x"


def test_pretty_is_for_people():
    value = {"b": [1, {"d": 0.1 + 0.2}], "a": "\u20ac\x1b\x7f\u202e\U0001f600"}
    assert pretty(value) == (
        '{\n  "a": "\\u20ac\\u001b\\u007f\\u202e\\ud83d\\ude00",\n  "b": [\n    1,\n    {\n      "d": 0.3\n    }\n  ]\n}\n'
    )


def test_pretty_refuses_what_has_no_canonical_form():
    with pytest.raises(NotCanonical):
        pretty([MAX_INTEGER + 1])


@pytest.mark.parametrize(
    ("text", "floats"),
    [
        ('{"a":1.5}', True),
        ("[1,-0.25]", True),
        ("2.0", True),
        ('{"a":[1e-7]}', True),
        ("1e22", True),
        ('{"time":"2026-01-01T00:00:00.000Z","version":"2.0","text":"costs 1.50."}', False),
        ('{"a.1.2":[1,"3.4"]}', False),
    ],
)
def test_a_float_is_refused_and_a_text_that_looks_like_one_is_read(text, floats):
    form = orjson.dumps(orjson.loads(text), option=orjson.OPT_SORT_KEYS)
    if floats:
        with pytest.raises(NotCanonical, match=r"float|beyond"):
            parse_canonical(form)
    else:
        assert parse_canonical(form) == orjson.loads(text)
