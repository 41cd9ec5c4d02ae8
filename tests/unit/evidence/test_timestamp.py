"""Time stamps: what a response says, and that nothing but DER of the right form is read."""

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


REFUSED = {
    "nothing": b"",
    "no DER": b"x" * 100,
    "not granted": response(status=b"\x02\x01\x02"),
    "no status": der(0x30, der(0x30)),
    "no token": der(0x30, der(0x30, b"\x02\x01\x00")),
    "something after the token": response(more=b"\x05\x00"),
    "something after the response": response() + b"\x00",
    "no SignedData": response(signed=INFO),
    "another content": response(kind=SIGNED),
    "another digest": response(info(algorithm=b"\x06\x05\x2b\x0e\x03\x02\x1a", digest=DIGEST[:20])),
    "a short digest": response(info(digest=DIGEST[:31])),
    "more in the imprint": response(info(more=b"\x05\x00")),
    "another version": response(info(version=b"\x02\x01\x02")),
    "local time": response(info(when=b"20260131120509")),
    "an offset": response(info(when=b"20260131120509+0100")),
    "a fraction with a trailing zero": response(info(when=b"20260131120509.50Z")),
    "other digits": response(info(when="2026013112050\u0669Z".encode())),
    "an indefinite length": b"\x30\x80" + response()[2:] + b"\x00\x00",
    "a length in too many bytes": b"\x30\x82\x00" + response()[2:],
    "a long length that is short": der(0x30, b"\x30\x81\x03\x02\x01\x00"),
    "a length of four bytes": b"\x30\x84\x00\x00\x00\x05" + bytes(5),
    "too large": response(tail=der(0x31, bytes(MAX_TIMESTAMP))),
}


@pytest.mark.parametrize("data", REFUSED.values(), ids=REFUSED)
def test_what_is_no_response_is_refused(data):
    with pytest.raises(InvalidTimestamp):
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
