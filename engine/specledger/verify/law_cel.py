"""A law for the other CEL engine: its observables, its preconditions and its claim.

Observables and preconditions are those of the spec, with the observables of the universe as functions of the current
ring; the claim is printed from its tree. Stepping and quantifiers are done here.

Source: law proposer, section 6, CandidateLaw; CEL language definition (github.com/google/cel-spec).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from specledger.core.diagnostics import Diagnostics
from specledger.expr import BOOL, INT, STRING, Checked, Environment, Native, Signature, Type, check
from specledger.laws.claim import IMAGE, STATE, TRANSFORMED, Const, Node, Not, Observe, Time
from specledger.laws.law import Law
from specledger.load import Resolved
from specledger.spec.law import Law as LawSpec
from specledger.spec.law import Precondition
from specledger.verify.reference import Unjudged
from specledger.verify.universe_cel import UNREADABLE, CelUniverse, Ring

MAX_REMEMBERED: Final = 20_000
"""Rings whose next state and measures are remembered."""

Reads = dict[tuple[str, Time], str]
"""The variable of each observable that is read."""

_SPELLED: Final[Mapping[str, str]] = {"and": "&&", "or": "||"}


def cel_of(claim: Node) -> tuple[str, Reads]:
    """A claim as CEL.

    Returns:
        The text, and the variable for each observable at each time that it reads.
    """
    reads: Reads = {}
    return _written(claim, reads), reads


def _written(node: Node, reads: Reads) -> str:
    if isinstance(node, Observe):
        return reads.setdefault((node.name, node.time), f"v{len(reads)}")
    if isinstance(node, Const):
        return _literal(node.value)
    if isinstance(node, Not):
        return f"!({_written(node.operand, reads)})"
    left, right = _written(node.left, reads), _written(node.right, reads)
    if node.op == "=>":
        return f"!({left}) || ({right})"
    return f"({left}) {_SPELLED.get(node.op, node.op)} ({right})"


def _literal(value: int | bool | str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


@dataclass(frozen=True, slots=True)
class Found:
    """What became of one start: whether it counts, the first violated step or None, and how many steps were hit."""

    usable: bool
    violated: int | None
    hits: int


class CelLaw:
    """A law as the other engine has it.

    Attributes:
        law: The law, as ours has it.
        universe: What it is about, as the other engine has it.
    """

    def __init__(self, universe: CelUniverse, law: Law, spec: Resolved, table: Sequence[int] | None = None) -> None:
        """Read the law's expressions.

        Args:
            universe: What it is about.
            law: The law, for its form: what is quantified over, and its claim.
            spec: Its spec, for its observables and preconditions.
            table: The rule, if another than the universe's.

        Raises:
            Unjudged: An expression cannot be read.
        """
        model = spec.model
        assert isinstance(model, LawSpec)  # noqa: S101 - a law is judged with its spec
        self.law, self._model, self.universe = law, model, universe
        self._table = universe.table if table is None else tuple(table)
        self._ring: Ring = b""
        self._next: dict[Ring, Ring] = {}
        self._measured: dict[Ring, dict[str, int]] = {}
        self._truths: dict[tuple[Any, ...], bool] = {}
        self._observables = self._read_observables(spec)
        self._conditions = list(self._read_conditions(spec))
        self._holds = cel_of(law.holds)
        self._antecedent = None if law.antecedent is None else cel_of(law.antecedent)

    def cost(self, cells: int) -> int:
        """The work of judging starts that have so many cells together."""
        law = self.law
        return cells * (law.steps + 1) * (1 + len(law.observables) + 2 * law.template.cells)

    def look(self, start: Ring, until: int | None = None) -> Found:
        """What becomes of a start; no step after `until` is judged.

        Raises:
            Unjudged: The other engine does not say.
        """
        law = self.law
        states = self.evolve(start)
        if not all(self._met(condition, states[0]) for condition in self._conditions):
            return Found(False, None, 0)
        rows = {STATE: states}
        if law.image is not None:
            call = self._model.transform or ""
            rows[IMAGE] = self.evolve(self.universe.image(call, start))
            rows[TRANSFORMED] = [self.universe.image(call, state) for state in states]
        violated, hits = None, 0
        for t in range(law.template.first, (law.last if until is None else until) + 1):
            hit, broken = self._judged(rows, t)
            hits += hit
            if broken and violated is None:
                violated = t
        return Found(True, violated, hits)

    def evolve(self, start: Ring) -> list[Ring]:
        """The states at 0, 1, … as far as the law looks, and one more."""
        states = [start]
        for _ in range(self.law.steps + 1):
            states.append(self._stepped(states[-1]))
        return states

    def measured(self, ring: Ring) -> Mapping[str, int]:
        """The values of the law's observables.

        Raises:
            Unjudged: The other engine does not say.
        """
        known = self._measured.get(ring)
        if known is None:
            known = {}
            self._ring = ring
            for name, checked in self._observables:
                known[name] = self.universe.reference.value(checked, partial(self._given, known))
            if len(self._measured) >= MAX_REMEMBERED:
                self._measured.clear()
            self._measured[ring] = known
        return known

    def _stepped(self, ring: Ring) -> Ring:
        after = self._next.get(ring)
        if after is None:
            table, size = self._table, len(self.universe.alphabet)
            neighbours = zip(ring[-1:] + ring[:-1], ring, ring[1:] + ring[:1], strict=True)
            after = bytes([table[(left * size + own) * size + right] for left, own, right in neighbours])
            if len(self._next) >= MAX_REMEMBERED:
                self._next.clear()
            self._next[ring] = after
        return after

    def _judged(self, rows: Mapping[str, list[Ring]], t: int) -> tuple[bool, bool]:
        """Whether the antecedent holds at a step, and whether the law is violated there, somewhere on the ring."""
        law = self.law
        waits = (law.H or 0) if law.template.within else 0
        hit = broken = False
        for cell in range(len(rows[STATE][0])) if law.template.cells else (0,):
            if self._antecedent is not None and not self._true(self._antecedent, rows, t, cell):
                continue
            hit = True
            if not any(self._true(self._holds, rows, t + later, cell) for later in range(waits + 1)):
                broken = True
                break
        return hit, broken

    def _true(self, said: tuple[str, Reads], rows: Mapping[str, list[Ring]], t: int, cell: int) -> bool:
        text, reads = said
        values: list[Any] = []
        for name, time in reads:
            step = time.at(t)
            if name in rows:
                values.append(self.universe.alphabet[rows[name][step][cell]])
            else:
                values.append(self.measured(rows[STATE][step])[name])
        key = (text, *values)
        if key not in self._truths:
            if len(self._truths) >= MAX_REMEMBERED:
                self._truths.clear()
            given = dict(zip(reads.values(), values, strict=True))
            self._truths[key] = _truth(self.universe.reference.say(text, given))
        return self._truths[key]

    def _met(self, condition: _Condition, ring: Ring) -> bool:
        known = dict(self.measured(ring))
        self._ring = ring
        sides = [self.universe.reference.value(each, partial(self._given, known)) for each in condition.sides]
        if condition.op is None:
            return _truth(sides[0])
        return _truth(self.universe.reference.say(f"a {condition.op} b", {"a": sides[0], "b": sides[1]}))

    def _given(self, known: Mapping[str, int], name: str) -> int:
        return known[name] if name in known else self.universe.measure(name, (), self._ring)

    def _called(self, name: str, *args: Any) -> int:
        """An observable of the universe, on the ring that is looked at."""
        return self.universe.measure(name, args, self._ring)

    def _read_observables(self, spec: Resolved) -> list[tuple[str, Checked]]:
        found: list[tuple[str, Checked]] = []
        for index, each in enumerate(self._model.observables):
            names = [name for name, _ in found]
            found.append((each.name, self._read(spec, names, INT, "observables", index, "expr")))
        return found

    def _read_conditions(self, spec: Resolved) -> Iterator[_Condition]:
        names = [name for name, _ in self._observables]
        for index, each in enumerate(self._model.preconditions):
            path = ("preconditions", index)
            if isinstance(each, Precondition):
                sides = [self._read(spec, names, INT, *path, side) for side in ("lhs", "rhs")]
                yield _Condition(tuple(sides), each.op)
            else:
                yield _Condition((self._read(spec, names, BOOL, *path),), None)

    def _read(self, spec: Resolved, names: Iterable[str], expect: Type, *path: str | int) -> Checked:
        sorts = {"symbol": STRING, "int": INT}
        functions = {
            name: Native(
                name, (Signature(tuple(map(sorts.__getitem__, each.args.values())), INT),), partial(self._called, name)
            )
            for name, each in self.universe.model.observables.items()
            if each.args
        }
        variables = dict.fromkeys([*self.universe.plain, *names], INT)
        checked = check(spec.text(*path), Environment(variables, functions), Diagnostics(), expect)
        if checked is None:
            raise Unjudged(UNREADABLE)
        return checked


@dataclass(frozen=True, slots=True)
class _Condition:
    """A precondition: a truth value, or two sides and what compares them."""

    sides: tuple[Checked, ...]
    op: str | None


def _truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise Unjudged("the other evaluator gives no truth value")
    return value
