"""Rates, means and slopes with their 95 % intervals, in integers of millionths: the same on every machine.

- Wilson's interval of a rate (E. B. Wilson, JASA 22, 1927), for display;
- the exact one of Clopper and Pearson (Biometrika 26, 1934), for claims of safety, and its one-sided upper bound, which
  for 0 in n is 1 - 0.05^(1/n), about 3/n;
- percentiles over resampled clusters, since episodes on one layout are alike (Davison and Hinkley, 1997, ch. 3.8).

Lower limits are rounded down and upper ones up, so that rounding never narrows an interval.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import isqrt
from typing import Final

from specledger.core.rng import Stream

ONE: Final = 1_000_000
"""1 in millionths."""

_Z_SQUARED: Final = 3_841_458_820_694_124  # the 95 % quantile of chi squared with one degree of freedom, in 1e-15
_SCALE: Final = 10**15
_PRECISION: Final = (
    1 << 256
)  # of the terms of a binomial distribution; what their rounding adds up to is far below 1e-6

Interval = tuple[int, int]


def divide(numerator: int, denominator: int) -> int:
    """The quotient of two integers, rounded to the nearest one, halves away from zero."""
    quotient, rest = divmod(abs(numerator), abs(denominator))
    rounded = quotient + (2 * rest >= abs(denominator))
    return rounded if (numerator < 0) == (denominator < 0) else -rounded


def wilson(count: int, total: int) -> Interval:
    """Wilson's 95 % interval of `count` in `total`, in millionths.

    Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference", 1927.
    """
    # (k + z²/2 ± z sqrt(k (n - k) / n + z²/4)) / (n + z²), everything times 2 n S, with z² = Z / S
    z, n = _Z_SQUARED, total
    centre = n * (2 * count * _SCALE + z)
    square = n * z * (4 * count * (total - count) * _SCALE + n * z)
    below = 2 * n * (n * _SCALE + z)
    root = isqrt(square)
    high_root = root + (root * root < square)
    low = max(0, centre - high_root) * ONE // below
    high = min(ONE, -(-(centre + high_root) * ONE // below))
    return low, high


def clopper_pearson(count: int, total: int) -> Interval:
    """The exact 95 % interval of `count` in `total`, in millionths.

    Source: C. J. Clopper, E. S. Pearson, "The use of confidence or fiducial limits", 1934.
    """
    low = ONE - _upper(total - count, total, 40)
    return low, _upper(count, total, 40)


def upper_bound(count: int, total: int) -> int:
    """The one-sided 95 % upper bound of a rate, in millionths; 1 - 0.05^(1/n) where `count` is 0."""
    return _upper(count, total, 20)


def noticed_share(total: int) -> int:
    """The smallest share of false claims at which `total` of them show at least one with a probability of 80 %."""
    return _upper(0, total, 5)


@lru_cache(maxsize=4096)
def _upper(count: int, total: int, parts: int) -> int:
    """The least rate (millionths) at which at most `count` of `total` have a probability of at most 1 / parts."""
    low, high = 0, ONE  # at `low` it is more probable, at `high` it is not
    if count >= total:
        return ONE
    while high - low > 1:
        middle = (low + high) // 2
        if _rare(count, total, middle, parts):
            high = middle
        else:
            low = middle
    return high


def _rare(count: int, total: int, rate: int, parts: int) -> bool:
    """Whether P(X <= count) <= 1 / parts for a binomial X of `total` trials of a rate strictly between 0 and 1.

    The terms are taken relative to the most probable one, whose value is `_PRECISION`; they end where they are 0.
    """
    mode = (total + 1) * rate // ONE
    tail = _PRECISION if mode <= count else 0
    whole = _PRECISION
    term, at = _PRECISION, mode
    while term and at > 0:
        term = term * at * (ONE - rate) // ((total - at + 1) * rate)
        at -= 1
        whole += term
        tail += term if at <= count else 0
    term, at = _PRECISION, mode
    while term and at < total:
        term = term * (total - at) * rate // ((at + 1) * (ONE - rate))
        at += 1
        whole += term
        tail += term if at <= count else 0
    return tail * parts <= whole


def quantile(values: Sequence[int], at: int) -> int:
    """The least value that at least a share `at` (millionths) of the values, of which there is one, do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * at // ONE) - 1)]


def mean(sums: Sequence[int]) -> int | None:
    """The mean in millionths, of [count, sum]; None of nothing."""
    count, total = sums
    return divide(total * ONE, count) if count else None


def slope(sums: Sequence[int]) -> int | None:
    """The least-squares slope in millionths, of [n, Σx, Σy, Σxx, Σxy]; None where all x are alike."""
    n, x, y, xx, xy = sums
    spread = n * xx - x * x
    return divide((n * xy - x * y) * ONE, spread) if spread else None


def clustered(
    clusters: Sequence[Sequence[int]], estimate: Callable[[Sequence[int]], int | None], resamples: int, seed: int
) -> Interval | None:
    """The 95 % percentile interval of an estimate when whole clusters are drawn again, with replacement.

    Args:
        clusters: The additive figures of each cluster, in a fixed order.
        estimate: From the sum of such figures.
        resamples: How many times all of them are drawn.
        seed: Of the draws, which are the same for every estimate over as many clusters.

    Returns:
        The interval, or None with fewer than two clusters, or where no resample has an estimate.
    """
    if len(clusters) < 2:
        return None
    width = range(len(clusters[0]))
    found = []
    for drawn in _weights(len(clusters), resamples, seed):
        sums = [sum(times * clusters[cluster][place] for times, cluster in drawn) for place in width]
        value = estimate(sums)
        if value is not None:
            found.append(value)
    if not found:
        return None
    return quantile(found, 25_000), quantile(found, 975_000)


@lru_cache(maxsize=64)
def _weights(size: int, resamples: int, seed: int) -> tuple[tuple[tuple[int, int], ...], ...]:
    """For each resample how often each of the clusters was drawn: (how often, cluster), without those never drawn."""
    stream = Stream.named(seed, "resamples", size)
    drawn = []
    for _ in range(resamples):
        times = [0] * size
        for _ in range(size):
            times[stream.integer(0, size - 1)] += 1
        drawn.append(tuple((count, cluster) for cluster, count in enumerate(times) if count))
    return tuple(drawn)
