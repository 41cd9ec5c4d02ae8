"""Answers of one bundle to the rules of a profile, as checks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from specledger.expr import EvaluationError
from specledger.expr.limits import MAX_LIST
from specledger.report.markup import shorten
from specledger.report.model import LONGEST, Body, Check, Outcome, Receipt
from specledger.report.observations import Observations
from specledger.report.profile_rules import Question, is_of
from specledger.verify.check_names import REPLAY, REPLAY_OF_RUNS
from specledger.verify.checks import Status, Verification

NOTHING: Final[Body] = MappingProxyType({})

_MOST_HOLDING: Final = 3
"""Receipts that are shown of what holds of all."""
_MOST_BYTES: Final = 64 * 1024 * 1024
"""Bytes of the receipts that are kept for rules about several of them."""
_MOST_PAIRS: Final = 16_777_216
"""Receipts that a rule looks at, times those that it joins to each."""
_OUTCOMES: Final[Mapping[Status, Outcome]] = {
    Status.PASSED: Outcome.PASSED,
    Status.FAILED: Outcome.FAILED,
    Status.NOT_MADE: Outcome.UNTESTED,
}


class Answers:
    """What the receipts of one bundle, and the checks that were made of it, answer to questions."""

    def __init__(self, questions: Sequence[Question], name: str, kind: str) -> None:
        """Begin before the first receipt of the bundle of a spec of this name and kind."""
        own = [question for question in questions if is_of(question.named, name, kind)]
        self._verified = [question for question in own if question.named.verified is not None]
        self._late = [question for question in own if question.late]
        self._questions: dict[str, list[Question]] = {}
        for question in own:
            if question.named.receipts is not None:
                self._questions.setdefault(question.named.receipts, []).append(question)
        self._failing, self._holding = Observations(), Observations()
        self._start: Body = {}
        self._kept: list[Receipt] = []
        self._bytes = 0
        self._present: Counter[str] = Counter()
        self._asked: Counter[str] = Counter()
        self._errors: Counter[str] = Counter()
        self._failures: Counter[str] = Counter()

    def add(self, receipt: Receipt) -> None:
        """Take the next receipt."""
        if receipt.seq == 0:
            self._start = receipt.body
        if self._late and self._fits():
            self._bytes += len(receipt.line)
            self._kept.append(receipt)
        for question in self._questions.get(receipt.type, ()):
            self._present[question.id] += 1
            if not question.late:
                self._ask(question, receipt, (receipt.body, self._start, (), {}, {}))

    def _fits(self) -> bool:
        return len(self._kept) <= MAX_LIST and self._bytes <= _MOST_BYTES

    def _ask(self, question: Question, receipt: Receipt | None, values: Sequence[Any]) -> None:
        """Ask about a receipt, or with None about the bundle."""
        assert question.require is not None  # noqa: S101 - what has values requires something
        id_ = question.id
        try:
            if question.when is not None and not question.when(*values):
                return
            self._asked[id_] += 1
            holds = question.require(*values)
        except EvaluationError as error:
            self._errors[id_] += 1
            if receipt is not None:
                self._failing.note(id_, receipt, error.code, "" if error.text is None else error.text.value)
            return
        self._failures[id_] += not holds
        if receipt is not None and not holds:
            self._failing.note(id_, receipt, "does not hold", receipt.body)
        elif receipt is not None and self._holding.count[id_] < _MOST_HOLDING:
            self._holding.note(id_, receipt, "holds", None)

    def _ask_late(self, verification: Verification, bundle: Body) -> None:
        """Ask what is known after the last receipt."""
        kept = [{"seq": one.seq, "type": one.type, "body": one.body} for one in self._kept]
        passed = {one.name for one in verification.checks if one.status is Status.PASSED}
        late = (kept, bundle, {"replayed": True} if passed & {REPLAY, REPLAY_OF_RUNS} else {})
        for question in self._late:
            if question.named.receipts is None:
                self._present[question.id] = 1
                self._ask(question, None, (None, self._start, *late))
            elif self._present[question.id] * len(kept) > _MOST_PAIRS:
                self._errors[question.id] += 1
            else:
                for one in self._kept:
                    if one.type == question.named.receipts:
                        self._ask(question, one, (one.body, self._start, *late))

    def checks(self, key: str, verification: Verification, bundle: Body = NOTHING) -> Iterator[Check]:
        """The answers, as checks; what a bundle has no receipt and no check of, it does not answer.

        Args:
            key: Of the spec that was run.
            verification: The checks that were made of the bundle.
            bundle: The value of `bundle`.
        """
        for question in self._verified:
            for made in verification.checks:
                if made.name == question.named.verified:
                    outcome, failed = _OUTCOMES[made.status], int(made.status is Status.FAILED)
                    why = shorten(made.message or "", LONGEST)
                    yield Check(question.id, made.name, None, outcome, 1, failed, why, once=True)
        if self._fits():
            self._ask_late(verification, bundle)
        else:
            self._errors.update(question.id for question in self._late)
            self._present.update(question.id for question in self._late if question.named.receipts is None)
        for question in (*(one for each in self._questions.values() for one in each), *self._late):
            if self._present[question.id]:
                yield self._answer(question, key)
                self._present[question.id] = 0  # one that is late is listed twice

    def _answer(self, question: Question, key: str) -> Check:
        id_, named = question.id, question.named
        asked, errors, failures = self._asked[id_], self._errors[id_], self._failures[id_]
        outcome, why = Outcome.PASSED, ""
        if failures:
            outcome, why = Outcome.FAILED, "" if named.receipts else "it does not hold of the bundle"
        elif errors:
            outcome = Outcome.CANNOT_TELL
            why = f"{errors} receipts could not be evaluated" if named.receipts else "it could not be evaluated"
            why = why if self._fits() else "there are too many receipts to be read together"
        elif not asked:
            outcome, why = Outcome.NOT_APPLICABLE, "its condition never held"
        condition = "" if named.when is None else f" if {named.when}"
        what = "the bundle" if named.receipts is None else f"each `{named.receipts}` receipt"
        says = shorten(f"of {what}{condition}: {named.require}", LONGEST)
        seen, error = self._failing if failures or errors else self._holding, errors > 0 and not failures
        return seen.of(Check(id_, says, key, outcome, asked, failures, why, error=error))
