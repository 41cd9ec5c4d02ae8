"""What the package knows about one kind of spec."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct

from specledger.spec.base import Models, Spec

if TYPE_CHECKING:
    from specledger.core.diagnostics import Diagnostic, Diagnostics
    from specledger.core.events import Event
    from specledger.evidence.kind import ReceiptKind
    from specledger.kinds.running import Finished, Progress, RunOptions
    from specledger.load import Bundle
    from specledger.report.model import ReportKind
    from specledger.run.executor import Work
    from specledger.verify.kind import EvidenceKind


P = TypeVar("P")


class Runnable(Struct, frozen=True):
    """What a kind needs so that its specs can be run.

    Attributes:
        compile: `(bundle, checked)`: raises Rejected unless a bundle can be run; `checked` may take what was checked
            and is part of other bundles, too.
        execute: `(bundle, place, options, progress)`: runs a bundle and writes its evidence; raises Rejected.
        preview: What a run would do, as JSON values, from a bundle that compiles.
        events: The events of a run that needs nothing but its specs; None if the kind has no such runs.
        work: Gives the events of its runs, as lists of their fields, from bundles; None if runs do not share the
            executor among each other.
        table: Whether `show` makes one table of all runs of a command, printed at its end.
        total: A line about several runs of a table; None if there is none.
        resumes: Whether a run has a journal from which it resumes (`spec discover`).
        merge: `(folders, place, options)`: merges the shards of a run; None if its runs have none.
        refuse_seed: Why `--seed` cannot set the seeds of its runs, or None if it can.
    """

    compile: Callable[[Bundle, dict[str, Any]], object]
    receipts: ReceiptKind
    execute: Callable[[Bundle, Path, RunOptions, Progress | None], Finished]
    preview: Callable[[Bundle], dict[str, Any]]
    show: Callable[[Sequence[Finished]], str]
    events: Callable[[Bundle], Iterator[Event]] | None = None
    work: Callable[[], Work] | None = None
    table: bool = False
    total: Callable[[Sequence[Finished]], str] | None = None
    resumes: bool = False
    merge: Callable[[Sequence[Path], Path, RunOptions], Finished] | None = None
    refuse_seed: Callable[[Bundle, int], Diagnostic] | None = None
    seeds: Callable[[Bundle], list[int]] = attrgetter("seeds")


class Kind(Struct, frozen=True):
    """One kind of spec.

    Attributes:
        name: The word before `/v1` after `spec:`.
        load_model: Gives the model of its documents. It is a function, so that a command imports the models of those
            kinds alone that it meets.
        check: `(bundle, findings)`: compiles a spec of the kind on its own; raises Rejected or adds findings. None if
            its expressions can only be typed in the specs that refer to it.
        runnable: Gives the part that runs its specs; None if they cannot be run. Each of these parts is imported when
            it is asked for: a command that runs a spec imports neither what verifies nor what reports.
    """

    name: str
    load_model: Callable[[], type[Spec]]
    check: Callable[[Bundle, Diagnostics], object] | None = None
    runnable: Callable[[], Runnable] | None = None
    load_evidence: Callable[[], EvidenceKind[Any, Any]] | None = None
    load_report: Callable[[], ReportKind] | None = None

    @property
    def model(self) -> type[Spec]:
        """The model of its documents."""
        return self.load_model()

    @property
    def run(self) -> Runnable:
        """The runnable part; LookupError if specs of the kind cannot be run."""
        return self._runnable(self.runnable)

    @property
    def evidence(self) -> EvidenceKind[Any, Any]:
        """How its evidence is verified; LookupError as `run`."""
        return self._runnable(self.load_evidence)

    @property
    def report(self) -> ReportKind:
        """How reports read its evidence; LookupError as `run`."""
        return self._runnable(self.load_report)

    def _runnable(self, load: Callable[[], P] | None) -> P:
        if load is None:
            raise LookupError(f"specs of the kind {self.name} cannot be run")
        return load()


Kinds = Mapping[str, Kind]
"""A table of kinds by their names."""


def by_name(*kinds: Kind) -> dict[str, Kind]:
    """A table of kinds."""
    return {kind.name: kind for kind in kinds}


class Parts(Mapping[str, P]):
    """One part of each kind, by the name of the kind; what it needs is imported when it is used."""

    def __init__(self, kinds: Kinds, part: Callable[[Kind], P]) -> None:
        self._kinds = kinds
        self._part = part

    def __getitem__(self, name: str) -> P:
        return self._part(self._kinds[name])

    def __contains__(self, name: object) -> bool:
        return name in self._kinds

    def __iter__(self) -> Iterator[str]:
        return iter(self._kinds)

    def __len__(self) -> int:
        return len(self._kinds)


def models(kinds: Kinds) -> Models:
    """The models of a table of kinds, as `load` takes them."""
    return Parts(kinds, attrgetter("model"))  # which, unlike a lambda, can be sent to a worker process


def evidence_kinds(kinds: Kinds) -> Mapping[str, EvidenceKind[Any, Any]]:
    """How the evidence of each runnable kind is verified."""
    return Parts({name: kinds[name] for name in runnable_kinds(kinds)}, attrgetter("evidence"))


def report_kinds(kinds: Kinds) -> Mapping[str, ReportKind]:
    """How reports read the evidence of each runnable kind."""
    return Parts({name: kinds[name] for name in runnable_kinds(kinds)}, attrgetter("report"))


def runnable_kinds(kinds: Kinds) -> tuple[str, ...]:
    """The names of the kinds that can be run, in the order of the table."""
    return tuple(name for name, kind in kinds.items() if kind.runnable is not None)


def case_name(bundle: Bundle) -> str:
    """The name of a case and of its files: the name of the spec, with the id of the matrix case if there is one."""
    return f"{bundle.main.name}.{bundle.case}" if bundle.case else bundle.main.name
