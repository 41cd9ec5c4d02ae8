"""The `scenario` kind: a world with a map, who acts in it under whom, what drifts, and how long it runs."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints, Tag, model_validator

from engine.spec.base import Expression, Expressions, Model, Reference, RefTo, Spec, by_key

MapSize = Annotated[int, Field(ge=3, le=256)]
Character = Annotated[str, StringConstraints(min_length=1, max_length=1)]


class Fill(Model):
    """Start from a rectangle of one character; `border` draws its rim."""

    fill: Character
    width: MapSize
    height: MapSize
    border: Character | None = None


class Maze(Model):
    """Carve a maze of one-cell corridors out of the rectangle; then open `loops` further walls."""

    maze: Character = Field(description="the corridor's character")
    loops: Annotated[int, Field(ge=0, le=4096)] = 0


class Scatter(Model):
    """Replace `count` cells that hold `over` by a character."""

    scatter: Character
    over: Character
    count: Annotated[int, Field(ge=0, le=65536)]


class Place(Model):
    """Put a character on one cell: a stated one, or one drawn among the cells that hold `over`."""

    place: Character
    over: Character


class Connect(Model):
    """Draw the map again until the two characters are joined by cells that hold none of `blocked`."""

    connect: Annotated[list[Character], Field(min_length=2, max_length=2)]
    blocked: list[Character]


Generator = Annotated[
    Annotated[Fill, Tag("fill")]
    | Annotated[Maze, Tag("maze")]
    | Annotated[Scatter, Tag("scatter")]
    | Annotated[Place, Tag("place")]
    | Annotated[Connect, Tag("connect")],
    by_key("fill", "maze", "scatter", "place", "connect"),
]


class Map(Model):
    """A drawing, or a list of generator steps that makes one from the seed; `vary` draws a new one every episode."""

    drawing: Annotated[str, StringConstraints(min_length=1, max_length=70000)] | None = None
    generate: Annotated[list[Generator], Field(min_length=1)] | None = None
    vary: Literal["run", "episode"] = "run"

    @model_validator(mode="after")
    def _one_source(self) -> Map:
        if (self.drawing is None) == (self.generate is None):
            raise ValueError("a map has exactly one of `drawing` and `generate`")
        return self


class Scenario(Spec):
    """A scenario/v1 document."""

    spec: Literal["scenario/v1"]
    world: Annotated[Reference, RefTo("world")]
    governor: Annotated[Reference, RefTo("governor")]
    agent: Annotated[Reference, RefTo("agent")]
    map: Map | None = None
    start: Expressions = Field(default_factory=dict)
    drift: list[Annotated[Reference, RefTo("drift")]] = Field(default_factory=list)
    invariants: list[Annotated[Reference, RefTo("invariant")]] = Field(default_factory=list)
    until: Expression | None = None
    seed: Annotated[int, Field(ge=0, le=2**53 - 1)] = 0
    episodes: Annotated[int, Field(ge=1, le=100_000)] = 1
    horizon: Annotated[int, Field(ge=1, le=1_000_000)]
