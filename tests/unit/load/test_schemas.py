"""The JSON Schemas for editors: generated, of draft 7, and without complaints about right files."""

from functools import cache
from pathlib import Path

import jsonschema
import pytest

from specledger.core.canonical import pretty
from specledger.kinds import KINDS
from specledger.load.schemas import schema_for
from specledger.load.shapes import Shape
from specledger.spec.base import Spec, about_fields

ROOT = Path(__file__).resolve().parents[3]
SHIPPED = sorted(ROOT.glob("specs/*/*.yaml"))


@cache
def schema(kind):
    return schema_for(kind, KINDS[kind].model)


@cache
def validator(kind):
    return jsonschema.Draft7Validator(schema(kind))


def problems(kind, value):
    return [error.message for error in validator(kind).iter_errors(value)]


@pytest.mark.parametrize("kind", KINDS)
def test_the_files_are_those_that_the_models_give(kind):
    written = (ROOT / "schemas" / "kinds" / f"{kind}.schema.json").read_text(encoding="utf-8")
    assert written == pretty(schema(kind)), f"write it again: spec schema {kind} > schemas/kinds/{kind}.schema.json"


@pytest.mark.wing("discovery")
@pytest.mark.wing("kernel")
@pytest.mark.wing("laws")
@pytest.mark.wing("trajectories")
def test_there_are_no_other_files():
    assert {path.name for path in (ROOT / "schemas" / "kinds").iterdir()} == {f"{kind}.schema.json" for kind in KINDS}


@pytest.mark.parametrize("kind", KINDS)
def test_schemas_are_of_draft_7(kind):
    jsonschema.Draft7Validator.check_schema(schema(kind))
    text = pretty(schema(kind))
    for later in ("$defs", "prefixItems", "unevaluated", "dependentSchemas", "$dynamicRef", "minContains"):
        assert f'"{later}' not in text


@pytest.mark.medium
@pytest.mark.wing("discovery")
@pytest.mark.wing("kernel")
@pytest.mark.wing("laws")
@pytest.mark.wing("trajectories")
def test_shipped_specs_conform(read):
    for path in SHIPPED:
        document, _ = read(path.read_bytes())
        assert problems(path.parent.name, document.root.plain()) == [], path


def undescribed(schema, path=()):
    """The paths of the properties in a schema that have no description."""
    if isinstance(schema, list):
        return [missing for index, member in enumerate(schema) for missing in undescribed(member, (*path, index))]
    if not isinstance(schema, dict):
        return []
    own = schema.get("properties", {})
    below = {**{word: member for word, member in schema.items() if word != "properties"}, **own}
    missing = [(*path, name) for name, member in own.items() if not str(member.get("description", "")).strip()]
    return missing + [found for word, member in below.items() for found in undescribed(member, (*path, word))]


@pytest.mark.parametrize("kind", KINDS)
def test_every_property_has_a_description(kind):
    assert undescribed(schema(kind)) == []


def test_a_key_without_a_description_is_noticed():
    class Bare(Spec):
        """A document.

        Attributes:
            clear: What it is.
        """

        clear: int
        silent: int

    properties = schema_for("bare", Bare)["definitions"]["Document"]["properties"]
    assert properties["clear"]["description"] == "What it is."
    assert {path[-1] for path in undescribed(schema_for("bare", Bare))} == {"silent"}


def models_below(shape, known):
    """Every model that a document of a shape may hold."""
    for leaf in shape.leaves:
        inner = [*leaf.elements, *leaf.values]
        if leaf.model is not None and leaf.model not in known:
            known.add(leaf.model)
            inner += leaf.fields.values()
        for each in inner:
            models_below(each, known)
    return known


@pytest.mark.parametrize("kind", KINDS)
def test_docstrings_describe_no_key_that_their_model_lacks(kind):
    models = models_below(Shape(KINDS[kind].model), set())
    assert len(models) > 2
    for model in models:
        assert set(about_fields(model)) <= {field.alias or name for name, field in model.model_fields.items()}, model


FLAT = {
    "spec": "governor/v1",
    "name": "g",
    "gates": [{"id": "a", "deny": "x", "reason": "b"}],
    "choose": {"maximise": 0},
}
RIGHT = {
    "flat": FLAT,
    "expressions that are numbers and booleans": FLAT | {"let": {"a": 5, "b": True}},
    "params": FLAT | {"params": {"p": "int", "q": {"type": "qfixed", "default": 0.5, "minimum": 0, "enum": [0.5]}}},
    "a matrix": FLAT | {"matrix": {"p": [1, 2], "include": [{"p": 3}], "exclude": [{"p": 1}]}},
    "a parameter for a name": FLAT | {"gates": [{"id": "${p}", "deny": "x", "reason": "${q}"}]},
    "a parameter for a constant": FLAT | {"constants": {"A": "${p}", "B": {"qfixed": "${p}"}}},
    "extending": {"spec": "governor/v1", "name": "g", "extends": "other"},
    "extending with parts": {
        "spec": "governor/v1",
        "name": "g",
        "extends": "o",
        "functions": {"f": {"is": "x"}},
        "choose": {},
    },
    "items by their ids": {
        "spec": "governor/v1",
        "name": "g",
        "extends": "o",
        "gates": {"a": None, "b": {"deny": "x"}, "c": {"require": "y", "reason": "r"}},
    },
    "a reference with arguments": FLAT | {"invariants": ["a", {"use": "b", "with": {"p": 1}}]},
    "annotations": FLAT | {"metadata": {"annotations": {"anything": [1, {"a": None}]}}, "doc": "text"},
}
WRONG = {
    "an unknown key": FLAT | {"gatez": []},
    "a missing key": {"spec": "governor/v1", "name": "g", "gates": []},
    "another kind": FLAT | {"spec": "world/v1"},
    "a wrong name": FLAT | {"name": "G G"},
    "a missing key of an element, though extending": FLAT | {"extends": "o", "gates": [{"id": "a"}]},
    "an unknown key, though extending": {"spec": "governor/v1", "name": "g", "extends": "o", "gatez": []},
    "an unknown key of an item": {"spec": "governor/v1", "name": "g", "extends": "o", "gates": {"a": {"dny": "x"}}},
    "items by their ids without a base": FLAT | {"gates": {"a": None}},
    "a list for a mapping": FLAT | {"let": []},
    "a parameter of an unknown type": FLAT | {"params": {"p": "integer"}},
    "a parameter without a type": FLAT | {"params": {"p": {"default": 1}}},
    "an axis that is no list": FLAT | {"matrix": {"p": 1}},
    "a part of a parameter": FLAT | {"gates": [{"id": "x${p}", "deny": "x", "reason": "b"}]},
    "a key that is no name": FLAT | {"let": {"a-b": "x"}},
    "an unknown key of a reference": FLAT | {"invariants": [{"use": "b", "wth": {}}]},
}


@pytest.mark.parametrize("value", RIGHT.values(), ids=RIGHT)
def test_right_documents_are_not_flagged(value):
    assert problems("governor", value) == []


@pytest.mark.parametrize("value", WRONG.values(), ids=WRONG)
def test_wrong_documents_are_flagged(value):
    assert problems("governor", value) != []


def test_parameters_stand_for_numbers_and_words():
    scenario = {"spec": "scenario/v1", "name": "s", "world": "w", "governor": "g", "agent": "a", "horizon": "${p}"}
    assert problems("scenario", scenario | {"seed": "${q}", "map": {"vary": "${r}", "drawing": "${d}"}}) == []
    assert problems("scenario", scenario | {"seed": "5"}) != []
    assert problems("scenario", scenario | {"map": {"vary": "often", "drawing": "a"}}) != []
