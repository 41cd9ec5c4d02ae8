"""The detached files of a bundle: checkpoint, two envelopes, time stamp, digests and guide.

What they say follows from the manifest, so it is made again and compared. Only signatures of keys that the reader
trusts count, each key once; a key inside a bundle is never used.

Source: DSSE 1.0.2, protocol; C2SP tlog-checkpoint and signed-note; RFC 3161.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from specledger.core.diagnostics import Rejected, code
from specledger.core.digest import sha256_hex, sha256_raw
from specledger.evidence.checkpoint import MAX_NOTE, InvalidNote, Note, key_hash, read_note
from specledger.evidence.envelope import MAX_ENVELOPE, Envelope, InvalidEnvelope, attestation, provenance, read_envelope
from specledger.evidence.guide import guide
from specledger.evidence.keys import verify
from specledger.evidence.layout import (
    ATTESTATION,
    CHECKPOINT,
    ENGINE,
    GUIDE,
    MANIFEST,
    PROVENANCE,
    SUMS,
    TIMESTAMP,
)
from specledger.evidence.recordings import log_digests, recordings_of
from specledger.evidence.seal import E_TIMESTAMP, listed_files, sums
from specledger.evidence.timestamp import MAX_TIMESTAMP, InvalidTimestamp, read_timestamp
from specledger.verify.checks import E_FILES, Broken, Lacking
from specledger.verify.manifest import MAX_MANIFEST, read_plain
from specledger.verify.programs import program_words
from specledger.verify.timestamps import Authorities, check_stamp
from specledger.verify.trust import Trust

E_CHECKPOINT = code("E_CHECKPOINT", "the checkpoint is not one of these receipts")
E_ENVELOPE = code("E_ENVELOPE", "an envelope is malformed or about something else")
E_SIGNATURE = code("E_SIGNATURE", "a signature of a trusted key is wrong")
E_UNSIGNED = code("E_UNSIGNED", "the evidence is not signed")
E_UNTRUSTED = code("E_UNTRUSTED", "too few keys that you trust have signed")
E_EXPECTED = code("E_EXPECTED", "the evidence is not the one that you expect")
E_DIGESTS = code("E_DIGESTS", "what is written for people does not fit the bundle")

SIGNED: Final = (CHECKPOINT, ATTESTATION, PROVENANCE)
"""The files of a signed bundle; it has all of them."""


NO_LOGS: Final = "none, since the bundle holds no trajectories.jsonl"
"""What stands for the recording of evidence that judges no logs."""


WHICH_RUN: Final = "which run judged which recording is not compared"
"""What a trust file does not bind of a suite that judges several recordings."""


class Seals(Struct, frozen=True):
    """The detached files of a bundle, which refer to its manifest; no signature was verified, nor that of the stamp."""

    note: Note | None
    envelopes: Mapping[str, Envelope]
    time: str | None
    stamp: bytes = b""


def check_seals(folder: Path, manifest: Mapping[str, Any], covers: tuple[str, ...]) -> Seals:
    """Check that everything beside the manifest is about it; no signature is verified."""
    signed = [name for name in SIGNED if name in covers]
    if signed and len(signed) < len(SIGNED):
        missing = next(name for name in SIGNED if name not in covers)
        raise Broken(E_FILES, f"{missing} is missing: a signed bundle holds {', '.join(SIGNED)}")
    note = _note(folder, manifest) if signed else None
    listed = _listed(folder) if covers else {}
    envelopes: dict[str, Envelope] = {}
    if signed:
        payloads = {ATTESTATION: attestation(manifest, log_digests(listed)), PROVENANCE: provenance(manifest)}
        envelopes = {name: _envelope(folder / name, payload) for name, payload in payloads.items()}
    time, stamp = _timestamp(folder) if TIMESTAMP in covers else (None, b"")
    _check_help(folder, manifest, covers, listed)
    return Seals(note, envelopes, time, stamp)


def _listed(folder: Path) -> Mapping[str, str]:
    try:
        return listed_files(folder)
    except Rejected as rejected:  # of a bundle inside
        raise Broken(E_DIGESTS, rejected.diagnostics[0].message) from None


def _note(folder: Path, manifest: Mapping[str, Any]) -> Note:
    try:
        note = read_note(read_plain(folder / CHECKPOINT, MAX_NOTE, E_CHECKPOINT))
    except InvalidNote as error:
        raise Broken(E_CHECKPOINT, f"it is no checkpoint: {error}") from None
    head = manifest["receipts"]
    if (note.size, note.root.hex()) != (head["count"], head["root"]):
        actual, stated = f"{head['count']} receipts, root {head['root']}", f"{note.size}, root {note.root.hex()}"
        raise Broken(E_CHECKPOINT, f"the checkpoint states {stated}; there are {actual}")
    return note


def _envelope(path: Path, payload: bytes) -> Envelope:
    try:
        envelope = read_envelope(read_plain(path, MAX_ENVELOPE, E_ENVELOPE))
    except InvalidEnvelope as error:
        raise Broken(E_ENVELOPE, f"{path.name}: {error}") from None
    if envelope.payload != payload:
        raise Broken(E_ENVELOPE, f"{path.name} is not the statement about this manifest")
    return envelope


def _timestamp(folder: Path) -> tuple[str, bytes]:
    """The time of the stamp, and its bytes."""
    data = read_plain(folder / TIMESTAMP, MAX_TIMESTAMP, E_TIMESTAMP)
    try:
        stamp = read_timestamp(data)
    except InvalidTimestamp as error:
        raise Broken(E_TIMESTAMP, f"it is no time stamp: {error}") from None
    if stamp.imprint != sha256_raw(read_plain(folder / MANIFEST, MAX_MANIFEST + 1, E_TIMESTAMP)):
        raise Broken(E_TIMESTAMP, "the time stamp is over another digest than that of manifest.json")
    return stamp.time, data


def check_time(authorities: Authorities | None, folder: Path, seals: Seals) -> str:
    """Check that an authority which the reader trusts signed the time stamp.

    Raises:
        Broken, Lacking, Rejected: As `check_stamp`; Lacking too if there is no stamp, or the reader names no authority.
    """
    if seals.time is None:
        raise Lacking("the evidence holds no time stamp")
    if authorities is None:
        message = f"the time stamp over this manifest says {seals.time}, but no trusted authority was given (--tsa)"
        raise Lacking(message)
    imprint = sha256_raw(read_plain(folder / MANIFEST, MAX_MANIFEST + 1, E_TIMESTAMP))
    return f"{seals.time} by {check_stamp(seals.stamp, imprint, authorities)}"


def absent_help(covers: tuple[str, ...]) -> list[str]:
    """The files for readers that are not in the bundle; nobody signs them, so their absence refutes nothing."""
    return [
        f"{name}: every bundle is written with it, and it is not there" for name in (SUMS, GUIDE) if name not in covers
    ]


def _check_help(folder: Path, manifest: Mapping[str, Any], covers: tuple[str, ...], listed: Mapping[str, str]) -> None:
    """Check that digests and guide follow from the bundle; another version writes another guide."""
    wanted = sums(folder, listed) if SUMS in covers else b""
    if SUMS in covers and read_plain(folder / SUMS, len(wanted), E_DIGESTS) != wanted:
        raise Broken(E_DIGESTS, f"{SUMS} is not that of these files")
    if GUIDE in covers and manifest["engine"] == ENGINE:
        digest = sha256_hex(read_plain(folder / MANIFEST, MAX_MANIFEST + 1, E_DIGESTS))
        text = guide(manifest, digest, frozenset(covers), listed, sorted({*recordings_of(folder, listed).values()}))
        if read_plain(folder / GUIDE, len(text), E_DIGESTS) != text:
            raise Broken(E_DIGESTS, f"{GUIDE} is not that of this bundle")


def check_expected(trust: Trust, recorded: Mapping[str, Any], seals: Seals) -> str:
    """Check that the evidence is the one that the reader expects; digests are told whole, since a reader compares."""
    run, recordings, programs = recorded["run"], recorded.get("recording", []), recorded.get("program", [])
    compared = [("run", run, trust.run), ("specs' digest", recorded["specs"], trust.specs)]
    if recordings or trust.recording is not None:
        judged = recorded.get("recordings", {}) if isinstance(trust.recording, Mapping) else recordings
        expected_logs = None if trust.recording is None else recording_words(trust.recording)
        compared.append(("recording", recording_words(judged) or NO_LOGS, expected_logs))
    if programs or trust.program is not None:
        wanted = None if trust.program is None else program_words(trust.program)
        compared.append(("program", program_words(programs), wanted))
    if seals.note is not None:
        compared.append(("origin", seals.note.origin, trust.origin_for(run)))
    for name, actual, expected in compared:
        if expected is not None and actual != expected:
            raise Broken(E_EXPECTED, f"the {name} is {actual}, expected is {expected}")
    bound = ", ".join(f"{name} {actual}" for name, actual, expected in compared if expected is not None)
    free = [name for name, _, expected in compared if expected is None]
    bound += f"; {WHICH_RUN}" if isinstance(trust.recording, Sequence) and len(recordings) > 1 else ""
    return f"{bound}; {' and '.join(free)} can be any, since the trust file names none" if free else bound


def recording_words(recordings: Sequence[str] | Mapping[str, str]) -> str:
    """Digests of recordings, by the names of runs where those are known."""
    if isinstance(recordings, Mapping):
        return ", ".join(f"{run} {digest}" for run, digest in sorted(recordings.items()))
    return ", ".join(recordings)


def check_signatures(trust: Trust, seals: Seals) -> str:
    """Check that enough keys which the reader trusts have signed the checkpoint and both envelopes.

    Raises:
        Broken: E_SIGNATURE, if a signature that names a trusted key is not that key's.
        Lacking: E_UNSIGNED or E_UNTRUSTED.
        Rejected: E_KEY_PACKAGE, if signatures cannot be verified here.
    """
    if seals.note is None:
        raise Lacking("nobody signed: the bundle holds no signatures", E_UNSIGNED)
    signers = {CHECKPOINT: note_signers(trust, seals.note)}
    signers |= {name: envelope_signers(trust, name, envelope) for name, envelope in seals.envelopes.items()}
    both = frozenset[str].intersection(*signers.values())
    if len(both) < trust.threshold:
        counts = ", ".join(f"{len(keys)} signed {name}" for name, keys in signers.items())
        message = f"of your {len(trust.keys)} trusted keys {counts}, {len(both)} all of it; {trust.threshold} must"
        raise Lacking(message, E_UNTRUSTED)
    return f"signed by {', '.join(sorted(both))} in the name {seals.note.origin}"


def note_signers(trust: Trust, note: Note) -> frozenset[str]:
    """The trusted keys that signed a checkpoint."""
    signers = set()
    for id_, public in trust.keys.items():
        own = [
            candidate
            for candidate in note.signatures
            if (candidate.name, candidate.hint) == (note.origin, key_hash(note.origin, public))
        ]
        for signature in own:
            if not verify(public, signature.raw, note.signed):
                raise Broken(E_SIGNATURE, f"{CHECKPOINT}: the signature of the trusted key {id_} is wrong")
            signers.add(id_)
    return frozenset(signers)


def envelope_signers(trust: Trust, name: str, envelope: Envelope) -> frozenset[str]:
    """The trusted keys that signed an envelope."""
    signers = set()
    for signature in envelope.signatures:
        public = trust.keys.get(signature.key)
        if public is None:
            continue
        if not verify(public, signature.raw, envelope.signed):
            raise Broken(E_SIGNATURE, f"{name}: the signature of the trusted key {signature.key} is wrong")
        signers.add(signature.key)
    return frozenset(signers)
