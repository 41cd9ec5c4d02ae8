"""Running cases: progress, places, names of cases, and the demo."""

import shutil
from pathlib import Path

import pytest

from specledger.core.diagnostics import Rejected
from specledger.kinds import case_name
from specledger.kinds.running import RunOptions
from specledger.pipeline.checking import annotated, check, load_cases, load_runs
from specledger.pipeline.executing import execute, place_cases
from tests import toys

CLIMB = toys.CLIMB / "climb.yaml"


@pytest.fixture
def project(tmp_path, monkeypatch):
    shutil.copytree(CLIMB.parent, tmp_path / "project")
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "project"


@pytest.fixture
def copies(project):
    """Scenarios of other names, as many as are asked for, with some text replaced."""

    def make(*names, old="", new=""):
        for name in names:
            text = CLIMB.read_text().replace("name: climb", f"name: {name}")
            (project / f"{name}.yaml").write_text(text.replace(old, new) if old else text)
        return [f"{name}.yaml" for name in names]

    return make


def codes(error):
    return [one.code for one in error.value.diagnostics]


def test_findings_of_all_targets_come_together_and_once(copies, project):
    copies("a", "b", old="horizon: 3", new="horizon: three")
    warden = (project / "warden.yaml").read_text()
    (project / "warden.yaml").write_text(warden.replace("action.by > 1", "action.by > 'x'"))
    with pytest.raises(Rejected) as error:
        load_runs(["a.yaml", "climb.yaml", "b.yaml", *copies("c")])
    assert sorted(codes(error)) == ["E_EXPR_TYPE", "E_SPEC_TYPE", "E_SPEC_TYPE"]
    _, findings = check(["a.yaml", "climb.yaml", "b.yaml", "c.yaml"])
    assert sorted(one.code for one in findings) == ["E_EXPR_TYPE", "E_SPEC_TYPE", "E_SPEC_TYPE"]


def test_cases_whose_names_differ_in_letter_case_only_are_refused(project):
    """They would be one folder on some file systems."""
    text = CLIMB.read_text().replace(
        "seed: 3", "params: {n: string}\nmatrix: {n: [a, A]}\nseed: 3\nmetadata: {annotations: {n: '${n}'}}"
    )
    (project / "climb.yaml").write_text(text)
    assert [case_name(bundle) for bundle in load_cases("climb.yaml")] == ["climb.n=a", "climb.n=A"]
    with pytest.raises(Rejected) as error:
        load_runs(["climb.yaml"])
    assert codes(error) == ["E_CASE_TWICE"]


@pytest.mark.usefixtures("project")
def test_places_inside_a_bundle_are_refused(copies):
    one = load_runs(["climb.yaml"])
    two = load_runs(["climb.yaml", *copies("rise")])
    execute(one[0], Path("x"))
    assert place_cases(one, Path("x")) == (Path("x"),)
    for cases, out in ((two, Path("x")), (one, Path("x/inside"))):
        with pytest.raises(Rejected) as error:
            place_cases(cases, out)
        assert codes(error) == ["E_OUT_FOREIGN"]


@pytest.mark.usefixtures("project")
def test_how_deeply_a_spec_is_looked_at():
    alone = ["stairs.yaml", "pot.yaml", "climber.yaml", "warden.yaml", "bounded.yaml", "shift.yaml"]
    with_scenario = {one.depth for one in check(["climb.yaml", *alone])[0]}
    assert with_scenario == {"compiled"}, "a scenario types what it uses"
    checked, findings = check(alone)
    assert findings == ()
    assert [(one.kind, one.depth) for one in checked] == [
        ("world", "compiled"),
        ("world", "compiled"),
        ("agent", "shape"),
        ("governor", "shape"),
        ("invariant", "shape"),
        ("drift", "shape"),
    ]


def test_the_demo_is_a_shipped_scenario_that_says_so():
    bundle = annotated("scenario", "demo")
    assert bundle.main.kind == "scenario"
    assert bundle.main.data["metadata"]["annotations"]["demo"] is True


def test_without_a_demo_there_is_none(tmp_path, monkeypatch):
    monkeypatch.setattr("specledger.pipeline.checking.find_specs", lambda: tmp_path)
    with pytest.raises(LookupError):
        annotated("scenario", "demo")
    monkeypatch.setattr("specledger.pipeline.checking.find_specs", lambda: None)
    with pytest.raises(LookupError):
        annotated("scenario", "demo")


def test_a_spec_that_only_mentions_an_annotation_does_not_have_it(tmp_path, monkeypatch):
    monkeypatch.setattr("specledger.pipeline.checking.find_specs", lambda: tmp_path)
    (tmp_path / "world").mkdir()
    world = "spec: world/v1\nname: {0}\nstate: {{n: int}}\nstart: {{n: '0'}}\nactions: {{go: {{}}}}\n"
    for name, shown in (("a", "false}} # not shown: true"), ("b", "true}}"), ("c", "true}}")):
        text = f"{world.format(name)}metadata: {{annotations: {{shown: {shown}\n"
        (tmp_path / f"world/{name}.yaml").write_text(text)
    assert annotated("world", "shown").main.name == "b"


def test_a_run_is_not_replayed_unless_that_is_asked_for(project):
    (bundle,) = load_cases("climb.yaml")
    assert execute(bundle, project / "plain").replayed is None
    assert execute(bundle, project / "again", RunOptions(replay=True)).replayed is not None
