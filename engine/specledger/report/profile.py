"""Judges the controls of a profile by bundles and by the outcomes of a project's tests, which JUnit XML tells.

No test is run, and no clock is read: the day for waivers is an argument. The XML is untrusted: a document type is
refused, so that there are no entities, and size and depth are bounded.

Source: `pytest --junitxml`: `testcase` elements whose `classname` is the module's path with dots.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from xml.parsers import expat

from specledger.core.diagnostics import Diagnostic, Rejected, code
from specledger.load import Bundle
from specledger.report.control import Control, Judgement, Match, Waiver
from specledger.report.model import Subject
from specledger.report.outcome import SETTLED, Outcome, combined
from specledger.report.profile_rules import is_of, name_question
from specledger.spec.profile import Control as Stated
from specledger.spec.profile import EvidenceCheck, Profile

E_TESTS = code("E_TESTS", "the file is not valid JUnit XML")


_TESTS: Final = "only tests of the project show it, and a report does not run them (--tests)"
_TESTS_TOO: Final = "tests of the project show it, too, and a report does not run them (--tests)"
_NOWHERE: Final = "no given bundle has such a check"
_UNMADE: Final = frozenset({"open", "deferred"})


def judge(
    profile: Bundle, subjects: Sequence[Subject], date: str | None, tests: Mapping[str, Outcome] | None = None
) -> Judgement:
    """Judge every control of a profile.

    Args:
        profile: A resolved profile.
        subjects: What bundles show, in the order of the report.
        date: The day for which waivers are judged, `YYYY-MM-DD`; without it, none counts.
        tests: The outcome of each test of the project, by its name; without it, a control that names tests passes by no
            evidence.
    """
    model = profile.main.model
    assert isinstance(model, Profile)  # noqa: S101 - it was loaded as one
    controls = tuple(_control(control, subjects, date, tests) for control in model.controls)
    return Judgement(model.name, model.source, model.doc or "", profile.digest, date, controls)


def _control(
    control: Stated, subjects: Sequence[Subject], date: str | None, tests: Mapping[str, Outcome] | None
) -> Control:
    named = enumerate(control.evidence)
    rows = tuple(row for index, entry in named for row in _rows(control.id, index, entry, subjects))
    ran = tuple((tests or {}).get(name, Outcome.UNTESTED) for name in control.checks)
    outcome, reason = _outcome(control, rows, None if tests is None else ran)
    waiver = _waiver(control, date)
    if waiver is not None and waiver.state == "expired" and outcome not in SETTLED:
        outcome = Outcome.FAILED  # what somebody answered for up to a day is not open again after it
    why = f"{control.status}: {control.why}" if control.status in _UNMADE else control.why
    return Control(
        id=control.id,
        section=control.section,
        says=control.says,
        status=control.status,
        outcome=outcome,
        why="; ".join(words for words in (why, reason) if words),
        rows=rows,
        tests=tuple(control.checks),
        ran=ran,
        waiver=waiver,
    )


def _rows(control: str, number: int, named: EvidenceCheck, subjects: Sequence[Subject]) -> Iterator[Match]:
    """A match for each bundle that has the check that a control names, or one without a bundle."""
    wanted = named.check or name_question(control, number, named)
    matches = [
        Match(check.id, index, check.outcome, check.error, check.joint)
        for index, subject in enumerate(subjects)
        if is_of(named, subject.name, subject.kind)
        for check in subject.checks
        if check.id == wanted or (wanted.endswith("/*") and check.id.startswith(wanted[:-1]))
    ]
    bundle = " ".join(words for words in (named.kind, named.of) if words)
    yield from matches or [Match(f"{wanted} of {bundle}" if bundle else wanted, None, Outcome.UNTESTED)]


def _outcome(control: Stated, rows: Sequence[Match], tests: Sequence[Outcome] | None) -> tuple[Outcome, str]:
    if control.status == "not applicable":
        return Outcome.NOT_APPLICABLE, ""
    if control.status in _UNMADE:
        return Outcome.UNTESTED, ""
    reasons = [_NOWHERE] if any(row.subject is None for row in rows) else []
    if control.checks and tests is None:
        tests = [Outcome.UNTESTED]
        reasons.append(_TESTS_TOO if rows else _TESTS)
    outcome, reason = combined([*(row.outcome for row in rows), *(tests or ())]), "; ".join(reasons)
    differs = control.status == "differs" and outcome is Outcome.PASSED
    return Outcome.DIFFERS if differs else outcome, reason


def _waiver(control: Stated, date: str | None) -> Waiver | None:
    waiver = control.waiver
    if waiver is None:
        return None
    state = "no date" if date is None else "active" if date <= waiver.until else "expired"
    return Waiver(waiver.owner, waiver.reason, waiver.until, state)


MAX_BYTES: Final = 67_108_864
"""Bytes of a file at most."""
MAX_DEPTH: Final = 16
"""Elements inside one another at most."""

_ENDS: Final = {"failure": Outcome.FAILED, "error": Outcome.CANNOT_TELL, "skipped": Outcome.UNTESTED}


class _Reader:
    """Collects the outcome of each case."""

    def __init__(self) -> None:
        self.outcomes: dict[str, list[Outcome]] = {}
        self._depth = 0
        self._case: tuple[str, Outcome] | None = None

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise ValueError(f"more than {MAX_DEPTH} elements lie inside one another")
        if tag == "testcase":
            module, name = attributes.get("classname", ""), attributes.get("name", "")
            self._case = (f"{module.replace('.', '/')}.py::{name.partition('[')[0]}", Outcome.PASSED)
        elif tag in _ENDS and self._case is not None:
            self._case = (self._case[0], combined([self._case[1], _ENDS[tag]]))

    def end(self, tag: str) -> None:
        self._depth -= 1
        if tag == "testcase" and self._case is not None:
            self.outcomes.setdefault(self._case[0], []).append(self._case[1])
            self._case = None

    def refuse(self, *_: Any) -> None:
        raise ValueError("it has a document type")


def read_tests(path: Path) -> dict[str, Outcome]:
    """The outcome of each test by its name: `tests/wings/kernel/documents/test_tokens.py::test_a`.

    A test of which some cases were skipped and the others passed has passed; one of which all were skipped is untested.
    """
    reader = _Reader()
    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = reader.start, reader.end
    parser.StartDoctypeDeclHandler = reader.refuse
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise ValueError(f"it has more than {MAX_BYTES} bytes")
        parser.Parse(data, True)
    except OSError as error:
        raise Rejected([Diagnostic(E_TESTS, f"{path} cannot be read: {error.strerror or error}")]) from None
    except (ValueError, expat.ExpatError) as error:
        raise Rejected([Diagnostic(E_TESTS, f"{path}: {error}")]) from None
    return {
        name: combined([outcome for outcome in outcomes if outcome is not Outcome.UNTESTED] or outcomes)
        for name, outcomes in reader.outcomes.items()
    }
