"""What stands around a bundle: what covers its manifest, and what the reader knows from elsewhere.

Decides which of these checks there are, by what lies there and what the reader brings. Refuses to look into the bundle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from specledger.verify.assurance_levels import Reader
from specledger.verify.checks import Level
from specledger.verify.fork import Against, compare_heads, same_log
from specledger.verify.receipts import Receipts
from specledger.verify.runlog import Thing, check_runlog
from specledger.verify.signed import Seals, check_expected, check_seals, check_signatures, check_time, note_signers
from specledger.verify.trust import Seen

Named = tuple[str, Callable[[], str | None], Level]
"""A check: its name, what makes it, and the level that it belongs to."""


@dataclass
class Surroundings:
    """What stands around one bundle.

    Attributes:
        place: The bundle.
        reader: What whoever verifies it brings.
        manifest: Its manifest; empty if it was not read.
        receipts: Its receipts; None if they were not read.
        covers: What lies there outside the manifest.
        facts: Takes what checks say in figures.
        thing: Gives what was run; called after the specs were checked.
        seals: What was found to cover it.
    """

    place: Path
    reader: Reader
    manifest: Mapping[str, Any]
    receipts: Receipts | None
    covers: tuple[str, ...]
    facts: dict[str, Mapping[str, Any]]
    thing: Callable[[], Thing]
    seals: Seals = field(default_factory=lambda: Seals(None, {}, None))

    def checks(self) -> Iterator[Named]:
        """The checks in their order; each is made before the next one is asked for."""
        if self.covers:
            yield "what lies beside the manifest is about it", self._check_seals, Level.INTACT
        trust = self.reader.trust
        if trust is not None:
            if trust.run is not None or trust.specs is not None or self.seals.note is not None:
                expected = partial(check_expected, trust, self.manifest, self.seals)
                yield "it is the evidence that you expect", expected, Level.SIGNED
            name = "enough keys that you trust have signed the manifest and the checkpoint"
            yield name, lambda: check_signatures(trust, self.seals), Level.SIGNED
        if self.seals.time is not None or self.reader.authorities is not None:
            stamped = partial(check_time, self.reader.authorities, self.place, self.seals)
            yield "an authority that you trust stamped the time", stamped, Level.TIMED
        for before in self.reader.against:
            name = f"the log goes on from the head in {before.where}"
            yield name, partial(self._check_fork, before), Level.UNFORKED
        log = self.reader.log
        if log is not None:
            name = "the run log announced this run, and these bytes were entered after"
            yield name, partial(self._check_log_of_runs, log), Level.INTACT

    def _check_seals(self) -> str:
        self.seals = check_seals(self.place, self.manifest, self.covers)
        return ", ".join(self.covers)

    def _check_fork(self, before: Against) -> str:
        assert self.receipts is not None  # noqa: S101 - it is made only if no check of the receipts failed
        note, trust = self.seals.note, self.reader.trust
        run = self.manifest["run"]
        origin = note.origin if note is not None else None if trust is None else trust.origin_for(run)
        known = "" if before.trusted else same_log(before, run, origin)
        now = Seen(self.receipts.count, bytes.fromhex(self.receipts.root))
        said, facts = compare_heads(self.receipts.lines(), now, before)
        self.facts["heads"] = facts
        if before.note is not None and trust is not None:
            signers = note_signers(trust, before.note)
            known += f"; {len(signers)} of your trusted keys signed that checkpoint"
        return f"{said}{known}"

    def _check_log_of_runs(self, log: Path) -> str:
        return check_runlog(log, self.manifest, self.thing(), self.reader.log_head)
