"""The report model: what evidence, a verification or findings show, in the one form that every format is written from.

The outcomes are those of the W3C Evaluation and Report Language (EARL 1.0, 2.7), and `differs` for a control of a
profile that is met in another way than its document asks for. An error of the engine is neither a pass nor a
refutation, and a requirement that was never tested is a row of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, Protocol

from msgspec import Struct, field

from specledger.core.canonical import NotCanonical, canonical_bytes, parse_canonical
from specledger.core.diagnostics import Diagnostic, Rejected, code
from specledger.core.floats import FLOATS_ANYWHERE
from specledger.core.verdict import Verdict
from specledger.evidence.chain import receipt_digest
from specledger.evidence.layout import MAX_LINE
from specledger.evidence.receipts import ReceiptTypes
from specledger.evidence.receipts.suite import Figure
from specledger.report.evidence import Evidence
from specledger.report.markup import shorten
from specledger.report.outcome import SETTLED, WAIVED, Outcome
from specledger.report.sections import Cell, Section
from specledger.verify.kind import VerifiableKind

if TYPE_CHECKING:
    from specledger.load import Bundle
    from specledger.report.agent_metrics import RunMetrics
    from specledger.report.control import Control, Judgement
    from specledger.report.plots import Plot
    from specledger.verify.checks import Verification

E_REPORT_KIND = code("E_REPORT_KIND", "this kind of evidence has no such report")
E_REPORT_RECEIPTS = code("E_REPORT_RECEIPTS", "a receipt is malformed")

Body = Mapping[str, Any]

FORMAT: Final = "specledger/report/v1"

VERIFIED: Final = "specledger/verify"
"""The id of the check that verifications are of."""

MOST_OBSERVATIONS: Final = 25
"""Observations that a check keeps; the others are counted."""
LONGEST: Final = 900
"""Characters of one text from the evidence."""
MOST_DRAWN: Final = 40
"""Laws whose rings a page draws, those with a counterexample first."""
MOST_RUNS: Final = 3
"""Runs of a suite whose receipts are embedded in a page."""


class Replay(StrEnum):
    """Whether the runs of a bundle were made again for a report, and every byte compared."""

    DONE = "replayed"
    OWN = "made by this command, not replayed"
    NONE = "not replayed"


class Observation(Struct, frozen=True):
    """One event in a receipt that bears on a check.

    Attributes:
        what: What happened, in a word or two.
        detail: The witness, cause or expression, shortened.
        run: The run of a suite.
        trajectory: What the recorded trajectory is called that the episode is; what is observed names its call.
        ended: Whether it is the end of the episode, which `t` steps came before.
    """

    what: str
    detail: str
    run: str | None
    episode: int | None
    t: int | None
    seq: int
    digest: str
    trajectory: str = ""
    ended: bool = False

    @property
    def place(self) -> list[str]:
        """Where it is, as far as that is known: `run a`, `episode 0`, `step 3`; of a recording its trajectory."""
        named = (("", self.trajectory),) if self.trajectory else (("episode ", self.episode), ("step ", self.t))
        return [f"{word}{at}" for word, at in (("run ", self.run), *named) if at is not None]

    @property
    def step(self) -> tuple[int, int] | None:
        """The episode and the step, if it was in one of the bundle's own simulated episodes."""
        if self.run is not None or self.trajectory or self.ended or self.episode is None or self.t is None:
            return None
        return self.episode, self.t


class Check(Struct, frozen=True):
    """One requirement and its outcome.

    Attributes:
        id: `invariant/<name>`, `probe/<name>`, `check/<id>`, `law/<name>` ...
        says: The requirement, in words or as the expression.
        spec: The key of the spec that states it, or None for a requirement of the engine.
        opportunities: How often it could have failed.
        failures: How often it failed; 1 for a check that is judged once and failed.
        error: Whether it is unknown because something could not be evaluated.
        warning: Whether its spec only warns of a breach.
        observations: The first receipts that show it; `more` is the number of the others.
        once: Whether it is judged once over all opportunities instead of at each.
        joint: Whether it is about all bundles of the report, and stands with the first one.
    """

    id: str
    says: str
    spec: str | None
    outcome: Outcome
    opportunities: int
    failures: int = 0
    why: str = ""
    error: bool = False
    warning: bool = False
    observations: tuple[Observation, ...] = ()
    more: int = 0
    once: bool = False
    joint: bool = False

    @property
    def counts_only(self) -> bool:
        """Whether the number of failures says nothing about it."""
        return self.once or self.outcome is Outcome.CANNOT_TELL

    @property
    def tally(self) -> str:
        """Failures of opportunities; for a check that is judged once or cannot be decided, only the opportunities."""
        if self.counts_only:
            return f"over {self.opportunities} {'opportunity' if self.opportunities == 1 else 'opportunities'}"
        return f"{self.failures} of {self.opportunities} times"


class Receipt(Struct, frozen=True):
    """One receipt as a reading takes it."""

    seq: int
    line: bytes
    type: str
    body: Body

    @property
    def digest(self) -> str:
        """The digest that the next receipt names."""
        return receipt_digest(self.line)


def receipts_of(evidence: Evidence) -> Iterator[Receipt]:
    """The receipts of a bundle, in order."""
    for seq, line in enumerate(evidence.receipts.lines()):
        parsed: Any = parse_canonical(line, limit=MAX_LINE)
        yield Receipt(seq, line, parsed["type"], parsed["body"])


class Reading:
    """Folds the receipts of one bundle in one pass; each kind of evidence has its own subclass.

    Methods raise KeyError, TypeError, AttributeError or ValueError if a receipt does not have the form of its type.

    Attributes:
        figures: The bodies of `figure` receipts.
        runs: Places of runs inside the bundle whose receipts a page embeds, at most `MOST_RUNS`.
        agent: The name of the agent of a run; of several all, joined by `+`.
        trajectories: What the trajectories of a recording are called, in order.
        is_row: Whether its row in a table that is compared says all about the bundle.
        tells_replay: Whether its receipts say what replay gave when they were made.
    """

    figures: Sequence[Figure] = ()
    runs: Sequence[str] = ()
    agent: str = ""
    trajectories: Sequence[str] = ()
    is_row: bool = False
    tells_replay: bool = False

    def add(self, receipt: Receipt) -> None:
        """Take the next receipt."""
        raise NotImplementedError

    def checks(self) -> Iterator[Check]:
        """The requirements that the receipts speak of, with their outcomes."""
        raise NotImplementedError

    def facts(self) -> Iterator[tuple[str, Cell]]:
        """The key figures, by what they count."""
        yield from ()

    def sections(self) -> Iterator[Section]:
        """The tables, in order."""
        yield from ()

    def finding(self) -> Sequence[str]:
        """What it shows, in sentences that come before the reason of the verdict; none if the reason says it."""
        return ()

    def results(self) -> Iterable[Mapping[str, Any]]:
        """The results of its runs."""
        return ()

    def witness(self, check: str) -> str:
        """The values that show the first failure of a check, in words; empty if there are none."""
        return ""

    def plots(self) -> Sequence[Plot]:
        """Plots of rates, counts and figures over steps."""
        return ()

    def agents(self) -> Mapping[str, Sequence[RunMetrics]]:
        """The metrics of the runs that have probes, by agent."""
        return {}

    @property
    def challenged(self) -> bool:
        """Whether stated reasons were tested."""
        return False

    def parts(self) -> Iterator[SubRun] | None:
        """The runs of scenarios in the bundle; None if its kind has none."""
        return None

    def spacetimes(self) -> Sequence[Mapping[str, Any]]:
        """Rings of laws to draw."""
        return ()


class SubRun(Struct, frozen=True):
    """One run in the evidence of a kind that has episodes; its folder is relative to the bundle, empty for itself."""

    name: str
    place: str
    specs: Bundle


class ReportKind(Struct, frozen=True):
    """How a report reads one kind of evidence, and the classes of its receipts."""

    read: Callable[[Evidence], Reading]
    receipts: ReceiptTypes = {}


class ReportedKind(VerifiableKind, Protocol):
    """What reports need to know about a kind of spec."""

    @property
    def report(self) -> ReportKind:
        """How its evidence is read; LookupError if its specs cannot be run."""


class Subject(Struct, frozen=True):
    """What one bundle shows.

    Attributes:
        case: The id of the matrix case, or an empty text.
        verification: The checks of the evidence: number, name, status, message.
        checks: The requirements and their outcomes.
        names: The names of all specs that the run refers to, by kind.
        reading: The folded receipts.
        replay: Whether the runs were made again for this report.
        shows: What rules over several bundles read of it: name, kind, case, verdict, result, figures.
    """

    name: str
    kind: str
    doc: str
    root: str
    manifest: Mapping[str, Any]
    verification: tuple[Mapping[str, Any], ...]
    checks: tuple[Check, ...]
    evidence: Evidence
    reading: Reading
    names: Mapping[str, Sequence[str]] = field(default_factory=dict)
    case: str = ""
    replay: Replay = Replay.NONE
    shows: Mapping[str, Any] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The name of the spec, with the values of the axes of its matrix if there is one."""
        return f"{self.name}.{self.case}" if self.case else self.name

    @property
    def verdict(self) -> Verdict:
        """The verdict of the result."""
        return Verdict(self.manifest["result"]["verdict"])


class Report(Struct, frozen=True):
    """A report of evidence, of verifications, or of findings.

    Attributes:
        judgement: The judgement of a profile by the bundles.
        verifications: Each with the place of its evidence.
        findings: Findings about specs, about a command that could not be run, or about places without evidence.
        about: The id of the check that led to the findings.
        passed: The names of specs without findings.
        not_run: Whether the findings prevented what was asked for.
    """

    subjects: tuple[Subject, ...] = ()
    judgement: Judgement | None = None
    verifications: tuple[tuple[str, Verification], ...] = ()
    findings: tuple[Diagnostic, ...] | None = None
    about: str = ""
    passed: tuple[str, ...] = ()
    not_run: bool = False

    def waivers(self, index: int) -> Mapping[str, Control]:
        """The control whose active waiver covers a check that was not met, by the check's id, in a bundle by its place.

        A check that an unsettled control names, too, is not covered.
        """
        waivers: dict[str, Control] = {}
        unsettled: set[str] = set()
        for control in self.judgement.controls if self.judgement is not None else ():
            rows = [row.check for row in control.rows if row.subject == index]
            if control.waived:
                waivers = {**dict.fromkeys(rows, control), **waivers}
            elif not control.settled:
                unsettled.update(rows)
        open_ = {check.id for check in self.subjects[index].checks if check.outcome not in SETTLED}
        return {name: control for name, control in waivers.items() if name in open_ and name not in unsettled}

    def marks(self, index: int) -> list[str]:
        """The outcome of each check of a bundle as reports print it."""
        waivers = self.waivers(index)
        return [WAIVED if check.id in waivers else check.outcome.value for check in self.subjects[index].checks]

    def verdict_text(self, index: int) -> str:
        """The verdict of a bundle, with `WAIVED` if waivers cover all that failed or is not decided."""
        verdict, waivers = self.subjects[index].verdict, self.waivers(index)
        checks = self.subjects[index].checks
        open_ = [check.id for check in checks if check.outcome in (Outcome.FAILED, Outcome.CANNOT_TELL)]
        covered = verdict is not Verdict.PASS and waivers and all(name in waivers for name in open_)
        return f"{verdict}, {WAIVED}" if covered else verdict.value

    @classmethod
    def from_verifications(
        cls, verifications: Sequence[tuple[str, Verification]], findings: Sequence[Diagnostic] = ()
    ) -> Report:
        """The report of verifications, each with the place of its evidence; `findings` are of places without any."""
        diagnostics = tuple(findings) or None
        return cls(verifications=tuple(verifications), findings=diagnostics, about=VERIFIED, not_run=True)

    @classmethod
    def from_findings(
        cls,
        findings: Sequence[Diagnostic],
        passed: Sequence[str] = (),
        about: str = "specledger/check",
        not_run: bool = False,
    ) -> Report:
        """The report of findings; see `Report`. `about` is the id of the check."""
        return cls(about=about, findings=tuple(findings), passed=tuple(passed), not_run=not_run)


@contextmanager
def malformed_receipts() -> Iterator[None]:
    """Refuse receipts whose values do not have the types that their specs lead to, as E_REPORT_RECEIPTS."""
    try:
        yield
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        raise Rejected([Diagnostic(E_REPORT_RECEIPTS, f"malformed receipt: {error!r}")]) from None


def kind_of(evidence: Evidence, kinds: Mapping[str, ReportedKind]) -> ReportKind:
    """How a report reads the evidence; Rejected as E_REPORT_KIND if it does not."""
    kind = kinds.get(evidence.kind)
    if kind is None or not kind.runs:
        raise Rejected([Diagnostic(E_REPORT_KIND, f"evidence of the kind {evidence.kind} has no report")])
    return kind.report


def counted(marks: Iterable[str]) -> dict[str, int]:
    """The number of each outcome, zeros included, and of what is waived if anything is."""
    counts = Counter(marks)
    waived = {WAIVED: counts[WAIVED]} if counts[WAIVED] else {}
    return {**{outcome.value: counts[outcome] for outcome in Outcome}, **waived}


def value_text(value: Any) -> str:
    """A value of the evidence as shortened text; empty for None and {}. TypeError if it is not JSON."""
    if value is None or value == {}:
        return ""
    try:
        text = value if isinstance(value, str) else canonical_bytes(value, FLOATS_ANYWHERE).decode()
    except NotCanonical as error:
        raise TypeError(str(error)) from None
    return shorten(text, LONGEST)
