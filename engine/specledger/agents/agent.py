"""An agent spec, checked against an observation's type.

The agent's expressions see the fields of the observation and of its memory, the world's functions and constants, and
nothing else: a function that reads a hidden field of the state does not type-check here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec import Struct, field

from specledger.core.diagnostics import Diagnostics, code, suggest
from specledger.expr import (
    BOOL,
    INT,
    MISTAKEN,
    Checked,
    Environment,
    ListType,
    RecordType,
    Type,
)
from specledger.lang.draws import Draws, check_draws
from specledger.lang.effects import PlannedEffect
from specledger.lang.memory import EPISODE, Memory, check_fields, check_writes
from specledger.lang.scope import Let, Scope
from specledger.load import Resolved
from specledger.spec.agent import Agent as AgentSpec

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
E_AGENT_PREDICTS = code(
    "E_AGENT_PREDICTS",
    "an agent cannot know what its actions would do",
    "An agent that `predicts` takes the world's own step on what it observes. So the world's `observe` must show every "
    "field of the state under the field's own name, and its step must need no `inputs`.",
)

BREACH: Final = "breach"
"""Whether what is weighed breaks a rule: false for the agent's own proposals, true for an offer to break one."""

E_AGENT_OUTSIDE = code(
    "E_AGENT_OUTSIDE",
    "an agent from outside cannot be used here",
    "The procedure of an agent that is asked `outside` is unknown. So it narrates for no other agent, and is not "
    "declared as the procedure of another one.",
)

MOST_PROPOSALS: Final = 256
"""Proposals that one decision may have."""

MOST_COMBINATIONS: Final = 65_536
"""Combinations of arguments that one candidate may look at, most of which its `when` must then leave out."""


class Around(Struct, frozen=True):
    """What an agent is given to work with.

    Attributes:
        functions, constants: The world's.
        observation: The type of an observation.
        actions: Per operation, the types of its arguments.
        denied: Operations of the world that it may not take, with the place that says so.
        action: The type of an action.
        claims: What every proposal must claim.
        state: The type of the world's state, if observations hold all of it, and nothing else is needed for a step.
        step: `(state, op, action, inputs) -> (next state, outcome)`, for agents that predict in such a world.
    """

    functions: Mapping[str, Any]
    constants: Mapping[str, Any]
    observation: RecordType
    actions: Mapping[str, RecordType]
    action: RecordType
    claims: Mapping[str, Type]
    state: RecordType | None = None
    step: Callable[..., Any] | None = None
    denied: Mapping[str, str] = field(default_factory=dict)


class PlannedCandidate(Struct, frozen=True):
    """A family of proposals: an operation, lists of values for its arguments, and a condition."""

    op: str
    for_each: Let
    when: Checked


class Agent(Struct, frozen=True):
    """A checked agent; its parts are those of the spec, `scope` says how long its memory lasts.

    `state` and `step` are there if it predicts: the type of the state, and the function that takes a step. `draws` has
    name, stream and source list of each value that is drawn for a decision.
    """

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
    state: RecordType | None = None
    step: Callable[..., Any] | None = None
    draws: Draws = ()

    @property
    def kept(self) -> Memory:
        """What it remembers, and how."""
        return Memory(self.observation, self.memory, self.scope, self.begin, self.writes)


def check_agent(spec: Resolved, around: Around, diagnostics: Diagnostics) -> Agent | None:
    """Check an agent against what it will be given; None, with findings, if it is wrong."""
    model = spec.model
    assert isinstance(model, AgentSpec)  # noqa: S101 - a reference of kind agent holds nothing else
    before = diagnostics.has_errors
    names = Environment(functions=around.functions, constants=around.constants)
    scope = Scope(names, spec, diagnostics)
    if model.outside is not None:
        scope.wrong(E_AGENT_OUTSIDE, f"{model.name!r} is asked outside", "outside")
        return None
    scope = scope.within(**around.observation.fields)
    scope = scope.constants(model.constants, "constants").functions(model.functions, "functions")
    types, begin, scope = check_fields(model.memory, scope)
    writes = check_writes(model.remember, types, scope.within(action=around.action), seen=around.observation)
    draws, drawn = check_draws(model.draw, scope)
    let, scope = scope.declare(drawn, "draw").let(model.let, "let")
    candidates = tuple(
        candidate
        for index in range(len(model.candidates))
        if (candidate := _candidate(model, index, around, scope)) is not None
    )
    scope = scope.within(action=around.action)
    state = around.state if model.predicts else None
    if model.predicts and around.state is None:
        scope.wrong(E_AGENT_PREDICTS, "the world does not show its whole state, or needs inputs", "predicts")
    if model.predicts:
        scope = scope.within(now=state or MISTAKEN, next=state or MISTAKEN).declare({BREACH: BOOL}, "predicts")
    each, scope = scope.let(model.each, "each")
    claims = _claims(model, around, scope)
    scope = scope.within(claims=RecordType("claims", claims.types))
    score = scope.expression("score", expect=INT)
    scope.unused(model.functions)
    if score is None or (diagnostics.has_errors and not before):
        return None
    lasts = EPISODE if model.memory is None else model.memory.scope
    return Agent(
        observation=around.observation,
        scope=lasts,
        memory=RecordType("memory", types),
        begin=begin,
        writes=writes,
        let=let,
        candidates=candidates,
        each=each,
        claims=claims,
        asked=around.claims,
        score=score,
        state=state,
        step=around.step,
        draws=draws,
    )


def _candidate(model: AgentSpec, index: int, around: Around, scope: Scope) -> PlannedCandidate | None:
    candidate = model.candidates[index]
    if candidate.op not in around.actions:
        near = suggest(candidate.op, around.actions)
        place = around.denied.get(candidate.op)
        message = f"{candidate.op!r} is not among `{place}`" if place else f"the world has no action {candidate.op!r}"
        scope.wrong(E_AGENT_CANDIDATE, message, "candidates", index, "op", near=None if place else near)
    known = around.actions.get(candidate.op)
    args = {} if known is None else known.fields
    if known is not None and set(args) != set(candidate.for_each):
        takes = ", ".join(sorted(args)) or "no arguments"
        scope.wrong(E_AGENT_CANDIDATE, f"{candidate.op!r} takes {takes}", "candidates", index)
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
    return scope.each(model.claims, "claims", expect=around.claims)
