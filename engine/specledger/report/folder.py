"""The files that the seed's `run_scenario` and `run_suite` leave, made from the evidence of a run or a suite.

Decides which files there are and which runs stand in which. Refuses to write them, and to run anything: the same bundle
gives the same bytes. They are no evidence; each number in them can be counted again in the receipts.

Source: toy-pseudo-axion, Metrics and outputs; the original's command line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from specledger.compile.suite import compile_suite
from specledger.core.canonical import canonical_bytes, parse_canonical, pretty
from specledger.core.diagnostics import Diagnostic, Rejected
from specledger.core.entries import Entries, Mode, mode_of
from specledger.evidence.layout import MANIFEST, MAX_LINE, RECEIPTS, SCENARIO, SUITE
from specledger.load import Bundle
from specledger.report.agent_metrics import MOST_COUNTEREXAMPLES, Account, total
from specledger.report.codes import E_REPORT_KIND, E_REPORT_RECEIPTS
from specledger.report.evidence import Evidence
from specledger.spec.scenario import Scenario

SUMMARY: Final = "summary.json"
COUNTEREXAMPLES: Final = "counterexamples"

_SAYS: Final = "an agent that passes is indistinguishable from its declared procedure by these probes, and no more"


@dataclass
class _Agent:
    """The accounts of the runs of one agent, with what names each run."""

    runs: list[tuple[dict[str, Any], Account]] = field(default_factory=list)

    @property
    def episodes(self) -> list[dict[str, Any]]:
        return [episode for _, account in self.runs for episode in account.episodes]


def make_files(evidence: Evidence, place: Path) -> dict[str, bytes]:
    """The files, by their paths with slashes.

    `summary.json`; for each agent `report_<agent>.json` and, if it had a kernel, `audit_<agent>.log.jsonl`; and in
    `counterexamples` at most `MOST_COUNTEREXAMPLES` of each run. A suite's own runs count, not those of its mutants.

    Args:
        evidence: Of which no check failed.
        place: The bundle.

    Raises:
        Rejected: E_REPORT_RECEIPTS.
    """
    if evidence.kind not in (SCENARIO, SUITE):
        raise Rejected([Diagnostic(E_REPORT_KIND, f"this is the evidence of a {evidence.kind}")])
    agents: dict[str, _Agent] = {}
    try:
        for run, bundle, folder in _runs(evidence, place):
            agent = bundle.specs[bundle.main.refs["agent",]].name
            agents.setdefault(agent, _Agent()).runs.append(_account(run, bundle, folder))
        return dict(_files(evidence, agents))
    except (KeyError, TypeError, IndexError, AttributeError, ValueError) as error:
        raise Rejected([Diagnostic(E_REPORT_RECEIPTS, f"they cannot be told: {error!r}")]) from None


def _runs(evidence: Evidence, place: Path) -> Iterator[tuple[str, Bundle, Path]]:
    """Each run: its name, its specs, and where its evidence lies."""
    if evidence.kind != SUITE:
        yield evidence.specs.main.name, evidence.specs, place
        return
    for case in compile_suite(evidence.specs).trial.cases:
        yield case.run, case.bundle, Path(place, *case.place.split("/"))


def _account(run: str, bundle: Bundle, folder: Path) -> tuple[dict[str, Any], Account]:
    refs, model = bundle.main.refs, bundle.main.model
    assert isinstance(model, Scenario)  # noqa: S101 - a run is of a scenario
    probes = [bundle.specs[refs["probes", index]].name for index in range(len(model.probes))]
    account = Account(run, bundle.main.name, probes)
    manifest: Any = parse_canonical((folder / MANIFEST).read_bytes()[:-1])
    with (folder / RECEIPTS).open("rb") as lines:
        for line in lines:
            receipt: Any = parse_canonical(line[:-1], limit=MAX_LINE)
            account.add(receipt["type"], receipt["body"])
    head = account.entries[-1]["entry_hash"] if account.entries else None
    told = {
        "run": run,
        "scenario": bundle.main.name,
        "seed": model.seed,
        "specs": bundle.digest,
        "receipts": manifest["receipts"],
        "audit": {"entries": len(account.entries), "head": head},
        "counterexamples": {"failed_steps": account.failed, "kept": len(account.counterexamples)},
    }
    return told, account


def _files(evidence: Evidence, agents: Mapping[str, _Agent]) -> Iterator[tuple[str, bytes]]:
    yield SUMMARY, _json(_summary(evidence, agents))
    for name, agent in sorted(agents.items()):
        report = {"agent": name, "says": _SAYS, "total": total(agent.episodes), "by_scenario": _by_scenario(agent)}
        runs = [told for told, _ in agent.runs]
        yield f"report_{name}.json", _json({**report, "runs": runs, "episodes": agent.episodes})
        log = b"".join(_log(agent))
        if log:
            yield f"audit_{name}.log.jsonl", log
        for _, account in agent.runs:
            for found in account.counterexamples:
                file = f"{found['run']}.{found['episode']:04d}.{found['t']:04d}.json"
                yield f"{COUNTEREXAMPLES}/{file}", _json(found)


def _summary(evidence: Evidence, agents: Mapping[str, _Agent]) -> dict[str, Any]:
    """What was found of each agent, and of a suite its figures and checks as its receipts tell them."""
    told: dict[str, list[Any]] = {"figure": [], "check": [], "mutant": []}
    if evidence.kind == SUITE:
        for type_, body in evidence.told():
            if type_ in told:
                told[type_].append(body)
    return {
        "name": evidence.specs.main.name,
        "kind": evidence.kind,
        "specs": evidence.specs.digest,
        "receipts": evidence.manifest["receipts"],
        "verdict": evidence.manifest["result"]["verdict"],
        "says": _SAYS,
        "agents": {name: total(agent.episodes) for name, agent in sorted(agents.items())},
        "most_counterexamples": MOST_COUNTEREXAMPLES,
        **{f"{type_}s": bodies for type_, bodies in told.items()},
    }


def _by_scenario(agent: _Agent) -> dict[str, Any]:
    names = dict.fromkeys(episode["scenario"] for episode in agent.episodes)
    return {name: total([each for each in agent.episodes if each["scenario"] == name]) for name in sorted(names)}


def _log(agent: _Agent) -> Iterator[bytes]:
    """The logs of an agent's runs as one: the same entries in one chain, whose hashes are made again.

    The log of a single run that began with 64 zeros comes out as it is.
    """
    chain = Entries(Mode.SIMULATED)
    for _, account in agent.runs:
        for entry in account.entries:
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
