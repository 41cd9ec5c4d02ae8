"""`spec check` of a folder: what no spec shows by itself."""

import re
from pathlib import Path

import pytest

from specledger.pipeline.project import write_project


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A project in the working folder."""
    write_project(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def rewrite(file, old, new):
    path = Path("specs", file)
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def copy(file, to, old="", new=""):
    text = Path("specs", file).read_text(encoding="utf-8")
    Path("specs", to).write_text(text.replace(old, new, 1) if old else text, encoding="utf-8")


CASES = {
    "no head": (
        lambda: Path("specs/world/notes.yaml").write_text("a: 1\n"),
        "W_FOLDER_HEAD",
        "specs/world/notes.yaml has",
    ),
    "another name": (
        lambda: copy("agent/filler.yaml", "agent/second.yaml", "name: filler", "name: third"),
        "W_FOLDER_NAME",
        "by the name of its file, second",
    ),
    "two of one name": (
        lambda: copy("governor/careful.yaml", "governor/second.yaml"),
        "W_FOLDER_TWICE",
        "another governor has this name: specs/governor/careful.yaml",
    ),
    "two endings of one name": (
        lambda: copy("governor/careful.yaml", "governor/careful.yml"),
        "W_FOLDER_TWICE",
        "another governor has this name: specs/governor/careful.yaml",
    ),
    "a constant": (
        lambda: rewrite("world/tank.yaml", "CAPACITY: 10,", "CAPACITY: 10, SPARE: 3,"),
        "W_FOLDER_UNUSED",
        "nothing reads the constant `SPARE`",
    ),
    "a function": (
        lambda: rewrite("governor/careful.yaml", "gates:", "functions: {twice: {args: [a], is: a * 2}}\ngates:"),
        "W_FOLDER_UNUSED",
        "nothing reads the function `twice`",
    ),
    "a rule": (
        lambda: copy("invariant/no-overflow.yaml", "invariant/never.yaml", "name: no-overflow", "name: never"),
        "W_FOLDER_UNUSED",
        "no spec that was checked refers to this invariant",
    ),
}


@pytest.mark.medium
@pytest.mark.parametrize(("change", "code", "words"), CASES.values(), ids=CASES)
def test_what_a_folder_shows_is_a_warning(spec, folder, change, code, words):
    assert spec("check", ".").err == ""
    change()
    done = spec("check", ".")
    assert (done.status, done.err.count("warning[")) == (0, 1)
    assert f"warning[{code}]: " in done.err
    assert words in done.err
    assert spec("check", "specs/scenario/first.yaml").err == "", "a file by itself shows nothing of the folder"


@pytest.mark.medium
def test_parameters_that_another_spec_gives_are_no_error(spec, folder):
    rewrite(
        "world/tank.yaml",
        "constants: {CAPACITY: 10, WANTED: 8}",
        'params: {wanted: int}\nconstants: {CAPACITY: 10, WANTED: "${wanted}"}',
    )
    rewrite("scenario/first.yaml", "world: tank", "world: {use: tank, with: {wanted: 8}}")
    done = spec("check", ".")
    assert (done.status, done.err) == (0, "")
    assert "checked 5 files: 5 ok" in done.out
    alone = spec("check", "specs/world/tank.yaml")
    assert (alone.status, alone.err) == (0, ""), "the specs of the folder that use it give them"
    rewrite("scenario/first.yaml", "with: {wanted: 8}", 'with: {wanted: "x"}')
    assert "E_PARAM_MISSING" in spec("check", "specs/world/tank.yaml").err
    rewrite("scenario/first.yaml", 'with: {wanted: "x"}', "with: {wnted: 8}")
    assert "E_PARAM_MISSING" in spec("check", ".").err


LEVEL = ("world/tank.yaml", "success: level >= WANTED", "success: level >= WANTD")
SCORE = ("agent/filler.yaml", "action.by : 0", "actin.by : 0")
FINDINGS = {
    "of its own": ([LEVEL], ["E_EXPR_UNKNOWN_NAME"], "specs/world/tank.yaml:"),
    "of its own and of another": ([LEVEL, SCORE], ["E_EXPR_UNKNOWN_NAME"], "specs/world/tank.yaml:"),
    "of another": ([SCORE], ["E_PARAM_MISSING"], "specs/world/tank.yaml:"),
    "none": ([], [], ""),
}


@pytest.mark.medium
@pytest.mark.parametrize(("changes", "codes", "file"), FINDINGS.values(), ids=FINDINGS)
def test_a_spec_that_is_looked_at_alone_has_the_findings_of_its_own_file(spec, folder, changes, codes, file):
    """Those that it has where the specs of the folder give its parameters."""
    rewrite(
        "world/tank.yaml",
        "constants: {CAPACITY: 10, WANTED: 8}",
        'params: {wanted: int}\nconstants: {CAPACITY: 10, WANTED: "${wanted}"}',
    )
    rewrite("scenario/first.yaml", "world: tank", "world: {use: tank, with: {wanted: 8}}")
    for change in changes:
        rewrite(*change)
    done = spec("check", "specs/world/tank.yaml")
    assert re.findall(r"^(\S+?:)\d+:\d+: \w+\[(\w+)\]", done.err, re.MULTILINE) == [(file, code) for code in codes], (
        done.err
    )


@pytest.mark.medium
def test_a_misspelt_parameter_is_one_error(spec, folder):
    rewrite(
        "world/tank.yaml",
        "constants: {CAPACITY: 10, WANTED: 8}",
        'params: {wanted: int}\nconstants: {CAPACITY: 10, WANTED: "${wantd}"}',
    )
    done = spec("check", "specs/world/tank.yaml")
    assert done.err.count("error[") == 1
    assert "did you mean `wanted`?" in done.err


@pytest.mark.slow
def test_shipped_specs_have_no_such_finding(spec):
    assert "W_FOLDER" not in spec("check", str(Path(__file__).parents[3] / "specs")).err
