"""Writes a report as JSON, `specledger/report/v1`; its schema is `schemas/results/report.schema.json`.

The text is ASCII, so that nothing in it can control a terminal.
"""

from __future__ import annotations

from typing import Any

from msgspec import to_builtins

from specledger.core.canonical import pretty
from specledger.evidence.decided import challenges_of
from specledger.report.agent_metrics import totals
from specledger.report.control import Control, Judgement
from specledger.report.formats.output import DEFAULTS, Options, Output
from specledger.report.model import FORMAT, Check, Observation, Report, counted
from specledger.report.not_shown import not_shown
from specledger.report.outcome import WAIVED, Outcome


def write(report: Report, options: Options = DEFAULTS) -> Output:
    """The report as a JSON document."""
    return Output(pretty(document(report)))


def document(report: Report) -> dict[str, Any]:
    """The report as JSON values."""
    judgement = report.judgement
    return {
        "format": FORMAT,
        "subjects": [_subject(report, index) for index in range(len(report.subjects))],
        "outcomes": counted(mark for index in range(len(report.subjects)) for mark in report.marks(index)),
        "profile": None if judgement is None else _judgement(judgement),
        "not_shown": list(not_shown(report.subjects)),
    }


def _subject(report: Report, index: int) -> dict[str, Any]:
    subject, waivers = report.subjects[index], report.waivers(index)
    manifest = subject.manifest
    return {
        "name": subject.title,
        "kind": subject.kind,
        "doc": subject.doc,
        "root": subject.root,
        "verdict": subject.verdict.value,
        **({"challenges": challenges} if (challenges := challenges_of(subject.reading.results())) else {}),
        "replay": subject.replay.value,
        "evidence": {name: manifest[name] for name in ("run", "specs", "receipts", "engine")},
        "result": manifest["result"],
        "claims": [
            {"agent": agent, "probe": name, **counts["claims"]}
            for agent, sums in totals(subject.reading.agents()).items()
            for name, counts in sums["probes"].items()
            if "claims" in counts
        ],
        "verification": [dict(check) for check in subject.verification],
        "outcomes": counted(report.marks(index)),
        "checks": [_check(check, waivers.get(check.id)) for check in subject.checks],
        "figures": [dict(figure) for figure in subject.reading.figures],
        "specs": {kind: list(names) for kind, names in subject.names.items()},
    }


def _check(check: Check, control: Control | None) -> dict[str, Any]:
    fields = to_builtins(check)
    waived = {} if control is None else {"outcome": WAIVED, "waiver": _waiver(control, check.outcome)}
    return {
        **{name: value for name, value in fields.items() if name not in ("warning", "once", "joint")},
        "severity": "warning" if check.warning else "error",
        "observations": [_observation(observation) for observation in check.observations],
        **waived,
    }


def _observation(observation: Observation) -> dict[str, Any]:
    return {
        "what": observation.what,
        "detail": observation.detail,
        "place": {"run": observation.run, "episode": observation.episode, "t": observation.t},
        "receipt": {"seq": observation.seq, "digest": observation.digest},
    }


def _judgement(judgement: Judgement) -> dict[str, Any]:
    return {
        **to_builtins(judgement),
        "verdict": judgement.mark,
        "outcomes": counted(control.mark for control in judgement.controls),
        "controls": [_control(control) for control in judgement.controls],
    }


def _control(control: Control) -> dict[str, Any]:
    fields = to_builtins(control)
    ran = fields.pop("ran")
    rows = [{name: value for name, value in row.items() if name != "joint"} for row in fields.pop("rows")]
    tests = [{"test": name, "outcome": outcome} for name, outcome in zip(control.tests, ran, strict=True)]
    waiver = None if control.waiver is None else to_builtins(control.waiver)
    if control.mark == WAIVED:
        waiver = _waiver(control, control.outcome)
    return {**fields, "outcome": control.mark, "evidence": rows, "tests": tests, "waiver": waiver}


def _waiver(control: Control, outcome: Outcome) -> dict[str, Any]:
    """An active waiver with the control that has it and the outcome for which it stands."""
    return {**to_builtins(control.waiver), "control": control.id, "waives": outcome.value}
