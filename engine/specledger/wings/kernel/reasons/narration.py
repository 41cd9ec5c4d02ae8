"""A narrated proposal: the decider's choice as a `proposal.json` document, explained by the teller.

The document holds the environment as seen, a plan, the request for its capability, the trace of the declared procedure,
one fork snapshot, and counterfactuals and claims derived from the teller. An agent that explains its choice by its own
score and one that explains it by another score differ only in these three procedures.

A trace has nodes with expression, inputs and output, each of which can be computed again. One that ends in the plan's
choice although its declared procedure gives another one cannot. A procedure that draws gives every choice to which some
drawn values lead: what an agent from outside drew is not known.

Source: toy-pseudo-axion, Agent objectives and ForkSnapshot Commit-Reveal; the schemas in `schemas/axion`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from specledger.core.digest import hash_json
from specledger.core.entries import uuid_of
from specledger.wings.kernel.reasons.claims import (
    Derivation,
    Supposed,
    Views,
    claim,
    counterfactuals,
    word_change,
)
from specledger.wings.kernel.reasons.procedure import Choice, DecisionPoint, Procedure
from specledger.wings.kernel.spec.vocabulary import TraceWords

STATE: Final = "state_digest(focus_vars)"
SCORE: Final = "score(action)"
GREATEST: Final = "first of the greatest scores"
UNDECLARED: Final = "undeclared"
"""The expressions of nodes; the declared score itself is in the node of kind `assumption`."""


def write_trace(
    procedure: Procedure,
    proposals: list[dict[str, Any]],
    focus: list[str],
    digest: str,
    chosen: str,
    words: TraceWords,
) -> Any:
    """The nodes and edges of a choice: what was seen, what is declared, each proposal's score, and what was chosen.

    The proposals are those of the procedure in this state, `digest` is that of the state seen through the focus
    variables, and every trace ends in `chosen`, the label of the submitted choice.
    """
    scored = [(procedure.label(proposal["action"]), proposal["action"], proposal["score"]) for proposal in proposals]
    nodes = [
        _node(0, words.seen, "the state as it was seen", STATE, {"focus_vars": focus}, digest),
        _node(1, words.declared, "the declared score", procedure.score, {"agent": procedure.spec}, SCORE),
    ]
    edges = []
    for number, (label, action, score) in enumerate(scored, start=len(nodes)):
        nodes.append(_node(number, words.weighed, label, SCORE, action, score))
        edges += [_edge(0, number, "supports"), _edge(1, number, "assumes")]
    last = len(nodes)
    edges += [_edge(number, last, "evaluates") for number in range(2, last)] or [_edge(0, last, "supports")]
    inputs = {"labels": [label for label, _, _ in scored], "scores": [score for _, _, score in scored]}
    nodes.append(_node(last, words.chosen, "the choice", GREATEST, inputs, chosen))
    return nodes, edges


def write_choice(focus: list[str], digest: str, chosen: str, words: TraceWords) -> Any:
    """The nodes and edges of a choice whose procedure is not declared: what was seen, and what was chosen."""
    inputs: dict[str, Any] = {"focus_vars": focus}
    nodes = [
        _node(0, words.seen, "the state as it was seen", STATE, inputs, digest),
        _node(1, words.chosen, "the choice", UNDECLARED, {}, chosen),
    ]
    return nodes, [_edge(0, 1, "supports")]


def _node(number: int, kind: str, summary: str, expression: str, inputs: Any, output: Any) -> dict[str, Any]:
    payload = {"expression": expression, "inputs": inputs, "output": output}
    return {"id": number, "kind": kind, "summary": summary, "payload": payload}


def _edge(start: int, end: int, kind: str) -> dict[str, Any]:
    return {"from": start, "to": end, "type": kind}


def replay_trace(
    trace: Mapping[str, Any],
    procedure: Procedure,
    seen: Any,
    memory: Any,
    point: DecisionPoint,
    digest: Callable[[Any], str],
    chosen: str,
    words: TraceWords,
) -> dict[str, Any]:
    """Compute the nodes of a trace again: `{equal, nodes, ends}`, how many came out equal, and of how many.

    It `ends` if the last one was equal and is the choice of the plan.

    `digest` gives the digest of the state under focus variables, as the kernel computes it, empty where they are none;
    `chosen` is the label of the plan's first step.
    """
    proposals = procedure.explain(seen, memory, point, chosen)
    scores = [(procedure.label(proposal["action"]), proposal["score"]) for proposal in proposals]
    actions = [proposal["action"] for proposal in proposals]
    best = max(scores, key=lambda scored: scored[1])[0] if scores else None
    inputs = {"labels": [label for label, _ in scores], "scores": [score for _, score in scores]}
    expected: dict[str, Callable[[Any], bool]] = {
        words.seen: lambda payload: (
            payload["expression"] == STATE and payload["output"] == digest(payload["inputs"].get("focus_vars"))
        ),
        words.declared: lambda payload: (
            payload["expression"] == procedure.score and payload["inputs"] == {"agent": procedure.spec}
        ),
        words.weighed: lambda payload: (
            payload["expression"] == SCORE
            and payload["inputs"] in actions
            and payload["output"] == scores[actions.index(payload["inputs"])][1]
        ),
        words.chosen: lambda payload: (
            payload["expression"] == GREATEST and payload["inputs"] == inputs and payload["output"] == best
        ),
    }
    equal, last = 0, False
    for node in trace["nodes"]:
        payload = node["payload"]
        known = payload.keys() == {"expression", "inputs", "output"} and node["kind"] in expected
        last = known and type(payload["inputs"]) is dict and expected[node["kind"]](payload)
        equal += last
    ends = last and trace["nodes"][-1]["payload"]["output"] == chosen
    return {"equal": equal, "nodes": len(trace["nodes"]), "ends": ends}


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
        least: Counterfactuals that the kernel demands.
        derive: `(state, memory, label of the submitted choice, decision point) -> (claims, further counterfactuals)`.
        confidence: The rate that it states of each claim; None if it states none, and its documents say 1.
        say: Words the effect of a claim.
        request: The request for the capability that an action needs, None if it needs none.
        foresee: `(state, action) -> state` that the agent predicts.
        commit: The hash of a trace without its commitment.
        abstains: Whether a statement with too few claims is none, and no statement that a rule could refuse.
    """

    decider: Procedure
    teller: Procedure
    declared: Procedure | None
    views: Views
    vary: tuple[str, ...]
    least: int
    derive: Derivation
    say: Callable[[Mapping[str, str]], str]
    request: Callable[[Mapping[str, Any]], dict[str, Any] | None]
    commit: Callable[[Mapping[str, Any]], str]
    steps: int = 1
    foresee: Callable[[Any, Mapping[str, Any]], Any] | None = None
    directional: bool = False
    confidence: float | None = None
    nonces: str = "fresh"
    words: TraceWords = _WORDS
    abstains: bool = False

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

        `snapshot` is `(fork, state digest, focus variables) -> fork snapshot`; without it none is given.
        """
        views = self.views
        known = frozenset(views.names(state))
        focus = [name for name in self.vary if name in known]
        digest = hash_json(views.normalize(state, focus))
        seen = views.observe(state)
        assert self.declared is not None  # noqa: S101 - only an agent from outside may declare nothing
        declared = self.declared.explain(seen, memory, point, choice.label)
        nodes, edges = write_trace(self.declared, declared, focus, digest, choice.label, self.words)
        claimed, idle = self.derive(state, memory, choice.label, point)
        supposed = [*claimed, *idle]
        weighed, sure = self.words.weighed, 1 if self.confidence is None else self.confidence
        trace = {
            "nodes": nodes,
            "edges": edges,
            "fork_snapshots": [] if snapshot is None else [snapshot(FORK, digest, focus)],
            "causal_claims": [
                claim(number, supposition, supporting(nodes, supposition.choice.label, weighed), self.say, way, sure)
                for number, (supposition, way) in enumerate(self._worded(state, memory, claimed, point))
                if way or not self.directional
            ],
            "counterfactuals": counterfactuals(supposed, digest),
        }
        name = f"{self.decider.name}/{point.episode}/{point.t}/{point.asked}"
        return self.proposal(name, state, choice, self.plan(state, memory, choice, point), trace)

    def proposal(
        self, name: str, state: Any, choice: Choice, actions: Sequence[Mapping[str, Any]], parts: dict[str, Any]
    ) -> dict[str, Any]:
        """The proposal of a choice with its plan and the parts of its trace; no two have the same name."""
        trace = {"trace_version": self.words.version, **parts}
        request = self.request(choice.action)
        return {
            "proposal_id": uuid_of("proposal", name),
            "proposal_type": "action",
            "env": self.views.env(state),
            "payload": {"intent": choice.label, "plan": {"steps": [step_of(action) for action in actions]}},
            "trace": {**trace, "trace_commit": self.commit(trace)},
            "requested_capabilities": [] if request is None else [request],
        }

    def _worded(
        self, state: Any, memory: Any, claimed: list[Supposed], point: DecisionPoint
    ) -> Iterator[tuple[Supposed, str]]:
        """Claims with the directions in which they are worded, where the vocabulary has any."""
        for supposition in claimed:
            yield (
                supposition,
                word_change(self.teller, self.views, state, memory, supposition, point) if self.directional else "",
            )


def step_of(action: Mapping[str, Any]) -> dict[str, Any]:
    """An action as a step of a plan."""
    return {"op": action["op"], "args": {name: value for name, value in action.items() if name != "op"}}


def supporting(nodes: list[dict[str, Any]], label: str, weighed: str) -> list[int]:
    """The nodes that a claim rests on: what was seen, and the score of the choice that it predicts, if there is one."""
    return [0, *(node["id"] for node in nodes if node["kind"] == weighed and node["summary"] == label)][:64]
