"""The question of a certificate as JSON, and its direct evaluation on windows and rings.

docs/proofs.md has the fields; the clauses of a condition are in the order that it gives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from math import inf
from operator import eq, ge, gt, le, lt, ne
from typing import Any, Final, TypeAlias

from specledger.wings.laws.automaton import Additive, Rule

MAX_RINGS: Final = 1 << 19
MAX_WINDOWS: Final = 1 << 14
MAX_WIDTH: Final = 14
MAX_WORK: Final = 1 << 24  # windows summed up; a cell of a ring counts for eight
MAX_CLAUSES: Final = 1 << 10

Json: TypeAlias = Any
State: TypeAlias = tuple[int, ...]
Holds: TypeAlias = Callable[[State, Sequence[State]], bool]
Clause: TypeAlias = list[tuple[list[Json], bool, int]]  # of each row: its terms, whether ==, else >=, its bound

OPERATORS: Final = {"<=": le, ">=": ge, "==": eq, "!=": ne, "<": lt, ">": gt}
_OPPOSITE: Final = {"<=": ">", ">": "<=", ">=": "<", "<": ">=", "==": "!=", "!=": "=="}


class InvalidCertificate(ValueError):  # noqa: N818 - says what the certificate is, not that the engine failed
    """The certificate does not prove the question."""


def require(holds: bool, message: str) -> None:
    """Refuse the certificate unless something holds."""
    if not holds:
        raise InvalidCertificate(message)


def fields(value: Json, *names: str) -> list[Json]:
    """The values of an object that has exactly these fields."""
    require(isinstance(value, dict) and value.keys() == set(names), f"expected the fields {', '.join(names)}")
    return [value[name] for name in names]


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
        return [observable.weights[self.code(self.after(cells[:used], at))] for _, cells in self.words(width)]

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


def condition_of(claim: Json) -> Json:
    """What a claim about additive observables says of every t, as a condition."""
    kind = claim["kind"]
    if kind == "always":
        return claim["condition"]
    if kind == "eventually":
        later = [delayed(claim["consequent"], steps) for steps in range(claim["within"] + 1)]
        return {"or": [{"not": claim["antecedent"]}, {"or": later}]}
    require(kind in ("conserved", "monotone"), "the claim is not about additive observables")
    growth = [{"times": times, "observable": claim["observable"], "at": at} for times, at in ((1, 1), (-1, 0))]
    return {"sum": growth, "op": claim.get("direction", "=="), "bound": 0}


def delayed(condition: Json, steps: int) -> Json:
    """The condition so many steps later."""
    if "sum" in condition:
        moved = [{**term, "at": term["at"] + steps} if term["at"] is not None else term for term in condition["sum"]]
        return {**condition, "sum": moved}
    ((name, parts),) = condition.items()
    return {name: delayed(parts, steps) if name == "not" else [delayed(part, steps) for part in parts]}


def terms(condition: Json) -> Iterator[Json]:
    """Every term of a condition."""
    if "sum" in condition:
        yield from condition["sum"]
        return
    ((name, parts),) = condition.items()
    for part in [parts] if name == "not" else parts:
        yield from terms(part)


def alternatives(condition: Json, negated: bool) -> list[Clause]:
    """The disjunctive form of a condition, or of its negation."""
    if "not" in condition:
        return alternatives(condition["not"], not negated)
    if "sum" not in condition:
        ((name, parts),) = condition.items()
        listed = [alternatives(part, negated) for part in parts]
        clauses = (
            combine(listed)
            if (name == "and") != negated
            else [clause for clause_list in listed for clause in clause_list]
        )
        require(len(clauses) <= MAX_CLAUSES, "too many clauses")
        return clauses
    op, bound, up = condition["op"], condition["bound"], condition["sum"]
    op = _OPPOSITE[op] if negated else op
    down = [{**term, "times": -term["times"]} for term in up]
    below, above = [(down, False, 1 - bound)], [(up, False, bound + 1)]
    rows = {"<": [below], ">": [above], "!=": [below, above], "<=": [[(down, False, -bound)]]}
    return rows.get(op) or [[(up, op == "==", bound)]]


def combine(listed: list[list[Clause]]) -> list[Clause]:
    """One alternative of each list, in every combination, earlier ones varying slowest."""
    product: list[Clause] = [[]]
    for some in listed:
        require(len(product) * len(some) <= MAX_CLAUSES, "too many clauses")
        product = [first + second for first in product for second in some]
    return product
