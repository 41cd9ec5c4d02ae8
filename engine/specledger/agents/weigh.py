"""What an agent would give for a breach: its score of an action with the predicted state and the payment as handed in.

The same expressions as for its own proposals decide, with `breach` true: no rate and no temper stands anywhere else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from specledger.agents.agent import BREACH, Agent
from specledger.agents.propose import emit_now, propose_reads, sources_of
from specledger.expr import Emitter, compile_function
from specledger.lang.bind import bind, emit_let, fields_of
from specledger.lang.draws import drawn_sources
from specledger.lang.effects import emit_fitting


def compile_weigh(agent: Agent) -> Callable[..., int]:
    """`(observation, memory, action, predicted state, drawn values) -> score` of an action that breaks a rule.

    Raises:
        ValueError: The agent does not predict.
    """
    if agent.state is None:
        raise ValueError("an agent that does not predict cannot weigh what an offer leads to")

    def compose(emitter: Emitter) -> str:
        hints = ("observation", "memory", "action", "next", "drawn")
        seen, memory, action, after, drawn = (emitter.local(hint) for hint in hints)
        sources = {**sources_of(emitter, agent, seen, memory), **drawn_sources(agent.draws, drawn)}
        lines, names = bind(emitter, propose_reads(agent), sources)
        lines += emit_now(emitter, agent, seen, names)
        names |= {"action": action, "next": after, BREACH: emitter.local(BREACH)}
        lines += [f"{names[BREACH]} = True", *emit_let(emitter, agent.let, names)]
        lines += emit_let(emitter, agent.each, names)
        more, claimed = emit_fitting(emitter, agent.claims, agent.asked, names)
        names["claims"] = emitter.local("claims")
        lines += [*more, f"{names['claims']} = {claimed}", f"return {emitter.expression(agent.score, names)}"]
        return emitter.function("weigh", [seen, memory, action, after, drawn], lines)

    return compile_function(compose)


def compile_sources(agent: Agent) -> Callable[[Any, Any], list[list[Any]]]:
    """`(observation, memory) -> the lists that values are drawn from`, in the order of the draws."""

    def compose(emitter: Emitter) -> str:
        seen, memory = emitter.local("observation"), emitter.local("memory")
        read = frozenset[str]().union(*(source.variables for _, _, source in agent.draws))
        sources = {
            **fields_of(emitter, seen, agent.observation.fields),
            **fields_of(emitter, memory, agent.memory.fields),
        }
        lines, names = bind(emitter, read, sources)
        lists = ", ".join(emitter.expression(source, names) for _, _, source in agent.draws)
        return emitter.function("sources", [seen, memory], [*lines, f"return [{lists}]"])

    return compile_function(compose)
