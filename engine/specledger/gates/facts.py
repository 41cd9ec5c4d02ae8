"""What the kernel itself finds about a valid document, for invariants to judge.

Decides nothing but facts: hashes, sums, what can be reached, what a claim says. Refuses to call any of them right or
wrong: invariants do, as specs.

Source: toy-pseudo-axion, Canonical hashing rules, ForkSnapshot Commit-Reveal, Kernel invariants.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from specledger.core.canonical import canonical_ints
from specledger.core.digest import hash_json, sha256_hex
from specledger.gates.digests import Submission, mass_units
from specledger.gates.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Facts:
    """Finds the facts about documents.

    Attributes:
        env: `state -> the environment that a document must show`.
        names: `state -> the variables that there are`.
        normalize: `(state, variables) -> normal form`.
        label: The world's label of an action; `LookupError` where the world has no such action.
        vocabulary: How claims are worded.
    """

    env: Callable[[Any], dict[str, Any]]
    names: Callable[[Any], list[str]]
    normalize: Callable[[Any, list[str]], dict[str, Any]]
    label: Callable[[Mapping[str, Any]], str]
    vocabulary: Vocabulary

    def find(self, state: Any, document: Any, submission: Submission) -> dict[str, Any]:
        """What is found about a document that its schema accepted.

        Raises:
            EvaluationError: The state has no environment or normal form.
            NotCanonical: Something that must be hashed has no canonical form.
        """
        trace = document["trace"]
        digest = sha256_hex(canonical_ints(self.env(state)))  # its type holds no floats; nor does that of a normal form
        known = self.names(state)
        masses = [one["prob_mass"] for one in trace["counterfactuals"]]
        return {
            "trace_hash": submission.trace_hash,
            "env_digest": hash_json(document["env"]),  # in Python `true` equals 1, in a digest it does not
            "state_digest": digest,
            "mass": mass_units(masses),
            "mass_in_range": all(0 <= mass <= 1 for mass in masses),
            "snapshots": [self._snapshot(state, known, one) for one in trace["fork_snapshots"]],
            "nodes": sorted({node["id"] for node in trace["nodes"]}),
            "leading": leading(trace["nodes"], trace["edges"]),
            "claims": [self._claim(one) for one in trace["causal_claims"]],
            "known": known,
            "step": self._step(document["payload"]["plan"]["steps"][0]),
        }

    def _snapshot(self, state: Any, known: list[str], snapshot: Mapping[str, Any]) -> dict[str, str]:
        focus = snapshot["focus_vars"]
        expected = sha256_hex(canonical_ints(self.normalize(state, focus))) if set(focus) <= set(known) else ""
        return {"fork_id": snapshot["fork_id"], "given": snapshot["state_digest"], "expected": expected}

    def _claim(self, claim: Mapping[str, Any]) -> dict[str, str]:
        said = self.vocabulary.parse(claim["expected_effect_on_choice"])
        return {"var": claim["var"], **(said or {"counterfactual": "", "choice": ""})}

    def _step(self, step: Mapping[str, Any]) -> str:
        if "op" in step["args"]:
            return ""
        try:
            return self.label({**step["args"], "op": step["op"]})
        except LookupError:
            return ""


def leading(nodes: list[Mapping[str, Any]], edges: list[Mapping[str, Any]]) -> list[int]:
    """The identifiers of the nodes from which the last one can be reached, itself among them, ascending."""
    known = {node["id"] for node in nodes}
    before: dict[int, list[int]] = {}
    for edge in edges:
        before.setdefault(edge["to"], []).append(edge["from"])
    reached: set[int] = set()
    waiting = [nodes[-1]["id"]]
    while waiting:
        node = waiting.pop()
        if node in known and node not in reached:
            reached.add(node)
            waiting += before.get(node, ())
    return sorted(reached)
