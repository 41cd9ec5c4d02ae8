"""Keys that sign bundles: Ed25519, private ones in PEM from a file or the environment.

No text, file or error of this module contains a byte of a private key, except the file that is created for it.

`cryptography` is imported when something is signed or verified; the extra `sign` installs it.

Source: RFC 8032; RFC 8410 (PKCS#8 and SubjectPublicKeyInfo of Ed25519); RFC 7468 (PEM).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from specledger.core import disk
from specledger.core.diagnostics import Diagnostic, Rejected, code, missing_package
from specledger.core.digest import sha256_hex
from specledger.evidence.envelope import PAYLOAD_TYPE, Signature, pae, to_base64, write_envelope

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

PUBLIC_SIZE: Final = 32
"""Bytes of a public key."""
VARIABLE: Final = "env:"
"""What a source begins with that names an environment variable."""
PUBLIC_SUFFIX: Final = ".pub"
"""What the name of a public key's file has after that of the private one."""
TRUST: Final = "specledger/trust/v1"
"""The format of what a reader trusts."""

_MOST: Final = 16_384  # bytes of a key's file that are looked at

E_KEY_PACKAGE = code("E_KEY_PACKAGE", "signing is not installed")
E_KEY = code("E_KEY", "there is no such key")
E_KEY_EXISTS = code("E_KEY_EXISTS", "there is something where the key would go")


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A private key in memory; neither its text nor its representation shows it."""

    public: bytes
    _private: Ed25519PrivateKey = field(repr=False, compare=False)

    @property
    def id(self) -> str:
        """The id of the key."""
        return key_id(self.public)

    def sign(self, data: bytes) -> bytes:
        """The signature over data, 64 bytes; always the same ones."""
        return self._private.sign(data)

    def __reduce__(self) -> str:
        """Refuse to be copied into another process or a file."""
        raise TypeError("a private key stays in its process")


def key_id(raw: bytes) -> str:
    """The id of a public key: SHA-256 of its 32 raw bytes, in hexadecimal digits."""
    return sha256_hex(raw)


def verify(raw_public: bytes, signature: bytes, data: bytes) -> bool:
    """Whether a signature over data is that of a raw public key; whatever bytes they are."""
    ed25519, _ = _cryptography()
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - only who verifies loads it

    try:
        ed25519.Ed25519PublicKey.from_public_bytes(raw_public).verify(signature, data)
    except (InvalidSignature, ValueError):
        return False
    return True


_PRIME: Final = 2**255 - 19
_WEAK: Final = frozenset(
    int.from_bytes(bytes.fromhex(point), "little")
    for point in (
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    )
) | {0, 1, _PRIME - 1}
"""The y of the points of small order, for which anybody can make signatures. Source: RFC 8032, section 5.1."""


def is_weak(public: bytes) -> bool:
    """Whether anybody can sign in the name of a raw public key."""
    return (int.from_bytes(public, "little") & (2**255 - 1)) % _PRIME in _WEAK


def sign_statement(payload: bytes, key: SigningKey) -> bytes:
    """The file of an envelope of a statement with the signature of one key."""
    return write_envelope(payload, [Signature(key.id, key.sign(pae(PAYLOAD_TYPE, payload)))])


def load_key(source: str) -> SigningKey:
    """The private key in a file, or in the environment variable of `env:NAME`."""
    ed25519, serialization = _cryptography()
    data = _read(source)
    try:
        private = serialization.load_pem_private_key(data, password=None)
    except Exception:  # of whatever kind: its message could quote what it read
        private = None
    if not isinstance(private, ed25519.Ed25519PrivateKey):
        raise _wrong(f"{_describe(source)} holds no Ed25519 private key in PEM that is not encrypted") from None
    return SigningKey(private.public_key().public_bytes_raw(), private)


def load_public(source: str) -> bytes:
    """The raw public key, 32 bytes, of a source that holds a public key or a private one in PEM."""
    ed25519, serialization = _cryptography()
    data = _read(source)
    if b"PRIVATE KEY" in data:
        return load_key(source).public
    try:
        public = serialization.load_pem_public_key(data)
    except Exception:  # as above
        public = None
    if not isinstance(public, ed25519.Ed25519PublicKey):
        raise _wrong(f"{_describe(source)} holds no Ed25519 key in PEM") from None
    raw: bytes = public.public_bytes_raw()
    return raw


def refuse_existing(file: Path) -> None:
    """Refuse to write a key where a file of its pair exists; Rejected as E_KEY_EXISTS."""
    for path in (file, file.with_name(file.name + PUBLIC_SUFFIX)):
        if os.path.lexists(path):
            raise Rejected([Diagnostic(E_KEY_EXISTS, f"{path} is there already")])


def new_key(file: Path) -> SigningKey:
    """Make a key: the private one in a file that only its owner can read, the public one beside it.

    Raises:
        Rejected: E_KEY_EXISTS, E_KEY_PACKAGE.
        OSError: A file cannot be written.
    """
    refuse_existing(file)
    ed25519, serialization = _cryptography()
    private = ed25519.Ed25519PrivateKey.generate()
    pem = private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    key = SigningKey(private.public_key().public_bytes_raw(), private)
    _create(file, pem, 0o600)
    _create(file.with_name(file.name + PUBLIC_SUFFIX), public_pem(key.public), 0o644)
    return key


def public_pem(public: bytes) -> bytes:
    """A raw public key as PEM, as `openssl` and others read it."""
    ed25519, serialization = _cryptography()
    key = ed25519.Ed25519PublicKey.from_public_bytes(public)
    pem: bytes = key.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    return pem


def trust_document(public: bytes, origin: str, expected: Mapping[str, Any]) -> dict[str, Any]:
    """What a reader keeps who trusts one key for one origin: the content of a `trust.json`.

    `expected` are those of `run`, `specs`, `recording` and `program` that evidence must have.
    """
    keys = [{"id": key_id(public), "public": to_base64(public)}]
    return {"format": TRUST, "origin": origin, "keys": keys, "threshold": 1, **expected}


def _read(source: str) -> bytes:
    if source.startswith(VARIABLE):
        text = os.environ.get(source.removeprefix(VARIABLE))
        data = None if text is None else text.encode(errors="replace")
    else:
        try:
            with Path(source).open("rb") as file:
                data = file.read(_MOST + 1)
        except (OSError, ValueError):
            data = None
    if data is None:
        hint = None if source.startswith(VARIABLE) else f"`spec keys new {source}` makes a key"
        raise Rejected([Diagnostic(E_KEY, f"{_describe(source)} is not there, or cannot be read", hint=hint)])
    if len(data) > _MOST:
        raise _wrong(f"{_describe(source)} is longer than any key")
    return data


def _describe(source: str) -> str:
    if source.startswith(VARIABLE):
        return f"the environment variable {source.removeprefix(VARIABLE)}"
    return f"the file {source}"


def _create(path: Path, data: bytes, mode: int) -> None:
    """Write a file that is not there, with its rights from the first moment; it is whole, or does not stay."""
    created = False
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            created = True
            file.write(data)
            disk.sync_file(file)
    except OSError as error:
        if isinstance(error, FileExistsError) and os.path.lexists(path):
            raise Rejected([Diagnostic(E_KEY_EXISTS, f"{path} is there already")]) from None
        if created:
            path.unlink(missing_ok=True)
        raise _wrong(f"{path} cannot be written: {error.strerror or 'operating system error'}") from None


def _wrong(message: str) -> Rejected:
    return Rejected([Diagnostic(E_KEY, message)])


def _cryptography() -> tuple[Any, Any]:
    try:
        from cryptography.hazmat.primitives import serialization  # noqa: PLC0415 - only who signs loads it
        from cryptography.hazmat.primitives.asymmetric import ed25519  # noqa: PLC0415 - as above
    except ImportError:
        raise missing_package(E_KEY_PACKAGE, "cryptography", "sign") from None
    return ed25519, serialization
