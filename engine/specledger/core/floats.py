"""Where a document may hold numbers that are not integers.

Hashed documents may hold floats "only where schema allows" (toy-pseudo-axion, Non-negotiables 1). A policy decides by
the place in a document; no condition of a schema is evaluated.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

Path = Sequence[str | int]
"""Member names and element indices from the root to a place; empty at the root."""

FloatPolicy = Callable[[Path], bool]
"""Whether the value at a place may be a float."""

Located = tuple[str, Any]
"""The absolute URI of a schema document, and a schema inside it."""


def NO_FLOATS(path: Path) -> bool:  # noqa: N802 - a constant that is called
    """Integers only; the default."""
    return False


def FLOATS_ANYWHERE(path: Path) -> bool:  # noqa: N802 - a constant that is called
    """Floats at every place."""
    return True


MOST_DECIMALS = 8
"""Decimals that the canonical form writes."""


def is_exact(value: object) -> bool:
    """Whether the canonical form of a value, which it has, writes every fraction as it is."""
    if isinstance(value, float):
        return round(value, MOST_DECIMALS) == value
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return all(map(is_exact, inner))


def floats_in_schema(
    schema: Mapping[str, Any], resolve: Callable[[str], Mapping[str, Any]] | None = None
) -> FloatPolicy:
    """Floats at the places to which a JSON Schema (draft 2020-12) gives the type `number`.

    Only the word counts: `type: number`, alone or in a list. A place of type `integer`, or one left open (`true`, `{}`,
    no `type`), allows none. Followed are `$ref`, `properties`, `additionalProperties`, `prefixItems`, `items`, `allOf`,
    `anyOf`, `oneOf`, `then` and `else`; where several schemas speak of a place, one that allows floats is enough. What
    other keywords say of places inside (`patternProperties`, `contains`, `$dynamicRef` …) allows none.

    For references that leave the document, `resolve` gives the schema that has an absolute URI; if the schema has no
    `$id`, the URI is the reference as written.

    Raises:
        LookupError: A reference cannot be resolved.
    """
    start = _Automaton(schema, resolve).start

    def allows(path: Path) -> bool:
        state: _State | None = start
        for key in path:
            if state is None:
                return False
            state = state.inside(key)
        return state is not None and state.number

    return allows


class _State:
    """The schemas that apply to one place, as one."""

    def __init__(self, number: bool) -> None:
        self.number = number
        self.members: dict[str, _State | None] = {}
        self.other_members: _State | None = None
        self.elements: list[_State | None] = []
        self.other_elements: _State | None = None

    def inside(self, key: str | int) -> "_State | None":
        if isinstance(key, str):
            return self.members.get(key, self.other_members)
        return self.elements[key] if key < len(self.elements) else self.other_elements


class _Automaton:
    """All states that can be reached from the root of a schema; recursion in the schema is a cycle of states."""

    def __init__(self, schema: Mapping[str, Any], resolve: Callable[[str], Mapping[str, Any]] | None) -> None:
        base = urldefrag(str(schema.get("$id", ""))).url
        self._resolve = resolve
        self._documents: dict[str, Mapping[str, Any]] = {base: schema}
        self._states: dict[frozenset[tuple[str, int]], _State] = {}
        start = self._state([(base, schema)])
        self.start: _State | None = start

    def _state(self, located: Iterable[Located]) -> _State | None:
        schemas = list(self._applying(located))
        if not schemas:
            return None
        key = frozenset((base, id(schema)) for base, schema in schemas)
        if key not in self._states:
            state = self._states[key] = _State(any(_names_number(schema) for _, schema in schemas))
            self._fill(state, schemas)
        return self._states[key]

    def _applying(self, located: Iterable[Located]) -> Iterator[Located]:
        """The given schemas and all that they apply to the same place, each once."""
        seen: set[tuple[str, int]] = set()
        waiting = list(located)
        while waiting:
            base, schema = waiting.pop()
            if not isinstance(schema, Mapping) or (base, id(schema)) in seen:
                continue
            seen.add((base, id(schema)))
            yield base, schema
            if "$ref" in schema:
                waiting.append(self._target(urljoin(base, schema["$ref"])))
            waiting += [(base, branch) for word in ("allOf", "anyOf", "oneOf") for branch in schema.get(word, ())]
            waiting += [(base, schema[word]) for word in ("then", "else") if word in schema]

    def _fill(self, state: _State, schemas: Sequence[Located]) -> None:
        for name in sorted({name for _, schema in schemas for name in schema.get("properties", ())}):
            state.members[name] = self._state((base, _member(schema, name)) for base, schema in schemas)
        state.other_members = self._state((base, schema.get("additionalProperties")) for base, schema in schemas)
        for index in range(max(len(schema.get("prefixItems", ())) for _, schema in schemas)):
            state.elements.append(self._state((base, _element(schema, index)) for base, schema in schemas))
        state.other_elements = self._state((base, schema.get("items")) for base, schema in schemas)

    def _target(self, uri: str) -> Located:
        document, pointer = urldefrag(uri)
        if document not in self._documents:
            if self._resolve is None:
                raise LookupError(f"no resolver for the schema {document!r}")
            self._documents[document] = self._resolve(document)
        target: Any = self._documents[document]
        if pointer and not pointer.startswith("/"):
            raise LookupError(f"the reference {uri!r} names an anchor; only JSON pointers are followed")
        for part in pointer.split("/")[1:]:
            name = unquote(part).replace("~1", "/").replace("~0", "~")
            try:
                target = target[int(name)] if isinstance(target, list) else target[name]
            except (LookupError, TypeError, ValueError):
                raise LookupError(f"the reference {uri!r} leads nowhere") from None
        return document, target


def _member(schema: Mapping[str, Any], name: str) -> object:
    properties = schema.get("properties", {})
    return properties[name] if name in properties else schema.get("additionalProperties")


def _element(schema: Mapping[str, Any], index: int) -> object:
    prefix = schema.get("prefixItems", ())
    return prefix[index] if index < len(prefix) else schema.get("items")


def _names_number(schema: Mapping[str, Any]) -> bool:
    types = schema.get("type")
    return types == "number" or (isinstance(types, list) and "number" in types)
