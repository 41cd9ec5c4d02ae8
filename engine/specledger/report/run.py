"""Reports on the run of a scenario: its invariants and probes, gates, drifts, budget and episodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal

from msgspec.structs import replace

from specledger.core.diagnostics import counted
from specledger.core.events import PROGRESS, Severity, owned
from specledger.core.verdict import Verdict
from specledger.evidence.receipts import run, typed
from specledger.evidence.receipts.places import Failure
from specledger.evidence.receipts.result import RunResult
from specledger.evidence.receipts.start import Start, StartedInvariant
from specledger.gates.governor import SCHEMA
from specledger.load import Resolved
from specledger.report.agent_metrics import METERED, RunMetrics
from specledger.report.evidence import Evidence
from specledger.report.extension import trajectory_names
from specledger.report.fault_words import fault_words
from specledger.report.figures import in_units
from specledger.report.gate_section import gate_section
from specledger.report.guarded import GuardReading
from specledger.report.left_open import LeftOpen, mark_of
from specledger.report.markup import shorten
from specledger.report.model import (
    LONGEST,
    MOST_OBSERVATIONS,
    Body,
    Check,
    Reading,
    Receipt,
    ReportKind,
    SubRun,
    value_text,
)
from specledger.report.observations import Observations, as_int, as_name
from specledger.report.outcome import OF_VERDICT, Outcome
from specledger.report.plots import Plot, probe_plots, rejection_counts
from specledger.report.probe_reading import ProbeReading
from specledger.report.probe_sections import probe_sections
from specledger.report.rules import RuleReading
from specledger.report.run_finding import run_finding
from specledger.report.sections import (
    Bar,
    Cell,
    Code,
    Count,
    EpisodeLink,
    Quoted,
    ReceiptLink,
    Row,
    Section,
    Words,
    beside,
    open_first,
    without_opportunity,
)
from specledger.report.specs import Specs, is_recorded, only_spec, requirement, spec_details
from specledger.report.step_series import StepSeries
from specledger.report.units import express, unit_at, units_of, within
from specledger.report.value_words import in_words
from specledger.spec.invariant import Invariant

_Noun = Literal["episodes", "successes", "steps", "drifts", "proposals", "checks", "errors"]

EVALUATION: Final = "evaluation"
"""The check that everything could be evaluated, which the engine makes of every run."""

_PROGRESS_SAYS: Final = "every step has a proposal that no gate rejects"
_MOST_PLACES: Final = 3
_TARGETS: Final = ("set", "append", "put", "each")
_NOUNS: Final[tuple[_Noun, ...]] = ("episodes", "successes", "steps", "drifts", "proposals", "checks", "errors")
_OF_SIMULATIONS: Final = ("successes", "drifts")
"""Counts that say nothing of a recording unless there are some."""
_CALLS: Final = ("episodes", "steps", "proposals")
"""Counts of a simulation; in a recording a call is all of a step and its proposal."""


class RunReading(Reading):
    """Folds the receipts of a scenario's run."""

    def __init__(self, evidence: Evidence) -> None:
        self._specs = evidence.specs
        self._result = typed(RunResult, evidence.manifest["result"])
        self._recorded = is_recorded(self._specs)
        self.trajectories = trajectory_names(evidence.place) if self._recorded else ()
        self._observations = Observations(self._recorded, self.trajectories)
        self._start = typed(Start, {})
        self._rules, self._guarded = RuleReading(evidence, self._observations), GuardReading()
        self._idle: Counter[str] = Counter()
        self._left_open = LeftOpen()
        self._price: Counter[str] = Counter()
        self._episodes: list[Row] = []
        self._steps = self._judged = self._broken = 0
        self._errors: dict[tuple[str, str], list[int]] = {}
        specs, self._units = Specs.of(evidence.specs), units_of(evidence.specs)
        self._probes, self.agent = ProbeReading(evidence, self._observations, self._units), specs.agent()
        self._witnesses: dict[str, str] = {}
        self._metered = specs.metered()
        self._series = StepSeries(specs.charts(self._units))
        self._metrics = RunMetrics(evidence.specs.main.name, evidence.specs.main.name, self._probes.names)

    def add(self, receipt: Receipt) -> None:
        """Take the next receipt."""
        type_, body = receipt.type, receipt.body
        self._series.add(type_, body)
        if self._metered and type_ in METERED:
            self._metrics.add(type_, body)
        if type_ == "start":
            self._begin(typed(Start, body))
        elif type_ == "step":
            self._step(receipt)
        elif type_ == "drift":
            self._observations.note(f"drift/{typed(run.Drift, body)['drift']}", receipt, "drift", None)
        elif type_ == "error":
            self._error(receipt, typed(run.EvaluationError, body), "")
        elif type_ in ("commit", "probe"):
            self._probes.add(receipt)
        elif type_ == "rules":
            self._rules.add(receipt)
            self._broken += len(typed(run.Rules, body)["broken"])
        elif type_ == "guard":
            self._guarded.add(receipt)
        elif type_ == "episode_end":
            self._end(receipt)

    def _begin(self, body: Start) -> None:
        invariants: list[StartedInvariant] = [
            {**invariant, "name": as_name(invariant["name"])} for invariant in body["invariants"]
        ]
        self._start = {**body, "invariants": invariants}
        self._rules.begin(self._start)

    def _step(self, receipt: Receipt) -> None:
        body = typed(run.Step, receipt.body)
        self._steps += 1
        self._judged += body["success"] is not None
        of = f" of {as_name(body['agent'])}" if "agent" in body else ""
        for decision in body["decisions"]:
            if decision["error"] is not None:
                self._error(receipt, decision["error"], of)
            for failing in decision["rejected"]:
                self._observations.note(f"gate/{owned(body, failing['gate'])}", receipt, "rejected", None)
        for item, price in (body["cost"] or {}).items():
            self._price[item] += as_int(price)
        self._left_open.add(body)
        self._breaches(receipt, body["violations"], of)

    def _error(self, receipt: Receipt, error: run.EvaluationError | Failure, of: str) -> None:
        code, expression = as_name(error["code"]), value_text(error["expression"])
        self._observations.note(EVALUATION, receipt, f"{code}{of}", error["expression"])
        if (code, expression) in self._errors or len(self._errors) < MOST_OBSERVATIONS:
            self._errors.setdefault((code, expression), []).append(receipt.seq)

    def _breaches(self, receipt: Receipt, violations: Sequence[run.Violation], of: str = "") -> None:
        for breach in violations:
            self._broken += 1
            if breach["invariant"] == PROGRESS:
                self._observations.note(PROGRESS, receipt, f"nothing{of} was admitted", breach["witness"])
                self._witnesses.setdefault(PROGRESS, in_words(breach["witness"]))
                continue
            name = as_name(breach["invariant"])
            witness = express(breach["witness"], within(self._units, ["witness", name]))
            self._observations.note(f"invariant/{name}", receipt, "broken", witness)
            self._witnesses.setdefault(f"invariant/{name}", in_words(witness))

    def _end(self, receipt: Receipt) -> None:
        body = typed(run.EpisodeEnd, receipt.body)
        self._idle.update({name: as_int(count) for name, count in body["idle"].items()})
        self._breaches(receipt, body["violations"])
        self._left_open.add(body)
        number, first = as_int(body["episode"]), body["first_success"]
        reached = Words("never" if first is None else f"in step {as_int(first)}")
        calls, broken = Count(as_int(body["steps"])), Count(self._broken)
        if self._recorded:
            named = self.trajectories[number] if number < len(self.trajectories) else f"trajectory {number}"
            row = Row(named, "", (calls, broken), places=(ReceiptLink(receipt.seq),))
        else:
            cells, places = (
                (calls, Quoted(body["ended"]), reached, broken),
                (EpisodeLink(0, number), ReceiptLink(receipt.seq)),
            )
            row = Row(f"episode {number}", "", cells, places=places)
        self._episodes.append(row)
        self._broken = 0

    def checks(self) -> Iterator[Check]:
        """Invariants, probes, rules, then what the engine requires of every run."""
        for invariant in self._start["invariants"]:
            yield self._invariant(invariant)
        yield from self._probes.checks()
        yield from self._rules.checks()
        if "recording" not in self._start:
            yield self._required(PROGRESS, _PROGRESS_SAYS, Verdict.FAIL)
        yield self._evaluated()

    def _invariant(self, started: StartedInvariant) -> Check:
        name = started["name"]
        id_, spec = f"invariant/{name}", only_spec(self._specs, "invariant", name)
        asked = {"step": self._judged, "episode": len(self._episodes)}.get(started["scope"], 0)
        left_open = self._left_open.times(name)
        could, broken = max(0, asked - self._idle[name] - left_open), self._observations.count[id_]
        outcome, why = Outcome.PASSED, ""
        if broken:
            outcome = Outcome.FAILED
        elif left_open:
            outcome, why = Outcome.CANNOT_TELL, self._left_open.why(name)
        elif not asked:
            outcome, why = Outcome.UNTESTED, f"there was no {started['scope']} to check"
        elif not could:
            never = without_opportunity(asked, started["scope"])
            outcome, why = Outcome.NOT_APPLICABLE, f"{never}: its condition never held"
        says = "" if spec is None or not isinstance(spec.model, Invariant) else spec.model.doc or spec.model.require
        key = None if spec is None else spec.key
        warns = not Severity(started["severity"]).impact.fails_run
        return self._observations.of(Check(id_, says or name, key, outcome, could, broken, why, warning=warns))

    def results(self) -> Sequence[RunResult]:
        """The result of the run."""
        return [self._result]

    def finding(self) -> Sequence[str]:
        """Whether it ended as expected, and how many tested claims held."""
        return [*run_finding(self._result), *self._probes.finding()]

    def witness(self, check: str) -> str:
        """The values that show the first breach of an invariant."""
        return self._witnesses.get(check, "")

    def _required(self, id_: str, says: str, breach: Verdict) -> Check:
        """A requirement of the engine; `breach` is the verdict of a run that does not meet it."""
        breaches = self._observations.count[id_]
        outcome = OF_VERDICT[breach] if breaches else Outcome.PASSED if self._steps else Outcome.UNTESTED
        error = bool(breaches) and breach is Verdict.ERROR
        failures = breaches if breach is Verdict.FAIL else 0
        why = "" if breaches or self._steps else "there was no step"
        return self._observations.of(Check(id_, says, None, outcome, self._steps, failures, why, error=error))

    def _evaluated(self) -> Check:
        """That everything could be evaluated; why not: the first error, with its expression and where that stands."""
        check = self._required(EVALUATION, "everything can be evaluated", Verdict.ERROR)
        if not self._errors:
            return check
        code, expression = next(iter(self._errors))
        where = self._written_at(expression)
        why = f"{counted(self._observations.count[EVALUATION], 'error')}, the first {code} {expression}"
        return replace(check, why=shorten(f"{why.strip()} ({where})" if where else why.strip(), LONGEST))

    def _written_at(self, expression: str) -> str:
        """The specs and the paths in them at which an expression stands, and what an effect sets to it."""
        locations = [
            f"{spec.kind}/{spec.name} {'.'.join(map(str, path))}{_sets(spec, path)}"
            for spec in self._specs.specs.values()
            for path, text in spec.expressions()
            if text == expression
        ]
        return ", ".join(locations[:_MOST_PLACES])

    def _error_section(self) -> Section:
        rows = [
            Row(
                code,
                "error",
                (Code(expression), Quoted(self._written_at(expression)), Count(len(seqs))),
                (),
                [ReceiptLink(seq) for seq in seqs[:_MOST_PLACES]],
                len(seqs),
            )
            for (code, expression), seqs in self._errors.items()
        ]
        heads = ("code", "expression", "written at", "times")
        return Section(EVALUATION, "Evaluation errors", "What could not be evaluated.", heads, rows)

    def facts(self) -> Iterator[tuple[str, Cell]]:
        """The counts of the result, with the seed of a simulation; agent faults, if there are any, by reason."""
        if self._recorded:
            trajectories = counted(self._result["episodes"], "trajectory")
            yield "calls", Words(f"{self._result['steps']} in {trajectories}")
        else:
            yield "seed", Words(str(self._start["seed"]))
        for noun in _NOUNS:
            if not (self._recorded and (noun in _CALLS or (noun in _OF_SIMULATIONS and not self._result[noun]))):
                yield "judgements" if noun == "checks" else noun, Count(self._result[noun])
        faults = fault_words(self._result.get("faults", {}))
        reasons = ("agent faults", faults), ("not known", self._result.get("unknown", {}))
        for what, counts in reasons:
            for reason, count in sorted(counts.items()):
                yield f"{what}: {as_name(reason)}", Count(as_int(count))
        yield from ((f"gate not judged: {reason}", Count(count)) for reason, count in self._left_open.gates())

    def sections(self) -> Iterator[Section]:
        """Evaluation errors, gates, invariants, probes, drifts, budget and episodes."""
        yield self._error_section()
        specs = Specs.of(self._specs)
        rejections = self._rejections()
        links = {gate: self._observations.links(f"gate/{gate}") for gate in rejections}
        agents = self._result.get("agents", {})
        judged = {gate: agents.get(gate.partition(".")[0], self._result)["proposals"] for gate in rejections}
        if not self._recorded or rejections.keys() != {SCHEMA} or rejections[SCHEMA]:
            yield gate_section(rejections, judged, specs.gates(), links)
        yield self._invariants({data["name"]: data for data in specs.of_kind("invariant")})
        yield from self._probes.failures()
        yield from probe_sections(self.agents(), self._probes.rows(), specs.prices())
        yield from self._guarded.sections()
        yield from self._rules.sections()
        yield self._drifts()
        yield self._budget()
        if self._recorded:
            heads: tuple[str, ...] = ("trajectory", "calls", "broken")
            yield Section("episodes", "Trajectories", "", heads, self._episodes)
        else:
            heads = ("episode", "steps", "ended", "goal first reached", "violations")
            yield Section("episodes", "Episodes", "", heads, self._episodes)

    def plots(self) -> list[Plot]:
        """Budget, potentials and figures over the steps, rejections by gate, failures of probes."""
        return [*self._series.plots(), *rejection_counts(self._rejections()), *probe_plots(self.agents())]

    def _rejections(self) -> dict[str, int]:
        return {gate: self._observations.count[f"gate/{gate}"] for gate in self._start["gates"]}

    def agents(self) -> Mapping[str, Sequence[RunMetrics]]:
        """The metrics of the run, by its agent; none without probes, unless the agent is outside."""
        return {self.agent: [self._metrics]} if self._metered else {}

    @property
    def challenged(self) -> bool:
        """Whether the run tested claims."""
        return bool(self._result.get("claims"))

    def parts(self) -> Iterator[SubRun]:
        """The run itself."""
        yield SubRun(self._specs.main.name, "", self._specs)

    def _invariants(self, demands: Mapping[str, Body]) -> Section:
        required: StartedInvariant = {"name": PROGRESS, "scope": "step", "severity": Severity.FATAL.value}
        all_started = [*self._start["invariants"], *([] if "recording" in self._start else [required])]
        checks = [self._invariant(started) for started in self._start["invariants"]]
        checks.append(self._required(PROGRESS, _PROGRESS_SAYS, Verdict.FAIL))
        rows = []
        for started, check in zip(all_started, checks, strict=False):
            data = demands.get(started["name"], {} if check.spec else {"doc": check.says})
            counts = map(Count, (check.opportunities, check.failures))
            never = check.why.partition(":")[0] if check.outcome is Outcome.NOT_APPLICABLE else ""
            cells: tuple[Cell, ...] = (
                beside(requirement(data), never),
                *map(Words, (started["scope"], started["severity"])),
                *counts,
            )
            if self._witnesses:
                cells = (*cells, Quoted(self.witness(check.id)))
            episodes = started["scope"] == "episode"
            places = self._observations.links(check.id) if episodes else self._observations.steps(check.id)
            of = max(check.failures, sum(isinstance(link, ReceiptLink) for link in places))
            rows.append(
                Row(started["name"], mark_of(check, started["severity"]), cells, spec_details(data), places, of)
            )
        heads: tuple[str, ...] = ("invariant", "requirement", "scope", "severity", "checked", "broken")
        heads = (*heads, "first witness") if self._witnesses else heads
        return Section("invariants", "Invariants", "", heads, open_first(rows))

    def _drifts(self) -> Section:
        rows = []
        for drift in self._start["drifts"]:
            id_ = f"drift/{drift['drift']}"
            times, places = self._observations.count[id_], self._observations.links(id_)
            due = [("due at steps", Code(drift["schedule"]))]
            rows.append(Row(drift["drift"], "", (Count(times),), due, places, max(times, len(places))))
        return Section("drifts", "Drifts", "Scheduled changes of the world.", ("drift", "times"), rows)

    def _budget(self) -> Section:
        whole, unit = self._price.get("total", 0), unit_at(self._units, ["step", "cost", "total"])
        items = sorted(self._price.items(), key=lambda item: (-item[1], item[0]))
        rows = [Row(item, "", (Words(in_units(sum_, unit)), Bar(sum_, whole))) for item, sum_ in items if whole]
        intro = "The cost of all steps by item, in units of the budget."
        return Section("budget", "Budget", intro, ("item of the price", "sum", "of the total"), rows)


def _sets(spec: Resolved, path: Sequence[str | int]) -> str:
    """The field that the effect at a path changes, as the spec declares it; empty for what is no effect of a world."""
    data: Any = spec.data
    declared = data.get("state", {})  # only worlds have it
    for step in path[:-1]:
        data = data[step]
    target = next((data[name] for name in _TARGETS if name in data), None) if isinstance(data, Mapping) else None
    return f", which sets {target}: {value_text(declared[target])}" if target in declared else ""


RUN: Final = ReportKind(RunReading, run.RUN)
