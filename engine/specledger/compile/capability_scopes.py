"""What a kernel grants, how it signs for that, and what an agent asks for.

Decides how a governor's `admission` and an agent's `requests` become documents and keys. Refuses to know whether a
request is granted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from specledger.gates.keys import Signing
from specledger.spec.agent import Requests
from specledger.spec.governor import Admission, Grant


def signing(admits: Admission) -> Signing | None:
    """How a kernel signs with a key, if it does."""
    if admits.public is None or admits.key is None:
        return None
    return Signing(bytes.fromhex(admits.public), admits.key.file, admits.key.variable)


def scope_of(grant: Grant) -> dict[str, Any]:
    """A grant as a `capability_scope` document."""
    return {
        "allowed_ops": list(grant.allowed_ops),
        "rate_limit": {"max_calls": grant.max_calls, "per_ms": grant.per_ms},
        "expiry_ms": grant.expiry_ms,
    }


def request(
    grants: Mapping[str, Mapping[str, Any]], wanted: Requests
) -> Callable[[Mapping[str, Any]], dict[str, Any] | None]:
    """`action -> the request for its capability`, None if it needs none: as much as is granted, or as is wanted."""

    def asks(action: Mapping[str, Any]) -> dict[str, Any] | None:
        capability = action["op"]
        if capability not in grants:
            return None
        granted = grants[capability]
        rate = granted["rate_limit"]
        scope = {
            "allowed_ops": [capability],
            "rate_limit": {
                "max_calls": wanted.max_calls or rate["max_calls"],
                "per_ms": wanted.per_ms or rate["per_ms"],
            },
            "expiry_ms": wanted.expiry_ms or granted["expiry_ms"],
        }
        return {"capability": capability, "scope": scope, "justification": "the first step of the plan"}

    return asks


def foreseeing(step: Callable[..., Any] | None) -> Callable[[Any, Mapping[str, Any]], Any] | None:
    """`(state, action) -> the state that an agent predicts`, where it has the world's own step."""
    if step is None:
        return None
    return lambda state, action: step(state, action["op"], action, {})[0]
