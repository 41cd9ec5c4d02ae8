"""The JSON Schemas of a project know the names of its specs, and `spec check` keeps them current."""

import json
from pathlib import Path

import jsonschema
import pytest

from specledger.kinds import KINDS
from specledger.pipeline.editor_schemas import NAMES, SCHEMAS, schema_file, yaml_schemas


@pytest.fixture
def project(spec, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert spec("init", ".").status == 0
    return tmp_path


def names(kind, *keys):
    """What an editor proposes for a key of a document."""
    schema = json.loads(schema_file(kind).read_text(encoding="utf-8"))
    member = schema["definitions"]["Document"]["properties"][keys[0]]
    if "$ref" in member:
        member = schema["definitions"][member["$ref"].rpartition("/")[2]]
    member = member.get("items", member)
    return next(branch["enum"] for branch in member["anyOf"] if "enum" in branch)


@pytest.mark.medium
def test_references_are_completed_with_the_names_of_their_kind(project):
    assert names("scenario", "world")[0] == "tank"
    assert "no-overflow" in names("scenario", "invariants")
    assert {"careful"} < set(names("scenario", "governor"))
    assert "filler" in names("agent", "extends")
    assert "filler" not in names("scenario", "world")


@pytest.mark.medium
def test_other_names_and_paths_are_still_allowed(project):
    schema = json.loads(schema_file("scenario").read_text(encoding="utf-8"))
    document = {"spec": "scenario/v1", "name": "a", "world": "../x.yaml", "agent": {"use": "b"}, "governor": "new"}
    assert list(jsonschema.Draft7Validator(schema).iter_errors(document)) == []


@pytest.mark.medium
def test_a_check_makes_them_current(spec, project):
    before = schema_file("scenario").read_bytes()
    assert spec("check", ".").status == 0
    assert schema_file("scenario").read_bytes() == before
    (project / "specs/agent/other.yaml").write_text((project / "specs/agent/filler.yaml").read_text())
    spec("check", "specs/agent/other.yaml")
    assert "other" in names("scenario", "agent")


@pytest.mark.medium
def test_what_another_version_wrote_is_written_again(spec, project):
    kept = json.loads(NAMES.read_text(encoding="utf-8"))
    NAMES.write_text(json.dumps(kept | {"version": "0.0.1"}), encoding="utf-8")
    schema_file("agent").write_text("{}", encoding="utf-8")
    spec("check", ".")
    assert schema_file("agent").read_text(encoding="utf-8") != "{}"


@pytest.mark.medium
@pytest.mark.parametrize("target", [SCHEMAS, NAMES, schema_file("agent")], ids=str)
def test_nothing_is_written_through_a_link(spec, project, target):
    place = project / target
    outside = project / "outside"
    place.rename(outside)
    place.symlink_to(outside)
    (project / "specs/agent/other.yaml").write_text((project / "specs/agent/filler.yaml").read_text())
    before = {path: path.read_bytes() for path in project.rglob("*.json")}
    spec("check", ".")
    assert {path: path.read_bytes() for path in project.rglob("*.json")} == before


@pytest.mark.medium
def test_a_project_without_schemas_gets_none(spec, project):
    for file in (NAMES, *SCHEMAS.iterdir()):
        file.unlink()
    SCHEMAS.rmdir()
    assert spec("check", ".").status == 0
    assert not SCHEMAS.exists()


@pytest.mark.medium
def test_settings_have_a_schema_for_every_kind(project):
    settings = json.loads(Path(".vscode/settings.json").read_text(encoding="utf-8"))
    assert settings["yaml.schemas"] == yaml_schemas()
    assert set(yaml_schemas()) == {schema_file(kind).as_posix() for kind in KINDS}
