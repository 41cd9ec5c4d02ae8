"""Rules of a profile about receipts and their verification; each rule is answered by a check of the bundle."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Final

from specledger.core.diagnostics import Diagnostics, code, suggest
from specledger.core.spans import Span
from specledger.expr import BOOL, DYN, Checked, Environment, EvaluationError, RecordType, Type, compile_expression
from specledger.expr.check.relations import join
from specledger.lang.scope import Scope
from specledger.load import Bundle, Resolved
from specledger.report.markup import shorten
from specledger.report.model import LONGEST, Body, Check, Outcome, Receipt, ReportKind
from specledger.report.observations import Observations
from specledger.report.receipt_types import ReceiptTypes
from specledger.spec.profile import EvidenceCheck, Profile
from specledger.verify import check_names
from specledger.verify.checks import Status, Verification

W_PROFILE_CONSTANT = code(
    "W_PROFILE_CONSTANT",
    "evidence that always comes out the same",
    "What a control requires of receipts depends on `body` or on `start`. An expression that reads neither holds of "
    "every receipt or of none, so it shows nothing about them.",
)

E_PROFILE_UNKNOWN = code(
    "E_PROFILE_UNKNOWN",
    "evidence that no bundle can have",
    "A profile names types of receipts of runs, suites, laws and discoveries, and sentences of `spec verify`. What "
    "names another one is answered by no bundle, so that it would always be untested.",
)

ASKED: Final = ("receipts", "verified")
"""The first words of the names of such checks."""

_NAMES: Final = ("body", "start")
_SENTENCES: Final = frozenset(text for name, text in vars(check_names).items() if name.isupper())
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


def check_profile(spec: Resolved, kinds: Mapping[str, ReportKind], diagnostics: Diagnostics) -> tuple[Question, ...]:
    """Type the expressions of a profile; those that are wrong are left out, with findings.

    Args:
        spec: The profile.
        kinds: The kinds of evidence that it may ask about.
        diagnostics: Takes the findings.
    """
    receipts = {name: kind.types() for name, kind in kinds.items()}
    model = spec.model
    assert isinstance(model, Profile)  # noqa: S101 - a spec of the kind profile is nothing else
    plain = Scope(Environment(dict.fromkeys(_NAMES, DYN)), spec, Diagnostics())
    found = []
    for number, control in enumerate(model.controls):
        for place, named in enumerate(control.evidence):
            id_ = name_question(control.id, place, named)
            path = ("controls", number, "evidence", place)
            if named.verified is not None:
                _known(
                    named.verified,
                    _SENTENCES,
                    "sentence of `spec verify`",
                    spec.span(*path, "verified"),
                    diagnostics,
                )
                found.append(Question(id_, named))
            elif named.receipts is not None:
                names = {type_ for types in _kinds(named, receipts) for type_ in types}
                if not _known(named.receipts, names, "type of receipts", spec.span(*path, "receipts"), diagnostics):
                    continue
                typed = Scope(Environment(_types(named, receipts)), spec, diagnostics)
                for key in ("require", "when"):
                    if getattr(named, key) is not None:
                        typed.expression(*path, key, expect=BOOL)
                # Receipts are not trusted to have these types: what is evaluated checks each value.
                require = plain.expression(*path, "require", expect=BOOL)
                when = None if named.when is None else plain.expression(*path, "when", expect=BOOL)
                if require is None or (when is None) != (named.when is None):
                    continue
                if not require.variables:
                    message = f"{control.id} requires what reads neither `body` nor `start`"
                    diagnostics.warn(W_PROFILE_CONSTANT, message, spec.span(*path, "require"))
                found.append(Question(id_, named, None if when is None else _function(when), _function(require)))
    return tuple(found)


def _kinds(named: EvidenceCheck, receipts: Mapping[str, ReceiptTypes]) -> list[ReceiptTypes]:
    """The types of the receipts of each kind of evidence that may be meant."""
    return [types for kind, types in receipts.items() if named.kind in (None, kind)]


def _types(named: EvidenceCheck, receipts: Mapping[str, ReceiptTypes]) -> dict[str, Type]:
    """The types of `body` and `start`: those of every kind of evidence that has such receipts."""
    assert named.receipts is not None  # noqa: S101 - the caller looked
    kinds = [types for types in _kinds(named, receipts) if named.receipts in types]
    places = {"body": named.receipts, "start": "start"}
    found: dict[str, list[Type]] = {name: [types[type_] for types in kinds] for name, type_ in places.items()}
    return {name: reduce(_either, of_kinds) for name, of_kinds in found.items()}


def _either(first: Type, second: Type) -> Type:
    """The type of what is of one of two types: a record with the fields of both."""
    if not isinstance(first, RecordType) or not isinstance(second, RecordType):
        return join(first, second) or DYN
    fields = {
        key: _either(
            first.fields.get(key, second.fields.get(key, DYN)), second.fields.get(key, first.fields.get(key, DYN))
        )
        for key in {**first.fields, **second.fields}
    }
    return RecordType(
        first.name, fields, first.optional | second.optional | (first.fields.keys() ^ second.fields.keys())
    )


def _known(name: str, names: Collection[str], what: str, span: Span | None, diagnostics: Diagnostics) -> bool:
    """Whether evidence can have what a profile names; with a finding if it cannot."""
    if name in names:
        return True
    near = suggest(name, names)
    hint = f"did you mean `{near}`?" if near else f"there is {', '.join(sorted(names))}"
    diagnostics.error(E_PROFILE_UNKNOWN, f"there is no {what} {name!r}", span, hint=hint)
    return False


def questions_of(profile: Bundle, kinds: Mapping[str, ReportKind]) -> tuple[Question, ...]:
    """What a profile asks.

    Raises:
        Rejected: With every finding in its expressions.
    """
    diagnostics = Diagnostics()
    found = check_profile(profile.main, kinds, diagnostics)
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
