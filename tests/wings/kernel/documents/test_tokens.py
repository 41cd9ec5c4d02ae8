"""What a token document is, how it is signed, what it covers, and how long."""

import copy
import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from specledger.core.diagnostics import Rejected
from specledger.core.rng import Stream
from specledger.gates.capability import Refused
from specledger.wings.kernel.documents.digests import receive, scope_hash, world_action
from specledger.wings.kernel.documents.schemas import axion
from specledger.wings.kernel.documents.signatures import Signing, sign_again, sign_by_secret
from specledger.wings.kernel.documents.tokens import Asked, TokenActuator, narrow

PROPOSAL = json.loads((Path(__file__).resolve().parents[4] / "fixtures/axion/proposal.json").read_bytes())
SUBMISSION = receive(PROPOSAL)
STEPS = [world_action(step) for step in PROPOSAL["payload"]["plan"]["steps"]]  # move S, move S, pickup coin1
SCOPE = {"allowed_ops": ["move", "pickup"], "rate_limit": {"max_calls": 3, "per_ms": 1000}, "expiry_ms": 1000}
SIGN = sign_by_secret(7)
KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))  # a fixture, no secret
PUBLIC = KEY.public_key().public_bytes_raw()


class World:
    """A step function that keeps what it was called with."""

    def __init__(self):
        self.calls: list[Any] = []

    def __call__(self, state, op, action, inputs):
        self.calls.append((op, action))
        return {"x": len(self.calls)}, {}


@pytest.fixture
def world():
    return World()


@pytest.fixture
def actuator(world):
    return TokenActuator(world, SIGN)


def limited(max_calls=3, per_ms=1000, expiry_ms=1000, ops=("move", "pickup")):
    return {
        "allowed_ops": list(ops), "rate_limit": {"max_calls": max_calls, "per_ms": per_ms}, "expiry_ms": expiry_ms
    }  # fmt: skip


def act(actuator, token, index, at_ms=300, submission=SUBMISSION, scope=None):
    granted = scope_hash(token["scope"] if scope is None else scope)
    return actuator.act(token, index, submission, Asked(STEPS[index], granted, at_ms), {}, {})


def reason(call, *arguments, **options):
    with pytest.raises(Refused) as refused:
        call(*arguments, **options)
    return refused.value.reason


@pytest.mark.parametrize("capability", ["move", "wait", "noop"])
def test_a_token_is_schema_valid_and_says_what_it_is_bound_to(actuator, capability):
    token = actuator.issue(SUBMISSION, capability, SCOPE, 300)
    assert axion().explain("capability_token", token) == []
    assert token["binding"] == {
        "proposal_hash": SUBMISSION.proposal_hash, "trace_hash": PROPOSAL["trace"]["trace_commit"], "scope_hash": scope_hash(SCOPE)
    }  # fmt: skip
    assert (token["issued_at_ms"], token["expires_at_ms"]) == (300, 1300)


def plain(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def test_the_signature_is_that_of_the_seed(actuator):
    token = actuator.issue(SUBMISSION, "move", SCOPE, 300)
    payload = plain({name: value for name, value in token.items() if name != "signature"})
    secret = Stream.named(7, "kernel-secret").bytes(32)
    assert token["signature"] == hashlib.sha256(secret + payload).hexdigest()


def test_the_same_run_issues_the_same_tokens_and_no_two_are_alike(world):
    def issued(seed):
        actuator = TokenActuator(world, sign_by_secret(seed, "episode", 0))
        return [actuator.issue(SUBMISSION, "move", SCOPE, 300) for _ in range(3)]

    first, again, other = issued(1), issued(1), issued(2)
    assert first == again
    assert {one["signature"] for one in first}.isdisjoint(one["signature"] for one in other)
    for field in ("token_id", "revocation_id", "signature"):
        assert len({one[field] for one in first}) == 3


def test_the_rate_counts_all_tokens_of_a_capability(world, actuator):
    scope = limited(max_calls=1, per_ms=200)
    first = actuator.issue(SUBMISSION, "move", scope, 300)
    act(actuator, first, 0, 300)
    second = actuator.issue(SUBMISSION, "move", scope, 400)
    other = actuator.issue(SUBMISSION, "pickup", scope, 400)
    assert reason(act, actuator, second, 1, 400) == "rate"
    assert reason(act, actuator, second, 1, 499) == "rate"
    act(actuator, other, 2, 499)
    act(actuator, second, 1, 500)
    assert len(world.calls) == 3


def test_the_rate_is_counted_up_to_the_most_that_a_scope_can_name(world, actuator):
    scope = limited(max_calls=1000, per_ms=50)
    for _ in range(1000):
        act(actuator, actuator.issue(SUBMISSION, "move", scope, 300), 0, 300)
    assert reason(act, actuator, actuator.issue(SUBMISSION, "move", scope, 349), 0, 349) == "rate"
    act(actuator, actuator.issue(SUBMISSION, "move", scope, 350), 0, 350)
    assert len(world.calls) == 1001


@given(gaps=st.lists(st.integers(0, 300), max_size=25), most=st.integers(1, 4), window=st.integers(1, 600))
def test_no_window_holds_more_executions_than_the_rate_permits(gaps, most, window):
    world, at_ms = World(), 0
    times: list[int] = []
    actuator = TokenActuator(world, SIGN)
    for gap in gaps:
        at_ms += gap
        token = actuator.issue(SUBMISSION, "move", limited(most, window, 10), at_ms)
        if len([time for time in times if time > at_ms - window]) < most:
            act(actuator, token, 0, at_ms)
            times.append(at_ms)
        else:
            assert reason(act, actuator, token, 0, at_ms) == "rate"
    assert len(world.calls) == len(times)


def test_a_token_is_good_from_its_issue_until_it_expires(actuator):
    token = actuator.issue(SUBMISSION, "move", limited(expiry_ms=100), 300)
    assert reason(act, actuator, token, 0, 299) == "expired"
    act(actuator, token, 0, 399)
    assert reason(act, actuator, token, 1, 400) == "expired"


def test_a_refusal_spends_nothing(world, actuator):
    token = actuator.issue(SUBMISSION, "move", limited(max_calls=1, per_ms=10_000), 300)
    changed = receive({**PROPOSAL, "payload": {**PROPOSAL["payload"], "intent": "other"}})
    assert reason(act, actuator, token, 0, submission=changed) == "wrong_proposal"
    act(actuator, token, 0)
    assert len(world.calls) == 1


def test_a_step_that_fails_has_been_spent():
    def fail(*arguments):
        raise ArithmeticError

    actuator = TokenActuator(fail, SIGN)
    token = actuator.issue(SUBMISSION, "move", SCOPE, 300)
    with pytest.raises(ArithmeticError):
        act(actuator, token, 0)
    assert reason(act, actuator, token, 0) == "spent"


def test_what_is_changed_after_it_was_received_is_not_covered(world, actuator):
    document = copy.deepcopy(PROPOSAL)
    submission = receive(document)
    document["payload"]["plan"]["steps"][0]["args"]["dir"] = "N"
    token = actuator.issue(submission, "move", SCOPE, 300)
    north = Asked({"op": "move", "dir": "N"}, scope_hash(SCOPE), 300)
    assert reason(actuator.act, token, 0, submission, north, {}, {}) == "wrong_action"
    act(actuator, token, 0, submission=submission)
    assert world.calls == [("move", STEPS[0])]


def test_nothing_that_cannot_be_hashed_gets_a_token(actuator):
    with pytest.raises(ValueError, match="hashed"):
        actuator.issue(receive(b"{"), "move", SCOPE, 300)


# Scopes


NARROWED = {
    "within the limit": (limited(), limited(9, 10, 9000), limited()),
    "fewer calls": (limited(5), limited(2), limited(2)),
    "a longer window": (limited(per_ms=10), limited(per_ms=100), limited(per_ms=100)),
    "a shorter time": (limited(expiry_ms=99), limited(expiry_ms=9), limited(expiry_ms=9)),
    "fewer operations, in their order": (
        limited(ops=("drop", "move", "wait")), limited(ops=("wait", "drop")), limited(ops=("drop", "wait"))
    ),
    "no operation": (limited(ops=("drop",)), limited(), None),
}  # fmt: skip


@pytest.mark.parametrize(("scope", "limit", "left"), NARROWED.values(), ids=NARROWED)
def test_a_scope_is_narrowed_to_its_limit(scope, limit, left):
    found = narrow(scope, limit)
    assert found == left
    assert left is None or axion().check("capability_scope")(found)


# Signatures


def sign(payload):
    return KEY.sign(payload).hex()


def test_ed25519_signatures_are_verified_and_not_reproduced_on_replay(world):
    tokens = [TokenActuator(world, sign).issue(SUBMISSION, "move", SCOPE, at_ms) for at_ms in (300, 400)]
    assert all(axion().check("capability_token")(token) for token in tokens)
    recorded = sign_again(PUBLIC, [token["signature"] for token in tokens])
    again = [TokenActuator(world, recorded).issue(SUBMISSION, "move", SCOPE, at_ms) for at_ms in (300, 400)]
    assert again == tokens
    assert reason(TokenActuator(world, recorded).issue, SUBMISSION, "move", SCOPE, 500) == "bad_signature"


SIGNATURE = sign(b"payload")
FORGED = {
    "of other bytes": sign(b"other"),
    "of another key": Ed25519PrivateKey.from_private_bytes(bytes(32)).sign(b"payload").hex(),
    "in capitals": SIGNATURE.upper(),
    "with white space": SIGNATURE[:64] + " " + SIGNATURE[64:],
    "cut": SIGNATURE[:-2],
    "no hexadecimal text": "z" * 128,
    "empty": "",
}


@pytest.mark.parametrize("signature", FORGED.values(), ids=FORGED)
def test_forged_signatures_are_refused(signature):
    again = sign_again(PUBLIC, [signature, SIGNATURE])
    assert reason(again, b"payload") == "bad_signature"
    assert again(b"payload") == SIGNATURE


def test_ed25519_without_its_package_is_said_so(monkeypatch):
    monkeypatch.setenv("KEY", "00" * 32)
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.asymmetric", None)
    for recorded in (None, ()):
        with pytest.raises(Rejected, match="E_SIGN_MISSING"):
            Signing(PUBLIC, variable="KEY").signer(recorded)


ATTEMPTS = {
    "executing": lambda tried, token: act(tried, token, 0),
    "revoking": lambda tried, token: tried.revoke(token["revocation_id"]),
    "executing as often as is allowed": lambda tried, token: [act(tried, token, index) for index in range(2)],
    "issuing": lambda tried, _token: tried.issue(SUBMISSION, "move", SCOPE, 300),
}


@pytest.mark.parametrize("attempt", ATTEMPTS.values(), ids=ATTEMPTS)
def test_what_is_tried_with_a_copy_does_not_count(actuator, attempt):
    """The kernel tries a plan with a copy of the actuator before it carries the plan out."""
    first = actuator.issue(SUBMISSION, "move", limited(max_calls=2), 300)
    tried, untouched = copy.copy(actuator), copy.copy(actuator)
    attempt(tried, first)
    assert [act(actuator, first, index)[0] is not None for index in range(2)] == [True, True]
    assert actuator.issue(SUBMISSION, "move", SCOPE, 300) == untouched.issue(SUBMISSION, "move", SCOPE, 300)


def test_a_copy_knows_what_was_executed_and_revoked_before(actuator):
    first, second = (actuator.issue(SUBMISSION, "move", limited(max_calls=2), 300) for _ in range(2))
    act(actuator, first, 0)
    actuator.revoke(second["revocation_id"])
    tried = copy.copy(actuator)
    assert reason(act, tried, first, 0) == "spent"
    assert reason(act, tried, second, 1) == "revoked"
    act(tried, first, 1)
    assert reason(act, tried, actuator.issue(SUBMISSION, "move", limited(), 300), 0) == "unknown"


def test_the_rate_counts_what_was_executed_by_the_actuator_itself_and_before_a_copy(world, actuator):
    """The times are of a capability, not of a token, so a copy has them and adds to its own."""
    scope = limited(max_calls=2, per_ms=200)

    def executes(by, at_ms):
        token = by.issue(SUBMISSION, "move", scope, at_ms)
        return act(by, token, 0, at_ms)[0] is not None

    assert executes(actuator, 300)
    tried = copy.copy(actuator)
    assert executes(tried, 310)
    assert reason(executes, tried, 320) == "rate"
    assert executes(actuator, 330)
    assert reason(executes, actuator, 340) == "rate"
