"""Numbers of steps that may depend on the length of a ring, as in `2 * grid_length - 1`."""

from __future__ import annotations

from msgspec import Struct

from specledger.spec.law import PER_LENGTH


class Duration(Struct, frozen=True):
    """`cells` steps for each cell of the ring, and `plus` more."""

    plus: int
    cells: int = 0

    @classmethod
    def read(cls, value: int | str) -> Duration:
        """A duration as a law has it: a number, or `2 * grid_length - 1`."""
        if isinstance(value, int):
            return cls(value)
        found = PER_LENGTH.fullmatch(value)
        assert found is not None  # noqa: S101 - the model of a law admits nothing else
        return cls(int(f"{found[2] or '+'}{found[3] or 0}"), int(found[1] or 1))

    def on(self, length: int) -> int:
        """The steps on a ring of so many cells."""
        return self.plus + self.cells * length

    def to_json(self) -> int | dict[str, int]:
        """The number, or `{cells, plus}`."""
        return {"cells": self.cells, "plus": self.plus} if self.cells else self.plus


Steps = int | Duration


def steps_on(steps: Steps, length: int) -> int:
    """The steps on a ring of so many cells."""
    return steps if isinstance(steps, int) else steps.on(length)


def steps_json(steps: Steps | None) -> int | dict[str, int] | None:
    """A number of steps as JSON."""
    return steps.to_json() if isinstance(steps, Duration) else steps
