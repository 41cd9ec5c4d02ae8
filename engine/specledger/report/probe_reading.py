"""The probes of a run in a report: how often each came to each verdict, for which causes, and where."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from typing import Final

from specledger.core.causes import partly_words
from specledger.core.events import owned
from specledger.core.verdict import Verdict
from specledger.evidence.receipts import typed
from specledger.evidence.receipts.kernel import Probe
from specledger.evidence.receipts.result import RunResult
from specledger.report.evidence import Evidence
from specledger.report.extension import meanings
from specledger.report.held_claims import explained_text
from specledger.report.markup import shorten
from specledger.report.model import LONGEST, Check, Receipt
from specledger.report.observations import Observations, as_name
from specledger.report.outcome import Outcome
from specledger.report.sections import NEVER_MADE, Count, Row, Section, Words
from specledger.report.shown_probes import ShownProbes
from specledger.report.specs import Specs, only_spec, requirement, spec_details
from specledger.report.trivial_claims import TrivialClaims
from specledger.report.units import Tree

_GRAVEST: Final = (Verdict.ERROR, Verdict.FAIL, Verdict.INCONCLUSIVE, Verdict.PASS)


class ProbeReading:
    """Folds what the probes of a run came to."""

    def __init__(self, evidence: Evidence, observations: Observations, units: Mapping[str, Tree]) -> None:
        """Read the probes that the evidence names; `units` are what numbers of the run are shown in."""
        self._specs, self._observations = evidence.specs, observations
        self._claims = typed(RunResult, evidence.manifest["result"]).get("claims", {})
        self._probes = Specs.of(evidence.specs).probes()
        self._causes: dict[tuple[str, Verdict], Counter[str]] = defaultdict(Counter)
        self._misses: dict[str, str] = {}
        self._trivial = TrivialClaims()
        self._shown = ShownProbes(units)

    @property
    def names(self) -> tuple[str, ...]:
        """The names under which probes are counted."""
        return tuple(self._probes)

    def add(self, receipt: Receipt) -> None:
        """Take a probe, or the commitment before it."""
        if receipt.type == "probe":
            self._probe(receipt)
        elif self._probes:
            self._shown.committed(receipt)

    def _probe(self, receipt: Receipt) -> None:
        body = typed(Probe, receipt.body)
        name = owned(body, body["probe"])
        verdict, id_ = Verdict(body["verdict"]), f"probe/{name}"
        passed = verdict is Verdict.PASS
        what, detail = ("made", None) if passed else (f"{verdict}: {as_name(body['cause'])}", body["evidence"])
        self._observations.note(f"{verdict} {id_}", receipt, what, detail)
        self._shown.probed(name, receipt)
        self._trivial.add(body["evidence"])
        if not passed:
            self._causes[name, verdict][as_name(body["cause"])] += 1
            if verdict is Verdict.FAIL and name not in self._misses:
                self._misses[name] = meanings().miss_text(body["evidence"])
            self._observations.note(id_, receipt, what, detail)

    def checks(self) -> Iterator[Check]:
        """A check for each probe."""
        for name in self._probes:
            yield self._check(name)

    def failures(self) -> Iterator[Section]:
        """What was asked and answered, of the probes that failed; where none did, of those that tested reasons."""
        yield from self._shown.sections()

    def finding(self) -> Iterator[str]:
        """That claims name no reason, if some do not."""
        if self._trivial.text:
            yield f"{self._trivial.text}."

    def rows(self) -> list[Row]:
        """A row for each probe."""
        return [self._row(name) for name in sorted(self._probes)]

    def _check(self, name: str) -> Check:
        id_, data = f"probe/{name}", self._probes[name]
        counts = {verdict: self._observations.count[f"{verdict} {id_}"] for verdict in _GRAVEST}
        times = sum(counts.values())
        outcome = Outcome.PASSED if times else Outcome.UNTESTED
        if counts[Verdict.FAIL]:
            outcome = Outcome.FAILED
        elif counts[Verdict.ERROR] or counts[Verdict.INCONCLUSIVE]:
            outcome = Outcome.CANNOT_TELL
        error = outcome is Outcome.CANNOT_TELL and counts[Verdict.ERROR] > 0
        failed = outcome is Outcome.FAILED
        says, why = data.get("doc") or name, self._why(name, failed) if times else "it was never made"
        key = spec.key if (spec := only_spec(self._specs, "probe", data["name"])) is not None else None
        check = Check(id_, says, key, outcome, times, counts[Verdict.FAIL], shorten(why, LONGEST), error=error)
        return self._observations.of(check, f"{Verdict.FAIL} {id_}" if failed else "")

    def _why(self, name: str, failed: bool) -> str:
        """The causes for which a probe failed with the first miss, and what else it came to; else why it is open."""
        of = (Verdict.FAIL,) if failed else (Verdict.ERROR, Verdict.INCONCLUSIVE)
        causes = [cause for verdict in of for cause in sorted(self._causes[name, verdict].items())]
        shown = "; ".join(meanings().cause_text(*cause) for cause in causes)
        explained = "" if failed else explained_text(self._claims.get(name, {}))
        miss, partly = self._misses.get(name), self._partly(name)
        parts = (shown, miss, partly) if failed else (partly, explained, shown, miss)
        return ". ".join(filter(None, parts))

    def _partly(self, name: str) -> str:
        """What a probe came to that passed or failed and was sometimes inconclusive; empty for any other probe."""
        counts = {verdict.value: self._observations.count[f"{verdict} probe/{name}"] for verdict in _GRAVEST}
        return partly_words(counts, self._causes[name, Verdict.INCONCLUSIVE])

    def _row(self, name: str) -> Row:
        id_, data = f"probe/{name}", self._probes[name]
        counts = {verdict: self._observations.count[f"{verdict} {id_}"] for verdict in _GRAVEST}
        mark = next((verdict.value for verdict, times in counts.items() if times), NEVER_MADE)
        places = self._observations.links(f"{mark} {id_}")
        at = str(data.get("at", ""))
        cells = (requirement(data), Words(meanings().places.get(at, at)), Count(sum(counts.values())))
        partly = "" if mark == Verdict.FAIL else self._partly(name)
        return Row(name, partly or mark, cells, spec_details(data), places, len(places))
