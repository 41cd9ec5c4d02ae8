"""The `agent` kind: what is remembered, what is proposed, how proposals are scored, what they claim."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from engine.spec.base import Constant, Expression, Expressions, Identifier, Model, Spec
from engine.spec.types import TypeSpec
from engine.spec.world import Effect, Function


class Candidate(Model):
    """A family of actions to propose: one for every combination of `for_each` values, where `when` holds."""

    op: Identifier
    for_each: Expressions = Field(default_factory=dict)
    when: Expression = "true"


class MemoryField(Model):
    """One remembered value: its type and its value at the first observation."""

    type: TypeSpec
    start: Expression


class Memory(Model):
    """What the agent keeps from step to step; the scope says when it is cleared."""

    scope: Literal["episode", "run"] = "episode"
    fields: Mapping[Identifier, MemoryField]


class Write(Model):
    """One memory write after acting: made, counted and priced when `when` holds. `seen` is the new observation."""

    id: Identifier
    when: Expression = "true"
    effect: Effect


class Agent(Spec):
    """An agent/v1 document."""

    spec: Literal["agent/v1"]
    constants: Mapping[Identifier, Constant] = Field(default_factory=dict)
    functions: Mapping[Identifier, Function] = Field(default_factory=dict)
    memory: Memory | None = None
    remember: list[Write] = Field(default_factory=list)
    let: Expressions = Field(default_factory=dict)
    candidates: Annotated[list[Candidate], Field(min_length=1)]
    each: Expressions = Field(default_factory=dict)
    claims: Expressions = Field(default_factory=dict)
    score: Expression
