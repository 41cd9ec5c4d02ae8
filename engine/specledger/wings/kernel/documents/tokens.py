"""Capability tokens as documents, and the actuator of a world that acts through them alone.

A token binds a proposal, its trace and a scope. It covers the steps of that proposal's plan, each once and at most
`max_calls` of them, until it expires or is revoked. Time is kernel time in milliseconds, an argument.

Refusals, in the order of the checks: `no_token`, `unknown` (never issued here, or altered), `revoked`, `expired`,
`wrong_proposal`, `wrong_trace`, `wrong_scope`, `wrong_op`, `wrong_action` (no step of the plan), `spent`, `exhausted`
(more executions than `max_calls`), `rate` (more than `max_calls` within `per_ms`, over all tokens of one capability,
since otherwise a new token would begin a new count).

Source: toy-pseudo-axion, Capability tokens; schemas/axion/capability_token.json.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from specledger.core.canonical import NotCanonical, canonical_bytes, canonical_ints
from specledger.core.digest import sha256_hex
from specledger.core.entries import uuid_of
from specledger.gates.capability import Refused
from specledger.wings.kernel.documents.digests import Submission, scope_hash
from specledger.wings.kernel.documents.signatures import Sign

MOST_CALLS: Final = 1000
"""Executions that a scope's rate limit can count, by its schema."""


REFUSALS: Final = (
    *("no_token", "unknown", "revoked", "expired", "wrong_proposal", "wrong_trace", "wrong_scope", "wrong_op"),
    *("wrong_action", "spent", "exhausted", "rate"),
)
"""The reasons of refusals, in the order of the checks."""


class Asked(NamedTuple):
    """What an execution is asked for, beside the token.

    Attributes:
        action: The action of the world: its `op` and its arguments.
        scope: The hash of the scope in which it is done, the one that the decision at hand granted.
        at_ms: Kernel time.
    """

    action: Mapping[str, Any]
    scope: str
    at_ms: int


def narrow(scope: Mapping[str, Any], limit: Mapping[str, Any]) -> dict[str, Any] | None:
    """The part of a requested scope that a limit leaves; equal to the request if it is within the limit.

    Returns:
        A schema-valid scope, or None if no operation is left.
    """
    ops = [op for op in scope["allowed_ops"] if op in limit["allowed_ops"]]
    if not ops:
        return None
    asked, most = scope["rate_limit"], limit["rate_limit"]
    return {
        "allowed_ops": ops,
        "rate_limit": {
            "max_calls": min(asked["max_calls"], most["max_calls"]),
            "per_ms": max(asked["per_ms"], most["per_ms"]),
        },
        "expiry_ms": min(scope["expiry_ms"], limit["expiry_ms"]),
    }


class _Issued(Struct):
    """A token that was issued: its canonical form, the actions that it covers, and which of them were executed."""

    form: bytes
    actions: tuple[bytes, ...]
    spent: set[int] = field(default_factory=set)


class TokenActuator:
    """The only holder of a world's step function; it issues tokens and acts by them. One serves one episode."""

    def __init__(self, step: Callable[..., tuple[Any, Any]], sign: Sign) -> None:
        """Hold the step function `(state, op, action, inputs) -> (next state, outcome)`."""
        self._step = step
        self._sign = sign
        self._issued: dict[str, _Issued] = {}
        self._revoked: set[str] = set()
        self._calls: dict[str, deque[int]] = {}

    def issue(self, submission: Submission, capability: str, scope: Mapping[str, Any], at_ms: int) -> dict[str, Any]:
        """Issue a token for a submission that was admitted.

        The token is called after `capability`: a requested one, or an operation that needs no request. `scope` is the
        requested one or a narrower one.

        Raises:
            Refused: `bad_signature`, from a signer that replays recorded signatures.
        """
        if submission.form is None:
            raise ValueError("no token is issued for what cannot be hashed")
        binding = {
            "proposal_hash": submission.proposal_hash,
            "trace_hash": submission.trace_hash,
            "scope_hash": scope_hash(scope),
        }
        number = len(self._issued)
        facts = {"at_ms": at_ms, "binding": binding, "capability": capability, "number": number}
        name = sha256_hex(canonical_ints(facts))
        token: dict[str, Any] = {
            "token_id": uuid_of("token", name),
            "capability": capability,
            "scope": {**scope},
            "binding": binding,
            "issued_at_ms": at_ms,
            "expires_at_ms": at_ms + scope["expiry_ms"],
            "revocation_id": uuid_of("revocation", name),
        }
        token["signature"] = self._sign(canonical_ints(token))
        self._issued[token["token_id"]] = _Issued(canonical_ints(token), submission.actions)
        return token

    def __copy__(self) -> TokenActuator:
        """An actuator that knows the same tokens; an execution through it is not counted here."""
        copy = object.__new__(TokenActuator)
        copy.__dict__.update(self.__dict__)
        copy._issued = {key: replace(grant, spent=set(grant.spent)) for key, grant in self._issued.items()}
        copy._revoked = set(self._revoked)
        copy._calls = {name: deque(calls, MOST_CALLS) for name, calls in self._calls.items()}
        return copy

    def revoke(self, revocation_id: str) -> None:
        """Make a token void, whether it was issued already or not."""
        self._revoked.add(revocation_id)

    def act(
        self,
        token: Mapping[str, Any] | None,
        index: int,
        committed: Submission,
        scope: Asked,
        state: Any,
        inputs: Mapping[str, Any],
    ) -> tuple[Any, Any]:
        """Execute one step of a plan.

        `index` is the step's place in the plan, `scope` what is asked for, and when.

        Raises:
            Refused: With one of the reasons that the module lists. Nothing is executed then.
        """
        if token is None:
            raise Refused("no_token")
        issued = self._find(token)
        self._check_binding(token, committed, scope)
        _check_action(token, issued, index, scope.action)
        calls = self._check_count(token, issued, index, scope.at_ms)
        issued.spent.add(index)
        calls.append(scope.at_ms)
        return self._step(state, scope.action["op"], scope.action, inputs)

    def _find(self, token: Mapping[str, Any]) -> _Issued:
        """What was noted of a token when it was issued; every field of it is compared, its signature too."""
        identifier = token.get("token_id")
        issued = self._issued.get(identifier) if isinstance(identifier, str) else None
        if issued is None or _form(token) != issued.form:
            raise Refused("unknown")
        return issued

    def _check_binding(self, token: Mapping[str, Any], committed: Submission, asked: Asked) -> None:
        """Whether the token is in force, and bound to what is being carried out."""
        binding = token["binding"]
        if token["revocation_id"] in self._revoked:
            raise Refused("revoked")
        if not token["issued_at_ms"] <= asked.at_ms < token["expires_at_ms"]:
            raise Refused("expired")
        if binding["proposal_hash"] != committed.proposal_hash:
            raise Refused("wrong_proposal")
        if binding["trace_hash"] != committed.trace_hash:
            raise Refused("wrong_trace")
        if binding["scope_hash"] != asked.scope:
            raise Refused("wrong_scope")

    def _check_count(self, token: Mapping[str, Any], issued: _Issued, index: int, at_ms: int) -> deque[int]:
        """Whether one more execution is permitted; the times of the capability's earlier ones."""
        limit = token["scope"]["rate_limit"]
        most: int = limit["max_calls"]
        if index in issued.spent:
            raise Refused("spent")
        if len(issued.spent) >= most:
            raise Refused("exhausted")
        calls = self._calls.setdefault(token["capability"], deque(maxlen=MOST_CALLS))
        if len(calls) >= most and calls[-most] > at_ms - limit["per_ms"]:
            raise Refused("rate")
        return calls


def _check_action(token: Mapping[str, Any], issued: _Issued, index: int, action: Mapping[str, Any]) -> None:
    """Whether an action is of the scope's operations, and the step of the plan at the index."""
    if action.get("op") not in token["scope"]["allowed_ops"]:
        raise Refused("wrong_op")
    if not 0 <= index < len(issued.actions) or _form(action) != issued.actions[index]:
        raise Refused("wrong_action")


def _form(document: Mapping[str, Any]) -> bytes | None:
    """The canonical form of a presented document, None if it has none."""
    try:
        return canonical_bytes({**document})
    except NotCanonical:
        return None
