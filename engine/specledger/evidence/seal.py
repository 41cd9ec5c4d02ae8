"""Sealing a bundle: signatures, a time stamp, digests and a guide, beside the manifest.

The manifest covers the files, the checkpoint the receipts, the two envelopes the manifest, so nothing covers itself. Of
a bundle that holds others only the outer one is sealed: its manifest has the digests of the inner manifests.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal, cast

from msgspec import Meta, Struct, ValidationError, convert

from specledger.core import disk
from specledger.core.canonical import NotCanonical, parse_canonical
from specledger.core.diagnostics import Diagnostic, Rejected, code
from specledger.core.digest import file_digest, sha256_hex, sha256_raw
from specledger.evidence.checkpoint import (
    ORIGIN,
    RUN,
    InvalidNote,
    NoteSignature,
    key_hash,
    note_text,
    origin_of,
    read_note,
    sign_note,
)
from specledger.evidence.envelope import (
    Envelope,
    InvalidEnvelope,
    Signature,
    attestation,
    provenance,
    read_envelope,
    write_envelope,
)
from specledger.evidence.guide import guide
from specledger.evidence.keys import SigningKey
from specledger.evidence.layout import (
    ATTACHED,
    ATTESTATION,
    CHECKPOINT,
    FORMAT,
    GUIDE,
    MANIFEST,
    MAX_MANIFEST,
    PATH,
    PROVENANCE,
    SPECS,
    SUMS,
    TIMESTAMP,
    Digest,
    RunId,
)
from specledger.evidence.recordings import log_digests, recordings_of
from specledger.evidence.timestamp import MAX_TIMESTAMP, InvalidTimestamp, read_timestamp

E_SEAL_BUNDLE = code("E_SEAL_BUNDLE", "there is no bundle that can be sealed")
E_SEAL_OTHER = code("E_SEAL_OTHER", "what is attached to the bundle covers something else")
E_TIMESTAMP = code("E_TIMESTAMP", "the time stamp is not one of this bundle")


class _Entry(Struct):
    path: Annotated[str, Meta(pattern=rf"^{PATH.pattern}\Z")]
    sha256: Digest


class _Receipts(Struct):
    count: int
    head: Digest
    root: Digest


class _Result(Struct):
    verdict: str


class _Manifest(Struct):
    """What is used of a manifest here."""

    format: Literal["specledger/bundle/v1"]
    run: RunId
    specs: Digest
    receipts: _Receipts
    result: _Result
    files: list[_Entry]


class Seal(Struct, frozen=True):
    """The signatures, if there is a key, and time stamp that seal a bundle; `{run}` in `origin` is the run's id."""

    key: SigningKey | None = None
    origin: str = ORIGIN
    timestamp: bytes | None = None

    @property
    def shared(self) -> bool:
        """Whether it serves several bundles."""
        return self.timestamp is None and (self.key is None or RUN in self.origin)

    def attach(self, folder: Path) -> None:
        """Write what covers a bundle into its folder; what other keys signed stays.

        The digests and the guide are written in any case.

        Raises:
            Rejected: E_ORIGIN, E_SEAL_BUNDLE, E_SEAL_OTHER, E_TIMESTAMP.
            OSError: Something cannot be read or written.
        """
        data, manifest = _manifest(folder)
        listed = listed_files(folder)
        files: dict[str, bytes] = {}
        if self.timestamp is not None:
            _check_timestamp(self.timestamp, sha256_raw(data))
            files[TIMESTAMP] = self.timestamp
        if self.key is not None:
            files[CHECKPOINT] = _checkpoint(folder, manifest, self.key, self.origin)
            files[ATTESTATION] = _envelope(folder, ATTESTATION, attestation(manifest, log_digests(listed)), self.key)
            files[PROVENANCE] = _envelope(folder, PROVENANCE, provenance(manifest), self.key)
        for name in (SUMS, GUIDE):  # removed first, so that an interrupted seal leaves nothing wrong
            if os.path.lexists(folder / name):
                disk.SYSTEM.remove(folder / name)
                disk.SYSTEM.sync_folder(folder)
        for name, content in files.items():
            _write(folder / name, content)
        present = frozenset(name for name in ATTACHED if os.path.lexists(folder / name))
        _write(
            folder / GUIDE,
            guide(manifest, sha256_hex(data), present, listed, sorted({*recordings_of(folder, listed).values()})),
        )
        _write(folder / SUMS, sums(folder, listed))


UNSIGNED: Final = Seal()


def seal_bundle(folder: Path, seal: Seal) -> None:
    """Cover a bundle that is there already."""
    try:
        seal.attach(folder)
    except OSError as error:
        raise _no_bundle(folder, error.strerror or "operating system error") from None


def read_timestamp_file(path: Path) -> bytes:
    """The response in a file, which has the form of one."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_TIMESTAMP + 1)
        read_timestamp(data)
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror or 'operating system error'}"
        raise Rejected([Diagnostic(E_TIMESTAMP, message)]) from None
    except InvalidTimestamp as error:
        raise Rejected([Diagnostic(E_TIMESTAMP, f"{path} is no time stamp: {error}")]) from None
    return data


def listed_files(folder: Path) -> dict[str, str]:
    """By their paths the digests of what the manifest of a bundle lists, and those of the bundles in it.

    Raises:
        Rejected: E_SEAL_BUNDLE.
        OSError: Something cannot be read.
    """
    listed: dict[str, str] = {}
    inside = [""]
    for prefix in inside:
        for entry in _manifest(folder / prefix)[1]["files"]:
            path = f"{prefix}{entry['path']}"
            listed[path] = entry["sha256"]
            if path.endswith(f"/{MANIFEST}"):
                inside.append(path.removesuffix(MANIFEST))
    return listed


def sums(folder: Path, listed: Mapping[str, str]) -> bytes:
    """The digests of all files of a bundle, those of the bundles in it included, as `sha256sum -c` reads them.

    The digests of what a manifest lists are those of the manifest; the others are made here.

    Raises:
        OSError: Something cannot be read.
    """
    digests = {name: file_digest(folder / name) for name in ATTACHED if name != SUMS and (folder / name).exists()}
    digests |= {MANIFEST: file_digest(folder / MANIFEST), **listed}
    return "".join(f"{digests[path]}  {path}\n" for path in sorted(digests)).encode()


def _manifest(folder: Path) -> tuple[bytes, Mapping[str, Any]]:
    """The manifest of a bundle: its bytes, and what they say."""
    with (folder / MANIFEST).open("rb") as file:
        data = file.read(MAX_MANIFEST + 1)
    try:
        document = parse_canonical(data.removesuffix(b"\n"), limit=MAX_MANIFEST)
        form = convert(document, _Manifest)
    except (NotCanonical, ValidationError) as error:
        raise _no_bundle(folder / MANIFEST, f"it is no manifest of the format {FORMAT}: {error}") from None
    if not data.endswith(b"\n") or SPECS not in [entry.path for entry in form.files]:
        raise _no_bundle(folder / MANIFEST, f"it is no manifest of the format {FORMAT}")
    return data, cast(Mapping[str, Any], document)


def _checkpoint(folder: Path, manifest: Mapping[str, Any], key: SigningKey, pattern: str) -> bytes:
    """The checkpoint with the signature of a key."""
    receipts = manifest["receipts"]
    origin = origin_of(pattern, manifest["run"])
    text = note_text(origin, receipts["count"], bytes.fromhex(receipts["root"]))
    own = NoteSignature(origin, key_hash(origin, key.public), key.sign(text))
    before: tuple[NoteSignature, ...] = ()
    if os.path.lexists(folder / CHECKPOINT):
        try:
            note = read_note((folder / CHECKPOINT).read_bytes())
        except InvalidNote as error:
            raise _other(CHECKPOINT, str(error)) from None
        if note_text(origin, note.size, note.root) != text:
            raise _other(CHECKPOINT, "it is one of other receipts")
        if note.origin != origin:
            hint = f"--origin {shlex.quote(note.origin)}"
            raise _other(CHECKPOINT, f"it is one of {note.origin}, not of {origin}", hint)
        before = note.signatures
    return sign_note(
        text, [*(signature for signature in before if (signature.name, signature.hint) != (own.name, own.hint)), own]
    )


def _envelope(folder: Path, name: str, payload: bytes, key: SigningKey) -> bytes:
    """An envelope with the signature of a key."""
    envelope = Envelope(payload, ())
    if os.path.lexists(folder / name):
        try:
            envelope = read_envelope((folder / name).read_bytes())
        except InvalidEnvelope as error:
            raise _other(name, str(error)) from None
        if envelope.payload != payload:
            raise _other(name, "it is about another manifest")
    own = Signature(key.id, key.sign(envelope.signed))
    return write_envelope(payload, [*(signature for signature in envelope.signatures if signature.key != own.key), own])


def _check_timestamp(data: bytes, digest: bytes) -> None:
    """Check that a response is over a digest."""
    try:
        imprint = read_timestamp(data).imprint
    except InvalidTimestamp as error:
        raise Rejected([Diagnostic(E_TIMESTAMP, f"that is no time stamp: {error}")]) from None
    if imprint != digest:
        message = "the time stamp is over another digest than the manifest's"
        raise Rejected([Diagnostic(E_TIMESTAMP, message, expected=digest.hex(), found=imprint.hex())])


def _write(path: Path, data: bytes) -> None:
    """Replace a file as a whole; a killed process leaves its partial file beside the bundle."""
    beside = path.parent.parent / f".{path.parent.name}.{path.name}.{os.getpid()}"
    disk.replace_file(path, data, beside)


def _no_bundle(path: Path, why: str) -> Rejected:
    return Rejected([Diagnostic(E_SEAL_BUNDLE, f"{path} cannot be sealed: {why}")])


def _other(name: str, why: str, hint: str | None = None) -> Rejected:
    return Rejected([Diagnostic(E_SEAL_OTHER, f"{name} is there already: {why}", hint=hint)])
