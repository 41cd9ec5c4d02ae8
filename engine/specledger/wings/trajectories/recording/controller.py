"""The controller of an agent that is a recording: it proposes the calls of each trajectory in turn.

A call happened, whatever the gates say of it: it is executed in the world with the result that was recorded, unless the
log says that it failed. What the log leaves out is unknown in the world, and so is what follows from it. Policies hear
every entry of the trajectory in its order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, Protocol

from msgspec.structs import replace

from specledger.compile.plan import Actor, Judgement, Proposal
from specledger.core.events import Event, Severity
from specledger.core.unknown import Unknown
from specledger.run.controller import DecisionController, Moment, Unrecorded
from specledger.wings.trajectories.model import Call, Entry, Finding, Result, Trajectory
from specledger.wings.trajectories.recording.fitting import fit_arguments, fit_result, is_misfit
from specledger.wings.trajectories.rules.plans import Outcome, Status
from specledger.wings.trajectories.rules.policy import Policy, Session
from specledger.worlds.model import World

UNKNOWN_TOOL: Final = "unknown_tool"
"""Why the world cannot follow a call."""
RULES: Final = "rules"
"""The type of the receipt of what policies say."""


class Questions(Protocol):
    """What asks a model about recorded calls."""

    def about(self, moment: Moment, entries: Sequence[Entry], call: Call) -> Iterable[Event]:
        """The events of what was asked about a call, which is one of the entries of its trajectory."""


class RecordedController(DecisionController):
    """The controller of one recorded actor in one run."""

    attaches = frozenset({"after_commit", "after_act", "end"})

    def __init__(
        self,
        actor: Actor,
        world: World,
        otherwise: str | None,
        policies: Sequence[Policy],
        trajectories: Iterator[Trajectory],
    ) -> None:
        """Go through trajectories, one for each episode. A tool without an action is the action `otherwise`."""
        super().__init__(actor)
        self._world, self._otherwise, self._policies = world, otherwise, policies
        self._trajectories = trajectories
        self._head: dict[str, str] = {}
        self._entries: Iterator[Entry] = iter(())
        self._results: dict[str, Result] = {}
        self._sessions: list[tuple[str, Session]] = []
        self._outcomes: list[tuple[str, Outcome]] = []
        self._findings: Counter[str] = Counter()
        self._call = Call("", "")
        self._questions: Questions | None = None
        self._all: Sequence[Entry] = ()

    def question(self, questions: Questions) -> None:
        """Take what asks about each call."""
        self._questions = questions

    def begin(self) -> None:
        """Begin the next trajectory."""
        super().begin()
        trajectory = next(self._trajectories)
        self._head = {"id": trajectory.id, "file": trajectory.file, "format": trajectory.format}
        self._all = trajectory.entries
        self._entries = iter(trajectory.entries)
        self._results = {}
        for entry in trajectory.entries:
            if isinstance(entry, Result):
                self._results.setdefault(entry.call, entry)
        self._sessions = [(policy.name, policy.begin()) for policy in self._policies]

    def opening(self) -> dict[str, Any]:
        """Which trajectory the episode is."""
        return {"trajectory": self._head}

    def propose(self, moment: Moment) -> list[Proposal]:
        """The next call as a proposal."""
        self._call = call = self._next_call()
        op = call.tool if call.tool in self._world.actions and call.tool != self._otherwise else self._otherwise
        if op is None:
            raise Unrecorded(UNKNOWN_TOOL, call.id, call.tool)
        own = op != self._otherwise
        arguments = self._noted(fit_arguments(call, self._world.actions[op].args)) if own else {"tool": call.tool}
        return [{"action": {"op": op, **arguments}, "score": 0}]

    def _noted(self, members: dict[str, Any]) -> dict[str, Any]:
        """Arguments or a result, of which those of another type are findings, whether or not a rule reads them."""
        unknown = (member for member in members.values() if type(member) is Unknown)
        self._findings.update({member.reason for member in unknown if is_misfit(member)})
        return members

    def _next_call(self) -> Call:
        for entry in self._entries:
            self._hear(entry)
            if isinstance(entry, Call):
                return entry
        raise AssertionError("an episode has as many steps as its trajectory has calls")

    def _hear(self, entry: Entry) -> None:
        if isinstance(entry, Finding):
            self._findings[entry.code] += 1
            return
        for name, session in self._sessions:
            for outcome in session.hear(entry):
                self._outcomes.append((name, outcome))

    def judge(
        self, moment: Moment, proposals: list[Proposal], pending: int, writes: list[int], memory: Any
    ) -> list[Judgement]:
        """What the gates say of the call; its result is what was recorded, which they do not read."""
        judgements = super().judge(moment, proposals, pending, writes, memory)
        action = self._world.actions[proposals[0]["action"]["op"]]
        if not action.result.fields:
            return judgements
        result = self._noted(fit_result(self._results.get(self._call.id), action.result))
        return [replace(judgement, inputs={**judgement.inputs, "result": result}) for judgement in judgements]

    def choose(self, judgements: Sequence[Judgement]) -> int | None:
        """The call, unless it failed or could not be evaluated."""
        error = judgements[0].error
        result = self._results.get(self._call.id)
        return None if error is not None or not judgements[0].cost or (result is not None and result.error) else 0

    def events_at(self, hook: str, moment: Moment) -> Iterable[Event]:
        """What the rules say of a call, and at the end of what follows the last one that the world could follow."""
        if hook == "end":
            for entry in self._entries:
                self._hear(entry)
        elif hook == "after_commit":
            return () if self._questions is None else self._questions.about(moment, self._all, self._call)
        elif hook != "after_act":
            return ()
        outcomes, self._outcomes = self._outcomes, []
        return [Event(RULES, _receipt(moment, outcomes))] if outcomes else ()

    def unknown(self) -> dict[str, int]:
        """The findings of the trajectory, by their codes."""
        findings, self._findings = self._findings, Counter()
        return dict(findings)


def _receipt(moment: Moment, outcomes: Sequence[tuple[str, Outcome]]) -> dict[str, Any]:
    held: dict[str, int] = {}
    broken, unjudged = [], []
    for policy, outcome in outcomes:
        rule = f"{policy}.{outcome.rule}"
        if outcome.status is Status.HELD:
            held[rule] = held.get(rule, 0) + 1
            continue
        body = {"rule": rule, "call": outcome.call, "reason": outcome.reason, "value": outcome.value}
        if outcome.status is Status.BROKEN:
            broken.append({**body, "severity": Severity(outcome.severity).value, "source": outcome.source})
        else:
            unjudged.append(body)
    return {"episode": moment.episode, "t": moment.t, "held": held, "broken": broken, "unjudged": unjudged}
