"""The outcome of one decision, and the parts of a receipt that state why something was not done."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from specledger.compile.plan import Judgement, PlannedInvariant, State
from specledger.core.canonical import NotCanonical
from specledger.expr import EvaluationError
from specledger.gates.admission import TOKEN
from specledger.gates.capability import Refused
from specledger.gates.invariant import WATCHDOG
from specledger.oracles.recording import Halted
from specledger.run.governor_state import GovernorValues


class StepResult(Struct, frozen=True):
    """What follows from a decision, before any of it is assigned.

    Attributes:
        seen, memory, governor: The values of its actor after it; `seen` is the observation.
        body: The part of the receipt that only the decision knows.
        part_receipts: Per part that keeps receipts, its world's receipt of the step.
    """

    seen: Any
    memory: Any
    governor: GovernorValues
    body: dict[str, Any]
    part_receipts: dict[str, dict[str, Any]]


def first_best(found: list[Judgement]) -> int | None:
    """The index of the first admitted proposal with the greatest value, None if none is admitted."""
    chosen, greatest = None, 0
    for index, judgement in enumerate(found):
        if judgement.rejected or judgement.error is not None:
            continue
        if chosen is None or judgement.value > greatest:
            chosen, greatest = index, judgement.value
    return chosen


def find_violations(
    invariants: Iterable[PlannedInvariant],
    previous: State,
    state: State,
    remembered: Mapping[str, Any],
    *,
    fatal: bool = False,
) -> tuple[list[dict[str, Any]], list[str]]:
    """The broken invariants, and the names of those that were not judged.

    Args:
        invariants: Those of one scope.
        previous: The state before.
        state: The state that is judged.
        remembered: The memory of every monitor.
        fatal: Whether a fatal breach ended the episode.
    """
    broken: list[dict[str, Any]] = []
    idle: list[str] = []
    for invariant in invariants:
        if fatal and not invariant.after_fatal:
            idle.append(invariant.name)
            continue
        if invariant.monitor is None:
            witness = invariant.judge(previous, state)
        else:
            witness = invariant.judge(previous, state, remembered[invariant.name])
        if witness is None:
            continue
        if witness is False:
            idle.append(invariant.name)
        else:
            broken.append({"invariant": invariant.name, "severity": invariant.severity, "witness": witness})
    return broken, idle


def error_body(error: EvaluationError | NotCanonical) -> dict[str, Any]:
    """An error as a receipt holds it: the code and the place in the expression, if there is one, never a value.

    For a number that no receipt can hold, the place is a path such as `$.record.distance`.
    """
    if isinstance(error, NotCanonical):
        return {"code": error.code, "expression": error.path, "offset": None}
    return {
        "code": error.code,
        "expression": None if error.text is None else error.text.value,
        "offset": error.offset,
    }


def halt_violation(halted: Halted) -> dict[str, Any]:
    """The violation of an agent that did not answer in time, or whose process ended; no spec needs to state it."""
    witness = {"ended": halted.kind, "reason": halted.answer.reason}
    return {"invariant": WATCHDOG, "severity": "fatal", "witness": witness}


def refusal(refused: Refused) -> dict[str, Any]:
    """A refused execution as a rejection of its proposal."""
    return {"gate": TOKEN, "reason": refused.reason, "witness": {}}
