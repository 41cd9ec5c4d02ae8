"""Compares two bundles: specs, results, checks, the first receipt and field that differ, and the sources."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from specledger.core.canonical import parse_canonical
from specledger.evidence.layout import ORIGIN, RECEIPTS, SOURCES
from specledger.evidence.receipts import typed
from specledger.evidence.receipts.suite import Run
from specledger.report.evidence import Evidence
from specledger.report.markup import shorten
from specledger.report.model import LONGEST, ReportedKind, Subject, malformed_receipts
from specledger.report.receipt_diff import ABSENT, Change, ReceiptDiff, diff_receipts, first_changes, unpinned, walk
from specledger.report.subject import read_subject

FORMAT: Final = "specledger/diff/v1"


class Difference(Struct, frozen=True):
    """How the second bundle differs from the first.

    Attributes:
        specs: Keys of the specs that differ, with the paths in them.
        checks: Outcomes of checks, by their ids.
        run: Of two suites the first run that both hold and whose receipts part, with how they do; or None.
        sources: Files that the specs were resolved from, with the first line that differs, and how they were resolved.
        more: How many changes of `specs`, `results`, `checks` and `sources` are left out.
    """

    kinds: tuple[str, str]
    names: tuple[str, str]
    specs: tuple[Change, ...]
    results: tuple[Change, ...]
    checks: tuple[Change, ...]
    receipts: ReceiptDiff
    run: tuple[str, ReceiptDiff] | None
    sources: tuple[Change, ...]
    more: Mapping[str, int]

    @property
    def same(self) -> bool:
        """Whether nothing differs of what ran and what came of it; comments in sources are neither."""
        return self.receipts.same and self.run is None and not (self.specs or self.results or self.checks)


def compare(first: Evidence, second: Evidence, kinds: Mapping[str, ReportedKind]) -> Difference:
    """Compare two bundles of which no check failed."""
    subjects = read_subject(first, kinds), read_subject(second, kinds)
    changed = {**changes(*subjects), "sources": _sources(first, second)}
    listed = {part: first_changes(differences) for part, differences in changed.items()}
    with malformed_receipts():
        parted = diff_receipts(
            first.receipts.lines(), second.receipts.lines(), first.specs.digest == second.specs.digest
        )
        run = _runs(first, second)
    return Difference(
        kinds=(first.kind, second.kind),
        names=(subjects[0].name, subjects[1].name),
        specs=listed["specs"][0],
        results=listed["results"][0],
        checks=listed["checks"][0],
        receipts=parted,
        run=run,
        sources=listed["sources"][0],
        more={part: more for part, (_, more) in listed.items()},
    )


def changes(first: Subject, second: Subject) -> dict[str, Iterator[Change]]:
    """What differs of two bundles, by what it is of: `specs`, `results`, `checks`; there may be a million of each."""
    return {
        "specs": _specs(first.evidence, second.evidence),
        "results": walk(first.manifest["result"], second.manifest["result"], ""),
        "checks": _checks(first, second),
    }


def _specs(first: Evidence, second: Evidence) -> Iterator[Change]:
    """What differs between specs of one kind and name; a key tells the digest too, so it is not compared."""
    if first.specs.digest == second.specs.digest:
        return
    sides = [_by_name(evidence) for evidence in (first, second)]
    for name in sorted({*sides[0], *sides[1]}):
        left, right = (side.get(name, ABSENT) for side in sides)
        if ABSENT in (left, right):
            yield Change(name, *(None if side is ABSENT else "there is one" for side in (left, right)))
        else:
            yield from walk(left, right, name)


def _by_name(evidence: Evidence) -> dict[str, Any]:
    """The data of each spec by kind and name, with references without digests; several of one name are numbered."""
    by_name: dict[str, Any] = {}
    keys = {key: key.partition("@")[0] for key in evidence.specs.specs}
    for key, spec in sorted(evidence.specs.specs.items()):
        name, count = keys[key], 1
        while name in by_name:
            count += 1
            name = f"{keys[key]} ({count})"
        by_name[name] = unpinned(spec.data, lambda text: keys.get(text, text))
    return by_name


def _sources(first: Evidence, second: Evidence) -> Iterator[Change]:
    """The files of `specs/` that are not the same, of which the manifests tell the digests."""
    sides = [
        {file["path"]: file["sha256"] for file in evidence.manifest["files"] if file["path"].startswith(f"{SOURCES}/")}
        for evidence in (first, second)
    ]
    for path in sorted({*sides[0], *sides[1]}):
        digests = [side.get(path) for side in sides]
        if None in digests:
            yield Change(path, *(None if digest is None else "there is one" for digest in digests))
        elif digests[0] != digests[1]:
            left, right = (evidence.place.joinpath(*path.split("/")).read_bytes() for evidence in (first, second))
            if path == ORIGIN:
                yield from walk(parse_canonical(left[:-1]), parse_canonical(right[:-1]), path)
            else:
                yield _first_line(path, left.splitlines(), right.splitlines())


def _first_line(path: str, left: Sequence[bytes], right: Sequence[bytes]) -> Change:
    """The first line that two files do not share; one that differs in the ends of its lines alone has none."""
    for number, (line_of_first, other) in enumerate(zip_longest(left, right), 1):
        if line_of_first != other:
            words = (
                None if line is None else shorten(line.decode("utf-8", "replace"), LONGEST)
                for line in (line_of_first, other)
            )
            return Change(f"{path}:{number}", *words)
    return Change(path, "the same lines", "with other ends")


def _checks(first: Subject, second: Subject) -> Iterator[Change]:
    """Checks whose outcome is another, or that only one bundle has."""
    sides = [{check.id: str(check.outcome) for check in subject.checks} for subject in (first, second)]
    for id_ in dict.fromkeys([*sides[0], *sides[1]]):
        left, right = sides[0].get(id_), sides[1].get(id_)
        if left != right:
            yield Change(id_, left, right)


def _runs(first: Evidence, second: Evidence) -> tuple[str, ReceiptDiff] | None:
    """The first run of two suites whose receipts differ after the start; else the first whose starts differ."""
    sides = [
        {run["place"]: run for run in (typed(Run, body) for type_, body in evidence.bodies() if type_ == "run")}
        for evidence in (first, second)
    ]
    begun = None
    for folder, run in sides[0].items():
        other = sides[1].get(folder)
        if other is not None and other["receipts"] != run["receipts"]:
            left, right = (_read(side.place.joinpath(*folder.split("/"), RECEIPTS)) for side in (first, second))
            difference = diff_receipts(left, right, run["specs"] == other["specs"])
            if difference.receipts is not None:
                return folder, difference
            begun = begun or (None if difference.same else (folder, difference))
    return begun


def _read(file: Path) -> Iterator[bytes]:
    """The lines of a run that was checked with its suite."""
    with file.open("rb") as lines:
        for line in lines:
            yield line[:-1]
