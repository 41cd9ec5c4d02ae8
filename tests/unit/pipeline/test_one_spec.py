"""A command that takes one spec says what else a target is; schemas for editors are left alone where they are not ours."""

import pytest

from specledger.core.diagnostics import Rejected
from specledger.pipeline import editor_schemas
from specledger.pipeline.project import write_project
from specledger.pipeline.trying import one_of
from tests.toys import CLIMB


def refused(call):
    with pytest.raises(Rejected) as caught:
        call()
    (finding,) = caught.value.diagnostics
    assert finding.span is not None
    return finding, str(finding.span).rpartition("/")[2]


def test_a_spec_of_another_kind_is_named_with_its_kind():
    finding, place = refused(lambda: one_of(str(CLIMB / "stairs.yaml"), "scenario"))
    assert finding.code == "E_SPEC_WRONG_KIND"
    assert finding.message.endswith("climb/stairs.yaml is of the kind world")
    assert (finding.expected, place) == ("scenario/v1", "stairs.yaml:1:7")


def test_a_matrix_where_one_spec_is_needed_has_its_number_of_cases(tmp_path):
    for file in CLIMB.glob("*.yaml"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    target = tmp_path / "climb.yaml"
    text = target.read_text(encoding="utf-8").replace("name: climb\n", "name: climb\nmatrix: {seed: [1, 2, 3]}\n")
    text = "".join(line for line in text.splitlines(keepends=True) if not line.startswith("seed:"))
    text = text.replace("matrix:", "params: {seed: {type: int}}\nmatrix:") + 'seed: "${seed}"\n'
    target.write_text(text, encoding="utf-8")
    finding, place = refused(lambda: one_of(str(target), "scenario"))
    assert (finding.code, finding.message) == ("E_AGENT_CHECK", f"{target} has 3 cases")
    assert place == "climb.yaml:1:7"
    assert finding.hint == f"name a scenario without a `matrix`; `spec show {target}` shows the values of each case"


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_project(tmp_path)
    return tmp_path


def refresh(project):
    (project / editor_schemas.NAMES).write_text("{}", encoding="utf-8")
    return editor_schemas._refresh(project)


@pytest.mark.medium
def test_schemas_are_written_again_only_if_something_changed(project):
    assert not editor_schemas._refresh(project)
    assert refresh(project)
    assert not editor_schemas._refresh(project)


@pytest.mark.medium
@pytest.mark.parametrize("name", [editor_schemas.SCHEMAS, editor_schemas.schema_file("agent"), editor_schemas.NAMES])
def test_what_is_a_link_is_left_alone(project, name):
    place = project / name
    place.rename(project / "away")
    place.symlink_to(project / "away")
    before = {file: file.read_bytes() for file in (project / "away").rglob("*")} if (project / "away").is_dir() else {}
    assert not editor_schemas._refresh(project)
    assert place.is_symlink()
    assert all(file.read_bytes() == data for file, data in before.items())


@pytest.mark.medium
def test_a_project_without_schemas_gets_none_and_one_that_cannot_be_written_keeps_its(project, monkeypatch):
    def fail(_project):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(editor_schemas, "write_schemas", fail)
        assert not refresh(project)
    folder = project / editor_schemas.SCHEMAS
    folder.rename(project / "away")
    assert not refresh(project)
    assert not folder.exists()
