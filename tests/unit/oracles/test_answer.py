"""An answer keeps what came, and a tape gives back exactly that."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specledger.core.canonical import canonical_bytes, parse_canonical, parse_json
from specledger.core.digest import sha256_hex
from specledger.oracles.answer import FAILURES, MOST_ANSWER, TOO_LONG, Answer, Asked, Exchange, received

ASKED = Asked(2, "decide", "a" * 64)


@given(st.binary(max_size=200))
def test_bytes_are_kept_whatever_they_are(data):
    answer = received(data)
    assert answer.received == (data or None)
    assert answer.size == len(data)
    assert answer.failure == ""
    exchange = Exchange(1, 2, ASKED, answer)
    again = parse_canonical(canonical_bytes(exchange.document(7)))
    assert Exchange.read(again, 7) == exchange


@pytest.mark.parametrize("failure", sorted(FAILURES))
def test_a_failure_comes_back(failure):
    size = {"closed": 2, "too_long": MOST_ANSWER + 1}.get(failure, 0)
    exchange = Exchange(0, 3, ASKED, Answer(None, failure, "raised:Why", size, sha256_hex(b"xx") if size else ""))
    assert Exchange.read(exchange.document(0), 0) == exchange


def test_too_much_is_kept_as_its_size_and_hash():
    data = b"x" * (MOST_ANSWER + 1)
    assert received(data) == Answer(None, TOO_LONG, "", MOST_ANSWER + 1, sha256_hex(data))
    assert received(data[:-1]).received == data[:-1]


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


GOOD = Exchange(0, 1, ASKED, received(b"[1]")).document(4)
NONE = Exchange(0, 1, ASKED, Answer()).document(4)
LONG = Exchange(0, 1, ASKED, received(b"x" * (MOST_ANSWER + 1))).document(4)
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
    "another place on the tape": {**GOOD, "seq": 5},
    "a truth for its number": {**GOOD, "seq": True},
    "a negative session": {**GOOD, "session": -1},
    "no message": {**GOOD, "message": None},
    "no bytes": {**GOOD, "received": 7},
    "an unknown form": {**GOOD, "received": {"hex": "5b315d"}},
    "two forms": {**GOOD, "received": {"text": "[1]", "base64": "WzFd"}},
    "text as base64": {**GOOD, "received": {"base64": "WzFd"}},
    "no base64": {**GOOD, "received": {"base64": "*"}},
    "a number for bytes": {**GOOD, "received": {"text": 1}},
    "a reason without a failure": {**GOOD, "reason": "timeout"},
    "an answer that did not come": {**GOOD, "failure": "timed_out"},
    "nothing with a hash": {**NONE, "sha256": "0" * 64},
    "nothing of a size": {**NONE, "size": 5, "sha256": "0" * 64},
    "empty bytes": {**NONE, "received": {"text": ""}, "sha256": sha256_hex(b"")},
    "a hash of another form": {**LONG, "sha256": "zz"},
    "too long and empty": {**LONG, "size": 0},
    "too long and short": {**LONG, "size": MOST_ANSWER},
    "a long reason": {**LONG, "reason": "x" * 101},
    "a text for a reason": {**LONG, "reason": "it took too long"},
}


@pytest.mark.parametrize("document", FORGED.values(), ids=FORGED)
def test_what_is_no_exchange_is_refused(document):
    with pytest.raises((ValueError, TypeError)):
        Exchange.read(document, 4)
