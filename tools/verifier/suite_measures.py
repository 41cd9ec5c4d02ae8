"""Measures of suites: what is read off each episode, and the functions over series that they may call."""

from itertools import accumulate

from tools.verifier.basis import write
from tools.verifier.cel import evaluate
from tools.verifier.declared import Names, constants_of, expression, functions_of, names_read, ordered_lets
from tools.verifier.suite_figures import PARTS, nearest, slope_of
from tools.verifier.values import Failed, Limited, checked_int
from tools.verifier.world import World

MOST_FLATTENED = 65_536


def series_rolling(values, window):
    """At each place the mean of the last values, of fewer at the beginning."""
    if window < 1:
        raise Failed("E_EVAL_ARGUMENT")
    parts = [values[max(0, end - window) : end] for end in range(1, len(values) + 1)]
    return [checked_int(nearest(sum(part) * PARTS, len(part))) for part in parts]


def series_sums(values):
    """At each place the sum up to it."""
    return [checked_int(one) for one in accumulate(values)]


def series_differences(values):
    """What each value is more than the one before it."""
    return [checked_int(after - before) for before, after in zip(values, values[1:])]


def series_trend(values):
    """The least-squares slope over the places."""
    places = range(len(values))
    crossed = sum(place * value for place, value in enumerate(values))
    return checked_int(slope_of([len(values), sum(places), sum(values), sum(x * x for x in places), crossed]) or 0)


def series_flatten(lists):
    """The items of all lists in one."""
    if sum(map(len, lists)) > MOST_FLATTENED:
        raise Limited
    return [item for inner in lists for item in inner]


SERIES = {
    "rolling": series_rolling,
    "prefix_sums": series_sums,
    "differences": series_differences,
    "trend": series_trend,
    "first": lambda holds: holds.index(True) if True in holds else -1,
    "last": lambda values, default: values[-1] if values else default,
    "count": lambda holds: holds.count(True),
    "distinct": lambda values: len({write(value) for value in values}),
    "slice": lambda values, start, end: values[max(0, start) : max(0, end)],
    "flatten": series_flatten,
}


class Sampler:
    """The measures and figures of a suite, for the receipts of one world."""

    def __init__(self, suite, figures, world):
        self.functions = {**SERIES, **world.functions, **functions_of(suite)}
        self.constants = {**world.constants, **constants_of(suite)}
        self.measures = ordered_lets(suite.get("measures") or {}, self.functions)
        self.figures = {one.name: self.trees(one) for one in figures}
        named = {name for name, _ in self.measures}
        self.reads = {name: names_read(tree, self.functions) & named for name, tree in self.measures}

    @staticmethod
    def trees(figure):
        """What a figure is made of: one expression, of a slope two."""
        data, trees = figure.data, [expression(figure.data[figure.statistic])]
        return trees + [expression(data.get("along", "episode"))] if figure.statistic == "slope" else trees

    def sample(self, episode, samples, wanted):
        """Add the values of one episode to the samples of the wanted figures; a failure takes their place."""
        names = Names(episode, self.constants)
        failed, needed = {}, self.needed(wanted)
        for name, tree in self.measures:
            if name in needed:
                try:
                    names[name] = self.value(tree, names, failed)
                except Failed as error:
                    failed[name] = error
        for name in wanted:
            held = samples.setdefault(name, [])
            if isinstance(held, list):
                try:
                    held.append(self.values([self.value(tree, names, failed) for tree in self.figures[name]]))
                except Failed as error:
                    samples[name] = {**error.told(), "run": episode["run"], "episode": episode["episode"]}

    def needed(self, wanted):
        """The measures that some figures read, directly or not."""
        found = set()
        for name in wanted:
            for tree in self.figures[name]:
                found |= names_read(tree, self.functions)
        for name, _ in reversed(self.measures):
            if name in found:
                found |= self.reads[name]
        return found

    def value(self, tree, names, failed):
        """The value of an expression; none, if a measure that it reads has none."""
        for name in sorted(names_read(tree, self.functions) & failed.keys()) if failed else ():
            raise failed[name]
        return evaluate(tree, names, self.functions)

    @staticmethod
    def values(read):
        """The values of one episode: a list of ints, or of pairs."""
        lists = [[int(one) for one in (each if isinstance(each, list) else [each])] for each in read]
        if len(lists) == 1:
            return lists[0]
        if len(lists[0]) != len(lists[1]):
            raise Failed("E_SUITE_FIGURE")
        return [[x, y] for y, x in zip(*lists)]


def sampler_of(specs, suite, figures):
    """The sampler of a suite for a run's own specs."""
    scenario = specs["specs"][specs["root"]]
    return Sampler(suite, figures, World(specs["specs"], scenario["world"]))
