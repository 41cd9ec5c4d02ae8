"""`spec ls`: own and shipped specs, one line each."""

import pytest


@pytest.fixture
def own(project):
    folder = project / "specs" / "scenario"
    folder.mkdir(parents=True)
    (folder / "mine.yaml").write_text("spec: scenario/v1\nname: mine\ndoc: One thing. Another.\nworld: stairs\n")
    (folder / "hazard.yaml").write_text("spec: scenario/v1\nname: hazard\ndoc: Mine.\nworld: stairs\n")
    (folder / "broken.yaml").write_text("spec: [\n")
    return project


def rows(done):
    return {one["name"]: (one["shipped"], one["summary"]) for one in done.json["specs"]}


@pytest.mark.usefixtures("own")
def test_a_kind_lists_own_specs_before_shipped_ones_of_the_name(spec):
    found = rows(spec("ls", "scenario", "--format", "json"))
    assert found["mine"] == (False, "One thing.")
    assert found["hazard"] == (False, "Mine.")
    assert found["broken"] == (False, "(cannot be read: `spec check` says why)")
    assert found["simple"][0] is True


@pytest.mark.usefixtures("own")
def test_people_see_the_kind_and_what_is_their_own(spec):
    done = spec("ls", "scenario")
    assert done.status == 0
    assert done.out.startswith("scenario (")
    (line,) = (line for line in done.out.splitlines() if line.split()[:1] == ["mine"])
    assert line.endswith("One thing.  (project)")
    owned = [line.endswith("(project)") for line in done.out.splitlines()[1:]]
    assert owned == sorted(owned, reverse=True)


def test_a_misspelt_kind_is_suggested(spec):
    done = spec("ls", "scenarios")
    assert done.status == 2
    assert "did you mean scenario?" in done.err
