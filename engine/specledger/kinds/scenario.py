"""The kind `scenario`: one run of an agent in a world under a governor."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from msgspec.structs import replace

from specledger.compile.plan import Plan
from specledger.compile.roles import roles
from specledger.compile.scenario import compile_scenario
from specledger.core.diagnostics import Diagnostic, counted, printable
from specledger.core.events import Event
from specledger.core.verdict import Verdict
from specledger.evidence.bundle import BundleWriter
from specledger.evidence.decided import challenges_of, decided_words
from specledger.evidence.kind import RUN as RECEIPTS
from specledger.evidence.layout import TRAJECTORIES
from specledger.kinds.case import case_name
from specledger.kinds.incidents import WorstIncidents, explained
from specledger.kinds.kind import Runnable
from specledger.kinds.probe_remarks import probe_counts, run_remarks
from specledger.kinds.rule_remarks import idle_rules
from specledger.kinds.running import (
    Finished,
    Progress,
    RunOptions,
    bundle_writer,
    claims_table,
    failed_calls,
    footer,
    resumable_writer,
)
from specledger.kinds.scenario_events import scenario_events
from specledger.kinds.shards import episodes_of_shard, refused, write_shard
from specledger.kinds.undecided import why_undecided
from specledger.load import Bundle
from specledger.run.loop import separate
from specledger.run.scenario_run import make_run
from specledger.spec.base import SpecKinds
from specledger.spec.invariant import Invariant
from specledger.spec.scenario import Scenario
from specledger.spec.world import World

MOST_DUE_STEPS: Final = 20
"""Steps at which a drift is due that a preview lists; it counts all of them."""


def _execute(bundle: Bundle, folder: Path, options: RunOptions, progress: Progress | None) -> Finished:
    diagnostics: list[Diagnostic] = []
    model = bundle.main.model
    assert isinstance(model, Scenario)  # noqa: S101 - the table of kinds calls this for scenarios only
    if options.shard is not None:
        _separate(bundle)
    with resumable_writer(bundle, folder, RECEIPTS, options, _most_steps(model)) as writer:
        events = scenario_events(bundle, writer, options, progress, diagnostics.append)
        if options.shard is None:
            return replace(_written(bundle, writer, options, events), found=tuple(diagnostics))
        for event in events:
            if event.type != "end":
                writer.add(event)
        own = episodes_of_shard(model.episodes, options.shard)
        return write_shard(writer, bundle, options.shard, len(own), model.episodes, "episode")


def _most_steps(model: Scenario) -> int | None:
    """The steps of a run at most; None where trajectories say it."""
    return None if model.horizon is None else model.episodes * model.horizon


def merge(folders: Sequence[Path], kinds: SpecKinds, folder: Path, options: RunOptions) -> Finished:
    """Merge the shards of a scenario into its evidence; nothing is run."""
    from specledger.kinds.shard_merging import read_shards, take_episodes

    shards, bundle = read_shards(folders, kinds)
    events = take_episodes(shards, bundle, _separate(bundle))
    with bundle_writer(bundle, folder, RECEIPTS) as writer:
        return _written(bundle, writer, options, events)


def _events(bundle: Bundle) -> Iterator[Event]:
    """The events of a scenario without a folder of evidence."""
    plan = compile_scenario(bundle)
    if plan.recording is None:
        yield from make_run(bundle, plan)
        return
    with TemporaryDirectory(prefix="specledger-") as folder:
        yield from make_run(bundle, plan.replaying(plan.recording.store((), Path(folder) / TRAJECTORIES)))


def _separate(bundle: Bundle) -> Plan:
    """The plan of a scenario that can be made in shards."""
    plan = compile_scenario(bundle)
    if not separate(plan):
        raise refused(f"{plan.name} has no shards: its episodes depend on one another")
    return plan


def _written(bundle: Bundle, writer: BundleWriter, options: RunOptions, events: Iterator[Event]) -> Finished:
    incidents = WorstIncidents()
    for event in events:
        writer.add(event)
        incidents.add(event)
    manifest = writer.finish(attach=options.seal.attach)
    acting = sorted(path for path in bundle.main.refs if path[-1] == "agent")
    agents = "+".join(bundle.specs[bundle.main.refs[path]].name for path in acting)
    known = case_name(bundle), bundle.main.kind, writer.place, manifest
    world = bundle.specs[bundle.main.refs["world",]].model
    goal = isinstance(world, World) and world.success is not None
    recorded = any(bundle.specs[bundle.main.refs[path]].data.get("trajectories") is not None for path in acting)
    return Finished(*known, explained(bundle, incidents.kept), agents=agents, goal=goal, recorded=recorded)


def _preview(bundle: Bundle) -> dict[str, Any]:
    from specledger.kinds.asking_cost import asking_cost, weak_probes

    plan, cast = compile_scenario(bundle), roles(bundle)
    specs = (*(role.governor.key for role in cast), bundle.root)
    named = {key: None for spec in specs for key in listed(bundle, spec, "invariants")}
    invariants = []
    for key in named:
        model = bundle.specs[key].model
        assert isinstance(model, Invariant)  # noqa: S101 - a reference of kind invariant holds nothing else
        invariants.append({"invariant": model.name, "scope": model.scope, "severity": model.severity})
    return {
        "world": bundle.specs[bundle.main.refs["world",]].name,
        "governor": ", ".join(role.governor.name for role in cast),
        "agent": ", ".join(role.agent.name for role in cast),
        "seed": plan.seed,
        **_length(bundle, plan),
        "gates": list(plan.gates),
        "invariants": invariants,
        "drifts": _drifts(plan),
        "probes": [f"{role.name}.{probe.name}" if role.name else probe.name for role in cast for probe in role.probes],
        **({"too_few_repeats": weak} if (weak := weak_probes(plan)) else {}),
        **asking_cost([plan]),
    }


def _length(bundle: Bundle, plan: Plan) -> dict[str, Any]:
    """How long a run is; of a recording the logs and the rules, since the logs say how long it is."""
    if plan.recording is not None:
        agent = bundle.specs[bundle.main.refs["agent",]]
        logs = list(agent.data["trajectories"].get("files", ()))
        return {"trajectories": logs, "rules": [rule["name"] for rule in plan.recording.rules]}
    rules = {} if plan.policies is None else {"rules": [rule["name"] for rule in plan.policies.rules]}
    return {"episodes": plan.episodes, "horizon": plan.horizon, "most_steps": plan.episodes * plan.horizon, **rules}


def _drifts(plan: Plan) -> list[dict[str, Any]]:
    """How often each drift is due in an episode of full length, and when first; only a run shows whether it happens."""
    return [
        {"drift": drift.name, "due": len(drift.schedule), "at": sorted(drift.schedule)[:MOST_DUE_STEPS]}
        for drift in plan.drifts
    ]


def listed(bundle: Bundle, key: str, name: str) -> list[str]:
    """The keys of the specs in one list of references, in its order."""
    refs = bundle.specs[key].refs
    return [refs[path] for path in sorted(path for path in refs if path[0] == name and len(path) == 2)]


def _text(finished: Finished) -> str:
    result = finished.manifest["result"]
    verdict = f"{result['verdict']}{printable(decided_words(challenges_of([result]))) if 'probes' in result else ''}"
    lines = [f"{printable(finished.name)}  {verdict}  {_what_happened(finished, result)}"]
    if "met" in result:
        lines.append(f"  it ended {'as expected' if result['met'] else 'NOT as expected'}: {result['status']}")
    lines += probe_counts(finished) if "probes" in result else []
    lines += claims_table(result.get("claims", {}))
    lines += _figures("violations", result["violations"], "none")
    lines += _figures("warnings", result["warnings"], "")
    proposals = counted(result["proposals"], "call" if finished.recorded else "proposal")
    lines += _figures(f"rejections (of {proposals})", result["rejections"], "none")
    if result.get("faults"):
        lines += _faults(result)
        lines += [f"  {printable(failed)}"] if (failed := failed_calls(finished)) else []
    lines += _figures("not known of the recording", result.get("unknown", {}), "")
    lines += _figures("calls under guard", result.get("guard", {}), "")
    unjudged = {name: counts["unjudged"] for name, counts in result.get("rules", {}).items()}
    unjudged |= {name: sum(reasons.values()) for name, reasons in result.get("unjudged", {}).items()}
    lines += _figures("rules that could not be judged", unjudged, "")
    lines += idle_rules(result["rules"]) if "rules" in result else []
    kept = {name: counts.get("withheld", 0) for name, counts in result.get("rules", {}).items()}
    lines += _figures("verdicts from before a value was withheld", kept, "")
    lines += _figures("what they read", sum(map(Counter[str], result.get("unjudged", {}).values()), Counter()), "")
    lines += [f"  {counted(result['errors'], 'error')}: something could not be evaluated"] if result["errors"] else []
    lines += ["  first incidents:"] if finished.incidents else []
    lines += [f"    {incident}" for incident in finished.incidents]
    if result.get("status", result["verdict"]) == Verdict.INCONCLUSIVE:
        lines.append(f"  {why_undecided(result)}, so nothing can be concluded")
    lines += [f"  {printable(remark)}" for remark in (run_remarks(finished) if "probes" in result else ())]
    if result.get("faults"):
        lines.append("  `spec agent check` shows how the agent answers each message, and its standard error")
    return "\n".join([*lines, *footer(finished)])


def _what_happened(finished: Finished, result: Mapping[str, Any]) -> str:
    """Who acted, for how long, whether a goal was reached, and how often an invariant, a probe or a rule was judged."""
    reached = f"reached the goal in {result['successes']} of" if finished.goal else "acted in"
    episode, step = ("trajectory", "call") if finished.recorded else ("episode", "step")
    counts = [counted(result["steps"], step)]
    counts += [counted(result["drifts"], "drift")] if result["drifts"] else []
    judged = ["invariants", *(name for name in ("probes", "rules") if name in result)]
    subject = " and ".join([", ".join(judged[:-1]), judged[-1]] if len(judged) > 1 else judged)
    counts.append(f"{subject} judged {counted(result['checks'], 'time')}")
    who = printable(finished.agents) or "the agent"
    return f"{who} {reached} {counted(result['episodes'], episode)}, {', '.join(counts)}"


def _faults(result: Mapping[str, Any]) -> list[str]:
    from specledger.report.fault_words import fault_words

    return _figures("agent faults", fault_words(result["faults"]), "")


def _figures(title: str, figures: Mapping[str, int], none: str) -> list[str]:
    shown = {name: count for name, count in figures.items() if count}
    if not shown:
        return [f"  {title}: {none}"] if none else []
    return [f"  {title}: " + ", ".join(f"{printable(name)} {count}" for name, count in sorted(shown.items()))]


RUNNABLE: Final = Runnable(
    lambda bundle, _: compile_scenario(bundle),
    RECEIPTS,
    _execute,
    _preview,
    lambda runs: "\n".join(map(_text, runs)),
    events=_events,
    merge=merge,
    remarks=run_remarks,
)
