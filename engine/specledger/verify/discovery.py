"""Evidence of a discovery: every verdict with its certificate or counterexample, the ledger, and replay.

None of the checks before replay needs a prover, a test harness or a model. Only replay shows what was asked, answered,
left out and ranked, and what samples found: it makes everything again from the specs and the recording.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from msgspec import Struct

from specledger.compile.model import PlannedModel
from specledger.core.canonical import NotCanonical, canonical_bytes
from specledger.core.diagnostics import Rejected, code
from specledger.core.events import Event
from specledger.discovery.coordinator import run_discovery
from specledger.discovery.discovery_state import ledger_line
from specledger.discovery.iteration import DiscoveryContext
from specledger.discovery.plan import DiscoveryPlan
from specledger.discovery.worker import open_all
from specledger.evidence.kind import DISCOVERY as DISCOVERY_RECEIPTS
from specledger.evidence.layout import TAPE
from specledger.laws.verdict import digest_verdict
from specledger.load import Bundle
from specledger.oracles.recording import E_TAPE_EXTRA, E_TAPE_MISSING, ModelTape, TapeError
from specledger.run.executor import Executor
from specledger.verify import check_names
from specledger.verify.checks import E_ENDS, E_VERDICT, Broken, Verification, agree
from specledger.verify.judge_law import judge_discovery, verdicts_of
from specledger.verify.judged import Count
from specledger.verify.kind import Checked, EvidenceKind, Resources
from specledger.verify.law import check_about, check_proof, check_refutation
from specledger.verify.replay import compare, invalid, make_again

E_DISCOVERY_LEDGER = code(
    "E_DISCOVERY_LEDGER",
    "the ledger of a discovery is not what its verdicts lead to",
    "The ledger has every refuted law with its counterexample, in the order in which the laws were proposed, and "
    "no other law. A law was dropped or added, or has another counterexample.",
)

_INSIDE: Final[Mapping[str, frozenset[str]]] = {
    "": frozenset({"start"}),
    "start": frozenset({"iteration"}),
    "iteration": frozenset({"iteration", "law", "escalation", "stop"}),
    "law": frozenset({"iteration", "law", "escalation", "stop"}),
    "escalation": frozenset({"iteration", "escalation", "stop"}),
    "stop": frozenset({"ledger"}),
    "ledger": frozenset({"ledger", "expected", "end"}),
    "expected": frozenset({"expected", "end"}),
    "end": frozenset(),
}
"""By the type of a receipt what may follow it; escalations may also come right before `stop`."""


class DiscoveryOrder:
    """The receipts of a discovery: iterations with their laws, escalations, `stop`, `ledger`, `expected`, `end`."""

    def __init__(self) -> None:
        self._last = ""
        self._iterations = 0
        self._laws = 0

    def add(self, type_: str, body: Mapping[str, Any]) -> None:
        """Take one receipt.

        Raises:
            Broken: It is out of order, or out of its number.
        """
        if type_ not in _INSIDE[self._last]:
            raise Broken(E_ENDS, f"{type_!r} has no place after {self._last!r}")
        self._last = type_
        if type_ == "iteration":
            agree(body, {"iteration": self._iterations}, "an iteration", E_ENDS)
            self._iterations, self._laws = self._iterations + 1, 0
        elif type_ == "law":
            agree(body, {"iteration": self._iterations - 1, "number": self._laws}, "a law", E_ENDS)
            self._laws += 1
        elif type_ in ("stop", "end"):
            agree(body, {"iterations": self._iterations}, f"{type_!r}", E_ENDS)


class DiscoveryContent(Struct, frozen=True):
    """A discovery that compiles again, with the receipts that hold verdicts.

    Attributes:
        checked: The evidence.
        workbench: The compiled discovery.
        model: The model that proposes laws.
        recording: The recorded answers of a model that was asked over a network, or None.
        executor: Where laws are tried again.
        verdicts: The receipts that hold verdicts: type and body.
        ledger: The bodies of the receipts of the ledger.
    """

    checked: Checked[DiscoveryOrder, Any]
    workbench: DiscoveryContext
    model: PlannedModel
    recording: ModelTape | None
    executor: Executor
    verdicts: Sequence[tuple[str, Mapping[str, Any]]]
    ledger: Sequence[Mapping[str, Any]]

    @property
    def plan(self) -> DiscoveryPlan:
        """The plan of the discovery."""
        return self.workbench.plan

    def check(self, verification: Verification, obstacle: str | None) -> DiscoveryContent:
        """Check every verdict, certificate and counterexample, and the ledger."""
        # 10
        with verification.check(check_names.VERDICTS) as note:
            note.message = self._check_verdicts()
        # 11
        with verification.check(check_names.CERTIFICATES) as note:
            note.message = self._check_certificates()
        # 12
        with verification.check(check_names.COUNTEREXAMPLES) as note:
            note.message = self._check_counterexamples()
        # 13
        with verification.check(check_names.LEDGER) as note:
            note.message = self._check_ledger()
        return self

    def _check_verdicts(self) -> str:
        count = 0
        known: set[str] = set()
        for type_, body in self.verdicts:
            with _refusing():
                document, verdict = body["document"], body["verdict"]
                parsed = self.plan.parsed(document)
                if body["law"] != parsed.bundle.root or (type_ == "escalation" and body["law"] not in known):
                    raise Broken(E_VERDICT, f"{body['law']} is not the law whose document is recorded")
                if body["late"] is None if type_ == "law" else False:
                    known.add(body["law"])
                if (verdict is None) == (body["error"] is None):
                    raise Broken(E_VERDICT, f"{body['law']} has a verdict and an error, or neither")
                if body["digest"] != (None if verdict is None else digest_verdict(verdict)):
                    raise Broken(E_VERDICT, f"the digest of the verdict on {body['law']} is not its own")
                if verdict is not None:
                    check_about(next(verdicts_of(self.plan, type_, body)).law(), verdict)
                    count += 1
        return f"{count} verdicts"

    def _check_certificates(self) -> str:
        count = 0
        for type_, body in self.verdicts:
            with _refusing():
                own = next(verdicts_of(self.plan, type_, body))
                if own.verdict is not None and own.verdict["certificate"] is not None:
                    check_proof(own.law(), own.verdict)
                    count += 1
        return f"{count} certificates"

    def _check_counterexamples(self) -> str:
        count = 0
        for type_, body in self.verdicts:
            with _refusing():
                own, *held_out = verdicts_of(self.plan, type_, body)
                for held in held_out:
                    status, counterexample = (held.verdict or {})["status"], (held.verdict or {})["counterexample"]
                    if (status == "FAIL") != (counterexample is not None):
                        message = f"{body['law']}: {status} and its counterexample do not go together"
                        raise Broken(E_VERDICT, message)
                for stated in (own, *held_out):
                    if stated.verdict is not None and stated.verdict["counterexample"] is not None:
                        check_refutation(stated.law(), stated.verdict["counterexample"])
                        count += 1
        return f"{count} counterexamples"

    def replay(self) -> str:
        """Compare every receipt."""
        made = make_again(lambda _: self._events(), self.plan.bundle.digest)
        return f"{compare(made, self.checked.receipts.lines())} receipts"

    def _events(self) -> Iterator[Event]:
        return _again(self.workbench, self.model, self.recording, self.executor)

    def judge(self, obstacle: str | None) -> Count:
        """Judge every verdict."""
        with _refusing():
            return judge_discovery(self.plan, self.verdicts, obstacle)

    def _check_ledger(self) -> str:
        refuted: dict[str, dict[str, Any]] = {}
        came: dict[str, int] = {}
        recorded = [line for body in self.ledger for line in body["refuted"]]
        for type_, body in self.verdicts:
            if type_ == "escalation" or body["late"] is None:
                came.setdefault(body["law"], body["iteration"] if type_ == "law" else 0)
                line = ledger_line(body["law"], came[body["law"]], body["verdict"])
                if body["verdict"] is not None:
                    refuted.pop(body["law"], None)
                if line is not None:
                    refuted[body["law"]] = line
        ordered = [refuted[law] for law in came if law in refuted]
        try:
            same = canonical_bytes(recorded) == canonical_bytes(ordered)
        except NotCanonical:
            same = False
        if not same:
            raise Broken(E_DISCOVERY_LEDGER, "it is not what the recorded verdicts lead to")
        return f"{len(ordered)} refuted laws"


def compile_discovery(checked: Checked[DiscoveryOrder, Any], specs: Bundle, resources: Resources) -> DiscoveryContent:
    """Compile the recorded specs and read the recording.

    Raises:
        Broken: E_SPECS, if they do not compile; a code of the recording, if it is missing or damaged.
    """
    try:
        workbench, model = open_all(specs)
    except Rejected as rejected:
        raise invalid(rejected) from None
    path = checked.place / TAPE
    if model.outside and not path.exists():
        raise Broken(E_TAPE_MISSING, "the model is outside, and the evidence holds no tape of its answers")
    if path.exists() and not model.outside:
        raise Broken(E_TAPE_EXTRA, "the answers follow from the specs, and the evidence holds a tape of others")
    try:
        recording = ModelTape(path, model.identity) if path.exists() else None
    except TapeError as error:
        raise Broken(error.code, error.message) from None
    receipts = list(checked.receipts.contents())
    verdicts = [(type_, body) for type_, body in receipts if type_ in ("law", "escalation")]
    ledger = [body for type_, body in receipts if type_ == "ledger"]
    return DiscoveryContent(checked, workbench, model, recording, resources.executor, verdicts, ledger)


@contextmanager
def _refusing() -> Iterator[None]:
    """Make a finding of a receipt that is malformed."""
    try:
        yield
    except Rejected as rejected:
        message = f"a recorded law is none: {rejected.diagnostics[0].message}"
        raise Broken(E_VERDICT, message) from None
    except (NotCanonical, LookupError, TypeError, AttributeError, ValueError) as error:
        raise Broken(E_VERDICT, f"a receipt is malformed: {error!r}") from None


def _again(
    workbench: DiscoveryContext, model: PlannedModel, tape: ModelTape | None, executor: Executor
) -> Iterator[Event]:
    """The events of a discovery whose answers are read from its tape, or follow from its specs."""
    try:
        if tape is None:
            yield from run_discovery(workbench, model.identity, executor=executor)
        else:
            yield from run_discovery(workbench, model.identity, tape.ask, executor=executor)
            tape.finish()
    except TapeError as error:
        raise Broken(error.code, error.message) from None
    except Rejected as rejected:
        found = rejected.diagnostics[0]
        raise Broken(E_TAPE_MISSING if tape is not None else found.code, found.message) from None


DISCOVERY: Final = EvidenceKind(
    DISCOVERY_RECEIPTS,
    DiscoveryOrder,
    compile_discovery,
    checks=(check_names.VERDICTS, check_names.CERTIFICATES, check_names.COUNTEREXAMPLES, check_names.LEDGER),
    files=(TAPE,),
)
