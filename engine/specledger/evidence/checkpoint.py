"""Checkpoints: signed notes that state the size and the Merkle root of a log, here of the receipts of a run.

A note is three lines (origin, size, root), an empty line, and signature lines: an em dash, the key's name, which is the
origin, and base64 of a hash and the signature. The hash is the first four bytes of SHA-256(name || 0x0A || 0x01 ||
public key). A log never signs two checkpoints of which none extends the other, so an origin is that of one run: `{run}`
in it is replaced by the run's identifier.

Source: C2SP tlog-checkpoint and signed-note (c2sp.org), signature type 0x01 (Ed25519).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from specledger.core.canonical import MAX_INTEGER
from specledger.core.diagnostics import Diagnostic, Rejected, code
from specledger.core.digest import sha256_raw
from specledger.evidence.envelope import MOST_SIGNATURES, from_base64, to_base64

MAX_NOTE: Final = 65_536
"""Bytes of a note at most."""
ORIGIN: Final = "specledger/{run}"
"""The default origin."""
RUN: Final = "{run}"
"""The placeholder of the run's identifier in an origin."""
MAX_ORIGIN: Final = 255

E_ORIGIN = code("E_ORIGIN", "an origin that names no log")

_ORIGIN: Final = re.compile(r"[!-*,-~]{1,255}")  # visible ASCII without `+`
_SIZE: Final = re.compile(r"0|[1-9][0-9]{0,15}")
_LINE: Final = re.compile("\u2014 ([^ ]+) ([^ ]+)")
_ED25519: Final = b"\x01"
_HASH: Final = 4
_ROOT: Final = 32


class InvalidNote(ValueError):  # noqa: N818 - says what the bytes are, not that the engine failed
    """The bytes are no checkpoint in the form of this module; the text says why."""


class NoteSignature(Struct, frozen=True):
    """One signature line.

    Attributes:
        hint: The key's hash for this name, 4 bytes; it distinguishes keys and proves nothing.
        raw: The signature; that of an Ed25519 key has 64 bytes.
    """

    name: str
    hint: bytes
    raw: bytes


class Note(Struct, frozen=True):
    """What a checkpoint states of a log, whose root has 32 bytes, and all signature lines, of unknown keys too."""

    origin: str
    size: int
    root: bytes
    signatures: tuple[NoteSignature, ...]

    @property
    def signed(self) -> bytes:
        """The bytes that the signatures are over."""
        return note_text(self.origin, self.size, self.root)


def origin_of(pattern: str, run: str) -> str:
    """The origin of a run: a pattern with `{run}` replaced by the run's identifier."""
    origin = pattern.replace(RUN, run)
    if not _ORIGIN.fullmatch(origin) or {*"{}"} & {*origin}:
        message = f"an origin has 1 to {MAX_ORIGIN} visible ASCII characters, no `+`, and braces only in `{RUN}`"
        raise Rejected([Diagnostic(E_ORIGIN, message, found=pattern)])
    return origin


def note_text(origin: str, size: int, root: bytes) -> bytes:
    """What a checkpoint's signatures are over: three lines, each with its newline."""
    return f"{origin}\n{size}\n{to_base64(root)}\n".encode()


def key_hash(name: str, public: bytes) -> bytes:
    """The four bytes that distinguish a raw Ed25519 key in a note, by its name."""
    return sha256_raw(name.encode() + b"\n" + _ED25519 + public)[:_HASH]


def sign_note(text: bytes, signatures: Sequence[NoteSignature]) -> bytes:
    """The file of a checkpoint: its text and the signature lines."""
    lines = (f"\u2014 {signature.name} {to_base64(signature.hint + signature.raw)}\n" for signature in signatures)
    return text + b"\n" + "".join(lines).encode()


def read_note(data: bytes) -> Note:
    """Read the file of a checkpoint; no signature is verified.

    Signatures by unknown keys and of other kinds are kept: a reader passes over them, as the source demands.

    Raises:
        InvalidNote: It is too large, has extension lines, no signature or more than 16, one twice, or is malformed.
    """
    if len(data) > MAX_NOTE:
        raise InvalidNote(f"it has more than {MAX_NOTE} bytes")
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise InvalidNote("it is not UTF-8") from None
    lines = text.split("\n")
    if len(lines) < 6 or lines[3] or lines[-1]:
        raise InvalidNote("it is three lines, an empty line, and signature lines, each with a newline")
    origin, size, root = lines[:3]
    if not _ORIGIN.fullmatch(origin):
        raise InvalidNote("its origin is no visible ASCII without spaces and `+`")
    if not _SIZE.fullmatch(size) or int(size) > MAX_INTEGER:
        raise InvalidNote("its size is no decimal number")
    signatures = tuple(_signature(line) for line in lines[4:-1])
    if len(signatures) > MOST_SIGNATURES:
        raise InvalidNote(f"it has more than {MOST_SIGNATURES} signatures")
    if len({(signature.name, signature.hint) for signature in signatures}) != len(signatures):
        raise InvalidNote("a key has signed it twice")
    return Note(origin, int(size), _root(root), signatures)


def _root(text: str) -> bytes:
    try:
        root = from_base64(text)
    except ValueError as error:
        raise InvalidNote(f"its root {error}") from None
    if len(root) != _ROOT:
        raise InvalidNote(f"its root has {len(root)} bytes, not {_ROOT}")
    return root


def _signature(line: str) -> NoteSignature:
    match = _LINE.fullmatch(line)
    if match is None or not _ORIGIN.fullmatch(match[1]):
        raise InvalidNote("a signature line is an em dash, a name without spaces and `+`, and base64")
    try:
        raw = from_base64(match[2])
    except ValueError as error:
        raise InvalidNote(f"a signature {error}") from None
    if len(raw) <= _HASH:
        raise InvalidNote("a signature line holds 4 bytes of a hash and a signature")
    return NoteSignature(match[1], raw[:_HASH], raw[_HASH:])
