"""The page as a whole: its head, its sections, the data of its script, and the policy that lets nothing else in.

Decides what stands where and what is said of evidence: what was checked when the page was written, and what was not.
A page never says that it is verified. The same bundle gives the same bytes.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any, Final

from specledger.core.canonical import MAX_INTEGER, canonical_bytes, parse_canonical
from specledger.core.diagnostics import Diagnostic, Rejected
from specledger.core.digest import sha256_hex, sha256_raw
from specledger.core.floats import FLOATS_ANYWHERE
from specledger.discovery.plan import KIND as DISCOVERY
from specledger.evidence.checkpoint import MAX_NOTE
from specledger.evidence.layout import CHECKPOINT, ENGINE, MANIFEST, MAX_LINE, SCENARIO, SUITE
from specledger.laws.trial import KIND as LAW
from specledger.report.codes import E_REPORT_KIND, E_REPORT_RECEIPTS
from specledger.report.evidence import Evidence
from specledger.report.html import discovery, law, run, suite
from specledger.report.html.controls import control_sections, profile_facts
from specledger.report.html.elements import NOTHING, Markup, code, element, join, quoted, words
from specledger.report.html.embed import MOST_TEXT, Embedded, choose
from specledger.report.html.rows import Place, Receipt, Row, RowLink, Section, anchors, marked, render
from specledger.report.html.specs import Specs
from specledger.report.results import Report
from specledger.verify.assurance_levels import Reached, climb
from specledger.verify.checks import Status

_NEVER: Final = (
    ("that no other attempt was left out", "a log that runs are entered in before they are made shows that"),
    ("that the specs are the right ones", "compare their digest with one that you got elsewhere"),
)
"""What no check of a bundle by itself shows, and what would show it."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a page shows of one kind of evidence.

    Attributes:
        facts: Terms and figures of the head.
        broken: What did not pass, as links.
        sections: In order.
        chains: What may be embedded besides the bundle's own chain.
        data: Further data of the script.
    """

    facts: Sequence[tuple[str, Markup]]
    broken: Sequence[RowLink]
    sections: Callable[[], Iterator[Section]]
    chains: Sequence[Embedded] = ()
    data: Mapping[str, Any] = field(default_factory=dict)


def make_page(evidence: Evidence, report: Report | None = None) -> str:
    """The page of a bundle, which ends with a newline.

    Args:
        evidence: Of which no check failed.
        report: Of this bundle and of others, with what they show of a profile.

    Raises:
        Rejected: E_REPORT_KIND, E_REPORT_RECEIPTS.
    """
    reader = _READERS.get(evidence.kind)
    if reader is None:
        raise Rejected([Diagnostic(E_REPORT_KIND, f"there is no page of the evidence of a {evidence.kind}")])
    own = Embedded(evidence.specs.main.name, "", evidence.manifest)
    try:
        found = reader(evidence, own)
        return _compose(evidence, found, [own, *found.chains], report)
    except (KeyError, TypeError, IndexError, AttributeError, ValueError) as error:
        raise Rejected([Diagnostic(E_REPORT_RECEIPTS, f"they cannot be told: {error!r}")]) from None


# What is read of each kind


def _read(evidence: Evidence, own: Embedded, take: Callable[[int, str, Mapping[str, Any]], None]) -> None:
    """Give each receipt to a fold, and keep its line as long as there is room."""
    kept = 0
    for seq, line in enumerate(evidence.receipts.lines()):
        receipt: Any = parse_canonical(line, limit=MAX_LINE)
        kept += len(line)
        take(seq, receipt["type"], receipt["body"])
        own.add(line, kept < MOST_TEXT or seq in own.first)


def _specs(evidence: Evidence) -> Specs:
    data: Any = parse_canonical(canonical_bytes(evidence.specs.document(), FLOATS_ANYWHERE), limit=MAX_INTEGER)
    return Specs(data)


def _read_run(evidence: Evidence, own: Embedded) -> Found:
    specs, result = _specs(evidence), evidence.manifest["result"]
    own.extra = {"drawing": specs.drawing()}
    fold = run.RunFold(own, 0, specs)
    _read(evidence, own, fold.add)
    facts = [("seed", words(str(fold.start["seed"]))), *run.headline(result)]
    return Found(facts, [*run.broken(result)], lambda: fold.sections(result))


def _read_suite(evidence: Evidence, own: Embedded) -> Found:
    result = evidence.manifest["result"]
    fold = suite.SuiteFold(own, _specs(evidence), evidence.place)
    _read(evidence, own, fold.add)
    fold.read_runs()
    return Found([*suite.headline(result)], [*suite.broken(result)], fold.sections, fold.runs)


def _read_law(evidence: Evidence, own: Embedded) -> Found:
    result, fold = evidence.manifest["result"], law.LawFold()
    _read(evidence, own, fold.add)
    missed = [*law.broken(result, evidence.specs.main.name)]
    drawn = {"spacetimes": fold.spacetimes(evidence.specs)}
    return Found([*law.headline(result)], missed, fold.sections, data=drawn)


def _read_discovery(evidence: Evidence, own: Embedded) -> Found:
    fold = discovery.DiscoveryFold()
    _read(evidence, own, fold.add)
    drawn = {"spacetimes": fold.spacetimes(evidence.specs)}
    return Found([*fold.facts(evidence.manifest["result"])], [*fold.broken()], fold.sections, data=drawn)


_READERS: Final[Mapping[str, Callable[[Evidence, Embedded], Found]]] = {
    SCENARIO: _read_run,
    SUITE: _read_suite,
    LAW: _read_law,
    DISCOVERY: _read_discovery,
}


# What is written


def _compose(evidence: Evidence, found: Found, chains: Sequence[Embedded], report: Report | None) -> str:
    copies = choose(chains)
    parts: list[Any] = list(copies.parts)
    data = {
        "chains": [chain.document() for chain in chains],
        "text": [part if isinstance(part, str) else list(part) for part in parts],
        "checkpoint": _note(evidence.place / CHECKPOINT),
        "spacetimes": [],
        **found.data,
    }
    listed = [*control_sections(report), *found.sections()]
    shown = [section for section in listed if section.rows]
    held = _holder(chains, shown)
    written = _written(evidence)
    name, result = evidence.specs.main.name, evidence.manifest["result"]
    doc = evidence.specs.main.model.doc
    style, script = _asset("style.css"), _asset("script.js")
    values = {
        "title": words(f"{name}: {result['verdict']}"),
        "generator": words(f"{ENGINE['name']} {ENGINE['version']}"),
        "kind": words(f"Evidence of a {evidence.kind}"),
        "name": quoted(name),
        "verdict": marked(result["verdict"]),
        "doc": element("p", quoted(doc, 1000), class_="doc") if doc else "",
        "broken": _broken(found.broken),
        "facts": _terms([*profile_facts(report), *found.facts]),
        "digests": _terms(_digests(evidence)),
        "checked": _checked(evidence, written),
        "embedded": words(_embedded(chains)),
        "nav": join(*(_entry(section) for section in [*shown, written])),
        "sections": join(*(render(section, held) for section in shown)),
        "written": render(written, held),
        "data": _inert(data),
        "style": style,
        "script": script,
        "style_digest": _policy(style),
        "script_digest": _policy(script),
    }
    return Template(_asset("page.html")).substitute(values)


def _note(file: Path) -> str | None:
    """The signed note of a bundle, which lies outside its manifest, if it has one that can be one."""
    if file.is_symlink() or not file.is_file() or file.stat().st_size > MAX_NOTE:
        return None
    return file.read_bytes().decode("utf-8", "replace")


def _holder(chains: Sequence[Embedded], sections: Sequence[Section]) -> Callable[[Place], bool]:
    """What the page holds: receipts, whole episodes, rows."""
    rows = {link for section in sections for link in anchors(section)}

    def held(place: Place) -> bool:
        if isinstance(place, RowLink):
            return place.anchor in rows
        if isinstance(place, Receipt):
            return chains[place.chain].holds(place.seq)
        return chains[place.chain].steps(place.episode)

    return held


def _asset(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _policy(text: str) -> str:
    return b64encode(sha256_raw(text.encode())).decode("ascii")


_ACTIVE: Final = re.compile(r"[<>&\x7f-\U0010ffff]")


def _inert(data: Any) -> str:
    """JSON in ASCII in which nothing ends its element, opens another one or steers a reader."""
    return _ACTIVE.sub(_units, canonical_bytes(data).decode())


def _units(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def _terms(pairs: Sequence[tuple[str, Markup]]) -> Markup:
    return join(*(element("div", element("dt", words(term)), element("dd", said)) for term, said in pairs))


def _entry(section: Section) -> Markup:
    return element("li", element("a", words(section.title), href=f"#{section.id}"))


def _broken(links: Sequence[RowLink]) -> Markup:
    if not links:
        return NOTHING
    listed = [element("a", quoted(link.name), href=f"#{link.anchor}", class_="near") for link in links[:20]]
    more = words(f" and {len(links) - 20} more") if len(links) > 20 else NOTHING
    return element("p", words("Did not pass: "), *listed, more, class_="broken")


def _checked(evidence: Evidence, written: Section) -> Markup:
    """In a line what was checked when the page was written and what was not."""
    checks = evidence.verification.checks
    passed = sum(check.status is Status.PASSED for check in checks)
    missing = "; ".join(row.name for row in written.rows if row.mark == Reached.NOT_CHECKED)
    told = words(f"When this page was written, {passed} of {len(checks)} checks passed. Not checked: {missing}. ")
    return element("p", told, element("a", words("The list"), href=f"#{written.id}"), class_="checked")


def _digests(evidence: Evidence) -> list[tuple[str, Markup]]:
    manifest = evidence.manifest
    receipts = manifest["receipts"]
    return [
        ("run", code(manifest["run"])),
        ("specs", code(manifest["specs"])),
        ("Merkle root", element("code", quoted(receipts["root"]), id="printed-root")),
        ("head", code(receipts["head"])),
        ("receipts", words(str(receipts["count"]))),
        ("made by", quoted(f"{manifest['engine']['name']} {manifest['engine']['version']}")),
        ("manifest.json, SHA-256", code(sha256_hex((evidence.place / MANIFEST).read_bytes()))),
    ]


def _embedded(chains: Sequence[Embedded]) -> str:
    """What is in the page and what is not."""
    told = []
    for chain in chains:
        held, count = len(chain.seqs), len(chain.hashes)
        of = "the bundle" if not chain.place else f"run {chain.name}"
        rest = "" if held == count else "; the others enter the root as hashes made when the page was written"
        told.append(f"Of {of} {held} of {count} receipts are embedded{rest}.")
    return " ".join(told)


def _written(evidence: Evidence) -> Section:
    """What was checked of the evidence when the page was written, and what was not."""
    rows = [
        Row(check.name, check.status.value, (quoted(check.message or ""),)) for check in evidence.verification.checks
    ]
    rows += [
        Row(f"{rung.level}: {rung.name}", rung.status.value, (quoted(rung.why),))
        for rung in climb(evidence.verification)
    ]
    rows += [Row(name, Reached.NOT_CHECKED.value, (words(told),)) for name, told in _NEVER]
    intro = (
        "Made before this page was written, by the engine that wrote it. A page cannot show that they were made: "
        "make them again with spec verify."
    )
    return Section("written", "Checked when written", intro, ("check", "found"), rows)
