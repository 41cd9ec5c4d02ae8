"""A report from evidence: folds the receipts of each bundle once, by the reading of its kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from specledger.report.evidence import Evidence
from specledger.report.model import (
    Check,
    Replay,
    Report,
    ReportedKind,
    Subject,
    kind_of,
    malformed_receipts,
    receipts_of,
)
from specledger.report.outcome import Outcome
from specledger.report.profile_answers import Answers
from specledger.report.profile_joins import with_joins
from specledger.report.profile_rules import Question
from specledger.verify.checks import Level, Status

WHOLE: Final = "evidence"
"""The check that the bundle is intact."""


def from_evidence(
    evidence: Iterable[Evidence], kinds: Mapping[str, ReportedKind], questions: Sequence[Question] = ()
) -> Report:
    """The report of bundles of which no check failed; `questions` are those of a profile."""
    return Report(with_joins([read_subject(bundle, kinds, questions) for bundle in evidence], questions))


def read_subject(evidence: Evidence, kinds: Mapping[str, ReportedKind], questions: Sequence[Question] = ()) -> Subject:
    """What a bundle of which no check failed shows of each requirement; `questions` are those of a profile."""
    main, verified = evidence.specs.main, evidence.verification.checks
    answers = Answers(questions, main.name, evidence.kind, evidence.specs)
    result = evidence.manifest["result"]
    bundle = {
        **{"name": main.name, "kind": evidence.kind, "case": evidence.case},
        **{"verdict": result["verdict"], "result": result},
    }
    with malformed_receipts():
        reading = kind_of(evidence, kinds).read(evidence)
        for receipt in receipts_of(evidence):
            reading.add(receipt)
            answers.add(receipt)
        bundle["figures"] = answers.figures_of(result)
        checks = (*reading.checks(), *answers.checks(main.key, evidence.verification, bundle))
    passed = sum(check.status is Status.PASSED for check in verified)
    says = "files, chain, result and specs of the evidence are whole and fit each other"
    whole = Check(WHOLE, says, None, Outcome.PASSED, passed)
    names: dict[str, set[str]] = {}
    for spec in evidence.specs.specs.values():
        names.setdefault(spec.kind, set()).add(spec.name)
    return Subject(
        name=main.name,
        kind=evidence.kind,
        doc=main.model.doc or "",
        root=main.key,
        manifest=evidence.manifest,
        verification=tuple(
            {
                "number": verified_check.number,
                "name": verified_check.name,
                "status": verified_check.status.value,
                "message": verified_check.message or "",
            }
            for verified_check in verified
        ),
        checks=(whole, *checks),
        names={kind: sorted(known) for kind, known in sorted(names.items())},
        evidence=evidence,
        reading=reading,
        case=evidence.case,
        replay=_replay_of(evidence),
        shows=bundle,
    )


def _replay_of(evidence: Evidence) -> Replay:
    statuses = [check.status for check in evidence.verification.checks if check.level is Level.REPLAYED]
    if Status.PASSED in statuses:
        return Replay.DONE
    return Replay.OWN if evidence.own else Replay.NONE
