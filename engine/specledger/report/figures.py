"""Figures of a suite as text: millionths as decimals, with counts and intervals."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from specledger.core.statistics import LEAST_CLUSTERS
from specledger.evidence.receipts.suite import Figure, Group, Interval
from specledger.report.sections import Cell, Prose, Quoted, ReceiptLink, Row, Section, Words

FIGURE_HEADS: Final = ("figure", "what it is", "statistic", "value", "of", "95 %", "95 % over clusters")
FIGURE_INTRO: Final = (
    "Rates are over what was decided. Intervals of rates (Wilson) and of effects, differences of two rates of the same "
    "cases (Newcombe), assume independent episodes; those over layouts, "
    "seeds or runs take whole ones as independent, and are computed from at least eight that differ."
)
NOT_DECIDED: Final = "not decided"

_ONE: Final = 1_000_000
_STATISTICS: Final[Mapping[str, str]] = {
    "rate": "how often",
    "mean": "mean of",
    "sum": "sum of",
    "least": "least",
    "greatest": "greatest",
    "quantile": "quantile of",
    "slope": "slope of",
    "difference": "difference of",
    "effect": "effect on",
}
MEANS: Final = frozenset({"mean", "slope", "difference"})


def figure_rows(receipt: Figure) -> Iterator[Sequence[str]]:
    """Rows of a `figure` receipt: name, statistic, value, number of cases, interval, interval over layouts."""
    statistic = receipt["statistic"]
    if receipt["error"] is not None:
        yield receipt["figure"], statistic, "error", "", str(receipt["error"]), ""
    for group in receipt["groups"]:
        name = f"{receipt['figure']}[{group['name']}]" if group["name"] else receipt["figure"]
        yield name, statistic, *_cells(statistic, group, receipt["clusters"])


def _cells(statistic: str, group: Group, unit: str) -> Sequence[str]:
    if "value" not in group:
        return without_value(group), cases(statistic, group), "", ""
    if statistic == "rate":
        shown = between(group["wilson"], share)
        if group["count"] == 0:
            shown += f"; below {share(group['bound'])}"
        return share(group["value"]), cases(statistic, group), shown, over_clusters(group, unit, share)
    if statistic == "effect":
        shown = between(group["newcombe"], points)
        return points(group["value"]), cases(statistic, group), shown, over_clusters(group, unit, points)
    value = decimal(group["value"]) if statistic in MEANS else str(group["value"])
    return value, cases(statistic, group), "", over_clusters(group, unit, decimal)


def without_value(group: Group) -> str:
    """What stands in the place of the value of a figure that has none."""
    return NOT_DECIDED if group.get("undecided") else "none"


def cases(statistic: str, group: Group) -> str:
    """Of how many values a figure is, of a rate how many of them hold, and how many more were not decided."""
    counted = str(group["of"])
    if "value" in group and statistic in ("rate", "effect"):
        more = f"{group['count']} against {group['against']}" if statistic == "effect" else str(group["count"])
        counted = f"{more} of {counted}"
    return f"{counted}; {group['undecided']} {NOT_DECIDED}" if group.get("undecided") else counted


def over_clusters(group: Group, unit: str, show: Callable[[int], str]) -> str:
    """The interval of a figure over clusters, or why it has none; empty where there are not two clusters."""
    if group.get("clusters", 0) < 2:
        return ""
    if "cluster" in group:
        return f"over {cluster_noun(unit)} {between(group['cluster'], show)}"
    few = f"{group['clusters']} of {LEAST_CLUSTERS}" if group["clusters"] < LEAST_CLUSTERS else "they do not differ"
    return f"over {cluster_noun(unit)} not computed: {few}"


def cluster_noun(unit: str) -> str:
    """What clusters are called: what they are, or by which expression of the suite episodes are alike."""
    return CLUSTERS.get(unit) or f"`{unit}`"


CLUSTERS: Final[Mapping[str, str]] = {"scenario": "layouts", "seed": "seeds", "run": "runs"}
"""What a kind of cluster is called."""


def between(interval: Interval, show: Callable[[int], str]) -> str:
    """The ends of an interval as text, with the unit at the second one."""
    low = show(interval["low"])
    return f"{low.removesuffix(' %').removesuffix(' points')} to {show(interval['high'])}"


def figure_titles(written: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """What each figure of a suite is, by name: its `doc`, else how it is made from a measure."""
    return {name: str(figure.get("doc") or _made(figure)) for name, figure in written.items()}


def _made(figure: Mapping[str, Any]) -> str:
    statistic, measure = next(((key, figure[key]) for key in _STATISTICS if key in figure), ("", ""))
    parts = (("of", figure.get("over")), ("by", figure.get("by")))
    more = "".join(f" {word} {value if isinstance(value, str) else ', '.join(value)}" for word, value in parts if value)
    said = re.sub(r"^!(?=\w+$)", "not ", str(measure)).replace("_", " ")
    return f"{_STATISTICS.get(statistic, '')} {said}{more}".strip()


def figure_section(
    figures: Sequence[tuple[int, Figure]], titles: Mapping[str, str] | None = None, cases: str = "episodes"
) -> Section:
    """The figures of a suite, each with the number of its receipt; `titles` say what they are, `cases` of what."""
    rows = []
    for seq, figure in figures:
        for name, statistic, *rest in figure_rows(figure):
            failed = figure["error"] is not None
            cells: list[Cell] = [
                Prose((titles or {}).get(figure["figure"], "")),
                Quoted(statistic),
                *(Quoted(text) if failed else Words(text) for text in rest),
            ]
            rows.append(Row(name, "error" if failed and rest[0] == "error" else "", cells, places=(ReceiptLink(seq),)))
    intro = FIGURE_INTRO.replace("episodes", cases)
    return Section("figures", "Figures", intro, FIGURE_HEADS, rows)


def share(millionths: int) -> str:
    """A share in per cent with two decimals."""
    return f"{decimal(millionths * 100, 2)} %"


def points(millionths: int) -> str:
    """A difference of two shares in percentage points with two decimals."""
    return f"{decimal(millionths * 100, 2)} points"


def in_units(number: int, unit: int) -> str:
    """A number of which `unit` are shown as 1, with at most three decimals."""
    text = decimal(number * _ONE // unit)
    return text.rstrip("0").rstrip(".")


def decimal(millionths: int, places: int = 3) -> str:
    """A number of millionths with so many decimals, halves away from zero."""
    unit = _ONE // 10**places
    whole, rest = divmod((abs(millionths) + unit // 2) // unit, 10**places)
    sign = "-" if millionths < 0 and (whole or rest) else ""
    return f"{sign}{whole}.{rest:0{places}d}"
