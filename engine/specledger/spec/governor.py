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
    Id,
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
    """One hard constraint: `deny` or `require`, judged where `when` holds; a rejection records `witness`.

    Attributes:
        id: The name of the gate.
        when: Which proposals it judges; all, if left out.
        deny: What rejects a proposal.
        require: What a proposal must satisfy.
        reason: One word for programs that says why it rejects.
        witness: Values that the receipt of a rejection records.
    """

    id: Id
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
    """A figure of the state and the governor's memory whose changes from outside are receipted with their causes.

    Attributes:
        is: The figure, an integer.
    """

    value: Expression = Field(alias="is")


class Choice(Model):
    """The soft objective among admitted proposals: the first one with the greatest value.

    Attributes:
        maximise: The figure of which the first proposal with the greatest value is chosen.
    """

    maximise: Expression


class Grant(Model):
    """The widest scope that is granted for a capability; what a request asks for beyond it is cut off.

    Attributes:
        allowed_ops: The operations that may be executed.
        max_calls: How many executions are granted.
        per_ms: Within how many milliseconds they are counted.
        expiry_ms: For how many milliseconds the grant lasts.
    """

    allowed_ops: Annotated[list[Identifier], Field(min_length=1, max_length=16)]
    max_calls: Annotated[int, Field(ge=1, le=1000)]
    per_ms: Annotated[int, Field(ge=1, le=86_400_000)]
    expiry_ms: Annotated[int, Field(ge=1, le=864_000_000)]


class Key(Model):
    """Where the private key lies: in a file, or in an environment variable; the digits themselves stand in no spec.

    Attributes:
        file: The file that holds the key.
        variable: The environment variable that holds the key.
    """

    file: Annotated[str | None, StringConstraints(min_length=1, max_length=4096, pattern=r"^[^\x00]*$")] = None
    variable: Annotated[str | None, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=200)] = None

    @model_validator(mode="after")
    def _one_place(self) -> Key:
        if (self.file is None) == (self.variable is None):
            raise ValueError("a key has exactly one of `file` and `variable`")
        return self


class Admission(Model):
    """Proposals as documents: their schema, the state as they must show it, how claims are worded, what is granted.

    Attributes:
        document: The schema of `schemas/axion` that a proposal must fit.
        env: The state as the document must show it.
        vocabulary: The forms in which claims are worded.
        grants: The widest scope of each capability.
        free: Operations whose token needs no request.
        counterfactuals: How many counterfactuals a document has at least.
        ms_per_tick: How many milliseconds of kernel time a step is.
        watchdog_ms: How many milliseconds the evaluation of a policy may take.
        signature: How tokens are signed.
        public: The public key, as 64 hexadecimal digits.
        key: Where the private key lies.
    """

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
    """A governor/v1 document.

    Attributes:
        constants: Named values that expressions read.
        functions: Pure functions that expressions call.
        claims: What every proposal must predict beside `action` and `score`, with types.
        memory: What the governor itself keeps of the observations.
        remember: What is written into the memory; these writes have no price.
        potentials: Figures of the state and the memory whose changes from outside are receipted with their
            causes.
        let: Values that are computed once for each decision.
        cost: The items of the price of a proposal.
        each: Values that are computed once for each proposal.
        supply: The values of the world's `inputs`.
        mode: Whether every gate judges every proposal, or only those up to the first that rejects it.
        gates: The conditions on single proposals.
        choose: The choice among admitted proposals.
        invariants: Invariants that are looked at in every run under this governor.
        admission: What makes it a kernel, which admits proposals as documents with reasons.
    """

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
