"""The events of a scenario's run, with the files beside its receipts: the audit log and the recorded answers.

An agent from outside, and a live run, are asked in a process of their own. The log of live runs is a file beside the
bundle that each run appends to; the bundle holds a copy. Every other log belongs to its bundle alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from specledger.compile.plan import Plan
from specledger.compile.plan_cache import CompileScenario
from specledger.compile.scenario import compile_scenario
from specledger.core.diagnostics import Diagnostic, Rejected, code
from specledger.core.entries import Mode, halt_event
from specledger.core.events import Event
from specledger.evidence.audit import AUDIT, AuditLog, record
from specledger.evidence.bundle import BundleWriter
from specledger.evidence.layout import AUDIT_LOG, TAPE, TRAJECTORIES
from specledger.evidence.resume import BEFORE
from specledger.gates.documents import axion
from specledger.kinds.running import Progress, RunOptions
from specledger.kinds.shards import episodes_of_shard
from specledger.load import Bundle
from specledger.oracles.outside import E_AGENT_UNTRUSTED
from specledger.oracles.recording import Oracle, Tape
from specledger.run.live_run import run_watched
from specledger.run.loop import separate
from specledger.run.scenario_run import make_run
from specledger.run.watchdog import Ending
from specledger.spec.agent import Outside

E_LIVE = code("E_LIVE", "this cannot be run live")


def live_log(folder: Path) -> Path:
    """The log of live runs whose evidence goes to a place."""
    return folder.parent / f"{folder.name}.{AUDIT_LOG}"


def scenario_events(
    bundle: Bundle,
    writer: BundleWriter,
    wanted: RunOptions,
    progress: Progress | None,
    warn: Callable[[Diagnostic], None] | None = None,
    compile_plan: CompileScenario = compile_scenario,
) -> Iterator[Event]:
    """Run a scenario and write the files beside its receipts; `warn` takes warnings about the log of an earlier run."""
    plan = compile_plan(bundle)
    watchdog = plan.watchdog
    if wanted.live and len(plan.actors) > 1:
        raise Rejected([Diagnostic(E_LIVE, f"{plan.name} has several agents", bundle.main.span("agents"))])
    if wanted.live and not plan.logged:
        raise Rejected([Diagnostic(E_LIVE, f"{plan.name} has no audit log", bundle.main.span("governor"))])
    if wanted.tape is not None:
        yield from _answered(partial(make_run, bundle), plan, wanted.tape, writer)
        return
    if plan.recording is not None:
        plan = plan.replaying(plan.recording.store(wanted.trajectories, writer.inside / TRAJECTORIES))
    if plan.outside is not None and plan.outside.model is not None:
        asked = replace(plan.outside.model, record=wanted.record)
        plan = plan.asking(replace(plan.outside, model=asked))
    elif plan.outside is not None and not wanted.trusted:
        raise _untrusted(bundle, plan.outside.source)
    episodes = None if wanted.shard is None else episodes_of_shard(plan.episodes, wanted.shard)
    run = partial(make_run, bundle, progress=progress, executor=wanted.executor, wanted=episodes, tell=wanted.taken)
    if watchdog is None:
        finished = _finished(bundle, plan, writer.beside / BEFORE, episodes or range(plan.episodes))
        yield from run(plan, resumed=finished)
    elif plan.outside is None and not wanted.live:
        yield from _logged(run(plan), writer.inside / AUDIT_LOG)
    else:
        yield from _Live(writer, wanted).events(run, plan, warn)


def _finished(bundle: Bundle, plan: Plan, before: Path, episodes: range) -> tuple[int, Iterable[Event]]:
    """The whole episodes of an attempt that ended early, which are not run again if episodes are separate."""
    if not before.exists() or not separate(plan):
        return 0, ()
    from specledger.verify.replay import finished_episodes

    return finished_episodes(bundle, plan, before, episodes)


def _answered(run: Callable[[Plan], Iterator[Event]], plan: Plan, tape: Tape, writer: BundleWriter) -> Iterator[Event]:
    """Make a run from the answers of a tape, which become part of its evidence."""
    events = run(replace(plan, oracle=Oracle(tape)))
    yield from events if not plan.logged else _logged(events, writer.inside / AUDIT_LOG)
    writer.put(TAPE, b"".join(tape.lines()))


def _logged(events: Iterator[Event], path: Path) -> Iterator[Event]:
    """Write a simulated run's log."""
    with AuditLog(path, Mode.SIMULATED, axion().check("audit_entry")) as log:
        for event in events:
            if event.type == AUDIT:
                log.append(event.body)
            elif event.type == "episode_end":
                log.sync()
            yield event


class _Live:
    """A run whose agent is asked in a separate process."""

    def __init__(self, writer: BundleWriter, wanted: RunOptions) -> None:
        self._writer = writer
        self._trial = wanted.trial
        self._mode = Mode.LIVE if wanted.live else Mode.SIMULATED
        self._path = live_log(writer.place) if wanted.live else writer.inside / AUDIT_LOG
        self._accepts = axion().check("audit_entry")

    def events(
        self, run: Callable[[Plan], Iterator[Event]], plan: Plan, warn: Callable[[Diagnostic], None] | None
    ) -> Iterator[Event]:
        assert plan.watchdog is not None  # noqa: S101 - the caller looked
        tape, ms_per_tick = Tape(self._mode), plan.watchdog.ms_per_tick
        if ms_per_tick is None:
            yield from run_watched(run, plan, tape, trial=self._trial)
        else:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._open() as log:
                tape.head = log.head
                if warn is not None:
                    for finding in log.findings:
                        warn(finding)
            yield from run_watched(run, plan, tape, self._open, partial(self._record, ms_per_tick), self._trial)
        if self._mode is Mode.LIVE:
            with self._open():  # nobody appends while it is read
                self._writer.put(AUDIT_LOG, self._path.read_bytes())
        self._writer.put(TAPE, b"".join(tape.lines()))

    def _open(self) -> AuditLog:
        return AuditLog(self._path, self._mode, self._accepts)

    def _record(self, ms_per_tick: int, ending: Ending) -> None:
        """Write the watchdog's entry, which is the one that replay makes from the recording."""
        record(
            self._path,
            self._mode,
            self._accepts,
            halt_event(ending.kind == "hang"),
            at_ms=ending.tick * ms_per_tick,
            proposal_hash=ending.proposal_hash,
            trace_hash=ending.trace_hash,
            codes=(ending.reason,),
        )


def _untrusted(bundle: Bundle, outside: Outside) -> Rejected:
    agent = bundle.specs[bundle.main.refs["agent",]]
    named = outside.python if outside.command is None else " ".join(map(ascii, outside.command))
    seen = f", which would see {', '.join(outside.environment)}" if outside.environment else ""
    message = f"{agent.name} would execute {named}{seen}"
    hint = "if you trust that, run it with --trust-agent"
    return Rejected([Diagnostic(E_AGENT_UNTRUSTED, message, agent.span("outside"), hint=hint)])
