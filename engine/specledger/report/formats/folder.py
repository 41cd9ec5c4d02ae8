"""Writes a run or a suite as the files that `run_scenario` and `run_suite` of toy-pseudo-axion write.

The files are no evidence; every number in them can be recomputed from the receipts.

Source: toy-pseudo-axion, Metrics and outputs; the original's command line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from msgspec import Struct, field

from specledger.core.canonical import canonical_bytes, parse_canonical, pretty
from specledger.core.diagnostics import Diagnostic, Rejected
from specledger.core.entries import Entries, Mode, mode_of
from specledger.evidence.layout import MANIFEST
from specledger.report.agent_metrics import RunMetrics, total
from specledger.report.evidence import Evidence
from specledger.report.formats.output import DEFAULTS, Options, Output
from specledger.report.model import E_REPORT_KIND, Replay, Report, SubRun, malformed_receipts
from specledger.report.specs import Specs
from specledger.spec.scenario import Scenario

SUMMARY: Final = "summary.json"
COUNTEREXAMPLES: Final = "counterexamples"

_SAYS: Final = "an agent that passes is indistinguishable from its declared procedure by these probes, and no more"


class _Agent(Struct):
    """The metrics of the runs of one agent, with the head of each run."""

    runs: list[tuple[dict[str, Any], RunMetrics]] = field(default_factory=list)

    @property
    def episodes(self) -> list[dict[str, Any]]:
        return [episode for _, metrics in self.runs for episode in metrics.episodes]


def write(report: Report, options: Options = DEFAULTS) -> Output:
    """The files of the bundle.

    `summary.json`, which says whether the runs were replayed; for each agent `report_<agent>.json` and, if it had a
    kernel, `audit_<agent>.log.jsonl`; and in `counterexamples` at most as many of each run as its scenario says,
    or all if `options.whole`. Runs of mutants are left out.
    """
    (subject,) = report.subjects
    evidence = subject.evidence
    runs = subject.reading.parts()
    if runs is None:
        raise Rejected([Diagnostic(E_REPORT_KIND, f"evidence of the kind {subject.kind} has no runs")])
    agents: dict[str, _Agent] = {}
    kept = [0]
    with malformed_receipts():
        for run in runs:
            agent = Specs.of(run.specs).agent()
            folder = Path(evidence.place, *run.place.split("/"))
            main = run.specs.main.model
            assert isinstance(main, Scenario)  # noqa: S101 - a run is of a scenario
            kept.append(main.counterexamples)
            most = None if options.whole else main.counterexamples
            agents.setdefault(agent, _Agent()).runs.append(_metrics(run, main, folder, most))
        return Output(files=dict(_files(evidence, agents, None if options.whole else max(kept), subject.replay)))


def _metrics(run: SubRun, model: Scenario, folder: Path, most: int | None) -> tuple[dict[str, Any], RunMetrics]:
    main = run.specs.main
    metrics = RunMetrics(run.name, main.name, tuple(Specs.of(run.specs).probes()), most).read(folder)
    manifest: Any = parse_canonical((folder / MANIFEST).read_bytes()[:-1])
    head = metrics.entries[-1]["entry_hash"] if metrics.entries else None
    document = {
        "run": run.name,
        "scenario": main.name,
        "seed": model.seed,
        "specs": run.specs.digest,
        "receipts": manifest["receipts"],
        "audit": {"entries": len(metrics.entries), "head": head},
        "counterexamples": {"failed_steps": metrics.failed, "kept": len(metrics.counterexamples)},
    }
    return document, metrics


def _files(
    evidence: Evidence, agents: Mapping[str, _Agent], most: int | None, replay: Replay
) -> Iterator[tuple[str, bytes]]:
    yield SUMMARY, _json({**_summary(evidence, agents), "replay": replay.value, "most_counterexamples": most})
    for name, agent in sorted(agents.items()):
        names = sorted({episode["scenario"] for episode in agent.episodes})
        by_scenario = {
            scenario: total([episode for episode in agent.episodes if episode["scenario"] == scenario])
            for scenario in names
        }
        report = {"agent": name, "says": _SAYS, "total": total(agent.episodes), "by_scenario": by_scenario}
        runs = [head for head, _ in agent.runs]
        yield f"report_{name}.json", _json({**report, "runs": runs, "episodes": agent.episodes})
        log = b"".join(_log(agent))
        if log:
            yield f"audit_{name}.log.jsonl", log
        for _, metrics in agent.runs:
            for counterexample in metrics.counterexamples:
                file = f"{counterexample['run']}.{counterexample['episode']:04d}.{counterexample['t']:04d}.json"
                yield f"{COUNTEREXAMPLES}/{file}", _json(counterexample)


def _summary(evidence: Evidence, agents: Mapping[str, _Agent]) -> dict[str, Any]:
    """The totals of each agent; of a suite also its figures, checks and mutants, as in its receipts."""
    listed: dict[str, list[Any]] = {"figure": [], "check": [], "mutant": []}
    for type_, body in evidence.bodies():
        if type_ in listed:
            listed[type_].append(body)
    return {
        "name": evidence.specs.main.name,
        "kind": evidence.kind,
        "specs": evidence.specs.digest,
        "receipts": evidence.manifest["receipts"],
        "verdict": evidence.manifest["result"]["verdict"],
        "says": _SAYS,
        "agents": {name: total(agent.episodes) for name, agent in sorted(agents.items())},
        **{f"{type_}s": bodies for type_, bodies in listed.items()},
    }


def _log(agent: _Agent) -> Iterator[bytes]:
    """The logs of an agent's runs as one chain of the same entries, with new hashes.

    The log of a single run that began with 64 zeros is unchanged.
    """
    chain = Entries(Mode.SIMULATED)
    for _, metrics in agent.runs:
        for entry in metrics.entries:
            chain.mode = mode_of(entry) or chain.mode
            decision = entry["kernel_decision"]
            sealed = chain.seal(
                entry["event"],
                at_ms=entry["timestamp_ms"],
                proposal_hash=entry["proposal_hash"],
                trace_hash=entry["trace_hash"],
                verdict=decision["verdict"],
                codes=decision["notes"].split(" ")[1:],
                witnesses=entry["witnesses"],
                tokens=entry["capability_tokens"],
            )
            yield canonical_bytes(sealed) + b"\n"


def _json(value: Any) -> bytes:
    return pretty(value).encode()
