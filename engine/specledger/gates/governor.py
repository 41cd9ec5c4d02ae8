"""A governor: gates judged on the recomputed next state of every proposal, the price of a decision, and the choice.

Every gate judges every proposal, so that each reason is kept; with `mode: first` the first gate that rejects decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from specledger.core.diagnostics import Diagnostics, code
from specledger.core.weight import Allowance
from specledger.expr import (
    BOOL,
    INT,
    Checked,
    Emitter,
    Environment,
    EvaluationError,
    RecordType,
    Type,
    compile_function,
)
from specledger.expr.errors import E_EVAL_OVERFLOW
from specledger.expr.limits import INT_MAX, INT_MIN
from specledger.lang.bind import Preload, bind, charge_fields, emit_let, emit_record, fields_of
from specledger.lang.effects import PlannedEffect, emit_fitting
from specledger.lang.memory import EPISODE, Memory, check_fields, check_writes
from specledger.lang.scope import E_DECLARATION, Fields, Let, Scope
from specledger.load import Resolved
from specledger.spec.governor import Governor as GovernorSpec

SCHEMA: Final = "schema"
"""The gate that every governor has first: whether a proposal is well formed."""

W_CLAIM_UNREAD = code("W_CLAIM_UNREAD", "a claim that the governor does not read")


class Footing(Struct, frozen=True):
    """The names and types of a world, as far as judging needs them.

    Attributes:
        state, inputs, action, outcome, observation: The types of a state, of what a step must be supplied with, of an
            action, of what a step reports, and of what is observed.
        write_step: Writes the lines of a step of the world, given what is kept of the state, the locals of state,
            operation, action and inputs, and the paths of the outcome that are read; with the locals that then hold the
            next state and the outcome.
        several: Whether several agents act in a step.
        clock: What the clock of the run gives: the step and the episode.
        actor: The same of who acts, of several agents.
        simultaneous: Whether several agents act in one turn, after which nobody in particular has acted.
        like: A state with the sizes to be expected, if one is known.
        predicts: Whether a step is tried before its action is judged, also if no gate reads what it leads to.
    """

    environment: Environment
    state: RecordType
    inputs: RecordType
    action: RecordType
    outcome: RecordType
    observation: RecordType
    write_step: Callable[
        [Emitter, Preload, tuple[str, str, str, str], frozenset[tuple[str, ...]]], tuple[list[str], tuple[str, str]]
    ]
    several: bool
    clock: Mapping[str, Type] = {}
    actor: Mapping[str, Type] = {}
    simultaneous: bool = False
    like: Mapping[str, Any] | None = None
    predicts: bool = True


class PlannedGate(Struct, frozen=True):
    """One checked gate: rejects where `when` holds and `condition` is `rejects`."""

    id: str
    reason: str
    when: Checked
    condition: Checked
    rejects: bool
    witness: Let


class Governor(Struct, frozen=True):
    """A checked governor.

    Attributes:
        claims: The types of what every proposal must claim.
        memory: What it remembers of the observations, which it need not believe an agent about.
        renewal: The writes of its memory that are also made where something is observed anew before a decision.
        potentials: Figures of a state and the memory.
        first: Whether the first gate that rejects a proposal is the last one to judge it.
        value: What the choice maximises.
    """

    claims: Mapping[str, Type]
    memory: Memory
    renewal: tuple[PlannedEffect, ...]
    potentials: Let
    let: Let
    cost: Let
    each: Let
    supply: Let
    gates: tuple[PlannedGate, ...]
    first: bool
    value: Checked


def check_governor(spec: Resolved, footing: Footing, diagnostics: Diagnostics) -> Governor | None:
    """Check a governor on the world that it governs; None, with findings, if it is wrong."""
    model = spec.model
    assert isinstance(model, GovernorSpec)  # noqa: S101 - a reference of kind governor holds nothing else
    before = diagnostics.has_errors
    scope = Scope(footing.environment, spec, diagnostics)
    claims = scope.types(model.claims, "claims")
    scope = scope.constants(model.constants, "constants").functions(model.functions, "functions")
    memory, renewal, scope = _memory(model, footing, scope)
    potentials = [
        (name, value)
        for name in sorted(model.potentials)
        if (value := scope.expression("potentials", name, "is", expect=INT)) is not None
    ]
    scope = scope.within(proposals=INT, rejected=INT).timed({**footing.clock, **footing.actor})
    let, scope = scope.let(model.let, "let")
    scope.sealed(claims, "claims")
    for name in sorted(set(claims) & {"action", "score"}):
        scope.wrong(E_DECLARATION, f"a claim cannot be named {name!r}", "claims", name)
    proposal = RecordType("proposal", {**claims, "action": footing.action, "score": INT})
    scope = scope.within(action=footing.action, proposal=proposal, writes=INT)
    if "total" in model.cost:
        scope.wrong(E_DECLARATION, "an item of the cost cannot be named 'total', which is their sum", "cost", "total")
    price = scope.numbers(*(("cost", name) for name in model.cost))
    cost = scope.each(model.cost, "cost", expect=dict.fromkeys(model.cost, price))
    scope = scope.within(cost=price)
    proposal_let, scope = scope.let(model.each, "each")
    supply = _supply(model, footing, scope)
    scope.sealed(supply.types, "supply")
    after = scope.within(next=footing.state, outcome=footing.outcome)
    gates = tuple(gate for index in range(len(model.gates)) if (gate := _gate(model, index, after)) is not None)
    value = after.expression("choose", "maximise", expect=INT)
    after.unused(model.functions)
    if value is None or (diagnostics.has_errors and not before):
        return None
    first = model.mode == "first"
    return Governor(
        claims, memory, renewal, Fields(tuple(potentials)), let, cost, proposal_let, supply, gates, first, value
    )


def see_claims_read(governor: Governor, spec: Resolved, diagnostics: Diagnostics) -> None:
    """Warn of what every proposal must claim and nothing judges: a whole proposal that is read is all of its claims."""
    reads = {path for checked in _expressions(governor) for path in checked.reads}
    for name in sorted(governor.claims):
        if not any(path[:2] in (("proposal",), ("proposal", name)) for path in reads):
            message = f"no expression of the governor reads the claim {name!r}"
            diagnostics.warn(W_CLAIM_UNREAD, message, spec.span("claims", name), hint="judge it in a gate, or drop it")


def _memory(model: GovernorSpec, footing: Footing, scope: Scope) -> tuple[Memory, tuple[PlannedEffect, ...], Scope]:
    """The governor's memory, its writes for what is observed anew, and the scope in which judging reads it.

    Remembering itself sees what an agent sees, the observation, and nothing of the state or of what was done: a drift
    and the start of an episode bring something to see without an action.
    """
    names = Environment(functions=footing.environment.functions, constants=footing.environment.constants)
    names = names.timed({**footing.clock, **footing.actor})
    inner = replace(scope, environment=names).within(**footing.observation.fields)
    if model.memory is not None or model.remember:
        inner = inner.constants(model.constants, "constants").functions(model.functions, "functions")
    types, start, inner = check_fields(model.memory, inner)
    writes = check_writes(model.remember, types, inner, seen=footing.observation)
    lasts = EPISODE if model.memory is None else model.memory.scope
    memory = Memory(footing.observation, RecordType("memory", types), lasts, start, tuple(writes.values()))
    renewal = tuple(write for index, write in writes.items() if model.remember[index].on == "observation")
    return memory, renewal, scope.declare(types, "memory", "fields")


def _supply(model: GovernorSpec, footing: Footing, scope: Scope) -> Let:
    needed, given = set(footing.inputs.fields), set(model.supply)
    for name in sorted(needed - given):
        message = f"the world's input {name!r} is not supplied"
        hint = f"write `supply: {{{name}: ...}}`, an expression of the type {footing.inputs.fields[name]}"
        span = scope.source.span("supply" if model.supply else "name")
        scope.diagnostics.error(E_DECLARATION, message, span, hint=hint)
    for name in sorted(given - needed):
        scope.wrong(E_DECLARATION, f"the world has no input {name!r}", "supply", name)
    return scope.each(model.supply, "supply", expect=footing.inputs.fields)


def _gate(model: GovernorSpec, index: int, scope: Scope) -> PlannedGate | None:
    gate = model.gates[index]
    if gate.id in {SCHEMA, *(other.id for other in model.gates[:index])}:
        scope.wrong(E_DECLARATION, f"two gates have the id {gate.id!r}", "gates", index, "id")
    when = scope.condition(gate.when, "gates", index, "when")
    key = "deny" if gate.deny is not None else "require"
    condition = scope.expression("gates", index, key, expect=BOOL)
    witness = scope.each(gate.witness, "gates", index, "witness")
    scope.sealed(witness.types, "gates", index, "witness")
    if when is None or condition is None:
        return None
    return PlannedGate(gate.id, gate.reason, when, condition, key == "deny", witness)


def compile_judge(governor: Governor, footing: Footing, allowance: Allowance) -> Callable[..., list[tuple[Any, ...]]]:
    """`(state, proposals, their number, rejected, writes of each, memory) -> [(rejected, value, cost, inputs, None)]`.

    The number of proposals is given apart from the list, so that a part of a set can be judged as if all of it were.
    Witnesses and inputs are kept until the receipt is written, so the `allowance` is charged for them as they are made.
    """

    def compose(emitter: Emitter) -> str:
        given = ("state", "proposals", "number", "rejected", "writes", "memory")
        state, listed, number, rejected, writes, memory = (emitter.local(name) for name in given)
        judgements, proposal, count = (emitter.local(name) for name in ("found", "proposal", "count"))
        emitter.expect(state, footing.like)
        preload = Preload(emitter)
        sources = _sources(emitter, governor, footing, state, memory)
        bound = {**preload.load(_reads(governor), sources), "proposals": number, "rejected": rejected}
        begin, keep = emitter.bind(allowance.begin, "begin"), emitter.bind(allowance.keep, "keep")
        body = _Body(emitter, preload, governor, footing, keep)
        once = emit_let(emitter, governor.let, bound)
        inner = {**bound, "proposal": proposal, "writes": count}
        lines = body.lines(state, proposal, judgements, inner)
        lines = [
            f"{begin}()",
            *preload.lines,
            *once,
            f"{judgements} = []",
            f"for {proposal}, {count} in zip({listed}, {writes}):",
            *lines,
        ]
        params = [state, listed, number, rejected, writes, memory]
        return emitter.function("judge", params, [*lines, f"return {judgements}"])

    return compile_function(compose)


def compile_potentials(governor: Governor, footing: Footing) -> Callable[..., dict[str, int]]:
    """`(state, memory) -> {potential: value}`."""

    def compose(emitter: Emitter) -> str:
        state, memory = emitter.local("state"), emitter.local("memory")
        sources = _sources(emitter, governor, footing, state, memory)
        lines, names = bind(emitter, governor.potentials.variables, sources)
        return emitter.function(
            "potentials", [state, memory], [*lines, f"return {emit_record(emitter, governor.potentials, names)}"]
        )

    return compile_function(compose)


def _sources(emitter: Emitter, governor: Governor, footing: Footing, state: str, memory: str) -> dict[str, str]:
    """Python sources of what judging may read of the state and the memory."""
    return {
        "now": state,
        **fields_of(emitter, state, footing.state.fields),
        **fields_of(emitter, memory, governor.memory.type.fields),
    }


class _Body:
    """Writes the judgement of one proposal."""

    def __init__(self, emitter: Emitter, preload: Preload, governor: Governor, footing: Footing, keep: str) -> None:
        self._emitter = emitter
        self._preload = preload
        self._governor = governor
        self._footing = footing
        self._keep = keep

    def lines(self, state: str, proposal: str, judgements: str, names: dict[str, str]) -> list[str]:
        """Lines inside the loop over all proposals that add one judgement to those found."""
        emitter, governor = self._emitter, self._governor
        local = emitter.local
        action, op, cost, total, inputs, against = map(local, ("action", "op", "cost", "total", "inputs", "against"))
        names |= {"action": action}
        lines = [f"{action} = {proposal}['action']", *self._cost(cost, total, names)]
        names |= {"cost": total}
        lines += emit_let(emitter, governor.each, names)
        supplied, display = emit_fitting(emitter, governor.supply, self._footing.inputs.fields, names)
        lines += [*supplied, f"{inputs} = {display}", f"{op} = {action}['op']"]
        lines += charge_fields(emitter, self._keep, inputs, governor.supply)
        reads = _outcome_reads(governor)
        if self._footing.predicts or reads_prediction(governor):
            step, (after, outcome) = self._footing.write_step(
                emitter, self._preload, (state, op, action, inputs), reads
            )
        else:
            step, after, outcome = [], "None", "None"
        names |= {"next": after, "outcome": outcome}
        lines += [*step, f"{against} = []"]
        for gate in governor.gates:
            lines += self._gate(gate, against, names)
        value = emitter.expression(governor.value, names)
        return [
            f"    {line}" for line in [*lines, f"{judgements}.append(({against}, {value}, {cost}, {inputs}, None))"]
        ]

    def _cost(self, cost: str, total: str, names: Mapping[str, str]) -> list[str]:
        """Lines that price the decision; the items are few enough for one look at their sum."""
        emitter = self._emitter
        lines, items = [], []
        for name, checked in self._governor.cost:
            local = emitter.local(name)
            lines.append(f"{local} = {emitter.expression(checked, names)}")
            items.append((name, local))
        lines.append(f"{total} = {' + '.join(local for _, local in items) or '0'}")
        lines += [f"if not {INT_MIN} <= {total} <= {INT_MAX}:", f"    {emitter.bind(_overflow)}()"]
        display = ", ".join(f"{emitter.constant(name)}: {local}" for name, local in items)
        return [*lines, f"{cost} = {{{display}{', ' if items else ''}'total': {total}}}"]

    def _gate(self, gate: PlannedGate, against: str, names: Mapping[str, str]) -> list[str]:
        emitter = self._emitter
        fails = emitter.expression(gate.condition, names)
        test = fails if gate.rejects else f"not {fails}"
        if gate.when.text.value != "true":
            test = f"{emitter.expression(gate.when, names)} and {test}"
        head = f"'gate': {emitter.constant(gate.id)}, 'reason': {emitter.constant(gate.reason)}"
        witness = emit_record(emitter, gate.witness, names, self._keep)
        if self._governor.first and gate is not self._governor.gates[0]:
            test = f"not {against} and {test}"
        return [f"if {test}:", f"    {against}.append({{{head}, 'witness': {witness}}})"]


def _outcome_reads(governor: Governor) -> frozenset[tuple[str, ...]]:
    """The paths of the outcome that gates, witnesses and the choice read."""
    lets = (gate.witness for gate in governor.gates)
    expressions = [governor.value, *(checked for let in lets for _, checked in let)]
    expressions += [checked for gate in governor.gates for checked in (gate.when, gate.condition)]
    return frozenset(path[1:] for checked in expressions for path in checked.reads if path[0] == "outcome")


def reads_prediction(governor: Governor) -> bool:
    """Whether gates, witnesses or the choice read what an action would lead to."""
    return any({"next", "outcome"} & checked.variables for checked in _expressions(governor))


def _overflow() -> None:
    raise EvaluationError(E_EVAL_OVERFLOW, "the cost of a decision leaves 64 bits")


def _reads(governor: Governor) -> frozenset[str]:
    """Every variable that the governor's expressions read, those that it defines itself among them."""
    return frozenset[str]().union(*(checked.variables for checked in _expressions(governor)))


def _expressions(governor: Governor) -> Iterator[Checked]:
    """Everything that judging evaluates."""
    lets = (governor.let, governor.cost, governor.each, governor.supply, *(gate.witness for gate in governor.gates))
    yield governor.value
    yield from (checked for let in lets for _, checked in let)
    yield from (checked for gate in governor.gates for checked in (gate.when, gate.condition))
