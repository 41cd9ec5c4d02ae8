"""Findings for other programs: SARIF 2.1.0, GitHub's workflow commands, JUnit XML.

Decides the form alone: a finding has a code with a page, a place in a file, and a hint. Refuses to know what was
checked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from specledger.core.canonical import canonical_bytes, pretty
from specledger.core.diagnostics import Diagnostic, Severity, explain, printable
from specledger.core.digest import tagged
from specledger.evidence.layout import ENGINE
from specledger.report.github import at_most, command
from specledger.report.junit import Case, document_of, element, suite_of
from specledger.report.markup import escape
from specledger.report.sarif import FINGERPRINT, SCHEMA, VERSION
from specledger.report.source_locations import uri_of

CHECK: Final = "spec check"
"""What the findings are of, unless it is said: specs that were checked."""


def sarif_of(findings: Sequence[Diagnostic], about: str = "specledger/check") -> str:
    """A log with one run: a rule for each code that was found, with its page as help, and a result for each finding.

    Args:
        findings: What was found.
        about: What was checked, as an identifier of the automation.
    """
    codes = sorted({finding.code for finding in findings})
    run = {
        "tool": {"driver": {**ENGINE, "rules": [_rule(code) for code in codes]}},
        "automationDetails": {"id": f"{about}/"},
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, codes.index(finding.code)) for finding in findings],
    }
    return pretty({"$schema": SCHEMA, "version": VERSION, "runs": [run]})


def _rule(code: str) -> dict[str, Any]:
    page = explain(code)
    assert page is not None  # noqa: S101 - a finding has a registered code
    return {"id": code, "shortDescription": {"text": page.title}, "help": {"text": page.text}}


def _result(finding: Diagnostic, index: int) -> dict[str, Any]:
    identity = canonical_bytes([finding.code, finding.span.file if finding.span else None, printable(finding.message)])
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": finding.severity.value,
        "message": {"text": _words(finding)},
        "partialFingerprints": {"specledger/v1": tagged(FINGERPRINT, identity)},
    }
    if finding.span is not None:
        start, end = finding.span.start, finding.span.end
        region = {"startLine": start.line, "startColumn": start.column, "endLine": end.line, "endColumn": end.column}
        place = {"artifactLocation": {"uri": uri_of(finding.span.file)}, "region": region}
        result["locations"] = [{"physicalLocation": place}]
    return result


def _words(finding: Diagnostic) -> str:
    hint = f" ({finding.hint})" if finding.hint is not None else ""
    return printable(f"{finding.message}{hint}")


def github_of(findings: Sequence[Diagnostic]) -> str:
    """A command for each finding, with a last newline; at most as many of a type as are shown."""
    found: dict[str, list[str]] = {Severity.ERROR: [], Severity.WARNING: []}
    for finding in findings:
        place: Mapping[str, str] = {}
        if finding.span is not None:
            start = finding.span.start
            place = {"file": finding.span.file, "line": str(start.line), "col": str(start.column)}
        found[finding.severity].append(command(finding.severity, finding.code, _words(finding), place))
    lines = [line for type_, lines in found.items() for line in at_most(type_, lines)]
    return "".join(f"{line}\n" for line in lines)


def junit_of(checked: Sequence[str], findings: Sequence[Diagnostic], name: str = CHECK, end: str = "failure") -> str:
    """A test case for each spec in order, and one that ended badly for each finding; a warning did not.

    Args:
        checked: What was found in order, each as it is called.
        findings: The others.
        name: What the suite is called.
        end: How the case of a finding ended: `failure`, or `error` where what was asked for could not be done.
    """
    cases = [("", _case(CHECK, one)) for one in checked] + [_found(one, end) for one in findings]
    return document_of([suite_of(name, {}, cases)])


def _found(finding: Diagnostic, end: str) -> Case:
    words = _words(finding)
    bad = finding.severity is Severity.ERROR
    inner = [element(end, [escape(words)], message=words, type=finding.code)] if bad else []
    return end if bad else "", _case(finding.code, str(finding.span or finding.code), inner)


def _case(group: str, name: str, inner: Sequence[str] = ()) -> str:
    return element("testcase", inner, classname=group, name=name, time="0")
