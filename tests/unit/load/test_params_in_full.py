"""What is said of wrong parameters and arguments: the text at the place, what was expected and found, and the hint."""

from typing import Any

import pytest

from specledger.load.params import _measure
from tests.toys import in_full
from tests.unit.load.test_params import drift

FORM = "expected: a type (int, bool, string, qfixed, double, expression) or {type, default, minimum, maximum, enum}"
WHOLE = (
    "`${...}` replaces a whole value only | hint: let the parameter be the whole value, `${name}`; in an expression, "
    "give it to a constant and use that"
)
LONG = "p" * 80


def declared(at, message, found, hint=""):
    return f"E_PARAM_DECLARATION at `{at}`: {message} | {FORM} | found: {found}{hint and ' | hint: ' + hint}"


def no_name(name):
    return f"E_PARAM_DECLARATION at `{name}`: `{name}` cannot be a parameter's name"


def no_value(at, type_, found):
    return f"E_PARAM_TYPE at `{at}`: `p` takes a value of the type {type_} | expected: {type_} | found: {found}"


def out_of_range(at, expected, found):
    return f"E_PARAM_RANGE at `{at}`: `p` does not take this value | expected: {expected} | found: {found}"


def unknown(at, name, hint="declare it under `params`"):
    return f"E_PARAM_UNKNOWN at `{at}`: there is no parameter `{name}` | hint: {hint}"


# params, constants, and all that is said
WRONG: dict[str, tuple[str, str, list[str]]] = {
    "no mapping": ("[p]", "{}", [declared("params", "`params` is no mapping of names to types", "a list")]),
    "a type like another one": (
        "{p: integer}",
        "{}",
        [declared("integer", "`p` has no type", "the text `integer`", "did you mean `int`?")],
    ),
    "a type like none": ("{p: zzzzzz}", "{}", [declared("zzzzzz", "`p` has no type", "the text `zzzzzz`")]),
    "no type": ("{p: {default: 1}}", "{}", [declared("p", "`p` has no type", "a mapping with the keys default")]),
    "a part like another one": (
        "{p: {type: int, min: 1}}",
        "{}",
        [declared("1", "a parameter has no `min`", "the number 1", "did you mean `minimum`?")],
    ),
    "a part like none": (
        "{p: {type: int, zzzzzz: 1}}",
        "{}",
        [declared("1", "a parameter has no `zzzzzz`", "the number 1")],
    ),
    "two that are wrong": (
        "{p: {type: int, mni: 1}, q: bol}",
        "{}",
        [
            declared("1", "a parameter has no `mni`", "the number 1", "did you mean `minimum`?"),
            declared("bol", "`q` has no type", "the text `bol`", "did you mean `bool`?"),
        ],
    ),
    "a name with a dash": ("{p-q: int}", "{}", [no_name("p-q")]),
    "a name that begins with a line": ("{_p: int}", "{}", [no_name("_p")]),
    "a name that is too long": (f"{{{LONG}p: {{type: int, default: 1}}}}", "{}", [no_name(f"{LONG}p")]),
    "the longest name": (f"{{{LONG}: {{type: int, default: 1}}}}", "{}", []),
    "a wrong default": ("{p: {type: int, default: a}}", "{}", [no_value("a", "int", "the text `a`")]),
    "a wrong default of what is used": (
        "{p: {type: int, default: a}}",
        '{A: "${p}"}',
        [no_value("a", "int", "the text `a`")],
    ),
    "a decimal with too many digits": (
        "{p: {type: qfixed, default: 0.1234567}}",
        "{}",
        [no_value("0.1234567", "qfixed", "the number 0.1234567")],
    ),
    "a list as an expression": (
        "{p: {type: expression, default: [1]}}",
        "{}",
        [no_value("default", "expression", "a list")],
    ),
    "the least value": ("{p: {type: int, default: 1, minimum: 1}}", "{}", []),
    "less than that": (
        "{p: {type: int, default: 0, minimum: 1}}",
        "{}",
        [out_of_range("0", "at least 1", "the number 0")],
    ),
    "the greatest value": ("{p: {type: int, default: 3, maximum: 3}}", "{}", []),
    "more than that": (
        "{p: {type: int, default: 4, maximum: 3}}",
        "{}",
        [out_of_range("4", "at most 3", "the number 4")],
    ),
    "a bound of zero": (
        "{p: {type: double, default: -0.5, minimum: 0}}",
        "{}",
        [out_of_range("-0.5", "at least 0", "the number -0.5")],
    ),
    "none of those that are listed": (
        "{p: {type: int, default: 4, enum: [1, 2]}}",
        "{}",
        [out_of_range("4", "one of 1, 2", "the number 4")],
    ),
    "a bound of another type": (
        "{p: {type: int, minimum: a}}",
        "{}",
        [declared("a", "the bound of `p` is no int", "the text `a`")],
    ),
    "a bound of a double": (
        "{p: {type: double, maximum: a}}",
        "{}",
        [declared("a", "the bound of `p` is no double", "the text `a`")],
    ),
    "a bound of a text": (
        "{p: {type: string, minimum: a}}",
        "{}",
        [declared("a", "the type string has no bounds", "the text `a`")],
    ),
    "a bound of a truth value": (
        "{p: {type: bool, maximum: true}}",
        "{}",
        [declared("true", "the type bool has no bounds", "true")],
    ),
    "a bound of an expression": (
        "{p: {type: expression, maximum: a}}",
        "{}",
        [declared("a", "the type expression has no bounds", "the text `a`")],
    ),
    "an enum of another type": (
        "{p: {type: int, enum: [1, a]}}",
        "{}",
        [declared("enum", "the `enum` of `p` is no list of int", "a list")],
    ),
    "an empty enum": (
        "{p: {type: int, enum: []}}",
        "{}",
        [declared("enum", "the `enum` of `p` is no list of int", "an empty list")],
    ),
    "a missing argument": (
        "{p: int}",
        '{A: "${p}"}',
        [
            "E_PARAM_MISSING at `p`: `push` needs a value for its parameter `p` | expected: int | "
            "hint: give it a default: `p: {type: int, default: ...}` | it is declared here: `p`"
        ],
    ),
    "a parameter like another one": (
        "{speed: {type: int, default: 1}}",
        '{A: "${sped}"}',
        [unknown('"${sped}"', "sped", "did you mean `speed`?")],
    ),
    "a parameter like none": ("{speed: {type: int, default: 1}}", '{A: "${zzzz}"}', [unknown('"${zzzz}"', "zzzz")]),
    "two in a list": (
        "{}",
        '{A: ["${p}", 1, "${q}"]}',
        [unknown('"${p}"', "p"), unknown('"${q}"', "q")],
    ),
    "a part of a text": (
        "{p: {type: int, default: 1}}",
        '{A: "x + ${p}"}',
        [f'E_PARAM_PARTIAL at `"x + ${{p}}"`: {WHOLE}'],
    ),
    "in a key": ("{p: {type: int, default: 1}}", '{"${p}": 1}', [f'E_PARAM_PARTIAL at `"${{p}}"`: {WHOLE}']),
    "without its dollar": (
        "{p: {type: int, default: 1}}",
        '{A: "{p}"}',
        ['E_PARAM_UNKNOWN at `"{p}"`: `{p}` is no parameter without a `$` | hint: write `${p}`'],
    ),
}


def told(project, name, **named):
    return [in_full(finding) for finding in project.rejected(name, **named)]


@pytest.mark.parametrize(("params", "constants", "said"), WRONG.values(), ids=WRONG)
def test_what_is_said_of_wrong_parameters(project, params, constants, said):
    project.write("d.yaml", drift(params, constants))
    if said:
        assert told(project, "d.yaml") == said
    else:
        project.one("d.yaml")


ARGUMENTS = {
    "a name like another one": (
        "{use: push, with: {evry: 3}}",
        "E_PARAM_UNKNOWN at `evry`: `push` has no parameter `evry` | hint: did you mean `every`?",
    ),
    "a name like none": (
        "{use: push, with: {zzzz: 3}}",
        "E_PARAM_UNKNOWN at `zzzz`: `push` has no parameter `zzzz` | hint: it has every",
    ),
    "another type": (
        "{use: push, with: {every: often}}",
        "E_PARAM_TYPE at `often`: `every` takes a value of the type int | expected: int | found: the text `often`",
    ),
    "too little": (
        "{use: push, with: {every: 0}}",
        "E_PARAM_RANGE at `0`: `every` does not take this value | expected: at least 1 | found: the number 0",
    ),
}


@pytest.mark.parametrize(("reference", "said"), ARGUMENTS.values(), ids=ARGUMENTS)
def test_what_is_said_of_wrong_arguments(project, reference, said):
    project.write_all()
    project.edit("specs/scenario/basic.yaml", ("{use: push, with: {every: 3}}", reference))
    assert told(project, "basic") == [said]


def test_a_missing_argument_of_a_reference_says_what_to_write_there(project):
    project.write_all()
    project.edit("specs/drift/push.yaml", ("{type: int, default: 5, minimum: 1}", "int"))
    project.edit("specs/scenario/basic.yaml", ("{use: push, with: {every: 3}}", "push"))
    assert told(project, "basic") == [
        "E_PARAM_MISSING at `push`: `push` needs a value for its parameter `every` | expected: int | "
        "hint: write `with: {every: ...}` | it is declared here: `every`"
    ]


def test_an_argument_of_a_spec_without_parameters(project):
    project.write_all()
    project.edit(
        "specs/drift/push.yaml", ("params: {every: {type: int, default: 5, minimum: 1}}\n", ""), ('"${every}"', "3")
    )
    assert told(project, "basic") == ["E_PARAM_UNKNOWN at `every`: `push` has no parameter `every` | hint: it has none"]


MEASURED: dict[str, list[Any]] = {
    # a value, and what it is as int, bool, string, expression, double, qfixed
    "an integer": [3, 3, None, None, 3, 3.0, 3_000_000],
    "zero": [0, 0, None, None, 0, 0.0, 0],
    "a decimal": [0.5, None, None, None, 0.5, 0.5, 500_000],
    "truth": [True, None, True, None, True, None, None],
    "a text": ["a", None, None, "a", "a", None, None],
    "a number as text": ["0.5", None, None, "0.5", "0.5", None, 500_000],
    "nothing": [None] * 7,
}


@pytest.mark.parametrize("row", MEASURED.values(), ids=MEASURED)
def test_what_a_value_is_as_each_type(row):
    value, *expected = row
    found = [_measure(value, sort) for sort in ("int", "bool", "string", "expression", "double", "qfixed")]
    assert found == expected
    assert list(map(type, found)) == list(map(type, expected))
