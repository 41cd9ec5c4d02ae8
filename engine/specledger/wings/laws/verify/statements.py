"""The question of a certificate as JSON, and its direct evaluation on windows and rings.

docs/proofs.md has the fields.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from math import inf
from typing import Final, TypeAlias

from specledger.wings.laws.automaton import Additive, Rule
from specledger.wings.laws.verify.conditions import (
    OPERATORS,
    InvalidCertificate,
    Json,
    condition_of,
    fields,
    require,
    terms,
)

MAX_RINGS: Final = 1 << 19
MAX_WINDOWS: Final = 1 << 16
MAX_WIDTH: Final = 16
MAX_WORK: Final = 1 << 24  # windows summed up; a cell of a ring counts for eight

State: TypeAlias = tuple[int, ...]
Holds: TypeAlias = Callable[[State, Sequence[State]], bool]

_MOST_KEPT: Final = 8  # lists of windows some steps later


def integers(value: Json, count: int) -> list[int]:
    """A list of so many integers."""
    require(isinstance(value, list) and len(value) == count, f"expected {count} integers")
    require(all(type(item) is int for item in value), "expected integers")
    return list(value)


class Statement:
    """A question, and the work that may still be spent on it."""

    def __init__(self, question: Json, holds: Holds | None) -> None:
        """Read the question; `holds` judges an opaque claim."""
        self.rule = Rule(question["rule"]["symbols"], tuple(question["rule"]["table"]))
        self.shortest, self.longest = question["rings"]
        self.where, self.horizon, self.claim = question["start"]["where"], question["horizon"], question["claim"]
        symbols = question["start"]["symbols"]
        self.start = set(range(self.rule.symbols) if symbols is None else symbols)
        self.all_states = symbols is None and self.where == {"and": []}
        self.holds = holds
        self.left = MAX_WORK
        self.kept: dict[tuple[int, int], Sequence[int]] = {}

    def spend(self, work: int) -> None:
        """Count work."""
        self.left -= work
        require(self.left >= 0, "the certificate takes too much work")

    def words(self, width: int) -> Iterable[tuple[int, State]]:
        """Every window with its code."""
        require(type(width) is int and 1 <= width <= MAX_WIDTH, "the width is out of range")
        require(self.rule.symbols**width <= max(MAX_WINDOWS, len(self.rule.table)), "too many windows")
        self.spend(self.rule.symbols**width)
        return enumerate(product(range(self.rule.symbols), repeat=width))

    def code(self, cells: Iterable[int]) -> int:
        """The code of a window."""
        code = 0
        for cell in cells:
            code = code * self.rule.symbols + cell
        return code

    def after(self, cells: State, steps: int = 1) -> State:
        """The inner cells of a window some steps later."""
        for _ in range(steps):
            parts = zip(*(cells[offset:] for offset in range(self.rule.width)), strict=False)
            cells = tuple(self.rule.table[self.code(part)] for part in parts)
        return cells

    def additive(self, value: Json) -> Additive:
        """An observable."""
        width, weights, constant = fields(value, "width", "weights", "constant")
        count = sum(1 for _ in self.words(width))
        return Additive(self.rule.symbols, width, tuple(integers(weights, count)), *integers([constant], 1))

    def weights(self, observable: Additive, at: int, width: int) -> list[int]:
        """What each window adds to an observable some steps later."""
        used = observable.width + 2 * self.rule.radius * at
        require(used <= width, "the width is too small")
        self.words(width)
        after, rest = self.later(used, at), self.rule.symbols ** (width - used)
        return [observable.weights[after[code // rest]] for code in range(self.rule.symbols**width)]

    def later(self, width: int, steps: int) -> Sequence[int]:
        """For each window of so many cells, by code, the code of what it determines some steps later."""
        symbols, near, table = self.rule.symbols, self.rule.width, self.rule.table
        if steps == 0:
            return range(symbols**width)
        if (width, steps) not in self.kept:
            inner, count = self.later(width - near + 1, steps - 1), symbols**near
            divisors = [symbols ** (width - near - offset) for offset in range(width - near + 1)]
            codes = []
            for code in range(symbols**width):
                after = 0
                for divisor in divisors:
                    after = after * symbols + table[code // divisor % count]
                codes.append(inner[after])
            if len(self.kept) >= _MOST_KEPT:
                self.kept.clear()
            self.kept[width, steps] = codes
        return self.kept[width, steps]

    def check_rings(self, length: int) -> int | None:
        """Every admitted ring up to a length, step by step; None if there are no longer ones."""
        require(type(length) is int and length >= self.shortest, "no ring is covered")
        span, from_start, rotates, holds = self.judge()
        last = length if self.longest is None else min(length, self.longest)
        count = 0
        for cells in range(self.shortest, last + 1):
            count += len(self.start) ** cells
            require(count <= MAX_RINGS, "too many rings")
        for cells in range(self.shortest, last + 1):
            rings = [
                ring
                for ring in product(sorted(self.start), repeat=cells)
                if not (rotates and any(ring[i:] + ring[:i] < ring for i in range(1, cells)))
                and self.true(self.where, ring, [])
            ]
            groups = [[ring] for ring in rings] if from_start else [rings]
            last_t = inf if self.horizon is None else steps(self.horizon, cells) - steps(span, cells)
            for group in groups:
                once = self.all_states and not from_start
                self.check_group(group, steps(span, cells), holds, min(0, last_t) if once else last_t)
        return None if last == self.longest else length

    def check_group(self, group: list[State], span: int, holds: Holds, last: float) -> None:
        """All states that follow from some rings up to a step; each is judged at its first t."""
        level, seen, t = set(group), set[State](), 0
        while level and t <= last:
            for state in level:
                self.spend(8 * len(state) * (span + 1))
                require(holds(group[0], self.rule.run(state, span)), f"the claim fails at t = {t} in {list(state)}")
            seen |= level
            level = {self.rule.step(state) for state in level} - seen
            t += 1

    def judge(self) -> tuple[Json, bool, bool, Holds]:
        """Steps that an instance looks at, whether at the start, whether rotations do not matter, and its judge."""
        claim, rule = self.claim, self.rule
        if claim["kind"] == "opaque":
            if self.holds is None:
                raise InvalidCertificate("an opaque claim needs its judge")
            return claim["span"], claim["from_start"], False, self.holds
        if claim["kind"] == "local":
            trigger, results = claim["trigger"], claim["results"]
            return 1, False, True, lambda _, at: all(b in results for a, b in zip(*at, strict=True) if a == trigger)
        if claim["kind"] == "commutes":
            turn = -1 if claim["reflect"] else 1

            def image(ring: State) -> State:
                turned = ring[::turn]
                return tuple(claim["map"][turned[(i - claim["shift"]) % len(ring)]] for i in range(len(ring)))

            return 1, False, True, lambda _, at: rule.step(image(at[0])) == image(at[1])
        condition = condition_of(claim)
        ats = [term["at"] for term in terms(condition)]
        span = max((at for at in ats if at is not None), default=0)
        return span, None in ats, True, lambda start, at: self.true(condition, start, at)

    def true(self, condition: Json, start: State, at: Sequence[State]) -> bool:
        """Whether a condition holds of an initial state and the states from t on."""
        if "sum" in condition:
            total = 0
            for term in condition["sum"]:
                width, weights, constant = fields(term["observable"], "width", "weights", "constant")
                observable = Additive(self.rule.symbols, width, weights, constant)
                total += term["times"] * observable.total(start if term["at"] is None else at[term["at"]])
            return bool(OPERATORS[condition["op"]](total, condition["bound"]))
        if "not" in condition:
            return not self.true(condition["not"], start, at)
        if "and" in condition:
            return all(self.true(part, start, at) for part in condition["and"])
        return any(self.true(part, start, at) for part in condition["or"])


def steps(value: Json, length: int) -> int:
    """A number of steps, which may depend on the length of a ring."""
    if isinstance(value, dict):
        cells, plus = fields(value, "cells", "plus")
        return int(cells * length + plus)
    return int(value)
