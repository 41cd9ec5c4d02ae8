"""Figures of a suite as text: millionths as decimals, with counts and intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from specledger.report.sections import Quoted, ReceiptLink, Row, Section, Words

FIGURE_HEADS: Final = ("figure", "statistic", "value", "of", "95 %", "95 % over layouts")
FIGURE_INTRO: Final = "Intervals of rates (Wilson) assume independent episodes; those over layouts do not."

_ONE: Final = 1_000_000
_MEANS: Final = frozenset({"mean", "slope", "difference"})


def figure_rows(receipt: Mapping[str, Any]) -> Iterator[Sequence[str]]:
    """Rows of a `figure` receipt: name, statistic, value, number of cases, interval, interval over layouts."""
    statistic = receipt["statistic"]
    if receipt["error"] is not None:
        yield receipt["figure"], statistic, "error", "", str(receipt["error"]), ""
    for group in receipt["groups"]:
        name = f"{receipt['figure']}[{group['name']}]" if group["name"] else receipt["figure"]
        yield name, statistic, *_cells(statistic, group)


def _cells(statistic: str, group: Mapping[str, Any]) -> Sequence[str]:
    if "value" not in group:
        return "none", str(group["of"]), "", ""
    if statistic == "rate":
        shown = between(group["wilson"], share)
        if group["count"] == 0:
            shown += f"; below {share(group['bound'])}"
        return share(group["value"]), f"{group['count']} of {group['of']}", shown, _clustered(group, share)
    value = decimal(group["value"]) if statistic in _MEANS else str(group["value"])
    return value, str(group["of"]), "", _clustered(group, decimal)


def _clustered(group: Mapping[str, Any], show: Callable[[int], str]) -> str:
    return between(group["cluster"], show) if "cluster" in group else ""


def between(interval: Mapping[str, int], show: Callable[[int], str]) -> str:
    """The ends of an interval as text."""
    return f"{show(interval['low'])} to {show(interval['high'])}"


def figure_section(figures: Sequence[tuple[int, Mapping[str, Any]]]) -> Section:
    """The figures of a suite, each with the number of its receipt."""
    rows = []
    for seq, body in figures:
        for name, statistic, *rest in figure_rows(body):
            failed = body["error"] is not None
            cells = [Quoted(statistic), *(Quoted(each) if failed else Words(each) for each in rest)]
            rows.append(Row(name, "error" if failed and rest[0] == "error" else "", cells, places=(ReceiptLink(seq),)))
    return Section("figures", "Figures", FIGURE_INTRO, FIGURE_HEADS, rows)


def share(millionths: int) -> str:
    """A share in per cent with two decimals."""
    return f"{decimal(millionths * 100, 2)} %"


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
