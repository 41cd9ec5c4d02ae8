"""The summary of a bundle as Markdown: what was found, how sure it is, and what was checked of the evidence.

Decides what stands in a summary. Whatever evidence says stands in code spans, in which nothing is markup.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from specledger.core.canonical import canonical_bytes
from specledger.core.diagnostics import Diagnostic, Rejected, printable
from specledger.evidence.layout import SCENARIO, SUITE
from specledger.laws.trial import KIND as LAW
from specledger.report.codes import E_REPORT_RECEIPTS
from specledger.report.evidence import Evidence
from specledger.report.figures import figure_rows, share
from specledger.report.markup import shorten
from specledger.verify.checks import Status

MOST_ROWS: Final = 200
"""Rows of a table; the others are counted."""

_LONGEST: Final = 200  # characters of one text
_MARKS: Final = {Status.PASSED: "passed", Status.FAILED: "failed", Status.NOT_MADE: "not made"}
_MUTANTS: Final = {"PASS": "caught", "FAIL": "**survived**", "ERROR": "error"}

_NOUNS: Final = (
    *("iterations", "evaluations", "runs", "trials", "episodes", "successes"),
    *("steps", "drifts", "proposals", "checks", "cases", "errors"),
)
"""What is counted of any kind, where there is such a figure."""

Body = Mapping[str, Any]
Table = tuple[str, Sequence[str], Iterable[Sequence[str]]]


def summarise(evidence: Evidence) -> str:
    """The summary of a bundle, which ends with a newline.

    Args:
        evidence: Of which no check failed.

    Raises:
        Rejected: E_REPORT_RECEIPTS.
    """
    tables = {SCENARIO: _run_tables, SUITE: _suite_tables, LAW: _law_tables}[evidence.kind]
    return write_summary(evidence, tables)


def write_summary(
    evidence: Evidence, tables: Callable[[Evidence], Iterator[Table]], remarks: Sequence[str] = ()
) -> str:
    """The summary of a bundle from the tables of its kind.

    Args:
        evidence: Of which no check failed.
        tables: Makes them.
        remarks: Lines of Markdown that stand at the end.

    Raises:
        Rejected: E_REPORT_RECEIPTS.
    """
    try:
        lines = [*_head(evidence)]
        for title, heads, rows in (*tables(evidence), _checks_made(evidence)):
            lines += table(title, heads, list(rows))
    except (KeyError, TypeError, IndexError, AttributeError, ValueError) as error:
        raise Rejected([Diagnostic(E_REPORT_RECEIPTS, f"they cannot be summed up: {error!r}")]) from None
    return "\n".join([*lines, *remarks, "", "Not replayed; who made it was not checked.", ""])


def quote(value: Any) -> str:
    """A value of the evidence as a code span on one line, of a bounded length, fit for a table's cell."""
    text = shorten(printable(value if isinstance(value, str) else canonical_bytes(value).decode()), _LONGEST)
    ticks = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    padding = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{padding}{text}{padding}{ticks}".replace("|", "\\|") if text.strip() else ""


def _head(evidence: Evidence) -> Iterator[str]:
    manifest, main = evidence.manifest, evidence.specs.main
    result = manifest["result"]
    yield f"# {quote(main.name)}: {result['verdict']}"
    doc = main.model.doc
    if doc is not None:
        yield from ("", quote(doc))
    counts = [f"{result[noun]} {noun}" for noun in _NOUNS if type(result.get(noun)) is int]
    yield from ("", f"A {evidence.kind}: {', '.join(counts)}.")
    receipts = manifest["receipts"]
    yield from ("", f"Specs `{manifest['specs']}`, {receipts['count']} receipts, Merkle root `{receipts['root']}`.")


def table(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a section with a table of at most `MOST_ROWS`; without rows there is none.

    Args:
        title: As Markdown.
        heads: Likewise.
        rows: Cells as Markdown; what evidence supplies was quoted.
    """
    if not rows:
        return []
    lines = ["", f"## {title}", "", _row(heads), _row(["---"] * len(heads)), *map(_row, rows[:MOST_ROWS])]
    return lines if len(rows) <= MOST_ROWS else [*lines, "", f"And {len(rows) - MOST_ROWS} more."]


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _checks_made(evidence: Evidence) -> Table:
    rows = [
        (str(check.number), check.name, _MARKS[check.status], "" if check.message is None else quote(check.message))
        for check in evidence.verification.checks
    ]
    return "Evidence", ("", "check", "", "found"), rows


def _gates(rejections: Mapping[str, int], proposals: int) -> Table:
    busiest = sorted(rejections.items(), key=lambda item: (-item[1], item[0]))
    rows = [(quote(gate), str(count), share(count * 1_000_000 // max(proposals, 1))) for gate, count in busiest]
    return "Gates", ("gate", "rejected", f"of {proposals} proposals"), rows


# A run


def _run_tables(evidence: Evidence) -> Iterator[Table]:
    result = evidence.manifest["result"]
    run = _Run()
    for type_, body in evidence.told():
        run.add(type_, body)
    yield "Episodes", ("episode", "steps", "ended", "goal first reached in step", "violations"), run.episodes
    yield _gates(result["rejections"], result["proposals"])
    broken = {**result["violations"], **result["warnings"]}
    invariants = [(quote(name), quote(scope), str(broken.pop(name, 0))) for name, scope in run.invariants]
    invariants += [(quote(name), "", str(count)) for name, count in sorted(broken.items())]
    yield "Invariants", ("invariant", "scope", "broken"), invariants
    yield (
        "Probes",
        ("probe", "verdict", "times"),
        [
            (quote(name), quote(verdict), str(count))
            for name, counts in sorted(result.get("probes", {}).items())
            for verdict, count in sorted(counts.items())
        ],
    )
    items = sorted(run.price.items(), key=lambda item: (-item[1], item[0]))
    yield "Budget", ("item of the price", "sum, as the receipts count it"), [(quote(k), str(v)) for k, v in items]


class _Run:
    """What a summary takes from the receipts of a run."""

    def __init__(self) -> None:
        self.episodes: list[Sequence[str]] = []
        self.invariants: list[tuple[str, str]] = []
        self.price: Counter[str] = Counter()
        self._broken = 0

    def add(self, type_: str, body: Body) -> None:
        self._broken += len(body.get("violations", ()))
        if type_ == "start":
            self.invariants = [(each["name"], each["scope"]) for each in body["invariants"]]
        elif type_ == "step" and body["cost"] is not None:
            for item, price in body["cost"].items():
                self.price[item] += _int(price)
        elif type_ == "episode_end":
            first = "never" if body["first_success"] is None else str(_int(body["first_success"]))
            counts = (str(_int(body["episode"])), str(_int(body["steps"])))
            self.episodes.append((*counts, quote(body["ended"]), first, str(self._broken)))
            self._broken = 0


# A suite


def _suite_tables(evidence: Evidence) -> Iterator[Table]:
    told: dict[str, list[Body]] = {type_: [] for type_ in ("start", "run", "figure", "check", "mutant")}
    for type_, body in evidence.told():
        told.setdefault(type_, []).append(body)
    own = told["run"][: told["start"][0]["runs"]]
    yield "Checks", ("", "check", "could have failed", "witness"), [*map(_check, told["check"])]
    heads = ("figure", "statistic", "value", "of", "95 %", "95 % over layouts")
    yield "Figures", heads, [row for each in told["figure"] for row in figure_rows(each, quote)]
    yield "Mutants", ("mutant", "", "caught by", "in suite"), [*map(_mutant, told["mutant"])]
    rejections: Counter[str] = Counter()
    for run in own:
        rejections.update({gate: _int(count) for gate, count in run["result"]["rejections"].items()})
    yield _gates(rejections, sum(_int(run["result"]["proposals"]) for run in own))
    nouns = ("episodes", "successes", "steps", "drifts", "errors")
    rows = [(run["run"], run["result"]) for run in own]
    runs = [(quote(name), result["verdict"], *(str(_int(result[noun])) for noun in nouns)) for name, result in rows]
    yield "Runs", ("run", "verdict", *nouns), runs


def _check(body: Body) -> Sequence[str]:
    shown = body["witness"] if body["error"] is None else body["error"]
    return f"**{body['verdict']}**", quote(body["check"]), str(_int(body["opportunities"])), quote(shown)


def _mutant(body: Body) -> Sequence[str]:
    caught = ", ".join(map(quote, body["caught"])) or "nothing"
    return quote(body["mutant"]), _MUTANTS[body["verdict"]], caught, quote(body["suite"])


# A law


def _law_tables(evidence: Evidence) -> Iterator[Table]:
    verdicts = [body for type_, body in evidence.told() if type_ == "verdict"]
    nouns = ("status", "reason", "claim", "forbidden", "contract", "proved_for", "method", "detail", "counterexample")
    for body in verdicts:
        verdict = body["verdict"]
        rows = [(noun.replace("_", " "), quote(verdict[noun])) for noun in nouns if verdict[noun] is not None]
        expected = [] if body["expected"] is None else [("expected", quote(body["expected"]))]
        yield "Law", ("", "is"), [*rows[:1], *expected, *rows[1:]]
        power = verdict["power"] or {}
        yield "Power", ("of the cases", ""), [(quote(name), str(_int(count))) for name, count in sorted(power.items())]


def _int(value: Any) -> int:
    if type(value) is not int:
        raise TypeError(f"{type(value).__name__} stands where an int should")
    return value
