"""What is wrong with a document's content, told at its place; all of it at once."""

import pytest

from specledger.core.diagnostics import MOST_FINDINGS, Rejected
from specledger.kinds import load
from specledger.load import findings

WORLD = """\
spec: world/v1
name: line
state: {x: int}
actions: {go: {args: {by: int}, effects: [{set: x, to: x + by}]}}
"""

# what is appended to a right world: (code, line, column) of the only finding, and words of it
BAD_WORLDS = {
    "an unknown key": ("observ: {x: x}", "E_SPEC_UNKNOWN_KEY", 5, 1, "did you mean `observe`?"),
    "an unknown key like no other": ("zzz: 1", "E_SPEC_UNKNOWN_KEY", 5, 1, "known keys: spec, name, doc"),
    "a key of an element at the top": ("to: 1", "E_SPEC_UNKNOWN_KEY", 5, 1, "`to` belongs in `every_step.ELEMENT`; known"),
    "a key of the top inside": (
        "functions: {f: {args: [], is: x, name: y}}",
        "E_SPEC_UNKNOWN_KEY",
        5,
        34,
        "`name` belongs at the top of the document; known keys: args, is",
    ),
    "a key of another kind": ("horizon: 5", "E_SPEC_UNKNOWN_KEY", 5, 1, "`horizon` is a key of the kind `scenario`; known keys: spec"),
    "an unknown key deep inside": ("functions: {f: {args: [], iz: x, is: x}}", "E_SPEC_UNKNOWN_KEY", 5, 27, "`iz`"),
    "metadata are free in one place only": ("metadata: {note: x}", "E_SPEC_UNKNOWN_KEY", 5, 12, "annotations"),
    "a missing key": ("functions: {f: {is: x}}", "E_SPEC_MISSING_KEY", 5, 13, "`f` lacks the key `args`"),
    "a number for a text": ("doc: 5", "E_SPEC_TYPE", 5, 6, "the number 5"),
    "a list for a mapping": ("types: [a]", "E_SPEC_TYPE", 5, 1, "a mapping"),
    "a mapping for a list": ("every_step: {set: x}", "E_SPEC_TYPE", 5, 1, "a list"),
    "null for a list": ("every_step: null", "E_SPEC_TYPE", 5, 13, "`[]` is an empty list"),
    "a list for an expression": ("derived: {d: [x]}", "E_SPEC_TYPE", 5, 11, "an expression"),
    "a value that no member of a union takes": ("types: {T: 5}", "E_SPEC_TYPE", 5, 12, "text or a mapping"),
    "null for a constant": ("constants: {A: null}", "E_SPEC_TYPE", 5, 16, "true or false, an integer, a number, text or a list"),
    "a fixed point with seven decimals": ("constants: {A: {qfixed: 0.1234567}}", "E_SPEC_VALUE", 5, 25, "six decimals"),
    "a misspelt member of a union": ("constants: {A: {qfixd: 1}}", "E_SPEC_UNKNOWN_KEY", 5, 17, "did you mean `qfixed`?"),
    "a name that is no identifier": ("derived: {a-b: x}", "E_SPEC_VALUE", 5, 11, "the key `a-b`"),
    "a too small number": ("types: {T: {type: array, maxItems: -1}}", "E_SPEC_VALUE", 5, 36, "at least 0"),
    "a word that is not allowed": ("types: {T: {type: intger}}", "E_SPEC_VALUE", 5, 19, "did you mean `integer`?"),
    "an effect without a verb": ("every_step: [{sett: x, to: 1}]", "E_SPEC_VALUE", 5, 14, "did you mean `set`?"),
    "a wrong key of an effect": ("every_step:\n- set: x\n  too: 1", "E_SPEC_UNKNOWN_KEY", 7, 3, "did you mean `to`?"),
    "a wrong value of an effect": ("every_step:\n- {set: x, to: []}", "E_SPEC_TYPE", 6, 12, "an expression"),
    "an effect on no field": ("every_step:\n- {set: x y, to: 1}", "E_SPEC_VALUE", 6, 9, "the text `x y`"),
    "a reference that is no text": ("parts: {p: {world: [a], follow: {}}}", "E_SPEC_TYPE", 5, 13, "text or a mapping"),
    "a wrong key of a reference": (
        "parts:\n  p: {world: {use: a, wth: {b: 1}}, follow: {}}",
        "E_SPEC_UNKNOWN_KEY",
        6,
        23,
        "did you mean `with`?",
    ),
    "a reserved key": ("metadata: {annotations: {a: {$double: x}}}", "E_SPEC_RESERVED_KEY", 5, 30, "reserved"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("written", "hint"),
    [("cat.act", "write `cat:act`"), ("a.b.act", "write `a.b:act`"), ("act", None), ("a b.c", None)],
)
def test_a_function_without_its_colon_is_written_out(project, written, hint):
    project.write("a.yaml", f"spec: agent/v1\nname: a\noutside: {{python: {written}}}\n")
    (found,) = project.rejected("a.yaml")
    assert (found.code, found.hint) == ("E_SPEC_VALUE", hint)


@pytest.mark.parametrize(("more", "code", "line", "column", "words"), BAD_WORLDS.values(), ids=BAD_WORLDS)
def test_a_wrong_value_is_reported_at_its_place(project, more, code, line, column, words):
    project.write("w.yaml", f"{WORLD}{more}\n")
    (found,) = project.rejected("w.yaml")
    assert (found.code, str(found.span)) == (code, f"w.yaml:{line}:{column}")
    assert words in f"{found.message} {found.expected} {found.found} {found.hint}"


@pytest.mark.wing("kernel")
def test_a_missing_key_of_a_document_points_at_its_first_line(project):
    project.write("i.yaml", "# about\nspec: vocabulary/v1\nname: i\n")
    (found,) = project.rejected("i.yaml")
    assert (found.code, str(found.span)) == ("E_SPEC_MISSING_KEY", "i.yaml:2:1")
    assert found.message == "the document lacks the key `forms`"
    assert found.hint == "write `forms: ...`; `spec explain vocabulary.forms` says what may stand there"


def test_rules_between_keys_point_at_the_key_of_the_mapping(project):
    project.write("g.yaml", 'spec: governor/v1\nname: g\nchoose: {maximise: "0"}\ngates:\n- {id: a, reason: b}\n')
    (found,) = project.rejected("g.yaml")
    assert (found.code, str(found.span)) == ("E_SPEC_VALUE", "g.yaml:5:3")
    assert found.message == "a gate has exactly one of `deny` and `require`"


def test_all_mistakes_of_all_files_are_reported_in_order(project):
    project.write_all("world", "agent", "scenario")
    project.write("specs/governor/keeper.yaml", "spec: governor/v1\nname: keeper\ngatez: []\nchoose: {maximise: NO}\n")
    project.write(
        "specs/drift/push.yaml", "spec: drift/v1\nname: push\nparams: {every: int}\nat: ${evry}\neffects: 5\n"
    )
    assert project.found("basic") == [
        ("E_PARAM_UNKNOWN", "specs/drift/push.yaml:4:5"),
        ("E_SPEC_TYPE", "specs/drift/push.yaml:5:10"),
        ("E_SPEC_UNKNOWN_KEY", "specs/governor/keeper.yaml:3:1"),
        ("E_YAML_AMBIGUOUS", "specs/governor/keeper.yaml:4:20"),
    ]


def test_with_findings_every_expression_is_looked_at_once_unless_it_has_a_finding(project):
    """Those of specs that were resolved, and of such as could not be."""
    project.write_all("world", "agent", "scenario", "drift")
    project.write(
        "specs/governor/keeper.yaml", "spec: governor/v1\nname: keeper\ngatez: []\nchoose: {maximise: y + 1}\n"
    )
    seen = []
    rejected = project.rejected("basic", see=lambda text, diagnostics: seen.append(text.value))
    assert [finding.code for finding in rejected] == ["E_SPEC_UNKNOWN_KEY"]
    assert sorted(seen) == sorted(["0", "t % EVERY == 0", "x + 1", "x + by", "y + 1"])
    project.edit("specs/governor/keeper.yaml", ("y + 1", "NO"))
    seen.clear()
    project.rejected("basic", see=lambda text, diagnostics: seen.append(text.value))
    assert "NO" not in seen


def test_without_findings_no_expression_is_looked_at_by_the_loader(project):
    seen = []
    project.load(project.write_all(), see=lambda text, diagnostics: seen.append(text.value))
    assert not seen


def test_a_value_with_a_yaml_mistake_is_reported_once(project):
    project.write("i.yaml", "spec: invariant/v1\nname: i\nrequire: x\nscope: on\nseverity:\n")
    assert project.found("i.yaml") == [("E_YAML_AMBIGUOUS", "i.yaml:4:8"), ("E_YAML_EMPTY", "i.yaml:5:1")]


HEADS = {
    "a list": ("- a", 1, 1, None),
    "a text": ("a", 1, 1, None),
    "another first key": ("name: a\nrequire: x", 1, 1, None),
    "a misspelt first key": ("spek: world/v1", 1, 1, "did you mean `spec`?"),
    "spec as the second key": ("name: a\nspec: invariant/v1\nrequire: x", 2, 1, None),
    "an unknown kind": ("spec: wurld/v1\nname: a", 1, 7, "did you mean `world/v1`?"),
    "no version": ("spec: world\nname: a", 1, 7, "did you mean `world/v1`?"),
    "a later version": ("spec: world/v2\nname: a", 1, 7, "did you mean `world/v1`?"),
    "a list as the kind": ("spec: [world]\nname: a", 1, 7, "kinds: "),
}


@pytest.mark.parametrize(("text", "line", "column", "hint"), HEADS.values(), ids=HEADS)
def test_a_wrong_head(project, text, line, column, hint):
    project.write("f.yaml", text + "\n")
    (found,) = project.rejected("f.yaml")
    assert (found.code, str(found.span)) == ("E_SPEC_KIND", f"f.yaml:{line}:{column}")
    assert found.hint is None if hint is None else found.hint.startswith(hint)


@pytest.mark.medium
def test_of_very_many_strange_keys_only_the_first_are_looked_at(monkeypatch, tmp_path):
    looked, locate = [], findings._locate

    def counted(*given):
        looked.append(given)
        return locate(*given)

    monkeypatch.setattr(findings, "_locate", counted)
    keys = ", ".join(f"k{number}: 1" for number in range(8 * MOST_FINDINGS))
    file = tmp_path / "many.yaml"
    file.write_text(f"spec: library/v1\nname: many\nconstants: {{a: {{{keys}}}}}\n")
    with pytest.raises(Rejected) as rejected:
        load(file)
    assert rejected.value.diagnostics[0].code == "E_FINDINGS"
    assert len(looked) <= 4 * MOST_FINDINGS


@pytest.mark.medium
def test_of_a_mapping_with_very_many_keys_only_the_first_are_compared_with_the_words_that_are_allowed(
    monkeypatch, tmp_path
):
    compared = []
    monkeypatch.setattr(findings, "suggest", lambda word, words: compared.append(word))
    keys = ", ".join(f"k{number}: 1" for number in range(5000))
    file = tmp_path / "many.yaml"
    file.write_text(f"spec: invariant/v1\nname: many\nrequire: 'true'\nseverity: {{{keys}}}\n")
    with pytest.raises(Rejected):
        load(file)
    assert 0 < len(compared) < 20
