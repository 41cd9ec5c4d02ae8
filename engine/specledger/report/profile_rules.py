"""Rules of a profile about receipts and their verification; each rule is answered by a check of the bundle."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from specledger.core.diagnostics import Diagnostics, code
from specledger.expr import BOOL, DYN, Checked, Environment, EvaluationError, compile_expression
from specledger.lang.scope import Scope
from specledger.load import Bundle, Resolved
from specledger.report.markup import shorten
from specledger.report.model import LONGEST, Body, Check, Outcome, Receipt
from specledger.report.observations import Observations
from specledger.spec.profile import EvidenceCheck, Profile
from specledger.verify.checks import Status, Verification

W_PROFILE_CONSTANT = code(
    "W_PROFILE_CONSTANT",
    "evidence that always comes out the same",
    "What a control requires of receipts depends on `body` or on `start`. An expression that reads neither holds of "
    "every receipt or of none, so it shows nothing about them.",
)

ASKED: Final = ("receipts", "verified")
"""The first words of the names of such checks."""

_NAMES: Final = ("body", "start")
_MOST_HOLDING: Final = 3
"""Receipts that are shown of what holds of all."""
_OUTCOMES: Final[Mapping[Status, Outcome]] = {
    Status.PASSED: Outcome.PASSED,
    Status.FAILED: Outcome.FAILED,
    Status.NOT_MADE: Outcome.UNTESTED,
}


@dataclass(frozen=True, slots=True)
class Question:
    """One thing that a control asks of bundles.

    Attributes:
        id: The name of the check that answers it: `receipts/<control>.<place>` or `verified/<control>.<place>`.
        named: What the control says.
        when: Whether it is asked of a receipt, from its body and that of the first receipt; None if of all.
        require: Whether it holds; None of what was verified.
    """

    id: str
    named: EvidenceCheck
    when: Callable[..., bool] | None = None
    require: Callable[..., bool] | None = None


def name_question(control: str, place: int, named: EvidenceCheck) -> str:
    """The name of the check that answers what a control asks at a place of its list, counted from 0."""
    return f"{ASKED[0] if named.verified is None else ASKED[1]}/{control}.{place + 1}"


def is_of(named: EvidenceCheck, name: str, kind: str) -> bool:
    """Whether what a control names is asked of the bundle of a spec of this name and kind."""
    return named.of in (None, name) and named.kind in (None, kind)


def check_profile(spec: Resolved, diagnostics: Diagnostics) -> tuple[Question, ...]:
    """Type the expressions of a profile; those that are wrong are left out, with findings."""
    model = spec.model
    assert isinstance(model, Profile)  # noqa: S101 - a spec of the kind profile is nothing else
    scope = Scope(Environment(dict.fromkeys(_NAMES, DYN)), spec, diagnostics)
    found = []
    for number, control in enumerate(model.controls):
        for place, named in enumerate(control.evidence):
            id_ = name_question(control.id, place, named)
            path = ("controls", number, "evidence", place)
            if named.verified is not None:
                found.append(Question(id_, named))
            elif named.receipts is not None:
                require = scope.expression(*path, "require", expect=BOOL)
                when = None if named.when is None else scope.expression(*path, "when", expect=BOOL)
                if require is None or (when is None) != (named.when is None):
                    continue
                if not require.variables:
                    message = f"{control.id} requires what reads neither `body` nor `start`"
                    diagnostics.warn(W_PROFILE_CONSTANT, message, spec.span(*path, "require"))
                found.append(Question(id_, named, None if when is None else _function(when), _function(require)))
    return tuple(found)


def questions_of(profile: Bundle) -> tuple[Question, ...]:
    """What a profile asks.

    Raises:
        Rejected: With every finding in its expressions.
    """
    diagnostics = Diagnostics()
    found = check_profile(profile.main, diagnostics)
    diagnostics.raise_if_errors()
    return found


def _function(checked: Checked) -> Callable[..., bool]:
    return compile_expression(checked, _NAMES)


class Answers:
    """What the receipts of one bundle, and the checks that were made of it, answer to questions."""

    def __init__(self, questions: Sequence[Question], name: str, kind: str) -> None:
        """Begin before the first receipt of the bundle of a spec of this name and kind."""
        own = [question for question in questions if is_of(question.named, name, kind)]
        self._verified = [question for question in own if question.named.verified is not None]
        self._questions: dict[str, list[Question]] = {}
        for question in own:
            if question.named.receipts is not None:
                self._questions.setdefault(question.named.receipts, []).append(question)
        self._failing, self._holding = Observations(), Observations()
        self._start: Body = {}
        self._present: Counter[str] = Counter()
        self._asked: Counter[str] = Counter()
        self._errors: Counter[str] = Counter()

    def add(self, receipt: Receipt) -> None:
        """Take the next receipt."""
        if receipt.seq == 0:
            self._start = receipt.body
        for question in self._questions.get(receipt.type, ()):
            self._present[question.id] += 1
            self._ask(question, receipt)

    def _ask(self, question: Question, receipt: Receipt) -> None:
        assert question.require is not None  # noqa: S101 - what is asked of receipts requires something
        id_, body = question.id, receipt.body
        try:
            if question.when is not None and not question.when(body, self._start):
                return
            self._asked[id_] += 1
            holds = question.require(body, self._start)
        except EvaluationError as error:
            self._errors[id_] += 1
            self._failing.note(id_, receipt, error.code, "" if error.text is None else error.text.value)
            return
        if not holds:
            self._failing.note(id_, receipt, "does not hold", body)
        elif self._holding.count[id_] < _MOST_HOLDING:
            self._holding.note(id_, receipt, "holds", None)

    def checks(self, key: str, verification: Verification) -> Iterator[Check]:
        """The answers, as checks; what a bundle has no receipt and no check of, it does not answer.

        Args:
            key: Of the spec that was run.
            verification: The checks that were made of the bundle.
        """
        for question in self._verified:
            for made in verification.checks:
                if made.name == question.named.verified:
                    outcome, failed = _OUTCOMES[made.status], int(made.status is Status.FAILED)
                    why = shorten(made.message or "", LONGEST)
                    yield Check(question.id, made.name, None, outcome, False, False, 1, failed, why, once=True)
        for each in self._questions.values():
            for question in each:
                if self._present[question.id]:
                    yield self._answer(question, key)

    def _answer(self, question: Question, key: str) -> Check:
        id_, named = question.id, question.named
        asked, errors = self._asked[id_], self._errors[id_]
        failures = self._failing.count[id_] - errors
        outcome, why = Outcome.PASSED, ""
        if failures:
            outcome = Outcome.FAILED
        elif errors:
            outcome, why = Outcome.CANNOT_TELL, f"{errors} receipts could not be evaluated"
        elif not asked:
            outcome, why = Outcome.NOT_APPLICABLE, "its condition never held"
        condition = "" if named.when is None else f" if {named.when}"
        says = shorten(f"of each `{named.receipts}` receipt{condition}: {named.require}", LONGEST)
        seen = (self._failing if failures or errors else self._holding).of(id_)
        return Check(id_, says, key, outcome, errors > 0 and not failures, False, asked, failures, why, **seen)
