"""Faults of form: JSON, numbers, text, limits, digests, manifests, paths.

Each line is a case; `Case` says what the columns are.
"""

from __future__ import annotations

from typing import Any, Final

from tools.tampering.case import Case, Change, nothing, resign, seal, sign, unsigned
from tools.tampering.faults_chain import (
    LAST,
    MANIFEST,
    STEP,
    inside,
    line,
    manifest,
    swap,
    uppercase_run,
)


def listing(change: Any) -> Change:
    """The file list of the manifest says something else."""
    return lambda f: change(f.manifest["files"])


def whole(name: str, change: Any) -> Change:
    """The bytes of a file are others."""
    return lambda f: f.write(name, change(f.read(name)))


def linked(name: str, target: str = "elsewhere") -> Change:
    """A file is a link, which is made when the case is laid out: not every checkout can hold one.

    Args:
        name: The file.
        target: `elsewhere`, where it lies beside the bundle, or `nowhere`.
    """
    return lambda f: f.recipe.update(links={name: target})


def added(name: str, data: bytes = b"") -> Change:
    """A file more lies in the bundle."""
    return lambda f: f.write(name, data)


JSON: Final = [
    Case("json-unknown-type", "A receipt is of a type that nobody knows.", "short", lambda f: f.receipts[STEP].update(type="leap"), seal, "E_LINE"),
    Case("json-expectation", "The expectation of a run is no text, so that no result follows.", "short", lambda f: f.first("start").update(expect=True), seal, "E_LINE"),
    Case("json-type-no-text", "The type of a receipt is a number.", "short", line(LAST, b'"type":"end"', b'"type":1'), resign, "E_LINE"),
    Case("canonical-manifest-white-space", "There is a blank in the manifest.", "climb", swap(MANIFEST, b'"format":', b'"format": '), nothing, "E_MANIFEST"),
    Case("canonical-manifest-newline", "The manifest does not end with a newline.", "climb", whole(MANIFEST, lambda data: data[:-1]), nothing, "E_MANIFEST"),
    Case("unicode-digits", "The version of the engine has digits of another script.", "climb", inside("engine", version="\u0661.0"), sign, "E_MANIFEST"),
]  # fmt: skip

LIMITS: Final = [
    Case("limit-depth-hostile", "A receipt is nested 20,000 deep.", "short", lambda f: f.respell(8, b'"episodes":1', b'"a":' + b"[" * 20_000 + b"]" * 20_000 + b',"episodes":1'), resign, "E_LINE"),
]  # fmt: skip

HASHES: Final = [
    Case("hash-upper-case-run", "The run is written in upper case.", "climb", uppercase_run, seal, "E_SPECS"),
    Case("hash-short", "The root has 63 digits.", "climb", lambda f: f.manifest["receipts"].update(root=f.manifest["receipts"]["root"][:-1]), unsigned, "E_HEAD"),
]  # fmt: skip


MANIFESTS: Final = [
    Case("manifest-missing-field", "The manifest does not say what made it.", "climb", lambda f: f.manifest.pop("engine"), sign, "E_MANIFEST"),
    Case("manifest-format", "The manifest is of a format that does not exist.", "climb", manifest(format="specledger/bundle/v2"), sign, "E_MANIFEST"),
    Case("manifest-list-field", "The manifest says more of a file than it must.", "climb", listing(lambda files: files[0].update(mode=420)), sign, "E_FILES"),
    Case("manifest-list-order", "The manifest lists its files in another order.", "climb", listing(lambda files: files.reverse()), sign, "E_FILES"),
    Case("path-runs", "A run lies in the bundle of a run.", "climb", added("runs/a/manifest.json"), nothing, "E_FILES"),
]  # fmt: skip

FAULTS: Final = (*JSON, *LIMITS, *HASHES, *MANIFESTS)
