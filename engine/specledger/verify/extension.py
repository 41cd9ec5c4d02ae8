"""What a wing adds to the verification of runs whose actors it controls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, Protocol

from msgspec import Struct

from specledger.compile.plan import Actor
from specledger.core.diagnostics import Diagnostic, Rejected
from specledger.core.wing import E_WING, missing_wing, part_of
from specledger.evidence.receipts.kernel import Probe
from specledger.expr import RecordType
from specledger.verify.checks import Lacking, Verification
from specledger.verify.judged import Count
from specledger.verify.reference import Reference


class ControllerJudge(Protocol):
    """Judges what a controller decided about, by the second evaluator.

    Attributes:
        ruled: The names of its rules that reject a proposal.
    """

    ruled: frozenset[str]

    def see(self, body: Probe) -> None:
        """Judge what the receipt of a probe says."""


class Controlled(Struct, frozen=True):
    """How runs are verified whose actors have a controller.

    Attributes:
        check_probe: `(receipt, actors)`: raises Broken unless the receipt of a probe agrees with the actors' specs.
        check_log: `(path, entries, head)`: raises Broken unless an audit log is valid and ends with so many entries
            of a run, the last of which has the hash `head`.
        verify_log: Checks an audit log from its first entry to its last, or to the first that fails.
        observe: `(actor, count, reference, state)`: the actor, whose rules are recorded, and what judges them.
    """

    check_probe: Callable[[Mapping[str, Any], list[Actor]], None]
    observe: Callable[[Actor, Count, Reference, RecordType], tuple[Actor, ControllerJudge]]
    check_log: Callable[[Path, int, str], str]
    verify_log: Callable[[Path], Verification]


def controlled() -> Controlled:
    """The part of the wing whose controllers the actors have."""
    part: Controlled | None = part_of("controlled")
    assert part is not None  # noqa: S101 - the wing compiled the controller
    return part


_AUDIT_LOG: Final = "an audit log"


def check_audit_log(path: Path, entries: int, head: str) -> str:
    """Check that a log is valid and ends with so many entries of a run; raises Broken, or Lacking without its wing."""
    part: Controlled | None = part_of("controlled")
    if part is None:
        raise Lacking(missing_wing("kernel", _AUDIT_LOG)[0], E_WING)
    return part.check_log(path, entries, head)


def verify_audit_log(path: Path) -> Verification:
    """Check an audit log from its first entry to its last, or to the first that fails."""
    part: Controlled | None = part_of("controlled")
    if part is None:
        message, hint = missing_wing("kernel", _AUDIT_LOG)
        raise Rejected([Diagnostic(E_WING, message, hint=hint)])
    return part.verify_log(path)
