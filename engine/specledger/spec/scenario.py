"""The `scenario` kind: a world with a map, who acts in it under whom, what drifts, and how long it runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, Tag, ValidationInfo, field_validator, model_validator
from pydantic_core import PydanticCustomError

from specledger.spec.base import Expression, Expressions, Identifier, Model, Reference, RefTo, Spec, by_key

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


Part = Annotated[list[Annotated[int, Field(ge=0, le=255)]], Field(min_length=2, max_length=2)]
"""The first and the last of some columns or rows, both included."""


class Place(Model):
    """Put a character on one cell drawn among those that hold `over`.

    `columns` and `rows` say where to look; `within` and `beyond` bound the Manhattan distance to the nearest cell that
    holds `of`: beyond < distance <= within.
    """

    place: Character
    over: Character
    of: Character | None = None
    within: Annotated[int, Field(ge=0, le=510)] | None = None
    beyond: Annotated[int, Field(ge=0, le=510)] | None = None
    columns: Part | None = None
    rows: Part | None = None

    @model_validator(mode="after")
    def _distance(self) -> Place:
        if (self.of is None) != (self.within is None and self.beyond is None):
            raise ValueError("`of` goes with `within` or `beyond`, which are distances to it")
        return self


class Stamp(Model):
    """Put a picture on one place drawn among those where each cell under it holds `over`.

    A space in the picture leaves its cell as it is. `columns` and `rows` say where the top left corner may lie.
    """

    stamp: Annotated[
        list[Annotated[str, StringConstraints(min_length=1, max_length=16)]], Field(min_length=1, max_length=16)
    ]
    over: Character
    columns: Part | None = None
    rows: Part | None = None

    @model_validator(mode="after")
    def _rectangle(self) -> Stamp:
        if len({len(row) for row in self.stamp}) > 1:
            raise ValueError("the rows of a stamp have one length")
        return self


class Connect(Model):
    """Draw the map again until the two characters are joined by cells that hold none of `blocked`."""

    connect: Annotated[list[Character], Field(min_length=2, max_length=2)]
    blocked: list[Character]


Generator = Annotated[
    Annotated[Fill, Tag("fill")]
    | Annotated[Maze, Tag("maze")]
    | Annotated[Scatter, Tag("scatter")]
    | Annotated[Place, Tag("place")]
    | Annotated[Stamp, Tag("stamp")]
    | Annotated[Connect, Tag("connect")],
    by_key("fill", "maze", "scatter", "place", "stamp", "connect"),
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


class Expectation(Model):
    """How the writer of a run expects it to end: its verdict, PASS if left out, and the end of every episode."""

    verdict: Literal["PASS", "FAIL", "INCONCLUSIVE", "ERROR"] | None = None
    ended: Literal["horizon", "until", "fatal", "error", "hang", "died", "unknown"] | None = None

    @model_validator(mode="after")
    def _something(self) -> Expectation:
        if self.verdict is None and self.ended is None:
            raise ValueError("expected `verdict`, `ended` or both")
        return self


class Actor(Model):
    """One of several agents: who decides, under which governor, and the probes that challenge it."""

    agent: Annotated[Reference, RefTo("agent")]
    governor: Annotated[Reference, RefTo("governor")]
    probes: list[Annotated[Reference, RefTo("probe")]] = Field(default_factory=list)


class FaultLimit(Model):
    """How many faults of an agent from outside a run bears: up to `most`, each is a decision that was not made.

    A late answer, after which the process that asked is gone, ends its episode only beyond the limit. `then` is what
    more of them make of the run.
    """

    most: Annotated[int, Field(ge=0, le=1_000_000)]
    most_in_episode: Annotated[int | None, Field(ge=0, le=1_000_000)] = None
    then: Literal["inconclusive", "fail"] = "inconclusive"


class Guard(Model):
    """How `spec guard` decides the calls of live agents by this scenario.

    With `fail: closed` a call is denied if it could not be judged, if the decision takes longer than `deadline_ms`, or
    if nobody answers; with `open` it is made. `tools` says what clients see of tools that are never allowed.
    """

    fail: Literal["closed", "open"] = Field(
        default="closed", description="what becomes of a call that could not be judged, or not in time"
    )
    deadline_ms: Annotated[int, Field(ge=10, le=600_000)] = Field(
        default=2_000, description="how long a decision may take"
    )
    tools: Literal["all", "mark", "hide"] = Field(
        default="all", description="whether a list of tools shows those that are never allowed, marks or hides them"
    )


class Scenario(Spec):
    """A scenario/v1 document; it has one `agent` and its `governor`, or several `agents` and the `order` of them.

    Without a `horizon` it is about an agent of recorded `trajectories`, each of which is an episode of its own length.
    """

    spec: Literal["scenario/v1"]
    world: Annotated[Reference, RefTo("world")]
    agents: Annotated[Mapping[Identifier, Actor], Field(min_length=2, max_length=16)] | None = None
    governor: Annotated[Reference | None, RefTo("governor")] = Field(default=None, validate_default=True)
    agent: Annotated[Reference | None, RefTo("agent")] = Field(default=None, validate_default=True)
    order: Annotated[list[Identifier], Field(max_length=64)] | None = None
    turns: Literal["order", "simultaneous"] = "order"
    map: Map | None = None
    start: Expressions = Field(default_factory=dict)
    drift: list[Annotated[Reference, RefTo("drift")]] = Field(default_factory=list)
    invariants: list[Annotated[Reference, RefTo("invariant")]] = Field(default_factory=list)
    probes: list[Annotated[Reference, RefTo("probe")]] = Field(default_factory=list)
    policies: list[Annotated[Reference, RefTo("policy")]] = Field(default_factory=list)
    request: Annotated[str, StringConstraints(min_length=1, max_length=100_000)] | None = Field(
        default=None, description="what the user of simulated agents asked for, as rules of `policies` read it"
    )
    until: Expression | None = None
    commit: Literal["proposals", "none"] = "proposals"
    agent_faults: Literal["inconclusive", "fail"] | FaultLimit = "inconclusive"
    on_denied: Literal["fatal", "tell"] = "fatal"
    guard: Guard | None = None
    expect: Expectation | None = None
    seed: Annotated[int, Field(ge=0, le=2**53 - 1)] = 0
    episodes: Annotated[int, Field(ge=1, le=100_000)] = 1
    counterexamples: Annotated[int, Field(ge=0, le=100_000)] = 25
    horizon: Annotated[int | None, Field(ge=1, le=1_000_000)] = None

    @field_validator("governor", "agent", mode="after")
    @classmethod
    def _one_agent(cls, value: Reference | None, info: ValidationInfo) -> Reference | None:
        several = info.data.get("agents") is not None
        if value is None and not several and "agents" in info.data:
            raise PydanticCustomError("missing", "Field required")
        if value is not None and several:
            raise ValueError("each of the `agents` has its own agent and governor; leave this key out beside them")
        return value

    @model_validator(mode="after")
    def _order_of_agents(self) -> Scenario:
        if self.agents is None and (self.order is not None or "turns" in self.model_fields_set):
            raise ValueError("`order` and `turns` are for several `agents`; this scenario has one `agent`")
        return self
