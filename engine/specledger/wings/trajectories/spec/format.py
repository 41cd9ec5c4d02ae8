"""The `format` kind: where the records of a log say what was asked, called and given back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from specledger.spec.base import Model, Spec

RecordPath = Annotated[str, StringConstraints(min_length=1, max_length=200)]
"""Where a value is: `record.messages[*]`, `entry.function.name`, `item.id`."""

ArgumentName = Annotated[str, StringConstraints(min_length=1, max_length=200)]

Scalar = str | int | bool

Values = Scalar | Annotated[list[Scalar], Field(min_length=1, max_length=100)]


class Condition(Model):
    """What must be so of an entry: `when`, values at paths, of a list any; `has`, paths that lead to something."""

    when: Annotated[Mapping[RecordPath, Values], Field(max_length=20)] = Field(default_factory=dict)
    has: RecordPath | Annotated[list[RecordPath], Field(min_length=1, max_length=20)] | None = None


class Clause(Condition):
    """A condition, and `each`, by which an entry holds several of what is read."""

    each: RecordPath | None = None


class MessageClause(Clause):
    """Entries that are messages of a speaker."""

    speaker: Literal["system", "user", "assistant"]
    text: RecordPath


class CallClause(Clause):
    """Entries that hold calls; the result stands beside the call where `result` names it.

    Calls with the same value at `batch` are parallel; where that is left out, those of one entry are. Arguments that
    are a text and no object in JSON, such as code, are the one argument `plain`.
    """

    name: RecordPath
    arguments: RecordPath | None = None
    plain: ArgumentName | None = None
    id: RecordPath | None = None
    batch: RecordPath | None = None
    result: RecordPath | None = None
    failed: Condition | None = None


class ResultClause(Clause):
    """Entries that hold what came back: of the call with an id, or of the first of a tool that waits for one."""

    call: RecordPath | None = None
    name: RecordPath | None = None
    content: RecordPath | None = None
    failed: Condition | None = None

    @model_validator(mode="after")
    def _names_its_call(self) -> ResultClause:
        if self.call is None and self.name is None:
            raise ValueError("a result has the id of its `call`, or the `name` of the tool that gave it")
        return self


Clauses = Annotated[list[Clause], Field(max_length=40)]


class Format(Spec):
    """A format/v1 document."""

    spec: Literal["format/v1"]
    trajectories: RecordPath | None = None
    id: RecordPath | None = None
    by: RecordPath | None = None
    entries: RecordPath | None = None
    order: RecordPath | None = None
    time: RecordPath | None = None
    actor: RecordPath | None = None
    messages: Annotated[list[MessageClause], Field(max_length=40)] = Field(default_factory=list)
    calls: Annotated[list[CallClause], Field(min_length=1, max_length=40)]
    results: Annotated[list[ResultClause], Field(max_length=40)] = Field(default_factory=list)
    ignore: Clauses = Field(default_factory=list)
