"""How the receipts of a discovery become checks: the laws that it was expected to find, and that it found any.

Decides that a conjecture which was refuted breaks nothing: a discovery is there to refute. Refuses to judge what an
accepted law is worth.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from specledger.core.verdict import Verdict
from specledger.evidence.result import OUTCOMES
from specledger.load import Bundle
from specledger.report.observations import Seen, text
from specledger.report.results import Check, Outcome
from specledger.report.run_reading import EVALUATION

Body = Mapping[str, Any]

ACCEPTED: Final = "accepted"
"""The check that a discovery accepted a law."""


class DiscoveryReading:
    """The receipts of a discovery: what became of each law in the end, and of what was expected."""

    figures: Sequence[Body] = ()

    def __init__(self, specs: Bundle) -> None:
        """Begin before the first receipt of a discovery of these specs."""
        self._specs = specs
        self._seen = Seen()
        self._laws: dict[str, Verdict | None] = {}
        self._expected: list[Check] = []

    def add(self, seq: int, line: bytes) -> None:
        """Take one receipt.

        Raises:
            KeyError, TypeError, ValueError: It is not what it must be.
        """
        type_, body = self._seen.take(seq, line)
        if (type_ == "law" and body["late"] is None) or (type_ == "escalation" and body["verdict"] is not None):
            self._judge(body)
        elif type_ == "expected":
            self._expect(body)

    def _judge(self, body: Body) -> None:
        name, verdict = text(body["law"]), body["verdict"]
        if verdict is None:
            self._seen.note(EVALUATION, "error", body["error"], {})
            self._laws[name] = None
            return
        judged = OUTCOMES[verdict["status"]]
        if judged is Verdict.PASS and self._laws.get(name) is not Verdict.PASS:
            self._seen.note(ACCEPTED, verdict["status"], f"{name}: {text(verdict['claim'])}", {})
        self._laws[name] = judged

    def _expect(self, body: Body) -> None:
        id_, found = f"expected/{text(body['law'])}", body["found"]
        self._seen.note(id_, "found" if found is not None else "not found", found, {})
        outcome = Outcome.FAILED if found is None else Outcome.PASSED
        says, key, failed = f"it finds what {text(body['law'])} says", text(body["key"]), int(found is None)
        seen = self._seen.of(id_)
        self._expected.append(Check(id_, says, key, outcome, False, False, 1, failed, "", **seen))

    def checks(self) -> Iterator[Check]:
        """What was expected, that a law was accepted, and that all laws could be judged."""
        yield from self._expected
        judged = list(self._laws.values())
        accepted, errors = judged.count(Verdict.PASS), judged.count(None)
        outcome = Outcome.PASSED if accepted else Outcome.CANNOT_TELL if judged else Outcome.UNTESTED
        why = f"{accepted} of {len(judged)} laws, {judged.count(Verdict.FAIL)} refuted"
        key, seen = self._specs.main.key, self._seen.of(ACCEPTED)
        yield Check(ACCEPTED, "a law is accepted", key, outcome, False, False, len(judged), 0, why, **seen)
        outcome = Outcome.CANNOT_TELL if errors else Outcome.PASSED if judged else Outcome.UNTESTED
        says, seen = "every law can be judged", self._seen.of(EVALUATION)
        yield Check(EVALUATION, says, None, outcome, errors > 0, False, len(judged), 0, "", **seen)
