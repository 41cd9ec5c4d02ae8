"""Windows of a ring as edges of a de Bruijn graph, and the weights of observables on them.

A ring of L cells is a closed walk of L edges: its windows of `width` cells are the edges, their first and last
`width - 1` cells the nodes, and every additive observable of the next few states is a sum of integers over the edges.
A window's code has its symbols as digits, the first one most significant.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from msgspec import Struct

from specledger.wings.laws.automaton import Additive, Rule


class Graph(Struct, frozen=True):
    """A part of the de Bruijn graph.

    Attributes:
        width: Cells of a window.
        arcs: (code, tail, head) of every window that may occur, ascending.
    """

    symbols: int
    width: int
    arcs: tuple[tuple[int, int, int], ...]

    @property
    def nodes(self) -> int:
        """The number of nodes of the whole graph; a node's code is below it."""
        return int(self.symbols ** (self.width - 1))

    def keep(self, nodes: frozenset[int], inside: bool) -> Graph:
        """The arcs with both ends among the nodes, or with neither."""
        kept = (arc for arc in self.arcs if (arc[1] in nodes) == inside == (arc[2] in nodes))
        return Graph(self.symbols, self.width, tuple(kept))

    def indicator(self, codes: Iterable[int], weight: int = 1) -> list[int]:
        """A weight on some windows, 0 on all others."""
        weights = [0] * self.symbols**self.width
        for code in codes:
            weights[code] = weight
        return weights

    def way(self, tail: int, head: int) -> list[int] | None:
        """The arcs of a shortest walk between two nodes, or None."""
        leaving: dict[int, list[int]] = {}
        for code, node, _ in self.arcs:
            leaving.setdefault(node, []).append(code)
        came: dict[int, int] = {}
        waiting = deque([tail])
        while waiting and head not in came and tail != head:
            node = waiting.popleft()
            for code in leaving.get(node, ()):
                other = code % self.nodes
                if other not in came and other != tail:
                    came[other] = code
                    waiting.append(other)
        if tail != head and head not in came:
            return None
        codes: list[int] = []
        while head != tail:
            codes.append(came[head])
            head = codes[-1] // self.symbols
        return codes[::-1]


def graph(symbols: int, width: int, windows: frozenset[int] | None = None, size: int = 1) -> Graph:
    """The graph of the windows of `width` cells whose every part of `size` cells is one of `windows`; None: of all."""
    nodes, parts = symbols ** (width - 1), symbols**size
    shifts = [symbols**i for i in range(width - size + 1)]
    codes: Iterable[int] = range(symbols**width)
    if windows is not None:
        codes = (code for code in codes if all(code // shift % parts in windows for shift in shifts))
    return Graph(symbols, width, tuple((code, code // symbols, code % nodes) for code in codes))


def over(symbols: int, width: int, allowed: Iterable[int]) -> frozenset[int]:
    """The codes of the windows over some of the symbols."""
    codes = [0]
    for _ in range(width):
        codes = [code * symbols + symbol for code in codes for symbol in sorted(allowed)]
    return frozenset(codes)


def images(rule: Rule, width: int, steps: int) -> list[int]:
    """For every window of `width` cells the code of the cells that it determines `steps` later.

    These are as many as `width` less twice the rule's radius for each step.
    """
    codes, lost = list(range(rule.symbols**width)), rule.width - 1
    for size in range(width, width - lost * steps, -lost):
        after = _image(rule, size)
        codes = [after[code] for code in codes]
    return codes


def _image(rule: Rule, width: int) -> list[int]:
    symbols, count = rule.symbols, len(rule.table)
    after = list(rule.table)
    for size in range(rule.width + 1, width + 1):
        after = [after[code // symbols] * symbols + rule.table[code % count] for code in range(symbols**size)]
    return after


def weigh(rule: Rule, observable: Additive, at: int, width: int) -> list[int]:
    """What each window of `width` cells adds to the observable `at` steps later, without its constant."""
    used = seen(rule, observable, at)
    after, shift, weights = images(rule, used, at), rule.symbols ** (width - used), observable.weights
    return [weights[after[code // shift]] for code in range(rule.symbols**width)]


def seen(rule: Rule, observable: Additive, at: int) -> int:
    """Cells of the window that determines what an observable adds `at` steps later."""
    return observable.width + 2 * rule.radius * at


def change(rule: Rule, observable: Additive) -> list[int]:
    """For each window that determines one: the weight of its next cells minus that of its centre."""
    symbols, weights, width = rule.symbols, observable.weights, seen(rule, observable, 1)
    centre, beyond = symbols**observable.width, symbols**rule.radius
    after = images(rule, width, 1)
    return [weights[after[code]] - weights[code // beyond % centre] for code in range(symbols**width)]


def later_windows(rule: Rule, start: frozenset[int], size: int) -> frozenset[int]:
    """Windows of `size` cells that hold every one that occurs after a step from a start over the given symbols.

    The set is closed: where all windows of a ring lie in it, so do all windows of the next state. It may be too large.
    """
    symbols, wide = rule.symbols, size + rule.width - 1
    after, count = images(rule, wide, 1), symbols**size
    known = frozenset(after[code] for code in over(symbols, wide, start))
    while len(known) < count:
        inner = graph(symbols, wide, known, size)
        grown = known | {after[code] for code, _, _ in inner.arcs}
        if len(grown) == len(known):
            break
        known = grown
    return known


def digits(code: int, symbols: int, width: int) -> tuple[int, ...]:
    """The cells of a window."""
    cells = []
    for _ in range(width):
        code, cell = divmod(code, symbols)
        cells.append(cell)
    return tuple(reversed(cells))


def code_of(cells: Iterable[int], symbols: int) -> int:
    """The code of a window."""
    code = 0
    for cell in cells:
        code = code * symbols + cell
    return code
