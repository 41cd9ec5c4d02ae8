"""`matrix`: the cases of a document, their ids, and matrices that make no sense."""

import pytest

from tests.toys import findings_of

HEAD = """\
spec: invariant/v1
name: bound
params:
  low: {type: int, default: 0}
  word: {type: string, default: a, enum: [a, b, c]}
  share: {type: qfixed, default: 1.5}
  rate: {type: double, default: 1}
  strict: {type: bool, default: false}
constants: {LOW: "${low}", WORD: "${word}", SHARE: {qfixed: "${share}"}, RATE: "${rate}", STRICT: "${strict}"}
require: x > LOW
"""

CASES = {
    "one axis": ("{low: [1, 2]}", ["low=1", "low=2"]),
    "a range": ("{low: {from: -1, to: 1}}", ["low=-1", "low=0", "low=1"]),
    "a range with a step": ("{low: {from: 0, to: 7, step: 3}}", ["low=0", "low=3", "low=6"]),
    "two axes": ("{low: [1, 2], word: [a, b]}", ["low=1,word=a", "low=1,word=b", "low=2,word=a", "low=2,word=b"]),
    "the order of the axes": ("{word: [a, b], low: [1]}", ["word=a,low=1", "word=b,low=1"]),
    "exclusion": ("{low: [1, 2], word: [a, b], exclude: [{low: 1, word: b}, {low: 2}]}", ["low=1,word=a"]),
    "inclusion": ("{low: [1], include: [{low: 9}, {word: c, low: 1}]}", ["low=1", "low=9", "low=1,word=c"]),
    "inclusion alone": ("{include: [{strict: true}]}", ["strict=true"]),
    "exclusion by another spelling": ("{share: [1.5, 2], exclude: [{share: 2.0}]}", ["share=1.5"]),
    "spellings": (
        "{share: [3, 0.25], rate: [2, 0.5]}",
        ["share=3,rate=2.0", "share=3,rate=0.5", "share=0.25,rate=2.0", "share=0.25,rate=0.5"],
    ),
}


@pytest.mark.parametrize(("matrix", "ids"), CASES.values(), ids=CASES)
def test_cases(project, matrix, ids):
    project.write("m.yaml", f"{HEAD}matrix: {matrix}\n")
    assert [bundle.case for bundle in project.load("m.yaml")] == ids


def test_a_case_is_the_spec_with_its_arguments(project):
    project.write("m.yaml", f"{HEAD}matrix: {{low: [1, 2]}}\n")
    project.write("plain.yaml", HEAD)
    assert [bundle.digest for bundle in project.load("m.yaml")] == [
        project.one("plain.yaml", set=[f"with.low={low}"]).digest for low in (1, 2)
    ]


def test_ids_hold_nothing_that_a_path_or_a_shell_would_take_ill(project):
    project.write("m.yaml", HEAD.replace(", enum: [a, b, c]", "") + 'matrix: {word: ["a/b", "c d", "é,=", ""]}\n')
    assert [bundle.case for bundle in project.load("m.yaml")] == [
        "word=a%2Fb",
        "word=c%20d",
        "word=%C3%A9%2C%3D",
        "word=",
    ]


WRONG = {
    "a list": ("[1]", "E_MATRIX_TYPE", 1),
    "an axis that is no list": ("{low: 1}", "E_MATRIX_TYPE", 15),
    "a range of a billion": ("{low: {from: 0, to: 1000000000}}", "E_MATRIX_SIZE", 10),
    "a range without an end": ("{low: {from: 0}}", "E_MATRIX_TYPE", 10),
    "a range that is empty": ("{low: {from: 2, to: 1}}", "E_MATRIX_EMPTY", 10),
    "a range that stands still": ("{low: {from: 0, to: 1, step: 0}}", "E_MATRIX_EMPTY", 10),
    "a range of words": ("{word: {from: 0, to: 1}}", "E_MATRIX_TYPE", 10),
    "an axis that is no parameter": ("{lov: [1]}", "E_MATRIX_AXIS", 10),
    "an empty axis": ("{low: []}", "E_MATRIX_EMPTY", 10),
    "no axis": ("{}", "E_MATRIX_EMPTY", 1),
    "a value of the wrong type": ("{low: [1, a]}", "E_PARAM_TYPE", 19),
    "a value that is not allowed": ("{word: [a, z]}", "E_PARAM_RANGE", 20),
    "a value twice": ("{low: [1, 1]}", "E_MATRIX_DUPLICATE", 1),
    "an inclusion twice": ("{low: [1], include: [{low: 1}]}", "E_MATRIX_DUPLICATE", 1),
    "an inclusion that is no list": ("{include: {low: 1}}", "E_MATRIX_TYPE", 10),
    "an empty inclusion": ("{include: [{}]}", "E_MATRIX_TYPE", 20),
    "an unknown name in an inclusion": ("{low: [1], include: [{lov: 1}]}", "E_MATRIX_AXIS", 31),
    "an exclusion by no axis": ("{low: [1, 2], exclude: [{word: a}]}", "E_MATRIX_AXIS", 34),
    "an exclusion of nothing": ("{low: [1, 2], exclude: [{low: 3}]}", "E_MATRIX_EXCLUDE", 39),
    "an exclusion of everything": ("{low: [1], exclude: [{low: 1}]}", "E_MATRIX_EMPTY", 1),
    "too many cases": (
        f"{{low: [{', '.join(map(str, range(100)))}], word: [a, b], share: [{', '.join(map(str, range(30)))}]}}",
        "E_MATRIX_SIZE",
        1,
    ),
    "too many inclusions": (f"{{low: [0], include: [{', '.join(f'{{low: {n}}}' for n in range(1, 4097))}]}}", "E_MATRIX_SIZE", 1),
    "too many exclusions": (f"{{low: [0, 1], exclude: [{', '.join(f'{{low: {n}}}' for n in range(4097))}]}}", "E_MATRIX_SIZE", 1),
}  # fmt: skip


@pytest.mark.parametrize(("matrix", "code", "column"), WRONG.values(), ids=WRONG)
def test_wrong_matrices(project, matrix, code, column):
    project.write("m.yaml", f"{HEAD}matrix: {matrix}\n")
    assert project.found("m.yaml") == [(code, f"m.yaml:11:{column}")]


def test_an_id_has_at_most_120_characters(project):
    matrix = f"matrix: {{word: [a, {'b' * 115}, {'c' * 116}]}}\n"
    project.write("m.yaml", HEAD.replace(", enum: [a, b, c]", "") + matrix)
    assert project.found("m.yaml") == [("E_MATRIX_ID", "m.yaml:11:137")]


def test_only_the_spec_that_is_loaded_has_a_matrix(project):
    project.write_all()
    project.write("specs/invariant/bound.yaml", f"{HEAD}matrix: {{low: [1, 2]}}\n")
    project.edit("specs/governor/keeper.yaml", ("[safe]", "[safe, bound]"))
    assert project.found("basic") == [("E_MATRIX_PLACE", "specs/governor/keeper.yaml:7:20")]


def test_an_axis_is_not_set_beside_the_matrix(project):
    project.write("m.yaml", f"{HEAD}matrix: {{low: [1, 2]}}\n")
    assert project.found("m.yaml", set=["with.low=3"]) == [("E_SET_PATH", "--set with.low:1:6")]
    assert [bundle.case for bundle in project.load("m.yaml", set=["with.word=b"])] == ["low=1", "low=2"]


# what is changed, and where the finding stands; None: it is no value of an axis
BESIDE = {
    "the value itself": ("constants.LOW=3", "--set constants.LOW:1:15"),
    "what holds it": ("constants={LOW: 3}", "--set constants:1:11"),
    "an equal value from elsewhere": ("constants.HIGH=3", None),
    "a value of another parameter": ("constants.WORD=b", None),
}


@pytest.mark.parametrize(("setting", "place"), BESIDE.values(), ids=BESIDE)
def test_what_an_axis_says_is_changed_in_the_matrix_alone(project, setting, place):
    """Two cases of two names would be one, and a case would be called by a value that it does not have."""
    text = HEAD.replace("{LOW:", "{HIGH: 1, LOW:")
    project.write("m.yaml", f"{text}matrix: {{low: [1, 2]}}\n")
    if place is None:
        assert len({bundle.digest for bundle in project.load("m.yaml", set=[setting])}) == 2
    else:
        assert project.found("m.yaml", set=[setting]) == [("E_SET_PATH", place)]
        assert "`low`, an axis of the matrix" in project.rejected("m.yaml", set=[setting])[0].message


def test_what_an_axis_says_is_not_changed_behind_a_reference_either(project):
    project.write_all()
    axis = ("horizon", "params: {n: int}\nmatrix: {n: [3, 4]}\nhorizon")
    project.edit("specs/scenario/basic.yaml", ("every: 3", "every: '${n}'"), axis)
    assert project.found("basic", set=["drift.push.constants.EVERY=9"]) == [
        ("E_SET_PATH", "--set drift.push.constants.EVERY:1:28")
    ]
    assert project.found("basic", set=["drift.0=null"]) == [("E_SET_PATH", "--set drift.0:1:9")]
    assert len(project.load("basic", set=["drift.push.at=t == 2", "governor.gates.floor=null"])) == 2


@pytest.mark.parametrize(
    ("axis", "values", "texts"),
    [("low", "{from: 1, to: 3}", ["1", "2", "3"]), ("rate", "[2, 0.5]", ["2.0", "0.5"]), ("low", "[-7]", ["-7"])],
)
def test_the_text_of_a_value_is_that_of_its_case(project, axis, values, texts):
    """Expressions are compiled from texts; what a range only implies is written nowhere."""
    head = HEAD.replace("require: x > LOW", f'require: "${{{axis}}}"')
    project.write("m.yaml", f"{head}matrix: {{{axis}: {values}}}\n")
    assert [bundle.main.text("require").value for bundle in project.load("m.yaml")] == texts


def test_no_case_has_the_values(project):
    project.write("m.yaml", f"{HEAD}matrix: {{low: [1, 2]}}\n")
    (found,) = findings_of(project.load, "m.yaml", case="low=3")
    assert (found.code, found.hint) == ("E_MATRIX_CASE", "did you mean `low=2`?")
