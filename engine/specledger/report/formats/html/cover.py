"""What a page says of its evidence: digests, what was checked when it was written and what was not, and its cover."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from specledger.core.digest import sha256_hex
from specledger.evidence.checkpoint import MAX_NOTE
from specledger.evidence.layout import CHECKPOINT, MANIFEST
from specledger.report.evidence import Evidence
from specledger.report.formats.html.elements import Markup, code, element, join, quoted, words
from specledger.report.formats.html.tables import render_cell
from specledger.report.model import Subject, bundle_names
from specledger.report.sections import Quoted, Row, Section, Words
from specledger.verify.assurance_levels import Reached, level_statuses
from specledger.verify.checks import Level, Status

_SIGNATURES: Final = frozenset({Level.SIGNED, Level.TIMED, Level.UNFORKED})
_OPEN: Final = frozenset({Status.NOT_MADE.value, Reached.NOT_CHECKED.value})

_NEVER: Final = (
    ("no other attempt was left out", "needs a log in which runs are entered before they are made"),
    ("the specs are the right ones", "compare their digest with one that you got elsewhere"),
)
"""What no check of a single bundle shows, and what would show it."""


def signed_note(evidence: Evidence) -> str | None:
    """The signed note of a bundle, which is not in its manifest, if it has one that can be one."""
    file = evidence.place / CHECKPOINT
    if file.is_symlink() or not file.is_file() or file.stat().st_size > MAX_NOTE:
        return None
    return file.read_bytes().decode("utf-8", "replace")


def checked_line(evidence: Evidence, written: Section) -> Markup:
    """In a line what was checked when the page was written and what was not."""
    checks = evidence.verification.checks
    passed = sum(check.status is Status.PASSED for check in checks)
    not_run = ", ".join(check.name for check in checks if check.status is Status.NOT_MADE)
    missing = sum(row.mark == Reached.NOT_CHECKED for row in written.rows)
    left = f", {len(checks) - passed} not run ({not_run})" if not_run else ""
    text = words(f"Checks of the evidence: {passed} passed{left}; {missing} more points were not checked. ")
    return element("p", text, element("a", words("Evidence"), href="#evidence"), class_="checked")


def digests(evidence: Evidence) -> list[tuple[str, Markup]]:
    """The digests of a bundle, by name."""
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


def written_section(evidence: Evidence) -> Section:
    """What was checked of the evidence when the page was written, and what was not."""
    rows = [
        Row(check.name, check.status.value, (Quoted(check.message or ""),)) for check in evidence.verification.checks
    ]
    rows += [
        Row(f"{rung.level}: {rung.name}", rung.status.value, (Quoted(rung.why),))
        for rung in level_statuses(evidence.verification)
    ]
    rows += [Row(name, Reached.NOT_CHECKED.value, (Words(text),)) for name, text in _NEVER]
    intro = "Checks by the engine that wrote this page. A page cannot prove that they were made: use spec verify."
    return Section("written", "Checked when written", intro, ("check", "found"), rows)


def cover(
    subjects: Sequence[Subject], evidence: Evidence, written: Section, titles: Sequence[tuple[str, str]]
) -> Markup:
    """What a reader on paper sees below the verdict: scope, signatures, what was not checked, contents.

    Args:
        subjects: The bundles; the evidence is that of the first one.
        evidence: The bundle that is shown in full.
        written: What was checked of it and what was not.
        titles: The id and the title of each section, in order.
    """
    named = zip(bundle_names(subjects), subjects, strict=True)
    scope = [join(quoted(name), words(f", {one.kind}, specs "), code(one.manifest["specs"])) for name, one in named]
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
