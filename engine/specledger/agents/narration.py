"""A narrated proposal: the decider's choice as a `proposal.json` document, explained by the teller.

The document holds the environment as seen, a plan, the request for its capability, the trace of the declared procedure,
one fork snapshot, and counterfactuals and claims derived from the teller. An agent that explains its choice by its own
score and one that explains it by another score differ only in these three procedures.

Source: toy-pseudo-axion, Agent objectives and ForkSnapshot Commit-Reveal; the schemas in `schemas/axion`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from specledger.agents.claims import Supposed, Views, claim, counterfactual, derive, masses, worded
from specledger.agents.procedure import Choice, DecisionPoint, Procedure
from specledger.agents.trace import write_trace
from specledger.core.digest import hash_json
from specledger.core.entries import uuid_of
from specledger.spec.vocabulary import TraceWords

_WORDS: Final = TraceWords()
FORK: Final = "fork-0"
"""The one fork snapshot of a narrated proposal."""


class Narration(Struct, frozen=True):
    """How one agent's choices become documents.

    Attributes:
        decider: Who chooses.
        teller: Who is asked what would change the choice.
        declared: Whose procedure the trace declares; None where an agent from outside declares none.
        views: The world, as far as it can be asked about states.
        vary: The variables that are tried, in order.
        most: The most claims.
        say: Words the effect of a claim.
        request: The request for the capability that an action needs, None if it needs none.
        steps: The most steps of a plan.
        foresee: `(state, action) -> state` that the agent predicts.
        directional: Whether claims give a direction.
        confidence: How sure the agent says that it is of each claim.
        nonces: Where the nonces of its snapshots come from.
        words: The version of its traces and the kinds of their nodes.
        commit: The hash of a trace without its commitment.
    """

    decider: Procedure
    teller: Procedure
    declared: Procedure | None
    views: Views
    vary: tuple[str, ...]
    most: int
    say: Callable[[Mapping[str, str]], str]
    request: Callable[[Mapping[str, Any]], dict[str, Any] | None]
    commit: Callable[[Mapping[str, Any]], str]
    steps: int = 1
    foresee: Callable[[Any, Mapping[str, Any]], Any] | None = None
    directional: bool = False
    confidence: float = 1
    nonces: str = "fresh"
    words: TraceWords = _WORDS

    def choose(self, state: Any, memory: Any, point: DecisionPoint) -> Choice | None:
        """What the decider chooses in a state."""
        return self.decider.choose(self.views.observe(state), memory, point)

    def plan(self, state: Any, memory: Any, choice: Choice, point: DecisionPoint) -> list[Mapping[str, Any]]:
        """The actions of a plan that begins with a choice: what would be chosen in each state that it predicts.

        One token covers one capability, so that a plan ends before another operation. The agent knows then what it
        knows now.
        """
        actions: list[Mapping[str, Any]] = [choice.action]
        while self.foresee is not None and len(actions) < self.steps:
            state = self.foresee(state, actions[-1])
            following = self.choose(state, memory, point._replace(t=point.t + len(actions)))
            if following is None or following.action["op"] != choice.action["op"]:
                break
            actions.append(following.action)
        return actions

    def document(
        self,
        state: Any,
        memory: Any,
        choice: Choice,
        point: DecisionPoint,
        snapshot: Callable[[str, str, list[str]], dict[str, Any]] | None,
    ) -> dict[str, Any]:
        """The proposal of a choice.

        Args:
            state: The state as the agent sees it.
            memory: What it knows.
            choice: What its decider chose there.
            point: When.
            snapshot: `(fork, state digest, focus variables) -> fork snapshot`; without it none is given.
        """
        views = self.views
        known = frozenset(views.names(state))
        focus = [name for name in self.vary if name in known]
        digest = hash_json(views.normalize(state, focus))
        seen = views.observe(state)
        assert self.declared is not None  # noqa: S101 - only an agent from outside may declare nothing
        declared = self.declared.explain(seen, memory, point, choice.label)
        nodes, edges = write_trace(self.declared, declared, focus, digest, choice.label, self.words)
        claimed, idle = derive(self.teller, views, state, memory, choice.label, self.vary, self.most, point)
        supposed = [*claimed, *idle]
        shares = masses(len(supposed))
        weighed = self.words.weighed
        trace: dict[str, Any] = {
            "trace_version": self.words.version,
            "nodes": nodes,
            "edges": edges,
            "fork_snapshots": [] if snapshot is None else [snapshot(FORK, digest, focus)],
            "causal_claims": [
                claim(number, one, supporting(nodes, one.choice.label, weighed), self.say, way, self.confidence)
                for number, (one, way) in enumerate(self._worded(state, memory, claimed, point))
                if way or not self.directional
            ],
            "counterfactuals": [
                counterfactual(number, one, digest, shares[number]) for number, one in enumerate(supposed)
            ],
        }
        request = self.request(choice.action)
        steps = [step_of(action) for action in self.plan(state, memory, choice, point)]
        name = f"{self.decider.name}/{point.episode}/{point.t}/{point.asked}"
        return {
            "proposal_id": uuid_of("proposal", name),
            "proposal_type": "action",
            "env": views.env(state),
            "payload": {"intent": choice.label, "plan": {"steps": steps}},
            "trace": {**trace, "trace_commit": self.commit(trace)},
            "requested_capabilities": [] if request is None else [request],
        }

    def _worded(
        self, state: Any, memory: Any, claimed: list[Supposed], point: DecisionPoint
    ) -> Iterator[tuple[Supposed, str]]:
        """Claims with the directions in which they are worded, where the vocabulary has any."""
        for one in claimed:
            yield one, worded(self.teller, self.views, state, memory, one, point) if self.directional else ""


def step_of(action: Mapping[str, Any]) -> dict[str, Any]:
    """An action as a step of a plan."""
    return {"op": action["op"], "args": {name: value for name, value in action.items() if name != "op"}}


def supporting(nodes: list[dict[str, Any]], label: str, weighed: str) -> list[int]:
    """The nodes that a claim rests on: what was seen, and the score of the choice that it predicts, if there is one."""
    return [0, *(node["id"] for node in nodes if node["kind"] == weighed and node["summary"] == label)][:64]
