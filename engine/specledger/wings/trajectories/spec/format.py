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
    """What must be so of an entry: `when`, values at paths, of a list any; `has`, paths that lead to something.

    Attributes:
        when: Values that must stand at paths; of a list any.
        has: Paths that must lead to something.
    """

    when: Annotated[Mapping[RecordPath, Values], Field(max_length=20)] = Field(default_factory=dict)
    has: RecordPath | Annotated[list[RecordPath], Field(min_length=1, max_length=20)] | None = None


class Clause(Condition):
    """A condition, and `each`, by which an entry holds several of what is read.

    Attributes:
        each: The path of a list in the entry, of which each element is read.
    """

    each: RecordPath | None = None


class MessageClause(Clause):
    """Entries that are messages of a speaker.

    Attributes:
        speaker: Who says it.
        text: The path of its text.
    """

    speaker: Literal["system", "user", "assistant"]
    text: RecordPath


class CallClause(Clause):
    """Entries that hold calls; the result stands beside the call where `result` names it.

    Calls with the same value at `batch` are parallel; where that is left out, those of one entry are. Arguments that
    are a text and no object in JSON, such as code, are the one argument `plain`.

    Attributes:
        name: The path of the name of the tool.
        arguments: The path of the arguments, an object or JSON in a text.
        plain: The name of the one argument, where arguments are a text and no object.
        id: The path of the id of the call.
        batch: The path of a value that parallel calls have in common.
        result: The path of the result, where it stands beside the call.
        failed: When the call failed.
    """

    name: RecordPath
    arguments: RecordPath | None = None
    plain: ArgumentName | None = None
    id: RecordPath | None = None
    batch: RecordPath | None = None
    result: RecordPath | None = None
    failed: Condition | None = None


class ResultClause(Clause):
    """Entries that hold what came back: of the call with an id, or of the first of a tool that waits for one.

    Attributes:
        call: The path of the id of the call.
        name: The path of the name of the tool, for logs whose results have no id.
        content: The path of what came back.
        failed: When the call failed.
    """

    call: RecordPath | None = None
    name: RecordPath | None = None
    content: RecordPath | None = None
    failed: Condition | None = None

    @model_validator(mode="after")
    def _names_its_call(self) -> ResultClause:
        if self.call is None and self.name is None:
            raise ValueError("a result has the id of its `call`, or the `name` of the tool that gave it")
        return self


class FindingClause(Clause):
    """What says that an entry, a trajectory or a record failed, whatever else is read of it; each is a finding.

    Attributes:
        text: The path of what the log says of it.
    """

    text: RecordPath | None = None

    @model_validator(mode="after")
    def _has_a_condition(self) -> FindingClause:
        if not self.when and self.has is None:
            raise ValueError("a finding needs `when` or `has`, by which the log says that something failed")
        return self


Clauses = Annotated[list[Clause], Field(max_length=40)]


class Format(Spec):
    """A format/v1 document.

    Attributes:
        trajectories: The path of the trajectories in a record; all records of a file are one, if left out.
        id: The path of the name of a trajectory; that of the file, if left out.
        by: The path of a value that the entries of one trajectory have in common, in place of `trajectories`.
        entries: The path of what a trajectory consists of; each record is an entry, if left out.
        order: The path of what entries are ordered by; the order of the log, if left out.
        time: The path of the time stamp of an entry.
        actor: The path of the name of the subagent whose entry it is.
        messages: Which entries are messages.
        calls: Which entries hold calls.
        results: Which entries hold results.
        findings: What says that something failed; without `entry` and `item` it is of a whole trajectory or record.
        ignore: Which entries are passed over without a finding.
    """

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
    findings: Annotated[list[FindingClause], Field(max_length=40)] = Field(default_factory=list)
    ignore: Clauses = Field(default_factory=list)
