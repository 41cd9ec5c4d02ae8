"""JSON Schemas of the kinds, for editors: generated from the models, so that there is one author of each shape.

The schemas are of draft 7, which the YAML language server reads, and allow what files may hold beside the model's
fields: `extends`, `params`, `matrix`, and `${param}` where a scalar is expected.

A document that extends another one is checked for wrong keys and values only, since what it lacks may be in the
other. An editor finds the schema by a comment in the first line of a file; the language server of VS Code reads the
first form, IntelliJ the second:

    # yaml-language-server: $schema=../../schemas/kinds/world.schema.json
    # $schema: ../../schemas/kinds/world.schema.json
"""

from collections.abc import Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any, Final

from specledger.load.params import TYPES
from specledger.spec.base import REFERS, Spec

DIALECT: Final = "http://json-schema.org/draft-07/schema#"
_SCALARS: Final = frozenset({"string", "integer", "number", "boolean"})
_DROPPED: Final = ("title", "default", "discriminator")
_ANNOTATIONS: Final = ("$comment", "description")
_PARAM_NAME: Final = "^[A-Za-z][A-Za-z0-9_]*$"
_PLACEHOLDER: Final = {"$ref": "#/definitions/Placeholder"}
_SCALAR: Final = {"type": ["string", "integer", "number", "boolean"]}
_OWN: Final[dict[str, Any]] = {
    "Placeholder": {
        "type": "string",
        "pattern": r"^\$\{[A-Za-z][A-Za-z0-9_]*\}$",
        "description": "A parameter's value.",
    },
    "Extends": {"type": "string", "description": "The name or the path of a spec of the same kind to build on."},
    "Params": {
        "type": "object",
        "description": "Values that those who refer to this spec give in `with`.",
        "propertyNames": {"pattern": _PARAM_NAME},
        "additionalProperties": {
            "anyOf": [
                {"enum": list(TYPES)},
                {
                    "type": "object",
                    "required": ["type"],
                    "additionalProperties": False,
                    "properties": {
                        "type": {"enum": list(TYPES), "description": "The type of the values."},
                        "default": {**_SCALAR, "description": "The value where none is given."},
                        "minimum": {"type": ["number", "string"], "description": "The least value."},
                        "maximum": {"type": ["number", "string"], "description": "The greatest value."},
                        "enum": {
                            "type": "array",
                            "description": "The values that are allowed.",
                            "minItems": 1,
                            "items": _SCALAR,
                        },
                    },
                },
            ]
        },
    },
    "Libraries": {
        "type": "array",
        "description": "Libraries whose functions, constants and types are added to those of this document.",
        "items": {"type": "string"},
        "minItems": 1,
    },
    "Matrix": {
        "type": "object",
        "description": "Params mapped to lists of values: one case for each combination.",
        "properties": {
            name: {
                "type": "array",
                "description": description,
                "items": {"type": "object", "minProperties": 1, "additionalProperties": _SCALAR},
            }
            for name, description in (
                ("include", "Combinations that are added."),
                ("exclude", "Combinations that are left out."),
            )
        },
        "additionalProperties": {
            "anyOf": [
                {"type": "array", "minItems": 1, "items": _SCALAR},
                {
                    "type": "object",
                    "properties": {
                        "from": {"type": "integer", "description": "The first value."},
                        "to": {"type": "integer", "description": "The greatest value."},
                        "step": {"type": "integer", "description": "The difference between values; 1, if left out."},
                    },
                    "required": ["from", "to"],
                    "additionalProperties": False,
                },
            ]
        },
    },
}


_OF_EVERY_KIND: Final = (("extends", "Extends"), ("params", "Params"), ("matrix", "Matrix"))

Names = Mapping[str, Sequence[str]]
"""Names of specs by kind."""


def schema_for(kind: str, model: type[Spec], names: Names = MappingProxyType({})) -> dict[str, Any]:
    """The JSON Schema (draft 7) of the documents of a kind.

    Args:
        kind: The kind.
        model: Its model.
        names: The names of specs by kind, which editors then complete where a reference is expected.
    """
    shapes = _shapes(model)
    fields = shapes["Document"]["properties"]
    complete = {name: _Complete("", names).translate(shape) for name, shape in shapes.items()}
    named = frozenset(name for name, shape in shapes.items() if "id" in shape.get("properties", {}))
    partial = {f"{name}Partial": _Partial(named, names).translate(shape) for name, shape in shapes.items()}
    for document in (complete["Document"], partial["DocumentPartial"]):
        document["properties"] |= {
            "spec": {"const": f"{kind}/v1", "description": fields["spec"]["description"]},
            "name": {key: value for key, value in fields["name"].items() if key != "title"},
            **{key: _referring(name) for key, name in _OF_EVERY_KIND},
            **({"use": _referring("Libraries")} if "functions" in fields else {}),
        }
    partial["DocumentPartial"]["required"] = ["spec", "name", "extends"]
    return {
        "$schema": DIALECT,
        "title": f"{kind}/v1",
        "if": {"required": ["extends"]},
        "then": {"$ref": "#/definitions/DocumentPartial"},
        "else": {"$ref": "#/definitions/Document"},
        "definitions": _reachable({**complete, **partial, **_own(kind, names)}),
    }


@cache
def _shapes(model: type[Spec]) -> Mapping[str, Mapping[str, Any]]:
    """What pydantic says of a model and of the models in it, which takes most of the time."""
    raw = model.model_json_schema(by_alias=True, ref_template="{model}")
    return {**raw.pop("$defs", {}), "Document": raw}


def _own(kind: str, names: Names) -> dict[str, Any]:
    """The own definitions, with the names that there are."""
    extends, libraries = _OWN["Extends"], _OWN["Libraries"]
    return _OWN | {
        "Extends": _suggesting(extends, names.get(kind)),
        "Libraries": libraries | {"items": _suggesting(libraries["items"], names.get("library"))},
    }


def _suggesting(schema: dict[str, Any], names: Sequence[str] | None) -> dict[str, Any]:
    """A schema of texts of which editors propose some."""
    return {"anyOf": [{"enum": [*names]}, schema]} if names else schema


def _referring(name: str) -> dict[str, Any]:
    """A reference to one of the own definitions; editors show the description that stands beside it."""
    return {"$ref": f"#/definitions/{name}", "description": _OWN[name]["description"]}


class _Complete:
    """Translates a schema of pydantic into draft 7, with `${param}` allowed for scalars."""

    def __init__(self, suffix: str, names: Names) -> None:
        self._suffix = suffix
        self._names = names

    def translate(self, schema: Any) -> Any:
        """One schema; the parts of a union are not widened by `${param}` one by one, but once."""
        if not isinstance(schema, Mapping):
            return schema
        narrow = self._narrow(schema)
        if not _wants_placeholder(narrow):
            return narrow
        notes = {word: narrow[word] for word in _ANNOTATIONS if word in narrow}
        types = {word: value for word, value in narrow.items() if word not in _ANNOTATIONS}
        branches = types["anyOf"] if set(types) == {"anyOf"} else [types]
        return {"anyOf": [*branches, _PLACEHOLDER], **notes}

    def _narrow(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        narrowed: dict[str, Any] = {}
        for word, value in schema.items():
            if word in _DROPPED or word == REFERS:
                continue
            if word == "$ref":
                narrowed["$ref"] = f"#/definitions/{value}{self._suffix}"
            elif word in ("properties", "patternProperties"):
                narrowed[word] = {name: self.translate(member) for name, member in value.items()}
            elif word in ("anyOf", "oneOf", "allOf"):
                narrowed[word] = [self._narrow(branch) for branch in value]
            elif word == "description":  # on one line, however a docstring is wrapped
                narrowed[word] = " ".join(value.split())
            elif word == "items":
                narrowed[word] = _Complete("", self._names).translate(value)
            elif word == "additionalProperties":
                narrowed[word] = self.translate(value)
            elif word != "required" or not self._suffix:
                narrowed[word] = value
        known = self._names.get(schema.get(REFERS, ""))
        if known:
            narrowed["anyOf"] = [{"enum": [*known]}, *narrowed["anyOf"]]
        if "patternProperties" in narrowed:
            narrowed.setdefault("additionalProperties", False)
        return narrowed


class _Partial(_Complete):
    """The same without `required`, since mappings are merged; lists are not, so their elements are complete.

    A list may also be `{add: [...]}`, and a list of items that have an `id` a mapping that is merged into the list of
    the other document.
    """

    def __init__(self, named: frozenset[str], names: Names) -> None:
        super().__init__("Partial", names)
        self._named = named

    def translate(self, schema: Any) -> Any:
        """One schema, and the mapping that may stand for it."""
        translated = super().translate(schema)
        items = schema.get("items") if isinstance(schema, Mapping) else None
        if not isinstance(items, Mapping):
            return translated
        added = {
            "type": "object",
            "properties": {"add": {"description": "Elements after those of the other document.", **translated}},
            "required": ["add"],
            "additionalProperties": False,
        }
        notes = {word: translated.pop(word) for word in _ANNOTATIONS if word in translated}
        name = items.get("$ref")
        if name not in self._named:
            return {"anyOf": [translated, added], **notes}
        item = {"anyOf": [{"$ref": f"#/definitions/{name}Partial"}, {"type": "null"}]}
        return {"anyOf": [translated, added, {"type": "object", "additionalProperties": item}], **notes}


def _wants_placeholder(schema: Mapping[str, Any]) -> bool:
    """Whether a scalar is expected, and not just any text."""
    branches = [branch for word in ("anyOf", "oneOf") for branch in schema.get(word, ())]
    if branches:
        return any(map(_wants_placeholder, branches)) and not any(map(_takes_text, branches))
    types = schema.get("type", [])
    scalar = not _SCALARS.isdisjoint([types] if isinstance(types, str) else types)
    return (scalar or "enum" in schema or "const" in schema) and not _takes_text(schema)


def _takes_text(schema: Mapping[str, Any]) -> bool:
    types = schema.get("type", [])
    if "string" not in ([types] if isinstance(types, str) else types):
        return False
    return not {"pattern", "enum", "const", "format"} & set(schema) and schema.get("maxLength", 80) >= 80


def _reachable(definitions: Mapping[str, Any]) -> dict[str, Any]:
    """The definitions that the two forms of the document lead to."""
    reached: dict[str, Any] = {}
    waiting = ["Document", "DocumentPartial"]
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached[name] = definitions[name]
            waiting += _references(definitions[name])
    return reached


def _references(schema: Any) -> list[str]:
    if isinstance(schema, list):
        return [name for element in schema for name in _references(element)]
    if not isinstance(schema, Mapping):
        return []
    own = [schema["$ref"].rpartition("/")[2]] if isinstance(schema.get("$ref"), str) else []
    return own + [name for value in schema.values() for name in _references(value)]
