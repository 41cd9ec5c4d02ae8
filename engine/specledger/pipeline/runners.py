"""What can be run, by kind: how it is checked, run and shown to be in order. The one place that dispatches by kind.

A kind that gives one chain of events has its row in `live.MAKERS` and in `verify.shipped.KINDS`; then it is checked and
executed here as a scenario is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from specledger.compile.law import compile_law
from specledger.compile.scenario import inspect_scenario
from specledger.compile.suite import compile_suite
from specledger.core.diagnostics import Diagnostic, Severity
from specledger.core.events import Event
from specledger.core.verdict import Verdict
from specledger.discovery.plan import KIND as DISCOVERY
from specledger.evidence.bundle import BundleWriter
from specledger.evidence.chain import run_id
from specledger.evidence.layout import SCENARIO, SUITE
from specledger.evidence.places import holds_bundle
from specledger.gates.invariant import PROGRESS
from specledger.kinds import MODELS
from specledger.laws.findings import W_LAW_UNDECIDED
from specledger.laws.trial import KIND as LAW
from specledger.load import Bundle
from specledger.pipeline.discovery import check_discovery, execute_discovery
from specledger.pipeline.live import MAKERS, RunOptions, make_events
from specledger.pipeline.suite import check_suite, execute_suite
from specledger.verify.shipped import EVIDENCE

Progress = Callable[[int, int], None]

MOST_INCIDENTS: Final = 5
"""Incidents that a finished run carries, so that people see what happened first; the receipts hold all of them."""


@dataclass(frozen=True, slots=True)
class Incident:
    """One thing that went wrong in a run.

    Attributes:
        episode, t: When.
        what: The name of an invariant or a probe, or the code of an error.
        detail: The witness, the expression that failed, the cause of a probe, or the reasons of each proposal.
    """

    episode: int
    t: int
    what: str
    detail: Any


def incidents_of(event: Event) -> list[Incident]:
    """What an event says went wrong: errors, broken invariants, failed probes, and a step with nothing admissible."""
    body = event.body
    if event.type == "error":
        return [Incident(body["episode"], body["t"], body["code"], body["expression"])]
    if event.type == "probe" and body["verdict"] in (Verdict.FAIL, Verdict.ERROR):
        return [Incident(body["episode"], body["t"], body["probe"], body["cause"])]
    if event.type not in ("step", "episode_end"):
        return []
    t = body["t"] if event.type == "step" else body["steps"]
    causes = [decision["error"] for decision in body.get("decisions", ()) if decision["error"] is not None]
    found = [Incident(body["episode"], t, cause["code"], cause["expression"]) for cause in causes]
    found += [Incident(body["episode"], t, breach["invariant"], breach["witness"]) for breach in body["violations"]]
    if event.type == "step" and body["chosen"] is None:
        reasons = [[failing["reason"] for failing in decision["rejected"]] for decision in body["decisions"]]
        found.append(Incident(body["episode"], t, PROGRESS, reasons))
    return found


@dataclass(frozen=True, slots=True)
class Finished:
    """What was carried to its end and written.

    Attributes:
        name: What the case is called.
        kind: What was run.
        place: The bundle, a folder or a zip file.
        manifest: Its manifest.
        incidents: Of a run what went wrong first, in the order of the run.
        told: Of a suite or a law its receipts: type and body in one mapping.
        replaced: Whether an earlier bundle was at the place.
        found: What people are warned of: a torn audit log that an earlier run left, signatures that are gone.
    """

    name: str
    kind: str
    place: Path
    manifest: dict[str, Any]
    incidents: tuple[Incident, ...] = ()
    told: tuple[Mapping[str, Any], ...] = ()
    replaced: bool = False
    found: tuple[Diagnostic, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """The verdict of its result."""
        return Verdict(self.manifest["result"]["verdict"])


@dataclass(frozen=True, slots=True)
class Runner:
    """How one kind is run.

    Attributes:
        check: Raises Rejected unless a bundle can be run; what its processes compile for themselves is left to them.
        inspect: Raises Rejected unless everything in a bundle compiles; gives what was found and did not stop it.
        execute: `(bundle, its name, place, workers, progress, how it is made) -> Finished`; raises Rejected.
    """

    check: Callable[[Bundle], object]
    inspect: Callable[[Bundle], Sequence[Diagnostic]]
    execute: Callable[[Bundle, str, Path, int, Progress | None, RunOptions], Finished]


def _execute_chain(
    bundle: Bundle, name: str, place: Path, workers: int, progress: Progress | None, conduct: RunOptions
) -> Finished:
    """Run what gives one chain of events."""
    kind = bundle.main.kind
    incidents: list[Incident] = []
    found: list[Diagnostic] = []
    told: list[Mapping[str, Any]] = []
    specs = bundle.document()
    run, receipts = run_id(bundle.digest), EVIDENCE[kind].receipts
    with BundleWriter(place, run, specs, bundle.digest, receipts, sources=bundle.sources) as writer:
        for event in make_events(bundle, writer, conduct, progress, found.append, workers):
            writer.add(event)
            if len(incidents) < MOST_INCIDENTS:
                incidents += incidents_of(event)
            if kind == LAW:
                told.append({"type": event.type, **event.body})
        replaced = holds_bundle(place)
        manifest = writer.finish(attach=conduct.seal.attach)
    shown = tuple(incidents[:MOST_INCIDENTS])
    return Finished(name, kind, place, manifest, shown, tuple(told), replaced, tuple(found))


def _execute_suite(
    bundle: Bundle, name: str, place: Path, workers: int, progress: Progress | None, conduct: RunOptions
) -> Finished:
    replaced = holds_bundle(place)
    manifest, told = execute_suite(bundle, MODELS, place, workers, progress, conduct)
    return Finished(name, SUITE, place, manifest, told=tuple(told), replaced=replaced)


def _execute_discovery(
    bundle: Bundle, name: str, place: Path, workers: int, progress: Progress | None, conduct: RunOptions
) -> Finished:
    replaced = holds_bundle(place)
    manifest, told = execute_discovery(bundle, place, workers, progress, conduct.discovery, conduct.seal.attach)
    found = check_discovery(bundle)
    return Finished(name, DISCOVERY, place, manifest, told=tuple(told), replaced=replaced, found=found)


def _check_chain(bundle: Bundle) -> Sequence[Diagnostic]:
    MAKERS[bundle.main.kind](bundle)
    return ()


def _inspect_law(bundle: Bundle) -> Sequence[Diagnostic]:
    """That of a law nothing can be said, unless its writer expects that."""
    plan = compile_law(bundle)
    unknown, expected = plan.law.unknown, plan.expected or {}
    if unknown is None or expected.get("status") == "UNKNOWN":
        return plan.warnings
    message = f"nothing can be said of it: {unknown.reason}: {unknown.detail}"
    hint = "write `claim_ast`" if unknown.reason == "ambiguous_claim" else None
    span = bundle.main.span("claim" if unknown.reason == "ambiguous_claim" else "spec")
    found = Diagnostic(W_LAW_UNDECIDED, message, span, hint=hint, severity=Severity.WARNING)
    return (*plan.warnings, found)


RUNNERS: Final[Mapping[str, Runner]] = {
    SCENARIO: Runner(_check_chain, inspect_scenario, _execute_chain),
    SUITE: Runner(compile_suite, check_suite, _execute_suite),
    LAW: Runner(_check_chain, _inspect_law, _execute_chain),
    DISCOVERY: Runner(check_discovery, check_discovery, _execute_discovery),
}
"""By the kind of a spec how it is run."""
