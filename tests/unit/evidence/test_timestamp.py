"""Time stamps: what a response says, and that nothing but DER of the right form is read."""

import re

import pytest

from specledger.evidence.timestamp import MAX_TIMESTAMP, InvalidTimestamp, Timestamp, read_timestamp

DIGEST = bytes(range(32))
SHA256 = bytes.fromhex("0609608648016503040201")
SIGNED = bytes.fromhex("06092a864886f70d010702")
INFO = bytes.fromhex("060b2a864886f70d0109100104")
VERSION = b"\x02\x01\x01"


def der(tag, *parts):
    content = b"".join(parts)
    size = len(content)
    if size < 128:
        return bytes([tag, size]) + content
    length = size.to_bytes((size.bit_length() + 7) // 8)
    return bytes([tag, 0x80 + len(length)]) + length + content


def info(digest=DIGEST, algorithm=SHA256, when=b"20260131120509Z", version=VERSION, more=b""):
    imprint = der(0x30, der(0x30, algorithm, b"\x05\x00"), der(0x04, digest), more)
    return der(0x30, version, b"\x06\x03\x2a\x03\x04", imprint, b"\x02\x01\x07", der(0x18, when))


def response(tst=None, status=b"\x02\x01\x00", signed=SIGNED, kind=INFO, more=b"", tail=b"\x31\x00"):
    tst = info() if tst is None else tst
    content = der(0x30, kind, der(0xA0, der(0x04, tst)))
    token = der(0x30, signed, der(0xA0, der(0x30, b"\x02\x01\x03", der(0x31), content, tail)))
    return der(0x30, der(0x30, status), token, more)


def test_what_a_response_says():
    assert read_timestamp(response()) == Timestamp(DIGEST, "2026-01-31T12:05:09Z")


def test_a_long_one_with_modifications_and_a_fraction():
    data = response(info(when=b"20260131120509.25Z"), b"\x02\x01\x01", tail=der(0x31, b"\x05\x00" * 20_000))
    assert read_timestamp(data) == Timestamp(DIGEST, "2026-01-31T12:05:09.25Z")


REFUSED = {  # what is read, and why it is refused
    "nothing": (b"", "the response is cut off"),
    "no DER": (b"x" * 100, "the response is not where it must be"),
    "not granted": (response(status=b"\x02\x01\x02"), "the authority did not grant it"),
    "no status": (der(0x30, der(0x30)), "the status is cut off"),
    "no token": (der(0x30, der(0x30, b"\x02\x01\x00")), "the token is cut off"),
    "something after the token": (response(more=b"\x05\x00"), "something follows the token"),
    "something after the response": (response() + b"\x00", "something follows the response"),
    "no SignedData": (response(signed=INFO), "the token is no SignedData"),
    "another content": (response(kind=SIGNED), "the signed content is no TSTInfo"),
    "another digest": (
        response(info(algorithm=b"\x06\x05\x2b\x0e\x03\x02\x1a", digest=DIGEST[:20])),
        "the digest is not one of SHA-256",
    ),
    "a short digest": (response(info(digest=DIGEST[:31])), "the message imprint is an algorithm and 32 bytes"),
    "more in the imprint": (response(info(more=b"\x05\x00")), "the message imprint is an algorithm and 32 bytes"),
    "another version": (response(info(version=b"\x02\x01\x02")), "the version of the TSTInfo is not 1"),
    "local time": (response(info(when=b"20260131120509")), "the time is no GeneralizedTime in UTC"),
    "an offset": (response(info(when=b"20260131120509+0100")), "the time is no GeneralizedTime in UTC"),
    "a fraction with a trailing zero": (
        response(info(when=b"20260131120509.50Z")),
        "the time is no GeneralizedTime in UTC",
    ),
    "other digits": (response(info(when="2026013112050\u0669Z".encode())), "the time is no GeneralizedTime in UTC"),
    "an indefinite length": (b"\x30\x80" + response()[2:] + b"\x00\x00", "the response has no length in DER"),
    "a length in too many bytes": (b"\x30\x82\x00" + response()[2:], "the response has no length in DER"),
    "a long length that is short": (der(0x30, b"\x30\x81\x03\x02\x01\x00"), "the status has no length in DER"),
    "a length of four bytes": (b"\x30\x84\x00\x00\x00\x05" + bytes(5), "the response has no length in DER"),
    "too large": (response(tail=der(0x31, bytes(MAX_TIMESTAMP))), "it has more than 65536 bytes"),
}


@pytest.mark.parametrize(("data", "why"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_response_is_refused(data, why):
    with pytest.raises(InvalidTimestamp, match=re.escape(why)):
        read_timestamp(data)


def test_a_cut_response_is_refused_wherever_it_ends():
    data = response()
    for end in range(len(data)):
        with pytest.raises(InvalidTimestamp):
            read_timestamp(data[:end])


def test_a_changed_byte_is_refused_or_read_without_a_crash():
    data = response()
    for place in range(len(data)):
        for bit in range(8):
            changed = bytearray(data)
            changed[place] ^= 1 << bit
            try:
                read_timestamp(bytes(changed))
            except InvalidTimestamp:
                continue
