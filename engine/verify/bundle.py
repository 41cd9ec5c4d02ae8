"""The verification of a bundle: its manifest and files, its receipts, and their replay."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from engine.core.canonical import NotCanonical, canonical_bytes, parse_canonical
from engine.core.diagnostics import Diagnostic, Rejected
from engine.core.digest import sha256_hex
from engine.evidence.bundle import ENGINE, FORMAT, MANIFEST, RECEIPTS, SPECS
from engine.evidence.chain import run_id
from engine.verify.checks import (
    E_FILES,
    E_HEAD,
    E_MANIFEST,
    E_NO_EVIDENCE,
    E_RESULT,
    E_SPECS,
    Broken,
    Verification,
)
from engine.verify.receipts import Receipts
from engine.verify.replay import compare, plan_again, rebuild

MAX_MANIFEST: Final = 1_048_576
"""Bytes of a manifest at most."""

MAX_SPECS: Final = 16_777_216
"""Bytes of specs.json at most."""

_MANIFEST_KEYS: Final = {"format", "run", "specs", "result", "receipts", "files", "engine"}


def verify_bundle(place: Path, *, replay: bool = True) -> Verification:
    """Check a bundle, the chain without the engine first.

    Args:
        place: The folder.
        replay: Whether to make the run again from its specs and compare every byte.

    Returns:
        The checks, in order. After a failure the checks that build on what failed are not made.

    Raises:
        Rejected: E_NO_EVIDENCE, if the folder is not there or holds nothing of a bundle.
    """
    try:
        if not place.is_dir() or not any((place / name).exists() for name in (MANIFEST, RECEIPTS, SPECS)):
            raise Rejected([Diagnostic(E_NO_EVIDENCE, f"`{place}` is no bundle")])
        return _Verifier(place, replay).verify()
    except OSError as error:
        reason = error.strerror or "the system refuses"
        raise Rejected([Diagnostic(E_NO_EVIDENCE, f"{error.filename or place} cannot be read: {reason}")]) from error


class _Verifier:
    def __init__(self, place: Path, replay: bool) -> None:
        self.place = place
        self.replay = replay
        self.verification = Verification()
        self.manifest: Mapping[str, Any] = {}
        self.receipts: Receipts | None = None
        self.plan: Any = None

    def verify(self) -> Verification:
        steps: list[tuple[str, Callable[[], str | None]]] = [
            ("the manifest is canonical and of a known format", self._read_manifest),
            ("every file is listed, whole and unchanged", self._check_files),
            ("receipts form one chain, and decisions match their commitments", self._check_receipts),
            ("head, count and Merkle root are those of the manifest", self._check_head),
            ("the result is what the receipts add up to", self._check_result),
            ("the specs are those that the run names", self._check_specs),
        ]
        for name, step in steps:
            self._make(name, step)
        self._make("replay gives the same bytes", self._check_replay, self._unreplayable())
        return self.verification

    def _make(self, name: str, step: Callable[[], str | None], obstacle: str | None = None) -> None:
        """Make one check, unless an earlier one has failed or something else stands against it."""
        if not self.verification.intact:
            obstacle = "an earlier check failed"
        if obstacle is not None:
            self.verification.not_made(name, obstacle)
            return
        try:
            self.verification.passed(name, step())
        except Broken as broken:
            self.verification.failed(name, broken)

    def _unreplayable(self) -> str | None:
        """Why replay is not made: another version may lead to other receipts, and that would refute nothing."""
        if not self.replay:
            return "replay was not asked for"
        made_by = self.manifest.get("engine", ENGINE)["version"]
        return None if made_by == ENGINE["version"] else f"version {made_by} made it, and this is {ENGINE['version']}"

    def _read_manifest(self) -> None:
        manifest = _document(self.place / MANIFEST, MAX_MANIFEST, E_MANIFEST)
        if not isinstance(manifest, dict) or manifest.keys() != _MANIFEST_KEYS:
            raise Broken(E_MANIFEST, f"a manifest has exactly the keys {', '.join(sorted(_MANIFEST_KEYS))}")
        if manifest["format"] != FORMAT:
            raise Broken(E_MANIFEST, f"the format is {manifest['format']!r}, this verifier knows {FORMAT!r}")
        engine = manifest["engine"]
        shaped = isinstance(engine, dict) and engine.keys() == ENGINE.keys() and isinstance(engine["version"], str)
        if not shaped or engine["name"] != ENGINE["name"]:
            raise Broken(E_MANIFEST, f"the engine is {{name: {ENGINE['name']}, version: ...}}")
        self.manifest = manifest

    def _check_files(self) -> None:
        listed = self.manifest["files"]
        shape = {"path", "sha256", "size"}
        if not isinstance(listed, list) or not all(isinstance(e, dict) and e.keys() == shape for e in listed):
            raise Broken(E_FILES, "`files` lists {path, sha256, size}")
        if [entry["path"] for entry in listed] != [RECEIPTS, SPECS]:
            raise Broken(E_FILES, f"a bundle holds {RECEIPTS} and {SPECS}")
        held = sorted(entry.name for entry in os.scandir(self.place))
        if held != sorted([MANIFEST, RECEIPTS, SPECS]):
            foreign = sorted(set(held) - {MANIFEST, RECEIPTS, SPECS})
            raise Broken(E_FILES, f"not listed: {', '.join(foreign)}" if foreign else "a listed file is missing")
        for entry in listed:
            path = self.place / entry["path"]
            if path.is_symlink() or not path.is_file():
                raise Broken(E_FILES, f"{entry['path']} is no plain file")
            if path.stat().st_size != entry["size"]:
                raise Broken(
                    E_FILES, f"{entry['path']} has {path.stat().st_size} bytes, the manifest says {entry['size']}"
                )
            if _file_digest(path) != entry["sha256"]:
                raise Broken(E_FILES, f"{entry['path']} differs from its SHA-256 in the manifest")

    def _check_receipts(self) -> str:
        self.receipts = Receipts(self.place / RECEIPTS, self.manifest["run"])
        self.receipts.check()
        return f"{self.receipts.count} receipts"

    def _check_head(self) -> str:
        assert self.receipts is not None  # noqa: S101 - set by the check before
        recorded = self.manifest["receipts"]
        found = {"count": self.receipts.count, "head": self.receipts.head, "root": self.receipts.root}
        if not isinstance(recorded, dict) or recorded.keys() != found.keys():
            raise Broken(E_HEAD, f"`receipts` says {', '.join(found)}")
        for key, value in found.items():
            if recorded[key] != value:
                raise Broken(E_HEAD, f"the receipts' {key} is {value}, the manifest says otherwise")
        return f"root {self.receipts.root}"

    def _check_result(self) -> str:
        assert self.receipts is not None  # noqa: S101 - set by an earlier check
        result = self.receipts.result
        if not _same(self.manifest["result"], result):
            raise Broken(E_RESULT, "the manifest's result is not what the receipts add up to")
        return f"verdict {result['verdict']}"

    def _check_specs(self) -> str:
        assert self.receipts is not None  # noqa: S101 - set by an earlier check
        bundle = rebuild(_document(self.place / SPECS, MAX_SPECS, E_SPECS))
        digest = bundle.digest
        if self.manifest["specs"] != digest:
            raise Broken(E_SPECS, f"the specs' digest is {digest}, the manifest says otherwise")
        if self.receipts.specs != digest:
            raise Broken(E_SPECS, f"the specs' digest is {digest}, the first receipt says otherwise")
        if self.manifest["run"] != run_id(digest):
            raise Broken(E_SPECS, "the run's identifier is not that of its specs")
        self.plan = plan_again(bundle)
        return f"digest {digest}"

    def _check_replay(self) -> str:
        assert self.receipts is not None  # noqa: S101 - set by an earlier check
        return f"{compare(self.plan, self.receipts.lines())} receipts"


def _document(path: Path, limit: int, code: str) -> Any:
    """A file that holds one canonical document and a newline.

    Raises:
        Broken: It is missing, too large, or differs from its own canonical form.
    """
    if path.is_symlink() or not path.is_file():
        raise Broken(code, f"{path.name} is missing")
    with path.open("rb") as file:
        data = file.read(limit + 2)  # of a file that is too large, enough to see that it is
    try:
        document = parse_canonical(data.removesuffix(b"\n"), limit=limit)
        if canonical_bytes(document) + b"\n" != data:
            raise Broken(code, f"{path.name} is not in canonical form")
    except NotCanonical as error:
        raise Broken(code, f"{path.name}: {error}") from None
    return document


def _same(recorded: Any, found: Any) -> bool:
    """Whether two values are the same JSON; Python's `==` takes `false` for 0."""
    try:
        return canonical_bytes(recorded) == canonical_bytes(found)
    except NotCanonical:  # hostile receipts can add up to what is no JSON
        return False


def _file_digest(path: Path) -> str:
    return sha256_hex(path.read_bytes())
