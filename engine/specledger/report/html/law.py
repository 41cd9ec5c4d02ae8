"""The sections of a law: its verdict with the certificate, and the space-time that is drawn of it.

Decides what is said of a verdict, and what stands in the head. Refuses to know how rings are evolved.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from specledger.compile.law import compile_law
from specledger.laws.trial import meets
from specledger.load import Bundle
from specledger.report.figures import share
from specledger.report.html.elements import Markup, block, code, count, element, quoted, words
from specledger.report.html.ring import spacetime
from specledger.report.html.rows import Receipt, Row, RowLink, Section, anchor

Body = Mapping[str, Any]

_HEADS: Final = ("law", "claim", "rests on", "about", "expected")


class LawFold:
    """Folds the receipts of a law."""

    def __init__(self) -> None:
        """Begin before the first receipt."""
        self._verdicts: list[tuple[int, Body]] = []
        self._cases: list[tuple[int, Body]] = []
        self._start: tuple[int, Body] = (0, {})

    def add(self, seq: int, type_: str, body: Body) -> None:
        """Take one receipt."""
        if type_ == "start":
            self._start = (seq, body)
        elif type_ == "cases":
            self._cases.append((seq, body))
        elif type_ == "verdict":
            self._verdicts.append((seq, body))

    def sections(self) -> Iterator[Section]:
        """The sections, in the order of the page."""
        yield Section("laws", "Laws", "", _HEADS, [law_row(seq, body) for seq, body in self._verdicts])
        seq, start = self._start
        warnings = [
            Row(f"warning {n}", "", (quoted(each),), (), (Receipt(0, seq),))
            for n, each in enumerate(start["warnings"], 1)
        ]
        yield Section("warnings", "Warnings", "", ("", "said when it was read"), warnings)
        families = [
            Row(family, "", (count(times),), (), (Receipt(0, seq),))
            for seq, body in self._cases
            for family, times in body["families"].items()
        ]
        yield Section(
            "cases", "Cases", "Initial states that the law was tried on, by family.", ("family", "cases"), families
        )

    def spacetimes(self, specs: Bundle) -> list[dict[str, Any]]:
        """What is drawn of each verdict; the specs are those of the law."""
        law = compile_law(specs).law
        verdicts = [body["verdict"] for _, body in self._verdicts]
        drawn = (spacetime(law, verdict, anchor("laws", verdict["law"])) for verdict in verdicts)
        return [each for each in drawn if each is not None]


def law_row(seq: int, body: Body) -> Row:
    """The verdict of a trial of one law.

    Args:
        seq: Of its receipt, in the first chain of the page.
        body: Of its receipt; docs/laws.md says what is in it.
    """
    verdict, expected = body["verdict"], body["expected"]
    mark = verdict["status"]
    if expected is not None and mark in ("FAIL", "UNKNOWN") and meets(verdict, expected):
        mark = f"{mark} as expected"
    cells = (*law_cells(verdict), _expected(expected))
    details = [*law_details(verdict), ("digest of the verdict", code(body["digest"]))]
    return Row(verdict["law"], mark, cells, details, (Receipt(0, seq),))


def law_cells(verdict: Body) -> tuple[Markup, ...]:
    """What a law claims, what its verdict rests on, and what it is about."""
    return code(verdict["claim"]), words(_rests(verdict)), quoted(verdict["contract"])


def law_details(verdict: Body) -> list[tuple[str, Markup]]:
    """What else a verdict says, its certificate or counterexample among it."""
    details: list[tuple[str, Markup]] = [
        ("forbidden", quoted(verdict["forbidden"])),
        ("template and universe", code(f"{verdict['template']} over {verdict['universe']}")),
    ]
    if verdict["detail"] is not None:
        details.append(("detail", quoted(verdict["detail"])))
    if verdict["proved_for"] is not None:
        details.append(("proved for", quoted(verdict["proved_for"])))
    if verdict["up_to"] is not None:
        details.append(("only up to", words(f"{verdict['up_to']} cells")))
    if verdict["violation_bound"] is not None:
        told = f"still at most {share(verdict['violation_bound'])} (95 %, 3 / hits)"
        details.append(("rate of violations", words(told)))
    parts = ("power", "content", "counterexample", "certificate")
    return details + [(key, block(verdict[key])) for key in parts if verdict[key] is not None]


def _rests(verdict: Body) -> str:
    if verdict["counterexample"] is not None:
        return f"a counterexample at step {verdict['counterexample']['t']}"
    if verdict["certificate"] is not None:
        return "a certificate"
    if verdict["reason"] is not None:
        return str(verdict["reason"])
    power = verdict["power"] or {}
    return f"{power.get('hits', 0)} steps of {power.get('usable', 0)} cases"


def _expected(expected: Body | None) -> Markup:
    return words("nothing") if expected is None else element("span", quoted(expected.get("status", expected)))


def headline(result: Body) -> Iterator[tuple[str, Markup]]:
    """What a trial amounts to."""
    yield "status", quoted(result["status"])
    if result["reason"] is not None:
        yield "reason", quoted(result["reason"])
    yield "expected", words({True: "met", False: "missed", None: "nothing was expected"}[result["met"]])
    yield "cases", count(result["cases"])


def broken(result: Body, name: str) -> Iterator[RowLink]:
    """A law whose verdict is not the expected one."""
    if result["verdict"] != "PASS":
        yield RowLink(anchor("laws", name), name)
