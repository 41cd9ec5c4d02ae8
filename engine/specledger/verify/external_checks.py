"""Checks against what is outside a bundle's manifest: detached files, and what the reader knows from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from specledger.verify import check_names
from specledger.verify.assurance_levels import Reader
from specledger.verify.checks import Level, Verification
from specledger.verify.fork import Against, compare_heads, same_log
from specledger.verify.kind import Compiled
from specledger.verify.runlog import LogSubject, check_runlog
from specledger.verify.signed import Seals, check_expected, check_seals, check_signatures, check_time, note_signers
from specledger.verify.trust import Seen


def _extends(before: Against) -> str:
    return check_names.EXTENDS.format(place=before.where)


def external_names(reader: Reader) -> Iterator[tuple[str, Level]]:
    """The names and levels of the checks that follow from what the reader brings, whatever the bundle holds."""
    if reader.trust is not None:
        if reader.trust.run is not None or reader.trust.specs is not None:
            yield check_names.EXPECTED, Level.SIGNED
        yield check_names.SIGNATURES, Level.SIGNED
    if reader.authorities is not None:
        yield check_names.TIME, Level.TIMED
    yield from ((_extends(before), Level.UNFORKED) for before in reader.against)
    if reader.log is not None:
        yield check_names.ANNOUNCED, Level.INTACT


def check_external(verification: Verification, compiled: Compiled[Any], reader: Reader) -> None:
    """Make these checks.

    Args:
        verification: Records the checks.
        compiled: The bundle.
        reader: What the reader brings.

    Raises:
        Stopped: A check failed.
    """
    place, manifest = compiled.checked.place, compiled.checked.manifest
    seals = Seals(None, {}, None)
    covers = compiled.checked.chained.read.listing.covers
    if covers:
        with verification.check(check_names.DETACHED) as note:
            seals = check_seals(place, manifest, covers)
            note.message = ", ".join(covers)
    trust = reader.trust
    if trust is not None:
        if trust.run is not None or trust.specs is not None or seals.note is not None:
            verification.attempt(check_names.EXPECTED, partial(check_expected, trust, manifest, seals), Level.SIGNED)
        verification.attempt(check_names.SIGNATURES, partial(check_signatures, trust, seals), Level.SIGNED)
    if seals.time is not None or reader.authorities is not None:
        verification.attempt(check_names.TIME, partial(check_time, reader.authorities, place, seals), Level.TIMED)
    for before in reader.against:
        step = partial(_check_extends, verification, compiled, reader, seals, before)
        verification.attempt(_extends(before), step, Level.UNFORKED)
    if reader.log is not None:
        specs = compiled.specs
        thing = LogSubject(specs.main.kind, specs.main.name, compiled.checked.chained.read.kind.seeds(specs))
        verification.attempt(check_names.ANNOUNCED, partial(check_runlog, reader.log, manifest, thing, reader.log_head))


def _check_extends(
    verification: Verification, compiled: Compiled[Any], reader: Reader, seals: Seals, before: Against
) -> str:
    checked, note, trust = compiled.checked, seals.note, reader.trust
    run = checked.manifest["run"]
    origin = note.origin if note is not None else None if trust is None else trust.origin_for(run)
    known = "" if before.trusted else same_log(before, run, origin)
    now = Seen(checked.chained.head.count, bytes.fromhex(checked.chained.head.root))
    found, facts = compare_heads(checked.receipts.lines(), now, before)
    verification.facts["heads"] = facts
    if before.note is not None and trust is not None:
        signers = note_signers(trust, before.note)
        known += f"; {len(signers)} of your trusted keys signed that checkpoint"
    return f"{found}{known}"
