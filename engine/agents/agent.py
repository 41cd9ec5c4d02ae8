"""An agent spec: checked against an observation's type, then written as Python functions.

The agent's expressions see the fields of the observation and of its memory, the world's functions and constants, and
nothing else: a function that reads a hidden field of the state does not type-check here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Any, Final

from engine.core.diagnostics import Diagnostics, code, suggest
from engine.expr import (
    INT,
    Checked,
    Emitter,
    Environment,
    EvaluationError,
    ListType,
    RecordType,
    Type,
    compile_function,
)
from engine.expr.errors import E_EVAL_LIMIT
from engine.expr.statements.bind import bind, emit_let, fields_of
from engine.expr.statements.effects import PlannedEffect, check_effect, emit_effects, emit_fitting
from engine.expr.statements.scope import Fields, Let, Scope
from engine.load import Resolved
from engine.spec.agent import Agent as AgentSpec

E_AGENT_CANDIDATE = code(
    "E_AGENT_CANDIDATE",
    "a candidate is no action of the world",
    "A candidate names an action of the world and gives, in `for_each`, a list of values for each of its arguments.",
)
E_AGENT_CLAIMS = code(
    "E_AGENT_CLAIMS",
    "an agent claims other things than its governor asks for",
    "The governor's `claims` say what every proposal must predict; the agent's `claims` give exactly those, with "
    "their types.",
)
E_AGENT_MEMORY = code(
    "E_AGENT_MEMORY",
    "a memory write cannot be made",
    "`remember` writes to fields that `memory` declares. Its condition stands at the write, not at the effect, "
    "because each write that is made is counted and priced.",
)

MOST_PROPOSALS: Final = 256
"""Proposals that one decision may have."""

MOST_COMBINATIONS: Final = 65_536
"""Combinations of arguments that one candidate may look at, most of which its `when` must then leave out."""


@dataclass(frozen=True, slots=True)
class Around:
    """What an agent is given to work with.

    Attributes:
        functions, constants: The world's.
        observation: The type of an observation.
        actions: Per operation, the types of its arguments.
        action: The type of an action.
        claims: What every proposal must claim.
    """

    functions: Mapping[str, Any]
    constants: Mapping[str, Any]
    observation: RecordType
    actions: Mapping[str, RecordType]
    action: RecordType
    claims: Mapping[str, Type]


@dataclass(frozen=True, slots=True)
class PlannedCandidate:
    """A family of proposals: an operation, lists of values for its arguments, and a condition."""

    op: str
    for_each: Let
    when: Checked


@dataclass(frozen=True, slots=True)
class Agent:
    """A checked agent; its parts are those of the spec, `scope` says how long its memory lasts."""

    observation: RecordType
    scope: str
    memory: RecordType
    begin: Let
    writes: tuple[PlannedEffect, ...]
    let: Let
    candidates: tuple[PlannedCandidate, ...]
    each: Let
    claims: Let
    asked: Mapping[str, Type]
    score: Checked


def check_agent(spec: Resolved, around: Around, diagnostics: Diagnostics) -> Agent | None:
    """Check an agent against what it will be given; None, with findings, if it is wrong."""
    model = spec.model
    assert isinstance(model, AgentSpec)  # noqa: S101 - a reference of kind agent holds nothing else
    before = diagnostics.has_errors
    names = Environment(functions=around.functions, constants=around.constants)
    scope = Scope(names, spec, diagnostics)
    scope = scope.within(**around.observation.fields)
    scope = scope.constants(model.constants, "constants").functions(model.functions, "functions")
    memory, begin, scope = _memory(model, scope)
    writes = _writes(model, memory, scope.within(action=around.action), around.observation)
    let, scope = scope.let(model.let, "let")
    candidates = tuple(
        candidate
        for index in range(len(model.candidates))
        if (candidate := _candidate(model, index, around, scope)) is not None
    )
    scope = scope.within(action=around.action)
    each, scope = scope.let(model.each, "each")
    claims = _claims(model, around, scope)
    scope = scope.within(claims=RecordType("claims", claims.types))
    score = scope.expression("score", expect=INT)
    if score is None or (diagnostics.has_errors and not before):
        return None
    lasts = "episode" if model.memory is None else model.memory.scope
    return Agent(around.observation, lasts, memory, begin, writes, let, candidates, each, claims, around.claims, score)


def _memory(model: AgentSpec, scope: Scope) -> tuple[RecordType, Let, Scope]:
    if model.memory is None:
        return RecordType("memory", {}), Fields(), scope
    types = scope.types({name: field.type for name, field in model.memory.fields.items()}, "memory", "fields") or {}
    starts = []
    for name in sorted(types):
        checked = scope.expression("memory", "fields", name, "start", expect=types[name])
        if checked is not None:
            starts.append((name, checked))
    return RecordType("memory", types), Fields(tuple(starts)), scope.declare(types, "memory", "fields")


def _writes(model: AgentSpec, memory: RecordType, scope: Scope, observation: RecordType) -> tuple[PlannedEffect, ...]:
    planned = []
    seeing = scope.within(seen=observation)
    for index, write in enumerate(model.remember):
        if write.effect.when is not None:
            scope.wrong(E_AGENT_MEMORY, "move this condition up to the write", "remember", index, "effect", "when")
            continue
        when = scope.condition(write.when, "remember", index, "when")
        effect = check_effect(write.effect, memory, seeing, "remember", index, "effect")
        if when is not None and effect is not None:
            planned.append(replace(effect, when=when))
    return tuple(planned)


def _candidate(model: AgentSpec, index: int, around: Around, scope: Scope) -> PlannedCandidate | None:
    candidate = model.candidates[index]
    if candidate.op not in around.actions:
        near = suggest(candidate.op, around.actions)
        scope.wrong(
            E_AGENT_CANDIDATE, f"the world has no action {candidate.op!r}", "candidates", index, "op", near=near
        )
        return None
    args = around.actions[candidate.op].fields
    if set(args) != set(candidate.for_each):
        takes = ", ".join(sorted(args)) or "no arguments"
        scope.wrong(E_AGENT_CANDIDATE, f"{candidate.op!r} takes {takes}", "candidates", index)
        return None
    scope.sealed(args, "candidates", index, "for_each")
    expect = {name: ListType(type_) for name, type_ in args.items()}
    for_each = scope.each(candidate.for_each, "candidates", index, "for_each", expect=expect)
    when = scope.within(action=around.action).condition(candidate.when, "candidates", index, "when")
    return None if when is None else PlannedCandidate(candidate.op, for_each, when)


def _claims(model: AgentSpec, around: Around, scope: Scope) -> Let:
    asked, given = set(around.claims), set(model.claims)
    if asked - given:
        scope.wrong(E_AGENT_CLAIMS, f"the governor also asks for {', '.join(sorted(asked - given))}", "name")
    for name in sorted(given - asked):
        scope.wrong(E_AGENT_CLAIMS, f"the governor asks for no claim {name!r}", "claims", name)
    known = {name: model.claims[name] for name in sorted(asked & given)}
    return scope.each(known, "claims", expect=around.claims)


def compile_begin(agent: Agent) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """`observation -> memory` at the first observation."""

    def compose(emitter: Emitter) -> str:
        seen = emitter.local("observation")
        lines, names = bind(emitter, agent.begin.variables, fields_of(emitter, seen, agent.observation.fields))
        more, display = emit_fitting(emitter, agent.begin, agent.memory.fields, names)
        return emitter.function("begin", [seen], [*lines, *more, f"return {display}"])

    return compile_function(compose)


def compile_propose(agent: Agent) -> Callable[[dict[str, Any], dict[str, Any]], list[dict[str, Any]]]:
    """`(observation, memory) -> proposals`, each `{action: {op, ...args}, score, ...claims}`, in the spec's order."""

    def compose(emitter: Emitter) -> str:
        seen, memory, made = (emitter.local(hint) for hint in ("observation", "memory", "made"))
        lines, names = bind(emitter, _propose_reads(agent), _sources(emitter, agent, seen, memory))
        lines += [*emit_let(emitter, agent.let, names), f"{made} = []"]
        for candidate in agent.candidates:
            lines += _candidate_lines(emitter, agent, candidate, made, dict(names))
        bound = emitter.bind(_bounded)
        return emitter.function("propose", [seen, memory], [*lines, f"return {bound}({made})"])

    return compile_function(compose)


def _candidate_lines(
    emitter: Emitter, agent: Agent, candidate: PlannedCandidate, made: str, names: dict[str, str]
) -> list[str]:
    lists = [emitter.local("values") for _ in candidate.for_each]
    lines = [
        f"{listed} = {emitter.expression(values, names)}"
        for listed, (_, values) in zip(lists, candidate.for_each, strict=True)
    ]
    lines.append(f"{emitter.bind(_countable)}([{', '.join(lists)}])")
    args = []
    for depth, (listed, (name, _)) in enumerate(zip(lists, candidate.for_each, strict=True)):
        value = emitter.local(name)
        args.append(f"{emitter.constant(name)}: {value}")
        lines.append(f"{'    ' * depth}for {value} in {listed}:")
    action, claims = emitter.local("action"), emitter.local("claims")
    display = ", ".join([f"'op': {emitter.constant(candidate.op)}", *args])
    names["action"] = action
    inner = [f"{action} = {{{display}}}"]
    if candidate.when.text.value != "true":
        inner += [f"if not {emitter.expression(candidate.when, names)}:", "    continue"]
    inner += emit_let(emitter, agent.each, names)
    more, claimed = emit_fitting(emitter, agent.claims, agent.asked, names)
    inner += [*more, f"{claims} = {claimed}"]
    names["claims"] = claims
    score = emitter.expression(agent.score, names)
    inner.append(f"{made}.append({{'action': {action}, 'score': {score}, **{claims}}})")
    if not candidate.for_each.items:
        lines, depth = [f"for {emitter.local('once')} in (None,):"], 1
    else:
        depth = len(candidate.for_each.items)
    return [*lines, *(f"{'    ' * depth}{line}" for line in inner)]


def compile_writes(agent: Agent) -> Callable[..., int]:
    """`(observation, memory, action) -> the number of memory writes that the action would cause`."""

    def compose(emitter: Emitter) -> str:
        seen, memory, action = (emitter.local(hint) for hint in ("observation", "memory", "action"))
        whens = [write.when for write in agent.writes if write.when is not None]
        read = frozenset[str]().union(*(when.variables for when in whens))
        lines, names = bind(emitter, read, {**_sources(emitter, agent, seen, memory), "action": action})
        count = " + ".join(f"(1 if {emitter.expression(when, names)} else 0)" for when in whens) or "0"
        return emitter.function("writes", [seen, memory, action], [*lines, f"return {count}"])

    return compile_function(compose)


def compile_remember(agent: Agent) -> Callable[..., dict[str, Any]]:
    """`(observation, memory, action, new observation) -> memory`."""

    def compose(emitter: Emitter) -> str:
        hints = ("observation", "memory", "action", "seen", "after")
        seen, memory, action, later, after = (emitter.local(hint) for hint in hints)
        read = frozenset[str]().union(*(write.variables for write in agent.writes))
        sources = {**_sources(emitter, agent, seen, memory), "action": action, "seen": later}
        lines, names = bind(emitter, read, sources)
        lines += [f"{after} = {memory}", *emit_effects(emitter, agent.writes, names, after), f"return {after}"]
        return emitter.function("remember", [seen, memory, action, later], lines)

    return compile_function(compose)


def _sources(emitter: Emitter, agent: Agent, seen: str, memory: str) -> dict[str, str]:
    return {
        **fields_of(emitter, seen, agent.observation.fields),
        **fields_of(emitter, memory, agent.memory.fields),
    }


def _propose_reads(agent: Agent) -> frozenset[str]:
    lets = (agent.let, agent.each, agent.claims, *(candidate.for_each for candidate in agent.candidates))
    read = agent.score.variables.union(*(checked.variables for let in lets for _, checked in let))
    return read.union(*(candidate.when.variables for candidate in agent.candidates))


def _countable(lists: list[list[Any]]) -> None:
    if prod(map(len, lists)) > MOST_COMBINATIONS:
        raise EvaluationError(E_EVAL_LIMIT, f"a candidate combines its arguments in more than {MOST_COMBINATIONS} ways")


def _bounded(made: list[dict[str, Any]]) -> list[dict[str, Any]]:
    if len(made) > MOST_PROPOSALS:
        raise EvaluationError(E_EVAL_LIMIT, f"a decision has more than {MOST_PROPOSALS} proposals")
    return made
