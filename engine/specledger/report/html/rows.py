"""The tables of a page: rows with a mark, a link of their own, details below, and the receipts that they rest on.

Decides how a row looks and how it is found. Refuses to know which rows there are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from specledger.report.html.elements import NOTHING, Markup, element, join, quoted, words

MOST_ROWS: Final = 400
"""Rows of a table; the others are counted."""

UNTESTED: Final = "untested"
"""The mark of what had no opportunity to be otherwise."""

_TONES: Final[Mapping[str, tuple[str, str]]] = {
    "good": ("\u2713", "PASS PROVED passed caught held FAIL-as-expected UNKNOWN-as-expected reached found"),
    "bad": ("\u2715", "FAIL ERROR failed survived broken error refuted missed"),
    "open": ("?", "INCONCLUSIVE UNKNOWN untested not-made cannot-tell not-applicable deferred not-checked"),
}
_SIGNS: Final = {tone: sign for tone, (sign, _) in _TONES.items()}
_TONE_OF: Final = {mark: tone for tone, (_, marks) in _TONES.items() for mark in marks.split()}


@dataclass(frozen=True, slots=True)
class Receipt:
    """A receipt: of which chain of the page, and its number there."""

    chain: int
    seq: int


@dataclass(frozen=True, slots=True)
class Steps:
    """An episode that can be stepped through: of which chain, and its number."""

    chain: int
    episode: int


@dataclass(frozen=True, slots=True)
class RowLink:
    """Another row of the page."""

    anchor: str
    name: str


Place = Receipt | Steps | RowLink
Held = Callable[[Place], bool]
"""Whether a page holds what a place names."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row.

    Attributes:
        name: What it is about; its link is made of it.
        mark: How it stands, in one word; none, if empty.
        cells: After mark and name, one for each further head.
        details: Terms and what is said of them, shown on demand.
        places: What it rests on.
        of: How many such places there are in all, if more.
    """

    name: str
    mark: str
    cells: Sequence[Markup]
    details: Sequence[tuple[str, Markup]] = ()
    places: Sequence[Place] = ()
    of: int = 0


@dataclass(frozen=True, slots=True)
class Section:
    """A table with its heads: of the name, then of each cell."""

    id: str
    title: str
    intro: str
    heads: Sequence[str]
    rows: Sequence[Row]


def anchor(section: str, name: str) -> str:
    """The link of a row: made of letters that a link may hold."""
    return f"{section}.{re.sub(r'[^A-Za-z0-9._-]+', '_', name)[:80]}"


def anchors(section: Section) -> list[str]:
    """The links of the rows that are shown, no two alike."""
    used: dict[str, None] = {}
    for row in section.rows[:MOST_ROWS]:
        link = anchor(section.id, row.name)
        while link in used:
            link += "_"
        used[link] = None
    return list(used)


def tone(mark: str) -> str:
    """What a mark amounts to: good, bad, open, or nothing."""
    return _TONE_OF.get(mark.replace(" ", "-"), "")


def marked(mark: str) -> Markup:
    """A mark with its sign, so that colour is not all that tells."""
    found = tone(mark)
    sign = element("span", words(_SIGNS[found]), aria_hidden="true", class_="sign") if found else NOTHING
    return element("span", sign, words(mark), class_=f"mark {found}".strip()) if mark else NOTHING


def render(section: Section, held: Held) -> Markup:
    """A section as markup."""
    title = element("h2", words(section.title), id=f"{section.id}-title")
    intro = element("p", words(section.intro), class_="intro") if section.intro else NOTHING
    more = len(section.rows) - MOST_ROWS
    note = element("p", words(f"And {more} more rows, which are not on this page."), class_="note")
    inner = (title, intro, _table(section, held), note if more > 0 else NOTHING)
    return element("section", *inner, id=section.id, aria_labelledby=f"{section.id}-title")


def _table(section: Section, held: Held) -> Markup:
    evidence = any(row.places for row in section.rows)
    marks = any(row.mark for row in section.rows)
    heads = [*([""] if marks else []), *section.heads, *(["evidence"] if evidence else [])]
    head = element("tr", *(element("th", words(name), scope="col") for name in heads))
    named = zip(anchors(section), section.rows, strict=False)
    items = [_item(row, link, len(heads), (marks, evidence), held) for link, row in named]
    table = element("table", element("thead", head), *items)
    return element("div", table, class_="scroll")


def _item(row: Row, link: str, width: int, has: tuple[bool, bool], held: Held) -> Markup:
    marks, evidence = has
    here = element("a", words("#"), href=f"#{link}", class_="anchor", aria_label=f"link to {row.name}")
    cells = [element("td", marked(row.mark))] if marks else []
    cells.append(element("th", element("span", quoted(row.name), class_="name"), here, scope="row"))
    cells += [element("td", cell) for cell in row.cells]
    if evidence:
        cells.append(element("td", *_links(row, held), class_="places"))
    lines = [element("tr", *cells)]
    if row.details:
        terms = [join(element("dt", words(term)), element("dd", said)) for term, said in row.details]
        lines.append(element("tr", element("td", element("dl", *terms), colspan=width), class_="details"))
    return element("tbody", *lines, id=link, class_="item", data_tone=tone(row.mark) or "none", tabindex=-1)


def _links(row: Row, held: Held) -> Iterator[Markup]:
    """What a row rests on: links to what the page holds, the number of what it does not."""
    for place in row.places:
        yield _link(place, held(place))
    more = row.of - len(row.places)
    if more > 0:
        yield words(f" and {more} more")


def _link(place: Place, held: bool) -> Markup:
    if isinstance(place, RowLink):
        return element("a", quoted(place.name), href=f"#{place.anchor}") if held else quoted(place.name)
    if isinstance(place, Steps):
        return element("a", words("step through"), href=f"#s.{place.chain}.{place.episode}") if held else NOTHING
    if not held:
        return element("span", words(f"receipt {place.seq}"), class_="absent", title="not embedded in this page")
    return element("a", words(f"receipt {place.seq}"), href=f"#r.{place.chain}.{place.seq}")
