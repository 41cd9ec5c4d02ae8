"""Canonical JSON: the only serialiser of whatever is hashed, and the readers of JSON.

Documents without a canonical form are refused. `core.floats` says where floats may be. Sources: toy-pseudo-axion,
Non-negotiables 1; RFC 8785, 3.2.2.2.

- The values are null, booleans, integers, strings, lists or tuples, and dicts with string keys, of exactly these types:
  a subclass (an enum, a named tuple) is refused, since a reader could not tell it from its base.
- Keys are sorted by their UTF-8 bytes. There is no white space. Arrays keep their order.
- Strings are UTF-8; quotation marks, backslashes and the controls below U+0020 are escaped, as briefly as JSON can.
- Every number lies within ±(2^53 - 1), so that every reader of JSON reads the same one. -0 is 0. NaN and infinities are
  refused.
- A float is refused, even 6.0, unless the caller's `FloatPolicy` allows floats at its place. There it is rounded to at
  most 8 decimals (half to even, on its exact binary value) and loses trailing zeros and point: 6.0 is 6, 0.1 + 0.2 is
  0.3, 1e-9 is 0. An integer is allowed wherever a float is.
- Containers are nested at most 64 deep.
- What a recording leaves out (`core.unknown`) is an object with its reason.

For integers and ASCII keys these are the bytes of RFC 8785.
"""

import json
import re
from collections.abc import Iterable
from math import isfinite
from typing import Any

import orjson
from msgspec.json import Decoder

from specledger.core.diagnostics import code
from specledger.core.floats import FLOATS_ANYWHERE, NO_FLOATS, FloatPolicy
from specledger.core.unknown import UNKNOWN, Unknown
from specledger.core.volume import MAX_VOLUME, volume

MAX_INTEGER = 2**53 - 1
"""The largest magnitude of a number; above it binary64 readers merge neighbours."""
MAX_DEPTH = 64
"""The most containers around a scalar."""
LINE_LIMIT = 1 << 20
"""Bytes of a document that `parse_canonical` reads unless told otherwise."""

E_CANON_FLOAT = code("E_CANON_FLOAT", "A float where only integers are allowed")
E_CANON_NUMBER = code("E_CANON_NUMBER", "Not a number")
E_CANON_RANGE = code("E_CANON_RANGE", "A number beyond 2^53 - 1")
E_CANON_TEXT = code("E_CANON_TEXT", "A lone surrogate in a string")
E_CANON_DEPTH = code("E_CANON_DEPTH", "Nested too deeply")
E_CANON_TYPE = code("E_CANON_TYPE", "No JSON value")
E_CANON_SIZE = code("E_CANON_SIZE", "A document that is too large")
E_CANON_JSON = code("E_CANON_JSON", "Not JSON")
E_CANON_FORM = code("E_CANON_FORM", "Not in canonical form")

Written = orjson.Fragment
"""A value whose canonical form is known: `Written(form)` stands for it in what `canonical_ints` serialises."""

_OPTIONS = (
    orjson.OPT_SORT_KEYS
    | orjson.OPT_STRICT_INTEGER
    | orjson.OPT_PASSTHROUGH_SUBCLASS
    | orjson.OPT_PASSTHROUGH_DATACLASS
    | orjson.OPT_PASSTHROUGH_DATETIME
)


def refuse_float(text: str) -> Any:
    """What a decoder of integers calls for a number with a point or an exponent."""
    raise ValueError(f"{text} is no integer")


INTEGERS = Decoder[Any](float_hook=refuse_float)
"""Reads JSON in UTF-8 without floats, ValueError for anything else; of a key that is there twice the last member."""
_ATOMS = frozenset({type(None), bool, int, str})
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SHOWN = 64  # characters of a key in an error's path


class NotCanonical(ValueError):  # noqa: N818 - says what the value is, not that the engine failed
    """The value or the bytes have no canonical form.

    Attributes:
        code: One of the `E_CANON_...` codes.
        path: The JSON path of the place, ASCII only, e.g. `$.trace.nodes[3]["a b"]`.
    """

    def __init__(self, code: str, path: str, message: str) -> None:
        super().__init__(code, path, message)
        self.code = code
        self.path = path
        self.message = message

    def __str__(self) -> str:
        return f"{self.path}: {self.message}"


def canonical_bytes(value: object, floats: FloatPolicy = NO_FLOATS) -> bytes:
    """The canonical form of a value, checked throughout.

    Raises:
        NotCanonical: The value has no canonical form; of several reasons the first that is met.
    """
    try:
        if is_plain(value):
            return orjson.dumps(value, option=_OPTIONS)
    except orjson.JSONEncodeError:
        pass  # found again below, with its place
    return orjson.dumps(_checked(value, floats, []), option=_OPTIONS)


def canonical_ints(value: object) -> bytes:
    """The canonical form of a value that the caller *knows by its types* to hold no floats: the fast path of the loop.

    The caller vouches for exact types (see the module) without floats, for depth, and for the form of whatever is
    `Written`, which nothing else may hold. Then the bytes are those of
    `canonical_bytes`, or the same exception is raised. A float or an enum that slips in is not noticed.

    Raises:
        NotCanonical: An integer beyond ±(2^53 - 1), a lone surrogate, a key that is no string, or no JSON type.
    """
    try:
        return orjson.dumps(value, option=_OPTIONS)
    except orjson.JSONEncodeError:
        return canonical_bytes(value)


def plain_form(value: object) -> bytes | None:
    """Bytes that tell a value without floats apart from every other, in which also the order of its keys counts.

    None if it is no JSON value.
    """
    try:
        return orjson.dumps(value)
    except orjson.JSONEncodeError:
        return None


def parse_canonical(line: bytes, *, limit: int = LINE_LIMIT, most: int = MAX_VOLUME) -> object:
    """The value of a document with integers only, if its bytes are its canonical form.

    Comparing with the canonical form catches duplicate keys, white space, escapes, 6.0, -0 and 2^53 + 1 at once.

    Args:
        line: The document.
        limit: The most bytes that it may have.
        most: The most volume that it may have, if it has more bytes than that.

    Raises:
        NotCanonical: Too large, not JSON, without canonical form, or not in it.
    """
    if len(line) > limit:
        raise NotCanonical(E_CANON_SIZE, "$", f"{len(line)} bytes, more than {limit}")
    check_volume(line, most)
    if line.count(b"[") + line.count(b"{") <= MAX_DEPTH:
        try:
            value: object = INTEGERS.decode(line)
            if orjson.dumps(value, option=_OPTIONS) == line:
                return value
        except (ValueError, RecursionError, orjson.JSONEncodeError):
            pass  # found again below, with its place
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise NotCanonical(E_CANON_JSON, "$", f"not JSON in UTF-8 (at character {error.pos})") from None
    form = canonical_bytes(value)
    if form != line:
        same = next((i for i, (a, b) in enumerate(zip(line, form, strict=False)) if a != b), min(len(line), len(form)))
        raise NotCanonical(E_CANON_FORM, "$", f"differs from its canonical form at byte {same}")
    return value


def check_volume(document: bytes, most: int = MAX_VOLUME) -> None:
    """See that a document may be read: that it has no more bytes, or no more volume, than `most`.

    Raises:
        NotCanonical: E_CANON_SIZE.
    """
    if len(document) > most and (actual := volume(document)) > most:
        counted = "its commas and colons, `[` counted twice, `{` four times"
        raise NotCanonical(E_CANON_SIZE, "$", f"a volume of {actual}, more than {most}: {counted}")


def parse_written(form: bytes) -> Any:
    """The value of a form that the caller knows to be what `canonical_ints` wrote: the fast path between processes."""
    return orjson.loads(form)


def pretty(value: object) -> str:
    """The value as JSON for people: sorted keys, indent 2, a final newline.

    Floats are allowed anywhere, rounded as in the canonical form. ASCII only, so that no string can steer a terminal.

    Raises:
        NotCanonical: The value has no canonical form.
    """
    rounded = orjson.loads(canonical_bytes(value, FLOATS_ANYWHERE))
    return json.dumps(rounded, indent=2, sort_keys=True) + "\n"


def is_plain(value: object, depth: int = MAX_DEPTH) -> bool:
    """Whether a value has exact types throughout and no floats, so that `canonical_ints` does right by it."""
    members: Iterable[object]
    if type(value) is dict:
        members = value.values()
    elif type(value) is list or type(value) is tuple:
        members = value
    else:
        return type(value) in _ATOMS
    if depth == 0:
        return False
    for member in members:  # noqa: SIM110 - a generator expression takes twice the time
        if type(member) not in _ATOMS and not is_plain(member, depth - 1):
            return False
    return True


def _checked(value: object, floats: FloatPolicy, path: list[str | int]) -> object:
    """The value with its floats replaced by their canonical text, if it has a canonical form."""
    if value is None or type(value) is bool:
        return value
    if type(value) is Unknown:
        return {UNKNOWN: value.reason}
    if type(value) is str:
        return _check_text(value, path)
    if type(value) is int:
        if not -MAX_INTEGER <= value <= MAX_INTEGER:
            raise NotCanonical(E_CANON_RANGE, _json_path(path), "an integer beyond 2^53 - 1")
        return value
    if type(value) is float:
        return _check_float(value, floats, path)
    if type(value) is not dict and type(value) is not list and type(value) is not tuple:
        raise NotCanonical(E_CANON_TYPE, _json_path(path), f"{type(value).__name__} is no JSON type")
    if len(path) >= MAX_DEPTH:
        raise NotCanonical(E_CANON_DEPTH, _json_path(path), f"more than {MAX_DEPTH} containers inside one another")
    if type(value) is not dict:
        return [_checked(element, floats, [*path, index]) for index, element in enumerate(value)]
    members = {}
    for key, member in value.items():
        if type(key) is not str:
            raise NotCanonical(E_CANON_TYPE, _json_path(path), f"a key of type {type(key).__name__}, not a string")
        inside = [*path, key]
        _check_text(key, inside)
        members[key] = _checked(member, floats, inside)
    return members


def _check_text(value: str, path: list[str | int]) -> str:
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError as error:
            message = f"a lone surrogate at character {error.start}"
            raise NotCanonical(E_CANON_TEXT, _json_path(path), message) from None
    return value


def _check_float(value: float, floats: FloatPolicy, path: list[str | int]) -> object:
    if not isfinite(value):
        raise NotCanonical(E_CANON_NUMBER, _json_path(path), f"{value} is no JSON number")
    if abs(value) > MAX_INTEGER:
        raise NotCanonical(E_CANON_RANGE, _json_path(path), f"{value!r} is beyond 2^53 - 1")
    if not floats(path):
        raise NotCanonical(E_CANON_FLOAT, _json_path(path), f"the float {value!r} where only integers are allowed")
    text = f"{value:.8f}".rstrip("0").rstrip(".")
    return orjson.Fragment("0" if text == "-0" else text)


def _json_path(path: list[str | int]) -> str:
    parts = ["$"]
    for key in path:
        shown = key[:_SHOWN] if isinstance(key, str) else key
        parts.append(f".{shown}" if isinstance(shown, str) and _NAME.fullmatch(shown) else f"[{json.dumps(shown)}]")
    return "".join(parts)


def parse_json(data: bytes, *, most: int = MAX_VOLUME) -> Any:
    """Read one JSON document in UTF-8, canonical or not, with finite numbers and no key twice in an object.

    Raises:
        ValueError: It is not such a document.
        NotCanonical: E_CANON_SIZE: it has more volume than `most`.
    """
    check_volume(data, most)
    try:
        return _JSON.decode(data.decode())
    except RecursionError:
        raise ValueError("nested too deeply") from None


def members_once(members: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of some members; ValueError where a key is there twice."""
    document = dict(members)
    if len(document) != len(members):
        raise ValueError("a duplicate key")
    return document


def refuse_constant(word: str) -> Any:
    """What a decoder calls for NaN and infinities."""
    raise ValueError(f"{word} is not a JSON number")


_JSON = json.JSONDecoder(object_pairs_hook=members_once, parse_constant=refuse_constant)
