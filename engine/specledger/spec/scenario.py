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
    """Start from a rectangle of one character; `border` draws its rim.

    Attributes:
        fill: The character of every cell.
        width: The number of columns.
        height: The number of rows.
        border: The character of the rim.
    """

    fill: Character
    width: MapSize
    height: MapSize
    border: Character | None = None


class Maze(Model):
    """Carve a maze of one-cell corridors out of the rectangle; then open `loops` further walls.

    Attributes:
        maze: The corridor's character.
        loops: How many further walls are opened.
    """

    maze: Character
    loops: Annotated[int, Field(ge=0, le=4096)] = 0


class Scatter(Model):
    """Replace `count` cells that hold `over` by a character.

    Attributes:
        scatter: The character that is put.
        over: The character of the cells that it may replace.
        count: How many cells are replaced.
    """

    scatter: Character
    over: Character
    count: Annotated[int, Field(ge=0, le=65536)]


Part = Annotated[list[Annotated[int, Field(ge=0, le=255)]], Field(min_length=2, max_length=2)]
"""The first and the last of some columns or rows, both included."""


class Place(Model):
    """Put a character on one cell drawn among those that hold `over`.

    `columns` and `rows` say where to look; `within` and `beyond` bound the Manhattan distance to the nearest cell that
    holds `of`: beyond < distance <= within.

    Attributes:
        place: The character that is put.
        over: The character of the cells that it may replace.
        of: The character whose nearest cell the distances are measured to.
        within: The greatest distance to it.
        beyond: The distance to it that is exceeded.
        columns: The first and the last column where it may lie.
        rows: The first and the last row where it may lie.
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

    Attributes:
        stamp: The picture, row by row; a space leaves its cell as it is.
        over: The character that every cell under the picture must hold.
        columns: The first and the last column where the top left corner may lie.
        rows: The first and the last row where the top left corner may lie.
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
    """Draw the map again until the two characters are joined by cells that hold none of `blocked`.

    Attributes:
        connect: The two characters that must be joined.
        blocked: The characters that no path may cross.
    """

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
    """A drawing, or a list of generator steps that makes one from the seed; `vary` draws a new one every episode.

    Attributes:
        drawing: The map as lines of characters.
        generate: Steps that make the map from the seed.
        vary: Whether one map is drawn for the run, or a new one for every episode.
    """

    drawing: Annotated[str, StringConstraints(min_length=1, max_length=70000)] | None = None
    generate: Annotated[list[Generator], Field(min_length=1)] | None = None
    vary: Literal["run", "episode"] = "run"

    @model_validator(mode="after")
    def _one_source(self) -> Map:
        if (self.drawing is None) == (self.generate is None):
            raise ValueError("a map has exactly one of `drawing` and `generate`")
        return self


class Expectation(Model):
    """How the writer of a run expects it to end: its verdict, PASS if left out, and the end of every episode.

    Attributes:
        verdict: The verdict that the run should have.
        ended: How every episode should end.
    """

    verdict: Literal["PASS", "FAIL", "INCONCLUSIVE", "ERROR"] | None = None
    ended: Literal["horizon", "until", "fatal", "error", "hang", "died", "unknown"] | None = None

    @model_validator(mode="after")
    def _something(self) -> Expectation:
        if self.verdict is None and self.ended is None:
            raise ValueError("expected `verdict`, `ended` or both")
        return self


class Actor(Model):
    """One of several agents: who decides, under which governor, and the probes that challenge it.

    Attributes:
        agent: Who decides.
        governor: The governor that judges what it proposes.
        probes: Probes of this agent, in this order.
    """

    agent: Annotated[Reference, RefTo("agent")]
    governor: Annotated[Reference, RefTo("governor")]
    probes: list[Annotated[Reference, RefTo("probe")]] = Field(default_factory=list)


class FaultLimit(Model):
    """How many faults of an agent from outside a run bears: up to `most`, each is a decision that was not made.

    A late answer, after which the process that asked is gone, ends its episode only beyond the limit. `then` is what
    more of them make of the run.

    Attributes:
        most: How many faults of an agent from outside the run bears.
        most_in_episode: How many of them one episode bears.
        then: What more of them make of the run.
    """

    most: Annotated[int, Field(ge=0, le=1_000_000)]
    most_in_episode: Annotated[int | None, Field(ge=0, le=1_000_000)] = None
    then: Literal["inconclusive", "fail"] = "inconclusive"


class Guard(Model):
    """How `spec guard` decides the calls of live agents by this scenario.

    With `fail: closed` a call is denied if it could not be judged, if the decision takes longer than `deadline_ms`, or
    if nobody answers; with `open` it is made. `tools` says what clients see of tools that are never allowed.

    Attributes:
        fail: What becomes of a call that could not be judged, or not in time.
        deadline_ms: How long a decision may take, in milliseconds.
        tools: Whether a list of tools shows those that are never allowed, marks or hides them.
    """

    fail: Literal["closed", "open"] = "closed"
    deadline_ms: Annotated[int, Field(ge=10, le=600_000)] = 2_000
    tools: Literal["all", "mark", "hide"] = "all"


class Scenario(Spec):
    """A scenario/v1 document; it has one `agent` and its `governor`, or several `agents` and the `order` of them.

    Without a `horizon` it is about an agent of recorded `trajectories`, each of which is an episode of its own length.

    Attributes:
        world: The world in which the agent acts.
        agents: Several agents, each with a governor of its own, in place of `agent` and `governor`.
        governor: The governor that judges what the agent proposes.
        agent: Who proposes actions.
        order: The order in which several agents have their turns.
        turns: Whether several agents act one after the other, or all at the same moment.
        map: The map, for a world with a `drawing`.
        start: Start values that take the place of the world's own.
        drift: Changes of the world that no agent causes, performed in this order.
        invariants: What must hold of the run.
        probes: Tests of the agent that are made during the run, in this order.
        policies: Policies whose rules judge the calls of a recorded agent, or the actions of agents that decide.
        request: What the user of agents that decide asked for, which rules read as `request`.
        time: The time of an action in seconds since 1970, which rules read as `time`.
        until: What ends an episode early.
        commit: Whether the set of proposals is committed to before one is chosen.
        agent_faults: How many faults of an agent from outside the run bears, and what it is with more of them.
        on_denied: What a decision is of which no proposal is admitted: a fatal breach, or a denial that the
            agent is told.
        guard: How `spec guard` decides the calls of live agents by this scenario.
        expect: How the run is expected to end; it is a PASS if it ends so, and else a FAIL.
        seed: The seed of every draw.
        episodes: How many episodes are run.
        counterexamples: How many failed steps are written as files; the others are counted.
        horizon: How many steps an episode has at most; required unless the agent is recorded.
    """

    spec: Literal["scenario/v1"]
    world: Annotated[Reference, RefTo("world")]
    agents: Annotated[Mapping[Identifier, Actor], Field(min_length=2, max_length=16)] | None = None
    agent: Annotated[Reference | None, RefTo("agent")] = Field(default=None, validate_default=True)
    governor: Annotated[Reference | None, RefTo("governor")] = Field(default=None, validate_default=True)
    order: Annotated[list[Identifier], Field(max_length=64)] | None = None
    turns: Literal["order", "simultaneous"] = "order"
    map: Map | None = None
    start: Expressions = Field(default_factory=dict)
    drift: list[Annotated[Reference, RefTo("drift")]] = Field(default_factory=list)
    invariants: list[Annotated[Reference, RefTo("invariant")]] = Field(default_factory=list)
    probes: list[Annotated[Reference, RefTo("probe")]] = Field(default_factory=list)
    policies: list[Annotated[Reference, RefTo("policy")]] = Field(default_factory=list)
    request: Annotated[str, StringConstraints(min_length=1, max_length=100_000)] | None = None
    time: Expression | None = None
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
