"""A report as JUnit XML: a test suite for each bundle and one for a profile, a test case for each check or control.

Decides what is a failure, an error and skipped. Nothing but what passed is a test that passed: what cannot be told is
an error; what was not tested, does not apply or is waived is skipped with the reason. Times are 0, since no clock is
read. Every text goes through `markup`, which leaves no character that XML 1.0 forbids.

Source: the JUnit schema of the Apache Ant task, as continuous integration services read it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from specledger.core.diagnostics import printable
from specledger.report.markup import escape, tag
from specledger.report.profile import waived, waiver_words
from specledger.report.results import Check, Control, Judgement, Outcome, Report, Subject, evidence_words

_HEAD: Final = '<?xml version="1.0" encoding="UTF-8"?>\n'

Case = tuple[str, str]
"""How a case ended (`failure`, `error`, `skipped` or an empty text), and its element."""


def write_junit(report: Report) -> str:
    """The report as text that ends with a newline."""
    held = waived(report)
    suites = [_subject(subject, index, held) for index, subject in enumerate(report.subjects)]
    if report.judgement is not None:
        suites.append(_judgement(report.judgement, report.subjects))
    return document_of(suites)


def document_of(suites: Sequence[tuple[Counter[str], str]]) -> str:
    """The document of test suites, each with the counts of how its cases ended."""
    ended = sum((counts for counts, _ in suites), Counter[str]())
    inner = [lines_of(text for _, text in suites)]
    return _HEAD + element("testsuites", inner, name="specledger", **counts_of(ended)) + "\n"


def _subject(subject: Subject, index: int, held: Mapping[tuple[int, str], Control]) -> tuple[Counter[str], str]:
    manifest = subject.manifest
    receipts = manifest["receipts"]
    properties = {
        "specledger.kind": subject.kind,
        "specledger.verdict": subject.verdict.value,
        "specledger.run": manifest["run"],
        "specledger.specs": manifest["specs"],
        "specledger.receipts.count": receipts["count"],
        "specledger.receipts.head": receipts["head"],
        "specledger.receipts.root": receipts["root"],
        "specledger.engine": f"{manifest['engine']['name']} {manifest['engine']['version']}",
    }
    name = f"{subject.kind}.{subject.name}"
    return suite_of(name, properties, [_check(name, check, held.get((index, check.id))) for check in subject.checks])


def _judgement(judgement: Judgement, subjects: Sequence[Subject]) -> tuple[Counter[str], str]:
    properties = {
        "specledger.source": judgement.source,
        "specledger.verdict": judgement.verdict.value,
        "specledger.specs": judgement.digest,
        "specledger.date": judgement.date or "none",
    }
    name = f"profile.{judgement.name}"
    return suite_of(name, properties, [_control(name, control, subjects) for control in judgement.controls])


def suite_of(name: str, properties: Mapping[str, str | int], cases: Sequence[Case]) -> tuple[Counter[str], str]:
    """A test suite, with the counts of how its cases ended."""
    ended = Counter(end or "passed" for end, _ in cases)
    said = [element("property", [], name=key, value=value) for key, value in properties.items()]
    about = [element("properties", [lines_of(said)])] if said else []
    inner = [*about, *(text for _, text in cases)]
    return ended, element("testsuite", [lines_of(inner)], name=name, **counts_of(ended))


def counts_of(ended: Counter[str]) -> dict[str, str | int]:
    """The attributes that count cases by how they ended."""
    return {
        "tests": sum(ended.values()),
        "failures": ended["failure"],
        "errors": ended["error"],
        "skipped": ended["skipped"],
        "time": "0",
    }


def _check(suite: str, check: Check, control: Control | None) -> Case:
    """The case of a check; if a waived control covers it, it is skipped, and what was observed is still its text."""
    inner = []
    end = _end(check.outcome)
    if end:
        message = f"{check.outcome}: {check.why or check.tally}"
        shown = "" if end == "skipped" else lines_of(_observed(check))
        if end != "skipped" and control is not None:
            end, message = "skipped", f"{message}; control {control.id}: {waiver_words(control)}"
        inner.append(element(end, [shown] if shown else [], message=message, type=check.outcome.value))
    return end, element("testcase", inner, classname=suite, name=check.id, time="0")


def _control(suite: str, control: Control, subjects: Sequence[Subject]) -> Case:
    end = _end(control.outcome)
    why = control.why
    if control.waiver is not None:
        why = waiver_words(control)
        end = "skipped" if end and control.settled else end
    rows = evidence_words(control, subjects)
    message = f"{control.outcome}: {why or rows}"
    inner = [element(end, [escape(rows)] if rows else [], message=message, type=control.outcome.value)] if end else []
    return end, element("testcase", inner, classname=suite, name=control.id, time="0")


_ENDS: Final = {Outcome.PASSED: "", Outcome.FAILED: "failure", Outcome.CANNOT_TELL: "error"}


def _end(outcome: Outcome) -> str:
    return _ENDS.get(outcome, "skipped")


def _observed(check: Check) -> Iterator[str]:
    yield escape(check.says)
    for one in check.observations:
        place = ", ".join(
            f"{word} {value}"
            for word, value in (("run", one.run), ("episode", one.episode), ("step", one.t))
            if value is not None
        )
        yield escape(f"receipt {one.seq}{f', {place}' if place else ''}: {one.what}  {one.detail}")
    if check.more:
        yield escape(f"and {check.more} more")


def element(name: str, inner: Sequence[str], /, **attributes: str | int) -> str:
    """An element whose attributes hold no character that could hide itself or that XML forbids."""
    return tag(name, *inner, **{key: printable(str(value)) for key, value in attributes.items()})


def lines_of(elements: Iterator[str] | Sequence[str]) -> str:
    """Elements, each on a line of its own."""
    return "\n" + "\n".join(elements) + "\n"
