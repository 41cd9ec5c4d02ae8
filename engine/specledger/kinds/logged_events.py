"""The events of a run that has an audit log, or whose agent is asked in a process of its own.

The log of live runs is a file beside the bundle that each run appends to; the bundle holds a copy. Every other log
belongs to its bundle alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from specledger.compile.plan import Plan
from specledger.core.diagnostics import Diagnostic, Rejected
from specledger.core.disk import make_folders
from specledger.core.entries import Mode
from specledger.core.events import Event
from specledger.evidence.bundle import BundleWriter
from specledger.evidence.layout import AUDIT_LOG, TAPE
from specledger.evidence.receipts.kernel import AUDIT
from specledger.kinds.running import RunOptions
from specledger.load import Bundle
from specledger.oracles.answer import Answer, Asked, Exchange
from specledger.oracles.outside import E_AGENT_UNTRUSTED
from specledger.oracles.program_files import program_files
from specledger.oracles.recording import LiveAgent, Oracle, Place, Tape, TapeError
from specledger.run.extension import audit_logs
from specledger.run.live_run import run_watched
from specledger.spec.agent import Outside


def live_log(folder: Path) -> Path:
    """The log of live runs whose evidence goes to a place."""
    return folder.parent / f"{folder.name}.{AUDIT_LOG}"


def answered_events(
    run: Callable[[Plan], Iterator[Event]], plan: Plan, tape: Tape, writer: BundleWriter
) -> Iterator[Event]:
    """Make a run from the answers of a tape, which become part of its evidence."""
    events = run(replace(plan, oracle=Oracle(tape)))
    yield from events if not plan.logged else logged_events(events, writer.inside / AUDIT_LOG)
    writer.put(TAPE, b"".join(tape.lines()))


def asked_events(
    run: Callable[[Plan], Iterator[Event]], plan: Plan, model: LiveAgent, writer: BundleWriter
) -> Iterator[Event]:
    """Make a run whose recorded calls a model is asked about, in this process."""
    oracle, tape = Oracle(Tape()), Tape()
    oracle.live = _Taped(model, tape)
    try:
        yield from run(replace(plan, oracle=oracle))
    finally:
        model.end(0)
    writer.put(TAPE, b"".join(tape.lines()))


class _Taped:
    """A live agent whose answers are put on a tape."""

    def __init__(self, live: LiveAgent, tape: Tape) -> None:
        self._live, self._tape = live, tape
        self.end, self.watch = live.end, live.watch

    def ask(self, position: Place, asked: Asked, message: bytes) -> Answer:
        """Ask, and keep the answer."""
        answer = self._live.ask(position, asked, message)
        try:
            self._tape.add(Exchange(position.episode, position.t, asked, answer))
        except TapeError as error:
            raise Rejected([Diagnostic(error.code, error.message)]) from None
        return answer


def logged_events(events: Iterator[Event], path: Path) -> Iterator[Event]:
    """Write a simulated run's log."""
    with audit_logs().open(path, Mode.SIMULATED) as log:
        for event in events:
            if event.type == AUDIT:
                log.append(event.body)
            elif event.type == "episode_end":
                log.sync()
            yield event


def watched_events(
    run: Callable[[Plan], Iterator[Event]],
    plan: Plan,
    writer: BundleWriter,
    wanted: RunOptions,
    warn: Callable[[Diagnostic], None] | None,
) -> Iterator[Event]:
    """Make a run whose agent is asked in a process that a watchdog ends."""
    assert plan.watchdog is not None  # noqa: S101 - the caller looked
    mode = Mode.LIVE if wanted.live else Mode.SIMULATED
    path = live_log(writer.place) if wanted.live else writer.inside / AUDIT_LOG
    programs = {} if plan.outside is None else program_files(plan.outside.source)
    tape, ms_per_tick = Tape(mode, programs=programs), plan.watchdog.ms_per_tick
    if ms_per_tick is None:  # there is no kernel, and no log
        yield from run_watched(run, plan, tape, trial=wanted.trial)
    else:
        logs = audit_logs()
        make_folders(path.parent)
        with logs.open(path, mode) as log:
            tape.head = log.head
            if warn is not None:
                for finding in log.findings:
                    warn(finding)
        opening, record = partial(logs.open, path, mode), partial(logs.record, path, mode, ms_per_tick)
        yield from run_watched(run, plan, tape, opening, record, wanted.trial)
        if mode is Mode.LIVE:
            with opening():  # nobody appends while it is read
                writer.put(AUDIT_LOG, path.read_bytes())
    writer.put(TAPE, b"".join(tape.lines()))


def untrusted(bundle: Bundle, outside: Outside) -> Rejected:
    """The refusal to execute an agent that nobody said to trust."""
    agent = bundle.specs[bundle.main.refs["agent",]]
    named = outside.python if outside.command is None else " ".join(map(ascii, outside.command))
    seen = f", which would see {', '.join(outside.environment)}" if outside.environment else ""
    message = f"{agent.name} would execute {named}{seen}"
    hint = "if you trust that, run it with --trust-agent"
    return Rejected([Diagnostic(E_AGENT_UNTRUSTED, message, agent.span("outside"), hint=hint)])
