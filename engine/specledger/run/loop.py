"""The run of a scenario: its episodes in their order, between `start` and `end`.

They are made in several processes, if they are many and none depends on the one before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, Final

from specledger.compile.plan import Actor, Plan
from specledger.core.canonical import canonical_ints, parse_written
from specledger.core.entries import Entries, Mode
from specledger.core.events import Event
from specledger.evidence.receipts import typed
from specledger.evidence.receipts.places import Position
from specledger.evidence.receipts.run import EpisodeEnd
from specledger.oracles.recording import Tape
from specledger.run.actor_state import ActorState
from specledger.run.controller import DecisionController
from specledger.run.episode import Episode
from specledger.run.executor import Executor, spread

WORTH: Final = 20_000
"""Steps from which several processes are used: to start one takes as long as some thousands of steps."""
_CHUNK: Final = 2_000  # steps at most that a process is given at a time, so that waiting results take some megabytes
_ROUNDS: Final = 4  # chunks at least for each process, so that none waits long for another


def run(
    plan: Plan,
    progress: Callable[[int, int], None] | None = None,
    episodes: Iterator[Event] | None = None,
    controllers: Sequence[DecisionController] | None = None,
) -> Iterator[Event]:
    """Run every episode of a plan.

    Args:
        plan: What to run.
        progress: Called with (steps done, steps at most) after every step.
        episodes: The events of all episodes in their order, if they are made elsewhere.
        controllers: The decision controller of each actor; by default those that the plan needs.

    Yields:
        `start`; per episode `episode`, then per step `drift`*, and per turn a `commit` and a `step` of each actor, or
        one `error`, then `episode_end`; `end`. What attaches to the loop yields `audit` and `probe` at its places.
    """
    turns = "simultaneous" if plan.simultaneous else "order"
    tape = Tape() if plan.oracle is None else plan.oracle.tape  # a live run continues an audit log
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
                {"name": item.name, "scope": item.scope, "severity": item.severity.value} for item in plan.invariants
            ],
            "drifts": [{"drift": drift.name, "schedule": sorted(drift.schedule)} for drift in plan.drifts],
            **({"expect": dict(plan.expect)} if plan.expect else {}),
            **({"agents": [actor.name for actor in plan.actors], "turns": turns} if len(plan.actors) > 1 else {}),
            **_recorded(plan),
            **({} if plan.agent_faults == "inconclusive" else {"agent_faults": plan.agent_faults}),
            **({} if plan.on_denied == "fatal" else {"on_denied": plan.on_denied}),
            **({"audit": {"mode": tape.mode.value, "head": tape.head}} if tape.mode is Mode.LIVE else {}),
        },
    )
    gates, steps = Counter(dict.fromkeys(plan.gates, 0)), 0
    for event in _in_turn(plan, controllers) if episodes is None else episodes:
        if event.type == "step" and progress is not None:
            at = typed(Position, event.body)
            progress(at["episode"] * plan.horizon + at["t"] + 1, plan.episodes * plan.horizon)
        elif event.type == "episode_end":
            end = typed(EpisodeEnd, event.body)
            steps += end["steps"]
            gates.update(end["gates"])
        yield event
    yield Event("end", {"episodes": plan.episodes, "steps": steps, "gates": dict(gates)})


def _recorded(plan: Plan) -> dict[str, Any]:
    """What the first receipt says of a recorded agent, and of rules: trajectories, their canonical lines, the rules."""
    recording = plan.recording
    if recording is None:
        return {} if plan.policies is None else {"rules": list(plan.policies.rules)}
    stated = {"trajectories": len(recording.lengths or ()), "digest": recording.digest}
    return {"recording": stated, "rules": list(recording.rules)}


def controllers_of(plan: Plan) -> tuple[DecisionController, ...]:
    """The decision controllers that a plan needs, one for each actor; they share one log."""
    entries = entries_of(plan)
    return tuple(_controller(plan, actor, entries) for actor in plan.actors)


def entries_of(plan: Plan) -> Entries:
    """What makes the audit entries of a run, for all controllers of it."""
    tape = None if plan.oracle is None else plan.oracle.tape
    return Entries(Mode.SIMULATED) if tape is None else Entries(tape.mode, tape.head)


def _controller(plan: Plan, actor: Actor, entries: Entries) -> DecisionController:
    if plan.recording is not None:
        assert plan.recording.controller is not None  # noqa: S101 - its logs are read before the run
        recorded: DecisionController = plan.recording.controller(actor)
        if actor.controller is not None:
            recorded.question(actor.controller(plan, actor, entries))
        return recorded
    if actor.controller is not None:
        controller: DecisionController = actor.controller(plan, actor, entries)
        return controller
    if actor.outside is not None:
        from specledger.run.outside_proposals import OutsideProposals  # noqa: PLC0415 - few runs ask outside

        return OutsideProposals(plan, actor)
    return DecisionController(actor)


def _in_turn(plan: Plan, controllers: Sequence[DecisionController] | None) -> Iterator[Event]:
    """The events of all episodes; what lasts over the run goes from each to the next."""
    actors = [*map(ActorState, plan.actors, controllers or controllers_of(plan))]
    return chain.from_iterable(Episode(plan, number, actors).run() for number in range(plan.episodes))


def separate(plan: Plan) -> bool:
    """Whether no episode depends on the one before it."""
    governors = [actor.governor_state for actor in plan.actors]
    return (
        all(actor.remembers != "run" for actor in plan.actors)
        and all(governor is None or governor.remembers != "run" for governor in governors)
        and plan.watchdog is None
        and plan.oracle is None
        and plan.recording is None
    )


def run_episode(plan: Plan, number: int) -> Iterator[Event]:
    """The events of one episode of a plan whose episodes are separate."""
    return Episode(plan, number, [*map(ActorState, plan.actors, controllers_of(plan))]).run()


def run_parallel(
    plan: Plan,
    chunks: Callable[[tuple[int, int]], bytes],
    executor: Executor,
    progress: Callable[[int, int], None] | None = None,
    *,
    worth: int = WORTH,
    resumed: tuple[int, Iterable[Event]] = (0, ()),
    wanted: range | None = None,
) -> Iterator[Event]:
    """Run the episodes of a plan, in several processes if they are separate, many, and none too long.

    The events are those of `run` in the same order, and the receipts the same bytes, whatever the executor.

    Args:
        plan: What to run.
        chunks: The work: `run_chunk` of the same plan, compiled in another process.
        executor: Where it is run; with one worker everything runs in this process.
        progress: As for `run`.
        worth: Steps from which several processes are used.
        resumed: How many of the first of them were run before, and their events; only if episodes are separate.
        wanted: The numbers of some that follow one another, only if episodes are separate; by default all.
    """
    count, events = resumed
    every = range(plan.episodes)
    left = (wanted or every)[count:]
    few = len(left) * plan.horizon < worth or min(len(left), executor.width) < 2
    if few or plan.horizon > _CHUNK or not separate(plan):
        rest = (event for number in left for event in run_episode(plan, number))
        return run(plan, progress, None if left == every else chain(events, rest))
    results = spread(chunks, bounds_of(left, plan.horizon, executor.width), executor)
    rest = (event for lines in results for event in read_events(lines.splitlines()))
    return run(plan, progress, chain(events, rest))


def bounds_of(episodes: range, horizon: int, width: int) -> Sequence[tuple[int, int]]:
    """The first episode of each chunk and the one after its last; chunks are of about equal size."""
    size = max(1, min(len(episodes) // (width * _ROUNDS), _CHUNK // horizon))
    return [(start, min(start + size, episodes.stop)) for start in episodes[::size]]


def run_chunk(plan: Plan, bounds: Sequence[int]) -> bytes:
    """The events of some episodes, each as a line of its type, a space and its canonical body."""
    events = (event for number in range(*bounds) for event in run_episode(plan, number))
    return b"".join(write_event(event) for event in events)


def write_event(event: Event) -> bytes:
    """The line of an event."""
    type_, body, form = event
    return b"%s %s\n" % (type_.encode(), canonical_ints(body) if form is None else form)


def read_events(lines: Iterable[bytes]) -> Iterator[Event]:
    """The events of lines that `write_event` wrote, without their newlines."""
    for line in lines:
        type_, _, form = line.partition(b" ")
        yield Event(type_.decode(), parse_written(form), form)
