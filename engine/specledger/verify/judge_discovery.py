"""The second evaluator on a discovery: verdicts on laws, on escalations, and under held-out rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

from specledger.discovery.plan import DiscoveryPlan
from specledger.laws.generators import make_cases
from specledger.laws.law import Law
from specledger.load import Bundle
from specledger.verify.judge_law import Work, judge_law
from specledger.verify.judged import Count
from specledger.verify.law_cel import CelLaw
from specledger.verify.reference import Reference, Unjudged
from specledger.verify.universe_cel import CelUniverse, Ring

ENDED: Final = "trials that ended in an error"
INAPPLICABLE: Final = "laws that another universe cannot say"


def judge_discovery(
    plan: DiscoveryPlan, receipts: Iterable[tuple[str, Mapping[str, Any]]], obstacle: str | None
) -> Count:
    """Judge the verdicts of a discovery, in the order of its receipts.

    Args:
        plan: The discovery.
        receipts: Its receipts that hold verdicts, with their types: `law` and `escalation`.
        obstacle: Why cases cannot be made again, if they cannot.

    Raises:
        Rejected: E_JUDGE_PACKAGE.
    """
    return _Judge(plan, obstacle).all(receipts)


class _Judge:
    def __init__(self, plan: DiscoveryPlan, obstacle: str | None) -> None:
        self._plan, self._obstacle = plan, obstacle
        self._count, self._work, self._reference = Count(), Work(), Reference()
        self._universes: dict[str, CelUniverse] = {}

    def all(self, receipts: Iterable[tuple[str, Mapping[str, Any]]]) -> Count:
        """Judge until a verdict differs."""
        for type_, body in receipts:
            for name, verdict, law, universe in self._verdicts(type_, body):
                if verdict is None:
                    self._count.without[ENDED] += 1
                elif verdict["status"] in ("ERROR", "INAPPLICABLE"):
                    self._count.without[ENDED if verdict["status"] == "ERROR" else INAPPLICABLE] += 1
                else:
                    self._judge(name, verdict, law, universe, body["document"])
                if self._count.against is not None:
                    return self._count
        return self._count

    def _verdicts(
        self, type_: str, body: Mapping[str, Any]
    ) -> Iterator[tuple[str, Mapping[str, Any] | None, Callable[[], Law], Bundle]]:
        """The verdicts in a receipt: what each is called, what it says, its law, and what that is about."""
        plan, document = self._plan, body["document"]
        effort = plan.model.trial if type_ == "law" else plan.model.escalation
        name = f"law {body['law']}" if type_ == "law" else f"escalation of {body['law']}"
        yield name, body["verdict"], lambda: plan.law(document, effort).law, plan.universe
        others = {universe.root: universe for universe in plan.others}
        for held in body["held_out"] if type_ == "escalation" else ():
            if held["mutant"] is not None:
                under = partial(self._mutant, document, held["mutant"])
                yield f"{name} under mutant {held['mutant']}", held, under, plan.universe
            else:
                other = others[held["universe"]]
                yield f"{name} in {held['universe']}", held, partial(self._elsewhere, document, other), other

    def _elsewhere(self, document: Mapping[str, Any], universe: Bundle) -> Law:
        return self._plan.law_elsewhere(document, universe).law

    def _mutant(self, document: Mapping[str, Any], number: int) -> Law:
        return self._plan.under(self._elsewhere(document, self._plan.universe), number)

    def _judge(
        self,
        name: str,
        verdict: Mapping[str, Any],
        law: Callable[[], Law],
        universe: Bundle,
        document: Mapping[str, Any],
    ) -> None:
        known = law()

        def speak() -> CelLaw:
            spoken = self._universe(universe)
            table, own, rule = spoken.table, self._plan.checked.rule.table, known.universe.rule.table
            if universe is self._plan.universe:  # an entry that a mutant has changed is no expression's
                table = tuple(
                    ours if ours != first else said for said, first, ours in zip(table, own, rule, strict=True)
                )
            return CelLaw(spoken, known, self._plan.parsed(document).bundle.main, table)

        judge_law(speak, verdict, partial(self._cases, known), self._count, self._work, name)

    def _universe(self, bundle: Bundle) -> CelUniverse:
        if bundle.root not in self._universes:
            self._universes[bundle.root] = CelUniverse(self._reference, bundle.main)
        return self._universes[bundle.root]

    def _cases(self, law: Law) -> Sequence[Ring]:
        if self._obstacle is not None:
            raise Unjudged(f"its cases are those that replay makes, and {self._obstacle}")
        return [case.cells for case in make_cases(law)]
