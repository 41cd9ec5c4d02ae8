"""The result of a run, folded from its receipts alone: what was checked, what was found, and the verdict.

The writer of a bundle and its verifier both use this fold, so a recorded result is never taken on trust.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from engine.core.verdict import Verdict


class Tally:
    """Folds receipts (type and body) into the figures of a result."""

    def __init__(self) -> None:
        """Begin with nothing counted."""
        self._figures: Counter[str] = Counter()
        self._gates: Counter[str] = Counter()
        self._violations: Counter[str] = Counter()
        self._warnings: Counter[str] = Counter()
        self._invariants: Counter[str] = Counter()
        self._ended = False

    def add(self, type_: str, body: Mapping[str, Any]) -> None:
        """Count one receipt.

        Raises:
            KeyError, TypeError: If the body lacks what its type must have.
        """
        if type_ == "start":
            self._invariants.update(invariant["scope"] for invariant in body["invariants"])
            self._gates.update(dict.fromkeys(body["gates"], 0))
        elif type_ == "drift":
            self._figures["drifts"] += 1
        elif type_ == "step":
            self._step(body)
        elif type_ == "error":
            self._figures["errors"] += 1
        elif type_ == "episode_end":
            self._figures["episodes"] += 1
            self._figures["successes"] += 1 if body["success"] else 0
            self._figures["checks"] += self._invariants["episode"]
            self._breaches(body["violations"])
        elif type_ == "end":
            self._ended = True

    def _step(self, body: Mapping[str, Any]) -> None:
        self._figures["steps"] += 1
        self._figures["proposals"] += len(body["decisions"])
        self._figures["checks"] += self._invariants["step"]
        for decision in body["decisions"]:
            for failing in decision["rejected"]:
                self._gates[failing["gate"]] += 1
            if decision["error"] is not None:
                self._figures["errors"] += 1
        if body["chosen"] is None:
            self._violations["progress"] += 1
        self._breaches(body["violations"])

    def _breaches(self, violations: list[Mapping[str, Any]]) -> None:
        for breach in violations:
            counter = self._violations if breach["severity"] == "fatal" else self._warnings
            counter[breach["invariant"]] += 1

    @property
    def verdict(self) -> Verdict:
        """What the receipts amount to.

        ERROR if anything could not be evaluated or the run did not end, FAIL on a fatal breach or a step without an
        admissible action, INCONCLUSIVE if nothing was checked, else PASS.
        """
        if self._figures["errors"] or not self._ended:
            return Verdict.ERROR
        if self._violations:
            return Verdict.FAIL
        return Verdict.PASS if self._figures["checks"] else Verdict.INCONCLUSIVE

    def result(self) -> dict[str, Any]:
        """The figures as canonical JSON: verdict, counts, rejections by gate, violations by invariant."""
        names = ("episodes", "successes", "steps", "proposals", "drifts", "checks", "errors")
        return {
            "verdict": self.verdict.value,
            **{name: self._figures[name] for name in names},
            "rejections": dict(self._gates),
            "violations": dict(self._violations),
            "warnings": dict(self._warnings),
        }
