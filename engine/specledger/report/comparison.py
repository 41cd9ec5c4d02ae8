"""Several bundles in one page: what changed between them, and their plots and tables by agent side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from msgspec.structs import replace

from specledger.core.statistics import ONE
from specledger.report.agent_metrics import RunMetrics
from specledger.report.diff import changes
from specledger.report.model import Reading, Subject
from specledger.report.outcome import Outcome
from specledger.report.plots import Line, Lines, Plot, probe_plots, side_by_side
from specledger.report.probe_sections import probe_sections
from specledger.report.sections import Cell, Quoted, Row, Section, Words
from specledger.report.titles import bundle_names

Agents = Mapping[str, Sequence[RunMetrics]]

_LONGEST: Final = 90  # characters of a value
_MOST_RATES: Final = 6
_MOST_CHANGED: Final = 1000  # rows of what differs
_OF: Final = {"specs": "", "results": "result: ", "checks": "check: "}


def agents_of(subjects: Sequence[Subject]) -> Agents:
    """The metrics of the agents of all bundles; an agent that is in several of them is named with the bundle."""
    named = zip(bundle_names(subjects), subjects, strict=True)
    by_bundle = [(name, subject.reading.agents()) for name, subject in named]
    count = Counter(agent for _, agents in by_bundle for agent in agents)
    return {
        agent if count[agent] == 1 else f"{agent} in {name}": metrics
        for name, agents in by_bundle
        for agent, metrics in agents.items()
    }


def common_tables(subjects: Sequence[Subject]) -> list[tuple[Section, list[int]]]:
    """The tables that bundles of a kind have in common, with the rows of all, and the place of the bundle of each."""
    tables: dict[str, tuple[Section, list[int]]] = {}
    for index, subject in enumerate(subjects):
        for section in subject.reading.sections():
            if section.compared:
                known, of = tables.get(section.id, (replace(section, rows=[]), []))
                rows, of = [*known.rows, *section.rows], [*of, *[index] * len(section.rows)]
                tables[section.id] = replace(known, rows=rows), of
    return [*tables.values()]


def in_one_table(subjects: Sequence[Subject]) -> bool:
    """Whether a table of several bundles, no two of the same spec, says all about each by its row."""
    different = {(subject.kind, subject.title) for subject in subjects}
    rows = [subject.reading.is_row for subject in subjects]
    return len(different) == len(subjects) > 1 and all(rows)


def marks_of(subjects: Sequence[Subject]) -> list[tuple[str, int]]:
    """How often each outcome is in the one table of bundles, else each verdict; the commonest first."""
    if not in_one_table(subjects):
        return Counter(subject.verdict.value for subject in subjects).most_common()
    return Counter(row.mark for section, _ in common_tables(subjects) for row in section.rows).most_common()


def _is_comparable(first: Subject, other: Subject) -> bool:
    """Whether a difference says something: between runs of scenarios, between suites, between bundles of one spec."""
    return first.kind == other.kind and (first.name == other.name or first.reading.parts() is not None)


def changed_section(subjects: Sequence[Subject]) -> Section:
    """What differs between the first bundle and those that are comparable: specs, results and outcomes of checks."""
    same = [*zip(bundle_names(subjects), subjects, strict=True)]
    same = [(name, subject) for name, subject in same if _is_comparable(subjects[0], subject)]
    table: dict[str, dict[int, str]] = {}
    more = 0
    for index, (_, subject) in enumerate(same[1:], 1):
        for part, differences in changes(subjects[0], subject).items():
            for change in differences:
                path = f"{_OF[part]}{change.path}"
                if path in table or len(table) < _MOST_CHANGED:
                    table.setdefault(path, {0: change.first or ""})[index] = change.second or ""
                else:
                    more += 1
    rows = [
        Row(path, "", [_side(cells.get(index, cells[0])) for index in range(len(same))])
        for path, cells in table.items()
    ]
    intro = "Specs, results and checks that differ from those of the first bundle."
    if more:
        intro += f" {more} more differences are not listed."
    left = [name for name, subject in zip(bundle_names(subjects), subjects, strict=True) if name not in dict(same)]
    if left:
        intro += f" Not compared, since it is of another kind or spec: {', '.join(left)}."
    return Section("changed", "What changed", intro, ("", *(name for name, _ in same)), rows)


def _side(value: str) -> Cell:
    return Quoted(value, _LONGEST) if value else Words("not in this bundle")


def compared_sections(reading: Reading, agents: Agents) -> list[Section]:
    """The tables of a bundle; those by agent have rows for all of the agents."""
    tables = {section.id: section for section in probe_sections(agents) if section.rows}
    own = [tables.pop(section.id, section) for section in reading.sections()]
    return [*own, *tables.values()]


def compared_plots(subjects: Sequence[Subject], agents: Agents) -> list[Plot]:
    """The plots of all of the agents, then the others of the bundles side by side."""
    plots = probe_plots(agents)
    titles = {plot.title for plot in plots}
    named = [
        (name, [plot for plot in subject.reading.plots() if plot.title not in titles])
        for name, subject in zip(bundle_names(subjects), subjects, strict=True)
    ]
    return [*plots, *(side_by_side(named) if len(named) > 1 else named[0][1])]


def trends(subjects: Sequence[Subject]) -> list[Plot]:
    """The checks that passed and the rates of figures, by bundle: a plot for each spec with comparable bundles."""
    groups: dict[Hashable, list[Subject]] = {}
    for subject in subjects:
        groups.setdefault(_comparable(subject), []).append(subject)
    return [_trend(f"Trend: {same[0].title}", same) for same in groups.values() if len(same) > 1]


def _comparable(subject: Subject) -> Hashable:
    """What bundles of a trend have in common: the spec and its case, its checks, and how much was run."""
    root = subject.evidence.specs.main.data
    asked = tuple(sorted(check.id for check in subject.checks))
    return subject.kind, subject.title, asked, root.get("episodes"), root.get("horizon")


def _trend(title: str, subjects: Sequence[Subject]) -> Plot:
    passed = [
        sum(check.outcome is Outcome.PASSED for check in subject.checks) * ONE // len(subject.checks)
        for subject in subjects
    ]
    rates = [dict(_rates(subject)) for subject in subjects]
    names = dict.fromkeys(name for by_name in rates for name in by_name)
    lines = [Line("checks passed", passed)]
    for name in [*names][:_MOST_RATES]:
        of = [by_name.get(name) for by_name in rates]
        edges = ([None if rate is None else rate["wilson"][end] for rate in of] for end in ("low", "high"))
        lines.append(Line(name, [None if rate is None else rate["value"] for rate in of], *edges))
    verdicts = [subject.verdict.value for subject in subjects]
    pairs = enumerate(pairwise(verdicts), 2)
    marks = [(index, f"{before} to {after}") for index, (before, after) in pairs if before != after]
    text = "Bundles of this spec with the same checks, episodes and horizon. Checks that passed and the first rates of"
    text += " figures with their 95 % interval, in per cent, by bundle in the"
    text += " order of the table. A dashed line is a change of the verdict."
    return Lines(title, text, lines, ONE // 100, marks, 1, "bundle", "verdict", "per cent")


def _rates(subject: Subject) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The rates of figures without groups, by name."""
    for figure in subject.reading.figures:
        if figure["statistic"] == "rate" and figure["error"] is None and len(figure["groups"]) == 1:
            (group,) = figure["groups"]
            if "value" in group:
                yield figure["figure"], group
