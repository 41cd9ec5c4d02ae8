"""The `template` kind: the form of a law, from which steps it is judged at to what its claim looks like.

Source: law proposer, section 6, Allowed Templates.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from specledger.spec.base import Identifier, Model, Spec

FieldName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_]+$", max_length=40)]
Later = Literal["t + 1", "t + 2", "t + 3", "t + 4", "t + 5", "t + 6", "t + 7", "t + 8"]
Moment = Literal["t", Later, "fixed"]
"""A step that a part of a claim may read; `fixed` is one counted from the start, such as 0."""


class Steps(Model):
    """The steps that a law is judged at, first to last: `{from: 0, to: T - 1}`.

    Attributes:
        from: The first step.
        to: The last step.
    """

    first: Annotated[int, Field(ge=0, le=1, alias="from")] = 0
    last: Literal["T", "T - 1", "T - 2", "T - 3", "T - 4", "T - 5", "T - 6", "T - 7", "T - 8"] = Field(
        default="T", alias="to"
    )


class ForAll(Model):
    """What a law is judged for: every step, and every cell where its claim is about cells.

    Attributes:
        t: The steps that a law is judged at.
        i: Whether every cell is judged by itself.
    """

    t: Steps
    i: Literal["cells"] | None = None


class Part(Model):
    """A piece of the claim that a law fills in: what it is, and which steps it may read.

    Attributes:
        sort: Whether the part is a number or a condition.
        reads: The steps that it may read.
    """

    sort: Literal["int", "bool"] = "bool"
    reads: Annotated[list[Moment], Field(min_length=1, max_length=10)]


class Template(Spec):
    """A template/v1 document.

    Attributes:
        needs: The fields that a law of this form must give.
        for_all: What a law is judged for.
        within: With `H`, what must hold may come true at one of the next H steps.
        parts: What a law fills in.
        claim: What a claim of this form looks like.
        antecedent: When a step counts; every step does, if left out.
        holds: What must hold at a step that counts; the claim, if left out.
    """

    spec: Literal["template/v1"]
    needs: Annotated[list[FieldName], Field(max_length=8)] = Field(default_factory=list)
    for_all: ForAll
    within: Literal["H"] | None = None
    parts: Annotated[Mapping[Identifier, Part], Field(max_length=4)] = Field(default_factory=dict)
    claim: Mapping[str, Any]
    antecedent: Mapping[str, Any] | None = None
    holds: Mapping[str, Any] | None = None
