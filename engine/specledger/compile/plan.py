"""The plan of a run: everything that the loop calls, with nothing of YAML left in it.

States, observations, memories, proposals and outcomes are plain JSON values with integers, never changed in place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from specledger.core.entries import Entries
from specledger.core.events import Severity
from specledger.core.unknown import Unknown
from specledger.expr import EvaluationError, Type
from specledger.spec.agent import Outside

if TYPE_CHECKING:
    from specledger.lang.notation import Notation
    from specledger.oracles.model import Model
    from specledger.oracles.model_agent import ModelPlan
    from specledger.oracles.recording import LiveAgent, Oracle
    from specledger.oracles.spending import AskedCalls

State = dict[str, Any]
Proposal = dict[str, Any]
"""`{action: {op, ...args}, score, ...claims}`."""


class Judgement(Struct, frozen=True):
    """What the governor found about one proposal.

    Attributes:
        rejected: Per failing gate `{gate, reason, witness}`, in the governor's order; empty if admitted.
        value: What the choice maximises.
        cost: The items of the decision's price and their `total`, in millionths.
        inputs: What the governor supplies to the step.
        error: Why the proposal could not be judged; such a proposal is never admitted.
        unjudged: Per gate that reads what a recording leaves out `{gate, reason}`; the price counts as one, as `cost`.
    """

    rejected: list[dict[str, Any]]
    value: int
    cost: dict[str, int]
    inputs: dict[str, Any]
    error: EvaluationError | None = None
    unjudged: list[dict[str, str]] = []


class PlannedDrift(Struct, frozen=True):
    """One drift: when it is due, and what it does.

    Attributes:
        schedule: The steps, of every episode, at which it is due.
        streams: The names of the streams that it draws from, in the order of `sources`.
        sources: `state -> [list to draw from, ...]`, or None where the drift's `when` does not hold.
        apply: `(state, drawn values) -> next state`.
        draws: The names of the drawn values, in the order of `sources`.
    """

    name: str
    schedule: frozenset[int]
    streams: tuple[str, ...]
    draws: tuple[str, ...]
    sources: Callable[[State], list[list[Any]] | None]
    apply: Callable[[State, list[Any]], State]


class PlannedChance(Struct, frozen=True):
    """What follows an action once values are drawn.

    Attributes:
        draws: The stream and the name of each drawn value.
        sources: `(state, action, inputs) -> [list to draw from, ...]`, of the state that the action made.
        apply: `(state, action, inputs, drawn values) -> next state`.
        result: `(state before, action, inputs, drawn values) -> result` of the action; None where it is not drawn.
    """

    draws: tuple[tuple[str, str], ...]
    sources: Callable[[State, Any, Any], list[list[Any]] | None]
    apply: Callable[[State, Any, Any, list[Any]], State]
    result: Callable[[State, Any, Any, list[Any]], dict[str, Any]] | None = None


class PlannedMonitor(Struct, frozen=True):
    """The memory of an invariant.

    Attributes:
        begin: `state -> memory` in the first state of an episode.
        remember: `(previous, state, action, outcome, memory) -> memory` after a step. Of several agents it reads no
            action: then that is empty.
        act: The same after every action of several agents; None if nothing is written then.
    """

    begin: Callable[[State], dict[str, Any]]
    remember: Callable[[State, State, Mapping[str, Any], Mapping[str, Any], dict[str, Any]], dict[str, Any]]
    act: Callable[[State, State, Mapping[str, Any], Mapping[str, Any], dict[str, Any]], dict[str, Any]] | None


class PlannedInvariant(Struct, frozen=True):
    """One invariant.

    Attributes:
        judge: `(previous, state) -> None` if it holds, False if its `when` does not, Unknown if a recording does not
            say, else its witness; the memory of the monitor is a third argument.
        after_fatal: Whether it is judged at the end of an episode that a fatal breach ended.
    """

    name: str
    scope: str
    severity: Severity
    judge: Callable[..., dict[str, Any] | Literal[False] | Unknown | None]
    monitor: PlannedMonitor | None = None
    after_fatal: bool = True


class PlannedPart(Struct, frozen=True):
    """A world inside the world that keeps receipts of its own steps.

    Attributes:
        name: The field of the state that holds its state.
        receipt: `(state, next state, outcome) -> body`, all three of the whole world.
    """

    name: str
    receipt: Callable[[State, State, dict[str, Any]], dict[str, Any]]


class PlannedGovernorState(Struct, frozen=True):
    """The state of a governor: a memory of the observations, and potentials of the world's state and the memory.

    Attributes:
        remembers: `episode` or `run`: when its memory begins anew.
        begin: `observation -> memory`.
        remember: `(observation, memory, action, new observation) -> memory` after each step of its agent.
        renew: The same where a decision observes something else than the step before it; None if nothing is written.
        potentials: `(state, memory) -> {name: value}`.
    """

    remembers: str
    begin: Callable[[Any], Any]
    remember: Callable[[Any, Any, Mapping[str, Any], Any], Any]
    renew: Callable[[Any, Any, Mapping[str, Any], Any], Any] | None
    potentials: Callable[[State, Any], dict[str, int]]


class Questions(NamedTuple):
    """How many messages an agent outside receives in a run beside its decisions.

    Attributes:
        asked, opened: Questions, and demands to open a commitment, of an agent whose statements hold.
        most_asked, most_opened, reasons: The same at most, whatever it answers; the bytes of an answer's reasons.
        shown: For start states what a question shows, then that with each thing that may make it longer.
    """

    asked: int = 0
    opened: int = 0
    most_asked: int = 0
    most_opened: int = 0
    reasons: int = 0
    shown: tuple[tuple[dict[str, Any], ...], ...] = ()


class PlannedOutside(Struct, frozen=True):
    """An agent that is asked from outside.

    Attributes:
        source: The program, function or model that is asked.
        operations: What it is offered: `{op, args, doc}`, each argument by its values or type; `doc` if there is one.
        claims: What each of its proposals must claim.
        notation: Reads the actions that it names.
        greeting: `start state -> fields` of the first message to it.
        shown: `state -> fields` that a question shows beside the observation.
        questions: How much it is asked in a run beside its decisions.
    """

    source: Outside
    operations: list[dict[str, Any]]
    claims: Mapping[str, Type]
    notation: Notation
    greeting: Callable[[State], dict[str, Any]]
    shown: Callable[[State], dict[str, Any]] = lambda _state: {}
    questions: Callable[[Plan], Questions] = lambda _plan: Questions()
    model: ModelPlan | None = None


class PlannedRecording(Struct, frozen=True):
    """What an agent did, in place of an agent that decides; each trajectory of its logs is an episode.

    Attributes:
        rules: What the first receipt states of each rule of the scenario's policies, in their order (`StartedRule`).
        store: `(logs, path)`: reads logs, or those that the agent names, and writes their canonical lines to a path.
        read: `path`: the recording of canonical lines that evidence holds.
        lengths: The calls of each trajectory; None before the logs were read.
        digest: That of the recording.
        controller: `actor -> controller`, once the logs were read.
        forbids: `tool -> why no call of it is ever allowed`, empty where one may be.
        live: `(plan, head of a trajectory) -> episode` of a conversation that goes on; its calls are decided before
            they are made.
    """

    rules: tuple[dict[str, Any], ...]
    store: Callable[[Sequence[Path], Path], PlannedRecording]
    read: Callable[[Path], PlannedRecording]
    lengths: tuple[int, ...] | None = None
    digest: str = ""
    controller: Callable[[Actor], Any] | None = None
    forbids: Callable[[str], str] = lambda _tool: ""
    live: Callable[[Plan, Mapping[str, str]], Any] | None = None


class PlannedPolicies(Struct, frozen=True):
    """The policies of a scenario whose agents decide; those of a recording are its own.

    Attributes:
        rules: What the first receipt states of each rule, in their order (`StartedRule`).
        begin: Begins an episode: what hears its decisions, `acted(decision) -> events`.
    """

    rules: tuple[dict[str, Any], ...]
    begin: Callable[[], Any]


class PlannedWatchdog(Struct, frozen=True):
    """The time limits of a run whose agent is asked in a process of its own.

    Attributes:
        deadline_ms: How long one answer may take.
        ms_per_tick: Time of a step in the audit log; None where there is no log.
    """

    deadline_ms: int
    ms_per_tick: int | None


ControllerFactory = Callable[["Plan", "Actor", Entries], Any]
"""`(plan, actor, log of the run) -> controller`: a `run.controller.DecisionController` that decides for the actor."""


class Actor(Struct, frozen=True):
    """An agent of a scenario together with its governor: all that decides for it.

    Attributes:
        name: Its name among the scenario's `agents`; empty where the scenario has one agent.
        remembers: `episode` or `run`: when memory begins anew.
        gates: The gates' ids in order.
        begin: `observation -> memory`.
        observe: `state -> observation`.
        propose: `(observation, memory) -> proposals`.
        writes: `(observation, memory, action) -> number of memory writes that the action would cause`.
        remember: `(observation, memory, action, new observation) -> memory`.
        judge: `(state, proposals, attempts rejected since the last step with a cost, writes of each, the governor's
            memory) -> judgements`; without a governor state the memory may be left out.
        step: `(state, op, action, inputs) -> (next state, outcome)`.
        governor_state: None if the governor has neither a memory nor potentials.
        controller: Makes what decides for it in a run; None where the loop itself judges bare proposals.
        keyed: Whether its controller signs with a key, which a run that is made again does not have.
        too_few_repeats: Names of what asks it too seldom to find anything; a preview warns of them.
        outside: Who is asked outside; None where the agent is a spec.
        asks: `(record, model) -> LiveAgent`: opens the model that is asked about recorded calls, or takes another one;
            a cassette records what it does not hold, or refuses it. None where none is asked.
        rehearse: Counts what it is asked about recorded calls; None where none is asked, or no logs are named.
        memory: What its memory and its governor's weigh at most, by their types.
    """

    name: str
    remembers: str
    gates: tuple[str, ...]
    begin: Callable[[Any], Any]
    observe: Callable[[State], Any]
    propose: Callable[[Any, Any], list[Proposal]]
    writes: Callable[[Any, Any, Mapping[str, Any]], int]
    remember: Callable[[Any, Any, Mapping[str, Any], Any], Any]
    judge: Callable[..., list[Judgement]]
    step: Callable[[State, str, Mapping[str, Any], Mapping[str, Any]], tuple[State, dict[str, Any]]]
    governor_state: PlannedGovernorState | None
    controller: ControllerFactory | None = None
    keyed: bool = False
    too_few_repeats: tuple[str, ...] = ()
    outside: PlannedOutside | None = None
    asks: Callable[[bool, Model | None], LiveAgent] | None = None
    rehearse: Callable[[Plan], AskedCalls] | None = None
    memory: int = 0

    @property
    def label(self) -> dict[str, str]:
        """What its receipts say of who decided: nothing where the scenario has one agent."""
        return {"agent": self.name} if self.name else {}

    def figure(self, name: str) -> str:
        """The name under which something of its own is counted: `gate`, or `agent.gate` among several agents."""
        return f"{self.name}.{name}" if self.name else name


class Plan(Struct, frozen=True):
    """A compiled scenario.

    Attributes:
        specs: Digest of the resolved specs.
        horizon: Steps of an episode at most.
        start: `episode -> state`.
        drawn: `episode -> values` that its start state was made with, by name.
        chance: What follows an action once values are drawn, by its op.
        step_chance: What follows every action after that; None if nothing is drawn for it.
        opening: `state -> figures` of an episode's start.
        record: `(state, next state, outcome) -> figures`.
        until: `state -> bool`: whether the episode ends early.
        actors: Who decides, in the order in which actions are made.
        simultaneous: Whether all actors decide on one state before any of them acts, or one after another.
        watchdog: The time limits of asking an agent that is outside, or under a kernel.
        oracle: The answers from outside in the run that is made; None where there are none.
        signatures: Those of a run that is replayed, where a controller signs with a key; None in a new run.
        agent_faults: What agent faults make of the run: `inconclusive`, `fail`, or `{most, most_in_episode, then}`.
        on_denied: Whether a decision of which nothing is admitted is `fatal`, or the agent is told why.
        expect: How the run is expected to end, `{verdict, ended}`; empty where nothing is expected.
        recording: What the agent did, if it is recorded; None where it decides.
        policies: The rules over what agents do that decide; None where there are none, or the agent is recorded.
        check_weights: Whether one value may exceed the limit of a receipt; each is weighed then before it is written.
    """

    name: str
    specs: str
    seed: int
    episodes: int
    horizon: int
    start: Callable[[int], State]
    drawn: Callable[[int], dict[str, Any]]
    chance: Mapping[str, PlannedChance]
    opening: Callable[[State], dict[str, Any]]
    record: Callable[[State, State, dict[str, Any]], dict[str, Any]]
    success: Callable[[State], bool]
    until: Callable[[State], bool]
    drifts: tuple[PlannedDrift, ...]
    invariants: tuple[PlannedInvariant, ...]
    parts: tuple[PlannedPart, ...]
    actors: tuple[Actor, ...]
    simultaneous: bool = False
    step_chance: PlannedChance | None = None
    watchdog: PlannedWatchdog | None = None
    oracle: Oracle | None = None
    signatures: tuple[str, ...] | None = None
    agent_faults: Any = "inconclusive"
    on_denied: Literal["fatal", "tell"] = "fatal"
    expect: Mapping[str, str] = field(default_factory=dict)
    recording: PlannedRecording | None = None
    policies: PlannedPolicies | None = None
    check_weights: bool = True

    @property
    def gates(self) -> tuple[str, ...]:
        """The gates of all actors, under the names by which they are counted."""
        return tuple(actor.figure(gate) for actor in self.actors for gate in actor.gates)

    @property
    def outside(self) -> PlannedOutside | None:
        """Who is asked outside; of several actors at most one is."""
        return next((actor.outside for actor in self.actors if actor.outside is not None), None)

    @property
    def asks(self) -> Callable[[bool, Model | None], LiveAgent] | None:
        """Opens the model that is asked about the calls of a recording; None where none is asked."""
        return next((actor.asks for actor in self.actors if actor.asks is not None), None)

    @property
    def rehearse(self) -> Callable[[Plan], AskedCalls] | None:
        """Counts what a model is asked about the calls of a recording; None where that is not known."""
        return next((actor.rehearse for actor in self.actors if actor.rehearse is not None), None)

    @property
    def answered(self) -> bool:
        """Whether answers from outside are part of the run: of its agent, or of who is asked about a recording."""
        return self.outside is not None or self.asks is not None

    @property
    def signed(self) -> bool:
        """Whether a controller signs with a key, which a run that is made again does not have."""
        return any(actor.keyed for actor in self.actors)

    @property
    def logged(self) -> bool:
        """Whether the run keeps an audit log."""
        return self.watchdog is not None and self.watchdog.ms_per_tick is not None

    def steps(self, episode: int) -> int:
        """The steps of an episode at most: those of its trajectory, where the agent is recorded."""
        lengths = None if self.recording is None else self.recording.lengths
        return self.horizon if lengths is None else lengths[episode]

    def replaying(self, recording: PlannedRecording) -> Plan:
        """The plan of a recorded agent whose logs were read."""
        lengths = recording.lengths or ()
        return replace(self, recording=recording, episodes=len(lengths), horizon=max(lengths, default=0))

    def asking(self, outside: PlannedOutside) -> Plan:
        """The plan with another way to ask the agent that is outside."""
        actors = [actor if actor.outside is None else replace(actor, outside=outside) for actor in self.actors]
        return replace(self, actors=tuple(actors))
