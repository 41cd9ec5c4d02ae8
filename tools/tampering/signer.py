"""A forger who signs: the keys that everybody knows, and what covers a manifest from outside.

It writes checkpoints, envelopes and the digests for people anew, without the engine. Its keys are published, so that a
signature of theirs shows nothing but that a test case was made.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tools.tampering.forger import COVERS, HELP, MANIFEST, Forger, canonical, sha256

ORIGIN: Final = "conformance.example/{run}"
MEDIA: Final = "application/vnd.in-toto+json"
TEST_RESULT: Final = "https://in-toto.io/attestation/test-result/v0.1"
OSCAL: Final = "https://oscal-compass.github.io/compliance-trestle/predicates/oscal-signing/v1"
ORDER: Final = 2**252 + 27742317777372353535851937790883648493
"""The order of the group of Ed25519 (RFC 8032, 5.1)."""


class TestKey:
    """A key that everybody knows: its seed is SHA-256 of a sentence that says so. It signs nothing but test cases.

    Attributes:
        public: The raw public key, 32 bytes.
        id: SHA-256 of it.
    """

    __test__ = False

    def __init__(self, name: str) -> None:
        """Derive the key of a name."""
        seed = hashlib.sha256(f"specledger conformance TEST KEY {name}, published, never to be trusted".encode())
        self._private = Ed25519PrivateKey.from_private_bytes(seed.digest())
        self.public = self._private.public_key().public_bytes_raw()
        self.id = hashlib.sha256(self.public).hexdigest()

    def sign(self, data: bytes) -> bytes:
        """The signature over data, always the same one."""
        return self._private.sign(data)


ONE = TestKey("one")


def b64(data: bytes) -> str:
    """Standard base64 with padding."""
    return base64.b64encode(data).decode()


def pae(payload: bytes, media: str = MEDIA) -> bytes:
    """What a signature of an envelope is over."""
    return b"DSSEv1 %d %b %d %b" % (len(media), media.encode(), len(payload), payload)


def trust(*keys: TestKey, **more: Any) -> bytes:
    """A trust file; `more` replaces its fields and adds others."""
    listed = [{"id": key.id, "public": b64(key.public)} for key in keys]
    made = {"format": "specledger/trust/v1", "origin": ORIGIN, "keys": listed, "threshold": 1, **more}
    return json.dumps(made, indent=2).encode() + b"\n"


class Signer(Forger):
    """A bundle in a folder, and those who sign it.

    Attributes:
        keys: Who signs.
        is_signed: Whether it is signed; `sign` leaves any other as it is.
        options: Files that the reader brings, by the names of his options: `trust`, `against`.
    """

    def __init__(self, folder: Path, *, signed: bool = False) -> None:
        """Read a bundle that is whole."""
        super().__init__(folder)
        self.is_signed = signed
        self.keys: Sequence[TestKey] = (ONE,)
        self.options: dict[str, bytes] = {}

    @property
    def origin(self) -> str:
        """The origin of the checkpoint."""
        return ORIGIN.replace("{run}", self.manifest["run"])

    def note(self, **other: Any) -> bytes:
        """The text of the checkpoint.

        Args:
            other: `origin`, `size` or `root` (hexadecimal) where it tells another one.
        """
        head = self.manifest["receipts"]
        checkpoint = {"origin": self.origin, "size": head["count"], "root": head["root"], **other}
        return f"{checkpoint['origin']}\n{checkpoint['size']}\n{b64(bytes.fromhex(checkpoint['root']))}\n".encode()

    def note_line(self, key: TestKey, raw: bytes, name: str | None = None, hint: bytes | None = None) -> bytes:
        """A signature line of the checkpoint, under the name and the hint of a key unless others are given."""
        named = self.origin if name is None else name
        own = hashlib.sha256(named.encode() + b"\n\x01" + key.public).digest()[:4] if hint is None else hint
        return f"\u2014 {named} {b64(own + raw)}\n".encode()

    def statement(self, name: str, /, **changes: Any) -> bytes:
        """The payload of an envelope, which follows from the manifest's bytes.

        Args:
            name: The envelope's file.
            changes: Fields of the statement that say something else.
        """
        data, result = self.read(MANIFEST), self.manifest["result"]
        warned = result["verdict"] == "INCONCLUSIVE" or result.get("warnings")
        passed = "WARNED" if warned else "PASSED"
        outcome = passed if result["verdict"] in ("PASS", "INCONCLUSIVE") else "FAILED"
        specs = next(one["sha256"] for one in self.manifest["files"] if one["path"] == "specs.json")
        tested = {"configuration": [{"digest": {"sha256": specs}, "name": "specs.json"}], "result": outcome}
        signed = {"canonicalization": "RFC8785", "digestAlgorithm": "sha256", "digestSource": "canonical-json"}
        type_, subject, predicate = {
            COVERS[1]: (TEST_RESULT, data, tested),
            COVERS[2]: (OSCAL, data[:-1], {**signed, "tool": "specledger"}),
        }[name]
        made = {
            "_type": "https://in-toto.io/Statement/v1",
            "predicate": predicate,
            "predicateType": type_,
            "subject": [{"digest": {"sha256": sha256(subject)}, "name": MANIFEST}],
        }
        return canonical(made | changes)

    def envelope(self, name: str, payload: bytes, pairs: Sequence[tuple[str, bytes]], /, **changes: Any) -> None:
        """Write an envelope.

        Args:
            name: Its file.
            payload: Its payload.
            pairs: Key ids and signatures, in this order.
            changes: Fields of the envelope that say something else.
        """
        listed = [{"keyid": key, "sig": b64(raw)} for key, raw in pairs]
        made = {"payload": b64(payload), "payloadType": MEDIA, "signatures": listed}
        self.write(name, canonical(made | changes) + b"\n")

    def signed(self, payload: bytes) -> list[tuple[str, bytes]]:
        """The right signatures over the payload of an envelope, in the order of the ids."""
        return sorted((key.id, key.sign(pae(payload))) for key in self.keys)

    def sign(self) -> None:
        """Sign a signed bundle as it is: a checkpoint and two envelopes by all the keys."""
        if not self.is_signed:
            return
        text = self.note()
        self.write(COVERS[0], text + b"\n" + b"".join(self.note_line(key, key.sign(text)) for key in self.keys))
        for name in COVERS[1:]:
            payload = self.statement(name)
            self.envelope(name, payload, self.signed(payload))

    def sums(self) -> None:
        """Write `sha256sums` anew: every other file, by the bytes of its path."""
        listed = (f"{sha256(self.read(name))}  {name}\n" for name in self.names() if name != HELP[0])
        self.write(HELP[0], "".join(listed).encode())
