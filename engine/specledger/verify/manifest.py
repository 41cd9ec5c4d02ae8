"""The manifest of a bundle: its form, the version that wrote it, what it says of the receipts, and the files it lists.

Documents of a bundle are plain files of bounded size, in their one canonical form.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec import Struct, ValidationError, convert

from specledger.core.canonical import NotCanonical, canonical_bytes, parse_canonical
from specledger.core.digest import file_digest
from specledger.core.volume import MAX_VOLUME
from specledger.evidence.layout import (
    ATTACHED,
    ENGINE,
    EVALUATOR,
    FORMAT,
    MANIFEST,
    MAX_SPECS,
    MAX_SPECS_VOLUME,
    RECEIPTS,
    SCENARIO,
    SPECS,
    is_counterexample,
    is_source,
    walk,
)
from specledger.verify.checks import E_FILES, E_HEAD, E_MANIFEST, E_RESULT, Broken, equal, require, require_equal
from specledger.verify.receipts import Head

MAX_MANIFEST: Final = 1_048_576
"""Bytes of a manifest at most."""


def read_document(path: Path, limit: int, code: str) -> Any:
    """A file that holds one canonical document and a newline."""
    data = read_plain(path, limit + 1, code)  # one more for the newline
    try:
        most = MAX_SPECS_VOLUME if limit == MAX_SPECS else MAX_VOLUME
        document = parse_canonical(data.removesuffix(b"\n"), limit=limit, most=most)
        if canonical_bytes(document) + b"\n" != data:
            raise Broken(code, f"{path.name} is not in canonical form")
    except NotCanonical as error:
        raise Broken(code, f"{path.name}: {error}") from None
    return document


def read_plain(path: Path, limit: int, code: str) -> bytes:
    """The bytes of a plain file, of which no more than the limit and one are read."""
    if path.is_symlink() or not path.is_file():
        raise Broken(code, f"{path.name} is missing")
    with path.open("rb") as file:
        return file.read(limit + 1)


MANIFEST_KEYS: Final = {"format", "run", "specs", "result", "receipts", "files", "engine", "evaluator"}

_VERSION: Final = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9}){0,3}([-.+]?[a-z0-9]{1,20}){0,3}")
_PROFILE: Final = re.compile(r"[1-9][0-9]{0,8}")


def read_manifest(folder: Path, kind: str) -> Mapping[str, Any]:
    """The manifest of the bundle of a kind."""
    manifest = read_document(folder / MANIFEST, MAX_MANIFEST, E_MANIFEST)
    keys = MANIFEST_KEYS if kind == SCENARIO else {*MANIFEST_KEYS, "kind"}
    if not isinstance(manifest, dict) or manifest.keys() != keys:
        raise Broken(E_MANIFEST, f"the manifest of a {kind} has exactly the keys {', '.join(sorted(keys))}")
    require_equal(manifest, {"format": FORMAT}, "the manifest", E_MANIFEST)
    for name, own, version in (("engine", ENGINE, _VERSION), ("evaluator", EVALUATOR, _PROFILE)):
        known = _made_by(manifest[name], own, version)
        require(known, f"the {name} is not {{name: {own['name']}, version: ...}}", E_MANIFEST)
    return manifest


def kind_of(folder: Path) -> str:
    """The kind that the manifest in a folder names; `scenario` if there is no manifest or it names none."""
    try:
        manifest = read_document(folder / MANIFEST, MAX_MANIFEST, E_MANIFEST)
    except (Broken, OSError):
        return SCENARIO
    kind = manifest.get("kind") if isinstance(manifest, dict) else None
    return kind if isinstance(kind, str) else SCENARIO


def other_maker(manifest: Mapping[str, Any]) -> str | None:
    """Words for another version that made the bundle; None if this one did, so that replay would give the same."""
    for key, own, noun in (("engine", ENGINE, "version"), ("evaluator", EVALUATOR, "an evaluator of version")):
        made_by = manifest.get(key, own)["version"]
        if made_by != own["version"]:
            return f"{noun} {made_by} made it, and this is {own['version']}"
    return None


def _made_by(recorded: Any, own: Mapping[str, str], version: re.Pattern[str]) -> bool:
    shaped = isinstance(recorded, dict) and recorded.keys() == own.keys() and isinstance(recorded["version"], str)
    return shaped and recorded["name"] == own["name"] and version.fullmatch(recorded["version"]) is not None


def check_head(recorded: Any, head: Head) -> str:
    """Check that the recorded head, count and root are those of the receipts."""
    computed = {"count": head.count, "head": head.head, "root": head.root}
    require(equal(recorded, computed), f"the receipts have {computed}, the manifest says otherwise", E_HEAD)
    return f"root {head.root}"


def check_result(recorded: Any, result: Mapping[str, Any]) -> str:
    """Check that the recorded result equals the recomputed one."""
    message = f"the manifest's result is not the one that the receipts give{_difference(recorded, result)}"
    require(equal(recorded, result), message, E_RESULT)
    return f"verdict {result['verdict']}"


def _difference(recorded: Any, result: Mapping[str, Any]) -> str:
    """The first figure that differs, the verdict before all others."""
    if not isinstance(recorded, dict):
        return ""
    names = ("verdict", *sorted(result.keys() | recorded.keys()))
    for name in names:
        stated, computed = recorded.get(name), result.get(name)
        if name not in recorded or name not in result or not equal(stated, computed):
            return f": `{name}` is {stated!r:.60}, not {computed!r:.60}"
    return ""


class Listing(Struct, frozen=True):
    """The files of a bundle by what they are, each by its path, sorted.

    Attributes:
        more: The further files that such a bundle may hold.
        covers: The detached files, which the manifest does not list, in a fixed order.
        bundles: The paths of the bundles inside this one.
    """

    more: Sequence[str] = ()
    sources: Sequence[str] = ()
    cases: Sequence[str] = ()
    covers: tuple[str, ...] = ()
    bundles: Sequence[str] = ()


class _Entry(Struct, forbid_unknown_fields=True):
    path: str
    sha256: str
    size: int


class Changed(Broken):
    """A file is not the one that the manifest lists."""

    def __init__(self, path: str, message: str) -> None:
        self.path = path
        super().__init__(E_FILES, message)


def check_files(
    folder: Path, listed: Any, files: Sequence[str] = (), folders: Collection[str] = (), *, covered: bool = True
) -> Listing:
    """Check that a bundle holds what its manifest lists, and nothing else; if `covered`, also detached files."""
    try:
        entries = convert(listed, list[_Entry])
    except ValidationError as error:
        raise Broken(E_FILES, f"`files` lists {{path, sha256, size}}: {error}") from None
    paths, present = [entry.path for entry in entries], {*walk(folder, folders)}
    more, sources = [name for name in files if name in paths], [path for path in paths if is_source(path)]
    cases = [path for path in paths if is_counterexample(path)]
    inner = sorted(path for path in present if path.partition("/")[0] in folders and path.endswith(f"/{MANIFEST}"))
    covers = tuple(name for name in ATTACHED if name in present) if covered else ()
    listed_paths, own = {*paths}, {RECEIPTS, SPECS}
    differences = {
        "listed, and missing": (own | listed_paths) - present,
        "not listed": present - listed_paths - {MANIFEST, *covers},
        "listed, and no file of such a bundle": (listed_paths & present) - own - {*more, *sources, *cases, *inner},
    }
    if any(differences.values()):
        raise Broken(
            E_FILES, "; ".join(_words(what, differing) for what, differing in differences.items() if differing)
        )
    in_order = paths == sorted(listed_paths)  # code points are in the order of bytes
    require(in_order, "`files` is not sorted, or names a path twice", E_FILES)
    for entry in entries:
        path = folder / entry.path
        require(path.is_file() and not path.is_symlink(), f"{entry.path} is no plain file", E_FILES)
        size = path.stat().st_size
        if size != entry.size:
            raise Changed(entry.path, f"{entry.path} has {size} bytes, and the manifest lists {entry.size}")
        digest = file_digest(path)
        if digest != entry.sha256:
            message = f"{entry.path} has the SHA-256 {digest}, and the manifest lists {entry.sha256:.80}"
            raise Changed(entry.path, message)
    return Listing(more, sources, cases, covers, [path.removesuffix(f"/{MANIFEST}") for path in inner])


def _words(what: str, paths: Collection[str]) -> str:
    """What is wrong with paths, of which the first three are named."""
    return f"{what}: {', '.join(sorted(paths)[:3])}{' ...' if len(paths) > 3 else ''}"
