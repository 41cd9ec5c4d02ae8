"""The `governor` kind: gates over the predicted next state, prices, potentials, the choice among the admitted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from specledger.spec.base import (
    POLICY_MS,
    Constant,
    Expression,
    Expressions,
    Identifier,
    Model,
    Reason,
    Reference,
    RefTo,
    Spec,
)
from specledger.spec.memory import GovernorWrite, Memory
from specledger.spec.types import TypeSpec
from specledger.spec.world import Function


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


class Potential(Model):
    """A figure of the state and the governor's memory whose changes from outside are receipted with their causes."""

    value: Expression = Field(alias="is")


class Choice(Model):
    """The soft objective among admitted proposals: the first one with the greatest value."""

    maximise: Expression


class Grant(Model):
    """The widest scope that is granted for a capability; what a request asks for beyond it is cut off."""

    allowed_ops: Annotated[list[Identifier], Field(min_length=1, max_length=16)]
    max_calls: Annotated[int, Field(ge=1, le=1000)]
    per_ms: Annotated[int, Field(ge=1, le=86_400_000)]
    expiry_ms: Annotated[int, Field(ge=1, le=864_000_000)]


class Key(Model):
    """Where the private key lies: in a file, or in an environment variable; the digits themselves stand in no spec."""

    file: Annotated[str | None, StringConstraints(min_length=1, max_length=4096, pattern=r"^[^\x00]*$")] = None
    variable: Annotated[str | None, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=200)] = None

    @model_validator(mode="after")
    def _one_place(self) -> Key:
        if (self.file is None) == (self.variable is None):
            raise ValueError("a key has exactly one of `file` and `variable`")
        return self


class Admission(Model):
    """Proposals as documents: their schema, the state as they must show it, how claims are worded, what is granted."""

    document: Identifier
    env: Expression
    vocabulary: Annotated[Reference, RefTo("vocabulary")]
    grants: Mapping[Identifier, Grant] = Field(default_factory=dict)
    free: Mapping[Identifier, Grant] = Field(default_factory=dict)
    counterfactuals: Annotated[int, Field(ge=0, le=64)] = 3
    ms_per_tick: Annotated[int, Field(ge=1, le=1_000_000)] = 100
    watchdog_ms: Annotated[int, Field(ge=1, le=600_000)] = POLICY_MS
    signature: Literal["secret", "ed25519"] = "secret"
    public: Annotated[str | None, StringConstraints(pattern=r"^[0-9a-f]{64}$", max_length=64)] = None
    key: Key | None = None

    @model_validator(mode="after")
    def _keys(self) -> Admission:
        if {self.public is not None, self.key is not None} != {self.signature == "ed25519"}:
            raise ValueError("`signature: ed25519` has `public` and `key`, any other has neither")
        return self


class Governor(Spec):
    """A governor/v1 document."""

    spec: Literal["governor/v1"]
    constants: Mapping[Identifier, Constant] = Field(default_factory=dict)
    functions: Mapping[Identifier, Function] = Field(default_factory=dict)
    claims: Mapping[Identifier, TypeSpec] = Field(default_factory=dict)
    memory: Memory | None = None
    remember: list[GovernorWrite] = Field(default_factory=list)
    potentials: Mapping[Identifier, Potential] = Field(default_factory=dict)
    let: Expressions = Field(default_factory=dict)
    cost: Expressions = Field(default_factory=dict)
    each: Expressions = Field(default_factory=dict)
    supply: Expressions = Field(default_factory=dict)
    mode: Literal["all", "first"] = "all"
    gates: list[Gate]
    choose: Choice
    invariants: list[Annotated[Reference, RefTo("invariant")]] = Field(default_factory=list)
    admission: Admission | None = None
