"""How the receipts of each kind become checks: one reading a kind, in one pass over the lines of a bundle.

Decides which requirements a kind of evidence speaks of, and what of its receipts shows each. Refuses to know what is
written of them. A new kind of evidence has one class and one row of `READINGS`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, Protocol

from specledger.core.diagnostics import Diagnostic, Rejected
from specledger.core.verdict import Verdict
from specledger.discovery.plan import KIND as DISCOVERY
from specledger.evidence.layout import SCENARIO, SUITE
from specledger.evidence.result import OUTCOMES
from specledger.laws.trial import KIND as LAW
from specledger.load import Bundle
from specledger.report.codes import E_REPORT_KIND, E_REPORT_RECEIPTS
from specledger.report.discovery_reading import DiscoveryReading
from specledger.report.evidence import Evidence
from specledger.report.markup import shorten
from specledger.report.observations import Seen, number, text
from specledger.report.profile_rules import Answers, Question
from specledger.report.results import LONGEST, OF_VERDICT, Check, Outcome, Subject, told
from specledger.report.run_reading import EVALUATION, RunReading
from specledger.spec.suite import Suite
from specledger.verify.checks import Status

Body = Mapping[str, Any]

WHOLE: Final = "evidence"
"""The check that the bundle is whole, which was made before anything is told of it."""


class Reading(Protocol):
    """Reads the receipts of one bundle, then says what they show."""

    @property
    def figures(self) -> Sequence[Body]:
        """Of a suite the bodies of its `figure` receipts."""

    def add(self, seq: int, line: bytes) -> None:
        """Take one receipt."""

    def checks(self) -> Iterator[Check]:
        """What was found of each requirement."""


class _Suite:
    """The receipts of a suite: its checks and mutants, and that its own runs had no errors."""

    def __init__(self, specs: Bundle) -> None:
        self._specs = specs
        self._seen = Seen()
        self._checks: list[Check] = []
        self._own = self._runs = 0
        self.figures: list[Body] = []
        model = specs.main.model
        assert isinstance(model, Suite)  # noqa: S101 - a suite's specs are a suite
        self._says = {check.id: check.doc or check.require for check in model.checks}

    def add(self, seq: int, line: bytes) -> None:
        type_, body = self._seen.take(seq, line)
        if type_ == "start":
            self._own = number(body["runs"])
        elif type_ == "run" and self._runs < self._own:
            self._runs += 1
            if number(body["result"]["errors"]):
                self._seen.note(EVALUATION, "errors", body["result"]["errors"], body)
        elif type_ == "figure":
            self.figures.append(body)
        elif type_ == "check":
            self._checks.append(self._check(body))
        elif type_ == "mutant":
            self._checks.append(self._mutant(body))

    def _check(self, body: Body) -> Check:
        id_, verdict = f"check/{text(body['check'])}", Verdict(body["verdict"])
        error, could = body["error"], number(body["opportunities"])
        shown = body["witness"] if error is None else error
        self._seen.note(id_, verdict.value, shown, {})
        why = "" if could or verdict is not Verdict.INCONCLUSIVE else "it had no opportunity to fail"
        why = f"{text(error['code'])}: {told(error['expression'])}" if error is not None else why
        return Check(
            id_,
            self._says.get(body["check"], id_),
            self._specs.main.key,
            OF_VERDICT[verdict],
            verdict is Verdict.ERROR,
            False,
            could,
            int(verdict is Verdict.FAIL),
            shorten(why, LONGEST),
            **self._seen.of(id_),
            once=True,
        )

    def _mutant(self, body: Body) -> Check:
        id_, verdict = f"mutant/{text(body['mutant'])}", Verdict(body["verdict"])
        caught = ", ".join(body["caught"])
        self._seen.note(id_, f"caught by {caught}" if caught else "not caught", body["control"], {})
        says = f"a check of {text(body['suite'])} notices that this is switched off or changed"
        outcome, failed = OF_VERDICT[verdict], int(verdict is Verdict.FAIL)
        error, seen = verdict is Verdict.ERROR, self._seen.of(id_)
        return Check(id_, says, self._specs.main.key, outcome, error, False, 1, failed, "", **seen)

    def checks(self) -> Iterator[Check]:
        yield from self._checks
        errors = self._seen.count[EVALUATION]
        outcome = Outcome.CANNOT_TELL if errors else Outcome.PASSED if self._runs else Outcome.NOT_APPLICABLE
        why = "" if self._runs else "it has no runs of its own"
        says, seen = "everything in the suite's own runs can be evaluated", self._seen.of(EVALUATION)
        yield Check(EVALUATION, says, None, outcome, errors > 0, False, self._runs, 0, why, **seen)


class _Law:
    """The receipts of a law's trial: one check, the law, with what its verdict rests on."""

    figures: Sequence[Body] = ()

    def __init__(self, specs: Bundle) -> None:
        self._specs = specs
        self._seen = Seen()
        self._verdict: Body = {}
        self._expected: Body | None = None
        self._met: bool | None = None
        self._cases = 0

    def add(self, seq: int, line: bytes) -> None:
        type_, body = self._seen.take(seq, line)
        if type_ == "cases":
            self._cases = number(body["count"])
        elif type_ == "verdict":
            self._verdict, self._expected = body["verdict"], body["expected"]
            found = self._verdict["counterexample"]
            rest = self._verdict["power"] if found is None else {key: found[key] for key in ("start", "t")}
            at = {} if found is None else {"t": found["t"]}
            self._seen.note("law", self._status(self._verdict), rest, at)
        elif type_ == "end":
            self._met = body["met"]

    @staticmethod
    def _status(verdict: Body) -> str:
        status, reason = str(verdict["status"]), verdict.get("reason")
        return status if reason is None else f"{status} ({reason})"

    def checks(self) -> Iterator[Check]:
        main, verdict = self._specs.main, self._verdict
        judged = OUTCOMES[verdict["status"]]
        if self._met is not None:
            judged = Verdict.PASS if self._met is True else Verdict.FAIL
        wanted = "" if self._expected is None else f", expected was {self._status(self._expected)}"
        why = f"{self._status(verdict)}{wanted}"
        outcome, failed = OF_VERDICT[judged], int(judged is Verdict.FAIL)
        says = f"{main.model.doc or main.name}: {verdict['claim']}"
        id_, could = f"law/{main.name}", self._cases or int(verdict["status"] == "PROVED")
        seen = self._seen.of("law")
        words = shorten(says, LONGEST)
        yield Check(id_, words, main.key, outcome, False, False, could, failed, why, once=True, **seen)


READINGS: Final[Mapping[str, Callable[[Bundle], Reading]]] = {
    SCENARIO: RunReading,
    SUITE: _Suite,
    LAW: _Law,
    DISCOVERY: DiscoveryReading,
}
"""By the kind of evidence how its receipts are read."""


def read_subject(evidence: Evidence, questions: Sequence[Question] = ()) -> Subject:
    """What a bundle shows of each requirement.

    Args:
        evidence: Of which no check failed.
        questions: What a profile asks beyond that.

    Raises:
        Rejected: E_REPORT_KIND, for a kind that has no checks; E_REPORT_RECEIPTS.
    """
    if evidence.kind not in READINGS:
        raise Rejected([Diagnostic(E_REPORT_KIND, f"this is the evidence of a {evidence.kind}")])
    main = evidence.specs.main
    reading = READINGS[evidence.kind](evidence.specs)
    answers = Answers(questions, main.name, evidence.kind)
    try:
        for seq, line in enumerate(evidence.receipts.lines()):
            reading.add(seq, line)
            answers.add(seq, line)
        checks = (*reading.checks(), *answers.checks(main.key, evidence.verification))
    except (KeyError, TypeError, IndexError, AttributeError, ValueError) as error:
        raise Rejected([Diagnostic(E_REPORT_RECEIPTS, f"they cannot be told: {error!r}")]) from None
    verified = evidence.verification.checks
    passed = sum(check.status is Status.PASSED for check in verified)
    says = "files, chain, result and specs of the evidence are whole and fit each other"
    whole = Check(WHOLE, says, None, Outcome.PASSED, False, False, passed, 0, "")
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
            {"number": one.number, "name": one.name, "status": one.status.value, "message": one.message or ""}
            for one in verified
        ),
        checks=(whole, *checks),
        figures=tuple(reading.figures),
        names={kind: sorted(found) for kind, found in sorted(names.items())},
    )
