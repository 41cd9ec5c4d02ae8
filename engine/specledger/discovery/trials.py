"""The trials of a discovery: of a proposed law, of an accepted law, and of a law under other rules.

Where the prover and the cases disagree the result is an error without a verdict. A verdict that no receipt can hold is
UNKNOWN.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from specledger.core.canonical import NotCanonical, canonical_bytes
from specledger.core.diagnostics import Rejected
from specledger.discovery.plan import DiscoveryPlan
from specledger.laws.law import Law, LawPlan
from specledger.laws.trial import try_law
from specledger.laws.verdict import Verdict
from specledger.spec.discovery import Effort, Escalation

ACCEPTED: Final = ("PROVED", "PASS")
"""What a law is that was not refuted."""

MOST_VERDICT: Final = 4_194_304
"""Bytes of a verdict at most: a receipt holds it, and no verifier reads one of any length."""

_HELD: Final = ("status", "method", "reason", "up_to", "counterexample")


def try_proposed(plan: DiscoveryPlan, document: Mapping[str, Any], effort: Effort | Escalation) -> dict[str, Any]:
    """Try a law in the universe of its discovery: `{verdict, error}`, of which one is null."""
    return _tried(plan.law(document, effort))


def try_elsewhere(plan: DiscoveryPlan, document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Try a law under the rules that are held out.

    Returns:
        For each rule `{universe, mutant, status, method, reason, up_to, counterexample}`: the mutants of the universe's
        own rule by their numbers, then the other universes by their keys; `status` is INAPPLICABLE, with the code as
        the reason, where the law cannot be said, and ERROR as above.
    """
    found = [_held(plan.universe.root, number, law) for number, law in plan.mutants(document)]
    for universe in plan.others:
        try:
            law = plan.law_elsewhere(document, universe).law
        except Rejected as rejected:
            blank = dict.fromkeys(_HELD) | {"status": "INAPPLICABLE", "reason": rejected.diagnostics[0].code}
            found.append({"universe": universe.root, "mutant": None, **blank})
        else:
            found.append(_held(universe.root, None, law))
    return found


def _held(universe: str, mutant: int | None, law: Law) -> dict[str, Any]:
    tried = _tried(LawPlan(law, "", ""), content=False)
    verdict = tried["verdict"] or dict.fromkeys(_HELD) | {"status": "ERROR", "reason": tried["error"]}
    return {"universe": universe, "mutant": mutant, **{name: verdict[name] for name in _HELD}}


def _tried(law: LawPlan, *, content: bool = True) -> dict[str, Any]:
    from specledger.laws.harness import Contradiction  # noqa: PLC0415 - numpy opens no door

    try:
        verdict = try_law(law, content=content).to_json(law.law)
    except Contradiction as error:
        return {"verdict": None, "error": str(error)}
    try:
        size = len(canonical_bytes(verdict))
    except NotCanonical:
        unsaid = Verdict("UNKNOWN", "none", "evaluation_error", "an integer of the verdict is beyond 2^53 - 1")
        return {"verdict": unsaid.to_json(law.law), "error": None}
    if size > MOST_VERDICT:
        unsaid = Verdict(
            "UNKNOWN", "none", "resource_limit", f"the verdict has {size} bytes, of at most {MOST_VERDICT}"
        )
        return {"verdict": unsaid.to_json(law.law), "error": None}
    return {"verdict": verdict, "error": None}
