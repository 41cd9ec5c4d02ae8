"""Trying a law on starts: whether it is violated, when first, and what the lack of a violation is worth.

Every start is followed step by step, and its steps are judged together. Where an integer may leave 64 bits, everything
that could be read is computed, so that it does not depend on the order whether one does.
"""

from tools.verifier.basis import Open
from tools.verifier.law_cases import StartMaker
from tools.verifier.law_claim import APPLIED, CELL_IMAGE, CELL_MOVED, CELL_NOW, CELLWISE, SUM_SIGNS, claim_reads
from tools.verifier.law_quantity import held_integer
from tools.verifier.stream import Stream
from tools.verifier.values import BUDGET

LAW_LIMIT_CELLS = 500_000_000
MILLIONTHS = 1_000_000
SEARCH_ROUNDS, SEARCH_POOL, MINIMISED_MOST, EXCERPT_MOST = 5, 48, 300, 12
STATES_KEPT, MEASURES_KEPT = 1 << 19, 16
CONTENT_STARTS, CONTENT_STEPS, CONTENT_MUTANTS, CONTENT_CELLS = 64, 8, 4096, 10


class Tried:
    """One start under a law: its states, and what the law says of each step.

    Values of many steps are computed together, as one list: of what is about cells those of all cells of a step, then
    those of the next one.
    """

    def __init__(self, law, start, last=None, rule=None, known=None):
        """Follow a start, to the last step that is judged; under another rule, and where it is known, what comes."""
        self.law, self.start, rule = law, start, rule or law.universe.rule
        self.last = law.last if last is None else last
        steps = steps_to(law, self.last)
        BUDGET.spend(len(start) * (steps + 1))
        self.states, self.known = known or (rule.run(start, steps), {})
        self.rows, self.measured = {CELL_NOW: self.states}, {}
        if law.image is not None:
            self.rows[CELL_IMAGE] = rule.run(law.image.of(start), steps)
            self.rows[CELL_MOVED] = [law.image.of(state) for state in self.states]

    def row(self, quantity):
        """The values of an observable at every step."""
        if quantity not in self.measured:
            self.measured[quantity] = self.measure(quantity)
        return self.measured[quantity]

    def measure(self, quantity):
        """The same, computed; what a measure of the universe is worth is known for the other laws, too."""
        op, left = quantity.op, quantity.left
        if op == "number":
            return [left] * len(self.states)
        if op == "measure":
            found = self.known.get(left) or list(map(left.of, self.states))
            if len(self.known) < MEASURES_KEPT:
                self.known[left] = found
            return found
        return all_held(list(map(APPLIED[op], self.row(left), self.row(quantity.right))))

    def read_all(self):
        """Compute every observable that is read, of every state."""
        law = self.law
        for node in (law.where, law.holds, law.antecedent or law.where):
            for name, _, _ in claim_reads(node):
                if name not in CELLWISE:
                    self.row(law.quantities[name])

    def values(self, node, first, last):
        """A node of a claim at the steps from one to another, and whether these are values of cells."""
        kind, count = node[0], last - first + 1
        if kind == "const":
            symbol = isinstance(node[1], str)
            return [self.law.universe.alphabet.index(node[1]) if symbol else node[1]] * count, False
        if kind == "obs":
            begin, end = (node[2], node[2]) if node[3] else (first + node[2], last + node[2])
            cellwise = node[1] in CELLWISE
            row = self.rows[node[1]] if cellwise else self.row(self.law.quantities[node[1]])
            row = row[begin : end + 1] * (count if node[3] else 1)
            return b"".join(row) if cellwise else row, cellwise
        if kind == "not":
            found, cellwise = self.values(node[1], first, last)
            return [not one for one in found], cellwise
        (one, wide), (other, broad) = (self.values(below, first, last) for below in node[1:])
        if wide != broad:
            one, other = (one, self.spread(other)) if wide else (self.spread(one), other)
        BUDGET.spend(len(one))
        found = list(map(APPLIED[kind], one, other))
        return all_held(found) if kind in SUM_SIGNS else found, wide or broad

    def spread(self, values):
        """A value for each cell of each step."""
        size = len(self.start)
        return [one for one in values for _ in range(size)]

    def usable(self):
        """Whether the start meets the preconditions."""
        return bool(self.values(self.law.where, 0, 0)[0][0])

    def looked(self, first, last):
        """At how many of some steps the antecedent holds, and the first at which the law is violated, or None."""
        law, size = self.law, len(self.start) if self.law.cells else 1
        if last < first:
            return 0, None
        counts, wide = [True] * (last - first + 1), False
        if law.antecedent is not None:
            counts, wide = self.values(law.antecedent, first, last)
        kept, broad = self.values(law.holds, first, last + law.waits)
        if not law.cells and (wide or broad):
            raise Open("E_SPECS", "a law that is not about cells reads cells")
        if law.cells:
            counts, kept = counts if wide else self.spread(counts), kept if broad else self.spread(kept)
        span = 1
        while span <= law.waits:  # each is true if it or one of those up to `span` steps later is
            more = min(span, law.waits + 1 - span)
            kept = [one or other for one, other in zip(kept, kept[more * size :])]
            span += more
        broken = [one and not other for one, other in zip(counts, kept)]
        hits = sum(any(counts[place : place + size]) for place in range(0, len(counts), size))
        return hits, first + broken.index(True) // size if True in broken else None

    def judged(self):
        """Whether it counts, at how many steps the antecedent held, and the first step of a violation or None."""
        if not self.law.fitting:
            self.read_all()
        usable = self.usable()
        if self.law.fitting and not usable:
            return False, 0, None
        hits, violated = self.looked(self.law.first, self.last)
        return (True, hits, violated) if usable else (False, 0, None)


def all_held(values):
    """Integers, all of them within 64 bits."""
    if values:
        held_integer(min(values))
        held_integer(max(values))
    return values


def steps_to(law, last):
    """Steps that are evolved to judge those up to a last one."""
    return max(last + law.reach, law.fixed)


def law_work(law, cases):
    """The cells that the cases and the search after them may read."""
    cells = sum(len(start) for _, start in cases)
    share = -(-law.mutations * cells // max(1, len(cases)))
    return (cells + share) * (law.steps + 1) * (1 + len(law.quantities))


class Trial:
    """A law, tried on its cases."""

    def __init__(self, law, cases):
        BUDGET.foresee(law_work(law, cases))
        law.fitting = law.fits(law.claim) is not None and law.fits(law.where) is not None
        self.law, self.cases, self.judged = law, cases, []
        seen = dict.fromkeys(("interacting", "wrapping"), 0)
        families, bins, hit_cases = set(), set(), 0
        for family, start in cases:
            tried = Tried(law, start)
            self.judged.append(tried.judged())
            usable, hits, _ = self.judged[-1]
            if usable:
                seen["interacting"] += self.interacts(tried)
                seen["wrapping"] += self.wraps(tried)
                bins.add(self.bin(start))
            if hits:
                families.add(family)
                hit_cases += 1
        self.power = {
            "cases": len(cases),
            "usable": sum(one[0] for one in self.judged),
            "hits": sum(one[1] for one in self.judged),
            "hit_cases": hit_cases,
            "families": len(families),
            **seen,
            "bins": len(bins),
        }
        self.power["coverage"] = coverage(self.power)

    def interacts(self, tried):
        """Whether what the universe calls interaction happens at some step; else whether the ring changes."""
        universe, states = self.law.universe, tried.states
        if universe.interaction is None:
            return any(one != other for one, other in zip(states, states[1:]))
        measure = universe.measure(universe.interaction)
        return any(measure.of(state) > 0 for state in states)

    def wraps(self, tried):
        """Whether there is something in the first or the last cell at some step."""
        empty = self.law.universe.empty
        return any(state[0] != empty or state[-1] != empty for state in tried.states)

    def bin(self, start):
        """The fifth of density that a start is of."""
        filled = sum(cell != self.law.universe.empty for cell in start)
        return min(filled * 5 // len(start), 4)

    def violation(self):
        """The shortest case that violates the law, of those the one that does so first; None if none does."""
        return first_violating([start for _, start in self.cases], self.judged)

    def weakness(self):
        """Why the trial says nothing, if so."""
        power = self.power
        if power["usable"] < 50:
            return "unmet_preconditions"
        if power["hits"] == 0:
            return "vacuous_pass"
        weak = power["hits"] < 20 or power["families"] < 2 or power["coverage"] < 300_000
        return "inconclusive_low_power" if weak else None

    def bound(self):
        """The most that the rate of violations can be, in millionths (95 %): three divided by the hits."""
        hits = self.power["hits"]
        return min(MILLIONTHS, -(-3 * MILLIONTHS // hits)) if hits else None

    def searched(self):
        """A start that violates the law, found by changing the best ones round after round; None if there is none."""
        law = self.law
        if law.mutations < SEARCH_ROUNDS:
            return None
        maker = StartMaker(law.universe, {}, law.starts, [], Stream(law.seed, "search", law.universe.name))
        pool, count = best_starts([start for _, start in self.cases], self.judged), law.mutations // SEARCH_ROUNDS
        for number in range(SEARCH_ROUNDS):
            starts = [maker.changed(pool[place % len(pool)], 1 + (number + place) % 3) for place in range(count)]
            judged = [Tried(law, start).judged() for start in starts]
            found = first_violating(starts, judged)
            if found is not None:
                return found
            pool = best_starts(starts, judged)[: SEARCH_POOL // 2] + pool[: SEARCH_POOL // 2]
        return None


def coverage(power):
    """The weighted sum of the ratios, in millionths."""
    usable = max(1, power["usable"])
    weighted = ((300_000, "usable", max(1, power["cases"])), (200_000, "interacting", usable))
    weighted += ((100_000, "wrapping", usable), (200_000, "bins", 5), (200_000, "hit_cases", usable))
    return sum(weight * power[name] // of for weight, name, of in weighted)


def first_violating(starts, judged):
    """The shortest start that violates a law, of those the one that does so first, of those the first."""
    found = [(len(starts[at]), one[2], at) for at, one in enumerate(judged) if one[2] is not None]
    return starts[min(found)[2]] if found else None


def best_starts(starts, judged):
    """Short starts at which the antecedent holds often; those that are not usable come last."""
    order = sorted(range(len(starts)), key=lambda at: (not judged[at][0], len(starts[at]) > 32, -judged[at][1], at))
    return [starts[at] for at in order[:SEARCH_POOL]]


def law_content(law):
    """How many rules that differ in one entry break a law: {broken, mutants, share}."""
    universe, stream = law.universe, Stream(0, "content", law.universe.name)
    sizes = range(universe.shortest, max(universe.shortest, min(universe.longest, CONTENT_CELLS)) + 1)
    lengths = [sizes[number % len(sizes)] for number in range(CONTENT_STARTS)]
    starts = [bytes([stream.choice(law.starts) for _ in range(length)]) for length in lengths]
    every, last = len(universe.rule.table) * (universe.rule.symbols - 1), min(law.last, CONTENT_STEPS)
    mutants, broken = min(every, CONTENT_MUTANTS), 0
    for number in range(mutants):
        rule, known = mutant_runs(universe, number * every // mutants, starts, steps_to(law, last))
        judged = (Tried(law, start, last, rule, one).judged() for start, one in zip(starts, known))
        every_one = list(judged) if not law.fitting else judged
        broken += any(one[2] is not None for one in every_one)
    return {"broken": broken, "mutants": mutants, "share": MILLIONTHS * broken // mutants}


def mutant_runs(universe, number, starts, steps):
    """A rule that differs in one entry, and what it makes of some starts; kept, as every law is tried on the same."""
    question = (universe.rule.table, number, steps, *starts)
    found = universe.mutant_runs.get(question)
    if found is None:
        rule = universe.rule.changed(number)
        found = rule, [(rule.run(start, steps), {}) for start in starts]
        if (len(universe.mutant_runs) + 1) * len(starts) * (steps + 1) <= STATES_KEPT:
            universe.mutant_runs[question] = found
    return found


# Counterexamples


def first_broken(law, start):
    """The first step at which a start violates a law, or None."""
    return Tried(law, start).judged()[2]


def minimised(law, start, t):
    """A start at least as small that violates a law no later, and how many candidates were judged for it."""
    spent = 0
    for shrink in (shorter_starts, emptier_starts, shorter_starts):
        chunk = len(start) // 2
        while chunk and spent < MINIMISED_MOST:
            candidates = list(dict.fromkeys(shrink(law, start, chunk)))[: MINIMISED_MOST - spent]
            spent += len(candidates)
            judged = [Tried(law, one, t).judged()[2] for one in candidates]
            found = [(at, place) for place, at in enumerate(judged) if at is not None]
            if found:
                t, place = min(found)
                start = candidates[place]
                chunk = min(chunk, len(start) // 2)
            else:
                chunk //= 2
    return start, spent


def shorter_starts(law, start, chunk):
    """Some neighbouring cells less."""
    if len(start) - chunk < law.universe.shortest:
        return []
    return [start[:place] + start[place + chunk :] for place in range(0, len(start), chunk)]


def emptier_starts(law, start, chunk):
    """Some neighbouring things less."""
    empty, found = law.universe.empty, []
    for place in range(0, len(start) if empty in law.starts else 0, chunk):
        cells = start[place : place + chunk]
        if any(cell != empty for cell in cells):
            found.append(start[:place] + bytes([empty]) * len(cells) + start[place + chunk :])
    return found


def counterexample_of(law, start, t, judged):
    """The counterexample that a start is at a step, as a receipt tells it; `judged` is told with it."""
    tried = Tried(law, start)
    first = max(0, t - 2)
    states = tried.states[first : max(t + 2, t + law.reach + 1)][:EXCERPT_MOST]
    names = dict.fromkeys(name for name, _, _ in claim_reads(law.claim) if name in law.quantities)
    after = law.universe.rule.step(tried.states[t])
    return {
        "start": law.universe.text(start),
        "t": t,
        "excerpt": {"from": first, "states": [law.universe.text(one) for one in states]},
        "observables": {
            "t": {name: law.quantities[name].of(tried.states[t]) for name in names},
            "t_plus_1": {name: law.quantities[name].of(after) for name in names},
        },
        "minimised": judged,
    }


def presented(law, start):
    """A small counterexample from a start that violates a law."""
    small, judged = minimised(law, start, first_broken(law, start))
    return counterexample_of(law, small, first_broken(law, small), judged)
