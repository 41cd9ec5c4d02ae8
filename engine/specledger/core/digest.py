"""The hashes: plain SHA-256 as toy-pseudo-axion has it, SHA-256 under a domain tag for our own, and HMAC commitments.

Nothing else in the engine uses `hashlib` or `hmac`.

A tag has the form `specledger/<noun>/v1` and says what kind of thing is hashed, so that bytes which can be read as two
kinds never share a digest. SHA-256(tag || 0x00 || data) is unambiguous, because no tag contains 0x00.
"""

import hashlib
import hmac
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from specledger.core.canonical import canonical_bytes
from specledger.core.floats import NO_FLOATS, FloatPolicy

DIGEST_SIZE = 32
"""Bytes of a SHA-256 digest."""
KEY_SIZE = 32
"""Bytes of an HMAC key."""

_TAG = re.compile(r"specledger/[a-z][a-z0-9-]*/v[1-9][0-9]*")


def sha256_hex(data: bytes) -> str:
    """SHA-256 as 64 lower-case hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def sha256_raw(data: bytes) -> bytes:
    """SHA-256 as 32 bytes."""
    return hashlib.sha256(data).digest()


def file_digest(path: Path) -> str:
    """SHA-256 of a file as 64 lower-case hexadecimal digits; the file is read in pieces.

    Raises:
        OSError: It cannot be read.
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class Digesting:
    """SHA-256 of parts that are passed on, as of a stream that nobody keeps.

    `covered` gives what of a part is hashed: all of it if left out.
    """

    def __init__(self, covered: Callable[[bytes], bytes] = bytes) -> None:
        self._context, self._covered = hashlib.sha256(), covered

    def listen(self, parts: Iterable[bytes]) -> Iterator[bytes]:
        """The parts, each hashed before it is given."""
        for part in parts:
            self._context.update(self._covered(part))
            yield part

    def digest(self) -> str:
        """The digest of what was passed on, as 64 lower-case hexadecimal digits."""
        return self._context.hexdigest()


def uuid5_text(space: bytes, name: str) -> str:
    """A UUID of version 5, made from SHA-1 as RFC 4122, 4.3 says."""
    digest = bytearray(hashlib.sha1(space + name.encode(), usedforsecurity=False).digest()[:16])
    digest[6] = digest[6] & 0x0F | 0x50
    digest[8] = digest[8] & 0x3F | 0x80
    text = digest.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def sha256_pairs(prefix: bytes, items: Sequence[bytes]) -> list[bytes]:
    """SHA-256(prefix || first || second) of each two neighbours as 32 bytes; a lone last item is left out."""
    sha256 = hashlib.sha256
    return [sha256(prefix + first + second).digest() for first, second in zip(items[::2], items[1::2], strict=False)]


def hash_json(value: object, floats: FloatPolicy = NO_FLOATS) -> str:
    """`hash_json` of toy-pseudo-axion: plain SHA-256 of the canonical form, in lower-case hexadecimal.

    Source: toy-pseudo-axion, Canonical hashing rules.

    Raises:
        NotCanonical: The value has no canonical form.
    """
    return sha256_hex(canonical_bytes(value, floats))


@lru_cache(maxsize=256)
def tagger(tag: str) -> Callable[[bytes], str]:
    """The function that hashes data under a tag, to lower-case hexadecimal; for the loop, which has few tags.

    Raises:
        ValueError: The tag is not of the form `specledger/<noun>/v1`.
    """
    copy = _begun(tag).copy

    def hash_tagged(data: bytes) -> str:
        context = copy()
        context.update(data)
        return context.hexdigest()

    return hash_tagged


def tagged(tag: str, data: bytes) -> str:
    """SHA-256(tag || 0x00 || data) in lower-case hexadecimal.

    Raises:
        ValueError: The tag is not of the form `specledger/<noun>/v1`.
    """
    return tagger(tag)(data)


def tagged_raw(tag: str, data: bytes) -> bytes:
    """SHA-256(tag || 0x00 || data) as 32 bytes.

    Raises:
        ValueError: The tag is not of the form `specledger/<noun>/v1`.
    """
    context = _begun(tag).copy()
    context.update(data)
    return context.digest()


@lru_cache(maxsize=256)
def _begun(tag: str) -> "hashlib._Hash":
    """A context that has read the tag; copying it is cheaper than joining tag and data."""
    if not _TAG.fullmatch(tag):
        raise ValueError(f"a tag looks like specledger/state/v1, not {tag!r}")
    return hashlib.sha256(tag.encode("ascii") + b"\x00")


def hmac_sha256(key: bytes, message: bytes) -> str:
    """HMAC-SHA256 in lower-case hexadecimal, under a key of exactly 32 bytes.

    HMAC pads a short key with zeros and hashes a long one, so that k and k || 0x00, or a long key and its digest, give
    the same code: a commitment could be opened in two ways. No two keys of one length up to 64 bytes are padded alike.

    Source: RFC 2104, section 2; toy-pseudo-axion, ForkSnapshot Commit-Reveal.

    Raises:
        ValueError: The key is not 32 bytes long.
    """
    if len(key) != KEY_SIZE:
        raise ValueError(f"an HMAC key has {KEY_SIZE} bytes, not {len(key)}")
    return hmac.digest(key, message, "sha256").hex()
