"""The layout of specs: comments and meaning stay, and a text that is laid out stays as it is."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specledger.core.diagnostics import Diagnostics
from specledger.kinds import KINDS
from specledger.load.layout import comments, layout
from specledger.load.yaml_reader import parse

ROOT = Path(__file__).resolve().parents[3]
SHIPPED = [path for path in sorted((ROOT / "specs").rglob("*.yaml")) if path.name != "starts.yaml"]


def document(text):
    diagnostics = Diagnostics()
    read = parse(text, "a.yaml", diagnostics)
    assert read is not None, diagnostics.sorted()
    assert not diagnostics.has_errors, diagnostics.sorted()
    return read


def laid_out(text):
    read = document(text)
    kind = str(read.root.members["spec"].value).partition("/")[0]
    return layout(read, KINDS[kind].model)


def kinds_of(path):
    return path.read_text(encoding="utf-8").partition("spec: ")[2].partition("/")[0]


@pytest.mark.medium
def test_every_shipped_spec_is_laid_out():
    assert len(SHIPPED) > 300
    for path in SHIPPED:
        if kinds_of(path) in KINDS:  # of a wing that is installed
            text = path.read_text(encoding="utf-8")
            assert laid_out(text) == text, f"{path}: run `spec fmt`"


@pytest.mark.medium
def test_every_example_keeps_its_values_and_comments_and_is_laid_out_once():
    examples = sorted((ROOT / "examples").rglob("*.yaml")) + sorted((ROOT / "fixtures" / "specs").rglob("*.yaml"))
    changed = 0
    for path in examples:
        if kinds_of(path) in KINDS:  # of a wing that is installed
            before = document(path.read_text(encoding="utf-8"))
            text = laid_out(before.text)
            after = document(text)
            assert after.root.plain() == before.root.plain(), path
            assert comments(after) == comments(before), path
            assert laid_out(text) == text, path
            changed += text != before.text
    assert changed > 20


@pytest.mark.parametrize("folder", ["project", *KINDS])
def test_what_projects_begin_with_is_laid_out(folder):
    for path in (ROOT / "specs" / "new" / folder).rglob("*.yaml"):
        if kinds_of(path) in KINDS:
            text = path.read_text(encoding="utf-8")
            assert laid_out(text) == text, path


HEAD = "spec: governor/v1\nname: a\n"
CASES = {
    "keys of the model are in its order": (
        "spec: governor/v1\nname: a\nchoose: {maximise: 1}\ngates:\n  - reason: b\n    deny: x\n    id: c\n",
        "spec: governor/v1\nname: a\ngates:\n  - id: c\n    deny: x\n    reason: b\nchoose: {maximise: 1}\n",
    ),
    "what every document may have comes first": (
        "spec: governor/v1\nname: a\ngates: []\nparams: {p: int}\nextends: b\ndoc: c\n",
        "spec: governor/v1\nname: a\ndoc: c\nextends: b\nparams: {p: int}\ngates: []\n",
    ),
    "free names keep their order": (HEAD + "let:\n  z: 1\n  a: 2\n", HEAD + "let:\n  z: 1\n  a: 2\n"),
    "a comment moves with its key": (
        HEAD + "# about choosing\nchoose: {maximise: 1} # the first\n\n# about gates\ngates: []\n",
        HEAD + "\n# about gates\ngates: []\n# about choosing\nchoose: {maximise: 1} # the first\n",
    ),
    "a comment that is indented belongs to what is above it": (
        HEAD + "let:\n    a: 1\n    # the end\ngates: []\n",
        HEAD + "let:\n  a: 1\n  # the end\ngates: []\n",
    ),
    "levels have two spaces, lists too": (
        HEAD + "gates:\n- id: a\n  deny: x\n  reason: b\n  witness:\n      y: 1\n",
        HEAD + "gates:\n  - id: a\n    deny: x\n    reason: b\n    witness:\n      y: 1\n",
    ),
    "texts in blocks move with their key": (
        HEAD + "let:\n    a: >-\n          x +\n            y\n\n          z\n    b: |\n       1\n",
        HEAD + "let:\n  a: >-\n    x +\n      y\n\n    z\n  b: |\n    1\n",
    ),
    "the header of a block stands beside its key": (
        HEAD + "let:\n  a:\n    >-\n    x\n    y\n",
        HEAD + "let:\n  a: >-\n    x\n    y\n",
    ),
    "quotes are double where nothing must be escaped": (
        HEAD + "let: {a: 'x', b: 'say \"x\"', c: 'it''s', 'd': 1}\n",
        HEAD + "let: {a: \"x\", b: 'say \"x\"', c: 'it''s', \"d\": 1}\n",
    ),
    "no space at the end of a line, one blank line, one line break at the end": (
        HEAD + "let: {a: 1}   \n\n\n\ngates: []  # b  \n\n\n",
        HEAD + "let: {a: 1}\n\ngates: []  # b\n",
    ),
    "a flow collection on several lines keeps its form": (
        HEAD + "let:\n    a: {b: 1,\n        c: 2\n    }\n",
        HEAD + "let:\n  a: {b: 1,\n      c: 2\n  }\n",
    ),
    "a comment after a dash goes before it": (
        HEAD + "gates:\n  - # why\n    id: a\n    deny: x\n    reason: b\n",
        HEAD + "gates:\n  # why\n  - id: a\n    deny: x\n    reason: b\n",
    ),
    "a value on the next line stays there": (HEAD + "doc:\n    a b\n    c\n", HEAD + "doc:\n  a b\n    c\n"),
    "what stands before the first key stays there": ("# editor\n\n---\n" + HEAD + "gates: []\n",) * 2,
    "inherited keys of a suite's arms come last": (
        "spec: suite/v1\nname: a\nruns:\n  b:\n    set: {c: 1}\n    seeds: [1]\n    scenarios: [d]\n",
        "spec: suite/v1\nname: a\nruns:\n  b:\n    scenarios: [d]\n    seeds: [1]\n    set: {c: 1}\n",
    ),
}


@pytest.mark.parametrize(("before", "after"), CASES.values(), ids=CASES)
def test_cases(before, after):
    assert laid_out(before) == after
    assert laid_out(after) == after
    assert document(after).root.plain() == document(before).root.plain()
    assert comments(document(after)) == comments(document(before))


COMMENT = st.sampled_from(["", " # a", "\n  # b", "\n\n    # c", "\n# d"])
SCALAR = st.sampled_from(
    ["1", "'x'", '"y z"', "a b\n      c", ">-\n      p\n\n       q", "|+\n      r\n\n", "[1,\n      2]"]
)


@pytest.mark.medium
@given(
    st.lists(
        st.tuples(st.sampled_from(["gates", "let", "cost", "doc", "choose"]), SCALAR, COMMENT),
        unique_by=lambda row: row[0],
    )
)
def test_any_text_keeps_its_values_and_comments(rows):
    text = HEAD + "".join(f"{key}:\n    z: {value}{comment}\n    y: 2\n" for key, value, comment in rows)
    read = parse(text, "a.yaml", Diagnostics())
    if read is not None:
        once = laid_out(text)
        assert document(once).root.plain() == read.root.plain()
        assert comments(document(once)) == comments(read)
        assert laid_out(once) == once
