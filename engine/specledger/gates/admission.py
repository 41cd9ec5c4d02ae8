"""Admission of proposals that are documents: schema, then invariants, then scopes, and a verdict with its witnesses.

Decides allow, deny or allow_with_constraints (a requested scope was narrowed to what is granted). Every fatal invariant
that is broken is a witness, none hides another; a document that fails its schema reaches no invariant. An expression
that cannot be evaluated denies, and says so: it is never taken for a document in order. Refuses to know how a document
came about, and to act: a token is issued elsewhere, for what was allowed here.

Source: toy-pseudo-axion, Non-negotiables 2, Kernel invariants; schemas/axion/audit_entry.json.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from specledger.core.canonical import NotCanonical
from specledger.core.diagnostics import Diagnostics, code
from specledger.expr import (
    BOOL,
    INT,
    STRING,
    Checked,
    Emitter,
    Environment,
    EvaluationError,
    ListType,
    RecordType,
    compile_function,
)
from specledger.gates.digests import Submission, witness
from specledger.gates.tokens import narrow
from specledger.gates.typed import document_type
from specledger.lang.bind import bind, emit_record, fields_of
from specledger.lang.scope import E_NAME_TAKEN, Let, Scope
from specledger.load import Resolved
from specledger.spec.governor import Admission as AdmissionSpec
from specledger.spec.invariant import Invariant as InvariantSpec

E_ADMISSION = code(
    "E_ADMISSION",
    "an admission means nothing",
    "`document` names a schema of schemas/axion, and `env` gives a record. An invariant of scope `proposal` needs a "
    "governor with `admission`; it reads `document` and `found`, so that no field of the world may have these names. "
    "What a capability allows are actions of the world.",
)

ALLOW: Final = "allow"
DENY: Final = "deny"
CONSTRAIN: Final = "allow_with_constraints"

SCHEMA: Final = "schema"
TOKEN: Final = "token"
SCOPE: Final = "scope"
EVALUATION: Final = "evaluation"
"""What denies beside invariants: the schema, a refused execution, the want of a capability, an evaluation error."""

FOUND: Final = RecordType(
    "found",
    {
        "trace_hash": STRING,
        "env_digest": STRING,
        "state_digest": STRING,
        "mass": INT,
        "mass_in_range": BOOL,
        "snapshots": ListType(RecordType("", {"fork_id": STRING, "given": STRING, "expected": STRING})),
        "nodes": ListType(INT),
        "leading": ListType(INT),
        "claims": ListType(RecordType("", {"var": STRING, "counterfactual": STRING, "choice": STRING})),
        "known": ListType(STRING),
        "step": STRING,
    },
)
"""What the kernel itself finds about a document:

the hash of its trace; the hashes of the environment that it shows and of the kernel's own; the sum of its probability
masses in 1e-8 and whether each lies in 0..1; per fork snapshot the digest given and the one expected; the nodes, each
once, and those from which the last one can be reached; per claim what it says, empty texts where it is of no form of
the vocabulary; the variables of the namespace; the label of the plan's first step.
"""


@dataclass(frozen=True, slots=True)
class DocumentInvariant:
    """An invariant over documents.

    Attributes:
        name, severity: As it was written.
        judge: `(state, document, found) -> None` if it holds, else its witness.
        rules: `when` and `require` as they were checked.
    """

    name: str
    severity: str
    judge: Callable[[Any, Any, Any], dict[str, Any] | None]
    rules: tuple[Checked, Checked]


@dataclass(frozen=True, slots=True)
class Ruling:
    """What the kernel rules about one submission.

    Attributes:
        submission: What was submitted.
        verdict: `allow`, `deny` or `allow_with_constraints`.
        witnesses: As audit entries hold them.
        codes: Notes, words without spaces.
        rejected: Per reason of a denial `{gate, reason, witness}`, as receipts hold them.
        capability: What the token of the plan's first step is called after; empty if it is denied.
        scope: The scope that is granted for it.
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


@dataclass(frozen=True, slots=True)
class Admission:
    """A compiled admission.

    Attributes:
        accepts: Whether a document is valid under the schema.
        find: `(state, document, submission) -> found`.
        invariants: In the governor's order.
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
            found = self.find(state, submission.document, submission)
        except (EvaluationError, NotCanonical, LookupError) as error:
            return _denied(submission, [_Finding(EVALUATION, getattr(error, "code", "unknown_variable"), None)])
        findings = [
            finding
            for invariant in self.invariants
            if (finding := _look(invariant, state, submission.document, found)) is not None
        ]
        if any(finding.fatal for finding in findings):
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


@dataclass(frozen=True, slots=True)
class _Finding:
    invariant: str
    reason: str
    data: Any
    severity: str = "fatal"
    told: Mapping[str, Any] | None = None

    @property
    def fatal(self) -> bool:
        return self.severity == "fatal"

    def entry(self) -> dict[str, Any]:
        return witness(self.invariant, self.reason, self.data if self.told is None else self.told, self.severity)

    def rejection(self) -> dict[str, Any]:
        return {"gate": self.invariant, "reason": self.reason, "witness": dict(self.told or {})}


def _denied(submission: Submission, findings: Sequence[_Finding]) -> Ruling:
    return Ruling(
        submission,
        DENY,
        tuple(finding.entry() for finding in findings),
        tuple(f"{finding.invariant}:{finding.reason}" for finding in findings),
        tuple(finding.rejection() for finding in findings if finding.fatal),
    )


def _look(invariant: DocumentInvariant, state: Any, document: Any, found: Any) -> _Finding | None:
    """What an invariant finds; one that cannot be evaluated is broken, whatever its severity."""
    try:
        told = invariant.judge(state, document, found)
    except EvaluationError as error:
        return _Finding(invariant.name, error.code, None)
    return None if told is None else _Finding(invariant.name, "broken", None, invariant.severity, told)


def check_admission(model: AdmissionSpec, spec: Resolved, diagnostics: Diagnostics) -> RecordType | None:
    """The type of the documents that a governor admits; None, with a finding, if it names no schema."""
    try:
        return document_type(model.document)
    except LookupError as error:
        diagnostics.error(E_ADMISSION, str(error), spec.span("admission", "document"))
        return None


def check_document_invariant(
    spec: Resolved, environment: Environment, state: RecordType, document: RecordType, diagnostics: Diagnostics
) -> DocumentInvariant | None:
    """Check and compile an invariant of scope `proposal`; None, with findings, if it is wrong."""
    model = spec.model
    assert isinstance(model, InvariantSpec)  # noqa: S101 - a reference of kind invariant holds nothing else
    scope = Scope(environment, spec, diagnostics)
    for name in ("document", "found"):
        if environment.conflict(name) is not None:
            scope.wrong(E_NAME_TAKEN, f"the world gives {name!r} to something else", "name")
            return None
    scope = scope.within(document=document, found=FOUND)
    scope = scope.constants(model.constants, "constants").functions(model.functions, "functions")
    when = scope.condition(model.when, "when")
    require = scope.expression("require", expect=BOOL)
    told = scope.each(model.witness, "witness")
    scope.sealed(told.types, "witness")
    scope.unused(model.functions)
    if when is None or require is None:
        return None
    return DocumentInvariant(spec.name, model.severity, _compiled(when, require, told, state), (when, require))


def _compiled(when: Checked, require: Checked, told: Let, state: RecordType) -> Callable[..., dict[str, Any] | None]:
    def compose(emitter: Emitter) -> str:
        now, document, found = (emitter.local(hint) for hint in ("state", "document", "found"))
        sources = {"now": now, "document": document, "found": found, **fields_of(emitter, now, state.fields)}
        read = when.variables | require.variables | told.variables
        lines, names = bind(emitter, read, sources)
        if when.text.value != "true":
            lines += [f"if not {emitter.expression(when, names)}:", "    return None"]
        lines += [f"if {emitter.expression(require, names)}:", "    return None"]
        lines.append(f"return {emit_record(emitter, told, names)}")
        return emitter.function("breach", [now, document, found], lines)

    return compile_function(compose)
