"""What a recorded decision is never asked: every such question has an answer that says nothing."""

from typing import Any

import pytest

from specledger.wings.challenges.unasked import Undeclared

NOTHING: Any = None


Target: Any = type("Target", (Undeclared,), {})
Target.__abstractmethods__ = frozenset()  # it is only asked what it never answers


def test_nothing_is_declared_committed_to_or_offered():
    target = Target()
    assert target.declares is False
    assert target.declared(NOTHING, 0) is None
    assert (target.directions(NOTHING), target.toward(NOTHING, "v", "up"), target.unused(NOTHING)) == ({}, [], [])
    assert (target.reveal(NOTHING, []), target.restate(NOTHING, NOTHING)) == (False, False)
    assert target.replay(NOTHING, NOTHING) == {"equal": 0, "nodes": 0, "ends": False}
    assert (target.token("real"), target.offer(NOTHING, NOTHING, NOTHING)) == (None, None)
    attempt = target.attempt(NOTHING, NOTHING)
    assert tuple(attempt) == (False, (), False)
    with pytest.raises(LookupError, match="a recording has no fresh episode"):
        target.fresh(1)
