"""Rates, their differences, means and slopes with 95 % intervals, in integers of millionths, the same on every machine.

- Wilson's interval of a rate (E. B. Wilson, JASA 22, 1927), for display;
- the exact one of Clopper and Pearson (Biometrika 26, 1934), for claims of safety, and its one-sided upper bound, which
  for 0 in n is 1 - 0.05^(1/n), about 3/n;
- Newcombe's interval of the difference of two rates of the same cases (R. G. Newcombe, Statist. Med. 17, 1998);
- for episodes that are alike within a cluster, such as a layout: Student's t on the jackknife variance over clusters
  (B. Efron, "The jackknife, the bootstrap and other resampling plans", 1982, ch. 3), of a rate as Wilson's interval of
  the number of independent cases that has this variance (P. S. Kott, D. A. Carr, J. Off. Stat. 13, 1997).

Lower limits are rounded down and upper ones up, so that rounding never narrows an interval.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import isqrt
from typing import Final

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
    return _score_interval(count, total, _Z_SQUARED)


def _score_interval(count: int, n: int, z: int) -> Interval:
    """Wilson's interval of `count` in `n`, `z` being the squared quantile in 1e-15; only their ratios matter."""
    # (k + z²/2 ± z sqrt(k (n - k) / n + z²/4)) / (n + z²), everything times 2 n S, with z² = Z / S
    centre = n * (2 * count * _SCALE + z)
    square = n * z * (4 * count * (n - count) * _SCALE + n * z)
    below = 2 * n * (n * _SCALE + z)
    root = isqrt(square)
    high_root = root + (root * root < square)
    low = max(0, centre - high_root) * ONE // below
    high = min(ONE, -(-(centre + high_root) * ONE // below))
    return low, high


def paired_difference(both: int, first: int, second: int, neither: int) -> Interval:
    """The 95 % interval of the difference of two rates of the same cases, in millionths.

    Args:
        both: How many cases hold in both.
        first: How many hold in the first only, from whose rate the other one is taken.
        second: How many hold in the second only.
        neither: How many hold in neither; there is at least one case.

    Source: R. G. Newcombe, "Improved confidence intervals for the difference between binomial proportions based on
    paired data", 1998, method 10: Wilson's limits of both rates, and their correlation with a continuity correction.
    """
    n, one, other = both + first + second + neither, both + first, both + second
    (low_one, high_one), (low_other, high_other) = wilson(one, n), wilson(other, n)
    correlation = _correlation(both, first, second, neither)

    def distance(of_one: int, of_other: int) -> int:
        """The root of x² - 2 r x y + y², rounded up."""
        square = (of_one**2 + of_other**2) * _SCALE - 2 * correlation * of_one * of_other
        return isqrt(square // _SCALE) + 1

    value = (first - second) * ONE  # here and below n times
    low = value - distance(one * ONE - low_one * n, high_other * n - other * ONE)
    high = value + distance(high_one * n - one * ONE, other * ONE - low_other * n)
    return max(-ONE, low // n), min(ONE, -(-high // n))


def _correlation(both: int, first: int, second: int, neither: int) -> int:
    """How alike two rates of the same cases come, in 1e-15, rounded down; 0 where one of them does not vary."""
    square = (both + first) * (second + neither) * (both + second) * (first + neither)
    twice = 2 * (both * neither - first * second)
    twice = max(twice - (both + first + second + neither), 0) if twice > 0 else twice
    root = isqrt(4 * square * _SCALE * _SCALE) + (twice > 0)
    return twice * _SCALE * _SCALE // root if square else 0


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


LEAST_CLUSTERS: Final = 8
"""Fewer clusters give no interval: the variance between them is not known well enough for one to hold its level."""


def clustered(clusters: Sequence[Sequence[int]], estimate: Callable[[Sequence[int]], int | None]) -> Interval | None:
    """The 95 % interval of an estimate over clusters that are independent of each other.

    Args:
        clusters: The additive figures of each cluster.
        estimate: From the sum of such figures.

    Returns:
        The interval; None with fewer than `LEAST_CLUSTERS`, where the clusters do not differ, which says nothing of how
        much they might, or where the estimate does not exist without some cluster.
    """
    known = _jackknife(clusters, estimate)
    if known is None:
        return None
    value, square = known
    # t² times the variance (k - 1) / k Σd², in 1e-15
    scaled = _t_squared(len(clusters) - 1) * (len(clusters) - 1) * square
    root = isqrt(scaled // (len(clusters) * _SCALE)) + 1
    return value - root, value + root


def clustered_rate(clusters: Sequence[Sequence[int]]) -> Interval | None:
    """The 95 % interval of a rate over clusters, each given as [cases, cases that hold]; None as of `clustered`.

    It never takes the cases for more than independent ones.
    """
    known = _jackknife(clusters, mean)
    if known is None:
        return None
    of, count = (sum(cluster[index] for cluster in clusters) for index in (0, 1))
    k, (_, square) = len(clusters), known
    # the n with p (1 - p) / n = (k - 1) / k Σd² / 1e12, times 1e9; at most all cases
    n = min(of * _FINE, count * (of - count) * ONE * ONE * _FINE * k // (of * of * (k - 1) * square))
    return _score_interval(n * count // of, n, _t_squared(k - 1) * _FINE) if n else (0, ONE)


_FINE: Final = 10**9


def _jackknife(
    clusters: Sequence[Sequence[int]], estimate: Callable[[Sequence[int]], int | None]
) -> tuple[int, int] | None:
    """The estimate, and the sum of the squared differences of it that leaving out one cluster makes."""
    if len(clusters) < LEAST_CLUSTERS:
        return None
    whole = [sum(column) for column in zip(*clusters, strict=True)]
    value, square = estimate(whole), 0
    for cluster in clusters:
        without = estimate([total - own for total, own in zip(whole, cluster, strict=True)])
        if value is None or without is None:
            return None
        square += (without - value) ** 2
    return (value, square) if value is not None and square else None


_Z: Final = 1_959_963_985
_T_TERMS: Final = (2_372_271_230, 2_822_498_616, 2_555_849_680, 1_589_534_053)


def _t_squared(freedom: int) -> int:
    """The square of the 97.5 % quantile of Student's t with at least 7 degrees of freedom, in 1e-15.

    By the expansion 26.7.5 of Abramowitz and Stegun (1964). It is less than 0.00005 too small, which is added.
    """
    quantile_ = _Z + 50_000
    for power, term in enumerate(_T_TERMS, 1):
        quantile_ += -(-term // freedom ** int(power))
    return quantile_ * quantile_ // 10**3
