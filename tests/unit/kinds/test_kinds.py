"""A wing adds a kind: everything works with one more."""

import ast
import pickle
import re

import pytest

from specledger.core.diagnostics import Rejected
from specledger.core.verdict import Verdict
from specledger.core.wing import Wing
from specledger.kinds import KINDS, registry
from specledger.pipeline.checking import check, load_runs
from specledger.pipeline.executing import execute, preview
from specledger.pipeline.golden import pin, pin_matches
from specledger.pipeline.verifying import verify
from specledger.report.evidence import read_evidence
from specledger.report.formats import FORMATS
from specledger.report.subject import from_evidence
from tests.toys.dice import DICE


@pytest.fixture
def dice(tmp_path, monkeypatch):
    """Register the kind, and write a spec of it."""
    monkeypatch.setattr(registry, "wings", lambda: (DICE,))

    def write(sides):
        path = tmp_path / "fair.yaml"
        path.write_text(f"spec: dice/v1\nname: fair\nsides: {sides}\n", encoding="utf-8")
        return str(path)

    return write


@pytest.fixture
def bundle(dice):
    return load_runs([dice(6)])[0]


def test_the_table_goes_to_worker_processes_and_clusters():
    assert [*pickle.loads(pickle.dumps(KINDS))] == [*KINDS]


def test_it_is_checked(dice):
    assert [one.depth for one in check([dice(6)])[0]] == ["compiled"]
    assert [one.code for one in check([dice(1)])[1]] == ["E_DICE"]


def test_what_does_not_compile_is_not_run(dice):
    with pytest.raises(Rejected, match="E_DICE"):
        load_runs([dice(1)])


def test_without_its_wing_it_is_unknown(dice, monkeypatch):
    monkeypatch.setattr(registry, "wings", tuple)
    with pytest.raises(Rejected, match="E_SPEC_KIND"):
        load_runs([dice(6)])


def test_it_is_previewed(bundle):
    assert preview(bundle) == {
        "kind": "dice",
        "name": "fair",
        "case": "",
        "digest": bundle.digest,
        "most_throws": 3,
    }


def test_it_is_run_and_shown(bundle, tmp_path):
    finished = execute(bundle, tmp_path / "out")
    assert finished.manifest["kind"] == "dice"
    assert KINDS["dice"].run.show([finished]) == "fair threw 6"


def test_its_evidence_is_verified_with_replay(bundle, tmp_path):
    place = execute(bundle, tmp_path / "out").place
    assert verify(place).verdict is Verdict.PASS
    lines = (place / "receipts.jsonl").read_bytes()
    (place / "receipts.jsonl").write_bytes(lines.replace(b'"fell":2', b'"fell":5'))
    assert verify(place).verdict is Verdict.FAIL


def test_its_evidence_is_reported(bundle, tmp_path):
    place = execute(bundle, tmp_path / "out").place
    evidence = read_evidence(place, KINDS)
    report = from_evidence([evidence], KINDS)
    assert "dice/fair" in FORMATS["junit"].write(report).text
    assert "fair" in FORMATS["markdown"].write(report).text


def test_it_is_pinned(bundle, tmp_path):
    made = pin(bundle)
    made.write(tmp_path / "golden")
    assert pin_matches(made, tmp_path / "golden") is None
    assert made.tree["result"] == {"verdict": "PASS", "sum": 6}


def test_only_runnable_kinds_have_parts():
    assert {name: KINDS[name].evidence.receipts.name for name in KINDS.runnable()} == {
        name: name for name in ("scenario", "suite", "law", "discovery")
    }
    with pytest.raises(LookupError, match="cannot be run"):
        _ = KINDS["world"].run


def test_a_wing_cannot_take_the_name_of_a_kind_that_there_is(dice, monkeypatch):
    monkeypatch.setattr(registry, "wings", lambda: (DICE, Wing("more", kinds=DICE.kinds)))
    with pytest.raises(TypeError, match="'more' declares the kind 'dice', which there is already"):
        list(KINDS)


@pytest.mark.medium
def test_no_other_module_of_the_engine_dispatches_on_the_kind(pytestconfig):
    """A comparison with a kind's name, or a table by such names, belongs into a row of `KINDS`."""
    engine = pytestconfig.rootpath / "engine" / "specledger"
    found = [
        f"{path.relative_to(engine)}:{getattr(node, 'lineno', 0)}"
        for path in engine.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if path.parent.name != "kinds" and _dispatches(node)
    ]
    assert found == []


def _dispatches(node: ast.AST) -> bool:
    if isinstance(node, ast.Compare):
        compared = [node.left, *node.comparators]
        kind = any(re.search(r"\bkind$", ast.unparse(one)) for one in compared)
        return kind and any(isinstance(one, ast.Constant) and one.value in KINDS for one in compared)
    if isinstance(node, ast.Dict):
        names = {key.value for key in node.keys if isinstance(key, ast.Constant)}
        return {"scenario", "suite", "law"} <= names
    return False
