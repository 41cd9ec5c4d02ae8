"""Measuring pieces of work side by side: in turns, in one process, by two clocks."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median
from time import perf_counter, process_time


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of work that is measured; `work` gives how many steps it covered."""

    name: str
    work: Callable[[], int]


@dataclass(slots=True)
class Measured:
    """The times of one piece of work.

    Attributes:
        name: Whose.
        steps: How many steps each of its rounds covered.
        wall: Seconds that passed, per round.
        cpu: Seconds of processor time of this process, per round.
    """

    name: str
    steps: int = 0
    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    @property
    def rate(self) -> float:
        """Steps a second, median."""
        return self.steps / median(self.wall)

    @property
    def best(self) -> float:
        """Steps a second in the fastest round."""
        return self.steps / min(self.wall)

    @property
    def worst(self) -> float:
        """Steps a second in the slowest round."""
        return self.steps / max(self.wall)

    @property
    def cpu_rate(self) -> float:
        """Steps a second of processor time, median."""
        return self.steps / median(self.cpu)

    def against(self, other: Measured) -> float:
        """How many times the other's rate: the median of the ratios of each round, by processor time."""
        pairs = zip(self.cpu, other.cpu, strict=True)
        return median([(self.steps / own) / (other.steps / theirs) for own, theirs in pairs])


def measure(pieces: Sequence[Piece], rounds: int) -> list[Measured]:
    """Do every piece of work once in each round, in another order each time, after one round that is not counted."""
    measured = {piece.name: Measured(piece.name) for piece in pieces}
    for number in range(rounds + 1):
        first = number % len(pieces)
        for piece in (*pieces[first:], *pieces[:first]):
            gc.collect()
            wall, cpu = perf_counter(), process_time()
            steps = piece.work()
            wall, cpu = perf_counter() - wall, process_time() - cpu
            if number:
                figures = measured[piece.name]
                figures.steps = steps
                figures.wall.append(wall)
                figures.cpu.append(cpu)
    return list(measured.values())
