"""The runs, figures, checks and mutants of a finished suite, as text for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

from specledger.core.diagnostics import counted, printable
from specledger.core.verdict import Verdict
from specledger.evidence.decided import challenges_of, decided_words
from specledger.evidence.receipts import suite, typed
from specledger.evidence.suite_result import beyond_allowed
from specledger.kinds.probe_remarks import remarks_of
from specledger.kinds.running import (
    Finished,
    claims_table,
    failed_calls,
    footer,
    text_table,
)
from specledger.report.figures import figure_rows
from specledger.report.mutant_doubts import doubts

_MOST_NAMES: Final = 3
"""Runs that a row names; the receipts hold all of them."""

Receipt = Mapping[str, Any]


def suite_text(finished: Finished) -> str:
    """The result of a suite with its tables, for people."""
    result = finished.manifest["result"]
    trials = f", {counted(result['trials'], 'run')} of mutants and their controls" if result["trials"] else ""
    verdict = f"{result['verdict']}{printable(decided_words(challenges_of(own_results(finished.receipts))))}"
    head = f"{printable(finished.name)}  {verdict}  {counted(result['runs'], 'run')}, "
    episode, step = ("trajectory", "call") if finished.recorded else ("episode", "step")
    head += f"{counted(result['episodes'], episode)}, {counted(result['steps'], step)}{trials}"
    said = [f"  {printable(line)}" for line in _finding(finished)]
    tables = suite_tables(finished.receipts, finished.spec, episode)
    return "\n".join([head, *said, *tables, *_left_to_do(finished), *footer(finished)])


def _finding(finished: Finished) -> list[str]:
    """Of a suite that does not pass, in words what does not hold, what is not decided, and what holds."""
    from specledger.report.suite_finding import checked_words, figures_read_by

    if finished.manifest["result"]["verdict"] == Verdict.PASS:
        return []
    figures = _of(finished.receipts, "figure", suite.Figure)
    written = {check["id"]: check for check in finished.spec.get("checks", ())}
    checks = _of(finished.receipts, "check", suite.Check)
    read = [(check, figures_read_by(written.get(check["check"], {}), figures)) for check in checks]
    return list(checked_words(read))


def _left_to_do(finished: Finished) -> list[str]:
    """By arm, how many calls of its model failed, and why; then what its probes leave to do."""
    by_arm: dict[str, list[str]] = {}
    for run in _own(finished.receipts):
        if run["result"].get("faults"):
            by_arm.setdefault(run["arm"], []).append(run["place"])
    said = ((arm, failed_calls(finished, runs)) for arm, runs in by_arm.items())
    lines = [f"{arm}: {words}" for arm, words in said if words]
    return [f"  {printable(line)}" for line in (*lines, *suite_remarks(finished))]


def suite_remarks(finished: Finished) -> list[str]:
    """By arm, what the probes of its runs leave to do."""
    by_arm: dict[str, list[suite.Run]] = {}
    for run in _own(finished.receipts):
        by_arm.setdefault(run["arm"], []).append(run)
    return [
        f"{arm}: {line}" if arm else line
        for arm, runs in by_arm.items()
        for line in remarks_of((Path(finished.place, *run["place"].split("/")), run["result"]) for run in runs)
    ]


def _own(receipts: Sequence[Receipt]) -> Sequence[suite.Run]:
    """The suite's own runs, which come before those of its mutants."""
    starts = _of(receipts, "start", suite.Start)
    return _of(receipts, "run", suite.Run)[: starts[0]["runs"] if starts else 0]


def own_results(receipts: Sequence[Receipt]) -> list[Mapping[str, Any]]:
    """The results of the suite's own runs."""
    return [run["result"] for run in _own(receipts)]


def suite_tables(receipts: Sequence[Receipt], spec: Mapping[str, Any], episode: str = "episode") -> list[str]:
    """The lines of the tables about the receipts of a suite; a table without rows is left out.

    An `episode` is a trajectory where all runs are recordings.
    """
    written = {check["id"]: check.get("witness", {}) for check in spec.get("checks", ())}
    figures = _of(receipts, "figure", suite.Figure)
    return [
        *text_table("runs", _runs(receipts)),
        *_beyond(receipts),
        *claims_table(suite_claims(receipts)),
        *text_table("figures", _figures(figures, episode)),
        *text_table("checks", _checks(_of(receipts, "check", suite.Check), written, figures, episode)),
        *text_table("mutants", _mutants(receipts, spec)),
        *_untried(receipts),
        *_unlabelled(receipts),
    ]


def suite_claims(receipts: Sequence[Receipt]) -> dict[str, Counter[str]]:
    """By arm and challenge, how many of the claims that the suite's own runs tested held."""
    counters: dict[str, Counter[str]] = {}
    for run in _own(receipts):
        for name, counts in run["result"].get("claims", {}).items():
            counters.setdefault(f"{run['arm']} {name}", Counter()).update(counts)
    return counters


def _untried(receipts: Sequence[Receipt]) -> list[str]:
    """The checks that no mutant makes fail: nothing here shows that they can fail at all."""
    mutants = _of(receipts, "mutant", suite.Mutant)
    caught = {check for mutant in mutants for check in mutant["caught"]}
    names = [receipt["check"] for receipt in _of(receipts, "check", suite.Check)]
    left = [printable(name) for name in names if name not in caught]
    return [f"  checks that no mutant makes fail: {', '.join(left)}"] if mutants and left else []


def _unlabelled(receipts: Sequence[Receipt]) -> list[str]:
    """The ids of `truth` that no log has, by label: they are in no figure."""
    absent = [end.get("absent", {}) for end in _of(receipts, "end", suite.End)]
    return [f"  {printable(label)}: no log has {_shortened(ids)}" for labels in absent for label, ids in labels.items()]


def _shortened(names: Sequence[str]) -> str:
    left = len(names) - _MOST_NAMES
    return ", ".join(map(printable, names[:_MOST_NAMES])) + (f", and {left} more" if left > 0 else "")


def _runs(receipts: Sequence[Receipt]) -> list[list[str]]:
    """The verdicts of the suite's own runs, by arm, and how runs with an expectation ended."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for run in _own(receipts):
        result = run["result"]
        wanted = "" if "met" not in result else "as expected" if result["met"] else "NOT as expected"
        shown = f"{result['status']} {wanted}" if wanted else ""
        groups.setdefault((result["verdict"], run["arm"], shown), []).append(run["run"])
    rows = []
    for (verdict, arm, shown), names in groups.items():
        listed = names if verdict != Verdict.PASS else []
        more = f", and {len(listed) - _MOST_NAMES} more" if len(listed) > _MOST_NAMES else ""
        failed = f"{', '.join(listed[:_MOST_NAMES])}{more}"
        reason = ": ".join(part for part in (shown, failed) if part)
        rows.append([verdict, printable(arm), counted(len(names), "run"), printable(reason)])
    return rows


def _beyond(receipts: Sequence[Receipt]) -> list[str]:
    """Where more of the suite's own runs fail or are inconclusive than it allows, how many of how many allowed."""
    starts = _of(receipts, "start", suite.Start)
    own, allowed = (_of(receipts, "run", suite.Run)[: starts[0]["runs"]], starts[0]["allowed"]) if starts else ([], {})
    ended = Counter((run["result"]["verdict"], run["arm"]) for run in own)
    lines = [
        f"  {_ENDED[verdict]} runs{f' of {printable(arm)}' if arm else ''}: {count}, and the suite allows {most}"
        for verdict, arm, count, most in beyond_allowed(ended, allowed)
    ]
    unclear = sum(run["result"]["verdict"] == Verdict.INCONCLUSIVE for run in own)
    return lines or (["  every run is inconclusive"] if 0 < unclear == len(own) else [])


_ENDED: Final = {"FAIL": "failing", "INCONCLUSIVE": "inconclusive"}


Body = TypeVar("Body", bound=Mapping[str, Any])


def _of(receipts: Iterable[Receipt], type_: str, class_: type[Body]) -> list[Body]:
    """The receipts of a type."""
    return [typed(class_, receipt) for receipt in receipts if receipt["type"] == type_]


def _figures(receipts: Sequence[suite.Figure], episode: str) -> list[list[str]]:
    rows = []
    for receipt in receipts:
        if receipt["error"] is not None:
            cause = printable(_cause(receipt["error"], episode))
            rows.append([printable(receipt["figure"]), receipt["statistic"], "ERROR", cause])
            continue
        for name, statistic, value, cases, *intervals in figure_rows(receipt):
            of = cases if " of " in cases else f"of {cases}"
            shown = ", ".join(part for part in (of, *intervals) if part)
            rows.append([printable(name), statistic, value, printable(shown)])
    return rows


def _checks(
    receipts: Sequence[suite.Check],
    written: Mapping[str, Mapping[str, Any]],
    figures: Sequence[suite.Figure],
    episode: str,
) -> list[list[str]]:
    from specledger.report.witness_words import witness_words

    rows = []
    for receipt in receipts:
        words = witness_words(receipt["witness"], written.get(receipt["check"], {}), figures)
        witness = ", ".join(f"{name} {value}" for name, value in words.items())
        shown = _cause(receipt["error"], episode) if receipt["error"] is not None else witness
        opportunities = (
            f"{receipt['opportunities']} {'opportunity' if receipt['opportunities'] == 1 else 'opportunities'}"
        )
        opportunities += f", at least {receipt['least']}" if receipt["least"] > 1 else ""
        rows.append([receipt["verdict"], printable(receipt["check"]), opportunities, printable(shown)])
    return rows


def _mutants(receipts: Sequence[Receipt], spec: Mapping[str, Any]) -> list[list[str]]:
    words = {Verdict.PASS: "caught", Verdict.FAIL: "SURVIVED", Verdict.ERROR: "ERROR"}
    rows, runs = [], _of(receipts, "run", suite.Run)
    for receipt in _of(receipts, "mutant", suite.Mutant):
        noticed = f" by {', '.join(receipt['caught'])}" if receipt["caught"] else ": no check noticed it"
        said = "; ".join([f"in {receipt['suite']}{noticed}", *doubts(receipt, spec, runs)])
        rows.append([words[Verdict(receipt["verdict"])], *map(printable, (receipt["mutant"], said))])
    return rows


def _cause(error: suite.FigureFailure, episode: str) -> str:
    where = f" in {error['run']}, {episode} {error['episode']}" if error.get("run") else ""
    return f"{error['code']}: {error['expression']}{where}"
