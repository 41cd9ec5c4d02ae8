"""The trust file of a reader, which comes from outside the evidence.

Its form is `{format, origin, keys: [{id, public}], threshold}` and optionally `run`, `specs` and `checkpoint`. It is
read strictly: no unknown field, no key twice, and the id of a key is its SHA-256.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from specledger.core.canonical import MAX_INTEGER
from specledger.core.diagnostics import Diagnostic, Rejected, code
from specledger.evidence.checkpoint import RUN, origin_of
from specledger.evidence.envelope import MOST_SIGNATURES, from_base64
from specledger.evidence.keys import PUBLIC_SIZE, TRUST, key_id

MAX_TRUST: Final = 1_048_576
"""Bytes of the file at most."""

E_TRUST = code(
    "E_TRUST",
    "what is trusted cannot be read",
    "A trust file is JSON: {format: specledger/trust/v1, origin, keys: [{id, public}], threshold}, and optionally run, "
    "specs and checkpoint: {size, root}. A public key is the base64 of its 32 bytes, its id their SHA-256. The file "
    "comes from you, never from a bundle; `spec keys show` prints one for a key.",
)

_REQUIRED: Final = frozenset({"format", "origin", "keys", "threshold"})
_OPTIONAL: Final = frozenset({"run", "specs", "checkpoint"})
_RUN: Final = re.compile(r"[0-9a-f]{32}")
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")


class Seen(Struct, frozen=True):
    """A head of a log that was seen before.

    Attributes:
        size: How many receipts it had.
        root: Their Merkle root, 32 bytes.
    """

    size: int
    root: bytes

    def __str__(self) -> str:
        """The head as text."""
        return f"{self.size} receipts, root {self.root.hex()}"


class Trust(Struct, frozen=True):
    """What a reader trusts and expects.

    Attributes:
        origin: The name of the log, in which `{run}` is replaced by the run's identifier.
        keys: Raw public keys, 32 bytes each, by their ids.
        threshold: How many of the keys must have signed.
        run, specs: The run's identifier and the specs' digest that are expected, or None for any.
        seen: The last checkpoint that was seen of this log, or None.
    """

    origin: str
    keys: Mapping[str, bytes]
    threshold: int
    run: str | None = None
    specs: str | None = None
    seen: Seen | None = None

    def origin_for(self, run: str) -> str:
        """The origin that the checkpoints of a run must have."""
        return self.origin.replace(RUN, run)


def read_trust(path: Path) -> Trust:
    """Read a trust file.

    Raises:
        Rejected: E_TRUST, if it is not there or a part of it is malformed.
    """
    try:
        return _trust(read_json(path, MAX_TRUST))
    except ValueError as error:
        raise _wrong(path, str(error)) from error
    except Rejected as rejected:  # of the origin
        raise _wrong(path, rejected.diagnostics[0].message) from rejected


def read_bounded(path: Path, limit: int) -> bytes:
    """A file that the reader names.

    Raises:
        ValueError: It cannot be read or has more bytes than the limit.
    """
    try:
        with path.open("rb") as file:
            data = file.read(limit + 1)
    except OSError as error:
        raise ValueError(error.strerror or "operating system error") from error
    if len(data) > limit:
        raise ValueError(f"it has more than {limit} bytes")
    return data


def read_json(path: Path, limit: int) -> Any:
    """A JSON document that a person may have written: white space is free, but no key occurs twice.

    Raises:
        ValueError: It cannot be read, is larger than the limit, or is no such document; fractions are none here.
    """
    data = read_bounded(path, limit)
    try:
        return json.loads(data.decode(), object_pairs_hook=_object, parse_float=_no_number, parse_constant=_no_number)
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8") from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return made


def _no_number(text: str) -> Any:
    raise ValueError(f"{text[:20]} is no integer")


def _trust(document: Any) -> Trust:
    _demand(isinstance(document, dict), "it is no object")
    unknown = sorted(document.keys() - _REQUIRED - _OPTIONAL)
    _demand(not unknown, f"it has an unknown field {unknown[:1]}")
    missing = sorted(_REQUIRED - document.keys())
    _demand(not missing, f"it lacks {', '.join(missing)}")
    _demand(document["format"] == TRUST, f"its format is not {TRUST}")
    origin = document["origin"]
    _demand(isinstance(origin, str), "its origin is no text")
    origin_of(origin, "0" * 32)
    keys = _keys(document["keys"])
    threshold = document["threshold"]
    reachable = type(threshold) is int and 1 <= threshold <= len(keys)
    _demand(reachable, f"its threshold is no number from 1 to {len(keys)}, the number of its keys")
    return Trust(
        origin,
        keys,
        threshold,
        _matching(document, "run", _RUN, "32"),
        _matching(document, "specs", _DIGEST, "64"),
        None if "checkpoint" not in document else _seen(document["checkpoint"]),
    )


def _keys(listed: Any) -> dict[str, bytes]:
    """The keys by their ids; one key twice would count twice, so it is refused."""
    _demand(isinstance(listed, list) and 1 <= len(listed) <= MOST_SIGNATURES, f"it has 1 to {MOST_SIGNATURES} keys")
    keys: dict[str, bytes] = {}
    for number, entry in enumerate(listed):
        _demand(isinstance(entry, dict) and entry.keys() == {"id", "public"}, f"key {number} has exactly id and public")
        try:
            raw = from_base64(entry["public"])
        except ValueError as error:
            raise ValueError(f"the public key {number} {error}") from None
        _demand(len(raw) == PUBLIC_SIZE, f"the public key {number} has {len(raw)} bytes, not {PUBLIC_SIZE}")
        _demand(entry["id"] == key_id(raw), f"the id of key {number} is not SHA-256 of the key")
        _demand(entry["id"] not in keys, f"key {number} stands there twice")
        keys[entry["id"]] = raw
    return keys


def _matching(document: Mapping[str, Any], name: str, form: re.Pattern[str], digits: str) -> str | None:
    if name not in document:
        return None
    value = document[name]
    _demand(isinstance(value, str) and form.fullmatch(value) is not None, f"`{name}` has {digits} hexadecimal digits")
    return str(value)


def _seen(document: Any) -> Seen:
    _demand(isinstance(document, dict) and document.keys() == {"size", "root"}, "`checkpoint` is {size, root}")
    size, root = document["size"], document["root"]
    _demand(type(size) is int and 0 <= size <= MAX_INTEGER, "the size of `checkpoint` is no number of receipts")
    _demand(isinstance(root, str) and _DIGEST.fullmatch(root) is not None, "the root of `checkpoint` has 64 digits")
    return Seen(size, bytes.fromhex(root))


def _demand(holds: bool, why: str) -> None:
    if not holds:
        raise ValueError(why)


def _wrong(path: Path, why: str) -> Rejected:
    return Rejected([Diagnostic(E_TRUST, f"{path} is no trust file: {why}")])
