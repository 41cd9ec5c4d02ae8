"""The figures of a suite for people: millionths as decimals, and what makes each sure or unsure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

_ONE: Final = 1_000_000
_MEANS: Final = frozenset({"mean", "slope", "difference"})

Quote = Callable[[Any], str]


def figure_rows(receipt: Mapping[str, Any], quote: Quote) -> Iterator[Sequence[str]]:
    """Rows of one figure: its name, statistic, value, number of cases, interval, and interval over layouts.

    Args:
        receipt: The body of a `figure` receipt; see docs/suites.md.
        quote: Makes a value of the evidence safe to show.
    """
    statistic = receipt["statistic"]
    if receipt["error"] is not None:
        yield quote(receipt["figure"]), quote(statistic), "error", "", quote(receipt["error"]), ""
    for group in receipt["groups"]:
        name = f"{receipt['figure']}[{group['name']}]" if group["name"] else receipt["figure"]
        yield quote(name), quote(statistic), *_cells(statistic, group)


def _cells(statistic: str, group: Mapping[str, Any]) -> Sequence[str]:
    if "value" not in group:
        return "none", str(group["of"]), "", ""
    if statistic == "rate":
        shown = _between(group["wilson"], share)
        if group["count"] == 0:
            shown += f"; below {share(group['bound'])}"
        return share(group["value"]), f"{group['count']} of {group['of']}", shown, _clustered(group, share)
    value = decimal(group["value"]) if statistic in _MEANS else str(group["value"])
    return value, str(group["of"]), "", _clustered(group, decimal)


def _clustered(group: Mapping[str, Any], show: Callable[[int], str]) -> str:
    return _between(group["cluster"], show) if "cluster" in group else ""


def _between(interval: Mapping[str, int], show: Callable[[int], str]) -> str:
    return f"{show(interval['low'])} to {show(interval['high'])}"


def share(millionths: int) -> str:
    """A share in per cent with two decimals."""
    return f"{decimal(millionths * 100, 2)} %"


def decimal(millionths: int, places: int = 3) -> str:
    """A number of millionths with so many decimals, halves away from zero."""
    unit = _ONE // 10**places
    whole, rest = divmod((abs(millionths) + unit // 2) // unit, 10**places)
    sign = "-" if millionths < 0 and (whole or rest) else ""
    return f"{sign}{whole}.{rest:0{places}d}"
