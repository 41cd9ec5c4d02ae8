"""Certificates of laws, checked against their question: without a prover or a search, in integers.

docs/proofs.md explains why each kind is a proof. Work is bounded before it is done; a malformed certificate is refused.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from msgspec import Struct

from specledger.core.canonical import NotCanonical, canonical_bytes
from specledger.wings.laws.automaton import Additive
from specledger.wings.laws.verify.conditions import (
    OPERATORS,
    Clause,
    InvalidCertificate,
    Json,
    alternatives,
    combine,
    condition_of,
    fields,
    require,
)
from specledger.wings.laws.verify.statements import Holds, State, Statement, integers

__all__ = ["InvalidCertificate", "check_certificate"]

MAX_BYTES: Final = 1 << 23

Row: TypeAlias = tuple[list[int], list[int], bool, int]  # of the ring's windows, of its start's, whether ==, the bound


def check_certificate(document: Json, question: Json, holds: Holds | None = None) -> int | None:
    """Check a certificate.

    Args:
        document: The certificate.
        question: What it has to prove, as the caller knows it: `specledger.wings.laws.proofs.question(question)`.
        holds: The judge of an `opaque` claim: of the initial state and the states at t, … t + span.

    Returns:
        None if the claim is proved for every admitted ring, else the length up to which it is.

    Raises:
        InvalidCertificate: It proves nothing, or not this.
    """
    try:
        require(len(canonical_bytes(document)) <= MAX_BYTES, "the certificate is too large")
        require(document.keys() == {"format", "question", "proof"}, "these are not the fields of a certificate")
        require(document["format"] == "proof/v1", "the format is unknown")
        same = canonical_bytes(document["question"]) == canonical_bytes(question)
        require(same, "the certificate is about another question")
        return _Check(question, holds).check(document["proof"])
    except InvalidCertificate:
        raise
    except (ArithmeticError, AttributeError, LookupError, NotCanonical, RecursionError, TypeError, ValueError):
        raise InvalidCertificate("the certificate is malformed") from None


class _Phase(Struct, frozen=True):
    """Widths of the windows of a ring and of its initial state, 0 if that is the ring, and what the latter may be."""

    symbols: int
    width: int
    back: int
    past: list[int]

    def ends(self, arcs: list[int], width: int) -> list[tuple[int, int, int]]:
        """Windows with the codes of their first and last cells but one."""
        nodes = self.symbols ** (width - 1)
        return [(code, code // self.symbols, code % nodes) for code in arcs]


class _Check(Statement):
    def check(self, proof: Json) -> int | None:
        """See `check_certificate`."""
        kind = proof["kind"]
        if kind == "exhaustive":
            _, length = fields(proof, "kind", "length")
            return self.check_rings(length)
        if kind in ("current", "potential"):
            _, potential = fields(proof, "kind", "potential")
            require(self.claim["kind"] == {"current": "conserved", "potential": "monotone"}[kind], "wrong kind")
            op = "==" if kind == "current" else self.claim["direction"]
            self.check_change(self.additive(self.claim["observable"]), op, potential)
        elif kind == "windows":
            _, closed = fields(proof, "kind", "closed")
            self.check_windows(closed)
        elif kind == "swept":
            from specledger.wings.laws.verify.swept import check_swept  # noqa: PLC0415 - imports numpy, for few proofs

            check_swept(self, proof)
        else:
            kind, initial, later = fields(proof, "kind", "initial", "later")
            require(kind == "circulation", "the kind of proof is unknown")
            self.check_circulations(initial, later)
        return None

    def check_change(self, observable: Additive, op: str, potential: Json) -> None:
        """Every window changes the observable by the difference of potentials, or at most, or at least by it."""
        require(op in ("==", "<=", ">="), "expected ==, <= or >=")
        symbols, near = self.rule.symbols, self.rule.radius
        width = observable.width + 2 * near
        words = self.words(width)
        nodes = symbols ** (width - 1)
        heights, after = integers(potential, nodes), self.later(width, 1)
        centre, beyond = symbols**observable.width, symbols**near
        for code, cells in words:
            change = observable.weights[after[code]] - observable.weights[code // beyond % centre]
            climb = heights[code % nodes] - heights[code // symbols]
            sound = -change <= climb if op == ">=" else OPERATORS[op](change, climb)
            require(sound, f"the window {list(cells)} breaks the potential")

    def closed(self, value: Json) -> tuple[int, set[int] | None]:
        """A set of windows that holds all that occur after a step, checked; None for all windows."""
        size, codes = fields(value, "width", "windows")
        integers([size], 1)
        if codes is None:
            require(size == 1, "all windows are those of one cell")
            return 1, None
        windows = set(integers(codes, len(codes)))
        require(len(windows) == len(codes), "a window is listed twice")
        for _, cells in self.words(size + 2 * self.rule.radius):
            if self.start.issuperset(cells) or self.inside(cells, size, windows):
                require(self.code(self.after(cells)) in windows, f"{list(cells)} leads out of the closed windows")
        return size, windows

    def inside(self, cells: State, size: int, windows: set[int] | None) -> bool:
        """Whether all parts of a window are among the windows."""
        parts = range(len(cells) - size + 1)
        return windows is None or all(self.code(cells[i : i + size]) in windows for i in parts)

    def check_windows(self, closed: Json) -> None:
        """A claim about one step of one cell, window by window."""
        size, windows = self.closed(closed)
        width, near = self.rule.width, self.rule.radius
        require(size <= width and self.claim["kind"] in ("commutes", "local"), "wrong kind")
        for _, cells in self.words(width):
            if not (self.start.issuperset(cells) or self.inside(cells, size, windows)):
                continue
            (after,) = self.after(cells)
            if self.claim["kind"] == "local":
                fits = cells[near] != self.claim["trigger"] or after in self.claim["results"]
            else:
                image = [self.claim["map"][cell] for cell in (reversed(cells) if self.claim["reflect"] else cells)]
                fits = self.rule.table[self.code(image)] == self.claim["map"][after]
            require(fits, f"the window {list(cells)} fails")

    def check_circulations(self, initial: Json, later: Json) -> None:
        """No ring meets a clause of the negated claim: as an initial state, and as a later one."""
        condition = condition_of(self.claim)
        clauses = combine([alternatives(self.where, False), alternatives(condition, True)])
        terms = [term for clause in clauses for atom in clause for term in atom[0]]
        width, trees = fields(initial, "width", "trees")
        arcs = [code for code, cells in self.words(width) if self.start.issuperset(cells)]
        self.check_trees(trees, clauses, self.lengths(width, 0), arcs, _Phase(self.rule.symbols, width, 0, []))
        if later is None:
            require(self.all_states and all(term["at"] is not None for term in terms), "later steps are not covered")
            return
        width, back, closed, links, trees = fields(later, "width", "start_width", "closed", "links", "trees")
        size, windows = self.closed(closed)
        require(width >= size, "the width is too small")
        arcs = [code for code, cells in self.words(width) if self.inside(cells, size, windows)]
        past = [code for code, cells in self.words(back) if self.start.issuperset(cells)]
        phase, rows = _Phase(self.rule.symbols, width, back, past), self.lengths(width, back)
        rows.append(([1] * self.rule.symbols**width, [-1] * self.rule.symbols**back, True, 0))
        for link in links:
            given, op, potential = fields(link, "observable", "op", "potential")
            observable = self.additive(given)
            self.check_change(observable, op, potential)
            sign = -1 if op == "<=" else 1
            now, then = ([n * v for v in self.weights(observable, 0, w)] for n, w in ((sign, width), (-sign, back)))
            rows.append((now, then, op == "==", 0))
        self.check_trees(trees, clauses, rows, arcs, phase)

    def lengths(self, width: int, back: int) -> list[Row]:
        """The rows that every ring of the contract meets."""
        ones, none = [1] * self.rule.symbols**width, [0] * self.rule.symbols**back if back else []
        longest = [] if self.longest is None else [([-number for number in ones], none, False, -self.longest)]
        return [(ones, none, False, self.shortest), *longest]

    def check_trees(
        self, trees: Json, clauses: list[Clause], shared: list[Row], arcs: list[int], phase: _Phase
    ) -> None:
        """Each clause is refuted by its tree."""
        require(isinstance(trees, list) and len(trees) == len(clauses), "not one tree for each clause")
        for tree, clause in zip(trees, clauses, strict=True):
            rows = list(shared)
            for terms, equal, bound in clause:
                now, start = ([0] * self.rule.symbols**phase.width, [0] * len(shared[0][1]))
                for term in terms:
                    observable, past = self.additive(term["observable"]), term["at"] is None and phase.back > 0
                    side, width = (start, phase.back) if past else (now, phase.width)
                    for code, weight in enumerate(self.weights(observable, term["at"] or 0, width)):
                        side[code] += term["times"] * weight
                    bound -= term["times"] * observable.constant  # noqa: PLW2901 - the bound of this row
                rows.append((now, start, equal, bound))
            self.check_tree(tree, rows, phase, arcs)

    def check_tree(self, tree: Json, rows: list[Row], phase: _Phase, arcs: list[int]) -> None:
        """No ring with these windows meets the rows: by multipliers, or in each of the cases that cover all rings."""
        self.spend(len(rows[0][0]) + len(phase.past))
        ends = phase.ends(arcs, phase.width)
        none = [0] * len(rows[0][1])
        if "nodes" in tree:
            nodes, inside, outside, crossing = fields(tree, "nodes", "inside", "outside", "crossing")
            part = set(integers(nodes, len(nodes)))
            self.check_tree(inside, rows, phase, [code for code, tail, head in ends if tail in part and head in part])
            self.check_tree(outside, rows, phase, [code for code, tail, head in ends if not part & {tail, head}])
            out = {code for code, tail, head in ends if tail in part and head not in part}
            row = ([int(code in out) for code in range(phase.symbols**phase.width)], none, False, 1)
            self.check_tree(crossing, [*rows, row], phase, arcs)
        elif "window" in tree:
            window, count, fewer, more = fields(tree, "window", "count", "fewer", "more")
            integers([window, count], 2)
            ones = [int(code == window) for code in range(phase.symbols**phase.width)]
            self.check_tree(fewer, [*rows, ([-number for number in ones], none, False, -count)], phase, arcs)
            self.check_tree(more, [*rows, (ones, none, False, count + 1)], phase, arcs)
        else:
            self.check_leaf(tree, rows, phase, arcs)

    def check_leaf(self, tree: Json, rows: list[Row], phase: _Phase, arcs: list[int]) -> None:
        """Farkas: the rows, each times its multiplier, say that something positive is at most 0."""
        multipliers, now, start = fields(tree, "multipliers", "now", "start")
        factors = integers(multipliers, len(rows))
        require(all(factor >= 0 or row[2] for factor, row in zip(factors, rows, strict=True)), "a negative multiplier")
        require(sum(f * row[3] for f, row in zip(factors, rows, strict=True)) > 0, "the multiples refute nothing")
        self.check_potential(factors, [row[0] for row in rows], phase.ends(arcs, phase.width), now)
        if phase.back:
            self.check_potential(factors, [row[1] for row in rows], phase.ends(phase.past, phase.back), start)
        else:
            require(start is None, "the initial state is the ring itself")

    def check_potential(
        self, factors: list[int], weights: list[list[int]], ends: list[tuple[int, int, int]], potential: Json
    ) -> None:
        """No window weighs more than the potential climbs along it, so that no ring weighs more than 0."""
        heights = integers(potential, len(weights[0]) // self.rule.symbols)
        used = [(factor, row) for factor, row in zip(factors, weights, strict=True) if factor]
        self.spend(len(ends) * (1 + len(used)))
        for code, tail, head in ends:
            weight = sum(factor * row[code] for factor, row in used)
            require(weight <= heights[head] - heights[tail], f"window {code} breaks the potential")
