"""How values of a log fit the types of a world, and how tools are inferred from values."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from specledger.core.canonical import MAX_INTEGER
from specledger.expr import BOOL, STRING, IntType, ListType, MapType, RecordType
from specledger.expr.check.types import FIXED
from specledger.wings.trajectories.model import Call, Message, Result, Speaker, Trajectory, Withheld
from specledger.wings.trajectories.recording.fitting import (
    Misfit,
    as_logged,
    fit,
    fit_arguments,
    fit_result,
    is_misfit,
)
from specledger.wings.trajectories.tools.inferred import inferred

INT = IntType()
POINT = RecordType("point", {"x": INT, "y": INT}, frozenset({"y"}))
HALF = {"$number": "0.5"}
HIDDEN = Withheld("sha256:" + "0" * 64)

FITS = {
    "an integer": (3, INT, 3),
    "a whole number for a decimal": (3, FIXED, 3_000_000),
    "a decimal": (HALF, FIXED, 500_000),
    "a list": ([1, 2], ListType(INT), [1, 2]),
    "decimals in a list": ([1, HALF], ListType(FIXED), [1_000_000, 500_000]),
    "a map": ({"a": HALF}, MapType(FIXED), {"a": 500_000}),
    "a record": ({"x": 1, "y": 2}, POINT, {"x": 1, "y": 2}),
    "a record without what is optional": ({"x": 1}, POINT, {"x": 1}),
    "a record with more": ({"x": 1, "z": 2}, POINT, {"x": 1}),
}


@pytest.mark.parametrize(("value", "type_", "expected"), FITS.values(), ids=FITS)
def test_a_value_that_fits(value, type_, expected):
    assert fit(value, type_, "args.a") == expected


MISFITS = {
    "nothing": (UNSET, INT, "args: not_recorded"),
    "withheld": (HIDDEN, INT, "args: withheld"),
    "a text for a number": ("3", INT, "args: misfit"),
    "a text for a decimal": ("0.5", FIXED, "args: misfit"),
    "a decimal of seven places": ({"$number": "0.0000001"}, FIXED, "args: misfit"),
    "a number for a list": (3, ListType(INT), "args: misfit"),
    "a number for a map": (HALF, MapType(FIXED), "args: misfit"),
    "a list for a record": ([], POINT, "args: misfit"),
    "the second of a list": ([1, "2"], ListType(INT), "args[1]: misfit"),
    "a member of a map": ({"a": 1, "b": HIDDEN}, MapType(INT), "args.b: withheld"),
    "what is not optional": ({"y": 1}, POINT, "args.x: not_recorded"),
    "what is optional": ({"x": 1, "y": "a"}, POINT, "args.y: misfit"),
}


@pytest.mark.parametrize(("value", "type_", "said"), MISFITS.values(), ids=MISFITS)
def test_a_value_that_does_not_fit(value, type_, said):
    with pytest.raises(Misfit) as misfit:
        fit(value, type_, "args")
    assert str(misfit.value) == said
    assert misfit.value.unknown.withheld == said.endswith("withheld")
    assert is_misfit(misfit.value.unknown) == said.endswith("misfit")


def reasons(members):
    return {name: getattr(value, "reason", value) for name, value in members.items()}


NOT = "is not recorded"
ARGUMENTS = {
    "some of them": ({"x": 1, "y": "a"}, {"x": 1, "y": "args.y is of another type than its action declares"}),
    "only what is optional": ({"y": 1}, {"x": f"args.x {NOT}", "y": 1}),
    "only what is not": ({"x": 1}, {"x": 1}),
    "none": ({}, {"x": f"args.x {NOT}"}),
    "not recorded": (UNSET, dict.fromkeys("xy", f"the arguments {NOT}")),
    "withheld": (HIDDEN, dict.fromkeys("xy", "the arguments is withheld")),
    "a text": ("x", dict.fromkeys("xy", "the arguments is of another type than its action declares")),
}


@pytest.mark.parametrize(("arguments", "members"), ARGUMENTS.values(), ids=ARGUMENTS)
def test_arguments_of_a_call(arguments, members):
    assert reasons(fit_arguments(Call("1", "go", arguments), POINT)) == members


TEXT = RecordType("text", {"text": STRING})
RESULTS = {
    "none": (None, POINT, dict.fromkeys("xy", f"the result {NOT}")),
    "without content": (Result("1"), POINT, dict.fromkeys("xy", f"the result {NOT}")),
    "an object": (Result("1", {"x": 1}), POINT, {"x": 1}),
    "JSON": (Result("1", '{"x": 1, "y": 2}'), POINT, {"x": 1, "y": 2}),
    "YAML": (Result("1", "x: 1\ny: 2"), POINT, {"x": 1, "y": 2}),
    "a text": (Result("1", "done"), TEXT, {"text": "done"}),
    "a text that is JSON": (Result("1", '{"text": "a"}'), TEXT, {"text": '{"text": "a"}'}),
    "no text": (Result("1", {"text": "a"}), TEXT, {"text": "a"}),
    "a text for numbers": (Result("1", "done"), POINT, dict.fromkeys("xy", "the result is of another type than its action declares")),
    "withheld": (Result("1", HIDDEN), POINT, dict.fromkeys("xy", "the result is withheld")),
}  # fmt: skip


@pytest.mark.parametrize(("result", "type_", "members"), RESULTS.values(), ids=RESULTS)
def test_the_result_of_a_call(result, type_, members):
    assert reasons(fit_result(result, type_)) == members


@given(st.integers(-MAX_INTEGER, MAX_INTEGER))
def test_a_decimal_comes_back_from_a_log(millionths):
    assert fit(as_logged(millionths, FIXED), FIXED, "a") == millionths


LOGGED = {
    "an integer": (5, INT, 5),
    "the largest one": (MAX_INTEGER, INT, MAX_INTEGER),
    "a larger one": (MAX_INTEGER + 1, INT, {"$number": str(MAX_INTEGER + 1)}),
    "a smaller one": (-MAX_INTEGER - 1, INT, {"$number": str(-MAX_INTEGER - 1)}),
    "a whole decimal": (-3_000_000, FIXED, -3),
    "a decimal": (500_000, FIXED, HALF),
    "a record": ({"x": 1}, POINT, {"x": 1}),
    "a list": ([500_000], ListType(FIXED), [HALF]),
    "a map": ({"a": 500_000, "b": 0}, MapType(FIXED), {"a": HALF, "b": 0}),
    "a map that looks like a mark": ({"$number": "1"}, MapType(STRING), {"$literal": {"$number": "1"}}),
    "one with more": ({"$number": "1", "a": "2"}, MapType(STRING), {"$number": "1", "a": "2"}),
    "a truth": (True, BOOL, True),
}


@pytest.mark.parametrize(("value", "type_", "expected"), LOGGED.values(), ids=LOGGED)
def test_a_value_as_a_log_holds_it(value, type_, expected):
    assert as_logged(value, type_) == expected


def schemas(*entries, more=()):
    logs = [Trajectory("1", "a", "claude-code", entries), *(Trajectory("2", "b", "x", entry) for entry in more)]
    return {name: (arguments, result) for name, arguments, result in inferred(logs)}


def arguments(*values):
    """The properties and the required ones of calls with these arguments."""
    ((schema, _),) = schemas(*(Call(str(number), "t", value) for number, value in enumerate(values))).values()
    return schema if schema is UNSET else (schema["properties"], schema["required"])


INTEGER, TEXTUAL = {"type": "integer"}, {"type": "string"}
SHAPES = {
    "always there": ([{"a": 1}, {"a": 2}], ({"a": INTEGER}, ["a"])),
    "sometimes there": ([{"a": 1, "b": "x"}, {"a": 2}], ({"a": INTEGER, "b": TEXTUAL}, ["a"])),
    "of two types": ([{"a": 1}, {"a": "x"}], ({"a": {"type": ["integer", "string"]}}, ["a"])),
    "whole or not": ([{"a": 1}, {"a": HALF}], ({"a": {"type": "number"}}, ["a"])),
    "or nothing": ([{"a": 1}, {"a": None}], ({"a": {"type": ["integer", "null"]}}, ["a"])),
    "nothing": ([{"a": None}], ({"a": {}}, ["a"])),
    "a truth": ([{"a": True}], ({"a": {"type": "boolean"}}, ["a"])),
    "an empty list": ([{"a": []}], ({"a": {"type": "array", "items": {}}}, ["a"])),
    "a list": ([{"a": [1]}, {"a": ["x"]}], ({"a": {"type": "array", "items": {"type": ["integer", "string"]}}}, ["a"])),
    "not recorded": ([UNSET, {"a": 1}], ({"a": INTEGER}, ["a"])),
    "never recorded": ([UNSET], UNSET),
}


@pytest.mark.parametrize(("values", "expected"), SHAPES.values(), ids=SHAPES)
def test_arguments_are_inferred(values, expected):
    assert arguments(*values) == expected


def test_what_is_inferred_is_bounded():
    many = {f"a{number:03}": 1 for number in range(101)}
    assert len(arguments(many)[0]) == 100
    assert len(arguments(many, {"a000": "x"})[0]["a000"]["type"]) == 2
    types = [1] * 99 + [True, "x"]
    assert arguments({"a": types})[0]["a"]["items"] == {"type": ["boolean", "integer"]}
    assert arguments({"a": {"a": {"a": {"a": {"a": 1}}}}})[0]["a"]["properties"]["a"]["properties"]["a"] == {
        "type": "object",
        "properties": {"a": {"type": "object", "properties": {"a": INTEGER}, "required": ["a"]}},
        "required": ["a"],
    }
    deep = arguments({"a": {"a": {"a": {"a": {"a": {"a": 1}}}}}})[0]
    for _ in range(4):
        deep = deep["a"]["properties"]
    assert deep == {"a": {"type": "object", "properties": {}, "required": []}}
    lists = arguments({"a": [[[[[1]]]]]})[0]["a"]
    for _ in range(4):
        lists = lists["items"]
    assert lists == {"type": "array", "items": {}}


def test_results_are_inferred_where_all_are_objects():
    call = Call("1", "t", {})
    assert schemas(call, Result("1", {"a": 1}))["t"][1] == {"type": "object", "properties": {"a": INTEGER}, "required": ["a"]}  # fmt: skip
    assert schemas(call, Result("1", '{"a": 1}'))["t"][1]["properties"] == {"a": INTEGER}
    for result in (Result("1", "text"), Result("1"), Result("1", HIDDEN), Result("1", {"a": 1}, error=True), Result("2", {"a": 1})):  # fmt: skip
        assert schemas(call, result)["t"][1] is UNSET
    assert schemas(call, Result("1", {"a": 1}), Result("1", "text"))["t"][1] is UNSET
    assert schemas(call, Result("1", {"a": 1}, error=False))["t"][1]["required"] == ["a"]


def test_tools_are_named_in_order_and_calls_belong_to_their_own_log():
    said = Message(Speaker.USER, "go")
    assert list(schemas(said, Call("1", "b", {}), Call("2", "a", {}))) == ["a", "b"]
    assert schemas(Call("1", "t", {}), more=[[Result("1", {"a": 1})]])["t"][1] is UNSET
