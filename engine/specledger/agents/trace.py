"""The trace of a choice: nodes with expression, inputs and output, each of which can be computed again.

A trace that ends in the plan's choice although its declared procedure gives another one cannot be computed again. A
procedure that draws gives every choice to which some drawn values lead: what an agent from outside drew is not known.

Source: toy-pseudo-axion, Metrics (RF replay fidelity); `trace_node.json`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec import Struct

from specledger.agents.procedure import DecisionPoint, Procedure
from specledger.spec.vocabulary import TraceWords

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

    Args:
        procedure: Whose procedure is declared.
        proposals: What it proposes in this state.
        focus: The variables under the digest.
        digest: The digest of the state seen through them.
        chosen: The label of the submitted choice, in which every trace ends.
        words: The kinds of nodes.
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


class Fidelity(Struct, frozen=True):
    """How much of a trace came out equal.

    Attributes:
        equal, nodes: How many of its nodes.
        ends: Whether the last one was equal and is the choice of the plan.
    """

    equal: int
    nodes: int
    ends: bool

    @property
    def whole(self) -> bool:
        """Whether all of it came out equal and led to the plan's choice."""
        return self.ends and self.equal == self.nodes


def replay_trace(
    trace: Mapping[str, Any],
    procedure: Procedure,
    seen: Any,
    memory: Any,
    point: DecisionPoint,
    digest: Callable[[Any], str],
    chosen: str,
    words: TraceWords,
) -> Fidelity:
    """Compute the nodes of a trace again.

    Args:
        trace: A trace that is valid under its schema.
        procedure: The declared procedure.
        seen: What the agent saw, as the kernel knows it.
        memory: What the agent knew.
        point: When.
        digest: The digest of the state under focus variables, as the kernel computes it; empty where they are none.
        chosen: The label of the plan's first step.
        words: The kinds of nodes.
    """
    proposals = procedure.explain(seen, memory, point, chosen)
    scores = [(procedure.label(proposal["action"]), proposal["score"]) for proposal in proposals]
    actions = [proposal["action"] for proposal in proposals]
    best = max(scores, key=lambda one: one[1])[0] if scores else None
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
    return Fidelity(equal, len(trace["nodes"]), ends)
