"""How many claims of a run held, and what keeps the passes of its challenges from counting.

Two tests add up over a run what single challenges cannot show. Each bets against the agent, at odds that are fair if
what it states of itself is true. Then the product of what the bets return comes to x with a probability of at most 1/x,
however many challenges there are (Ville's inequality).

Source: Shafer (2021), Testing by betting; Ramdas, Grünwald, Vovk and Shafer (2023), Game-theoretic statistics and safe
anytime-valid inference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from fractions import Fraction
from math import prod
from typing import Final

from specledger.core.calibration import ONE, held_claims
from specledger.core.causes import Cause
from specledger.core.verdict import Verdict
from specledger.evidence.receipts.kernel import Probe, ProbeEvidence, Trial

EXPLAINED: Final = "explained"
"""Claims that did not hold, and that the declared procedure explains."""
NOT_GIVEN_AGAIN: Final = "not_given_again"
"""Decisions that the agent never gave again, in challenges that decide nothing."""
PROMISE_BROKEN: Final = "promise_broken"
"""Decisions after which an agent that says it draws nothing gave another answer to the same question."""
GIVEN_TOO_SELDOM: Final = "given_too_seldom"
"""Decisions that were asked again, if the answers show that the agent decides otherwise than it answers."""
OVERSTATED: Final = "overstated"
"""Answers to claims of which an agent is not sure, if so few are the predicted ones that it is shown to be wrong."""

RETURN: Final = 100
"""The least product of returns that shows something: at most one in a hundred truthful runs comes to it."""
_HUNDREDTH: Final = ONE // 100
_KEPT: Final = frozenset({"held", "tested", EXPLAINED})
_ALWAYS: Final = frozenset({EXPLAINED, PROMISE_BROKEN, GIVEN_TOO_SELDOM, OVERSTATED})


class Claims:
    """Adds up the challenges of one probe."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._again: Counter[Fraction] = Counter()
        self._rates: Counter[Fraction] = Counter()

    def add(self, body: Probe) -> None:
        """Take a challenge that tested claims."""
        evidence, counts = body["evidence"], self._counts
        held, tested = held_claims(evidence)
        counts.update(held=held, tested=tested)
        null = evidence.get("null", {"asked": 0, "changed": 0})
        inconclusive = body["verdict"] == Verdict.INCONCLUSIVE
        counts[NOT_GIVEN_AGAIN] += inconclusive and 0 < null["asked"] == null["changed"]
        counts[PROMISE_BROKEN] += bool(evidence.get("deterministic")) and null["changed"] > 0
        if inconclusive and body["cause"] == Cause.MISPREDICTED:
            counts[EXPLAINED] += tested - held
        if _asked_whatever_was_decided(evidence):
            self._again[return_on_minority(null["asked"], null["changed"], null.get("others", 0))] += 1
        self._rates.update(return_on_miss(stated, held=satisfied) for stated, satisfied in _stated(evidence))
        self._rates.update(return_on_another(predicted=predicted) for predicted in _compared(evidence))

    def counts(self) -> dict[str, int]:
        """`held`, `tested`, and each doubt that there is."""
        counts = self._counts.copy()
        for name, bets in ((GIVEN_TOO_SELDOM, self._again), (OVERSTATED, self._rates)):
            if _shows(bets):
                counts[name] = bets.total()
        return {name: n for name, n in counts.items() if n or name in _KEPT}


def return_on_minority(asked: int, changed: int, others: int) -> Fraction:
    """What a bet returns that the decision is one of the rarer among it and the answers to the same question.

    If the agent decides as it answers, the decision is any one of these `asked + 1` with the same probability. The
    stake is spread evenly over the different choices, and that on a choice over those that are it.

    Args:
        asked: How often the same was asked again.
        changed: How many of these answers are not the decision.
        others: How many different choices these are.
    """
    return Fraction(asked + 1, (asked - changed + 1) * (others + 1))


def return_on_miss(hundredths: int, *, held: bool) -> Fraction:
    """What a bet returns that a claim with a stated confidence, in hundredths, holds half as often as stated."""
    stated = Fraction(hundredths, 100)
    if not stated:
        return Fraction(1)  # of what is stated to hold never, nothing holds half as often
    return Fraction(1, 2) if held else (1 - stated / 2) / (1 - stated)


def return_on_another(*, predicted: bool) -> Fraction:
    """What a bet returns that a predicted choice comes in two of five answers that are it or a certain other one.

    It is fair or worse if the predicted choice is a most frequent one.
    """
    return Fraction(4, 5) if predicted else Fraction(6, 5)


def _stated(evidence: ProbeEvidence) -> Iterator[tuple[int, bool]]:
    """Of each claim less than sure the confidence, rounded down to hundredths, and the outcome of its first change."""
    first: dict[int, Trial] = {}
    for trial in evidence.get("trials", ()) if evidence.get("of") != "unused" else ():
        if trial["held"] is not None:
            first.setdefault(trial["drawn"], trial)
    for trial in first.values():
        if trial.get("confidence", ONE) < ONE:
            yield trial["confidence"] // _HUNDREDTH, bool(trial["held"])


def _asked_whatever_was_decided(evidence: ProbeEvidence) -> bool:
    """Whether the same was asked again of an agent that may draw, and neither the decision nor an answer led to that.

    Which claims there are depends on the decision; how often a sequential test of what is unused asks, on the answers.
    """
    led = evidence.get("of") == "claims" or (evidence.get("of") == "unused" and "test" in evidence)
    null = evidence.get("null", {"asked": 0, "changed": 0})
    possible = 0 <= null["changed"] <= null["asked"] > 0 <= null.get("others", 0)  # else it is refuted
    return possible and not led and not evidence.get("deterministic")


def _compared(evidence: ProbeEvidence) -> Iterator[bool]:
    """Of claims without a rate, of an agent that may draw: whether answers are the predicted choice or the first other.

    Other answers, and those before the first other one, are left out.
    """
    if evidence.get("deterministic") or evidence.get("of") not in ("claims", "counterfactuals"):
        return
    first: dict[tuple[int, str], str | None] = {}
    for trial in evidence["trials"]:
        if trial["held"] is None or "confidence" in trial:
            continue
        change = trial["drawn"], trial.get("by", "")
        if change in first and (trial["held"] or trial["after"] == first[change]):
            yield bool(trial["held"])
        elif not trial["held"]:
            first.setdefault(change, trial["after"])


def _shows(bets: Mapping[Fraction, int]) -> bool:
    """Whether the product of what bets returned, each so many times, shows something."""
    won = prod(bet.numerator**times for bet, times in bets.items())
    lost = prod(bet.denominator**times for bet, times in bets.items())
    return bool(won >= RETURN * lost)


def is_doubtful(claims: Mapping[str, int], verdicts: Mapping[str, int]) -> bool:
    """Whether what passed of a challenge says too little of what the agent did.

    An agent that says it draws nothing is asked once where claims hold; if it draws, that was too seldom. Of one that
    draws, a decision that never comes again is chance; more of them than passes are those of an agent that answers
    otherwise than it decides.
    """
    return not _ALWAYS.isdisjoint(claims) or claims.get(NOT_GIVEN_AGAIN, 0) > verdicts.get(Verdict.PASS, 0)
