"""How pieces of a claim are named where a claim does not fit its template."""

import pytest

from specledger.wings.laws.template import _shown

PIECES = [
    ({"op": "+", "a": 1}, "a claim with `+`"),
    ({"op": {"field": "bound_op"}}, "a comparison"),
    ({"obs": "N", "t": 0}, "an observable"),
    ({"const": 1}, "a constant"),
    ({"t_plus": 1}, "a time"),
    (3, "3"),
    ("t", "'t'"),
    (None, "None"),
]


@pytest.mark.parametrize(("piece", "words"), PIECES)
def test_a_piece_of_a_claim_in_words(piece, words):
    assert _shown(piece) == words
