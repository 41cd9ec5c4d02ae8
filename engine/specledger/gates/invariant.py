"""Invariants: predicates over the state after a step and the one before it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal

from specledger.core.diagnostics import Diagnostics
from specledger.expr import BOOL, Checked, Emitter, compile_function
from specledger.gates.governor import Footing
from specledger.lang.bind import bind, emit_record, fields_of
from specledger.lang.scope import E_NAME_TAKEN, Let, Scope
from specledger.load import Resolved
from specledger.spec.invariant import Invariant as InvariantSpec

PROGRESS: Final = "progress"
"""The violation that a step without an admissible action counts as."""

WATCHDOG: Final = "watchdog"
"""The violation that an episode counts as whose agent was ended at a decision, or ended the process that asked it."""


@dataclass(frozen=True, slots=True)
class Invariant:
    """A checked invariant: broken where `when` holds and `require` does not."""

    when: Checked
    require: Checked
    witness: Let


def check_invariant(spec: Resolved, footing: Footing, diagnostics: Diagnostics) -> Invariant | None:
    """Check an invariant against the world that it is about; None, with findings, if it is wrong."""
    model = spec.model
    assert isinstance(model, InvariantSpec)  # noqa: S101 - a reference of kind invariant holds nothing else
    scope = Scope(footing.environment, spec, diagnostics)
    if model.name in (PROGRESS, WATCHDOG):
        scope.wrong(E_NAME_TAKEN, f"{model.name!r} is what results call something that no invariant finds", "name")
    scope = scope.constants(model.constants, "constants").functions(model.functions, "functions")
    scope = scope.within(previous=footing.state)
    when = scope.condition(model.when, "when")
    require = scope.expression("require", expect=BOOL)
    witness = scope.each(model.witness, "witness")
    scope.sealed(witness.types, "witness")
    scope.unused(model.functions)
    if when is None or require is None:
        return None
    return Invariant(when, require, witness)


def compile_invariant(invariant: Invariant, footing: Footing) -> Callable[..., dict[str, Any] | Literal[False] | None]:
    """`(previous, state) -> None` where the invariant holds, False where its `when` does not, else its witness."""

    def compose(emitter: Emitter) -> str:
        previous, state = emitter.local("previous"), emitter.local("state")
        emitter.expect(previous, footing.like)
        emitter.expect(state, footing.like)
        sources = {"now": state, "previous": previous, **fields_of(emitter, state, footing.state.fields)}
        read = invariant.when.variables | invariant.require.variables | invariant.witness.variables
        lines, names = bind(emitter, read, sources)
        if invariant.when.text.value != "true":
            lines += [f"if not {emitter.expression(invariant.when, names)}:", "    return False"]
        lines += [f"if {emitter.expression(invariant.require, names)}:", "    return None"]
        lines.append(f"return {emit_record(emitter, invariant.witness, names)}")
        return emitter.function("breach", [previous, state], lines)

    return compile_function(compose)
