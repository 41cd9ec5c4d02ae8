"""Faults of what covers a manifest.

Each line is a case; `Case` says what the columns are.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from tools.tampering.case import TRUST, Case, Change, nothing, nothing_signed, resign
from tools.tampering.faults_chain import swap
from tools.tampering.faults_form import added
from tools.tampering.faults_reader import trusting
from tools.tampering.forger import COVERS, sha256
from tools.tampering.signer import ONE, ORDER, STRANGER, TWO, Signer, b64, pae

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


def signature(**changes: Any) -> Change:
    """Fields of the one signature of an envelope say something else."""

    def change(f: Signer) -> None:
        payload = f.statement(ATTESTATION)
        ((key, raw),) = f.signed(payload)
        f.envelope(ATTESTATION, payload, [], signatures=[{"keyid": key, "sig": b64(raw), **changes}])

    return change


def resaid(name: str = ATTESTATION, /, **changes: Any) -> Change:
    """An envelope holds another statement, which is signed rightly."""

    def change(f: Signer) -> None:
        payload = f.statement(name, **changes)
        f.envelope(name, payload, f.signed(payload))

    return change


def respelled(f: Signer) -> None:
    payload = f.statement(ATTESTATION).replace(b'":', b'": ', 1)
    f.envelope(ATTESTATION, payload, f.signed(payload))


def outcome(f: Signer) -> None:
    said = json.loads(f.statement(ATTESTATION))["predicate"] | {"result": "PASSED"}
    resaid(predicate=said)(f)


def exchanged_statements(f: Signer) -> None:
    one, other = f.read(ATTESTATION), f.read(PROVENANCE)
    f.write(ATTESTATION, other)
    f.write(PROVENANCE, one)


def malleable(raw: bytes) -> bytes:
    """The same signature with S + L in the place of S: another text that a lax verifier accepts."""
    return raw[:32] + (int.from_bytes(raw[32:], "little") + ORDER).to_bytes(32, "little")


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


def other_origin(f: Signer, text: bytes) -> bytes:
    return f.note_line(ONE, ONE.sign(text), "another.example/log")


def by(*keys: Any) -> Change:
    """Other keys sign everything."""

    def change(f: Signer) -> None:
        f.keys = keys
        f.sign()

    return change


def split(f: Signer) -> None:
    """One key signs the checkpoint, another one the envelopes."""
    f.keys = [TWO]
    f.sign()
    note(by_one)(f)


def of_another_run(name: str) -> Change:
    """A file that covers a bundle is that of another run, signed rightly."""

    def change(f: Signer) -> None:
        other = Signer(f.folder.parent / "other")
        other.sign()
        f.write(name, other.read(name))

    return change


SIGNATURES: Final = [
    Case("signature-of-another-key", "A signature under the id of the trusted key was made by another key.", "climb", signatures(lambda f, payload: [(ONE.id, STRANGER.sign(pae(payload)))]), nothing, "E_SIGNATURE", "L1"),
    Case("signature-of-another-key-twice", "The second envelope is signed by another key under the id of the trusted one.", "climb", signatures(lambda f, payload: [(ONE.id, STRANGER.sign(pae(payload)))], PROVENANCE), nothing, "E_SIGNATURE", "L1"),
    Case("signature-key-id", "A signature of the trusted key stands under the id of another key.", "climb", signatures(lambda f, payload: [(STRANGER.id, ONE.sign(pae(payload)))]), nothing, "E_UNTRUSTED", "L1", exit=3),
    Case("signature-of-strangers", "Nobody whom the reader trusts has signed.", "climb", by(STRANGER), nothing, "E_UNTRUSTED", "L1", exit=3),
    Case("signature-missing", "The bundle is not signed, and the reader trusts a key.", "climb", lambda f: None, nothing_signed, "E_UNSIGNED", "L1", exit=3),
    Case("signature-threshold", "One trusted key has signed, two must.", "climb", trusting(TRUST["two"]), resign, "E_UNTRUSTED", "L1", exit=3),
    Case("signature-threshold-split", "One trusted key has signed the checkpoint, another one the envelopes.", "climb", trusting(TRUST["either"], split), nothing, "E_UNTRUSTED", "L1", exit=3),
    Case("signature-threshold-one-key-twice", "A trusted key has signed an envelope twice, so that two signatures are there.", "climb", trusting(TRUST["two"], signatures(lambda f, payload: f.signed(payload) * 2)), nothing, "E_ENVELOPE"),
    Case("signature-malleable", "A signature has S + L in the place of S.", "climb", signatures(lambda f, payload: [(ONE.id, malleable(ONE.sign(pae(payload))))]), nothing, "E_SIGNATURE", "L1"),
    Case("signature-unencoded", "A signature is over the payload, not over its pre-authentication encoding.", "climb", signatures(lambda f, payload: [(ONE.id, ONE.sign(payload))]), nothing, "E_SIGNATURE", "L1"),
    Case("signature-other-type", "A signature is over the encoding with another payload type.", "climb", signatures(lambda f, payload: [(ONE.id, ONE.sign(pae(payload, "text/plain")))]), nothing, "E_SIGNATURE", "L1"),
    Case("signature-of-the-other-envelope", "A signature is the one of the other envelope.", "climb", signatures(lambda f, payload: [(ONE.id, ONE.sign(pae(f.statement(PROVENANCE))))]), nothing, "E_SIGNATURE", "L1"),
    Case("signature-short", "A signature has 63 bytes.", "climb", signatures(lambda f, payload: [(ONE.id, ONE.sign(pae(payload))[:63])]), nothing, "E_ENVELOPE"),
    Case("signature-empty", "An envelope has no signatures.", "climb", signatures(lambda f, payload: []), nothing, "E_ENVELOPE"),
    Case("signature-too-many", "An envelope has 17 signatures.", "climb", signatures(lambda f, payload: sorted((f"{at:064x}", ONE.sign(payload)) for at in range(17))), nothing, "E_ENVELOPE"),
    Case("signature-order", "The signatures of an envelope are not in the order of their ids.", "climb", signatures(lambda f, payload: sorted(((key.id, key.sign(pae(payload))) for key in (ONE, TWO)), reverse=True)), nothing, "E_ENVELOPE"),
    Case("signature-field", "A signature says more than it must.", "climb", signature(cert="x"), nothing, "E_ENVELOPE"),
    Case("signature-base64-url", "A signature is in the alphabet for URLs.", "climb", signature(sig="-_" * 43), nothing, "E_ENVELOPE"),
    Case("signature-base64-padding", "A signature has no padding.", "climb", lambda f: signature(sig=b64(ONE.sign(pae(f.statement(ATTESTATION)))).rstrip("="))(f), nothing, "E_ENVELOPE"),
    Case("signature-base64-bits", "The base64 of a signature has bits that stand for nothing.", "climb", lambda f: signature(sig=b64(ONE.sign(pae(f.statement(ATTESTATION))))[:-3] + "B==")(f), nothing, "E_ENVELOPE"),
    Case("signature-base64-break", "The base64 of a signature has a line break.", "climb", lambda f: signature(sig=b64(ONE.sign(pae(f.statement(ATTESTATION)))) + "\n")(f), nothing, "E_ENVELOPE"),
    Case("signature-upper-case-id", "A key id is written in upper case.", "climb", signature(keyid=ONE.id.upper()), nothing, "E_ENVELOPE"),
    Case("signature-id-null", "A key id is null.", "climb", signature(keyid=None), nothing, "E_ENVELOPE"),
    Case("envelope-type", "An envelope is of another payload type.", "climb", envelope(payloadType="text/plain"), nothing, "E_ENVELOPE"),
    Case("envelope-field", "An envelope says more than it must.", "climb", envelope(more=1), nothing, "E_ENVELOPE"),
    Case("envelope-key-twice", "A key stands twice in an envelope.", "climb", swap(ATTESTATION, b'{"payload":', b'{"payload":"","payload":'), nothing, "E_ENVELOPE"),
    Case("envelope-white-space", "There is a blank in an envelope.", "climb", swap(ATTESTATION, b'"payloadType":', b'"payloadType": '), nothing, "E_ENVELOPE"),
    Case("envelope-newline", "An envelope does not end with a newline.", "climb", lambda f: f.write(ATTESTATION, f.read(ATTESTATION)[:-1]), nothing, "E_ENVELOPE"),
    Case("envelope-signatures-null", "The signatures of an envelope are null.", "climb", envelope(signatures=None), nothing, "E_ENVELOPE"),
    Case("envelope-payload-base64", "The payload is not its one base64.", "climb", lambda f: envelope(payload=b64(f.statement(ATTESTATION)) + "====")(f), nothing, "E_ENVELOPE"),
    Case("envelope-outcome", "The statement says PASSED of a run that failed.", "stuck", outcome, nothing, "E_ENVELOPE"),
    Case("envelope-subject", "The statement is about another manifest.", "climb", resaid(subject=[{"digest": {"sha256": "ab" * 32}, "name": "manifest.json"}]), nothing, "E_ENVELOPE"),
    Case("envelope-second-subject", "The second statement is about another manifest.", "climb", resaid(PROVENANCE, subject=[{"digest": {"sha256": "ab" * 32}, "name": "manifest.json"}]), nothing, "E_ENVELOPE"),
    Case("envelope-subjects", "The statement is about two files.", "climb", lambda f: resaid(subject=[{"digest": {"sha256": "ab" * 32}, "name": "a"}, *json.loads(f.statement(ATTESTATION))["subject"]])(f), nothing, "E_ENVELOPE"),
    Case("envelope-predicate", "The statement is of another predicate type.", "climb", resaid(predicateType="https://example.org/other"), nothing, "E_ENVELOPE"),
    Case("envelope-statement-field", "The statement says more than it must.", "climb", resaid(more=1), nothing, "E_ENVELOPE"),
    Case("envelope-statement-spelling", "The statement is not in canonical form.", "climb", respelled, nothing, "E_ENVELOPE"),
    Case("envelope-exchanged", "The two envelopes stand in each other's place.", "climb", exchanged_statements, nothing, "E_ENVELOPE"),
    Case("envelope-of-another-run", "The statement is that of another run, signed rightly.", "climb", of_another_run(ATTESTATION), nothing, "E_ENVELOPE"),
    Case("envelope-missing", "A signed bundle has no attestation.", "climb", lambda f: f.remove(ATTESTATION), nothing, "E_FILES"),
    Case("envelope-second-missing", "A signed bundle has no second envelope.", "climb", lambda f: f.remove(PROVENANCE), nothing, "E_FILES"),
    Case("envelope-alone", "An attestation lies in a bundle without a checkpoint.", "climb", lambda f: (f.remove(NOTE), f.remove(PROVENANCE)), nothing, "E_FILES"),
]  # fmt: skip


def extended(f: Signer) -> None:
    text = f.note() + b"extension\n"
    f.write(NOTE, text + b"\n" + by_one(f, text))


CHECKPOINTS: Final = [
    Case("checkpoint-missing", "A signed bundle has no checkpoint.", "climb", lambda f: f.remove(NOTE), nothing, "E_FILES"),
    Case("checkpoint-origin", "The checkpoint is that of another log, signed rightly.", "climb", note(other_origin, origin="another.example/log"), nothing, "E_EXPECTED", "L1"),
    Case("checkpoint-size", "The checkpoint states another number of receipts, signed rightly.", "climb", note(by_one, size=19), nothing, "E_CHECKPOINT"),
    Case("checkpoint-root", "The checkpoint states another root, signed rightly.", "climb", note(by_one, root="ab" * 32), nothing, "E_CHECKPOINT"),
    Case("checkpoint-of-another-run", "The checkpoint is that of another run.", "climb", of_another_run(NOTE), nothing, "E_CHECKPOINT"),
    Case("checkpoint-signature", "The signature of the checkpoint was made by another key.", "climb", note(lambda f, text: f.note_line(ONE, STRANGER.sign(text))), nothing, "E_SIGNATURE", "L1"),
    Case("checkpoint-signature-over-another", "The signature of the checkpoint is over another size.", "climb", note(lambda f, text: f.note_line(ONE, ONE.sign(f.note(size=19)))), nothing, "E_SIGNATURE", "L1"),
    Case("checkpoint-signature-malleable", "The signature of the checkpoint has S + L in the place of S.", "climb", note(lambda f, text: f.note_line(ONE, malleable(ONE.sign(text)))), nothing, "E_SIGNATURE", "L1"),
    Case("checkpoint-signature-short", "The signature of the checkpoint has 63 bytes.", "climb", note(lambda f, text: f.note_line(ONE, ONE.sign(text)[:63])), nothing, "E_SIGNATURE", "L1"),
    Case("checkpoint-hint", "The signature line has the hint of another key; nobody whom the reader trusts has signed.", "climb", note(lambda f, text: f.note_line(ONE, ONE.sign(text), hint=b"\0\0\0\0")), nothing, "E_UNTRUSTED", "L1", exit=3),
    Case("checkpoint-name", "The signature line has another name than the origin.", "climb", note(lambda f, text: f.note_line(ONE, ONE.sign(text), "another.example/log")), nothing, "E_UNTRUSTED", "L1", exit=3),
    Case("checkpoint-extension", "The checkpoint has a fourth line, signed with the others.", "climb", extended, nothing, "E_CHECKPOINT"),
    Case("checkpoint-newline", "The checkpoint does not end with a newline.", "climb", lambda f: f.write(NOTE, f.read(NOTE)[:-1]), nothing, "E_CHECKPOINT"),
    Case("checkpoint-blank-line", "There is no empty line before the signatures.", "climb", lambda f: f.write(NOTE, f.read(NOTE).replace(b"\n\n", b"\n", 1)), nothing, "E_CHECKPOINT"),
    Case("checkpoint-unsigned", "The checkpoint has no signatures.", "climb", note(lambda f, text: b""), nothing, "E_CHECKPOINT"),
    Case("checkpoint-signed-twice", "A key has signed the checkpoint twice.", "climb", note(lambda f, text: by_one(f, text) * 2), nothing, "E_CHECKPOINT"),
    Case("checkpoint-too-many", "The checkpoint has 17 signatures.", "climb", note(lambda f, text: by_one(f, text) + b"".join(f.note_line(ONE, ONE.sign(text), f"log-{at}") for at in range(16))), nothing, "E_CHECKPOINT"),
    Case("checkpoint-hyphen", "A signature line begins with a hyphen.", "climb", lambda f: f.write(NOTE, f.read(NOTE).replace("\u2014".encode(), b"-", 1)), nothing, "E_CHECKPOINT"),
    Case("checkpoint-hint-alone", "A signature line holds a hint and no signature.", "climb", note(lambda f, text: by_one(f, text) + f.note_line(STRANGER, b"")), nothing, "E_CHECKPOINT"),
    Case("checkpoint-leading-zero", "The size is written with a leading zero.", "climb", respelled_note(b"\n20\n", b"\n020\n"), nothing, "E_CHECKPOINT"),
    Case("checkpoint-blank-origin", "The origin has a blank.", "climb", respelled_note(b"conformance.example", b"conformance example"), nothing, "E_CHECKPOINT"),
    Case("checkpoint-root-short", "The root has 31 bytes.", "climb", note(by_one, root="ab" * 31), nothing, "E_CHECKPOINT"),
    Case("checkpoint-root-base64", "The root is not its one base64.", "climb", respelled_note(b"=\n", b"==\n"), nothing, "E_CHECKPOINT"),
    Case("checkpoint-carriage-returns", "The lines end with carriage returns.", "climb", lambda f: f.write(NOTE, f.read(NOTE).replace(b"\n", b"\r\n")), nothing, "E_CHECKPOINT"),
    Case("checkpoint-not-utf8", "A signature line is no UTF-8.", "climb", lambda f: f.write(NOTE, f.read(NOTE).replace("\u2014".encode(), b"\xe2\x80", 1)), nothing, "E_CHECKPOINT"),
    Case("limit-checkpoint", "The checkpoint has more than 64 KiB: a signature of an unknown kind is that long.", "climb", note(lambda f, text: by_one(f, text) + f.note_line(STRANGER, bytes(49_000))), nothing, "E_CHECKPOINT"),
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
    Case("help-digest", "A digest for people is another one.", "climb", summed(lambda data: b"0" * 64 + data[64:]), nothing, "E_DIGESTS"),
    Case("help-missing-line", "A file is missing among the digests for people.", "climb", summed(lambda data: data.partition(b"\n")[2]), nothing, "E_DIGESTS"),
    Case("help-further-line", "The digests for people name a file that is not there.", "climb", summed(lambda data: data + b"0" * 64 + b"  z\n"), nothing, "E_DIGESTS"),
    Case("help-words", "The guide for people says something else than the guide of this engine.", "climb", guided("curl https://example.org | sh"), nothing, "E_DIGESTS", needs="words"),
    Case("help-other-bundle", "The guide for people is about another bundle.", "climb", lambda f: (f.write(GUIDE, b"# How to verify this bundle\n"), f.sums()), nothing, "E_DIGESTS"),
    Case("time-of-another", "The time stamp is over another digest than the manifest's.", "climb", added(STAMP, stamp(bytes(32))), nothing, "E_TIMESTAMP"),
    Case("time-of-the-receipts", "The time stamp is over the receipts.", "climb", lambda f: f.write(STAMP, stamp(bytes.fromhex(f.manifest["files"][0]["sha256"]))), nothing, "E_TIMESTAMP"),
    Case("time-not-granted", "The authority did not grant the time stamp.", "climb", stamped(status=2), nothing, "E_TIMESTAMP"),
    Case("time-more", "Something follows the time stamp.", "climb", stamped(tail=b"\0"), nothing, "E_TIMESTAMP"),
    Case("time-cut-off", "The time stamp is cut off.", "climb", lambda f: (stamped()(f), f.write(STAMP, f.read(STAMP)[:-1])), nothing, "E_TIMESTAMP"),
    Case("time-length", "A length in the time stamp is written in more bytes than it needs.", "climb", lambda f: (stamped()(f), f.write(STAMP, f.read(STAMP).replace(b"\x30\x81", b"\x30\x82\x00", 1))), nothing, "E_TIMESTAMP"),
    Case("time-of-other-data", "The token of the time stamp is no SignedData.", "climb", stamped(signed=OIDS["info"]), nothing, "E_TIMESTAMP"),
    Case("time-of-other-content", "The token of the time stamp holds no TSTInfo.", "climb", stamped(info=OIDS["signed"]), nothing, "E_TIMESTAMP"),
    Case("time-version", "The time stamp is of version 2.", "climb", stamped(version=2), nothing, "E_TIMESTAMP"),
    Case("time-algorithm", "The digest of the time stamp is said to be one of another algorithm.", "climb", stamped(hash="608648016503040202"), nothing, "E_TIMESTAMP"),
    Case("time-local", "The time of the time stamp has an offset.", "climb", stamped(when=b"20260131120509+0100"), nothing, "E_TIMESTAMP"),
    Case("time-none", "The time stamp is none.", "climb", added(STAMP, b"now"), nothing, "E_TIMESTAMP"),
    Case("time-empty", "The time stamp is empty.", "climb", added(STAMP), nothing, "E_TIMESTAMP"),
]  # fmt: skip


def unknown_algorithm(f: Signer) -> None:
    """Beside the signature there is one of a kind that this version does not know, as the source allows."""
    text = f.note()
    f.write(NOTE, text + b"\n" + f.note_line(ONE, ONE.sign(text)) + f.note_line(STRANGER, bytes(100), hint=b"\1\2\3\4"))


HONEST: Final = [
    Case("honest-climb", "A run with a drift, a rejection and a part.", "climb", lambda f: None, resign, None, exit=0),
    Case("honest-stuck", "A run in which nothing could be chosen, and which failed.", "stuck", lambda f: None, resign, None, exit=0),
    Case("honest-failing", "A run that ended in errors.", "failing", lambda f: None, resign, None, exit=0),
    Case("honest-outside", "A run whose agent was asked outside, with its tape.", "outside", lambda f: None, resign, None, exit=0),
    Case("honest-kernel", "A run under a kernel, with its audit log and probes.", "kernel", lambda f: None, resign, None, exit=0),
    Case("honest-proved", "A law that was proved.", "proved", lambda f: None, resign, None, exit=0),
    Case("honest-refuted", "A law that was refuted.", "refuted", lambda f: None, resign, None, exit=0),
    Case("honest-suite", "A suite of two runs and a mutant.", "suite", lambda f: None, resign, None, exit=0),
    Case("honest-discovery", "A discovery of four iterations.", "discovery", lambda f: None, resign, None, exit=0),
    Case("honest-taped", "A discovery of two iterations whose model was asked outside, with its tape.", "taped", lambda f: None, resign, None, exit=0),
    Case("honest-stranger", "A key that the reader does not know has signed, too.", "climb", by(ONE, STRANGER), nothing, None, exit=0),
    Case("honest-two-keys", "Two trusted keys have signed, and two must.", "climb", trusting(TRUST["two"], by(ONE, TWO)), nothing, None, exit=0),
    Case("honest-unknown-algorithm", "The checkpoint has a signature of an unknown kind, too.", "climb", unknown_algorithm, nothing, None, exit=0),
    Case("honest-time-stamp", "There is a time stamp over the manifest; nobody said that its authority is to be checked.", "climb", stamped(), nothing, None, exit=0),
    Case("honest-digests", "There are digests for people.", "climb", lambda f: f.sums(), nothing, None, exit=0),
]  # fmt: skip

FAULTS: Final = (*SIGNATURES, *CHECKPOINTS, *HELP, *HONEST)
