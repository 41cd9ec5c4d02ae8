"""Violations of laws, evolved cell by cell from the table of the rule.

A recorded start must violate its law at the recorded step and at none before, and the recorded states and observables
must be the evolved ones. A law that is proved is also tried on a few short rings. Neither arrays nor the exact run of
the engine are used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from msgspec.structs import replace

from specledger.core.canonical import canonical_bytes
from specledger.wings.laws.claim import Const, Node, Not, Observe, Time, reads
from specledger.wings.laws.law import Law
from specledger.wings.laws.observable import Measured, Number, Part
from specledger.wings.laws.primitive import Scan
from specledger.wings.laws.verify.conditions import OPERATORS, require

State = list[int]

MAX_INT: Final = 2**63 - 1

TRIED: Final = 24
"""Starts of a length that a proved law is tried on, spread evenly over all of them."""

LENGTHS: Final = 2
"""Lengths that it is tried on, from the shortest."""

STEPS: Final = 4
"""Steps that it is judged over."""


class Trajectory:
    """What happens to one start under a law's rule, and what the law says of it."""

    def __init__(self, law: Law, start: Sequence[int]) -> None:
        self.law = law = law.on(len(start))
        self.states = self._evolve(list(start))
        self.images: list[State] = []
        self.moved: list[State] = []
        if law.image is not None:
            self.images = self._evolve(self._moved(list(start)))
            self.moved = [self._moved(state) for state in self.states]

    def _evolve(self, state: State) -> list[State]:
        rule, states = self.law.universe.rule, [state]
        for _ in range(self.law.steps + 1):
            states.append(stepped(rule.table, rule.symbols, states[-1]))
        return states

    def _moved(self, state: State) -> State:
        image = self.law.image
        assert image is not None  # noqa: S101 - asked for only where there is one
        return transformed(state, image.symbol_map, image.shift, reflect=image.reflect)

    def usable(self) -> bool:
        """Whether the start meets the preconditions."""
        return bool(self.value(self.law.where, 0, 0))

    def violated(self, t: int) -> bool:
        """Whether the law is violated at a step, somewhere on the ring where it is about cells."""
        return judge_step(self.law, len(self.states[0]), t, self.value)[1]

    def value(self, node: Node, t: int, cell: int) -> Any:
        """A node of the claim at one step and cell."""
        if isinstance(node, Const):
            return node.value
        if isinstance(node, Observe):
            return self._read(node.name, node.time.offset if node.time.fixed else t + node.time.offset, cell)
        if isinstance(node, Not):
            return not self.value(node.operand, t, cell)
        return _apply(node.op, self.value(node.left, t, cell), self.value(node.right, t, cell))

    def _read(self, name: str, step: int, cell: int) -> Any:
        rows = {
            "state[i]": self.states,
            "evolve(transform(S))[i]": self.images,
            "transform(evolve(S))[i]": self.moved,
        }.get(name)
        if rows is not None:
            return self.law.universe.alphabet[rows[step][cell]]
        return measured(self.law.observables[name].root, self.states[step], self.law.universe.rule.symbols)


def measured(part: Part, state: State, symbols: int) -> int:
    """The value of an observable on a ring."""
    if isinstance(part, Number):
        return part.value
    if not isinstance(part, Measured):
        value = _apply(part.op, measured(part.left, state, symbols), measured(part.right, state, symbols))
        return int(value)
    measure, size = part.measure, len(state)
    if isinstance(measure, Scan):
        return scanned(measure.form, [measure.wanted[cell] for cell in state])
    total = measure.constant
    for index in range(size):
        window = "".join(chr(state[(index + offset) % size]) for offset in range(measure.width))
        total += measure.weights[sum(ord(cell) * symbols**power for power, cell in enumerate(reversed(window)))]
    return total


def scanned(form: str, wanted: Sequence[bool]) -> int:
    """A scan of a ring, given which of its cells are wanted."""
    marks = "".join("x" if mark else "." for mark in wanted)
    if form == "longest":
        return max(map(len, marks.split(".")))
    first, last = marks.find("x"), marks.rfind("x")
    return {"first": first, "last": last, "extent": -1 if first < 0 else last - first}[form]


def stepped(table: Sequence[int], symbols: int, ring: Sequence[int]) -> list[int]:
    """A ring one step later; the table has the next symbol of each window of a cell and its neighbours."""
    size, width = len(ring), 3
    while symbols**width < len(table):
        width += 2
    codes = [0] * size
    for offset in range(-(width // 2), width // 2 + 1):
        codes = [code * symbols + ring[(index + offset) % size] for index, code in enumerate(codes)]
    return [table[code] for code in codes]


def transformed(ring: Sequence[int], symbol_map: Sequence[int], shift: int, *, reflect: bool) -> list[int]:
    """A ring reflected if so, then rotated right, then mapped."""
    turned = ring[::-1] if reflect else ring
    kept = len(turned) - shift % len(turned)
    return [symbol_map[cell] for cell in (*turned[kept:], *turned[:kept])]


def judge_step(law: Law, cells: int, t: int, true: Callable[[Node, int, int], bool]) -> tuple[bool, bool]:
    """Whether the antecedent holds at a step, and whether the law is violated there, somewhere on the ring."""
    hit, waits = False, (law.H or 0) if law.template.within else 0
    for cell in range(cells) if law.template.cells else (0,):
        if law.antecedent is None or true(law.antecedent, t, cell):
            hit = True
            if not any(true(law.holds, t + later, cell) for later in range(waits + 1)):
                return True, True
    return hit, False


def _apply(op: str, left: Any, right: Any) -> Any:
    if op in OPERATORS:
        return OPERATORS[op](left, right)
    if op == "=>":
        return not left or right
    if op in ("and", "or"):
        return (left and right) if op == "and" else (left or right)
    value = left + right if op == "+" else left - right if op == "-" else left * right
    require(-MAX_INT - 1 <= value <= MAX_INT, "an integer leaves 64 bits")
    return value


def check_counterexample(law: Law, recorded: Any) -> None:
    """Check a counterexample against its law.

    Raises:
        InvalidCertificate: It is none, or something else happens around it than was written down.
    """
    alphabet = law.universe.alphabet
    text, t = recorded["start"], recorded["t"]
    require(isinstance(text, str) and set(text) <= set(alphabet), "the start has symbols that the alphabet lacks")
    require(law.universe.shortest <= len(text) <= law.universe.longest, "no ring of the universe has this length")
    start = [alphabet.index(symbol) for symbol in text]
    require(set(start) <= set(law.starts), "no start of the law has these symbols")
    first, last = law.template.first, law.on(len(start)).last
    require(type(t) is int and first <= t <= last, f"step {t!r} is not judged")
    trajectory = Trajectory(law, start)
    require(trajectory.usable(), "the start does not meet the preconditions")
    require(trajectory.violated(t), f"the law holds at step {t}")
    require(not any(trajectory.violated(step) for step in range(first, t)), f"the law is violated before step {t}")
    states = ["".join(alphabet[cell] for cell in state) for state in trajectory.states]
    excerpt = recorded["excerpt"]
    begin, shown = excerpt["from"], excerpt["states"]
    require(type(begin) is int and 0 <= begin <= t < begin + len(shown), "the excerpt leaves out the violation")
    require(shown == states[begin : begin + len(shown)], "the excerpt is not what happens")
    names = {name for name, _ in reads(law.claim) if name in law.observables}
    computed = {
        key: {name: trajectory.value(Observe(name, Time(step, fixed=True)), 0, 0) for name in names}
        for key, step in ((key, t + steps) for key, steps in law.moments.items())
    }
    same = canonical_bytes(recorded["observables"]) == canonical_bytes(computed)
    require(same, "the observables are not what is measured")


def check_proved(law: Law, up_to: int | None) -> None:
    """Try a law that is proved, up to a length if given, on a few short rings: a certificate may prove another law."""
    longest = law.universe.longest if up_to is None else min(law.universe.longest, up_to)
    for start in _short_starts(law, longest):
        on_ring = law.on(len(start))
        short = replace(on_ring, T=min(on_ring.T, STEPS))
        trajectory = Trajectory(short, start)
        if trajectory.usable():
            for t in range(short.template.first, short.T - short.template.short + 1):
                shown = "".join(law.universe.alphabet[cell] for cell in start)
                require(not trajectory.violated(t), f"the law is violated at step {t} from {shown!r}")


def _short_starts(law: Law, longest: int) -> Iterator[list[int]]:
    symbols, shortest = law.starts, law.universe.shortest
    for length in range(shortest, min(shortest + LENGTHS - 1, longest) + 1):
        every = len(symbols) ** length
        for number in range(min(TRIED, every)):
            which = number * every // min(TRIED, every)
            yield [symbols[which // len(symbols) ** index % len(symbols)] for index in range(length)]
