"""Time stamps: the digest that the response of a time-stamping authority covers, and its time.

Only the message imprint and the time are read, from strict DER. Whether the authority is trusted and its signature
right takes its certificates, and `openssl ts -verify`.

Source: RFC 3161, 2.4; RFC 5652, 5.1 and 5.2 (SignedData); X.690 (DER).
"""

from __future__ import annotations

import re
from typing import Final, Self

from msgspec import Struct

MAX_TIMESTAMP: Final = 65_536
"""Bytes of a response at most."""

_INTEGER: Final = 0x02
_OCTETS: Final = 0x04
_OID: Final = 0x06
_TIME: Final = 0x18
_SEQUENCE: Final = 0x30
_SET: Final = 0x31
_CONTENT: Final = 0xA0
_GRANTED: Final = (b"\x00", b"\x01")  # granted, granted with modifications
_SIGNED_DATA: Final = bytes.fromhex("2a864886f70d010702")
_TST_INFO: Final = bytes.fromhex("2a864886f70d0109100104")
_SHA256: Final = bytes.fromhex("608648016503040201")
_WHEN: Final = re.compile(rb"(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\.\d*[1-9])?Z")


class InvalidTimestamp(ValueError):  # noqa: N818 - says what the bytes are, not that the engine failed
    """The bytes are no granted response in DER over a SHA-256 digest; the text says why."""


class Timestamp(Struct, frozen=True):
    """The 32 bytes of the digest that a response covers, and its time in UTC, `2026-01-31T12:00:00Z`; unverified."""

    imprint: bytes
    time: str


class _Reader:
    """Reads the values of one constructed value, or of a document, in their order."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def ended(self) -> bool:
        """Whether every value was read."""
        return self._at == len(self._data)

    def value(self, tag: int, what: str) -> bytes:
        """The content of the next value."""
        if self._byte(what) != tag:
            raise InvalidTimestamp(f"{what} is not where it must be")
        length = self._byte(what)
        if length >= 0x80:
            count = length - 0x80
            if not 1 <= count <= 3:  # 0 is a length that DER does not have; what has 4 is too large
                raise InvalidTimestamp(f"{what} has no length in DER")
            length = int.from_bytes(bytes(self._byte(what) for _ in range(count)))
            if length < 0x80 or length >> 8 * (count - 1) == 0:
                raise InvalidTimestamp(f"{what} has no length in DER")
        content = self._data[self._at : self._at + length]
        if len(content) != length:
            raise InvalidTimestamp(f"{what} is cut off")
        self._at += length
        return content

    def inside(self, tag: int, what: str) -> Self:
        """A reader of the next value, which is constructed."""
        return type(self)(self.value(tag, what))

    def _byte(self, what: str) -> int:
        if self.ended:
            raise InvalidTimestamp(f"{what} is cut off")
        self._at += 1
        return self._data[self._at - 1]


def read_timestamp(data: bytes) -> Timestamp:
    """Read a response.

    Raises:
        InvalidTimestamp: It is too large or malformed, was not granted, or is over another digest than SHA-256.
    """
    if len(data) > MAX_TIMESTAMP:
        raise InvalidTimestamp(f"it has more than {MAX_TIMESTAMP} bytes")
    document = _Reader(data)
    response = document.inside(_SEQUENCE, "the response")
    if not document.ended:
        raise InvalidTimestamp("something follows the response")
    if response.inside(_SEQUENCE, "the status").value(_INTEGER, "the status") not in _GRANTED:
        raise InvalidTimestamp("the authority did not grant it")
    token = response.inside(_SEQUENCE, "the token")
    if not response.ended:
        raise InvalidTimestamp("something follows the token")
    _expect(token.value(_OID, "the token's type"), _SIGNED_DATA, "the token is no SignedData")
    signed = token.inside(_CONTENT, "the token's content").inside(_SEQUENCE, "the signed data")
    signed.value(_INTEGER, "the version of the signed data")
    signed.value(_SET, "the digest algorithms")
    content = signed.inside(_SEQUENCE, "the signed content")
    _expect(content.value(_OID, "the type of the signed content"), _TST_INFO, "the signed content is no TSTInfo")
    octets = content.inside(_CONTENT, "the signed content").value(_OCTETS, "the signed content")
    return _info(_Reader(octets).inside(_SEQUENCE, "the TSTInfo"))


def _info(info: _Reader) -> Timestamp:
    _expect(info.value(_INTEGER, "the version"), b"\x01", "the version of the TSTInfo is not 1")
    info.value(_OID, "the policy")
    imprint = info.inside(_SEQUENCE, "the message imprint")
    algorithm = imprint.inside(_SEQUENCE, "the hash algorithm").value(_OID, "the hash algorithm")
    _expect(algorithm, _SHA256, "the digest is not one of SHA-256")
    digest = imprint.value(_OCTETS, "the digest")
    if len(digest) != 32 or not imprint.ended:
        raise InvalidTimestamp("the message imprint is an algorithm and 32 bytes")
    info.value(_INTEGER, "the serial number")
    when = _WHEN.fullmatch(info.value(_TIME, "the time"))
    if when is None:
        raise InvalidTimestamp("the time is no GeneralizedTime in UTC")
    year, month, day, hour, minute, second, fraction = (part.decode() for part in when.groups(default=b""))
    return Timestamp(digest, f"{year}-{month}-{day}T{hour}:{minute}:{second}{fraction}Z")


def _expect(actual: bytes, wanted: bytes, otherwise: str) -> None:
    if actual != wanted:
        raise InvalidTimestamp(otherwise)
