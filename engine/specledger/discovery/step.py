"""One step of a discovery: laws are asked for and tried, or accepted ones are tried harder.

Decides what a step does with what it may look at, and what of it is kept: its result, JSON values from which everything
else follows. A step is a pure function of the plan, its place, what it may look at, and the answer. Refuses to know
when it is done, by whom, and what was committed meanwhile. Source: law proposer, section 11.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from specledger.core.canonical import canonical_bytes
from specledger.core.digest import tagged
from specledger.discovery.discovery_state import View
from specledger.discovery.parser import ParsedLaw
from specledger.discovery.plan import PROPOSE, DiscoveryPlan
from specledger.discovery.prompt import compile_prompt
from specledger.discovery.proposer import (
    ProposalBatch,
    ProposalRequest,
    ProposerConfig,
    Tools,
    ask_for,
    digest_answer,
    make_tools,
)
from specledger.discovery.ranking import compile_ranking, sensitivity
from specledger.discovery.redundancy import RedundancyDetector
from specledger.discovery.response_schema import answer_form
from specledger.discovery.trials import try_elsewhere, try_proposed
from specledger.oracles.model import ModelAnswer, ModelRequest
from specledger.spec.discovery import Redundancy

ANSWER_TAG: Final = "specledger/model-answer/v1"

Ask = Callable[[ModelRequest], ModelAnswer]


class Known:
    """The laws that a proposal must differ from; since what is known grows, each is looked at once."""

    def __init__(self, redundancy: Redundancy) -> None:
        """Begin with nothing."""
        self._redundancy = redundancy
        self._laws: list[ParsedLaw] = []
        self._detector = self._empty()

    def detector(self, laws: Sequence[ParsedLaw]) -> RedundancyDetector:
        """A detector that knows these laws and no others; it is for one batch, which it must not learn."""
        held = self._laws
        if len(laws) < len(held) or any(one is not other for one, other in zip(held, laws, strict=False)):
            self._laws, self._detector = [], self._empty()
        for law in laws[len(self._laws) :]:
            self._laws.append(law)
            self._detector.add_known_law(law)
        return self._detector

    def _empty(self) -> RedundancyDetector:
        return RedundancyDetector(self._redundancy.threshold, equivalent=self._redundancy.equivalent)


@dataclass(frozen=True)
class Workbench:
    """What the steps of one discovery are done with.

    Attributes:
        plan: The discovery.
        tools: What questions are made and answers are read with.
        request: What is asked for in each iteration.
        known: What proposals are compared with.
    """

    plan: DiscoveryPlan
    tools: Tools
    request: ProposalRequest
    known: Known


def open_workbench(plan: DiscoveryPlan) -> Workbench:
    """Compile what a discovery asks and reads with: its prompt and its ranking.

    Raises:
        Rejected: With the findings of either.
    """
    model = plan.model
    proposer, asked = model.proposer, model.request
    config = ProposerConfig(**{name: getattr(proposer, name) for name in type(proposer).model_fields})
    prompt = compile_prompt(plan.bundle.specs[plan.key("prompt")], plan.checked, plan.templates, model.seed)
    ranking = compile_ranking(plan.bundle, plan.key("ranking"))
    form = answer_form(plan.allowed)
    tools = make_tools(config, prompt, ranking, plan.universe, plan.templates, form)
    request = ProposalRequest(
        asked.count,
        None if asked.target_templates is None else tuple(asked.target_templates),
        None if asked.exclude_templates is None else tuple(asked.exclude_templates),
        asked.temperature,
    )
    return Workbench(plan, tools, request, Known(model.redundancy))


def do_step(workbench: Workbench, kind: str, iteration: int, view: View, ask: Ask) -> dict[str, Any]:
    """Do a step.

    Args:
        workbench: What it is done with.
        kind: What it is.
        iteration: Which one it is, or comes before.
        view: What it may look at.
        ask: Gives the answer to a request.

    Raises:
        Rejected: The model cannot be asked.
    """
    return _propose(workbench, iteration, view, ask) if kind == PROPOSE else _escalate(workbench.plan, view)


def _propose(workbench: Workbench, iteration: int, view: View, ask: Ask) -> dict[str, Any]:
    """Ask for laws, and try each that is left."""
    prompt, request = ask_for(workbench.tools, view.memory, workbench.request, iteration)
    answer = ask(request)
    batch = digest_answer(
        workbench.tools, answer, prompt, view.memory, workbench.request, workbench.known.detector(view.known)
    )
    moved = sensitivity(workbench.tools.ranking.plan, batch.features)
    asked = {"key": prompt.prompt, "digest": prompt.digest, "tokens": prompt.tokens, "dropped": dict(prompt.dropped)}
    proposal = {
        "iteration": iteration,
        "snapshot": view.digest,
        "prompt": asked,
        "request": tagged(ANSWER_TAG, canonical_bytes(request.document())),
        "answer": _answered(answer),
        **_told(batch),
        "sensitivity": [each.document() for each in moved],
    }
    return {"proposal": proposal, "laws": [_tried(workbench, batch, place) for place in range(len(batch.laws))]}


def _answered(answer: ModelAnswer) -> dict[str, Any]:
    """What a receipt says of an answer; its text is on the tape, or follows from the specs."""
    return {
        "digest": tagged(ANSWER_TAG, canonical_bytes(answer.document())),
        "failure": answer.failure,
        "finish": answer.finish,
        "usage": answer.usage.document(),
    }


def _told(batch: ProposalBatch) -> dict[str, Any]:
    document = batch.document()
    redundant = [
        {**each, "law": law.bundle.root} for (law, _), each in zip(batch.redundant, document["redundant"], strict=True)
    ]
    return {"rejections": document["rejections"], "redundant": redundant, "warnings": document["warnings"]}


def _tried(workbench: Workbench, batch: ProposalBatch, place: int) -> dict[str, Any]:
    """A law of a batch with its scores and what its trial came to."""
    law = batch.laws[place]
    workbench.plan.keep(law)
    document = dict(law.document)
    scores = batch.features[place].document()
    tried = try_proposed(workbench.plan, document, workbench.plan.model.trial)
    return {"law": law.bundle.root, "document": document, "features": scores, **tried}


def _escalate(plan: DiscoveryPlan, view: View) -> dict[str, Any]:
    """Try accepted laws harder, and those that still hold under rules that are held out."""
    laws = []
    for key, document in view.waiting.items():
        tried = try_proposed(plan, document, plan.model.escalation)
        laws.append({"law": key, "document": dict(document), **tried, "held_out": try_elsewhere(plan, document)})
    return {"laws": laws}
