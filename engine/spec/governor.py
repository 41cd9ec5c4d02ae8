"""The `governor` kind: gates over the predicted next state, the price of a decision, the choice among the admitted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, model_validator

from engine.spec.base import Constant, Expression, Expressions, Identifier, Model, Reason, Reference, RefTo, Spec
from engine.spec.types import TypeSpec
from engine.spec.world import Function


class Gate(Model):
    """One hard constraint: `deny` or `require`, judged where `when` holds; a rejection records `witness`."""

    id: Reason
    when: Expression = "true"
    deny: Expression | None = None
    require: Expression | None = None
    reason: Reason
    witness: Expressions = Field(default_factory=dict)

    @model_validator(mode="after")
    def _one_condition(self) -> Gate:
        if (self.deny is None) == (self.require is None):
            raise ValueError("a gate has exactly one of `deny` and `require`")
        return self


class Choice(Model):
    """The soft objective among admitted proposals: the first one with the greatest value."""

    maximise: Expression


class Governor(Spec):
    """A governor/v1 document."""

    spec: Literal["governor/v1"]
    constants: Mapping[Identifier, Constant] = Field(default_factory=dict)
    functions: Mapping[Identifier, Function] = Field(default_factory=dict)
    claims: Mapping[Identifier, TypeSpec] = Field(default_factory=dict)
    let: Expressions = Field(default_factory=dict)
    cost: Expressions = Field(default_factory=dict)
    each: Expressions = Field(default_factory=dict)
    supply: Expressions = Field(default_factory=dict)
    gates: list[Gate]
    choose: Choice
    invariants: list[Annotated[Reference, RefTo("invariant")]] = Field(default_factory=list)
