"""Documents against the JSON Schemas of a folder.

`jsonschema-rs` validates; a property test requires it to agree with `jsonschema`. It is given JSON documents; other
values (NaN, half a surrogate pair, a set) are refused before (`gates.digests`), as is JSON that cannot be hashed. It is
imported when it is first needed. Nothing is fetched: a reference is resolved from the folder or not at all.

Source: toy-pseudo-axion, JSON Schemas and Non-negotiables 2; JSON Schema draft 2020-12.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urldefrag, urljoin

from specledger.core.canonical import E_CANON_NUMBER, E_CANON_TEXT, E_CANON_TYPE, NotCanonical, canonical_bytes
from specledger.core.floats import FLOATS_ANYWHERE, FloatPolicy, floats_in_schema
from specledger.load.shipped import find_schemas

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator

MOST_FINDINGS: Final = 20
"""Findings about one document that are reported at most."""

_NO_JSON: Final = {E_CANON_NUMBER, E_CANON_TEXT, E_CANON_TYPE}  # a number beyond 2^53 is JSON, though it is not hashed
_SHOWN: Final = 200  # characters of a message: it quotes the document


class Validator:
    """The schemas of a folder, each known by its file's name without `.json`.

    A definition inside a file is named as in a reference, without the suffix too: `common#/$defs/uuid`.
    """

    def __init__(self, folder: Path) -> None:
        """Read every `*.json` of a folder.

        Raises:
            LookupError: There are none, one has no `$id` that ends with its own file name, or a reference in one leads
                nowhere in the folder.
        """
        self._schemas: dict[str, dict[str, Any]] = {}
        for path in sorted(folder.glob("*.json")):
            schema = json.loads(path.read_bytes())
            if not str(schema.get("$id", "")).endswith(f"/{path.name}"):
                raise LookupError(f"the $id of {path.name} is not its address")
            self._schemas[path.stem] = schema
        if not self._schemas:
            raise LookupError(f"there are no schemas in {folder}")
        self._by_address = {schema["$id"]: schema for schema in self._schemas.values()}
        for schema in self._schemas.values():
            for reference in _references(schema):
                self._find(urljoin(schema["$id"], reference))
        self._checks: dict[str, Callable[[object], bool]] = {}

    def check(self, name: str) -> Callable[[object], bool]:
        """`document -> whether it is valid`; any value may be given, and no JSON is valid where it is looked at.

        Raises:
            LookupError: There is no such schema.
        """
        if name not in self._checks:
            valid = self._compile(name).is_valid

            def accepts(document: object) -> bool:
                try:
                    return valid(document)
                except (ValueError, RecursionError):  # no JSON: half a surrogate pair, a foreign type
                    return False

            self._checks[name] = accepts
        return self._checks[name]

    def explain(self, name: str, document: object) -> list[tuple[str, str]]:
        """What is wrong with a document, in the order of places: (message, JSON path); nothing if it is valid.

        Messages quote the document and are for people alone: untrusted text, to be escaped before it is shown.

        Raises:
            LookupError: There is no such schema.
        """
        compiled = self._compile(name)
        try:
            canonical_bytes(document, FLOATS_ANYWHERE)
        except NotCanonical as error:
            if error.code in _NO_JSON:
                return [(error.message, error.path)]
        findings = sorted(
            ([str(key).zfill(9) for key in error.instance_path], _json_path(error.instance_path), error.message)
            for error in compiled.iter_errors(document)
        )
        return [(message[:_SHOWN], path) for _, path, message in findings[:MOST_FINDINGS]]

    def floats(self, name: str) -> FloatPolicy:
        """Where a schema lets a document hold floats.

        Raises:
            LookupError: There is no such schema.
        """
        return floats_in_schema(self.schema(name), self._by_address.__getitem__)

    def _find(self, address: str) -> None:
        """See that an address leads to something in the folder."""
        document, pointer = urldefrag(address)
        node: Any = self._by_address.get(document, {})
        for key in pointer.split("/")[1:]:
            node = node.get(key) if isinstance(node, dict) else None
        if not node or (pointer and not pointer.startswith("/")):
            raise LookupError(f"{address} is not in the folder, and nothing is fetched")

    def schema(self, name: str) -> dict[str, Any]:
        """A schema by its name; a definition's is a reference to it. LookupError without one."""
        stem, _, pointer = name.partition("#")
        if stem not in self._schemas:
            raise LookupError(f"there is no schema {stem!r}")
        schema = self._schemas[stem]
        if not pointer:
            return schema
        address = f"{schema['$id']}#{pointer}"
        self._find(address)
        return {"$schema": schema["$schema"], "$ref": address}

    def _compile(self, name: str) -> Draft202012Validator:
        import jsonschema_rs  # noqa: PLC0415 - only runs that judge documents load it

        registry = jsonschema_rs.Registry(list(self._by_address.items()))
        return jsonschema_rs.Draft202012Validator(self.schema(name), registry=registry)


def _json_path(path: Sequence[str | int]) -> str:
    """A place in a document as JSON path, such as `$.claims[0].confidence`."""
    steps = (f"[{key}]" if isinstance(key, int) else f".{key}" if key.isidentifier() else f"[{key!r}]" for key in path)
    return f"${''.join(steps)}"


def _references(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        if isinstance(schema.get("$ref"), str):
            yield schema["$ref"]
        schema = list(schema.values())
    if isinstance(schema, list):
        for part in schema:
            yield from _references(part)


@cache
def shipped_schemas(name: str) -> Validator:
    """The shipped schemas of a folder: `protocol`, the messages to agents from outside and their answers; and others.

    Raises:
        LookupError: They were not shipped.
    """
    folder = find_schemas()
    if folder is None:
        raise LookupError("the engine was installed without its schemas")
    return Validator(folder / name)
