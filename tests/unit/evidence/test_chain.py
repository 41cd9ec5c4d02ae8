"""The chain of receipts: every link, digest and root computed again by other means."""

import hashlib
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specledger.core.binding import GENESIS
from specledger.core.canonical import NotCanonical, canonical_bytes
from specledger.core.events import Event
from specledger.evidence.chain import Chain, receipt_digest, run_id

FEW = settings(max_examples=40)  # each example writes and hashes several documents
RUN = "0123456789abcdef0123456789abcdef"
TEXTS = st.sampled_from(["", "move", "é\n\r", '"\\', "\u2028\x7f", "🌊"])
NUMBERS = st.integers(-(2**53) + 1, 2**53 - 1)
VALUES = st.one_of(
    st.none(), st.booleans(), NUMBERS, TEXTS, st.lists(NUMBERS, max_size=2), st.dictionaries(TEXTS, TEXTS, max_size=2)
)
BODIES = st.dictionaries(TEXTS, VALUES, max_size=3)
TYPES = st.sampled_from(["start", "commit", "step", "end"])


def event(type_, body, ready):
    """An event, perhaps with the form of its body."""
    return Event(type_, body, canonical_bytes(body) if ready else None)


EVENTS = st.lists(st.builds(event, TYPES, BODIES, st.booleans()), max_size=9)


def written(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


@pytest.mark.medium
@FEW
@given(events=EVENTS)
def test_lines_are_linked_and_counted(events):
    chain, prev = Chain(RUN), "0" * 64
    for number, event in enumerate(events):
        assert (chain.count, chain.head) == (number, prev)
        line = chain.seal(event)
        linked = {"body": event.body, "prev": prev, "run": RUN, "seq": number, "type": event.type}
        assert line == written(linked)
        prev = hashlib.sha256(b"\0" + line).hexdigest()
        assert receipt_digest(line) == prev
    assert (chain.count, chain.head) == (len(events), prev)


@pytest.mark.medium
@FEW
@given(events=EVENTS)
def test_a_chain_without_a_root_seals_the_same(events):
    chain, bare = Chain(RUN), Chain(RUN, rooted=False)
    assert [chain.seal(event) for event in events] == [bare.seal(event) for event in events]
    assert chain.head == bare.head


HEAD = "ac7b4e1ffb555078369f6c982fefe6418b607b104bcf1c897ae1dc22aa4fb82d"
ROOT = "bd0cdf0fa8182c9c8d4e2fb12792269bb9c8cace0c3dc5d1b419bf2885e88e07"


def test_a_pinned_chain():
    chain = Chain(RUN)
    assert chain.head == GENESIS == "0" * 64
    assert chain.seal(Event("start", {"seed": 7})) == (
        b'{"body":{"seed":7},"prev":"' + b"0" * 64 + b'","run":"' + RUN.encode() + b'","seq":0,"type":"start"}'
    )
    chain.seal(Event("end", {"steps": 0}))
    assert (chain.count, chain.head, chain.root) == (2, HEAD, ROOT)


@pytest.mark.parametrize("value", [2**53, b"x", "\ud800"], ids=["too large", "bytes", "a lone surrogate"])
def test_what_is_no_receipt_is_refused_and_the_chain_stays(value):
    chain, untouched = Chain(RUN), Chain(RUN)
    for each in (chain, untouched):
        each.seal(Event("start", {}))
    with pytest.raises(NotCanonical):
        chain.seal(Event("step", {"value": value}))
    assert (chain.count, chain.head, chain.root) == (untouched.count, untouched.head, untouched.root)
    assert chain.seal(Event("end", {})) == untouched.seal(Event("end", {}))


def test_the_run_is_named_by_its_specs():
    digest = "ab" * 32
    assert run_id(digest) == hashlib.sha256(b"specledger/run/v1\0" + digest.encode()).hexdigest()[:32]
    assert run_id(digest) != run_id("ba" * 32)
