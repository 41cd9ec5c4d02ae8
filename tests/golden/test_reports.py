"""The report documents of a run that fails and of a refuted law are snapshots, one file for each format.

The HTML page is tested in a browser instead.
"""

import pytest

from specledger.kinds import load
from specledger.pipeline.executing import execute
from specledger.report.formats import FORMATS, Options
from tests.pins import ROOT, file_in
from tests.unit.report.rendering import report_of

FOLDER = "fixtures/reports"
FORMAT_FILES = {
    "json": "json",
    "junit": "xml",
    "sarif": "sarif",
    "oscal": "oscal",
    "markdown": "md",
    "github": "txt",
    "svg": "svg",
    "in-toto": "jsonl",
}
"""The formats, with the endings of their snapshots."""
SUBJECTS = {
    "hazard-entered": ("fixtures/specs/scenario/dead-end.yaml", ["governor.gates.hazard=null", "horizon=3"]),
    "calm-comes": ("specs/law/calm-comes.yaml", []),
}
"""A run without the gate that keeps it from a hazard, and a law that is expected to have a counterexample."""
OUTCOMES = {
    "hazard-entered": {"invariant/no-hazard-entered": "failed", "invariant/no-bump": "passed"},
    "calm-comes": {"law/calm-comes": "passed"},
}


@pytest.fixture(scope="module", params=SUBJECTS)
def reported(request, tmp_path_factory):
    """The name of a subject, and its report."""
    path, sets = SUBJECTS[request.param]
    bundle = next(one for one in load(str(ROOT / path), set=sets) if one.case in ("", "agent=hazard-seeker"))
    return request.param, report_of(execute(bundle, tmp_path_factory.mktemp("report") / request.param).place)


@pytest.mark.parametrize("name", FORMAT_FILES)
def test_a_report_is_the_pinned_one(name, reported, snapshot):
    subject, report = reported
    if (name, subject) == ("svg", "calm-comes"):
        return  # a law is not drawn
    output = FORMATS[name].write(report, Options(date="2026-01-31"))
    assert output.text + output.summary == snapshot(name=subject, extension_class=file_in(FOLDER, FORMAT_FILES[name]))


def test_a_report_has_the_outcome_of_each_requirement(reported):
    subject, report = reported
    outcomes = {check.id: check.outcome for check in report.subjects[0].checks}
    assert outcomes | OUTCOMES[subject] == outcomes
    failed = {id_ for id_, outcome in OUTCOMES[subject].items() if outcome == "failed"}
    assert {id_ for id_, outcome in outcomes.items() if outcome != "passed"} == failed


def test_nothing_else_is_pinned():
    named = {f"{subject}.{ending}" for subject in SUBJECTS for ending in FORMAT_FILES.values()} - {"calm-comes.svg"}
    assert {path.name for path in (ROOT / FOLDER).iterdir()} == named
