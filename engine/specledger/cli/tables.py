"""The tables of a suite, for people: figures with their intervals, checks with their opportunities, mutants."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from specledger.core.canonical import canonical_bytes
from specledger.core.diagnostics import printable
from specledger.core.verdict import Verdict
from specledger.report.figures import decimal, share

_MEANS: Final = ("mean", "slope", "difference")

Receipt = Mapping[str, Any]


def suite_tables(receipts: Sequence[Receipt]) -> list[str]:
    """The lines of all tables; one without rows is left out."""
    return [
        *_table("figures", _figures(_of(receipts, "figure"))),
        *_table("checks", _checks(_of(receipts, "check"))),
        *_table("mutants", _mutants(_of(receipts, "mutant"))),
        *_untried(receipts),
    ]


def _untried(receipts: Sequence[Receipt]) -> list[str]:
    """The checks that no mutant makes fail: nothing here shows that they can fail at all."""
    mutants = _of(receipts, "mutant")
    caught = {check for mutant in mutants for check in mutant["caught"]}
    left = [printable(one["check"]) for one in _of(receipts, "check") if one["check"] not in caught]
    return [f"  checks that no mutant makes fail: {', '.join(left)}"] if mutants and left else []


def law_table(laws: Sequence[Receipt]) -> list[str]:
    """The lines of one table with all laws that were tried.

    Args:
        laws: The receipts of each that hold its verdict.
    """
    rows = [["law", "status", "expected", "rests on", "claim"]]
    for law in laws:
        verdict, expected = law["verdict"], law["expected"]
        status = _status(verdict)
        wanted = "" if expected is None else "met" if _meets(verdict, expected) else f"MISSED: {_status(expected)}"
        rows.append(
            [printable(verdict["law"]), status, wanted, printable(_ground(verdict)), printable(verdict["claim"])]
        )
    return _table("laws", rows)


def _status(verdict: Mapping[str, Any]) -> str:
    reason = verdict.get("reason")
    return str(verdict["status"]) if reason is None else f"{verdict['status']} ({reason})"


def _meets(verdict: Mapping[str, Any], expected: Mapping[str, Any]) -> bool:
    return all(verdict[key] == value for key, value in expected.items())


def _ground(verdict: Mapping[str, Any]) -> str:
    """What a verdict rests on, in a few words."""
    found = verdict["counterexample"]
    if found is not None:
        return f"{found['start']} at {found['t']}"
    if verdict["method"] == "proof":
        return "a certificate"
    return f"{verdict['power']['hits']} hits" if verdict["power"] is not None else str(verdict["detail"] or "nothing")


def _of(receipts: Iterable[Receipt], type_: str) -> list[Receipt]:
    return [receipt for receipt in receipts if receipt["type"] == type_]


def _table(title: str, rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows with aligned columns under a title; the last column is as long as it is."""
    if not rows:
        return []
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)]
    lines = [
        "  ".join([cell.ljust(width) for cell, width in zip(row, widths, strict=False)] + [row[-1]]) for row in rows
    ]
    return [f"  {title}", *(f"    {line}".rstrip() for line in lines)]


def _figures(receipts: Sequence[Receipt]) -> list[list[str]]:
    rows = []
    for receipt in receipts:
        if receipt["error"] is not None:
            rows.append(
                [printable(receipt["figure"]), receipt["statistic"], "ERROR", printable(_cause(receipt["error"]))]
            )
        for group in receipt["groups"]:
            name = receipt["figure"] + (f"[{group['name']}]" if group["name"] else "")
            rows.append([printable(name), receipt["statistic"], *_value(receipt["statistic"], group)])
    return rows


def _value(statistic: str, group: Mapping[str, Any]) -> tuple[str, str]:
    """A figure's value, and what makes it sure or unsure."""
    if "value" not in group:
        return "none", f"of {group['of']}"
    if statistic == "rate":
        shown = f"{group['count']} of {group['of']}, {_percent(group['wilson'])}"
        if group["count"] == 0:
            shown += f", below {share(group['bound'])} at 95 %"
        return share(group["value"]), shown + _clustered(group, _percent)
    if statistic in _MEANS:
        return decimal(group["value"]), f"of {group['of']}{_clustered(group, _range)}"
    return str(group["value"]), f"of {group['of']}"


def _clustered(group: Mapping[str, Any], show: Any) -> str:
    return f", over layouts {show(group['cluster'])}" if "cluster" in group else ""


def _percent(interval: Mapping[str, int]) -> str:
    return f"{decimal(interval['low'] * 100, 2)} to {share(interval['high'])}"


def _range(interval: Mapping[str, int]) -> str:
    return f"{decimal(interval['low'])} to {decimal(interval['high'])}"


def _checks(receipts: Sequence[Receipt]) -> list[list[str]]:
    rows = []
    for receipt in receipts:
        witness = canonical_bytes(receipt["witness"]).decode() if receipt["witness"] else ""
        shown = _cause(receipt["error"]) if receipt["error"] is not None else witness
        opportunities = f"{receipt['opportunities']} opportunities"
        rows.append([receipt["verdict"], printable(receipt["check"]), opportunities, printable(shown)])
    return rows


def _mutants(receipts: Sequence[Receipt]) -> list[list[str]]:
    words = {Verdict.PASS: "caught", Verdict.FAIL: "SURVIVED", Verdict.ERROR: "ERROR"}
    return [
        [
            words[Verdict(receipt["verdict"])],
            printable(receipt["mutant"]),
            printable(f"in {receipt['suite']} by {', '.join(receipt['caught']) or 'nothing'}"),
        ]
        for receipt in receipts
    ]


def _cause(error: Mapping[str, Any]) -> str:
    where = f" in {error['run']}, episode {error['episode']}" if error.get("run") else ""
    return f"{error['code']}: {error['expression']}{where}"
