"""The result of a suite, computed from its receipts alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from specledger.core.verdict import Verdict, combine
from specledger.evidence.receipts import suite, typed


def beyond_allowed(
    ended: Mapping[tuple[str, str], int], allowed: Mapping[str, Mapping[str, int]]
) -> list[tuple[str, str, int, int]]:
    """Of which verdict there are more runs than a suite allows, of which arm, how many, and how many are allowed.

    Args:
        ended: The number of runs by verdict and arm.
        allowed: By verdict and arm; arms that are not named have the number of the empty name together.
    """
    counts: Counter[tuple[str, str]] = Counter()
    for (verdict, arm), count in ended.items():
        if verdict in allowed:
            counts[verdict, arm if arm in allowed[verdict] else ""] += count
    rows = [(verdict, arm, count, allowed[verdict].get(arm, 0)) for (verdict, arm), count in sorted(counts.items())]
    return [row for row in rows if row[2] > row[3]]


class SuiteTally:
    """Folds the receipts of a suite: the verdict of each check, and what caught each mutant."""

    def __init__(self) -> None:
        self._figures: Counter[str] = Counter()
        self._checks: dict[str, str] = {}
        self._mutants: dict[str, list[str]] = {}
        self._verdicts: list[Verdict] = []
        self._broken = False
        self._own = 0
        self._allowed: Mapping[str, Mapping[str, int]] = {}
        self._ended_as: Counter[tuple[str, str]] = Counter()
        self._ended = False

    def add(self, type_: str, body: Mapping[str, Any]) -> None:
        """Count one receipt."""
        if type_ == "start":
            start = typed(suite.Start, body)
            self._own, self._allowed = start["runs"], start["allowed"]
        elif type_ == "run":
            self._run(typed(suite.Run, body))
        elif type_ == "figure":
            self._broken |= typed(suite.Figure, body)["error"] is not None
        elif type_ == "check":
            check = typed(suite.Check, body)
            self._checks[check["check"]] = check["verdict"]
            self._verdicts.append(Verdict(check["verdict"]))
        elif type_ == "mutant":
            mutant = typed(suite.Mutant, body)
            self._mutants[mutant["mutant"]] = mutant["caught"]
            self._verdicts.append(Verdict(mutant["verdict"]))
        elif type_ == "end":
            self._ended = True

    def _run(self, body: suite.Run) -> None:
        """Runs of the suite itself come first; those of its mutants are counted apart."""
        if self._figures["runs"] == self._own:
            self._figures["trials"] += 1
            return
        self._figures["runs"] += 1
        verdict = Verdict(body["result"]["verdict"])
        self._broken |= verdict is Verdict.ERROR
        self._ended_as[verdict.value, body["arm"]] += 1
        result = body["result"]
        self._figures.update(episodes=result["episodes"], steps=result["steps"])
        self._figures.update(drifts=result["drifts"], errors=result["errors"])

    @property
    def verdict(self) -> Verdict:
        """The verdict of checks, mutants and the suite's own runs.

        ERROR if a run is one, a figure could not be computed, or the suite did not end. More runs that fail than the
        suite allows fail it; more inconclusive ones than it allows, or nothing but such runs, leave it INCONCLUSIVE.
        """
        if self._broken or not self._ended:
            return Verdict.ERROR
        own = [Verdict(verdict) for verdict, *_ in beyond_allowed(self._ended_as, self._allowed)]
        unclear = sum(count for (verdict, _), count in self._ended_as.items() if verdict == Verdict.INCONCLUSIVE)
        own += [Verdict.INCONCLUSIVE] if 0 < self._own == unclear else []
        return combine([*self._verdicts, *own])

    def result(self) -> dict[str, Any]:
        """The figures as canonical JSON: verdict, counts, the verdict of each check, and what caught each mutant."""
        names = ("runs", "trials", "episodes", "steps", "drifts", "errors")
        return {
            "verdict": self.verdict.value,
            **{name: self._figures[name] for name in names},
            "checks": dict(self._checks),
            "mutants": dict(self._mutants),
        }
