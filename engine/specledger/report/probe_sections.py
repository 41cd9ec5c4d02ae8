"""The sections about probes, by agent, with what it took to ask the agents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from specledger.oracles.spending import SPENT
from specledger.report.agent_metrics import RunMetrics, total, totals
from specledger.report.extension import meanings
from specledger.report.sections import NOTHING, Cell, Count, Row, Section, Words
from specledger.spec.base import format_qfixed

_COST = (
    "What it took to ask the agent, by the answers on the tape: messages with their bytes, and of a model calls, "
    "tokens, and their price, with its date, where its spec states one."
)
_COST_HEADS = ("agent and run", "messages", "bytes sent", "bytes received", "calls", "tokens in", "tokens out", "cost")


def probe_sections(
    agents: Mapping[str, Sequence[RunMetrics]], probes: Sequence[Row] = (), prices: str = ""
) -> Iterator[Section]:
    """The probes of a single run, a row for each, the rates of all probes by agent, and the cost of asking.

    `prices` are the days of the prices by which it was computed.
    """
    by_agent = totals(agents)
    yield from meanings().probe_tables(by_agent, probes)
    yield Section("cost", "Cost of the questions", _COST, _COST_HEADS, list(_costs(agents, prices)))
    yield from meanings().confidence_tables(by_agent)


def _costs(agents: Mapping[str, Sequence[RunMetrics]], prices: str) -> Iterator[Row]:
    dated = f" (prices: {prices})" if prices else ""
    for agent, accounts in agents.items():
        for account in accounts:
            spent = total(account.episodes).get("spent")
            if spent is not None:
                cells: list[Cell] = [Count(spent[name]) if name in spent else NOTHING for name in SPENT[:-1]]
                money = Words(format_qfixed(spent["cost"]) + dated) if "cost" in spent else NOTHING
                yield Row(f"{agent}: {account.run}", "", (*cells, money), list(_of_a_decision(account, spent)))


def _of_a_decision(account: RunMetrics, spent: Mapping[str, int]) -> Iterator[tuple[str, Cell]]:
    """What it took to challenge one decision of a recording, on average."""
    decisions = sum(episode.get("decisions", 0) for episode in account.episodes)
    for name in SPENT[3:] if decisions else ():
        if name == "cost":
            if name in spent:
                yield f"{name} of a decision", Words(format_qfixed(spent[name] // decisions))
        else:
            yield f"{name.replace('_', ' ')} of a decision", Words(f"{spent[name] / decisions:.1f}")
