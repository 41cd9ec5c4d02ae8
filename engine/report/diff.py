"""How two bundles differ: specs, results, verdicts, and the first receipt and field in which they part.

Decides what is compared and how much of it is told. Receipts are read in step, line by line, and nothing is kept of
those that are alike. Refuses to judge which of the two is right, and to run anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

from engine.core.canonical import NotCanonical, canonical_bytes, parse_canonical
from engine.core.diagnostics import Diagnostic, Rejected
from engine.core.floats import FLOATS_ANYWHERE
from engine.evidence.layout import MAX_LINE, RECEIPTS
from engine.report.codes import E_REPORT_RECEIPTS
from engine.report.evidence import Evidence
from engine.report.markup import shorten
from engine.report.readings import read_subject
from engine.report.results import LONGEST, Subject
from engine.verify.replay import is_digest
from engine.verify.suite import SUITE

FORMAT: Final = "specledger/diff/v1"

MOST_CHANGES: Final = 200
"""Changes of one sort that are told; the others are counted."""

_ABSENT: Final = object()
_FOLLOWS: Final = frozenset({"prev", "run", "seq"})  # of a line: what differs because an earlier one does


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that is another in the second bundle.

    Attributes:
        path: What it is.
        first, second: What each bundle says, as text of a bounded length; None where it says nothing.
    """

    path: str
    first: str | None
    second: str | None


@dataclass(frozen=True, slots=True)
class Divergence:
    """The first receipt that is not the same in both.

    Attributes:
        seq: Its number.
        type: Its type in the first bundle, or in the second if the first has ended.
        episode, t: When in the run, if it says so.
        changes: The fields that differ; digests only if nothing else does.
        more: How many further ones there are.
        ended: Which bundle has no such receipt: `first`, `second`, or None.
    """

    seq: int
    type: str
    episode: int | None
    t: int | None
    changes: tuple[Change, ...]
    more: int
    ended: str | None


@dataclass(frozen=True, slots=True)
class Difference:
    """How the second bundle differs from the first.

    Attributes:
        kinds, names: Of the two.
        specs: Keys of the specs that differ, with the paths in them.
        results: Figures of the manifests' results.
        checks: Outcomes of checks, by their ids.
        receipts: Where the receipts part, or None.
        run: Of two suites the first run that both hold and whose receipts part, with where they do; or None.
        more: How many changes of `specs`, `results` and `checks` were not told.
    """

    kinds: tuple[str, str]
    names: tuple[str, str]
    specs: tuple[Change, ...]
    results: tuple[Change, ...]
    checks: tuple[Change, ...]
    receipts: Divergence | None
    run: tuple[str, Divergence] | None
    more: Mapping[str, int]

    @property
    def same(self) -> bool:
        """Whether nothing differs."""
        return self.receipts is None and not (self.specs or self.results or self.checks)


def compare(first: Evidence, second: Evidence) -> Difference:
    """Compare two bundles of which no check failed.

    Raises:
        Rejected: E_REPORT_RECEIPTS, if receipts hold other values than a report can tell.
    """
    subjects = read_subject(first), read_subject(second)
    listed = {
        "specs": [*_specs(first, second)],
        "results": [*_walk(first.manifest["result"], second.manifest["result"], "")],
        "checks": [*_checks(*subjects)],
    }
    try:
        parted = _lines(first.receipts.lines(), second.receipts.lines(), first.specs.digest == second.specs.digest)
        run = None if parted is None else _run(first, second)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise Rejected([Diagnostic(E_REPORT_RECEIPTS, f"they cannot be compared: {error!r}")]) from None
    return Difference(
        kinds=(first.kind, second.kind),
        names=(subjects[0].name, subjects[1].name),
        specs=tuple(listed["specs"][:MOST_CHANGES]),
        results=tuple(listed["results"][:MOST_CHANGES]),
        checks=tuple(listed["checks"][:MOST_CHANGES]),
        receipts=parted,
        run=run,
        more={name: max(0, len(found) - MOST_CHANGES) for name, found in listed.items()},
    )


def _specs(first: Evidence, second: Evidence) -> Iterator[Change]:
    """What differs between specs of one kind and name; a key tells the digest too, so it is not compared."""
    if first.specs.digest == second.specs.digest:
        return
    sides = [_by_name(evidence) for evidence in (first, second)]
    for name in sorted({*sides[0], *sides[1]}):
        left, right = (side.get(name, _ABSENT) for side in sides)
        if _ABSENT in (left, right):
            yield Change(name, *(None if side is _ABSENT else "there is one" for side in (left, right)))
        else:
            yield from _walk(left, right, name)


def _by_name(evidence: Evidence) -> dict[str, Any]:
    """The data of each spec by kind and name, with references without digests; several of one name are numbered."""
    found: dict[str, Any] = {}
    keys = {key: key.partition("@")[0] for key in evidence.specs.specs}
    for key, spec in sorted(evidence.specs.specs.items()):
        name, count = keys[key], 1
        while name in found:
            count += 1
            name = f"{keys[key]} ({count})"
        found[name] = _unpinned(spec.data, keys)
    return found


def _unpinned(value: Any, keys: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return keys.get(value, value)
    if isinstance(value, Mapping):
        return {name: _unpinned(inner, keys) for name, inner in value.items()}
    return [_unpinned(inner, keys) for inner in value] if isinstance(value, list | tuple) else value


def _checks(first: Subject, second: Subject) -> Iterator[Change]:
    """Checks whose outcome is another, or that only one bundle has."""
    sides = [{check.id: str(check.outcome) for check in subject.checks} for subject in (first, second)]
    for id_ in dict.fromkeys([*sides[0], *sides[1]]):
        left, right = sides[0].get(id_), sides[1].get(id_)
        if left != right:
            yield Change(id_, left, right)


def _run(first: Evidence, second: Evidence) -> tuple[str, Divergence] | None:
    """Of two suites the first run in which they part, in the order of the first one's receipts."""
    sides = [
        {body["place"]: body for type_, body in evidence.told() if type_ == "run"} if evidence.kind == SUITE else {}
        for evidence in (first, second)
    ]
    for place, body in sides[0].items():
        other = sides[1].get(place)
        if other is not None and other["receipts"] != body["receipts"]:
            left, right = (_read(each.place.joinpath(*place.split("/"), RECEIPTS)) for each in (first, second))
            parted = _lines(left, right, body["specs"] == other["specs"])
            if parted is not None:
                return place, parted
    return None


def _read(file: Path) -> Iterator[bytes]:
    """The lines of a run that was checked with its suite."""
    with file.open("rb") as lines:
        for line in lines:
            yield line[:-1]


def _lines(first: Iterable[bytes], second: Iterable[bytes], alike: bool) -> Divergence | None:
    """The first receipt whose type or body differs.

    A line names the run and the line before it, and the first receipt names the specs: of runs of different specs these
    always differ, and say nothing.

    Args:
        first: The lines of one run.
        second: Those of the other.
        alike: Whether both are made from the same specs.
    """
    for seq, (left, right) in enumerate(zip_longest(first, second)):
        if left == right:
            continue
        sides = [None if line is None else parse_canonical(line, limit=MAX_LINE) for line in (left, right)]
        found = [*_parted(sides, alike)]
        if found:
            return _divergence(seq, sides, found)
    return None


def _parted(sides: list[Any], alike: bool) -> Iterator[Change]:
    if None in sides:
        yield Change("the receipt", *(None if side is None else "there is one" for side in sides))
        return
    left, right = ({key: value for key, value in side.items() if key not in _FOLLOWS} for side in sides)
    for change in _walk(left, right, ""):
        if alike or change.path != "body.specs":
            yield change


def _divergence(seq: int, sides: list[Any], found: list[Change]) -> Divergence:
    side = sides[0] or sides[1]
    ended = None if None not in sides else ("first", "second")[sides.index(None)]
    telling = [change for change in found if not is_digest((change.path, change.first, change.second))] or found
    place = [side["body"].get(name) for name in ("episode", "t")]
    episode, t = (value if type(value) is int else None for value in place)
    kept = tuple(telling[:MOST_CHANGES])
    return Divergence(seq, shorten(str(side["type"]), 80), episode, t, kept, len(telling) - len(kept), ended)


def _walk(left: Any, right: Any, path: str) -> Iterator[Change]:
    """Every place in which two JSON values differ, in canonical order."""
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        for key in sorted({*left, *right}):
            inner = f"{path}.{key}" if path else str(key)
            yield from _walk(left.get(key, _ABSENT), right.get(key, _ABSENT), inner)
    elif isinstance(left, list) and isinstance(right, list):
        for index, (one, other) in enumerate(zip_longest(left, right, fillvalue=_ABSENT)):
            yield from _walk(one, other, f"{path}[{index}]")
    elif type(left) is not type(right) or left != right:
        yield Change(shorten(path, LONGEST), _shown(left), _shown(right))


def _shown(value: Any) -> str | None:
    if value is _ABSENT:
        return None
    try:
        text = value if isinstance(value, str) else canonical_bytes(value, FLOATS_ANYWHERE).decode()
    except NotCanonical:
        text = repr(value)
    return shorten(text, LONGEST)
