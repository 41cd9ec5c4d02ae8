"""No token, no actuation: every misuse is refused before the step function is called."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specledger.core.binding import leaf, proposal_digest, scope_digest, set_root, token_document
from specledger.gates.capability import Actuator, Refused, Token

STATE = {"x": 0}
INPUTS = {"spend": 7}
NORTH = {"op": "move", "dir": "N", "n": 1}
SOUTH = {"op": "move", "dir": "S", "n": 1}
STAY = {"op": "stay"}
PROPOSALS = [{"action": action, "score": 0} for action in (NORTH, SOUTH, STAY, NORTH)]
LEAVES = [leaf(index, proposal) for index, proposal in enumerate(PROPOSALS)]
DIGESTS = [proposal_digest(line) for line in LEAVES]
ROOT = set_root(LEAVES)
SCOPE = scope_digest(0, 5, "move")
FIRST = (DIGESTS[0], ROOT, SCOPE)


class World:
    """A step function that keeps what it was called with."""

    def __init__(self):
        self.calls = []

    def __call__(self, *arguments):
        self.calls.append(arguments)
        return {"x": len(self.calls)}, {"moved": True}


@pytest.fixture
def world():
    return World()


@pytest.fixture
def actuator(world):
    return Actuator(world)


def act(actuator, token, *, index=0, scope=SCOPE, action=NORTH, **changes):
    return actuator.act(token, index, {"action": action, "score": 0, **changes}, scope, STATE, INPUTS)


def test_a_token_says_what_it_is_bound_to(actuator):
    token = actuator.issue(*FIRST)
    assert token.document() == token_document(*FIRST)
    assert (token.proposal, token.commitment, token.scope) == FIRST


def spent(actuator):
    token = actuator.issue(*FIRST)
    act(actuator, token)
    return token


def replaced(actuator):
    token = actuator.issue(*FIRST)
    actuator.issue(DIGESTS[1], ROOT, SCOPE)
    return token


def foreign(actuator):
    """The right binding, but issued by another actuator, while this one has issued a token for something else."""
    actuator.issue(DIGESTS[1], ROOT, SCOPE)
    return Actuator(World()).issue(*FIRST)


def elsewhere(actuator):
    return Actuator(World()).issue(*FIRST)


def of_another_set(actuator):
    actuator.issue(*FIRST)
    return Token(**token_document(DIGESTS[0], set_root(LEAVES[:2]), SCOPE))


def renamed(actuator):
    token = actuator.issue(*FIRST)
    return Token("0" * 64, token.proposal, token.commitment, token.scope)


def rebound(actuator):
    """A token whose identifier was issued, with another proposal written into it."""
    token = actuator.issue(*FIRST)
    return Token(token.id, DIGESTS[1], token.commitment, token.scope)


def good(actuator):
    return actuator.issue(*FIRST)


MISUSES = {
    "nothing issued and no token": (lambda actuator: None, {}, "no_token"),
    "no token, though one is open": (lambda actuator: actuator.issue(*FIRST) and None, {}, "no_token"),
    "spent": (spent, {}, "spent"),
    "voided by a newer one": (replaced, {}, "spent"),
    "issued by another actuator": (foreign, {}, "spent"),
    "issued by another actuator, nothing by this one": (elsewhere, {}, "spent"),
    "of another commitment": (of_another_set, {}, "spent"),
    "with another identifier": (renamed, {}, "spent"),
    "with another proposal written in": (rebound, {"index": 1, "action": SOUTH}, "spent"),
    "for another proposal": (good, {"index": 2, "action": STAY}, "wrong_proposal"),
    "for the same operation with other arguments": (good, {"index": 1, "action": SOUTH}, "wrong_proposal"),
    "for the same action at another index": (good, {"index": 3}, "wrong_proposal"),
    "for the same action with another score": (good, {"score": 1}, "wrong_proposal"),
    "for the same action with a claim more": (good, {"claim": 0}, "wrong_proposal"),
    "for another operation at the committed index": (good, {"action": STAY}, "wrong_proposal"),
    "for other arguments at the committed index": (good, {"action": SOUTH}, "wrong_proposal"),
    "for an argument of another type": (good, {"action": NORTH | {"n": True}}, "wrong_proposal"),
    "for one argument more": (good, {"action": NORTH | {"fast": 1}}, "wrong_proposal"),
    "for one argument less": (good, {"action": {"op": "move", "dir": "N"}}, "wrong_proposal"),
    "in another episode": (good, {"scope": scope_digest(1, 5, "move")}, "wrong_scope"),
    "at another step": (good, {"scope": scope_digest(0, 6, "move")}, "wrong_scope"),
    "in the scope of another operation": (good, {"scope": scope_digest(0, 5, "stay")}, "wrong_scope"),
    "in no scope": (good, {"scope": ""}, "wrong_scope"),
}


@pytest.mark.parametrize(("obtain", "misuse", "reason"), MISUSES.values(), ids=MISUSES)
def test_misuse_is_refused_and_nothing_is_executed(world, actuator, obtain, misuse, reason):
    token = obtain(actuator)
    before = len(world.calls)
    for _ in range(2):
        with pytest.raises(Refused) as refused:
            act(actuator, token, **misuse)
        assert refused.value.reason == reason
    assert len(world.calls) == before


def test_a_step_that_fails_has_spent_its_token():
    def fail(*arguments):
        raise ArithmeticError

    actuator = Actuator(fail)
    token = actuator.issue(*FIRST)
    with pytest.raises(ArithmeticError):
        act(actuator, token)
    with pytest.raises(Refused, match="spent"):
        act(actuator, token)


PLACES = st.integers(0, len(LEAVES) - 1)
SCOPES = [SCOPE, scope_digest(0, 5, "stay"), scope_digest(0, 6, "move")]
DEEDS = st.lists(
    st.one_of(
        st.tuples(st.just("issue"), PLACES, st.integers(0, 2)),
        st.tuples(st.just("act"), st.none() | st.integers(0, 30), PLACES, PLACES, st.integers(0, 2)),
    ),
    max_size=30,
)


@given(deeds=DEEDS)
def test_only_the_newest_unspent_token_acts_and_only_as_bound(deeds):
    """Whatever is issued and tried in whatever order: what was executed is what a list of open tokens would allow."""
    world, issued, expected, opened = World(), [], [], None
    actuator = Actuator(world)
    for kind, *details in deeds:
        if kind == "issue":
            place, scope = details
            issued.append((actuator.issue(DIGESTS[place], ROOT, SCOPES[scope]), (place, scope)))
            opened = (place, scope)
            continue
        which, index, place, scope = details
        token, binding = (None, None) if which is None or not issued else issued[which % len(issued)]
        fits = binding == opened == (index, scope) and PROPOSALS[place] == PROPOSALS[index]
        try:
            actuator.act(token, index, PROPOSALS[place], SCOPES[scope], STATE, INPUTS)
            assert fits
        except Refused:
            assert not fits
        if fits:
            action = PROPOSALS[index]["action"]
            expected.append((STATE, action["op"], action, INPUTS))
            opened = None
        assert world.calls == expected
