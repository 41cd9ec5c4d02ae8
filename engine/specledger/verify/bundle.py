"""The verification of a bundle, stage by stage: `Read`, `Chained`, `Checked`, `Compiled`, `Replayed`.

The number of each check is part of its name (`check_names`). After a failed check the checks that follow are not made.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from msgspec.structs import asdict, replace

from specledger.core.diagnostics import Diagnostic, Rejected
from specledger.evidence.counterexamples import Cases
from specledger.evidence.layout import MANIFEST, RECEIPTS, SCENARIO, SPECS
from specledger.evidence.seal import listed_files
from specledger.evidence.workplace import explain_partial, suggest_bundle
from specledger.run.executor import Executor
from specledger.run.workers import ALONE
from specledger.spec.base import SpecKinds
from specledger.verify import check_names
from specledger.verify.assurance_levels import Reader
from specledger.verify.changed import first_other
from specledger.verify.check_names import CheckName
from specledger.verify.checks import E_NO_EVIDENCE, E_SPECS, Broken, Level, Stopped, Verification, require_equal
from specledger.verify.claimed import claimed
from specledger.verify.derived_files import WITHOUT_SOURCES, check_counterexamples, check_sources, not_made_again
from specledger.verify.established import kept_verdicts, kept_words, recorded_facts, signer_facts
from specledger.verify.fork import Against, compare_heads, same_log
from specledger.verify.judged import summary
from specledger.verify.kind import (
    C,
    Chained,
    Checked,
    Compiled,
    EvidenceKind,
    O,
    Read,
    Replayed,
    Resources,
    Verifiable,
    VerifiableKind,
)
from specledger.verify.manifest import (
    Changed,
    Listing,
    check_files,
    check_head,
    check_result,
    kind_of,
    other_maker,
    read_manifest,
)
from specledger.verify.proof import prove
from specledger.verify.receipts import follow, link
from specledger.verify.recorded import Recorded
from specledger.verify.runlog import LogSubject, check_runlog
from specledger.verify.signed import (
    SIGNED,
    Seals,
    absent_help,
    check_expected,
    check_seals,
    check_signatures,
    check_time,
    note_signers,
)
from specledger.verify.trust import Seen

_OWN: Final = (
    check_names.MANIFEST,
    check_names.FILES,
    check_names.CHAIN,
    check_names.HEAD,
    check_names.ORDER,
    check_names.RESULT,
    check_names.SPECS,
)


class Refuted(Exception):  # noqa: N818 - a finding about evidence, not an engine error
    """A check of the evidence failed."""

    def __init__(self, verification: Verification) -> None:
        self.verification = verification
        super().__init__("the evidence is refuted")


def verify_evidence(
    folder: Path, reader: Reader, kinds: Mapping[str, VerifiableKind], executor: Executor = ALONE
) -> Verification:
    """Verify the bundle at a place, of the kind that its manifest names.

    Raises:
        Rejected: E_NO_EVIDENCE, if there is no bundle or it cannot be read; E_NO_RECEIPT, if there is no receipt whose
            inclusion is to be proved; a missing package.
    """
    try:
        return open_evidence(folder, reader, kinds, executor)[1]
    except Refuted as refuted:
        return refuted.verification


def open_evidence(
    folder: Path, reader: Reader, kinds: Mapping[str, VerifiableKind], executor: Executor = ALONE
) -> tuple[Replayed[Any, Any], Verification]:
    """Verify the bundle at a place and give what was verified; `Reader(replay=False)` verifies without replay.

    Raises:
        Refuted: A check failed.
        Rejected: As `verify_evidence`.
    """
    kind = kinds.get(kind_of(folder))
    evidence = (kind if kind is not None and kind.runs else kinds[SCENARIO]).evidence
    return open_bundle(folder, evidence, kinds, reader, executor)


def open_bundle(
    folder: Path, kind: EvidenceKind[Any, Any], kinds: SpecKinds, reader: Reader, executor: Executor = ALONE
) -> tuple[Replayed[Any, Any], Verification]:
    """Verify a bundle of a known kind and give what was verified.

    Raises:
        Refuted: A check failed.
        Rejected: As `verify_evidence`.
    """
    verification = Verification(asked=reader.asked, demanded=reader.levels)
    verification.signed = any(os.path.lexists(folder / name) for name in SIGNED)
    try:
        compiled = compile_bundle(folder, kind, Resources(kinds, executor), verification, explain=reader.replay)
        obstacle = obstacle_to_replay(compiled, replay=reader.replay)
        verifiable = compiled.content.check(verification, obstacle)
        recorded = recorded_facts(compiled.folder, compiled.manifest)
        seals = check_external(verification, compiled, recorded, reader)
        replayed = replay_content(compiled, verifiable, obstacle, verification)
        if reader.judge:
            judge_content(replayed, verification)
    except Stopped:
        verification.stop(_planned(kind, reader))
        verification.facts["claimed"] = claimed(folder, reader.trust)
        raise Refuted(verification) from None
    except OSError as error:
        raise _unreadable(folder, error) from error
    verification.facts["recorded"] = recorded
    verification.facts["signers"] = signer_facts(reader.trust, seals)
    if reader.proof is not None:
        verification.facts["proof"] = prove(replayed.receipts.lines(), replayed.receipts.run, reader.proof)
    return replayed, verification


def compile_bundle(
    folder: Path,
    kind: EvidenceKind[O, C],
    resources: Resources,
    verification: Verification,
    *,
    inner: bool = False,
    explain: bool = False,
) -> Compiled[O, C]:
    """Take a bundle through the stages without replay; an `inner` one is in a suite, unsigned and without sources.

    `explain` is whether replay may tell which receipt of a changed file differs.

    Raises:
        Stopped: A check failed.
        Rejected: E_NO_EVIDENCE, if there is no bundle.
    """
    read = read_bundle(folder, kind, verification, resources if explain else None, inner=inner)
    recorded = Recorded(folder, read.manifest, kind.receipts.name, resources.kinds, resources.plan)
    checked = check_receipts(chain(read, verification), recorded, verification)
    return compile_specs(checked, recorded, resources, verification, inner=inner)


def read_bundle(
    folder: Path,
    kind: EvidenceKind[O, C],
    verification: Verification,
    resources: Resources | None = None,
    *,
    inner: bool = False,
) -> Read[O, C]:
    """Read the manifest and check the files; with resources, replay tells which receipt of a changed file differs."""
    if not folder.is_dir() or not any((folder / name).exists() for name in (MANIFEST, RECEIPTS, SPECS)):
        there = os.path.lexists(folder)
        message = f"`{folder}` is no bundle" if there else f"there is nothing at `{folder}`"
        raise Rejected([Diagnostic(E_NO_EVIDENCE, message, hint=explain_partial(folder) or suggest_bundle(folder))])
    with verification.check(check_names.MANIFEST):
        manifest = read_manifest(folder, kind.receipts.name)
    with verification.check(check_names.FILES):
        try:
            listing = check_files(folder, manifest["files"], kind.files, kind.folders, covered=not inner)
        except Changed as changed:
            read = Read(folder, kind, manifest, Listing())
            which = f"; {first_other(read, resources)}" if changed.path == RECEIPTS else ""
            raise Broken(changed.code, f"{changed.message}{which}") from None
    return Read(folder, kind, manifest, listing)


def chain(read: Read[O, C], verification: Verification) -> Chained[O, C]:
    """Link the receipts and compare their head with the manifest."""
    with verification.check(check_names.CHAIN) as note:
        head = link(read.receipts)
        note.message = f"{head.count} receipts"
    verification.attempt(check_names.HEAD, partial(check_head, read.manifest["receipts"], head))
    return Chained(**asdict(read), head=head)


def check_receipts(chained: Chained[O, C], recorded: Recorded, verification: Verification) -> Checked[O, C]:
    """Check what the receipts say, of probes by their specs, and recompute the result."""
    order, tally, cases = chained.kind.order(), chained.kind.receipts.tally(), Cases(chained.kind.receipts.cases)
    if chained.kind.know is not None:
        chained.kind.know(order, recorded)
    with verification.check(check_names.ORDER) as note:
        stated = follow(chained.receipts, order, tally, cases)
        note.message = None if chained.kind.describe is None else chained.kind.describe(order)
    verification.attempt(check_names.RESULT, lambda: check_result(chained.manifest["result"], tally.result()))
    return Checked(**asdict(chained), order=order, stated=stated, cases=cases.kept)


def compile_specs(
    checked: Checked[O, C], recorded: Recorded, resources: Resources, verification: Verification, *, inner: bool = False
) -> Compiled[O, C]:
    """Compile the recorded specs, and check the files that follow from specs and receipts."""
    folder, manifest, listing, kind = checked.folder, checked.manifest, checked.listing, checked.kind.receipts
    with verification.check(check_names.SPECS) as note:
        specs = recorded.specs
        require_equal({"specs": checked.stated}, {"specs": specs.digest}, "the first receipt", E_SPECS)
        content = checked.kind.content(checked, specs, replace(resources, plan=recorded.compiled))
        note.message = f"digest {specs.digest}"
    if listing.cases or kind.may_fail(manifest["result"]):
        step = partial(check_counterexamples, folder, listing.cases, checked.cases, checked.receipts.lines())
        verification.attempt(check_names.FAILING_CASES, step)
    if listing.sources:
        step = partial(check_sources, folder, listing.sources, manifest["specs"], resources.kinds)
        verification.attempt(check_names.SOURCES, step)
    elif not inner:
        verification.unchecked.append(WITHOUT_SOURCES)
    return Compiled(**asdict(checked), specs=specs, content=content)


def obstacle_to_replay(compiled: Compiled[Any, Any], *, replay: bool) -> str | None:
    """Why evidence is not replayed, or None: receipts of another version may differ, which would refute nothing."""
    return other_maker(compiled.manifest) if replay else "replay was not requested"


def _extends(before: Against) -> CheckName:
    return check_names.EXTENDS.of(before.where)


def external_names(reader: Reader) -> Iterator[tuple[CheckName, Level]]:
    """The names and levels of the checks that follow from what the reader brings, whatever the bundle holds."""
    if reader.trust is not None:
        if reader.trust.expects:
            yield check_names.EXPECTED, Level.SIGNED
        yield check_names.SIGNATURES, Level.SIGNED
    if reader.authorities is not None:
        yield check_names.TIME, Level.TIMED
    yield from ((_extends(before), Level.UNFORKED) for before in reader.against)
    if reader.log is not None:
        yield check_names.ANNOUNCED, Level.INTACT


def _kept(compiled: Compiled[Any, Any]) -> Mapping[str, int]:
    return kept_verdicts(compiled.folder, listed_files(compiled.folder))


def check_external(
    verification: Verification, compiled: Compiled[Any, Any], recorded: Mapping[str, Any], reader: Reader
) -> Seals:
    """Make these checks; what stands beside the manifest."""
    folder, manifest, covers = compiled.folder, compiled.manifest, compiled.listing.covers
    seals = Seals(None, {}, None)
    verification.unchecked.extend(not_made_again(folder, compiled.listing.bundles))
    verification.unchecked.extend(absent_help(covers))
    if kept := _kept(compiled):
        verification.unchecked.append(kept_words(sum(kept.values())))
    if covers:
        with verification.check(check_names.DETACHED) as note:
            seals = check_seals(folder, manifest, covers)
            note.message = ", ".join(covers)
    trust = reader.trust
    if trust is not None:
        if trust.expects or seals.note is not None:
            step = partial(check_expected, trust, recorded, seals)
            verification.attempt(check_names.EXPECTED, step, Level.SIGNED)
        verification.attempt(check_names.SIGNATURES, partial(check_signatures, trust, seals), Level.SIGNED)
    if seals.time is not None or reader.authorities is not None:
        verification.attempt(check_names.TIME, partial(check_time, reader.authorities, folder, seals), Level.TIMED)
    for before in reader.against:
        step = partial(_check_extends, verification, compiled, reader, seals, before)
        verification.attempt(_extends(before), step, Level.UNFORKED)
    if reader.log is not None:
        specs = compiled.specs
        thing = LogSubject(specs.main.kind, specs.main.name, compiled.kind.seeds(specs))
        verification.attempt(check_names.ANNOUNCED, partial(check_runlog, reader.log, manifest, thing, reader.log_head))
    return seals


def _check_extends(
    verification: Verification, compiled: Compiled[Any, Any], reader: Reader, seals: Seals, before: Against
) -> str:
    run, note, trust = compiled.manifest["run"], seals.note, reader.trust
    origin = note.origin if note is not None else None if trust is None else trust.origin_for(run)
    known = "" if before.trusted else same_log(before, run, origin)
    now = Seen(compiled.head.count, bytes.fromhex(compiled.head.root))
    comparison, facts = compare_heads(compiled.receipts.lines(), now, before)
    verification.facts["heads"] = facts
    if before.note is not None and trust is not None:
        signers = note_signers(trust, before.note)
        known += f"; {len(signers)} of your trusted keys signed that checkpoint"
    return f"{comparison}{known}"


def replay_content(
    compiled: Compiled[O, C], verifiable: Verifiable, obstacle: str | None, verification: Verification
) -> Replayed[O, C]:
    """Make the evidence again and compare it, unless there is an obstacle: the last check but for the judge."""
    name = compiled.kind.replay
    if obstacle is not None:
        verification.not_made(name, obstacle, Level.REPLAYED)
    else:
        with verification.check(name, Level.REPLAYED) as note:
            note.message = verifiable.replay() + _not_again(_kept(compiled))
    return Replayed(**asdict(compiled), verifiable=verifiable, obstacle=obstacle)


def _not_again(kept: Mapping[str, int]) -> str:
    """What replay only took over from recordings: verdicts of rules that were made before a value was withheld."""
    if not kept:
        return ""
    listed = ", ".join(f"{name} {times}" for name, times in kept.items())
    return f"; not checked again, since they read withheld values: verdicts of {listed}"


def judge_content(replayed: Replayed[Any, Any], verification: Verification) -> None:
    """Have a second evaluator judge the evidence."""
    judge = replayed.verifiable.judge
    verification.attempt(check_names.JUDGE, lambda: summary(judge(replayed.obstacle), verification), Level.JUDGED)


def _planned(kind: EvidenceKind[Any, Any], reader: Reader) -> Iterator[tuple[CheckName, Level]]:
    """The checks that are made of every bundle of a kind for this reader, in order."""
    yield from ((name, Level.INTACT) for name in (*_OWN, *kind.checks))
    yield from external_names(reader)
    yield kind.replay, Level.REPLAYED
    if reader.judge:
        yield check_names.JUDGE, Level.JUDGED


def _unreadable(folder: Path, error: OSError) -> Rejected:
    reason = error.strerror or "operating system error"
    return Rejected([Diagnostic(E_NO_EVIDENCE, f"{error.filename or folder} cannot be read: {reason}")])
