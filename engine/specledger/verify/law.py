"""The verification of a law's evidence: the chain, then the verdict by what it rests on, then replay.

Decides that a recorded proof proves what the recorded specs ask, and that a recorded counterexample violates what they
claim. Neither needs the prover or the harness; whether a sample was as recorded, only replay can tell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from specledger.compile.law import compile_law
from specledger.core.canonical import NotCanonical, canonical_bytes
from specledger.core.diagnostics import Rejected, code
from specledger.evidence.law_result import LawTally
from specledger.evidence.layout import RECEIPTS
from specledger.expr import EvaluationError
from specledger.laws.generators import digest_cases, make_cases
from specledger.laws.law import Law, LawPlan
from specledger.laws.law_question import question_of, within_range
from specledger.laws.proofs import Opaque, facts
from specledger.laws.trial import KIND, meets, run_law
from specledger.laws.verdict import REASONS, STATUSES, digest_verdict
from specledger.load import Bundle
from specledger.verify.bundle import Verifier
from specledger.verify.certificates import InvalidCertificate, check_certificate
from specledger.verify.checks import E_ENDS, E_SPECS, Broken, Verification
from specledger.verify.judge_law import Work, judge_law
from specledger.verify.judged import Count, summary
from specledger.verify.law_cel import SpokenLaw
from specledger.verify.receipts import Receipts
from specledger.verify.reference import Reference, Unjudged
from specledger.verify.universe_cel import Ring, SpokenUniverse
from specledger.verify.violation import check_counterexample, check_proved

E_VERDICT = code(
    "E_VERDICT",
    "a verdict on a law does not fit its law or itself",
    "A verdict names the law, the universe, the claim and the contract of the recorded specs. PROVED rests on a "
    "certificate, FAIL on a counterexample, UNKNOWN on a reason; the digest, the status at the end and whether the "
    "expectation was met follow from the verdict.",
)
E_CERTIFICATE = code(
    "E_CERTIFICATE",
    "a certificate does not prove its law",
    "The certificate in a verdict is checked again, without a prover, against the question that the recorded specs "
    "ask: the rule, the rings, the starts and the claim. The law is also tried on a few short rings, evolved cell by "
    "cell. The message says what does not fit.",
)
E_COUNTEREXAMPLE = code(
    "E_COUNTEREXAMPLE",
    "a counterexample does not violate its law",
    "The recorded start is evolved again, cell by cell. It must be a start of the law, meet its preconditions, and "
    "violate the claim at the recorded step and at none before; the excerpt and the observables must be what is seen.",
)

_ORDERS: Final = (("start", "cases", "verdict", "end"), ("start", "verdict", "end"))


class LawOrder:
    """The receipts of a law: `start`, `cases` unless there are none, `verdict`, `end`."""

    def __init__(self) -> None:
        """Begin before the first receipt."""
        self._seen: tuple[str, ...] = ()

    def add(self, type_: str, body: Mapping[str, Any]) -> None:
        """Take one receipt.

        Raises:
            Broken: It is out of order.
        """
        self._seen += (type_,)
        if not any(order[: len(self._seen)] == self._seen for order in _ORDERS):
            raise Broken(E_ENDS, f"{type_!r} has no place here")


class LawVerifier(Verifier):
    """Makes the checks of a law's bundle."""

    kind = KIND
    further = ()

    def _verify(self) -> Verification:
        self._plan: LawPlan | None = None
        self._bodies: dict[str, Mapping[str, Any]] = {}
        return super()._verify()

    def _make_further(self) -> None:
        self._make("the verdict is about the law of the specs, and fits itself", self._check_verdict)
        document = self._bodies.get("verdict", {}).get("verdict")
        held = document if isinstance(document, dict) else {}
        if held.get("certificate") is not None:
            self._make("the certificate proves what the specs ask", self._check_certificate)
        if held.get("counterexample") is not None:
            self._make("the counterexample violates the law when it is evolved again", self._check_counterexample)

    def _open_receipts(self) -> Receipts:
        return Receipts(self.place / RECEIPTS, self.manifest["run"], LawOrder(), LawTally(), listen=self._keep)

    def _keep(self, type_: str, body: Mapping[str, Any]) -> None:
        self._bodies[type_] = body

    def compile(self, bundle: Bundle) -> None:
        """Compile the law again.

        Raises:
            Broken: E_SPECS, if it does not compile.
        """
        try:
            plan = compile_law(bundle)
        except Rejected as rejected:
            message = f"the recorded specs are invalid: {rejected.diagnostics[0].message}"
            raise Broken(E_SPECS, message) from None
        self._plan = plan
        self.make = lambda progress: run_law(plan)

    def _check_judged(self) -> str:
        assert self.bundle is not None  # noqa: S101 - set by an earlier check
        law, specs, main, count = self._law(), self.bundle.specs, self.bundle.main, Count()
        universe = SpokenUniverse(Reference(), specs[main.refs["universe",]])
        verdict = self._bodies["verdict"]["verdict"]
        judge_law(lambda: SpokenLaw(universe, law, main), verdict, self._cases, count, Work(), f"law {law.name}")
        return summary(count, self.verification)

    def _cases(self) -> Sequence[Ring]:
        """The cases that were recorded.

        Raises:
            Unjudged: Those that the law leads to are others.
        """
        law = self._law()
        cases = make_cases(law)
        if self._bodies.get("cases", {}).get("digest") != digest_cases(law.universe, cases):
            raise Unjudged("its cases are not those that are recorded")
        return [case.cells for case in cases]

    def _law(self) -> Law:
        assert self._plan is not None  # noqa: S101 - set by an earlier check
        return self._plan.law

    def _check_verdict(self) -> str:
        assert self._plan is not None  # noqa: S101 - set by an earlier check
        try:
            return self._compare(self._plan)
        except (NotCanonical, KeyError, TypeError, AttributeError) as error:
            raise Broken(E_VERDICT, f"the verdict is not what it must be: {error!r}") from None

    def _compare(self, plan: LawPlan) -> str:
        body = self._bodies["verdict"]
        verdict, end = body["verdict"], self._bodies["end"]
        expected = None if plan.expected is None else dict(plan.expected)
        check_about(plan.law, verdict)
        _check_same(
            ("its digest", body["digest"], digest_verdict(verdict)),
            ("what is expected", body["expected"], expected),
            ("the status at the end", end["status"], verdict["status"]),
            ("whether the expectation was met", end["met"], meets(verdict, expected)),
        )
        return str(verdict["status"])

    def _check_certificate(self) -> str:
        return check_proof(self._law(), self._bodies["verdict"]["verdict"])

    def _check_counterexample(self) -> str:
        return check_refutation(self._law(), self._bodies["verdict"]["verdict"]["counterexample"])


def check_about(law: Law, verdict: Mapping[str, Any]) -> None:
    """See that a verdict is about a law, and that its status rests on what it must rest on.

    Raises:
        Broken: E_VERDICT.
        NotCanonical, KeyError, TypeError: It is no verdict.
    """
    about = {
        "law": law.name,
        "key": law.key,
        "universe": law.universe.key,
        "template": law.template.name,
        "claim": law.said,
        "forbidden": law.forbidden,
        "contract": law.contract,
    }
    _check_same(*((f"its {key}", verdict[key], value) for key, value in about.items()))
    power = verdict["power"]
    if verdict["status"] == "PASS" and verdict["certificate"] is None and not (power["usable"] and power["hits"]):
        raise Broken(E_VERDICT, "the law is said to have passed, though no case says anything about it")
    _rests(verdict)


def check_proof(law: Law, verdict: Mapping[str, Any]) -> str:
    """See that the certificate in a verdict proves what the law asks, and no more than the verdict says.

    That the question is the law's own is no matter of belief alone: no short ring may violate a law that is proved.

    Returns:
        How far it reaches, in words.

    Raises:
        Broken: E_CERTIFICATE.
    """
    question = question_of(law)
    certificate = verdict["certificate"]
    if question is None:
        raise Broken(E_CERTIFICATE, "the law asks nothing that could be proved")
    ranged = within_range(question, law)
    about = certificate.get("question") if isinstance(certificate, dict) else None
    asked = ranged if _same(about, facts(ranged)) else question
    holds = asked.claim.holds if isinstance(asked.claim, Opaque) else None
    try:
        up_to = check_certificate(certificate, facts(asked), holds)
        check_proved(law, up_to)
    except InvalidCertificate as invalid:
        raise Broken(E_CERTIFICATE, str(invalid)) from None
    except EvaluationError as error:
        raise Broken(E_CERTIFICATE, f"the claim cannot be judged: {error.message}") from None
    if up_to != verdict["up_to"] or (up_to is not None and verdict["status"] == "PROVED"):
        raise Broken(E_CERTIFICATE, f"it proves the law {_reach(up_to)}, the verdict says otherwise")
    if verdict["proved_for"] != asked.contract:
        raise Broken(E_CERTIFICATE, f"it is about {asked.contract}, the verdict says otherwise")
    return f"proved {_reach(up_to)}"


def check_refutation(law: Law, recorded: Any) -> str:
    """See that a counterexample violates a law when it is evolved again.

    Raises:
        Broken: E_COUNTEREXAMPLE.
    """
    try:
        check_counterexample(law, recorded)
    except InvalidCertificate as invalid:
        raise Broken(E_COUNTEREXAMPLE, str(invalid)) from None
    except (NotCanonical, LookupError, TypeError, AttributeError, ValueError) as error:
        raise Broken(E_COUNTEREXAMPLE, f"it is not what it must be: {error!r}") from None
    return f"violated at step {recorded['t']}"


def _check_same(*pairs: tuple[str, Any, Any]) -> None:
    for name, recorded, found in pairs:
        if canonical_bytes(recorded) != canonical_bytes(found):
            raise Broken(E_VERDICT, f"{name} is not that of the recorded specs and verdict")


def _rests(verdict: Mapping[str, Any]) -> None:
    """See that a status rests on what it must rest on.

    Raises:
        Broken: E_VERDICT.
    """
    status, reason, method = verdict["status"], verdict["reason"], verdict["method"]
    if status not in STATUSES or (status == "UNKNOWN") != (reason is not None) or reason not in (None, *REASONS):
        raise Broken(E_VERDICT, f"{status!r} has the reason {reason!r}")
    if (status == "FAIL") != (verdict["counterexample"] is not None):
        raise Broken(E_VERDICT, f"{status} and its counterexample do not go together")
    if status == "PROVED" and (method != "proof" or verdict["certificate"] is None):
        raise Broken(E_VERDICT, "PROVED rests on no certificate")
    if status == "FAIL" and verdict["certificate"] is not None:
        raise Broken(E_VERDICT, "FAIL has a certificate that the law holds")


def _same(recorded: Any, found: Any) -> bool:
    try:
        return canonical_bytes(recorded) == canonical_bytes(found)
    except NotCanonical:
        return False


def _reach(up_to: int | None) -> str:
    return "for every admitted ring" if up_to is None else f"up to {up_to} cells"
