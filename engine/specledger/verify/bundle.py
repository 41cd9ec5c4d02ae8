"""The verification of a bundle: its manifest and files, its receipts, what stands around them, and their replay.

Decides the order of the checks and what each of them is about. Refuses to make a check that rests on one that failed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from specledger.compile.suite import seeds_of
from specledger.core.diagnostics import Diagnostic, Rejected
from specledger.evidence.audit import AUDIT
from specledger.evidence.chain import run_id
from specledger.evidence.counterexamples import may_fail
from specledger.evidence.layout import AUDIT_LOG, MANIFEST, MORE, RECEIPTS, SCENARIO, SPECS
from specledger.evidence.workplace import explain_partial
from specledger.load import Bundle
from specledger.spec.base import Models
from specledger.verify.assurance_levels import Reader
from specledger.verify.audit import check_log
from specledger.verify.audit_chain import signatures_of
from specledger.verify.checks import E_NO_EVIDENCE, E_REPLAY, E_SPECS, Broken, Lacking, Level, Verification
from specledger.verify.counterexamples import check_counterexamples
from specledger.verify.documents import MAX_SPECS, read_document
from specledger.verify.external_checks import Surroundings
from specledger.verify.judge import judge_run
from specledger.verify.judged import NO_EXPRESSION
from specledger.verify.listing import Listing, Room, check_files
from specledger.verify.manifest import other_maker, read_manifest
from specledger.verify.manifest_claims import check_head, check_result
from specledger.verify.proof import prove
from specledger.verify.receipts import Listener, Receipts
from specledger.verify.replay import Made, compare, first_difference, make_again, plan_again, rebuild
from specledger.verify.runlog import Thing
from specledger.verify.signed import SIGNED
from specledger.verify.sources import WITHOUT_SOURCES, check_sources
from specledger.verify.tape import tape_at


def verify_bundle(place: Path, models: Models, *, replay: bool = True, reader: Reader | None = None) -> Verification:
    """Check a bundle, the chain without the engine first.

    Args:
        place: The folder.
        models: The model of each kind.
        replay: Whether to make the run again from its specs and compare every byte.
        reader: What else the reader brings and asks for; it says itself whether to replay.

    Returns:
        The checks, in order. After a failure the checks that build on what failed are not made.

    Raises:
        Rejected: E_NO_EVIDENCE, if the folder is not there or holds nothing of a bundle.
    """
    return Verifier(place, models, replay, reader=reader).verify()


class Verifier:
    """Makes the checks of one bundle in their order.

    Attributes:
        kind: What was run, as the manifest must say it; a scenario's does not name it.
        further: What such a bundle may hold beside receipts and specs; what nothing reads has no place in it.
        place: The folder.
        models: The model of each kind.
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
        models: Models,
        replay: bool,
        listen: Listener | None = None,
        *,
        reader: Reader | None = None,
        inner: bool = False,
        workers: int = 1,
    ) -> None:
        """Prepare to verify; `listen` is told of every receipt that was found in order, replay has so many workers."""
        self.place = place
        self.models = models
        self.reader = Reader(replay=replay) if reader is None else reader
        self.replay = self.reader.replay
        self.inner = inner
        self.verification = Verification(asked=self.reader.asked, demanded=self.reader.levels)
        self.bundle: Bundle | None = None
        self.manifest: Mapping[str, Any] = {}
        self.receipts: Receipts | None = None
        self.make: Made | None = None
        self._listing = Listing()
        self._entries: list[str] = []
        self._listen = listen
        self._workers = workers

    def verify(self) -> Verification:
        """Make all checks.

        Raises:
            Rejected: E_NO_EVIDENCE, if the folder is not there, holds nothing of a bundle, or cannot be read;
                E_NO_RECEIPT, if there is none whose inclusion is to be proved.
        """
        try:
            if not self.place.is_dir() or not any((self.place / name).exists() for name in (MANIFEST, RECEIPTS, SPECS)):
                there = os.path.lexists(self.place)
                message = f"`{self.place}` is no bundle" if there else f"there is nothing at `{self.place}`"
                raise Rejected([Diagnostic(E_NO_EVIDENCE, message, hint=explain_partial(self.place))])
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
        if not self.replay and self.kind == SCENARIO and other_maker(self.manifest) is None:
            self._make("the run begins as its specs lead to", self._check_start)
        self._make_outside()
        self._make(self.replays, self._check_replay, self._unreplayable(), Level.REPLAYED)
        if self.reader.judge:
            name = "an independent evaluator agrees with every verdict of an expression"
            self._make(name, self._check_judged, None, Level.JUDGED)
        return self.verification

    replays: str = "replay gives the same bytes"
    """The name of the check of replay."""

    def _make_own(self) -> None:
        """The checks of the bundle's own files."""
        steps: list[tuple[str, Callable[[], str | None]]] = [
            ("the manifest is canonical and of a known format", self._read_manifest),
            ("every file is listed, whole and unchanged", self._check_files),
            ("receipts form one chain of lines", self._check_chain),
            ("head, count and Merkle root are those of the manifest", self._check_head),
            ("each receipt goes on from those before it, and decisions match their commitments", self._check_receipts),
            ("the result is what the receipts add up to", self._check_result),
            ("the specs are those that the run names", self._check_specs),
        ]
        for name, step in steps:
            self._make(name, step)
        if self._listing.cases or self._may_fail():
            self._make("the failing cases are those that the receipts show", self._check_cases)
        if self._listing.sources:
            self._make("the spec files resolve to the specs", self._check_sources)
        elif self.verification.intact and not self.inner:
            self.verification.unchecked.append(WITHOUT_SOURCES)
        if self._entries or AUDIT_LOG in self._listing.more:
            self._make("the audit log is whole, and ends with the entries of the run", self._check_log)

    def _make_further(self) -> None:
        """The checks of what a kind of bundle holds beside receipts and specs; a run holds nothing."""

    def _make_outside(self) -> None:
        """The checks of what covers the bundle, and those that rest on what the reader brings."""
        covers, facts = self._listing.covers, self.verification.facts
        around = Surroundings(self.place, self.reader, self.manifest, self.receipts, covers, facts, self._thing)
        for name, step, level in around.checks():
            self._make(name, step, None, level)

    def _thing(self) -> Thing:
        assert self.bundle is not None  # noqa: S101 - set by an earlier check
        return Thing(self.kind, self.bundle.main.name, seeds_of(self.bundle))

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
        return other_maker(self.manifest)

    def _read_manifest(self) -> None:
        self.manifest = read_manifest(self.place, self.kind)

    def _check_files(self) -> None:
        room = Room(self.further, self.folders, self.held(), not self.inner)
        self._listing = check_files(self.place, self.manifest["files"], room)

    folders: frozenset[str] = frozenset()
    """The folders beside the files; a run has none."""

    def held(self) -> Sequence[str]:
        """The places of the bundles inside this one, sorted.

        Raises:
            Broken: Something else lies in their folders.
        """
        return ()

    def _check_chain(self) -> str:
        self.receipts = self._open_receipts()
        self.receipts.link()
        return f"{self.receipts.count} receipts"

    def _check_receipts(self) -> None:
        assert self.receipts is not None  # noqa: S101 - set by an earlier check
        self.receipts.check()

    def _open_receipts(self) -> Receipts:
        return Receipts(self.place / RECEIPTS, self.manifest["run"], listen=self._hear)

    def _hear(self, type_: str, body: Mapping[str, Any]) -> None:
        """Keep what is compared with the audit log, and tell whoever listens."""
        if type_ == AUDIT:
            self._entries.append(body["entry_hash"])
        if self._listen is not None:
            self._listen(type_, body)

    def _check_judged(self) -> str:
        assert self.receipts is not None and self.bundle is not None  # noqa: S101, PT018 - set by earlier checks
        if self.kind != SCENARIO:
            raise Lacking(NO_EXPRESSION)
        obstacle = self._unreplayable()
        if obstacle is not None:
            raise Lacking(f"what is judged are the states that replay makes, and {obstacle}")
        return judge_run(self.bundle, self.place, self.receipts.lines(), self.verification)

    def _may_fail(self) -> bool:
        """Whether the receipts, which are in order so far, can show a failing case."""
        intact = self.verification.intact and self.receipts is not None
        return intact and may_fail(self.kind, self.manifest["result"])

    def _check_cases(self) -> str:
        assert self.receipts is not None  # noqa: S101 - set by an earlier check
        return check_counterexamples(self.place, self._listing.cases, self.kind, self.receipts.lines)

    def _check_sources(self) -> str:
        return check_sources(self.place, self._listing.sources, self.manifest["specs"], self.models)

    def _check_log(self) -> str:
        return check_log(self.place / AUDIT_LOG, self._entries)

    def _check_head(self) -> str:
        assert self.receipts is not None  # noqa: S101 - set by the check before
        return check_head(self.manifest["receipts"], self.receipts)

    def _check_result(self) -> str:
        assert self.receipts is not None  # noqa: S101 - set by an earlier check
        return check_result(self.manifest["result"], self.receipts.result)

    def _check_specs(self) -> str:
        assert self.receipts is not None  # noqa: S101 - set by an earlier check
        bundle = rebuild(read_document(self.place / SPECS, MAX_SPECS, E_SPECS), self.models, self.kind)
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
        signatures = partial(signatures_of, self.receipts.lines())
        self.make = plan_again(bundle, tape_at(self.place), signatures, self._workers)

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
