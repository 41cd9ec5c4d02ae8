"""How tokens are signed: the seed's toy signature by a secret, or Ed25519.

Decides what a signature over given bytes is. Refuses to know what is signed. `cryptography` is imported by whoever uses
Ed25519; the extra `sign` installs it.

A secret that is drawn from a run's seed is public, since the run can be replayed: such a signature proves what a token
was bound to, not who issued it. Of Ed25519 a replay has the public key alone: it verifies recorded signatures.

Source: toy-pseudo-axion, Capability tokens; RFC 8032.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final, Protocol

from specledger.core.diagnostics import Diagnostic, Rejected, code
from specledger.core.digest import sha256_hex
from specledger.core.rng import Stream
from specledger.gates.capability import Refused

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

SECRET_SIZE: Final = 32
"""Bytes of a kernel's secret."""

E_SIGN_MISSING = code(
    "E_SIGN_MISSING",
    "Ed25519 is not installed",
    "Tokens are to be signed or verified by Ed25519, which needs the package `cryptography`: install "
    "`specledger[sign]`. The signature by a secret needs nothing.",
)


class Signer(Protocol):
    """Signs the canonical bytes of a token without its signature, and tells whether a signature is right."""

    def sign(self, payload: bytes) -> str:
        """The signature, 64 to 2048 characters."""

    def verify(self, payload: bytes, signature: str) -> bool:
        """Whether the signature is that of the payload."""


class SecretSigner:
    """The seed's signature: SHA-256(secret || payload) in hex."""

    def __init__(self, secret: bytes) -> None:
        """Sign with a secret of 32 bytes.

        Raises:
            ValueError: It has another length.
        """
        if len(secret) != SECRET_SIZE:
            raise ValueError(f"a secret has {SECRET_SIZE} bytes, not {len(secret)}")
        self._secret = secret

    @classmethod
    def named(cls, seed: int, *names: str | int) -> SecretSigner:
        """Sign with the secret that a run's seed and names stand for, which is as public as they are."""
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
        """Sign with the 32 bytes of a private key.

        Raises:
            Rejected: E_SIGN_MISSING.
            ValueError: It has another length.
        """
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
        """Verify by the 32 bytes of a public key.

        Raises:
            Rejected: E_SIGN_MISSING.
            ValueError: The key has another length.
        """
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
        raise Rejected([Diagnostic(E_SIGN_MISSING, "the package `cryptography` is not installed")]) from None
    return ed25519
