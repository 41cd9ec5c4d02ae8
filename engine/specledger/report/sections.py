"""Typed tables of a report: sections with rows and cells, which Markdown and HTML render each in their own form."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from specledger.core.diagnostics import counted

NEVER_CHECKED: Final = "never checked"
NEVER_APPLIED: Final = "its condition never held"
"""The marks of an invariant without an opportunity."""

NEVER_MADE: Final = "never made"
"""The mark of a probe that was not made."""


class Words(Struct, frozen=True):
    """Text that the engine supplies."""

    text: str


class Quoted(Struct, frozen=True):
    """A value of the evidence on one line: a string as it is, anything else as JSON."""

    value: Any
    most: int = 400


class Prose(Struct, frozen=True):
    """A sentence of a spec, in which what stands between backticks is code."""

    text: str
    most: int = 400


class Code(Struct, frozen=True):
    """A value of the evidence that is an expression, a digest or JSON."""

    value: Any
    most: int = 400


class Expression(Struct, frozen=True):
    """An expression of a spec, which a page shows on demand."""

    name: str
    text: str


class Block(Struct, frozen=True):
    """A JSON value of the evidence over several lines; an object as a small table."""

    value: Any


class Count(Struct, frozen=True):
    """An integer."""

    number: int


class Bar(Struct, frozen=True):
    """A share drawn as a bar; the number is in the cell beside it."""

    part: int
    of: int


class RowLink(Struct, frozen=True):
    """A link to another row, by its anchor."""

    anchor: str
    name: str


class PageLink(Struct, frozen=True):
    """A link to a page in the same folder."""

    file: str
    name: str


class Joined(Struct, frozen=True):
    """Cells one after another, separated by blanks or commas."""

    parts: Sequence[Cell]
    listed: bool = False


class Grid(Struct, frozen=True):
    """A small table without heads inside a cell; `more` rows are left out."""

    rows: Sequence[Sequence[str]]
    more: int = 0


Cell = Words | Quoted | Prose | Code | Expression | Block | Count | Bar | RowLink | PageLink | Joined | Grid

NOTHING: Final = Words("")


def without_opportunity(of: int, noun: str) -> str:
    """That a requirement never had an opportunity, in so many steps, calls or the like."""
    return f"never had an opportunity (0 of {counted(of, noun)})"


def beside(cell: Cell, words: str) -> Cell:
    """A cell with a sentence after it, if there is one."""
    return Joined((cell, Words(f"{words[0].upper()}{words[1:]}."))) if words else cell


class ReceiptLink(Struct, frozen=True):
    """A receipt, by its number in the bundle's own chain."""

    seq: int


class EpisodeLink(Struct, frozen=True):
    """An episode of a run, or the step `t` of it.

    `chain` is 0 for the bundle's own chain, else the run's place in `Reading.runs`, from 1.
    """

    chain: int
    episode: int
    t: int | None = None


Place = ReceiptLink | EpisodeLink | RowLink


class Row(Struct, frozen=True):
    """One row.

    Attributes:
        name: What it is about; its anchor is made from it.
        mark: The outcome in one or two words; may be empty.
        cells: One for each head after the first.
        details: Terms and values that are shown on demand.
        places: The receipts, episodes and rows that show it.
        of: The number of such places, if more than are listed.
    """

    name: str
    mark: str
    cells: Sequence[Cell]
    details: Sequence[tuple[str, Cell]] = ()
    places: Sequence[Place] = ()
    of: int = 0


class Section(Struct, frozen=True):
    """A table; `heads` name the row and then each cell.

    The rows of several bundles are put into one table if it is compared; details are always shown if it is detailed.
    Where many sections are of one `group`, a list of sections has one entry for them.
    """

    id: str
    title: str
    intro: str
    heads: Sequence[str]
    rows: Sequence[Row]
    compared: bool = False
    detailed: bool = False
    group: str = ""

    def trimmed(self) -> Section:
        """The section without the columns in which no row has anything."""
        places = range(len(self.heads) - 1)
        kept = [at for at in places if any(at < len(row.cells) and not _empty(row.cells[at]) for row in self.rows)]
        if len(kept) == len(places):
            return self
        rows = [replace(row, cells=[row.cells[at] for at in kept if at < len(row.cells)]) for row in self.rows]
        return replace(self, heads=(self.heads[0], *(self.heads[at + 1] for at in kept)), rows=rows)


def _empty(cell: Cell) -> bool:
    return (
        cell == NOTHING
        or (isinstance(cell, Quoted) and cell.value == "")
        or (isinstance(cell, Prose) and not cell.text)
        or (isinstance(cell, Joined) and not cell.parts)
    )


def anchor(section: str, name: str) -> str:
    """The anchor of a row, in characters that a URL fragment may hold."""
    return f"{section}.{re.sub(r'[^A-Za-z0-9._-]+', '_', name)[:80]}"


_CHECK_SECTIONS: Final[Mapping[str, str]] = {
    "gate": "gates",
    "invariant": "invariants",
    "progress": "invariants",
    "probe": "probes",
    "rule": "rules",
    "check": "checks",
    "mutant": "mutants",
    "law": "laws",
    "receipts": "asked",
    "verified": "asked",
}


def check_anchor(check: str) -> str:
    """The anchor of the row of a check, by the check's id."""
    kind, _, name = check.partition("/")
    return anchor(_CHECK_SECTIONS.get(kind, kind), name or kind)


_TONES: Final[Mapping[str, str]] = {
    "good": "PASS PROVED passed caught held came-true FAIL-as-expected UNKNOWN-as-expected reached found",
    "bad": "FAIL ERROR failed survived broken error refuted missed decides-nothing predicted-wrongly taken",
    "open": "WAIVED INCONCLUSIVE UNKNOWN untested differs not-made cannot-tell not-applicable deferred not-checked "
    "names-no-reason never-rejected-anything judged-nothing never-made not-asked never-checked as-recorded "
    "its-condition-never-held",
}
_FIRST: Final = ("bad", "open")
_TONE_OF: Final = {mark: tone for tone, marks in _TONES.items() for mark in marks.split()}


def tone(mark: str) -> str:
    """What a mark means, without what it says in brackets: `good`, `bad`, `open`, or an empty string."""
    return _TONE_OF.get(mark.partition(" (")[0].replace(" ", "-"), "")


def open_first(rows: Iterable[Row]) -> list[Row]:
    """Rows with those first that failed, then those that are open; each in their order."""
    order = {tone_: at for at, tone_ in enumerate(_FIRST)}
    return sorted(rows, key=lambda row: order.get(tone(row.mark), len(order)))
