"""A law follows from others only if they are about the same rings, starts and steps."""

from typing import Any

import pytest

from specledger.discovery.equivalence import irredundant, prove_implied, statement_of

OTHERS: dict[str, dict[str, Any]] = {
    "preconditions": {"preconditions": ["count('>') >= 1"]},
    "starts of fewer symbols": {"starts": {"symbols": [".", ">"]}},
}


@pytest.mark.parametrize("premise", OTHERS.values(), ids=OTHERS)
def test_a_weaker_bound_follows_from_a_bound_of_the_same_frame_alone(bounded, premise):
    weaker, stronger = bounded("count('X')", "<=", 5), bounded("count('X')", "<=", 3)
    narrower = bounded("count('X')", "<=", 3, **premise)
    stated: list[Any] = [statement_of(one.plan.law) for one in (weaker, stronger, narrower)]
    assert prove_implied(stated[0], [stated[1]]) is not None
    assert prove_implied(stated[0], [stated[2]]) is None
    assert irredundant([stated[1], stated[0]]) == [0]
    assert irredundant([stated[2], stated[0]]) == [0, 1]
