"""Initial states that a law is tried on: families of cases, tests that a law proposes, and their seeded generation.

Every family draws from a stream of its own. Chances are in 256ths. Source: kinetic grid facts, Generators.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from specledger.core.canonical import canonical_bytes
from specledger.core.digest import tagged
from specledger.core.rng import Stream
from specledger.expr import EvaluationError
from specledger.wings.laws.claim import TRUE
from specledger.wings.laws.law import Law, Test
from specledger.wings.laws.preconditions import Repair, distance
from specledger.wings.laws.spec.universe import Generator
from specledger.wings.laws.transform import bind_call
from specledger.wings.laws.universe import Universe

State = tuple[int, ...]

DRAWN: Final = ("sweep", "pairs", "edges", "images")
"""Makers whose starts do not depend on each other.

Patterns, repeated words and extremes are listed; mutations change other starts.
"""

CASES_TAG: Final = "specledger/law-cases/v1"


class Case(Struct, frozen=True):
    """An initial state, the family that it is of, and whether it was drawn independently of all other cases."""

    family: str
    start: State
    drawn: bool = True


def make_cases(law: Law) -> tuple[Case, ...]:
    """The cases of a law: those of the tests that it asks for, or the universe's own mix.

    Without tests, every family first makes its `first` cases; the rest is split by weight.
    """
    return _met(law, law.universe.once(_made, law.starts, law.tests, law.seed, law.cases))


def _made(
    universe: Universe, starts: tuple[int, ...], tests: tuple[Test, ...], seed: int, count: int
) -> tuple[Case, ...]:
    """The cases before preconditions are looked at, which many laws about a universe share."""
    if tests:
        shares = _tested(tests, count)
    else:
        families = universe.generators
        shares = [(Test(name, None, (), False), min(options.first, count)) for name, options in families.items()]
        left = max(0, count - sum(share for _, share in shares))
        weights = {name: options.weight for name, options in families.items()}
        order = sorted(weights, key=lambda name: (families[name].make == "mutations", name))  # what changes others last
        apportioned = apportion(left, weights)
        shares += [(Test(name, None, (), False), apportioned[name]) for name in order]
    cases: list[Case] = []
    for index, (test, share) in enumerate(shares):
        family = universe.generators[test.family]
        symbols = starts if test.beyond or not tests else _plain(universe, starts)
        stream = Stream.named(seed, "cases", universe.name, test.family, index)
        maker = Maker(universe, family, symbols, test.lengths or universe.sizes, stream)
        generated = maker.make(share, [case.start for case in cases])
        cases += [Case(test.family, start, family.make in DRAWN) for start in generated]
    return tuple(cases[:count])


def _met(law: Law, cases: tuple[Case, ...]) -> tuple[Case, ...]:
    """The cases; those that do not meet the preconditions are changed to do so, if too few do."""
    if law.where == TRUE:
        return cases
    usable = [_is_usable(law, case.start) for case in cases]
    if sum(usable) >= law.trial.usable:
        return cases
    repair, repaired = Repair(law, Stream.named(law.seed, "preconditions", law.universe.name)), list(cases)
    for index, case in enumerate(cases):
        symbols = sorted({*case.start, *(law.starts if not law.tests else _plain(law.universe, law.starts))})
        start = None if usable[index] else repair.start(case.start, symbols)
        if start is not None:
            repaired[index] = Case(case.family, start, case.drawn)
    return tuple(repaired)


def _is_usable(law: Law, start: State) -> bool:
    try:
        return distance(law, start) == 0
    except EvaluationError:
        return False


def _plain(universe: Universe, starts: tuple[int, ...]) -> tuple[int, ...]:
    """The symbols that a start of the universe may have; all of the law's, if these are fewer than two."""
    plain = tuple(symbol for symbol in starts if symbol in universe.starts)
    return plain if len(plain) > 1 else starts


def _tested(tests: Sequence[Test], count: int) -> list[tuple[Test, int]]:
    """Each test with its number of cases: its own, or an even share."""
    asked = sum(test.cases or 0 for test in tests)
    open_tests = [str(index) for index, test in enumerate(tests) if test.cases is None]
    shares = apportion(max(0, count - asked), dict.fromkeys(open_tests, 1))
    return [(test, test.cases or shares.get(str(index), 0)) for index, test in enumerate(tests)]


def apportion(count: int, weights: Mapping[str, int]) -> dict[str, int]:
    """Split a number by weights; what is left over goes to the largest remainders, then to the first names."""
    total = sum(weights.values())
    if total == 0:
        return dict.fromkeys(weights, 0)
    shares = {name: count * weight // total for name, weight in weights.items()}
    order = sorted(weights, key=lambda name: (-(count * weights[name] % total), name))
    for name in order[: count - sum(shares.values())]:
        shares[name] += 1
    return shares


def digest_cases(universe: Universe, cases: Sequence[Case]) -> str:
    """The digest of a set of cases: families and states, in their order."""
    return tagged(CASES_TAG, canonical_bytes([[case.family, universe.text(case.start)] for case in cases]))


class Maker:
    """Makes the starts of one family."""

    def __init__(
        self,
        universe: Universe,
        family: Generator,
        symbols: Sequence[int],
        sizes: Sequence[int],
        stream: Stream,
    ) -> None:
        self._universe = universe
        self._family = family
        self._symbols = tuple(symbols)
        self._ground = universe.empty if universe.empty in symbols else self._symbols[0]
        self._others = tuple(symbol for symbol in symbols if symbol != self._ground)
        self._sizes = tuple(sizes)
        self._stream = stream

    def make(self, count: int, known: Sequence[State] = ()) -> list[State]:
        """As many starts as asked for.

        Args:
            count: How many.
            known: Starts that were made before, for families that change others.
        """
        makers: Mapping[str, Callable[[int, Sequence[State]], State]] = {
            "sweep": self._sweep,
            "pairs": self._pair,
            "edges": self._edge,
            "images": self._image,
            "mutations": self._mutation,
            "patterns": self._pattern,
            "repeats": self._repeat,
            "extremes": self._extreme,
        }
        return [makers[self._family.make](number, known) for number in range(count)]

    def random(self, size: int, percent: int) -> list[int]:
        """A ring whose cells hold something with a chance of about `percent`."""
        chance = percent * 256 // 100
        drawn = self._stream.bytes(2 * size)
        others, ground = self._others, self._ground
        return [
            others[drawn[offset + 1] * len(others) >> 8] if drawn[offset] < chance else ground
            for offset in range(0, 2 * size, 2)
        ]

    def mutate(self, start: Sequence[int], edits: int) -> State:
        """A start with some cells changed, exchanged, added or dropped."""
        cells = list(start)
        for _ in range(edits):
            form, index = self._stream.integer(0, 4), self._stream.integer(0, len(cells) - 1)
            if form == 3 and len(cells) < self._universe.longest:
                cells.insert(index, self._stream.choice(self._symbols))
            elif form == 4 and len(cells) > self._universe.shortest:
                del cells[index]
            elif form == 2:
                cells[index], cells[index - 1] = cells[index - 1], cells[index]
            else:
                cells[index] = self._stream.choice(self._symbols)
        return tuple(cells)

    def _size(self) -> int:
        return self._stream.choice(self._sizes)

    def _sweep(self, number: int, known: Sequence[State]) -> State:
        percents = self._family.percents or [50]
        return tuple(self.random(self._size(), percents[number % len(percents)]))

    def _pair(self, number: int, known: Sequence[State]) -> State:
        """One or two pairs, each with a gap between, on an empty ring."""
        size = self._size()
        cells = [self._ground] * size
        gaps = self._family.gaps or [0, 1, 2]
        for pair in range(1 + number % 2):
            index, gap = self._stream.integer(0, size - 1), gaps[(number + pair) % len(gaps)]
            cells[index] = self._stream.choice(self._others)
            cells[(index + gap + 1) % size] = self._stream.choice(self._others)
        return tuple(cells)

    def _edge(self, number: int, known: Sequence[State]) -> State:
        """Something in the last cell and in the first, and little between."""
        cells = self.random(self._size(), 15)
        cells[-1], cells[0] = self._stream.choice(self._others), self._stream.choice(self._others)
        return tuple(cells)

    def _image(self, number: int, known: Sequence[State]) -> State:
        """A random ring, then its image under a transform."""
        calls = self._family.transforms or sorted(self._universe.transforms)
        start = self.random(self._size(), 50)
        image = bind_call(self._universe.transforms, calls[number // 2 % len(calls)]) if calls and number % 2 else None
        image_state = tuple(start) if image is None else image.of(start)
        return image_state if set(image_state) <= set(self._symbols) else tuple(start)

    def _mutation(self, number: int, known: Sequence[State]) -> State:
        start = self._stream.choice(known) if known else tuple(self.random(self._size(), 50))
        return self.mutate(start, 1 + number % 3)

    def _pattern(self, number: int, known: Sequence[State]) -> State:
        """Uniform rings, then alternating ones, then halves, on one length after another."""
        singles = [(symbol,) for symbol in self._symbols]
        two = [(a, b) for a in self._symbols for b in self._symbols if a < b]
        forms = [*singles, *two, *(pair * 2 for pair in two)]
        form = forms[number % len(forms)]
        size = self._sizes[number // len(forms) % len(self._sizes)]
        if len(form) == 4:
            return (form[0],) * (size // 2) + (form[1],) * (size - size // 2)
        return tuple(form[index % len(form)] for index in range(size))

    def _repeat(self, number: int, known: Sequence[State]) -> State:
        """A word around the ring, a whole number of times if a ring may be so long; one word after another."""
        alphabet = self._universe.alphabet
        words = [tuple(map(alphabet.index, word)) for word in self._family.words or ()]
        usable = [word for word in words if set(word) <= set(self._symbols)] or [(self._ground,)]
        word = usable[number % len(usable)]
        size = self._sizes[number // len(usable) % len(self._sizes)]
        whole = max(size - size % len(word), len(word))
        whole += 0 if whole >= self._universe.shortest else len(word)
        size = whole if self._universe.shortest <= whole <= self._universe.longest else size
        return tuple(word[index % len(word)] for index in range(size))

    def _extreme(self, number: int, known: Sequence[State]) -> State:
        """The shortest and the longest ring: one thing, one hole, full, crowded."""
        size = self._universe.shortest if number % 2 == 0 else self._universe.longest
        index, thing = self._stream.integer(0, size - 1), self._stream.choice(self._others)
        form = number // 2 % 4
        if form == 3:
            return tuple(self.random(size, 90))
        cells = [thing if form else self._ground] * size
        if form < 2:
            cells[index] = self._ground if form else thing
        return tuple(cells)


MAX_CASES: Final = 10_000
"""Cases of one test."""

MAX_LENGTHS: Final = 64
"""Lengths that one test names."""


def read_test(family: str, given: Mapping[str, Any], beyond: str | None, universe: Universe) -> Test | str:
    """A test, or what is wrong with it.

    Args:
        family: A family of the universe.
        given: Its parameters as they were written.
        beyond: The parameter with which the family makes starts with symbols that starts leave out, if it has one.
        universe: What the law is about.
    """
    params = dict(given)
    cases, lengths = params.pop("cases", None), params.pop("lengths", [])
    wide = params.pop(beyond, False) if beyond is not None else False
    if params:
        return f"the test has no parameter {sorted(params)[0]!r}"
    ring = range(universe.shortest, universe.longest + 1)
    sound = isinstance(lengths, list) and len(lengths) <= MAX_LENGTHS and isinstance(wide, bool)
    sound = sound and (cases is None or _is_count(cases))
    if not sound or not all(_is_count(length) and length in ring for length in lengths):
        return "the test has a parameter with such a value"
    return Test(family, cases, tuple(lengths), wide)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MAX_CASES
