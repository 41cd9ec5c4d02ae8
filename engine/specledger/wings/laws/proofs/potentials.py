"""Potentials on a graph of windows that bound the weight of every closed walk, and conserved observables.

All weights are integers. Sources: Hattori and Takesue, Physica D 49 (1991), for currents and for conservation: an
observable is conserved exactly if its change has weight 0 on every closed walk, and the closed walks are spanned by
those that a spanning tree leaves out; Moreira, Boccara and Goles (2004) for potentials; Bellman and Ford for the
search.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from math import gcd, lcm

from specledger.wings.laws.automaton import Additive, Rule
from specledger.wings.laws.proofs.windows import Graph, images


def current(graph: Graph, weights: Sequence[int]) -> list[int] | None:
    """A number J for each node with `weights[arc] == J[head] - J[tail]` on every arc, or None.

    On a whole graph there is one exactly if every closed walk weighs nothing. One breadth-first search finds it.
    """
    neighbours: list[list[tuple[int, int]]] = [[] for _ in range(graph.nodes)]
    for code, tail, head in graph.arcs:
        neighbours[tail].append((head, weights[code]))
        neighbours[head].append((tail, -weights[code]))
    potentials: list[int | None] = [None] * graph.nodes
    for root in range(graph.nodes):
        if potentials[root] is None:
            potentials[root] = 0
            waiting = deque([root])
            while waiting:
                node = waiting.popleft()
                value = potentials[node] or 0
                for other, step in neighbours[node]:
                    if potentials[other] is None:
                        potentials[other] = value + step
                        waiting.append(other)
    values = [value or 0 for value in potentials]
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


Vector = tuple[int, ...]


def conserved_quantities(rule: Rule, width: int) -> list[Additive]:
    """Independent conserved observables over windows of `width` cells; with the trivial ones they span all of them.

    Trivial are the number of cells, and differences of neighbours, which sum to nothing on every ring.
    """
    count = rule.symbols**width
    kernel = _kernel(_walks(rule, width), count)
    spanned = _reduced(_trivial(rule.symbols, width), count)
    quantities = []
    for vector in kernel:
        rest = _remainder(vector, spanned)
        if any(rest):
            spanned = _reduced([*spanned.values(), rest], count)
            quantities.append(Additive(rule.symbols, width, vector))
    return quantities


def _walks(rule: Rule, width: int) -> Iterator[Vector]:
    """For each fundamental closed walk of the de Bruijn graph: how each weight of an observable changes along it."""
    symbols, count, beyond = rule.symbols, rule.symbols**width, rule.symbols**rule.radius
    wide = width + 2 * rule.radius
    nodes, after = symbols ** (wide - 1), images(rule, wide, 1)
    steps: list[list[tuple[int, int]]] = [[] for _ in range(nodes)]
    for code in range(nodes * symbols):
        steps[code // symbols].append((code % nodes, code))
    to: dict[int, list[int]] = {0: [0] * count}
    waiting = [0]
    for node in waiting:
        for other, code in steps[node]:
            sums = list(to[node])
            sums[after[code]] += 1
            sums[code // beyond % count] -= 1
            if other not in to:
                to[other] = sums
                waiting.append(other)
            elif sums != to[other]:
                yield tuple(a - b for a, b in zip(sums, to[other], strict=True))


def _trivial(symbols: int, width: int) -> Iterator[Vector]:
    count = symbols**width
    yield (1,) * count
    for shorter in range(symbols ** (width - 1)):
        vector = [0] * count
        for symbol in range(symbols):
            vector[shorter * symbols + symbol] += 1
            vector[symbol * (count // symbols) + shorter] -= 1
        yield tuple(vector)


def _reduced(vectors: Iterable[Sequence[int]], count: int) -> dict[int, Vector]:
    """An echelon basis of the span by leading place, each vector whole and without a common factor."""
    basis: dict[int, Vector] = {}
    for vector in vectors:
        if len(basis) == count:
            break
        rest = _remainder(vector, basis)
        lead = next((index for index, value in enumerate(rest) if value), None)
        if lead is not None:
            basis[lead] = rest
    return basis


def _remainder(vector: Sequence[int], basis: dict[int, Vector]) -> Vector:
    rest = list(vector)
    for index in range(len(rest)):
        if rest[index] and index in basis:
            pivot = basis[index]
            up, down = pivot[index], rest[index]
            rest = [value * up - other * down for value, other in zip(rest, pivot, strict=True)]
    shared = gcd(*rest)
    return tuple(value // shared for value in rest) if shared else tuple(rest)


def _kernel(vectors: Iterable[Vector], count: int) -> list[Vector]:
    """A basis of what is orthogonal to all vectors, one for each place without a pivot."""
    basis = _reduced(vectors, count)
    kernel = []
    for free in range(count):
        if free in basis:
            continue
        solution = [Fraction(int(column == free)) for column in range(count)]
        for column in sorted(basis, reverse=True):
            row = basis[column]
            rest = sum((row[i] * solution[i] for i in range(column + 1, count)), Fraction())
            solution[column] = -rest / row[column]
        scale = lcm(*(value.denominator for value in solution))
        kernel.append(tuple(int(value * scale) for value in solution))
    return kernel
