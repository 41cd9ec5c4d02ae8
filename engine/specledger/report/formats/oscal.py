"""Writes a report as OSCAL assessment results: a result for each bundle and for a profile, with findings.

UUIDs are of version 5, from digests and names, so that the same bundles and date give the same bytes. OSCAL requires
dates, which evidence does not have: the date is an option, and without it the epoch with a remark.

Source: OSCAL 1.2.1, assessment results model: `assessment-results{uuid, metadata, import-ap, results}`,
`result{uuid, title, description, start, reviewed-controls}`, `observation{uuid, description, methods, collected}`,
`finding{uuid, title, description, target{type, target-id, status}, related-risks}`, `risk{uuid, title, description,
statement, status, deadline}`, whose status is `deviation-approved` for a waiver, `metadata{title, last-modified,
version, oscal-version}`. RFC 9562, 5.5, for the UUIDs.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterable
from typing import Any, Final

from specledger.core.canonical import canonical_bytes, pretty
from specledger.core.diagnostics import printable
from specledger.core.digest import sha256_hex
from specledger.report.control import Control, Judgement
from specledger.report.formats.output import DEFAULTS, Options, Output
from specledger.report.model import Check, Report, Subject
from specledger.report.not_shown import not_shown
from specledger.report.outcome import WAIVED, Outcome

OSCAL_VERSION: Final = "1.2.1"
EPOCH: Final = "1970-01-01"
"""The date if none is given."""

_NAMESPACE: Final = uuid.uuid5(uuid.NAMESPACE_URL, "urn:specledger:oscal:v1")
_NS: Final = "urn:specledger"
_TOKEN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_REASONS: Final = {Outcome.PASSED: "pass", Outcome.FAILED: "fail"}


def write(report: Report, options: Options = DEFAULTS) -> Output:
    """The report as an OSCAL document."""
    date = options.date
    day = f"{date or EPOCH}T00:00:00Z"
    results = [_of_subject(report, index, day) for index in range(len(report.subjects))]
    if report.judgement is not None:
        results.append(_of_judgement(report.judgement, report, day))
    remarks = [
        *not_shown(report.subjects),
        *([] if date else ["No date was given: every date in this document is a placeholder."]),
    ]
    identity = canonical_bytes([[result["uuid"] for result in results], day])
    names = ", ".join(f"{subject.kind} {subject.title}" for subject in report.subjects)
    document = {
        "uuid": _uuid("document", identity),
        "metadata": {
            "title": printable(f"Assessment of {names}"),
            "last-modified": day,
            "version": _uuid("version", identity),
            "oscal-version": OSCAL_VERSION,
            "remarks": " ".join(remarks),
        },
        "import-ap": {"href": "#", "remarks": "The specs in the evidence are the plan of the assessment."},
        "results": results,
    }
    return Output(pretty({"assessment-results": document}))


def token(text: str) -> str:
    """The text as an OSCAL token; a text with other characters gets a digest, so that no two texts share a token."""
    if _TOKEN.fullmatch(text):
        return text
    plain = re.sub(r"[^A-Za-z0-9_.-]", ".", text)[:100]
    return f"{'' if _TOKEN.match(plain) else '_'}{plain}.{sha256_hex(text.encode())[:8]}"


def _uuid(*parts: str | bytes) -> str:
    name = canonical_bytes([part if isinstance(part, str) else part.decode() for part in parts]).decode()
    return str(uuid.uuid5(_NAMESPACE, name))


def _of_subject(report: Report, index: int, day: str) -> dict[str, Any]:
    subject, waivers = report.subjects[index], report.waivers(index)
    manifest = subject.manifest
    root = manifest["receipts"]["root"]
    observations = [_observation(subject, check, day) for check in subject.checks]
    return {
        "uuid": _uuid("result", manifest["run"], root, day),
        "title": printable(f"{subject.kind} {subject.title}: {report.verdict_text(index)} ({subject.replay})"),
        "description": printable(subject.doc or f"The evidence of {subject.kind} {subject.title}"),
        "start": day,
        "props": [
            _prop("run", manifest["run"]),
            _prop("specs-digest", manifest["specs"]),
            _prop("receipts-root", root),
            _prop("receipts-head", manifest["receipts"]["head"]),
            _prop("verdict", subject.verdict.value),
        ],
        "reviewed-controls": {
            "control-selections": [{"description": "Whatever the evidence speaks of", "include-all": {}}]
        },
        "observations": observations,
        **_risks([waivers[check.id] for check in subject.checks if check.id in waivers], root, day),
        "findings": [
            _finding(
                _uuid("finding", manifest["run"], root, check.id, day),
                check.id,
                check.says,
                check.outcome,
                check.why,
                [observation["uuid"]],
            )
            | _waived(waivers.get(check.id), root, day)
            for check, observation in zip(subject.checks, observations, strict=True)
        ],
    }


def _risks(waived: Iterable[Control], about: str, day: str) -> dict[str, Any]:
    """The risks that waivers accept: a deviation that is approved up to a deadline."""
    controls = {control.id: control for control in waived}
    risks = [
        {
            "uuid": _risk(control, about, day),
            "title": printable(f"control {control.id} is waived"),
            "description": printable(f"{control.section}: {control.says}"),
            "statement": printable(control.waiver_text),
            "props": [_prop("waiver-owner", printable(control.waiver.owner))],
            "status": "deviation-approved",
            "deadline": f"{control.waiver.until}T23:59:59Z",
        }
        for control in controls.values()
        if control.waiver is not None
    ]
    return {"risks": risks} if risks else {}


def _risk(control: Control, about: str, day: str) -> str:
    return _uuid("risk", about, control.id, day)


def _waived(control: Control | None, about: str, day: str) -> dict[str, Any]:
    """What a finding has besides where a waiver covers it."""
    return {} if control is None else {"related-risks": [{"risk-uuid": _risk(control, about, day)}]}


def _prop(name: str, value: str) -> dict[str, str]:
    return {"name": name, "ns": _NS, "value": value}


def _observed(subject: Subject, check: Check, day: str) -> str:
    receipts = subject.manifest["receipts"]
    return _uuid("observation", subject.manifest["run"], receipts["root"], check.id, day)


def _observation(subject: Subject, check: Check, day: str) -> dict[str, Any]:
    known = f"{check.outcome}: {'judged' if check.counts_only else 'failed'} {check.tally}. {check.why}".strip()
    evidence = [
        {
            "description": printable(f"{observation.what} {observation.detail}".strip()),
            "props": [_prop("receipt", str(observation.seq)), _prop("receipt-digest", observation.digest)],
        }
        for observation in check.observations
    ]
    return {
        "uuid": _observed(subject, check, day),
        "title": printable(check.id),
        "description": printable(known),
        "methods": ["TEST"],
        "collected": day,
        **({"relevant-evidence": evidence} if evidence else {}),
    }


def _finding(id_: str, name: str, says: str, outcome: Outcome, why: str, observed: list[str]) -> dict[str, Any]:
    """A finding; only what passed is satisfied, and the remark distinguishes unknown from failed."""
    remarks = printable(f"{outcome}{f': {why}' if why else ''}")
    state = "satisfied" if outcome is Outcome.PASSED else "not-satisfied"
    return {
        "uuid": id_,
        "title": printable(name),
        "description": printable(says),
        "target": {
            "type": "objective-id",
            "target-id": token(name),
            "status": {"state": state, "reason": _REASONS.get(outcome, "other"), "remarks": remarks},
        },
        **(
            {"related-observations": [{"observation-uuid": observation} for observation in observed]}
            if observed
            else {}
        ),
    }


def _of_judgement(judgement: Judgement, report: Report, day: str) -> dict[str, Any]:
    """The result of a profile, whose findings point at the observations of the bundles."""
    identity = canonical_bytes(
        [judgement.digest, [subject.manifest["receipts"]["root"] for subject in report.subjects]]
    )
    selected = [{"control-id": token(control.id)} for control in judgement.controls]
    return {
        "uuid": _uuid("profile", identity, day),
        "title": printable(f"profile {judgement.name}: {judgement.mark}"),
        "description": printable(judgement.doc or judgement.source),
        "start": day,
        "props": [_prop("specs-digest", judgement.digest), _prop("verdict", judgement.mark)],
        "reviewed-controls": {
            "control-selections": [{"description": printable(judgement.source), "include-controls": selected}]
        },
        **_risks([control for control in judgement.controls if control.mark == WAIVED], identity.decode(), day),
        "findings": [_of_control(control, report, identity, day) for control in judgement.controls],
    }


def _of_control(control: Control, report: Report, identity: bytes, day: str) -> dict[str, Any]:
    observed: list[str] = []
    why = "; ".join(part for part in (control.waiver_text, control.why) if part)
    for row in control.rows:
        if row.subject is not None:
            subject = report.subjects[row.subject]
            observed += [_observed(subject, check, day) for check in subject.checks if check.id == row.check]
    name, says = control.id, f"{control.section}: {control.says}"
    finding = _finding(_uuid("control", identity, control.id, day), name, says, control.outcome, why, observed)
    return finding | _waived(control if control.mark == WAIVED else None, identity.decode(), day)
