"""Admission of documents: schema, then invariants, then scopes, and a verdict with its witnesses.

The verdict is allow, deny, or allow_with_constraints if a requested scope was narrowed to the granted one. Every broken
fatal invariant is a witness. A document that fails its schema reaches no invariant. An expression that cannot be
evaluated denies.

Source: toy-pseudo-axion, Non-negotiables 2, Kernel invariants; schemas/axion/audit_entry.json.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from specledger.core.canonical import NotCanonical
from specledger.core.diagnostics import Diagnostics
from specledger.core.events import Severity
from specledger.expr import EvaluationError, ListType, RecordType, Type
from specledger.gates.capability import TOKEN
from specledger.gates.invariant import E_ADMISSION
from specledger.load import Resolved
from specledger.spec.governor import Admission as AdmissionSpec
from specledger.wings.kernel.documents.digests import Submission, witness
from specledger.wings.kernel.documents.invariant import DocumentInvariant
from specledger.wings.kernel.documents.schemas import document_type, words_at
from specledger.wings.kernel.documents.tokens import narrow

ALLOW: Final = "allow"
DENY: Final = "deny"
CONSTRAIN: Final = "allow_with_constraints"

SCHEMA: Final = "schema"
SCOPE: Final = "scope"
EVALUATION: Final = "evaluation"
"""What denies beside invariants: the schema, a refused execution, the want of a capability, an evaluation error."""


class Ruling(Struct, frozen=True):
    """What the kernel rules about one submission.

    Attributes:
        witnesses: As audit entries hold them.
        codes: Notes, words without spaces.
        rejected: Per reason of a denial `{gate, reason, witness}`, as receipts hold them.
        capability: What the token of the plan's first step is called after; empty if it is denied.
    """

    submission: Submission
    verdict: str
    witnesses: tuple[dict[str, Any], ...] = ()
    codes: tuple[str, ...] = ()
    rejected: tuple[dict[str, Any], ...] = ()
    capability: str = ""
    scope: Mapping[str, Any] | None = None

    @property
    def allowed(self) -> bool:
        """Whether a token may be issued."""
        return self.verdict != DENY


class Admission(Struct, frozen=True):
    """A compiled admission.

    Attributes:
        accepts: Whether a document is valid under the schema.
        find: `(state, document, submission) -> found`.
        grants: Per capability, the widest scope.
        free: The scope of what needs no request, by operation.
    """

    accepts: Callable[[object], bool]
    find: Callable[[Any, Any, Submission], dict[str, Any]]
    invariants: tuple[DocumentInvariant, ...]
    grants: Mapping[str, Mapping[str, Any]]
    free: Mapping[str, Mapping[str, Any]]

    @property
    def gates(self) -> tuple[str, ...]:
        """What can deny a document that fits its schema, and its execution."""
        return (*(invariant.name for invariant in self.invariants), SCOPE, EVALUATION, TOKEN)

    def rule(self, state: Any, submission: Submission) -> Ruling:
        """Rule about a submission in a state; total over whatever was submitted."""
        if submission.problem is not None:
            return _denied(submission, [_Finding(SCHEMA, submission.problem.code, None)])
        if not self.accepts(submission.document):
            return _denied(submission, [_Finding(SCHEMA, "not_valid", submission.document)])
        try:
            facts = self.find(state, submission.document, submission)
        except (EvaluationError, NotCanonical, LookupError) as error:
            return _denied(submission, [_Finding(EVALUATION, getattr(error, "code", "unknown_variable"), None)])
        findings = [
            finding
            for invariant in self.invariants
            if (finding := _look(invariant, state, submission.document, facts)) is not None
        ]
        if any(finding.denies for finding in findings):
            return _denied(submission, findings)
        return self._scoped(submission, findings)

    def _scoped(self, submission: Submission, findings: list[_Finding]) -> Ruling:
        """The scope of the plan's first step: what is requested for it, cut to what is granted."""
        op = submission.document["payload"]["plan"]["steps"][0]["op"]
        codes = [f"{finding.invariant}:{finding.reason}" for finding in findings]
        witnesses = tuple(finding.entry() for finding in findings)
        if op in self.free:
            return Ruling(submission, ALLOW, witnesses, tuple(codes), capability=op, scope=self.free[op])
        for request in submission.document["requested_capabilities"]:
            granted = self.grants.get(request["capability"])
            if granted is None or op not in request["scope"]["allowed_ops"]:
                continue
            scope = narrow(request["scope"], granted)
            if scope is not None and op in scope["allowed_ops"]:
                narrowed = scope != request["scope"]
                codes += [f"narrowed:{request['capability']}"] if narrowed else []
                verdict = CONSTRAIN if narrowed else ALLOW
                name = request["capability"]
                return Ruling(submission, verdict, witnesses, tuple(codes), capability=name, scope=scope)
        return _denied(submission, [*findings, _Finding(SCOPE, "no_capability", op)])


class _Finding(Struct, frozen=True):
    invariant: str
    reason: str
    data: Any
    severity: Severity = Severity.FATAL
    fields: Mapping[str, Any] | None = None

    @property
    def denies(self) -> bool:
        return self.severity.impact.denies_call

    def entry(self) -> dict[str, Any]:
        return witness(self.invariant, self.reason, self.data if self.fields is None else self.fields, self.severity)

    def rejection(self) -> dict[str, Any]:
        return {"gate": self.invariant, "reason": self.reason, "witness": dict(self.fields or {})}


def _denied(submission: Submission, findings: Sequence[_Finding]) -> Ruling:
    return Ruling(
        submission,
        DENY,
        tuple(finding.entry() for finding in findings),
        tuple(f"{finding.invariant}:{finding.reason}" for finding in findings),
        tuple(finding.rejection() for finding in findings if finding.denies),
    )


def _look(invariant: DocumentInvariant, state: Any, document: Any, facts: Any) -> _Finding | None:
    """What an invariant finds; one that cannot be evaluated is broken, whatever its severity."""
    try:
        breach = invariant.judge(state, document, facts)
    except EvaluationError as error:
        return _Finding(invariant.name, error.code, None)
    return None if breach is None else _Finding(invariant.name, "broken", None, invariant.severity, breach)


def check_admission(model: AdmissionSpec, spec: Resolved, diagnostics: Diagnostics) -> RecordType | None:
    """The type of the documents that a governor admits; None, with a finding, if it names no schema."""
    try:
        return document_type(model.document)
    except LookupError as error:
        diagnostics.error(E_ADMISSION, str(error), spec.span("admission", "document"))
        return None


def check_fit(
    model: AdmissionSpec, env: Type, actions: Collection[str], spec: Resolved, diagnostics: Diagnostics
) -> None:
    """Report an environment, and granted actions of the world, that no document of the schema can hold.

    A run would deny every such proposal as `not_valid`.
    """
    shown = document_type(model.document).fields["env"]
    misfits = sorted(_misfits(env, shown, "env"))
    hint = "the schema `open_proposal` holds the environment, the operations and the capabilities of any world"
    if misfits:
        message = f"no document of the schema `{model.document}` can hold this environment: {'; '.join(misfits[:4])}"
        span = spec.span("admission", "env")
        expected = f"the keys {', '.join(shown.fields)}" if isinstance(shown, RecordType) else None
        diagnostics.error(E_ADMISSION, message, span, expected=expected, hint=hint)
    ops = words_at(model.document, "payload", "plan", "steps", "op")
    capabilities = words_at(model.document, "requested_capabilities", "capability")
    for table, known in (("grants", capabilities), ("free", ops)):
        for name in getattr(model, table):
            if known and name in actions and name not in known:
                message = f"no document of the schema `{model.document}` can hold `{name}`"
                span = spec.span("admission", table, name)
                diagnostics.error(E_ADMISSION, message, span, expected=f"one of {', '.join(known)}", hint=hint)


def _misfits(given: Type, wanted: Type, path: str) -> list[str]:
    """The keys that records lack, or have beyond those of a schema, at any depth."""
    if isinstance(given, ListType) and isinstance(wanted, ListType):
        return _misfits(given.item, wanted.item, path)
    if not isinstance(given, RecordType) or not isinstance(wanted, RecordType):
        return []
    misfits = [f"`{path}` lacks `{key}`" for key in wanted.fields.keys() - wanted.optional - given.fields.keys()]
    misfits += [f"`{path}` has `{key}`" for key in given.fields.keys() - wanted.fields.keys()]
    for key in given.fields.keys() & wanted.fields.keys():
        misfits += _misfits(given.fields[key], wanted.fields[key], f"{path}.{key}")
    return misfits
