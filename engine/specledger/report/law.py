"""Reports on the trial of a law: one check, the verdict with its certificate or counterexample, and the cases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from specledger.compile.law import compile_law
from specledger.core.verdict import Verdict
from specledger.evidence.result import OUTCOMES
from specledger.laws.trial import meets
from specledger.report.evidence import Evidence
from specledger.report.figures import share
from specledger.report.markup import shorten
from specledger.report.model import LONGEST, OF_VERDICT, Body, Check, Reading, Receipt, ReportKind
from specledger.report.observations import Observations, as_int
from specledger.report.receipt_types import law_types
from specledger.report.ring import spacetime
from specledger.report.sections import Block, Cell, Code, Count, Quoted, ReceiptLink, Row, Section, Words, anchor

_HEADS: Final = ("law", "claim", "rests on", "about", "expected")


class LawReading(Reading):
    """Folds the receipts of a law's trial."""

    def __init__(self, evidence: Evidence) -> None:
        """Begin before the first receipt."""
        self._specs, self._result = evidence.specs, evidence.manifest["result"]
        self._observations = Observations()
        self._start: Body = {}
        self._cases: Body = {"count": 0, "families": {}}
        self._at: dict[str, int] = {}
        self._body: Body = {}
        self._met: bool | None = None

    def add(self, receipt: Receipt) -> None:
        """Take the next receipt."""
        type_, body = receipt.type, receipt.body
        self._at[type_] = receipt.seq
        if type_ == "start":
            self._start = body
        elif type_ == "cases":
            self._cases = body
        elif type_ == "verdict":
            self._body, verdict = body, body["verdict"]
            found, id_ = verdict["counterexample"], f"law/{self._specs.main.name}"
            detail = (
                (verdict["power"] or verdict["detail"])
                if found is None
                else {key: found[key] for key in ("start", "t")}
            )
            place = {} if found is None else {"t": found["t"]}
            self._observations.note(id_, receipt, _status(verdict), detail, place)
        elif type_ == "end":
            self._met = body["met"]

    def checks(self) -> Iterator[Check]:
        """The law: whether its verdict is the expected one, or PASS if nothing is expected."""
        main, verdict, expected = self._specs.main, self._body["verdict"], self._body["expected"]
        judged = OUTCOMES[verdict["status"]]
        if self._met is not None:
            judged = Verdict.PASS if self._met is True else Verdict.FAIL
        detail = verdict["detail"] if verdict["status"] in ("UNKNOWN", "ERROR") else None
        why = _status(verdict) + ("" if expected is None else f", expected was {_status(expected)}")
        why = shorten(why if detail is None else f"{why}: {detail}", LONGEST)
        says = shorten(f"{main.model.doc or main.name}: {verdict['claim']}", LONGEST)
        could = as_int(self._cases["count"]) or int(verdict["status"] == "PROVED")
        outcome, failed = OF_VERDICT[judged], int(judged is Verdict.FAIL)
        yield self._observations.of(Check(f"law/{main.name}", says, main.key, outcome, could, failed, why, once=True))

    def facts(self) -> Iterator[tuple[str, Cell]]:
        """Status, reason, whether the expectation was met, and the number of cases."""
        result = self._result
        yield "status", Quoted(result["status"])
        if result["reason"] is not None:
            yield "reason", Quoted(result["reason"])
        yield "expected", Words({True: "met", False: "missed", None: "nothing was expected"}[result["met"]])
        yield "cases", Count(result["cases"])

    def sections(self) -> Iterator[Section]:
        """The law, warnings and cases."""
        yield Section("laws", "Laws", "", _HEADS, [self._row()], compared=True, detailed=True)
        warnings = [
            Row(f"warning {n}", "", (Quoted(each),), (), (ReceiptLink(self._at["start"]),))
            for n, each in enumerate(self._start["warnings"], 1)
        ]
        yield Section("warnings", "Warnings", "", ("", "found when the law was read"), warnings)
        families = [
            Row(family, "", (Count(times),), (), (ReceiptLink(self._at["cases"]),))
            for family, times in self._cases["families"].items()
        ]
        intro = "Initial states that the law was tried on, by family."
        yield Section("cases", "Cases", intro, ("family", "cases"), families)

    def _row(self) -> Row:
        verdict, expected = self._body["verdict"], self._body["expected"]
        mark = verdict["status"]
        if expected is not None and mark in ("FAIL", "UNKNOWN") and meets(verdict, expected):
            mark = f"{mark} as expected"
        wanted = Words("nothing") if expected is None else Quoted(expected.get("status", expected))
        details = [*law_details(verdict), ("digest of the verdict", Code(self._body["digest"]))]
        return Row(verdict["law"], mark, (*law_cells(verdict), wanted), details, (ReceiptLink(self._at["verdict"]),))

    def spacetimes(self) -> Sequence[Mapping[str, Any]]:
        """The ring of the counterexample, or an example."""
        verdict = self._body["verdict"]
        drawn = spacetime(compile_law(self._specs).law, verdict, anchor("laws", verdict["law"]))
        return [] if drawn is None else [drawn]


def law_cells(verdict: Body) -> tuple[Cell, ...]:
    """What a law claims, what its verdict rests on, and what it is about."""
    return Code(verdict["claim"]), Words(_rests_on(verdict)), Quoted(verdict["contract"])


def law_details(verdict: Body) -> list[tuple[str, Cell]]:
    """The other parts of a verdict, with its certificate or counterexample."""
    details: list[tuple[str, Cell]] = [
        ("forbidden", Quoted(verdict["forbidden"])),
        ("template and universe", Code(f"{verdict['template']} over {verdict['universe']}")),
    ]
    if verdict["detail"] is not None:
        details.append(("detail", Quoted(verdict["detail"])))
    if verdict["up_to"] is not None:
        details.append(("proved only up to", Words(f"{verdict['up_to']} cells")))
    if verdict["proved_for"] is not None:
        term = {"proof": "proved for", "refutation": "refuted for"}.get(verdict["method"], "asked of the prover")
        details.append((term, Quoted(verdict["proved_for"])))
    if verdict["violation_bound"] is not None:
        bound = verdict["violation_bound"]
        words = f"at most {share(bound['share'])} of such cases (95 %, 3 / {bound['drawn']} drawn cases)"
        details.append(("rate of violations", Words(words)))
    parts = ("power", "content", "counterexample", "certificate")
    return details + [(key, Block(verdict[key])) for key in parts if verdict[key] is not None]


def _status(verdict: Body) -> str:
    status, reason = str(verdict["status"]), verdict.get("reason")
    return status if reason is None else f"{status} ({reason})"


def _rests_on(verdict: Body) -> str:
    if verdict["counterexample"] is not None:
        return f"a counterexample at step {as_int(verdict['counterexample']['t'])}"
    if verdict["method"] == "proof":
        return "a certificate"
    if verdict["reason"] is not None:
        return str(verdict["reason"])
    power = verdict["power"] or {}
    tried = f"{as_int(power.get('hits', 0))} hits in {as_int(power.get('usable', 0))} cases"
    return tried if verdict["up_to"] is None else f"{tried}; proved only up to {as_int(verdict['up_to'])} cells"


LAW: Final = ReportKind(LawReading, types=law_types)
