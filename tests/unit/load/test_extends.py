"""`extends`: what merges, what replaces, and chains that do not end."""

import os
from collections import Counter

import pytest

from specledger.load.document import Node
from tests.toys import findings_of

BASE = """\
spec: governor/v1
name: base
constants: {A: 1, B: 2}
gates: [{id: floor, deny: x < A, reason: below}]
choose: {maximise: "0"}
"""


def test_mappings_merge_and_lists_replace(project):
    project.write("base.yaml", BASE)
    project.write(
        "child.yaml",
        "spec: governor/v1\nname: child\nextends: base\nconstants: {B: 3, C: 4}\n"
        "gates: [{id: roof, deny: x > C, reason: above}]\n",
    )
    spec = project.one("child.yaml").main
    assert spec.name == "child"
    assert spec.model.constants == {"A": 1, "B": 3, "C": 4}
    assert [gate.id for gate in spec.model.gates] == ["roof"]
    places = {
        path: str(spec.span(*path))
        for path in [("constants", "A"), ("constants", "B"), ("choose", "maximise"), ("name",)]
    }
    assert places == {
        ("constants", "A"): "base.yaml:3:16",
        ("constants", "B"): "child.yaml:4:16",
        ("choose", "maximise"): "base.yaml:5:20",
        ("name",): "child.yaml:2:7",
    }


ITEMS = {
    "one is changed": ("{floor: {deny: x < B}}", [("floor", "x < B", "below"), ("lid", "x > B", "above")]),
    "one is taken away": ("{floor: null}", [("lid", "x > B", "above")]),
    "others are added in alphabetical order": (
        "{wide: {deny: x < 5, reason: far}, high: {deny: x > 5, reason: up}}",
        [("floor", "x < A", "below"), ("lid", "x > B", "above"), ("high", "x > 5", "up"), ("wide", "x < 5", "far")],
    ),
    "nothing is said": ("{}", [("floor", "x < A", "below"), ("lid", "x > B", "above")]),
    "a list replaces all": ("[{id: roof, deny: x > 9, reason: roof}]", [("roof", "x > 9", "roof")]),
}


@pytest.mark.parametrize(("gates", "expected"), ITEMS.values(), ids=ITEMS)
def test_a_mapping_over_items_with_ids_merges_item_by_item(project, gates, expected):
    two = BASE.replace("below}]", "below}, {id: lid, deny: x > B, reason: above}]")
    project.write("base.yaml", two)
    project.write("child.yaml", f"spec: governor/v1\nname: child\nextends: base\ngates: {gates}\n")
    spec = project.one("child.yaml").main
    assert [(gate.id, gate.deny, gate.reason) for gate in spec.model.gates] == expected


def test_a_changed_item_keeps_the_places_of_what_it_kept(project):
    project.write("base.yaml", BASE)
    child = "spec: governor/v1\nname: child\nextends: base\ngates:\n  floor: {deny: null, require: x < B}\n"
    project.write("child.yaml", child)
    spec = project.one("child.yaml").main
    assert spec.model.gates[0].deny is None
    assert str(spec.span("gates", 0, "reason")) == "base.yaml:4:42"
    assert str(spec.span("gates", 0, "require")) == "child.yaml:5:32"


def test_an_item_that_is_not_there_cannot_be_taken_away(project):
    project.write("base.yaml", BASE)
    project.write("child.yaml", "spec: governor/v1\nname: child\nextends: base\ngates: {flor: null}\n")
    assert project.found("child.yaml") == [("E_EXTENDS_ITEM", "child.yaml:4:9")]


def test_over_a_list_without_ids_a_mapping_is_a_mistake(project):
    project.write("base.yaml", BASE + "invariants: [safe]\n")
    project.write("child.yaml", "spec: governor/v1\nname: child\nextends: base\ninvariants: {safe: null}\n")
    ((found, place),) = project.found("child.yaml")
    assert (found.startswith("E_SPEC"), place) == (True, "child.yaml:4:1")


def test_a_document_that_extends_is_the_document_written_out(project):
    project.write("base.yaml", BASE)
    project.write("child.yaml", "spec: governor/v1\nname: flat\nextends: base.yaml\nconstants: {B: 3}\n")
    project.write("flat.yaml", BASE.replace("name: base", "name: flat").replace("B: 2", "B: 3"))
    assert project.one("child.yaml").digest == project.one("flat.yaml").digest


def test_a_base_need_not_be_complete(project):
    project.write("base.yaml", "spec: governor/v1\nname: base\ngates: []\n")
    project.write("child.yaml", 'spec: governor/v1\nname: child\nextends: base\nchoose: {maximise: "0"}\n')
    assert project.one("child.yaml").main.model.gates == []
    assert project.found("base.yaml") == [("E_SPEC_MISSING_KEY", "base.yaml:1:1")]


def test_a_document_has_a_name_of_its_own(project):
    project.write("base.yaml", BASE)
    project.write("child.yaml", "spec: governor/v1\nextends: base\n")
    assert project.found("child.yaml") == [("E_SPEC_MISSING_KEY", "child.yaml:1:1")]
    project.write("other.yaml", "spec: governor/v1\nname: other\nextends: child\n")
    assert project.found("other.yaml") == [("E_SPEC_MISSING_KEY", "child.yaml:1:1")]


def test_a_mistake_in_the_base_is_reported_there(project):
    project.write("base.yaml", BASE.replace("gates", "gatez"))
    project.write("child.yaml", "spec: governor/v1\nname: child\nextends: base\n")
    assert project.found("child.yaml") == [("E_SPEC_UNKNOWN_KEY", "base.yaml:4:1")]


def test_references_in_a_base_are_looked_for_beside_the_base(project):
    project.write("deep/safe.yaml", "spec: invariant/v1\nname: safe\nrequire: x > 0\n")
    project.write("deep/base.yaml", BASE + "invariants: [safe]\n")
    project.write("child.yaml", "spec: governor/v1\nname: child\nextends: deep/base.yaml\n")
    assert len(project.one("child.yaml").specs) == 2


def test_params_of_a_base_are_inherited_and_can_be_changed(project):
    project.write("base.yaml", BASE.replace("A: 1", 'A: "${a}"') + "params: {a: {type: int, default: 1}}\n")
    project.write("child.yaml", "spec: governor/v1\nname: child\nextends: base\nparams: {a: {default: 7}}\n")
    assert project.one("child.yaml").main.model.constants["A"] == 7


def test_circles_are_named_in_full(project):
    for name, base in (("a", "b"), ("b", "c"), ("c", "b")):
        project.write(f"{name}.yaml", f"spec: governor/v1\nname: {name}\nextends: {base}\n")
    (found,) = project.rejected("a.yaml")
    assert (found.code, str(found.span)) == ("E_EXTENDS_CYCLE", "c.yaml:3:10")
    assert "b -> c -> b" in found.message
    project.write("self.yaml", "spec: governor/v1\nname: self\nextends: self\n")
    (found,) = project.rejected("self.yaml")
    assert (found.code, "self -> self" in found.message) == ("E_EXTENDS_CYCLE", True)


def test_a_chain_has_an_end(project):
    for number in range(40):
        text = BASE.replace("name: base", f"name: n{number}")
        project.write(f"n{number}.yaml", text + (f"extends: n{number + 1}\n" if number < 39 else ""))
    assert project.found("n0.yaml") == [("E_EXTENDS_DEPTH", "n31.yaml:6:10")]
    assert project.one("n8.yaml").main.name == "n8"


def test_extends_is_the_name_of_a_spec_of_the_same_kind(project):
    project.write("list.yaml", "spec: governor/v1\nname: x\nextends: [base]\n")
    assert project.found("list.yaml") == [("E_EXTENDS_TYPE", "list.yaml:3:1")]
    project.write("none.yaml", "spec: governor/v1\nname: x\nextends: base\n")
    assert project.found("none.yaml") == [("E_REF_MISSING", "none.yaml:3:10")]
    project.write("other.yaml", "spec: invariant/v1\nname: other\nrequire: x\n")
    project.write("kind.yaml", "spec: governor/v1\nname: x\nextends: other\n")
    assert project.found("kind.yaml") == [("E_REF_KIND", "kind.yaml:3:10")]
    project.write("path.yaml", "spec: governor/v1\nname: x\nextends: other.yaml\n")
    assert project.found("path.yaml") == [("E_REF_KIND", "path.yaml:3:10")]


def test_each_node_is_made_again_once_however_many_references_there_are(project, monkeypatch):
    project.write_all()
    named = ", ".join(["push"] * 300)
    project.write("far.yaml", f"spec: scenario/v1\nname: far\nextends: basic\ndrift: [{named}]\n")
    calls: Counter[str] = Counter()

    def counted(function):
        def call(*given, **named):
            calls[function.__name__] += 1
            return function(*given, **named)

        return call

    monkeypatch.setattr(Node, "put_all", counted(Node.put_all))
    monkeypatch.setattr("os.path.realpath", counted(os.path.realpath))
    bundle = project.one("far.yaml")
    assert len(bundle.main.data["drift"]) == 300
    assert calls["put_all"] < 330
    assert calls["realpath"] < 100


@pytest.mark.parametrize(("wrong", "told"), [(10, 10), (11, 11), (30, 11)])
def test_after_so_many_findings_no_more_are_looked_for(project, monkeypatch, wrong, told):
    monkeypatch.setattr("specledger.load.from_files.MOST_FINDINGS", 10)
    project.write_all()
    named = ", ".join(f"pull{number}" for number in range(wrong))
    project.write("far.yaml", f"spec: scenario/v1\nname: far\nextends: basic\ndrift: [{named}]\n")
    found = [code for code, _ in project.found("far.yaml")]
    assert len(found) == told
    assert found.count("E_FINDINGS") == found.index("E_REF_MISSING") == int(wrong > 10)


LIBRARY = """\
spec: library/v1
name: geometry
constants: {FAR: 9}
functions:
  squared: {args: [n], is: n * n}
  distant: {args: [n], is: squared(n) > FAR}
"""


def test_a_library_gives_its_definitions_with_their_places(project):
    project.write("geometry.yaml", LIBRARY)
    project.write("base.yaml", BASE.replace("constants", "use: [geometry]\nconstants").replace("x < A", "distant(x)"))
    spec = project.one("base.yaml").main
    assert spec.model.constants == {"A": 1, "B": 2, "FAR": 9}
    assert sorted(spec.model.functions) == ["distant", "squared"]
    assert str(spec.span("functions", "squared", "is")) == "geometry.yaml:5:28"


def test_a_library_may_use_another_one_and_be_inherited(project):
    project.write("geometry.yaml", LIBRARY)
    project.write("more.yaml", "spec: library/v1\nname: more\nuse: [geometry]\nconstants: {NEAR: 2}\n")
    project.write("base.yaml", BASE.replace("constants", "use: [more, geometry]\nconstants"))
    project.write("child.yaml", "spec: governor/v1\nname: child\nextends: base\nuse: [geometry]\n")
    assert project.one("child.yaml").main.model.constants == {"A": 1, "B": 2, "FAR": 9, "NEAR": 2}


USES = {
    "a name that is defined twice": (
        "use: [geometry]\nfunctions: {squared: {args: [n], is: n}}",
        "E_EXTENDS_USE",
        "4:13",
    ),
    "no list": ("use: geometry", "E_EXTENDS_USE", "3:6"),
    "another kind": ("use: [base]", "E_REF_KIND", "3:7"),
    "nothing of this name": ("use: [geometric]", "E_REF_MISSING", "3:7"),
}


@pytest.mark.parametrize(("use", "code", "place"), USES.values(), ids=USES)
def test_what_cannot_be_used_is_a_finding_at_its_place(project, use, code, place):
    project.write("geometry.yaml", LIBRARY)
    project.write("base.yaml", BASE)
    project.write("user.yaml", f"spec: agent/v1\nname: user\n{use}\ncandidates: [{{op: go}}]\nscore: 1\n")
    assert (code, f"user.yaml:{place}") in project.found("user.yaml")


@pytest.mark.wing("kernel")
def test_libraries_in_a_circle_and_kinds_without_functions_are_findings(project):
    project.write("a.yaml", "spec: library/v1\nname: a\nuse: [b]\n")
    project.write("b.yaml", "spec: library/v1\nname: b\nuse: [a]\n")
    assert project.found("a.yaml") == [("E_EXTENDS_CYCLE", "b.yaml:3:7")]
    project.write("geometry.yaml", LIBRARY)
    project.write("words.yaml", "spec: vocabulary/v1\nname: words\nuse: [geometry]\nforms: [a]\n")
    assert project.found("words.yaml") == [("E_EXTENDS_USE", "words.yaml:3:1")]


def test_elements_are_added_to_an_inherited_list(project):
    project.write("base.yaml", BASE.replace("gates", "invariants: [one]\ngates"))
    for name in ("one", "two"):
        project.write(f"{name}.yaml", f"spec: invariant/v1\nname: {name}\nrequire: true\n")
    added = "invariants: {add: [two]}\ngates: {add: [{id: roof, deny: x > 9, reason: roof}]}\n"
    project.write("child.yaml", f"spec: governor/v1\nname: child\nextends: base\n{added}")
    bundle = project.one("child.yaml")
    model = bundle.main.model
    assert [bundle.specs[key].name for key in model.invariants] == ["one", "two"]
    assert [gate.id for gate in model.gates] == ["floor", "roof"]


@pytest.mark.parametrize("left_out", ["", "invariants: []\n"])
def test_elements_are_added_to_a_list_that_was_left_out(project, left_out):
    project.write("base.yaml", BASE + left_out)
    project.write("one.yaml", "spec: invariant/v1\nname: one\nrequire: true\n")
    project.write("child.yaml", "spec: governor/v1\nname: child\nextends: base\ninvariants: {add: [one]}\n")
    bundle = project.one("child.yaml")
    assert [bundle.specs[key].name for key in bundle.main.model.invariants] == ["one"]


def test_a_name_add_is_a_name_where_there_are_names(project):
    project.write("base.yaml", "spec: invariant/v1\nname: base\nrequire: size(add) > 0\n")
    project.write("child.yaml", "spec: invariant/v1\nname: child\nextends: base\nconstants: {add: [1, 2]}\n")
    assert project.one("child.yaml").main.model.constants == {"add": [1, 2]}


def test_a_name_that_is_too_long_is_not_suggested(project):
    name = "a" * 121
    project.write(f"{name}.yaml", f"spec: invariant/v1\nname: {name}\nrequire: true\n")
    (found,) = findings_of(project.load, f"{name}.yaml")
    assert (found.code, found.hint) == ("E_SPEC_VALUE", None)
