"""The `invariant` kind: a predicate that must hold, where it is judged, and how severe a violation is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, ValidationInfo, field_validator, model_validator

from specledger.spec.base import Constant, Expression, Expressions, Identifier, Model, Spec
from specledger.spec.memory import InvariantWrite, MemoryField
from specledger.spec.world import Function

FORMS = ("require", "within", "at_most", "mean")
"""What an invariant may demand; it has exactly one of them."""


class InvariantMemory(Model):
    """What an invariant keeps from step to step of an episode.

    Attributes:
        fields: The values that are kept.
    """

    fields: Annotated[Mapping[Identifier, MemoryField], Field(min_length=1)]


class Within(Model):
    """A response in time: where `after` holds, `require` must hold in that state or at most `steps` steps later.

    Attributes:
        after: What begins an obligation.
        steps: How many steps later it must be met at most.
        require: What meets it.
    """

    after: Expression
    steps: Annotated[int, Field(ge=0, le=1_000_000)]
    require: Expression


class AtMost(Model):
    """A limit on how often `count` holds in the states after the steps of an episode.

    Attributes:
        count: What is counted.
        times: How often it may hold.
    """

    count: Expression
    times: Annotated[int, Field(ge=0, le=1_000_000)]


class Mean(Model):
    """Bounds of the mean of an integer over the states after the steps of an episode, without rounding.

    Attributes:
        of: The integer of which the mean is taken.
        min: The least mean.
        max: The greatest mean.
    """

    of: Expression
    min: Expression | None = None
    max: Expression | None = None

    @model_validator(mode="after")
    def _has_a_bound(self) -> Mean:
        if self.min is None and self.max is None:
            raise ValueError("`mean` has a `min`, a `max` or both")
        return self


class Invariant(Spec):
    """An invariant/v1 document. In scope: the state after the step, and `previous`, the state before it.

    An invariant of scope `proposal` reads the state before, `document` and `found` instead.

    Attributes:
        scope: Whether it is judged after every step, at the end of an episode, or over the document of each
            proposal.
        severity: Whether a violation ends the episode, or is counted and changes no verdict.
        constants: Named values that expressions read.
        functions: Pure functions that expressions call.
        memory: What it keeps from step to step.
        remember: What each step changes in its memory.
        when: Where it is judged; everywhere, if left out.
        require: What must hold.
        within: A response in time, in place of `require`.
        at_most: A limit on how often something holds, in place of `require`.
        mean: Bounds of the mean of an integer over an episode, in place of `require`.
        after_fatal: Whether an episode that a fatal violation ended is judged, with `scope: episode`.
        witness: Values that the receipt of a violation records.
    """

    spec: Literal["invariant/v1"]
    scope: Literal["step", "episode", "proposal"] = "step"
    severity: Literal["fatal", "warn"] = "fatal"
    constants: Mapping[Identifier, Constant] = Field(default_factory=dict)
    functions: Mapping[Identifier, Function] = Field(default_factory=dict)
    memory: InvariantMemory | None = None
    remember: list[InvariantWrite] = Field(default_factory=list)
    when: Expression = "true"
    require: Expression | None = None
    within: Within | None = None
    at_most: AtMost | None = None
    mean: Mean | None = None
    after_fatal: Literal["judged", "skipped"] = "judged"
    witness: Expressions = Field(default_factory=dict)

    @field_validator("within", "mean")
    @classmethod
    def _when_judged(cls, form: Within | Mean | None, info: ValidationInfo) -> Within | Mean | None:
        scope = info.data.get("scope")
        if isinstance(form, Within) and scope != "step":
            raise ValueError("`within` is judged after every step: leave out `scope`")
        if isinstance(form, Mean) and scope != "episode":
            raise ValueError("`mean` is judged at the end of an episode: it needs `scope: episode`")
        return form

    @model_validator(mode="after")
    def _one_form(self) -> Invariant:
        forms = [name for name in FORMS if getattr(self, name) is not None]
        if len(forms) != 1:
            raise ValueError(f"an invariant has exactly one of {', '.join(f'`{name}`' for name in FORMS)}")
        remembers = self.memory is not None or bool(self.remember)
        if remembers and forms != ["require"]:
            raise ValueError(f"`{forms[0]}` keeps a memory of its own: leave out `memory` and `remember`")
        if self.scope == "proposal" and (remembers or forms != ["require"]):
            raise ValueError("an invariant of scope `proposal` is judged at single decisions: it remembers nothing")
        if self.after_fatal != "judged" and self.scope != "episode":
            raise ValueError("`after_fatal` says what becomes of an episode: it needs `scope: episode`")
        return self
