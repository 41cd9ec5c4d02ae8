"""Writes a report as one offline HTML page: a cover, sections, the data of its script, and a content policy.

The page says what was checked when it was written, and what was not; it never says that it is verified.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from specledger.core.canonical import canonical_bytes, parse_canonical
from specledger.core.digest import sha256_hex
from specledger.evidence.checkpoint import MAX_NOTE
from specledger.evidence.layout import CHECKPOINT, MANIFEST, RECEIPTS
from specledger.load import Bundle
from specledger.report.comparison import (
    agents_of,
    changed_section,
    common_tables,
    compared_plots,
    compared_sections,
    in_one_table,
)
from specledger.report.evidence import Evidence, bodies_in
from specledger.report.extension import ANSWERS
from specledger.report.failed_checks import failed_section
from specledger.report.formats.html.elements import (
    NOTHING,
    Markup,
    code,
    document,
    document_text,
    element,
    join,
    quoted,
    words,
)
from specledger.report.formats.html.embed import MOST_TEXT, Embedded, choose
from specledger.report.formats.html.plots import render_plots
from specledger.report.formats.html.tables import (
    MOST_ROWS,
    Contains,
    anchors,
    marked,
    render,
    render_cell,
    render_headline,
)
from specledger.report.formats.output import DEFAULTS, Options, Output
from specledger.report.model import MOST_DRAWN, MOST_RUNS, Reading, Report, Subject, malformed_receipts
from specledger.report.not_shown import replay_text
from specledger.report.outcome import Outcome
from specledger.report.overview import Headline, control_sections, headline_of, waived_section
from specledger.report.sections import (
    Cell,
    Code,
    Place,
    Quoted,
    ReceiptLink,
    Row,
    RowLink,
    Section,
    Words,
    check_anchor,
    tone,
)
from specledger.report.specs import Specs, is_recorded, read_specs
from specledger.report.states import episode_maps
from specledger.report.titles import bundle_names, doc_of
from specledger.report.units import units_of
from specledger.verify.assurance_levels import NEVER_SHOWN, Reached, level_statuses
from specledger.verify.checks import Level, Status
from specledger.verify.manifest import MAX_MANIFEST

MOST_IN_SCOPE: Final = 20
"""Bundles that the cover of a page lists."""
MOST_OF_A_GROUP: Final = 3
"""Sections of a group that the list of sections names each."""


def write(report: Report, options: Options = DEFAULTS) -> Output:
    """The page of the first bundle, with the profile and the other bundles of the report."""
    subject = report.subjects[0]
    with malformed_receipts():
        return Output(_compose(report, subject, subject.evidence, subject.reading))


def _chains(evidence: Evidence, reading: Reading, sections: Sequence[Section]) -> list[Embedded]:
    """The bundle's own chain and those of some runs of a suite, read for embedding."""
    own = Embedded(evidence.specs.main.name, "", evidence.manifest, extra=_drawing(evidence.specs, evidence.bodies()))
    links = (link for section in sections for row in section.rows[:MOST_ROWS] for link in row.places)
    own.read(evidence.receipts.lines(), {link.seq for link in links if isinstance(link, ReceiptLink)}, MOST_TEXT)
    chains = [own]
    for run in reading.runs:
        folder = Path(evidence.place, *run.split("/"))
        specs = read_specs(folder, evidence.specs)
        manifest: Any = parse_canonical((folder / MANIFEST).read_bytes().removesuffix(b"\n"), limit=MAX_MANIFEST)
        chain = Embedded(run, run, manifest, extra=_drawing(specs, bodies_in(folder)))
        with (folder / RECEIPTS).open("rb") as lines:
            chain.read((line[:-1] for line in lines), (), MOST_TEXT // MOST_RUNS)
        chains.append(chain)
    return chains


def _drawing(specs: Bundle, bodies: Iterable[tuple[str, Mapping[str, Any]]]) -> dict[str, Any]:
    """How the page's script draws the episodes of a chain, in what units, and whether they are recorded."""
    units = units_of(specs)
    drawing = Specs.of(specs).drawing(units)
    computed = drawing is not None and drawing["cells"] is None
    maps = episode_maps(specs, bodies) if computed else {}
    return {"drawing": drawing, "units": units, "maps": maps, "recorded": is_recorded(specs)}


def _compose(report: Report, subject: Subject, evidence: Evidence, reading: Reading) -> str:
    about, own = _tables(report, subject, reading)
    shown = [*about, *own]
    chains = _chains(evidence, reading, shown)
    copies = choose(chains)
    parts: list[Any] = list(copies.parts)
    data = {
        "chains": [chain.document() for chain in chains],
        "text": [part if isinstance(part, str) else list(part) for part in parts],
        "checkpoint": signed_note(evidence),
        "spacetimes": _spacetimes(report, reading),
    }
    contains = _contents(chains, shown)
    written = written_section(evidence)
    of = (
        ""
        if len(report.subjects) == 1
        else f"{bundle_names(report.subjects)[0]}, the first of {len(report.subjects)} bundles"
    )
    headline, alone = headline_of(report), report.judgement is None and len(report.subjects) == 1
    doc = report.judgement.doc if report.judgement is not None else doc_of(subject) if alone else ""
    facts = [(term, render_cell(cell, contains)) for term, cell in _facts(report, reading)]
    plots = render_plots(compared_plots(report.subjects, agents_of(report.subjects)))
    tables, early = [render(section, contains) for section in shown], bool(reading.runs) or len(report.subjects) > 1
    titles = [*_titles(about), *([("plots", "Plots")] if plots else []), *_titles(own)]
    titles.append(("evidence", "Evidence"))
    values: dict[str, Markup | str] = {
        "kind": words(headline.kind),
        "name": quoted(headline.title),
        "verdict": join(marked(headline.verdict, sure=headline.sure), words(headline.decided)),
        "replayed": words(replayed_words(headline)),
        "headline": render_headline(headline, contains),
        "doc": document_text(doc) if doc else "",
        "facts": _terms(facts),
        "digests": _terms(digests(evidence)),
        "checked": checked_line(evidence, written, of),
        "of": element("p", words(f"Of {of}."), class_="intro") if of else NOTHING,
        "cover": cover(report.subjects, evidence, written, titles),
        "embedded": words(_embedded(chains)),
        "nav": join(*(element("li", element("a", words(title), href=f"#{id_}")) for id_, title in titles)),
        "first": join(*tables[: len(about)], plots if early else NOTHING),
        "plots": NOTHING if early else plots,
        "sections": join(*tables[len(about) :]),
        "written": render(written, contains),
        "replay": words(replay_sentence(report.subjects)),
        "data": _inert(data),
    }
    return document(headline.text, "page.html", values, ("search.js", "script.js"), "unchecked")


def _titles(sections: Sequence[Section]) -> list[tuple[str, str]]:
    """The id and the title of each section as lists of them have it; of a large group of its first one, by its name."""
    sizes, listed = Counter(section.group for section in sections if section.group), dict[str, tuple[str, str]]()
    for section in sections:
        grouped = sizes[section.group] > MOST_OF_A_GROUP
        named = (section.id, section.group) if grouped else (section.id, section.title)
        listed.setdefault(section.group if grouped else section.id, named)
    return [*listed.values()]


def replayed_words(headline: Headline) -> str:
    """Whether the runs were made again, beside the verdict; if not, what that verdict rests on."""
    if headline.sure:
        return headline.replay
    passed = tone(headline.verdict) == "good"
    sign = "; ? stands for a tick until `spec report --replay` makes the runs again" if passed else ""
    return f"{headline.replay}: this is what the receipts say{sign}"


def _is_list(report: Report) -> bool:
    """Whether the page is one table of bundles."""
    return report.judgement is None and in_one_table(report.subjects)


def _tables(report: Report, subject: Subject, reading: Reading) -> tuple[list[Section], list[Section]]:
    """The tables with rows: first those of the whole report or of what failed, then the others."""
    if _is_list(report):
        return [_of_all(section, of, report.subjects) for section, of in common_tables(report.subjects)], []
    several = len(report.subjects) > 1
    agents = agents_of(report.subjects) if several else {}
    about = [*control_sections(report), *([changed_section(report.subjects)] if several else [])]
    about += [failed_section(subject)] if report.judgement is None and not several else []
    own = compared_sections(reading, agents)
    if several:
        common = {section.id: _of_all(section, of, report.subjects) for section, of in common_tables(report.subjects)}
        own = [common.get(section.id, section) for section in own]
    own = [waived_section(section, report) for section in own]
    waivers = report.waivers(0)
    undecided = (Outcome.FAILED, Outcome.CANNOT_TELL)
    open_ = [check for check in subject.checks if check.outcome in undecided and check.id not in waivers]
    failed = {check_anchor(check.id).partition(".")[0] for check in open_}
    failed |= ANSWERS if "probes" in failed else frozenset()
    first = failed | ({"checks"} if reading.runs else set())
    about += [section for section in own if section.id in first]
    own = [section for section in own if section.id not in first]
    return [section for section in about if section.rows], [section for section in own if section.rows]


def _of_all(section: Section, of: Sequence[int], subjects: Sequence[Subject]) -> Section:
    """A common table, whose rows have digests instead of links to receipts, since one bundle alone is embedded."""
    rows = []
    for row, index in zip(section.rows, of, strict=True):
        manifest = subjects[index].manifest
        digests_ = ("specs", Code(manifest["specs"])), ("Merkle root", Code(manifest["receipts"]["root"]))
        rows.append(replace(row, details=[*row.details, *digests_], places=()))
    return replace(section, rows=rows)


def _facts(report: Report, reading: Reading) -> list[tuple[str, Cell]]:
    """The key figures of the bundle that is shown in full; none for bundles in one table."""
    if _is_list(report):
        return []
    alone = report.judgement is None and len(report.subjects) == 1
    shown = [] if alone else [("bundle shown in full", Quoted(bundle_names(report.subjects)[0]))]
    return [*shown, *reading.facts()]


def _spacetimes(report: Report, reading: Reading) -> list[Mapping[str, Any]]:
    """The rings of the bundle; for bundles in one table those of all, counterexamples first."""
    if not _is_list(report):
        return [*reading.spacetimes()]
    drawn = [ring for subject in report.subjects for ring in subject.reading.spacetimes()]
    return sorted(drawn, key=lambda ring: ring["t"] is None)[:MOST_DRAWN]


def _contents(chains: Sequence[Embedded], sections: Sequence[Section]) -> Contains:
    """The test whether the page contains a receipt, a whole episode or a row."""
    rows = {link for section in sections for link in anchors(section)}

    def contains(target: Place) -> bool:
        if isinstance(target, RowLink):
            return target.anchor in rows
        if isinstance(target, ReceiptLink):
            return chains[0].holds(target.seq)
        return chains[target.chain].steps(target.episode)

    return contains


def replay_sentence(subjects: Sequence[Subject]) -> str:
    """The sentence of a page about replay."""
    return f"Runs, trials and proofs: {replay_text(subjects)}."


_ACTIVE: Final = re.compile(r"[<>&\x7f-\U0010ffff]")


def _inert(data: Any) -> str:
    """JSON in ASCII in which nothing ends its element, opens another one or steers a reader."""

    def units(match: re.Match[str]) -> str:
        digits = match[0].encode("utf-16-be").hex()
        return "".join(f"\\u{digits[at : at + 4]}" for at in range(0, len(digits), 4))

    return _ACTIVE.sub(units, canonical_bytes(data).decode())


def _terms(*groups: Sequence[tuple[str, Markup]]) -> Markup:
    return join(
        *(element("div", element("dt", words(term)), element("dd", text)) for group in groups for term, text in group)
    )


def _embedded(chains: Sequence[Embedded]) -> str:
    """How many receipts of each chain are embedded."""
    parts = []
    for chain in chains:
        embedded, count = len(chain.seqs), chain.count
        of = "the bundle" if not chain.folder else f"run {chain.name}"
        rest = "" if embedded == count else "; the others enter the root as hashes made when the page was written"
        parts.append(f"{embedded} of {count} receipts of {of} are embedded{rest}.")
    return " ".join(parts)


_SIGNATURES: Final = frozenset({Level.SIGNED, Level.TIMED, Level.UNFORKED})
_OPEN: Final = frozenset({Status.NOT_MADE.value, Reached.NOT_CHECKED.value})


def signed_note(evidence: Evidence) -> str | None:
    """The signed note of a bundle, which its manifest does not list; None without a regular file of allowed size."""
    file = evidence.place / CHECKPOINT
    if file.is_symlink() or not file.is_file() or file.stat().st_size > MAX_NOTE:
        return None
    return file.read_bytes().decode("utf-8", "replace")


def checked_line(evidence: Evidence, written: Section, of: str) -> Markup:
    """A line on what was checked when the page was written and what was not; `of` names the bundle, if of several."""
    checks = evidence.verification.checks
    passed = sum(check.status is Status.PASSED for check in checks)
    open_ = [check.name for check in checks if check.status is Status.NOT_MADE]
    missing = sum(row.mark == Reached.NOT_CHECKED for row in written.rows)
    left = f", {len(open_)} not run ({', '.join(open_)})" if open_ else ""
    whose = f" of {of}" if of else ""
    beyond = f"; {missing} more points need more than the bundle: "
    text = words(f"Checks of the evidence{whose}: {passed} passed{left}{beyond}")
    return element("p", text, element("a", words("which, and why"), href="#evidence"), words("."), class_="checked")


def digests(evidence: Evidence) -> list[tuple[str, Markup]]:
    """The digests of a bundle, by name."""
    manifest = evidence.manifest
    receipts = manifest["receipts"]
    logs = evidence.verification.facts.get("recorded", {}).get("recording", ())
    return [
        ("run", code(manifest["run"])),
        ("specs", code(manifest["specs"])),
        *(("recording", code(digest)) for digest in logs),
        ("Merkle root", element("code", quoted(receipts["root"]), id="printed-root")),
        ("head", code(receipts["head"])),
        ("receipts", words(str(receipts["count"]))),
        ("made by", quoted(f"{manifest['engine']['name']} {manifest['engine']['version']}")),
        ("manifest.json, SHA-256", code(sha256_hex((evidence.place / MANIFEST).read_bytes()))),
    ]


def written_section(evidence: Evidence) -> Section:
    """What was checked of the evidence when the page was written, and what was not."""
    rows = [
        Row(check.name, check.status.value, (Quoted(check.message or ""),)) for check in evidence.verification.checks
    ]
    rows += [
        Row(f"{rung.level}: {rung.name}", rung.status.value, (Quoted(rung.why),))
        for rung in level_statuses(evidence.verification)
    ]
    rows += [Row(name, Reached.NOT_CHECKED.value, (Words(text),)) for name, text in NEVER_SHOWN]
    intro = "Checks by the engine that wrote this page. A page cannot prove that they were made: use spec verify."
    return Section("written", "Checked when written", intro, ("check", "found"), rows)


def cover(
    subjects: Sequence[Subject], evidence: Evidence, written: Section, titles: Sequence[tuple[str, str]]
) -> Markup:
    """What a reader on paper sees below the verdict: scope, signatures, what was not checked, contents.

    The evidence is that of the first subject; `titles` are the id and the title of each section.
    """
    named = [*zip(bundle_names(subjects), subjects, strict=True)]
    scope = [
        join(quoted(name), words(f", {subject.kind}, specs "), code(subject.manifest["specs"]))
        for name, subject in named[:MOST_IN_SCOPE]
    ]
    scope += [words(f"{len(named) - MOST_IN_SCOPE} more bundles")] if len(named) > MOST_IN_SCOPE else []
    signed = "has no signed checkpoint" if signed_note(evidence) is None else "has a signed checkpoint"
    rungs = [rung for rung in level_statuses(evidence.verification) if rung.level in _SIGNATURES]
    signatures = [words(f"{rung.name}: {rung.status} ({rung.why})") for rung in rungs]
    names = {f"{rung.level}: {rung.name}" for rung in rungs}
    open_ = [row for row in written.rows if row.mark in _OPEN and row.name not in names]
    left = [join(words(f"{row.name}: "), render_cell(row.cells[0], lambda _: False)) for row in open_]
    contents = [element("a", words(title), href=f"#{id_}") for id_, title in titles]
    parts = [
        _list("Scope", "ul", scope),
        _list("Signatures", "ul", [words(f"The bundle {signed}."), *signatures]),
        _list("Not checked", "ul", left),
        _list("Contents", "ol", contents),
    ]
    return element("div", *parts, class_="cover")


def _list(title: str, kind: str, items: Sequence[Markup]) -> Markup:
    listed = element(kind, *(element("li", item) for item in items))
    return join(element("h2", words(title)), listed)
