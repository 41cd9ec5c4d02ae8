"""The result of a suite as text: figures with their intervals, checks with their opportunities, and mutants."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from specledger.core.canonical import canonical_bytes
from specledger.core.diagnostics import counted, printable
from specledger.core.verdict import Verdict
from specledger.kinds.running import Finished, footer, text_table
from specledger.report.figures import between, decimal, share

_MEANS: Final = ("mean", "slope", "difference")

_MOST_NAMES: Final = 3
"""Runs that a row names; the receipts hold all of them."""

Receipt = Mapping[str, Any]


def show_suites(runs: Sequence[Finished]) -> str:
    """The results of suites as text."""
    return "\n".join(_text(one) for one in runs)


def _text(finished: Finished) -> str:
    result = finished.manifest["result"]
    trials = f", {counted(result['trials'], 'run')} of mutants and their controls" if result["trials"] else ""
    head = f"{printable(finished.name)}  {result['verdict']}  {counted(result['runs'], 'run')}, "
    head += f"{counted(result['episodes'], 'episode')}, {counted(result['steps'], 'step')}{trials}"
    return "\n".join([head, *suite_tables(finished.receipts), *footer(finished)])


def suite_tables(receipts: Sequence[Receipt]) -> list[str]:
    """The lines of the tables about the receipts of a suite; a table without rows is left out."""
    return [
        *text_table("runs", _runs(receipts)),
        *text_table("figures", _figures(_of(receipts, "figure"))),
        *text_table("checks", _checks(_of(receipts, "check"))),
        *text_table("mutants", _mutants(_of(receipts, "mutant"))),
        *_untried(receipts),
    ]


def _untried(receipts: Sequence[Receipt]) -> list[str]:
    """The checks that no mutant makes fail: nothing here shows that they can fail at all."""
    mutants = _of(receipts, "mutant")
    caught = {check for mutant in mutants for check in mutant["caught"]}
    left = [printable(one["check"]) for one in _of(receipts, "check") if one["check"] not in caught]
    return [f"  checks that no mutant makes fail: {', '.join(left)}"] if mutants and left else []


def _runs(receipts: Sequence[Receipt]) -> list[list[str]]:
    """The verdicts of the suite's own runs, by arm, and how runs with an expectation ended."""
    starts = _of(receipts, "start")
    found: dict[tuple[str, str, str], list[str]] = {}
    for one in _of(receipts, "run")[: starts[0]["runs"] if starts else 0]:
        result = one["result"]
        wanted = "" if "met" not in result else "as expected" if result["met"] else "NOT as expected"
        shown = f"{result['status']} {wanted}" if wanted else ""
        found.setdefault((result["verdict"], one["arm"], shown), []).append(one["run"])
    rows = []
    for (verdict, arm, shown), names in found.items():
        listed = names if verdict != Verdict.PASS else []
        more = f", and {len(listed) - _MOST_NAMES} more" if len(listed) > _MOST_NAMES else ""
        failed = f"{', '.join(listed[:_MOST_NAMES])}{more}"
        told = ": ".join(part for part in (shown, failed) if part)
        rows.append([verdict, printable(arm), counted(len(names), "run"), printable(told)])
    return rows


def _of(receipts: Iterable[Receipt], type_: str) -> list[Receipt]:
    return [receipt for receipt in receipts if receipt["type"] == type_]


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
        return decimal(group["value"]), f"of {group['of']}{_clustered(group, partial(between, show=decimal))}"
    return str(group["value"]), f"of {group['of']}"


def _clustered(group: Mapping[str, Any], show: Any) -> str:
    return f", over layouts {show(group['cluster'])}" if "cluster" in group else ""


def _percent(interval: Mapping[str, int]) -> str:
    return f"{decimal(interval['low'] * 100, 2)} to {share(interval['high'])}"


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
            printable(f"in {receipt['suite']}{_noticed(receipt['caught'])}"),
        ]
        for receipt in receipts
    ]


def _noticed(checks: Sequence[str]) -> str:
    """Which checks noticed a mutant."""
    return f" by {', '.join(checks)}" if checks else ": no check noticed it"


def _cause(error: Mapping[str, Any]) -> str:
    where = f" in {error['run']}, episode {error['episode']}" if error.get("run") else ""
    return f"{error['code']}: {error['expression']}{where}"
