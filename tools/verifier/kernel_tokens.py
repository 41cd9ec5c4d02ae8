"""What a kernel holds on to: its audit entries, the tokens by which it acts, and the nonces of commitments.

The rules are those of docs/kernel.md: entries are chained by their hashes, a token covers steps of one plan, a nonce
opens one commitment and is revealed once.
"""

import hashlib
import hmac

from tools.verifier.basis import ZEROS, write
from tools.verifier.curve import ed25519
from tools.verifier.kernel_forms import canonical, hashed, uuid_named
from tools.verifier.stream import Stream

MOST_NOTES, MOST_WITNESSES, MOST_TOKENS = 4000, 128, 16


class Denied(Exception):
    """An attempt to act that a token does not permit; its reason is a code."""

    def __init__(self, reason):
        self.reason = reason
        super().__init__(reason)


class Entries:
    """Makes the entries of one audit log, each after the one before."""

    def __init__(self, mode="simulated", head=ZEROS):
        self.mode, self.head = mode, head

    def seal(self, event, at_ms, about, verdict="deny", codes=(), witnesses=(), tokens=()):
        """The next entry; `about` is the submission that it speaks of."""
        cut = len(witnesses) > MOST_WITNESSES or len(tokens) > MOST_TOKENS
        entry = {
            "timestamp_ms": at_ms,
            "prev_entry_hash": self.head,
            "event": event,
            "proposal_hash": about.proposal_hash,
            "trace_hash": about.trace_hash,
            "kernel_decision": {"verdict": verdict, "notes": self.notes(codes, cut)},
            "witnesses": list(witnesses[:MOST_WITNESSES]),
            "capability_tokens": list(tokens[:MOST_TOKENS]),
        }
        entry["entry_id"] = uuid_named("entry", hashed(entry))
        self.head = entry["entry_hash"] = hashed(entry)
        return entry

    def notes(self, codes, cut):
        """The mode and the codes, as many as fit."""
        words = [f"mode:{self.mode}", *(code.replace(" ", "_") for code in codes)]
        text = " ".join([*words, "cut"] if cut else words)
        if len(text) <= MOST_NOTES:
            return text
        return text[: MOST_NOTES - 4].rpartition(" ")[0] + " cut"


class SecretSigner:
    """The signature by a secret that the run's seed gives."""

    def __init__(self, seed):
        self.secret = Stream(seed, "kernel-secret").bytes(32)

    def sign(self, payload):
        """64 digits."""
        return hashlib.sha256(self.secret + payload).hexdigest()


class RecordedSigner:
    """Ed25519 signatures as they were recorded, each verified by the public key before it is taken."""

    def __init__(self, public, recorded):
        self.public, self.recorded = bytes.fromhex(public), iter(recorded)

    def sign(self, payload):
        """The next recorded signature, if it is right."""
        signature = next(self.recorded, "")
        try:
            raw = bytes.fromhex(signature)
        except ValueError:
            raise Denied("bad_signature") from None
        if raw.hex() != signature or not ed25519(self.public, raw, payload):
            raise Denied("bad_signature")
        return signature


def narrowed(scope, limit):
    """The part of a requested scope that a grant leaves; None if no operation is left."""
    ops = [op for op in scope["allowed_ops"] if op in limit["allowed_ops"]]
    if not ops:
        return None
    asked, most = scope["rate_limit"], limit["rate_limit"]
    rate = {"max_calls": min(asked["max_calls"], most["max_calls"]), "per_ms": max(asked["per_ms"], most["per_ms"])}
    return {"allowed_ops": ops, "rate_limit": rate, "expiry_ms": min(scope["expiry_ms"], limit["expiry_ms"])}


class Tokens:
    """The tokens of one episode, and the executions that were made by them."""

    def __init__(self, step, signer):
        self.step, self.signer = step, signer
        self.issued, self.calls = {}, {}

    def issue(self, submission, capability, scope, at_ms):
        """A token for a submission that was admitted."""
        binding = {
            "proposal_hash": submission.proposal_hash,
            "trace_hash": submission.trace_hash,
            "scope_hash": hashed(scope),
        }
        facts = {"at_ms": at_ms, "binding": binding, "capability": capability, "number": len(self.issued)}
        name = hashed(facts)
        token = {
            "token_id": uuid_named("token", name),
            "capability": capability,
            "scope": scope,
            "binding": binding,
            "issued_at_ms": at_ms,
            "expires_at_ms": at_ms + scope["expiry_ms"],
            "revocation_id": uuid_named("revocation", name),
        }
        token["signature"] = self.signer.sign(canonical(token))
        self.issued[token["token_id"]] = (canonical(token), submission.actions, set())
        return token

    def act(self, token, index, submission, action, granted, at_ms, state, inputs):
        """Execute a step of a plan: what is refused is refused with the first reason that there is."""
        if token is None:
            raise Denied("no_token")
        form, actions, spent = self.issued.get(token["token_id"], (None, [], set()))
        if form != canonical(token):
            raise Denied("unknown")
        binding, rate = token["binding"], token["scope"]["rate_limit"]
        before = self.calls.setdefault(token["capability"], [])
        most = rate["max_calls"]
        doubts = (
            ("expired", lambda: not token["issued_at_ms"] <= at_ms < token["expires_at_ms"]),
            ("wrong_proposal", lambda: binding["proposal_hash"] != submission.proposal_hash),
            ("wrong_trace", lambda: binding["trace_hash"] != submission.trace_hash),
            ("wrong_scope", lambda: binding["scope_hash"] != granted),
            ("wrong_op", lambda: action.get("op") not in token["scope"]["allowed_ops"]),
            ("wrong_action", lambda: not 0 <= index < len(actions) or write(action) != actions[index]),
            ("spent", lambda: index in spent),
            ("exhausted", lambda: len(spent) >= most),
            ("rate", lambda: len(before) >= most and before[-most] > at_ms - rate["per_ms"]),
        )
        for reason, holds in doubts:
            if holds():
                raise Denied(reason)
        spent.add(index)
        before.append(at_ms)
        return self.step(state, action, inputs)


def commitment_of(nonce, state_digest, focus):
    """What commits to a state's digest and to the variables it was seen through."""
    message = bytes.fromhex(state_digest) + b"\0" + hashlib.sha256(write(list(focus))).digest()
    return hmac.new(nonce, message, hashlib.sha256).hexdigest()


class Vault:
    """The nonces of one agent over one run; each is revealed once, under a challenge."""

    def __init__(self, seed):
        self.stream, self.made = Stream(seed, "nonce"), 0
        self.kept, self.seen = {}, {}

    def snapshot(self, fork, digest, focus):
        """Commit to a state's digest under a fresh nonce."""
        nonce, reference = self.stream.bytes(32), f"nonce-{self.made}"
        self.made += 1
        self.kept[reference] = nonce
        return {
            "fork_id": fork,
            "state_digest": digest,
            "focus_vars": list(focus),
            "commitment": commitment_of(nonce, digest, focus),
            "nonce_ref": reference,
        }

    def opens(self, snapshot):
        """Challenge a snapshot: whether its commitment opens. What was revealed before is known."""
        reference = snapshot["nonce_ref"]
        if reference not in self.seen:
            nonce = self.kept.pop(reference, None)
            if nonce is None:
                return False
            self.seen[reference] = nonce
        given = commitment_of(self.seen[reference], snapshot["state_digest"], snapshot["focus_vars"])
        return given == snapshot["commitment"]
