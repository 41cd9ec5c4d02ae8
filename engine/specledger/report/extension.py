"""What a wing adds to reports: what the names mean that it gives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from specledger.core.wing import part_of
from specledger.evidence.receipts import run
from specledger.evidence.receipts.kernel import Probe, ProbeEvidence
from specledger.gates.capability import TOKEN
from specledger.gates.governor import SCHEMA
from specledger.load import Resolved
from specledger.report.sections import Row, RowLink, Section
from specledger.report.units import Tree

_GATES: Final[Mapping[str, str]] = {
    SCHEMA: "A proposal is well formed: a known action, with arguments and claims as declared.",
    TOKEN: "An execution names a token that was issued for it and is not used up.",
}


Totals = Mapping[str, Any]
"""The totals of an agent over its runs (`agent_metrics.totals`)."""


ANSWERS: Final = frozenset({"answers", "offers"})
"""The sections of probes that are shown in full."""


class ShownProbe(Struct, frozen=True):
    """A probe that is shown in full.

    Attributes:
        name: The name that it is counted under.
        document: The document that was committed to before.
        units: What numbers of the run are shown in.
    """

    name: str
    seq: int
    receipt: Probe
    document: str | None
    units: Mapping[str, Tree] = {}


class ShownTrajectory(Struct, frozen=True):
    """A trajectory that is shown in full: its number from 0, its table, and the row of each call by the call's id."""

    episode: int
    section: Section
    calls: Mapping[str, RowLink]


class Meanings(Struct, frozen=True):
    """What the names of a wing mean.

    Attributes:
        gates: The meaning of each of its gates.
        places: Where its probes are made, in words, by the name of the place.
        cause_text: `(cause, times)`: a cause of a probe's verdict, how often it was, and what it means.
        miss_text: `evidence of a probe`: the first prediction that was missed; empty if none was.
        probe_tables: `(totals by agent, a row of each probe of a single run)`: what is shown of probes.
        confidence_tables: `totals by agent`: what is shown of stated confidence.
        answer_tables: `(probes, how many more)`: what each asked, expected and got.
    """

    gates: Mapping[str, str]
    places: Mapping[str, str]
    cause_text: Callable[[str, int], str]
    miss_text: Callable[[ProbeEvidence], str]
    probe_tables: Callable[[Mapping[str, Totals], Sequence[Row]], Iterator[Section]]
    confidence_tables: Callable[[Mapping[str, Totals]], Iterator[Section]]
    answer_tables: Callable[[Sequence[ShownProbe], int], Iterator[Section]]


_NONE: Final = Meanings(
    {},
    {},
    lambda cause, times: f"{cause} ({times})",
    lambda _: "",
    lambda _, __: iter(()),
    lambda _: iter(()),
    lambda _, __: iter(()),
)


def meanings() -> Meanings:
    """The meanings of the wing that has some; names without a meaning if no installed wing has."""
    part: Meanings | None = part_of("meanings")
    return _NONE if part is None else part


def trajectory_sections(evidence: Path, receipts: Sequence[run.Rules]) -> Iterable[ShownTrajectory]:
    """The trajectories that a bundle holds in which these receipts say that a rule was broken or left open."""
    part: Callable[[Path, Sequence[run.Rules]], Iterable[ShownTrajectory]] | None = part_of("trajectory_sections")
    return () if part is None else part(evidence, receipts)


def trajectory_names(evidence: Path) -> Sequence[str]:
    """What the trajectories of a bundle are called, in their order; none if no installed wing reads them."""
    part: Callable[[Path], Sequence[str]] | None = part_of("trajectory_names")
    return () if part is None else part(evidence)


def rule_words(policy: Resolved, name: str) -> str:
    """What a rule of a policy says in sentences; empty if no installed wing says it."""
    part: Callable[[Resolved, str], str] | None = part_of("rule_words")
    return "" if part is None else part(policy, name)


def gate_meaning(name: str) -> str | None:
    """What a gate of the engine means; None of another one."""
    return _GATES.get(name) or meanings().gates.get(name)
