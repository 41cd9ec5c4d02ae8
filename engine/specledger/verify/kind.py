"""The part that a kind of evidence supplies to verification, and the stages that evidence passes through.

Each stage extends the one before it: `Read`, `Chained`, `Checked`, `Compiled`, `Replayed`. A function that needs
compiled specs takes `Compiled`, so it cannot be called earlier. `bundle` constructs the stages and numbers the checks
between them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

from msgspec import Struct

from specledger.compile.plan_cache import CompileScenario
from specledger.evidence.counterexamples import Case
from specledger.evidence.kind import ReceiptKind
from specledger.evidence.layout import RECEIPTS
from specledger.load import Bundle
from specledger.run.executor import Executor
from specledger.run.workers import ALONE
from specledger.spec.base import SpecKind, SpecKinds
from specledger.verify import check_names
from specledger.verify.check_names import CheckName
from specledger.verify.checks import Verification
from specledger.verify.judged import Count
from specledger.verify.manifest import Listing
from specledger.verify.receipts import Head, Order, Receipts
from specledger.verify.recorded import Recorded, compile_recorded


@runtime_checkable
class Verifiable(Protocol):
    """Evidence whose content was checked without replay; what is left is to replay and to judge it."""

    def replay(self) -> str:
        """Make the evidence again and compare it."""

    def judge(self, obstacle: str | None) -> Count:
        """Have a second evaluator judge every verdict of an expression.

        Raises:
            Broken, Lacking: It cannot be judged.
            Rejected: E_JUDGE_PACKAGE.
        """


class Resources(Struct, frozen=True):
    """What compiling recorded specs needs beside them."""

    kinds: SpecKinds
    executor: Executor = ALONE
    plan: CompileScenario = compile_recorded


class Content(Protocol):
    """The compiled specs of one bundle, with what its kind knows about the receipts."""

    def check(self, verification: Verification, obstacle: str | None) -> Verifiable:
        """Make the checks that only this kind has."""


O = TypeVar("O", bound=Order)  # noqa: E741 - the order of receipts
C = TypeVar("C", bound=Content)


class EvidenceKind(Struct, Generic[O, C], frozen=True):
    """What verification needs to know about one kind of evidence.

    Attributes:
        receipts: The kind's name, its result and its failing cases, shared with the writer.
        order: Makes the rules of the order of receipts, which are given every receipt once.
        content: `(evidence, its specs, resources)`: compiles the recorded specs; raises Broken if they do not compile.
        checks: The names of the checks that `Content.check` always makes.
        files: Names of further files that such a bundle may hold beside receipts and specs.
        folders: Names of folders that hold other bundles.
        replay: The name of the check of replay.
        seeds: The seeds that a run of the specs uses.
        describe: Words for what the receipts hold that was checked by the order, and for what they do not hold.
        know: Gives the rules of the order the recorded specs, which are read when they are first needed.
    """

    receipts: ReceiptKind
    order: Callable[[], O]
    content: Callable[[Checked[O, Any], Bundle, Resources], C]
    checks: tuple[CheckName, ...] = ()
    files: tuple[str, ...] = ()
    folders: frozenset[str] = frozenset()
    replay: CheckName = check_names.REPLAY
    seeds: Callable[[Bundle], list[int]] = attrgetter("seeds")
    describe: Callable[[O], str] | None = None
    know: Callable[[O, Recorded], None] | None = None


class VerifiableKind(SpecKind, Protocol):
    """What verification needs to know about a kind of spec."""

    @property
    def runs(self) -> bool:
        """Whether its specs can be run; only then they leave evidence."""

    @property
    def evidence(self) -> EvidenceKind[Any, Any]:
        """How its evidence is verified; LookupError if its specs cannot be run."""


class Read(Struct, Generic[O, C], frozen=True):
    """A bundle whose manifest is well-formed and whose files are those that the manifest lists."""

    folder: Path
    kind: EvidenceKind[O, C]
    manifest: Mapping[str, Any]
    listing: Listing

    @property
    def receipts(self) -> Receipts:
        """The receipts on disk."""
        return Receipts(self.folder / RECEIPTS, self.manifest["run"])


class Chained(Read[O, C], Generic[O, C], frozen=True):
    """A bundle whose receipts form one chain with the recorded head, count and root."""

    head: Head


class Checked(Chained[O, C], Generic[O, C], frozen=True):
    """A bundle whose receipts are in order and give the recorded result.

    `stated` is the digest of the specs that the first receipt names; a hostile receipt may name any value. `cases` are
    the failing cases that the receipts show.
    """

    order: O
    stated: Any
    cases: Sequence[Case]


class Compiled(Checked[O, C], Generic[O, C], frozen=True):
    """A bundle whose specs have the recorded digest and compile, and whose further files match its receipts."""

    specs: Bundle
    content: C


class Replayed(Compiled[O, C], Generic[O, C], frozen=True):
    """A bundle that replay reproduces, or that is not replayed for a stated reason, which is `obstacle` then."""

    verifiable: Verifiable
    obstacle: str | None
