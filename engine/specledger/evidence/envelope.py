"""DSSE envelopes: an in-toto Statement about a bundle, with the signatures of one or more keys.

An envelope is canonical JSON with a newline: `{"payload", "payloadType", "signatures": [{"keyid", "sig"}]}`, nothing
else. Its type is that of in-toto Statements, its base64 the standard alphabet with padding, a key id the SHA-256 of the
raw public key. No key signs twice. The signed bytes are the pre-authentication encoding, so a payload cannot be taken
for one of another type.

Both statements follow from the manifest, so a verifier makes them again and compares:

- `attestation`: the manifest is the subject, by SHA-256 of the file; `specs.json` is the configuration, and so are the
  logs that were judged. PASS is called `PASSED`, or `WARNED` if the result has warnings; INCONCLUSIVE is `WARNED`, and
  FAIL and ERROR are `FAILED`.
- `provenance`: the same subject for `trestle verify`. Its digest is over the canonical JSON of the manifest, which is
  the file without its final newline.

Source: DSSE 1.0.2 (github.com/secure-systems-lab/dsse, envelope.md and protocol.md); in-toto Attestation Framework,
Statement v1 and predicate test-result v0.1; compliance-trestle 5.2, `trestle sign`.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Literal

from msgspec import Meta, Struct, ValidationError, convert

from specledger.core.canonical import NotCanonical, canonical_bytes, parse_canonical
from specledger.core.digest import sha256_hex
from specledger.core.verdict import Verdict
from specledger.evidence.layout import MANIFEST, SPECS, TRAJECTORIES, Digest

STATEMENT: Final = "https://in-toto.io/Statement/v1"
TEST_RESULT: Final = "https://in-toto.io/attestation/test-result/v0.1"
OSCAL_SIGNING: Final = "https://oscal-compass.github.io/compliance-trestle/predicates/oscal-signing/v1"
PAYLOAD_TYPE: Final = "application/vnd.in-toto+json"
MOST_SIGNATURES: Final = 16
MAX_ENVELOPE: Final = 1_048_576
"""Bytes of an envelope at most, its newline included."""
SIGNATURE_SIZE: Final = 64
"""Bytes of an Ed25519 signature."""


class InvalidEnvelope(ValueError):  # noqa: N818 - says what the bytes are, not that the engine failed
    """The bytes are no envelope in the form of this module; the text says why."""


class _Signature(Struct, forbid_unknown_fields=True):
    keyid: Digest
    sig: str


class _Envelope(Struct, forbid_unknown_fields=True):
    payload: str
    payloadType: Literal["application/vnd.in-toto+json"]  # noqa: N815 - as the source calls it
    signatures: Annotated[list[_Signature], Meta(min_length=1, max_length=MOST_SIGNATURES)]


class Signature(Struct, frozen=True):
    """A signature, 64 bytes, and the id of its key: SHA-256 of the raw public key, in hexadecimal digits."""

    key: str
    raw: bytes


class Envelope(Struct, frozen=True):
    """What an envelope holds."""

    payload: bytes
    signatures: tuple[Signature, ...]

    @property
    def signed(self) -> bytes:
        """The bytes that the signatures are over."""
        return pae(PAYLOAD_TYPE, self.payload)


def pae(type: str, payload: bytes) -> bytes:  # noqa: A002 - as the source calls it
    """The pre-authentication encoding: `DSSEv1 LEN(type) type LEN(payload) payload`, lengths in decimal bytes."""
    named = type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(named), named, len(payload), payload)


def write_envelope(payload: bytes, signatures: Sequence[Signature]) -> bytes:
    """The file of an envelope; the order of the signatures does not matter."""
    ordered = sorted(signatures, key=lambda signature: signature.key)
    document = {
        "payload": to_base64(payload),
        "payloadType": PAYLOAD_TYPE,
        "signatures": [{"keyid": signature.key, "sig": to_base64(signature.raw)} for signature in ordered],
    }
    return canonical_bytes(document) + b"\n"


def read_envelope(data: bytes) -> Envelope:
    """Read the file of an envelope; no signature is verified.

    Raises:
        InvalidEnvelope: It is too large, not in canonical form, or has other fields, types or lengths than it must.
    """
    if not data.endswith(b"\n"):
        raise InvalidEnvelope("it does not end with a newline")
    try:
        document = parse_canonical(data[:-1], limit=MAX_ENVELOPE - 1)
    except NotCanonical as error:
        raise InvalidEnvelope(str(error)) from None
    try:
        form = convert(document, _Envelope)
    except ValidationError as error:
        raise InvalidEnvelope(str(error)) from None
    signatures = tuple(
        Signature(signature.keyid, _decoded(signature.sig, "a signature")) for signature in form.signatures
    )
    if any(len(signature.raw) != SIGNATURE_SIZE for signature in signatures):
        raise InvalidEnvelope(f"a signature has {SIGNATURE_SIZE} bytes")
    keys = [signature.key for signature in signatures]
    if keys != sorted(set(keys)):
        raise InvalidEnvelope("its signatures are those of different keys, in the order of their ids")
    return Envelope(_decoded(form.payload, "the payload"), signatures)


def _decoded(text: str, what: str) -> bytes:
    try:
        return from_base64(text)
    except ValueError as error:
        raise InvalidEnvelope(f"{what} {error}") from None


def to_base64(data: bytes) -> str:
    """Standard base64 with padding (RFC 4648, section 4)."""
    return base64.b64encode(data).decode()


def from_base64(text: Any) -> bytes:
    """The bytes of a text that is their one standard base64.

    Raises:
        ValueError: It is no text, has other characters, no padding, or unused bits that are set.
    """
    try:
        data = base64.b64decode(text, validate=True) if isinstance(text, str) else None
    except (ValueError, binascii.Error):
        data = None
    if data is None or to_base64(data) != text:
        raise ValueError("is not standard base64 with padding")
    return data


def attestation(manifest: Mapping[str, Any], logs: Sequence[str]) -> bytes:
    """The payload of `attestation.dsse.json`; `logs` are the digests of the files of what was recorded."""
    specs = next(entry["sha256"] for entry in manifest["files"] if entry["path"] == SPECS)
    judged = [(SPECS, specs), *((TRAJECTORIES, digest) for digest in logs)]
    predicate = {
        "configuration": [{"digest": {"sha256": digest}, "name": name} for name, digest in judged],
        "result": outcome(manifest["result"]),
    }
    return _statement(canonical_bytes(manifest) + b"\n", TEST_RESULT, predicate)


def provenance(manifest: Mapping[str, Any]) -> bytes:
    """The payload of `manifest.json.dsse.json`."""
    predicate = {
        "canonicalization": "RFC8785",
        "digestAlgorithm": "sha256",
        "digestSource": "canonical-json",
        "tool": "specledger",
    }
    return _statement(canonical_bytes(manifest), OSCAL_SIGNING, predicate)


def outcome(result: Mapping[str, Any]) -> str:
    """What the predicate calls the result of a run: PASSED, WARNED or FAILED."""
    if result["verdict"] in (Verdict.FAIL, Verdict.ERROR):
        return "FAILED"
    return "WARNED" if result["verdict"] == Verdict.INCONCLUSIVE or result.get("warnings") else "PASSED"


def _statement(subject: bytes, type_: str, predicate: Mapping[str, Any]) -> bytes:
    return canonical_bytes(
        {
            "_type": STATEMENT,
            "predicate": dict(predicate),
            "predicateType": type_,
            "subject": [{"digest": {"sha256": sha256_hex(subject)}, "name": MANIFEST}],
        }
    )
