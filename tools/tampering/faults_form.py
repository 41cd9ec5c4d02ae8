"""Faults of form: JSON, numbers, text, limits, digests, manifests, paths.

Each line is a case; `Case` says what the columns are.
"""

from __future__ import annotations

from typing import Any, Final

from tools.tampering.case import Case, Change, nothing, recount, relist, resign, seal, sign, unsigned
from tools.tampering.faults_chain import (
    LAST,
    MANIFEST,
    RECEIPTS,
    SPECS,
    STEP,
    inside,
    line,
    manifest,
    swap,
    uppercase_run,
)
from tools.tampering.signer import Signer


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


def padded(name: str, size: int) -> Change:
    """So many bytes more follow in a file; they are written when the case is laid out."""

    def change(f: Signer) -> None:
        f.recipe["pad"] = {name: size}

    return change


def added(name: str, data: bytes = b"") -> Change:
    """A file more lies in the bundle."""
    return lambda f: f.write(name, data)


def folded(f: Signer) -> None:
    f.remove(SPECS)
    f.write(f"{SPECS}/x", b"")


MIB: Final = 1 << 20
BIG: Final = b"9007199254740993"

JSON: Final = [
    Case("json-no-object", "The manifest is a list.", "climb", whole(MANIFEST, lambda data: b"[]\n"), nothing, "E_MANIFEST"),
    Case("json-unknown-type", "A receipt is of a type that nobody knows.", "short", lambda f: f.receipts[STEP].update(type="leap"), seal, "E_LINE"),
    Case("json-type-no-text", "The type of a receipt is a number.", "short", line(LAST, b'"type":"end"', b'"type":1'), resign, "E_LINE"),
    Case("canonical-manifest-white-space", "There is a blank in the manifest.", "climb", swap(MANIFEST, b'"format":', b'"format": '), nothing, "E_MANIFEST"),
    Case("canonical-manifest-newline", "The manifest does not end with a newline.", "climb", whole(MANIFEST, lambda data: data[:-1]), nothing, "E_MANIFEST"),
    Case("number-float", "An integer is written as 2.0.", "short", line(LAST, b'"episodes":1', b'"episodes":1.0'), resign, "E_LINE"),
    Case("unicode-digits", "The version of the engine has digits of another script.", "climb", inside("engine", version="\u0661.0"), sign, "E_MANIFEST"),
]  # fmt: skip

LIMITS: Final = [
    Case("limit-depth-hostile", "A receipt is nested 20,000 deep.", "short", lambda f: f.respell(8, b'"episodes":1', b'"a":' + b"[" * 20_000 + b"]" * 20_000 + b',"episodes":1'), resign, "E_LINE"),
    Case("limit-line", "A line has more than 8 MiB.", "climb", padded(RECEIPTS, 8 * MIB + 1), relist, "E_LINE"),
    Case("limit-manifest", "The manifest has more than 1 MiB.", "climb", padded(MANIFEST, MIB), nothing, "E_MANIFEST"),
]  # fmt: skip

HASHES: Final = [
    Case("hash-upper-case-run", "The run is written in upper case.", "climb", uppercase_run, seal, "E_SPECS"),
    Case("hash-short", "The root has 63 digits.", "climb", lambda f: f.manifest["receipts"].update(root=f.manifest["receipts"]["root"][:-1]), unsigned, "E_HEAD"),
]  # fmt: skip


MANIFESTS: Final = [
    Case("manifest-missing-field", "The manifest does not say what made it.", "climb", lambda f: f.manifest.pop("engine"), sign, "E_MANIFEST"),
    Case("manifest-format", "The manifest is of a format that does not exist.", "climb", manifest(format="specledger/bundle/v2"), sign, "E_MANIFEST"),
    Case("manifest-engine-field", "The manifest says more of its engine than it must.", "climb", inside("engine", commit="x"), sign, "E_MANIFEST"),
    Case("manifest-evaluator-number", "The version of the evaluator is a number.", "climb", inside("evaluator", version=1), sign, "E_MANIFEST"),
    Case("manifest-kind-list", "The kind of the manifest is a list.", "climb", manifest(kind=["law"]), sign, "E_MANIFEST"),
    Case("manifest-list-no-list", "The list of files is an object.", "climb", manifest(files={}), unsigned, "E_FILES"),
    Case("manifest-list-field", "The manifest says more of a file than it must.", "climb", listing(lambda files: files[0].update(mode=420)), sign, "E_FILES"),
    Case("manifest-head-null", "The head of the manifest is null.", "climb", manifest(receipts=None), unsigned, "E_HEAD"),
    Case("path-runs", "A run lies in the bundle of a run.", "climb", added("runs/a/manifest.json"), nothing, "E_FILES"),
    Case("path-absolute", "The manifest lists an absolute path.", "climb", listing(lambda files: files[1].update(path="/etc/passwd")), unsigned, "E_FILES"),
    Case("path-link-runs", "The folder of a suite's runs is a link.", "suite", linked("runs"), nothing, "E_FILES"),
]  # fmt: skip

SPECS_FORM: Final = [
    Case("specs-list", "The specs are a list.", "climb", lambda f: f.write(SPECS, b"[]\n"), relist, "E_SPECS"),
    Case("specs-of-another-kind", "The root of the specs is a world.", "climb", lambda f: f.respec(lambda document: document.update(root=next(key for key in document["specs"] if key.startswith("world/stairs@")))), recount, "E_SPECS"),
]  # fmt: skip

FAULTS: Final = (*JSON, *LIMITS, *HASHES, *MANIFESTS, *SPECS_FORM)
