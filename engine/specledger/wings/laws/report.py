"""Reports on the trial of a law: one check, the verdict with its certificate or counterexample, cases, and one ring.

The ring that is drawn is that of the counterexample, else an example, since receipts hold only the digest of the
cases. It is evolved by the universe's table in the bundle; no trial is made again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product
from typing import Any, Final, Literal

from msgspec.structs import replace

from specledger.core.verdict import Verdict
from specledger.evidence.receipts import typed
from specledger.lang.statement import in_one_line
from specledger.report.evidence import Evidence
from specledger.report.figures import share
from specledger.report.markup import shorten
from specledger.report.model import LONGEST, Check, Reading, Receipt, ReportKind
from specledger.report.observations import Observations, as_int
from specledger.report.outcome import OF_VERDICT
from specledger.report.sections import Block, Cell, Code, Count, Quoted, ReceiptLink, Row, Section, Words, anchor
from specledger.wings.laws.compile import compile_law
from specledger.wings.laws.explained import law as law_words
from specledger.wings.laws.law import Law
from specledger.wings.laws.receipts import LAW as LAW_RECEIPTS
from specledger.wings.laws.receipts import Cases, Counterexample, End, Judged, LawStatus, Start
from specledger.wings.laws.receipts import Verdict as LawVerdict
from specledger.wings.laws.result import judged
from specledger.wings.laws.trial import meets
from specledger.wings.laws.verdict import status_text
from specledger.wings.laws.verify.conditions import InvalidCertificate
from specledger.wings.laws.verify.violation import State, Trajectory, measured

_KNOWN: Final[Mapping[str, str]] = {
    LawStatus.PROVED: "Proved, not only tried",
    LawStatus.PASS: "Held wherever it was tried, which is no proof",
    LawStatus.FAIL: "False, as a counterexample shows",
    LawStatus.UNKNOWN: "Not known",
    LawStatus.ERROR: "Not judged, for an error",
}
"""What the status of a law says of its claim."""

_HEADS: Final = ("law", "claim", "rests on", "about", "expected")


class LawReading(Reading):
    """Folds the receipts of a law's trial."""

    is_row = True

    def __init__(self, evidence: Evidence) -> None:
        self._specs, self._result = evidence.specs, evidence.manifest["result"]
        self._receipts: dict[str, Receipt] = {}

    def add(self, receipt: Receipt) -> None:
        """Take the next receipt; there is at most one of each type."""
        self._receipts[receipt.type] = receipt

    @property
    def _judged(self) -> Judged:
        return typed(Judged, self._receipts["verdict"].body)

    def checks(self) -> Iterator[Check]:
        """The law: whether its verdict is the expected one, or PASS if nothing is expected."""
        main, met = self._specs.main, typed(End, self._receipts["end"].body)["met"]
        verdict, expected = self._judged["verdict"], self._judged["expected"]
        found_to_be = (
            judged(verdict["status"], verdict["reason"])
            if met is None
            else Verdict.PASS
            if met is True
            else Verdict.FAIL
        )
        counterexample, id_, seen = verdict["counterexample"], f"law/{main.name}", Observations()
        shown = (
            verdict["power"] or verdict["detail"]
            if counterexample is None
            else {"start": counterexample["start"], "t": counterexample["t"]}
        )
        seen.note(
            id_,
            self._receipts["verdict"],
            status_text(verdict),
            shown,
            {} if counterexample is None else {"t": counterexample["t"]},
        )
        detail = verdict["detail"] if verdict["status"] in (LawStatus.UNKNOWN, LawStatus.ERROR) else None
        why = status_text(verdict) + ("" if expected is None else f", expected was {status_text(expected)}")
        why = shorten(why if detail is None else f"{why}: {detail}", LONGEST)
        says = shorten(f"{main.model.doc or main.name}: {verdict['claim']}", LONGEST)
        cases = as_int(typed(Cases, self._receipts["cases"].body)["count"]) if "cases" in self._receipts else 0
        could = cases or int(verdict["status"] == LawStatus.PROVED)
        outcome, failed = OF_VERDICT[found_to_be], int(found_to_be is Verdict.FAIL)
        error = found_to_be is Verdict.ERROR
        yield seen.of(Check(id_, says, main.key, outcome, could, failed, why, error=error, once=True))

    def finding(self) -> list[str]:
        """What is claimed, what is known of it, the claim in words, the ring that breaks it, and what was expected."""
        verdict, status = self._judged["verdict"], self._judged["verdict"]["status"]
        said = [f"{_KNOWN.get(status, 'Not judged')}: in {verdict['contract']}, `{verdict['claim']}`."]
        _, *claimed = map(in_one_line, law_words(self._specs))
        said += [shorten(" ".join(claimed), LONGEST)]
        found = verdict["counterexample"]
        if found is not None:
            said.append(f"The ring `{found['start']}` breaks it at step {as_int(found['t'])}: {verdict['forbidden']}.")
        if self._result["met"] and status not in (LawStatus.PROVED, LawStatus.PASS):
            said.append(f"Its spec expects {status}, so the verdict is {Verdict.PASS}.")
        return said

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
            Row(f"warning {n}", "", (Quoted(warning),), (), (ReceiptLink(self._receipts["start"].seq),))
            for n, warning in enumerate(typed(Start, self._receipts["start"].body)["warnings"], 1)
        ]
        yield Section("warnings", "Warnings", "", ("", "found when the law was read"), warnings)
        families = [
            Row(family, "", (Count(times),), (), (ReceiptLink(receipt.seq),))
            for receipt in [stored for type_, stored in self._receipts.items() if type_ == "cases"]
            for family, times in typed(Cases, receipt.body)["families"].items()
        ]
        intro = "Initial states that the law was tried on, by family."
        yield Section("cases", "Cases", intro, ("family", "cases"), families)

    def _row(self) -> Row:
        receipt = self._judged
        verdict, expected = receipt["verdict"], receipt["expected"]
        mark = verdict["status"]
        if expected is not None and mark in (LawStatus.FAIL, LawStatus.UNKNOWN) and meets(verdict, expected):
            mark = f"{mark} as expected"
        wanted = Words("nothing") if expected is None else Quoted(expected.get("status", expected))
        details = [*law_details(verdict), ("digest of the verdict", Code(receipt["digest"]))]
        return Row(
            verdict["law"], mark, (*law_cells(verdict), wanted), details, (ReceiptLink(self._receipts["verdict"].seq),)
        )

    def spacetimes(self) -> Sequence[Mapping[str, Any]]:
        """The ring of the counterexample, or an example."""
        verdict = self._judged["verdict"]
        drawn = spacetime(compile_law(self._specs).law, verdict, anchor("laws", verdict["law"]))
        return [] if drawn is None else [drawn]


def law_cells(verdict: LawVerdict) -> tuple[Cell, ...]:
    """What a law claims, what its verdict rests on, and what it is about."""
    return Code(verdict["claim"]), Words(_rests_on(verdict)), Quoted(verdict["contract"])


_BLOCKS: Final[tuple[Literal["power", "content", "counterexample", "certificate"], ...]] = (
    *("power", "content"),
    *("counterexample", "certificate"),
)


def law_details(verdict: LawVerdict) -> list[tuple[str, Cell]]:
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
    return details + [(key, Block(verdict[key])) for key in _BLOCKS if verdict[key] is not None]


def _rests_on(verdict: LawVerdict) -> str:
    if verdict["counterexample"] is not None:
        return f"a counterexample at step {as_int(verdict['counterexample']['t'])}"
    if verdict["method"] == "proof":
        return "a certificate"
    if verdict["reason"] is not None:
        return str(verdict["reason"])
    power = verdict["power"] or {}
    tried = f"{as_int(power.get('hits', 0))} hits in {as_int(power.get('usable', 0))} cases"
    return tried if verdict["up_to"] is None else f"{tried}; proved only up to {as_int(verdict['up_to'])} cells"


LAW: Final = ReportKind(LawReading, LAW_RECEIPTS)


MOST_STATES: Final = 220
"""States of a counterexample that are drawn."""

EXAMPLE_STATES: Final = 60
"""States of an example that are drawn."""

LENGTHS: Final = 8
"""Lengths of rings among which an example is searched, from the shortest."""

STARTS: Final = 64
"""Starts of each length that are tried."""

STEPS: Final = 8
"""Steps over which they are compared."""

_EXAMPLE: Final = (
    "An example, and no evidence: receipts hold the digest of the tried cases and not their starts. The ring was "
    "chosen when the page was written and has the shortest length with a start that meets the preconditions. Of the "
    f"first {STARTS} starts in the order of the alphabet it is the one in which most of the first {STEPS} steps are "
    "tested, then the one with the most symbols, then the most states, then the first. It was evolved by the "
    "universe's table in the bundle; the law was not judged on it."
)
_FOUND: Final = (
    "A counterexample. Its start and the marked rows are in the receipt; the other rows were evolved from the start "
    "when the page was written, by the universe's table in the bundle."
)


def spacetime(law: Law, verdict: LawVerdict, row: str) -> dict[str, Any] | None:
    """What is drawn of a law and its verdict; None if no start of it can be shown. `row` is the anchor of its row."""
    drawn = _example(law) if verdict["counterexample"] is None else _found(law, verdict["counterexample"])
    if drawn is None:
        return None
    alphabet = law.universe.alphabet
    known = {"law": verdict["law"], "anchor": row, "claim": verdict["claim"], "status": verdict["status"]}
    return {**known, "symbols": "".join(alphabet), "empty": alphabet[law.universe.empty], **drawn}


def _found(law: Law, counterexample: Counterexample) -> dict[str, Any]:
    """A counterexample, from the start to just after the violation."""
    t, begin = counterexample["t"], counterexample["excerpt"]["from"]
    evolved = Trajectory(law, [law.universe.alphabet.index(symbol) for symbol in counterexample["start"]]).states
    states = evolved[: t + 1 + max(law.moments.values())]
    return {
        "t": t,
        "excerpt": [begin, begin + len(counterexample["excerpt"]["states"])],
        "observables": {str(t + steps): counterexample["observables"][key] for key, steps in law.moments.items()},
        "rows": _rows(law, states[:MOST_STATES]),
        "states": len(states),
        "said": _FOUND,
    }


def _example(law: Law) -> dict[str, Any] | None:
    """An example over the steps of the law; None if the law is UNKNOWN, or no start can be used."""
    if law.unknown is not None:
        return None
    try:
        start = example_start(law)
        if start is None:
            return None
        states = Trajectory(law, start).states[: law.on(len(start)).steps + 1]
        drawn = states[:EXAMPLE_STATES]
        symbols, observables = law.universe.rule.symbols, sorted(law.observables.items())
        values = [
            {name: measured(measured_values.root, state, symbols) for name, measured_values in observables}
            for state in drawn
        ]
    except InvalidCertificate:  # a figure leaves 64 bits
        return None
    return {
        "t": None,
        "excerpt": [0, 0],
        "observables": {str(step): measured_values for step, measured_values in enumerate(values)},
        "rows": _rows(law, drawn),
        "states": len(states),
        "said": _EXAMPLE,
    }


def example_start(law: Law) -> State | None:
    """The start of the example, the same for the same law; None if no tried start can be used."""
    for starts in _starts(law):
        tried = (Trajectory(replace(law.on(len(start)), T=min(law.on(len(start)).T, STEPS)), start) for start in starts)
        usable = [trajectory for trajectory in tried if trajectory.usable()]
        if usable:
            return max(usable, key=_shows).states[0]
    return None


def _starts(law: Law) -> Iterator[Iterator[State]]:
    """The first starts of each length, from the shortest."""
    shortest = law.universe.shortest
    for length in range(shortest, min(shortest + LENGTHS - 1, law.universe.longest) + 1):
        yield (list(start) for start in islice(product(law.starts, repeat=length), STARTS))


def _shows(trajectory: Trajectory) -> tuple[int, int, int]:
    """The number of tested steps, of different symbols and of different states."""
    law, places = trajectory.law, range(len(trajectory.states[0]) if trajectory.law.template.cells else 1)
    judged = range(law.template.first, law.T - law.template.short + 1)
    asked = law.antecedent
    tested = sum(asked is None or any(trajectory.value(asked, t, cell) for cell in places) for t in judged)
    states = {*map(tuple, trajectory.states[: STEPS + 1])}
    return tested, len({cell for state in states for cell in state}), len(states)


def _rows(law: Law, states: Sequence[State]) -> list[str]:
    return ["".join(law.universe.alphabet[cell] for cell in state) for state in states]
