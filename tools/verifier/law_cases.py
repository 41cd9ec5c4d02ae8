"""The initial states that a law is tried on: families of starts, each drawn from a stream of its own.

Chances are in 256ths. The same seed gives the same starts on every machine, so a digest says which they were.
"""

from tools.verifier.basis import tagged, write
from tools.verifier.stream import Stream


def law_cases(law):
    """The cases of a law in their order: (family, start)."""
    universe = law.universe
    if law.tests:
        shares = tested_shares(law)
    else:
        families = universe.generators
        shares = [(name, [], False, min(one.get("first", 0), law.cases)) for name, one in families.items()]
        left = max(0, law.cases - sum(share[3] for share in shares))
        parts = apportioned(left, {name: one.get("weight", 0) for name, one in families.items()})
        last = sorted(families, key=lambda name: (families[name]["make"] == "mutations", name))
        shares += [(name, [], False, parts[name]) for name in last]
    plain = [one for one in law.starts if one in universe.starts]
    plain = plain if law.tests and len(plain) > 1 else law.starts
    cases = []
    for place, (name, lengths, beyond, count) in enumerate(shares):
        stream = Stream(law.seed, "cases", universe.name, name, place)
        symbols = law.starts if beyond else plain
        maker = StartMaker(universe, universe.generators[name], symbols, lengths or universe.sizes, stream)
        known = [start for _, start in cases]
        cases += [(name, maker.make(number, known)) for number in range(count)]
    return cases[: law.cases]


def tested_shares(law):
    """The tests that a law asks for, each with its own number of cases, or an even share of what is left."""
    asked = sum(cases or 0 for _, cases, _, _ in law.tests)
    open_ = {str(place): 1 for place, test in enumerate(law.tests) if test[1] is None}
    parts = apportioned(max(0, law.cases - asked), open_)
    return [
        (family, lengths, beyond, cases or parts.get(str(place), 0))
        for place, (family, cases, lengths, beyond) in enumerate(law.tests)
    ]


def apportioned(count, weights):
    """A number split by weights; what is left over goes to the largest remainders, then to the first names."""
    total = sum(weights.values())
    if not total:
        return dict.fromkeys(weights, 0)
    whole, rest = {}, {}
    for name in sorted(weights):
        whole[name], rest[name] = divmod(count * weights[name], total)
    by_rest = sorted(rest, key=rest.get, reverse=True)  # of equal rests the first name comes first
    favoured = by_rest[: sum(rest.values()) // total]
    return {name: whole[name] + (name in favoured) for name in weights}


def law_cases_digest(law, cases):
    """The digest of cases: families and states, in their order."""
    return tagged("law-cases", write([[family, law.universe.text(start)] for family, start in cases]))


class StartMaker:
    """Makes the starts of one family; the number of a start says which of its forms it has."""

    def __init__(self, universe, family, symbols, sizes, stream):
        self.universe, self.family, self.stream = universe, family, stream
        self.symbols, self.sizes = list(symbols), list(sizes)
        self.ground = universe.empty if universe.empty in self.symbols else self.symbols[0]
        self.things = [one for one in self.symbols if one != self.ground]

    def make(self, number, known):
        """One start; `known` are those that were made before."""
        return bytes(getattr(self, "make_" + self.family["make"])(number, known))

    def size(self):
        """A length."""
        return self.stream.choice(self.sizes)

    def random(self, size, percent):
        """A ring whose cells hold something with about this chance."""
        chance, drawn, things = percent * 256 // 100, self.stream.bytes(2 * size), self.things
        pairs = zip(drawn[::2], drawn[1::2])
        return [things[which * len(things) >> 8] if one < chance else self.ground for one, which in pairs]

    def changed(self, start, edits):
        """A start with some cells changed, exchanged, added or dropped."""
        cells, stream = list(start), self.stream
        for _ in range(edits):
            form, place = stream.integer(0, 4), stream.integer(0, len(cells) - 1)
            if form == 3 and len(cells) < self.universe.longest:
                cells.insert(place, stream.choice(self.symbols))
            elif form == 4 and len(cells) > self.universe.shortest:
                del cells[place]
            elif form == 2:
                cells[place], cells[place - 1] = cells[place - 1], cells[place]
            else:
                cells[place] = stream.choice(self.symbols)
        return bytes(cells)

    def make_sweep(self, number, known):
        """Random rings of one density after another."""
        percents = self.family.get("percents") or [50]
        return self.random(self.size(), percents[number % len(percents)])

    def make_pairs(self, number, known):
        """One or two pairs, each with a gap between, on an empty ring."""
        size, gaps = self.size(), self.family.get("gaps") or [0, 1, 2]
        cells = [self.ground] * size
        for pair in range(1 + number % 2):
            place, gap = self.stream.integer(0, size - 1), gaps[(number + pair) % len(gaps)]
            cells[place] = self.stream.choice(self.things)
            cells[(place + gap + 1) % size] = self.stream.choice(self.things)
        return cells

    def make_edges(self, number, known):
        """Something in the last cell and in the first, and little between."""
        cells = self.random(self.size(), 15)
        cells[-1] = self.stream.choice(self.things)
        cells[0] = self.stream.choice(self.things)
        return cells

    def make_images(self, number, known):
        """A random ring, then the image of one under a transform, if it may be a start."""
        calls = self.family.get("transforms") or sorted(self.universe.transforms)
        start = bytes(self.random(self.size(), 50))
        if not calls or number % 2 == 0:
            return start
        image = self.universe.image(calls[number // 2 % len(calls)]).of(start)
        return image if set(image) <= set(self.symbols) else start

    def make_mutations(self, number, known):
        """An earlier start, changed."""
        start = self.stream.choice(known) if known else self.random(self.size(), 50)
        return self.changed(start, 1 + number % 3)

    def make_patterns(self, number, known):
        """Uniform rings, then alternating ones, then halves, on one length after another."""
        two = [(a, b) for a in self.symbols for b in self.symbols if a < b]
        forms = [*((one,) for one in self.symbols), *two, *(pair * 2 for pair in two)]
        form, size = forms[number % len(forms)], self.sizes[number // len(forms) % len(self.sizes)]
        if len(form) == 4:
            return [form[0]] * (size // 2) + [form[1]] * (size - size // 2)
        return [form[place % len(form)] for place in range(size)]

    def make_extremes(self, number, known):
        """The shortest and the longest ring: one thing, one hole, full, crowded."""
        size = self.universe.shortest if number % 2 == 0 else self.universe.longest
        place, thing, form = self.stream.integer(0, size - 1), self.stream.choice(self.things), number // 2 % 4
        if form == 3:
            return self.random(size, 90)
        cells = [thing if form else self.ground] * size
        if form < 2:
            cells[place] = self.ground if form else thing
        return cells
