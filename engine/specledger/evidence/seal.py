"""Sealing a bundle: signatures, a time stamp, digests and a guide, beside the manifest.

The manifest covers the files, the checkpoint the receipts, the two envelopes the manifest, so nothing covers itself. Of
a bundle that holds others only the outer one is sealed: its manifest has the digests of the inner manifests.
"""

from __future__ import annotations

import os
import re
import shlex
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, cast

from msgspec import Struct

from specledger.core.canonical import NotCanonical, parse_canonical
from specledger.core.diagnostics import Diagnostic, Rejected, code
from specledger.core.digest import file_digest, sha256_hex, sha256_raw
from specledger.evidence.archive import PATH, InvalidArchive, pack, unpack
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
from specledger.evidence.disk import write_file
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
    PROVENANCE,
    SPECS,
    SUMS,
    TIMESTAMP,
)
from specledger.evidence.timestamp import MAX_TIMESTAMP, InvalidTimestamp, read_timestamp

_RUN: Final = re.compile(r"[0-9a-f]{32}")
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")

E_SEAL_BUNDLE = code(
    "E_SEAL_BUNDLE",
    "there is no bundle that can be sealed",
    "A seal covers a manifest that this engine wrote, in a folder or a zip file. The manifest is missing, damaged or "
    "of another format, or the place cannot be written.",
)
E_SEAL_OTHER = code(
    "E_SEAL_OTHER",
    "what is attached to the bundle covers something else",
    "A further key signs the same statements and the same checkpoint, origin included, as those before it. An envelope "
    "or a checkpoint in the bundle is malformed, or says something else: name the same origin, or remove it.",
)
E_TIMESTAMP = code(
    "E_TIMESTAMP",
    "the time stamp is not one of this bundle",
    "A time stamp is the response of an authority (RFC 3161, DER) over the SHA-256 digest of manifest.json. The same "
    "specs give the same manifest, so it can be asked for after a run and attached by `spec seal` or the next run.",
)


class Seal(Struct, frozen=True):
    """The signatures and time stamp that a bundle is sealed with.

    Attributes:
        key: The key that signs; None where nothing is signed.
        origin: The origin of the checkpoint, where `{run}` is replaced by the run's identifier.
        timestamp: The response of a time-stamping authority, if there is one.
    """

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
        files: dict[str, bytes] = {}
        if self.timestamp is not None:
            _check_timestamp(self.timestamp, sha256_raw(data))
            files[TIMESTAMP] = self.timestamp
        if self.key is not None:
            files[CHECKPOINT] = _checkpoint(folder, manifest, self.key, self.origin)
            files[ATTESTATION] = _envelope(folder, ATTESTATION, attestation(manifest), self.key)
            files[PROVENANCE] = _envelope(folder, PROVENANCE, provenance(manifest), self.key)
        for name in (SUMS, GUIDE):  # removed first, so that an interrupted seal leaves nothing wrong
            (folder / name).unlink(missing_ok=True)
        for name, content in files.items():
            _write(folder / name, content)
        present = frozenset(name for name in ATTACHED if os.path.lexists(folder / name))
        _write(folder / GUIDE, guide(manifest, sha256_hex(data), present))
        _write(folder / SUMS, sums(folder))


UNSIGNED: Final = Seal()


def seal_bundle(place: Path, seal: Seal) -> None:
    """Cover a bundle that is there already, a folder or a zip file.

    Raises:
        Rejected: As `Seal.attach`; E_SEAL_BUNDLE also if the place cannot be read or written.
    """
    try:
        if not place.is_file():
            seal.attach(place)
            return
        with tempfile.TemporaryDirectory(prefix=f".{place.name}.", dir=place.parent) as work:
            folder, packed = Path(work, "bundle"), Path(work, "packed")
            unpack(place, folder)
            seal.attach(folder)
            pack(folder, packed)
            packed.replace(place)
    except InvalidArchive as error:
        raise _no_bundle(place, str(error)) from None
    except OSError as error:
        raise _no_bundle(place, error.strerror or "operating system error") from None


def read_timestamp_file(path: Path) -> bytes:
    """The response in a file, which has the form of one.

    Raises:
        Rejected: E_TIMESTAMP.
    """
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


def sums(folder: Path) -> bytes:
    """The digests of all files of a bundle, those of the bundles in it included, as `sha256sum -c` reads them.

    The digests of what a manifest lists are those of the manifest; the others are made here.

    Raises:
        Rejected: E_SEAL_BUNDLE.
        OSError: Something cannot be read.
    """
    found = {name: file_digest(folder / name) for name in ATTACHED if name != SUMS and (folder / name).exists()}
    found[MANIFEST] = file_digest(folder / MANIFEST)
    inside = [""]
    for prefix in inside:
        for entry in _manifest(folder / prefix)[1]["files"]:
            path = f"{prefix}{entry['path']}"
            found[path] = entry["sha256"]
            if path.endswith(f"/{MANIFEST}"):
                inside.append(path.removesuffix(MANIFEST))
    return "".join(f"{found[path]}  {path}\n" for path in sorted(found)).encode()


def _manifest(folder: Path) -> tuple[bytes, Mapping[str, Any]]:
    """The manifest of a bundle: its bytes, and what they say."""
    with (folder / MANIFEST).open("rb") as file:
        data = file.read(MAX_MANIFEST + 1)
    try:
        document = parse_canonical(data.removesuffix(b"\n"), limit=MAX_MANIFEST)
    except NotCanonical as error:
        raise _no_bundle(folder / MANIFEST, str(error)) from None
    if not data.endswith(b"\n") or not _shaped(document):
        raise _no_bundle(folder / MANIFEST, f"it is no manifest of the format {FORMAT}")
    return data, cast(Mapping[str, Any], document)


def _shaped(manifest: object) -> bool:
    """Whether what is used of a manifest here has the form that it must: digests, a number, and paths."""
    match manifest:
        case {
            "format": "specledger/bundle/v1",
            "run": str(run),
            "specs": str(specs),
            "receipts": {"count": int(), "head": str(head), "root": str(root)},
            "result": {"verdict": str()},
            "files": [*files],
        }:
            return (
                bool(_RUN.fullmatch(run))
                and all(_DIGEST.fullmatch(one) for one in (specs, head, root))
                and (SPECS in [one["path"] for one in files if _listed(one)] and all(map(_listed, files)))
            )
    return False


def _listed(entry: object) -> bool:
    match entry:
        case {"path": str(path), "sha256": str(digest)}:
            return bool(PATH.fullmatch(path) and _DIGEST.fullmatch(digest))
    return False


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
    return sign_note(text, [*(one for one in before if (one.name, one.hint) != (own.name, own.hint)), own])


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
    return write_envelope(payload, [*(one for one in envelope.signatures if one.key != own.key), own])


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
    write_file(beside, data)
    beside.replace(path)


def _no_bundle(place: Path, why: str) -> Rejected:
    return Rejected([Diagnostic(E_SEAL_BUNDLE, f"{place} cannot be sealed: {why}")])


def _other(name: str, why: str, hint: str | None = None) -> Rejected:
    return Rejected([Diagnostic(E_SEAL_OTHER, f"{name} is there already: {why}", hint=hint)])
