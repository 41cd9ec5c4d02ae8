"""Build the report of opened evidence, judged by a profile if one is named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from specledger.kinds import KINDS, load
from specledger.load import Bundle
from specledger.report.evidence import Evidence
from specledger.report.model import Report
from specledger.report.outcome import Outcome
from specledger.report.profile import judge, read_tests
from specledger.report.profile_rules import questions_of
from specledger.report.subject import from_evidence

Asked = tuple[Bundle, Mapping[str, Outcome] | None]
"""A profile, and the results of the tests that it names if they are known."""


def ask(profile: str | None, tests: Path | None = None) -> Asked | None:
    """Read a profile, by its name or file, and JUnit XML of the tests that it names; before any evidence is read."""
    if profile is None:
        return None
    return load(profile, kind="profile")[0], None if tests is None else read_tests(tests)


def make_report(evidence: Sequence[Evidence], asked: Asked | None = None, date: str | None = None) -> Report:
    """The report of bundles, with the judgement of a profile on a day, `YYYY-MM-DD`, if one is asked for."""
    if asked is None:
        return from_evidence(evidence, KINDS)
    profile, ran = asked
    report = from_evidence(evidence, KINDS, questions_of(profile, KINDS))
    return replace(report, judgement=judge(profile, report.subjects, date, ran))
