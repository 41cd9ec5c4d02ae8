"""The invariants of an episode: what they remember, when each of them is judged, and what is broken.

A step has one or more turns. An invariant is judged after every turn, on the state before that and after it. One whose
memory is written once a step is judged where the step ends: after its last turn, or the turn that ends the episode.
One whose memory is written by steps and by actions is judged after every turn, and where the step ends after both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from specledger.compile.plan import Plan, PlannedInvariant, State
from specledger.core.events import Severity
from specledger.core.unknown import Unknown
from specledger.run.decision import Decision

Remembered = Mapping[str, dict[str, Any]]
"""The memory of every invariant that has one, by its name."""


class Found(Struct, frozen=True):
    """What a decision leaves.

    Attributes:
        remembered: The memories.
        idle: The names of those whose condition does not hold.
        unjudged: `{invariant, reason}` of those that read what a recording leaves out.
    """

    remembered: Remembered
    broken: list[dict[str, Any]] = []
    idle: list[str] = []
    unjudged: list[dict[str, str]] = []

    @property
    def figures(self) -> dict[str, Any]:
        """What a receipt says of it beside what is broken."""
        figures: dict[str, Any] = {"monitors": self.remembered} if self.remembered else {}
        return {**figures, "unjudged": self.unjudged} if self.unjudged else figures

    @property
    def fatal(self) -> bool:
        """Whether an invariant is broken that ends the episode."""
        return bool(self.broken) and any(Severity(breach["severity"]).impact.ends_episode for breach in self.broken)


class Invariants:
    """The invariants of an episode.

    Attributes:
        remembered: The memories in the present state; `after` returns the next ones, for the caller to assign.
    """

    def __init__(self, plan: Plan, *, turns: int) -> None:
        """Prepare an episode whose steps have as many turns."""
        self._monitors = {item.name: item.monitor for item in plan.invariants if item.monitor is not None}
        self._acts = [(name, planned.act) for name, planned in self._monitors.items() if planned.act is not None]
        waiting = {name for name, monitor in self._monitors.items() if monitor.act is None}
        step = [item for item in plan.invariants if item.scope == "step"]
        self._of_steps = bool(step or self._monitors)
        self._each_step = [item for item in step if turns == 1 or item.name in waiting]
        self._each_turn = [item for item in step if item not in self._each_step]
        self._whole = [item for item in plan.invariants if item.scope == "episode"]
        self._opened: State = {}
        self.remembered: Remembered = {}

    def begin(self, start: State) -> None:
        """Begin every memory in the first state."""
        self.remembered = {name: monitor.begin(start) for name, monitor in self._monitors.items()}

    def open(self, state: State) -> None:
        """Begin a step in the state that its drifts left."""
        self._opened = state

    def acted(self, decision: Decision) -> Remembered:
        """The memories after an action, or none, of a decision."""
        if not self._acts:
            return self.remembered
        step = decision.before, decision.after, decision.action, decision.outcome
        return {**self.remembered, **{name: act(*step, self.remembered[name]) for name, act in self._acts}}

    def after(self, decision: Decision, start: State, *, last: bool, until: bool) -> Found:
        """What the decision leaves that ends a turn, which began in the state `start`.

        Its step ends with it if it is in the `last` turn, or if the episode ends: by `until`, or by what is broken.
        """
        if not self._of_steps:
            return Found(self.remembered)
        acted, after = self.acted(decision), decision.after
        if last or until:
            return self._close_step(self._each_turn, start, after, self._stepped(decision, acted))
        outcome = _judge(self._each_turn, start, after, acted)
        if not outcome.fatal:
            return outcome
        broken = {breach["invariant"] for breach in outcome.broken}
        again = [item for item in self._each_turn if item.monitor is not None and item.name not in broken]
        rest = self._close_step(again, start, after, self._stepped(decision, acted))
        idle = [name for name in rest.idle if name not in outcome.idle]
        unjudged = [gap for gap in rest.unjudged if gap not in outcome.unjudged]
        return Found(rest.remembered, outcome.broken + rest.broken, outcome.idle + idle, outcome.unjudged + unjudged)

    def _stepped(self, decision: Decision, acted: Remembered) -> Remembered:
        """The memories after the step that a decision ends, of those after its action."""
        alone = not decision.by.actor.name
        step = self._opened, decision.after, *((decision.action, decision.outcome) if alone else ({}, {}))
        return {name: monitor.remember(*step, acted[name]) for name, monitor in self._monitors.items()}

    def _close_step(
        self, each_turn: Iterable[PlannedInvariant], start: State, after: State, remembered: Remembered
    ) -> Found:
        """What is broken where a step ends: of some invariants about its last turn, and of those about the step."""
        turn = _judge(each_turn, start, after, remembered)
        step = _judge(self._each_step, self._opened, after, remembered)
        return Found(remembered, turn.broken + step.broken, turn.idle + step.idle, turn.unjudged + step.unjudged)

    def foresee(
        self, decision: Decision, inputs: Mapping[str, Any]
    ) -> tuple[list[dict[str, Any]], list[dict[str, str]]]:
        """What the only proposal would break at its step with these inputs, and what would not be judged.

        Nothing changes by that. What is judged of whole episodes is not foreseen.

        Raises:
            EvaluationError: Its step has no value, or an invariant has none.
        """
        state, action = decision.moment.state, decision.proposals[0]["action"]
        after, outcome = decision.by.actor.step(state, action["op"], action, inputs)
        tried = Decision(decision.by, decision.moment, chosen=0)
        tried.proposals, tried.before, tried.after, tried.outcome = decision.proposals, state, after, outcome
        left = self.after(tried, state, last=True, until=False)
        return left.broken, left.unjudged

    def close(self, start: State, state: State, *, fatal: bool) -> Found:
        """What a whole episode leaves; a `fatal` breach may have ended it."""
        judged = [item for item in self._whole if item.after_fatal or not fatal]
        outcome = _judge(judged, start, state, self.remembered)
        return replace(outcome, idle=outcome.idle + [item.name for item in self._whole if item not in judged])


def _judge(invariants: Iterable[PlannedInvariant], previous: State, state: State, remembered: Remembered) -> Found:
    """What some invariants say of a state and the one before it."""
    broken: list[dict[str, Any]] = []
    idle: list[str] = []
    unjudged: list[dict[str, str]] = []
    for invariant in invariants:
        if invariant.monitor is None:
            witness = invariant.judge(previous, state)
        else:
            witness = invariant.judge(previous, state, remembered[invariant.name])
        if witness is False:
            idle.append(invariant.name)
        elif type(witness) is Unknown:
            unjudged.append({"invariant": invariant.name, "reason": witness.reason})
        elif witness is not None:
            broken.append({"invariant": invariant.name, "severity": invariant.severity.value, "witness": witness})
    return Found(remembered, broken, idle, unjudged)
