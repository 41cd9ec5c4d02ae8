"""Judges a set of proposals: the schema gate, then the governor's gates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from specledger.compile.plan import Judgement, PlannedGovernorState, Proposal, State
from specledger.expr import EvaluationError, Type, conformer
from specledger.gates.governor import SCHEMA, Footing, Governor, compile_judge, compile_potentials
from specledger.lang.memory import compile_begin, compile_remember
from specledger.worlds.model import World


def plan_governor_state(governor: Governor, footing: Footing) -> PlannedGovernorState | None:
    """The memory and the potentials of a governor, if it has any."""
    memory = governor.memory
    if not memory.type.fields and not governor.potentials.items:
        return None
    return PlannedGovernorState(
        remembers=memory.scope,
        begin=compile_begin(memory),
        remember=compile_remember(memory),
        potentials=compile_potentials(governor, footing),
    )


def compile_judge_set(governor: Governor, footing: Footing, world: World) -> Callable[..., list[Judgement]]:
    """Judge a set of proposals: the schema first, then every gate; what cannot be evaluated is judged alone again."""
    judge = compile_judge(governor, footing)
    fits = _schema(world, governor.claims)

    def judge_set(
        state: State, proposals: list[Proposal], rejected: int, writes: list[int], memory: Any = None
    ) -> list[Judgement]:
        number = len(proposals)
        misfits = [fits(proposal) for proposal in proposals]
        if not any(misfits):
            try:
                return [Judgement(*each) for each in judge(state, proposals, number, rejected, writes, memory)]
            except EvaluationError:
                pass  # at least one proposal has no judgement: find out which, the others keep theirs
        return [
            _schema_rejection(misfit) if misfit else _alone(judge, state, proposal, number, rejected, count, memory)
            for misfit, proposal, count in zip(misfits, proposals, writes, strict=True)
        ]

    return judge_set


def _alone(
    judge: Callable[..., Any],
    state: State,
    proposal: Proposal,
    number: int,
    rejected: int,
    writes: int,
    memory: Any,
) -> Judgement:
    try:
        return Judgement(*judge(state, [proposal], number, rejected, [writes], memory)[0])
    except EvaluationError as error:
        return Judgement([], 0, {}, {}, error)


def _schema_rejection(reason: str) -> Judgement:
    return Judgement([{"gate": SCHEMA, "reason": reason, "witness": {}}], 0, {}, {})


def _schema(world: World, claims: Mapping[str, Type]) -> Callable[[Proposal], str | None]:
    """Why a proposal is malformed, or None: its operation, its arguments and its claims against their declarations."""
    expected = {"score", "action", *claims}
    tables = {
        op: (
            {"op", *action.args.fields},
            [(name, _accepts(type_, action.allowed.get(name))) for name, type_ in action.args.fields.items()],
        )
        for op, action in world.actions.items()
    }

    def misfit(proposal: Proposal) -> str | None:
        action = proposal["action"]
        op = action["op"]
        if not op:
            return str(proposal.get("answer", "no_action"))
        if op not in tables:
            return "unknown_action"
        keys, args = tables[op]
        if action.keys() != keys or proposal.keys() != expected:
            return "malformed_proposal"
        for name, accepts in args:
            if not accepts(action[name]):
                return "malformed_action"
        return None

    return misfit


def _accepts(type_: Type, allowed: Sequence[Any] | None) -> Callable[[Any], bool]:
    """Whether a value is a possible argument."""
    return conformer(type_) if allowed is None else tuple(allowed).__contains__
