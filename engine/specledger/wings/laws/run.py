"""Judges a law on one start by its definition, without any optimisation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache

from specledger.wings.laws.automaton import Rule
from specledger.wings.laws.claim import IMAGE, STATE, TRANSFORMED, Node, Observe, Time, evaluator, walk
from specledger.wings.laws.law import Law

State = tuple[int, ...]
Measured = Callable[[State], int]


class Run:
    """The states that judging a law on one start looks at.

    Attributes:
        states: The start and what follows from it, `law.steps` steps long.
    """

    def __init__(
        self,
        law: Law,
        start: Sequence[int],
        rule: Rule | None = None,
        *,
        states: Sequence[State] | None = None,
        measured: Mapping[str, Measured] | None = None,
    ) -> None:
        """Evolve the start.

        Args:
            law: The law.
            start: The initial state.
            rule: Another rule than that of the law's universe.
            states: The states, if they are known.
            measured: What gives the observables, if many runs share it.
        """
        self.law = law = law.on(len(start))
        self._measured = measured or {name: observable.of for name, observable in law.observables.items()}
        self._evaluator = cache(evaluator)
        rule = rule or law.universe.rule
        self.states = rule.run(start, law.steps) if states is None else states
        image = law.image
        self.images = rule.run(image.of(start), law.steps) if image is not None else []
        self.transformed = [image.of(state) for state in self.states] if image is not None else []

    def usable(self) -> bool:
        """Whether the start meets the preconditions.

        Raises:
            EvaluationError: An integer leaves 64 bits.
        """
        return bool(self._value(self.law.where, 0, None))

    def instances(self) -> Iterator[tuple[int, bool, bool]]:
        """Step by step, and cell by cell where the law is about cells: the step, whether it counts, and holds there.

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
                yield t, counts, any(holds)

    def first_violation(self) -> int | None:
        """The first step at which the law is violated, or None.

        Raises:
            EvaluationError: An integer leaves 64 bits.
        """
        if not self.usable():
            return None
        return next((t for t, counts, holds in self.instances() if counts and not holds), None)

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
                return self._measured[name](self.states[step])
            return self.law.universe.alphabet[rows[step][cell or 0]]

        value: int | bool | str = self._evaluator(node)(read)
        return value
