"""Judging of a law on one start by its definition, without optimisation.

Every counterexample is confirmed here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from msgspec import Struct

from specledger.laws.automaton import Rule
from specledger.laws.claim import IMAGE, STATE, TRANSFORMED, Node, Observe, Time, evaluator, walk
from specledger.laws.law import Law

State = tuple[int, ...]


class Instance(Struct, frozen=True):
    """One step (and cell, where a law is about cells) at which a law is judged."""

    t: int
    cell: int | None
    counts: bool
    holds: bool


class Run:
    """The states that judging a law on one start looks at."""

    def __init__(self, law: Law, start: Sequence[int], rule: Rule | None = None) -> None:
        self.law = law = law.on(len(start))
        self._evaluator = cache(evaluator)
        rule = rule or law.universe.rule
        self.states = rule.run(start, law.steps)
        image = law.image
        self.images = rule.run(image.of(start), law.steps) if image is not None else []
        self.transformed = [image.of(state) for state in self.states] if image is not None else []

    def usable(self) -> bool:
        """Whether the start meets the preconditions.

        Raises:
            EvaluationError: An integer leaves 64 bits.
        """
        return bool(self._value(self.law.where, 0, None))

    def instances(self) -> Iterator[Instance]:
        """Every instance, step by step.

        Raises:
            EvaluationError: An integer leaves 64 bits.
        """
        law = self.law
        cells: Sequence[int | None] = range(len(self.states[0])) if law.template.cells else (None,)
        for t in range(law.template.first, law.last + 1):
            for cell in cells:
                counts = law.antecedent is None or bool(self._value(law.antecedent, t, cell))
                waits = (law.H or 0) if law.template.within else 0
                holds = [bool(self._value(law.holds, t + later, cell)) for later in range(waits + 1)]
                yield Instance(t, cell, counts, any(holds))

    def first_violation(self) -> int | None:
        """The first step at which the law is violated, or None.

        Raises:
            EvaluationError: An integer leaves 64 bits.
        """
        if not self.usable():
            return None
        return next((each.t for each in self.instances() if each.counts and not each.holds), None)

    def values(self, state: State) -> dict[str, int]:
        """The observables that the claim reads, of a state.

        Raises:
            EvaluationError: An integer leaves 64 bits.
        """
        law = self.law
        names = {node.name: None for node in walk(law.claim) if isinstance(node, Observe)}
        return {name: law.observables[name].of(state) for name in names if name in law.observables}

    def _value(self, node: Node, t: int, cell: int | None) -> int | bool | str:
        def read(name: str, time: Time) -> int | str:
            step = time.at(t)
            rows = {STATE: self.states, IMAGE: self.images, TRANSFORMED: self.transformed}.get(name)
            if rows is None:
                return self.law.observables[name].of(self.states[step])
            return self.law.universe.alphabet[rows[step][cell or 0]]

        value: int | bool | str = self._evaluator(node)(read)
        return value
