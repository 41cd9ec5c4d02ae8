"""Memory, as agents and governors have it: what is kept of observations, how long, and when it is written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from specledger.spec.base import Expression, Id, Identifier, Model
from specledger.spec.types import TypeSpec
from specledger.spec.world import Effect


class MemoryField(Model):
    """One remembered value: its type and its value at the first observation.

    Attributes:
        type: The type of the value.
        start: Its value at the first observation.
    """

    type: TypeSpec
    start: Expression


class Memory(Model):
    """What is kept from step to step; the scope says when it is cleared.

    Attributes:
        scope: Whether it begins anew in every episode, or lasts for the run.
        fields: The values that are kept.
    """

    scope: Literal["episode", "run"] = "episode"
    fields: Mapping[Identifier, MemoryField]


class Write(Model):
    """One memory write after acting: made, counted and priced when `when` holds. `seen` is the new observation.

    Attributes:
        id: The name of the write, by which receipts count it.
        when: Where it is made; everywhere, if left out.
        effect: What it changes in the memory.
    """

    id: Id
    when: Expression = "true"
    effect: Effect


class GovernorWrite(Write):
    """One write of a governor's memory: once in every step, or after everything that is observed anew.

    Attributes:
        on: Whether it is made once in every step, or after everything that is observed anew.
    """

    on: Literal["step", "observation"] = "step"


class InvariantWrite(Write):
    """One write of an invariant's memory: once in every step, or after every agent's action.

    Attributes:
        on: Whether it is made once in every step, or after every agent's action.
    """

    on: Literal["step", "action"] = "step"
