"""Floats are allowed exactly where a pattern or a schema says so."""

import pytest

from specledger.core.canonical import canonical_bytes
from specledger.core.floats import FLOATS_ANYWHERE, NO_FLOATS, floats_in_schema

NUMBER = {"type": "number"}

SCHEMAS = {
    "number": (NUMBER, [()], [("a",), (0,)]),
    "number in a list": ({"type": ["null", "number"]}, [()], []),
    "integer": ({"type": "integer"}, [], [()]),
    "no type": ({}, [], [(), ("a",), (0,)]),
    "true and false": ({"properties": {"a": True, "b": False}}, [], [("a",), ("b",), ("b", 0)]),
    "a member": ({"properties": {"a": NUMBER, "b": {"type": "string"}}}, [("a",)], [(), ("b",), ("c",), (0,)]),
    "other members": (
        {"properties": {"a": {"type": "integer"}}, "additionalProperties": NUMBER},
        [("b",), ("c",)],
        [("a",), (0,), ("b", "c")],
    ),
    "elements": ({"items": {"properties": {"p": NUMBER}}}, [(0, "p"), (99, "p")], [(0,), ("p",), (0, "q")]),
    "first elements": (
        {"prefixItems": [{"type": "integer"}, NUMBER], "items": {"items": NUMBER}},
        [(1,), (2, 0), (3, 0)],
        [(0,), (2,), (0, 0)],
    ),
    "only first elements": ({"prefixItems": [NUMBER]}, [(0,)], [(1,)]),
    "a local reference": ({"$ref": "#/$defs/n", "$defs": {"n": NUMBER}}, [()], [("$defs", "n")]),
    "a reference to an escaped name": (
        {"properties": {"a": {"$ref": "#/$defs/x~1y~0%20z"}}, "$defs": {"x/y~ z": NUMBER}},
        [("a",)],
        [],
    ),
    "a tilde before a one": ({"$ref": "#/$defs/a~01b", "$defs": {"a~1b": NUMBER, "a/b": {}}}, [()], []),
    "a reference into a list": ({"anyOf": [{}, NUMBER], "properties": {"a": {"$ref": "#/anyOf/1"}}}, [(), ("a",)], []),
    "a reference beside keywords": (
        {"properties": {"a": NUMBER}, "$ref": "#/$defs/b", "$defs": {"b": {"properties": {"b": NUMBER}}}},
        [("a",), ("b",)],
        [("c",)],
    ),
    "alternatives": (
        {"anyOf": [{"properties": {"a": NUMBER}}], "oneOf": [{"items": NUMBER}, {"allOf": [{"additionalProperties": NUMBER}]}]},
        [("a",), ("b",), (0,)],
        [(), ("a", "b")],
    ),
    "branches but no conditions": (
        {"if": {"properties": {"a": NUMBER}}, "then": {"properties": {"b": NUMBER}}, "else": {"properties": {"c": NUMBER}}},
        [("b",), ("c",)],
        [("a",)],
    ),
    "a negation": ({"not": NUMBER}, [], [()]),
    "a name of one schema is another's other member": (
        {"allOf": [{"properties": {"a": {"type": "integer"}}}, {"additionalProperties": NUMBER}]},
        [("a",), ("b",)],
        [],
    ),
    "recursion": (
        {"$defs": {"tree": {"properties": {"w": NUMBER, "sons": {"items": {"$ref": "#/$defs/tree"}}}}}, "$ref": "#/$defs/tree"},
        [("w",), ("sons", 0, "w"), ("sons", 3, "sons", 1, "w")],
        [("sons",), ("sons", 0), ("sons", "w")],
    ),
    "recursion to the root": ({"type": "number", "items": {"$ref": "#"}}, [(), (0,), (0, 0, 0)], [("a",)]),
    "a reference to itself": ({"$ref": "#"}, [], [()]),
}  # fmt: skip


@pytest.mark.parametrize(("schema", "allowed", "refused"), SCHEMAS.values(), ids=SCHEMAS)
def test_floats_in_schema(schema, allowed, refused):
    policy = floats_in_schema(schema)
    assert [path for path in allowed if not policy(path)] == []
    assert [path for path in refused if policy(path)] == []


def test_the_constants():
    for path in [(), ("a",), (0, "b")]:
        assert FLOATS_ANYWHERE(path)
        assert not NO_FLOATS(path)


STORE: dict[str, dict] = {
    "common.json": {"$defs": {"float01": NUMBER, "pair": {"items": {"$ref": "#/$defs/float01"}}}},
    "sub/claim.json": {"properties": {"confidence": {"$ref": "../common.json#/$defs/float01"}}},
}
TRACE = {
    "properties": {
        "claims": {"items": {"$ref": "sub/claim.json"}},
        "pair": {"$ref": "common.json#/$defs/pair"},
        "self": {"$ref": "trace.json#/properties/pair"},
    }
}


@pytest.mark.parametrize("base", ["https://axio.local/schema/", ""])
def test_references_between_documents(base):
    store = {base + name: {"$id": base + name, **schema} for name, schema in STORE.items()}
    policy = floats_in_schema({"$id": base + "trace.json", **TRACE}, store.__getitem__)
    allowed = [("claims", 0, "confidence"), ("pair", 1), ("self", 0)]
    assert [path for path in allowed if not policy(path)] == []
    assert not policy(("claims", 0, "other"))
    document = {"claims": [{"confidence": 0.5}], "pair": [1.0, 2], "self": []}
    assert canonical_bytes(document, policy) == b'{"claims":[{"confidence":0.5}],"pair":[1,2],"self":[]}'


@pytest.mark.parametrize(
    "reference",
    ["other.json", "other.json#/$defs/a", "#/$defs/missing", "#/anyOf/1", "#/anyOf/x", "#/type/x", "#anchor"],
)
def test_a_reference_that_leads_nowhere_is_a_programmers_mistake(reference):
    schema = {"type": "object", "anyOf": [{}], "properties": {"deep": {"items": {"$ref": reference}}}}
    with pytest.raises(LookupError):
        floats_in_schema(schema)
    with pytest.raises(LookupError):
        floats_in_schema(schema, STORE.__getitem__)
