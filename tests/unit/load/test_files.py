"""Which file a target or a reference means, and what is said when there is none."""

import os
from pathlib import Path

import pytest

from specledger.core.diagnostics import Diagnostics, Rejected
from specledger.kinds import bundle_from_document, load
from specledger.load import Search, shipped
from specledger.load.params import substitute
from specledger.load.yaml_reader import parse
from tests.toys import findings_of
from tests.unit.load.conftest import SPECS, dedent


def test_a_target_is_a_path_a_name_or_a_kind_and_a_name(project):
    project.write_all()
    digests = {
        project.one(target).digest
        for target in (
            "basic",
            "scenario/basic",
            "specs/scenario/basic.yaml",
            project.folder / "specs/scenario/basic.yaml",
        )
    }
    assert len(digests) == 1


def test_a_bundle_has_what_the_root_needs(project):
    project.write_all()
    bundle = project.one("basic")
    assert [(spec.kind, spec.name) for spec in bundle.specs.values()] == [
        ("agent", "walker"),
        ("drift", "push"),
        ("governor", "keeper"),
        ("invariant", "safe"),
        ("scenario", "basic"),
        ("world", "line"),
    ]
    main = bundle.main
    assert (main.kind, main.name, main.key) == ("scenario", "basic", bundle.root)
    assert main.model.world == main.refs["world",] == main.data["world"]
    assert bundle.specs[main.refs["drift", 0]].model.constants == {"EVERY": 3}
    assert bundle.case == ""


FILES = {
    "a missing file": ("none.yaml", "E_SPEC_FILE", ""),
    "a missing file in a folder": ("no/none.yaml", "E_SPEC_FILE", ""),
    "a misspelt file": ("specs/world/lines.yaml", "E_SPEC_FILE", "did you mean `line`?"),
    "a folder": ("./specs", "E_SPEC_FILE", ""),
    "a misspelt name": ("basik", "E_REF_MISSING", "did you mean `basic`?"),
    "a misspelt name of a kind": ("world/lin", "E_REF_MISSING", "did you mean `line`?"),
    "a name with odd characters": ("ba sic", "E_REF_MISSING", ""),
    "a name that no file can have": ("a" * 300, "E_REF_MISSING", ""),
    "a file whose name no file can have": (f"{'a' * 300}.yaml", "E_SPEC_FILE", ""),
}


@pytest.mark.parametrize(("target", "code", "hint"), FILES.values(), ids=FILES)
def test_a_target_that_cannot_be_read(project, target, code, hint):
    project.write_all()
    (found,) = project.rejected(target)
    assert (found.code, found.span) == (code, None)
    assert hint in str(found.hint)


@pytest.mark.parametrize(
    ("error", "words"), [(PermissionError, "may not read it"), (OSError, "operating system error")]
)
def test_a_file_that_the_system_does_not_give(project, monkeypatch, error, words):
    def refuse(*_):
        raise error

    project.write("f.yaml", "spec: world/v1\n")
    monkeypatch.setattr(Path, "open", refuse)
    (found,) = project.rejected("f.yaml")
    assert found.code == "E_SPEC_FILE"
    assert words in found.message


def test_a_pipe_is_not_opened(project):
    os.mkfifo(project.folder / "pipe.yaml")
    assert project.found("pipe.yaml") == [("E_SPEC_FILE", None)]


def test_a_name_that_several_kinds_have_is_ambiguous(project):
    project.write_all()
    project.write("specs/world/basic.yaml", "spec: world/v1\nname: basic\nstate: {}\nactions: {a: {}}\n")
    assert project.found("basic") == [("E_REF_AMBIGUOUS", None)]
    assert project.one("basic", kind="world").main.kind == "world"
    assert project.one("scenario/basic").main.kind == "scenario"


def test_a_reference_without_a_near_name_says_where_it_would_be_written_and_what_lists_others(project):
    project.write_all()
    project.write("specs/scenario/basic.yaml", "spec: scenario/v1\nname: basic\nagent: zzzzzz\n")
    found = project.rejected("scenario/basic")
    (hint,) = [one.hint for one in found if one.code == "E_REF_MISSING"]
    assert hint == "write specs/agent/zzzzzz.yaml, or name another one: `spec ls agent` lists them"


def test_two_files_of_one_kind_and_name_are_to_be_renamed_since_no_kind_tells_them_apart(project):
    project.write_all()
    basic = "spec: world/v1\nname: basic\nstate: {}\nactions: {a: {}}\n"
    project.write("specs/world/basic.yaml", basic)
    (found,) = project.rejected("basic")
    assert found.hint == "write <kind>/<name>"
    project.write("specs/world/basic.yml", basic)
    (found,) = project.rejected("world/basic")
    assert (found.code, str(found.hint).partition(":")[0]) == ("E_REF_AMBIGUOUS", "rename all but one of them")


def test_a_name_of_another_kind_does_not_hide_a_shipped_one(project, tmp_path_factory):
    project.write_all()
    folder = tmp_path_factory.mktemp("shipped")
    (project.folder / "specs/world").rename(folder / "world")
    project.write("specs/agent/line.yaml", (project.folder / "specs/agent/walker.yaml").read_bytes())
    (bundle,) = load("line", kind="world", search=Search(project.folder / "specs", folder))
    assert bundle.main.kind == "world"


def test_a_folder_of_that_name_is_no_target(project):
    project.write_all()
    (project.folder / "basic").mkdir()
    assert project.one("basic").main.name == "basic"


def test_the_kind_that_is_asked_for_matters(project):
    project.write_all()
    assert project.found("specs/world/line.yaml", kind="scenario") == [
        ("E_SPEC_WRONG_KIND", "specs/world/line.yaml:1:7")
    ]


def test_a_reference_is_looked_for_beside_the_file_first(project):
    project.write_all()
    project.write("here/basic.yaml", (project.folder / "specs/scenario/basic.yaml").read_bytes())
    assert project.one("here/basic.yaml").digest == project.one("basic").digest
    project.write("here/safe.yaml", "spec: invariant/v1\nname: safe\nrequire: x >= 1\n")
    assert project.one("here/basic.yaml").digest == project.one("basic").digest  # keeper is not beside it
    project.write("here/keeper.yaml", (project.folder / "specs/governor/keeper.yaml").read_bytes())
    assert project.one("here/basic.yaml").digest != project.one("basic").digest


def test_a_file_of_another_kind_beside_is_passed_over(project):
    project.write_all()
    project.write("specs/scenario/line.yaml", "spec: scenario/v1\nname: line\n")
    assert project.one("scenario/basic").main.name == "basic"


def test_a_tree_of_specs_elsewhere_is_whole(project, tmp_path_factory, monkeypatch):
    project.write_all()
    inside = project.one("basic").digest
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    (bundle,) = load(project.folder / "specs/scenario/basic.yaml", search=Search())
    assert bundle.digest == inside


def test_shipped_specs_come_last(project, tmp_path_factory):
    project.write_all()
    folder = tmp_path_factory.mktemp("shipped")
    (project.folder / "specs/world").rename(folder / "world")
    with pytest.raises(Rejected):
        load("basic", search=Search(project.folder / "specs", None))
    (bundle,) = load("basic", search=Search(project.folder / "specs", folder))
    assert bundle.specs[bundle.main.refs["world",]].name == "line"


def test_the_nearest_specs_folder_is_the_project(project, monkeypatch):
    project.write_all()
    deep = project.folder / "a" / "b"
    deep.mkdir(parents=True)
    monkeypatch.chdir(deep)
    assert Search.at(Path()).project == project.folder / "specs"
    (bundle,) = load("scenario/basic")
    assert bundle.main.name == "basic"


def test_shipped_specs_are_found_in_a_checkout_and_in_a_package(tmp_path, monkeypatch):
    checkout = Path(__file__).resolve().parents[3]
    assert (shipped.find_specs(), shipped.find_schemas()) == (checkout / "specs", checkout / "schemas")
    package = tmp_path / "site" / "specledger"
    for folder in ("_data/specs", "_data/schemas"):
        (package / folder).mkdir(parents=True)
    monkeypatch.setattr("specledger.__file__", str(package / "__init__.py"))
    assert shipped.find_data() == package / "_data"
    (package / "_data/schemas").rmdir()
    assert (shipped.find_specs(), shipped.find_schemas()) == (None, None)


def test_a_file_that_cannot_be_looked_into_is_tried_all_the_same(project, monkeypatch):
    """A name is not passed over silently because its file may not be read."""
    project.write_all()

    def refuse(*_):
        raise PermissionError

    monkeypatch.setattr("specledger.load.library._read_bytes", refuse)
    assert project.found("world/line") == [("E_SPEC_FILE", None)]


def test_mistakes_of_one_file_do_not_hide_those_of_another(project):
    project.write_all()
    project.write("specs/world/line.yaml", "spec: world/v1\nname: [\n")
    project.write("specs/agent/walker.yaml", "spec: agent/v1\nname: walker\nscore: &a f(\n  b: c\n")
    assert project.found("basic") == [
        ("E_YAML_ANCHOR", "specs/agent/walker.yaml:3:8"),
        ("E_YAML_SYNTAX", "specs/world/line.yaml:3:1"),
    ]


# a scenario whose `world:` is this: (code, words)
REFERENCES = {
    "a misspelt name": ("lime", "E_REF_MISSING", "did you mean `line`?"),
    "a name like no other": ("qqqq", "E_REF_MISSING", "nothing in specs/scenario, specs/world"),
    "a name of another kind only": ("walker", "E_REF_MISSING", "there is no world `walker`"),
    "a path": ("../world/lime.yaml", "E_REF_MISSING", "did you mean `line`?"),
    "a name that no file can have": ("a" * 300, "E_REF_MISSING", "there is no world `aaa"),
    "a path that no file can have": (f"{'a' * 295}.yaml", "E_REF_MISSING", "there is no file specs/scenario/aaa"),
    "a path of another kind": ("../agent/walker.yaml", "E_REF_KIND", "of the kind agent"),
    "an absolute path": ("/etc/passwd.yaml", "E_REF_PATH", "relative"),
    "a path of no YAML file": ("../world/line", "E_REF_PATH", "relative"),
    "a path with backslashes": ("..\\world\\line.yaml", "E_REF_PATH", "relative"),
    "a file with another name": ("wrong-name", "E_REF_NAME", "`line`"),
    "a name only in a folder beside": ("beside", "E_REF_KIND", "of the kind agent"),
}


@pytest.mark.parametrize(("target", "code", "words"), REFERENCES.values(), ids=REFERENCES)
def test_a_reference_that_leads_nowhere(project, target, code, words):
    project.write_all()
    project.write("specs/scenario/beside.yaml", (project.folder / "specs/agent/walker.yaml").read_bytes())
    project.write("specs/world/wrong-name.yaml", (project.folder / "specs/world/line.yaml").read_bytes())
    project.edit("specs/scenario/basic.yaml", ("world: line", f"world: {target}"))
    (found,) = project.rejected("basic")
    assert (found.code, str(found.span)) == (code, "specs/scenario/basic.yaml:3:8")
    assert words in f"{found.message} {found.hint} {found.found} {found.expected}"


def test_a_reference_by_path(project):
    project.write_all()
    digest = project.one("basic").digest
    project.edit("specs/scenario/basic.yaml", ("world: line", "world: ../world/line.yaml"))
    assert project.one("basic").digest == digest


def test_a_reference_stays_inside_the_project(project, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside") / "secret.yaml"
    outside.write_text("spec: world/v1\nname: secret\nkey: NO\n")
    project.write_all()
    (project.folder / "specs/world/secret.yaml").symlink_to(outside)
    text = (project.folder / "specs/scenario/basic.yaml").read_text()
    up = "../" * (len(project.folder.parts) + 2)
    for target in ("secret", f"{up}{outside.as_posix().lstrip('/')}", "../world/secret.yaml"):
        project.write("specs/scenario/basic.yaml", text.replace("world: line", f"world: {target}"))
        assert project.found("basic") == [("E_REF_PATH", "specs/scenario/basic.yaml:3:8")]
    project.write("basic.yaml", f"spec: scenario/v1\nname: basic\nextends: {up}{outside.as_posix().lstrip('/')}\n")
    assert project.found("./basic.yaml") == [("E_REF_PATH", "basic.yaml:3:10")]


@pytest.mark.parametrize("marker", ["specs", "pyproject.toml", ".git"])
def test_the_project_is_that_of_the_file_and_never_of_the_working_folder(
    project, tmp_path_factory, monkeypatch, marker
):
    project.write_all()
    (project.folder / "specs/scenario").rename(project.folder / "deep")
    inner, elsewhere = project.folder / "inner", tmp_path_factory.mktemp("elsewhere")
    for folder in (project.folder / "deep", elsewhere, project.folder):
        monkeypatch.chdir(folder)
        (bundle,) = load(project.folder / "deep/basic.yaml")
        assert bundle.specs[bundle.main.refs["world",]].name == "line"
    (inner / marker).mkdir(parents=True)
    (project.folder / "deep").rename(inner / "deep")
    assert {one.code for one in findings_of(load, inner / "deep/basic.yaml")} == {"E_REF_MISSING"}


def test_what_is_outside_the_project_needs_consent_and_is_copied(project, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside")
    (outside / "line.yaml").write_text(dedent(SPECS["world"]))
    project.write_all()
    path = f"{'../' * (len(project.folder.parts) + 2)}{outside.as_posix().lstrip('/')}/line.yaml"
    inside = project.one("basic").digest
    project.edit("specs/scenario/basic.yaml", ("world: line", f"world: {path}"))
    (found,) = project.rejected("basic")
    assert (found.code, "--allow-outside" in str(found.hint)) == ("E_REF_PATH", True)
    bundle = project.one("basic", allow_outside=True)
    assert bundle.digest == inside
    assert bundle.sources["world/line.yaml"] == (outside / "line.yaml").read_bytes()


def test_a_path_that_is_typed_is_relative_to_the_working_folder(project, tmp_path_factory, monkeypatch):
    project.write_all()
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "calm.yaml").write_text(dedent(SPECS["agent"]).replace("walker", "calm"))
    monkeypatch.chdir(elsewhere)
    target = project.folder / "specs/scenario/basic.yaml"
    (bundle,) = load(target, set=["agent=calm.yaml"])
    assert bundle.specs[bundle.main.refs["agent",]].name == "calm"
    (found,) = findings_of(load, target, set=["agent=../agent/walker.yaml"])
    assert "relative to the working folder" in str(found.hint)


def test_a_name_that_is_typed_may_be_one_of_the_project_of_the_working_folder(project, tmp_path_factory, monkeypatch):
    project.write_all()
    elsewhere, text = tmp_path_factory.mktemp("elsewhere"), dedent(SPECS["agent"])
    (elsewhere / "specs/agent").mkdir(parents=True)
    for name in ("calm", "walker"):
        (elsewhere / f"specs/agent/{name}.yaml").write_text(
            text.replace("walker", name) + "doc: Of the working folder.\n"
        )
    monkeypatch.chdir(elsewhere)
    target = project.folder / "specs/scenario/basic.yaml"
    (bundle,) = load(target, set=["agent=calm"])
    assert bundle.specs[bundle.main.refs["agent",]].name == "calm"
    (bundle,) = load(target, set=["agent=walker"])  # that of the spec's own project comes first
    assert bundle.specs[bundle.main.refs["agent",]].model.doc != "Of the working folder."
    (found,) = findings_of(load, target, set=["agent=clam"])
    assert (found.code, "`calm`" in str(found.hint)) == ("E_REF_MISSING", True)


def test_specs_that_refer_to_one_another_are_named(project):
    for name, other in (("a", "b"), ("b", "c"), ("c", "b")):
        follow = "{go: {action: go}}"
        text = f"spec: world/v1\nname: {name}\nstate: {{x: int}}\nactions: {{go: {{}}}}\n"
        project.write(f"specs/world/{name}.yaml", f"{text}parts: {{p: {{world: {other}, follow: {follow}}}}}\n")
    (found,) = project.rejected("world/a")
    assert (found.code, str(found.span)) == ("E_REF_CYCLE", "specs/world/c.yaml:5:20")
    assert "b -> c -> b" in found.message


def test_references_are_not_nested_without_end(project):
    for number in range(40):
        parts = f"parts: {{p: {{world: w{number + 1}, follow: {{}}}}}}\n" if number < 39 else ""
        text = f"spec: world/v1\nname: w{number}\nstate: {{x: int}}\nactions: {{go: {{}}}}\n{parts}"
        project.write(f"specs/world/w{number}.yaml", text)
    assert project.found("w0") == [("E_REF_LIMIT", "specs/world/w31.yaml:5:20")]
    assert len(project.one("w8").specs) == 32


def test_references_do_not_multiply_without_bound(project, monkeypatch):
    """Each world takes two parameters and refers twice to the next one: the number of different ones doubles."""
    monkeypatch.setattr("specledger.load.resolve.MAX_SPECS", 100)
    names = [f"p{number}" for number in range(9)]
    passed = "".join(f', p{number + 1}: "${{p{number}}}"' for number in range(8))
    constants = ", ".join(f'{name.upper()}: "${{{name}}}"' for name in names)
    for number in range(9):
        uses = [
            f"q{bit}: {{world: {{use: w{number + 1}, with: {{p0: {bit}{passed}}}}}, follow: {{}}}}" for bit in (0, 1)
        ]
        project.write(
            f"specs/world/w{number}.yaml",
            f"spec: world/v1\nname: w{number}\nparams: {{{', '.join(f'{name}: int' for name in names)}}}\n"
            f"constants: {{{constants}}}\nstate: {{x: int}}\nactions: {{go: {{}}}}\n"
            + (f"parts: {{{', '.join(uses)}}}\n" if number < 8 else ""),
        )
    found = project.found("w0", set=[f"with.{name}=0" for name in names])
    assert {code for code, _ in found} == {"E_REF_LIMIT"}


def test_values_and_keys_of_a_load_are_counted(project, monkeypatch):
    """A number with a decimal point is three, as in the resolved form; the one that is too many has the place."""
    head = "spec: library/v1\nname: much\nconstants:\n"
    counts = {"{A: 1}": 0, "{A: 1, B: 2}": 2, "{A: [1, 1, 1]}": 3, "{A: 0.5}": 2}
    for constants, more in counts.items():
        project.write("much.yaml", f"{head}  {constants}\n")
        monkeypatch.setattr("specledger.load.resolve.MAX_VALUES", 9 + more)
        document = project.one("much.yaml").document()
        monkeypatch.setattr("specledger.load.resolve.MAX_VALUES", 9 + more - 1)
        assert project.found("much.yaml") == [("E_REF_LIMIT", "much.yaml:1:1")]
        monkeypatch.setattr("specledger.load.from_document.MAX_VALUES", 9 + more)
        bundle_from_document(document)
        monkeypatch.setattr("specledger.load.from_document.MAX_VALUES", 9 + more - 1)
        assert [found.code for found in findings_of(bundle_from_document, document)] == ["E_SPEC_RESOLVED_FORM"]


def test_characters_of_all_expressions_are_counted(project, monkeypatch):
    functions = (
        "spec: library/v1\nname: much\nfunctions: {one: {args: [], is: '1 + 1'}, two: {args: [], is: '2 + 22'}}\n"
    )
    project.write("much.yaml", functions + f"constants: {{LONG: [{', '.join(['12345'] * 200)}]}}\n")
    monkeypatch.setattr("specledger.load.bundle.MAX_EXPRESSIONS", 11)
    document = project.one("much.yaml").document()
    monkeypatch.setattr("specledger.load.bundle.MAX_EXPRESSIONS", 10)
    assert project.found("much.yaml") == [("E_EXPRESSIONS", "much.yaml:3:63")]
    assert [found.code for found in findings_of(bundle_from_document, document)] == ["E_EXPRESSIONS"]


def test_places_of_values_are_found_in_the_tree(project):
    project.write("much.yaml", "spec: library/v1\nname: much\nconstants: {A: [1, [2]], B: 3}\n")
    origins = project.one("much.yaml").main.origins
    assert bool(origins)
    assert len(origins) == len([*origins]) == 9
    assert ("constants", "A", 1, 0) in origins
    assert str(origins["constants", "A", 1, 0].span) == "much.yaml:3:21"
    for path in (("constants", "C"), ("constants", "A", 2), ("constants", "A", "1"), ("name", 0)):
        assert path not in origins
        assert origins.get(path) is None


def test_a_tree_without_arguments_is_not_copied(project):
    project.write(
        "much.yaml", "spec: library/v1\nname: much\nparams: {n: int}\nconstants: {A: [1, [2]], B: ['${n}']}\n"
    )
    found = [project.one("much.yaml", set=[f"with.n={number}"]).main.origins for number in (1, 2)]
    assert [origins["constants", "B", 0].value for origins in found] == [1, 2]
    document = parse("{a: [1, [2]], b: ['${n}'], c: {d: e}}\n", "f", Diagnostics())
    assert document is not None
    root = document.root
    filled = substitute(root, {"n": root.at(("a", 0))}, ["n"], Diagnostics())
    assert [filled.at((key,)) is root.at((key,)) for key in "abc"] == [True, False, True]
    assert filled.plain() == {"a": [1, [2]], "b": [1], "c": {"d": "e"}}
