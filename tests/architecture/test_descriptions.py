"""Every property of every JSON Schema that ships says what it is, in a sentence.

The keys of `patternProperties` are names that an author chooses. In a condition (`if`, `then`, `else`, `not`) a property
that the schema declares beside it only refers to that.
"""

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "schemas").rglob("*.json"))]

ELSEWHERE = ("items", "additionalProperties", "contains", "propertyNames")
NAMED = ("$defs", "definitions", "patternProperties", "properties")
CONDITIONS = ("if", "then", "else", "not")
LISTS = ("anyOf", "oneOf", "allOf")


def declared(schema, path="", known=frozenset()):
    """Each property that a schema declares, with its path; those of a condition that are `known` only refer to it."""
    if not isinstance(schema, dict):
        return
    own = schema.get("properties", {})
    for name, below in own.items():
        if name not in known:
            yield f"{path}.{name}", below
    for word in NAMED:
        for name, below in schema.get(word, {}).items():
            yield from declared(below, f"{path}.{name}")
    for below in [*(schema.get(word) for word in ELSEWHERE), *schema.get("prefixItems", ())]:
        yield from declared(below, path)
    for word in CONDITIONS:
        yield from declared(schema.get(word), path, known | own.keys())
    for word in LISTS:
        for below in schema.get(word, ()):
            yield from declared(below, path, known | own.keys())


def bare(schema):
    """The properties that say nothing, or more than one line."""
    about = {path: below.get("description", "") if isinstance(below, dict) else "" for path, below in declared(schema)}
    return sorted(path for path, text in about.items() if not text.strip() or "\n" in text)


NOTED = {
    "a property": ({"properties": {"a": {}, "b": {"description": "It."}}}, [".a"]),
    "an empty text": ({"properties": {"a": {"description": " "}}}, [".a"]),
    "two lines": ({"properties": {"a": {"description": "One.\nTwo."}}}, [".a"]),
    "a property that may be anything": ({"properties": {"a": True}}, [".a"]),
    "one that is called as a word of schemas": ({"properties": {"properties": {"type": "object"}}}, [".properties"]),
    "in a definition": ({"$defs": {"D": {"properties": {"a": {}}}}}, [".D.a"]),
    "in elements of a list": ({"items": {"properties": {"a": {}}}}, [".a"]),
    "in a union": ({"oneOf": [{"type": "null"}, {"properties": {"a": {}}}]}, [".a"]),
    "under another name": ({"patternProperties": {"^x$": {"properties": {"a": {}}}}}, [".^x$.a"]),
    "in a condition": ({"then": {"properties": {"a": {}}}}, [".a"]),
    "referred to in a condition": (
        {"properties": {"a": {"description": "It."}}, "allOf": [{"if": {"properties": {"a": {}}}, "then": {}}]},
        [],
    ),
}


@pytest.mark.parametrize(("schema", "expected"), NOTED.values(), ids=NOTED)
def test_a_property_without_a_description_is_noticed(schema, expected):
    assert bare(schema) == expected


@pytest.mark.parametrize("file", FILES)
def test_every_property_of_a_schema_says_what_it_is(file):
    assert bare(json.loads((ROOT / file).read_text(encoding="utf-8"))) == []
