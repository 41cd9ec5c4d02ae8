"""The second evaluator on verdicts about laws: refutations, passes and proofs, within a bound of work.

A counterexample must violate its law at the recorded step and at none before. No case of a law that passed may violate
it, and as many must be usable and hit as recorded. No start of a short ring may violate a law that is proved. The rule,
measures, preconditions and claims come from the other engine; stepping and quantifiers are done here. Certificates and
the starts of the search are not judged; they are counted. Of a discovery, verdicts on laws, on escalations and under
held-out rules are judged in the order of its receipts.

Source: law proposer, sections 6 and 8; CEL language definition (github.com/google/cel-spec).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import product
from typing import Any, Final

from msgspec import Struct

from specledger.discovery.plan import DiscoveryPlan
from specledger.laws.generators import make_cases
from specledger.laws.law import Law
from specledger.load import Bundle
from specledger.verify.checks import E_VERDICT, Broken
from specledger.verify.judged import BEYOND_WORK, Count
from specledger.verify.law_cel import CelLaw, CelUniverse, Ring
from specledger.verify.reference import Reference, Unjudged

VERDICT_WORK: Final = 24_000_000
"""Cells that one verdict may read: those of its starts, times the steps, for the evolution and for each observable."""

SHORT_WORK: Final = 500_000
"""The same, for the short rings of a law that is proved; lengths are tried whole."""

ALL_WORK: Final = 96_000_000
"""The same, for all verdicts of a bundle."""

UNDECIDED: Final = "laws of which nothing is said"
ENDED: Final = "trials that ended in an error"
INAPPLICABLE: Final = "laws that another universe cannot say"
"""What is counted as no expression's verdict."""

Cases = Callable[[], Sequence[Ring]]
"""Gives the cases that a verdict was reached on, if it is one of a sample; raises Unjudged."""


class Work(Struct):
    """Cells that may still be read for a bundle."""

    left: int = ALL_WORK

    def take(self, cells: int, bound: int) -> bool:
        """Spend some, unless that is more than there is, or than the bound of one verdict leaves."""
        if cells > min(bound, self.left):
            return False
        self.left -= cells
        return True


def judge_law(
    other_law: Callable[[], CelLaw], verdict: Mapping[str, Any], cases: Cases, count: Count, work: Work, place: str
) -> None:
    """Judge one verdict on the law that `other_law` gives, on the recorded cases, and count what became of it."""
    status = verdict["status"]
    judges = {"FAIL": _refuted, "PASS": _passed, "PROVED": _proved}
    if not isinstance(status, str) or status not in judges:
        count.without[UNDECIDED] += 1
        return
    if verdict.get("certificate") is not None:
        count.unseen["certificates, which another checker of ours checks"] += 1
    ours: set[str] = set()

    def difference() -> str | None:
        law = other_law()
        found = judges[status](law, verdict, cases, count, work)
        ours.update(law.universe.ours)
        return found

    count.settle(place, difference, lambda: ours)


def _refuted(law: CelLaw, verdict: Mapping[str, Any], _: Cases, count: Count, work: Work) -> str | None:
    """A start that violates the law at the recorded step and at none before; what is written down around it."""
    recorded, alphabet = verdict["counterexample"], law.law.universe.alphabet
    start, t = bytes(map(alphabet.index, recorded["start"])), recorded["t"]
    if not work.take(law.cost(len(start)), VERDICT_WORK):
        raise Unjudged(BEYOND_WORK)
    found = law.look(start, until=t)
    count.seen["counterexamples"] += 1
    if not found.usable:
        return f"recorded a violation from {recorded['start']!r}, judged that this start meets no preconditions"
    if found.violated != t:
        judged = "none up to there" if found.violated is None else f"one at step {found.violated}"
        return f"recorded a violation at step {t} from {recorded['start']!r}, judged {judged}"
    states = law.evolve(start)
    begin, shown = recorded["excerpt"]["from"], recorded["excerpt"]["states"]
    for step, state in enumerate(shown, begin):
        judged = "".join(alphabet[cell] for cell in states[step])
        if judged != state:
            return f"recorded {state!r} at step {step}, judged {judged!r}"
    for key, steps in law.law.moments.items():
        step = t + steps
        for name, value in recorded["observables"][key].items():
            judged_value = law.measured(states[step]).get(name, value)  # a precondition's side has no name of its own
            if judged_value != value:
                return f"recorded {name} = {value} at step {step}, judged {judged_value}"
    return None


def _passed(law: CelLaw, verdict: Mapping[str, Any], cases: Cases, count: Count, work: Work) -> str | None:
    """No case violates the law, and as many are usable and hit as is recorded."""
    starts = cases()
    found = _look_at(law, ((len(start), [start]) for start in starts), VERDICT_WORK, work)
    if found.violation is not None:
        return f"recorded that no case violates it, judged one {found.violation}"
    count.seen["cases of laws that passed"] += found.looked
    count.unseen["starts that a search changed"] += law.law.mutations
    if found.looked < len(starts):
        count.unseen["cases of laws that passed"] += len(starts) - found.looked
        raise Unjudged(BEYOND_WORK)
    if "power" in verdict:  # a verdict under another rule has none
        power = verdict["power"] if isinstance(verdict["power"], dict) else {}
        recorded = power.get("usable"), power.get("hits")
        if recorded != (found.usable, found.hits):
            usable, hits = recorded
            return f"recorded {usable} usable cases and {hits} hits, judged {found.usable} and {found.hits}"
    if not found.hits:
        raise Unjudged("no case says anything about it")
    return None


def _proved(law: CelLaw, _verdict: Mapping[str, Any], _: Cases, count: Count, work: Work) -> str | None:
    """No start of a short ring violates the law; what is proved of longer ones rests on the certificate."""
    universe, symbols = law.law.universe, law.law.starts
    lengths = range(universe.shortest, universe.longest + 1)
    rings = ((cells * len(symbols) ** cells, map(bytes, product(symbols, repeat=cells))) for cells in lengths)
    found = _look_at(law, rings, SHORT_WORK, work)
    if found.violation is not None:
        return f"recorded that it is proved, judged violated {found.violation}"
    count.seen["starts of short rings of laws that are proved"] += found.looked
    if not found.looked:
        raise Unjudged(BEYOND_WORK)
    if not found.usable:
        raise Unjudged("no start of the short rings meets the preconditions")
    return None


class _Looked(Struct):
    """How many starts were looked at, how many were usable and hit, and where one violates the law."""

    looked: int = 0
    usable: int = 0
    hits: int = 0
    violation: str | None = None


def _look_at(law: CelLaw, batches: Iterable[tuple[int, Iterable[Ring]]], bound: int, work: Work) -> _Looked:
    """Look at starts until one violates the law or a batch, of so many cells, is beyond the bound."""
    found, spent = _Looked(), 0
    for cells, starts in batches:
        cost = law.cost(cells)
        if not work.take(cost, bound - spent):
            break
        spent += cost
        for start in starts:
            one = law.look(start)
            found.looked, found.usable, found.hits = found.looked + 1, found.usable + one.usable, found.hits + one.hits
            if one.violated is not None:
                shown = "".join(law.law.universe.alphabet[cell] for cell in start)
                found.violation = f"at step {one.violated} from {shown!r}"
                return found
    return found


class StatedVerdict(Struct, frozen=True):
    """A verdict in a receipt of a discovery.

    Attributes:
        verdict: What it says; None if its trial ended in an error.
        law: Gives its law; raises Broken if the discovery has no such law.
        universe: Gives the universe of the law; raises KeyError if the discovery has no such universe.
    """

    name: str
    verdict: Mapping[str, Any] | None
    law: Callable[[], Law]
    universe: Callable[[], Bundle]


def verdicts_of(plan: DiscoveryPlan, type_: str, body: Mapping[str, Any]) -> Iterator[StatedVerdict]:
    """The verdicts in a receipt of the type `law` or `escalation`: its own one, then those on held-out rules."""
    document, universes = body["document"], {universe.root: universe for universe in plan.others}
    effort = plan.model.trial if type_ == "law" else plan.model.escalation
    name = f"law {body['law']}" if type_ == "law" else f"escalation of {body['law']}"

    def mutated(number: int) -> Law:
        if number not in plan.mutant_numbers():
            raise Broken(E_VERDICT, f"the discovery tries no mutant {number!r}")
        return plan.under(plan.law(document, plan.model.held_out).law, number)

    def elsewhere(universe: Callable[[], Bundle]) -> Law:
        return plan.law(document, plan.model.held_out, universe()).law

    yield StatedVerdict(name, body["verdict"], lambda: plan.law(document, effort).law, lambda: plan.universe)
    for held in body["held_out"] if type_ == "escalation" else ():
        if held["mutant"] is not None:
            under = f"{name} under mutant {held['mutant']}"
            yield StatedVerdict(under, held, partial(mutated, held["mutant"]), lambda: plan.universe)
        else:
            universe = partial(universes.__getitem__, held["universe"])
            yield StatedVerdict(f"{name} in {held['universe']}", held, partial(elsewhere, universe), universe)


def judge_discovery(
    plan: DiscoveryPlan, receipts: Iterable[tuple[str, Mapping[str, Any]]], obstacle: str | None
) -> Count:
    """Judge the verdicts in receipts `law` and `escalation`, until one differs; an obstacle hides the cases."""
    judge = _DiscoveryJudge(plan, obstacle)
    for type_, body in receipts:
        for stated in verdicts_of(plan, type_, body):
            judge.see(stated, body["document"])
            if judge.count.against is not None:
                return judge.count
    return judge.count


class _DiscoveryJudge:
    def __init__(self, plan: DiscoveryPlan, obstacle: str | None) -> None:
        self.count = Count()
        self._plan, self._obstacle, self._work = plan, obstacle, Work()
        reference = Reference()
        self._universe = cache(lambda root: CelUniverse(reference, self._bundles[root].main))
        self._bundles = {universe.root: universe for universe in (plan.universe, *plan.others)}

    def see(self, stated: StatedVerdict, document: Mapping[str, Any]) -> None:
        """Judge one verdict, or count why it is not judged."""
        status, universe = None if stated.verdict is None else stated.verdict["status"], stated.universe()
        if stated.verdict is None or status in ("ERROR", "INAPPLICABLE"):
            self.count.without[INAPPLICABLE if status == "INAPPLICABLE" else ENDED] += 1
            return
        law, own = stated.law(), self._plan.checked.rule.table

        def other_law() -> CelLaw:
            other = self._universe(universe.root)
            table = other.table
            if universe is self._plan.universe:  # an entry that a mutant has changed is no expression's
                rows = zip(table, own, law.universe.rule.table, strict=True)
                table = tuple(ours if ours != first else found for found, first, ours in rows)
            return CelLaw(other, law, self._plan.parsed(document).bundle.main, table)

        judge_law(other_law, stated.verdict, partial(self._cases, law), self.count, self._work, stated.name)

    def _cases(self, law: Law) -> Sequence[Ring]:
        if self._obstacle is not None:
            raise Unjudged(f"its cases are those that replay makes, and {self._obstacle}")
        return [bytes(case.start) for case in make_cases(law)]
