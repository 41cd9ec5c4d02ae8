"""A kind of spec that the package does not have: throws of a die, and whether each is within its sides."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from specledger.core.diagnostics import Diagnostic, Rejected, code
from specledger.core.events import Event
from specledger.core.verdict import Verdict
from specledger.core.wing import Wing
from specledger.evidence.chain import run_id
from specledger.evidence.counterexamples import no_cases
from specledger.evidence.kind import ReceiptKind
from specledger.kinds import Kind, Runnable
from specledger.kinds.running import write_events
from specledger.report.model import Check, Reading, ReportKind
from specledger.report.outcome import OF_VERDICT
from specledger.spec.base import Spec
from specledger.verify.judged import Count
from specledger.verify.kind import Checked, EvidenceKind
from specledger.verify.replay import compare, make_again

E_DICE = code("E_DICE", "a die without sides")


class Dice(Spec):
    """A dice/v1 document."""

    spec: Literal["dice/v1"]
    sides: int
    throws: int = 3


def check_dice(bundle, found):
    if bundle.main.model.sides < 2:
        found.error(E_DICE, "a die has two sides at least", bundle.main.span("sides"))


def compile_dice(bundle):
    if bundle.main.model.sides < 2:
        raise Rejected([Diagnostic(E_DICE, "a die has two sides at least", bundle.main.span("sides"))])


def throw(bundle) -> Iterator[Event]:
    model: Any = bundle.main.model
    yield Event("start", {"specs": bundle.digest, "run": run_id(bundle.digest)})
    for number in range(model.throws):
        yield Event("throw", {"number": number, "fell": number % model.sides + 1})
    yield Event("end", {})


class DiceTally:
    def __init__(self) -> None:
        self._sum = 0

    def add(self, type_: str, body: Mapping[str, Any]) -> None:
        self._sum += body["fell"] if type_ == "throw" else 0

    def result(self) -> dict[str, Any]:
        return {"verdict": Verdict.PASS.value, "sum": self._sum}


class DiceOrder:
    def add(self, type_: str, body: Mapping[str, Any]) -> None:
        assert type_ in {"start", "throw", "end"}


@dataclass(frozen=True)
class DiceContent:
    checked: Checked
    specs: Any

    def check(self, verification, obstacle):
        return self

    def replay(self):
        made = make_again(lambda _: throw(self.specs), self.specs.digest)
        return f"{compare(made, self.checked.receipts.lines())} receipts"

    def judge(self, obstacle):
        return Count()


class DiceReading(Reading):
    def __init__(self, evidence) -> None:
        self._verdict = Verdict(evidence.manifest["result"]["verdict"])

    def add(self, receipt) -> None:
        pass

    def checks(self):
        yield Check("dice/fair", "the die is fair", None, OF_VERDICT[self._verdict], 1)


EVIDENCE = EvidenceKind(
    receipts=ReceiptKind("dice", DiceTally, no_cases, lambda _: False),
    order=DiceOrder,
    content=lambda checked, specs, resources: DiceContent(checked, specs),
)


class DiceKind(Kind):
    name = "dice"
    runs = True

    @property
    def model(self):
        return Dice

    def check(self, bundle, diagnostics):
        check_dice(bundle, diagnostics)

    @property
    def run(self):
        return Runnable(
            compile=lambda bundle, _: compile_dice(bundle),
            receipts=EVIDENCE.receipts,
            execute=lambda bundle, place, options, progress: write_events(
                bundle, place, EVIDENCE.receipts, options, throw(bundle)
            ),
            preview=lambda bundle: {"most_throws": sum(event.type == "throw" for event in throw(bundle))},
            show=lambda runs: "\n".join(f"{one.name} threw {one.manifest['result']['sum']}" for one in runs),
            events=throw,
        )

    @property
    def evidence(self):
        return EVIDENCE

    @property
    def report(self):
        return ReportKind(DiceReading)


DICE = Wing("dice", kinds=lambda: (DiceKind(),))
