"""Which additive observables of small windows every step conserves: the kernel of a linear system.

Decides a basis of them, leaving out what is constant on every ring of a length. Refuses to know claims. Source:
Hattori and Takesue, Physica D 49 (1991): an observable is conserved exactly if its change weighs nothing on every
closed walk, and the closed walks are spanned by those that a spanning tree leaves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from math import gcd, lcm

from specledger.laws.automaton import Additive, Rule
from specledger.laws.proofs.windows import images

Vector = tuple[int, ...]


def conserved_quantities(rule: Rule, width: int) -> list[Additive]:
    """Independent conserved observables over windows of `width` cells; with the trivial ones they span all of them.

    Trivial are the number of cells, and differences of neighbours, which sum to nothing on every ring.
    """
    count = rule.symbols**width
    kernel = _kernel(_walks(rule, width), count)
    spanned = _reduced(_trivial(rule.symbols, width), count)
    found = []
    for vector in kernel:
        rest = _remainder(vector, spanned)
        if any(rest):
            spanned = _reduced([*spanned.values(), rest], count)
            found.append(Additive(rule.symbols, width, vector))
    return found


def _walks(rule: Rule, width: int) -> Iterator[Vector]:
    """For each fundamental closed walk of the de Bruijn graph: how each weight of an observable changes along it."""
    symbols, count = rule.symbols, rule.symbols**width
    nodes, after = count * symbols, images(rule, width + 2, 1)
    steps: list[list[tuple[int, int]]] = [[] for _ in range(nodes)]
    for code in range(nodes * symbols):
        steps[code // symbols].append((code % nodes, code))
    to: dict[int, list[int]] = {0: [0] * count}
    waiting = [0]
    for node in waiting:
        for other, code in steps[node]:
            sums = list(to[node])
            sums[after[code]] += 1
            sums[code // symbols % count] -= 1
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
        lead = next((place for place, value in enumerate(rest) if value), None)
        if lead is not None:
            basis[lead] = rest
    return basis


def _remainder(vector: Sequence[int], basis: dict[int, Vector]) -> Vector:
    rest = list(vector)
    for place in range(len(rest)):
        if rest[place] and place in basis:
            pivot = basis[place]
            up, down = pivot[place], rest[place]
            rest = [value * up - other * down for value, other in zip(rest, pivot, strict=True)]
    shared = gcd(*rest)
    return tuple(value // shared for value in rest) if shared else tuple(rest)


def _kernel(vectors: Iterable[Vector], count: int) -> list[Vector]:
    """A basis of what is orthogonal to all vectors, one for each place without a pivot."""
    basis = _reduced(vectors, count)
    found = []
    for free in range(count):
        if free in basis:
            continue
        solution = [Fraction(int(place == free)) for place in range(count)]
        for place in sorted(basis, reverse=True):
            row = basis[place]
            rest = sum((row[i] * solution[i] for i in range(place + 1, count)), Fraction())
            solution[place] = -rest / row[place]
        scale = lcm(*(value.denominator for value in solution))
        found.append(tuple(int(value * scale) for value in solution))
    return found
