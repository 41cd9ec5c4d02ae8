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


def doubts(probe: str, run: int, make: Any) -> tuple[set[str], Counter[str]]:
    """What a run of so many challenges shows, and their verdicts."""
    claims, found = Claims(), Counter[str]()
    for number in range(CHALLENGES):
        seed = run * CHALLENGES + number
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
    "claims at 80 %": (lambda seed: Boaster(seed, 800_000), OVERSTATED),
}


@pytest.mark.medium
@pytest.mark.parametrize("kind", LIARS)
def test_liars_that_challenges_pass_are_found_by_adding_up(kind):
    make, doubt = LIARS[kind]
    for run in range(4):
        assert doubt in doubts("p5-predictions", run, make)[0]
