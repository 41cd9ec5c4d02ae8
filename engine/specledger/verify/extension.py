"""What a wing adds to the verification of runs whose actors it controls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from msgspec import Struct

from specledger.compile.plan import Actor
from specledger.core.wing import part_of
from specledger.evidence.receipts.kernel import Probe
from specledger.expr import RecordType
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
        observe: `(actor, count, reference, state)`: the actor, whose rules are recorded, and what judges them.
    """

    check_probe: Callable[[Mapping[str, Any], list[Actor]], None]
    observe: Callable[[Actor, Count, Reference, RecordType], tuple[Actor, ControllerJudge]]


def controlled() -> Controlled:
    """The part of the wing whose controllers the actors have."""
    part: Controlled | None = part_of("controlled")
    assert part is not None  # noqa: S101 - the wing compiled the controller
    return part
