"""A wing: the kind `dice`, throws of a die that are drawn from a seed and must stay within its sides."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from specledger.core.diagnostics import Diagnostics, code
from specledger.core.events import Event
from specledger.core.rng import Stream
from specledger.core.wing import Wing
from specledger.kinds.event_kind import EventKind, Fact
from specledger.load import Bundle
from specledger.report.model import Check, Outcome
from specledger.spec.base import Spec

E_DICE = code("E_DICE", "a die without sides")


class Dice(Spec):
    """A dice/v1 document: a die that is thrown."""

    spec: Literal["dice/v1"]
    seed: int
    sides: int
    throws: int = 10


class DiceKind(EventKind):
    """The kind `dice`."""

    name = "dice"

    @property
    def model(self) -> type[Spec]:
        return Dice

    def check(self, bundle: Bundle, diagnostics: Diagnostics) -> None:
        if bundle.main.model.sides < 2:
            diagnostics.error(E_DICE, "a die has two sides at least", bundle.main.span("sides"))

    def events(self, bundle: Bundle) -> Iterator[Event]:
        die: Any = bundle.main.model
        stream = Stream.named(die.seed, "dice")
        yield Event("start", {"specs": bundle.digest, "sides": die.sides})
        for number in range(die.throws):
            yield Event("throw", {"number": number, "shows": stream.choice(list(range(1, die.sides + 1)))})
        yield Event("end", {})

    def result(self, facts: Sequence[Fact]) -> dict[str, Any]:
        sides = next(body["sides"] for type_, body in facts if type_ == "start")
        shown = [body["shows"] for type_, body in facts if type_ == "throw"]
        fits = all(1 <= value <= sides for value in shown)
        return {"verdict": "PASS" if fits else "FAIL", "throws": len(shown), "sum": sum(shown)}

    def checks(self, result: Mapping[str, Any]) -> Iterator[Check]:
        outcome = Outcome.PASSED if result["verdict"] == "PASS" else Outcome.FAILED
        yield Check("dice/sides", "every throw shows one of the sides", None, outcome, result["throws"])

    def show(self, result: Mapping[str, Any]) -> str:
        return f"{result['throws']} throws, sum {result['sum']}"


WING = Wing("dice", kinds=lambda: (DiceKind(),))
