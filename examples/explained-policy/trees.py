"""Surrogates of a policy: a decision tree over all observations, and a ranking of variables."""

from collections import Counter
from itertools import product


def grow(policy, sizes, depth):
    """A tree of a depth, as a policy: `observation -> action`."""
    rows = [dict(zip(sizes, values, strict=True)) for values in product(*map(range, sizes.values()))]
    tree = split([(row, policy(row)["op"]) for row in rows], sizes, depth)

    def choose(seen):
        node = tree
        while isinstance(node, tuple):
            name, limit, low, high = node
            node = low if seen[name] <= limit else high
        return {"op": node}

    return choose


def wrong(rows):
    """How many rows have another action than the most frequent one."""
    return len(rows) - max(Counter(op for _, op in rows).values(), default=0)


def split(rows, sizes, depth):
    best = Counter(op for _, op in rows).most_common(1)[0][0]
    cuts = [(name, limit) for name, size in sizes.items() for limit in range(size - 1)]
    halves = [(cut, *parted(rows, *cut)) for cut in cuts if depth and wrong(rows)]
    halves = [half for half in halves if half[1] and half[2]]
    if not halves:
        return best
    (name, limit), low, high = min(halves, key=lambda half: wrong(half[1]) + wrong(half[2]))
    return name, limit, split(low, sizes, depth - 1), split(high, sizes, depth - 1)


def parted(rows, name, limit):
    return [row for row in rows if row[0][name] <= limit], [row for row in rows if row[0][name] > limit]


def ranked(policy, values, ops):
    """Naive: whatever the variable, its farthest value leads to the next action of a list."""

    def explain(seen):
        here = policy(seen)["op"]
        other = ops[(ops.index(here) + 1) % len(ops)]
        return [
            {"variable": name, "becomes": tried[-1], "choice": {"op": other}} for name, tried in values(seen).items()
        ]

    return explain
