"""Evidence of a law: its verdict, and the certificate or the counterexample that the verdict rests on.

Neither check needs the prover or the test harness. Only replay shows that a sample is as recorded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from msgspec import Struct

from specledger.core.canonical import NotCanonical
from specledger.core.diagnostics import Rejected, code
from specledger.core.events import Event
from specledger.evidence.receipts import typed
from specledger.expr import EvaluationError
from specledger.load import Bundle
from specledger.verify.check_names import CheckName
from specledger.verify.checks import E_ENDS, E_REPLAY, Broken, Lacking, Verification, equal, misformed, require_equal
from specledger.verify.judged import Count
from specledger.verify.kind import Checked, EvidenceKind, Resources
from specledger.verify.rebuilding import invalid
from specledger.verify.replay import compare, make_again
from specledger.wings.laws.compile import compile_law
from specledger.wings.laws.law import Law, LawPlan
from specledger.wings.laws.law_question import questions_of, within_range
from specledger.wings.laws.proofs.question import Opaque, facts
from specledger.wings.laws.receipts import Judged, LawStatus
from specledger.wings.laws.receipts import Verdict as VerdictBody
from specledger.wings.laws.result import LAW as LAW_RECEIPTS
from specledger.wings.laws.trial import meets, run_law
from specledger.wings.laws.verdict import REASONS, digest_verdict
from specledger.wings.laws.verify.certificates import InvalidCertificate, check_certificate
from specledger.wings.laws.verify.violation import check_counterexample, check_proved

E_VERDICT = code("E_VERDICT", "a verdict on a law does not fit its law or itself")
E_CERTIFICATE = code("E_CERTIFICATE", "a certificate does not prove its law")
E_COUNTEREXAMPLE = code("E_COUNTEREXAMPLE", "a counterexample does not violate its law")

VERDICT: Final = CheckName("the verdict matches its law and is consistent", 10)
CERTIFICATE: Final = CheckName("the certificate proves the law", 11)
COUNTEREXAMPLE: Final = CheckName("the counterexample violates the law when evolved again", 12)
CHECKS: Final = (VERDICT, CERTIFICATE, COUNTEREXAMPLE)

NO_SCENARIO: Final = "the second evaluator judges expressions of scenarios, not verdicts on laws"

_ORDERS: Final = (("start", "cases", "verdict", "end"), ("start", "verdict", "end"))


class LawOrder:
    """The receipts of a law: `start`, `cases` unless there are none, `verdict`, `end`."""

    def __init__(self) -> None:
        self._seen: tuple[str, ...] = ()

    def add(self, type_: str, body: Mapping[str, Any]) -> None:
        """Take one receipt."""
        self._seen += (type_,)
        if not any(order[: len(self._seen)] == self._seen for order in _ORDERS):
            raise Broken(E_ENDS, f"{type_!r} has no place here")


class LawContent(Struct, frozen=True):
    """A law that compiles again, with the receipts that state its verdict."""

    checked: Checked[LawOrder, Any]
    specs: Bundle
    plan: LawPlan
    bodies: Mapping[str, Mapping[str, Any]]

    def check(self, verification: Verification, obstacle: str | None) -> LawContent:
        """Check the verdict, and the certificate and the counterexample if it has them."""
        law, verdict = self.plan.law, typed(Judged, self.bodies["verdict"])["verdict"]
        verification.attempt(VERDICT, self._check_verdict)
        if verdict["certificate"] is not None:
            verification.attempt(CERTIFICATE, partial(check_proof, law, verdict))
        if verdict["counterexample"] is not None:
            verification.attempt(COUNTEREXAMPLE, partial(check_refutation, law, verdict["counterexample"]))
        return self

    def _check_verdict(self) -> str:
        try:
            return self._compare()
        except (NotCanonical, KeyError, TypeError, AttributeError) as error:
            raise Broken(E_VERDICT, f"the verdict is malformed: {misformed(error)}") from None

    def _compare(self) -> str:
        plan, receipt, end = self.plan, typed(Judged, self.bodies["verdict"]), self.bodies["end"]
        verdict = receipt["verdict"]
        expected = None if plan.expected is None else dict(plan.expected)
        check_about(plan.law, verdict)
        require_equal(receipt, {"digest": digest_verdict(verdict), "expected": expected}, "the verdict", E_VERDICT)
        require_equal(end, {"status": verdict["status"], "met": meets(verdict, expected)}, "the end", E_VERDICT)
        return str(verdict["status"])

    def replay(self) -> str:
        """Compare every receipt."""
        events = make_again(lambda _: run_law(self.plan), self.specs.digest)
        return f"{compare(events, self.checked.receipts.lines())} receipts"

    def judge(self, obstacle: str | None) -> Count:
        """Say that verdicts on laws are not judged."""
        raise Lacking(NO_SCENARIO)


def compile_law_again(checked: Checked[LawOrder, Any], specs: Bundle, resources: Resources) -> LawContent:
    """Compile the recorded specs."""
    bodies = dict(checked.receipts.contents())
    try:
        plan = compile_law(specs)
    except Rejected as rejected:
        raise invalid(rejected) from None
    check_stated(bodies["start"], next(run_law(plan)), without=("warnings",))
    return LawContent(checked, specs, plan, bodies)


def check_stated(recorded: Mapping[str, Any], start: Event, without: Sequence[str] = ()) -> None:
    """Check that the first receipt states what the specs say, but for fields that versions state in other ways."""
    wanted = {name: value for name, value in start.body.items() if name not in without}
    require_equal({**dict.fromkeys(wanted), **recorded}, wanted, "the first receipt", E_REPLAY)


def check_about(law: Law, verdict: VerdictBody) -> None:
    """Check that a verdict is about a law, and that its status has the evidence that it needs."""
    about = {
        "law": law.name,
        "key": law.key,
        "universe": law.universe.key,
        "template": law.template.name,
        "claim": law.said,
        "forbidden": law.forbidden,
        "contract": law.contract,
    }
    require_equal(verdict, about, "the verdict", E_VERDICT)
    power: Any = verdict["power"]
    if (
        verdict["status"] == LawStatus.PASS
        and verdict["certificate"] is None
        and not (power["usable"] and power["hits"])
    ):
        raise Broken(E_VERDICT, "the law has passed without a usable case that hits it")
    _rests(verdict)


def check_proof(law: Law, verdict: VerdictBody) -> str:
    """Check that the certificate in a verdict proves what the law asks, and no more than the verdict says.

    That the question is the law's own is no matter of belief alone: no short ring may violate a law that is proved.
    """
    certificate: Any = verdict["certificate"]
    questions = [
        asked for question in questions_of(law) for asked in (question.question, within_range(question.question, law))
    ]
    if not questions:
        raise Broken(E_CERTIFICATE, "the law asks nothing that could be proved")
    about = certificate.get("question") if isinstance(certificate, dict) else None
    asked = next((question for question in questions if equal(about, facts(question))), questions[0])
    holds = asked.claim.holds if isinstance(asked.claim, Opaque) else None
    try:
        up_to = check_certificate(certificate, facts(asked), holds)
        check_proved(law, up_to)
    except InvalidCertificate as invalid:
        raise Broken(E_CERTIFICATE, str(invalid)) from None
    except EvaluationError as error:
        raise Broken(E_CERTIFICATE, f"the claim cannot be judged: {error.message}") from None
    if up_to != verdict["up_to"] or (up_to is not None and verdict["status"] == LawStatus.PROVED):
        raise Broken(E_CERTIFICATE, f"it proves the law {_reach(up_to)}, the verdict says otherwise")
    if verdict["proved_for"] != asked.contract:
        raise Broken(E_CERTIFICATE, f"it is about {asked.contract}, the verdict says otherwise")
    return f"proved {_reach(up_to)}"


def check_refutation(law: Law, recorded: Any) -> str:
    """Check that a counterexample violates a law when it is evolved again."""
    try:
        check_counterexample(law, recorded)
    except InvalidCertificate as invalid:
        raise Broken(E_COUNTEREXAMPLE, str(invalid)) from None
    except (NotCanonical, LookupError, TypeError, AttributeError, ValueError) as error:
        raise Broken(E_COUNTEREXAMPLE, f"it is malformed: {misformed(error)}") from None
    return f"violated at step {recorded['t']}"


def _rests(verdict: VerdictBody) -> None:
    """Check that a status has the evidence that it needs."""
    status, reason, method = verdict["status"], verdict["reason"], verdict["method"]
    if (
        status not in (*LawStatus,)
        or (status == LawStatus.UNKNOWN) != (reason is not None)
        or reason not in (None, *REASONS)
    ):
        raise Broken(E_VERDICT, f"{status!r} has the reason {reason!r}")
    if (status == LawStatus.FAIL) != (verdict["counterexample"] is not None):
        raise Broken(E_VERDICT, f"{status} and its counterexample do not go together")
    if status == LawStatus.PROVED and (method != "proof" or verdict["certificate"] is None):
        raise Broken(E_VERDICT, "PROVED rests on no certificate")
    if status == LawStatus.FAIL and verdict["certificate"] is not None:
        raise Broken(E_VERDICT, "FAIL has a certificate that the law holds")


def _reach(up_to: int | None) -> str:
    return "for every admitted ring" if up_to is None else f"up to {up_to} cells"


LAW: Final = EvidenceKind(LAW_RECEIPTS, LawOrder, compile_law_again, checks=(VERDICT,))
