"""The table of the gates of a run or a suite."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from specledger.report.extension import gate_meaning
from specledger.report.figures import share
from specledger.report.model import Body
from specledger.report.sections import Bar, Count, Joined, Row, Section, Words
from specledger.report.specs import requirement, spec_details


def gate_section(
    rejections: Mapping[str, int],
    judged: Mapping[str, int],
    demands: Mapping[str, Body],
    links: Mapping[str, list[Any]] | None = None,
) -> Section:
    """The gates with what each rejected of the proposals that it judged, its data, and receipts that show it."""
    rows = []
    for gate, times in rejections.items():
        meaning = gate_meaning(gate.rpartition(".")[2]) if demands and gate not in demands else None
        own = {} if meaning is None else {"doc": meaning}
        data, places, proposals = demands.get(gate, own), (links or {}).get(gate, []), judged[gate]
        of = share(times * 1_000_000 // max(proposals, 1))
        cells = (requirement(data), Count(proposals), Count(times), Joined((Bar(times, proposals), Words(of))))
        details = spec_details(data)
        if not times:
            details = [*details, ("evidence", Words("It rejected nothing here, so this does not show that it can."))]
        rows.append(Row(gate, _mark(times, proposals), cells, details, places, times if places else 0))
    intro = "Every gate judges each proposal; one proposal may be rejected by several gates."
    return Section("gates", "Gates", intro, ("gate", "requirement", "judged", "rejected", "share of proposals"), rows)


def _mark(times: int, judged: int) -> str:
    if times:
        return "held"
    return f"never rejected anything (judged {judged})" if judged else "judged nothing"
