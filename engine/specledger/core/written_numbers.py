"""JSON in which numbers stay as somebody else wrote them: 1.0 stays 1.0, of which no canonical form is left."""

from __future__ import annotations

import json
from collections.abc import Iterable

from specledger.core.canonical import canonical_bytes, members_once, refuse_constant


class _Number(str):
    """A number as it is written."""


_NUMBERS = json.JSONDecoder(
    object_pairs_hook=members_once, parse_constant=refuse_constant, parse_float=_Number, parse_int=_Number
)


def members_as_written(data: bytes, names: Iterable[str]) -> bytes:
    """The canonical form of members of an object in JSON, but for its numbers, which stay as they are written.

    The caller knows that it is an object in JSON, and has read these members.
    """
    document = _NUMBERS.decode(data.decode())
    return write_plainly({name: document[name] for name in names if name in document})


def write_plainly(value: object) -> bytes:
    """The canonical form of a value that has one, but with floats as Python writes them: 1.0 stays 1.0."""
    if isinstance(value, _Number):
        return value.encode()
    if type(value) is float:
        return repr(value).encode()
    if isinstance(value, dict):
        members = (canonical_bytes(key) + b":" + write_plainly(value[key]) for key in sorted(value, key=str.encode))
        return b"{" + b",".join(members) + b"}"
    if isinstance(value, list | tuple):
        return b"[" + b",".join(map(write_plainly, value)) + b"]"
    return canonical_bytes(value)
