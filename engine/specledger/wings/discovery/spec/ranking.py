"""The `ranking` kind: which proposed laws are tried first, as factors made of rules over what is known of a law.

Source: law proposer, section 8.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints, model_validator

from specledger.spec.base import Constant, Expression, Expressions, Identifier, Model, QFixed, Spec
from specledger.spec.world import Function

MOST_UNITS: Final = 1000
"""The greatest weight and the greatest magnitude of a score, in units."""

Sentence = Annotated[str, StringConstraints(max_length=1000)]
Weight = Annotated[QFixed, Field(ge=0, le=MOST_UNITS * 1_000_000)]
Score = Annotated[QFixed, Field(ge=-MOST_UNITS * 1_000_000, le=MOST_UNITS * 1_000_000)]


class Rule(Model):
    """What a fact adds to a score: once `when` it holds, for each of so many (`per`), or that `share` of it.

    Attributes:
        doc: What it is for, in words.
        add: What it adds to the score.
        when: The condition that adds it once.
        per: The number that multiplies it.
        share: The share of it that is added.
    """

    doc: Sentence | None = None
    add: Score
    when: Expression | None = None
    per: Expression | None = None
    share: Expression | None = None

    @model_validator(mode="after")
    def _one_measure(self) -> Rule:
        if [self.when, self.per, self.share].count(None) != 2:
            raise ValueError("a rule has exactly one of `when`, `per` and `share`")
        return self


class Factor(Model):
    """One score of a law: where it starts, what adds to it, within which bounds it stays, and how much it counts.

    Attributes:
        doc: What it is for, in words.
        weight: How much the score counts.
        subtract: Whether it is subtracted.
        start: Where the score starts.
        least: The least score.
        most: The greatest score.
        rules: What adds to the score.
    """

    doc: Sentence | None = None
    weight: Weight
    subtract: bool = False
    start: Score = 0
    least: Score = 0
    most: Score = 1_000_000
    rules: Annotated[list[Rule], Field(max_length=64)] = Field(default_factory=list)

    @model_validator(mode="after")
    def _bounds(self) -> Factor:
        if self.least > self.most:
            raise ValueError("`least` is above `most`")
        return self


class Ranking(Spec):
    """A ranking/v1 document.

    Attributes:
        constants: Named values that expressions read.
        functions: Pure functions that expressions call.
        let: Named facts that rules read.
        factors: The scores of a law, and how much each counts.
        sensitivity: By which share of itself a weight is changed to see whether another law comes first.
    """

    spec: Literal["ranking/v1"]
    constants: Mapping[Identifier, Constant] = Field(default_factory=dict)
    functions: Mapping[Identifier, Function] = Field(default_factory=dict)
    let: Expressions = Field(default_factory=dict)
    factors: Annotated[Mapping[Identifier, Factor], Field(min_length=1, max_length=32)]
    sensitivity: Annotated[QFixed, Field(ge=0, le=1_000_000)] = 200_000
