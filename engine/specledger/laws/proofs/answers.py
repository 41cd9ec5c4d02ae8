"""The answers of the prover, and the limits on its work."""

from __future__ import annotations

from typing import Any, TypeAlias

from msgspec import Struct

from specledger.laws.proofs.question import State


class Limits(Struct, frozen=True):
    """Bounds on the work of one question, counted and not timed.

    Attributes:
        windows: Most windows of one width: edges of a de Bruijn graph.
        nodes: Most cases that a proof by circulations distinguishes, leaves included.
        conjuncts: Most conjunctions of the negated claim.
        cells: Most cells that are updated or read when rings are enumerated.
        ring: Most cells of a counterexample that is built from a circulation.
    """

    windows: int = 1 << 14
    nodes: int = 48
    conjuncts: int = 32
    cells: int = 400_000
    ring: int = 400


class Proved(Struct, frozen=True):
    """The claim holds under its contract, for every ring and t.

    Attributes:
        certificate: Canonical JSON, for `specledger.verify.certificates`.
        contract: The starts and rings that are meant.
    """

    certificate: dict[str, Any]
    contract: str


class ProvedUpTo(Struct, frozen=True):
    """The claim holds on every admitted ring of at most `length` cells; of longer ones nothing is known.

    Attributes:
        length: Cells.
        certificate: Canonical JSON; it says `exhaustive`.
        contract: The starts and rings that are meant.
        why: What stood in the way of a proof for every length.
    """

    length: int
    certificate: dict[str, Any]
    contract: str
    why: str


class Refuted(Struct, frozen=True):
    """The claim fails.

    Attributes:
        ring: The initial state: the smallest that was found.
        t: The first t at which an instance of the claim fails.
        note: How it was found, and whether it is the smallest of all.
        contract: The starts and rings that are meant.
    """

    ring: State
    t: int
    note: str
    contract: str


class Undecided(Struct, frozen=True):
    """Nothing is known.

    Attributes:
        why: The limit that was met, or why the question makes no sense.
        contract: The starts and rings that are meant.
    """

    why: str
    contract: str


Answer: TypeAlias = Proved | ProvedUpTo | Refuted | Undecided
