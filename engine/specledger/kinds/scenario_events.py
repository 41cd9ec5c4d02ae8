"""The events of a scenario's run, with the files beside its receipts: the audit log and the recorded answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from specledger.compile.plan import Plan
from specledger.compile.plan_cache import CompileScenario
from specledger.compile.scenario import compile_scenario
from specledger.core.diagnostics import Diagnostic, Rejected, code
from specledger.core.events import Event
from specledger.evidence.bundle import BundleWriter
from specledger.evidence.layout import AUDIT_LOG, TRAJECTORIES
from specledger.evidence.resume import BEFORE
from specledger.kinds.running import Progress, RunOptions
from specledger.kinds.shards import episodes_of_shard
from specledger.load import Bundle
from specledger.run.loop import separate
from specledger.run.scenario_run import make_run

E_LIVE = code("E_LIVE", "this cannot be run live")


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
    watchdog, asks = plan.watchdog, plan.asks
    if wanted.live and len(plan.actors) > 1:
        raise Rejected([Diagnostic(E_LIVE, f"{plan.name} has several agents", bundle.main.span("agents"))])
    if wanted.live and not plan.logged:
        raise Rejected([Diagnostic(E_LIVE, f"{plan.name} has no audit log", bundle.main.span("governor"))])
    if wanted.tape is not None:
        from specledger.kinds.logged_events import answered_events

        return answered_events(partial(make_run, bundle), plan, wanted.tape, writer)
    if plan.recording is not None:
        plan = plan.replaying(plan.recording.store(wanted.trajectories, writer.inside / TRAJECTORIES))
    if plan.outside is not None and plan.outside.model is not None:
        asked = replace(plan.outside.model, record=wanted.record)
        plan = plan.asking(replace(plan.outside, model=asked))
    elif plan.outside is not None and not wanted.trusted:
        from specledger.kinds.logged_events import untrusted

        raise untrusted(bundle, plan.outside.source)
    episodes = None if wanted.shard is None else episodes_of_shard(plan.episodes, wanted.shard)
    run = partial(make_run, bundle, progress=progress, executor=wanted.executor, wanted=episodes, tell=wanted.taken)
    if asks is not None:
        from specledger.kinds.logged_events import asked_events

        return asked_events(run, plan, asks(wanted.record, wanted.asked), writer)
    if watchdog is None:
        finished = _finished(bundle, plan, writer.beside / BEFORE, episodes or range(plan.episodes))
        return run(plan, resumed=finished)
    from specledger.kinds.logged_events import logged_events, watched_events

    if plan.outside is None and not wanted.live:
        return logged_events(run(plan), writer.inside / AUDIT_LOG)
    return watched_events(run, plan, writer, wanted, warn)


def _finished(bundle: Bundle, plan: Plan, before: Path, episodes: range) -> tuple[int, Iterable[Event]]:
    """The whole episodes of an attempt that ended early, which are not run again if episodes are separate."""
    if not before.exists() or not separate(plan):
        return 0, ()
    from specledger.verify.replay import finished_episodes

    return finished_episodes(bundle, plan, before, episodes)
