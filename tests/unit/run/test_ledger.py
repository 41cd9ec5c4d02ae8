"""The chains of the parts' receipts, each digest and tip computed again by other means."""

import copy
import hashlib
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specledger.run.part_chains import Ledger

FEW = settings(max_examples=40)  # each example writes and hashes several documents
FIELDS = st.dictionaries(st.sampled_from(["code", "V_before", "witness"]), st.integers(-9, 9), max_size=2)
STATES = st.builds(lambda b, t: {"t": t, "b": b}, st.integers(-9, 9), st.integers(0, 9))
ENTRIES = st.lists(st.tuples(st.sampled_from(["left", "right"]), STATES, STATES, FIELDS, st.booleans()), max_size=5)


def tagged(tag, data):
    return hashlib.sha256(tag + b"\0" + data).hexdigest()


def written(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


@FEW
@given(entries=ENTRIES)
def test_every_part_has_its_own_chain_over_the_whole_run(entries):
    ledger, tips = Ledger(["left", "right"]), dict.fromkeys(["left", "right"], "0" * 64)
    for name, before, after, body, accepted in entries:
        receipt = {
            **body,
            "accepted": accepted,
            "before": tagged(b"specledger/state/v1", written(before)),
            "after": tagged(b"specledger/state/v1", written(after)),
            "tip": tips[name],
        }
        tips[name] = tagged(b"specledger/part/v1", tips[name].encode() + written(receipt))
        assert ledger.enter(name, before, after, body, accepted=accepted) == {**receipt, "tip_after": tips[name]}


@FEW
@given(entries=ENTRIES)
def test_nothing_that_is_entered_is_changed(entries):
    kept, ledger = copy.deepcopy(entries), Ledger(["left", "right"])
    for name, before, after, body, accepted in entries:
        ledger.enter(name, before, after, body, accepted=accepted)
    assert entries == kept


def test_a_receipt_that_was_given_away_does_not_change_with_the_chain():
    ledger = Ledger(["left"])
    first = ledger.enter("left", {}, {}, {}, accepted=True)
    kept = copy.deepcopy(first)
    second = ledger.enter("left", {}, {}, {}, accepted=True)
    assert first == kept
    assert second["tip"] == first["tip_after"] != second["tip_after"]


CHANGES = {
    "the state before": ({"t": 9}, {"t": 1}, {"code": "OK"}, True),
    "the state after": ({"t": 0}, {"t": 9}, {"code": "OK"}, True),
    "the body": ({"t": 0}, {"t": 1}, {"code": "NO"}, True),
    "one field more": ({"t": 0}, {"t": 1}, {"code": "OK", "dV": 0}, True),
    "the acceptance": ({"t": 0}, {"t": 1}, {"code": "OK"}, False),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_the_tip_depends_on(change):
    before, after, body, accepted = change
    changed = Ledger(["left"]).enter("left", before, after, body, accepted=accepted)
    honest = Ledger(["left"]).enter("left", {"t": 0}, {"t": 1}, {"code": "OK"}, accepted=True)
    assert changed["tip_after"] != honest["tip_after"]


def test_the_parts_are_named_in_order():
    assert Ledger(iter(["right", "left"])).names == ("right", "left")
    assert Ledger([]).names == ()


def test_an_unknown_part_keeps_no_chain():
    with pytest.raises(KeyError):
        Ledger(["left"]).enter("right", {}, {}, {}, accepted=True)


@FEW
@given(entries=ENTRIES, more=ENTRIES)
def test_what_was_entered_since_a_mark_can_be_taken_back(entries, more):
    ledger, other = Ledger(["left", "right"]), Ledger(["left", "right"])
    for name, before, after, body, accepted in entries:
        ledger.enter(name, before, after, body, accepted=accepted)
        other.enter(name, before, after, body, accepted=accepted)
    tips = ledger.mark()
    for name, before, after, body, accepted in more:
        ledger.enter(name, before, after, body, accepted=accepted)
    ledger.reset(tips)
    assert ledger.mark() == tips == other.mark()
    for name in ("left", "right"):
        assert ledger.enter(name, {}, {}, {}, accepted=True) == other.enter(name, {}, {}, {}, accepted=True)
