"""Evidence of a discovery: every verdict with its certificate or counterexample, the ledger, and replay.

None of the checks before replay needs a prover, a test harness or a model. Only replay shows what was asked, answered,
left out and ranked, and what samples found: it makes everything again from the specs and the recording.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from itertools import zip_longest
from typing import Any, Final

from msgspec import Struct

from specledger.compile.model import PlannedModel
from specledger.core.canonical import NotCanonical
from specledger.core.diagnostics import Rejected, code
from specledger.core.digest import hash_json
from specledger.core.events import Event
from specledger.evidence.layout import TAPE
from specledger.evidence.receipts import typed
from specledger.load import Bundle
from specledger.oracles.recording import E_TAPE_EXTRA, E_TAPE_MISSING, TapeError
from specledger.oracles.tape_file import ModelTape
from specledger.run.executor import Executor
from specledger.verify.check_names import CheckName
from specledger.verify.checks import (
    E_ENDS,
    Broken,
    Lacking,
    Nothing,
    Verification,
    misformed,
    require,
    require_equal,
)
from specledger.verify.judged import Count
from specledger.verify.kind import Checked, EvidenceKind, Resources
from specledger.verify.rebuilding import invalid
from specledger.verify.replay import compare, make_again
from specledger.wings.discovery.coordinator import run_discovery
from specledger.wings.discovery.discovery_state import ledger_line, start_event
from specledger.wings.discovery.plan import DiscoveryPlan
from specledger.wings.discovery.receipts import Escalation, Ledger, TriedLaw
from specledger.wings.discovery.result import DISCOVERY as DISCOVERY_RECEIPTS
from specledger.wings.discovery.worker import DiscoveryContext, open_all
from specledger.wings.laws.law import Law
from specledger.wings.laws.receipts import LawStatus
from specledger.wings.laws.receipts import Verdict as VerdictBody
from specledger.wings.laws.verdict import digest_verdict
from specledger.wings.laws.verify.verdicts import (
    E_VERDICT,
    NO_SCENARIO,
    check_about,
    check_proof,
    check_refutation,
    check_stated,
)

E_DISCOVERY_LEDGER = code("E_DISCOVERY_LEDGER", "the ledger of a discovery is not what its verdicts lead to")

VERDICTS: Final = CheckName("every verdict matches its law and is consistent", 10)
CERTIFICATES: Final = CheckName("every certificate proves its law", 11)
COUNTEREXAMPLES: Final = CheckName("every counterexample violates its law when evolved again", 12)
LEDGER: Final = CheckName("the ledger holds every refuted law with its counterexample", 13)
CHECKS: Final = (VERDICTS, CERTIFICATES, COUNTEREXAMPLES, LEDGER)

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


_COUNTED: Final = ("iterations", "evaluations", "late", "laws", "escalations", "tokens")
"""What the end counts, which is what the result says."""


class DiscoveryOrder:
    """The receipts of a discovery: iterations with their laws, escalations, `stop`, `ledger`, `expected`, `end`."""

    def __init__(self) -> None:
        self._last = ""
        self._iterations = 0
        self._laws = 0

    def add(self, type_: str, body: Mapping[str, Any]) -> None:
        """Take one receipt."""
        if type_ not in _INSIDE[self._last]:
            raise Broken(E_ENDS, f"{type_!r} has no place after {self._last!r}")
        self._last = type_
        if type_ == "iteration":
            require_equal(body, {"iteration": self._iterations}, "an iteration", E_ENDS)
            self._iterations, self._laws = self._iterations + 1, 0
        elif type_ == "law":
            require_equal(body, {"iteration": self._iterations - 1, "number": self._laws}, "a law", E_ENDS)
            self._laws += 1
        elif type_ in ("stop", "end"):
            require_equal(body, {"iterations": self._iterations}, f"{type_!r}", E_ENDS)


Tried = TriedLaw | Escalation
"""The body of a receipt that holds verdicts."""


class StatedVerdict(Struct, frozen=True):
    """A verdict in a receipt of a discovery.

    Attributes:
        verdict: What it says; None if its trial ended in an error.
        law: Gives its law.
    """

    verdict: VerdictBody | None
    law: Callable[[], Law]


def verdicts_of(plan: DiscoveryPlan, type_: str, body: Tried) -> Iterator[StatedVerdict]:
    """The verdicts in a receipt of the type `law` or `escalation`: its own one, then those on held-out rules.

    Raises:
        Broken: The discovery tries no such mutant.
        KeyError: The discovery has no such universe.
    """
    document, universes = body["document"], {universe.root: universe for universe in plan.others}
    effort = plan.model.trial if type_ == "law" else plan.model.escalation

    def mutated(number: int) -> Law:
        return plan.under(plan.law(document, plan.model.held_out).law, number)

    def elsewhere(universe: Bundle) -> Law:
        return plan.law(document, plan.model.held_out, universe).law

    yield StatedVerdict(body["verdict"], lambda: plan.law(document, effort).law)
    for verdict in typed(Escalation, body)["held_out"] if type_ == "escalation" else ():
        number = verdict["mutant"]
        if number is None:
            yield StatedVerdict(typed(VerdictBody, verdict), partial(elsewhere, universes[verdict["universe"]]))
        elif number in plan.mutant_numbers():
            yield StatedVerdict(typed(VerdictBody, verdict), partial(mutated, number))
        else:
            raise Broken(E_VERDICT, f"the discovery tries no mutant {number!r}")


class DiscoveryContent(Struct, frozen=True):
    """A discovery that compiles again, with the recorded answers of a model and its last receipt."""

    checked: Checked[DiscoveryOrder, Any]
    workbench: DiscoveryContext
    model: PlannedModel
    recording: ModelTape | None
    executor: Executor
    end: Mapping[str, Any]

    @property
    def verdicts(self) -> Iterator[tuple[str, Tried]]:
        """The receipts that hold verdicts, read once more."""
        for type_, body in self.checked.receipts.contents():
            if type_ == "law":
                yield type_, typed(TriedLaw, body)
            elif type_ == "escalation":
                yield type_, typed(Escalation, body)

    @property
    def plan(self) -> DiscoveryPlan:
        """The plan of the discovery."""
        return self.workbench.plan

    def check(self, verification: Verification, obstacle: str | None) -> DiscoveryContent:
        """Check every verdict, certificate and counterexample, and the ledger."""
        known: dict[str, str] = {}
        verification.attempt(VERDICTS, lambda: self._count("verdicts", partial(self._check_verdict, known)))
        verification.attempt(CERTIFICATES, lambda: self._count("certificates", self._check_certificate))
        verification.attempt(COUNTEREXAMPLES, lambda: self._count("counterexamples", self._check_rings))
        verification.attempt(LEDGER, self._check_ledger)
        return self

    def _count(self, noun: str, check: Callable[[str, Tried], int]) -> str:
        """Check each receipt that holds verdicts; `check` gives how many things it checked."""
        count = 0
        for type_, body in self.verdicts:
            with _refusing():
                count += check(type_, body)
        if not count:
            raise Nothing(f"there are no {noun}")
        return f"{count} {noun}"

    def _check_verdict(self, known: dict[str, str], type_: str, body: Tried) -> int:
        """Check a verdict, and that it is about its law, which an escalation finds among those that are known."""
        document, verdict, law = body["document"], body["verdict"], body["law"]
        if law != self.plan.parsed(document).bundle.root or (type_ == "escalation" and law not in known):
            raise Broken(E_VERDICT, f"{law} is not the law whose document is recorded")
        status = LawStatus.ERROR.value if verdict is None else verdict["status"]
        if type_ == "escalation":
            require_equal(body, {"before": known[law]}, f"the escalation of {law}", E_VERDICT)
        if type_ == "escalation" or typed(TriedLaw, body)["late"] is None:
            known[law] = status
        if (verdict is None) == (body["error"] is None):
            raise Broken(E_VERDICT, f"{law} has a verdict and an error, or neither")
        if body["digest"] != (None if verdict is None else digest_verdict(verdict)):
            raise Broken(E_VERDICT, f"the digest of the verdict on {law} is not its own")
        if verdict is None:
            return 0
        check_about(next(verdicts_of(self.plan, type_, body)).law(), verdict)
        return 1

    def _check_certificate(self, type_: str, body: Tried) -> int:
        own = next(verdicts_of(self.plan, type_, body))
        if own.verdict is None or own.verdict["certificate"] is None:
            return 0
        check_proof(own.law(), own.verdict)
        return 1

    def _check_rings(self, type_: str, body: Tried) -> int:
        """Check every counterexample, and that a verdict under a held-out rule has one if it is a refutation."""
        own, *held_out = verdicts_of(self.plan, type_, body)
        for held_verdict in held_out:
            stated_verdict: Any = held_verdict.verdict or {}
            status, counterexample = stated_verdict["status"], stated_verdict["counterexample"]
            if (status == LawStatus.FAIL) != (counterexample is not None):
                raise Broken(E_VERDICT, f"{body['law']}: {status} and its counterexample do not go together")
        count = 0
        for stated in (own, *held_out):
            if stated.verdict is not None and stated.verdict["counterexample"] is not None:
                check_refutation(stated.law(), stated.verdict["counterexample"])
                count += 1
        return count

    def replay(self) -> str:
        """Compare every receipt."""
        events = _again(self.workbench, self.model, self.recording, self.executor)
        events_again = make_again(lambda _: events, self.plan.bundle.digest)
        return f"{compare(events_again, self.checked.receipts.lines())} receipts"

    def judge(self, obstacle: str | None) -> Count:
        """Say that verdicts on laws are not judged."""
        raise Lacking(NO_SCENARIO)

    def _check_ledger(self) -> str:
        refuted: dict[str, str] = {}
        came: dict[str, int] = {}
        for type_, stated in self.verdicts:
            law, verdict, tried = stated["law"], stated["verdict"], typed(TriedLaw, stated)
            if type_ == "escalation" or tried["late"] is None:
                came.setdefault(law, tried["iteration"] if type_ == "law" else 0)
                line = ledger_line(law, came[law], verdict)
                if verdict is not None:
                    refuted.pop(law, None)
                if line is not None:
                    refuted[law] = hash_json(line)
        ordered = [refuted[law] for law in came if law in refuted]
        same = all(recorded == wanted for recorded, wanted in zip_longest(self._listed(), ordered))
        require(same, "it is not what the recorded verdicts lead to", E_DISCOVERY_LEDGER)
        wanted = {name: self.checked.manifest["result"][name] for name in _COUNTED}
        require_equal({**dict.fromkeys(_COUNTED), **self.end}, wanted, "the end", E_ENDS)
        return f"{len(ordered)} refuted laws"

    def _listed(self) -> Iterator[str]:
        """The digest of each refuted law in the ledger."""
        for type_, body in self.checked.receipts.contents():
            if type_ == "ledger":
                refuted: Any = typed(Ledger, body).get("refuted")
                require(isinstance(refuted, list), "it lists no refuted laws", E_DISCOVERY_LEDGER)
                yield from map(hash_json, refuted)


def compile_discovery(checked: Checked[DiscoveryOrder, Any], specs: Bundle, resources: Resources) -> DiscoveryContent:
    """Compile the recorded specs and read the recording.

    Raises:
        Broken: E_SPECS, if they do not compile; a code of the recording, if it is missing or damaged.
    """
    try:
        workbench, model = open_all(specs)
    except Rejected as rejected:
        raise invalid(rejected) from None
    path = checked.folder / TAPE
    if model.outside and not path.exists():
        raise Broken(E_TAPE_MISSING, "the model is outside, and the evidence holds no tape of its answers")
    if path.exists() and not model.outside:
        raise Broken(E_TAPE_EXTRA, "the answers follow from the specs, and the evidence holds a tape of others")
    try:
        recording = ModelTape(path, model.identity) if path.exists() else None
    except TapeError as error:
        raise Broken(error.code, error.message) from None
    first: Mapping[str, Any]
    end: Mapping[str, Any]
    (_, first), (_, end) = _ends(checked.receipts.contents())
    check_stated(first, start_event(workbench.plan, model.identity), without=("model",))
    return DiscoveryContent(checked, workbench, model, recording, resources.executor, end)


def _ends(receipts: Iterator[tuple[str, Mapping[str, Any]]]) -> tuple[tuple[str, Mapping[str, Any]], ...]:
    """The first receipt and the last one."""
    first = last = next(receipts)
    for last in receipts:  # noqa: B007 - the last one is what it is about
        pass
    return first, last


@contextmanager
def _refusing() -> Iterator[None]:
    """Make a finding of a receipt that is malformed."""
    try:
        yield
    except Rejected as rejected:
        message = f"a recorded law is none: {rejected.diagnostics[0].message}"
        raise Broken(E_VERDICT, message) from None
    except (NotCanonical, LookupError, TypeError, AttributeError, ValueError) as error:
        raise Broken(E_VERDICT, f"a receipt is malformed: {misformed(error)}") from None


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
        diagnostic = rejected.diagnostics[0]
        raise Broken(E_TAPE_MISSING if tape is not None else diagnostic.code, diagnostic.message) from None


DISCOVERY: Final = EvidenceKind(
    DISCOVERY_RECEIPTS,
    DiscoveryOrder,
    compile_discovery,
    checks=CHECKS,
    files=(TAPE,),
)
