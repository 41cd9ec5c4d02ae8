"""The resolved form: its digest, its keys, the places of its values."""

import pytest

from specledger.core.spans import Position

TEXT = """\
spec: invariant/v1
name: bound
constants: {A: 1, B: 0.5, C: [1.5, {d: -2.0}], D: {qfixed: 3.6}}
when: >-
  x > 1 &&
  y < B
require: "x\\t>= A"
witness: {w: 5, v: true}
"""


def test_the_resolved_form(project):
    project.write("i.yaml", TEXT)
    spec = project.one("i.yaml").main
    assert spec.data == {
        "spec": "invariant/v1",
        "name": "bound",
        "constants": {
            "A": 1,
            "B": {"$double": "0.5"},
            "C": [{"$double": "1.5"}, {"d": {"$double": "-2.0"}}],
            "D": {"qfixed": "3.6"},
        },
        "when": "x > 1 && y < B",
        "require": "x\t>= A",
        "witness": {"w": "5", "v": "true"},
    }
    assert spec.key.startswith("invariant/bound@")
    assert len(spec.key) == len("invariant/bound@") + 16


SAME = {
    "comments and blank lines": ("name: bound", "name: bound  # note\n\n# more"),
    "the order of keys": (
        "spec: invariant/v1\nname: bound\nconstants: {A: 1,",
        "spec: invariant/v1\nconstants: {A: 1,",
    ),
    "the order inside": ("{A: 1, B: 0.5,", "{B: 0.5, A: 1,"),
    "block style": ("{w: 5, v: true}", "\n  w: 5\n  v: true"),
    "quotes": ("when: >-\n  x > 1 &&\n  y < B", "when: 'x > 1 && y < B'"),
    "text for a number in an expression": ("w: 5", 'w: "5"'),
    "a default that is written": ("name: bound", "name: bound\nscope: step"),
    "trailing zeros": ("{qfixed: 3.6}", "{qfixed: 3.600}"),
    "a longer decimal": ("B: 0.5", "B: 0.500"),
    "CR LF": ("\n", "\r\n"),
}
OTHER = {
    "a number with a point": ("A: 1,", "A: 1.0,"),
    "another number": ("B: 0.5", "B: 0.50000000001"),
    "a text": ("A: 1,", 'A: "1",'),
    "another name": ("name: bound", "name: bond"),
    "an annotation": ("name: bound", "name: bound\nmetadata: {annotations: {a: b}}"),
    "an expression": ("y < B", "y < A"),
    "the order in a list": ("[1.5, {d: -2.0}]", "[{d: -2.0}, 1.5]"),
    "true for 1": ("A: 1,", "A: true,"),
}


@pytest.mark.parametrize(("old", "new"), SAME.values(), ids=SAME)
def test_the_digest_is_of_what_is_said(project, old, new):
    assert old in TEXT
    changed = TEXT.replace(old, new) + ("name: bound\n" if old.startswith("spec") else "")
    project.write("i.yaml", TEXT)
    project.write("deep/j.yaml", changed.encode())
    assert project.one("deep/j.yaml").digest == project.one("i.yaml").digest


@pytest.mark.parametrize(("old", "new"), OTHER.values(), ids=OTHER)
def test_another_meaning_is_another_digest(project, old, new):
    assert old in TEXT
    project.write("i.yaml", TEXT)
    project.write("j.yaml", TEXT.replace(old, new))
    assert project.one("j.yaml").digest != project.one("i.yaml").digest


def test_sharing_what_is_said_changes_no_digest(project):
    """A flat document, and the same one by extends, params and other files."""
    project.write_all()
    flat = project.one("basic").digest
    project.write(
        "a/core.yaml",
        """\
        spec: scenario/v1
        name: core
        params: {pace: {type: int, default: 8}, steps: int, place: {type: string, default: line}}
        world: ${place}
        agent: walker
        drift: [{use: ../specs/drift/push.yaml, with: {every: "${pace}"}}]
        horizon: ${steps}
        """,
    )
    project.write(
        "a/basic.yaml",
        """\
        # the same, in another way
        spec: scenario/v1
        extends: core
        name: basic
        params: {steps: {type: int, default: 10}, pace: {default: 3}}
        governor: {use: keeper}
        seed: 0
        """,
    )
    assert project.one("a/basic.yaml").digest == flat


def test_mappings_are_in_the_order_of_their_keys_however_they_were_written(project):
    project.write("i.yaml", TEXT.replace("{w: 5, v: true}", "{w: 5, v: true, a: 1}"))
    assert list(project.one("i.yaml").main.model.witness) == ["a", "v", "w"]


def test_scalars_have_places(project):
    project.write("i.yaml", TEXT)
    spec = project.one("i.yaml").main
    when = spec.text("when")
    assert (when.value, when.file) == ("x > 1 && y < B", "i.yaml")
    assert when.span(9, 10).start == Position(6, 3)
    assert spec.text("require").span(1, 2).start == Position(7, 12)
    assert spec.text("require").span(2, 4).start == Position(7, 14)
    assert spec.text("witness", "w").value == "5"
    assert spec.text("witness", "v").value == "true"
    assert str(spec.text("constants", "C", 1, "d").span()) == "i.yaml:3:40"
    assert str(spec.span("constants")) == "i.yaml:3:1"
    assert str(spec.span("constants", "C", 1)) == "i.yaml:3:36"
    assert str(spec.span()) == "i.yaml:1:1"


def test_a_value_that_was_not_written_is_its_own_source(project):
    project.write("i.yaml", TEXT)
    spec = project.one("i.yaml").main
    text = spec.text("severity")
    assert (text.value, text.file) == ("fatal", f"<{spec.key} severity>")
    assert str(spec.span("severity")) == "i.yaml:1:1"
    assert str(spec.span("constants", "Z")) == "i.yaml:3:1"
    for path in (
        ("doc",),
        ("constants",),
        ("constants", "Z"),
        ("witness", "w", "x"),
        ("nothing",),
        ("constants", "C", 5),
    ):
        with pytest.raises(KeyError):
            spec.text(*path)


def test_every_value_has_an_origin(project):
    project.write_all()
    for spec in project.one("basic").specs.values():

        def leaves(value, path=()):
            if isinstance(value, dict) and "$double" not in value:
                for key, member in value.items():
                    yield from leaves(member, (*path, key))
            elif isinstance(value, list):
                for index, element in enumerate(value):
                    yield from leaves(element, (*path, index))
            else:
                yield path

        assert all(path in spec.origins for path in leaves(spec.data))


def test_models_use_the_keys_of_documents_for_places(project):
    project.write(
        "w.yaml",
        """\
        spec: world/v1
        name: w
        state: {x: int}
        functions: {f: {args: [p], is: p + 1}}
        actions: {go: {}}
        """,
    )
    spec = project.one("w.yaml").main
    assert spec.text("functions", "f", "is").value == "p + 1"
    assert spec.text("actions", "go", "when").value == "true"
    with pytest.raises(KeyError):
        spec.text("functions", "f", "body")
