"""One loop serves all scenarios: drift -> observe -> propose -> commit -> judge -> choose -> token -> act -> receipt.

The commitment to a proposal set is yielded before any of its proposals is judged. Whatever cannot be evaluated becomes
an `error` event and ends its episode: an error is never a refutation and never a pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from engine.compile.plan import Judgement, Plan, PlannedDrift, Proposal, State
from engine.core.binding import leaf, observation_digest, proposal_digest, scope_digest, set_root, state_digest
from engine.core.canonical import NotCanonical, canonical_ints
from engine.core.events import Event
from engine.core.rng import Stream
from engine.expr import EvaluationError
from engine.gates.capability import Actuator
from engine.run.ledger import Ledger


def run(plan: Plan, progress: Callable[[int, int], None] | None = None) -> Iterator[Event]:
    """Run every episode of a plan.

    Args:
        plan: What to run.
        progress: Called with (steps done, steps at most) after every step.

    Yields:
        `start`; per episode `episode`, then per step `drift`*, `commit`, `step`, or one `error`, then `episode_end`;
        `end`.
    """
    yield Event(
        "start",
        {
            "scenario": plan.name,
            "specs": plan.specs,
            "seed": plan.seed,
            "episodes": plan.episodes,
            "horizon": plan.horizon,
            "gates": list(plan.gates),
            "invariants": [
                {"name": item.name, "scope": item.scope, "severity": item.severity} for item in plan.invariants
            ],
            "drifts": [{"drift": drift.name, "schedule": sorted(drift.schedule)} for drift in plan.drifts],
        },
    )
    ledger = Ledger(part.name for part in plan.parts)
    memory: Any = None
    steps = 0
    for number in range(plan.episodes):
        episode = Episode(plan, number, ledger, memory)
        for event in episode.run():
            if event.type == "step":
                steps += 1
                if progress is not None:
                    progress(number * plan.horizon + episode.t + 1, plan.episodes * plan.horizon)
            yield event
        memory = episode.memory if plan.remembers == "run" else None
    yield Event("end", {"episodes": plan.episodes, "steps": steps})


def cause(error: EvaluationError | NotCanonical) -> dict[str, Any]:
    """An error as a receipt holds it: the code and the place in the expression, if there is one, never a value."""
    if isinstance(error, NotCanonical):
        return {"code": error.code, "expression": None, "offset": None}
    return {
        "code": error.code,
        "expression": None if error.text is None else error.text.value,
        "offset": error.offset,
    }


class Taken(NamedTuple):
    """What a decision leads to, before any of it is kept.

    Attributes:
        state, seen, memory: After it; `seen` is what is observed then.
        accepted: Whether an action was taken, or every proposal refused.
        body: The part of its receipt that only the decision knows.
        told: Per part that keeps receipts, what its world says of the step.
    """

    state: State
    seen: Any
    memory: Any
    accepted: bool
    body: dict[str, Any]
    told: dict[str, dict[str, Any]]


class Episode:
    """One episode: the state, the memory and the counters that a step changes.

    Attributes:
        t: The number of the current step.
        memory: What the agent remembers, None before the first observation.
    """

    def __init__(self, plan: Plan, number: int, ledger: Ledger, memory: Any) -> None:
        """Prepare episode `number`; `memory` is what an earlier episode left, if the agent keeps it."""
        self._plan = plan
        self._number = number
        self._ledger = ledger
        self._actuator = Actuator(plan.step)
        self.memory = memory
        self.t = 0
        self._state: State = {}
        self._digest = ""
        self._seen: Any = None
        self._pending = 0
        self._first_success: int | None = None
        self._ended: str | None = None

    def run(self) -> Iterator[Event]:
        """Yield the episode's events, from `episode` to `episode_end`."""
        plan = self._plan
        steps = 0
        violations: list[dict[str, Any]] = []
        start: State | None = None
        try:
            start = self._state = plan.start(self._number)
            self._digest = state_digest(start)
            yield Event("episode", self._opening(start))
            for self.t in range(plan.horizon):
                yield from self._step()
                steps += 1
                if self._ended is not None:
                    break
            violations = self._breaches("episode", start, self._state)
        except (EvaluationError, NotCanonical) as error:
            self._ended = "error"
            yield Event("error", {"episode": self._number, "t": self.t, **cause(error)})
        yield Event(
            "episode_end",
            {
                "episode": self._number,
                "steps": steps,
                "ended": self._ended or "horizon",
                "success": self._first_success is not None,
                "first_success": self._first_success,
                "violations": violations,
                "state": self._digest,
            },
        )

    def _opening(self, state: State) -> dict[str, Any]:
        parts = self._ledger.names
        return {
            "episode": self._number,
            "state": state,
            "digest": self._digest,
            "world": state_digest({name: value for name, value in state.items() if name not in parts}),
            "parts": {name: state_digest(state[name]) for name in parts},
        }

    def _step(self) -> Iterator[Event]:
        plan = self._plan
        for index, drift in enumerate(plan.drifts):
            if self.t in drift.schedule:
                yield from self._drift(index, drift)
        observation = self._seen if self._seen is not None else plan.observe(self._state)
        if self.memory is None:
            self.memory = plan.begin(observation)
        proposals = plan.propose(observation, self.memory)
        leaves = [leaf(index, proposal) for index, proposal in enumerate(proposals)]
        root = set_root(leaves)
        yield Event(
            "commit",
            {
                "episode": self._number,
                "t": self.t,
                "observation": observation_digest(observation),
                "root": root,
                "proposals": proposals,
            },
        )
        writes = [plan.writes(observation, self.memory, proposal["action"]) for proposal in proposals]
        found = plan.judge(self._state, proposals, self._pending, writes)
        admitted = [
            index for index, judgement in enumerate(found) if not judgement.rejected and judgement.error is None
        ]
        if admitted:
            chosen = max(admitted, key=lambda index: found[index].value)
            taken = self._act(proposals[chosen]["action"], leaves[chosen], root, found[chosen], observation)
            paid = found[chosen].cost["total"] != 0
        else:
            chosen, paid = None, False
            taken = self._stand(proposals, found, observation)
        decisions = [
            {"rejected": judgement.rejected, "error": None if judgement.error is None else cause(judgement.error)}
            for judgement in found
        ]
        body = self._settle(taken, {"chosen": chosen, "decisions": decisions})
        rejected = sum(1 for judgement in found if judgement.rejected)
        self._pending = rejected + (0 if paid else self._pending)
        yield Event("step", body)

    def _drift(self, index: int, drift: PlannedDrift) -> Iterator[Event]:
        """Draw, change the state, say what changed. Where `when` fails or nothing is left to draw, no drift happens."""
        before = self._state
        sources = drift.sources(before)
        if sources is None or not all(sources):
            return
        drawn = [
            Stream.named(self._plan.seed, "drift", stream, index, self._number, self.t, name).choice(source)
            for stream, name, source in zip(drift.streams, drift.draws, sources, strict=True)
        ]
        after = drift.apply(before, drawn)
        digest = state_digest(after)
        body = {
            "episode": self._number,
            "t": self.t,
            "drift": drift.name,
            "drawn": dict(zip(drift.draws, drawn, strict=True)),
            "changed": {
                name: {"from": before[name], "to": after[name]} for name in before if after[name] != before[name]
            },
            "before": self._digest,
            "after": digest,
        }
        canonical_ints(body)
        self._state, self._seen, self._digest = after, None, digest
        yield Event("drift", body)

    def _act(self, action: dict[str, Any], chosen: bytes, root: str, judgement: Judgement, observation: Any) -> Taken:
        """Act through a token, and remember."""
        plan, before = self._plan, self._state
        scope = scope_digest(self._number, self.t, action["op"])
        proposal = proposal_digest(chosen)
        token = self._actuator.issue(proposal, root, scope)
        after, outcome = self._actuator.act(token, chosen, scope, before, action, judgement.inputs)
        body = {
            "chosen_hash": proposal,
            "token": token.document(),
            "cost": judgement.cost,
            "inputs": judgement.inputs,
            "record": plan.record(before, after, outcome),
        }
        seen = plan.observe(after)
        memory = plan.remember(observation, self.memory, action, seen)
        return Taken(after, seen, memory, True, body, self._told(before, after, outcome))

    def _stand(self, proposals: list[Proposal], found: list[Judgement], observation: Any) -> Taken:
        """No admissible action: the state stays, and each part receipts the refusal of the most valued proposal."""
        plan, state = self._plan, self._state
        judged = [index for index, judgement in enumerate(found) if judgement.cost]
        best = max(judged, key=lambda index: found[index].value, default=None)
        told: dict[str, dict[str, Any]] = {}
        if best is not None:
            action = proposals[best]["action"]
            predicted, outcome = plan.step(state, action["op"], action, found[best].inputs)
            told = self._told(state, predicted, outcome)
        body: dict[str, Any] = {"chosen_hash": None, "token": None, "cost": None, "inputs": {}, "record": None}
        return Taken(state, observation, self.memory, False, body, told)

    def _told(self, before: State, after: State, outcome: dict[str, Any]) -> dict[str, dict[str, Any]]:
        """What the worlds of the parts say of a step; a part that the action leaves alone says nothing."""
        return {part.name: part.receipt(before, after, outcome) for part in self._plan.parts if part.name in outcome}

    def _settle(self, taken: Taken, decision: dict[str, Any]) -> dict[str, Any]:
        """Look at the state after a decision, then keep it, and give the receipt's body.

        Whatever may fail comes first: a step that cannot be evaluated or receipted changes neither the state nor the
        memory nor the chains of the parts.
        """
        plan, before, after = self._plan, self._state, taken.state
        success, until = plan.success(after), plan.until(after)
        body = {
            "episode": self._number,
            "t": self.t,
            "before": self._digest,
            "after": state_digest(after),
            **decision,
            **taken.body,
            "success": success,
            "violations": self._breaches("step", before, after),
        }
        canonical_ints([body, taken.told])
        body["parts"] = {
            name: self._ledger.enter(name, before[name], after[name], told, accepted=taken.accepted)
            for name, told in taken.told.items()
        }
        self._state, self._seen, self._digest, self.memory = after, taken.seen, body["after"], taken.memory
        if success and self._first_success is None:
            self._first_success = self.t
        if any(breach["severity"] == "fatal" for breach in body["violations"]):
            self._ended = "fatal"
        elif until:
            self._ended = "until"
        return body

    def _breaches(self, scope: str, previous: State, state: State) -> list[dict[str, Any]]:
        breaches = []
        for invariant in self._plan.invariants:
            if invariant.scope == scope:
                witness = invariant.judge(previous, state)
                if witness is not None:
                    breaches.append({"invariant": invariant.name, "severity": invariant.severity, "witness": witness})
        return breaches
