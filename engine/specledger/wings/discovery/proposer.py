"""The proposer: builds a question from the memory, and a batch of ranked, new laws from the answer.

`ask_for` and `digest_answer` are pure, so that a replay makes the same batch from the recorded answer. A failure of the
model gives an empty batch with the reason. Source: law proposer, section 3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import asdict, replace

from specledger.core.diagnostics import coded, printable
from specledger.load import Bundle
from specledger.oracles.failures import FAILURES, TRUNCATED
from specledger.oracles.model import Known, Model, ModelAnswer, ModelRequest
from specledger.wings.discovery.memory import DiscoveryMemory, DiscoveryMemorySnapshot
from specledger.wings.discovery.parser import ParsedLaw, ParseResult, ResponseParser, kept
from specledger.wings.discovery.prompt import (
    E_PROPOSAL_TEMPLATE,
    Prompt,
    PromptBuilder,
    PromptPlan,
    ProposalRequest,
)
from specledger.wings.discovery.ranking import RankingFeatures, RankingModel, RankingPlan
from specledger.wings.discovery.redundancy import RedundancyDetector, RedundancyMatch
from specledger.wings.discovery.spec import discovery as spec

_EXCERPT: Final = 1_000  # characters of a prompt or an answer that are kept without `verbose`


_DEFAULT: Final = spec.Proposer()


class ProposerConfig(Struct, frozen=True):
    """How a model is asked, within a budget of tokens, and its answer read (law proposer, section 3)."""

    max_token_budget: int = _DEFAULT.max_token_budget
    include_counterexamples: bool = _DEFAULT.include_counterexamples
    strict_parsing: bool = _DEFAULT.strict_parsing
    add_to_redundancy_filter: bool = _DEFAULT.add_to_redundancy_filter
    verbose: bool = False


class ProposalBatch(Struct, frozen=True):
    """What came of one question (law proposer, section 3).

    Attributes:
        rejections: What is not a law, or was not asked for, each with the reason.
        redundant: The laws that were left out, each with what it repeats.
        prompt_tokens, response_tokens: What that cost; thinking counts as response.
        runtime_ms: How long the model took, by the clock that the proposer was given; in no document.
        warnings: Why there was no answer, and what was repaired.
    """

    laws: tuple[ParsedLaw, ...]
    features: tuple[RankingFeatures, ...]
    rejections: tuple[tuple[Mapping[str, Any], str], ...]
    redundant: tuple[tuple[ParsedLaw, RedundancyMatch], ...]
    prompt_hash: str
    prompt_tokens: int
    response_tokens: int
    runtime_ms: int
    warnings: tuple[str, ...]

    def document(self) -> dict[str, Any]:
        """The batch as JSON values, the same whenever and wherever it is made."""
        return {
            "laws": [dict(law.document) for law in self.laws],
            "features": [feature.document() for feature in self.features],
            "rejections": [{"object": dict(value), "reason": reason} for value, reason in self.rejections],
            "redundant": [{"law": dict(law.document), **match.document()} for law, match in self.redundant],
            "prompt_hash": self.prompt_hash,
            "prompt_tokens": self.prompt_tokens,
            "response_tokens": self.response_tokens,
            "warnings": list(self.warnings),
        }


class Tools(Struct, frozen=True):
    """What questions are made and answers are read with; if `strict`, an answer that was cut off is not read at all."""

    builder: PromptBuilder
    parser: ResponseParser
    ranking: RankingModel
    schema: Mapping[str, Any] | None
    strict: bool


def make_tools(
    config: ProposerConfig,
    prompt: PromptPlan,
    ranking: RankingPlan,
    universe: Bundle,
    templates: Mapping[str, Bundle],
    schema: Mapping[str, Any] | None = None,
) -> Tools:
    """The tools for a configuration."""
    plan = replace(prompt, budget=config.max_token_budget, counterexamples=config.include_counterexamples)
    parser = ResponseParser(universe, templates, config.strict_parsing, plan.scramble)
    return Tools(PromptBuilder(plan), parser, RankingModel(ranking), schema, config.strict_parsing)


def ask_for(
    tools: Tools, snapshot: DiscoveryMemorySnapshot, request: ProposalRequest, turn: int
) -> tuple[Prompt, ModelRequest]:
    """The question for what is remembered and asked."""
    prompt = tools.builder.build(snapshot, request)
    named = {
        "accepted": snapshot.accepted_laws,
        "falsified": snapshot.falsified_laws,
        "unknown": snapshot.unknown_laws,
    }
    known = Known(request.count, **{name: tuple(law["law_id"] for law in laws) for name, laws in named.items()})
    return prompt, ModelRequest(turn, prompt.system, prompt.text, tools.schema, request.temperature, known)


def digest_answer(
    tools: Tools,
    answer: ModelAnswer,
    prompt: Prompt,
    snapshot: DiscoveryMemorySnapshot,
    request: ProposalRequest,
    detector: RedundancyDetector,
    *,
    learn: bool = False,
) -> ProposalBatch:
    """The batch of an answer: read, filtered and ranked; where it is to `learn`, the detector knows its laws then."""
    parsed, warnings = _parse(tools, answer)
    laws, rejections = [], list(parsed.rejections)
    for law in parsed.laws:
        reason = request.refuses(law.plan.law.template.name)
        if reason is None:
            laws.append(law)
        else:
            rejections.append((kept(law.document), reason))
    if len(laws) > request.count:
        warnings.append(f"{len(laws)} laws came, {request.count} were asked for")
    left = detector.filter_batch(laws, learn=learn)
    ranked = tools.ranking.rank(left.unique, snapshot, left.nearest)
    usage = answer.usage
    return ProposalBatch(
        laws=ranked.laws,
        features=ranked.features,
        rejections=tuple(rejections),
        redundant=left.redundant,
        prompt_hash=prompt.digest,
        prompt_tokens=usage.prompt_tokens or prompt.tokens,
        response_tokens=usage.output_tokens + usage.thinking_tokens,
        runtime_ms=0,
        warnings=(*warnings, *parsed.warnings, *ranked.warnings),
    )


def _parse(tools: Tools, answer: ModelAnswer) -> tuple[ParseResult, list[str]]:
    """The laws of an answer, and warnings. Of an answer that was cut off the complete laws are read."""
    warnings = []
    if answer.failure is not None:
        detail = f": {printable(answer.detail)}" if answer.detail else ""
        warnings.append(coded(FAILURES[answer.failure], f"the model gave no whole answer ({answer.failure}){detail}"))
    readable = answer.usable or (answer.failure == TRUNCATED and not tools.strict)
    if answer.text is None or not readable:
        return ParseResult((), (), ()), warnings
    return tools.parser.parse(answer.text), warnings


_COUNTED: Final = ("calls", "failures", "parsed", "proposed", "rejected", "redundant", "warnings")
_SPENT: Final = ("prompt_tokens", "response_tokens", "runtime_ms")


class LawProposer:
    """Asks a model for laws, again and again."""

    def __init__(
        self,
        model: Model,
        tools: Tools,
        config: ProposerConfig | None = None,
        detector: RedundancyDetector | None = None,
        clock: Callable[[], int] | None = None,
    ) -> None:
        """Prepare to ask; `clock` gives milliseconds, and without one no time is measured."""
        self.config = config or ProposerConfig()
        self._model = model
        self._tools = tools
        self._detector = RedundancyDetector() if detector is None else detector
        self._clock = clock or (lambda: 0)
        self._stats = dict.fromkeys((*_COUNTED, *_SPENT), 0)
        self._last: dict[str, Any] | None = None

    def propose(
        self, memory: DiscoveryMemorySnapshot | DiscoveryMemory, request: ProposalRequest | None = None
    ) -> ProposalBatch:
        """Ask once."""
        snapshot = memory.snapshot() if isinstance(memory, DiscoveryMemory) else memory
        request = request or ProposalRequest()
        prompt, question = ask_for(self._tools, snapshot, request, self._stats["calls"])
        began = self._clock()
        answer = self._model.ask(question)
        runtime = self._clock() - began
        learn = self.config.add_to_redundancy_filter
        batch = digest_answer(self._tools, answer, prompt, snapshot, request, self._detector, learn=learn)
        batch = replace(batch, runtime_ms=runtime)
        self._count(batch, answer)
        self._last = self._exchange(prompt, answer)
        return batch

    @property
    def stats(self) -> dict[str, int]:
        """Counts since the beginning.

        `calls` and `failures` of the model; `parsed` laws, and of these those that were `proposed` or `redundant`;
        `rejected` objects; `warnings`; tokens and milliseconds.
        """
        return dict(self._stats)

    def get_last_exchange(self) -> dict[str, Any] | None:
        """What was asked last and what was answered; None before the first question.

        Texts are whole with `verbose`, else their first thousand characters.
        """
        return None if self._last is None else dict(self._last)

    def _count(self, batch: ProposalBatch, answer: ModelAnswer) -> None:
        refused = sum(reason.startswith(E_PROPOSAL_TEMPLATE) for _, reason in batch.rejections)
        counted = {
            "calls": 1,
            "failures": int(not answer.usable),
            "parsed": len(batch.laws) + len(batch.redundant) + refused,
            "proposed": len(batch.laws),
            "rejected": len(batch.rejections),
            "redundant": len(batch.redundant),
            "warnings": len(batch.warnings),
            "prompt_tokens": batch.prompt_tokens,
            "response_tokens": batch.response_tokens,
            "runtime_ms": batch.runtime_ms,
        }
        for name, count in counted.items():
            self._stats[name] += count

    def _exchange(self, prompt: Prompt, answer: ModelAnswer) -> dict[str, Any]:
        texts = {"system": prompt.system, "prompt": prompt.text, "response": answer.text}
        if not self.config.verbose:
            texts = {name: None if text is None else text[:_EXCERPT] for name, text in texts.items()}
        return {**texts, "prompt_hash": prompt.digest, "failure": answer.failure, "usage": asdict(answer.usage)}
