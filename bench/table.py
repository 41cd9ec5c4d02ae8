"""The measured figures as text for a terminal and a README: one table, the aims, and what the figures do not show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from bench import pieces
from bench.clock import Measured

PUBLISHED: Final = 1_675
"""Governed steps/s of the published gridworld runtime, recorded on this class of machine; not measured here."""

AIM_PUBLISHED: Final = 8.0
AIM_HANDWRITTEN: Final = 0.25
AIM_RECEIPTS: Final = 150_000
AIM_REPLAY: Final = 1.3

_HEAD: Final = ("", "steps/s", "slowest - fastest", "per CPU second", "x hand-written", "x 1,675")

_NOTES: Final = (
    "steps/s are by the wall clock, the median of all rounds, beside the slowest and the fastest round. The ratios are",
    "by processor time, since others may use the machine: the median over rounds of the ratio within one round, and for",
    "x 1,675 the median rate. Waiting for the disk is in steps/s, not in the ratios.",
)

_LIMITS: Final = (
    "1,675 steps/s is the recorded figure of the published runtime on this class of machine. It was not measured in",
    "  this run, so the ratio to it compares two programs, two scenarios and two moments of a shared machine.",
    "The hand-written loop takes its constants from the specs but knows one scenario; a faster one could be written.",
    "  It shows what describing this scenario in YAML costs, not what others, larger maps or larger fields would.",
    "MiniGrid makes no proposals, judges none, hashes nothing and draws other observations: its steps are a scale.",
    "A YAML agent; no models, no subprocess agents. Loading and compiling are not in the table, which is of one process.",
)


def lines(measured: Sequence[Measured]) -> list[str]:
    """The table, one row for each piece of work, and how to read it."""
    by_name = {figures.name: figures for figures in measured}
    handwritten = by_name[pieces.HANDWRITTEN]
    rows = [_HEAD, *(_row(figures, handwritten) for figures in measured)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD))]
    table = [_aligned(row, widths) for row in rows]
    table.insert(1, "  ".join("-" * width for width in widths))
    return [*table, "", *_NOTES]


def _row(figures: Measured, handwritten: Measured) -> tuple[str, ...]:
    ratios = (f"{figures.against(handwritten):.2f}", f"{figures.cpu_rate / PUBLISHED:.1f}")
    checks = figures.name in (pieces.LINKS, pieces.CHAIN, pieces.REPLAY)
    return (
        figures.name,
        f"{figures.rate:,.0f}",
        f"{figures.worst:,.0f} - {figures.best:,.0f}",
        f"{figures.cpu_rate:,.0f}",
        *(("", "") if checks else ratios),  # they run nothing, or run it again
    )


def _aligned(row: Sequence[str], widths: Sequence[int]) -> str:
    name, *figures = (
        text.ljust(width) if not i else text.rjust(width)
        for i, (text, width) in enumerate(zip(row, widths, strict=True))
    )
    return "  ".join([name, *figures]).rstrip()


def verifying(measured: Sequence[Measured], receipts: int, size: int) -> list[str]:
    """What checking evidence costs next to making it.

    Args:
        measured: The figures.
        receipts: How many receipts a round has.
        size: Their bytes.
    """
    by_name = {figures.name: figures for figures in measured}
    engine, links, chain, replay = (
        by_name[name] for name in (pieces.ENGINE, pieces.LINKS, pieces.CHAIN, pieces.REPLAY)
    )
    rows = []
    for name, figures in (("chain of lines", links), ("chain, form, commitments, states, result", chain)):
        rate = figures.cpu_rate * receipts / figures.steps
        rows.append(f"{name}: {rate:,.0f} receipts/s, {rate * size / receipts / 1e6:,.0f} MB/s")
    ratio = 1 / replay.against(engine)
    linked = links.cpu_rate * receipts / links.steps
    return [
        f"{receipts:,} receipts of {size / receipts:,.0f} bytes on average; figures by processor time",
        *rows,
        "chain of lines: of each line's bytes its number, run, digest before and newline, and the Merkle root of all; that",
        "  it is canonical JSON and what it says is the other figure",
        f"replay: {ratio:.2f} times the time of the run",
        f"at least {AIM_RECEIPTS:,} receipts/s of the chain: {reached(linked >= AIM_RECEIPTS)}, {linked / AIM_RECEIPTS:.2f}",
        f"replay in at most {AIM_REPLAY:g} times the run: {reached(ratio <= AIM_REPLAY)}, {ratio:.2f}",
    ]


def reached(holds: bool) -> str:
    """Whether an aim was reached, in words."""
    return "reached" if holds else "not reached"


def aims(measured: Sequence[Measured]) -> list[str]:
    """What the engine is meant to reach, and whether it did in this run."""
    by_name = {figures.name: figures for figures in measured}
    engine = by_name[pieces.ENGINE]
    found = {
        f"at least {AIM_PUBLISHED:g} x 1,675 = {AIM_PUBLISHED * PUBLISHED:,.0f} steps/s in one process": (
            engine.cpu_rate / PUBLISHED,
            AIM_PUBLISHED,
        ),
        f"at least {AIM_HANDWRITTEN:g} of the hand-written loop": (
            engine.against(by_name[pieces.HANDWRITTEN]),
            AIM_HANDWRITTEN,
        ),
    }
    return [f"{aim}: {reached(ratio >= least)}, {ratio:.2f}" for aim, (ratio, least) in found.items()]


def limits() -> list[str]:
    """What the figures do not show."""
    return list(_LIMITS)


def titled(sections: Mapping[str, Sequence[str]]) -> str:
    """Sections under their titles."""
    return "\n\n".join("\n".join([title, *(f"  {line}".rstrip() for line in body)]) for title, body in sections.items())
