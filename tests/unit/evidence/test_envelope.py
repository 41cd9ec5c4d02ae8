"""DSSE envelopes: the encoding that is signed, the one form that is read, and what is refused."""

import base64
import json

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


REFUSED = {
    "another field": written(document(note="x")),
    "a missing field": written({"payload": b64(PAYLOAD), "payloadType": PAYLOAD_TYPE}),
    "another type": written(document(payloadType="application/json")),
    "a type in other letters": written(document(payloadType=PAYLOAD_TYPE.upper())),
    "no signature": written(document(signatures=[])),
    "too many signatures": written(document(signatures=[signature(key) for key in KEYS])),
    "signatures that are no list": written(document(signatures={"0": signature()})),
    "a signature that is no object": written(document(signatures=["x"])),
    "another field of a signature": written(document(signatures=[signature() | {"cert": "x"}])),
    "a signature without a key": written(document(signatures=[{"sig": b64(b"s" * 64)}])),
    "a key twice": written(document(signatures=[signature(), signature(raw=b"t" * 64)])),
    "keys in another order": written(document(signatures=[signature(KEYS[1]), signature(KEYS[0])])),
    "a key id in upper case": written(document(signatures=[signature("AB" * 32)])),
    "a short key id": written(document(signatures=[signature("ab")])),
    "a key id with a newline": written(document(signatures=[signature("ab" * 32 + "\n")])),
    "a key id that is a number": written(document(signatures=[{"keyid": 1, "sig": b64(b"s" * 64)}])),
    "a short signature": written(document(signatures=[signature(raw=b"s" * 63)])),
    "a long signature": written(document(signatures=[signature(raw=b"s" * 65)])),
    "base64 of the other alphabet": written(document(payload="_-8=")),
    "base64 without padding": written(document(payload="YQ")),
    "base64 with bits that say nothing": written(document(payload="YR==")),
    "base64 with white space": written(document(payload="YW\nI=")),
    "a payload that is no text": written(document(payload=1)),
    "no newline": written(document())[:-1],
    "two newlines": written(document()) + b"\n",
    "white space": json.dumps(document()).encode() + b"\n",
    "a duplicate key": b'{"payload":"","payload":' + written(document())[11:],
    "no object": b"[]\n",
    "no JSON": b"x\n",
    "nothing": b"",
    "too large": written(document(payload=b64(b"x" * MAX_ENVELOPE))),
}


@pytest.mark.parametrize("data", REFUSED.values(), ids=REFUSED)
def test_other_forms_are_refused(data):
    with pytest.raises(InvalidEnvelope):
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
