"""A profile names only checks that exist, and a check that it names is a test that runs."""

import ast
from functools import lru_cache
from pathlib import Path

import pytest

from specledger.kinds import load
from specledger.spec.profile import Control, EvidenceCheck, Profile
from specledger.spec.suite import Suite
from specledger.verify.check_names import all_names
from specledger.wings.discovery.spec.discovery import Discovery

ROOT = Path(__file__).resolve().parents[2]
PROFILES = sorted(ROOT.glob("specs/profile/*.yaml"))


@lru_cache
def controls(path):
    (bundle,) = load(str(path))
    assert isinstance(bundle.main.model, Profile)
    return bundle.main.model.controls


@lru_cache
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
def ids_of(kind, name):
    """What the checks of a shipped suite or discovery are called that are its own, each with what it is."""
    bundle = load(str(ROOT / f"specs/{kind}/{name}.yaml"))[0]
    model = bundle.main.model
    if isinstance(model, Suite):
        return {*(f"check/{one.id}" for one in model.checks), *(f"mutant/{one.id}" for one in model.mutants)}
    assert isinstance(model, Discovery)
    keys = (bundle.main.refs["expect", index] for index in range(len(model.expect)))
    return {f"expected/{bundle.specs[key].name}" for key in keys}


OWN = {"check": "suite", "mutant": "suite", "expected": "discovery"}
"""Kinds of checks that a spec itself gives names to, by the kind of that spec."""
RUN = ("scenario", "suite", "law", "discovery")


@lru_cache
def receipts_of(kind):
    """The types of receipts in pinned evidence of a kind."""
    folder = {"scenario": "golden", "suite": "suites", "law": "laws", "discovery": "discovery"}[kind]
    lines = (line for path in (ROOT / "fixtures" / folder).glob("*.jsonl") for line in path.read_bytes().splitlines())
    return {line.rpartition(b'"type":"')[2].partition(b'"')[0].decode() for line in lines}


def kinds_of(each):
    """The kinds of the shipped specs that evidence may be of."""
    kinds = RUN if each.kind is None else (each.kind,)
    return [kind for kind in kinds if each.of is None or (ROOT / f"specs/{kind}/{each.of}.yaml").is_file()]


def is_heard(each):
    """Whether evidence of a shipped spec can have what a control names."""
    kinds = kinds_of(each)
    if each.verified is not None:
        return bool(kinds) and each.verified in all_names()
    if each.receipts is not None:
        return any(each.receipts in receipts_of(kind) for kind in kinds)
    if each.require is not None:
        return bool(kinds)
    kind, _, name = each.check.partition("/")
    if kind in OWN:
        named = each.of is not None and OWN[kind] in kinds
        return named and any(each.check in (id_, f"{kind}/*") for id_ in ids_of(OWN[kind], each.of))
    return bool(kinds) and (name in ("", "*") or (ROOT / "specs" / kind / f"{name}.yaml").is_file())


def unheard(control):
    """What a control names of evidence that no evidence of a shipped spec can have."""
    return [each.check or each.verified or each.receipts for each in control.evidence if not is_heard(each)]


@pytest.mark.parametrize("path", PROFILES, ids=lambda path: path.stem)
def test_every_named_check_of_evidence_can_be_there(path):
    assert [name for control in controls(path) for name in unheard(control)] == []


@pytest.mark.parametrize("path", PROFILES, ids=lambda path: path.stem)
def test_controls_have_names_of_their_own(path):
    names = [control.id for control in controls(path)]
    assert len(set(names)) == len(names) > 0


def test_a_check_that_does_not_exist_is_noticed():
    here = "tests/architecture/test_profiles.py"
    wrong = [f"{here}::test_nothing_of_this_name", "tests/unit/test_no_such_file.py::test_a"]
    assert missing([f"{here}::test_every_named_check_exists", *wrong]) == wrong


@pytest.mark.parametrize(
    ("known", "wrong"),
    [
        ({"check": "invariant/no-overflow"}, {"check": "invariant/no-such-invariant"}),
        ({"check": "law/momentum", "of": "momentum"}, {"check": "law/momentum", "of": "no-such-law"}),
        ({"check": "expected/momentum", "of": "kinetic"}, {"check": "expected/mirror-only", "of": "kinetic"}),
        ({"check": "check/*", "of": "axion-m4"}, {"check": "check/*"}),
        ({"check": "mutant/no-debit", "of": "gridworld-mutants"}, {"check": "mutant/no-debit", "of": "axion-m4"}),
        ({"verified": "receipts form one hash chain"}, {"verified": "receipts form two chains of lines"}),
        ({"receipts": "drift", "require": "body.t > 0"}, {"receipts": "draft", "require": "body.t > 0"}),
        (
            {"receipts": "figure", "require": "true", "of": "axion-m4"},
            {"receipts": "drift", "require": "true", "of": "axion-m4"},
        ),
    ],
)
def test_evidence_that_does_not_exist_is_noticed(known, wrong):
    named = [EvidenceCheck.model_validate(each) for each in (known, wrong)]
    control = Control(id="a", section="s", says="s", status="shown", evidence=named)
    assert unheard(control) == [wrong.get("check") or wrong.get("verified") or wrong.get("receipts")]


SEEDS = ("clatl-overview", "clatl-plan", "law-proposer", "toy-pseudo-axion")


@pytest.mark.parametrize("seed", SEEDS)
def test_bundles_show_much_of_what_a_source_asks(seed):
    """A profile that only tests can judge says nothing of a bundle."""
    made = [
        control for control in controls(ROOT / f"specs/profile/{seed}.yaml") if control.status in ("shown", "differs")
    ]
    assert sum(bool(control.evidence) for control in made) * 5 >= len(made) * 2


@pytest.mark.parametrize("seed", SEEDS)
def test_what_a_profile_takes_its_evidence_from_stands_in_its_doc(seed):
    """Whoever judges by it knows which bundles to bring; of laws it is said of all together."""
    path = ROOT / f"specs/profile/{seed}.yaml"
    said = load(str(path))[0].main.model.doc or ""
    evidence = [each for control in controls(path) for each in control.evidence]
    named = {each.of for each in evidence if each.of is not None}
    laws = {name for name in named if (ROOT / f"specs/law/{name}.yaml").is_file()}
    assert [name for name in named - laws if name not in said] == []
    if laws or any((each.check or "").startswith("law/") for each in evidence):
        assert "the laws that it names" in said
