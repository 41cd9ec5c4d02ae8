"""Certificates of laws: what each says is computed again from the question that they must prove, in integers.

No prover is needed and no field is believed; docs/proofs.md says why each kind is a proof.
"""

from tools.verifier.basis import CRASHES, Refuted, write
from tools.verifier.certificate_claim import (
    MOST_RINGS,
    ProofQuestion,
    all_integers,
    certain,
    claim_condition,
    clauses_joined,
    clauses_of,
    exactly,
)
from tools.verifier.law_claim import APPLIED
from tools.verifier.values import BUDGET

LARGEST_CERTIFICATE = 1 << 23


def check_certificate(certificate, question, holds=None):
    """See that a certificate proves a question.

    Args:
        certificate: The document.
        question: The facts that it must be about.
        holds: The judge of an opaque claim: of an initial state and the states at t, … t + span.

    Returns:
        None if it covers every admitted ring, else the length up to which it does.
    """
    try:
        certain(len(write(certificate)) <= LARGEST_CERTIFICATE, "the certificate is too large")
        format_, asked, proof = exactly(certificate, "format", "question", "proof")
        certain(format_ == "proof/v1", "the format is unknown")
        certain(write(asked) == write(question), "the certificate is about another question")
        return Certificate(question, holds).check(proof)
    except CRASHES as error:
        raise Refuted("E_CERTIFICATE", f"the certificate is malformed: {error!r}"[:200]) from None


class Phase:
    """The windows of a ring and those of its initial state, as arcs: (code, first cells, last cells)."""

    def __init__(self, width, arcs, back=0, past=()):
        self.width, self.arcs, self.back, self.past = width, arcs, back, past


class Certificate(ProofQuestion):
    """A question that a proof is held to."""

    def check(self, proof):
        """Check a proof by its kind."""
        kind = proof["kind"]
        if kind == "exhaustive":
            return self.check_exhaustive(exactly(proof, "kind", "length")[1])
        if kind == "windows":
            self.check_windows(exactly(proof, "kind", "closed")[1])
        elif kind == "circulation":
            _, initial, later = exactly(proof, "kind", "initial", "later")
            self.check_circulation(initial, later)
        else:
            _, potential = exactly(proof, "kind", "potential")
            fits = self.claim["kind"] == {"current": "conserved", "potential": "monotone"}.get(kind)
            certain(fits, "this kind of proof proves no such claim")
            self.check_change(self.claim["observable"], self.claim.get("direction", "=="), potential)
        return None

    def check_exhaustive(self, length):
        """Every admitted ring up to a length is tried."""
        certain(type(length) is int and length >= self.shortest, "no ring is covered")
        last = length if self.longest is None else min(length, self.longest)
        certain(last <= 64, "too many rings")
        rings = sum(len(self.start) ** cells for cells in range(self.shortest, last + 1))
        certain(rings <= MOST_RINGS, "too many rings")
        for cells in range(self.shortest, last + 1):
            found = self.failing(cells)
            certain(found is None, f"the claim fails on a ring of {cells} cells: {found}")
        return None if last == self.longest else length

    # Windows

    def weights(self, observable, at, width):
        """What each window of a width adds to an observable some steps later."""
        own, weights, _ = exactly(observable, "width", "weights", "constant")
        all_integers(weights, len(self.words(own)))
        used = own + 2 * at
        certain(used <= width, "the width is too small")
        return [weights[self.code(self.inner(cells[:used], at))] for cells in self.words(width)]

    def check_change(self, observable, op, potential):
        """Around any ring an observable changes by 0, by at most 0, or by at least 0: window by window."""
        certain(op in ("==", "<=", ">="), "expected ==, <= or >=")
        width, weights, constant = exactly(observable, "width", "weights", "constant")
        all_integers([constant], 1)
        all_integers(weights, len(self.words(width)))
        heights = all_integers(potential, self.symbols ** (width + 1))
        for cells in self.words(width + 2):
            change = weights[self.code(self.inner(cells))] - weights[self.code(cells[1:-1])]
            climb = heights[self.code(cells[1:])] - heights[self.code(cells[:-1])]
            holds = -change <= climb if op == ">=" else APPLIED[op](change, climb)
            certain(holds, f"the window {list(cells)} breaks the potential")

    def closed(self, value):
        """The width and the codes of a closed set of windows, checked; no codes are all windows."""
        width, codes = exactly(value, "width", "windows")
        if codes is None:
            certain(type(width) is int and width == 1, "all windows are those of one cell")
            return 1, None
        held = set(all_integers(codes, len(codes)))
        certain(len(held) == len(codes), "a window is listed twice")
        self.words(width)
        for cells in self.words(width + 2):
            if self.at_start(cells) or self.inside(cells, width, held):
                certain(self.code(self.inner(cells)) in held, f"{list(cells)} leads out of the closed windows")
        return width, held

    def at_start(self, cells):
        """Whether cells may stand in an initial state."""
        return all(cell in self.start for cell in cells)

    def inside(self, cells, width, held):
        """Whether every part of a window is among those of a closed set."""
        places = range(len(cells) - width + 1)
        return held is None or all(self.code(cells[place : place + width]) in held for place in places)

    def check_windows(self, closed):
        """A claim about one step of one cell, for every window of three cells that occurs."""
        width, held = self.closed(closed)
        claim, kind, table = self.claim, self.claim["kind"], self.rule.table
        certain(width <= 3 and kind in ("commutes", "local"), "this kind of proof proves no such claim")
        for cells in self.words(3):
            if self.at_start(cells) or self.inside(cells, width, held):
                after = table[self.code(cells)]
                if kind == "local":
                    holds = cells[1] != claim["trigger"] or after in claim["results"]
                else:
                    seen = cells[::-1] if claim["reflect"] else cells
                    holds = table[self.code(claim["map"][cell] for cell in seen)] == claim["map"][after]
                certain(holds, f"the window {list(cells)} fails")

    # Circulations

    def arcs(self, width, admitted):
        """The windows of a width that are admitted, as arcs."""
        nodes = self.symbols ** (width - 1)
        codes = [code for code, cells in enumerate(self.words(width)) if admitted(cells)]
        return [(code, code // self.symbols, code % nodes) for code in codes]

    def check_circulation(self, initial, later):
        """No ring meets a clause of `where and not claim`: as an initial state, and as a later one."""
        clauses = clauses_joined([clauses_of(self.where), clauses_of(claim_condition(self.claim), True)])
        width, trees = exactly(initial, "width", "trees")
        phase = Phase(width, self.arcs(width, self.at_start))
        self.check_trees(trees, clauses, self.cell_rows(phase), phase)
        if later is None:
            fixed = any(one["at"] is None for clause in clauses for row in clause for one in row[0])
            certain(self.every and not fixed, "later steps are not covered")
            return
        width, back, closed, links, trees = exactly(later, "width", "start_width", "closed", "links", "trees")
        size, held = self.closed(closed)
        certain(type(width) is int and width >= size, "the width is too small")
        arcs = self.arcs(width, lambda cells: self.inside(cells, size, held))
        phase = Phase(width, arcs, back, self.arcs(back, self.at_start))
        rows = self.cell_rows(phase)
        rows.append(([1] * self.symbols**width, [-1] * self.symbols**back, True, 0))
        for link in links:
            observable, op, potential = exactly(link, "observable", "op", "potential")
            self.check_change(observable, op, potential)
            sign = -1 if op == "<=" else 1
            now = [sign * one for one in self.weights(observable, 0, width)]
            rows.append((now, [-sign * one for one in self.weights(observable, 0, back)], op == "==", 0))
        self.check_trees(trees, clauses, rows, phase)

    def cell_rows(self, phase):
        """The rows that every admitted ring meets: (of the ring, of its initial state, whether ==, bound)."""
        ones, none = [1] * self.symbols**phase.width, [0] * self.symbols**phase.back if phase.back else []
        rows = [(ones, none, False, self.shortest)]
        if self.longest is not None:
            rows.append(([-1] * len(ones), none, False, -self.longest))
        return rows

    def check_trees(self, trees, clauses, shared, phase):
        """Each clause is refuted by its tree."""
        certain(isinstance(trees, list) and len(trees) == len(clauses), "not one tree for each clause")
        for tree, clause in zip(trees, clauses):
            rows = shared + [self.clause_row(row, phase, shared[0]) for row in clause]
            self.check_tree(tree, rows, phase, phase.arcs)

    def clause_row(self, row, phase, like):
        """A row of a clause: what it adds up over the windows of the ring, and over those of its initial state."""
        terms, equal, bound = row
        now, start = [0] * len(like[0]), [0] * len(like[1])
        for one in terms:
            observable, times, at = one["observable"], one["times"], one["at"]
            past = at is None and phase.back > 0
            every = self.weights(observable, 0 if past else at or 0, phase.back if past else phase.width)
            side = start if past else now
            for code, weight in enumerate(every):
                side[code] += times * weight
            bound -= times * observable["constant"]
        return now, start, equal, bound

    def check_tree(self, tree, rows, phase, arcs):
        """No ring of these arcs meets the rows: by multipliers, or in each of the cases that cover all rings."""
        size, none = len(rows[0][0]), [0] * len(rows[0][1])
        BUDGET.spend(size)
        if "nodes" in tree:
            nodes, inside, outside, crossing = exactly(tree, "nodes", "inside", "outside", "crossing")
            part = set(all_integers(nodes, len(nodes)))
            self.check_tree(inside, rows, phase, [arc for arc in arcs if arc[1] in part and arc[2] in part])
            self.check_tree(outside, rows, phase, [arc for arc in arcs if arc[1] not in part and arc[2] not in part])
            leaving = [0] * size
            for code, tail, head in arcs:
                leaving[code] = int(tail in part and head not in part)
            self.check_tree(crossing, [*rows, (leaving, none, False, 1)], phase, arcs)
        elif "window" in tree:
            window, count, fewer, more = exactly(tree, "window", "count", "fewer", "more")
            all_integers([window, count], 2)
            only = [int(code == window) for code in range(size)]
            self.check_tree(fewer, [*rows, ([-one for one in only], none, False, -count)], phase, arcs)
            self.check_tree(more, [*rows, (only, none, False, count + 1)], phase, arcs)
        else:
            self.check_leaf(tree, rows, phase, arcs)

    def check_leaf(self, tree, rows, phase, arcs):
        """Multiples of the rows say that something of at most 0 is more than 0 (Farkas)."""
        multipliers, now, start = exactly(tree, "multipliers", "now", "start")
        factors = all_integers(multipliers, len(rows))
        certain(all(one >= 0 or row[2] for one, row in zip(factors, rows)), "a negative multiplier")
        certain(sum(one * row[3] for one, row in zip(factors, rows)) > 0, "the multiples refute nothing")
        self.check_climb(factors, [row[0] for row in rows], arcs, now)
        if phase.back:
            self.check_climb(factors, [row[1] for row in rows], phase.past, start)
        else:
            certain(start is None, "the initial state is the ring itself")

    def check_climb(self, factors, rows, arcs, potential):
        """On no arc do the multiples weigh more than a potential climbs along it."""
        heights = all_integers(potential, len(rows[0]) // self.symbols)
        used = [(factor, row) for factor, row in zip(factors, rows) if factor]
        BUDGET.spend(len(arcs) * (1 + len(used)))
        for code, tail, head in arcs:
            weight = sum(factor * row[code] for factor, row in used)
            certain(weight <= heights[head] - heights[tail], f"window {code} breaks the potential")
