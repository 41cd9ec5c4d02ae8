"""Statistics of suites: rates, means and slopes with their 95 % intervals, in integers of millionths.

Wilson's interval and the exact one of Clopper and Pearson take episodes as independent; intervals over layouts draw
whole scenarios again. Lower limits are rounded down and upper ones up.
"""

from functools import lru_cache
from math import isqrt

from tools.verifier.declared import from_decimals
from tools.verifier.stream import Stream

PARTS = 1_000_000
CHI_SQUARED, CHI_SCALE = 3_841_458_820_694_124, 10**15  # the 95 % quantile with one degree of freedom
BINOMIAL_ONE = 1 << 256
MOST_EXAMPLES = 3


def nearest(numerator, denominator):
    """A quotient, rounded to the nearest integer, halves away from zero."""
    rounded = (2 * abs(numerator) + abs(denominator)) // (2 * abs(denominator))
    return rounded if (numerator < 0) == (denominator < 0) else -rounded


def wilson_limits(count, of):
    """Wilson's interval of a rate."""
    middle = of * (2 * count * CHI_SCALE + CHI_SQUARED)
    square = of * CHI_SQUARED * (4 * count * (of - count) * CHI_SCALE + of * CHI_SQUARED)
    below, root = 2 * of * (of * CHI_SCALE + CHI_SQUARED), isqrt(square)
    above = root if root * root == square else root + 1
    return max(0, middle - above) * PARTS // below, min(PARTS, -(-(middle + above) * PARTS // below))


def exact_limits(count, of):
    """The interval of Clopper and Pearson."""
    return PARTS - rate_bound(of - count, of, 40), rate_bound(count, of, 40)


@lru_cache(maxsize=4096)
def rate_bound(count, of, parts):
    """The least rate, in millionths, at which so few of so many are as improbable as one in `parts`."""
    if count >= of:
        return PARTS
    rate = 0  # the greatest so far that is not improbable, found digit by digit in base 2
    for digit in reversed(range(PARTS.bit_length())):
        higher = rate + (1 << digit)
        if higher < PARTS and not improbable(count, of, higher, parts):
            rate = higher
    return rate + 1


def improbable(count, of, rate, parts):
    """Whether P(X <= count) is at most 1 / parts; terms are relative to the most probable one."""
    mode = (of + 1) * rate // PARTS
    whole, tail = BINOMIAL_ONE, BINOMIAL_ONE if mode <= count else 0
    for down in (True, False):
        term, at = BINOMIAL_ONE, mode
        while term and (at > 0 if down else at < of):
            if down:
                term = term * at * (PARTS - rate) // ((of - at + 1) * rate)
                at -= 1
            else:
                term = term * (of - at) * rate // ((at + 1) * (PARTS - rate))
                at += 1
            whole += term
            tail += term if at <= count else 0
    return tail * parts <= whole


def share_of(values, at):
    """The least value that at least a share of the values do not exceed."""
    return sorted(values)[max(0, -(-len(values) * at // PARTS) - 1)]


def mean_of(sums):
    """The mean of [count, sum], in millionths; None of nothing."""
    return nearest(sums[1] * PARTS, sums[0]) if sums[0] else None


def slope_of(sums):
    """The least-squares slope of [n, Σx, Σy, Σxx, Σxy], in millionths; None where all x are alike."""
    n, x, y, xx, xy = sums
    return nearest((n * xy - x * y) * PARTS, n * xx - x * x) if n * xx != x * x else None


@lru_cache(maxsize=64)
def drawn_again(size, resamples, seed):
    """For each resample how often each of the clusters was drawn."""
    stream, found = Stream(seed, "resamples", size), []
    for _ in range(resamples):
        times = [0] * size
        for _ in range(size):
            times[stream.integer(0, size - 1)] += 1
        found.append(times)
    return found


def layout_limits(clusters, estimate, resampling):
    """The percentile interval of an estimate when whole clusters are drawn again; None of fewer than two clusters."""
    found = []
    for times in drawn_again(len(clusters), *resampling) if len(clusters) > 1 else ():
        sums = [sum(many * one for many, one in zip(times, column)) for column in zip(*clusters)]
        found.append(estimate(sums))
    found = [one for one in found if one is not None]
    return (share_of(found, 25_000), share_of(found, 975_000)) if found else None


def limits_told(limits):
    """An interval as a receipt tells it."""
    return None if limits is None else {"low": limits[0], "high": limits[1]}


class FigureFailed(Exception):
    """Values of a figure could not be computed; the cause is what a receipt says."""

    def __init__(self, cause):
        self.cause = cause
        super().__init__(cause["code"])


class SuiteFigure:
    """One figure: a statistic over the runs of some arms, perhaps in groups."""

    def __init__(self, name, data, arms, statistic):
        over = data.get("over")
        self.name, self.data, self.statistic, self.by = name, data, statistic, data.get("by")
        self.over = [over] if isinstance(over, str) else over or sorted(arms)

    def groups(self, runs, resampling):
        """The figure of each group: records with a name, which is empty where there are no groups."""
        chosen = [run for run in runs if run["arm"] in self.over]
        for run in chosen:
            if isinstance(run["samples"].get(self.name), dict):
                raise FigureFailed(run["samples"][self.name])
        groups = {"": chosen} if self.by is None else {}
        for run in chosen if self.by is not None else ():
            groups.setdefault(str(run[self.by]), []).append(run)
        return [{"name": name, **self.told(groups[name], resampling)} for name in sorted(groups)]

    def told(self, runs, resampling):
        """The figure of some runs, without what there is none of."""
        clusters = {}
        for run in runs:
            inside = clusters.setdefault(run["scenario"], [])
            for values in run["samples"].get(self.name, ()):
                inside += values
        pooled = [value for values in clusters.values() for value in values]
        statistic, made = self.statistic, {"of": len(pooled)}
        if statistic in ("mean", "rate"):
            made = self.summed(clusters, resampling)
        elif statistic == "difference":
            made = self.summed(self.differences(runs), resampling)
        elif statistic == "sum":
            made["value"] = sum(pooled)
        elif statistic == "slope":
            made = self.sloped(clusters, resampling)
        elif pooled:
            at = from_decimals(self.data.get("at", "0.95"))
            choose = {"least": min, "greatest": max, "quantile": lambda values: share_of(values, at)}
            made["value"] = choose[statistic](pooled)
        if statistic == "rate":
            made = self.rated(made, runs)
        return {name: value for name, value in made.items() if value is not None}

    @staticmethod
    def summed(clusters, resampling):
        """Number, sum, mean and its interval."""
        sums = [[len(values), sum(values)] for _, values in sorted(clusters.items())]
        of, total = sum(one[0] for one in sums), sum(one[1] for one in sums)
        limits = layout_limits([one for one in sums if one[0]], mean_of, resampling)
        return {"of": of, "sum": total, "value": mean_of([of, total]), "cluster": limits_told(limits)}

    def rated(self, made, runs):
        """What a rate tells beside."""
        count, of = made.pop("sum"), made["of"]
        made.update(count=count, held=self.examples(runs, 1), failed=self.examples(runs, 0))
        if of:
            limits = {"wilson": wilson_limits(count, of), "exact": exact_limits(count, of)}
            made.update({name: limits_told(one) for name, one in limits.items()})
            made["bound"] = rate_bound(count, of, 20)
        return made

    def examples(self, runs, value):
        """The first episodes in which a rate has a value."""
        found = []
        for run in runs:
            for episode, values in enumerate(run["samples"].get(self.name, ())):
                if value in values:
                    found.append({"run": run["run"], "episode": episode})
        return found[:MOST_EXAMPLES]

    def differences(self, runs):
        """By scenario: the first arm's value less the second's, of the episodes that both have."""
        first, second = {}, {}
        for run in runs:
            arm = first if run["arm"] == self.over[0] else second
            for episode, values in enumerate(run["samples"].get(self.name, ())):
                arm[run["scenario"], run["seed"], episode] = values[0]
        clusters = {}
        for place in sorted(first.keys() & second.keys()):
            clusters.setdefault(place[0], []).append(first[place] - second[place])
        return clusters

    @staticmethod
    def sloped(clusters, resampling):
        """A slope with its interval."""
        sums = []
        for _, pairs in sorted(clusters.items()):
            if pairs:
                columns = zip(*((x, y, x * x, x * y) for x, y in pairs))
                sums.append([len(pairs), *(sum(column) for column in columns)])
        whole = [sum(column) for column in zip(*sums)] or [0] * 5
        limits = layout_limits(sums, slope_of, resampling)
        return {"of": whole[0], "value": slope_of(whole), "cluster": limits_told(limits)}
