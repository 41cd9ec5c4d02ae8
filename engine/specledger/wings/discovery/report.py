"""Reports on a discovery: the laws that it found and at what cost, the laws that it refuted, and what it asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

from msgspec import Struct

from specledger.core.verdict import Verdict
from specledger.evidence.receipts import typed
from specledger.report.evidence import Evidence
from specledger.report.figures import decimal, share
from specledger.report.model import MOST_DRAWN, Check, Reading, Receipt, ReportKind
from specledger.report.observations import Observations, as_int, as_name
from specledger.report.outcome import Outcome
from specledger.report.plots import Plot
from specledger.report.run import EVALUATION
from specledger.report.sections import (
    NOTHING,
    Block,
    Cell,
    Code,
    Count,
    Joined,
    Place,
    Quoted,
    ReceiptLink,
    Row,
    RowLink,
    Section,
    Words,
    anchor,
)
from specledger.wings.discovery import receipts as discovery
from specledger.wings.discovery.finding import discovery_finding
from specledger.wings.discovery.parser import ParsedLaw
from specledger.wings.discovery.plan import DiscoveryPlan, compile_discovery
from specledger.wings.discovery.redundancy import ONE, RedundancyDetector
from specledger.wings.discovery.terms import TERMS_LINK, YIELD_INTRO, terms_section
from specledger.wings.discovery.timeline import timeline
from specledger.wings.laws.receipts import ACCEPTED as ACCEPTED_STATUSES
from specledger.wings.laws.receipts import LawStatus
from specledger.wings.laws.receipts import Verdict as LawVerdict
from specledger.wings.laws.report import law_cells, law_details, spacetime
from specledger.wings.laws.result import OUTCOMES

ACCEPTED: Final = "accepted"
"""The check that a discovery accepted a law."""

_YIELD_HEADS: Final = (
    *("discovery", "model", "prompt", "evaluations", "accepted", "different"),
    *("content", "content by 100", "tokens"),
)
_LAW_HEADS: Final = (
    *("law", "claim", "rests on", "iteration"),
    *("content", "fails under rules held out"),
)
_ITERATION_HEADS: Final = (
    *("iteration", "prompt", "tokens asked", "tokens answered", "answer", "laws", "late", "rejected", "redundant"),
    "first by another weight",
)
_COUNTS: Final = ("iterations", "evaluations", "escalations", "failures", "rejected", "redundant", "tokens")
_ORDER: Final = (*LawStatus,)


class _Law(Struct):
    key: str
    iteration: int
    tried: discovery.TriedLaw
    verdict: LawVerdict | None
    error: str | None
    seqs: list[int]
    held_out: Sequence[discovery.HeldOut] = ()

    @property
    def name(self) -> str:
        return self.key.partition("/")[2]

    @property
    def status(self) -> str:
        return LawStatus.ERROR.value if self.verdict is None else str(self.verdict["status"])

    @property
    def accepted(self) -> bool:
        return self.status in ACCEPTED_STATUSES

    @property
    def content(self) -> int:
        content = None if self.verdict is None else self.verdict["content"]
        return 0 if content is None else as_int(content["share"])


class DiscoveryReading(Reading):
    """Folds the receipts of a discovery; a refuted conjecture breaks no requirement."""

    def __init__(self, evidence: Evidence) -> None:
        self._specs, self._result = evidence.specs, evidence.manifest["result"]
        self._observations = Observations()
        self._start = typed(discovery.Start, {})
        self._stop = typed(discovery.Stop, {})
        self._judged: dict[str, Verdict | None] = {}
        self._iterations: list[tuple[int, discovery.Iteration]] = []
        self._laws: dict[str, _Law] = {}
        self._late: list[tuple[int, discovery.TriedLaw]] = []
        self._trials: Counter[int] = Counter()
        self._expected: list[tuple[int, Check, discovery.Expected]] = []

    @cached_property
    def _plan(self) -> DiscoveryPlan:
        return compile_discovery(self._specs)

    def add(self, receipt: Receipt) -> None:
        """Take the next receipt."""
        type_, body = receipt.type, receipt.body
        if type_ == "start":
            self._start = typed(discovery.Start, body)
        elif type_ == "stop":
            self._stop = typed(discovery.Stop, body)
        elif type_ == "iteration":
            self._iterations.append((receipt.seq, typed(discovery.Iteration, body)))
        elif type_ == "law":
            self._tried(receipt, typed(discovery.TriedLaw, body))
        elif type_ == "escalation":
            self._escalated(receipt, typed(discovery.Escalation, body))
        elif type_ == "expected":
            expected = typed(discovery.Expected, body)
            self._expected.append((receipt.seq, self._expect(receipt, expected), expected))

    def _escalated(self, receipt: Receipt, body: discovery.Escalation) -> None:
        if body["verdict"] is not None:
            self._judge(receipt, body)
        known = self._laws[body["law"]]
        known.verdict, known.error, known.held_out = body["verdict"], body["error"], body["held_out"]
        known.seqs.append(receipt.seq)

    def _tried(self, receipt: Receipt, body: discovery.TriedLaw) -> None:
        first = self._laws.get(body["law"])
        self._trials[as_int(body["iteration"])] += 1
        if body["late"] is not None:
            self._late.append((receipt.seq, body))
            return
        self._judge(receipt, body)
        iteration = body["iteration"] if first is None else first.iteration
        seqs = [*([] if first is None else first.seqs), receipt.seq]
        self._laws[body["law"]] = _Law(body["law"], iteration, body, body["verdict"], body["error"], seqs)

    def _judge(self, receipt: Receipt, body: discovery.TriedLaw | discovery.Escalation) -> None:
        name, verdict = as_name(body["law"]), body["verdict"]
        if verdict is None:
            self._observations.note(EVALUATION, receipt, "error", body["error"], {})
            self._judged[name] = None
            return
        judged = OUTCOMES[verdict["status"]]
        if judged is Verdict.PASS and self._judged.get(name) is not Verdict.PASS:
            self._observations.note(ACCEPTED, receipt, verdict["status"], f"{name}: {as_name(verdict['claim'])}", {})
        self._judged[name] = judged

    def _expect(self, receipt: Receipt, body: discovery.Expected) -> Check:
        law, match = as_name(body["law"]), body["found"]
        id_ = f"expected/{law}"
        self._observations.note(id_, receipt, "found" if match is not None else "not found", match, {})
        outcome = Outcome.FAILED if match is None else Outcome.PASSED
        says, key, failed = f"it finds what {law} says", as_name(body["key"]), int(match is None)
        return self._observations.of(Check(id_, says, key, outcome, 1, failed))

    def checks(self) -> Iterator[Check]:
        """The expected laws, that a law was accepted, and that all laws could be judged."""
        yield from (check for _, check, _ in self._expected)
        judged = list(self._judged.values())
        accepted, errors = judged.count(Verdict.PASS), judged.count(None)
        outcome = Outcome.PASSED if accepted else Outcome.CANNOT_TELL if judged else Outcome.UNTESTED
        why = f"{accepted} of {len(judged)} laws, {judged.count(Verdict.FAIL)} refuted"
        key = self._specs.main.key
        yield self._observations.of(Check(ACCEPTED, "a law is accepted", key, outcome, len(judged), 0, why))
        outcome = Outcome.CANNOT_TELL if errors else Outcome.PASSED if judged else Outcome.UNTESTED
        says = "every law can be judged"
        yield self._observations.of(Check(EVALUATION, says, None, outcome, len(judged), error=errors > 0))

    def finding(self) -> list[str]:
        """What became of the laws that were tried, and whether those that were expected are among them."""
        matched = [item["found"] is not None for _, _, item in self._expected]
        return discovery_finding({name: as_int(number) for name, number in self._result["laws"].items()}, matched)

    def facts(self) -> Iterator[tuple[str, Cell]]:
        """The counts of the result, and who was asked how."""
        for noun in _COUNTS:
            yield noun, Count(self._result[noun])
        for status, number in self._result["laws"].items():
            if number:
                yield status, Count(number)
        yield "stopped by", Quoted(self._stop["reason"])
        for name, key in self._asked():
            yield name, Quoted(_short(key))
        yield "these words", TERMS_LINK

    def _asked(self) -> tuple[tuple[str, str], ...]:
        """The keys of the specs that say what is asked of whom."""
        start = self._start
        return ("prompt", start["prompt"]), ("model", start["model"]["spec"]), ("ranking", start["ranking"])

    def sections(self) -> Iterator[Section]:
        """Yield, trials, expected laws, laws, rejected proposals, iterations and the model."""
        yield Section("yield", "Yield", YIELD_INTRO, _YIELD_HEADS, [self._yield()], compared=True)
        trials = {**trials_of(self._result), "all": as_int(self._result["evaluations"])}
        yield Section(
            "trials",
            "Trials",
            "",
            ("outcome", "trials"),
            [Row(name, "", (Count(number),)) for name, number in trials.items()],
        )
        names = self._names()
        expected = [_expected_row(seq, item, names) for seq, _, item in self._expected]
        yield Section("expected", "Expected laws", "", ("law", "status", "found as"), expected)
        intro = "Each law with its last verdict. A refuted law is a finding of the discovery and not a fault."
        laws = sorted(self._laws.values(), key=lambda law: _ORDER.index(LawStatus(law.status)))
        yield Section("laws", "Laws", intro, _LAW_HEADS, [_law_row(law, names[law.key]) for law in laws])
        late = [
            Row(str(law["law"]).partition("/")[2], "", (Code(law["late"]),), (), (ReceiptLink(seq),))
            for seq, law in self._late
        ]
        intro = "Proposed while an equal law was being tried; tried, then left out."
        yield Section("late", "Found twice", intro, ("law", "equal to"), late)
        yield Section(
            "rejected", "Rejected proposals", "", ("reason", "proposals", "first in iteration"), self._reasons()
        )
        yield Section("iterations", "Iterations", "", _ITERATION_HEADS, [*self._iteration_rows()])
        named = (("identity of the model", self._start["model"]["identity"]), *self._asked())
        rows = [Row(name, "", (Code(key),), (), (ReceiptLink(0),)) for name, key in named]
        yield Section("model", "Model and prompt", "As the first receipt names them.", ("", "name"), rows)
        yield terms_section()

    def _names(self) -> dict[str, str]:
        """What each law is called, by its key: its name, with the digest if laws share it."""
        shared = Counter(_short(key) for key in self._laws)
        return {key: _short(key) if shared[_short(key)] == 1 else law.name for key, law in self._laws.items()}

    def _yield(self) -> Row:
        accepted = [law for law in self._laws.values() if law.accepted]
        kept = _different([(law, self._plan.parsed(law.tried["document"])) for law in accepted])
        content, evaluations = sum(law.content for law in kept), as_int(self._result["evaluations"])
        proved = sum(law.status == LawStatus.PROVED for law in accepted)
        cells = (
            Quoted(_short(self._start["model"]["spec"])),
            Quoted(_short(self._start["prompt"])),
            Count(evaluations),
            Words(f"{len(accepted)} ({proved} proved)"),
            Count(len(kept)),
            Words(decimal(content, 3)),
            Words(decimal(100 * content // max(1, evaluations), 3)),
            Count(as_int(self._result["tokens"])),
        )
        return Row(str(self._start["discovery"]), "", cells)

    def _reasons(self) -> list[Row]:
        """The reasons of rejections, the commonest first."""
        rejections = [
            (rejection["reason"], as_int(iteration["iteration"]))
            for _, iteration in self._iterations
            for rejection in iteration["rejections"]
        ]
        counts, first = Counter(reason for reason, _ in rejections), dict(reversed(rejections))
        return [Row(reason, "", (Count(times), Count(first[reason]))) for reason, times in counts.most_common()]

    def _iteration_rows(self) -> Iterator[Row]:
        late = Counter(as_int(iteration["iteration"]) for _, iteration in self._late)
        for seq, iteration in self._iterations:
            number, answer, prompt = as_int(iteration["iteration"]), iteration["answer"], iteration["prompt"]
            usage = answer["usage"]
            moved = [
                part
                for change in iteration["sensitivity"]
                if change["changes"]
                for part in (Quoted(change["factor"]), Words(" "))
            ]
            cells = (
                Code(prompt["digest"][:16]),
                Count(prompt["tokens"]),
                Count(as_int(usage["output_tokens"]) + as_int(usage["thinking_tokens"])),
                NOTHING if answer["failure"] is None else Quoted(answer["failure"]),
                Count(self._trials[number]),
                Count(late[number]),
                Count(len(iteration["rejections"])),
                Count(len(iteration["redundant"])),
                Joined(moved) if moved else Words("none"),
            )
            details: list[tuple[str, Cell]] = [
                ("prompt", Block(prompt)),
                ("request", Code(iteration["request"])),
                ("answer", Block(answer)),
                ("rejected proposals", Block(iteration["rejections"])),
                ("redundant proposals", Block(iteration["redundant"])),
                ("sensitivity of the ranking", Block(iteration["sensitivity"])),
            ]
            mark = "failed" if answer["failure"] is not None else ""
            yield Row(f"iteration {number}", mark, cells, details, (ReceiptLink(seq),))

    def plots(self) -> list[Plot]:
        """The laws by the iteration that proposed them first."""
        laws = [(law.iteration, law.status) for law in self._laws.values()]
        matches = [
            self._laws[expected["found"]] for _, _, expected in self._expected if expected["found"] in self._laws
        ]
        return timeline(len(self._iterations), laws, [(law.iteration, law.name) for law in matches])

    def spacetimes(self) -> Sequence[Mapping[str, Any]]:
        """The rings of laws, those with a counterexample first."""
        judged = [(law, law.verdict) for law in self._laws.values() if law.verdict is not None]
        drawn: list[Mapping[str, Any]] = []
        names = self._names()
        for law, verdict in sorted(judged, key=lambda pair: pair[1]["counterexample"] is None):
            if len(drawn) == MOST_DRAWN:
                break
            parsed = self._plan.parsed(law.tried["document"])
            ring = spacetime(parsed.plan.law, verdict, anchor("laws", names[law.key]))
            drawn += [] if ring is None else [ring]
        return drawn


def _different(accepted: Sequence[tuple[_Law, ParsedLaw]]) -> list[_Law]:
    """The laws of different meaning; of those of one meaning the one of most content, whatever their order is."""
    detector = RedundancyDetector(ONE)
    different: list[_Law] = []
    for law, parsed in sorted(accepted, key=lambda pair: -pair[0].content):  # stable: of equal ones the first
        if detector.check(parsed) is None:
            detector.add_known_law(parsed)
            different.append(law)
    return different


def trials_of(result: Mapping[str, Any]) -> dict[str, int]:
    """The trials in the `result` of a discovery by outcome, zeros left out; they add up to its evaluations."""
    again = result["evaluations"] - sum(result["laws"].values()) - result["late"]
    counts = {**result["laws"], "late": result["late"], "of a law that was tried before": again}
    return {what: count for what, count in counts.items() if count}


def claim_text(document: Mapping[str, Any], claim: str) -> str:
    """The claim of a law in one line, with the definitions of the names in it."""
    names = [f"{observable['name']} = {observable['expr']}" for observable in document.get("observables", ())]
    names += [f"transform = {document['transform']}"] if document.get("transform") else []
    return f"{claim}, where {', '.join(names)}" if names else claim


def _law_row(law: _Law, name: str) -> Row:
    places: list[Place] = [ReceiptLink(seq) for seq in law.seqs]
    proposed = Count(law.iteration)
    document = law.tried["document"]
    details: list[tuple[str, Cell]] = [
        ("key", Code(law.key)),
        ("as proposed", Block(document)),
        ("value in the ranking", Block(law.tried["features"])),
    ]
    if law.held_out:
        details.append(("on other rules", Block(law.held_out)))
    if law.verdict is None:
        cells: tuple[Cell, ...] = (
            Quoted(claim_text(document, "")),
            Quoted(law.error or ""),
            proposed,
            *[NOTHING] * 2,
        )
        return Row(name, LawStatus.ERROR.value, cells, details, places)
    _, rests_on, about = law_cells(law.verdict)
    if law.verdict["counterexample"] is not None:
        start, t = law.verdict["counterexample"]["start"], as_int(law.verdict["counterexample"]["t"])
        rests_on = Joined((Words("ring "), Code(start, 60), Words(f" at step {t}")))
    elif law.verdict["reason"] is not None:
        rests_on = Quoted(": ".join(entry for entry in (law.verdict["reason"], law.verdict["detail"]) if entry))
    applied = [entry for entry in law.held_out if entry["status"] != discovery.HeldOutStatus.INAPPLICABLE]
    failed = sum(entry["status"] == discovery.HeldOutStatus.FAIL for entry in applied)
    cells = (
        Code(claim_text(document, law.verdict["claim"])),
        rests_on,
        proposed,
        Words(share(law.content)) if law.accepted else NOTHING,
        Words(f"{failed} of {len(applied)}") if law.accepted else NOTHING,
    )
    tried = Words("twice" if len(law.seqs) > 1 else "once")
    details = [("about", about), ("tried", tried), *law_details(law.verdict), *details]
    return Row(name, law.status, cells, details, places)


def _expected_row(seq: int, body: discovery.Expected, names: Mapping[str, str]) -> Row:
    match = body["found"]
    name = "" if match is None else names.get(match, str(match).partition("/")[2])
    where = Words("nothing") if match is None else RowLink(anchor("laws", name), name)
    mark = "found" if match is not None else "missed"
    return Row(body["law"], mark, (Quoted(body["status"] or "accepted"), where), (), [ReceiptLink(seq)])


def _short(key: str) -> str:
    """The name in a key `<kind>/<name>@<digest>`."""
    return key.partition("/")[2].rpartition("@")[0]


DISCOVERY: Final = ReportKind(DiscoveryReading, discovery.DISCOVERY)
