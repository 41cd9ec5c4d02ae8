"""The `policy` kind: rules over what an agent did, call by call, in the order in which it happened."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import Discriminator, Field, StringConstraints, Tag, model_validator

from specledger.spec.base import Expression, Identifier, Model, Name, Spec, by_key

ToolName = Annotated[str, StringConstraints(min_length=1, max_length=200)]
"""A tool, with `*` for any characters, or a named set of tools, or `any`."""

Tools = ToolName | Annotated[list[ToolName], Field(min_length=1, max_length=200)]

ValuePath = Annotated[str, StringConstraints(min_length=1, max_length=200)]
"""Where a value is: `args.recipients[*]`, `result.user.email`, `text`."""

Pattern = Annotated[str, StringConstraints(min_length=1, max_length=2000)]
"""A regular expression of RE2, found anywhere in a text."""

ValueType = Literal[
    "url", "email", "iban", "name", "date", "number", "text", "path", "urls", "emails", "ibans", "dates"
]
"""How a value is compared; the plural is for a text in which any number of them occur."""

ValueTypes = ValueType | Annotated[list[ValueType], Field(min_length=1, max_length=4)]

ReadType = Literal["number", "int", "bool", "text", "url", "email", "iban", "name", "date", "path"]

Element = str | int | float

Same = ValuePath | Mapping[ValuePath, ValuePath]
"""A path at which an earlier call and this one have the same value, or paths of the earlier one with those of this."""


class Read(Model):
    """A typed value that expressions read by its name; what is absent is unknown.

    Attributes:
        path: Where the value is, such as `args.amount` or `result.user.email`; `request` is what the user wrote until
            then, `time` when the call or message was, in seconds since 1970.
        as: The type that it is read as.
        matches: A pattern of RE2; the value is whether it occurs there. `(?i)` at its beginning is for any case.
        several: Whether the pattern must occur in `all` of several values, as in a list, or in `any` of them. Left
            out, it is unknown where it occurs in some and not in others. In null it is unknown.
        of: The tools of which the latest earlier call is read.
        same: A path at which the earlier call has the same value as this one.
    """

    path: ValuePath
    as_: ReadType | None = Field(default=None, alias="as")
    matches: Pattern | None = None
    several: Literal["all", "any"] | None = None
    of: Tools | None = None
    same: Same | None = None

    @model_validator(mode="after")
    def _has_a_type(self) -> Read:
        if (self.as_ is None) == (self.matches is None):
            raise ValueError("a value is read `as` a type, or with `matches` as whether a pattern occurs in it")
        if self.several is not None and (self.matches is None or self.path == "request"):
            raise ValueError(
                "`several` is about the values at a path of a call in which the pattern of `matches` occurs"
            )
        if self.same is not None and self.of is None:
            raise ValueError("`same` says which record of another tool is read: it needs `of`")
        return self


Reads = Annotated[Mapping[Identifier, Read], Field(max_length=40)]


class When(Model):
    """Which calls or messages a rule is about; all calls where it is left out.

    Attributes:
        tool: The tools whose calls it is about: a tool, a named set, or a list of both.
        message: Whose messages it is about.
        matches: A pattern that must occur in the message.
        if: A condition over the values of `read`.
    """

    tool: Tools | None = None
    message: Literal["assistant"] | None = None
    matches: Pattern | None = None
    if_: Expression | None = Field(default=None, alias="if")

    @model_validator(mode="after")
    def _is_of_one_sort(self) -> When:
        if self.message is not None and self.tool is not None:
            raise ValueError("a rule is about calls of a `tool` or about a `message`, not about both")
        if self.matches is not None and self.message is None:
            raise ValueError("`matches` is about the text of a `message`; arguments are read by `read` with `matches`")
        return self


class SetSource(Model):
    """A named set.

    Attributes:
        set: The name of a set of this policy.
    """

    set_: Name = Field(alias="set")


class FieldSource(Model):
    """The values at fields of the results of tools, which are structured, or JSON or YAML as text.

    Attributes:
        result_of: The tools whose results are searched.
        field: The paths of the fields; `'[*]'` is for the elements of a result that is a list.
        read: Values that `if` reads.
        if: Which results are searched; all, if left out.
        same: What the call of a result must have in common with this one, as in `after`.
        least: The length from which a part of a text counts, in characters; a shorter text is not judged by `not_from`
            where it stands there.
    """

    result_of: Tools
    field: ValuePath | Annotated[list[ValuePath], Field(min_length=1, max_length=40)]
    read: Reads = Field(default_factory=dict)
    if_: Expression | None = Field(default=None, alias="if")
    same: Same | None = None
    least: Annotated[int, Field(ge=1, le=10_000)] = 3


class TextSource(Model):
    """Anywhere in the text of the results of tools.

    Attributes:
        text_of: The tools whose results are searched, anywhere in them.
        read: Values that `if` reads.
        if: Which results are searched; all, if left out.
        same: What the call of a result must have in common with this one, as in `after`.
        least: The length from which a part of a text counts, in characters; a shorter text is not judged by `not_from`
            where it stands there.
    """

    text_of: Tools
    read: Reads = Field(default_factory=dict)
    if_: Expression | None = Field(default=None, alias="if")
    same: Same | None = None
    least: Annotated[int, Field(ge=1, le=10_000)] = 16


_KEYS: Final = ("set", "result_of", "text_of")
_WORD: Final = "word"


def _sort_of_source(value: object) -> str | None:
    """Which member of the union a source is: a word, or that of its key."""
    if isinstance(value, str):
        return _WORD
    if isinstance(value, SetSource):  # its field is named otherwise than its key
        return "set"
    present = value if isinstance(value, Mapping) else getattr(value, "model_fields_set", ())
    return next((key for key in _KEYS if key in present), None)


Source = Annotated[
    Annotated[Literal["request", "system"], Tag(_WORD)]
    | Annotated[SetSource, Tag("set")]
    | Annotated[FieldSource, Tag("result_of")]
    | Annotated[TextSource, Tag("text_of")],
    Discriminator(
        _sort_of_source,
        custom_error_type="union_key",
        custom_error_message=f"expected 'request', 'system' or one of the keys {', '.join(_KEYS)}",
    ),
]

Sources = Annotated[list[Source], Field(min_length=1, max_length=40)]


class Earlier(Model):
    """An earlier call that fulfils a condition; `since` demands that it is later than all calls of other tools.

    Attributes:
        tool: The tools of the earlier call.
        read: Values of the earlier call that `if` reads.
        if: What the earlier call must fulfil.
        same: What the earlier call must have in common with this one.
        since: Tools; the earlier call must be later than all calls of these.
    """

    tool: Tools
    read: Reads = Field(default_factory=dict)
    if_: Expression | None = Field(default=None, alias="if")
    same: Same | None = None
    since: Tools | None = None


Seconds = Annotated[int, Field(ge=1, le=10**9)]


class Count(Model):
    """How many calls of the rule there were, this one included.

    Attributes:
        count: The number of calls; it is written `{}`.
        within: The seconds up to the call in which calls are counted; all of them where it is left out.
    """

    count: Mapping[str, Any] = Field(max_length=0)
    within: Seconds | None = None


class Sum(Model):
    """The sum of a number over the calls of the rule, this one included.

    Attributes:
        sum: The number that is added up.
        within: The seconds up to the call in which calls are added up; all of them where it is left out.
    """

    sum: Expression
    within: Seconds | None = None


class Repeats(Model):
    """How many calls of the rule in a row, up to this one, are of the same tool with the same arguments.

    Attributes:
        repeats: The number of equal calls in a row; it is written `{}`.
    """

    repeats: Mapping[str, Any] = Field(max_length=0)


Kept = Annotated[
    Annotated[Count, Tag("count")] | Annotated[Sum, Tag("sum")] | Annotated[Repeats, Tag("repeats")],
    by_key("count", "sum", "repeats"),
]


class Rule(Model):
    """What must hold of every call, or message, that it is about.

    Attributes:
        doc: The message of a finding, after `not so:`, where there is no `else`.
        severity: Whether a broken rule makes the verdict FAIL, or is a warning.
        when: Which calls or messages it is about; all calls, if left out.
        read: Names for expressions, each with the value that it stands for.
        memory: Figures over the calls that the rule is about, this one included: how many, a sum, or equal calls in a
            row.
        each: The path of the values that are judged, such as `args.recipients[*]`, or several, such as
            `[args.to, args.cc]`; `args.**` is every value, `text` of a message. Where all are absent or null there is
            no opportunity; of several values, every one must hold.
        as: The type by which values are compared, or a list of types of which the first that fits is taken.
        from: Where each value must have been before, in one of these: what the user wrote (`request`), the `system`
            prompt, a set, a field of a result, the text of a result.
        stems: Whether words may stand in the request with another ending, and in any order.
        not_from: Where no value may have been before; a text may not hold such a value or a run of words, of the
            `least` length.
        after: An earlier call that there must be: of a tool, fulfilling `if`, which also reads the names of the rule.
        not_after: An earlier call that there must not be.
        require: What must hold of the call or message: an expression over `read`, `memory` and, with `each`, `value`.
        else: The message of a finding; `{value}`, `{source}`, `{tool}` and names of `read` and `memory` are
            filled in.
    """

    doc: Annotated[str, StringConstraints(max_length=4000)] | None = None
    severity: Literal["fatal", "warn"] = "fatal"
    when: When = Field(default_factory=When)
    read: Reads = Field(default_factory=dict)
    memory: Annotated[Mapping[Identifier, Kept], Field(max_length=40)] = Field(default_factory=dict)
    each: ValuePath | Annotated[list[ValuePath], Field(min_length=1, max_length=20)] | None = None
    as_: ValueTypes = Field(default="text", alias="as")
    from_: Sources | None = Field(default=None, alias="from")
    stems: bool = False
    not_from: Sources | None = None
    after: Earlier | None = None
    not_after: Earlier | None = None
    require: Expression | None = None
    else_: Annotated[str, StringConstraints(min_length=1, max_length=1000)] | None = Field(default=None, alias="else")

    @property
    def judged(self) -> Mapping[str, tuple[str | int, ...]]:
        """The paths of the values that are judged, each with where it stands in the rule."""
        if isinstance(self.each, str):
            return {self.each: ("each",)}
        return {path: ("each", index) for index, path in enumerate(self.each or ())}


class Policy(Spec):
    """A policy/v1 document.

    Attributes:
        sets: Named lists of texts and numbers, such as known recipients; compared as e-mail addresses, `*@DOMAIN` is
            every address of a domain.
        tools: Named lists of tools; `*` in a tool stands for any characters, and `any` for all tools.
        rules: What must hold.
    """

    spec: Literal["policy/v1"]
    sets: Annotated[Mapping[Name, Annotated[list[Element], Field(max_length=100_000)]], Field(max_length=100)] = Field(
        default_factory=dict
    )
    tools: Annotated[
        Mapping[Name, Annotated[list[ToolName], Field(min_length=1, max_length=1000)]], Field(max_length=100)
    ] = Field(default_factory=dict)
    rules: Annotated[Mapping[Name, Rule], Field(min_length=1, max_length=1000)]
