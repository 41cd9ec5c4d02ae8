"""The verification of a bundle: its manifest and files, its receipts, what covers them, and their replay.

Decides the order of the checks and what each of them is about. Refuses to make a check that rests on one that failed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from engine.compile.suite import seeds_of
from engine.core.canonical import NotCanonical, canonical_bytes
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
    E_REPLAY,
    E_RESULT,
    E_SPECS,
    Broken,
    Lacking,
    Level,
    Verification,
)
from engine.verify.documents import MAX_MANIFEST, MAX_SPECS, read_document
from engine.verify.fork import Against, compare_heads, same_log
from engine.verify.judge import NO_EXPRESSION, judge_run
from engine.verify.ladder import Reader
from engine.verify.proof import prove
from engine.verify.receipts import Listener, Receipts
from engine.verify.replay import Made, compare, first_difference, make_again, plan_again, rebuild
from engine.verify.runlog import Thing, check_runlog
from engine.verify.signed import (
    SIGNED,
    Seals,
    attached,
    check_expected,
    check_seals,
    check_signatures,
    check_time,
    note_signers,
)
from engine.verify.tape import tape_at
from engine.verify.trust import Seen

MANIFEST_KEYS: Final = {"format", "run", "specs", "result", "receipts", "files", "engine"}

_VERSION: Final = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9}){0,3}([-.+]?[a-z0-9]{1,20}){0,3}")


def verify_bundle(place: Path, *, replay: bool = True, reader: Reader | None = None) -> Verification:
    """Check a bundle, the chain without the engine first.

    Args:
        place: The folder.
        replay: Whether to make the run again from its specs and compare every byte.
        reader: What else the reader brings and asks for; it says itself whether to replay.

    Returns:
        The checks, in order. After a failure the checks that build on what failed are not made.

    Raises:
        Rejected: E_NO_EVIDENCE, if the folder is not there or holds nothing of a bundle.
    """
    return Verifier(place, replay, reader=reader).verify()


class Verifier:
    """Makes the checks of one bundle in their order.

    Attributes:
        kind: What was run, as the manifest must say it; a scenario's does not name it.
        further: What such a bundle may hold beside receipts and specs; what nothing reads has no place in it.
        place: The folder.
        replay: Whether the run is made again.
        verification: The checks made so far.
        manifest, receipts: What was read so far.
        bundle: The recorded specs, after they were checked.
        make: What makes the run again.
        inner: Whether the bundle lies in another one, which alone is sealed.
    """

    kind: str = SCENARIO
    further: Sequence[str] = MORE

    def __init__(
        self,
        place: Path,
        replay: bool,
        listen: Listener | None = None,
        *,
        reader: Reader | None = None,
        inner: bool = False,
    ) -> None:
        """Prepare to verify; `listen` is told of every receipt that was found in order."""
        self.place = place
        self.reader = Reader(replay=replay) if reader is None else reader
        self.replay = self.reader.replay
        self.inner = inner
        self.verification = Verification(asked=self.reader.asked, demanded=self.reader.levels)
        self.bundle: Bundle | None = None
        self.manifest: Mapping[str, Any] = {}
        self.receipts: Receipts | None = None
        self.make: Made | None = None
        self._more: list[str] = []
        self._held: tuple[str, ...] = ()
        self._seals = Seals(None, {}, None)
        self._entries: list[str] = []
        self._listen = listen

    def verify(self) -> Verification:
        """Make all checks.

        Raises:
            Rejected: E_NO_EVIDENCE, if the folder is not there, holds nothing of a bundle, or cannot be read;
                E_NO_RECEIPT, if there is none whose inclusion is to be proved.
        """
        try:
            if not self.place.is_dir() or not any((self.place / name).exists() for name in (MANIFEST, RECEIPTS, SPECS)):
                raise Rejected([Diagnostic(E_NO_EVIDENCE, f"`{self.place}` is no bundle")])
            names = () if self.inner else SIGNED
            self.verification.signed = any(os.path.lexists(self.place / name) for name in names)
            self._verify()
            if self.reader.proof is not None and self.verification.intact and self.receipts is not None:
                proof = prove(self.receipts.lines(), self.manifest["run"], self.reader.proof)
                self.verification.facts["proof"] = proof
            return self.verification
        except OSError as error:
            reason = error.strerror or "the system refuses"
            message = f"{error.filename or self.place} cannot be read: {reason}"
            raise Rejected([Diagnostic(E_NO_EVIDENCE, message)]) from error

    def _verify(self) -> Verification:
        self._make_own()
        self._make_further()
        if not self.replay and self.kind == SCENARIO and self.manifest.get("engine") == ENGINE:
            self._make("the run begins as its specs lead to", self._check_start)
        self._make_outside()
        self._make(self.replays, self._check_replay, self._unreplayable(), Level.REPLAYED)
        if self.reader.judge:
            self._make("an independent evaluator agrees with every verdict", self._check_judged, None, Level.JUDGED)
        return self.verification

    replays: str = "replay gives the same bytes"
    """The name of the check of replay."""

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

    def _make_further(self) -> None:
        """The checks of what a kind of bundle holds beside receipts and specs; a run holds nothing."""

    def _make_outside(self) -> None:
        """The checks of what covers the bundle, and those that rest on what the reader brings."""
        if self._held:
            self._make("what lies beside the manifest is about it", self._check_seals)
        trust = self.reader.trust
        if trust is not None:
            if trust.run is not None or trust.specs is not None or self._seals.note is not None:
                expected = partial(check_expected, trust, self.manifest, self._seals)
                self._make("it is the evidence that you expect", expected, None, Level.SIGNED)
            name = "enough keys that you trust have signed the manifest and the checkpoint"
            self._make(name, lambda: check_signatures(trust, self._seals), None, Level.SIGNED)
        if self._seals.time is not None or self.reader.authorities is not None:
            stamped = partial(check_time, self.reader.authorities, self.place, self._seals)
            self._make("an authority that you trust stamped the time", stamped, None, Level.TIMED)
        for before in self.reader.against:
            name = f"the log goes on from the head in {before.where}"
            self._make(name, partial(self._check_fork, before), None, Level.UNFORKED)
        log = self.reader.log
        if log is not None:
            name = "the run log announced this run, and these bytes were entered after"
            self._make(name, partial(self._check_log_of_runs, log))

    def _make(
        self,
        name: str,
        step: Callable[[], str | None],
        obstacle: str | None = None,
        level: Level = Level.INTACT,
    ) -> None:
        """Make one check, unless an earlier one has failed or something else stands against it."""
        if not self.verification.intact:
            obstacle = "an earlier check failed"
        if obstacle is not None:
            self.verification.not_made(name, obstacle, level)
            return
        try:
            self.verification.passed(name, step(), level)
        except Broken as broken:
            self.verification.failed(name, broken, level)
        except Lacking as lacking:
            self.verification.not_made(name, lacking.message, level, lacking.code)

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
        if not shaped or engine["name"] != ENGINE["name"] or not _VERSION.fullmatch(engine["version"]):
            raise Broken(E_MANIFEST, f"the engine is {{name: {ENGINE['name']}, version: ...}}")
        self.manifest = manifest

    def _check_files(self) -> None:
        listed = self.manifest["files"]
        shape = {"path", "sha256", "size"}
        if not isinstance(listed, list) or not all(isinstance(e, dict) and e.keys() == shape for e in listed):
            raise Broken(E_FILES, "`files` lists {path, sha256, size}")
        self._more = [name for name in self.further if name in [entry["path"] for entry in listed]]
        expected = [RECEIPTS, SPECS, *self._more, *(f"{place}/{MANIFEST}" for place in self.held())]
        if [entry["path"] for entry in listed] != expected:
            raise Broken(E_FILES, f"this bundle holds {', '.join(expected[:3])}{' ...' if len(expected) > 3 else ''}")
        held = sorted(entry.name for entry in os.scandir(self.place) if entry.name not in self.folders)
        self._held = () if self.inner else attached(held)
        if held != sorted([MANIFEST, RECEIPTS, SPECS, *self._more, *self._held]):
            foreign = sorted(set(held) - {MANIFEST, RECEIPTS, SPECS, *self._more, *self._held})
            named = ", ".join(foreign[:3]) + (" ..." if len(foreign) > 3 else "")
            raise Broken(E_FILES, f"not listed: {named}" if foreign else "a listed file is missing")
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

    def _check_seals(self) -> str:
        self._seals = check_seals(self.place, self.manifest, self._held)
        return ", ".join(self._held)

    def _check_fork(self, before: Against) -> str:
        assert self.receipts is not None  # noqa: S101 - set by an earlier check
        note, trust = self._seals.note, self.reader.trust
        run = self.manifest["run"]
        origin = note.origin if note is not None else None if trust is None else trust.origin_for(run)
        known = "" if before.trusted else same_log(before, run, origin)
        now = Seen(self.receipts.count, bytes.fromhex(self.receipts.root))
        said, facts = compare_heads(self.receipts.lines(), now, before)
        self.verification.facts["heads"] = facts
        if before.note is not None and trust is not None:
            signers = note_signers(trust, before.note)
            known += f"; {len(signers)} of your trusted keys signed that checkpoint"
        return f"{said}{known}"

    def _check_log_of_runs(self, log: Path) -> str:
        assert self.bundle is not None  # noqa: S101 - set by an earlier check
        thing = Thing(self.kind, self.bundle.main.name, seeds_of(self.bundle))
        return check_runlog(log, self.manifest, thing, self.reader.log_head)

    def _check_judged(self) -> str:
        assert self.receipts is not None and self.bundle is not None  # noqa: S101, PT018 - set by earlier checks
        if self.kind != SCENARIO:
            raise Lacking(NO_EXPRESSION)
        obstacle = self._unreplayable()
        if obstacle is not None:
            raise Lacking(f"what is judged are the states that replay makes, and {obstacle}")
        return judge_run(self.bundle, self.place, self.receipts.lines(), self.verification)

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
        self.bundle = bundle
        self.compile(bundle)
        return f"digest {digest}"

    def compile(self, bundle: Bundle) -> None:
        """Prepare to make again what the recorded specs lead to.

        Raises:
            Broken: E_SPECS, if they do not compile.
        """
        assert self.receipts is not None  # noqa: S101 - set by an earlier check
        self.make = plan_again(bundle, tape_at(self.place), partial(signatures_of, self.receipts.lines()))

    def _check_start(self) -> None:
        """The first receipt says how long the run is and what judges it; it is made before anything is run."""
        assert self.receipts is not None and self.make is not None  # noqa: S101, PT018 - set by earlier checks
        made, recorded = next(make_again(self.make, self.manifest["specs"])), next(self.receipts.lines())
        if made != recorded:
            raise Broken(E_REPLAY, first_difference(0, made, recorded))

    def _check_replay(self) -> str:
        assert self.receipts is not None and self.make is not None  # noqa: S101, PT018 - set by earlier checks
        made = make_again(self.make, self.manifest["specs"])
        return f"{compare(made, self.receipts.lines())} receipts"


def _same(recorded: Any, found: Any) -> bool:
    """Whether two values are the same JSON; Python's `==` takes `false` for 0."""
    try:
        return canonical_bytes(recorded) == canonical_bytes(found)
    except NotCanonical:  # hostile receipts can add up to what is no JSON
        return False
