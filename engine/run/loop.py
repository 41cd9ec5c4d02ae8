"""One loop serves all scenarios: drift -> observe -> propose -> commit -> judge -> choose -> token -> act -> receipt.

The commitment to a proposal set is yielded before any of its proposals is judged. Whatever cannot be evaluated becomes
an `error` event and ends its episode: an error is never a refutation and never a pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from engine.compile.plan import Judgement, Plan, PlannedDrift, State
from engine.core.binding import leaf, observation_digest, proposal_digest, scope_digest, set_root, state_digest
from engine.core.events import Event
from engine.core.rng import Stream
from engine.expr import EvaluationError
from engine.gates.capability import Actuator, Token
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
            "invariants": [{"name": item.name, "severity": item.severity} for item in plan.invariants],
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


def cause(error: EvaluationError) -> dict[str, Any]:
    """An evaluation error as a receipt holds it: the code and the place in the expression, never a value."""
    return {
        "code": error.code,
        "expression": None if error.text is None else error.text.value,
        "offset": error.offset,
    }


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
            violations = self._breaches("episode", start)
        except EvaluationError as error:
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
        observation = plan.observe(self._state)
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
            body = self._act(proposals[chosen]["action"], leaves[chosen], root, found[chosen], observation)
            body["chosen"] = chosen
        else:
            body = self._stand(found)
        rejected = sum(1 for judgement in found if judgement.rejected)
        self._pending = rejected + (0 if admitted else self._pending)
        body["decisions"] = [
            {"rejected": judgement.rejected, "error": None if judgement.error is None else cause(judgement.error)}
            for judgement in found
        ]
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
        self._state = drift.apply(before, drawn)
        digest = state_digest(self._state)
        changed = [name for name in before if self._state[name] != before[name]]
        yield Event(
            "drift",
            {
                "episode": self._number,
                "t": self.t,
                "drift": drift.name,
                "drawn": dict(zip(drift.draws, drawn, strict=True)),
                "changed": {name: {"from": before[name], "to": self._state[name]} for name in changed},
                "before": self._digest,
                "after": digest,
            },
        )
        self._digest = digest

    def _act(
        self, action: dict[str, Any], chosen: bytes, root: str, judgement: Judgement, observation: Any
    ) -> dict[str, Any]:
        """Act through a token, remember, look at the invariants, and give the receipt's body."""
        plan = self._plan
        before, digest = self._state, self._digest
        scope = scope_digest(self._number, self.t, action["op"])
        proposal = proposal_digest(chosen)
        token = self._actuator.issue(proposal, root, scope)
        after, outcome = self._actuator.act(token, chosen, scope, before, action, judgement.inputs)
        self._state, self._digest = after, state_digest(after)
        self.memory = plan.remember(observation, self.memory, action, plan.observe(after))
        success = plan.success(after)
        if success and self._first_success is None:
            self._first_success = self.t
        body = self._receipt(token, proposal, digest)
        body["cost"] = judgement.cost
        body["inputs"] = judgement.inputs
        body["record"] = plan.record(before, after, outcome)
        body["success"] = success
        body["parts"] = {
            part.name: self._ledger.enter(
                part.name, before[part.name], after[part.name], part.receipt(before, after, outcome), accepted=True
            )
            for part in plan.parts
        }
        body["violations"] = self._breaches("step", before)
        if any(breach["severity"] == "fatal" for breach in body["violations"]):
            self._ended = "fatal"
        elif plan.until(after):
            self._ended = "until"
        return body

    def _stand(self, found: list[Judgement]) -> dict[str, Any]:
        """No admissible action: the state stays, and each part receipts the refusal of the most valued proposal."""
        state = self._state
        body = self._receipt(None, None, self._digest)
        body["chosen"] = None
        tried = [judgement for judgement in found if judgement.next is not None]
        best = max(tried, key=lambda judgement: judgement.value, default=None)
        body["parts"] = {}
        if best is not None:
            for part in self._plan.parts:
                receipt = part.receipt(state, best.next or {}, best.outcome or {})
                entered = self._ledger.enter(part.name, state[part.name], state[part.name], receipt, accepted=False)
                body["parts"][part.name] = entered
        body |= {"cost": None, "inputs": {}, "record": None, "success": self._plan.success(state), "violations": []}
        return body

    def _receipt(self, token: Token | None, proposal: str | None, before: str) -> dict[str, Any]:
        return {
            "episode": self._number,
            "t": self.t,
            "chosen_hash": proposal,
            "token": None if token is None else token.document(),
            "before": before,
            "after": self._digest,
        }

    def _breaches(self, scope: str, previous: State) -> list[dict[str, Any]]:
        breaches = []
        for invariant in self._plan.invariants:
            if invariant.scope == scope:
                witness = invariant.judge(previous, self._state)
                if witness is not None:
                    breaches.append({"invariant": invariant.name, "severity": invariant.severity, "witness": witness})
        return breaches
