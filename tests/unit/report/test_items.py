"""Findings about specs as SARIF, workflow commands and JUnit XML."""

import json
import re
from xml.etree import ElementTree

import pytest

from specledger.cli.codes import E_USAGE
from specledger.core.diagnostics import Diagnostic, Severity
from specledger.core.spans import Position, Span
from specledger.load.library import E_REF_MISSING
from specledger.report.model import Report
from tests.unit.report.rendering import text_of

HOSTILE = "a%0A::error::\r\n::set-output name=x::<b>&\x1b[31m\u202e]]>"
FOUND = [
    Diagnostic(E_REF_MISSING, "no such world", Span("specs/a, b:c.yaml", Position(3, 8), Position(3, 12)), hint="look"),
    Diagnostic(E_REF_MISSING, HOSTILE, Span(HOSTILE, Position(1, 1), Position(2, 1)), severity=Severity.WARNING),
    Diagnostic(E_USAGE, "no place"),
]


def written(name, findings, passed=()):
    return text_of(name, Report.from_findings(findings, passed))


def test_sarif_names_the_rule_the_place_and_the_page():
    (run,) = json.loads(written("sarif", FOUND))["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [rules[result["ruleIndex"]]["id"] for result in run["results"]] == [one.code for one in FOUND]
    assert all(rule["help"]["text"] for rule in rules)
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "specs/a%2C%20b%3Ac.yaml"
    assert place["region"] == {"startLine": 3, "startColumn": 8, "endLine": 3, "endColumn": 12}
    assert [result["level"] for result in run["results"]] == ["error", "warning", "error"]
    assert "locations" not in run["results"][2]


def test_a_fingerprint_outlives_a_move_within_the_file():
    moved = Diagnostic(FOUND[0].code, FOUND[0].message, Span("specs/a, b:c.yaml", Position(9, 1), Position(9, 2)))
    prints = [
        result["partialFingerprints"]["specledger/v1"]
        for result in json.loads(written("sarif", [FOUND[0], moved, FOUND[1]]))["runs"][0]["results"]
    ]
    assert prints[0] == prints[1] != prints[2]


def test_each_finding_is_one_command_with_its_place():
    lines = written("github", FOUND).splitlines()
    assert lines[0] == (f"::error file=specs/a%2C b%3Ac.yaml,line=3,col=8,title={E_REF_MISSING}::no such world (look)")
    assert [line.split(" ")[0] for line in lines] == ["::error", "::error", "::warning"]
    for line in lines:
        assert re.fullmatch(r"::(error|warning) ([a-z]+=[^:,]*,?)+::[^\x00-\x1f\u202e]*", line)


def test_junit_has_a_case_for_each_spec_and_a_failure_for_each_error():
    tree = ElementTree.fromstring(written("junit", FOUND, ["world one", "law two"]))
    cases = [[inner.tag for inner in case] for case in tree.iter("testcase")]
    assert cases == [[], [], ["failure"], ["system-out"], ["failure"]]
    assert (tree.get("tests"), tree.get("failures")) == ("5", "2")


@pytest.mark.parametrize("format_", ["sarif", "github", "junit", "json", "human"])
def test_the_command_ends_as_it_does_for_people(format_, tmp_path, spec):
    (tmp_path / "bad.yaml").write_text("spec: drift/v1\nname: bad\nnever: 1\n")
    (tmp_path / "good.yaml").write_text("spec: invariant/v1\nname: good\nrequire: 1 < 2\n")
    for file, status in (("bad", 2), ("good", 0)):
        done = spec("check", tmp_path / f"{file}.yaml", "--format", format_)
        assert (done.status, "E_SPEC" in done.err) == (status, file == "bad")
