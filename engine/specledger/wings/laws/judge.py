"""Judging of a law on many starts at once, in arrays.

The results equal those of `harness.Run`; an integer that leaves 64 bits somewhere is an EvaluationError, too.
Starts are judged in parts of bounded size, so that memory does not grow with their number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeVar

import numpy as np
from msgspec import Struct

from specledger.wings.laws.automaton import Additive
from specledger.wings.laws.claim import (
    ARITHMETIC,
    BINARY,
    CELLWISE,
    CONNECTIVES,
    IMAGE,
    STATE,
    TRANSFORMED,
    Binary,
    Const,
    Node,
    Not,
    Observe,
    Time,
)
from specledger.wings.laws.evolve import Changes, Trajectory, evolve
from specledger.wings.laws.law import Law
from specledger.wings.laws.layout import Array, Batch
from specledger.wings.laws.observable import apply_fast, hold, measures, range_of

MAX_HELD: Final = 1 << 21
"""Cells of all steps that are held at once, but always those of one start; all arrays take up to 40 bytes of a cell."""


class Seen(Struct, frozen=True):
    """What happened from each start, besides what the law says.

    Attributes:
        filled: Cells of the start that hold something.
        crossed: Whether something was in the first or the last cell at some step.
        active: Whether there was interaction; in a universe that does not say what that is, whether anything changed.
    """

    filled: Array
    crossed: Array
    active: Array


class Judged(Struct, frozen=True):
    """What became of each start.

    Attributes:
        usable: Whether it meets the preconditions.
        hits: At how many steps the antecedent held, somewhere on the ring; 0 where it is not usable.
        violated: The first step at which the law was violated, or -1.
    """

    usable: Array
    hits: Array
    violated: Array


def judge(
    law: Law,
    starts: Sequence[Sequence[int]],
    changes: Changes | None = None,
    last: int | None = None,
) -> Judged:
    """Judge a law on many starts.

    Args:
        law: The law.
        starts: The initial states, at least one.
        changes: Of each ring what its rule changes of that of the law's universe.
        last: The last step that is judged, if not that of the law.

    Raises:
        EvaluationError: An integer leaves 64 bits somewhere.
    """
    return _joined([judged for judged, _ in _by_part(law, starts, changes, last)])


def judge_and_see(law: Law, starts: Sequence[Sequence[int]]) -> tuple[Judged, Seen]:
    """Judge a law on many starts, and say what else happened.

    Raises:
        EvaluationError: An integer leaves 64 bits somewhere.
    """
    parts = [(judged, _seen(law, trajectory)) for judged, trajectory in _by_part(law, starts, None, None)]
    return _joined([judged for judged, _ in parts]), _joined([seen for _, seen in parts])


def steps_of(law: Law, longest: int, last: int | None) -> int:
    """Steps that are taken to judge a law up to a step on rings of at most so many cells."""
    own = law.on(longest)
    return own.steps if last is None else max(min(last, own.last) + own.reach, law.fixed)


def _by_part(
    law: Law, starts: Sequence[Sequence[int]], changes: Changes | None, last: int | None
) -> Iterator[tuple[Judged, Trajectory]]:
    """Judge neighbouring starts, as many at once as may be held."""
    most = max(1, MAX_HELD // (steps_of(law, max(map(len, starts)), last) + 1))
    begin = cells = 0
    for index, start in enumerate(starts):
        if index > begin and cells + len(start) > most:
            yield _judge_part(law, starts, slice(begin, index), changes, last)
            begin, cells = index, 0
        cells += len(start)
    yield _judge_part(law, starts, slice(begin, len(starts)), changes, last)


Parted = TypeVar("Parted", Judged, Seen)


def _joined(parts: Sequence[Parted]) -> Parted:
    """What became of the starts of all parts, in their order."""
    names = parts[0].__struct_fields__
    return type(parts[0])(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def _judge_part(
    law: Law, every: Sequence[Sequence[int]], part: slice, changes: Changes | None, last: int | None
) -> tuple[Judged, Trajectory]:
    starts = every[part]
    if changes is not None:
        changes = (changes[0][part], changes[1][part])
    batch = Batch.of(starts, _halo_of(law), law.universe.rule.radius)
    longest = law.on(int(batch.layout.sizes.max()))
    view = _View(law, batch, changes, last)
    usable = view.usable()
    first, final = law.template.first, longest.last if last is None else min(last, longest.last)
    counts = None if law.antecedent is None else view.truth(law.antecedent, first, final)
    holds = view.waited(law.holds, first, final)
    broken = ~holds if counts is None else counts > holds
    steps = np.full(len(starts), final - first + 1)
    if law.T_cells:  # shorter rings are judged at fewer steps
        judged = view.judged(first, final)
        counts = judged if counts is None else counts & judged
        broken = broken & judged
    if counts is not None:
        np.add.reduce(view.by_ring(counts).view(np.int8), axis=0, dtype=np.int16, out=steps)
    at = np.full(len(starts), -1)
    if broken.any():
        violated = view.by_ring(broken)
        at = np.where(violated.any(axis=0) & usable, violated.argmax(axis=0) + first, -1)
    return Judged(usable, np.where(usable, steps, 0), at), view.trajectory


def _seen(law: Law, trajectory: Trajectory) -> Seen:
    universe = law.universe
    if universe.interaction is None:
        active = trajectory.changed()
    else:
        interaction = trajectory.measure(universe.primitives[universe.interaction].bind(()))
        active = np.asarray((interaction > 0).any(axis=0))
    return Seen(trajectory.filled(universe.empty), trajectory.crossed(universe.empty), active)


def _halo_of(law: Law) -> int:
    """Cells behind each ring that windows of the law's measures, and of what its universe calls interaction, reach."""
    universe = law.universe
    widths = [
        measure.width
        for observable in law.observables.values()
        for measure in measures(observable.root)
        if isinstance(measure, Additive)
    ]
    if universe.interaction is not None:
        interaction = universe.primitives[universe.interaction].bind(())
        widths.append(interaction.width if isinstance(interaction, Additive) else 1)
    return max([universe.rule.radius, *(width - 1 for width in widths)])


class _View:
    """The arrays that the nodes of a claim stand for: rows are steps, columns are rings or cells."""

    def __init__(self, law: Law, batch: Batch, changes: Changes | None, last: int | None) -> None:
        self.law, rule = law, law.universe.rule
        steps = steps_of(law, int(batch.layout.sizes.max()), last)
        self.trajectory = evolve(batch, rule, steps, changes)
        self._cellwise: dict[str, Array] = {}
        if law.image is not None:
            images = evolve(batch.transformed(law.image), rule, steps, changes)
            self._cellwise = {
                STATE: self.trajectory.cells(),
                IMAGE: images.cells(),
                TRANSFORMED: self.trajectory.transformed(law.image),
            }
        elif law.template.cells:
            self._cellwise = {STATE: self.trajectory.cells()}
        self._values: dict[str, Array] = {}

    def usable(self) -> Array:
        """Which rings meet the preconditions."""
        holds = self._value(self.law.where, 0, 0)
        return np.asarray(np.broadcast_to(holds, (1, self.trajectory.cases))[0])

    def truth(self, node: Node, first: int, last: int) -> Array:
        """A condition at the steps first to last, of each ring or each cell."""
        values = self._value(node, first, last)
        columns = int(self.trajectory.layout.sizes.sum()) if self.law.template.cells else self.trajectory.cases
        return np.broadcast_to(np.asarray(values, dtype=bool), (last - first + 1, columns))

    def waited(self, node: Node, first: int, last: int) -> Array:
        """A condition at the steps first to last, or at one of the H steps after where the template waits."""
        law, sizes = self.law, self.trajectory.layout.sizes
        waits = (law.on(int(sizes.max())).H or 0) if law.template.within else 0
        holds = self.truth(node, first, last + waits)
        if not waits:
            return holds
        steps = np.arange(first, last + waits + 1)[:, None]
        coming = np.where(holds, steps, last + waits + 1 + waits)
        nearest = np.minimum.accumulate(coming[::-1], axis=0)[::-1]
        own = self.by_column((law.H or 0) + law.H_cells * sizes) if law.H_cells else waits
        return np.asarray((nearest <= steps + own)[: last - first + 1])

    def judged(self, first: int, last: int) -> Array:
        """Whether each step is judged, of each ring or each cell."""
        law = self.law
        lasts = law.last + law.T_cells * self.trajectory.layout.sizes
        return np.asarray(np.arange(first, last + 1)[:, None] <= self.by_column(lasts))

    def by_column(self, values: Array) -> Array:
        """A value of each ring, for each column: its cells, where the law is about cells."""
        return np.repeat(values, self.trajectory.layout.sizes) if self.law.template.cells else values

    def by_ring(self, truth: Array) -> Array:
        """Whether a condition holds somewhere on each ring."""
        if not self.law.template.cells:
            return truth
        return np.asarray(np.logical_or.reduceat(truth, self.trajectory.layout.ends, axis=1))

    def _value(self, node: Node, first: int, last: int) -> Any:
        return self._fast(node, first, last) if self._fits(node) else self._exact(node, first, last)

    def _fits(self, node: Node) -> bool:
        return range_of(node, self.law.observables, self.trajectory.longest) is not None

    def _fast(self, node: Node, first: int, last: int) -> Any:
        if isinstance(node, Const):
            return self.law.universe.alphabet.index(node.value) if isinstance(node.value, str) else node.value
        if isinstance(node, Observe):
            return self._rows(node.name, node.time, first, last)
        if isinstance(node, Not):
            return np.logical_not(self._fast(node.operand, first, last))
        return _apply(node.op, self._fast(node.left, first, last), self._fast(node.right, first, last))

    def _exact(self, node: Node, first: int, last: int) -> Any:
        """The same with unbounded integers, each result held to 64 bits."""
        if isinstance(node, Not):
            return np.logical_not(self._exact(node.operand, first, last))
        if not isinstance(node, Binary):
            values = self._fast(node, first, last)
            return values.astype(object) if isinstance(values, np.ndarray) and node_is_int(node) else values
        left, right = self._exact(node.left, first, last), self._exact(node.right, first, last)
        values = _apply(node.op, left, right)
        return hold(values) if node.op in ARITHMETIC else values

    def _rows(self, name: str, time: Time, first: int, last: int) -> Array:
        if name in CELLWISE:
            values = self._cellwise[name]
        else:
            if name not in self._values:
                self._values[name] = np.asarray(self.law.observables[name].batch(self.trajectory))
                if self._values[name].ndim == 0:
                    shape = (self.trajectory.steps + 1, self.trajectory.cases)
                    self._values[name] = np.broadcast_to(self._values[name], shape)
            values = self._values[name]
        part = values[time.offset][None] if time.fixed else values[first + time.offset : last + time.offset + 1]
        return np.asarray(part)


def node_is_int(node: Node) -> bool:
    """Whether a leaf is an integer that arithmetic may take beyond 64 bits."""
    return isinstance(node, Observe) and node.name not in CELLWISE


def _apply(op: str, left: Any, right: Any) -> Any:
    if op == "=>":
        return np.logical_or(np.logical_not(left), right)
    if op in CONNECTIVES:
        return np.logical_and(left, right) if op == "and" else np.logical_or(left, right)
    return apply_fast(op, left, right) if op in ARITHMETIC else BINARY[op](left, right)
