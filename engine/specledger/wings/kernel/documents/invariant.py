"""Invariants over documents, which a kernel judges before it issues a token."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from msgspec import Struct

from specledger.core.diagnostics import Diagnostics
from specledger.core.events import Severity
from specledger.expr import BOOL, INT, STRING, Checked, Emitter, Environment, ListType, RecordType, compile_function
from specledger.gates.invariant import Invariant, emit_breach
from specledger.lang.bind import fields_of
from specledger.lang.scope import E_NAME_TAKEN, Let, Scope
from specledger.load import Resolved
from specledger.spec.invariant import Invariant as InvariantSpec

FOUND: Final = RecordType(
    "found",
    {
        "trace_hash": STRING,
        "env_digest": STRING,
        "state_digest": STRING,
        "mass": INT,
        "least": INT,
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

the hash of its trace; the hashes of the environment that it shows and of the kernel's own; how many counterfactuals
the governor demands; the sum of its probability masses in 1e-8 and whether each lies in 0..1; per fork snapshot the
digest given and the one expected; the nodes, each once, and those from which the last one can be reached; per claim
what it says, empty texts where it is of no form of the vocabulary; the variables of the namespace; the label of the
plan's first step.
"""


class DocumentInvariant(Struct, frozen=True):
    """An invariant over documents.

    Attributes:
        judge: `(state, document, found) -> None` if it holds, else its witness.
        rules: `when` and `require` as they were checked.
    """

    name: str
    severity: Severity
    judge: Callable[[Any, Any, Any], dict[str, Any] | None]
    rules: tuple[Checked, Checked]


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
    witness = scope.each(model.witness, "witness")
    scope.sealed(witness.types, "witness")
    scope.unused(model.functions)
    if when is None or require is None:
        return None

    def compose(emitter: Emitter) -> str:
        now, shown, facts = (emitter.local(hint) for hint in ("state", "document", "found"))
        sources = {"now": now, "document": shown, "found": facts, **fields_of(emitter, now, state.fields)}
        return emit_breach(emitter, Invariant(when, require, witness), [now, shown, facts], sources, Let(), idle="None")

    return DocumentInvariant(spec.name, Severity(model.severity), compile_function(compose), (when, require))
