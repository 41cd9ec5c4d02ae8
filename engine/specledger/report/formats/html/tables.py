"""Renders sections of a report as HTML tables: rows with a mark, an anchor, details, and links to what shows them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, assert_never

from specledger.report.formats.html.elements import (
    NOTHING,
    Markup,
    bar,
    block,
    code,
    count,
    element,
    join,
    joined,
    prose,
    quoted,
    words,
)
from specledger.report.overview import Headline, Part
from specledger.report.sections import (
    Bar,
    Block,
    Cell,
    Code,
    Count,
    EpisodeLink,
    Expression,
    Grid,
    Joined,
    PageLink,
    Place,
    Prose,
    Quoted,
    ReceiptLink,
    Row,
    RowLink,
    Section,
    Words,
    anchor,
    tone,
)

MOST_ROWS: Final = 400
"""Rows of a table; the others are counted."""

_MOST_ENTRIES: Final = 40  # of an object that is shown as a table
_LONGEST_EXPRESSION: Final = 2000

_SIGNS: Final = {"good": "\u2713", "bad": "\u2715", "open": "?"}

Contains = Callable[[Place], bool]
"""Whether a page contains the target of a link."""


def anchors(section: Section) -> list[str]:
    """The anchors of the rows that are shown; all differ."""
    used: dict[str, None] = {}
    for row in section.rows[:MOST_ROWS]:
        link = anchor(section.id, row.name)
        while link in used:
            link += "_"
        used[link] = None
    return list(used)


def marked(mark: str, *, sure: bool = True) -> Markup:
    """A mark with its sign, so that it does not depend on colour; a good one that is not sure looks as an open one."""
    mark_tone = tone(mark) if sure or tone(mark) != "good" else "open"
    sign = element("span", words(_SIGNS[mark_tone]), aria_hidden="true", class_="sign") if mark_tone else NOTHING
    return element("span", sign, words(mark), class_=f"mark {mark_tone}".strip()) if mark else NOTHING


def render_cell(cell: Cell, contains: Contains) -> Markup:
    """A cell as markup."""
    match cell:
        case Words():
            return words(cell.text)
        case Quoted():
            return quoted(cell.value, cell.most)
        case Prose():
            return prose(cell.text, cell.most)
        case Code():
            return code(cell.value, cell.most)
        case Expression():
            summary = element("summary", words(cell.name))
            return element("details", summary, code(cell.text, _LONGEST_EXPRESSION), class_="expression")
        case Block():
            return _witness(cell.value)
        case Count():
            return count(cell.number)
        case Bar():
            return bar(cell.part, cell.of)
        case RowLink():
            shown = quoted(cell.name)
            return element("a", shown, href=f"#{cell.anchor}") if contains(cell) else shown
        case PageLink():
            return element("a", quoted(cell.name), href=cell.file)
        case Joined():
            parts = [render_cell(part, contains) for part in cell.parts]
            return joined(", " if cell.listed else " ", parts)
        case Grid():
            rows = [element("tr", *(element("td", words(text)) for text in row)) for row in cell.rows]
            more = element("p", words(f"and {cell.more} more")) if cell.more else NOTHING
            return join(element("table", element("tbody", *rows)), more)
    assert_never(cell)


def _witness(value: Any) -> Markup:
    """A small object as a table of its names and values, anything else as JSON."""
    if not isinstance(value, dict) or not 0 < len(value) <= _MOST_ENTRIES:
        return block(value)
    rows = [
        element("tr", element("th", quoted(key), scope="row"), element("td", _value(member)))
        for key, member in value.items()
    ]
    return element("table", element("tbody", *rows), class_="small")


def _value(value: Any) -> Markup:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if any(isinstance(member, dict | list) for member in inner):
        return block(value)
    if isinstance(value, dict) and value:
        return words(", ".join(f"{key}: {member}" for key, member in value.items()))
    return quoted(value)


def render(section: Section, contains: Contains) -> Markup:
    """A section as markup."""
    title = element("h2", words(section.title), id=f"{section.id}-title")
    intro = element("p", words(section.intro), class_="intro") if section.intro else NOTHING
    more = len(section.rows) - MOST_ROWS
    note = element("p", words(f"{more} more rows are not on this page."), class_="note")
    inner = (title, intro, _table(section, contains), note if more > 0 else NOTHING)
    return element("section", *inner, id=section.id, aria_labelledby=f"{section.id}-title")


def _table(whole: Section, contains: Contains) -> Markup:
    section = whole.trimmed()
    evidence = any(row.places for row in section.rows)
    marks = any(row.mark for row in section.rows)
    heads = [*(["outcome"] if marks else []), *section.heads, *(["evidence"] if evidence else [])]
    head = element("tr", *(element("th", words(name), scope="col") for name in heads))
    named = zip(anchors(section), section.rows, strict=False)
    items = [_item(row, link, heads, (marks, evidence), contains) for link, row in named]
    table = element("table", element("thead", head), *items)
    return element("div", table, class_="scroll")


def _item(row: Row, link: str, heads: Sequence[str], has: tuple[bool, bool], contains: Contains) -> Markup:
    marks, evidence = has
    here = element("a", words("#"), href=f"#{link}", class_="anchor", aria_label=f"link to {row.name}")
    cells = [element("td", marked(row.mark))] if marks else []
    cells.append(element("th", element("span", quoted(row.name), class_="name"), here, scope="row"))
    named = zip(heads[len(cells) :], row.cells, strict=False)
    cells += [element("td", render_cell(cell, contains), data_label=head) for head, cell in named]
    if evidence:
        cells.append(element("td", *_links(row, contains), class_="places", data_label="evidence"))
    lines = [element("tr", *cells)]
    if row.details:
        terms = [
            join(element("dt", words(term)), element("dd", render_cell(cell, contains))) for term, cell in row.details
        ]
        lines.append(element("tr", element("td", element("dl", *terms), colspan=len(heads)), class_="details"))
    return element("tbody", *lines, id=link, class_="item", data_tone=tone(row.mark) or "none", tabindex=-1)


def _links(row: Row, contains: Contains) -> Iterator[Markup]:
    """The links of a row, separated, and the number of places without one."""
    shown = [link for link in (render_link(target, contains) for target in row.places) if link]
    for index, link in enumerate(shown):
        yield join(words(", "), link) if index else link
    more = row.of - len(row.places)
    if more > 0:
        yield words(f" and {more} more")


def render_headline(headline: Headline, contains: Contains) -> Markup:
    """The reason of a verdict, and sentences about the check that it names."""
    meaning = [_sentence(parts, "meaning", contains) for parts in headline.meaning]
    if not headline.finding:
        return join(_sentence(headline.reason, "headline", contains), *meaning)
    first, *others = headline.finding
    finding = [element("p", prose(first), class_="headline")]
    finding += [element("p", prose(sentence), class_="meaning") for sentence in others]
    return join(*finding, _sentence(headline.reason, "meaning", contains), *meaning)


def _sentence(parts: Sequence[Part], class_: str, contains: Contains) -> Markup:
    return element("p", *(_part(part, contains) for part in parts), class_=class_)


def _part(part: Part, contains: Contains) -> Markup:
    """A part of a sentence; of a step that the page does not hold its number."""
    if isinstance(part, EpisodeLink):
        return render_link(part, contains) or words(f"step {part.t}")
    return render_link(part, contains) if isinstance(part, ReceiptLink) else render_cell(part, contains)


def render_link(target: Place, contains: Contains) -> Markup:
    """A link, or only its text if the page does not contain the target; nothing for an episode that is missing."""
    there = contains(target)
    match target:
        case RowLink():
            return element("a", quoted(target.name), href=f"#{target.anchor}") if there else quoted(target.name)
        case EpisodeLink():
            at = "" if target.t is None else f".{target.t}"
            link, text = (
                f"#s.{target.chain}.{target.episode}{at}",
                "step through" if target.t is None else f"step {target.t}",
            )
            return element("a", words(text), href=link) if there else NOTHING
        case ReceiptLink() if there:
            return element("a", words(f"receipt {target.seq}"), href=f"#r.0.{target.seq}")
        case ReceiptLink():
            text = words(f"receipt {target.seq}")
            return element("span", text, class_="absent", title="not embedded in this page")
