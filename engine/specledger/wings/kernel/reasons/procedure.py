"""How an agent chooses, as a function that can be asked again about any state.

The choice is the first proposal with the greatest score. The values that an agent draws depend on the run's seed, the
agent and the decision point alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice, product
from typing import Any, Final, NamedTuple

from msgspec import Struct

from specledger.agents.agent import Agent
from specledger.agents.propose import KnownValues, compile_propose, compile_sources
from specledger.core.rng import Stream
from specledger.expr import EvaluationError
from specledger.expr.errors import E_EVAL_LIMIT
from specledger.lang.declare import sealable
from specledger.wings.kernel.read_dependencies import Irrelevant

MOST_DRAWN: Final = 1024
"""Combinations of drawn values that are tried to explain a choice."""


class DecisionPoint(NamedTuple):
    """When an agent is asked: the episode, the step, and how often it was asked there before."""

    episode: int
    t: int
    asked: int = 0


class Choice(NamedTuple):
    """The chosen action, its score, and its label."""

    action: dict[str, Any]
    score: int
    label: str


class Procedure(Struct, frozen=True):
    """The way one agent chooses.

    Attributes:
        spec: The key of its spec, which binds all of its text.
        score: The text of its score, as it declares it.
        propose: `(observation, memory, decision point) -> proposals`, each `{action, score, ...}`.
        label: The world's label of an action.
        reads: The paths of the observation that its expressions read, through its predictions too.
        possible: `(observation, memory) -> the proposals for each combination of values that it may draw`; None if it
            draws nothing.
        irrelevant: What of the observation its proposals do not depend on; None if they depend on more than
            observation and memory.
    """

    name: str
    spec: str
    score: str
    propose: Callable[[Any, Any, DecisionPoint], list[dict[str, Any]]]
    label: Callable[[Mapping[str, Any]], str]
    reads: frozenset[tuple[str, ...]] = frozenset()
    possible: Callable[[Any, Any], Iterator[list[dict[str, Any]]]] | None = None
    irrelevant: Irrelevant | None = None

    def explain(self, seen: Any, memory: Any, point: DecisionPoint, label: str) -> list[dict[str, Any]]:
        """The proposals for the values drawn here, or for the first others that lead to a choice if these do not.

        Raises:
            EvaluationError: An expression of the agent has no value here.
        """
        own = self.propose(seen, memory, point)
        if self.possible is None or self._chooses(own, label):
            return own
        return next((proposal for proposal in self.possible(seen, memory) if self._chooses(proposal, label)), own)

    def _chooses(self, proposals: list[dict[str, Any]], label: str) -> bool:
        choice = first_best(proposals, self.label)
        return choice is not None and choice.label == label

    def choose(self, seen: Any, memory: Any, point: DecisionPoint) -> Choice | None:
        """The first proposal with the greatest score, or None if there is no proposal.

        Raises:
            EvaluationError: An expression of the agent has no value here.
        """
        return first_best(self.propose(seen, memory, point), self.label)


def first_best(proposals: list[dict[str, Any]], label: Callable[[Mapping[str, Any]], str]) -> Choice | None:
    """The first proposal with the greatest score."""
    if not proposals:
        return None
    best = max(proposals, key=lambda proposal: proposal["score"])
    return Choice(best["action"], best["score"], label(best["action"]))


def compile_proposals(
    agent: Agent, irrelevant: Irrelevant | None, name: str, seed: int
) -> Callable[[Any, Any, DecisionPoint], list[dict[str, Any]]]:
    """`(observation, memory, decision point) -> proposals` of an agent, with the values that it draws.

    Proposals of an agent that draws nothing are kept, and found again where everything that they depend on is equal:
    all but what is `irrelevant`.
    """
    propose: Callable[..., list[dict[str, Any]]] = compile_propose(agent)
    if agent.draws:
        draw = compile_draws(agent, name, seed)
        return lambda seen, memory, point: propose(seen, memory, draw(seen, memory, point))
    if irrelevant is None:
        return lambda seen, memory, _point: propose(seen, memory)
    observed, harmless = agent.memory.observation.fields, irrelevant.harmless
    fields = [field for field in observed if field not in irrelevant.fields]
    types = (*(observed[field] for field in fields), *agent.memory.type.fields.values())
    known = KnownValues(by_value=all(sealable(type_) for type_ in types))

    def proposals(seen: Any, memory: Any, _point: DecisionPoint) -> list[dict[str, Any]]:
        if harmless is not None and not harmless(seen):
            return propose(seen, memory)
        read = (*[seen[field] for field in fields], *memory.values())
        memo = known.find(read) or known.keep(read, propose(seen, memory))
        proposed: list[dict[str, Any]] = memo[1]
        return proposed

    return proposals


def compile_possible(agent: Agent) -> Callable[[Any, Any], Iterator[list[dict[str, Any]]]] | None:
    """`(observation, memory) -> the proposals for each combination of values that may be drawn`, None if none are."""
    if not any(draw.stream for draw in agent.draws):
        return None
    propose: Callable[..., list[dict[str, Any]]] = compile_propose(agent)
    sources = compile_sources(agent)

    def possible(seen: Any, memory: Any) -> Iterator[list[dict[str, Any]]]:
        lists = zip(agent.draws, sources(seen, memory), strict=True)
        drawn = product(*(values if draw.stream else values[:1] for draw, values in lists))
        return (propose(seen, memory, [*values]) for values in islice(drawn, MOST_DRAWN))

    return possible


def compile_draws(agent: Agent, name: str, seed: int) -> Callable[[Any, Any, DecisionPoint], list[Any]]:
    """`(observation, memory, decision point) -> drawn values`."""
    if not agent.draws:
        return lambda _seen, _memory, _point: []
    sources = compile_sources(agent)

    def draw(seen: Any, memory: Any, point: DecisionPoint) -> list[Any]:
        lists = sources(seen, memory)
        if not all(lists):
            raise EvaluationError(E_EVAL_LIMIT, "an agent draws from an empty list")
        return [
            Stream.named(seed, "agent", name, drawn.stream, drawn.name, *point).choice(values)
            if drawn.stream
            else values[min(point.asked, len(values) - 1)]
            for drawn, values in zip(agent.draws, lists, strict=True)
        ]

    return draw
