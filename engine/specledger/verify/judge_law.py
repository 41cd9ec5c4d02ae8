"""The second evaluator on verdicts about laws: refutations, passes and proofs, within a bound of work.

A counterexample must violate its law at the recorded step and at none before. No case of a law that passed may violate
it, and as many must be usable and hit as recorded. No start of a short ring may violate a law that is proved. The rule,
measures, preconditions and claims come from the other engine; stepping and quantifiers are done here. Certificates and
the starts of the search are not judged; they are counted.

Source: law proposer, sections 6 and 8; CEL language definition (github.com/google/cel-spec).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Final

from specledger.verify.judged import BEYOND_WORK, Count
from specledger.verify.law_cel import CelLaw
from specledger.verify.reference import Unjudged
from specledger.verify.universe_cel import Ring

VERDICT_WORK: Final = 24_000_000
"""Cells that one verdict may read: those of its starts, times the steps, for the evolution and for each observable."""

SHORT_WORK: Final = 500_000
"""The same, for the short rings of a law that is proved; lengths are tried whole."""

ALL_WORK: Final = 96_000_000
"""The same, for all verdicts of a bundle."""

NOTHING_SAID: Final = "laws of which nothing is said"


@dataclass
class Work:
    """Cells that may still be read for a bundle."""

    left: int = ALL_WORK

    def take(self, cells: int, bound: int) -> bool:
        """Spend some, unless that is more than there is, or than the bound of one verdict leaves."""
        if cells > min(bound, self.left):
            return False
        self.left -= cells
        return True


def judge_law(
    speak: Callable[[], CelLaw],
    verdict: Mapping[str, Any],
    cases: Callable[[], Sequence[Ring]],
    count: Count,
    work: Work,
    place: str,
) -> None:
    """Judge one verdict, and count what became of it.

    Args:
        speak: Gives the law as the other engine has it.
        verdict: The recorded verdict: `status`, `counterexample`, and `power` and `certificate` where it has them.
        cases: Gives the cases that the verdict was reached on, if it is one of a sample.
        count: Receives the counts.
        work: What may still be spent.
        place: Which verdict it is.

    Raises:
        Rejected: E_JUDGE_PACKAGE.
    """
    status = verdict["status"]
    judges = {"FAIL": _refuted, "PASS": _passed, "PROVED": _proved}
    if not isinstance(status, str) or status not in judges:
        count.without[NOTHING_SAID] += 1
        return
    if verdict.get("certificate") is not None:
        count.unseen["certificates, which another checker of ours checks"] += 1
    try:
        law = speak()
        against = judges[status](law, verdict, cases, count, work)
        ours = law.universe.ours
    except Unjudged as unjudged:
        count.open[unjudged.why] += 1
        return
    if against is None:
        count.judged += 1
        for function in sorted(ours):
            count.ours[function] += 1
    elif count.against is None:
        count.against = f"{place}: {against}"


def _refuted(
    law: CelLaw, verdict: Mapping[str, Any], _: Callable[[], Sequence[Ring]], count: Count, work: Work
) -> str | None:
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
    for key, step in (("t", t), ("t_plus_1", t + 1)):
        for name, value in recorded["observables"][key].items():
            judged_value = law.measured(states[step]).get(name, value)  # a precondition's side has no name of its own
            if judged_value != value:
                return f"recorded {name} = {value} at step {step}, judged {judged_value}"
    return None


def _passed(
    law: CelLaw, verdict: Mapping[str, Any], cases: Callable[[], Sequence[Ring]], count: Count, work: Work
) -> str | None:
    """No case violates the law, and as many are usable and hit as is recorded."""
    starts, spent, looked, hits, usable = cases(), 0, 0, 0, 0
    for start in starts:
        cost = law.cost(len(start))
        if not work.take(cost, VERDICT_WORK - spent):
            break
        found = law.look(start)
        spent, looked = spent + cost, looked + 1
        if found.violated is not None:
            return f"recorded that no case violates it, judged one at step {found.violated} from {_shown(law, start)}"
        hits, usable = hits + found.hits, usable + found.usable
    count.seen["cases of laws that passed"] += looked
    count.unseen["starts that a search changed"] += law.law.mutations
    if looked < len(starts):
        count.unseen["cases of laws that passed"] += len(starts) - looked
        raise Unjudged(BEYOND_WORK)
    if "power" in verdict:  # a verdict under another rule has none
        power = verdict["power"] if isinstance(verdict["power"], dict) else {}
        recorded = power.get("usable"), power.get("hits")
        if recorded != (usable, hits):
            return f"recorded {recorded[0]} usable cases and {recorded[1]} hits, judged {usable} and {hits}"
    if not hits:
        raise Unjudged("no case says anything about it")
    return None


def _proved(
    law: CelLaw, verdict: Mapping[str, Any], _: Callable[[], Sequence[Ring]], count: Count, work: Work
) -> str | None:
    """No start of a short ring violates the law; what is proved of longer ones rests on the certificate."""
    spent = looked = usable = 0
    universe, symbols = law.law.universe, law.law.starts
    for length in range(universe.shortest, universe.longest + 1):
        cost = law.cost(length * len(symbols) ** length)
        if not work.take(cost, SHORT_WORK - spent):
            break
        spent += cost
        for start in map(bytes, product(symbols, repeat=length)):
            found = law.look(start)
            looked, usable = looked + 1, usable + found.usable
            if found.violated is not None:
                return f"recorded that it is proved, judged violated at step {found.violated} from {_shown(law, start)}"
    count.seen["starts of short rings of laws that are proved"] += looked
    if not looked:
        raise Unjudged(BEYOND_WORK)
    if not usable:
        raise Unjudged("no start of the short rings meets the preconditions")
    return None


def _shown(law: CelLaw, start: Ring) -> str:
    return repr("".join(law.law.universe.alphabet[cell] for cell in start))
