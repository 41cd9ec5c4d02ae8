"""What a commitment covers, and which reasons of a denial are words for an agent."""

import pytest

from specledger.core.canonical import NotCanonical
from specledger.oracles.statement import ABSTENTIONS, REASON_DOCS, TOO_FEW, UNREAD, payload_of

ACTION = {"op": "move", "dir": "N"}


@pytest.mark.parametrize(
    ("statement", "covered"),
    [
        ({"action": ACTION}, b'{"action":{"dir":"N","op":"move"}}'),
        ({"action": 1, "claims": []}, b'{"action":1,"claims":[]}'),
        ({"then": 3, "claims": [], "action": 1, "nonce": "x"}, b'{"action":1,"claims":[],"then":3}'),
        ({"action": 0.12345678}, b'{"action":0.12345678}'),
    ],
)
def test_what_a_commitment_covers(statement, covered):
    assert payload_of(statement) == covered


def test_what_would_be_rounded_has_no_commitment():
    with pytest.raises(NotCanonical) as caught:
        payload_of({"action": 0.123456789})
    assert caught.value.code == "not_exact"
    assert payload_of({"action": 1, "nonce": 0.123456789}) == b'{"action":1}'


def test_an_abstention_has_words():
    assert {UNREAD, TOO_FEW} == ABSTENTIONS
    assert set(REASON_DOCS) >= ABSTENTIONS
