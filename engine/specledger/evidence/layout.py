"""The layout of a bundle: names of files, formats and size limits, shared by writer and verifier."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Final, TypeAlias

from msgspec import Meta

from specledger import __version__
from specledger.core.canonical import MAX_INTEGER

Digest: TypeAlias = Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]
"""A SHA-256 digest in a document, in hexadecimal digits."""
RunId: TypeAlias = Annotated[str, Meta(pattern=r"^[0-9a-f]{32}\Z")]
"""The identifier of a run in a document."""
Count: TypeAlias = Annotated[int, Meta(ge=0, le=MAX_INTEGER)]

FORMAT: Final = "specledger/bundle/v1"
ENGINE: Final[Mapping[str, str]] = {"name": "specledger", "version": __version__}
EVALUATOR: Final[Mapping[str, str]] = {"name": "cel-profile", "version": "1"}
"""What gives expressions their meaning, by the version of the profile (CEL profile v1) and not of a program."""

MAX_LINE: Final = 8_388_608
"""Bytes of one receipt at most, its newline included."""
MAX_MANIFEST: Final = 1_048_576
"""Bytes of a manifest at most."""
MAX_SOURCE: Final = 1_048_576
"""Bytes of one source at most, which is what a spec file may have."""
MAX_SPECS: Final = 16_777_216
"""Bytes of specs.json at most."""
MAX_SPECS_VOLUME: Final = 2_097_152
"""The volume of specs.json at most: a load has 400,000 values and keys at most."""
MAX_SOURCES: Final = 8_388_608
"""Bytes of all sources together at most."""

MANIFEST: Final = "manifest.json"
RECEIPTS: Final = "receipts.jsonl"
SPECS: Final = "specs.json"
AUDIT_LOG: Final = "audit.log.jsonl"
TAPE: Final = "tape.jsonl"
TRAJECTORIES: Final = "trajectories.jsonl"
MORE: Final = (AUDIT_LOG, TAPE, TRAJECTORIES)
"""What a bundle holds where its run had it: the audit log of a kernel, what came from outside, what was recorded."""
SOURCES: Final = "specs"
"""The folder of the documents that the specs were resolved from."""
ORIGIN: Final = "specs/origin.json"
"""How these documents are resolved; it is there with them."""
COUNTEREXAMPLES: Final = "counterexamples"
"""The folder of the minimal failing cases."""
CHECKPOINT: Final = "checkpoint"
ATTESTATION: Final = "attestation.dsse.json"
PROVENANCE: Final = "manifest.json.dsse.json"
TIMESTAMP: Final = "timestamp.tsr"
SUMS: Final = "sha256sums"
GUIDE: Final = "VERIFY.md"
ATTACHED: Final = (CHECKPOINT, ATTESTATION, PROVENANCE, TIMESTAMP, SUMS, GUIDE)
"""The detached files, which the manifest does not list: signatures, a time stamp, digests and a guide."""
FOLDERS: Final = frozenset({"runs", "controls", "mutants"})
"""The folders of a suite's bundle, which hold the bundles of runs."""

SCENARIO: Final = "scenario"
"""The kind of a bundle whose manifest names none."""
SUITE: Final = "suite"

_PART: Final = r"[A-Za-z0-9_][A-Za-z0-9._+=,@-]*"
PATH: Final = re.compile(rf"{_PART}(/{_PART}){{0,7}}")
"""What the path of a file in a bundle looks like: ASCII names that neither leave the folder nor look like options."""

DEPTH: Final = 3
"""How deep a folder may lie in a bundle: `mutants/MUTANT/RUN` is the deepest."""

_SOURCE: Final = re.compile(rf"{SOURCES}/[a-z]{{1,40}}/[A-Za-z0-9_][A-Za-z0-9_.-]{{0,94}}\.ya?ml")
_CASE: Final = re.compile(rf"{COUNTEREXAMPLES}/[0-9]{{8,16}}\.json")


def is_source(path: str) -> bool:
    """Whether a path in a bundle is that of a source, or of what says how sources are resolved."""
    return path == ORIGIN or _SOURCE.fullmatch(path) is not None


def is_counterexample(path: str) -> bool:
    """Whether a path in a bundle is that of a failing case."""
    return _CASE.fullmatch(path) is not None


def counterexample_path(seq: int) -> str:
    """The path of the failing case that the receipt of a number shows."""
    return f"{COUNTEREXAMPLES}/{seq:08d}.json"


def walk(root: Path, bundles: Collection[str], folder: str = "", depth: int = DEPTH) -> Iterator[str]:
    """The paths of what is in a bundle, and of a folder in it that is empty or too deep; links are not followed.

    Of a bundle in one of the folders `bundles` it is the manifest alone.
    """
    with os.scandir(root / folder) as entries:
        inside = {f"{folder}{entry.name}": entry.is_dir(follow_symlinks=False) for entry in entries}
    if folder.partition("/")[0] in bundles and f"{folder}{MANIFEST}" in inside:
        yield f"{folder}{MANIFEST}"
        return
    if not inside or not depth:
        yield folder
        return
    for path, is_folder in inside.items():
        if is_folder:
            yield from walk(root, bundles, f"{path}/", depth - 1)
        else:
            yield path
