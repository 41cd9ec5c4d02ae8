"""The summary of a discovery as Markdown, and the comparison of several: what was found for how much.

Decides what the yield of a discovery is: the content of its accepted laws of which none follows from the others, by
evaluation. Says with the figure what it does not show. Reads evidence alone; no law is tried again, but what follows
from what is proved here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from specledger.core.diagnostics import Diagnostic, Rejected
from specledger.discovery.equivalence import irredundant, statement_of
from specledger.discovery.parser import ParsedLaw
from specledger.discovery.plan import compile_discovery
from specledger.discovery.redundancy import ONE, RedundancyDetector
from specledger.report.codes import E_REPORT_RECEIPTS
from specledger.report.evidence import Evidence
from specledger.report.figures import decimal, share
from specledger.report.markdown import Table, quote, write_summary

ACCEPTED: Final = ("PROVED", "PASS")

MOST_COMPARED: Final = 200
"""Accepted laws of which it is asked whether one follows from others; the yield has no more than so many."""

NOT_SHOWN: Final = (
    "Yield is the content of irredundant laws by evaluation. A law's content is the share of rules that differ in one "
    "entry of the table and break it on small rings: a lower bound. A law is irredundant that is not proved to follow "
    "from those of more content together, whatever the rule, nor to hold under every rule. "
    f"Of more than {MOST_COMPARED} accepted laws that differ, those of least content are left out. "
    "It does not show: what follows and was not proved to, which counts again; whether a law is of interest "
    "to anybody; what an evaluation, a token or a second cost; how another seed or another recording of the same model "
    "would have done. A discovery that was told more by its prompt had less to find."
)

_YIELDED: Final = (
    *("discovery", "model", "prompt", "evaluations", "accepted", "irredundant"),
    *("content", "content by 100", "tokens"),
)
_TOLD: Final = ("law", "", "claim", "iteration", "content", "fails under rules held out", "tried")
_COUNTED: Final = (
    *("iteration", "answer", "laws", "late", "rejected", "redundant"),
    *("tokens", "first by another weight"),
)

Body = Mapping[str, Any]


@dataclass
class _Law:
    """An accepted or refuted law, as its receipts tell it in the end."""

    name: str
    iteration: int
    document: Body
    verdict: Body | None
    error: str | None = None
    tried: int = 1
    held_out: Sequence[Body] = ()

    @property
    def status(self) -> str:
        return "ERROR" if self.verdict is None else str(self.verdict["status"])

    @property
    def content(self) -> int:
        found = None if self.verdict is None else self.verdict["content"]
        return 0 if found is None else _int(found["share"])


@dataclass
class Account:
    """What the receipts of a discovery say.

    Attributes:
        evidence: The discovery.
        start: Its first receipt.
        iterations: Its iterations.
        laws: The laws that were tried, by key.
        refuted: The ledger.
        trials: How many laws each iteration led to.
        late: How many of them came too late to be new.
        rejections: The reasons for which proposals were rejected, each with the iteration.
        irredundant: The accepted laws of which none follows from those of more content.
    """

    evidence: Evidence
    start: Body = field(default_factory=dict)
    iterations: list[Body] = field(default_factory=list)
    laws: dict[str, _Law] = field(default_factory=dict)
    refuted: list[Body] = field(default_factory=list)
    trials: Counter[int] = field(default_factory=Counter)
    late: Counter[int] = field(default_factory=Counter)
    rejections: list[tuple[str, int]] = field(default_factory=list)
    irredundant: list[_Law] = field(default_factory=list)

    @property
    def content(self) -> int:
        """The content of its irredundant laws together, in millionths."""
        return sum(law.content for law in self.irredundant)

    @property
    def evaluations(self) -> int:
        """How many trials it made, of proposed laws alone."""
        return _int(self.evidence.manifest["result"]["evaluations"])

    def add(self, type_: str, body: Body) -> None:
        """Take one receipt."""
        if type_ == "start":
            self.start = body
        elif type_ == "iteration":
            self.iterations.append(body)
            self.rejections += [(each["reason"], _int(body["iteration"])) for each in body["rejections"]]
        elif type_ == "law":
            self._tried(body)
        elif type_ == "escalation":
            known = self.laws[body["law"]]
            known.tried, known.held_out = 2, body["held_out"]
            known.verdict, known.error = body["verdict"], body["error"]
        elif type_ == "ledger":
            self.refuted += body["refuted"]

    def _tried(self, body: Body) -> None:
        iteration = _int(body["iteration"])
        self.trials[iteration] += 1
        if body["late"] is not None:
            self.late[iteration] += 1
            return
        first = self.laws.get(body["law"])  # one that is tried again is the law of its first iteration
        name, came = _name(body["law"]), iteration if first is None else first.iteration
        self.laws[body["law"]] = _Law(name, came, body["document"], body["verdict"], body["error"])


def read_account(evidence: Evidence) -> Account:
    """What a discovery came to.

    Raises:
        Rejected: E_REPORT_RECEIPTS.
    """
    account = Account(evidence)
    try:
        for type_, body in evidence.told():
            account.add(type_, body)
        plan = compile_discovery(evidence.specs)
        accepted = [law for law in account.laws.values() if law.status in ACCEPTED]
        account.irredundant = _irredundant([(law, plan.parsed(law.document)) for law in accepted])
    except (KeyError, TypeError, IndexError, AttributeError, ValueError) as error:
        raise Rejected([Diagnostic(E_REPORT_RECEIPTS, f"they cannot be summed up: {error!r}")]) from None
    return account


def _irredundant(accepted: Sequence[tuple[_Law, ParsedLaw]]) -> list[_Law]:
    """The laws that do not follow from those of more content, so that no order of proposals counts for more."""
    detector = RedundancyDetector(ONE, equivalent=True)
    different: list[tuple[_Law, ParsedLaw]] = []
    for law, parsed in sorted(accepted, key=lambda pair: -pair[0].content):  # stable: of equal ones the first
        if len(different) < MOST_COMPARED and detector.check(parsed) is None:
            detector.add_known_law(parsed)
            different.append((law, parsed))
    return [different[place][0] for place in irredundant([statement_of(one.plan.law) for _, one in different])]


def trials_of(result: Body) -> dict[str, int]:
    """The trials of a discovery by what came of them, none of it 0; they add up to its evaluations.

    Args:
        result: Of its manifest.
    """
    again = result["evaluations"] - sum(result["laws"].values()) - result["late"]
    counts = {**result["laws"], "late": result["late"], "of a law that was tried before": again}
    return {what: count for what, count in counts.items() if count}


def summarise_discovery(evidence: Evidence, others: Sequence[Evidence] = ()) -> str:
    """The summary of a discovery, which ends with a newline; with others, all are compared by their yield.

    Args:
        evidence: Of which no check failed.
        others: Other discoveries, such as a baseline.

    Raises:
        Rejected: E_REPORT_RECEIPTS.
    """
    accounts = [read_account(one) for one in (evidence, *others)]
    return write_summary(evidence, lambda _: _tables(accounts), ("", NOT_SHOWN))


def _tables(accounts: Sequence[Account]) -> Iterator[Table]:
    account = accounts[0]
    yield "Yield", _YIELDED, [_yield(each) for each in accounts]
    trials = {**trials_of(account.evidence.manifest["result"]), "all": account.evaluations}
    yield "Trials", ("what became of them", ""), [(what, str(count)) for what, count in trials.items()]
    accepted = [law for law in account.laws.values() if law.status in ACCEPTED]
    yield "Accepted laws", _TOLD, [_accepted(law) for law in accepted]
    yield "Refuted laws", ("law", "claim", "ring", "step"), [_refuted(account, line) for line in account.refuted]
    unknown = [law for law in account.laws.values() if law.status in ("UNKNOWN", "ERROR")]
    yield "Undecided laws", ("law", "claim", "reason", "detail"), [_undecided(law) for law in unknown]
    yield "Rejected proposals", ("reason", "proposals", "first in iteration"), _rejected(account)
    yield "Iterations", _COUNTED, [_iteration(account, each) for each in account.iterations]
    expected = account.evidence.manifest["result"]["expected"]
    yield (
        "Expected laws",
        ("law", ""),
        [(quote(law), "found" if met else "**missing**") for law, met in expected.items()],
    )


def _yield(account: Account) -> Sequence[str]:
    statuses = [law.status for law in account.laws.values()]
    accepted = sum(status in ACCEPTED for status in statuses)
    by_hundred = 100 * account.content // max(1, account.evaluations)
    result, names = account.evidence.manifest["result"], account.start
    return (
        quote(names["discovery"]),
        quote(_name(names["model"]["spec"])),
        quote(_name(names["prompt"])),
        str(account.evaluations),
        f"{accepted} ({statuses.count('PROVED')} proved)",
        str(len(account.irredundant)),
        decimal(account.content, 3),
        decimal(by_hundred, 3),
        str(_int(result["tokens"])),
    )


def _accepted(law: _Law) -> Sequence[str]:
    applied = [each for each in law.held_out if each["status"] != "INAPPLICABLE"]
    failed = sum(each["status"] == "FAIL" for each in applied)
    assert law.verdict is not None  # noqa: S101 - an accepted law has one
    tried = "twice" if law.tried > 1 else "once"
    told = (str(law.iteration), share(law.content), f"{failed} of {len(applied)}", tried)
    return quote(law.name), law.status, _claim(law), *told


def _refuted(account: Account, line: Body) -> Sequence[str]:
    law = account.laws[line["law"]]
    return quote(law.name), _claim(law), quote(line["start"]), str(_int(line["t"]))


def _undecided(law: _Law) -> Sequence[str]:
    if law.verdict is None:
        return quote(law.name), quote(said(law.document, "")), "ERROR", quote(law.error or "")
    return quote(law.name), _claim(law), quote(law.verdict["reason"]), quote(law.verdict["detail"] or "")


def _rejected(account: Account) -> list[Sequence[str]]:
    """Why proposals were rejected, the commonest reason first."""
    counts = Counter(reason for reason, _ in account.rejections)
    first = dict(reversed(account.rejections))
    return [(quote(reason), str(count), str(first[reason])) for reason, count in counts.most_common()]


def _iteration(account: Account, body: Body) -> Sequence[str]:
    number = _int(body["iteration"])
    usage, failure = body["answer"]["usage"], body["answer"]["failure"]
    tokens = sum(_int(usage[name]) for name in ("prompt_tokens", "output_tokens", "thinking_tokens"))
    moved = ", ".join(quote(each["factor"]) for each in body["sensitivity"] if each["changes"])
    return (
        str(number),
        "" if failure is None else quote(failure),
        str(account.trials[number]),
        str(account.late[number]),
        str(len(body["rejections"])),
        str(len(body["redundant"])),
        str(tokens),
        moved or "none",
    )


def _claim(law: _Law) -> str:
    return "" if law.verdict is None else quote(said(law.document, law.verdict["claim"]))


def said(document: Body, claim: str) -> str:
    """What a law says in one line: its claim, and what the names in it stand for."""
    names = [f"{each['name']} = {each['expr']}" for each in document.get("observables", ())]
    names += [f"transform = {document['transform']}"] if document.get("transform") else []
    return f"{claim}, where {', '.join(names)}" if names else claim


def _name(key: str) -> str:
    return key.partition("/")[2].rpartition("@")[0]


def _int(value: Any) -> int:
    if type(value) is not int:
        raise TypeError(f"{type(value).__name__} stands where an int should")
    return value
