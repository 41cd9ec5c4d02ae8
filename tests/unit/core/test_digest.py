"""Digests against published vectors and against their definition."""

import hashlib
from uuid import NAMESPACE_URL, uuid5

import pytest

from specledger.core.canonical import NotCanonical
from specledger.core.digest import (
    hash_json,
    hmac_sha256,
    sha256_hex,
    sha256_raw,
    tagged,
    tagged_raw,
    tagger,
    uuid5_text,
)
from specledger.core.floats import FLOATS_ANYWHERE


def test_sha256_vector():
    """FIPS 180-2, appendix B.1."""
    digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert sha256_hex(b"abc") == digest == sha256_raw(b"abc").hex()


def test_hash_json_is_the_plain_hash_of_the_canonical_form():
    assert (
        hash_json({"b": [1, "\u20ac"], "a": None}) == hashlib.sha256('{"a":null,"b":[1,"\u20ac"]}'.encode()).hexdigest()
    )


def test_hash_json_takes_floats_only_where_allowed():
    assert hash_json({"p": 0.1 + 0.2}, FLOATS_ANYWHERE) == sha256_hex(b'{"p":0.3}')
    with pytest.raises(NotCanonical):
        hash_json({"p": 0.3})


def test_a_tagged_hash_is_the_hash_of_tag_null_data():
    tag = "specledger/state/v1"
    expected = hashlib.sha256(b"specledger/state/v1\x00data")
    assert tagged(tag, b"data") == tagger(tag)(b"data") == expected.hexdigest()
    assert tagged_raw(tag, b"data") == expected.digest()
    assert tagger(tag)(b"other") != tagger(tag)(b"data") == expected.hexdigest(), "it forgets what it hashed"


MALFORMED = [
    "",
    "state",
    "specledger/state",
    "specledger/state/v0",
    "specledger/State/v1",
    "specledger/a b/v1",
    "specledger/state/v1\0",
    "specledger/state/v1\n",
    "other/state/v1",
    "specledger//v1",
    "specledger/a/b/v1",
]


@pytest.mark.parametrize("tag", MALFORMED)
@pytest.mark.parametrize("function", [tagger, lambda tag: tagged(tag, b""), lambda tag: tagged_raw(tag, b"")])
def test_a_malformed_tag_is_refused(function, tag):
    with pytest.raises(ValueError, match="a tag looks like"):
        function(tag)


def test_hmac_is_that_of_its_definition():
    """RFC 2104, section 2: H(K xor opad, H(K xor ipad, text))."""
    key = bytes(range(32))
    inner, outer = (bytes(byte ^ pad for byte in key.ljust(64, b"\0")) for pad in (0x36, 0x5C))
    expected = hashlib.sha256(outer + hashlib.sha256(inner + b"message").digest()).hexdigest()
    assert hmac_sha256(key, b"message") == expected


@pytest.mark.parametrize("size", [0, 1, 31, 33, 64, 65])
def test_an_hmac_key_of_another_length_is_refused(size):
    with pytest.raises(ValueError, match="32 bytes"):
        hmac_sha256(bytes(size), b"")


@pytest.mark.parametrize("name", ["", "a", "ä", "0" * 64, "x" * 1000])
def test_a_uuid_of_a_name_is_that_of_the_standard_library(name):
    assert uuid5_text(NAMESPACE_URL.bytes, name) == str(uuid5(NAMESPACE_URL, name))
