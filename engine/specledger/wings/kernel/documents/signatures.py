"""Signatures of tokens: the toy signature of toy-pseudo-axion by a secret, or Ed25519 with a private key.

A secret that is drawn from a run's seed is public, since the run can be replayed: such a signature proves what a token
was bound to, not who issued it. A private key is read from a file or an environment variable that the governor names,
and is never shown. A replay has the public key alone and verifies recorded signatures. `cryptography` is imported when
Ed25519 is used; the extra `sign` installs it.

Source: toy-pseudo-axion, Capability tokens; RFC 8032.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

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


Sign = Callable[[bytes], str]
"""Gives the signature, 64 to 2048 characters, of the canonical bytes of a token without its signature."""


def sign_by_secret(seed: int, *names: str | int) -> Sign:
    """Sign as toy-pseudo-axion does, by SHA-256(secret || payload) in hex.

    The secret of 32 bytes is drawn from a run's seed and names, and is as public as they are.
    """
    secret = Stream.named(seed, "kernel-secret", *names).bytes(SECRET_SIZE)
    return lambda payload: sha256_hex(secret + payload)


def sign_again(public: bytes, signatures: Iterable[str]) -> Sign:
    """Give recorded Ed25519 signatures in their order, each after verifying it: how a replay signs.

    Raises:
        Refused: On signing, `bad_signature`, if there is none left, or it is not that of the payload.
    """
    key: Ed25519PublicKey = _ed25519().Ed25519PublicKey.from_public_bytes(public)
    left = iter(signatures)

    def sign(payload: bytes) -> str:
        signature = next(left, "")
        if not _signed(key, payload, signature):
            raise Refused("bad_signature")
        return signature

    return sign


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

    def signer(self, recorded: Sequence[str] | None) -> Sign:
        """What signs a run, or gives the recorded signatures of one that is made again.

        Raises:
            Rejected: E_SIGN_KEY, E_SIGN_MISSING.
        """
        if recorded is not None:
            return sign_again(self.public, recorded)
        key: Ed25519PrivateKey = _ed25519().Ed25519PrivateKey.from_private_bytes(bytes.fromhex(self._text()))
        if key.public_key().public_bytes_raw() != self.public:
            raise _wrong(f"{self._place} holds the key of another public key than the governor's")
        return lambda payload: key.sign(payload).hex()

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
