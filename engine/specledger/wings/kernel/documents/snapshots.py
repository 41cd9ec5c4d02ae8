"""Fork snapshots: an agent commits to what it looked at, and opens the commitment when it is challenged.

    commitment = HMAC-SHA256(key = nonce, message = state digest || 0x00 || SHA-256(canonical JSON of focus_vars))

with both digests as 32 raw bytes and a nonce of 32. No nonce is used twice, and none is revealed without a challenge. A
vault belongs to one agent. It is no part of the agent's memory: a copy of the memory must not draw the same nonces.

Source: toy-pseudo-axion, ForkSnapshot Commit-Reveal; schemas/axion/fork_snapshot.json.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from specledger.core.canonical import canonical_bytes
from specledger.core.digest import KEY_SIZE, hmac_sha256, sha256_raw
from specledger.core.rng import Stream
from specledger.gates.capability import Refused

_SEPARATOR: Final = b"\x00"


def commit(nonce: bytes, state_digest: str, focus_vars: Sequence[str]) -> str:
    """The commitment to a state digest and an array of focus variables, in hex.

    Raises:
        ValueError: The nonce has not 32 bytes, or the digest is no hexadecimal text.
        NotCanonical: The variables have no canonical form.
    """
    variables = sha256_raw(canonical_bytes(list(focus_vars)))
    return hmac_sha256(nonce, bytes.fromhex(state_digest) + _SEPARATOR + variables)


def opens(snapshot: Mapping[str, Any], nonce: bytes) -> bool:
    """Whether a nonce opens the commitment of a schema-valid snapshot; one of another length never does."""
    if len(nonce) != KEY_SIZE:
        return False
    commitment: str = snapshot["commitment"]
    return commit(nonce, snapshot["state_digest"], snapshot["focus_vars"]) == commitment


class Challenge(NamedTuple):
    """A demand to open one commitment."""

    number: int
    nonce_ref: str


class Challenges:
    """The challenges that a kernel has made; only one of these is ever answered, and once."""

    def __init__(self) -> None:
        """Begin without any."""
        self._open: set[Challenge] = set()
        self._made = 0

    def challenge(self, nonce_ref: str) -> Challenge:
        """Demand the nonce that a snapshot refers to."""
        challenge = Challenge(self._made, nonce_ref)
        self._made += 1
        self._open.add(challenge)
        return challenge

    def close(self, challenge: Challenge) -> bool:
        """Take back a challenge that is open; False if it is not."""
        if challenge not in self._open:
            return False
        self._open.remove(challenge)
        return True


class Vault:
    """The nonces of one agent over one run."""

    def __init__(self, stream: Stream, challenges: Challenges, nonces: str = "fresh") -> None:
        """Draw nonces from a stream that nothing else draws from, and reveal them under these challenges.

        `nonces` says how an agent of a spec misuses them, if it does; see `spec.agent.Narration`.
        """
        self._stream = stream
        self._challenges = challenges
        self._nonces = nonces
        self._kept: dict[str, bytes] = {}
        self._used: set[bytes] = set()
        self._made = 0

    def snapshot(self, fork_id: str, state_digest: str, focus_vars: Sequence[str]) -> dict[str, Any]:
        """Commit to a state digest under a nonce.

        Raises:
            ValueError: The digest is no hexadecimal text, or the stream gives a nonce that was used.
            NotCanonical: The variables have no canonical form.
        """
        reused = self._nonces == "reused" and bool(self._used)
        nonce = next(iter(self._used)) if reused else self._stream.bytes(KEY_SIZE)
        if nonce in self._used and not reused:
            raise ValueError("the stream of nonces repeats itself")
        commitment = commit(nonce, state_digest, focus_vars)
        reference = f"nonce-{self._made}"
        self._made += 1
        self._used.add(nonce)
        self._kept[reference] = nonce
        return {
            "fork_id": fork_id,
            "state_digest": state_digest,
            "focus_vars": list(focus_vars),
            "commitment": commitment,
            "nonce_ref": reference,
        }

    def reveal(self, challenge: Challenge | None) -> bytes:
        """The nonce that a challenge asks for; afterwards both are spent.

        Raises:
            Refused: `no_challenge`, if the kernel has not made it, or it was answered; `unknown_nonce`, if the nonce is
                not this agent's, or was revealed before.
        """
        if challenge is None or not self._challenges.close(challenge):
            raise Refused("no_challenge")
        nonce = self._kept.pop(challenge.nonce_ref, None)
        if nonce is None:
            raise Refused("unknown_nonce")
        return self._stream.bytes(KEY_SIZE) if self._nonces == "late" else nonce
