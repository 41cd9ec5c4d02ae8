"""The trials of a discovery: of a proposed law, of an accepted law, and of a law under other rules.

Where the prover and the cases disagree the result is an error without a verdict. A verdict that no receipt can hold is
UNKNOWN.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from specledger.core.diagnostics import Rejected
from specledger.discovery.plan import DiscoveryPlan
from specledger.laws.law import Law, LawPlan
from specledger.laws.trial import verdict_document
from specledger.spec.discovery import Effort, Escalation

ACCEPTED: Final = ("PROVED", "PASS")
"""What a law is that was not refuted."""

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
    verdict = verdict_document(law, content=content)
    if verdict["status"] == "ERROR":
        return {"verdict": None, "error": verdict["detail"]}
    return {"verdict": verdict, "error": None}
