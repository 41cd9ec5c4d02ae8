"""Reading the manifest of a bundle: its form, and who it says made the bundle."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from specledger.evidence.layout import ENGINE, EVALUATOR, FORMAT, MANIFEST, SCENARIO
from specledger.verify.checks import E_MANIFEST, Broken
from specledger.verify.documents import MAX_MANIFEST, read_document

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
    if manifest["format"] != FORMAT:
        raise Broken(E_MANIFEST, f"the format is {manifest['format']!r}, this verifier knows {FORMAT!r}")
    if not _made_by(manifest["engine"], ENGINE, _VERSION):
        raise Broken(E_MANIFEST, f"the engine is {{name: {ENGINE['name']}, version: ...}}")
    if not _made_by(manifest["evaluator"], EVALUATOR, _PROFILE):
        raise Broken(E_MANIFEST, f"the evaluator is {{name: {EVALUATOR['name']}, version: ...}}")
    return manifest


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
