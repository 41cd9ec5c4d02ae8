"""Rules of a profile about receipts, bundles and their verification; each is answered by a check of the bundle.

Rules are compiled once for a profile; `Answers` asks them of the receipts of one bundle.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import reduce
from types import MappingProxyType
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from specledger.core.diagnostics import Diagnostics, code, suggest
from specledger.core.spans import Span
from specledger.expr import (
    BOOL,
    DYN,
    INT,
    STRING,
    Checked,
    Environment,
    EvaluationError,
    ListType,
    MapType,
    RecordType,
    Type,
    compile_expression,
)
from specledger.expr.check.relations import join
from specledger.expr.errors import E_EVAL_TYPE
from specledger.expr.limits import MAX_LIST
from specledger.expr.typed_dicts import record_type
from specledger.lang.scope import Scope
from specledger.load import Bundle, Resolved
from specledger.report.markup import shorten
from specledger.report.model import LONGEST, Body, Check, Receipt, ReportedKind
from specledger.report.observations import Observations
from specledger.report.outcome import Outcome
from specledger.report.profile_specs import stated_specs
from specledger.spec.profile import EvidenceCheck, Profile
from specledger.verify.check_names import REPLAY, REPLAY_OF_RUNS, all_names
from specledger.verify.checks import Status, Verification

W_PROFILE_CONSTANT = code("W_PROFILE_CONSTANT", "evidence that always comes out the same")

E_PROFILE_UNKNOWN = code("E_PROFILE_UNKNOWN", "evidence that no bundle can have")

ASKED: Final = ("receipts", "verified", "bundle")
"""The first words of the names of such checks."""

_NAMES: Final = ("body", "start", "receipts", "bundle", "run", "specs")
_LATE: Final = frozenset({"receipts", "bundle", "run", "specs"})
"""What is known after the last receipt."""
_BUNDLE: Final = RecordType(
    "bundle", {**dict.fromkeys(("name", "kind", "case", "verdict"), STRING), "result": MapType(DYN)}
)
_RUN: Final = RecordType("run", {"replayed": BOOL}, frozenset({"replayed"}))
_KNOWN: Final[Mapping[str, Type]] = {"bundle": _BUNDLE, "run": _RUN, "specs": MapType(DYN)}


class Question(Struct, frozen=True):
    """One thing that a control asks of bundles.

    Attributes:
        id: The name of the check that answers it: `receipts/<control>.<place>`, `verified/…` or `bundle/…`.
        named: What the control says.
        when: Whether it is asked of a receipt or of the bundle, from the values of all names; None if always.
        require: Whether it holds; None of what was verified.
        late: Whether it reads what is known after the last receipt.
        reads: Which of the names it reads.
    """

    id: str
    named: EvidenceCheck
    when: Callable[..., bool] | None = None
    require: Callable[..., bool] | None = None
    late: bool = False
    reads: frozenset[str] = frozenset()


def name_question(control: str, index: int, named: EvidenceCheck) -> str:
    """The name of the check that answers what a control asks at a place of its list, counted from 0."""
    word = ASKED[1] if named.verified is not None else ASKED[0] if named.receipts is not None else ASKED[2]
    return f"{word}/{control}.{index + 1}"


def is_of(named: EvidenceCheck, name: str, kind: str) -> bool:
    """Whether what a control names is asked of the bundle of a spec of this name and kind."""
    return named.of in (None, name) and named.kind in (None, kind)


def check_profile(spec: Resolved, kinds: Mapping[str, ReportedKind], diagnostics: Diagnostics) -> tuple[Question, ...]:
    """Type the expressions of a profile; those that are wrong are left out, with findings."""
    receipts = {
        name: {type_: record_type(class_, type_) for type_, class_ in kind.report.receipts.items()}
        for name, kind in kinds.items()
        if kind.runs
    }
    model = spec.model
    assert isinstance(model, Profile)  # noqa: S101 - a spec of the kind profile is nothing else
    shared = Scope(Environment({**dict.fromkeys(_NAMES, DYN), **_KNOWN}), spec, diagnostics)
    shared = shared.constants(model.constants, "constants").functions(model.functions, "functions")
    plain = replace(shared, diagnostics=Diagnostics())
    questions = []
    for number, control in enumerate(model.controls):
        for index, named in enumerate(control.evidence):
            id_ = name_question(control.id, index, named)
            path = ("controls", number, "evidence", index)
            if named.verified is not None:
                _known(
                    named.verified, all_names(), "sentence of `spec verify`", spec.span(*path, "verified"), diagnostics
                )
                questions.append(Question(id_, named))
            elif named.require is not None:
                names = {type_ for types in _kinds(named, receipts) for type_ in types}
                at = spec.span(*path, "receipts")
                if named.receipts is None or _known(named.receipts, names, "type of receipts", at, diagnostics):
                    scopes = tuple(
                        scope.within(**dict.fromkeys(named.figures, INT))
                        for scope in (shared.within(**_types(named, receipts)), plain)
                    )
                    questions += _question(Question(id_, named), path, scopes)
    return tuple(questions)


def _question(asked: Question, path: tuple[str | int, ...], scopes: Sequence[Scope]) -> Iterator[Question]:
    """A question with its expressions, unless they are wrong.

    Receipts are not trusted to have the declared types, so what is evaluated is typed without them.
    """
    typed, plain = scopes
    keys = [key for key in ("require", "when") if getattr(asked.named, key) is not None]
    if None in [typed.expression(*path, key, expect=BOOL) for key in keys]:
        return
    expressions = [checked for key in keys if (checked := plain.expression(*path, key)) is not None]
    if len(expressions) < len(keys):
        return
    if not expressions[0].variables:
        typed.diagnostics.warn(
            W_PROFILE_CONSTANT, "it requires what reads nothing of the evidence", typed.source.span(*path, "require")
        )
    reads = frozenset(name for checked in expressions for name in checked.variables)
    late = asked.named.receipts is None or bool(_LATE & reads)
    require, *when = (_function(checked, asked.named.figures) for checked in expressions)
    yield replace(asked, when=when[0] if when else None, require=require, late=late, reads=reads)


RecordTypes = Mapping[str, RecordType]
"""By the type of a receipt the type of its body."""


def _kinds(named: EvidenceCheck, receipts: Mapping[str, RecordTypes]) -> list[RecordTypes]:
    """The types of the receipts of each kind of evidence that may be meant."""
    return [types for kind, types in receipts.items() if named.kind in (None, kind)]


def _types(named: EvidenceCheck, receipts: Mapping[str, RecordTypes]) -> dict[str, Type]:
    """The types of the names, over every kind of evidence that has such receipts."""
    kinds: list[Mapping[str, Type]] = [
        types for types in _kinds(named, receipts) if named.receipts is None or named.receipts in types
    ]
    bodies = reduce(_either, (type_ for types in kinds for type_ in types.values()))
    receipt = RecordType("receipt", {"seq": INT, "type": STRING, "body": bodies})
    variables: dict[str, Type] = {
        "start": reduce(_either, (types["start"] for types in kinds)),
        "receipts": ListType(receipt),
        **_KNOWN,
    }
    if named.receipts is not None:
        variables["body"] = reduce(_either, (types[named.receipts] for types in kinds))
    return variables


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


def questions_of(profile: Bundle, kinds: Mapping[str, ReportedKind]) -> tuple[Question, ...]:
    """What a profile asks; Rejected with every finding in its expressions."""
    diagnostics = Diagnostics()
    questions = check_profile(profile.main, kinds, diagnostics)
    diagnostics.raise_if_errors()
    return questions


def _function(checked: Checked, figures: Sequence[str]) -> Callable[..., bool]:
    call = compile_expression(checked, (*_NAMES, *figures))

    def decide(*values: Any) -> bool:
        result = call(*values)
        if not isinstance(result, bool):
            raise EvaluationError(E_EVAL_TYPE, "the value is no bool")
        return result

    return decide


def _values_of(figure: Body) -> dict[str, int]:
    """The value of a figure by its name, with that of each group as `figure_group`; nothing where it has none."""
    groups = figure["groups"] if figure["error"] is None else ()
    named = [(f"{figure['figure']}_{group['name']}" if group["name"] else figure["figure"], group) for group in groups]
    return {name: group["value"] for name, group in named if type(group.get("value")) is int}


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

    def __init__(self, questions: Sequence[Question], name: str, kind: str, specs: Bundle | None = None) -> None:
        """Of a bundle of this name and kind, and of the specs of its evidence if there are any."""
        own = [question for question in questions if is_of(question.named, name, kind)]
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
        self._figures: dict[str, int] = {}
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
                self._ask(question, receipt, (receipt.body, self._start, (), {}, {}, {}))

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
            self._unmade[id_] += "run" in question.reads and values[_NAMES.index("run")] == {}
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
        late = (kept, bundle, run, self._specs)
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

    def _figures_of(self, question: Question, bundle: Body) -> list[int] | None:
        """The values of the figures that a question names; None if the bundle lacks one."""
        result = bundle.get("result", {})
        known = {**{name: value for name, value in result.items() if type(value) is int}, **self._figures}
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
