"""Whether a call may be made, by what gates, rules and invariants say of it before it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from specledger.compile.plan import Judgement
from specledger.core.events import GuardDecision, Severity
from specledger.expr import EvaluationError
from specledger.run.controller import Foresee
from specledger.wings.trajectories.model import Call
from specledger.wings.trajectories.rules.plans import Outcome, Status

GATE: Final = "gate"
RULE: Final = "rule"
INVARIANT: Final = "invariant"
WORLD: Final = "world"
"""What an objection is of."""
WOULD_BREAK: Final = "the call would break it"


class Objection(Struct, frozen=True):
    """Why a call is not simply allowed.

    Attributes:
        of: gate, rule, invariant, or the world, whose name is then that of the tool.
    """

    of: str
    name: str
    reason: str

    def document(self) -> dict[str, str]:
        """The objection as a receipt holds it."""
        return {"of": self.of, "name": self.name, "reason": self.reason}


class Decision(Struct, frozen=True):
    """What is decided of a call.

    Attributes:
        denied_by: What forbids the call.
        unjudged: What could not be judged.
    """

    call: str
    tool: str
    allowed: bool
    denied_by: tuple[Objection, ...] = ()
    unjudged: tuple[Objection, ...] = ()

    def document(self) -> dict[str, Any]:
        """The decision as a receipt holds it."""
        return {
            "call": self.call,
            "tool": self.tool,
            "decision": (GuardDecision.ALLOW if self.allowed else GuardDecision.DENY).value,
            "denied_by": [objection.document() for objection in self.denied_by],
            "unjudged": [objection.document() for objection in self.unjudged],
        }


def decide(
    call: Call,
    gaps: tuple[str, ...],
    judgement: Judgement | None,
    outcomes: Sequence[tuple[str, Outcome]],
    result: Mapping[str, Any],
    foresee: Foresee,
    *,
    closed: bool,
) -> Decision:
    """Decide a call.

    Args:
        call: The call.
        gaps: Why the world cannot follow it, or not whole.
        judgement: What the gates say; None where the world cannot follow it.
        outcomes: What rules of severity fatal say, each with the name of its policy.
        result: Its result, of which nothing is known; empty if the world reads none.
        foresee: Says which invariants the call would break.
        closed: Whether a call is denied where something could not be judged.
    """
    denied_by = [
        Objection(RULE, f"{policy}.{outcome.rule}", outcome.reason)
        for policy, outcome in outcomes
        if outcome.status is Status.BROKEN
    ]
    unjudged = [
        Objection(RULE, f"{policy}.{outcome.rule}", outcome.reason)
        for policy, outcome in outcomes
        if outcome.status is Status.UNJUDGED
    ]
    unjudged += [Objection(WORLD, call.tool, gap) for gap in gaps]
    if judgement is not None:
        denied_by += [Objection(GATE, failing["gate"], str(failing["reason"])) for failing in judgement.rejected]
        unjudged += [Objection(GATE, gap["gate"], gap["reason"]) for gap in judgement.unjudged]
        if judgement.error is not None:
            unjudged.append(Objection(WORLD, call.tool, judgement.error.code))
        else:
            _foreseen(call, {**judgement.inputs, **result}, foresee, denied_by, unjudged)
    allowed = not denied_by and not (unjudged and closed)
    return Decision(call.id, call.tool, allowed, tuple(denied_by), tuple(unjudged))


def _foreseen(
    call: Call,
    inputs: Mapping[str, Any],
    foresee: Foresee,
    denied_by: list[Objection],
    unjudged: list[Objection],
) -> None:
    """Add what invariants say of the state that a call leads to.

    What they cannot say because the result of the call is not there yet is judged once it is.
    """
    try:
        broken, open_ = foresee(inputs)
    except EvaluationError as error:
        unjudged.append(Objection(WORLD, call.tool, error.code))
        return
    denied_by += [
        Objection(INVARIANT, breach["invariant"], WOULD_BREAK)
        for breach in broken
        if Severity(breach["severity"]).impact.denies_call
    ]
    if "result" not in inputs:
        unjudged += [Objection(INVARIANT, gap["invariant"], gap["reason"]) for gap in open_]
