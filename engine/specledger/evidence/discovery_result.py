"""The result of a discovery, folded from its facts alone.

Decides what a discovery amounts to: what it expected was found, or, where it expected nothing, something was. Refuses
to know how laws are proposed and decided. A refuted law is a finding of the discovery, not a finding against it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from specledger.core.verdict import Verdict

STATUSES: Final = ("PROVED", "PASS", "FAIL", "UNKNOWN", "ERROR")


class DiscoveryTally:
    """Folds the facts of one discovery: iterations, laws by what became of them, and what was expected."""

    def __init__(self) -> None:
        """Begin before the first fact."""
        self._figures: Counter[str] = Counter()
        self._laws: dict[str, str] = {}
        self._shares: dict[str, int] = {}
        self._expected: dict[str, bool] = {}
        self._stopped: str | None = None
        self._ended = False

    def add(self, type_: str, body: Mapping[str, Any]) -> None:
        """Count one fact.

        Raises:
            KeyError, TypeError: If the body lacks what its type must have.
        """
        if type_ == "iteration":
            self._iteration(body)
        elif type_ == "law":
            self._figures["evaluations"] += 1
            if body["late"] is None:
                self._judge(body["law"], body["verdict"])
            else:
                self._figures["late"] += 1
        elif type_ == "escalation":
            self._figures["escalations"] += 1
            self._judge(body["law"], body["verdict"])
        elif type_ == "stop":
            self._stopped = body["reason"]
        elif type_ == "expected":
            self._expected[body["law"]] = body["found"] is not None
        elif type_ == "end":
            self._ended = True

    def _iteration(self, body: Mapping[str, Any]) -> None:
        self._figures["iterations"] += 1
        self._figures["failures"] += 1 if body["answer"]["failure"] is not None else 0
        self._figures["rejected"] += len(body["rejections"])
        self._figures["redundant"] += len(body["redundant"])
        usage = body["answer"]["usage"]
        self._figures["tokens"] += sum(usage[name] for name in ("prompt_tokens", "output_tokens", "thinking_tokens"))

    def _judge(self, law: str, verdict: Mapping[str, Any] | None) -> None:
        self._laws[law] = "ERROR" if verdict is None else verdict["status"]
        content = None if verdict is None else verdict["content"]
        self._shares[law] = 0 if content is None else content["share"]

    @property
    def verdict(self) -> Verdict:
        """ERROR if it did not end or a law gave an error; else PASS or FAIL by what was expected.

        Where nothing was expected: PASS if a law was accepted, else INCONCLUSIVE.
        """
        statuses = self._laws.values()
        if not self._ended or "ERROR" in statuses:
            return Verdict.ERROR
        if self._expected:
            return Verdict.PASS if all(self._expected.values()) else Verdict.FAIL
        return Verdict.PASS if any(status in ("PROVED", "PASS") for status in statuses) else Verdict.INCONCLUSIVE

    def result(self) -> dict[str, Any]:
        """The figures as canonical JSON.

        `content` is the sum of the shares of the accepted laws, in millionths.
        """
        names = ("iterations", "failures", "rejected", "redundant", "late", "evaluations", "escalations", "tokens")
        statuses = list(self._laws.values())
        content = sum(self._shares[law] for law, status in self._laws.items() if status in ("PROVED", "PASS"))
        return {
            "verdict": self.verdict.value,
            **{name: self._figures[name] for name in names},
            "laws": {status: statuses.count(status) for status in STATUSES},
            "content": content,
            "stopped": self._stopped,
            "expected": dict(self._expected),
        }
