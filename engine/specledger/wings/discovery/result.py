"""The result and the failing cases of a discovery, computed from its receipts alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from specledger.core.verdict import Verdict
from specledger.evidence.counterexamples import Case, named_cause
from specledger.evidence.kind import ReceiptKind
from specledger.evidence.receipts import typed
from specledger.wings.discovery.receipts import Escalation, Expected, Iteration, Stop, TriedLaw
from specledger.wings.laws.receipts import ACCEPTED, LawStatus
from specledger.wings.laws.receipts import Verdict as LawVerdict


class DiscoveryTally:
    """Folds the facts of one discovery: iterations, laws by what became of them, and what was expected."""

    def __init__(self) -> None:
        self._figures: Counter[str] = Counter()
        self._laws: dict[str, str] = {}
        self._shares: dict[str, int] = {}
        self._expected: dict[str, bool] = {}
        self._stopped: str | None = None
        self._ended = False

    def add(self, type_: str, body: Mapping[str, Any]) -> None:
        """Count one fact."""
        if type_ == "iteration":
            self._iteration(typed(Iteration, body))
        elif type_ == "law":
            self._law(typed(TriedLaw, body))
        elif type_ == "escalation":
            escalated = typed(Escalation, body)
            self._figures["escalations"] += 1
            self._judge(escalated["law"], escalated["verdict"])
        elif type_ == "stop":
            self._stopped = typed(Stop, body)["reason"]
        elif type_ == "expected":
            expected = typed(Expected, body)
            self._expected[expected["law"]] = expected["found"] is not None
        elif type_ == "end":
            self._ended = True

    def _law(self, body: TriedLaw) -> None:
        self._figures["evaluations"] += 1
        if body["late"] is None:
            self._judge(body["law"], body["verdict"])
        else:
            self._figures["late"] += 1

    def _iteration(self, body: Iteration) -> None:
        self._figures["iterations"] += 1
        self._figures["failures"] += 1 if body["answer"]["failure"] is not None else 0
        self._figures["rejected"] += len(body["rejections"])
        self._figures["redundant"] += len(body["redundant"])
        usage = body["answer"]["usage"]
        self._figures["tokens"] += usage["prompt_tokens"] + usage["output_tokens"] + usage["thinking_tokens"]

    def _judge(self, key: str, verdict: LawVerdict | None) -> None:
        self._laws[key] = LawStatus.ERROR.value if verdict is None else verdict["status"]
        content = None if verdict is None else verdict["content"]
        self._shares[key] = 0 if content is None else content["share"]

    @property
    def verdict(self) -> Verdict:
        """ERROR if it did not end or a law gave an error; else PASS or FAIL by what was expected.

        Where nothing was expected: PASS if a law was accepted, else INCONCLUSIVE.
        """
        statuses = self._laws.values()
        if not self._ended or LawStatus.ERROR in statuses:
            return Verdict.ERROR
        if self._expected:
            return Verdict.PASS if all(self._expected.values()) else Verdict.FAIL
        return Verdict.PASS if any(status in ACCEPTED for status in statuses) else Verdict.INCONCLUSIVE

    def result(self) -> dict[str, Any]:
        """The figures as canonical JSON.

        `content` is the sum of the shares of the accepted laws, in millionths.
        """
        names = ("iterations", "failures", "rejected", "redundant", "late", "evaluations", "escalations", "tokens")
        statuses = list(self._laws.values())
        content = sum(self._shares[key] for key, status in self._laws.items() if status in ACCEPTED)
        return {
            "verdict": self.verdict.value,
            **{name: self._figures[name] for name in names},
            "laws": {status.value: statuses.count(status) for status in LawStatus},
            "content": content,
            "stopped": self._stopped,
            "expected": dict(self._expected),
        }


def discovery_case(seq: int, type_: str, body: Mapping[str, Any]) -> Case | None:
    """A verdict with a counterexample."""
    tried = typed(TriedLaw, body) if type_ in ("law", "escalation") else None
    if tried is None or tried["verdict"] is None or tried["verdict"]["counterexample"] is None:
        return None
    return Case.at(seq, named_cause("law", tried["law"]))


DISCOVERY: Final = ReceiptKind("discovery", DiscoveryTally, lambda: discovery_case, lambda _: True)
