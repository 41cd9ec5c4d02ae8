"""JSON as the programs of others write it, read without loss into values without floats.

An integer within 2^53 - 1 is itself. Any other number is `{"$number": "its text"}`, so that 0.1 stays what was written.
An object of the document that itself has just one key, and one that stands for something here, becomes
`{"$literal": {...}}`: whoever reads a value can tell what the document said.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import isfinite
from typing import Any, Final

import orjson

from specledger.core.canonical import (
    E_CANON_DEPTH,
    INTEGERS,
    MAX_DEPTH,
    MAX_INTEGER,
    NotCanonical,
    check_volume,
)
from specledger.core.volume import MAX_VOLUME

NUMBER: Final = "$number"
"""The key of a number that is no integer within 2^53 - 1."""
LITERAL: Final = "$literal"
"""The key of an object that would be taken for something else."""
WITHHELD: Final = "$withheld"
"""The key of the digest of a value that was withheld."""
MARKS: Final = frozenset({NUMBER, LITERAL, WITHHELD})

MAX_VALUE_DEPTH: Final = MAX_DEPTH - 8
"""The most containers around a scalar; a record of ours around the value needs some more."""
_LONGEST_NUMBER: Final = 400  # characters; binary64 needs no more than 330
_ESCAPED_QUOTE: Final = b"\\u0022"
_FEW_BYTES: Final = 4096
"""A longer form has too many containers most of the time for their number to show that they are not too deep."""


def parse_log_json(data: bytes, *, most: int = MAX_VOLUME) -> Any:
    """Read one JSON document in UTF-8, with no key twice in an object, into values without floats.

    Raises:
        ValueError: It is not such a document; the message says where.
        NotCanonical: E_CANON_SIZE: it has more volume than `most`. E_CANON_DEPTH: it is nested too deeply.
    """
    check_volume(data, most)
    try:
        value = INTEGERS.decode(data)
        form = orjson.dumps(value, option=orjson.OPT_STRICT_INTEGER)
    except (ValueError, RecursionError, orjson.JSONEncodeError):
        return _parse_slowly(data)  # no JSON, a float, or a large integer
    if form.count(b'"') != data.count(b'"') or _ESCAPED_QUOTE in data:
        return _parse_slowly(data)  # a key may be there twice: a member that was dropped leaves fewer quotation marks
    if (b"$" not in form or b'"$' not in form) and (len(form) < 2 * MAX_VALUE_DEPTH or _is_shallow(value, form)):
        return (
            value  # no key has a meaning here (the first search takes a twentieth of the second); a container two bytes
        )
    return value if _is_as_read(value, MAX_VALUE_DEPTH) else _parse_slowly(data)


def log_value(value: object, depth: int = MAX_VALUE_DEPTH) -> Any:
    """A value of Python as `parse_log_json` would read its text, whole numbers of any size among them.

    Raises:
        ValueError: It is no value of JSON.
        NotCanonical: E_CANON_DEPTH: it is nested more deeply than `depth`.
    """
    if isinstance(value, dict | list | tuple):
        if depth == 0:
            raise _too_deep()
        if not isinstance(value, dict):
            return [log_value(member, depth - 1) for member in value]
        return _members([(_text(key), log_value(member, depth - 1)) for key, member in value.items()])
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, float):
        return _number(repr(value)) if isfinite(value) else _constant(repr(value))
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return _integer(str(value))
    raise ValueError(f"{type(value).__name__} is no value of JSON")


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("a key is no text")
    value.encode()  # UnicodeEncodeError, a ValueError, for half a character
    return value


def _is_shallow(value: object, form: bytes) -> bool:
    """Whether no more than MAX_VALUE_DEPTH containers are inside one another."""
    if len(form) <= _FEW_BYTES and form.count(b"[") + form.count(b"{") <= MAX_VALUE_DEPTH:
        return True
    level: list[Any] = [value]
    for _ in range(MAX_VALUE_DEPTH):
        level = [
            member
            for node in level
            for member in (node.values() if type(node) is dict else node)
            if type(member) is dict or type(member) is list
        ]
        if not level:
            return True
    return False


def _is_as_read(value: object, depth: int) -> bool:
    """Whether a value needs no change: no floats, no large integers, no object that has a meaning here."""
    kind = type(value)
    if kind is int:
        return -MAX_INTEGER <= value <= MAX_INTEGER  # type: ignore[operator]
    if kind is dict:
        if depth == 0 or (len(value) == 1 and not MARKS.isdisjoint(value)):  # type: ignore[arg-type]
            return False
        return all(type(member) is str or _is_as_read(member, depth - 1) for member in value.values())  # type: ignore[attr-defined]
    if kind is list:
        return depth > 0 and all(type(member) is str or _is_as_read(member, depth - 1) for member in value)  # type: ignore[attr-defined]
    return kind is not float


def _parse_slowly(data: bytes) -> Any:
    try:
        orjson.loads(data)
    except orjson.JSONDecodeError as error:
        if error.msg.startswith("Recursion"):
            raise _too_deep() from None
        raise ValueError(f"not JSON at line {error.lineno}, column {error.colno}: {error.msg}") from None
    try:
        value = _DECODER.decode(data.decode())
    except RecursionError:
        raise _too_deep() from None
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON at line {error.lineno}, column {error.colno}: {error.msg}") from None
    _check_depth(value, MAX_VALUE_DEPTH)
    return value


def _check_depth(value: object, depth: int) -> None:
    if isinstance(value, dict | list):
        if depth == 0:
            raise _too_deep()
        for member in value.values() if isinstance(value, dict) else value:
            _check_depth(member, depth - 1)


def _too_deep() -> NotCanonical:
    return NotCanonical(E_CANON_DEPTH, "$", f"more than {MAX_VALUE_DEPTH} containers inside one another")


def _members(members: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(members)
    if len(value) != len(members):
        names = [name for name, _ in members]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice[:64]!r} is there twice in an object")
    return {LITERAL: value} if len(value) == 1 and not MARKS.isdisjoint(value) else value


def _number(text: str) -> Any:
    if len(text) > _LONGEST_NUMBER:
        raise ValueError(f"a number of {len(text)} characters, more than {_LONGEST_NUMBER}")
    return {NUMBER: text}


def _integer(text: str) -> Any:
    if len(text) > 17:
        return _number(text)
    value = int(text)
    return value if abs(value) <= MAX_INTEGER else _number(text)


def _constant(word: str) -> Any:
    raise ValueError(f"{word} is not a JSON number")


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_members, parse_float=_number, parse_int=_integer, parse_constant=_constant
)


def as_text(value: object) -> str | None:
    """The text of a number that this module read; None for anything else."""
    if type(value) is int:
        return str(value)
    if isinstance(value, Mapping) and len(value) == 1 and isinstance(text := value.get(NUMBER), str):
        return text
    return None
