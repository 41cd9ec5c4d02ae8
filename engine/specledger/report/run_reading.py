"""How the receipts of a scenario's run become checks: its invariants and probes, and what every run must do.

Decides what of a run's receipts shows each requirement. Refuses to know what is written of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from specledger.core.verdict import Verdict
from specledger.gates.invariant import PROGRESS
from specledger.load import Bundle, Resolved
from specledger.report.markup import shorten
from specledger.report.observations import Seen, number, text
from specledger.report.results import LONGEST, OF_VERDICT, Check, Outcome
from specledger.spec.invariant import Invariant
from specledger.spec.scenario import Scenario

Body = Mapping[str, Any]

EVALUATION: Final = "evaluation"
"""The check that everything could be evaluated, which the engine makes of every run."""

_INVARIANT: Final = "invariant/"


def _named(specs: Bundle, kind: str, name: str) -> Resolved | None:
    """The spec of a kind and a name, unless there are several: then it is not known which one is meant."""
    found = [spec for spec in specs.specs.values() if (spec.kind, spec.name) == (kind, name)]
    return found[0] if len(found) == 1 else None


class RunReading:
    """The receipts of a scenario's run: its invariants and probes, that it went on, and that all could be evaluated."""

    figures: Sequence[Body] = ()

    def __init__(self, specs: Bundle) -> None:
        """Begin before the first receipt of a run of these specs."""
        self._specs = specs
        self._seen = Seen()
        self._invariants: dict[str, Body] = {}
        self._idle: Counter[str] = Counter()
        self._steps = self._episodes = 0
        model, refs = specs.main.model, specs.main.refs
        assert isinstance(model, Scenario)  # noqa: S101 - a run is of a scenario
        keys = dict.fromkeys(refs["probes", index] for index in range(len(model.probes)))
        self._probes = {specs.specs[key].name: key for key in keys}
        self._made: dict[str, Counter[Verdict]] = {name: Counter() for name in self._probes}
        self._causes: dict[str, Counter[str]] = {name: Counter() for name in self._probes}

    def add(self, seq: int, line: bytes) -> None:
        """Take one receipt.

        Raises:
            KeyError, TypeError, ValueError: It is not what it must be.
        """
        type_, body = self._seen.take(seq, line)
        if type_ == "start":
            self._invariants = {text(each["name"]): each for each in body["invariants"]}
        elif type_ == "step":
            self._steps += 1
            self._step(body)
        elif type_ == "error":
            self._seen.note(EVALUATION, body["code"], body["expression"], body)
        elif type_ == "probe":
            self._probe(body)
        elif type_ == "episode_end":
            self._episodes += 1
            self._idle.update({name: number(count) for name, count in body["idle"].items()})
            self._breaches(body)

    def _step(self, body: Body) -> None:
        for decision in body["decisions"]:
            if decision["error"] is not None:
                self._seen.note(EVALUATION, decision["error"]["code"], decision["error"]["expression"], body)
        if body["chosen"] is None:
            reasons = [[failing["reason"] for failing in decision["rejected"]] for decision in body["decisions"]]
            self._seen.note(PROGRESS, "nothing was admitted", reasons, body)
        self._breaches(body)

    def _breaches(self, body: Body) -> None:
        for breach in body["violations"]:
            self._seen.note(f"{_INVARIANT}{text(breach['invariant'])}", "broken", breach["witness"], body)

    def _probe(self, body: Body) -> None:
        verdict = Verdict(body["verdict"])
        self._made[body["probe"]][verdict] += 1
        if verdict is not Verdict.PASS:
            self._causes[body["probe"]][body["cause"]] += 1
            self._seen.note(f"probe/{body['probe']}", f"{verdict}: {text(body['cause'])}", body["evidence"], body)

    def checks(self) -> Iterator[Check]:
        """Invariants, probes, then what every run must do."""
        for name, each in self._invariants.items():
            yield self._invariant(name, each)
        for name, key in self._probes.items():
            yield self._probed(name, key)
        says = "every step has a proposal that no gate rejects"
        yield self._must(PROGRESS, says, Verdict.FAIL, self._steps)
        yield self._must(EVALUATION, "everything can be evaluated", Verdict.ERROR, self._steps)

    def _invariant(self, name: str, each: Body) -> Check:
        id_, spec = f"{_INVARIANT}{name}", _named(self._specs, "invariant", name)
        asked = {"step": self._steps, "episode": self._episodes}.get(each["scope"], 0)
        could, broken = max(0, asked - self._idle[name]), self._seen.count[id_]
        outcome, why = Outcome.PASSED, ""
        if broken:
            outcome = Outcome.FAILED
        elif not asked:
            outcome, why = Outcome.UNTESTED, f"there was no {each['scope']} to look at"
        elif not could:
            outcome, why = Outcome.NOT_APPLICABLE, "what it is conditional on never held"
        says = "" if spec is None or not isinstance(spec.model, Invariant) else spec.model.doc or spec.model.require
        key = None if spec is None else spec.key
        warns = each["severity"] == "warn"
        return Check(id_, says or name, key, outcome, False, warns, could, broken, why, **self._seen.of(id_))

    def _probed(self, name: str, key: str) -> Check:
        id_, made = f"probe/{name}", self._made[name]
        times = sum(made.values())
        causes = ", ".join(f"{cause} ({count})" for cause, count in sorted(self._causes[name].items()))
        outcome = Outcome.PASSED if times else Outcome.UNTESTED
        if made[Verdict.FAIL]:
            outcome = Outcome.FAILED
        elif made[Verdict.ERROR] or made[Verdict.INCONCLUSIVE]:
            outcome = Outcome.CANNOT_TELL
        error = outcome is Outcome.CANNOT_TELL and made[Verdict.ERROR] > 0
        says, why = self._specs.specs[key].model.doc or name, causes if times else "it was never made"
        return Check(
            id_,
            says,
            key,
            outcome,
            error,
            False,
            times,
            made[Verdict.FAIL],
            shorten(why, LONGEST),
            **self._seen.of(id_),
        )

    def _must(self, id_: str, says: str, breach: Verdict, could: int) -> Check:
        """What the engine requires of every run, and what a breach of it amounts to."""
        found = self._seen.count[id_]
        outcome = OF_VERDICT[breach] if found else Outcome.PASSED if could else Outcome.UNTESTED
        error = bool(found) and breach is Verdict.ERROR
        failures = found if breach is Verdict.FAIL else 0
        why = "" if found or could else "there was no step"
        return Check(id_, says, None, outcome, error, False, could, failures, why, **self._seen.of(id_))
