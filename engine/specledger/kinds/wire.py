"""JSON values, bytes and integers of any size as one document, for results that travel or wait in files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from specledger.core.canonical import canonical_ints, parse_written

_SAFE: Final = (1 << 53) - 1
_MARKS: Final = frozenset({"$bytes", "$integer", "$plain"})


def to_bytes(value: Any) -> bytes:
    """JSON values and bytes, with integers of any size, as one document."""
    parts: list[bytes] = []
    document = canonical_ints(_marked(value, parts))
    sizes = canonical_ints([len(document), *map(len, parts)])
    return b"".join([sizes, b"\n", document, *parts])


def from_bytes(data: bytes) -> Any:
    """What `to_bytes` was given, with lists for tuples."""
    head, _, rest = data.partition(b"\n")
    pieces, at = [], 0
    for size in parse_written(head):
        pieces.append(rest[at : at + size])
        at += size
    return _unmarked(parse_written(pieces[0]), pieces[1:])


def _marked(value: Any, parts: list[bytes]) -> Any:
    if isinstance(value, bytes):
        parts.append(value)
        return {"$bytes": len(parts) - 1}
    if isinstance(value, int) and not -_SAFE <= value <= _SAFE:
        return {"$integer": str(value)}
    if isinstance(value, Mapping):
        marked = {name: _marked(inner, parts) for name, inner in value.items()}
        return marked if _MARKS.isdisjoint(marked) else {"$plain": marked}
    return [_marked(inner, parts) for inner in value] if isinstance(value, list | tuple) else value


def _unmarked(value: Any, parts: list[bytes]) -> Any:
    if isinstance(value, list):
        return [_unmarked(inner, parts) for inner in value]
    if not isinstance(value, dict):
        return value
    if "$bytes" in value:
        return parts[value["$bytes"]]
    if "$integer" in value:
        return int(value["$integer"])
    return {name: _unmarked(inner, parts) for name, inner in value.get("$plain", value).items()}
