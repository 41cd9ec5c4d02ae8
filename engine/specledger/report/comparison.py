"""Several bundles in one page: the tables and plots of the first, in which what is shown by agent is of all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from specledger.report.agent_metrics import RunMetrics
from specledger.report.model import Reading, Subject, bundle_names
from specledger.report.plots import Plot
from specledger.report.probe_rates import probe_sections
from specledger.report.rate_plots import probe_plots
from specledger.report.sections import Section

Agents = Mapping[str, Sequence[RunMetrics]]


def agents_of(subjects: Sequence[Subject]) -> Agents:
    """The metrics of the agents of all bundles; an agent that is in several of them is named with the bundle."""
    found = [
        (name, {} if subject.reading is None else subject.reading.agents())
        for name, subject in zip(bundle_names(subjects), subjects, strict=True)
    ]
    count = Counter(agent for _, agents in found for agent in agents)
    return {
        agent if count[agent] == 1 else f"{agent} in {name}": metrics
        for name, agents in found
        for agent, metrics in agents.items()
    }


def compared_sections(reading: Reading, agents: Agents) -> list[Section]:
    """The tables of a bundle; those by agent have rows for all of the agents."""
    tables = {section.id: section for section in probe_sections(agents) if section.rows}
    own = [tables.pop(section.id, section) for section in reading.sections()]
    return [*own, *tables.values()]


def compared_plots(reading: Reading, agents: Agents) -> list[Plot]:
    """The plots of all of the agents, then the others of a bundle."""
    plots = probe_plots(agents)
    titles = {plot.title for plot in plots}
    return [*plots, *(plot for plot in reading.plots() if plot.title not in titles)]
