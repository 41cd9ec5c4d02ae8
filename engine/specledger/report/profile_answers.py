"""Answers of one bundle to the rules of a profile: to each about a receipt when it is read, to others after the last.

Receipts are not trusted; a rule that cannot be evaluated is an answer that cannot be told, never one that passed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from specledger.core.diagnostics import suggest
from specledger.expr import EvaluationError
from specledger.expr.limits import MAX_LIST
from specledger.load import Bundle
from specledger.report.markup import shorten
from specledger.report.model import LONGEST, Body, Check, Receipt
from specledger.report.observations import Observations
from specledger.report.outcome import Outcome
from specledger.report.profile_rules import NAMES, Question, is_of
from specledger.report.profile_specs import stated_specs
from specledger.verify.check_names import REPLAY, REPLAY_OF_RUNS
from specledger.verify.checks import Status, Verification


def _values_of(figure: Body) -> dict[str, int | None]:
    """The value of a figure by its name, with that of each group as `figure_group`; nothing where it has none.

    What is no letter, digit or `_` in the name of a group reads `_`; names that become alike stand for no value.
    """
    values: dict[str, int | None] = {}
    for group in figure["groups"] if figure["error"] is None else ():
        if type(value := group.get("value")) is int:
            name = f"{figure['figure']}_{_NO_NAME.sub('_', group['name'])}" if group["name"] else figure["figure"]
            values[name] = None if name in values else value
    return values


_NO_NAME: Final = re.compile(r"[^A-Za-z0-9_]")

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
    Status.NOTHING: Outcome.UNTESTED,
    Status.NOT_MADE: Outcome.UNTESTED,
}


class Answers:
    """What the receipts of one bundle, and the checks that were made of it, answer to questions."""

    def __init__(self, questions: Sequence[Question], name: str, kind: str, specs: Bundle | None = None) -> None:
        """Of a bundle of this name and kind, and of the specs of its evidence if there are any."""
        own = [question for question in questions if not question.joins and is_of(question.named, name, kind)]
        self._verified = [question for question in own if question.named.verified is not None]
        self._late = [question for question in own if question.late]
        self._keeps = any("receipts" in question.reads or question.named.receipts for question in self._late)
        reads = frozenset[str]().union(*(question.reads for question in own))
        self._specs = stated_specs(specs) if specs is not None and "specs" in reads else {}
        self._questions: dict[str, list[Question]] = {}
        for question in own:
            if question.named.receipts is not None:
                self._questions.setdefault(question.named.receipts, []).append(question)
        self._failing, self._holding = Observations(), Observations()
        self._start: Body = {}
        self._figures: dict[str, int | None] = {}
        self._lacking: dict[str, str] = {}
        self._kept: list[Receipt] = []
        self._bytes = 0
        self._present: Counter[str] = Counter()
        self._asked: Counter[str] = Counter()
        self._errors: Counter[str] = Counter()
        self._failures: Counter[str] = Counter()
        self._unmade: Counter[str] = Counter()  # of the errors, those of what was not asked for

    def add(self, receipt: Receipt) -> None:
        """Take the next receipt."""
        if receipt.seq == 0:
            self._start = receipt.body
        if receipt.type == "figure":
            self._figures |= _values_of(receipt.body)
        if self._keeps and self._fits():
            self._bytes += len(receipt.line)
            self._kept.append(receipt)
        for question in self._questions.get(receipt.type, ()):
            self._present[question.id] += 1
            if not question.late:
                self._ask(question, receipt, (receipt.body, self._start, (), {}, {}, {}, ()))

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
            self._unmade[id_] += "run" in question.reads and values[NAMES.index("run")] == {}
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
        kept = [{"seq": receipt.seq, "type": receipt.type, "body": receipt.body} for receipt in self._kept]
        passed = {check.name for check in verification.checks if check.status is Status.PASSED}
        run = {"replayed": True} if passed & {REPLAY, REPLAY_OF_RUNS} else {}
        late = (kept, bundle, run, self._specs, ())
        for question in self._late:
            if question.named.receipts is None:
                self._present[question.id] = 1
                own = self._figures_of(question, bundle)
                if own is None:
                    self._errors[question.id] += 1
                else:
                    self._ask(question, None, (None, self._start, *late, *own))
            elif self._present[question.id] * len(kept) > _MOST_PAIRS:
                self._errors[question.id] += 1
            else:
                for receipt in self._kept:
                    if receipt.type == question.named.receipts:
                        self._ask(question, receipt, (receipt.body, self._start, *late))

    def figures_of(self, result: Body) -> dict[str, int]:
        """The counts of a result, and the figures of the receipts, by their names."""
        both = {**result, **self._figures}
        return {name: value for name, value in both.items() if type(value) is int}

    def _figures_of(self, question: Question, bundle: Body) -> list[int] | None:
        """The values of the figures that a question names; None if the bundle lacks one."""
        known = self.figures_of(bundle.get("result", {}))
        names = question.named.figures
        lacking = [name for name in names if name not in known]
        if lacking:
            near = suggest(lacking[0], known)
            hint = f"; did you mean `{near}`?" if near else f"; there is {', '.join(sorted(known))}"
            self._lacking[question.id] = f"the bundle has no figure `{lacking[0]}`{hint}"
        return None if lacking else [known[name] for name in names]

    def checks(self, key: str, verification: Verification, bundle: Body = NOTHING) -> Iterator[Check]:
        """The answers, as checks; what a bundle has no receipt and no check of, it does not answer."""
        for question in self._verified:
            for verified in verification.checks:
                if verified.name == question.named.verified:
                    outcome, failed = _OUTCOMES[verified.status], int(verified.status is Status.FAILED)
                    why = shorten(verified.message or "", LONGEST)
                    yield Check(question.id, verified.name, None, outcome, 1, failed, why, once=True)
        if self._fits():
            self._ask_late(verification, bundle)
        else:
            self._errors.update(question.id for question in self._late)
            self._present.update(question.id for question in self._late if question.named.receipts is None)
        for question in (*(member for group in self._questions.values() for member in group), *self._late):
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
            why = self._lacking.get(id_, why)
            why = why if self._fits() else "there are too many receipts to be read together"
        elif not asked:
            outcome, why = Outcome.NOT_APPLICABLE, "its condition never held"
        condition = "" if named.when is None else f" if {named.when}"
        what = "the bundle" if named.receipts is None else f"each `{named.receipts}` receipt"
        says = shorten(f"of {what}{condition}: {named.require}", LONGEST)
        seen = self._failing if failures or errors else self._holding
        error = errors > self._unmade[id_] and not failures
        return seen.of(Check(id_, says, key, outcome, asked, failures, why, error=error))
