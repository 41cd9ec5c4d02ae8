"""Intervals against independent ways to compute them: sums of exact fractions, decimals, and tables of the literature."""

from decimal import Decimal, getcontext
from fractions import Fraction
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specledger.suites.figures import PlannedFigure, Resampling, compute
from specledger.suites.statistics import (
    ONE,
    clopper_pearson,
    clustered,
    divide,
    mean,
    quantile,
    upper_bound,
    wilson,
)
from tests.conftest import examples

getcontext().prec = 60
COUNTS = st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


def at_most(count, total, rate):
    """P(X <= count) as an exact fraction."""
    return sum(comb(total, i) * rate**i * (1 - rate) ** (total - i) for i in range(count + 1))


@settings(max_examples=40, deadline=None)
@given(COUNTS)
def test_the_exact_interval_ends_where_the_tails_become_rare(case):
    count, total = case
    low, high = clopper_pearson(count, total)
    assert low * total <= count * ONE <= high * total
    if count < total:
        assert at_most(count, total, Fraction(high, ONE)) <= Fraction(1, 40)
        assert at_most(count, total, Fraction(high - 1, ONE)) > Fraction(1, 40)
    if count > 0:
        assert 1 - at_most(count - 1, total, Fraction(low, ONE)) <= Fraction(1, 40)
        assert 1 - at_most(count - 1, total, Fraction(low + 1, ONE)) > Fraction(1, 40)


@pytest.mark.parametrize("total", [1, 2, 10, 59, 100, 299, 1000, 15_000, 3_100_000])
def test_the_bound_of_no_failures_is_the_known_formula(total):
    exactly = 1 - Decimal("0.05") ** (Decimal(1) / total)
    assert upper_bound(0, total) == int((exactly * ONE).to_integral_value("ROUND_CEILING"))


@settings(max_examples=examples(60), deadline=None)
@given(COUNTS)
def test_wilsons_interval_solves_its_equation(case):
    count, total = case
    z = Decimal("1.959963984540054")
    p, n = Decimal(count) / total, Decimal(total)
    middle, half = p + z * z / (2 * n), z * (p * (1 - p) / n + z * z / (4 * n * n)).sqrt()
    low, high = ((middle - half) / (1 + z * z / n) * ONE, (middle + half) / (1 + z * z / n) * ONE)
    assert list(wilson(count, total)) == pytest.approx([float(low), float(high)], abs=1.001)
    assert wilson(count, total)[0] <= low + Decimal("1e-6")
    assert wilson(count, total)[1] >= high - Decimal("1e-6")


@pytest.mark.parametrize(
    ("count", "total", "low", "high"),
    [(0, 10, 0, 277_541), (10, 10, 722_459, ONE), (81, 263, 255_252, 366_207), (15, 148, 62_386, 160_460)],
)
def test_wilsons_interval_by_the_literature(count, total, low, high):
    """The last two are the examples of Newcombe (1998), Table I: 0.2553 to 0.3662 and 0.0624 to 0.1605."""
    assert list(wilson(count, total)) == pytest.approx([low, high], abs=60)


@given(st.integers(-(10**9), 10**9), st.integers(-1000, 1000).filter(bool))
def test_division_rounds_to_the_nearest_and_halves_away_from_zero(numerator, denominator):
    exactly = Fraction(numerator, denominator)
    rounded = divide(numerator, denominator)
    assert abs(exactly - rounded) <= Fraction(1, 2)
    if abs(exactly - rounded) == Fraction(1, 2):
        assert abs(rounded) > abs(exactly)


@given(st.lists(st.integers(-50, 50), min_size=1), st.integers(0, ONE))
def test_a_quantile_is_the_least_value_that_enough_do_not_exceed(values, at):
    found = quantile(values, at)
    assert found in values
    assert sum(value <= found for value in values) * ONE >= at * len(values)
    less = [value for value in values if value < found]
    assert not less or len(less) * ONE < at * len(values)


@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(-99, 99)), min_size=1))
def test_a_slope_leaves_the_least_squares(pairs):
    run = {"run": "r", "arm": "a", "scenario": "s", "seed": 1, "samples": {"f": [pairs]}}
    (told,) = compute(PlannedFigure("f", "slope", ("a",), None, 0), [run], Resampling(9, 1))
    if "value" not in told:
        assert len({x for x, _ in pairs}) == 1
        return
    found = told["value"]

    def rest(by):
        shift = Fraction(sum(y for _, y in pairs), len(pairs)) - by * Fraction(sum(x for x, _ in pairs), len(pairs))
        return sum((y - shift - by * x) ** 2 for x, y in pairs)

    step = Fraction(2, ONE)
    assert rest(Fraction(found, ONE)) <= min(rest(Fraction(found, ONE) + step), rest(Fraction(found, ONE) - step))


def test_a_mean_of_nothing_is_none():
    assert mean([0, 0]) is None
    assert mean([3, 2]) == 666_667


def test_clusters_alike_have_no_spread_and_clusters_apart_have_all_of_it():
    assert clustered([[10, 5]] * 8, mean, 199, 0) == (500_000, 500_000)
    low, high = clustered([[10, 0]] * 4 + [[10, 10]] * 4, mean, 999, 0) or (0, 0)
    assert low < 250_000
    assert high > 750_000


def test_few_clusters_tell_nothing():
    assert clustered([], mean, 99, 0) is None
    assert clustered([[10, 5]], mean, 99, 0) is None
    assert clustered([[0, 0], [0, 0]], mean, 99, 0) is None


@pytest.mark.parametrize("statistic", ["mean", "rate", "slope", "difference"])
def test_a_scenario_without_values_makes_no_interval(statistic):
    """With one scenario that has values there is nothing to draw again, so there is no interval, not one of width zero."""
    values = [[0, 1], [1, 2]] if statistic == "slope" else [0, 1]
    figure = PlannedFigure("f", statistic, ("a", "b") if statistic == "difference" else ("a",), None, 0)
    runs = [
        {"run": arm, "arm": arm, "scenario": scenario, "seed": 1, "samples": {"f": [found] if found else []}}
        for arm in figure.over
        for scenario, found in (("with", values), ("without", []))
    ]
    (told,) = compute(figure, runs, Resampling(99, 1))
    assert told["of"] > 0
    assert "cluster" not in told


def test_resampling_is_a_function_of_its_seed():
    clusters = [[7, number] for number in range(7)]
    first = clustered(clusters, mean, 99, 1)
    assert clustered(clusters, mean, 99, 1) == first
    assert any(clustered(clusters, mean, 99, seed) != first for seed in range(2, 8))
