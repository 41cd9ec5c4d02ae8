"""An agent spec, checked against an observation's type.

The agent's expressions see the fields of the observation and of its memory, the world's functions and constants, and
nothing else: a function that reads a hidden field of the state does not type-check here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
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
from specledger.lang.memory import EPISODE, Memory, check_fields, check_writes
from specledger.lang.scope import Let, Scope
from specledger.lang.words import listed_literals, surely_selected
from specledger.load import Resolved
from specledger.spec.agent import Agent as AgentSpec

E_AGENT_CANDIDATE = code("E_AGENT_CANDIDATE", "a candidate is no action of the world")
W_AGENT_READS = code("W_AGENT_READS", "an argument is read of a candidate that has none")
W_AGENT_ARGUMENT = code("W_AGENT_ARGUMENT", "a candidate has an argument that its action does not take")
E_AGENT_CLAIMS = code("E_AGENT_CLAIMS", "an agent claims other things than its governor asks for")
E_AGENT_PREDICTS = code("E_AGENT_PREDICTS", "an agent cannot know what its actions would do")

_MOST_ACTIONS: Final = 20
"""Actions that a message lists."""

BREACH: Final = "breach"
"""Whether what is weighed breaks a rule: false for the agent's own proposals, true for an offer to break one."""

E_AGENT_OUTSIDE = code("E_AGENT_OUTSIDE", "an agent from outside cannot be used here")

MOST_PROPOSALS: Final = 256
"""Proposals that one decision may have."""

MOST_COMBINATIONS: Final = 65_536
"""Combinations of arguments that one candidate may look at, most of which its `when` must then leave out."""


class Around(Struct, frozen=True):
    """What an agent is given to work with.

    Attributes:
        actions: Per operation, the types of its arguments.
        undisclosed: What a step needs beside an observation, in words; empty where nothing is needed.
        denied: Operations of the world that it may not take, with the place that says so.
        allowed: Per operation, the values of its arguments that have an `enum`.
        claims: What every proposal must claim.
        state: The type of the world's state, if observations hold all of it, and nothing else is needed for a step.
        step: `(state, op, action, inputs) -> (next state, outcome)`, for agents that predict in such a world.
        clock: What the clock of the run gives: the step, the episode, and of several agents which one this is.
    """

    functions: Mapping[str, Any]
    constants: Mapping[str, Any]
    observation: RecordType
    actions: Mapping[str, RecordType]
    action: RecordType
    claims: Mapping[str, Type]
    state: RecordType | None = None
    step: Callable[..., Any] | None = None
    undisclosed: str = ""
    denied: Mapping[str, str] = field(default_factory=dict)
    allowed: Mapping[str, Mapping[str, tuple[Any, ...]]] = field(default_factory=dict)
    clock: Mapping[str, Type] = field(default_factory=dict)


class PlannedCandidate(Struct, frozen=True):
    """A family of proposals: an operation, lists of values for its arguments, and a condition."""

    op: str
    for_each: Let
    when: Checked


class Agent(Struct, frozen=True):
    """A checked agent; its parts are those of the spec.

    `state` and `step` are there if it predicts: the type of the state, and the function that takes a step. `draws` has
    name, stream and source list of each value that is drawn for a decision.
    """

    memory: Memory
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
    def expressions(self) -> list[Checked]:
        """Every expression that making proposals evaluates."""
        lets = (self.let, self.each, self.claims, *(candidate.for_each for candidate in self.candidates))
        alone = (self.score, *(candidate.when for candidate in self.candidates))
        return [*alone, *(checked for let in lets for _, checked in let)]


def check_agent(spec: Resolved, around: Around, diagnostics: Diagnostics) -> Agent | None:
    """Check an agent against what it will be given; None, with findings, if it is wrong."""
    model = spec.model
    assert isinstance(model, AgentSpec)  # noqa: S101 - a reference of kind agent holds nothing else
    before = diagnostics.has_errors
    names = Environment(functions=around.functions, constants=around.constants).timed(around.clock)
    scope = Scope(names, spec, diagnostics)
    if model.outside is not None:
        scope.wrong(E_AGENT_OUTSIDE, f"{model.name!r} is asked outside", "outside")
        return None
    scope = scope.within(**around.observation.fields)
    scope = scope.constants(model.constants, "constants").functions(model.functions, "functions")
    types, begin, scope = check_fields(model.memory, scope)
    acting = scope.within(action=around.action)
    writes = tuple(check_writes(model.remember, types, acting, seen=around.observation).values())
    lasts = EPISODE if model.memory is None else model.memory.scope
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
        message = f"the agent cannot know the next state: {around.undisclosed}"
        hint = "let the world show every field of its `state` in `observe` as it is (`x: x`), and have no `inputs`"
        diagnostics.error(E_AGENT_PREDICTS, message, spec.span("predicts"), hint=hint)
    if model.predicts:
        scope = scope.within(now=state or MISTAKEN, next=state or MISTAKEN).declare({BREACH: BOOL}, "predicts")
    proposal_let, scope = scope.let(model.each, "each")
    claims = _claims(model, around, scope)
    scope = scope.within(claims=RecordType("claims", claims.types))
    score = scope.expression("score", expect=INT)
    see_reads(model, around, spec, (("score",), *(("claims", name) for name in model.claims)), diagnostics)
    scope.unused(model.functions)
    if score is None or (diagnostics.has_errors and not before):
        return None
    return Agent(
        memory=Memory(around.observation, RecordType("memory", types), lasts, begin, writes),
        let=let,
        candidates=candidates,
        each=proposal_let,
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
        _refuse_action(candidate.op, index, around, scope)
    known = around.actions.get(candidate.op)
    args = {} if known is None else known.fields
    if known is not None and set(args) != set(candidate.for_each):
        _refuse_arguments(candidate.op, args, index, scope)
    for name, allowed in around.allowed.get(candidate.op, {}).items():
        if name in candidate.for_each:
            _check_literals(scope, allowed, "candidates", index, "for_each", name)
    scope.sealed(args, "candidates", index, "for_each")
    expect = {name: ListType(type_) for name, type_ in args.items()}
    for_each = scope.each(candidate.for_each, "candidates", index, "for_each", expect=expect)
    when = scope.within(action=around.action).condition(candidate.when, "candidates", index, "when")
    return None if when is None else PlannedCandidate(candidate.op, for_each, when)


def _check_literals(scope: Scope, allowed: tuple[Any, ...], *path: str | int) -> None:
    """Find literals among the values of an argument that its `enum` does not have: every such proposal is rejected."""
    text = scope.source.text(*path)
    for value, (start, end) in listed_literals(text):
        if type(value) in {type(candidate) for candidate in allowed} and value not in allowed:
            near = suggest(value, allowed) if isinstance(value, str) else None
            hint = f"did you mean {near!r}?" if near else f"it is one of {', '.join(map(repr, allowed))}"
            message = f"{path[-1]!r} is never {value!r}, so this proposal would be rejected"
            scope.diagnostics.warn(W_AGENT_ARGUMENT, message, text.span(start, end), hint=hint)


def see_reads(
    model: AgentSpec, around: Around, source: Resolved, paths: Iterable[tuple[str | int, ...]], diagnostics: Diagnostics
) -> None:
    """Find arguments that expressions read of every proposal, and that some candidate of the agent does not have.

    `paths` are the expressions in `source`, the spec of the agent or of its governor, that are evaluated for every
    proposal.
    """
    sure = [
        candidate.op for candidate in model.candidates if candidate.when == "true" and candidate.op in around.actions
    ]
    for path in paths:
        text = source.text(*path)
        for name, (start, end) in surely_selected(text, "action").items():
            lacking = sorted({op for op in sure if name in around.action.optional - around.actions[op].fields.keys()})
            if lacking:
                message = f"`action.{name}` is read of every proposal, and {', '.join(map(repr, lacking))} has none"
                hint = f"write `has(action.{name}) ? ... : 0`, or look at `action.op` first"
                diagnostics.warn(W_AGENT_READS, message, text.span(start, end), hint=hint)


def _refuse_action(op: str, index: int, around: Around, scope: Scope) -> None:
    """The finding about a candidate that is no action of the world, or not one that the agent may take."""
    near, table = suggest(op, around.actions), around.denied.get(op)
    message = f"{op!r} is not among `{table}`" if table else f"the world has no action {op!r}"
    hint = f"did you mean {near!r}?" if near and not table else None
    expected = f"one of {', '.join(sorted(around.actions)[:_MOST_ACTIONS])}" if around.actions else None
    span = scope.source.span("candidates", index, "op")
    scope.diagnostics.error(E_AGENT_CANDIDATE, message, span, hint=hint, expected=expected)


def _refuse_arguments(op: str, args: Mapping[str, Type], index: int, scope: Scope) -> None:
    """The finding about a candidate that gives other arguments than its action takes."""
    names = sorted(args)
    takes = ", ".join(names) or "no arguments"
    lists = ", ".join(f'{name}: "[...]"' for name in names)
    hint = f"list the values of each: `{{op: {op}, for_each: {{{lists}}}}}`" if names else "leave out its `for_each`"
    span = scope.source.span("candidates", index)
    scope.diagnostics.error(E_AGENT_CANDIDATE, f"{op!r} takes {takes}", span, hint=hint)


def _claims(model: AgentSpec, around: Around, scope: Scope) -> Let:
    asked, given = set(around.claims), set(model.claims)
    if asked - given:
        scope.wrong(E_AGENT_CLAIMS, f"the governor also asks for {', '.join(sorted(asked - given))}", "name")
    for name in sorted(given - asked):
        scope.wrong(E_AGENT_CLAIMS, f"the governor asks for no claim {name!r}", "claims", name)
    return scope.each(model.claims, "claims", expect=around.claims)
