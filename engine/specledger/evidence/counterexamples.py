"""The minimal failing cases of evidence: the receipts that show each cause for the first time.

The writer of a bundle and its verifier use the same code. It holds one receipt at a time, since a step may have any
number of them: the files are made of receipts that are read once more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from typing import Any, Final

from msgspec import Struct, field

from specledger.core.canonical import canonical_bytes, parse_written
from specledger.core.events import PROGRESS, KeptStatus
from specledger.core.verdict import Verdict
from specledger.evidence.layout import counterexample_path
from specledger.evidence.receipts import run, typed
from specledger.evidence.receipts.kernel import Probe

MOST_CASES: Final = 100
"""Failing cases that a bundle holds, the first ones."""

Body = Mapping[str, Any]

Numbered = tuple[int, str, Body]
"""The number, the type and the body of a receipt."""

_FAILED: Final = (Verdict.FAIL, Verdict.ERROR)
_NO_CAUSE: Final[Set[str]] = frozenset()
_OF_NO_STEP: Final = frozenset({"start", "episode", "end"})
_CLOSING: Final = frozenset({"error", "episode_end"})
"""The receipts after which a step is over, beside decisions."""


class Case(Struct, frozen=True):
    """A failing case, with the numbers of its first and last receipt; all between them belong to it."""

    causes: frozenset[str]
    first: int
    last: int

    @classmethod
    def at(cls, seq: int, cause: str) -> Case:
        """That of one receipt with one cause."""
        return cls(frozenset([cause]), seq, seq)

    @property
    def path(self) -> str:
        """Its file in the bundle."""
        return counterexample_path(self.last)


Finder = Callable[[], Callable[[int, str, Body], Case | None]]
"""Makes what takes the receipts of one kind in order, each with its number, and gives the case that one closes."""


class Cases:
    """Collects the failing cases of receipts, the first of each cause.

    Attributes:
        kept: Those so far, `MOST_CASES` at most.
    """

    def __init__(self, find: Finder) -> None:
        """Begin before the first receipt."""
        self.kept: list[Case] = []
        self._find = find()
        self._known: set[str] = set()
        self._number = 0

    def add(self, type_: str, body: Body) -> None:
        """Take one receipt.

        Raises:
            KeyError, TypeError, AttributeError, ValueError: It is malformed.
        """
        case = self._find(self._number, type_, body)
        self._number += 1
        if case is not None and not case.causes <= self._known and len(self.kept) < MOST_CASES:
            self._known |= case.causes
            self.kept.append(case)


class Step(Struct):
    """One step of a run, as far as its receipts have come.

    Attributes:
        causes: What failed in it, each by what it is and its name.
        receipts: `(type, body)` of each that is kept; the last one closes the step, or the episode after its last step.
    """

    first: int
    causes: set[str] = field(default_factory=set)
    receipts: list[tuple[str, Body]] = field(default_factory=list)

    def bodies(self, type_: str) -> list[Body]:
        """Its receipts of a type."""
        return [body for kind, body in self.receipts if kind == type_]

    @property
    def failed_probes(self) -> list[Probe]:
        """Its probes that failed, or could not be evaluated."""
        probes = (typed(Probe, body) for body in self.bodies("probe"))
        return [probe for probe in probes if probe["verdict"] in _FAILED]


class Steps:
    """Takes the receipts of a run one by one and gives the steps."""

    def __init__(self) -> None:
        """Begin before the first receipt."""
        self._step: Step | None = None

    def add(self, seq: int, type_: str, body: Body) -> Step | None:
        """Take one receipt; if it closes a step, or an episode after its last one, that is returned."""
        if type_ == "episode":
            self._step = None
        if type_ in _OF_NO_STEP:
            return None
        if self._step is None:
            self._step = Step(seq)
        step = self._step
        step.causes |= _causes(type_, body)
        step.receipts.append((type_, body))
        if not _closes(type_, body):
            return None
        self._step = None
        return step


def find_cases(find: Finder, lines: Iterable[bytes]) -> list[Case]:
    """The failing cases, the first of each cause, of lines that were sealed."""
    cases = Cases(find)
    for _, type_, body in _numbered(lines):
        cases.add(type_, body)
    return cases.kept


def parts_of(cases: Iterable[Case], lines: Iterable[bytes]) -> Iterator[tuple[str, Iterator[bytes]]]:
    """The files of failing cases: the path of each, and its bytes in parts, which are taken before the next file."""
    receipts = _numbered(lines)
    for case in cases:
        yield case.path, _document(case, receipts)


def named_cause(noun: str, name: Any) -> str:
    """A cause by what it is and its name; TypeError if that is not text."""
    if not isinstance(name, str):
        raise TypeError(f"{type(name).__name__} stands where a name should")
    return f"{noun}:{name}"


def _causes(type_: str, body: Body) -> Set[str]:
    """What failed according to one receipt."""
    if type_ == "step":
        step = typed(run.Step, body)
        broken = _broken(step)
        errors = [decision["error"] for decision in step["decisions"] if decision["error"] is not None]
        return broken | {named_cause("error", error["code"]) for error in errors} if errors else broken
    if type_ == "rules":
        rules = typed(run.Rules, body)
        kept = [verdict["rule"] for verdict in rules.get("withheld", ()) if verdict["status"] == KeptStatus.BROKEN]
        names = [breach["rule"] for breach in rules["broken"]]
        return {named_cause("rule", rule) for rule in (*names, *kept)} if names or kept else _NO_CAUSE
    if type_ == "probe":
        probe = typed(Probe, body)
        return {named_cause("probe", probe["probe"])} if probe["verdict"] in _FAILED else _NO_CAUSE
    if type_ == "error":
        return {named_cause("error", typed(run.EvaluationError, body)["code"])}
    return _broken(typed(run.EpisodeEnd, body)) if type_ == "episode_end" else _NO_CAUSE


def _broken(body: run.Step | run.EpisodeEnd) -> Set[str]:
    """The invariants that a receipt says are broken."""
    names = [breach["invariant"] for breach in body.get("violations", ())]
    return {PROGRESS if name == PROGRESS else named_cause("invariant", name) for name in names} if names else _NO_CAUSE


def _closes(type_: str, body: Body) -> bool:
    """Whether a receipt closes a step: a decision that is judged, the last one of a turn, or what ends an episode."""
    return typed(run.Step, body).get("success", True) is not None if type_ == "step" else type_ in _CLOSING


def _numbered(lines: Iterable[bytes]) -> Iterator[Numbered]:
    for seq, line in enumerate(lines):
        receipt = parse_written(line)
        yield seq, receipt["type"], receipt["body"]


def _document(case: Case, receipts: Iterator[Numbered]) -> Iterator[bytes]:
    """The canonical form of `{causes, receipts}` and a newline."""
    yield b'{"causes":' + canonical_bytes(sorted(case.causes, key=str.encode)) + b',"receipts":['
    for seq, type_, body in receipts:
        if seq >= case.first:
            yield b"," * (seq > case.first) + canonical_bytes({"body": body, "seq": seq, "type": type_})
        if seq == case.last:
            break
    yield b"]}\n"


def run_cases() -> Callable[[int, str, Body], Case | None]:
    """Finds the steps of a run in which something failed; of the others it keeps nothing."""
    first, causes = -1, set[str]()

    def find(seq: int, type_: str, body: Body) -> Case | None:
        nonlocal first, causes
        if type_ in _OF_NO_STEP:
            first, causes = (-1, set()) if type_ == "episode" else (first, causes)
            return None
        if first < 0:
            first = seq
        causes |= _causes(type_, body)
        if not _closes(type_, body):
            return None
        case = Case(frozenset(causes), first, seq) if causes else None
        first, causes = -1, set() if causes else causes
        return case

    return find


def no_cases() -> Callable[[int, str, Body], Case | None]:
    """Finds nothing: of evidence that shows no failing cases."""
    return lambda seq, type_, body: None
