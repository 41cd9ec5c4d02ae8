"""The vocabulary that all kinds share: names, expressions, references, fixed-point numbers, metadata.

Every mapping in a spec is unordered (the resolved form is canonical JSON, whose keys are sorted); wherever order
matters the field is a list.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Protocol

from msgspec import Struct
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    PlainSerializer,
    StringConstraints,
    WithJsonSchema,
)

from specledger.core.docstrings import attributes_of, summary_of

if TYPE_CHECKING:  # a command that asks for no schema does not load what makes one
    from pydantic import GetJsonSchemaHandler
    from pydantic.json_schema import JsonSchemaValue
    from pydantic_core import CoreSchema

QFIXED_ONE: Final = 1_000_000
"""1.0 in QFixed6, the fixed-point form of budgets and work (coherence kernel: six decimals)."""

POLICY_MS: Final = 200
"""Milliseconds that one evaluation of a policy may take unless a spec says otherwise (toy-pseudo-axion, watchdog)."""

INTEGER_LIMIT: Final = 2**53 - 1
"""Largest magnitude of an integer that every JSON reader reads exactly."""


MAX_NAME: Final = 120
"""Characters of a name of a file or a case at most; the names of specs have at most 80."""

_DECIMAL: Final = re.compile(r"-?[0-9]{1,10}(\.[0-9]{1,6}0{0,20})?", re.ASCII)


class Model(BaseModel):
    """A closed, immutable piece of a spec: unknown keys are errors, values are never coerced between types."""

    keys_come_last: ClassVar[bool] = False
    """Whether documents are laid out with the keys of this model after those of the models that extend it."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        allow_inf_nan=False,
        populate_by_name=False,
        defer_build=True,  # most processes validate only a few kinds
    )

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """The JSON Schema, in which a property has the text that `Attributes:` of the docstring has about it."""
        schema = handler(core_schema)
        shape = handler.resolve_ref_schema(schema)
        about = about_fields(cls)
        for name, field in cls.model_fields.items():
            key = field.alias or name
            text = field.description or about.get(key)
            member = shape.get("properties", {}).get(key)
            if text is not None and member is not None:
                member["description"] = text
        if "description" in shape:
            shape["description"] = summary_of(shape["description"])
        return schema


def about_fields(model: type[Model]) -> dict[str, str]:
    """What the docstrings of a model, and of those that it extends, say of each key of its documents."""
    about: dict[str, str] = {}
    for parent in filter(lambda parent: issubclass(parent, Model), reversed(model.__mro__)):
        about |= attributes_of(parent.__doc__)
    return about


def _expression(value: object) -> object:
    """Let `to: 5`, `to: 0.5` and `require: true` stand for the expressions `5`, `0.5` and `true`."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, int | float) else value


def _qfixed(value: object) -> int:
    """Read a decimal number of units as an integer of millionths, exactly.

    Raises:
        ValueError: If the value is no decimal number, has more than six decimals, or is out of range.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError("expected a decimal number such as 200.0")
    text = value if isinstance(value, str) else format(Decimal(str(value)), "f")
    if not _DECIMAL.fullmatch(text):
        raise ValueError("expected a decimal number below 9e9 with at most six decimals")
    scaled = int(Decimal(text) * QFIXED_ONE)
    if abs(scaled) > INTEGER_LIMIT:
        raise ValueError("expected a decimal number below 9e9")
    return scaled


def by_key(*keys: str) -> Discriminator:
    """Tell the members of a union apart by the one of `keys` that the mapping has (`{set: …}`, `{append: …}`)."""

    def tag(value: object) -> str | None:
        present = value if isinstance(value, Mapping) else getattr(value, "model_fields_set", ())
        return next((key for key in keys if key in present), None)

    return Discriminator(
        tag,
        custom_error_type="union_key",
        custom_error_message=f"expected one of the keys {', '.join(keys)}",
    )


def format_qfixed(value: int) -> str:
    """Write millionths as the shortest decimal number of units: 3600000 -> "3.6"."""
    sign = "-" if value < 0 else ""
    whole, rest = divmod(abs(value), QFIXED_ONE)
    return f"{sign}{whole}" + (f".{rest:06d}".rstrip("0") if rest else "")


Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9]*([_-][a-z0-9]+)*$", max_length=80)]
"""The name of a spec: lower case, words joined by - or _."""

Identifier = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_]*$", max_length=80)]
"""A name that expressions may use."""

FieldPath = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z][A-Za-z0-9_]*)*$", max_length=200)
]
"""A dotted path to a field of the state."""


def _day(value: str) -> str:
    """See that a text is a day of the calendar.

    Raises:
        ValueError: It is none.
    """
    if date.fromisoformat(value).isoformat() != value:
        raise ValueError("expected a date such as 2027-01-31")
    return value


Day = Annotated[str, StringConstraints(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"), AfterValidator(_day)]
"""A day of the calendar: `2027-01-31`."""

Id = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_-]*$", max_length=120)]
"""The name of one of several entries of a list, by which it is changed and counted; no expression reads it."""

Reason = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_]*$", max_length=120)]
"""A stable machine-readable reason."""


def _type_in_words(words: str, *types: str) -> WithJsonSchema:
    """The JSON Schema of a type that JSON lacks; `$comment` stays where a key has a description of its own."""
    return WithJsonSchema({"type": [*types], "description": words, "$comment": words})


class ExpressionMark(Struct, frozen=True):
    """Marks a string field as an expression of the profile, so that its place can be found."""


class ChangesMark(Struct, frozen=True):
    """Marks a mapping of dotted paths to the values that come to stand there, in a spec and those that it refers to.

    Attributes:
        kind: The kind of the spec.
    """

    kind: str


class TermsMark(Struct, frozen=True):
    """Marks an expression that may be written as a list of weighted terms, each with a name."""


_TERM = {
    "type": "object",
    "additionalProperties": False,
    "required": ["id", "value"],
    "properties": {
        "id": {"type": "string", "description": "The name of the term."},
        "weight": {"type": ["string", "number"], "description": "What the value is multiplied with; 1 if left out."},
        "value": {"type": ["string", "number", "object"], "description": "The value: an expression, or one by cases."},
    },
}

Expression = Annotated[
    str,
    BeforeValidator(_expression),
    StringConstraints(min_length=1, max_length=8192),
    ExpressionMark(),
    _type_in_words("an expression (CEL profile v1)", "string", "number", "boolean", "object"),
]

Score = Annotated[
    str,
    BeforeValidator(_expression),
    StringConstraints(min_length=1, max_length=8192),
    ExpressionMark(),
    TermsMark(),
    WithJsonSchema(
        {
            "type": ["string", "number", "object", "array"],
            "description": "an expression, or a list of terms",
            "items": _TERM,
        }
    ),
]
"""An expression, or a list of terms `{id, weight, value}` whose weighted values are added."""

QFixed = Annotated[
    int,
    BeforeValidator(_qfixed),
    PlainSerializer(format_qfixed, return_type=str),
    _type_in_words("a decimal number with at most six decimals", "number", "string"),
]
"""Fixed point: written as a decimal number of units, held as an integer of millionths."""


class FixedConstant(Model):
    """`{qfixed: 3.6}`: a constant given in units, held in millionths.

    Attributes:
        qfixed: A decimal number of units, held in millionths.
    """

    qfixed: QFixed


Constant = FixedConstant | bool | int | float | str | list[Any]
"""A constant's value; a list is a matrix or list of integers, strings or booleans."""

Expressions = Mapping[Identifier, Expression]
"""Named expressions. Each may read the others of the same mapping; the order is found, a cycle is an error."""


class Use(Model):
    """A reference with arguments: `{use: NAME, with: {every: 20}}`.

    Attributes:
        use: The name or the path of the spec.
        with: Values for its params.
    """

    use: Annotated[str, StringConstraints(min_length=1, max_length=300)]
    arguments: Mapping[Identifier, Any] = Field(default_factory=dict, alias="with")


REFERS: Final = "x-refers"
"""The keyword of a JSON Schema that names the kind of what is referred to."""


class RefTo(Struct, frozen=True):
    """Marks a field as a reference to a spec of the given kind; after resolution it holds that spec's key.

    Attributes:
        kind: The kind.
        cases: If the entry of a mapping that holds the reference is made once for each case of a matrix: the key beside
            it that gets the values of the case.
    """

    kind: str
    cases: str | None = None

    def __get_pydantic_json_schema__(self, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """The JSON Schema with the kind, for schemas that list the names there are."""
        return {**handler(core_schema), REFERS: self.kind}


Reference = Annotated[str, StringConstraints(min_length=1, max_length=300)] | Use


class Metadata(Model):
    """The one free place of a spec; it never changes what a run does.

    Attributes:
        annotations: Any keys and values; nothing reads them.
    """

    annotations: Mapping[str, Any] = Field(default_factory=dict)


class Spec(Model):
    """The head that every document has.

    Attributes:
        spec: The kind and the version of the document; it is the first key.
        name: The name by which other specs refer to this one; the file has the same name.
        doc: What the spec is for, in sentences; the first one is shown in lists.
        metadata: The one free place of a spec; it never changes what a run does.
    """

    spec: str
    name: Name
    doc: Annotated[str, StringConstraints(max_length=4000)] | None = None
    metadata: Metadata | None = None


class SpecKind(Protocol):
    """What reading documents needs to know about a kind."""

    @property
    def model(self) -> type[Spec]:
        """The model of its documents."""


SpecKinds = Mapping[str, SpecKind]
"""Kinds by what follows `spec:`."""
