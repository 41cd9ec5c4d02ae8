"""One decision of the loop, and what its receipt is made of: chance, refusals, chains of parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from specledger.compile.plan import Judgement, Plan, Proposal, State
from specledger.core.binding import GENESIS, part_tip, state_digest
from specledger.core.canonical import E_CANON_SIZE, NotCanonical
from specledger.core.events import Severity, progress_violation
from specledger.core.faults import FAULT
from specledger.core.weight import MAX_WEIGHT, weigh
from specledger.expr import EvaluationError
from specledger.gates.capability import TOKEN, Refused
from specledger.gates.invariant import WATCHDOG
from specledger.oracles.recording import Halted
from specledger.run.actor_state import ActorState, GovernorValues
from specledger.run.controller import Moment


@dataclass(slots=True)
class Decision:
    """One decision, filled in as it is made.

    Attributes:
        chosen: The admitted proposal with the greatest value; None if there is none, or no token for it.
        before, made, after, outcome, inputs: The step that was executed; nothing changed if none was. The action alone
            `made` a state, and chance led to the one `after`.
        seen, memory, governor: What its actor sees, remembers, and is governed by after it, once that is assigned.
        body: The part of the receipt that only the decision knows.
        part_receipts: Per part that keeps receipts, its world's receipt of the step.
    """

    by: ActorState
    moment: Moment
    chosen: int | None = None
    proposals: list[Proposal] = field(init=False)
    leaves: list[bytes] = field(init=False)
    root: str = field(init=False)
    judgements: list[Judgement] = field(init=False)
    before: State = field(init=False)
    settled: State = field(init=False)
    after: State = field(init=False)
    chance: dict[str, Any] = field(init=False)
    outcome: dict[str, Any] = field(init=False)
    inputs: dict[str, Any] = field(init=False)
    seen: Any = field(init=False)
    memory: Any = field(init=False)
    governor: GovernorValues = field(init=False)
    body: dict[str, Any] = field(init=False)
    part_receipts: dict[str, dict[str, Any]] = field(init=False)

    @property
    def action(self) -> dict[str, Any]:
        """The chosen action; one without an operation where nothing was chosen."""
        action: dict[str, Any] = {"op": ""} if self.chosen is None else self.proposals[self.chosen]["action"]
        return action

    def document(self) -> list[dict[str, Any]]:
        """The judgement of each proposal, as a receipt holds it."""
        return [
            {"rejected": judgement.rejected, "error": None}
            if judgement.error is None and not judgement.unjudged
            else _incomplete(judgement)
            for judgement in self.judgements
        ]

    def stopped(self, plan: Plan) -> list[dict[str, Any]]:
        """The violation that nothing was chosen, if nothing was, and not for a fault of the agent.

        A call of a recording that failed is none, nor is a denial that the agent is told.
        """
        if self.chosen is not None or FAULT in self.body or plan.recording is not None or plan.on_denied == "tell":
            return []
        return [progress_violation(self.moment.t, self.document())]

    def count(self) -> None:
        """Count the rejections, after the decision has a receipt."""
        by = self.by
        if self.chosen is not None and self.judgements[self.chosen].cost["total"] != 0:
            by.pending = 0
        for judgement in self.judgements:
            if judgement.rejected:
                by.pending += 1
                for failing in judgement.rejected:
                    by.gates[failing["gate"]] += 1


def _incomplete(judgement: Judgement) -> dict[str, Any]:
    """What a receipt holds of a judgement that failed, or lacks a gate that reads what a recording leaves out."""
    error = None if judgement.error is None else error_body(judgement.error)
    unjudged = {"unjudged": judgement.unjudged} if judgement.unjudged else {}
    return {"rejected": judgement.rejected, "error": error, **unjudged}


class PartChains:
    """The chain of each part's receipts, over one episode."""

    def __init__(self, names: Iterable[str]) -> None:
        """Begin the chain of every named part at 64 zeros."""
        self._tips = dict.fromkeys(names, GENESIS)
        self._known: dict[str, tuple[Any, str]] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """The parts that keep a chain."""
        return tuple(self._tips)

    def digest(self, name: str, state: Any) -> str:
        """The digest of a part's state; kept for the last state of each part, since no state changes in place."""
        known = self._known.get(name)
        if known is None or known[0] is not state:
            known = self._known[name] = (state, state_digest(state))
        return known[1]

    def mark(self) -> dict[str, str]:
        """The tips of all chains, for `reset`."""
        return dict(self._tips)

    def reset(self, tips: dict[str, str]) -> None:
        """Remove what was appended since a mark."""
        self._tips = dict(tips)

    def append(self, name: str, before: Any, after: Any, body: dict[str, Any], *, accepted: bool) -> dict[str, Any]:
        """Add one receipt to a part's chain.

        The states are those of the part, the `body` is the receipt of its world; it is returned with both digests of
        the states and both tips.
        """
        tip = self._tips[name]
        receipt = {
            **body,
            "accepted": accepted,
            "before": self.digest(name, before),
            "after": self.digest(name, after),
            "tip": tip,
        }
        self._tips[name] = receipt_tip = part_tip(tip, receipt)
        return {**receipt, "tip_after": receipt_tip}


def judge(decision: Decision) -> None:
    """Judge every proposal of a decision."""
    by, moment, proposals = decision.by, decision.moment, decision.proposals
    count, memory = by.actor.writes, by.governor.values.memory
    writes = [count(moment.observation, moment.memory, proposal["action"]) for proposal in proposals]
    decision.judgements = by.controller.judge(moment, proposals, by.pending, writes, memory)


def part_receipts(plan: Plan, before: State, after: State, outcome: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The receipts of the parts for a step; a part that does not follow the action has none."""
    return {part.name: part.receipt(before, after, outcome) for part in plan.parts if part.name in outcome}


def weigh_memories(decision: Decision, actors: Sequence[ActorState]) -> int:
    """The weight of an actor's memories after a decision; those of all actors share one bound."""
    own = weigh((decision.memory, decision.governor.memory))
    if own + sum(actor.weight for actor in actors if actor is not decision.by) > MAX_WEIGHT:
        raise NotCanonical(E_CANON_SIZE, "$", f"memories of all actors weigh more than {MAX_WEIGHT}")
    return own


def gate_counts(actors: Sequence[ActorState]) -> dict[str, int]:
    """How often each gate rejected a proposal, of all actors, under the names by which gates are counted."""
    return {actor.actor.figure(gate): count for actor in actors for gate, count in actor.gates.items()}


def told_of_outside(plan: Plan, actors: Sequence[ActorState]) -> dict[str, Any]:
    """What an episode's end tells of agents from outside: faults, what was not read or recorded, what was spent."""
    faults = [{**fault, **actor.actor.label} for actor in actors for fault in actor.controller.faults()]
    unread, unknown = Counter[str](), Counter[str]()
    for actor in actors:
        unread.update(actor.controller.unread())
        unknown.update(actor.controller.unknown())
    oracle = plan.oracle if plan.answered else None
    return {
        **({"faults": faults} if faults else {}),
        **({"unread": dict(unread)} if unread else {}),
        **({"unknown": dict(unknown)} if unknown else {}),
        **({} if oracle is None else {"spent": oracle.spending.take()}),
    }


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
    witness = {"ended": halted.kind.value, "reason": halted.answer.reason}
    return {"invariant": WATCHDOG, "severity": Severity.FATAL.value, "witness": witness}


def refusal(refused: Refused) -> dict[str, Any]:
    """A refused execution as a rejection of its proposal."""
    return {"gate": TOKEN, "reason": refused.reason, "witness": {}}
