"""Potentials: numbers on the nodes of a graph of windows that bound the weight of every closed walk at once.

Decides whether every closed walk weighs nothing, or nothing above zero. Refuses to know what the weights mean. Exact:
the weights are integers. Sources: Hattori and Takesue (1991) for currents; Moreira, Boccara and Goles (2004) for
potentials; Bellman and Ford for the search.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from specledger.laws.proofs.windows import Graph


def current(graph: Graph, weights: Sequence[int]) -> list[int] | None:
    """A number J for each node with `weights[arc] == J[head] - J[tail]` on every arc, or None.

    On a whole graph there is one exactly if every closed walk weighs nothing. One breadth-first search finds it.
    """
    neighbours: list[list[tuple[int, int]]] = [[] for _ in range(graph.nodes)]
    for code, tail, head in graph.arcs:
        neighbours[tail].append((head, weights[code]))
        neighbours[head].append((tail, -weights[code]))
    found: list[int | None] = [None] * graph.nodes
    for root in range(graph.nodes):
        if found[root] is None:
            found[root] = 0
            waiting = deque([root])
            while waiting:
                node = waiting.popleft()
                value = found[node] or 0
                for other, step in neighbours[node]:
                    if found[other] is None:
                        found[other] = value + step
                        waiting.append(other)
    values = [value or 0 for value in found]
    return values if all(weights[code] == values[head] - values[tail] for code, tail, head in graph.arcs) else None


def climb(graph: Graph, weights: Sequence[int]) -> tuple[list[int] | None, list[int]]:
    """Either h for each node with `weights[arc] <= h[head] - h[tail]` on every arc, or a cycle of positive weight.

    Returns:
        (h, []) or (None, the codes of the cycle's arcs in order).
    """
    heights = [0] * graph.nodes
    before: list[tuple[int, int] | None] = [None] * graph.nodes
    arcs = [(weights[code], code, tail, head) for code, tail, head in graph.arcs]
    while True:
        risen = False
        for weight, code, tail, head in arcs:
            height = heights[tail] + weight
            if height > heights[head]:
                heights[head] = height
                before[head] = (tail, code)
                risen = True
        if not risen:
            return heights, []
        cycle = _cycle(before)
        if cycle:
            return None, cycle


def _cycle(before: Sequence[tuple[int, int] | None]) -> list[int]:
    """The arcs of a cycle among each node's last predecessors, in walking order; empty if there is none."""
    seen = [-1] * len(before)
    for root in range(len(before)):
        node = root
        while seen[node] < 0:
            seen[node] = root
            step = before[node]
            if step is None:
                break
            node = step[0]
        else:
            if seen[node] == root:
                return _walk_back(before, node)
    return []


def _walk_back(before: Sequence[tuple[int, int] | None], node: int) -> list[int]:
    codes, here = [], node
    while step := before[here]:
        codes.append(step[1])
        here = step[0]
        if here == node:
            break
    return codes[::-1]
