"""Invariants: predicates over the state after a step and the one before it, and over documents."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal

from msgspec import Struct

from specledger.core.diagnostics import Diagnostics, code
from specledger.core.events import PROGRESS, Severity
from specledger.core.weight import Allowance
from specledger.expr import BOOL, INT, STRING, Checked, Emitter, Environment, ListType, RecordType, compile_function
from specledger.gates.governor import Footing
from specledger.gates.monitor import Monitor, check_monitor
from specledger.lang.bind import bind, emit_let, emit_record, fields_of
from specledger.lang.scope import E_NAME_TAKEN, Let, Scope
from specledger.load import Resolved
from specledger.spec.invariant import Invariant as InvariantSpec

E_ADMISSION = code("E_ADMISSION", "an admission means nothing")

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


WATCHDOG: Final = "watchdog"
"""The violation that an episode counts as whose agent was ended at a decision, or ended the process that asked it."""


class Invariant(Struct, frozen=True):
    """A checked invariant: broken where `when` holds and `require` does not."""

    when: Checked
    require: Checked
    witness: Let
    monitor: Monitor | None = None


def check_invariant(spec: Resolved, footing: Footing, diagnostics: Diagnostics) -> Invariant | None:
    """Check an invariant against the world that it is about; None, with findings, if it is wrong."""
    model = spec.model
    assert isinstance(model, InvariantSpec)  # noqa: S101 - a reference of kind invariant holds nothing else
    scope = Scope(footing.environment, spec, diagnostics)
    if model.name in (PROGRESS, WATCHDOG):
        scope.wrong(E_NAME_TAKEN, f"{model.name!r} is what results call something that no invariant finds", "name")
    scope = scope.constants(model.constants, "constants").functions(model.functions, "functions")
    monitor, scope, require = check_monitor(model, footing, scope)
    when = scope.condition(model.when, "when")
    witness = monitor.witness if monitor and not model.witness else scope.each(model.witness, "witness")
    scope.sealed(witness.types, "witness")
    scope.unused(model.functions)
    if when is None or require is None:
        return None
    return Invariant(when, require, witness, monitor)


def compile_invariant(invariant: Invariant, footing: Footing) -> Callable[..., dict[str, Any] | Literal[False] | None]:
    """`(previous, state, memory) -> None` where it holds, False where its `when` does not, else its witness.

    Without a monitor there is no memory to pass.
    """

    def compose(emitter: Emitter) -> str:
        previous, state, memory = (emitter.local(hint) for hint in ("previous", "state", "memory"))
        emitter.expect(previous, footing.like)
        emitter.expect(state, footing.like)
        sources = {"now": state, "previous": previous, **fields_of(emitter, state, footing.state.fields)}
        let, given = Let(), [previous, state]
        if invariant.monitor is not None:
            sources |= fields_of(emitter, memory, invariant.monitor.type.fields)
            let, given = invariant.monitor.needed(_reads(invariant)), [previous, state, memory]
        return _emit_breach(emitter, invariant, given, sources, let, idle="False")

    return compile_function(compose)


def _reads(invariant: Invariant) -> frozenset[str]:
    return invariant.when.variables | invariant.require.variables | invariant.witness.variables


def _emit_breach(
    emitter: Emitter, invariant: Invariant, given: list[str], sources: Mapping[str, str], let: Let, idle: str
) -> str:
    """A function of what is given: None where it holds, `idle` where its `when` does not, else its witness."""
    lines, names = bind(emitter, _reads(invariant) | let.variables, sources)
    lines += emit_let(emitter, let, names)
    if invariant.when.text.value != "true":
        lines += [f"if not {emitter.expression(invariant.when, names)}:", f"    return {idle}"]
    lines += [f"if {emitter.expression(invariant.require, names)}:", "    return None"]
    allowance = Allowance()
    lines.append(f"{emitter.bind(allowance.renew, 'renew')}()")
    lines.append(f"return {emit_record(emitter, invariant.witness, names, emitter.bind(allowance.keep, 'keep'))}")
    return emitter.function("breach", given, lines)


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
    told = scope.each(model.witness, "witness")
    scope.sealed(told.types, "witness")
    scope.unused(model.functions)
    if when is None or require is None:
        return None

    def compose(emitter: Emitter) -> str:
        now, shown, found = (emitter.local(hint) for hint in ("state", "document", "found"))
        sources = {"now": now, "document": shown, "found": found, **fields_of(emitter, now, state.fields)}
        return _emit_breach(emitter, Invariant(when, require, told), [now, shown, found], sources, Let(), idle="None")

    return DocumentInvariant(spec.name, Severity(model.severity), compile_function(compose), (when, require))
