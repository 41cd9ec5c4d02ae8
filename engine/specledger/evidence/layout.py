"""The layout of a bundle: names of files, formats and size limits, shared by writer and verifier."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from specledger import __version__

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
MAX_SOURCES: Final = 8_388_608
"""Bytes of all sources together at most."""

MANIFEST: Final = "manifest.json"
RECEIPTS: Final = "receipts.jsonl"
SPECS: Final = "specs.json"
AUDIT_LOG: Final = "audit.log.jsonl"
TAPE: Final = "tape.jsonl"
MORE: Final = (AUDIT_LOG, TAPE)
"""What a bundle holds where its run had it: the audit log of a kernel, and what came from outside."""
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
LAW: Final = "law"
DISCOVERY: Final = "discovery"

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
