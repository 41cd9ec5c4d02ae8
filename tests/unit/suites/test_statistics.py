"""Intervals against independent ways to compute them: sums of exact fractions, decimals, and tables of the literature."""

from decimal import Decimal, getcontext
from fractions import Fraction
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specledger.core.rng import Stream
from specledger.core.statistics import (
    ONE,
    _t_squared,
    clopper_pearson,
    clustered,
    clustered_rate,
    divide,
    mean,
    paired_difference,
    quantile,
    upper_bound,
    wilson,
)
from specledger.suites.figures import PlannedFigure, compute
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


TABLES = st.tuples(*[st.integers(0, 30)] * 4).filter(any)


@settings(max_examples=examples(100), deadline=None)
@given(TABLES)
def test_the_interval_of_a_paired_difference_is_newcombes(table):
    """Method 10, in floating point, with Wilson's limits as they are."""
    a, b, c, d = table
    n = a + b + c + d
    (low_1, high_1), (low_2, high_2) = ([end / ONE for end in wilson(k, n)] for k in (a + b, a + c))
    p_1, p_2, square = (a + b) / n, (a + c) / n, (a + b) * (c + d) * (a + c) * (b + d)
    more = a * d - b * c
    phi = (max(more - n / 2, 0) if more > 0 else more) / square**0.5 if square else 0
    low = p_1 - p_2 - ((p_1 - low_1) ** 2 - 2 * phi * (p_1 - low_1) * (high_2 - p_2) + (high_2 - p_2) ** 2) ** 0.5
    high = p_1 - p_2 + ((p_2 - low_2) ** 2 - 2 * phi * (p_2 - low_2) * (high_1 - p_1) + (high_1 - p_1) ** 2) ** 0.5
    assert list(paired_difference(*table)) == pytest.approx([max(-1, low) * ONE, min(1, high) * ONE], abs=3)


@given(TABLES)
def test_a_paired_difference_lies_in_its_interval_which_the_other_order_mirrors(table):
    a, b, c, d = table
    low, high = paired_difference(*table)
    assert -ONE <= low <= Fraction((b - c) * ONE, sum(table)) <= high <= ONE
    assert paired_difference(a, c, b, d) == (-high, -low)


@pytest.mark.parametrize(("table", "low", "high"), [((1, 1, 7, 12), -0.507, -0.026), ((20, 12, 2, 16), 0.056, 0.329)])
def test_a_paired_difference_by_the_literature(table, low, high):
    """Fagerland, Lydersen and Laake (2014), from Bentur and others (2009); Armitage and Berry (1987), culture media."""
    assert [round(end / ONE, 3) for end in paired_difference(*table)] == [low, high]


@pytest.mark.parametrize(
    ("a", "b", "c"), [(0.1, 0.4, 0.1), (0, 0.5, 0), (0.05, 0.05, 0.05), (0, 0.8, 0), (0.3, 0.3, 0.1)]
)
def test_the_interval_of_a_paired_difference_covers_it(a, b, c):
    """At twelve cases, over all tables, exactly."""
    n, d, covered = 12, 1 - a - b - c, 0.0
    for i in range(n + 1):
        for j in range(n + 1 - i):
            for k in range(n + 1 - i - j):
                low, high = paired_difference(i, j, k, n - i - j - k)
                ways = comb(n, i) * comb(n - i, j) * comb(n - i - j, k)
                chance = ways * a**i * b**j * c**k * d ** (n - i - j - k)
                covered += chance if low <= (b - c) * ONE <= high else 0
    assert covered >= 0.95


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
    (told,) = compute(PlannedFigure("f", "slope", ("a",), None, 0), [run])
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


def test_clusters_apart_have_a_wide_interval():
    low, high = clustered([[10, 0]] * 4 + [[10, 10]] * 4, mean) or (0, 0)
    assert (low, high) == pytest.approx(
        (53_128, 946_872), abs=20
    )  # 0.5 ± 2.364624 * sqrt(2 / 7 / 8), by the definition
    low, high = clustered_rate([[10, 0]] * 4 + [[10, 10]] * 4) or (0, 0)
    assert 100_000 < low < 200_000
    assert low + high == pytest.approx(ONE, abs=2)


UNLIKE = {
    "one in two": [[10, 2], [10, 8]] * 4,
    "rare": [[50, 0], [50, 2], [50, 1]] * 4,
    "nearly all": [[20, 20], [20, 17]] * 6,
    "of different sizes": [[3, 1], [40, 30], [7, 2], [90, 20], [11, 11], [5, 0], [60, 41], [8, 3], [13, 9]],
}


@pytest.mark.parametrize("clusters", UNLIKE.values(), ids=UNLIKE)
def test_a_clustered_rate_is_wilsons_interval_of_as_many_cases_as_have_the_variance_of_the_clusters(clusters):
    k, of, count = len(clusters), sum(n for n, _ in clusters), sum(c for _, c in clusters)
    rate = Decimal(count) / of
    left_out = [Decimal(count - c) / (of - n) for n, c in clusters]
    variance = sum((each - rate) ** 2 for each in left_out) * (k - 1) / k
    n = min(Decimal(of), rate * (1 - rate) / variance)
    z_squared = Decimal(_t_squared(k - 1)) / 10**15
    middle = rate + z_squared / (2 * n)
    half = (z_squared * (rate * (1 - rate) / n + z_squared / (4 * n * n))).sqrt()
    expected = [float((middle + sign * half) / (1 + z_squared / n) * ONE) for sign in (-1, 1)]
    assert list(clustered_rate(clusters) or ()) == pytest.approx(expected, abs=3)
    low, high = clustered(clusters, mean) or (0, 0)
    root = (z_squared * variance).sqrt()
    assert (low, high) == pytest.approx([float((rate + sign * root) * ONE) for sign in (-1, 1)], abs=3)


ALIKE = {
    "none": [],
    "one": [[10, 5]],
    "empty": [[0, 0], [0, 0]],
    "seven": [[10, 3], [10, 7]] * 3 + [[10, 5]],
    "two alike": [[100, 97]] * 2,
    "eight alike": [[100, 97]] * 8,
    "nothing in twenty": [[9, 0]] * 20,
}


@pytest.mark.parametrize("clusters", ALIKE.values(), ids=ALIKE)
def test_too_few_clusters_and_clusters_that_do_not_differ_have_no_interval(clusters):
    """Two layouts of 97 % each made "97.00 to 97.00 %": how much layouts differ is not known from them."""
    assert clustered(clusters, mean) is None
    assert clustered_rate(clusters) is None


@pytest.mark.parametrize(("freedom", "quantile_"), [(7, 2.364624), (9, 2.262157), (19, 2.093024), (99, 1.984217)])
def test_the_quantiles_of_t_are_those_of_its_tables(freedom, quantile_):
    found = (_t_squared(freedom) / 10**15) ** 0.5
    assert quantile_ <= found <= quantile_ + 1e-4


@given(st.lists(st.tuples(st.integers(1, 40), st.integers(0, 40)).map(lambda one: [max(one), min(one)]), min_size=8))
def test_clusters_never_make_a_rate_surer_than_independent_cases_would(clusters):
    of, count = (sum(each[place] for each in clusters) for place in (0, 1))
    limits = clustered_rate(clusters)
    if limits is not None:
        low, high = wilson(count, of)
        assert limits[0] <= low
        assert limits[1] >= high


MEANS = {  # of a cluster; each has the mean 0
    "uniform": lambda stream: stream.integer(-1000, 1000),
    "nearly normal": lambda stream: sum(stream.integer(-250, 250) for _ in range(4)),
    "two kinds": lambda stream: stream.choice([-900, 900]) + stream.integer(-100, 100),
    "skewed": lambda stream: stream.choice([-300, -300, -300, 900]) + stream.integer(-100, 100),
}
RATES = {  # of a cluster, in per cent
    "0.2 or 0.8": [20, 80],
    "0.6 or 1": [60, 100],
    "1, and 0.6 in one of four": [100, 100, 100, 60],
    "all or nothing": [0, 100],
    "nothing in one of five": [100, 100, 100, 100, 0],
    "0.9 everywhere": [90],
}
TIMES = 400


def covered(limits, truth):
    """The share of the intervals that there are which hold the truth."""
    there = [each for each in limits if each is not None]
    assert len(there) > TIMES // 2
    return sum(low <= truth <= high for low, high in there) / len(there)


@pytest.mark.medium
@pytest.mark.parametrize("clusters", [8, 11, 20])
def test_an_interval_of_a_mean_over_clusters_holds_its_level(clusters):
    """Coverage of the mean in 400 samples: 93 to 97 % with 8, 11 and 20 clusters; where one cluster in four is far apart
    90, 97 and 92 %.

    The percentile bootstrap that was here before covers 88 to 91 % with 8 clusters, 69 to 88 % with 4 and 36 to 53 %
    with 2 of the same samples.
    """
    for name, value in MEANS.items():
        stream = Stream.named(7, "coverage", name, clusters)
        samples = ([[5, 5 * value(stream)] for _ in range(clusters)] for _ in range(TIMES))
        assert covered([clustered(each, mean) for each in samples], 0) >= (0.89 if name == "skewed" else 0.92), name


@pytest.mark.medium
@pytest.mark.parametrize("clusters", [8, 11, 20])
def test_an_interval_of_a_rate_over_clusters_holds_its_level(clusters):
    """Coverage of the rate in 400 samples: 94.5 to 100 %; 8 clusters: 95.5 %, 11: 95.5 %, 20: 94.5 % at least."""
    for name, rates in RATES.items():
        stream = Stream.named(7, "coverage", name, clusters)
        truth = sum(rates) * 10_000 // len(rates)
        samples = ([_binomial(stream, rates) for _ in range(clusters)] for _ in range(TIMES))
        assert covered([clustered_rate(each) for each in samples], truth) >= 0.93, name


def _binomial(stream, rates):
    rate = stream.choice(rates)
    return [8, sum(stream.integer(0, 99) < rate for _ in range(8))]


@pytest.mark.parametrize("statistic", ["mean", "rate", "slope", "difference"])
def test_a_scenario_without_values_makes_no_interval(statistic):
    """One scenario with values says nothing of how much scenarios differ: there is no interval, not one of width zero."""
    values = [[0, 1], [1, 2]] if statistic == "slope" else [0, 1]
    figure = PlannedFigure("f", statistic, ("a", "b") if statistic == "difference" else ("a",), None, 0)
    runs = [
        {"run": arm, "arm": arm, "scenario": scenario, "seed": 1, "samples": {"f": [found] if found else []}}
        for arm in figure.over
        for scenario, found in (("with", values), ("without", []))
    ]
    (told,) = compute(figure, runs)
    assert told["of"] > 0
    assert "cluster" not in told
    assert told["clusters"] == 1
