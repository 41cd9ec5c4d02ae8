"""From a checked agent to what can be asked of it on an occasion: its proposals, and the values that it draws for them.

Decides that what an agent draws depends on the run's seed, the agent, and the occasion alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from specledger.agents.agent import Agent
from specledger.agents.mind import Occasion
from specledger.agents.propose import compile_propose
from specledger.agents.weigh import compile_sources
from specledger.core.rng import Stream
from specledger.expr import EvaluationError
from specledger.expr.errors import E_EVAL_LIMIT


def asked(agent: Agent, name: str, seed: int) -> Callable[[Any, Any, Occasion], list[dict[str, Any]]]:
    """The proposals of an agent on an occasion."""
    propose: Callable[..., list[dict[str, Any]]] = compile_propose(agent)
    if not agent.draws:
        return lambda seen, memory, _occasion: propose(seen, memory)
    draw = drawing(agent, name, seed)
    return lambda seen, memory, occasion: propose(seen, memory, draw(seen, memory, occasion))


def drawing(agent: Agent, name: str, seed: int) -> Callable[[Any, Any, Occasion], list[Any]]:
    """The values that an agent draws on an occasion."""
    if not agent.draws:
        return lambda _seen, _memory, _occasion: []
    sources = compile_sources(agent)

    def draw(seen: Any, memory: Any, occasion: Occasion) -> list[Any]:
        lists = sources(seen, memory)
        if not all(lists):
            raise EvaluationError(E_EVAL_LIMIT, "an agent draws from an empty list")
        return [
            Stream.named(seed, "agent", name, stream, drawn, *occasion).choice(values)
            for (drawn, stream, _), values in zip(agent.draws, lists, strict=True)
        ]

    return draw
