"""Signatures of tokens: the seed's toy signature by a secret, or Ed25519 with a private key.

A secret that is drawn from a run's seed is public, since the run can be replayed: such a signature proves what a token
was bound to, not who issued it. A private key is read from a file or an environment variable that the governor names,
and is never shown. A replay has the public key alone and verifies recorded signatures. `cryptography` is imported when
Ed25519 is used; the extra `sign` installs it.

Source: toy-pseudo-axion, Capability tokens; RFC 8032.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from msgspec import Struct

from specledger.core.diagnostics import Diagnostic, Rejected, code, missing_package
from specledger.core.digest import sha256_hex
from specledger.core.rng import Stream
from specledger.gates.capability import Refused

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

SECRET_SIZE: Final = 32
"""Bytes of a kernel's secret."""

E_SIGN_MISSING = code("E_SIGN_MISSING", "Ed25519 is not installed")


class Signer(Protocol):
    """Signs the canonical bytes of a token without its signature, and verifies signatures."""

    def sign(self, payload: bytes) -> str:
        """The signature, 64 to 2048 characters."""

    def verify(self, payload: bytes, signature: str) -> bool:
        """Whether the signature is that of the payload."""


class SecretSigner:
    """The seed's signature: SHA-256(secret || payload) in hex."""

    def __init__(self, secret: bytes) -> None:
        """Sign with a secret of 32 bytes."""
        if len(secret) != SECRET_SIZE:
            raise ValueError(f"a secret has {SECRET_SIZE} bytes, not {len(secret)}")
        self._secret = secret

    @classmethod
    def named(cls, seed: int, *names: str | int) -> SecretSigner:
        """Sign with a secret that is drawn from a run's seed and names, and is as public as they are."""
        return cls(Stream.named(seed, "kernel-secret", *names).bytes(SECRET_SIZE))

    def sign(self, payload: bytes) -> str:
        """The signature, 64 hexadecimal digits."""
        return sha256_hex(self._secret + payload)

    def verify(self, payload: bytes, signature: str) -> bool:
        """Whether the signature is that of the payload."""
        return self.sign(payload) == signature


class Ed25519Signer:
    """Signs with a private key."""

    def __init__(self, private: bytes) -> None:
        """Sign with the 32 bytes of a private key."""
        self._key: Ed25519PrivateKey = _ed25519().Ed25519PrivateKey.from_private_bytes(private)

    @property
    def public(self) -> bytes:
        """The public key, 32 bytes."""
        return self._key.public_key().public_bytes_raw()

    def sign(self, payload: bytes) -> str:
        """The signature, 128 hexadecimal digits."""
        return self._key.sign(payload).hex()

    def verify(self, payload: bytes, signature: str) -> bool:
        """Whether the signature is that of the payload."""
        return _signed(self._key.public_key(), payload, signature)


class RecordedSigner:
    """Gives recorded Ed25519 signatures in their order, each after verifying it: the signer of a replay."""

    def __init__(self, public: bytes, signatures: Iterable[str] = ()) -> None:
        """Verify by the 32 bytes of a public key."""
        self._key: Ed25519PublicKey = _ed25519().Ed25519PublicKey.from_public_bytes(public)
        self._signatures = iter(signatures)

    def sign(self, payload: bytes) -> str:
        """The next recorded signature.

        Raises:
            Refused: `bad_signature`, if there is none left, or it is not that of the payload.
        """
        signature = next(self._signatures, "")
        if not self.verify(payload, signature):
            raise Refused("bad_signature")
        return signature

    def verify(self, payload: bytes, signature: str) -> bool:
        """Whether the signature is that of the payload."""
        return _signed(self._key, payload, signature)


def _signed(key: Ed25519PublicKey, payload: bytes, signature: str) -> bool:
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - only who signs loads it

    try:
        raw = bytes.fromhex(signature)
        key.verify(raw, payload)
    except (InvalidSignature, ValueError):
        return False
    return raw.hex() == signature


def _ed25519() -> Any:
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519  # noqa: PLC0415 - as above
    except ImportError:
        raise missing_package(E_SIGN_MISSING, "cryptography", "sign") from None
    return ed25519


E_SIGN_KEY = code("E_SIGN_KEY", "the key that tokens are to be signed with is not there")

_KEY: Final = re.compile(r"[0-9a-fA-F]{64}")
_MOST: Final = 4096  # characters of a file that are looked at


class Signing(Struct, frozen=True):
    """How a kernel signs by Ed25519.

    Attributes:
        public: The public key, 32 bytes.
        file, variable: The place of the private key; one of the two.
    """

    public: bytes
    file: str | None = None
    variable: str | None = None

    def signer(self, recorded: Sequence[str] | None) -> Signer:
        """Who signs a run.

        Raises:
            Rejected: E_SIGN_KEY, E_SIGN_MISSING.
        """
        if recorded is not None:
            return RecordedSigner(self.public, recorded)
        signer = Ed25519Signer(bytes.fromhex(self._text()))
        if signer.public != self.public:
            raise _wrong(f"{self._place} holds the key of another public key than the governor's")
        return signer

    @property
    def _place(self) -> str:
        return f"the file {self.file!r}" if self.variable is None else f"the environment variable {self.variable}"

    def _text(self) -> str:
        text = _read(self.file or "") if self.variable is None else os.environ.get(self.variable)
        if text is None:
            raise _wrong(f"{self._place} is not there, or cannot be read")
        if not _KEY.fullmatch(text.strip()):
            raise _wrong(f"{self._place} does not hold 64 hexadecimal digits")
        return text.strip()


def _read(path: str) -> str | None:
    try:
        with Path(path).open(encoding="ascii") as file:
            return file.read(_MOST)
    except (OSError, ValueError):
        return None


def _wrong(message: str) -> Rejected:
    return Rejected([Diagnostic(E_SIGN_KEY, message)])
