"""A verification for other programs: JUnit XML, SARIF 2.1.0, GitHub's workflow commands.

Decides that a check that was not made is skipped and never passed, and that a level which was asked for and not reached
is an error beside the checks, so that whoever looks only at failures does not take silence for a pass. Refuses to
verify.
"""

from __future__ import annotations

from typing import Any, Final

from specledger.core.canonical import canonical_bytes
from specledger.core.diagnostics import explain, printable
from specledger.core.digest import tagged
from specledger.evidence.layout import ENGINE
from specledger.report.github import at_most, command
from specledger.report.junit import Case, document_of, element, lines_of, suite_of
from specledger.report.markdown import quote, table
from specledger.report.markup import escape
from specledger.report.sarif import FINGERPRINT, log_of, run_of
from specledger.report.source_locations import uri_of
from specledger.verify.assurance_levels import NAMES, LevelStatus, Reached, climb, headline
from specledger.verify.checks import Check, Status, Verification

_TYPES: Final = ("error", "warning", "notice")


def _missed(rung: LevelStatus, verification: Verification) -> bool:
    """Whether a level was asked for, and is not reached without being refuted."""
    asked = verification.asked is None or rung.level in verification.asked
    return asked and rung.status is Reached.NOT_CHECKED


def junit_of(evidence: str, verification: Verification) -> str:
    """Two test suites with a last newline: the numbered checks, and the levels.

    Args:
        evidence: Where the evidence lies.
        verification: What was checked.
    """
    about = {"specledger.evidence": evidence, "specledger.verdict": verification.verdict.value}
    if verification.unchecked:
        about["specledger.unchecked"] = "; ".join(verification.unchecked)
    checks = suite_of("spec verify: checks", about, [_case(check) for check in verification.checks])
    rungs = [_rung_case(rung, _missed(rung, verification)) for rung in climb(verification)]
    return document_of(
        [checks, suite_of("spec verify: levels", {"specledger.headline": headline(verification)}, rungs)]
    )


def _case(check: Check) -> Case:
    ends = {Status.PASSED: "", Status.FAILED: "failure", Status.NOT_MADE: "skipped"}
    name = f"{check.number}. {check.name}"
    return _written("spec verify", name, ends[check.status], check.code, check.message or "", check.level.value)


def _rung_case(rung: LevelStatus, missed: bool) -> Case:
    end = {Reached.REACHED: "", Reached.REFUTED: "failure"}.get(rung.status, "error" if missed else "skipped")
    return _written("spec verify levels", f"{rung.level} {rung.name}", end, rung.code, rung.why, rung.level.value)


def _written(group: str, name: str, end: str, code: str | None, why: str, level: str) -> Case:
    properties = [element("property", [], name="level", value=level)]
    if code is not None:
        properties.append(element("property", [], name="code", value=code))
    inner = [element("properties", [lines_of(properties)])]
    if end:
        inner.append(element(end, [], message=why or "no reason is known", type=code or end))
    elif why:
        inner.append(element("system-out", [escape(why)]))
    return end, element("testcase", [lines_of(inner)], classname=group, name=name, time="0")


def sarif_of(evidence: str, verification: Verification) -> str:
    """A log with one run: a result for each check that failed or was not made; what passed stands in the properties.

    Args:
        evidence: Where the evidence lies.
        verification: What was checked.
    """
    told = [check for check in verification.checks if check.status is not Status.PASSED]
    rules = sorted({_rule_of(check) for check in told})
    levels = {rung.level.value: rung.status.value for rung in climb(verification)}
    known = {
        "verdict": verification.verdict.value,
        "headline": headline(verification),
        "levels": levels,
        "unchecked": list(verification.unchecked),
        "checks": [_said(check) for check in verification.checks],
    }
    results = [_result(check, rules.index(_rule_of(check)), evidence) for check in told]
    return log_of([run_of("specledger/verify", dict(ENGINE), [_rule(rule) for rule in rules], results, known)])


def _rule_of(check: Check) -> str:
    """A code, where the check has one; else the level that it contributes to."""
    return check.code or check.level.value


def _rule(name: str) -> dict[str, Any]:
    page = explain(name)
    if page is not None:
        return {"id": name, "shortDescription": {"text": page.title}, "help": {"text": page.text}}
    said = next(text for level, text in NAMES.items() if level.value == name)
    return {"id": name, "shortDescription": {"text": said}, "help": {"text": f"A check of level {name} was not made."}}


def _said(check: Check) -> dict[str, Any]:
    return {"number": check.number, "name": check.name, "level": check.level.value, "status": check.status.value}


def _result(check: Check, index: int, evidence: str) -> dict[str, Any]:
    failed = check.status is Status.FAILED
    identity = canonical_bytes(["verify", printable(evidence), _rule_of(check), printable(check.name)])
    logical = {"fullyQualifiedName": printable(f"check {check.number}: {check.name}"), "kind": "check"}
    place = {"physicalLocation": {"artifactLocation": {"uri": uri_of(evidence)}}, "logicalLocations": [logical]}
    return {
        "ruleId": _rule_of(check),
        "ruleIndex": index,
        "kind": "fail" if failed else "open",
        "level": "error" if failed else "none",
        "message": {"text": printable(f"{check.status}: {check.name}: {check.message or 'no reason is known'}")},
        "locations": [place],
        "partialFingerprints": {"specledger/v1": tagged(FINGERPRINT, identity)},
        "properties": _said(check),
    }


def github_of(evidence: str, verification: Verification) -> str:
    """A command for each check that failed, and for each level that was asked for and is not reached.

    Args:
        evidence: Where the evidence lies.
        verification: What was checked.
    """
    found: dict[str, list[str]] = {type_: [] for type_ in _TYPES}
    for check in verification.checks:
        words = f"{evidence}: {check.number}. {check.name}: {check.message or 'no reason is known'}"
        if check.status is Status.FAILED:
            found["error"].append(command("error", check.code or "refuted", words))
        elif check.status is Status.NOT_MADE:
            found["notice"].append(command("notice", check.code or "not made", words))
    found["notice"] += [command("notice", "not checked", f"{evidence}: {one}") for one in verification.unchecked]
    for rung in climb(verification):
        if _missed(rung, verification):
            title = f"{rung.level} not checked"
            found["warning"].append(command("warning", title, f"{evidence}: {rung.name}: {rung.why}"))
    lines = [line for type_ in _TYPES for line in at_most(type_, found[type_])]
    return "".join(f"{line}\n" for line in lines)


def summary_of(evidence: str, verification: Verification) -> str:
    """The summary of a step as Markdown that ends with a newline: every check and every level."""
    lines = [f"# {quote(evidence)}: {verification.verdict}", "", quote(headline(verification))]
    lines += table("Checks", ("", "", "level", "check", "code", "beside it"), list(map(_row, verification.checks)))
    rungs = [
        (f"**{rung.status}**", rung.level.value, quote(rung.name), quote(rung.why)) for rung in climb(verification)
    ]
    return "\n".join([*lines, *table("Levels", ("", "level", "shows", "beside it"), rungs), ""])


def _row(check: Check) -> tuple[str, ...]:
    words = (quote(check.name), quote(check.code or ""), quote(check.message or ""))
    return (str(check.number), f"**{check.status}**", check.level.value, *words)
