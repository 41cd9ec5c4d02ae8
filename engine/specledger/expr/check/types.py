"""Static types of CEL profile v1.

Values are plain JSON data (int, float, bool, str, None, list, dict); an int is never a bool.

Source: seeds' state schemas are JSON Schemas; CEL language definition, "Gradual type checking".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field
from msgspec.structs import force_setattr

from specledger.expr.limits import INT_MAX, INT_MIN, MAX_LIST

if TYPE_CHECKING:
    from specledger.core.spans import Text


class Type(Struct, frozen=True):
    """One static type; every subclass is frozen and hashable."""


class IntType(Type, frozen=True):
    """A 64-bit integer known to lie in `low..high`, both inclusive.

    Ranges are facts, not conversions: assignability ignores them, generated code uses them to leave out overflow and
    index checks. Whoever declares a range keeps it: see `contains` (proved at load) and `conforms` (checked at run).
    """

    low: int = INT_MIN
    high: int = INT_MAX

    def __str__(self) -> str:
        return "int"


class FixedType(IntType, frozen=True):
    """A fixed-point number, held as an integer of millionths; the range is in millionths too."""

    def __str__(self) -> str:
        return "qfixed"


FIXED = FixedType()
FIXED_ONE = 1_000_000
"""Millionths in one."""


class Scalar(Type, frozen=True):
    """A type without structure, told apart by its name."""

    name: str

    def __str__(self) -> str:
        return self.name


INT = IntType()
DOUBLE = Scalar("double")
BOOL = Scalar("bool")
STRING = Scalar("string")
NULL = Scalar("null")
DYN = Scalar("dyn")
"""Any JSON value; its operations are checked when they run."""
JSON = Scalar("json")
"""Any JSON value without floats, which is carried and read by nothing."""
NOTHING = Scalar("nothing")
"""Item type of `[]`: fits everywhere, and nothing but itself fits it."""
MISTAKEN = Scalar("mistaken")
"""What has a finding already: whatever depends on it is wrong without a finding of its own, and it fits everywhere."""


class ChoiceType(Scalar, frozen=True):
    """A string known to be one of `values`: a fact like an int's range, which makes it no other type than `string`."""

    values: tuple[str, ...]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scalar) and other.name == self.name

    def __hash__(self) -> int:
        return hash(STRING)


def one_of(values: Iterable[str]) -> ChoiceType:
    """The type of a string that is one of these."""
    return ChoiceType(STRING.name, tuple(values))


class ListType(Type, frozen=True):
    """A list of at most `most` items; `most` is a fact like an int's range."""

    item: Type
    most: int = MAX_LIST

    def __str__(self) -> str:
        return f"list<{self.item}>"


class MapType(Type, frozen=True):
    """A JSON object with arbitrary keys; in literals keys may also be int or bool."""

    value: Type
    key: Type = STRING

    def __str__(self) -> str:
        return f"map<{self.key}, {self.value}>"


class TypeVariable(Type, frozen=True):
    """A type to be found at the call: `Signature((ListType(T), T), T)`."""

    name: str

    def __str__(self) -> str:
        return self.name


class Defined(Struct, frozen=True):
    """A function written in the spec: parameter names and a body.

    Checked structurally at every call with the types of the actual arguments. Free names of the body are read in the
    environment of the call; free variables are passed implicitly (captured). Without parameters it can also serve as
    a derived value, which is used like a variable or a field.
    """

    params: tuple[str, ...]
    body: Text


class RecordType(Type, frozen=True, eq=False, dict=True):
    """A JSON object with known keys.

    Equality is structural and ignores `name`. `optional` keys may be absent (ask with `has`). `derived` are virtual
    fields: their bodies see the record's own fields (and derived fields) as variables, and the functions and
    constants of the environment.
    """

    name: str
    fields: Mapping[str, Type]
    optional: frozenset[str] = frozenset()
    derived: Mapping[str, Defined] = field(default_factory=dict)

    def __post_init__(self) -> None:
        force_setattr(self, "fields", MappingProxyType(dict(self.fields)))
        force_setattr(self, "derived", MappingProxyType(dict(self.derived)))
        force_setattr(self, "optional", frozenset(self.optional))
        clash = set(self.fields) & set(self.derived)
        if clash or not self.optional <= set(self.fields):
            raise ValueError(f"record {self.name!r}: derived names clash with fields, or optional names are not fields")

    @cached_property
    def _key(self) -> tuple[Any, ...]:
        return (tuple(sorted(self.fields.items())), self.optional, tuple(sorted(self.derived.items())))

    @cached_property
    def _hash(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RecordType) and (self is other or self._key == other._key)

    def __hash__(self) -> int:
        return self._hash

    def __str__(self) -> str:
        if self.name:
            return self.name
        keys = [f"{key}{'?' if key in self.optional else ''}: {self.fields[key]}" for key in self.fields]
        return "{" + ", ".join(keys[:6]) + (", ..." if len(keys) > 6 else "") + "}"


def without_choices(type_: Type) -> Type:
    """The type with `string` wherever a text is known to be one of a few: a function is checked once for all texts."""
    if isinstance(type_, ChoiceType):
        return STRING
    if isinstance(type_, ListType):
        item = without_choices(type_.item)
        return type_ if item is type_.item else ListType(item, type_.most)
    if isinstance(type_, MapType):
        value = without_choices(type_.value)
        return type_ if value is type_.value else MapType(value, type_.key)
    if isinstance(type_, RecordType):
        fields = {name: without_choices(inner) for name, inner in type_.fields.items()}
        same = all(fields[name] is inner for name, inner in type_.fields.items())
        return type_ if same else RecordType(type_.name, fields, type_.optional, type_.derived)
    return type_


class Signature(Struct, frozen=True):
    """One overload: parameter types and the result's type; both may contain `TypeVariable`.

    With `variadic`, the last parameter may be given any number of times, at least once.
    """

    params: tuple[Type, ...]
    result: Type
    variadic: bool = False


class Native(Struct, frozen=True):
    """A function written in Python.

    Attributes:
        name: The name in expressions; may be qualified (`math.abs`).
        overloads: Tried in order against the argument types.
        call: Receives plain values and returns one that fits the overload's result (ranges included). It must be
            pure, must not change its arguments, and raises `EvaluationError` on bad input.
        total: True when `call` never raises for arguments that fit a signature.
        cost: Work of one call, in tree nodes; a list argument adds its length.
        fast: The same function for generated code, where it may raise anything at all in place of an
            `EvaluationError`; `call` where it is left out.
        written: Writes a call out as Python source over the cells of small matrices. It is given the source of each
            scalar argument and, for a list, the list of its elements' sources; it returns source, or a matrix of
            source for a matrix, in which `call` stands for the call itself. It raises ValueError or TypeError where the
            arguments do not fit.
        infer: Narrows the result from the argument types (ranges, sizes); it must return a type that fits the
            overload's result.
    """

    name: str
    overloads: tuple[Signature, ...]
    call: Callable[..., Any]
    total: bool = False
    cost: int = 1
    infer: Callable[[tuple[Type, ...]], Type] | None = None
    fast: Callable[..., Any] | None = None
    written: Callable[..., str | list[list[str]]] | None = None
