"""The controller of an agent that is a recording: it proposes the calls of each trajectory in turn.

A call happened, whatever the gates say of it: it is executed in the world with the result that was recorded, unless the
log says that it failed. What the log leaves out is unknown in the world, and so is what follows from it. Policies hear
every entry of the trajectory in its order. Of a trajectory that a guard wrote, every call is decided again, as it was
before it was made; what was denied has no effect and counts for no rule.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, Protocol

from msgspec.structs import replace

from specledger.compile.plan import Actor, Judgement, Proposal
from specledger.core.events import Event, GuardCause, Severity
from specledger.core.unknown import Unknown
from specledger.run.controller import DecisionController, Foresee, Moment, Unrecorded
from specledger.wings.trajectories.model import GUARDED, Call, Entry, Finding, Result, Trajectory
from specledger.wings.trajectories.reading import knows_request
from specledger.wings.trajectories.recording.decision import Decision, decide
from specledger.wings.trajectories.recording.fitting import fit_arguments, fit_result, is_misfit
from specledger.wings.trajectories.recording.guard_log import GUARD, GuardChain, too_late
from specledger.wings.trajectories.rules.of_scenario import rules_event
from specledger.wings.trajectories.rules.plans import Outcome
from specledger.wings.trajectories.rules.policy import Policy, Session
from specledger.wings.trajectories.tools.fit import Problems
from specledger.worlds.model import World

UNKNOWN_TOOL: Final = "unknown_tool"
"""Why the world cannot follow a call."""
UNFIT: Final = "a call does not fit the listed tools"
"""What is not known of a recording where a call is of no listed tool, or has other arguments than that has."""


class Questions(Protocol):
    """What asks a model about recorded calls."""

    def about(self, moment: Moment, entries: Sequence[Entry], call: Call) -> Iterable[Event]:
        """The events of what was asked about a call, which is one of the entries of its trajectory."""


class RecordedController(DecisionController):
    """The controller of one recorded actor in one run."""

    attaches = frozenset({"after_act", "end"})

    def __init__(
        self,
        actor: Actor,
        world: World,
        otherwise: str | None,
        policies: Sequence[Policy],
        trajectories: Iterator[Trajectory],
        *,
        log: tuple[str, str],
        closed: bool = True,
        problems: Problems | None = None,
    ) -> None:
        """Go through trajectories, one for each episode. A tool without an action is the action `otherwise`.

        A guard denies calls of which nothing can be said, if it is `closed`; its `log` is of a scenario and its specs.
        `problems` compares calls with the tools that are listed.
        """
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
        self._op = ""
        self._arguments: dict[str, Any] = {}
        self._closed, self._problems = closed, problems
        self._guarded = False
        self._log = log
        self._chain: GuardChain | None = None
        self._about_call: list[tuple[str, Outcome]] = []
        self._judgement: Judgement | None = None
        self._gap = ""

    def question(self, questions: Questions) -> None:
        """Take what asks about each call."""
        self._questions, self.attaches = questions, self.attaches | {"after_commit"}

    def begin(self) -> None:
        """Begin the next trajectory."""
        super().begin()
        trajectory = next(self._trajectories)
        self._head = {"id": trajectory.id, "file": trajectory.file, "format": trajectory.format}
        self._all = trajectory.entries
        self._entries = iter(trajectory.entries)
        self._results = {}
        for entry in trajectory.entries:
            if type(entry) is Result:
                self._results.setdefault(entry.call, entry)
        self._guarded = trajectory.format == GUARDED
        self._chain = GuardChain(trajectory.id, *self._log) if self._guarded else None
        sessions = (
            policy.begin(retracts=self._guarded, messages=knows_request(trajectory)) for policy in self._policies
        )
        self._sessions = [(session.policy.name, session) for session in sessions]

    def opening(self) -> dict[str, Any]:
        """Which trajectory the episode is."""
        return {"trajectory": self._head}

    def propose(self, moment: Moment) -> list[Proposal]:
        """The next call as a proposal."""
        self._call, self._gap, self._op, self._arguments = self._next_call(), "", "", {}
        try:
            return self._proposed(self._call)
        except Unrecorded as unrecorded:
            if not self._guarded:
                raise
            self._gap = unrecorded.gap["reason"]
            return []

    def _proposed(self, call: Call) -> list[Proposal]:
        op = call.tool if call.tool in self._world.actions and call.tool != self._otherwise else self._otherwise
        if op is None:
            raise Unrecorded(UNKNOWN_TOOL, call.id, call.tool)
        self._op, own = op, op != self._otherwise
        arguments = fit_arguments(call, self._world.actions[op].args) if own else {"tool": call.tool}
        self._arguments = arguments
        if own and not self._is_denied(call.id):
            self._note(arguments)
        return [{"action": {"op": op, **arguments}, "score": 0}]

    def _note(self, members: dict[str, Any]) -> None:
        """Find arguments or parts of a result that are of another type, whether or not a rule reads them."""
        unknown = [member for member in members.values() if type(member) is Unknown]
        if unknown:
            self._findings.update({member.reason for member in unknown if is_misfit(member)})

    def _next_call(self) -> Call:
        for entry in self._entries:
            self._hear(entry)
            if type(entry) is Call:
                return entry
        raise AssertionError("an episode has as many steps as its trajectory has calls")

    def _hear(self, entry: Entry) -> None:
        if self._chain is not None:
            self._chain.hear(entry)
        if type(entry) is Finding:
            self._findings[entry.code] += 1
            return
        if self._problems is not None and type(entry) is Call and next(self._problems(entry, None), None) is not None:
            self._findings[UNFIT] += 1
        outcomes: list[tuple[str, Outcome]] = []
        for name, session in self._sessions:
            outcomes += [(name, outcome) for outcome in session.hear(entry)]
        if type(entry) is Call:
            self._about_call = outcomes
            if self._is_denied(entry.id):
                return
        self._outcomes += outcomes

    def _is_denied(self, call: str) -> bool:
        """Whether a guard denied a call."""
        result = self._results.get(call)
        return result is not None and result.denied

    def judge(
        self, moment: Moment, proposals: list[Proposal], pending: int, writes: list[int], memory: Any
    ) -> list[Judgement]:
        """What the gates say of the call; they do not read its result."""
        judgements = super().judge(moment, proposals, pending, writes, memory)
        self._judgement = judgements[0] if judgements else None
        return judgements

    def guard(self, moment: Moment, foresee: Foresee) -> Iterable[Event]:
        """What is decided of a call that a guard decided before it was made, and whether it was made."""
        if self._chain is None:
            return ()
        decision, made = self.decide(foresee), not self._is_denied(self._call.id)
        if made and self._gap:
            self._findings[self._gap] += 1
        cause = GuardCause.DEADLINE if self._call.late else GuardCause.RULES
        logged = too_late(self._call, closed=self._closed) if self._call.late else decision
        body = {
            "episode": moment.episode,
            "t": moment.t,
            **decision.document(),
            "made": made,
            "cause": cause.value,
            "receipt": self._chain.decide(logged, cause),
        }
        return (Event(GUARD, body),)

    def decide(self, foresee: Foresee) -> Decision:
        """What is decided of the present call, by all that precedes it."""
        about = [
            (policy, outcome) for policy, outcome in self._about_call if Severity(outcome.severity).impact.denies_call
        ]
        fields = self._world.actions[self._op].result if self._op else None
        result = {} if fields is None or not fields.fields else {"result": fit_result(None, fields)}
        gaps = [self._gap, *(member.reason for member in self._arguments.values() if type(member) is Unknown)]
        return decide(
            self._call, tuple(filter(None, gaps)), self._judgement, about, result, foresee, closed=self._closed
        )

    def choose(self, judgements: list[Judgement]) -> int | None:
        """The call with the result that was recorded, unless it was denied, failed or could not be evaluated.

        What could not be judged of a call that was denied leaves nothing open.
        """
        if not judgements:
            return None
        if self._is_denied(self._call.id):
            judgements[0] = replace(judgements[0], unjudged=[])
            return None
        error = judgements[0].error
        result, fields = self._results.get(self._call.id), self._world.actions[self._op].result
        if fields.fields:
            fitting = fit_result(result, fields)
            self._note(fitting)
            judgements[0] = replace(judgements[0], inputs={**judgements[0].inputs, "result": fitting})
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
        return [rules_event(moment.episode, moment.t, outcomes)] if outcomes else ()

    def unknown(self) -> dict[str, int]:
        """The findings of the trajectory, by their codes."""
        findings, self._findings = self._findings, Counter()
        return dict(findings)
