"""What a discovery is made with, and the laws that an iteration reads from an answer.

They are a pure function of the plan, of what the iteration may look at, and of the answer.
Source: law proposer, section 11.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import asdict

from specledger.core.canonical import canonical_bytes
from specledger.core.digest import tagged
from specledger.discovery.discovery_state import View
from specledger.discovery.parser import ParsedLaw, answer_schema
from specledger.discovery.plan import DiscoveryPlan, LawReader
from specledger.discovery.prompt import Prompt, ProposalRequest, compile_prompt
from specledger.discovery.proposer import (
    ProposerConfig,
    Tools,
    digest_answer,
    make_tools,
)
from specledger.discovery.ranking import compile_ranking, sensitivity
from specledger.discovery.redundancy import RedundancyDetector
from specledger.oracles.model import ModelAnswer, ModelRequest
from specledger.spec.discovery import Redundancy

ANSWER_TAG: Final = "specledger/model-answer/v1"


class KnownLaws:
    """The laws that a proposal must differ from; since what is known grows, each is looked at once."""

    def __init__(self, redundancy: Redundancy) -> None:
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


class DiscoveryContext(Struct, frozen=True):
    """What the steps of one discovery are done with."""

    plan: DiscoveryPlan
    laws: LawReader
    tools: Tools
    request: ProposalRequest
    known: KnownLaws


def open_context(plan: DiscoveryPlan) -> DiscoveryContext:
    """Compile what a discovery asks and reads with: its prompt and its ranking."""
    model = plan.model
    proposer, asked = model.proposer, model.request
    config = ProposerConfig(**{name: getattr(proposer, name) for name in type(proposer).model_fields})
    prompt = compile_prompt(plan.bundle.specs[plan.key("prompt")], plan.checked, plan.templates, model.seed)
    ranking = compile_ranking(plan.bundle, plan.key("ranking"))
    form = answer_schema(plan.allowed)
    tools = make_tools(config, prompt, ranking, plan.universe, plan.templates, form)
    request = ProposalRequest(
        asked.count,
        None if asked.target_templates is None else tuple(asked.target_templates),
        None if asked.exclude_templates is None else tuple(asked.exclude_templates),
        asked.temperature,
    )
    return DiscoveryContext(plan, LawReader(plan), tools, request, KnownLaws(model.redundancy))


def proposal_of(
    workbench: DiscoveryContext, view: View, prompt: Prompt, request: ModelRequest, answer: ModelAnswer
) -> dict[str, Any]:
    """The result of an iteration but for its trials: the proposal, and its laws in the order of the ranking."""
    detector = workbench.known.detector(view.known)
    batch = digest_answer(workbench.tools, answer, prompt, view.memory, workbench.request, detector)
    found = batch.document()
    redundant = [
        {**each, "law": law.bundle.root} for (law, _), each in zip(batch.redundant, found["redundant"], strict=True)
    ]
    moved = sensitivity(workbench.tools.ranking.plan, batch.features)
    asked = {"key": prompt.prompt, "digest": prompt.digest, "tokens": prompt.tokens, "dropped": dict(prompt.dropped)}
    proposal = {
        "iteration": request.turn,
        "snapshot": view.digest,
        "prompt": asked,
        "request": digest_of(request.document()),
        "answer": _answer_receipt(answer),
        "rejections": found["rejections"],
        "redundant": redundant,
        "warnings": found["warnings"],
        "sensitivity": [asdict(each) for each in moved],
    }
    laws = []
    for law, features in zip(batch.laws, batch.features, strict=True):
        workbench.laws.keep(law)
        laws.append({"law": law.bundle.root, "document": dict(law.document), "features": features.document()})
    return {"proposal": proposal, "laws": laws}


def digest_of(document: Mapping[str, Any]) -> str:
    """The digest of a question or an answer, as receipts state it."""
    return tagged(ANSWER_TAG, canonical_bytes(document))


def _answer_receipt(answer: ModelAnswer) -> dict[str, Any]:
    """What a receipt holds of an answer. Its text is in the recording, or follows from the specs."""
    return {
        "digest": digest_of(answer.document()),
        "failure": answer.failure,
        "finish": answer.finish,
        "usage": asdict(answer.usage),
    }
