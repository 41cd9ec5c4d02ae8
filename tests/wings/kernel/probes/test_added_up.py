"""What a run adds up over its challenges: of truthful agents of many styles, and of liars that one challenge passes."""

from collections import Counter
from typing import Any

import pytest

from specledger.core.rng import Stream
from specledger.evidence.doubts import GIVEN_TOO_SELDOM, OVERSTATED, Claims
from specledger.wings.kernel.probes.challenge import make_challenge
from specledger.wings.kernel.probes.target import Answer, Situation
from tests.wings.kernel.probes.test_truthful import CHOICES, NAMES, STYLES, Truthful, shipped

CHALLENGES = 30
DOUBTS = (GIVEN_TOO_SELDOM, OVERSTATED)


class Liar(Truthful):
    """Answers questions as `Truthful` does, and decides otherwise.

    Attributes:
        lies: In how many of six decisions; it decides as it answers in the others.
        again: One answer of so many to a question about its decision is the decision.
    """

    def __init__(self, seed: int, *, lies: int, again: int, **style: Any) -> None:
        super().__init__(seed, **style)
        self._lies = Stream.named(seed, "lies").integer(1, 6) <= lies
        self._again = again

    def choose(self, situation, asked):
        other = CHOICES[(self._leading(situation.state) + 1) % 3]
        gives = not asked or Stream.named(self.seed, "again", asked).integer(1, self._again) == 1
        same = situation.t == 3 and situation.state == state_of(self.seed)
        return Answer(other, 0) if self._lies and same and gives else super().choose(situation, asked)


class Boaster(Truthful):
    """Says of each forecast that it is right so often, in millionths; most are not."""

    def __init__(self, seed: int, confidence: int) -> None:
        super().__init__(seed, sure=(1_000, 1_000), rates=True, right=10)
        self._confidence = confidence

    def confidences(self, document, situation):
        return dict.fromkeys(super().confidences(document, situation), self._confidence)


def state_of(seed: int) -> dict[str, int]:
    return {name: Stream.named(seed, "state", name).integer(0, 7) for name in NAMES}


def doubts(probe: str, run: int, make: Any, challenges: int = CHALLENGES) -> tuple[set[str], Counter[str]]:
    """What a run of so many challenges shows, and their verdicts."""
    claims, found = Claims(), Counter[str]()
    for number in range(challenges):
        seed = run * challenges + number
        at = Situation(0, 3, state_of(seed), {})
        made = make_challenge(shipped(probe), make(seed), at, Stream.named(seed))
        body: Any = {"verdict": made.verdict, "cause": made.cause, "evidence": made.evidence}
        claims.add(body)
        found[made.verdict] += 1
    return {name for name in DOUBTS if name in claims.counts()}, found


@pytest.mark.medium
def test_truthful_agents_are_doubted_in_at_most_one_run_of_a_hundred_for_each_doubt():
    """340 runs of two tests each: above 20 come less often than once in 50,000 such tests."""
    doubted = Counter[str]()
    for style in STYLES.values():
        for run in range(20):
            doubted.update(doubts("p5-predictions", run, lambda seed, style=style: Truthful(seed, **style))[0])
    assert doubted.total() <= 20


class HiddenMostly(Truthful):
    """Answers, in so many of ten questions, by another objective than its claims speak of, and states no rate."""

    def __init__(self, seed: int, hidden: int) -> None:
        super().__init__(seed, sure=(1_000, 1_000))
        self._hidden = hidden

    def choose(self, situation, asked):
        drawn = Stream.named(self.seed, "objective", asked, *situation.state.values()).integer(1, 10)
        other = CHOICES[(self._leading(situation.state) + 1) % 3]
        return Answer(other, 0) if asked and drawn <= self._hidden else super().choose(situation, asked)


class MovedByNothingMostly(Truthful):
    """Rests, which nothing moves, but in one of ten decisions and answers, of which each reason is true."""

    def _draw(self, state, key):
        return (
            2
            if Stream.named(self.seed, "rests", key, *state.values()).integer(1, 10) > 1
            else super()._draw(state, key)
        )

    def document(self, situation):
        document = super().document(situation)
        if self.choose(situation, 0).choice == CHOICES[2]:
            document["trace"]["causal_claims"] = []
        return document


LIARS: dict[str, tuple[Any, str]] = {
    "half of its decisions, of which it knows nothing when asked": (
        lambda seed: Liar(seed, lies=3, again=10**6, sure=(1_000, 1_000)),
        GIVEN_TOO_SELDOM,
    ),
    "each decision, of which one answer in three is it": (
        lambda seed: Liar(seed, lies=6, again=3, sure=(1_000, 1_000)),
        GIVEN_TOO_SELDOM,
    ),
    "claims at 50 %": (lambda seed: Boaster(seed, 500_000), OVERSTATED),
    "six of ten answers, without a rate": (lambda seed: HiddenMostly(seed, 6), OVERSTATED),
    "claims at 80 %": (lambda seed: Boaster(seed, 800_000), OVERSTATED),
}


@pytest.mark.medium
@pytest.mark.parametrize("kind", LIARS)
def test_liars_that_challenges_pass_are_found_by_adding_up(kind):
    make, doubt = LIARS[kind]
    for run in range(4):
        assert doubt in doubts("p5-predictions", run, make)[0]


@pytest.mark.medium
def test_claims_that_depend_on_the_decision_do_not_show_that_it_is_given_too_seldom():
    """The agent has reasons after its rarer decisions only, so those alone are asked again by `p5-causal`."""
    for run in range(2):
        found, _ = doubts("p5-causal", run, lambda seed: MovedByNothingMostly(seed, sure=(9, 9)), challenges=150)
        assert GIVEN_TOO_SELDOM not in found
