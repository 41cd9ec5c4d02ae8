"""DSSE envelopes: the encoding that is signed, the one form that is read, and what is refused."""

import base64
import json
import re

import pytest

from specledger.evidence.envelope import (
    MAX_ENVELOPE,
    MOST_SIGNATURES,
    PAYLOAD_TYPE,
    Envelope,
    InvalidEnvelope,
    Signature,
    from_base64,
    pae,
    read_envelope,
    write_envelope,
)

KEYS = [f"{number:064x}" for number in range(MOST_SIGNATURES + 1)]
PAYLOAD = b'{"a":1}'


def b64(data):
    return base64.b64encode(data).decode()


def signature(key=KEYS[0], raw=b"s" * 64):
    return {"keyid": key, "sig": b64(raw)}


def document(**changes):
    return {"payload": b64(PAYLOAD), "payloadType": PAYLOAD_TYPE, "signatures": [signature()]} | changes


def written(tree):
    return json.dumps(tree, separators=(",", ":"), sort_keys=True).encode() + b"\n"


ENCODINGS = {  # those of the protocol's own example, and of lengths in bytes
    "the example": (
        "http://example.com/HelloWorld",
        b"hello world",
        b"DSSEv1 29 http://example.com/HelloWorld 11 hello world",
    ),
    "nothing": ("", b"", b"DSSEv1 0  0 "),
    "a type of more bytes than letters": ("\u00e9", b"\xff", b"DSSEv1 2 \xc3\xa9 1 \xff"),
    "spaces": ("a 1", b"2 b", b"DSSEv1 3 a 1 3 2 b"),
}


@pytest.mark.parametrize(("named", "payload", "encoded"), ENCODINGS.values(), ids=ENCODINGS)
def test_the_encoding_that_is_signed(named, payload, encoded):
    assert pae(named, payload) == encoded


def test_what_is_written_is_read():
    signatures = [Signature(key, bytes([index]) * 64) for index, key in enumerate(KEYS[:MOST_SIGNATURES])]
    data = write_envelope(PAYLOAD, signatures[::-1])
    assert read_envelope(data) == Envelope(PAYLOAD, tuple(signatures))
    assert read_envelope(data).signed == pae(PAYLOAD_TYPE, PAYLOAD)
    assert data == written(json.loads(data))


REFUSED = {  # what is read, and why it is refused
    "another field": (written(document(note="x")), "Object contains unknown field `note`"),
    "a missing field": (
        written({"payload": b64(PAYLOAD), "payloadType": PAYLOAD_TYPE}),
        "Object missing required field `signatures`",
    ),
    "another type": (
        written(document(payloadType="application/json")),
        "Invalid enum value 'application/json' - at `$.payloadType`",
    ),
    "a type in other letters": (
        written(document(payloadType=PAYLOAD_TYPE.upper())),
        "Invalid enum value 'APPLICATION/VND.IN-TOTO+JSON' - at `$.payloadType`",
    ),
    "no signature": (written(document(signatures=[])), "Expected `array` of length >= 1 - at `$.signatures`"),
    "too many signatures": (
        written(document(signatures=[signature(key) for key in KEYS])),
        "Expected `array` of length <= 16 - at `$.signatures`",
    ),
    "signatures that are no list": (
        written(document(signatures={"0": signature()})),
        "Expected `array`, got `object` - at `$.signatures`",
    ),
    "a signature that is no object": (
        written(document(signatures=["x"])),
        "Expected `object`, got `str` - at `$.signatures[0]`",
    ),
    "another field of a signature": (
        written(document(signatures=[signature() | {"cert": "x"}])),
        "Object contains unknown field `cert` - at `$.signatures[0]`",
    ),
    "a signature without a key": (
        written(document(signatures=[{"sig": b64(b"s" * 64)}])),
        "Object missing required field `keyid` - at `$.signatures[0]`",
    ),
    "a key twice": (
        written(document(signatures=[signature(), signature(raw=b"t" * 64)])),
        "its signatures are those of different keys, in the order of their ids",
    ),
    "keys in another order": (
        written(document(signatures=[signature(KEYS[1]), signature(KEYS[0])])),
        "its signatures are those of different keys, in the order of their ids",
    ),
    "a key id in upper case": (
        written(document(signatures=[signature("AB" * 32)])),
        "Expected `str` matching regex '^[0-9a-f]{64}\\\\Z'",
    ),
    "a short key id": (
        written(document(signatures=[signature("ab")])),
        "Expected `str` matching regex '^[0-9a-f]{64}\\\\Z'",
    ),
    "a key id with a newline": (
        written(document(signatures=[signature("ab" * 32 + "\n")])),
        "Expected `str` matching regex '^[0-9a-f]{64}\\\\Z'",
    ),
    "a key id that is a number": (
        written(document(signatures=[{"keyid": 1, "sig": b64(b"s" * 64)}])),
        "Expected `str`, got `int` - at `$.signatures[0].keyid`",
    ),
    "a short signature": (written(document(signatures=[signature(raw=b"s" * 63)])), "a signature has 64 bytes"),
    "a long signature": (written(document(signatures=[signature(raw=b"s" * 65)])), "a signature has 64 bytes"),
    "base64 of the other alphabet": (
        written(document(payload="_-8=")),
        "the payload is not standard base64 with padding",
    ),
    "base64 without padding": (written(document(payload="YQ")), "the payload is not standard base64 with padding"),
    "base64 with bits that say nothing": (
        written(document(payload="YR==")),
        "the payload is not standard base64 with padding",
    ),
    "base64 with white space": (written(document(payload="YW\nI=")), "the payload is not standard base64 with padding"),
    "a payload that is no text": (written(document(payload=1)), "Expected `str`, got `int` - at `$.payload`"),
    "no newline": (written(document())[:-1], "it does not end with a newline"),
    "two newlines": (written(document()) + b"\n", "$: differs from its canonical form at byte 260"),
    "white space": (json.dumps(document()).encode() + b"\n", "$: differs from its canonical form at byte 11"),
    "a duplicate key": (
        b'{"payload":"","payload":' + written(document())[11:],
        "$: differs from its canonical form at byte 12",
    ),
    "no object": (b"[]\n", "Expected `object`, got `array`"),
    "no JSON": (b"x\n", "$: not JSON in UTF-8 (at character 0)"),
    "nothing": (b"", "it does not end with a newline"),
    "too large": (written(document(payload=b64(b"x" * MAX_ENVELOPE))), "$: 1398352 bytes, more than 1048575"),
}


@pytest.mark.parametrize(("data", "why"), REFUSED.values(), ids=REFUSED)
def test_other_forms_are_refused(data, why):
    with pytest.raises(InvalidEnvelope, match=re.escape(why)):
        read_envelope(data)


def test_no_byte_of_an_envelope_can_be_another_unnoticed():
    data = write_envelope(PAYLOAD, [Signature(KEYS[1], b"s" * 64)])
    before = read_envelope(data)
    for place in range(len(data)):
        changed = bytearray(data)
        changed[place] ^= 1
        try:
            assert read_envelope(bytes(changed)) != before, place
        except InvalidEnvelope:
            continue


@pytest.mark.parametrize("text", ["", "YQ==", "+/8="])
def test_standard_base64_is_read(text):
    assert base64.b64encode(from_base64(text)).decode() == text
