"""The state of a discovery: the results of its steps, committed in order, and the events that follow from them.

The state is a pure function of the results in their order, so that every process that reads the same results has the
same state. Source: law proposer, sections 10 and 11.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from specledger.core.canonical import canonical_bytes
from specledger.core.digest import tagged
from specledger.core.events import Event
from specledger.oracles.failures import LASTING
from specledger.wings.discovery.memory import DiscoveryMemory, DiscoveryMemorySnapshot
from specledger.wings.discovery.parser import ParsedLaw
from specledger.wings.discovery.plan import CLOSE, KIND, PROPOSE, DiscoveryPlan, LawReader
from specledger.wings.discovery.redundancy import ONE, RedundancyDetector
from specledger.wings.laws.receipts import ACCEPTED, LawStatus
from specledger.wings.laws.receipts import Verdict as VerdictBody
from specledger.wings.laws.verdict import digest_verdict

MOST_LINES: Final = 1000
"""Refuted laws in one receipt of the ledger."""

KNOWN_TAG: Final = "specledger/known-laws/v1"


class View(Struct, frozen=True):
    """What a step may look at: everything that was committed up to some step, and nothing after it.

    The known laws come in order of arrival; the accepted ones that wait to be tried harder are there by key.
    """

    memory: DiscoveryMemorySnapshot
    known: tuple[ParsedLaw, ...]
    waiting: Mapping[str, Mapping[str, Any]]

    @property
    def digest(self) -> str:
        """Identifies what was known: the memory, and each known law."""
        laws = [law.bundle.root for law in self.known]
        return tagged(KNOWN_TAG, canonical_bytes({"memory": self.memory.digest, "known": laws}))


class _Judged(Struct):
    """What is known of a law that was tried: its document, when it was proposed, its verdict, and how often tried."""

    document: Mapping[str, Any]
    iteration: int
    verdict: VerdictBody | None
    escalated: bool = False

    @property
    def status(self) -> str:
        return LawStatus.ERROR.value if self.verdict is None else str(self.verdict["status"])


class DiscoveryState:
    """What a discovery knows after its first steps.

    Attributes:
        position: How many steps were committed.
        stopped: Why no more laws are proposed, or None while they are.
        closed: Whether the last step was committed.
    """

    def __init__(self, plan: DiscoveryPlan, laws: LawReader) -> None:
        """Begin before the first step."""
        self._plan = plan
        self._laws = laws
        self.position = 0
        self.stopped: str | None = None
        self.closed = False
        self._iterations = 0
        self._failure: str | None = None  # why the last answer was none
        self._memory = DiscoveryMemory(plan.model.memory, plan.checked)
        self._known: list[tuple[int, ParsedLaw]] = []  # each with the step that it came in
        self._judged: dict[str, _Judged] = {}
        self._waiting: dict[str, Mapping[str, Any]] = {}
        self._figures = dict.fromkeys(("evaluations", "escalations", "tokens", "dry", "late"), 0)
        self._views = {0: self._view()}

    def steps(self) -> Iterator[tuple[int, str, int]]:
        """The steps that may be under way now: position, kind, and the iteration that it is or comes before."""
        if self.closed:
            return
        if self.stopped is not None:
            yield self.position, CLOSE, self._iterations
            return
        for position in range(self.position, self.position + self._plan.model.lag):
            kind, iteration = self._plan.kind_of(position)
            if iteration >= self._plan.model.iterations:
                return
            yield position, kind, iteration

    def view(self, position: int, kind: str) -> View:
        """What a step may look at; it is kept as long as a step may be under way that needs it."""
        return self._views[self.position if kind == CLOSE else self._plan.needs(position)]

    def take(self, kind: str, result: Mapping[str, Any]) -> list[Event]:
        """Commit the result of the next step."""
        position = self.position
        events = self._proposed(position, result) if kind == PROPOSE else self._escalated(result)
        self.position += 1
        if kind == CLOSE:
            events += self._closing()
            self.closed = True
        elif kind == PROPOSE:
            self._iterations += 1
            self.stopped = self._why_stop()
        self._views[self.position] = self._view()
        self._views.pop(self.position - self._plan.model.lag, None)
        return events

    def _view(self) -> View:
        return View(self._memory.snapshot(), tuple(law for _, law in self._known), dict(self._waiting))

    # An iteration

    def _proposed(self, position: int, result: Mapping[str, Any]) -> list[Event]:
        events = [Event("iteration", result["proposal"])]
        self._failure = result["proposal"]["answer"]["failure"]
        usage = result["proposal"]["answer"]["usage"]
        self._figures["tokens"] += sum(usage[name] for name in ("prompt_tokens", "output_tokens", "thinking_tokens"))
        later = [law for came, law in self._known if came >= self._plan.needs(position)]
        detector = self._detector(later)
        learned = False
        for number, entry in enumerate(result["laws"]):
            parsed = self._laws.read(entry["document"])
            self._figures["evaluations"] += 1
            match = detector.check(parsed)
            body = {"iteration": self._iterations, "number": number, **entry}
            body["digest"] = None if entry["verdict"] is None else digest_verdict(entry["verdict"])
            if match is not None:
                self._figures["late"] += 1
                events.append(Event("law", {**body, "late": match.document()}))
                continue
            events.append(Event("law", {**body, "late": None}))
            learned |= self._learn(position, parsed, entry)
        self._figures["dry"] = 0 if learned else self._figures["dry"] + 1
        return events

    def _learn(self, position: int, parsed: ParsedLaw, entry: Mapping[str, Any]) -> bool:
        """Take the verdict on a law, which is tried again only where nothing keeps it from that; whether it holds."""
        key = parsed.bundle.root
        known = self._judged.setdefault(key, _Judged(entry["document"], self._iterations, None))
        known.verdict = entry["verdict"]
        self._memory.record_evaluation(parsed, entry["verdict"])
        accepted = known.status in ACCEPTED
        if accepted and not known.escalated:
            self._waiting[key] = entry["document"]
        if accepted or self._plan.model.proposer.add_to_redundancy_filter:
            self._known.append((position, parsed))
        return accepted

    def _detector(self, known: Iterable[ParsedLaw]) -> RedundancyDetector:
        detector = RedundancyDetector(self._plan.model.redundancy.threshold)
        for law in known:
            detector.add_known_law(law)
        return detector

    def _why_stop(self) -> str | None:
        accepted = sum(judged.status in ACCEPTED for judged in self._judged.values())
        stop, figures = self._plan.model.stop, {**self._figures, "accepted": accepted}
        if self._failure in LASTING:
            return self._failure
        for name in ("accepted", "evaluations", "dry", "tokens"):
            limit = getattr(stop, name)
            if limit is not None and figures[name] >= limit:
                return name
        return "iterations" if self._iterations >= self._plan.model.iterations else None

    # Escalation

    def _escalated(self, result: Mapping[str, Any]) -> list[Event]:
        events = []
        for entry in result["laws"]:
            known = self._judged[entry["law"]]
            if known.escalated:  # two escalations were under way at once, and the first one counts
                continue
            before, known.escalated = known.status, True
            self._waiting.pop(entry["law"], None)
            self._figures["escalations"] += 1
            digest = None if entry["verdict"] is None else digest_verdict(entry["verdict"])
            events.append(Event("escalation", {**entry, "before": before, "digest": digest}))
            known.verdict = entry["verdict"]
            self._memory.record_evaluation(self._laws.read(known.document), entry["verdict"])
        return events

    # The end

    def _closing(self) -> list[Event]:
        events = [Event("stop", {"reason": self.stopped, "iterations": self._iterations})]
        ledger = list(self._ledger())
        events += [
            Event("ledger", {"refuted": ledger[first : first + MOST_LINES]})
            for first in range(0, max(1, len(ledger)), MOST_LINES)
        ]
        events += [Event("expected", body) for body in self._expected()]
        statuses = [judged.status for judged in self._judged.values()]
        counts = {status.value: statuses.count(status) for status in LawStatus}
        figures = {name: self._figures[name] for name in ("evaluations", "escalations", "tokens", "late")}
        memory = self._memory.snapshot().digest
        return [*events, Event("end", {"iterations": self._iterations, **figures, "laws": counts, "memory": memory})]

    def _ledger(self) -> Iterator[dict[str, Any]]:
        """The refuted laws, in the order in which they were proposed."""
        for key, judged in self._judged.items():
            line = ledger_line(key, judged.iteration, judged.verdict)
            if line is not None:
                yield line

    def _expected(self) -> Iterator[dict[str, Any]]:
        """For each expected law the one that was found and says the same."""
        for expected in self._plan.expected:
            wanted = expected.plan.expected and expected.plan.expected.get("status")
            statuses = ACCEPTED if wanted is None else (wanted,)
            matched = None
            for key, judged in self._judged.items():
                if judged.status in statuses and matched is None:
                    match = self._detector([self._laws.read(judged.document)]).nearest(expected)
                    matched = key if match is not None and match.similarity == ONE else None
            law = expected.plan.law
            yield {"law": law.name, "key": law.key, "status": wanted, "found": matched}


def ledger_line(law: str, iteration: int, verdict: VerdictBody | None) -> dict[str, Any] | None:
    """A refuted law with the ring that refutes it and when; None for any other."""
    if verdict is None or verdict["counterexample"] is None:
        return None
    counterexample = verdict["counterexample"]
    example = {"start": counterexample["start"], "t": counterexample["t"], "cells": len(counterexample["start"])}
    return {"law": law, "claim": verdict["claim"], "iteration": iteration, **example}


def start_event(plan: DiscoveryPlan, identity: Mapping[str, Any]) -> Event:
    """The first fact of a discovery."""
    model = plan.model
    return Event(
        "start",
        {
            "kind": KIND,
            "discovery": plan.name,
            "specs": plan.specs,
            "universe": plan.universe.root,
            "model": {"spec": plan.key("model"), "identity": dict(identity)},
            "prompt": plan.key("prompt"),
            "ranking": plan.key("ranking"),
            "templates": list(plan.allowed),
            "iterations": model.iterations,
            "lag": model.lag,
            "seed": model.seed,
        },
    )
