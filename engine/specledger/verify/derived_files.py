"""Files that follow from a bundle's receipts and specs: failing cases and source files.

Failing cases are folded from the receipts again and compared byte for byte. Source files, resolved again from these
files alone, give the recorded specs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from specledger.core.canonical import canonical_bytes
from specledger.core.diagnostics import Rejected, code, counted
from specledger.evidence.counterexamples import Case, parts_of
from specledger.evidence.layout import MAX_SOURCE, MAX_SOURCES, MAX_SPECS, ORIGIN, SOURCES, SPECS, TAPE, TRAJECTORIES
from specledger.load.bundle import Bundle
from specledger.load.sources import InvalidSources, load_sources
from specledger.oracles.recording import TapeError
from specledger.oracles.tape_file import read_head
from specledger.spec.base import SpecKinds
from specledger.verify.checks import Broken, Nothing, short
from specledger.verify.manifest import read_document, read_plain
from specledger.verify.replay import differences

E_COUNTEREXAMPLES = code("E_COUNTEREXAMPLES", "the failing cases are not those of the receipts")


def check_counterexamples(folder: Path, paths: Sequence[str], cases: Sequence[Case], lines: Iterable[bytes]) -> str:
    """Check that the files of failing cases are those of the cases that its receipts, which are `lines`, show."""
    expected = {case.path for case in cases}
    if expected != {*paths}:
        other = min(expected ^ {*paths})
        raise Broken(E_COUNTEREXAMPLES, f"{other} {'is missing' if other in expected else 'shows no new failure'}")
    for path, parts in parts_of(cases, lines):
        if not _holds(folder / path, parts):
            raise Broken(E_COUNTEREXAMPLES, f"{path} is not what the receipts show")
    if not cases:
        raise Nothing("the receipts show no failing case, and none is listed")
    return counted(len(cases), "file")


def _holds(path: Path, parts: Iterator[bytes]) -> bool:
    """Whether a file holds these bytes and no others."""
    with path.open("rb") as file:
        return all(file.read(len(part)) == part for part in parts) and not file.read(1)


_LONGEST: Final = 400
"""Characters of a described difference at most."""

WITHOUT_SOURCES: Final = f"which files the specs were resolved from: the bundle has no {SOURCES}/"
"""What is not checked of a bundle without sources."""

_RECORDED: Final = {
    TAPE: f"who gave the answers in {TAPE}: they are read again, and neither a program nor a model is asked",
    TRAJECTORIES: f"whether what {TRAJECTORIES} records happened, what its logs were called: nothing of it is executed",
}

E_SOURCES = code("E_SOURCES", "the spec files are not those that the run was resolved from")


def not_made_again(folder: Path, bundles: Sequence[str]) -> list[str]:
    """What a replay takes from the recordings of a bundle, or of the bundles inside, as it stands."""
    folders = [folder, *(folder / inside for inside in bundles)]
    texts = [text for name, text in _RECORDED.items() if any((holder / name).is_file() for holder in folders)]
    return [*texts, *dict.fromkeys(filter(None, map(_programs, folders)))]


def _programs(folder: Path) -> str | None:
    """What is recorded of the program that answered; None of a bundle without a tape of a run."""
    try:
        programs = read_head(folder / TAPE).programs
    except (TapeError, OSError):  # a replay says what is wrong with it; a discovery has another tape
        return None
    if not programs:
        return "which program answered, if one did: no file of it is recorded, and the specs hold its command alone"
    named = ", ".join(f"{path} with the SHA-256 {digest}" for path, digest in programs.items())
    uncovered = "not recorded: what it imports, its interpreter, whether this file was what ran"
    return f"which program answered: when the run began there was {named}, which the manifest covers; {uncovered}"


def check_sources(folder: Path, paths: Sequence[str], digest: str, kinds: SpecKinds) -> str:
    """Check that the sources of a bundle resolve to its specs."""
    resolved = resolve_sources(folder, paths, kinds)
    if resolved.digest != digest:
        recorded = read_document(folder / SPECS, MAX_SPECS, E_SOURCES)
        apart = _first_apart(resolved.document()["specs"], recorded["specs"])
        raise Broken(E_SOURCES, f"they do not resolve to the specs that ran: {apart}"[:_LONGEST])
    changes = read_document(folder / ORIGIN, MAX_SOURCE, E_SOURCES)["set"]
    changed = f", changed by --set {' --set '.join(changes)}"[:_LONGEST] if changes else ""
    return f"{counted(len(paths) - 1, 'file')}{changed}"  # without the file of settings, which is there


def resolve_sources(folder: Path, paths: Sequence[str], kinds: SpecKinds) -> Bundle:
    """The specs that sources resolve to, with the matrix case, which is one of theirs."""
    sizes = [(folder / path).stat().st_size for path in paths]
    if max(sizes, default=0) > MAX_SOURCE or sum(sizes) > MAX_SOURCES:
        raise Broken(E_SOURCES, f"a source has more than {MAX_SOURCE} bytes, or all have more than {MAX_SOURCES}")
    origin = read_document(folder / ORIGIN, MAX_SOURCE, E_SOURCES)
    documents = {
        path.removeprefix(f"{SOURCES}/"): read_plain(folder / path, MAX_SOURCE, E_SOURCES)
        for path in paths
        if path != ORIGIN
    }
    try:
        return load_sources(origin, documents, kinds)
    except InvalidSources as invalid:
        raise Broken(E_SOURCES, str(invalid)) from None
    except Rejected as rejected:
        raise Broken(E_SOURCES, f"they resolve to nothing: {rejected.diagnostics[0].message}") from None


def _first_apart(resolved: Mapping[str, Any], recorded: Mapping[str, Any]) -> str:
    """Words for the first spec, by kind and name, and its first field in which two documents of specs differ."""
    sides = [_by_name(specs) for specs in (resolved, recorded)]
    for name in sorted({*sides[0], *sides[1]}):
        ours, theirs = (side.get(name, []) for side in sides)
        if len(ours) != len(theirs):
            return f"there are {len(ours)} specs {name}, among those that ran {len(theirs)}"
        for own, other in zip(ours, theirs, strict=True):
            for path, left, right in differences(canonical_bytes(own), canonical_bytes(other)):
                if not _follows(left, right):
                    return f"{name} differs at {path}: the files say {short(left)}, what ran {short(right)}"
    return "they refer to each other in another way"


def _by_name(specs: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The data of specs by kind and name, several of one name in the order of their keys."""
    groups: dict[str, list[Any]] = {}
    for key in sorted(specs):
        groups.setdefault(key.partition("@")[0], []).append(specs[key])
    return groups


def _follows(left: Any, right: Any) -> bool:
    """Whether two keys of one spec differ in their digests alone, which follows from another difference."""
    keys = isinstance(left, str) and isinstance(right, str) and "@" in left and "@" in right
    return keys and left.partition("@")[0] == right.partition("@")[0]
