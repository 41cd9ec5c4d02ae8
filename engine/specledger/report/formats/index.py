"""Writes several bundles as a folder: a page for each, and an index with search, trends, and common tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from specledger.report.comparison import common_tables, in_one_table, marks_of, trends
from specledger.report.diff import changes
from specledger.report.formats.html import page
from specledger.report.formats.html.elements import Markup, count, document, element, join, quoted, words
from specledger.report.formats.html.plots import render_plots
from specledger.report.formats.html.tables import anchors, marked, render, render_headline
from specledger.report.formats.output import DEFAULTS, Options, Output
from specledger.report.model import Report, Subject, malformed_receipts
from specledger.report.overview import headline_of, reason_text
from specledger.report.receipt_diff import first_changes
from specledger.report.sections import Count, PageLink, Place, Quoted, Row, RowLink, Section, Words
from specledger.report.titles import bundle_names

INDEX: Final = "index.html"

_HEADS: Final = ("bundle", "page", "of a", "why", "receipts", "since the one before")
_MOST_CHANGES: Final = 3


def write(report: Report, options: Options = DEFAULTS) -> Output:
    """The index and the pages."""
    pages = {
        file: page.write(Report((subject,)), options).text.encode() for _, file, subject in _named(report.subjects)
    }
    with malformed_receipts():
        return Output(files={INDEX: _index(report).encode(), **pages})


def _named(subjects: Sequence[Subject]) -> list[tuple[str, str, Subject]]:
    """Each bundle with its name and the file of its page; all files differ."""
    files = {INDEX: ""}
    for name in bundle_names(subjects):
        stem = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")
        while f"{stem}.html" in files:
            stem += "_"
        files[f"{stem}.html"] = name
    return [(name, file, subject) for (file, name), subject in zip([*files.items()][1:], subjects, strict=True)]


def _index(report: Report) -> str:
    bundles = [] if in_one_table(report.subjects) else [_bundles(report.subjects)]
    sections = [section for section in (*bundles, *_compared(report.subjects)) if section.rows]
    links = {link for section in sections for link in anchors(section)}

    def contains(target: Place) -> bool:
        return isinstance(target, RowLink) and target.anchor in links

    headline, plots = headline_of(report), render_plots(trends(report.subjects))
    titles = [(section.id, section.title) for section in sections] + ([("plots", "Plots")] if plots else [])
    facts = [("bundles", len(report.subjects)), *marks_of(report.subjects)]
    values: dict[str, Markup | str] = {
        "kind": words("Index of evidence"),
        "name": quoted(headline.title),
        "verdict": marked(headline.verdict, sure=headline.sure),
        "replayed": words(page.replayed_words(headline)),
        "headline": render_headline(headline, contains),
        "facts": join(*(element("div", element("dt", words(term)), element("dd", count(n))) for term, n in facts)),
        "nav": join(*(element("li", element("a", words(title), href=f"#{id_}")) for id_, title in titles)),
        "sections": join(*(render(section, contains) for section in sections)),
        "plots": plots,
        "replay": words(page.replay_sentence(report.subjects)),
    }
    return document(headline.text, "index.html", values, ("search.js", "index.js"))


def _bundles(subjects: Sequence[Subject]) -> Section:
    """A row for each bundle, with the changes since the previous bundle of the same spec."""
    before: dict[tuple[str, str], Subject] = {}
    rows = []
    for name, file, subject in _named(subjects):
        key = (subject.kind, subject.name)
        last, before[key] = before.get(key), subject
        why = reason_text(Report((subject,)))
        cells = (
            PageLink(file, f"page of {name}"),
            Words(subject.kind),
            Quoted(why, 160),
            Count(subject.manifest["receipts"]["count"]),
            Quoted("" if last is None else _since(last, subject), 200),
        )
        rows.append(Row(name, subject.verdict.value, cells))
    intro = "In the order given, for a folder that of the names in it: evidence holds no clock."
    return Section("bundles", "Bundles", intro, _HEADS, rows)


def _since(last: Subject, subject: Subject) -> str:
    """The changes since an earlier bundle of a spec: the verdict, and the first changed paths in specs."""
    listed, left = first_changes(changes(last, subject)["specs"])
    places, left = [change.path for change in listed[:_MOST_CHANGES]], left + max(0, len(listed) - _MOST_CHANGES)
    more = f" and {left} more" if left else ""
    verdict = "" if last.verdict == subject.verdict else f"{last.verdict} to {subject.verdict}: "
    return f"{verdict}{', '.join(places) or 'the same specs'}{more}"


def _compared(subjects: Sequence[Subject]) -> Iterator[Section]:
    """The tables that bundles of a kind have in common, with a link to the page of each row."""
    links = [PageLink(file, f"page of {name}") for name, file, _ in _named(subjects)]
    for section, of in common_tables(subjects):
        rows = [
            replace(row, cells=(links[index], *row.cells), details=(), places=())
            for row, index in zip(section.rows, of, strict=True)
        ]
        yield replace(section, heads=(section.heads[0], "page", *section.heads[1:]), rows=rows)
