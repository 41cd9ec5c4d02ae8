"""One episode of the loop: drift -> observe -> propose -> commit -> judge -> choose -> token -> act -> receipt.

A step has turns: one for each actor, or one of all actors, who then decide on the same state. The commitments to all
proposal sets of a turn are yielded before any proposal is judged; the chosen actions are then executed in the order of
the actors. An evaluation error becomes an `error` event and ends its episode: no refutation and no pass.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from specledger.compile.plan import Plan, PlannedDrift, State
from specledger.core.binding import leaves_of, observation_digest, proposal_digest, scope_digest, set_root, state_digest
from specledger.core.canonical import NotCanonical
from specledger.core.clock import CLOCK
from specledger.core.events import Ended, Event
from specledger.core.faults import FAULT
from specledger.core.weight import MAX_WEIGHT, check_weight, write
from specledger.expr import EvaluationError
from specledger.gates.capability import Refused
from specledger.oracles.recording import Halted
from specledger.run.actor_state import ActorState, GovernorValues
from specledger.run.chance import changed, drifted, follow
from specledger.run.controller import Moment, Unrecorded
from specledger.run.decision import (
    Decision,
    PartChains,
    error_body,
    gate_counts,
    halt_violation,
    judge,
    part_receipts,
    refusal,
    told_of_outside,
    weigh_memories,
)
from specledger.run.invariants import Found, Invariants


class Episode:
    """One episode: the state and the counters that a step changes."""

    def __init__(self, plan: Plan, number: int, actors: Sequence[ActorState]) -> None:
        """Prepare episode `number` of actors, whose memories may last over the run."""
        self._plan = plan
        self._number = number
        self._actors = actors
        self._others = len(actors) > 1
        self._turns = [tuple(actors)] if plan.simultaneous else [(actor,) for actor in actors]
        self._weigh: Callable[[Any], None] = check_weight if plan.check_weights else lambda _value: None
        self._weigh_memories = sum(actor.actor.memory for actor in actors) > MAX_WEIGHT
        self._parts = PartChains(part.name for part in plan.parts)
        self._invariants = Invariants(plan, turns=len(self._turns))
        self._policies = None if plan.policies is None else plan.policies.begin()
        self.t = 0
        self._steps = 0
        self._state: State = {}
        self._digest = ""
        self._deciding = actors[0]
        self._first_success: int | None = None
        self._ended: Ended | None = None
        self._idle: Counter[str] = Counter()

    @property
    def observation(self) -> Any:
        """What the first actor sees in the present state."""
        return self._actors[0].look(self._state)

    def run(self) -> Iterator[Event]:
        """Yield the episode's events, from `episode` to `episode_end`; the clock stands here while one is made."""
        self._set_clock()
        for event in self._events():
            yield event
            self._set_clock()

    def _set_clock(self) -> None:
        CLOCK.set(self._number, self.t, self._deciding.actor.name)

    def _decides(self, actor: ActorState) -> None:
        """Turn to an actor: what is evaluated from now on is evaluated for it."""
        if actor is not self._deciding:
            self._deciding = actor
            self._set_clock()

    def _events(self) -> Iterator[Event]:
        plan = self._plan
        violations: list[dict[str, Any]] = []
        more: dict[str, Any] = {}
        try:
            for actor in self._actors:
                actor.begin()
            start = self._state = plan.start(self._number)
            self._weigh(start)
            self._digest = state_digest(start)
            self._invariants.begin(start)
            yield self._opening(start)
            for self.t in range(plan.steps(self._number)):  # noqa: B020 - `self` is none of its own
                yield from self._step()
                if self._ended is not None:
                    break
            outcome = self._invariants.close(start, self._state, fatal=self._ended is Ended.FATAL)
            self._weigh(outcome.broken)
            write(outcome.broken, outcome.broken)
            violations, more = outcome.broken, {"unjudged": outcome.unjudged} if outcome.unjudged else {}
            self._idle.update(outcome.idle)
        except Unrecorded as unrecorded:
            self._ended, more = Ended.UNKNOWN, {"gap": unrecorded.gap}
        except Halted as halted:
            self._ended = halted.kind
            yield from self._events_at("halted")
            violations = [halt_violation(halted)]
        except (EvaluationError, NotCanonical) as error:
            self._ended = Ended.ERROR
            yield from self._events_at("error")
            yield Event("error", {"episode": self._number, "t": self.t, **error_body(error)})
        if plan.recording is not None:
            self.t = self._steps
            yield from self._events_at("end")
        yield self._closing(violations, more)

    def _closing(self, violations: list[dict[str, Any]], more: dict[str, Any]) -> Event:
        first, ended = self._first_success, (self._ended or Ended.HORIZON).value
        body = {"episode": self._number, "steps": self._steps, "ended": ended}
        body |= {"success": first is not None, "first_success": first, "violations": violations}
        body |= {"idle": dict(self._idle), "gates": gate_counts(self._actors), "state": self._digest}
        return Event("episode_end", {**body, **more, **told_of_outside(self._plan, self._actors)})

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
        body |= {"drawn": drawn} if (drawn := self._plan.drawn(self._number)) else {}
        for actor in self._actors:
            body |= actor.controller.opening()
        if self._invariants.remembered:
            body["monitors"] = self._invariants.remembered
        self._weigh(body)
        return Event("episode", body, write(body, body))

    def _events_at(self, hook: str) -> Iterator[Event]:
        """What the controller of the actor that was deciding adds at the end of an episode."""
        yield from self._deciding.controller.events_at(hook, self._moment(self._deciding, None))

    def _step(self) -> Iterator[Event]:
        self._set_clock()
        for index, drift in enumerate(self._plan.drifts):
            if self.t in drift.schedule:
                yield from self._drift(index, drift)
        self._invariants.open(self._state)
        for turn in self._turns:
            yield from self._turn(turn)
            if self._ended is not None:
                return

    def _turn(self, actors: tuple[ActorState, ...]) -> Iterator[Event]:
        """The decisions of actors about one state: all are committed to, then judged, then executed in order."""
        decisions = []
        for actor in actors:
            self._decides(actor)
            decision = Decision(actor, self._moment(actor, actor.observe(self._state)))
            if "before_propose" in actor.places:
                yield from actor.controller.events_at("before_propose", decision.moment)
            yield self._commit(decision)
            decisions.append(decision)
        for decision in decisions:
            self._decides(actor := decision.by)
            if "after_commit" in actor.places:
                yield from actor.controller.events_at("after_commit", decision.moment)
            judge(decision)
            if self._plan.recording is not None:
                yield from actor.controller.guard(decision.moment, partial(self._invariants.foresee, decision))
            self._choose(decision)
            if "after_token" in actor.places:
                yield from actor.controller.events_at("after_token", decision.moment)
        before = state = self._state
        for decision in decisions:
            self._decides(decision.by)
            state = self._execute(decision, state, decisions)
        for decision in decisions:
            self._decides(actor := decision.by)
            self._settle(decision, state)
            if self._policies is not None:
                yield from self._policies.acted(decision)
            if "after_act" in actor.places:
                yield from actor.controller.events_at("after_act", decision.moment)
            event = self._finish(decision, before, last=decision is decisions[-1])
            decision.count()
            yield event
        if self._others and state is not before:
            for actor in self._actors:
                if actor not in actors:
                    actor.seen = None

    def _moment(self, actor: ActorState, observation: Any, token: Any = None) -> Moment:
        return Moment(self._number, self.t, self._state, observation, actor.memory, token)

    def _commit(self, decision: Decision) -> Event:
        """Ask for the proposals of a decision, and commit to them."""
        observation = decision.moment.observation
        proposals = decision.proposals = decision.by.controller.propose(decision.moment)
        self._weigh(proposals)
        try:
            leaves = decision.leaves = leaves_of(proposals)
            self._weigh(observation)
            decision.root = set_root(leaves)
            body = {
                "episode": self._number,
                "t": self.t,
                **decision.by.actor.label,
                "observation": observation_digest(observation),
                "root": decision.root,
                "proposals": proposals,
            }
        except NotCanonical:
            check_weight(proposals)
            raise
        return Event("commit", body, write(body, proposals))

    def _choose(self, decision: Decision) -> None:
        """Choose, and issue the token of the choice, if there is one and it is not refused."""
        actor, judgements, proposals = decision.by, decision.judgements, decision.proposals
        if (chosen := actor.controller.choose(judgements)) is None:
            return
        scope = scope_digest(self._number, self.t, proposals[chosen]["action"]["op"], actor.actor.name)
        try:
            token = actor.controller.issue(proposal_digest(decision.leaves[chosen]), decision.root, scope)
        except Refused as refused:
            judgements[chosen].rejected.append(refusal(refused))
            return
        decision.moment, decision.chosen = self._moment(actor, decision.moment.observation, token), chosen

    def _drift(self, index: int, drift: PlannedDrift) -> Iterator[Event]:
        """Draw values and change the state. No drift happens if its `when` is false or a list to draw from is empty."""
        before = self._state
        done = drifted(self._plan, index, drift, (self._number, self.t), before)
        if done is None:
            return
        after, drawn = done
        self._weigh(after)
        digest = state_digest(after)
        rebased = [(actor, *actor.governor.shift(drift.name, after)) for actor in self._actors]
        body = {
            "episode": self._number,
            "t": self.t,
            "drift": drift.name,
            "drawn": drawn,
            "changed": changed(before, after),
            "rebases": [rebase for _, rebases, _ in rebased for rebase in rebases],
            "before": self._digest,
            "after": digest,
        }
        self._weigh(body)
        form = write(body, body)
        self._state, self._digest = after, digest
        for actor, _, values in rebased:
            actor.seen, actor.governor.values = None, values
        yield Event("drift", body, form)

    def _execute(self, decision: Decision, before: State, turn: list[Decision]) -> State:
        """Act through the token of a decision; without one, or if it is refused, nothing is done.

        The actions before it in its `turn` led to the state `before`. An action reads what the others do, by their
        tokens.
        """
        token, chosen = decision.moment.token, decision.chosen
        decision.before = decision.after = before
        decision.outcome = {}
        if chosen is None:
            return before
        inputs, action = decision.judgements[chosen].inputs, decision.proposals[chosen]["action"]
        if self._plan.simultaneous:
            others = {other.by.actor.name: {"op": ""} if other is decision else other.action for other in turn}
            inputs = {**inputs, "others": others}
        try:
            settled, decision.outcome = decision.by.controller.act(
                token, chosen, decision.proposals[chosen], token.scope, before, inputs
            )
        except Refused as refused:
            decision.judgements[chosen].rejected.append(refusal(refused))
            decision.chosen = None
            return before
        decision.inputs, decision.settled, decision.after, decision.chance = inputs, settled, settled, {}
        if action["op"] in self._plan.chance or self._plan.step_chance is not None:
            follow(self._plan, decision)
        return decision.after

    def _settle(self, decision: Decision, state: State) -> None:
        """Remember, and make what only the decision knows of its receipt; `state` is the one after the turn."""
        if decision.chosen is None:
            self._refuse(decision, state)
            return
        actor, before, after, action = decision.by, decision.before, decision.after, decision.action
        token, judgement = decision.moment.token, decision.judgements[decision.chosen]
        decision.body = {
            **decision.chance,
            "chosen_hash": token.proposal,
            "token": token.document(),
            "cost": judgement.cost,
            "inputs": decision.inputs,
            "record": self._plan.record(before, after, decision.outcome),
        }
        observation, seen = decision.moment.observation, actor.actor.observe(state)
        decision.seen, decision.memory = seen, actor.actor.remember(observation, actor.memory, action, seen)
        potentials, decision.governor = actor.governor.act(observation, action, after, seen, decision.settled)
        decision.body |= potentials
        decision.part_receipts = part_receipts(self._plan, before, after, decision.outcome) if self._plan.parts else {}

    def _refuse(self, decision: Decision, state: State) -> None:
        """Do nothing: no action is admitted; each part receipts the refusal of the proposal with the greatest value."""
        actor, before, judgements = decision.by, decision.before, decision.judgements
        judged = [index for index, judgement in enumerate(judgements) if judgement.cost]
        best = max(judged, key=lambda index: judgements[index].value, default=None)
        decision.part_receipts = {}
        if best is not None and self._plan.parts:
            action = decision.proposals[best]["action"]
            predicted, outcome = actor.actor.step(before, action["op"], action, judgements[best].inputs)
            decision.part_receipts = part_receipts(self._plan, before, predicted, outcome)
        nothing: dict[str, Any] = {"chosen_hash": None, "token": None, "cost": None, "inputs": {}, "record": None}
        if (fault := actor.controller.prevented()) and isinstance(self._plan.agent_faults, Mapping):
            nothing[FAULT] = fault
        observation = decision.moment.observation
        decision.seen = observation if state is decision.moment.state else actor.actor.observe(state)
        potentials, decision.governor = actor.governor.refuse(observation, before, decision.seen)
        decision.body, decision.memory = nothing | potentials, actor.memory

    def _finish(self, decision: Decision, start: State, *, last: bool) -> Event:
        """Check the state after a decision, assign it, and return the event of the step.

        Everything that may fail comes first: a step that cannot be evaluated or receipted changes neither the state
        nor the memory nor the chains of the parts.

        Its turn began in the state `start`. The `last` decision ends it: success, `until` and the invariants are about
        the state after a turn.
        """
        plan, before, after, by = self._plan, decision.before, decision.after, decision.by
        success, until = (plan.success(after), plan.until(after)) if last else (None, False)
        if last:
            outcome = self._invariants.after(decision, start, last=by is self._actors[-1], until=until)
        else:
            outcome = Found(self._invariants.acted(decision))
        moved = self._shifts(by, after) if self._others and after is not before else []
        self._weigh(after)
        self._weigh(decision.part_receipts)
        weight = weigh_memories(decision, self._actors) if self._weigh_memories else 0
        tips, accepted = self._parts.mark(), decision.chosen is not None
        try:
            body = {
                "episode": self._number,
                "t": self.t,
                **by.actor.label,
                "before": self._digest,
                "after": state_digest(after),
                "chosen": decision.chosen,
                "decisions": decision.document(),
                **decision.body,
                "success": success,
                "violations": decision.stopped(plan) + outcome.broken,
                "parts": {
                    name: self._parts.append(name, before[name], after[name], receipt, accepted=accepted)
                    for name, receipt in decision.part_receipts.items()
                },
            }
            body |= outcome.figures
            for _, rebases, _ in moved:
                body["rebases"] += rebases
            self._weigh(body)
            form = write(body, body)
        except NotCanonical:
            self._parts.reset(tips)
            check_weight(decision.part_receipts)
            raise
        self._state, self._digest, self._steps = after, body["after"], self.t + 1
        self._invariants.remembered = outcome.remembered
        by.seen, by.memory, by.governor.values = decision.seen, decision.memory, decision.governor
        by.weight = weight
        for other, _, values in moved:
            other.governor.values = values
        if outcome.idle:
            self._idle.update(outcome.idle)
        if success and self._first_success is None:
            self._first_success = self.t
        self._ended = Ended.FATAL if outcome.fatal and plan.recording is None else Ended.UNTIL if until else None
        return Event("step", body, form)

    def _shifts(self, by: ActorState, after: State) -> list[tuple[ActorState, list[dict[str, Any]], GovernorValues]]:
        """What an action changes for the governors of the other actors."""
        return [(actor, *actor.governor.shift(by.actor.name, after)) for actor in self._actors if actor is not by]
