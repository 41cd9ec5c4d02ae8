"""Declared parameters, their arguments, and the places at which `${param}` may stand."""

import pytest

HEAD = "spec: drift/v1\nname: push\n"
REST = "at: t == 1\neffects: [{set: x, to: 1}]\n"


def drift(params, constants):
    """A drift with these params, and constants that use them."""
    return f"{HEAD}params: {params}\nconstants: {constants}\n{REST}"


# params, constants, what the constants become; with `--set with.p=...` where an argument is given
VALUES = {
    "an integer by default": ("{p: {type: int, default: 3}}", '{A: "${p}"}', {}, {"A": 3}),
    "plain": ("{p: {type: int, default: 3}}", "\n  A: ${p}", {}, {"A": 3}),
    "an argument": ("{p: {type: int, default: 3}}", '{A: "${p}"}', {"p": "4"}, {"A": 4}),
    "a type alone": ("{p: int}", '{A: "${p}"}', {"p": "4"}, {"A": 4}),
    "a boolean": ("{p: bool}", '{A: "${p}"}', {"p": "true"}, {"A": True}),
    "a text": ("{p: string}", '{A: "${p}"}', {"p": "ab"}, {"A": "ab"}),
    "a text that looks like a number": ("{p: string}", '{A: "${p}"}', {"p": '"12"'}, {"A": "12"}),
    "a double": ("{p: double}", '{A: "${p}"}', {"p": "0.5"}, {"A": 0.5}),
    "an integer for a double": ("{p: double}", '{A: "${p}"}', {"p": "2"}, {"A": 2.0}),
    "inside a list": ("{p: int}", '{A: [1, "${p}", ["${p}"]]}', {"p": "2"}, {"A": [1, 2, [2]]}),
    "within bounds": ("{p: {type: int, minimum: 1, maximum: 3}}", '{A: "${p}"}', {"p": "3"}, {"A": 3}),
    "among words": ("{p: {type: string, enum: [a, b]}}", '{A: "${p}"}', {"p": "b"}, {"A": "b"}),
    "unused": ("{p: int}", "{A: 1}", {"p": "2"}, {"A": 1}),
}


@pytest.mark.parametrize(("params", "constants", "given", "expected"), VALUES.values(), ids=VALUES)
def test_values_take_the_places_of_parameters(project, params, constants, given, expected):
    project.write("d.yaml", drift(params, constants))
    found = project.one("d.yaml", set=[f"with.{name}={value}" for name, value in given.items()]).main.model.constants
    assert found == expected
    assert {name: type(value) for name, value in found.items()} == {
        name: type(value) for name, value in expected.items()
    }


def test_fixed_point_is_exact_in_any_spelling(project):
    params = "{p: {type: qfixed, minimum: 0.5, maximum: 9000000000}}"
    project.write("d.yaml", drift(params, '{A: {qfixed: "${p}"}}'))
    digests = {project.one("d.yaml", set=[f"with.p={value}"]).digest for value in ("3", "3.0", "3.000", '"3.0"')}
    assert len(digests) == 1
    (bundle,) = project.load("d.yaml", set=['with.p="8999999999.123456"'])
    assert bundle.main.model.constants["A"].qfixed == 8999999999123456
    assert project.found("d.yaml", set=["with.p=0.4"]) == [("E_PARAM_RANGE", "--set with.p:1:8")]
    assert project.found("d.yaml", set=["with.p=0.1234567"]) == [("E_PARAM_TYPE", "--set with.p:1:8")]


# params, constants: (code, line, column) in a file whose params stand in line 3 and constants in line 4
WRONG = {
    "no mapping": ("[p]", "{}", "E_PARAM_DECLARATION", 3, 1),
    "an unknown type": ("{p: integer}", "{}", "E_PARAM_DECLARATION", 3, 13),
    "no type": ("{p: {default: 1}}", "{}", "E_PARAM_DECLARATION", 3, 10),
    "an unknown part": ("{p: {type: int, min: 1}}", "{}", "E_PARAM_DECLARATION", 3, 30),
    "a wrong name": ("{p-q: int}", "{}", "E_PARAM_DECLARATION", 3, 10),
    "a wrong default": ("{p: {type: int, default: a}}", "{}", "E_PARAM_TYPE", 3, 34),
    "a default out of bounds": ("{p: {type: int, default: 0, minimum: 1}}", "{}", "E_PARAM_RANGE", 3, 34),
    "a bound of another type": ("{p: {type: int, minimum: a}}", "{}", "E_PARAM_DECLARATION", 3, 34),
    "a bound of a text": ("{p: {type: string, minimum: a}}", "{}", "E_PARAM_DECLARATION", 3, 37),
    "an enum of another type": ("{p: {type: int, enum: [1, a]}}", "{}", "E_PARAM_DECLARATION", 3, 25),
    "an empty enum": ("{p: {type: int, enum: []}}", "{}", "E_PARAM_DECLARATION", 3, 25),
    "a missing argument": ("{p: int}", '{A: "${p}"}', "E_PARAM_MISSING", 3, 10),
    "an unknown parameter": ("{pp: {type: int, default: 1}}", '{A: "${pq}"}', "E_PARAM_UNKNOWN", 4, 16),
    "no params at all": ("{}", '{A: "${p}"}', "E_PARAM_UNKNOWN", 4, 16),
    "an empty placeholder": ("{}", '{A: "${}"}', "E_PARAM_UNKNOWN", 4, 16),
    "a part of a text": ("{p: {type: int, default: 1}}", '{A: "x + ${p}"}', "E_PARAM_PARTIAL", 4, 16),
    "two in a text": ("{p: {type: int, default: 1}}", '{A: "${p}${p}"}', "E_PARAM_PARTIAL", 4, 16),
    "an open one": ("{p: {type: int, default: 1}}", '{A: "${p"}', "E_PARAM_PARTIAL", 4, 16),
    "without its dollar": ("{p: {type: int, default: 1}}", '{A: "{p}"}', "E_PARAM_UNKNOWN", 4, 16),
    "in a key": ("{p: {type: int, default: 1}}", '{"${p}": 1}', "E_PARAM_PARTIAL", 4, 13),
}


@pytest.mark.parametrize(("params", "constants", "code", "line", "column"), WRONG.values(), ids=WRONG)
def test_wrong_parameters(project, params, constants, code, line, column):
    project.write("d.yaml", drift(params, constants))
    assert project.found("d.yaml") == [(code, f"d.yaml:{line}:{column}")]


def test_a_value_must_fit_its_place_too(project):
    project.write("d.yaml", drift("{p: {type: string, default: ab}}", '{A: {qfixed: "${p}"}}'))
    assert project.found("d.yaml") == [("E_SPEC_VALUE", "d.yaml:3:37")]


def test_text_for_people_may_hold_what_looks_like_a_parameter(project):
    more = 'doc: use ${p} or x${p}\nmetadata: {annotations: {a: ["${p}"]}}\n'
    project.write("d.yaml", drift("{}", "{}") + more)
    model = project.one("d.yaml").main.model
    assert (model.doc, model.metadata.annotations) == ("use ${p} or x${p}", {"a": ["${p}"]})


# the reference in the scenario: (code, column)
ARGUMENTS = {
    "unknown": ("{use: push, with: {evry: 3}}", "E_PARAM_UNKNOWN", 24),
    "of the wrong type": ("{use: push, with: {every: often}}", "E_PARAM_TYPE", 31),
    "a boolean for an integer": ("{use: push, with: {every: true}}", "E_PARAM_TYPE", 31),
    "a decimal for an integer": ("{use: push, with: {every: 3.0}}", "E_PARAM_TYPE", 31),
    "a list": ("{use: push, with: {every: [3]}}", "E_PARAM_TYPE", 24),
    "null": ("{use: push, with: {every: null}}", "E_PARAM_TYPE", 31),
    "out of range": ("{use: push, with: {every: 0}}", "E_PARAM_RANGE", 31),
    "no mapping": ("{use: push, with: 3}", "E_SPEC_TYPE", 23),
    "ambiguous": ("{use: push, with: {every: 010}}", "E_YAML_AMBIGUOUS", 31),
    "to an ambiguous name": ("{use: 010, with: {every: 1}}", "E_YAML_AMBIGUOUS", 11),
}


@pytest.mark.parametrize(("reference", "code", "column"), ARGUMENTS.values(), ids=ARGUMENTS)
def test_wrong_arguments_are_reported_where_they_are_given(project, reference, code, column):
    project.write_all()
    project.edit("specs/scenario/basic.yaml", ("{use: push, with: {every: 3}}", reference))
    assert project.found("basic") == [(code, f"specs/scenario/basic.yaml:7:{column}")]


def test_a_missing_argument_is_reported_at_the_reference(project):
    project.write_all()
    project.edit("specs/drift/push.yaml", ("{type: int, default: 5, minimum: 1}", "int"))
    project.edit("specs/scenario/basic.yaml", ("{use: push, with: {every: 3}}", "push"))
    (found,) = project.rejected("basic")
    assert (found.code, str(found.span)) == ("E_PARAM_MISSING", "specs/scenario/basic.yaml:7:5")
    assert [str(span) for _, span in found.related] == ["specs/drift/push.yaml:3:10"]


def test_arguments_are_handed_through(project):
    project.write_all()
    pace = ("horizon", "params: {pace: {type: int, default: 7}}\nhorizon")
    project.edit("specs/scenario/basic.yaml", ("every: 3", 'every: "${pace}"'), pace)
    for changes, every in (((), 7), (("with.pace=9",), 9)):
        bundle = project.one("basic", set=changes)
        assert bundle.specs[bundle.main.refs["drift", 0]].model.constants == {"EVERY": every}


def test_the_same_spec_with_other_arguments_is_another_spec(project):
    project.write_all()
    project.edit("specs/scenario/basic.yaml", ("horizon", "  - push\n  - {use: push, with: {every: 3}}\nhorizon"))
    bundle = project.one("basic")
    keys = bundle.main.model.drift
    assert keys[0] == keys[2] != keys[1]
    assert [bundle.specs[key].name for key in keys] == ["push"] * 3


def test_a_value_remembers_where_it_was_given(project):
    project.write_all()
    bundle = project.one("basic")
    drift = bundle.specs[bundle.main.refs["drift", 0]]
    assert str(drift.span("constants", "EVERY")) == "specs/scenario/basic.yaml:7:31"
    assert str(drift.text("constants", "EVERY").span()) == "specs/scenario/basic.yaml:7:31"
