"""The `suite` kind: many runs of scenarios, what is measured over their receipts, and what the figures must satisfy.

A suite also says how it can fail: `opportunities` of each check, and mutants that some check must notice.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import Field, StrictBool, StrictInt, StrictStr, StringConstraints, model_validator

from specledger.spec.base import (
    ChangesMark,
    Constant,
    Expression,
    Expressions,
    Identifier,
    Model,
    Name,
    QFixed,
    Reference,
    RefTo,
    Spec,
)
from specledger.spec.scenario import Expectation
from specledger.spec.world import Function

STATISTICS: Final = ("rate", "effect", "mean", "sum", "least", "greatest", "quantile", "slope", "difference")
"""How the values of an expression become one figure; a figure names exactly one."""

Seed = Annotated[int, Field(ge=0, le=2**53 - 1)]
SpecPath = Annotated[str, StringConstraints(min_length=1, max_length=300)]
Changes = Annotated[Mapping[SpecPath, Any], ChangesMark("scenario")]
"""Dotted paths of a resolved scenario, which lead on into what it refers to, and the values that take their places."""
ArmName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z0-9_.~%,=-]+)?$", max_length=201)]
"""`rich`; of a case of a matrix with the id of the case: `rich.charge=9.5,seed=1`."""
TrajectoryId = Annotated[str, StringConstraints(min_length=1, max_length=1000)]
"""The id of a trajectory, in which `*` stands for any characters."""
Label = StrictBool | StrictInt | Annotated[StrictStr, StringConstraints(max_length=300)]
Scenario = Annotated[Reference, RefTo("scenario")]


class Overlay(Model):
    """Changes of a scenario: other specs in its places, then `set`.

    Attributes:
        world: The world that takes the place of the scenario's own.
        governor: The governor that takes the place of the scenario's own.
        agent: The agent that takes the place of the scenario's own.
        drift: The drifts that take the place of the scenario's own.
        invariants: The invariants that take the place of the scenario's own.
        set: Dotted paths of a scenario, and of what it refers to, with the values that take their places.
    """

    keys_come_last: ClassVar[bool] = True

    world: Annotated[Reference | None, RefTo("world")] = None
    governor: Annotated[Reference | None, RefTo("governor")] = None
    agent: Annotated[Reference | None, RefTo("agent")] = None
    drift: Annotated[list[Annotated[Reference, RefTo("drift")]], Field(max_length=64)] | None = None
    invariants: Annotated[list[Annotated[Reference, RefTo("invariant")]], Field(max_length=64)] | None = None
    changes: Changes = Field(default_factory=dict, alias="set")


class Allowed(Model):
    """How many runs may end so though nothing expects it, and why that is no defect.

    Attributes:
        most: How many runs may end so.
        because: Why that is no defect.
    """

    most: Annotated[int, Field(ge=0, le=65536)]
    because: Annotated[str, StringConstraints(min_length=1, max_length=1000)]


class Arm(Overlay):
    """One way to run some scenarios: each of them under the same changes, with each of the seeds.

    An arm with `cases` is written for every case of the matrix of a scenario; resolved, there is one for each case, and
    `case` holds its values.

    Attributes:
        scenarios: The scenarios that are run.
        cases: The scenario of which each case of its matrix is run as an arm of its own.
        case: The values of a case.
        seeds: The seeds with which each scenario is run; its own one, if left out.
        expect: How each run is expected to end.
        inconclusive: How many runs of the arm may be inconclusive, and why.
        failing: How many runs of the arm may fail though nothing expects it, and why.
    """

    scenarios: Annotated[list[Scenario], Field(max_length=256)] = Field(default_factory=list)
    cases: Annotated[Reference | None, RefTo("scenario", cases="case")] = None
    case: Mapping[Identifier, Label] = Field(default_factory=dict)
    seeds: Annotated[list[Seed], Field(max_length=256)] = Field(default_factory=list)
    expect: Expectation | None = None
    inconclusive: Allowed | None = None
    failing: Allowed | None = None

    @model_validator(mode="after")
    def _one_way(self) -> Arm:
        if bool(self.scenarios) == (self.cases is not None):
            raise ValueError("expected either `scenarios`, at least one, or `cases`")
        return self


class Figure(Model):
    """One statistic over the episodes of some arms; with `by` one for each group of their runs.

    Attributes:
        doc: What it shows, in words.
        over: The arms whose episodes it is made of; all, if left out.
        by: What there is one figure for; one for all episodes, if left out.
        clusters: What may make episodes alike, for the intervals.
        decided: Which episodes count; all, if left out.
        rate: The condition whose share is the figure.
        effect: The condition whose rate, less that of `against`, is the figure.
        against: The condition whose rate is subtracted.
        mean: The integer whose mean is the figure.
        sum: The integer whose sum is the figure.
        least: The integer whose least value is the figure.
        greatest: The integer whose greatest value is the figure.
        quantile: The integer whose quantile is the figure.
        at: The share of the values that the quantile is not exceeded by.
        slope: The integer whose least-squares slope is the figure.
        along: The integer along which the slope is taken.
        difference: The integer of which the second arm's value is subtracted from the first's.
    """

    doc: Annotated[str, StringConstraints(max_length=1000)] | None = None
    over: ArmName | list[ArmName] | None = None
    by: Literal["arm", "scenario", "seed", "run"] | None = None
    clusters: Expression = "scenario"
    decided: Expression | None = None
    rate: Expression | None = None
    effect: Expression | None = None
    against: Expression | None = None
    mean: Expression | None = None
    sum: Expression | None = None
    least: Expression | None = None
    greatest: Expression | None = None
    quantile: Expression | None = None
    at: QFixed = 950_000
    slope: Expression | None = None
    along: Expression = "episode"
    difference: Expression | None = None

    @model_validator(mode="after")
    def _one_statistic(self) -> Figure:
        named = [name for name in STATISTICS if getattr(self, name) is not None]
        if len(named) != 1:
            raise ValueError(f"expected exactly one of {', '.join(STATISTICS)}")
        if not 0 <= self.at <= 1_000_000:
            raise ValueError("expected `at` between 0 and 1")
        if self.difference is not None and (not isinstance(self.over, list) or len(self.over) != 2 or self.by):
            raise ValueError("expected `over: [arm, other arm]`, whose difference it is, and no `by`")
        if (self.effect is None) != (self.against is None):
            raise ValueError("expected `effect` and `against` together")
        return self

    @property
    def statistic(self) -> str:
        """Which one it is."""
        return next(name for name in STATISTICS if getattr(self, name) is not None)


class Check(Model):
    """What figures must satisfy, and how often it could have failed.

    Attributes:
        id: The name of the check.
        doc: What it shows, in words.
        require: What the figures must satisfy.
        opportunities: How many times the check could have failed.
        least: How many opportunities it needs.
        witness: Values that the receipt records.
    """

    id: Name
    doc: Annotated[str, StringConstraints(max_length=1000)] | None = None
    require: Expression
    opportunities: Expression
    least: Annotated[int, Field(ge=1, le=2**31)] = 1
    witness: Expressions = Field(default_factory=dict)


class Mutant(Overlay):
    """One thing switched off in a smaller trial of a suite, in which a check must then fail that holds otherwise.

    Attributes:
        id: The name of the mutant.
        doc: What is switched off, in words.
        suite: The suite that is tried; this one, if left out.
        arms: The arms that are tried; all, if left out.
        scenarios: The scenarios that are tried; all, if left out.
        under: Changes that hold for the trial without the mutant, too.
        by: The checks that are meant to notice it; if only others do, reports say so.
        replay: Whether the runs of the trial are made again and compared.
    """

    id: Name
    doc: Annotated[str, StringConstraints(max_length=1000)] | None = None
    suite: Annotated[Reference | None, RefTo("suite")] = None
    arms: Annotated[list[ArmName], Field(min_length=1, max_length=64)] | None = None
    scenarios: Annotated[list[Name], Field(min_length=1, max_length=256)] | None = None
    under: Changes = Field(default_factory=dict)
    by: Annotated[list[Name], Field(max_length=64)] = Field(default_factory=list)
    replay: Literal["bytes", "none"] | None = None


class Suite(Spec):
    """A suite/v1 document.

    Attributes:
        tuned_on: Seeds that something was tuned on; no run may use them.
        replay: Whether every run is read back, made again and compared byte by byte.
        constants: Named values that expressions read.
        runs: The arms.
        inconclusive: How many runs may be inconclusive, and why.
        failing: How many runs may fail though nothing expects it, and why.
        truth: Labels, each with the ids of the trajectories that have it.
        functions: Pure functions that expressions call.
        measures: Values that are read off each episode.
        figures: Numbers that are made of many episodes.
        checks: What the figures must satisfy.
        mutants: What is broken on purpose, so that the checks must notice.
    """

    spec: Literal["suite/v1"]
    tuned_on: list[Seed] = Field(default_factory=list)
    replay: Literal["bytes", "none"] = "none"
    constants: Mapping[Identifier, Constant] = Field(default_factory=dict)
    runs: Annotated[Mapping[ArmName, Arm], Field(max_length=4096)] = Field(default_factory=dict)
    inconclusive: Allowed | None = None
    failing: Allowed | None = None
    truth: Annotated[Mapping[Name, Annotated[list[TrajectoryId], Field(max_length=100_000)]], Field(max_length=64)] = (
        Field(default_factory=dict)
    )
    functions: Mapping[Identifier, Function] = Field(default_factory=dict)
    measures: Expressions = Field(default_factory=dict)
    figures: Mapping[Identifier, Figure] = Field(default_factory=dict)
    checks: list[Check] = Field(default_factory=list)
    mutants: list[Mutant] = Field(default_factory=list)
