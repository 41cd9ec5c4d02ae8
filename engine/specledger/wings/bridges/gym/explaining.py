"""A policy, any Python function, as an agent under a kernel: its choices, and claims of what would change them.

The claims come from whatever explains the policy: asking the policy itself about other values, a surrogate, a ranking.
The kernel tests them against the policy, which sees the observation, and each variable under its own name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from specledger.core.canonical import canonical_bytes
from specledger.core.digest import sha256_hex
from specledger.core.floats import FLOATS_ANYWHERE
from specledger.core.rng import Stream

Observation = Mapping[str, Any]
Policy = Callable[[Observation], Mapping[str, Any]]
"""`observation -> action`, an operation `op` with its arguments."""
Values = Callable[[Observation], Mapping[str, Iterable[Any]]]
"""`observation -> values to try`, by variable and in the order in which they are tried."""
Explainer = Callable[[Observation], list[dict[str, Any]]]
"""`observation -> claims`, each `{variable, becomes, choice}`, and `confidence` from 0 to 1 where it is not sure."""

_NONCE = 32


def by_asking(policy: Policy, values: Values, *, most: int = 3, times: int = 5) -> Explainer:
    """Explain by a policy: the first value of each variable after which it chooses otherwise, and what it chooses then.

    With the policy itself this is perturbation; with a surrogate the claims are as good as that is. Variables that
    change nothing come last, so that there are claims enough for a kernel that demands some. A value is tried in
    `seen[variable]` alone: a policy that reads the same from another member of the observation does not notice it.
    The policy is asked `times` times about each value, and five times as often where its answers differ: what it does
    most often is claimed, since one draw would say nothing of the next. `times=1` is for a policy that draws nothing.

    Raises:
        TypeError: One of the two is no function, such as a mapping of values that are the same for each observation.
    """
    _demand_function("policy", policy, "observation -> action")
    _demand_function(
        "values", values, "observation -> {variable: values to try}; a constant one is `lambda seen: {...}`"
    )

    def explain(seen: Observation) -> list[dict[str, Any]]:
        here, moving, idle = _most_often(policy, seen, times), list[dict[str, Any]](), list[dict[str, Any]]()
        for variable, tried in values(seen).items():
            claims: list[dict[str, Any]] = []
            for value in tried:
                choice = _most_often(policy, {**seen, variable: value}, times)
                claims.append({"variable": variable, "becomes": value, "choice": choice})
                if choice != here:
                    moving.append(claims[-1])
                    break
            else:
                idle += claims[:1]
        return (moving + idle)[:most]

    return explain


def _most_often(policy: Policy, seen: Observation, times: int) -> Mapping[str, Any]:
    """What a policy chooses most often, of as many choices the one that came first."""
    came = [policy(seen) for _ in range(times)]
    if any(choice != came[0] for choice in came):
        came += [policy(seen) for _ in range(4 * times)]
    return max(came, key=came.count)


def _demand_function(name: str, given: object, form: str) -> None:
    if not callable(given):
        raise TypeError(f"{name} is {type(given).__name__}, expected a function {form}")


class Explained:
    """An agent for `outside: {python: module:name}`: a policy, and what explains it."""

    def __init__(
        self,
        policy: Policy,
        explain: Explainer,
        *,
        name: str = "policy",
        seed: int = 0,
        deterministic: bool = True,
    ) -> None:
        """Answer for a policy; commitments are opened by nonces of the seed, another one for each decision.

        `deterministic` promises that the policy and what explains it draw nothing; without it, questions are repeated.
        """
        _demand_function("policy", policy, "observation -> action")
        _demand_function("explain", explain, "observation -> [{variable, becomes, choice}], such as `by_asking` makes")
        self._policy, self._explain, self._name, self._deterministic = policy, explain, name, deterministic
        self._seed = seed
        self._asked: dict[int, dict[str, Any]] = {}
        self._committed: dict[str, tuple[str, dict[str, Any]]] = {}

    def __call__(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """Answer one message of the protocol."""
        kind = message["type"]
        if kind == "hello":
            can = ["claims", "commit"]
            promise = {"deterministic": self._deterministic}
            return {"type": "hello", "name": self._name, "state": "none", **promise, "can": can}
        if kind == "reveal":
            nonce, payload = self._committed[message["commitment"]]
            return {"type": "reveal", "nonce": nonce, "payload": payload}
        if kind == "restate":
            return {"type": "statement", **self._asked[message["of"]]}
        if kind == "offer":
            return {"type": "declined"}
        if kind not in ("decide", "ask"):
            return {"type": "ready"}
        variables = {name: known["value"] for name, known in message.get("variables", {}).items() if "value" in known}
        seen = {**message["observation"], **variables}
        stated = {"action": dict(self._policy(seen)), "claims": self._explain(seen)}
        self._asked[message["id"]] = stated
        return {
            "type": "statement",
            **stated,
            **({"commitment": self._commit(message, stated)} if kind == "decide" else {}),
        }

    def _commit(self, message: Mapping[str, Any], stated: dict[str, Any]) -> str:
        # by the decision, not by how many came before it: an agent that is started again does not know of these
        decision = (message.get("episode", 0), message.get("t", 0), message["id"])
        nonce = Stream.named(self._seed, "explained", self._name, *decision).bytes(_NONCE)
        commitment = sha256_hex(nonce + canonical_bytes(stated, FLOATS_ANYWHERE))
        self._committed[commitment] = (nonce.hex(), stated)
        return commitment
