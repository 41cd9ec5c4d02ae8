"""The manifest of a bundle: its form, the version that wrote it, and what it says about the receipts.

Documents of a bundle are plain files of bounded size, in their one canonical form.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from specledger.core.canonical import NotCanonical, canonical_bytes, parse_canonical
from specledger.evidence.layout import ENGINE, EVALUATOR, FORMAT, MANIFEST, SCENARIO
from specledger.verify.checks import E_HEAD, E_MANIFEST, E_RESULT, Broken, agree, demand, same
from specledger.verify.receipts import Head

MAX_MANIFEST: Final = 1_048_576
"""Bytes of a manifest at most."""

MAX_SPECS: Final = 16_777_216
"""Bytes of specs.json at most."""


def read_document(path: Path, limit: int, code: str) -> Any:
    """A file that holds one canonical document and a newline.

    Raises:
        Broken: It is missing, too large, or differs from its own canonical form.
    """
    data = read_plain(path, limit + 1, code)  # one more for the newline
    try:
        document = parse_canonical(data.removesuffix(b"\n"), limit=limit)
        if canonical_bytes(document) + b"\n" != data:
            raise Broken(code, f"{path.name} is not in canonical form")
    except NotCanonical as error:
        raise Broken(code, f"{path.name}: {error}") from None
    return document


def read_plain(path: Path, limit: int, code: str) -> bytes:
    """The bytes of a plain file, of which no more than the limit and one are read.

    Raises:
        Broken: It is missing or no plain file.
    """
    if path.is_symlink() or not path.is_file():
        raise Broken(code, f"{path.name} is missing")
    with path.open("rb") as file:
        return file.read(limit + 1)


MANIFEST_KEYS: Final = {"format", "run", "specs", "result", "receipts", "files", "engine", "evaluator"}

_VERSION: Final = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9}){0,3}([-.+]?[a-z0-9]{1,20}){0,3}")
_PROFILE: Final = re.compile(r"[1-9][0-9]{0,8}")


def read_manifest(place: Path, kind: str) -> Mapping[str, Any]:
    """The manifest of the bundle of a kind.

    Raises:
        Broken: E_MANIFEST, if it is missing, of another form, or of a bundle that something else made.
    """
    manifest = read_document(place / MANIFEST, MAX_MANIFEST, E_MANIFEST)
    keys = MANIFEST_KEYS if kind == SCENARIO else {*MANIFEST_KEYS, "kind"}
    if not isinstance(manifest, dict) or manifest.keys() != keys:
        raise Broken(E_MANIFEST, f"the manifest of a {kind} has exactly the keys {', '.join(sorted(keys))}")
    agree(manifest, {"format": FORMAT}, "the manifest", E_MANIFEST)
    for name, own, version in (("engine", ENGINE, _VERSION), ("evaluator", EVALUATOR, _PROFILE)):
        known = _made_by(manifest[name], own, version)
        demand(known, f"the {name} is not {{name: {own['name']}, version: ...}}", E_MANIFEST)
    return manifest


def kind_of(place: Path) -> str:
    """The kind that the manifest at a place names; `scenario` if there is no manifest or it names none."""
    try:
        manifest = read_document(place / MANIFEST, MAX_MANIFEST, E_MANIFEST)
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
    """Check that the recorded head, count and root are those of the receipts.

    Raises:
        Broken: E_HEAD.
    """
    found = {"count": head.count, "head": head.head, "root": head.root}
    demand(same(recorded, found), f"the receipts have {found}, the manifest says otherwise", E_HEAD)
    return f"root {head.root}"


def check_result(recorded: Any, result: Mapping[str, Any]) -> str:
    """Check that the recorded result equals the recomputed one.

    Raises:
        Broken: E_RESULT.
    """
    demand(same(recorded, result), "the manifest's result is not the one that the receipts give", E_RESULT)
    return f"verdict {result['verdict']}"
