"""One episode of the loop: drift -> observe -> propose -> commit -> judge -> choose -> token -> act -> receipt.

The commitment to a proposal set is yielded before any of its proposals is judged. An evaluation error becomes an
`error` event and ends its episode: it is never a refutation and never a pass.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from specledger.compile.plan import Judgement, Plan, PlannedDrift, Proposal, State
from specledger.core.binding import leaf, observation_digest, proposal_digest, scope_digest, set_root, state_digest
from specledger.core.canonical import NotCanonical
from specledger.core.events import Event
from specledger.core.rng import Stream
from specledger.core.weight import check_weight, write
from specledger.expr import EvaluationError
from specledger.gates.capability import Refused
from specledger.oracles.recording import Halted
from specledger.run.controller import DecisionController, Moment
from specledger.run.governor_state import GovernorState
from specledger.run.part_chains import PartChains
from specledger.run.step_result import StepResult, error_body, first_best, halt_violation, refusal


def _no_check(value: Any) -> None:
    """Check nothing: the types bound the size."""


class Episode:
    """One episode: the state, the memory and the counters that a step changes.

    Attributes:
        t: The number of the current step.
        memory: What the agent remembers, None before the first observation.
    """

    def __init__(
        self, plan: Plan, number: int, controller: DecisionController, governor: GovernorState, memory: Any
    ) -> None:
        """Prepare episode `number`; `memory` is that of an earlier episode, if the agent keeps it."""
        self._plan = plan
        self._number = number
        self._controller, self._governor = controller, governor
        self._weigh: Callable[[Any], None] = check_weight if plan.check_weights else _no_check
        self._parts = PartChains(part.name for part in plan.parts)
        self._gates = dict.fromkeys(plan.gates, 0)
        self._actuator = self._controller.actuator()
        self._invariants = {
            scope: tuple(item for item in plan.invariants if item.scope == scope) for scope in ("step", "episode")
        }
        self._monitors = {item.name: item.monitor for item in plan.invariants if item.monitor is not None}
        self._remembered: dict[str, dict[str, Any]] = {}
        self.memory = memory
        self.t = 0
        self._state: State = {}
        self._digest = ""
        self._seen: Any = None
        self._pending = 0
        self._first_success: int | None = None
        self._ended: str | None = None
        self._idle: Counter[str] = Counter()

    @property
    def observation(self) -> Any:
        """What the agent sees in the present state."""
        return self._plan.observe(self._state) if self._seen is None else self._seen

    def run(self) -> Iterator[Event]:
        """Yield the episode's events, from `episode` to `episode_end`."""
        plan = self._plan
        steps = 0
        violations: list[dict[str, Any]] = []
        start: State | None = None
        try:
            self._governor.begin()
            start = self._state = plan.start(self._number)
            check_weight(start)
            self._digest = state_digest(start)
            self._remembered = {name: monitor.begin(start) for name, monitor in self._monitors.items()}
            yield self._opening(start)
            for self.t in range(plan.horizon):
                yield from self._step()
                steps += 1
                if self._ended is not None:
                    break
            found, idle = self._violations("episode", start, self._state, self._remembered)
            check_weight(found)
            write(found, found)
            violations = found
            self._idle.update(idle)
        except Halted as halted:
            self._ended = halted.kind
            yield from self._controller.events_at("halted", self._moment(None))
            violations = [halt_violation(halted)]
        except (EvaluationError, NotCanonical) as error:
            self._ended = "error"
            yield from self._controller.events_at("error", self._moment(None))
            yield Event("error", {"episode": self._number, "t": self.t, **error_body(error)})
        faults = self._controller.faults()
        oracle = plan.oracle if plan.outside is not None else None
        yield Event(
            "episode_end",
            {
                "episode": self._number,
                "steps": steps,
                "ended": self._ended or "horizon",
                "success": self._first_success is not None,
                "first_success": self._first_success,
                "violations": violations,
                "idle": dict(self._idle),
                "gates": self._gates,
                "state": self._digest,
                **({"faults": faults} if faults else {}),
                **({} if oracle is None else {"spent": oracle.spending.take()}),
            },
        )

    def _opening(self, state: State) -> Event:
        parts = self._parts.names
        body = {
            "episode": self._number,
            "state": state,
            "digest": self._digest,
            "opening": self._plan.opening(state),
            "world": state_digest({name: value for name, value in state.items() if name not in parts}),
            "parts": {name: state_digest(state[name]) for name in parts},
        }
        if self._monitors:
            body["monitors"] = self._remembered
        check_weight(body)
        return Event("episode", body, write(body, body))

    def _step(self) -> Iterator[Event]:
        plan, controller = self._plan, self._controller
        for index, drift in enumerate(plan.drifts):
            if self.t in drift.schedule:
                yield from self._drift(index, drift)
        fresh, observation = self._seen is None, self.observation
        if self.memory is None:
            self.memory = plan.begin(observation)
        self._governor.observe(observation, self._state, fresh=fresh)
        moment = self._moment(observation)
        yield from controller.events_at("before_propose", moment)
        proposals = controller.propose(moment)
        commit, leaves = self._commit(observation, proposals)
        root = commit.body["root"]
        yield commit
        yield from controller.events_at("after_commit", moment)
        writes = [plan.writes(observation, self.memory, proposal["action"]) for proposal in proposals]
        found = controller.judge(moment, proposals, self._pending, writes, self._governor.values.memory)
        chosen = first_best(found)
        token = self._issue(chosen, proposals, leaves, root, found)
        moment = moment._replace(token=token)
        yield from controller.events_at("after_token", moment)
        result = self._act(token, chosen, proposals, found, observation)
        yield from controller.events_at("after_act", moment)
        chosen = chosen if result.accepted else None
        refused = sum([1 for judgement in found if judgement.rejected])
        paid = chosen is not None and found[chosen].cost["total"] != 0
        decisions = [
            {"rejected": judgement.rejected, "error": None if judgement.error is None else error_body(judgement.error)}
            for judgement in found
        ]
        action = {"op": ""} if chosen is None else proposals[chosen]["action"]
        event = self._finish(result, {"chosen": chosen, "decisions": decisions}, action)
        self._pending = refused + (0 if paid else self._pending)
        for judgement in found:
            for failing in judgement.rejected:
                self._gates[failing["gate"]] += 1
        yield event

    def _moment(self, observation: Any) -> Moment:
        return Moment(self._number, self.t, self._state, observation, self.memory)

    def _commit(self, observation: Any, proposals: list[Proposal]) -> tuple[Event, list[bytes]]:
        """The commitment to a set of proposals, and the leaf of each."""
        self._weigh(proposals)
        try:
            leaves = [leaf(index, proposal) for index, proposal in enumerate(proposals)]
            self._weigh(observation)
            body = {
                "episode": self._number,
                "t": self.t,
                "observation": observation_digest(observation),
                "root": set_root(leaves),
                "proposals": proposals,
            }
        except NotCanonical:
            check_weight(proposals)
            raise
        return Event("commit", body, write(body, proposals)), leaves

    def _drift(self, index: int, drift: PlannedDrift) -> Iterator[Event]:
        """Draw values and change the state. No drift happens if its `when` is false or a list to draw from is empty."""
        before = self._state
        sources = drift.sources(before)
        if sources is None or not all(sources):
            return
        drawn = [
            Stream.named(self._plan.seed, "drift", stream, index, self._number, self.t, name).choice(source)
            for stream, name, source in zip(drift.streams, drift.draws, sources, strict=True)
        ]
        after = drift.apply(before, drawn)
        check_weight(after)
        digest = state_digest(after)
        rebases, governor = self._governor.drift(drift.name, after)
        body = {
            "episode": self._number,
            "t": self.t,
            "drift": drift.name,
            "drawn": dict(zip(drift.draws, drawn, strict=True)),
            "changed": {
                name: {"from": before[name], "to": after[name]} for name in before if after[name] != before[name]
            },
            "rebases": rebases,
            "before": self._digest,
            "after": digest,
        }
        check_weight(body)
        form = write(body, body)
        self._state, self._seen, self._digest, self._governor.values = after, None, digest, governor
        yield Event("drift", body, form)

    def _issue(
        self, chosen: int | None, proposals: list[Proposal], leaves: list[bytes], root: str, found: list[Judgement]
    ) -> Any:
        """The token of a choice, None if there is no choice or it is refused."""
        if chosen is None:
            return None
        scope = scope_digest(self._number, self.t, proposals[chosen]["action"]["op"])
        try:
            return self._actuator.issue(proposal_digest(leaves[chosen]), root, scope)
        except Refused as refused:
            found[chosen].rejected.append(refusal(refused))
            return None

    def _act(
        self, token: Any, chosen: int | None, proposals: list[Proposal], found: list[Judgement], observation: Any
    ) -> StepResult:
        """Act through a token, and remember; without one, or if it is refused, nothing is done."""
        if token is None or chosen is None:
            return self._refuse(proposals, found, observation)
        plan, before, action, judgement = self._plan, self._state, proposals[chosen]["action"], found[chosen]
        try:
            after, outcome = self._actuator.act(token, chosen, proposals[chosen], token.scope, before, judgement.inputs)
        except Refused as refused:
            judgement.rejected.append(refusal(refused))
            return self._refuse(proposals, found, observation)
        body = {
            "chosen_hash": token.proposal,
            "token": token.document(),
            "cost": judgement.cost,
            "inputs": judgement.inputs,
            "record": plan.record(before, after, outcome),
        }
        seen = plan.observe(after)
        memory = plan.remember(observation, self.memory, action, seen)
        potentials, governor = self._governor.act(observation, action, after, seen)
        body |= potentials
        return StepResult(
            after, seen, memory, governor, True, body, self._part_receipts(before, after, outcome), outcome
        )

    def _refuse(self, proposals: list[Proposal], found: list[Judgement], observation: Any) -> StepResult:
        """Do nothing: no action is admitted; each part receipts the refusal of the proposal with the greatest value."""
        plan, state = self._plan, self._state
        judged = [index for index, judgement in enumerate(found) if judgement.cost]
        best = max(judged, key=lambda index: found[index].value, default=None)
        receipts: dict[str, dict[str, Any]] = {}
        if best is not None:
            action = proposals[best]["action"]
            predicted, outcome = plan.step(state, action["op"], action, found[best].inputs)
            receipts = self._part_receipts(state, predicted, outcome)
        body: dict[str, Any] = {"chosen_hash": None, "token": None, "cost": None, "inputs": {}, "record": None}
        body |= self._governor.refuse()
        return StepResult(state, observation, self.memory, self._governor.values, False, body, receipts, {})

    def _part_receipts(self, before: State, after: State, outcome: dict[str, Any]) -> dict[str, dict[str, Any]]:
        """The receipts of the parts for a step; a part that does not follow the action has none."""
        return {part.name: part.receipt(before, after, outcome) for part in self._plan.parts if part.name in outcome}

    def _finish(self, result: StepResult, decision: dict[str, Any], action: Mapping[str, Any]) -> Event:
        """Check the state after a decision, assign it, and return the event of the step.

        Everything that may fail comes first: a step that cannot be evaluated or receipted changes neither the state
        nor the memory nor the chains of the parts.
        """
        plan, before, after = self._plan, self._state, result.state
        success, until = plan.success(after), plan.until(after)
        remembered = {
            name: monitor.remember(before, after, action, result.outcome, self._remembered[name])
            for name, monitor in self._monitors.items()
        }
        violations, idle = self._violations("step", before, after, remembered)
        self._weigh(after)
        self._weigh(result.part_receipts)
        tips = self._parts.mark()
        try:
            body = {
                "episode": self._number,
                "t": self.t,
                "before": self._digest,
                "after": state_digest(after),
                **decision,
                **result.body,
                "success": success,
                "violations": violations,
                "parts": {
                    name: self._parts.append(name, before[name], after[name], receipt, accepted=result.accepted)
                    for name, receipt in result.part_receipts.items()
                },
            }
            if remembered:
                body["monitors"] = remembered
            self._weigh(body)
            form = write(body, body)
        except NotCanonical:
            self._parts.reset(tips)
            check_weight(result.part_receipts)
            raise
        self._state, self._seen, self._digest, self.memory = after, result.seen, body["after"], result.memory
        self._governor.values, self._remembered = result.governor, remembered
        if idle:
            self._idle.update(idle)
        if success and self._first_success is None:
            self._first_success = self.t
        if violations and any(violation["severity"] == "fatal" for violation in violations):
            self._ended = "fatal"
        elif until:
            self._ended = "until"
        return Event("step", body, form)

    def _violations(
        self, scope: str, previous: State, state: State, remembered: Mapping[str, Any]
    ) -> tuple[list[dict[str, Any]], list[str]]:
        """The broken invariants, and the names of those that were not judged."""
        broken: list[dict[str, Any]] = []
        idle: list[str] = []
        for invariant in self._invariants[scope]:
            if self._ended == "fatal" and not invariant.after_fatal:
                idle.append(invariant.name)
                continue
            memory = () if invariant.monitor is None else (remembered[invariant.name],)
            witness = invariant.judge(previous, state, *memory)
            if witness is False:
                idle.append(invariant.name)
            elif witness is not None:
                broken.append({"invariant": invariant.name, "severity": invariant.severity, "witness": witness})
        return broken, idle
