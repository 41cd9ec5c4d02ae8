"""A profile names only checks that exist, and a check that it names is a test that runs."""

import ast
from functools import lru_cache
from pathlib import Path

import pytest

from engine.load import load
from engine.spec.profile import Control, EvidenceCheck, Profile
from engine.spec.suite import Suite

ROOT = Path(__file__).resolve().parents[2]
PROFILES = sorted(ROOT.glob("specs/profile/*.yaml"))


@lru_cache
def controls(path):
    (bundle,) = load(str(path))
    assert isinstance(bundle.main.model, Profile)
    return bundle.main.model.controls


def functions_of(file):
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}


def missing(checks):
    """The checks that are no test of this project."""
    return [
        check
        for check in checks
        if not (ROOT / check.partition("::")[0]).is_file()
        or check.partition("::")[2] not in functions_of(check.partition("::")[0])
    ]


@pytest.mark.parametrize("path", PROFILES, ids=lambda path: path.stem)
def test_every_named_check_exists(path):
    assert missing(check for control in controls(path) for check in control.checks) == []


@lru_cache
def ids_of(suite):
    """The ids of the checks and mutants of a shipped suite, each with what it is."""
    model = load(str(ROOT / f"specs/suite/{suite}.yaml"))[0].main.model
    assert isinstance(model, Suite)
    return {*(f"check/{one.id}" for one in model.checks), *(f"mutant/{one.id}" for one in model.mutants)}


def unheard(control):
    """The checks of evidence that no shipped spec can have."""
    for each in control.evidence:
        kind, _, name = each.check.partition("/")
        if kind in ("check", "mutant"):
            there = each.of is not None and any(each.check in (id_, f"{kind}/*") for id_ in ids_of(each.of))
        else:
            there = name in ("", "*") or (ROOT / "specs" / kind / f"{name}.yaml").is_file()
        if not there:
            yield each.check


@pytest.mark.parametrize("path", PROFILES, ids=lambda path: path.stem)
def test_every_named_check_of_evidence_can_be_there(path):
    assert [check for control in controls(path) for check in unheard(control)] == []


@pytest.mark.parametrize("path", PROFILES, ids=lambda path: path.stem)
def test_controls_have_names_of_their_own(path):
    names = [control.id for control in controls(path)]
    assert len(set(names)) == len(names) > 0


def test_a_check_that_does_not_exist_is_noticed():
    here = "tests/architecture/test_profiles.py"
    wrong = [f"{here}::test_nothing_of_this_name", "tests/unit/test_no_such_file.py::test_a"]
    assert missing([f"{here}::test_every_named_check_exists", *wrong]) == wrong


def test_a_check_of_evidence_that_does_not_exist_is_noticed():
    known = EvidenceCheck.model_validate({"check": "invariant/no-overflow"})
    wrong = EvidenceCheck.model_validate({"check": "invariant/no-such-invariant"})
    control = Control(id="a", section="s", says="s", status="shown", evidence=[known, wrong])
    assert [*unheard(control)] == ["invariant/no-such-invariant"]
