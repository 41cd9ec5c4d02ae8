"""Which specs are listed under which name, who uses a file, and where an editor finds the schema of one."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from specledger.core.verdict import Verdict
from specledger.kinds.running import Finished
from specledger.load import Search
from specledger.pipeline import authoring, guesses, references, testing
from specledger.pipeline.editor_schemas import schema_file
from specledger.pipeline.targets import list_specs, spec_names, specs_named


@pytest.fixture
def places(tmp_path, monkeypatch):
    """A project and shipped specs, both of which have a world `a`."""
    project, shipped = tmp_path / "project" / "specs", tmp_path / "shipped"
    files = {
        project / "world" / "b.yaml": "spec: world/v1\nname: b\ndoc: Of this\n  project. More.\n",
        project / "world" / "a.yml": "spec: world/v1\nname: a\n",
        project / "agent" / "a.yaml": "spec: [\n",
        project / "world" / "notes.txt": "",
        shipped / "world" / "a.yaml": "spec: world/v1\nname: a\ndoc: Shipped.\n",
        shipped / "world" / "c.yaml": "spec: world/v1\nname: c\ndoc: 7\n",
    }
    for file, text in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (project / "world" / "d.yaml").mkdir()
    search = Search(project, shipped)
    monkeypatch.setattr(Search, "at", lambda *_: search)
    return SimpleNamespace(project=project, shipped=shipped, search=search)


UNREADABLE = "(cannot be read: `spec check` says why)"


def test_specs_are_listed_the_projects_first_and_each_name_once(places):
    found = [(each.name, each.shipped, each.doc, each.file.name) for each in list_specs("world")]
    assert found == [
        ("a", False, "", "a.yml"),
        ("b", False, "Of this project. More.", "b.yaml"),
        ("c", True, "", "c.yaml"),
    ]
    assert [(each.kind, each.doc) for each in list_specs("agent")] == [("agent", UNREADABLE)]
    assert [(each.kind, each.name) for each in list_specs()] == [
        ("world", "a"),
        ("world", "b"),
        ("world", "c"),
        ("agent", "a"),
    ]


def test_specs_of_a_name_are_of_each_kind(places):
    assert [(each.kind, each.file.name) for each in specs_named("a")] == [("world", "a.yml"), ("agent", "a.yaml")]
    assert specs_named("z") == []


def test_names_are_those_of_files_the_projects_first(places):
    assert spec_names(["world", "agent"]) == ("a", "b", "c")
    assert spec_names(["world"], Search(None, places.shipped)) == ("a", "c")
    assert spec_names(["world"], Search(places.project, None)) == ("a", "b")
    assert spec_names([]) == ()


def test_who_uses_a_file_is_who_refers_to_it_and_types_it(tmp_path, monkeypatch):
    folder = tmp_path / "p" / "specs" / "drift"
    folder.mkdir(parents=True)
    names = {name: str(tmp_path / name) for name in ("s.yaml", "library.yaml", "other.yaml", "none.yaml")}
    file = str(folder / "push.yaml")
    kinds = {names["s.yaml"]: "scenario", names["library.yaml"]: "library", names["other.yaml"]: "scenario"}
    asked = []

    class Known:
        """References of which two lead to the file."""

        def __init__(self, files, search):
            pass

        def dependents(self, files):
            return {Path(names[name]).resolve() for name in ("s.yaml", "library.yaml", "none.yaml")}

        def kind(self, path):
            return kinds.get(str(path))

    def expand(given):
        asked.append(given)
        return SimpleNamespace(files=[*names.values(), file])

    rows = {"scenario": SimpleNamespace(compiles_alone=True), "library": SimpleNamespace(compiles_alone=False)}
    monkeypatch.setattr(guesses, "References", Known)
    monkeypatch.setattr(guesses, "expand_targets", expand)
    monkeypatch.setattr(guesses, "KINDS", rows)
    assert list(guesses._users(file)) == [names["s.yaml"]]
    lone = str(tmp_path / "push.yaml")
    list(guesses._users(lone))
    assert asked == [[str(folder.parent)], [str(tmp_path)]]


FIELDS = {"set": 1, "agent": 1, "under": 1, "more": 1}
LEAVES: dict[str, tuple[list[Any], str, bool]] = {
    "an arm": ([SimpleNamespace(model=1, fields=FIELDS)], "set", True),
    "another key of it": ([SimpleNamespace(model=1, fields=FIELDS)], "under", True),
    "a key that it lacks": ([SimpleNamespace(model=1, fields={"set": 1, "agent": 1})], "under", False),
    "no agent": ([SimpleNamespace(model=1, fields={"set": 1})], "set", False),
    "no model": ([SimpleNamespace(model=None, fields=FIELDS)], "set", False),
    "one of two": ([SimpleNamespace(model=None, fields={}), SimpleNamespace(model=1, fields=FIELDS)], "set", True),
    "none": ([], "set", False),
}


@pytest.mark.parametrize(("leaves", "key", "holds"), LEAVES.values(), ids=LEAVES)
def test_where_values_take_places_of_a_scenario(leaves, key, holds):
    shape: Any = SimpleNamespace(leaves=leaves)
    assert references._holds_changes(shape, key) is holds


@pytest.mark.parametrize(
    ("own", "data", "comment"), [(True, True, "own"), (False, True, "shipped"), (False, False, "none")]
)
def test_an_editor_finds_the_schema_of_the_project_or_of_the_installation(tmp_path, monkeypatch, own, data, comment):
    project, schemas = tmp_path / "p", tmp_path / "schemas"
    file = project / "specs" / "drift" / "a.yaml"
    file.parent.mkdir(parents=True)
    if own:
        (project / schema_file("drift")).parent.mkdir(parents=True)
        (project / schema_file("drift")).touch()
    monkeypatch.setattr(authoring, "find_schemas", lambda: schemas if data else None)
    said = {
        "own": "# yaml-language-server: $schema=../../.specledger/schemas/drift.schema.json\n",
        "shipped": f"# yaml-language-server: $schema={(schemas / 'kinds/drift.schema.json').as_uri()}\n",
        "none": "",
    }
    assert authoring._modeline("drift", file) == said[comment]
    assert authoring._modeline("drift", tmp_path / "a.yaml") == ("" if not data else said["shipped"])


@pytest.mark.parametrize(("verdict", "found"), [("PASS", []), ("FAIL", ["it failed"]), ("INCONCLUSIVE", ["it failed"])])
def test_a_trusted_case_that_asks_outside_is_run_once_and_has_no_pin(monkeypatch, verdict, found):
    ran = []

    def execute(bundle, place, options):
        ran.append((place.name, options.trusted))
        return Finished("a", "scenario", place, {"result": {"verdict": verdict}})

    monkeypatch.setattr(testing, "_asks_outside", lambda bundle: True)
    monkeypatch.setattr(testing, "execute", execute)
    monkeypatch.setattr(
        testing, "_failures", lambda bundle, given, place: ["it failed" for _ in [given] if given is Verdict(verdict)]
    )
    bundle: Any = "bundle"
    assert testing.find_failures(bundle, Path("pins"), trusted=True) == found
    assert ran == [("tested", True)]
