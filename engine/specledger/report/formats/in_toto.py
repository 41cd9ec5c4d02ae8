"""Writes a report as in-toto Statements, one line of canonical JSON for each; with a key in DSSE envelopes.

For each bundle there is a test result, whose tests are the checks. Only what passed is a passed test: what failed is a
failed one, and what could not be told, was not tested, or is a breach that its spec only warns of, is a warned one. A
verdict that is neither a pass nor a failure is stated with its reason. With a date there is a verification result, too;
its properties are that the runs were replayed if they were, and the checks that passed: of a run that decides nothing
only that its evidence did, since what it leaves out may be about each of them.

Source: in-toto Attestation Framework, Statement v1, predicates test-result v0.1 and svr v0.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from specledger.core.canonical import canonical_bytes
from specledger.core.digest import sha256_hex
from specledger.core.verdict import Verdict
from specledger.evidence.envelope import STATEMENT, TEST_RESULT
from specledger.evidence.keys import sign_statement
from specledger.evidence.layout import ENGINE, MANIFEST, SPECS
from specledger.report.formats.output import DEFAULTS, Options, Output
from specledger.report.model import Check, Replay, Report, Subject
from specledger.report.outcome import OF_VERDICT, Outcome
from specledger.report.overview import reason_text
from specledger.report.subject import WHOLE

SIMPLE_VERIFICATION: Final = "https://in-toto.io/attestation/svr/v0.2"
_LEFT_OUT: Final = (Outcome.NOT_APPLICABLE,)


def write(report: Report, options: Options = DEFAULTS) -> Output:
    """The statements about the bundles of a report."""
    key = options.key
    lines = (line + b"\n" if key is None else sign_statement(line, key) for line in _lines(report, options))
    return Output(b"".join(lines).decode())


def _lines(report: Report, options: Options) -> Iterator[bytes]:
    for subject in report.subjects:
        yield canonical_bytes(_statement(subject, TEST_RESULT, _test_result(subject)))
        if options.date is not None:
            yield canonical_bytes(_statement(subject, SIMPLE_VERIFICATION, _verification(subject, options.date)))


def _statement(subject: Subject, type_: str, predicate: dict[str, Any]) -> dict[str, Any]:
    manifest = canonical_bytes(dict(subject.manifest)) + b"\n"
    return {
        "_type": STATEMENT,
        "predicate": predicate,
        "predicateType": type_,
        "subject": [{"digest": {"sha256": sha256_hex(manifest)}, "name": f"{subject.title}/{MANIFEST}"}],
    }


def _test_result(subject: Subject) -> dict[str, Any]:
    specs = next(entry["sha256"] for entry in subject.manifest["files"] if entry["path"] == SPECS)
    tests: dict[str, list[str]] = {"PASSED": [], "WARNED": [], "FAILED": []}
    for check in subject.checks:
        if check.outcome not in _LEFT_OUT:
            tests[_ended(check)].append(check.id)
    annotations = {"replay": subject.replay.value}
    if OF_VERDICT[subject.verdict] is Outcome.CANNOT_TELL:
        annotations |= {"reason": reason_text(Report((subject,))), "verdict": subject.verdict.value}
    return {
        "configuration": [{"annotations": annotations, "digest": {"sha256": specs}, "name": SPECS}],
        "failedTests": tests["FAILED"],
        "passedTests": tests["PASSED"],
        "result": _result(subject, tests),
        "warnedTests": tests["WARNED"],
    }


def _result(subject: Subject, tests: Mapping[str, Sequence[str]]) -> str:
    """The result of a bundle, in the words of the predicate: an error is a failure, nothing concluded is a warning."""
    if tests["FAILED"] or subject.verdict in (Verdict.FAIL, Verdict.ERROR):
        return "FAILED"
    sure = subject.verdict is Verdict.PASS and subject.replay is not Replay.NONE and not tests["WARNED"]
    return "PASSED" if sure else "WARNED"


def _ended(check: Check) -> str:
    """How a check ended, in the words of the predicate."""
    if check.outcome is Outcome.PASSED:
        return "PASSED"
    return "FAILED" if check.error or (check.outcome is Outcome.FAILED and not check.warning) else "WARNED"


def _verification(subject: Subject, date: str) -> dict[str, Any]:
    """What was verified; only properties that hold are listed."""
    decided = OF_VERDICT[subject.verdict] is not Outcome.CANNOT_TELL
    stated = [check for check in subject.checks if decided or check.id == WHOLE]
    passed = [f"SPECLEDGER_{check.id}" for check in stated if check.outcome is Outcome.PASSED]
    replayed = ["SPECLEDGER_REPLAYED"] if subject.replay is Replay.DONE else []
    return {
        "properties": [*replayed, *passed],
        "timeCreated": f"{date}T00:00:00Z",
        "verifier": {"id": f"pkg:pypi/specledger@{ENGINE['version']}"},
    }
