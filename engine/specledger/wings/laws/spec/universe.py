"""The `universe` kind: a ring automaton, what can be measured of its states, its transforms, and where cases come from.

Source: law proposer, section 5, UniverseContract.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from specledger.spec.base import Expression, Expressions, Identifier, Model, Spec

Symbol = Annotated[str, StringConstraints(min_length=1, max_length=1, pattern=r"^[!-~]$")]
"""One printable ASCII character that is no space."""

Pattern = Annotated[str, StringConstraints(min_length=1, max_length=16, pattern=r"^[!-~]+$")]
"""Cells in a row."""

Percent = Annotated[int, Field(ge=0, le=100)]
Gap = Annotated[int, Field(ge=0, le=1000)]
RingSize = Annotated[int, Field(ge=1, le=1000)]
Argument = Literal["symbol", "int"]


class Ring(Model):
    """How many cells a ring has; `sizes` are those of most generated cases.

    Attributes:
        min: The least number of cells.
        max: The greatest number of cells.
        sizes: The numbers of cells of most generated cases.
    """

    min: RingSize
    max: RingSize
    sizes: Annotated[list[RingSize], Field(min_length=1, max_length=32)] | None = None

    @model_validator(mode="after")
    def _in_order(self) -> Ring:
        if self.min > self.max:
            raise ValueError("`min` is above `max`")
        if any(not self.min <= size <= self.max for size in self.sizes or ()):
            raise ValueError("`sizes` lie from `min` to `max`")
        return self


class Transition(Model):
    """One step of a cell: an expression over it and its neighbours, a table, or the number of an elementary rule.

    Attributes:
        let: Values that `next` reads.
        next: The next symbol of a cell, over it and its neighbours.
        table: The next symbol for each neighbourhood.
        number: The number of an elementary rule.
    """

    let: Expressions = Field(default_factory=dict)
    next: Expression | None = None
    table: Mapping[Annotated[str, StringConstraints(min_length=3, max_length=7)], Symbol] | None = None
    number: Annotated[int, Field(ge=0, le=255)] | None = None

    @model_validator(mode="after")
    def _one_form(self) -> Transition:
        if [self.next, self.table, self.number].count(None) != 2:
            raise ValueError("a transition has exactly one of `next`, `table` and `number`")
        if self.let and self.next is None:
            raise ValueError("`let` goes with `next`")
        return self


class Primitive(Model):
    """What can be measured of one state: a sum over windows, the places of a pattern, or a scan from cell 0.

    Attributes:
        args: Its arguments with their sorts.
        window: The cells of a window, by name, or how many there are.
        count: The condition by which windows are counted.
        sum: The number that is added up over windows.
        pattern: Symbols and wildcards whose places are counted.
        scan: What a scan from cell 0 looks for.
        where: The condition of a cell that a scan looks for.
    """

    args: Mapping[Identifier, Argument] = Field(default_factory=dict)
    window: Annotated[list[Identifier], Field(min_length=1, max_length=8)] | Expression | None = None
    count: Expression | None = None
    sum: Expression | None = None
    pattern: Pattern | None = None
    scan: Literal["first", "last", "longest", "extent"] | None = None
    where: Expression | None = None

    @model_validator(mode="after")
    def _one_form(self) -> Primitive:
        forms = ("window", "count", "sum", "pattern", "scan", "where")
        given = {key for key in forms if getattr(self, key) is not None}
        if given not in ({"window", "count"}, {"window", "sum"}, {"pattern"}, {"scan", "where"}):
            raise ValueError("an observable has `window` with `count` or `sum`, or `scan` with `where`, or `pattern`")
        if self.pattern is not None and self.args:
            raise ValueError("`pattern` has no `args`; laws call `pattern('…')`")
        return self


class Transform(Model):
    """A change of a whole state: reflected if so, then rotated right by `shift`, then every symbol mapped.

    Attributes:
        args: Its arguments.
        default: Values of arguments that are left out.
        reflect: Whether the state is reflected.
        shift: By how many cells the state is rotated to the right.
        map: The symbols that are exchanged for others.
    """

    args: Mapping[Identifier, Literal["int"]] = Field(default_factory=dict)
    default: Mapping[Identifier, int] = Field(default_factory=dict)
    reflect: bool = False
    shift: Expression = "0"
    map: Mapping[Symbol, Symbol] = Field(default_factory=dict)


class Generator(Model):
    """A family of initial states.

    `first` are made before all others, the rest in proportion to `weight`; `beyond` names the parameter of a test with
    which it may use symbols that no start has otherwise.

    Attributes:
        make: How the states are made.
        weight: Its share of the cases that are made after the first ones.
        first: How many states are made before all others.
        percents: The shares of cells that are not empty, in percent.
        gaps: The distances between two symbols.
        transforms: The transforms whose images are made.
        words: The words that are repeated around the ring.
        beyond: The parameter of a test that lets it use symbols that no start has otherwise.
    """

    make: Literal["sweep", "pairs", "edges", "images", "mutations", "patterns", "repeats", "extremes"]
    weight: Annotated[int, Field(ge=0, le=1000)] = 0
    first: Annotated[int, Field(ge=0, le=1000)] = 0
    percents: Annotated[list[Percent], Field(min_length=1, max_length=32)] | None = None
    gaps: Annotated[list[Gap], Field(min_length=1, max_length=32)] | None = None
    transforms: Annotated[list[str], Field(min_length=1, max_length=32)] | None = None
    words: Annotated[list[Pattern], Field(min_length=1, max_length=64)] | None = None
    beyond: Identifier | None = None

    @model_validator(mode="after")
    def _words_are_repeated(self) -> Generator:
        if (self.make == "repeats") != (self.words is not None):
            raise ValueError("`make: repeats` and `words` go together")
        return self


class Starts(Model):
    """The symbols that initial states may have; all of them, if left out.

    Attributes:
        symbols: The symbols that initial states may have; all, if left out.
    """

    symbols: Annotated[list[Symbol], Field(min_length=1, max_length=16)] | None = None


class Universe(Spec):
    """A universe/v1 document.

    Attributes:
        alphabet: The symbols.
        empty: The symbol that stands for nothing; the first one, if left out.
        ring: How many cells a ring has.
        radius: How many neighbours on either side a cell sees.
        transition: One step of a cell.
        observables: What can be measured of a state.
        transforms: Changes of a whole state.
        generators: Families of initial states.
        starts: The symbols that initial states may have.
        interaction: The observable that says where something happens; it is counted in coverage.
    """

    spec: Literal["universe/v1"]
    alphabet: Annotated[list[Symbol], Field(min_length=2, max_length=16)]
    empty: Symbol | None = None
    ring: Ring
    radius: Annotated[int, Field(ge=1, le=3)] = 1
    transition: Transition
    observables: Annotated[Mapping[Identifier, Primitive], Field(min_length=1, max_length=64)]
    transforms: Annotated[Mapping[Identifier, Transform], Field(max_length=64)] = Field(default_factory=dict)
    generators: Annotated[Mapping[Identifier, Generator], Field(min_length=1, max_length=32)]
    starts: Starts = Field(default_factory=Starts)
    interaction: Identifier | None = None
