"""Surrogates of a policy: a decision tree over all that it may read, and a ranking of variables."""

from collections import Counter
from itertools import product


def grow(choose, cells, depth):
    """A tree of a depth over what `choose` reads, whose values are `cells` by name."""
    rows = [(values, choose(values)) for values in product(*cells.values())]
    tree = split(rows, [range(*([min(cell), max(cell)])) for cell in cells.values()], depth)

    def walk(values):
        node = tree
        while isinstance(node, tuple):
            index, limit, low, high = node
            node = low if values[index] <= limit else high
        return node

    return walk


def wrong(rows):
    """How many rows have another choice than the most frequent one."""
    return len(rows) - max(Counter(choice for _, choice in rows).values(), default=0)


def split(rows, limits, depth):
    best = Counter(choice for _, choice in rows).most_common(1)[0][0]
    cuts = [(index, limit) for index, own in enumerate(limits) for limit in own]
    halves = [(cut, *parted(rows, *cut)) for cut in cuts if depth and wrong(rows)]
    halves = [half for half in halves if half[1] and half[2]]
    if not halves:
        return best
    (index, limit), low, high = min(halves, key=lambda half: wrong(half[1]) + wrong(half[2]))
    return index, limit, split(low, limits, depth - 1), split(high, limits, depth - 1)


def parted(rows, index, limit):
    return [row for row in rows if row[0][index] <= limit], [row for row in rows if row[0][index] > limit]


def ranked(policy, values, others):
    """Naive: whatever the variable, its farthest value leads to the next choice of a list."""

    def explain(seen):
        here = policy(seen)
        other = others[(others.index(here) + 1) % len(others)] if here in others else others[0]
        return [
            {"variable": name, "becomes": tried[-1], "choice": other} for name, tried in values(seen).items() if tried
        ]

    return explain
