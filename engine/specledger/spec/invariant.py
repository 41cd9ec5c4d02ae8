"""The `invariant` kind: a predicate that must hold, where it is looked at, and how grave a breach is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from specledger.spec.base import Constant, Expression, Expressions, Identifier, Spec
from specledger.spec.world import Function


class Invariant(Spec):
    """An invariant/v1 document. In scope: the state after the step, and `previous`, the state before it.

    An invariant of scope `proposal` reads the state before, `document` and `found` instead.
    """

    spec: Literal["invariant/v1"]
    scope: Literal["step", "episode", "proposal"] = "step"
    severity: Literal["fatal", "warn"] = "fatal"
    constants: Mapping[Identifier, Constant] = Field(default_factory=dict)
    functions: Mapping[Identifier, Function] = Field(default_factory=dict)
    when: Expression = "true"
    require: Expression
    witness: Expressions = Field(default_factory=dict)
