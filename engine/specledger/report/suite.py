"""Reports on a suite: its checks with their figures and the mutants that they notice, and its runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Final

from specledger.compile.suite import compile_suite
from specledger.core.verdict import Verdict
from specledger.evidence.receipts import suite, typed
from specledger.evidence.receipts.result import RunResult
from specledger.evidence.suite_result import beyond_allowed
from specledger.report.agent_metrics import METERED, RunMetrics
from specledger.report.evidence import Evidence
from specledger.report.figures import figure_rows, figure_section, figure_titles
from specledger.report.gate_section import gate_section
from specledger.report.markup import shorten
from specledger.report.model import LONGEST, MOST_RUNS, Check, Reading, Receipt, ReportKind, SubRun, value_text
from specledger.report.mutant_doubts import doubts
from specledger.report.observations import Observations, as_int, as_name
from specledger.report.outcome import OF_VERDICT, Outcome
from specledger.report.plots import Plot, figure_rates, probe_plots, rejection_counts
from specledger.report.probe_sections import probe_sections
from specledger.report.run import EVALUATION
from specledger.report.sections import (
    Block,
    Cell,
    Count,
    EpisodeLink,
    Grid,
    Joined,
    Place,
    Quoted,
    ReceiptLink,
    Row,
    RowLink,
    Section,
    Words,
    anchor,
    open_first,
)
from specledger.report.specs import Specs, all_recorded, requirement, spec_details
from specledger.report.step_series import recoveries_by_arm
from specledger.report.suite_finding import figures_read_by, suite_finding
from specledger.report.suite_tables import called, mutant_section, run_heads, run_row
from specledger.report.unanswered import unanswered
from specledger.report.witness_words import witness_words
from specledger.spec.suite import Suite

EXPECTED: Final = "runs-end-as-expected"
DECIDED: Final = "runs-are-decided"

_FACTS: Final = ("runs", "trials", "episodes", "steps", "drifts", "errors")
_FIGURES_OF_A_CHECK: Final = 24
_FIGURES_IN_A_ROW: Final = 2


class SuiteReading(Reading):
    """Folds the receipts of a suite."""

    tells_replay = True

    def __init__(self, evidence: Evidence) -> None:
        self._place = evidence.place
        self._specs, self._result = evidence.specs, evidence.manifest["result"]
        self._recorded = all_recorded(self._specs)
        self._actors: dict[str, tuple[str, str]] = {}
        self._observations = Observations()
        self._checks: list[tuple[int, Check, suite.Check]] = []
        self._mutants: list[tuple[int, Check, suite.Mutant]] = []
        self._all: list[suite.Run] = []
        self._figures: list[tuple[int, suite.Figure]] = []
        self._own: list[tuple[int, suite.Run]] = []
        self._runs = 0
        self._allowed: Mapping[str, Mapping[str, int]] = {}
        self._ended_as: Counter[tuple[str, str]] = Counter()
        self.figures: list[suite.Figure] = []
        self.runs: list[str] = []
        model = evidence.specs.main.model
        assert isinstance(model, Suite)  # noqa: S101 - a suite's specs are a suite
        self._says = {check.id: check.doc or check.require for check in model.checks}
        self._titles = figure_titles(Specs.of(evidence.specs).root.get("figures", {}))
        self._requires = {check["id"]: check for check in Specs.of(evidence.specs).root.get("checks", ())}

    def add(self, receipt: Receipt) -> None:
        """Take the next receipt."""
        type_, body = receipt.type, receipt.body
        if type_ == "start":
            start = typed(suite.Start, body)
            self._runs, self._allowed = as_int(start["runs"]), start["allowed"]
        elif type_ == "run":
            self._all.append(typed(suite.Run, body))
            if len(self._own) < self._runs:
                self._run(receipt, self._all[-1])
        elif type_ == "figure":
            figure = typed(suite.Figure, body)
            self._figures.append((receipt.seq, figure))
            self.figures.append(figure)
            if figure["error"] is not None:
                self._observations.note(EVALUATION, receipt, "error", figure["error"], {})
        elif type_ == "check":
            check = typed(suite.Check, body)
            self._checks.append((receipt.seq, self._check(receipt, check), check))
        elif type_ == "mutant":
            mutant = typed(suite.Mutant, body)
            self._mutants.append((receipt.seq, self._mutant(receipt, mutant), mutant))
        elif type_ == "end":
            self.runs = self._embedded()

    def _run(self, receipt: Receipt, body: suite.Run) -> None:
        self._own.append((receipt.seq, body))
        self._ended_as[as_name(body["result"]["verdict"]), as_name(body["arm"])] += 1
        if body["result"]["verdict"] == Verdict.FAIL:
            self._observations.note(EXPECTED, receipt, "failed", as_name(body["run"]))
        if body["result"]["verdict"] == Verdict.INCONCLUSIVE:
            self._observations.note(DECIDED, receipt, "inconclusive", as_name(body["run"]))
        if as_int(body["result"]["errors"]):
            self._observations.note(EVALUATION, receipt, "errors", body["result"]["errors"])

    def _check(self, receipt: Receipt, body: suite.Check) -> Check:
        id_, verdict = f"check/{as_name(body['check'])}", Verdict(body["verdict"])
        error, could = body["error"], as_int(body["opportunities"])
        self._observations.note(id_, receipt, verdict.value, body["witness"] if error is None else error, {})
        few = f"it had {could} of at least {as_int(body['least'])} opportunities to fail" if could else ""
        why = (few or "it had no opportunity to fail") if verdict is Verdict.INCONCLUSIVE else ""
        why = f"{as_name(error['code'])}: {value_text(error['expression'])}" if error is not None else why
        says, key = self._says.get(body["check"], id_), self._specs.main.key
        failed, broken = int(verdict is Verdict.FAIL), verdict is Verdict.ERROR
        why, outcome = shorten(why, LONGEST), OF_VERDICT[verdict]
        return self._observations.of(Check(id_, says, key, outcome, could, failed, why, error=broken, once=True))

    def _mutant(self, receipt: Receipt, body: suite.Mutant) -> Check:
        id_, verdict = f"mutant/{as_name(body['mutant'])}", Verdict(body["verdict"])
        caught = ", ".join(body["caught"])
        self._observations.note(id_, receipt, f"caught by {caught}" if caught else "not caught", body["control"], {})
        says = f"a check of {as_name(body['suite'])} notices that this is switched off or changed"
        failed, error = int(verdict is Verdict.FAIL), verdict is Verdict.ERROR
        why = "; ".join(self._doubts(body))
        return self._observations.of(
            Check(id_, says, self._specs.main.key, OF_VERDICT[verdict], 1, failed, why, error=error)
        )

    def _doubts(self, body: suite.Mutant) -> list[str]:
        return doubts(body, Specs.of(self._specs).root, self._all)

    def checks(self) -> Iterator[Check]:
        """The suite's checks and mutants, and that its own runs had no errors, ended as expected and are decided."""
        yield from (check for _, check, _ in sorted((*self._checks, *self._mutants), key=lambda entry: entry[0]))
        errors, runs = self._observations.count[EVALUATION], len(self._own)
        outcome = Outcome.CANNOT_TELL if errors else Outcome.PASSED if runs else Outcome.NOT_APPLICABLE
        why = "" if runs else "it has no runs of its own"
        figures = sum(figure["error"] is not None for figure in self.figures)
        counts = {"runs": (errors - figures, runs), "figures": (figures, len(self.figures))}
        problems = [f"{count} of {of} {what} have errors" for what, (count, of) in counts.items() if count]
        why = ", ".join(problems) or why
        says = "everything in the suite's own runs can be evaluated"
        yield self._observations.of(Check(EVALUATION, says, None, outcome, runs, 0, why, error=errors > 0))
        yield self._ended(EXPECTED, Verdict.FAIL, "fail", Outcome.FAILED)
        yield self._ended(DECIDED, Verdict.INCONCLUSIVE, "are inconclusive", Outcome.CANNOT_TELL)

    def _ended(self, id_: str, verdict: Verdict, says: str, otherwise: Outcome) -> Check:
        """That no more runs have a verdict, which nothing expects, than the suite allows."""
        runs, count = len(self._own), self._observations.count[id_]
        over = any(ending == verdict for ending, *_ in beyond_allowed(self._ended_as, self._allowed))
        over |= verdict is Verdict.INCONCLUSIVE and 0 < runs == count
        outcome = otherwise if over else Outcome.PASSED if runs else Outcome.NOT_APPLICABLE
        why = f"{count} of {runs} runs {says}" if count else "" if runs else "it has no runs of its own"
        failed = count if over and otherwise is Outcome.FAILED else 0
        says = f"no more runs of the suite {says} than it expects or allows"
        return self._observations.of(Check(id_, says, None, outcome, runs, failed, why))

    def facts(self) -> Iterator[tuple[str, Cell]]:
        """The counts of the result."""
        for noun in _FACTS:
            if not (self._recorded and noun == "drifts"):
                yield called(noun, self._recorded), Count(self._result[noun])

    def _embedded(self) -> list[str]:
        """The runs that a page embeds: those that figures of failing checks name, then the first ones."""
        failing = [receipt["check"] for _, check, receipt in self._checks if check.failures]
        figures = [figure for check in failing for figure in self._read_by(check)]
        named = [
            failure["run"] for figure in figures for group in figure["groups"] for failure in group.get("failed", ())
        ]
        places = {run["run"]: str(run["place"]) for _, run in self._own}
        return [places[name] for name in dict.fromkeys([*named, *places]) if name in places][:MOST_RUNS]

    def _read_by(self, check: str) -> list[suite.Figure]:
        """The figures whose names occur in a check's expressions."""
        return figures_read_by(self._requires.get(check, {}), self.figures)

    def finding(self) -> list[str]:
        """How often each agent is caught, and what the checks say of the figures."""
        checks = [(check, self._read_by(check["check"])) for _, _, check in self._checks]
        return [*suite_finding(self.agents(), checks), *self._unanswered()]

    def _unanswered(self) -> Iterator[str]:
        """By arm, how many calls of its model failed, and why."""
        by_arm: dict[str, list[Path]] = {}
        for _, run in self._own:
            if run["result"].get("faults"):
                by_arm.setdefault(run["arm"], []).append(Path(self._place, *run["place"].split("/")))
        said = {arm: unanswered(folders) for arm, folders in by_arm.items()}
        yield from (f"{arm}: {words}." for arm, words in said.items() if words)

    def sections(self) -> Iterator[Section]:
        """Checks, figures, mutants, probes by agent, gates and runs."""
        yield self._check_section()
        yield figure_section(self._figures, self._titles, called("episodes", self._recorded))
        mutants = [(seq, mutant, self._doubts(mutant)) for seq, _, mutant in self._mutants]
        yield mutant_section(mutants, Specs.of(self._specs).root)
        yield from probe_sections(self.agents(), prices=Specs.of(self._specs).prices())
        rejections = self._rejections()
        proposals = sum(as_int(run["result"]["proposals"]) for _, run in self._own)
        busiest = dict(sorted(rejections.items(), key=lambda item: (-item[1], item[0])))
        if not self._recorded or any(busiest.values()):
            yield gate_section(busiest, dict.fromkeys(busiest, proposals), {})
        yield self._run_section()

    def plots(self) -> list[Plot]:
        """Detections by agent and probe, the rates of figures, and rejections by gate."""
        cases = called("episodes", self._recorded)
        rates = [*probe_plots(self.agents()), *figure_rates(self.figures, self._titles, cases)]
        return [*rates, *self._recovery(), *rejection_counts(self._rejections())]

    def _recovery(self) -> list[Plot]:
        """Recovery from drifts with a line for each arm, by the first episodes of its runs."""
        runs = [run for _, run in self._own if as_int(run["result"]["drifts"])]
        places = ((run["arm"], run["run"], Path(self._place, *run["place"].split("/"))) for run in runs)
        return recoveries_by_arm([*places], self._specs)

    def _rejections(self) -> Counter[str]:
        rejections: Counter[str] = Counter()
        for _, run in self._own:
            rejections.update({gate: as_int(times) for gate, times in run["result"]["rejections"].items()})
        return rejections

    def _check_section(self) -> Section:
        rows = []
        for seq, check, receipt in self._checks:
            name = receipt["check"]
            data = self._requires.get(name, {})
            caught = [mutant["mutant"] for _, _, mutant in self._mutants if name in mutant["caught"]]
            links = [RowLink(anchor("mutants", mutant), mutant) for mutant in caught]
            figures = self._read_by(name)
            reads = witness_words(receipt["witness"], data.get("witness", {}), self.figures)
            details = [*spec_details(data), ("found", Block(reads))]
            details += [("error", Block(receipt["error"]))] if receipt["error"] is not None else []
            details += [("figures", _figure_grid(figures))] if figures else []
            noticed = Joined(links, listed=True) if links else Words("no mutant shows that this check can fail")
            details.append(("mutants noticed", noticed))
            seen = [f"{term} {value}" for term, value in reads.items()] or [*_values(figures)]
            shown = Quoted(", ".join(seen))
            cells = (requirement(data), shown, Count(check.opportunities), Count(len(caught)))
            places: list[Place] = [ReceiptLink(seq), *self._episode(figures)]
            rows.append(Row(name, receipt["verdict"], cells, details, places))
        intro = "Opportunities: how often the check could have failed. Without any it is inconclusive."
        return Section(
            "checks",
            "Checks",
            intro,
            ("check", "requirement", "found", "opportunities", "mutants noticed"),
            open_first(rows),
        )

    def _episode(self, figures: list[suite.Figure]) -> list[Place]:
        """An embedded episode in which what a check reads failed, else one in which it held."""
        chains = {run["run"]: self.runs.index(run["place"]) + 1 for _, run in self._own if run["place"] in self.runs}
        groups = [group for figure in figures for group in figure["groups"]]
        positions = [position for group in groups for position in group.get("failed", ())]
        positions += [position for group in groups for position in group.get("held", ())]
        for position in positions:
            if position["run"] in chains:
                return [EpisodeLink(chains[position["run"]], position["episode"])]
        return []

    def _run_section(self) -> Section:
        rows = []
        for seq, run in self._own:
            folder = run["place"]
            links: list[Place] = [ReceiptLink(seq)]
            links += [EpisodeLink(self.runs.index(folder) + 1, 0)] if folder in self.runs else []
            rows.append(run_row(run, self._actors.get(run["run"], ()), self._recorded, links))
        return Section("runs", "Runs", "", run_heads(self._recorded), rows)

    def results(self) -> list[RunResult]:
        """The results of the suite's own runs."""
        return [run["result"] for _, run in self._own]

    def agents(self) -> dict[str, list[RunMetrics]]:
        """The metrics of the suite's own runs that have probes or agents outside, by agent; read once."""
        return self._by_agent

    @property
    def challenged(self) -> bool:
        """Whether some run of the suite tested claims."""
        return any(run["result"].get("claims") for _, run in self._own)

    def parts(self) -> Iterator[SubRun]:
        """The suite's own runs."""
        for case in compile_suite(self._specs).trial.cases:
            yield SubRun(case.run, case.place, case.bundle)

    @cached_property
    def _by_agent(self) -> dict[str, list[RunMetrics]]:
        by_agent: dict[str, list[RunMetrics]] = {}
        for _, run in self._own:
            folder = Path(self._place, *run["place"].split("/"))
            specs = Specs.read(folder)
            self._actors[run["run"]] = (specs.agent(), ", ".join(model["name"] for model in specs.of_kind("model")))
            if specs.metered():
                metrics = RunMetrics(run["run"], run["scenario"], tuple(specs.probes()))
                by_agent.setdefault(specs.agent(), []).append(metrics.read(folder, *METERED))
        return by_agent


def _values(figures: list[suite.Figure]) -> Iterator[str]:
    """The first figures that a check reads, with their values, where it shows no witness."""
    for name, _, value, *_ in [row for figure in figures for row in figure_rows(figure)][:_FIGURES_IN_A_ROW]:
        yield f"{name.replace('_', ' ')} {value}"


def _figure_grid(figures: list[suite.Figure]) -> Grid:
    rows = [row for figure in figures for row in figure_rows(figure)]
    return Grid(rows[:_FIGURES_OF_A_CHECK], max(0, len(rows) - _FIGURES_OF_A_CHECK))


SUITE: Final = ReportKind(SuiteReading, suite.SUITE)
