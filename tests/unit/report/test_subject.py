"""What bundles of each kind show of each requirement, and the JSON document that tells it."""

import json
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jsonschema
import pytest
from msgspec.structs import replace

from specledger.core.diagnostics import Rejected
from specledger.kinds import load
from specledger.pipeline.executing import execute
from specledger.report.model import MOST_OBSERVATIONS, Receipt
from specledger.report.outcome import Outcome
from specledger.wings.discovery.report import DiscoveryReading
from tests import toys
from tests.unit.report.rendering import Altered, read, report_of, subject_of, text_of

ROOT = Path(__file__).parents[3]
CLIMB = toys.CLIMB / "climb.yaml"


@pytest.fixture(scope="module")
def schema():
    document = json.loads((ROOT / "schemas/results/report.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(document)
    return jsonschema.Draft202012Validator(document)


@pytest.fixture
def shown(tmp_path):
    """The checks of a run of the smallest scenario after changes, by id."""

    def run(*changes):
        place = execute(load(CLIMB, set=changes)[0], tmp_path / "run").place
        return {check.id: check for check in subject_of(place).checks}

    return run


@pytest.fixture(scope="module")
def law(tmp_path_factory):
    """The evidence of a shipped law that is refuted, as it expects."""
    (bundle,) = load("movers-balance-collisions", kind="law")
    return execute(bundle, tmp_path_factory.mktemp("law") / "law").place


def outcome_of(check):
    return check.outcome, check.opportunities, check.failures


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ([], {"invariant/bounded": ("passed", 6, 0), "progress": ("passed", 6, 0), "evaluation": ("passed", 6, 0)}),
        (["governor.with.stamina=2"], {"progress": ("failed", 6, 2), "invariant/bounded": ("passed", 6, 0)}),
        (["governor.with.dread=2"], {"evaluation": ("cannot tell", 6, 0)}),
        (
            ["invariants=[]", "governor.invariants=[{use: bounded, with: {top: 2}}]"],
            {"invariant/bounded": ("failed", 6, 2)},
        ),
    ],
    ids=["in order", "nothing admitted", "not evaluated", "broken"],
)
def test_a_run_is_told_by_its_invariants_its_progress_and_its_errors(changes, expected, shown):
    found = shown(*changes)
    assert {name: outcome_of(found[name]) for name in expected} == expected
    assert outcome_of(found["evidence"])[0] == "passed"


def test_what_never_applied_is_no_pass(tmp_path):
    project = shutil.copytree(CLIMB.parent, tmp_path / "project")
    (project / "never.yaml").write_text("spec: invariant/v1\nname: never\nwhen: n > 99\nrequire: n < 0\n")
    (project / "whole.yaml").write_text("spec: invariant/v1\nname: whole\nscope: episode\nrequire: n < 99\n")
    (bundle,) = load(project / "climb.yaml", set=["invariants=[never, whole]"])
    subject = subject_of(execute(bundle, tmp_path / "run").place)
    found = {check.id: outcome_of(check) for check in subject.checks}
    assert found["invariant/never"] == (Outcome.NOT_APPLICABLE, 0, 0)
    assert found["invariant/whole"] == (Outcome.PASSED, 2, 0)


def test_what_was_never_looked_at_is_untested(shown):
    found = shown("agent.with.fear=0")  # nothing can be proposed at the start
    assert {name: outcome_of(found[name])[0] for name in ("invariant/bounded", "progress", "evaluation")} == {
        "invariant/bounded": "untested", "progress": "untested", "evaluation": "cannot tell"
    }  # fmt: skip


def test_an_observation_names_its_place_and_its_receipt(shown, tmp_path):
    found = shown("governor.with.stamina=2")["progress"].observations
    lines = (tmp_path / "run" / "receipts.jsonl").read_bytes().splitlines()
    assert [(one.episode, one.t, json.loads(lines[one.seq])["type"]) for one in found] == [
        (0, 2, "step"),
        (1, 2, "step"),
    ]
    for one in found:
        assert json.loads(lines[one.seq + 1])["prev"] == one.digest


def test_of_many_observations_the_first_are_kept_and_the_others_counted(shown):
    check = shown("governor.with.stamina=1", "horizon=20")["progress"]
    assert (len(check.observations), check.more) == (MOST_OBSERVATIONS, check.failures - MOST_OBSERVATIONS)
    assert check.more > 0


@pytest.mark.parametrize(
    ("type_", "change"),
    [
        ("start", lambda body: body["invariants"][0].update(name=5)),
        ("start", lambda body: body["invariants"][0].pop("severity")),
        ("step", lambda body: body.update(violations=[{"invariant": "x", "severity": "fatal"}])),
        ("step", lambda body: body.update(violations=[{"invariant": None, "severity": "fatal", "witness": {}}])),
        ("step", lambda body: body.update(violations=5)),
        ("step", lambda body: body.update(t="x", violations=[{"invariant": "x", "witness": {}}])),
        ("step", lambda body: body["decisions"][0].update(error={"expression": "x"})),
        ("episode_end", lambda body: body.update(idle={"x": "y"})),
    ],
)
def test_receipts_of_other_types_are_refused_with_a_code(type_, change, trap):
    evidence = read(trap)
    changed = replace(evidence, receipts=Altered(evidence.receipts, lambda bodies: change(bodies[type_][0])))
    with pytest.raises(Rejected) as caught:
        subject_of(changed)
    assert [finding.code for finding in caught.value.diagnostics] == ["E_REPORT_RECEIPTS"]


def test_a_suite_is_told_by_its_checks_and_mutants(heights):
    subject = subject_of(heights)
    found = {check.id: check for check in subject.checks}
    assert outcome_of(found["check/climbs"])[0] == "passed"
    assert list(found) == [
        "evidence",
        "check/climbs",
        "mutant/no-bound",
        "evaluation",
        "runs-end-as-expected",
        "runs-are-decided",
    ]
    assert found["check/climbs"].says == "high.value > 0"
    assert [id_ for id_, check in found.items() if check.once] == ["check/climbs"]
    assert "climbs" in found["mutant/no-bound"].observations[0].what
    assert [figure["figure"] for figure in subject.reading.figures] == ["arrives", "high", "never", "nothing"]


def discovered(*receipts):
    """The checks of a discovery, by id."""
    specs = SimpleNamespace(main=SimpleNamespace(key="discovery/d@0123456789abcdef"))
    evidence: Any = SimpleNamespace(specs=specs, manifest={"result": {}})
    reading = DiscoveryReading(evidence)
    for seq, (type_, body) in enumerate(receipts):
        reading.add(Receipt(seq, b"", type_, body))
    return {check.id: outcome_of(check) for check in reading.checks()}


def law_receipt(name, status, late=None):
    verdict = None if status is None else {"status": status, "claim": "C"}
    return "law", {"law": name, "iteration": 0, "late": late, "verdict": verdict, "error": "E_X", "held_out": []}


@pytest.mark.parametrize(
    ("receipts", "accepted", "evaluation"),
    [
        ([], ("untested", 0, 0), "untested"),
        ([law_receipt("a", "FAIL")], ("cannot tell", 1, 0), "passed"),
        ([law_receipt("a", "FAIL"), law_receipt("b", "PROVED")], ("passed", 2, 0), "passed"),
        ([law_receipt("a", "PASS"), ("escalation", law_receipt("a", "FAIL")[1])], ("cannot tell", 1, 0), "passed"),
        ([law_receipt("a", "UNKNOWN"), law_receipt("b", None)], ("cannot tell", 2, 0), "cannot tell"),
        ([law_receipt("a", "PASS", late={})], ("untested", 0, 0), "untested"),
    ],
)
def test_a_discovery_is_told_by_what_it_accepted(receipts, accepted, evaluation):
    found = discovered(*receipts)
    assert (found["accepted"], found["evaluation"][0]) == (accepted, evaluation)


@pytest.mark.parametrize(("key", "outcome"), [("law/a@0", ("passed", 1, 0)), (None, ("failed", 1, 1))])
def test_what_a_discovery_was_expected_to_find_is_a_check(key, outcome):
    assert (
        discovered(("expected", {"law": "a", "key": "law/a@1", "found": key, "status": "PASS"}))["expected/a"]
        == outcome
    )


@pytest.mark.medium
def test_the_document_is_valid_and_the_same_again(trap, heights, law, schema):
    report = report_of(trap, heights, law)
    text = text_of("json", report)
    schema.validate(json.loads(text))
    assert text == text_of("json", report_of(trap, heights, law))
    assert text.isascii()
