"""The picture of a world: how reports draw its map, what moves on it, and figures over the steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from specledger.spec.base import Expression, FieldPath, Identifier, Model

Colour = Annotated[str, StringConstraints(pattern=r"^#[0-9a-f]{6}$")]
"""Red, green and blue, each as two lower-case hexadecimal digits."""


Unit = Literal[
    10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000, 10_000_000_000, 100_000_000_000,
    1_000_000_000_000,
]  # fmt: skip
"""The integer that is shown as 1, so that a value is shown as a decimal number: a power of ten."""


class Shades(Model):
    """A colour on a light ground and the one that stands for it on a dark ground.

    Attributes:
        light: The colour on a light ground.
        dark: The colour on a dark ground.
    """

    light: Colour
    dark: Colour


class Token(Model):
    """Something with a place: a field of the state that holds it, and the label of the record that says it anew.

    Attributes:
        start: The field of the state that holds the cell where it begins; a drift that changes this moves it.
        each: The label of the record that says where each step left it: a cell, or y * 256 + x; without it only
            drifts move it.
        colour: Its colour.
        shape: Its shape.
    """

    start: FieldPath
    each: Identifier | None = None
    colour: Colour | Shades
    shape: Literal["disc", "diamond", "square"] = "disc"


class Chart(Model):
    """A label of the record over the steps; so many of its `unit` are shown as 1.

    Attributes:
        of: The label of the record that is shown.
        unit: How many of the recorded unit are shown as 1; without it a `qfixed` is shown in units.
    """

    of: Identifier
    unit: Annotated[int, Field(ge=1)] = 1


class Picture(Model):
    """How an episode is drawn: its map by codes of cells, what moves on it, and figures over the steps.

    Attributes:
        cells: The map as a matrix of codes: a field of the state, or an expression over it.
        colours: The colour of each code, by the name of its constant, an int; other codes have one colour of their
            own. A colour is `"#rrggbb"` in lower case, or one each for light and dark.
        tokens: Things that have a place on the map.
        charts: Integers of the record that are drawn over the steps.
    """

    cells: Expression
    colours: Annotated[Mapping[Identifier, Colour | Shades], Field(min_length=1, max_length=64)]
    tokens: Annotated[Mapping[Identifier, Token], Field(max_length=16)] = Field(default_factory=dict)
    charts: Annotated[Mapping[Identifier, Identifier | Chart], Field(max_length=8)] = Field(default_factory=dict)
