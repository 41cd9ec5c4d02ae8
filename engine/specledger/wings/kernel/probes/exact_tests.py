"""The exact tests by which answers are judged, as fractions: no rounding decides anything.

- how often a predicted choice came, against the stated rate (binomial; Poisson-binomial for several claims);
- whether a predicted choice is not the most frequent one in a state (sign tests against each other answer);
- whether changes move the choice more often than asking the same question again does (Fisher's exact test).

Source: Clopper and Pearson (1934) for binomial tails; Dixon and Mood (1946) for the sign test; Fisher (1935).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from fractions import Fraction
from math import comb, gcd


def at_most(count: int, odds: Sequence[int], unit: int) -> Fraction:
    """The probability that at most `count` of independent events happen, each with its odds out of `unit`."""
    weights = _distribution(odds, unit)
    return Fraction(sum(weights[: count + 1]), sum(weights))


def at_least(count: int, odds: Sequence[int], unit: int) -> Fraction:
    """The probability that at least `count` of them happen."""
    weights = _distribution(odds, unit)
    return Fraction(sum(weights[count:]), sum(weights))


def not_most_frequent(predicted: int, others: Collection[int]) -> Fraction:
    """The p-value of an answer that came `predicted` times being a most frequent one, beside other answers.

    Each other answer is compared alone: if the predicted one is at least as frequent, then of the times that one of the
    two came, it came in at least half. The smallest of the p-values is multiplied by how many answers were compared.
    """
    tails = [_at_most_half(predicted, predicted + other) for other in others]
    return min(Fraction(1), len(tails) * min(tails)) if tails else Fraction(1)


def above_noise(misses: int, trials: int, changes: int, asked: int) -> Fraction:
    """Fisher's one-sided p-value of so many misses in trials, beside so many changes in questions asked again."""
    changed = misses + changes
    part = sum(comb(trials, k) * comb(asked, changed - k) for k in range(misses, min(changed, trials) + 1))
    return Fraction(part, comb(trials + asked, changed))


def _distribution(odds: Sequence[int], unit: int) -> list[int]:
    """The weight of each number of events; the sum of all is a power of the unit, in lowest terms with the odds."""
    weights, shared = [1], gcd(unit, *odds)
    for odd, times in Counter(odds).items():
        yes, no = odd // shared, (unit - odd) // shared
        following = [0] * (len(weights) + times)
        for more, weight in enumerate(comb(times, k) * yes**k * no ** (times - k) for k in range(times + 1)):
            for index, before in enumerate(weights, start=more):
                following[index] += before * weight
        weights = following
    return weights


def _at_most_half(count: int, total: int) -> Fraction:
    return Fraction(sum(comb(total, k) for k in range(count + 1)), 2**total)
