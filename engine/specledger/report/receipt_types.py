"""The types of receipts: by kind of evidence and type of receipt, the fields that a body has.

The expressions of profiles are checked against them. What a world, a governor, a ranking or a law decides is `dyn`, and
so is what may be null.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from specledger.evidence.result import STATUSES
from specledger.expr import BOOL, DYN, INT, STRING, ListType, MapType, RecordType, Type
from specledger.gates.documents import document_type
from specledger.oracles.spending import SPENT

ReceiptTypes = Mapping[str, RecordType]
"""By the type of a receipt the type of its body."""


def _record(fields: Mapping[str, Type], name: str = "") -> RecordType:
    """A record; the key of an optional field ends with `?`."""
    optional = {field[:-1] for field in fields if field.endswith("?")}
    return RecordType(name, {field.removesuffix("?"): type_ for field, type_ in fields.items()}, frozenset(optional))


def _all(kinds: Mapping[str, Mapping[str, Type]]) -> dict[str, RecordType]:
    return {name: _record(fields, name) for name, fields in kinds.items()}


def _list(fields: Mapping[str, Type]) -> ListType:
    return ListType(_record(fields))


_NAMES: Final = ListType(STRING)
_COUNTS: Final = MapType(INT)
_ANY: Final = MapType(DYN)
_PLACE: Final[Mapping[str, Type]] = {"episode": INT, "t": INT}
_DECIDED: Final = {**_PLACE, "agent?": STRING}
_CHANGES: Final = MapType(_record({"from": DYN, "to": DYN}))
_REBASES: Final = _list({"agent?": STRING, "potential": STRING, "cause": STRING, "from": INT, "to": INT})
_BREACHES: Final = _list({"invariant": STRING, "severity": STRING, "witness": DYN})
_ASKED: Final = _record({"asked": INT, "changed": INT})
_PLACEBO: Final = _record({"asked": INT, "changed": INT, "variables?": _NAMES})
_TRIAL: Final[Mapping[str, Type]] = {
    **{"variable": STRING, "value": DYN, "predicted": STRING, "edit?": DYN, "after": DYN, "held": DYN},
    **{"declared?": STRING, "reason?": STRING, "direction?": STRING, "by?": STRING, "confidence?": INT},
    **{"drawn?": INT, "miss?": STRING, "procedure?": STRING},
}
_OFFERED: Final[Mapping[str, Type]] = {
    **{"does?": STRING, "breaches?": STRING, "plain?": INT, "paid?": INT, "taken?": BOOL, "denied?": DYN},
    "reasons?": _NAMES,
}
_CHALLENGED: Final[Mapping[str, Type]] = {
    **{"of?": STRING, "before?": STRING, "trials?": _list(_TRIAL), "null?": _ASKED, "placebo?": _PLACEBO},
    **{"answers?": STRING, "revealed?": BOOL, "restated?": BOOL, "deterministic?": BOOL, "unread?": INT},
    "explanation?": _record({"here": STRING, "asked": INT, "changed": INT}),
    "noisy?": _record({"repeats": INT, "same": INT}),
    "test?": _record({"looks": INT, "made": INT, "p": INT}),
    "trace?": _record({"equal": INT, "nodes": INT, "ends": BOOL}),
}


def run_types() -> ReceiptTypes:
    """The receipts of a run of a scenario."""
    made = _all(
        {
            "start": {
                **{"scenario": STRING, "specs": STRING, "seed": INT, "episodes": INT, "horizon": INT},
                "gates": _NAMES,
                "invariants": _list({"name": STRING, "scope": STRING, "severity": STRING}),
                "drifts": _list({"drift": STRING, "schedule": ListType(INT)}),
                **{"expect?": _ANY, "commit?": STRING, "audit?": _record({"mode": STRING, "head": STRING})},
                **{"agent_faults?": DYN, "agents?": _NAMES, "turns?": STRING},
            },
            "episode": {
                **{"episode": INT, "state": DYN, "digest": STRING, "opening": _ANY, "world": STRING},
                **{"parts": MapType(STRING), "monitors?": _ANY, "drawn?": _ANY},
            },
            "drift": {
                **_PLACE,
                **{"drift": STRING, "drawn": _ANY, "changed": _CHANGES, "rebases": _REBASES},
                **{"before": STRING, "after": STRING},
            },
            "probe": {
                **_DECIDED,
                **{"probe": STRING, "at": STRING, "verdict": STRING, "cause": STRING},
                "evidence": _record({**_OFFERED, **_CHALLENGED}, "evidence"),
            },
            "commit": {**_DECIDED, "observation": STRING, "root": STRING, "proposals": ListType(DYN)},
            "step": {
                **_DECIDED,
                **{"before": STRING, "after": STRING, "chosen": DYN, "chosen_hash": DYN, "token": DYN},
                "decisions": _list(
                    {"rejected": _list({"gate": STRING, "reason": STRING, "witness": DYN}), "error": DYN}
                ),
                **{"cost": DYN, "inputs": _ANY, "record": DYN, "success": BOOL, "violations": _BREACHES},
                **{"parts": _ANY, "potentials": _CHANGES, "rebases": _REBASES, "monitors?": _ANY},
                "fault?": STRING,
                "chance?": _record({"drawn": _ANY, "changed": _CHANGES}, "chance"),
            },
            "error": {**_PLACE, "code": STRING, "expression": DYN, "offset": DYN},
            "episode_end": {
                **{"episode": INT, "steps": INT, "ended": STRING, "success": BOOL, "first_success": DYN},
                **{"violations": _BREACHES, "idle": _COUNTS, "gates": _COUNTS, "state": STRING},
                **{"faults?": ListType(_ANY), "unread?": _COUNTS},
                **{"spent?": _record({f"{name}?": INT for name in SPENT}, "spent")},
            },
            "end": {"episodes": INT, "steps": INT, "gates": _COUNTS},
        }
    )
    return {**made, "audit": document_type("audit_entry")}


_RESULT: Final = _record(
    {
        **dict.fromkeys(("episodes", "successes", "steps", "proposals", "drifts", "checks", "errors"), INT),
        **dict.fromkeys(("rejections", "violations", "warnings"), _COUNTS),
        **{
            "verdict": STRING,
            "agents?": MapType(_COUNTS),
            "probes?": MapType(_COUNTS),
            "claims?": MapType(_COUNTS),
            "status?": STRING,
            "met?": BOOL,
        },
    },
    "result",
)
_RANGE: Final = _record({"low": INT, "high": INT})
_SEEN: Final = _list({"run": STRING, "episode": INT})


def suite_types() -> ReceiptTypes:
    """The receipts of a suite."""
    return _all(
        {
            "start": {
                **{"suite": STRING, "specs": STRING, "runs": INT},
                **{"figures": _NAMES, "checks": _NAMES, "mutants": _NAMES, "allowed": MapType(MapType(INT))},
            },
            "run": {
                **{"place": STRING, "run": STRING, "arm": STRING, "scenario": STRING, "seed": INT, "specs": STRING},
                "receipts": _record({"count": INT, "head": STRING, "root": STRING}),
                "result": _RESULT,
                "replay": _record({"intact": BOOL, "exact": BOOL, "noticed": BOOL, "compared": INT}),
            },
            "figure": {
                **{"figure": STRING, "statistic": STRING, "clusters": STRING, "error": DYN},
                "groups": _list(
                    {
                        **{"name?": STRING, "of": INT, "value?": INT, "count?": INT, "sum?": INT, "bound?": INT},
                        **{"case?": MapType(DYN), "clusters?": INT, "undecided?": INT},
                        **{"wilson?": _RANGE, "exact?": _RANGE, "cluster?": _RANGE, "held?": _SEEN, "failed?": _SEEN},
                    }
                ),
            },
            "check": {
                **{"check": STRING, "verdict": STRING, "opportunities": INT, "least": INT},
                **{"witness": _ANY, "error": DYN},
            },
            "mutant": {
                **{"mutant": STRING, "suite": STRING, "caught": _NAMES, "verdict": STRING},
                **{"control": MapType(STRING), "mutated": MapType(STRING)},
            },
            "end": {"runs": INT, "checks": INT, "mutants": INT},
        }
    )


_VERDICT: Final = _record(
    {
        **dict.fromkeys(("status", "method", "law", "key", "universe", "template"), STRING),
        **dict.fromkeys(("claim", "forbidden", "contract"), STRING),
        **dict.fromkeys(("reason", "proved_for", "up_to", "certificate", "counterexample", "content"), DYN),
        **{"power": DYN, "violation_bound": DYN, "detail": DYN, "work": INT},
    },
    "verdict",
)


def law_types() -> ReceiptTypes:
    """The receipts of the trial of a law."""
    return _all(
        {
            "start": {
                **{"kind": STRING, "law": STRING, "digest": STRING, "specs": STRING, "universe": STRING},
                **{"template": STRING, "seed": INT, "warnings": _NAMES},
            },
            "cases": {"digest": STRING, "count": INT, "families": _COUNTS},
            "verdict": {"verdict": _VERDICT, "digest": STRING, "expected": DYN},
            "end": {"status": STRING, "met": DYN},
        }
    )


_TRIED: Final[Mapping[str, Type]] = {"law": STRING, "document": DYN, "verdict": DYN, "digest": DYN, "error": DYN}


def discovery_types() -> ReceiptTypes:
    """The receipts of a discovery."""
    usage = _record({"prompt_tokens": INT, "output_tokens": INT, "thinking_tokens": INT, "estimated": BOOL})
    match: Mapping[str, Type] = {"law": STRING, "matched_law_id": STRING, "match_type": STRING, "details": STRING}
    refuted: Mapping[str, Type] = {"law": STRING, "claim": STRING, "iteration": INT, "start": STRING}
    return _all(
        {
            "start": {
                **{"kind": STRING, "discovery": STRING, "specs": STRING, "universe": STRING, "prompt": STRING},
                **{"ranking": STRING, "templates": _NAMES, "iterations": INT, "lag": INT, "seed": INT},
                "model": _record({"spec": STRING, "identity": _ANY}),
            },
            "iteration": {
                **{"iteration": INT, "snapshot": STRING, "request": STRING, "warnings": _NAMES},
                "prompt": _record({"key": STRING, "digest": STRING, "tokens": INT, "dropped": _COUNTS}),
                "answer": _record({"digest": STRING, "failure": DYN, "finish": DYN, "usage": usage}),
                "rejections": _list({"object": DYN, "reason": STRING}),
                "redundant": _list({**match, "similarity": INT}),
                "sensitivity": _list({"factor": STRING, "changes": BOOL, "law": DYN, "at": DYN}),
            },
            "law": {
                **_TRIED,
                **{"iteration": INT, "number": INT, "late": DYN},
                "features": _record({"overall": INT, "scores": _COUNTS}),
            },
            "escalation": {**_TRIED, "before": STRING, "held_out": ListType(DYN)},
            "stop": {"iterations": INT, "reason": STRING},
            "ledger": {"refuted": _list({**refuted, "t": INT, "cells": INT})},
            "expected": {"law": STRING, "key": STRING, "status": STRING, "found": DYN},
            "end": {
                **{"iterations": INT, "evaluations": INT, "late": INT, "escalations": INT, "tokens": INT},
                **{"memory": STRING, "laws": _record(dict.fromkeys(STATUSES, INT))},
            },
        }
    )
