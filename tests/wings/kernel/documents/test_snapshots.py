"""A commitment is the seed's, opens in one way, and is opened only under a challenge."""

import hashlib
import hmac
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specledger.core.digest import hash_json
from specledger.core.rng import Stream
from specledger.gates.capability import Refused
from specledger.wings.kernel.documents.schemas import axion
from specledger.wings.kernel.documents.snapshots import Challenge, Challenges, Vault, commit, opens

STATE = {"tick": 3, "grid": {"w": 12, "h": 12}, "rng_seed": "42", "self": {"id": "self", "x": 1, "y": 1}}
FOCUS = ["self.energy", "hazards.at"]
DIGEST = hash_json(STATE)
NONCE = bytes(range(32))


@pytest.fixture
def challenges():
    return Challenges()


@pytest.fixture
def vault(challenges):
    return Vault(Stream.named(7, "nonces", "agent"), challenges)


def test_the_commitment_is_that_of_the_seed():
    text = json.dumps(STATE, sort_keys=True, separators=(",", ":")).encode()
    assert hashlib.sha256(text).hexdigest() == DIGEST
    focus = hashlib.sha256(b'["self.energy","hazards.at"]').digest()
    message = hashlib.sha256(text).digest() + b"\x00" + focus
    assert commit(NONCE, DIGEST, FOCUS) == hmac.new(NONCE, message, "sha256").hexdigest()


def test_a_snapshot_is_schema_valid_and_hides_its_nonce(vault, challenges):
    snapshot = vault.snapshot("fork-0", DIGEST, FOCUS)
    assert axion().explain("fork_snapshot", snapshot) == []
    nonce = vault.reveal(challenges.challenge(snapshot["nonce_ref"]))
    assert len(nonce) == 32
    assert nonce.hex() not in json.dumps(snapshot)
    assert opens(snapshot, nonce)


CHANGES = {
    "the state": {"state_digest": hash_json({**STATE, "tick": 4})},
    "a variable": {"focus_vars": ["self.energy", "objects.at"]},
    "the order of variables": {"focus_vars": FOCUS[::-1]},
    "a variable less": {"focus_vars": FOCUS[:1]},
    "the commitment": {"commitment": "0" * 64},
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_changed_snapshot_does_not_open(vault, challenges, change):
    snapshot = vault.snapshot("fork-0", DIGEST, FOCUS)
    nonce = vault.reveal(challenges.challenge(snapshot["nonce_ref"]))
    assert opens(snapshot, nonce)
    assert not opens({**snapshot, **change}, nonce)


@given(nonce=st.binary(max_size=70))
def test_no_other_nonce_opens_a_commitment_however_long(nonce):
    snapshot = {"state_digest": DIGEST, "focus_vars": FOCUS, "commitment": commit(NONCE, DIGEST, FOCUS)}
    assert opens(snapshot, nonce) == (nonce == NONCE)
    assert opens(snapshot, NONCE)
    assert not opens(snapshot, NONCE + b"\x00")


def test_no_nonce_serves_twice(vault, challenges):
    snapshots = [vault.snapshot("same", DIGEST, FOCUS) for _ in range(200)]
    nonces = [vault.reveal(challenges.challenge(one["nonce_ref"])) for one in snapshots]
    assert (
        len({*nonces})
        == len({one["commitment"] for one in snapshots})
        == len({one["nonce_ref"] for one in snapshots})
        == 200
    )


def test_a_stream_that_repeats_itself_is_refused(challenges):
    class Stuck(Stream):
        def bytes(self, count):
            return b"x" * count

    vault = Vault(Stuck(b"k" * 32), challenges)
    vault.snapshot("one", DIGEST, FOCUS)
    with pytest.raises(ValueError, match="repeats"):
        vault.snapshot("two", DIGEST, FOCUS)


def test_the_same_stream_gives_the_same_snapshots():
    made = [Vault(Stream.named(7, "nonces"), Challenges()).snapshot("f", DIGEST, FOCUS) for _ in range(2)]
    other = Vault(Stream.named(8, "nonces"), Challenges()).snapshot("f", DIGEST, FOCUS)
    assert made[0] == made[1] != other


def answered(vault, challenges, reference):
    challenge = challenges.challenge(reference)
    vault.reveal(challenge)
    return challenge


REFUSED = {
    "no challenge": (lambda vault, challenges, ref: None, "no_challenge"),
    "one that the kernel did not make": (lambda vault, challenges, ref: Challenge(0, ref), "no_challenge"),
    "one of another kernel": (lambda vault, challenges, ref: Challenges().challenge(ref), "no_challenge"),
    "an open one with another reference": (
        lambda vault, challenges, ref: challenges.challenge("nonce-9")._replace(nonce_ref=ref), "no_challenge"
    ),
    "one that was answered": (answered, "no_challenge"),
    "one for an unknown nonce": (lambda vault, challenges, ref: challenges.challenge("nonce-9"), "unknown_nonce"),
    "a second one for a nonce": (
        lambda vault, challenges, ref: answered(vault, challenges, ref) and challenges.challenge(ref), "unknown_nonce"
    ),
}  # fmt: skip


@pytest.mark.parametrize(("obtain", "reason"), REFUSED.values(), ids=REFUSED)
def test_nothing_is_revealed_but_under_an_open_challenge(vault, challenges, obtain, reason):
    challenge = obtain(vault, challenges, vault.snapshot("fork-0", DIGEST, FOCUS)["nonce_ref"])
    with pytest.raises(Refused) as refused:
        vault.reveal(challenge)
    assert refused.value.reason == reason


@pytest.mark.parametrize("size", [0, 16, 31, 33, 64])
def test_a_nonce_has_32_bytes(size):
    with pytest.raises(ValueError, match="32 bytes"):
        commit(b"n" * size, DIGEST, FOCUS)


@pytest.mark.parametrize(
    ("nonces", "alike", "opened"), [("fresh", False, True), ("reused", True, True), ("late", False, False)]
)
def test_an_agent_of_a_spec_may_misuse_its_nonces(nonces, alike, opened):
    challenges = Challenges()
    vault = Vault(Stream.named(7, "nonces"), challenges, nonces)
    first, second = (vault.snapshot("f", DIGEST, FOCUS) for _ in range(2))
    assert (first["commitment"] == second["commitment"]) == alike
    assert opens(first, vault.reveal(challenges.challenge(first["nonce_ref"]))) == opened
