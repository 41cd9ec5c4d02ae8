"""A validator reads the schemas of one folder and nothing else, explains what it refuses, and judges any value."""

import json
import math
import subprocess
import sys

import pytest

from specledger.core.canonical import NotCanonical, canonical_bytes
from specledger.gates import documents
from specledger.gates.documents import MOST_FINDINGS, Validator, shipped_schemas

BASE = "https://example.test/schema/"
ITEM: dict[str, object] = {
    "$id": f"{BASE}item.json",
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$defs": {},
}
ITEM |= {"type": "object", "properties": {"n": {"type": "number", "minimum": 0}, "open": True}, "required": ["n"]}
BOX: dict[str, object] = {"$id": f"{BASE}box.json", "$schema": "https://json-schema.org/draft/2020-12/schema"}
BOX |= {"type": "array", "items": {"$ref": "item.json"}, "$defs": {"short": {"type": "string", "maxLength": 3}}}


@pytest.fixture
def folder(tmp_path):
    def write(**schemas):
        for name, schema in schemas.items():
            (tmp_path / f"{name}.json").write_text(json.dumps(schema), encoding="utf-8")
        return tmp_path

    return write


@pytest.fixture
def validator(folder):
    return Validator(folder(item=ITEM, box=BOX))


def test_references_lead_to_other_files_of_the_folder(validator):
    assert validator.check("box")([{"n": 0.5}])
    assert validator.explain("box", [{"n": 1}]) == []
    assert not validator.check("box")([{"n": -1}])


def test_findings_name_the_message_and_the_place_in_order(validator):
    found = validator.explain("box", [{"n": 1}, {}, {"n": -1}, 5])
    assert [place for _, place in found] == ["$[1]", "$[2].n", "$[3]"]
    assert [message for message, _ in found] == [
        '"n" is a required property', "-1 is less than the minimum of 0", '5 is not of type "object"'
    ]  # fmt: skip


def test_findings_are_bounded(validator):
    found = validator.explain("box", ["x" * 5000] * 500)
    assert len(found) == MOST_FINDINGS
    assert max(len(message) for message, _ in found) <= 200


def test_a_definition_is_named_as_in_a_reference(validator):
    assert validator.check("box#/$defs/short")("abc")
    assert not validator.check("box#/$defs/short")("abcd")
    assert validator.explain("box#/$defs/short", "abcd")


def test_places_of_floats_are_those_of_the_schema(validator):
    floats = validator.floats("box")
    assert canonical_bytes([{"n": 0.5}], floats) == b'[{"n":0.5}]'
    with pytest.raises(NotCanonical):
        canonical_bytes([{"open": 0.5}], floats)


@pytest.mark.parametrize("name", ["absent", "box#/$defs/absent", "absent#/$defs/short"])
def test_a_schema_that_is_not_there_is_said_so(validator, name):
    with pytest.raises(LookupError):
        validator.check(name)


@pytest.mark.parametrize(
    "reference", ["absent.json", "https://example.test/other.json", "file:///etc/passwd", "#/$defs/no"]
)
def test_a_reference_out_of_the_folder_is_refused_and_not_followed(folder, reference):
    with pytest.raises(LookupError, match="nothing is fetched"):
        Validator(folder(box=BOX | {"items": {"$ref": reference}}, item=ITEM))


def test_a_folder_without_schemas_and_a_wrong_address_are_refused(tmp_path, folder):
    with pytest.raises(LookupError, match="no schemas"):
        Validator(tmp_path)
    with pytest.raises(LookupError, match=r"box\.json"):
        Validator(folder(box=BOX | {"$id": f"{BASE}other.json"}))


NO_JSON = {
    "NaN": math.nan, "infinity": math.inf, "half a pair": "\ud800", "a set": {1}, "bytes": b"x", "an object": object()
}  # fmt: skip


@pytest.mark.parametrize("value", NO_JSON.values(), ids=NO_JSON)
def test_no_json_is_refused_where_it_is_looked_at_and_explained_everywhere(validator, value):
    assert not validator.check("item")({"n": value})
    assert [place for _, place in validator.explain("item", {"n": value})] == ["$.n"]
    assert [place for _, place in validator.explain("item", {"n": 1, "open": value})] == ["$.open"]


def test_what_cannot_be_hashed_but_is_json_is_left_to_whoever_hashes(validator):
    deep: dict[str, object] = {}
    current = deep
    for _ in range(200):
        inner: dict[str, object] = {}
        current["open"] = inner
        current = inner
    for value in (2**53, deep):
        assert validator.check("item")({"n": 1, "open": value})
        assert validator.explain("item", {"n": 1, "open": value}) == []


def test_the_shipped_schemas_are_found_and_read_once(monkeypatch):
    assert shipped_schemas("axion") is shipped_schemas("axion")
    shipped_schemas.cache_clear()
    monkeypatch.setattr(documents, "find_schemas", lambda: None)
    with pytest.raises(LookupError, match="without its schemas"):
        shipped_schemas("axion")


@pytest.mark.slow
def test_the_validator_is_loaded_when_something_is_judged():
    program = (
        "import sys; from specledger.gates.documents import shipped_schemas; v = shipped_schemas('axion'); "
        "assert 'jsonschema_rs' not in sys.modules; v.check('plan')({}); assert 'jsonschema_rs' in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("value", [{1, 2}, object(), b"x"], ids=["a set", "an object", "bytes"])
def test_what_is_no_json_is_not_valid_where_it_is_looked_at(folder, value):
    unlike = {"$id": f"{BASE}unlike.json", "$schema": "https://json-schema.org/draft/2020-12/schema"}
    accepts = Validator(folder(unlike={**unlike, "items": {"not": {"const": 5}}})).check("unlike")
    assert [accepts(["x"]), accepts([5])] == [True, False]
    assert accepts([value]) is False
