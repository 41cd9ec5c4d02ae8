"""The result of a discovery as text: its counts, the accepted, refuted and undecided laws, and its expectations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from specledger.core.diagnostics import printable
from specledger.kinds.running import Finished, footer
from specledger.report.discovery import claim_text, trials_of

MOST: Final = 40
"""Lines of a list; the report has all of them."""


def show_discoveries(runs: Sequence[Finished]) -> str:
    """The results of discoveries as text."""
    return "\n".join(_text(one) for one in runs)


def _text(finished: Finished) -> str:
    result = finished.manifest["result"]
    trials = ", ".join(f"{count} {what}" for what, count in trials_of(result).items()) or "no law"
    lines = [
        f"{printable(finished.name)}  {result['verdict']}  {result['iterations']} iterations, "
        f"{result['evaluations']} evaluations: {trials}; stopped by {result['stopped']}",
        f"  {result['rejected']} proposals rejected, {result['redundant']} redundant, "
        f"{result['failures']} answers failed{_reasons(finished.receipts)}, {result['tokens']} tokens",
    ]
    accepted, refuted, undecided = _found(finished.receipts)
    lines += _listed("accepted", accepted)
    lines += _listed("refuted, by which ring and when", refuted)
    lines += _listed("undecided, and why", undecided)
    for law, found in result["expected"].items():
        lines.append(f"  expected {printable(law)}: {'found' if found else 'NOT FOUND'}")
    return "\n".join([*lines, *footer(finished)])


def _reasons(receipts: Sequence[Mapping[str, Any]]) -> str:
    """Why answers failed and how often, in brackets; nothing if none did."""
    failures = Counter(one["answer"]["failure"] for one in receipts if one["type"] == "iteration")
    del failures[None]
    shown = ", ".join(f"{count} {reason}" for reason, count in sorted(failures.items()))
    return f" ({shown})" if shown else ""


def _found(receipts: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[str], list[str]]:
    """A line for each accepted law, for each refuted one, and for each of which nothing can be said."""
    latest: dict[str, tuple[str, str, str]] = {}
    refuted: list[str] = []
    for one in receipts:
        if one["type"] in ("law", "escalation") and one.get("late") is None and one["verdict"] is not None:
            verdict = one["verdict"]
            why = ": ".join(each for each in (verdict["reason"], verdict["detail"]) if each)
            law = f"{verdict['law']}: {claim_text(one['document'], verdict['claim'])}"
            latest[one["law"]] = verdict["status"], law, why
        elif one["type"] == "ledger":
            refuted += [f"{line['start']} at {line['t']}  {latest[line['law']][1]}" for line in one["refuted"]]
    accepted = [f"{status:6} {law}" for status, law, _ in latest.values() if status in ("PROVED", "PASS")]
    return accepted, refuted, [f"{why}  {law}" for status, law, why in latest.values() if status == "UNKNOWN"]


def _listed(title: str, rows: list[str]) -> list[str]:
    if not rows:
        return []
    more = [f"    and {len(rows) - MOST} more"] if len(rows) > MOST else []
    return [f"  {title}:", *(f"    {printable(row)}" for row in rows[:MOST]), *more]
