"""Types and constants as specs write them."""

import pytest

from specledger.expr import BOOL, INT, STRING, IntType, ListType, MapType, RecordType
from specledger.expr.check.types import DOUBLE, DYN, FIXED, NOTHING, FixedType
from specledger.expr.limits import INT_MAX, INT_MIN
from specledger.lang import declare
from specledger.lang.declare import DeclarationError, allowed_values, bound_type, read_constant, read_type, sealable
from specledger.spec.types import Schema

NAMED: dict[str, str | Schema] = {
    "size": Schema(type="integer", minimum=1, maximum=9),
    "again": "size",
    "self": Schema(items="self"),
}


def schema(**keys):
    return Schema.model_validate(keys)


READ = {
    "a built-in name": ("int", INT),
    "a declared name": ("again", IntType(1, 9)),
    "an integer": (schema(type="integer"), IntType(INT_MIN, INT_MAX)),
    "from a minimum on": (schema(type="integer", minimum=3), IntType(3, INT_MAX)),
    "up to a maximum": (schema(type="integer", maximum=3), IntType(INT_MIN, 3)),
    "a boolean": (schema(type="boolean"), BOOL),
    "a text": (schema(type="string"), STRING),
    "a double": (schema(type="number"), DOUBLE),
    "a list": (schema(type="array", items="size"), ListType(IntType(1, 9))),
    "a list without items": (schema(type="array"), ListType(INT)),
    "a list of items alone": (schema(items="string"), ListType(STRING)),
    "a bounded list": (schema(items="int", maxItems=3), ListType(INT, 3)),
    "a map": (schema(additionalProperties="int"), MapType(INT)),
    "an object": (schema(properties={"a": "int", "b": "bool"}), RecordType("", {"a": INT, "b": BOOL})),
    "an object with what may lack": (
        schema(properties={"a": "int", "b": "bool"}, required=["a"]),
        RecordType("", {"a": INT, "b": BOOL}, frozenset({"b"})),
    ),
    "an empty object": (schema(type="object"), RecordType("", {})),
    "integers in a row": (schema(enum=[3, 1, 2]), IntType(1, 3)),
}


@pytest.mark.parametrize(("spec", "expected"), READ.values(), ids=READ)
def test_a_type(spec, expected):
    assert read_type(spec, NAMED) == expected


def test_which_fields_may_lack():
    type_ = read_type(schema(properties={"a": "int", "b": "bool"}, required=["a"]))
    assert isinstance(type_, RecordType)
    assert type_.optional == {"b"}


REFUSED = {
    "no such name": ("integer", (), "unknown type 'integer'"),
    "itself": ("self", ("items",), "type 'self' contains itself: self -> self"),
    "json": ("json", (), "`json` is the type of an argument of an action or of a field of a result alone"),
    "nothing": (schema(), (), "a schema needs `type`, `enum`, `items`, `properties` or `additionalProperties`"),
    "an unknown item": (schema(items="a"), ("items",), "unknown type 'a'"),
    "an unknown property": (schema(properties={"b": schema(items="a")}), ("properties", "b", "items"), "unknown type 'a'"),
    "an unknown value": (schema(additionalProperties="a"), ("additionalProperties",), "unknown type 'a'"),
    "both forms of objects": (
        schema(properties={"a": "int"}, additionalProperties="int"),
        (),
        "an object has `properties` or `additionalProperties`, not both",
    ),
    "what is required and not there": (
        schema(properties={"a": "int"}, required=["c", "a", "b"]),
        (),
        "required but not a property: b, c",
    ),
    "integers with a gap": (schema(enum=[1, 3]), (), "outside the arguments of actions an `enum` is integers in a row; use minimum, maximum"),
    "names": (schema(enum=["dry", "wet"]), (), "outside the arguments of actions an `enum` is integers in a row; use type: string"),
    "an integer twice": (schema(enum=[1, 1]), (), "outside the arguments of actions an `enum` is integers in a row; use minimum, maximum"),
}  # fmt: skip


@pytest.mark.parametrize(("spec", "path", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_type(spec, path, message):
    with pytest.raises(DeclarationError) as refused:
        read_type(spec, NAMED)
    assert (refused.value.path, str(refused.value)) == (path, message)
    assert refused.value.unknown == (message.split("'")[1] if message.startswith("unknown") else "")


def test_arguments_may_have_gaps_and_carry_json():
    assert read_type(schema(enum=[5, 1, 9]), choices=True) == IntType(1, 9)
    assert str(read_type("json", carried=True)) == "json"


@pytest.mark.parametrize(
    ("spec", "values"), [(schema(enum=[3, 1]), (3, 1)), ("row", (1, 2)), ("size", None), ("int", None), (schema(type="boolean"), None)]
)  # fmt: skip
def test_the_values_of_an_enumeration(spec, values):
    assert allowed_values(spec, {**NAMED, "row": schema(enum=[1, 2])}) == values


SEALABLE = {
    "an integer": (INT, True),
    "a decimal": (FIXED, True),
    "a double": (DOUBLE, False),
    "anything": (DYN, False),
    "a list of doubles": (ListType(DOUBLE), False),
    "a map of lists": (MapType(ListType(INT)), True),
    "a map of doubles": (MapType(DOUBLE), False),
    "a map by integers": (MapType(INT, INT), False),
    "a record": (RecordType("", {"a": INT, "b": STRING}), True),
    "a record with a double": (RecordType("", {"a": INT, "b": DOUBLE}), False),
}


@pytest.mark.parametrize(("type_", "expected"), SEALABLE.values(), ids=SEALABLE)
def test_what_can_stand_in_a_receipt(type_, expected):
    assert sealable(type_) == expected


CONSTANTS = {
    "an integer": (3, IntType(3, 3)),
    "the largest": (INT_MAX, IntType(INT_MAX, INT_MAX)),
    "the least": (INT_MIN, IntType(INT_MIN, INT_MIN)),
    "a truth": (True, BOOL),
    "a double": (0.5, DOUBLE),
    "a text": ("a", STRING),
    "no items": ([], ListType(NOTHING, 0)),
    "integers": ([3, 1, 2], ListType(IntType(1, 3), 3)),
    "lists": ([[1], [], [5, 2]], ListType(ListType(IntType(1, 5), 2), 3)),
    "an empty list first": ([[], [1]], ListType(ListType(IntType(1, 1), 1), 2)),
    "texts": (["a", "b"], ListType(STRING, 2)),
}


@pytest.mark.parametrize(("value", "expected"), CONSTANTS.values(), ids=CONSTANTS)
def test_a_constant(value, expected):
    assert read_constant(value) == (expected, value)


@pytest.mark.parametrize("value", [INT_MAX + 1, INT_MIN - 1, [1, "a"], [1, True], [[1], 2], {"a": 1}, None, [1, 0.5]])
def test_what_is_no_constant(value):
    with pytest.raises(DeclarationError):
        read_constant(value)


def test_the_parts_of_a_type_are_bounded(monkeypatch):
    def chain(length):
        return {
            f"t{number}": schema(properties={"a": f"t{number + 1}", "b": f"t{number + 1}"}) for number in range(length)
        }

    def admits(named):
        try:
            bound_type("t0", {**named, f"t{len(named)}": schema(type="integer")})
        except DeclarationError:
            return False
        return True

    monkeypatch.setattr(declare, "MAX_PARTS", 7)
    assert [admits(chain(length)) for length in (1, 2, 3)] == [True, True, False]  # 3, 7 and 15 parts
    monkeypatch.setattr(declare, "MAX_PARTS", 1_000_000)
    monkeypatch.setattr(declare, "MAX_DEPTH", 4)
    assert [admits(chain(length)) for length in (3, 4)] == [True, False]


def test_a_decimal_constant_is_no_integer():
    with pytest.raises(DeclarationError, match="mixes"):
        declare._widened(FixedType(1, 1), IntType(1, 1))
    assert declare._widened(FixedType(1, 1), FixedType(5, 5)) == FixedType(1, 5)
