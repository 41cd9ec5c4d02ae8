"""Writes a report as in-toto Statements, one line of canonical JSON for each; with a key in DSSE envelopes.

For each bundle there is a test result, whose tests are the checks. Only what passed is a passed test: what failed,
could not be told or was not tested is a failed one, and a breach that its spec only warns of is a warned one. With a
date there is a verification result, too; its properties are the checks that passed, and that the runs were replayed if
they were.

Source: in-toto Attestation Framework, Statement v1, predicates test-result v0.1 and svr v0.2.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from specledger.core.canonical import canonical_bytes
from specledger.core.digest import sha256_hex
from specledger.core.verdict import Verdict
from specledger.evidence.envelope import STATEMENT, TEST_RESULT
from specledger.evidence.keys import sign_statement
from specledger.evidence.layout import ENGINE, MANIFEST, SPECS
from specledger.report.formats.output import DEFAULTS, Options, Output
from specledger.report.model import Check, Replay, Report, Subject
from specledger.report.outcome import Outcome

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
    passed, warned = subject.verdict is Verdict.PASS and not tests["FAILED"], bool(tests["WARNED"])
    return {
        "configuration": [
            {"annotations": {"replay": subject.replay.value}, "digest": {"sha256": specs}, "name": SPECS}
        ],
        "failedTests": tests["FAILED"],
        "passedTests": tests["PASSED"],
        "result": "FAILED" if not passed else "WARNED" if warned or subject.replay is Replay.NONE else "PASSED",
        "warnedTests": tests["WARNED"],
    }


def _ended(check: Check) -> str:
    """How a check ended, in the words of the predicate."""
    if check.outcome is Outcome.PASSED:
        return "PASSED"
    return "WARNED" if check.warning and check.outcome is Outcome.FAILED else "FAILED"


def _verification(subject: Subject, date: str) -> dict[str, Any]:
    """What was verified; only properties that hold are listed."""
    passed = [f"SPECLEDGER_{check.id}" for check in subject.checks if check.outcome is Outcome.PASSED]
    replayed = ["SPECLEDGER_REPLAYED"] if subject.replay is Replay.DONE else []
    return {
        "properties": [*replayed, *passed],
        "timeCreated": f"{date}T00:00:00Z",
        "verifier": {"id": f"pkg:pypi/specledger@{ENGINE['version']}"},
    }
