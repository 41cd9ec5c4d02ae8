"""The verification of a bundle: its manifest and files, its receipts, and their replay."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from engine.core.canonical import NotCanonical, canonical_bytes, parse_canonical
from engine.core.diagnostics import Diagnostic, Rejected
from engine.evidence.audit import AUDIT
from engine.evidence.bundle import (
    AUDIT_LOG,
    ENGINE,
    FORMAT,
    MANIFEST,
    MORE,
    RECEIPTS,
    SCENARIO,
    SPECS,
    file_digest,
)
from engine.evidence.chain import run_id
from engine.load import Bundle
from engine.verify.attached import signatures_of
from engine.verify.audit import check_log
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
from engine.verify.receipts import Listener, Receipts
from engine.verify.replay import Made, compare, make_again, plan_again, rebuild
from engine.verify.tape import tape_at

MAX_MANIFEST: Final = 1_048_576
"""Bytes of a manifest at most."""

MAX_SPECS: Final = 16_777_216
"""Bytes of specs.json at most."""

MANIFEST_KEYS: Final = {"format", "run", "specs", "result", "receipts", "files", "engine"}


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
    return Verifier(place, replay).verify()


class Verifier:
    """Makes the checks of one bundle in their order.

    Attributes:
        kind: What was run, as the manifest must say it; a scenario's does not name it.
        place: The folder.
        replay: Whether the run is made again.
        verification: The checks made so far.
        manifest, receipts: What was read so far.
        make: What makes the run again.
    """

    kind: str = SCENARIO

    def __init__(self, place: Path, replay: bool, listen: Listener | None = None) -> None:
        """Prepare to verify; `listen` is told of every receipt that was found in order."""
        self.place = place
        self.replay = replay
        self.verification = Verification()
        self.manifest: Mapping[str, Any] = {}
        self.receipts: Receipts | None = None
        self.make: Made | None = None
        self._more: list[str] = []
        self._entries: list[str] = []
        self._listen = listen

    def verify(self) -> Verification:
        """Make all checks.

        Raises:
            Rejected: E_NO_EVIDENCE, if the folder is not there, holds nothing of a bundle, or cannot be read.
        """
        try:
            if not self.place.is_dir() or not any((self.place / name).exists() for name in (MANIFEST, RECEIPTS, SPECS)):
                raise Rejected([Diagnostic(E_NO_EVIDENCE, f"`{self.place}` is no bundle")])
            return self._verify()
        except OSError as error:
            reason = error.strerror or "the system refuses"
            message = f"{error.filename or self.place} cannot be read: {reason}"
            raise Rejected([Diagnostic(E_NO_EVIDENCE, message)]) from error

    def _verify(self) -> Verification:
        self._make_own()
        self._make("replay gives the same bytes", self._check_replay, self._unreplayable())
        return self.verification

    def _make_own(self) -> None:
        """The checks of the bundle's own files."""
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
        if self._entries or AUDIT_LOG in self._more:
            self._make("the audit log is whole, and ends with the entries of the run", self._check_log)

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
        manifest = read_document(self.place / MANIFEST, MAX_MANIFEST, E_MANIFEST)
        keys = MANIFEST_KEYS if self.kind == SCENARIO else {*MANIFEST_KEYS, "kind"}
        if not isinstance(manifest, dict) or manifest.keys() != keys:
            raise Broken(E_MANIFEST, f"the manifest of a {self.kind} has exactly the keys {', '.join(sorted(keys))}")
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
        self._more = [name for name in MORE if name in [entry["path"] for entry in listed]]
        expected = [RECEIPTS, SPECS, *self._more, *(f"{place}/{MANIFEST}" for place in self.held())]
        if [entry["path"] for entry in listed] != expected:
            raise Broken(E_FILES, f"this bundle holds {', '.join(expected[:3])}{' ...' if len(expected) > 3 else ''}")
        held = sorted(entry.name for entry in os.scandir(self.place) if entry.name not in self.folders)
        if held != sorted([MANIFEST, RECEIPTS, SPECS, *self._more]):
            foreign = sorted(set(held) - {MANIFEST, RECEIPTS, SPECS, *self._more})
            raise Broken(E_FILES, f"not listed: {', '.join(foreign)}" if foreign else "a listed file is missing")
        for entry in listed:
            path = self.place / entry["path"]
            if path.is_symlink() or not path.is_file():
                raise Broken(E_FILES, f"{entry['path']} is no plain file")
            if path.stat().st_size != entry["size"]:
                raise Broken(
                    E_FILES, f"{entry['path']} has {path.stat().st_size} bytes, the manifest says {entry['size']}"
                )
            if file_digest(path) != entry["sha256"]:
                raise Broken(E_FILES, f"{entry['path']} differs from its SHA-256 in the manifest")

    folders: frozenset[str] = frozenset()
    """The folders beside the files; a run has none."""

    def held(self) -> Sequence[str]:
        """The places of the bundles inside this one, sorted.

        Raises:
            Broken: Something else lies in their folders.
        """
        return ()

    def _check_receipts(self) -> str:
        self.receipts = self._open_receipts()
        self.receipts.check()
        return f"{self.receipts.count} receipts"

    def _open_receipts(self) -> Receipts:
        return Receipts(self.place / RECEIPTS, self.manifest["run"], listen=self._hear)

    def _hear(self, type_: str, body: Mapping[str, Any]) -> None:
        """Keep what is compared with the audit log, and tell whoever listens."""
        if type_ == AUDIT:
            self._entries.append(body["entry_hash"])
        if self._listen is not None:
            self._listen(type_, body)

    def _check_log(self) -> str:
        return check_log(self.place / AUDIT_LOG, self._entries)

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
        bundle = rebuild(read_document(self.place / SPECS, MAX_SPECS, E_SPECS), self.kind)
        digest = bundle.digest
        if self.manifest["specs"] != digest:
            raise Broken(E_SPECS, f"the specs' digest is {digest}, the manifest says otherwise")
        if self.receipts.specs != digest:
            raise Broken(E_SPECS, f"the specs' digest is {digest}, the first receipt says otherwise")
        if self.manifest["run"] != run_id(digest):
            raise Broken(E_SPECS, "the run's identifier is not that of its specs")
        self.compile(bundle)
        return f"digest {digest}"

    def compile(self, bundle: Bundle) -> None:
        """Prepare to make again what the recorded specs lead to.

        Raises:
            Broken: E_SPECS, if they do not compile.
        """
        assert self.receipts is not None  # noqa: S101 - set by an earlier check
        self.make = plan_again(bundle, tape_at(self.place), partial(signatures_of, self.receipts.lines()))

    def _check_replay(self) -> str:
        assert self.receipts is not None and self.make is not None  # noqa: S101, PT018 - set by earlier checks
        made = make_again(self.make, self.manifest["specs"])
        return f"{compare(made, self.receipts.lines())} receipts"


def read_document(path: Path, limit: int, code: str) -> Any:
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
