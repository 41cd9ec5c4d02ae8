"""Every place where a spec is named is known, and what depends on it."""

from pathlib import Path

import pytest

from specledger.pipeline.references import References

SPECS = {
    "agent/base": "spec: agent/v1\nname: base\ncandidates: [{op: a}]\nscore: 1\n",
    "agent/other": "spec: agent/v1\nname: other\nextends: base\nuse: [shared]\n",
    "agent/path": "spec: agent/v1\nname: path\nextends: ./base.yaml\n",
    "library/shared": "spec: library/v1\nname: shared\n",
    "scenario/plain": "spec: scenario/v1\nname: plain\nworld: w\ngovernor: g\nagent: base\nhorizon: 1\n",
    "scenario/with": "spec: scenario/v1\nname: with\nworld: w\ngovernor: g\nagent: {use: base, with: {x: 1}}\nhorizon: 1\n",
    "scenario/chosen": (
        "spec: scenario/v1\nname: chosen\nparams: {who: {type: string, default: base}}\nmatrix: {who: [base, other]}\n"
        "world: w\ngovernor: g\nagent: ${who}\nhorizon: 1\n"
    ),
    "suite/all": (
        "spec: suite/v1\nname: all\nruns:\n  a: {scenarios: [plain], agent: other, set: {agent: base, horizon: 2}}\n"
        "mutants:\n  - {id: m, set: {agent: other}}\n"
    ),
    "world/broken": "spec: world/v1\nname: [\n",
}


@pytest.fixture
def references(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in SPECS.items():
        path = Path(f"specs/{name}.yaml")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return References.of_project(Path())


def where(references, name):
    """Where a spec is named: (file, line) of each."""
    uses = references.to(Path(f"specs/{name}.yaml"))
    return sorted((use.file.stem, use.span.start.line) for use in uses)


def test_each_way_to_name_a_spec_is_known(references):
    assert where(references, "agent/base") == [
        ("all", 4),
        ("chosen", 3),
        ("chosen", 4),
        ("other", 3),
        ("path", 3),
        ("plain", 5),
        ("with", 5),
    ]
    assert where(references, "agent/other") == [("all", 4), ("all", 6), ("chosen", 4)]
    assert where(references, "library/shared") == [("other", 4)]
    assert where(references, "scenario/plain") == [("all", 4)]


def test_what_depends_on_a_spec_directly_or_through_others(references):
    dependents = {path.stem for path in references.dependents([Path("specs/library/shared.yaml")])}
    assert dependents == {"shared", "other", "chosen", "all"}
    assert {path.stem for path in references.dependents([Path("specs/suite/all.yaml")])} == {"all"}


def test_a_text_that_is_not_saved_counts(references, tmp_path):
    file = Path("specs/scenario/plain.yaml")
    unsaved = {file.resolve(): SPECS["scenario/plain"].replace("agent: base", "agent: other").encode()}
    assert ("plain", 5) in where(References.of_project(Path(), unsaved), "agent/other")


def test_what_cannot_be_read_refers_to_nothing(references):
    assert references.inside(Path("specs/world/broken.yaml")) == ()
    assert references.leads_nowhere(Path("specs/scenario/plain.yaml")), "there is no world w"
    assert not references.leads_nowhere(Path("specs/agent/other.yaml"))
