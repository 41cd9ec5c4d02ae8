"""The `drift` kind: when the world changes from outside, what is drawn, and what it does to the state."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from specledger.spec.base import Constant, Expression, Identifier, Spec
from specledger.spec.world import Draw, Effect, Function


class Drift(Spec):
    """A drift/v1 document. `at` reads the step number `t` alone, so that the schedule is known before the run.

    Attributes:
        constants: Named values that expressions read.
        functions: Pure functions that expressions call.
        at: At which steps it is due; it reads the step `t` alone.
        when: Whether the state lets it happen; it always does, if left out.
        draw: Values that are drawn for the effects.
        effects: What it does to the state.
    """

    spec: Literal["drift/v1"]
    constants: Mapping[Identifier, Constant] = Field(default_factory=dict)
    functions: Mapping[Identifier, Function] = Field(default_factory=dict)
    at: Expression
    when: Expression = "true"
    draw: Mapping[Identifier, Draw] = Field(default_factory=dict)
    effects: Annotated[list[Effect], Field(min_length=1)]
