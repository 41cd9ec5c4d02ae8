"""One loop serves all scenarios: drift -> observe -> propose -> commit -> judge -> choose -> token -> act -> receipt.

The commitment to a proposal set is yielded before any of its proposals is judged. Whatever cannot be evaluated becomes
an `error` event and ends its episode: an error is never a refutation and never a pass.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from specledger.compile.plan import Judgement, Plan, PlannedDrift, Proposal, State
from specledger.core.binding import leaf, observation_digest, proposal_digest, scope_digest, set_root, state_digest
from specledger.core.canonical import NotCanonical, canonical_ints
from specledger.core.events import Event
from specledger.core.rng import Stream
from specledger.core.weight import check_weight, write
from specledger.expr import EvaluationError
from specledger.gates.admission import TOKEN
from specledger.gates.capability import Refused
from specledger.gates.invariant import WATCHDOG
from specledger.oracles.tape import Halted
from specledger.run.controller import Moment
from specledger.run.part_chains import Ledger
from specledger.run.step_result import Kept, Taken


def cause(error: EvaluationError | NotCanonical) -> dict[str, Any]:
    """An error as a receipt holds it: the code and the place in the expression, if there is one, never a value.

    Of a number that no receipt can hold the place is the path of what holds it, as in `$.record.distance`.
    """
    if isinstance(error, NotCanonical):
        return {"code": error.code, "expression": error.path, "offset": None}
    return {
        "code": error.code,
        "expression": None if error.text is None else error.text.value,
        "offset": error.offset,
    }


def _halt_breach(halted: Halted) -> dict[str, Any]:
    """An agent that was ended breaks what no spec needs to say: it was not in time, or did not live to answer."""
    witness = {"ended": halted.kind, "reason": halted.answer.reason}
    return {"invariant": WATCHDOG, "severity": "fatal", "witness": witness}


def _first_best(found: list[Judgement]) -> int | None:
    """The first of the most valued proposals that are admitted, None if there is none."""
    chosen = None
    for index, (rejected, value, _, _, error) in enumerate(found):
        if not rejected and error is None and (chosen is None or value > found[chosen].value):
            chosen = index
    return chosen


def _refusal(refused: Refused) -> dict[str, Any]:
    """An execution that was refused, as a receipt holds it."""
    return {"gate": TOKEN, "reason": refused.reason, "witness": {}}


def _trust(value: Any) -> None:
    """See nothing, where the types of all that is computed say that it can be written first and weighed then."""


class Episode:
    """One episode: the state, the memory and the counters that a step changes.

    Attributes:
        t: The number of the current step.
        memory: What the agent remembers, None before the first observation.
    """

    def __init__(self, plan: Plan, number: int, kept: Kept, memory: Any) -> None:
        """Prepare episode `number`; `memory` is what an earlier episode left, if the agent keeps it."""
        self._plan = plan
        self._number = number
        self._watch, self._controller = kept
        self._weigh: Callable[[Any], None] = check_weight if plan.heavy else _trust
        self._ledger = Ledger(part.name for part in plan.parts)
        self._gates = dict.fromkeys(plan.gates, 0)
        self._actuator = self._controller.actuator()
        self._invariants = {
            scope: tuple(item for item in plan.invariants if item.scope == scope) for scope in ("step", "episode")
        }
        self.memory = memory
        self.t = 0
        self._state: State = {}
        self._digest = ""
        self._seen: Any = None
        self._pending = 0
        self._first_success: int | None = None
        self._ended: str | None = None
        self._idle: Counter[str] = Counter()

    def run(self) -> Iterator[Event]:
        """Yield the episode's events, from `episode` to `episode_end`."""
        plan = self._plan
        steps = 0
        violations: list[dict[str, Any]] = []
        start: State | None = None
        try:
            self._watch.begin()
            start = self._state = plan.start(self._number)
            check_weight(start)
            self._digest = state_digest(start)
            yield Event("episode", self._opening(start))
            for self.t in range(plan.horizon):
                yield from self._step()
                steps += 1
                if self._ended is not None:
                    break
            found, idle = self._breaches("episode", start, self._state)
            check_weight(found)
            violations = found
            self._idle.update(idle)
        except Halted as halted:
            self._ended = halted.kind
            yield from self._controller.events_at("halted", self._moment(None))
            violations = [_halt_breach(halted)]
        except (EvaluationError, NotCanonical) as error:
            self._ended = "error"
            yield from self._controller.events_at("error", self._moment(None))
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
                "idle": dict(self._idle),
                "gates": self._gates,
                "state": self._digest,
            },
        )

    def _opening(self, state: State) -> dict[str, Any]:
        parts = self._ledger.names
        body = {
            "episode": self._number,
            "state": state,
            "digest": self._digest,
            "opening": self._plan.opening(state),
            "world": state_digest({name: value for name, value in state.items() if name not in parts}),
            "parts": {name: state_digest(state[name]) for name in parts},
        }
        check_weight(body)
        return body

    def _step(self) -> Iterator[Event]:
        plan, controller = self._plan, self._controller
        for index, drift in enumerate(plan.drifts):
            if self.t in drift.schedule:
                yield from self._drift(index, drift)
        fresh = self._seen is None
        observation = plan.observe(self._state) if fresh else self._seen
        if self.memory is None:
            self.memory = plan.begin(observation)
        self._watch.observe(observation, self._state, fresh=fresh)
        moment = self._moment(observation)
        yield from controller.events_at("before_propose", moment)
        proposals = controller.propose(moment)
        commit, leaves = self._commit(observation, proposals)
        root = commit.body["root"]
        yield commit
        yield from controller.events_at("after_commit", moment)
        writes = [plan.writes(observation, self.memory, proposal["action"]) for proposal in proposals]
        found = controller.judge(moment, proposals, self._pending, writes, self._watch.kept.memory)
        chosen = _first_best(found)
        token = self._issue(chosen, proposals, leaves, root, found)
        moment = moment._replace(token=token)
        yield from controller.events_at("after_token", moment)
        taken = self._act(token, chosen, proposals, found, observation)
        yield from controller.events_at("after_act", moment)
        chosen = chosen if taken.accepted else None
        refused = sum([1 for judgement in found if judgement.rejected])
        paid = chosen is not None and found[chosen].cost["total"] != 0
        decisions = [
            {"rejected": judgement.rejected, "error": None if judgement.error is None else cause(judgement.error)}
            for judgement in found
        ]
        event = self._settle(taken, {"chosen": chosen, "decisions": decisions})
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
        check_weight(after)
        digest = state_digest(after)
        rebases, watched = self._watch.drift(drift.name, after)
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
        canonical_ints(body)
        self._state, self._seen, self._digest, self._watch.kept = after, None, digest, watched
        yield Event("drift", body)

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
            found[chosen].rejected.append(_refusal(refused))
            return None

    def _act(
        self, token: Any, chosen: int | None, proposals: list[Proposal], found: list[Judgement], observation: Any
    ) -> Taken:
        """Act through a token, and remember; without one, or where it is refused, nothing is done."""
        if token is None or chosen is None:
            return self._stand(proposals, found, observation)
        plan, before, action, judgement = self._plan, self._state, proposals[chosen]["action"], found[chosen]
        try:
            after, outcome = self._actuator.act(token, chosen, proposals[chosen], token.scope, before, judgement.inputs)
        except Refused as refused:
            judgement.rejected.append(_refusal(refused))
            return self._stand(proposals, found, observation)
        looked = None if plan.look is None else plan.look(before, after, outcome)
        body = {
            "chosen_hash": token.proposal,
            "token": token.document(),
            "cost": judgement.cost,
            "inputs": judgement.inputs,
            "record": plan.record(before, after, outcome) if looked is None else looked.record,
        }
        seen = plan.observe(after) if looked is None else looked.seen
        memory = plan.remember(observation, self.memory, action, seen)
        told, watched = self._watch.act(observation, action, after, seen)
        body |= told
        receipts = self._told(before, after, outcome) if looked is None else looked.told
        return Taken(after, seen, memory, watched, True, body, receipts, looked)

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
        body |= self._watch.stand()
        return Taken(state, observation, self.memory, self._watch.kept, False, body, told)

    def _told(self, before: State, after: State, outcome: dict[str, Any]) -> dict[str, dict[str, Any]]:
        """What the worlds of the parts say of a step; a part that the action leaves alone says nothing."""
        return {part.name: part.receipt(before, after, outcome) for part in self._plan.parts if part.name in outcome}

    def _settle(self, taken: Taken, decision: dict[str, Any]) -> Event:
        """Look at the state after a decision, then keep it, and give the event of the step.

        Whatever may fail comes first: a step that cannot be evaluated or receipted changes neither the state nor the
        memory nor the chains of the parts.
        """
        plan, before, after, looked = self._plan, self._state, taken.state, taken.looked
        success, until = (plan.success(after), plan.until(after)) if looked is None else (looked.success, looked.until)
        violations, idle = self._breaches("step", before, after, None if looked is None else looked.found)
        self._weigh(after)
        self._weigh(taken.told)
        tips = self._ledger.mark()
        try:
            body = {
                "episode": self._number,
                "t": self.t,
                "before": self._digest,
                "after": state_digest(after),
                **decision,
                **taken.body,
                "success": success,
                "violations": violations,
                "parts": {
                    name: self._ledger.enter(name, before[name], after[name], told, accepted=taken.accepted)
                    for name, told in taken.told.items()
                },
            }
            self._weigh(body)
            form = write(body, body)
        except NotCanonical:
            self._ledger.reset(tips)
            check_weight(taken.told)
            raise
        self._state, self._seen, self._digest, self.memory = after, taken.seen, body["after"], taken.memory
        self._watch.kept = taken.watched
        if idle:
            self._idle.update(idle)
        if success and self._first_success is None:
            self._first_success = self.t
        if violations and any(breach["severity"] == "fatal" for breach in violations):
            self._ended = "fatal"
        elif until:
            self._ended = "until"
        return Event("step", body, form)

    def _breaches(
        self, scope: str, previous: State, state: State, found: list[Any] | None = None
    ) -> tuple[list[dict[str, Any]], list[str]]:
        """The broken invariants, and the names of those whose `when` does not hold, which were not checked.

        Where it was found already what they say, they are not asked.
        """
        breaches: list[dict[str, Any]] = []
        idle: list[str] = []
        invariants = self._invariants[scope]
        if found is None:
            found = [invariant.judge(previous, state) for invariant in invariants]
        for invariant, witness in zip(invariants, found, strict=True):
            if witness is False:
                idle.append(invariant.name)
            elif witness is not None:
                breaches.append({"invariant": invariant.name, "severity": invariant.severity, "witness": witness})
        return breaches, idle
