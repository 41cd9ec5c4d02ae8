"""A report as SARIF 2.1.0: a run for each bundle and one for a profile, a rule for each check, a result for each place.

Decides that what passed or does not apply is a rule without a result, since readers show every result as something to
look at; and what makes two results the same over time: the check, the spec's name and the place in the run, not the
digests. Refuses to guess files: a result has a physical location only where the user said where the specs lie.

Source: SARIF 2.1.0 (OASIS Standard), 3.14 run, 3.27 result, 3.27.17 partialFingerprints, 3.33 logicalLocation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from specledger.core.canonical import canonical_bytes, pretty
from specledger.core.diagnostics import printable
from specledger.core.digest import tagged
from specledger.evidence.layout import ENGINE
from specledger.report.profile import waived
from specledger.report.results import (
    Check,
    Control,
    Judgement,
    Observation,
    Outcome,
    Report,
    Subject,
    counted,
    evidence_words,
)
from specledger.report.source_locations import file_of, uri_of

VERSION: Final = "2.1.0"
SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

FINGERPRINT: Final = "specledger/finding/v1"
"""The tag of the digest that tells a finding from others over time."""

_TOLD: Final = (Outcome.FAILED, Outcome.CANNOT_TELL, Outcome.UNTESTED)
_KINDS: Final = {Outcome.FAILED: "fail", Outcome.CANNOT_TELL: "open", Outcome.UNTESTED: "open"}


def write_sarif(report: Report, sources: Path | None = None) -> str:
    """The log as text that ends with a newline.

    Args:
        report: What is told.
        sources: The folder whose `<kind>/<name>.yaml` are the specs, for places in files.
    """
    held = waived(report)
    runs = [_subject(subject, index, held, sources) for index, subject in enumerate(report.subjects)]
    if report.judgement is not None:
        runs.append(_judgement(report.judgement, report.subjects))
    return log_of(runs)


def log_of(runs: list[dict[str, Any]]) -> str:
    """The log of runs, as text that ends with a newline."""
    return pretty({"$schema": SCHEMA, "version": VERSION, "runs": runs})


def run_of(
    about: str, engine: dict[str, str], rules: list[Any], results: list[Any], properties: dict[str, Any]
) -> dict[str, Any]:
    """One run of the log.

    Args:
        about: What was checked, as an identifier of the automation.
        engine: Name and version of what made the evidence.
        rules: In the order of the checks.
        results: In the same order; each names its rule by index.
        properties: What else is said of it.
    """
    driver = {"name": engine["name"], "version": engine["version"], "rules": rules}
    return {
        "tool": {"driver": driver},
        "automationDetails": {"id": f"{about}/"},
        "columnKind": "unicodeCodePoints",
        "results": results,
        "properties": properties,
    }


def _subject(
    subject: Subject, place: int, held: Mapping[tuple[int, str], Control], sources: Path | None
) -> dict[str, Any]:
    """The run of a bundle; a result that a waived control covers is suppressed and keeps its level."""
    manifest = subject.manifest
    receipts = manifest["receipts"]
    outcomes = counted(check.outcome for check in subject.checks)
    known = {"verdict": subject.verdict.value, "run": manifest["run"], "specs": manifest["specs"], "outcomes": outcomes}
    results = [
        {**result, **_suppressions(held.get((place, check.id)))}
        for index, check in enumerate(subject.checks)
        for result in _results(subject, check, index, sources)
    ]
    return run_of(
        f"specledger/{subject.kind}/{subject.name}",
        manifest["engine"],
        [_rule(check.id, check.says, check.outcome) for check in subject.checks],
        results,
        {**known, "receipts": receipts["count"], "head": receipts["head"], "root": receipts["root"]},
    )


def _rule(id_: str, says: str, outcome: Outcome) -> dict[str, Any]:
    text = printable(says)
    return {
        "id": printable(id_),
        "shortDescription": {"text": text},
        "help": {"text": f"{text} (was: {outcome}). The receipts that show it are named in the results."},
        "properties": {"outcome": outcome.value},
    }


def _results(subject: Subject, check: Check, index: int, sources: Path | None) -> Iterator[dict[str, Any]]:
    """A result for each observation of what is not in order, or one if there is none."""
    if check.outcome not in _TOLD:
        return
    for seen in check.observations or (None,):
        yield _result(subject, check, index, seen, sources)


def _result(
    subject: Subject, check: Check, index: int, seen: Observation | None, sources: Path | None
) -> dict[str, Any]:
    kind = _KINDS[check.outcome]
    level = "none" if kind != "fail" else "warning" if check.warning else "error"
    place = [] if seen is None else [seen.run, seen.episode, seen.t, seen.what]
    named = (check.spec or subject.root).partition("@")[0]
    identity = canonical_bytes([subject.kind, subject.name, check.id, named, *place])
    said = check.why or check.says if seen is None else f"{seen.what} {seen.detail}".strip()
    receipt = {} if seen is None else {"seq": seen.seq, "receipt": seen.digest}
    return {
        "ruleId": printable(check.id),
        "ruleIndex": index,
        "kind": kind,
        "level": level,
        "message": {"text": printable(f"{check.outcome}: {said}")},
        "locations": [_location(check.spec or subject.root, seen, sources)],
        "partialFingerprints": {"specledger/v1": tagged(FINGERPRINT, identity)},
        "properties": {"outcome": check.outcome.value, "run": subject.manifest["run"], **receipt},
    }


def _location(key: str, seen: Observation | None, sources: Path | None) -> dict[str, Any]:
    """Where a result is: the spec, then the place in the run; and the spec's file where it is known."""
    logical: list[dict[str, Any]] = [{"fullyQualifiedName": key, "kind": "specification"}]
    if seen is not None:
        parts = [("run", seen.run), ("episode", seen.episode), ("step", seen.t), ("receipt", seen.seq)]
        path = "/".join(f"{word} {value}" for word, value in parts if value is not None)
        logical.append({"fullyQualifiedName": printable(path), "kind": "receipt"})
    location: dict[str, Any] = {"logicalLocations": logical}
    file = file_of(key, sources)
    if file is not None:
        location["physicalLocation"] = {"artifactLocation": {"uri": uri_of(file)}, "region": {"startLine": 1}}
    return location


def _judgement(judgement: Judgement, subjects: Sequence[Subject]) -> dict[str, Any]:
    """The controls of a profile as rules; those that are not settled as results."""
    rules, results = [], []
    for index, control in enumerate(judgement.controls):
        rules.append(_rule(control.id, f"{control.section}: {control.says}", control.outcome))
        if control.outcome in _TOLD:
            results.append(_of_control(judgement, control, index, subjects))
    outcomes = counted(control.outcome for control in judgement.controls)
    known = {"verdict": judgement.verdict.value, "specs": judgement.digest, "outcomes": outcomes}
    return run_of(f"specledger/profile/{judgement.name}", dict(ENGINE), rules, results, known)


def _of_control(judgement: Judgement, control: Control, index: int, subjects: Sequence[Subject]) -> dict[str, Any]:
    kind = _KINDS[control.outcome]
    identity = canonical_bytes(["profile", judgement.name, control.id])
    rows = evidence_words(control, subjects)
    result: dict[str, Any] = {
        "ruleId": control.id,
        "ruleIndex": index,
        "kind": kind,
        "level": "error" if kind == "fail" else "none",
        "message": {"text": printable(f"{control.outcome}: {control.why or rows or control.says}")},
        "locations": [{"logicalLocations": [{"fullyQualifiedName": f"profile/{judgement.name}/{control.id}"}]}],
        "partialFingerprints": {"specledger/v1": tagged(FINGERPRINT, identity)},
        "properties": {"outcome": control.outcome.value},
    }
    return {**result, **_suppressions(control)}


def _suppressions(control: Control | None) -> dict[str, Any]:
    """What an active waiver adds to a result."""
    held = None if control is None else control.waiver
    if held is None or held.state != "active":
        return {}
    words = printable(f"{held.owner}, until {held.until}: {held.reason}")
    return {"suppressions": [{"kind": "external", "status": "accepted", "justification": words}]}
