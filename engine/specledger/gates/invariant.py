"""Invariants: predicates over the state after a step and the one before it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal

from msgspec import Struct

from specledger.core.diagnostics import Diagnostics, code
from specledger.core.events import PROGRESS
from specledger.core.weight import Allowance
from specledger.expr import Checked, Emitter, compile_function
from specledger.gates.governor import Footing
from specledger.gates.monitor import Monitor, check_monitor
from specledger.lang.bind import bind, emit_let, emit_record, fields_of
from specledger.lang.scope import E_NAME_TAKEN, Let, Scope
from specledger.load import Resolved
from specledger.spec.invariant import Invariant as InvariantSpec

E_ADMISSION = code("E_ADMISSION", "an admission is missing, or means nothing")

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
    scope = scope.timed({**footing.clock, **(footing.actor if after_one_agent(model, footing) else {})})
    scope = scope.constants(model.constants, "constants").functions(model.functions, "functions")
    monitor, scope, require = check_monitor(model, footing, scope)
    when = scope.condition(model.when, "when")
    witness = monitor.witness if monitor and not model.witness else scope.each(model.witness, "witness")
    scope.sealed(witness.types, "witness")
    scope.unused(model.functions)
    if when is None or require is None:
        return None
    return Invariant(when, require, witness, monitor)


def after_one_agent(model: InvariantSpec, footing: Footing) -> bool:
    """Whether an invariant is judged after every turn, each of which is one agent's."""
    by_turn = model.require is not None and all(write.on == "action" for write in model.remember)
    return by_turn and model.scope == "step" and not footing.simultaneous


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
            let, given = invariant.monitor.needed(reads_of(invariant)), [previous, state, memory]
        return emit_breach(emitter, invariant, given, sources, let, idle="False")

    return compile_function(compose)


def reads_of(invariant: Invariant) -> frozenset[str]:
    """The variables that its expressions read."""
    return invariant.when.variables | invariant.require.variables | invariant.witness.variables


def emit_breach(
    emitter: Emitter, invariant: Invariant, given: list[str], sources: Mapping[str, str], let: Let, idle: str
) -> str:
    """A function of what is given: None where it holds, `idle` where its `when` does not, else its witness."""
    lines, names = bind(emitter, reads_of(invariant) | let.variables, sources)
    lines += emit_let(emitter, let, names)
    if invariant.when.text.value != "true":
        lines += [f"if not {emitter.expression(invariant.when, names)}:", f"    return {idle}"]
    lines += [f"if {emitter.expression(invariant.require, names)}:", "    return None"]
    allowance = Allowance()
    lines.append(f"{emitter.bind(allowance.renew, 'renew')}()")
    lines.append(f"return {emit_record(emitter, invariant.witness, names, emitter.bind(allowance.keep, 'keep'))}")
    return emitter.function("breach", given, lines)
