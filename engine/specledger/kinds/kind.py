"""What the package knows about one kind of spec."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from msgspec import Struct

from specledger.core.verdict import Exit
from specledger.spec.base import Spec, SpecKinds

if TYPE_CHECKING:
    from specledger.core.diagnostics import Diagnostic, Diagnostics
    from specledger.core.events import Event
    from specledger.evidence.kind import ReceiptKind
    from specledger.kinds.running import Finished, Progress, RunOptions
    from specledger.lang.statement import Statement
    from specledger.load import Bundle
    from specledger.report.model import ReportKind
    from specledger.run.executor import Work
    from specledger.verify.kind import EvidenceKind


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
        merge: `(folders, kinds, place, options)`: merges the shards of a run; None if its runs have none.
        remarks: What a finished run leaves to do, for people, beside its verdict.
        claims: By challenge, how many of the claims that were tested held; in a suite by arm and challenge.
        results: The results of the runs of scenarios in it.
        refuse: `(bundle, key, value)`: why `--seed` or `--episodes` cannot set this of its runs; None if they can.
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
    merge: Callable[[Sequence[Path], SpecKinds, Path, RunOptions], Finished] | None = None
    remarks: Callable[[Finished], Sequence[str]] = lambda _: ()
    claims: Callable[[Finished], Mapping[str, Any]] = lambda done: done.manifest["result"].get("claims", {})
    results: Callable[[Finished], Iterable[Mapping[str, Any]]] = lambda done: [done.manifest["result"]]
    refuse: Callable[[Bundle, str, int], Diagnostic] | None = None
    seeds: Callable[[Bundle], list[int]] = attrgetter("seeds")


class Compared(Struct, frozen=True):
    """How two specs of a kind differ over logs.

    Attributes:
        status: The exit code: whether they say the same, differ, or nothing could be compared.
        lines: For people.
        document: As JSON values.
    """

    status: Exit
    lines: tuple[str, ...]
    document: dict[str, Any]


class Kind:
    """One kind of spec. A subclass imports each part when it is asked for.

    So a command imports the models of those kinds alone that it meets, and one that runs a spec imports neither what
    verifies nor what reports.

    Attributes:
        name: The word before `/v1` after `spec:`.
        runs, has_actions: Whether its specs can be run, and whether recorded calls can fit actions of theirs.
        explained_by: The kinds of specs in its bundle whose rules are its own, in the order in which they are said.
    """

    name: ClassVar[str]
    runs: ClassVar[bool] = False
    has_actions: ClassVar[bool] = False
    explained_by: ClassVar[tuple[str, ...]] = ()

    @property
    def model(self) -> type[Spec]:
        """The model of its documents."""
        raise NotImplementedError

    def check(self, bundle: Bundle, diagnostics: Diagnostics) -> None:
        """Compile a spec of the kind on its own; raises Rejected or adds diagnostics.

        By default its expressions are typed as far as that is possible without the specs that refer to it.
        """
        from specledger.compile.standalone import check_standalone

        check_standalone(bundle.main, diagnostics)

    @property
    def compiles_alone(self) -> bool:
        """Whether a spec of the kind has a check of its own, which needs no spec that refers to it."""
        return type(self).check is not Kind.check

    def explain(self, bundle: Bundle) -> Iterable[Statement]:
        """Its rules in sentences; LookupError if it has none of its own."""
        raise LookupError(f"specs of the kind {self.name} have no rules of their own")

    @property
    def explains(self) -> bool:
        """Whether it has rules of its own that can be said in sentences."""
        return type(self).explain is not Kind.explain

    @property
    def run(self) -> Runnable:
        """What runs its specs; LookupError if they cannot be run."""
        raise LookupError(f"specs of the kind {self.name} cannot be run")

    @property
    def evidence(self) -> EvidenceKind[Any, Any]:
        """How its evidence is verified; LookupError as `run`."""
        raise LookupError(f"specs of the kind {self.name} cannot be run")

    @property
    def report(self) -> ReportKind:
        """How reports read its evidence; LookupError as `run`."""
        raise LookupError(f"specs of the kind {self.name} cannot be run")

    @property
    def compare(self) -> Callable[[Bundle, Bundle, Sequence[Path], str | None], Compared]:
        """How two of its specs differ over logs of a format, which is recognised if it is None.

        LookupError if they say nothing of logs, or, when called, if there is no such format.
        """
        raise LookupError(f"specs of the kind {self.name} say nothing of logs")
