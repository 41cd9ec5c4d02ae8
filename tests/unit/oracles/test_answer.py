"""An answer keeps what came, and a tape gives back exactly that."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specledger.core.canonical import canonical_bytes, parse_canonical, parse_json
from specledger.core.digest import sha256_hex
from specledger.oracles.answer import FAILURES, MOST_ANSWER, NOT_JSON, TOO_LONG, Answer, received


@given(st.binary(max_size=200))
def test_bytes_are_kept_whatever_they_are(data):
    answer = received(1, 2, data)
    assert answer.received == (data or None)
    assert answer.size == len(data)
    assert (answer.failure == NOT_JSON) == (bool(data) and not is_json(data))
    again = parse_canonical(canonical_bytes(answer.document()))
    assert Answer.read(again) == answer


def is_json(data):
    try:
        parse_json(data)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("failure", sorted(FAILURES))
def test_a_failure_comes_back(failure):
    answer = Answer(0, 3, None, failure, "Why", 2, sha256_hex(b"xx"))
    assert Answer.read(answer.document()) == answer


def test_too_much_is_kept_as_its_size_and_hash():
    data = b"x" * (MOST_ANSWER + 1)
    assert received(0, 0, data) == Answer(0, 0, None, TOO_LONG, "", MOST_ANSWER + 1, sha256_hex(data))
    assert received(0, 0, data[:-1]).received == data[:-1]


NOT_ONE = {
    "nothing": b"",
    "two documents": b"1 2",
    "NaN": b"NaN",
    "an infinity": b"[-Infinity]",
    "a key twice": b'{"a":1,"a":1}',
    "another encoding": b'"\xff"',
    "a byte order mark": b"\xef\xbb\xbf1",
    "nested too deeply": b"[" * 200_000,
    "an integer without end": b"1" * 10_000,
    "half": b'{"a"',
}


@pytest.mark.parametrize("data", NOT_ONE.values(), ids=NOT_ONE)
def test_what_is_no_json_document_is_refused(data):
    with pytest.raises(ValueError):  # noqa: PT011 - whatever its words
        parse_json(data)


GOOD = received(0, 1, b"[1]").document()
FORGED = {
    "no object": [],
    "a key missing": {key: value for key, value in GOOD.items() if key != "size"},
    "a key too many": {**GOOD, "more": 1},
    "another hash": {**GOOD, "sha256": "0" * 64},
    "another size": {**GOOD, "size": 4},
    "other bytes": {**GOOD, "received": {"text": "[2]"}},
    "an unknown failure": {**GOOD, "failure": "tired"},
    "a truth for a number": {**GOOD, "episode": False},
    "a negative step": {**GOOD, "t": -1},
    "a number for a word": {**GOOD, "reason": 1},
    "no bytes": {**GOOD, "received": 7},
    "an unknown form": {**GOOD, "received": {"hex": "5b315d"}},
    "two forms": {**GOOD, "received": {"text": "[1]", "base64": "WzFd"}},
    "text as base64": {**GOOD, "received": {"base64": "WzFd"}},
    "no base64": {**GOOD, "received": {"base64": "*"}},
    "a number for bytes": {**GOOD, "received": {"text": 1}},
}


@pytest.mark.parametrize("document", FORGED.values(), ids=FORGED)
def test_what_is_no_answer_is_refused(document):
    with pytest.raises((ValueError, TypeError)):
        Answer.read(document)
