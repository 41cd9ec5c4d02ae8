"""The trust file of a reader, which comes from outside the evidence.

Its form is `{format, origin, keys: [{id, public}], threshold}` and optionally `run`, `specs`, `recording`, `program`
and `checkpoint`. It is read strictly: no unknown field, no key twice, and the id of a key is its SHA-256.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, convert, to_builtins

from specledger.core.canonical import parse_json
from specledger.core.diagnostics import Diagnostic, Rejected, code
from specledger.evidence.checkpoint import RUN, origin_of
from specledger.evidence.envelope import MOST_SIGNATURES, from_base64
from specledger.evidence.keys import PUBLIC_SIZE, is_weak, key_id
from specledger.evidence.layout import Count, Digest, RunId
from specledger.verify.programs import in_order

MAX_TRUST: Final = 1_048_576
"""Bytes of the file at most."""

E_TRUST = code("E_TRUST", "what is trusted cannot be read")


class _Key(Struct, forbid_unknown_fields=True):
    id: str
    public: str


class _Checkpoint(Struct, forbid_unknown_fields=True):
    size: Count
    root: Digest


class _Program(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A program by its command, or a function by its name, with the digests of its files by their paths."""

    files: dict[str, Digest]
    command: Annotated[list[str], Meta(min_length=1)] | UnsetType = UNSET
    python: str | UnsetType = UNSET


class _Document(Struct, forbid_unknown_fields=True):
    """The form of a trust file."""

    format: Literal["specledger/trust/v1"]
    origin: str
    keys: Annotated[list[_Key], Meta(min_length=1, max_length=MOST_SIGNATURES)]
    threshold: Annotated[int, Meta(ge=1)]
    run: RunId | UnsetType = UNSET
    specs: Digest | UnsetType = UNSET
    recording: (
        Digest
        | Annotated[list[Digest], Meta(min_length=1)]
        | Annotated[dict[str, Digest], Meta(min_length=1)]
        | UnsetType
    ) = UNSET
    program: _Program | Annotated[list[_Program], Meta(min_length=1)] | UnsetType = UNSET
    checkpoint: _Checkpoint | UnsetType = UNSET


class Seen(Struct, frozen=True):
    """A head of a log that was seen before: the number of receipts, and their Merkle root, 32 bytes."""

    size: int
    root: bytes

    def __str__(self) -> str:
        return f"{self.size} receipts, root {self.root.hex()}"


class Trust(Struct, frozen=True):
    """What a reader trusts and expects.

    Attributes:
        origin: The name of the log, in which `{run}` is replaced by the run's identifier.
        keys: Raw public keys, 32 bytes each, by their ids.
        threshold: How many of the keys must have signed.
        run, specs: The run's identifier and the specs' digest that are expected, or None for any.
        recording: The digests of the logs that are expected to be those that were judged, sorted, or by the names of
            a suite's runs; None for any.
        program: The programs that are expected to be those that answered, or None for any.
        seen: The last checkpoint that was seen of this log, or None.
    """

    origin: str
    keys: Mapping[str, bytes]
    threshold: int
    run: str | None = None
    specs: str | None = None
    recording: tuple[str, ...] | Mapping[str, str] | None = None
    program: Sequence[Mapping[str, Any]] | None = None
    seen: Seen | None = None

    @property
    def expects(self) -> bool:
        """Whether it names what the evidence must be."""
        return any(expected is not None for expected in (self.run, self.specs, self.recording, self.program))

    def origin_for(self, run: str) -> str:
        """The origin that the checkpoints of a run must have."""
        return self.origin.replace(RUN, run)


def read_trust(path: Path) -> Trust:
    """Read a trust file."""
    try:
        data = read_bounded(path, MAX_TRUST)
    except ValueError as error:
        raise _wrong(path, str(error)) from error
    if data.startswith(b"-----BEGIN "):
        hint = f"`spec keys show {path} --trust --out trust.json` writes a trust file for it"
        raise _wrong(path, "it is a key", hint)
    try:
        return trust_of(parse_json(data))
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


def trust_of(document: Any) -> Trust:
    """What the document of a trust file says.

    Raises:
        ValueError: It has another form.
        Rejected: E_ORIGIN.
    """
    read = convert(document, _Document)
    origin_of(read.origin, "0" * 32)
    keys: dict[str, bytes] = {}
    for number, key in enumerate(read.keys):
        keys |= _read_key(number, key)
    if len(keys) != len(read.keys):  # one key twice would count twice
        raise ValueError("a key stands there twice")
    if read.threshold > len(keys):
        raise ValueError(f"its threshold is above {len(keys)}, the number of its keys")
    return Trust(
        read.origin,
        keys,
        read.threshold,
        read.run or None,
        read.specs or None,
        _recording(read.recording),
        _programs(read.program),
        Seen(read.checkpoint.size, bytes.fromhex(read.checkpoint.root)) if read.checkpoint else None,
    )


def _recording(read: str | list[str] | dict[str, str] | UnsetType) -> tuple[str, ...] | Mapping[str, str] | None:
    if read is UNSET:
        return None
    if isinstance(read, dict):
        return read
    digests = tuple(sorted([read] if isinstance(read, str) else read))
    if len({*digests}) != len(digests):
        raise ValueError("a recording stands there twice")
    return digests


def _programs(read: _Program | list[_Program] | UnsetType) -> Sequence[Mapping[str, Any]] | None:
    if read is UNSET:
        return None
    listed = [read] if isinstance(read, _Program) else read
    for number, program in enumerate(listed):
        if (program.command is UNSET) == (program.python is UNSET):
            raise ValueError(f"the program {number} has either a `command` or `python`")
    programs = in_order(map(to_builtins, listed))
    if len(programs) != len(listed):
        raise ValueError("a program stands there twice")
    return programs


def _read_key(number: int, key: _Key) -> dict[str, bytes]:
    try:
        raw = from_base64(key.public)
    except ValueError as error:
        raise ValueError(f"the public key {number} {error}") from None
    if len(raw) != PUBLIC_SIZE:
        raise ValueError(f"the public key {number} has {len(raw)} bytes, not {PUBLIC_SIZE}")
    if is_weak(raw):
        raise ValueError(f"in the name of the public key {number} anybody can sign")
    if key.id != key_id(raw):
        raise ValueError(f"the id of key {number} is not SHA-256 of the key")
    return {key.id: raw}


def _wrong(path: Path, why: str, hint: str | None = None) -> Rejected:
    return Rejected([Diagnostic(E_TRUST, f"{path} is no trust file: {why}", hint=hint)])
