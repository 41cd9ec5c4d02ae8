"""Relations of static types: assignability, joins, comparability; and checks of values against types."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import Any

from specledger.core.canonical import is_plain
from specledger.core.log_json import MAX_VALUE_DEPTH
from specledger.expr.check.types import (
    BOOL,
    DOUBLE,
    DYN,
    JSON,
    MISTAKEN,
    NOTHING,
    NULL,
    STRING,
    ChoiceType,
    IntType,
    ListType,
    MapType,
    RecordType,
    Scalar,
    Type,
    one_of,
)


def assignable(actual: Type, expected: Type) -> bool:
    """Whether values of `actual` fit a place of type `expected`, int ranges and list sizes aside.

    Records are compared by keys: an expected key that is not optional must always be there, and there are no others.
    A `dyn` value fits only a `dyn` place; `int(v)`, `double(v)`, `string(v)` and `bool(v)` make it static.
    """
    return mismatch(actual, expected) is None


def contains(expected: Type, actual: Type) -> bool:
    """Whether every value of `actual` is proved to fit `expected`, int ranges and list sizes included."""
    return mismatch(actual, expected, exactly=True) is None


def mismatch(actual: Type, expected: Type, *, exactly: bool = False) -> str | None:
    """Why values of `actual` do not fit `expected`, as a clause; None when they do.

    Args:
        actual: The type at hand.
        expected: The type of the place.
        exactly: Compare int ranges and list sizes too.
    """
    if MISTAKEN in (actual, expected):
        return None
    if NOTHING in (actual, expected) or expected == DYN:
        return None if expected != NOTHING or actual == NOTHING else f"expected nothing, found {actual}"
    if expected == JSON and plain(actual):
        return None
    if isinstance(actual, IntType) and type(actual) is type(expected):
        inside = expected.low <= actual.low and actual.high <= expected.high
        wrong = f"expected {expected.low}..{expected.high}, found {actual.low}..{actual.high}"
        return wrong if exactly and not inside else None
    if isinstance(actual, ListType) and isinstance(expected, ListType):
        if exactly and actual.most > expected.most:
            return f"expected at most {expected.most} items, found up to {actual.most}"
        return _within("in its items", mismatch(actual.item, expected.item, exactly=exactly))
    if isinstance(actual, MapType) and isinstance(expected, MapType):
        inner = mismatch(actual.key, expected.key) or mismatch(actual.value, expected.value, exactly=exactly)
        return _within("in its values", inner)
    if isinstance(actual, RecordType) and isinstance(expected, MapType):
        if expected.key != STRING:
            return f"expected {expected}, found {actual}"
        inners = ((key, mismatch(value, expected.value, exactly=exactly)) for key, value in actual.fields.items())
        return next((_within(f"in `{key}`", inner) for key, inner in inners if inner), None)
    if isinstance(actual, RecordType) and isinstance(expected, RecordType):
        return _record_mismatch(actual, expected, exactly)
    return None if actual == expected else f"expected {expected}, found {actual}"


def _within(container: str, inner: str | None) -> str | None:
    return inner and f"{container}: {inner}"


def _record_mismatch(actual: RecordType, expected: RecordType, exactly: bool) -> str | None:
    if actual.fields is expected.fields and actual.optional == expected.optional:
        return None
    sure = set(actual.fields) - actual.optional
    missing = [key for key in expected.fields if key not in sure and key not in expected.optional]
    if missing:
        return f"field{'s' if missing[1:] else ''} {_quoted(missing)} {'are' if missing[1:] else 'is'} missing"
    extra = [key for key in actual.fields if key not in expected.fields]
    if extra:
        return f"{expected} has no field{'s' if extra[1:] else ''} {_quoted(extra)}"
    inners = ((key, mismatch(actual.fields[key], expected.fields[key], exactly=exactly)) for key in actual.fields)
    return next((_within(f"in `{key}`", inner) for key, inner in inners if inner), None)


def _quoted(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def join(first: Type, second: Type) -> Type | None:
    """The narrowest type that holds the values of both; None when the profile has none.

    Records with different keys join to one in which the keys of only one are optional, as CEL's maps allow.
    """
    if MISTAKEN in (first, second):
        return MISTAKEN
    if STRING == first == second:
        if isinstance(first, ChoiceType) and isinstance(second, ChoiceType):
            return one_of(dict.fromkeys((*first.values, *second.values)))
        return STRING
    if second is first or second == NOTHING:
        return first
    if first == NOTHING:
        return second
    if DYN in (first, second):
        return DYN
    if isinstance(first, IntType) and type(first) is type(second):
        return type(first)(min(first.low, second.low), max(first.high, second.high))
    if isinstance(first, ListType) and isinstance(second, ListType):
        item = join(first.item, second.item)
        return item and ListType(item, max(first.most, second.most))
    if isinstance(first, RecordType) and isinstance(second, RecordType):
        return _join_records(first, second)
    if isinstance(first, MapType | RecordType) and isinstance(second, MapType | RecordType):
        left, right = as_map(first), as_map(second)
        value = left and right and left.key == right.key and join(left.value, right.value)
        return MapType(value, left.key) if left and value else None
    return first if first == second else None


def _join_records(first: RecordType, second: RecordType) -> RecordType | None:
    fields: dict[str, Type] = {}
    for key in [*first.fields, *(key for key in second.fields if key not in first.fields)]:
        joined = join(first.fields.get(key, NOTHING), second.fields.get(key, NOTHING))
        if joined is None:
            return None
        fields[key] = joined
    optional = first.optional | second.optional | (first.fields.keys() ^ second.fields.keys())
    named = first if first.name else second
    if named.fields.keys() != fields.keys() or not optional <= named.optional:
        return RecordType("", fields, frozenset(optional))
    return RecordType(named.name, fields, frozenset(optional), named.derived)


def as_map(type_: MapType | RecordType) -> MapType | None:
    """A record seen as a map with dynamic keys; None when its values have different types."""
    if isinstance(type_, MapType):
        return type_
    value: Type | None = NOTHING
    for field_type in type_.fields.values():
        value = None if value is None else join(value, field_type)
    return None if value is None else MapType(value)


def widened(type_: Type) -> Type:
    """A type without what is known of the ranges of its ints and the sizes of its lists."""
    if isinstance(type_, IntType):
        return type(type_)()
    if isinstance(type_, ChoiceType):
        return STRING
    if isinstance(type_, ListType):
        return ListType(widened(type_.item))
    if isinstance(type_, MapType):
        return MapType(widened(type_.value), type_.key)
    if isinstance(type_, RecordType):
        fields = {key: widened(value) for key, value in type_.fields.items()}
        return RecordType(type_.name, fields, type_.optional, type_.derived)
    return type_


def undecided(type_: Type) -> bool:
    """Whether a type holds an empty list of which the items are not known yet."""
    if isinstance(type_, ListType):
        return type_.item == NOTHING or undecided(type_.item)
    return isinstance(type_, RecordType) and any(map(undecided, type_.fields.values()))


def comparable(first: Type, second: Type) -> bool:
    """Whether `==` may be asked: the same types all the way down, or `dyn` where they are not known."""
    if {first, second} & {NOTHING, DYN, MISTAKEN}:
        return True
    if isinstance(first, ListType) and isinstance(second, ListType):
        return comparable(first.item, second.item)
    if isinstance(first, RecordType) and isinstance(second, RecordType):
        common = first.fields.keys() & second.fields.keys()
        return all(comparable(first.fields[key], second.fields[key]) for key in common)
    if isinstance(first, RecordType) and isinstance(second, MapType):
        return comparable(second, first)
    if isinstance(first, MapType) and isinstance(second, RecordType):
        return first.key == STRING and all(comparable(first.value, value) for value in second.fields.values())
    if isinstance(first, MapType) and isinstance(second, MapType):
        return comparable(first.key, second.key) and comparable(first.value, second.value)
    return first == second or (isinstance(first, IntType) and type(first) is type(second))


def plain(type_: Type) -> bool:
    """Whether Python's `==` on values of this type is CEL's: no double (NaN) and nothing dynamic inside."""
    if isinstance(type_, ListType):
        return plain(type_.item)
    if isinstance(type_, MapType):
        return plain(type_.value)
    if isinstance(type_, RecordType):
        return all(map(plain, type_.fields.values()))
    return type_ not in (DOUBLE, DYN)


_CLASSES: Mapping[Scalar, tuple[type, ...]] = {
    BOOL: (bool,),
    DOUBLE: (float,),
    STRING: (str,),
    NULL: (type(None),),
    NOTHING: (),
    DYN: (bool, int, float, str, type(None), list, dict),
}


def conforms(value: Any, expected: Type) -> bool:
    """Whether a value fits a type, int ranges and list sizes included; of a `dyn` value only the outside is seen."""
    return conformer(expected)(value)


@lru_cache(maxsize=4096)
def conformer(expected: Type) -> Callable[[Any], bool]:
    """What tells of values whether they fit a type, as `conforms` does; what the type asks for is looked up once."""
    if isinstance(expected, IntType):
        low, high = expected.low, expected.high
        return lambda value: type(value) is int and low <= value <= high
    if isinstance(expected, ListType):
        return _list_conformer(expected)
    if isinstance(expected, MapType):
        key, item = conformer(expected.key), conformer(expected.value)
        return lambda value: type(value) is dict and all(map(key, value)) and all(map(item, value.values()))
    if isinstance(expected, RecordType):
        return _record_conformer(expected)
    if expected == JSON:
        return partial(is_plain, depth=MAX_VALUE_DEPTH)
    classes = _CLASSES.get(expected, ()) if isinstance(expected, Scalar) else ()
    return lambda value: type(value) in classes


def _list_conformer(expected: ListType) -> Callable[[Any], bool]:
    most, item = expected.most, expected.item
    if isinstance(item, IntType):
        low, high = item.low, item.high

        def all_ints(value: Any) -> bool:
            if type(value) is not list or len(value) > most:
                return False
            return not value or ({int}.issuperset(map(type, value)) and low <= min(value) and max(value) <= high)

        return all_ints
    fits = conformer(item)
    return lambda value: type(value) is list and len(value) <= most and all(map(fits, value))


def _record_conformer(expected: RecordType) -> Callable[[Any], bool]:
    fields = {key: conformer(type_) for key, type_ in expected.fields.items()}
    required = expected.fields.keys() - expected.optional

    def fits(value: Any) -> bool:
        if type(value) is not dict or not value.keys() >= required:
            return False
        for key, item in value.items():
            field = fields.get(key)
            if field is None or not field(item):
                return False
        return True

    return fits
