"""What refuted evidence claims, and what of it was signed.

A failed check ends a verification. What the manifest says and what the signatures are over can be read all the same:
none of it is established, and a reader needs both to tell a change after signing from a bundle that never held.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, ValidationError, convert

from specledger.core.canonical import NotCanonical, parse_canonical
from specledger.core.diagnostics import Rejected
from specledger.core.digest import sha256_hex
from specledger.core.verdict import Verdict
from specledger.evidence.envelope import MAX_ENVELOPE, Envelope, InvalidEnvelope, read_envelope
from specledger.evidence.layout import ATTESTATION, MANIFEST, MAX_LINE, RECEIPTS, Digest, RunId
from specledger.verify.checks import E_FILES, Broken
from specledger.verify.manifest import MAX_MANIFEST, read_plain
from specledger.verify.signed import envelope_signers
from specledger.verify.trust import Trust


class _Result(Struct):
    verdict: Verdict


class _Recording(Struct):
    digest: Digest


class _Start(Struct):
    recording: _Recording


class _First(Struct):
    """Of the first receipt which logs were judged."""

    body: _Start


class _Claims(Struct):
    """Of a manifest what it claims; the rest of it can have any form."""

    run: RunId
    specs: Digest
    result: _Result


class _Digests(Struct):
    sha256: Digest


class _Subject(Struct):
    digest: _Digests


class _Outcome(Struct):
    result: Literal["PASSED", "WARNED", "FAILED"]


class _Statement(Struct):
    """Of the statement in `attestation.dsse.json` what it is about and what it says."""

    subject: Annotated[list[_Subject], Meta(min_length=1, max_length=1)]
    predicate: _Outcome


def claims_of(folder: Path) -> dict[str, Any] | None:
    """What the manifest in a folder claims; None where it cannot be read."""
    data = _read(folder / MANIFEST, MAX_MANIFEST)
    try:
        claims = convert(parse_canonical(data.removesuffix(b"\n"), limit=MAX_MANIFEST), _Claims)
    except (NotCanonical, ValidationError):
        return None
    named = {"verdict": claims.result.verdict.value, "run": claims.run, "specs": claims.specs}
    return {**named, **_claimed_logs(folder)}


def _claimed_logs(folder: Path) -> dict[str, Any]:
    """The recording that the first receipt claims; nothing where it claims none."""
    path = folder / RECEIPTS
    try:
        if path.is_symlink() or not path.is_file():
            return {}
        with path.open("rb") as lines:
            first = lines.readline(MAX_LINE)
        receipt = convert(parse_canonical(first.removesuffix(b"\n"), limit=MAX_LINE), _First)
    except (NotCanonical, OSError, ValidationError):
        return {}
    return {"recording": [receipt.body.recording.digest]}


def signed_words(folder: Path, trust: Trust | None) -> str | None:
    """What was signed, in words; None where the bundle has no attestation that can be read."""
    try:
        envelope = read_envelope(_read(folder / ATTESTATION, MAX_ENVELOPE))
        payload = parse_canonical(envelope.payload, limit=MAX_ENVELOPE)
        statement = convert(payload, _Statement)
    except (InvalidEnvelope, NotCanonical, ValidationError):
        return None
    digest = statement.subject[0].digest.sha256
    same = digest == sha256_hex(_read(folder / MANIFEST, MAX_MANIFEST))
    whose = f"{MANIFEST} as it is here" if same else f"another {MANIFEST} than the one here, with the SHA-256 {digest}"
    return f"{_by_whom(envelope, trust)} {whose} and the outcome {statement.predicate.result}"


def _by_whom(envelope: Envelope, trust: Trust | None) -> str:
    """Who signed, as far as the reader's keys tell."""
    if trust is None:
        return "not checked, since no trusted keys were given (--trust): the signatures claim to be over"
    try:
        own = envelope_signers(trust, ATTESTATION, envelope)
    except Broken as broken:
        return f"{broken.message}; it claims to be over"
    except Rejected as rejected:  # nothing here verifies signatures
        return f"not checked ({rejected.diagnostics[0].message}): the signatures claim to be over"
    if not own:
        return "none of your trusted keys signed it; the signatures claim to be over"
    few = "" if len(own) >= trust.threshold else f", {len(own)} of the {trust.threshold} that must,"
    return f"your trusted key {', '.join(sorted(own))}{few} signed"


def claimed(folder: Path, trust: Trust | None) -> Mapping[str, Any]:
    """The facts of refuted evidence: what it claims and what was signed, as far as either can be read."""
    facts = claims_of(folder) or {}
    signed = signed_words(folder, trust)
    return {**facts, **({} if signed is None else {"signed": signed})}


def _read(path: Path, limit: int) -> bytes:
    """The bytes of a plain file; empty where it cannot be read or is too large."""
    if path.is_symlink() or not path.is_file():
        return b""
    try:
        data = read_plain(path, limit, E_FILES)
    except (Broken, OSError):
        return b""
    return data if len(data) <= limit else b""
