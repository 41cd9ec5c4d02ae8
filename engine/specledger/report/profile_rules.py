"""Rules of a profile about receipts, bundles and their verification; each is answered by a check of the bundle.

Rules are compiled once for a profile; `profile_answers` asks them of one bundle, `profile_joins` of several.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import reduce
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
from specledger.expr.typed_dicts import record_type
from specledger.lang.scope import Scope
from specledger.lang.statement import listed
from specledger.load import Bundle, Resolved
from specledger.report.model import ReportedKind
from specledger.spec.profile import EvidenceCheck, Profile
from specledger.verify.check_names import all_names

W_PROFILE_CONSTANT = code("W_PROFILE_CONSTANT", "evidence that always comes out the same")

E_PROFILE_UNKNOWN = code("E_PROFILE_UNKNOWN", "evidence that no bundle can have")

E_PROFILE_BUNDLES = code("E_PROFILE_BUNDLES", "a rule over several bundles that reads or asks what only one has")

ASKED: Final = ("receipts", "verified", "bundle")
"""The first words of the names of such checks."""

NAMES: Final = ("body", "start", "receipts", "bundle", "run", "specs", "bundles")
_LATE: Final = frozenset({"receipts", "bundle", "run", "specs"})
"""What is known after the last receipt."""
_JOINED: Final = frozenset({"bundle", "bundles"})
"""What a rule over several bundles may read."""
_BUNDLE: Final = RecordType(
    "bundle",
    {**dict.fromkeys(("name", "kind", "case", "verdict"), STRING), "result": MapType(DYN), "figures": MapType(INT)},
)
_RUN: Final = RecordType("run", {"replayed": BOOL}, frozenset({"replayed"}))
_KNOWN: Final[Mapping[str, Type]] = {
    **{"bundle": _BUNDLE, "run": _RUN, "specs": MapType(DYN)},
    "bundles": ListType(_BUNDLE),
}


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

    @property
    def joins(self) -> bool:
        """Whether it is about several bundles, and so is asked when all are read."""
        return "bundles" in self.reads


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
    shared = Scope(Environment({**dict.fromkeys(NAMES, DYN), **_KNOWN}), spec, diagnostics)
    shared = shared.constants(model.constants, "constants").functions(model.functions, "functions")
    plain = replace(shared, diagnostics=Diagnostics())
    typed: dict[tuple[str | None, str | None], Scope] = {}
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
                    about = named.kind, named.receipts
                    if about not in typed:  # most rules of a profile are about the same receipts
                        typed[about] = shared.within(**_types(named, receipts))
                    scopes = [scope.within(**dict.fromkeys(named.figures, INT)) for scope in (typed[about], plain)]
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
    if "bundles" in reads and not _joins_well(asked.named, reads, path, typed):
        return
    late = asked.named.receipts is None or bool(_LATE & reads)
    require, *when = (_function(checked, asked.named.figures) for checked in expressions)
    yield replace(asked, when=when[0] if when else None, require=require, late=late, reads=reads)


def _joins_well(named: EvidenceCheck, reads: frozenset[str], path: tuple[str | int, ...], scope: Scope) -> bool:
    """Whether a rule over several bundles reads what they show as a whole, and is not asked of some of them alone."""
    if named.receipts is not None or named.figures:
        key = "receipts" if named.receipts is not None else "figures"
        message = (
            "a rule over `bundles` is asked of no receipt"
            if named.receipts
            else "a rule over `bundles` reads no figure by its name alone"
        )
        hint = "write `bundles.all(b, b.figures.house <= MOST)`"
    elif not reads <= _JOINED:
        key, other = "require", listed(f"`{name}`" for name in sorted(reads - _JOINED))
        message = f"a rule over `bundles` reads {other}, too"
        hint = "of each bundle it can read `name`, `kind`, `case`, `verdict`, `result` and `figures`"
    elif "bundle" not in reads and (named.of is not None or named.kind is not None):
        key = "of" if named.of is not None else "kind"
        message = f"`{key}` says of which bundle a rule is asked, and this one is asked once of all"
        hint = f"write `bundles.filter(b, b.{'name' if key == 'of' else 'kind'} == '{named.of or named.kind}')`"
    else:
        return True
    scope.diagnostics.error(E_PROFILE_BUNDLES, message, scope.source.span(*path, key), hint=hint)
    return False


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
    call = compile_expression(checked, (*NAMES, *figures))

    def decide(*values: Any) -> bool:
        result = call(*values)
        if not isinstance(result, bool):
            raise EvaluationError(E_EVAL_TYPE, "the value is no bool")
        return result

    return decide
