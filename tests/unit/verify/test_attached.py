"""Audit entries and probes among the receipts of a run: what is out of order is refused."""

import pytest

from specledger.core.entries import Entries, Mode
from specledger.verify.audit_chain import EntryChain, check_place
from specledger.verify.checks import Broken


def entries(count):
    made = Entries(Mode.SIMULATED)
    return [made.seal("POLICY_DECISION", at_ms=number) for number in range(count)]


def follow(found):
    chain = EntryChain()
    for entry in found:
        chain.add(entry)


def test_a_chain_is_followed():
    follow(entries(3))


@pytest.mark.parametrize("left_out", [0, 1])
def test_an_entry_left_out_is_found(left_out):
    found = entries(3)
    del found[left_out]
    with pytest.raises(Broken, match="follow"):
        follow(found)


@pytest.mark.parametrize("field", ["timestamp_ms", "event", "witnesses"])
def test_an_entry_that_was_changed_is_found(field):
    found = entries(3)
    found[1] = {**found[1], field: 77 if field == "timestamp_ms" else [{}]}
    with pytest.raises(Broken, match="its own"):
        follow(found)


@pytest.mark.parametrize(
    ("episode", "t", "open_", "at"), [(0, 3, 0, 4), (1, 4, 0, 4), (0, 4, None, 4), (False, 4, 0, 4), (0, "4", 0, 4)]
)
def test_a_probe_of_another_step_is_found(episode, t, open_, at):
    with pytest.raises(Broken, match="out of order"):
        check_place({"episode": episode, "t": t}, open_, at)


def test_a_probe_of_the_step_at_hand_is_in_order():
    check_place({"episode": 2, "t": 4}, 2, 4)
