"""What a discovery is made with, and its worker, which executes tasks in this process or in another one.

The laws of an iteration are a pure function of the plan, of what the iteration may look at, and of the answer. A law is
tried as proposed, harder once it was accepted, and under other rules. Where the prover and the cases disagree the
result is an error without a verdict. Source: law proposer, section 11.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import asdict

from specledger.compile.model import PlannedModel, compile_model
from specledger.core.canonical import canonical_bytes
from specledger.core.diagnostics import Rejected
from specledger.core.digest import tagged
from specledger.kinds import KINDS
from specledger.load import Bundle
from specledger.load.from_document import bundle_from_document
from specledger.oracles.model import Model, ModelAnswer, ModelRequest
from specledger.run.executor import Executor, Work
from specledger.wings.discovery.discovery_state import View
from specledger.wings.discovery.parser import ParsedLaw, answer_schema
from specledger.wings.discovery.plan import DiscoveryPlan, LawReader, compile_discovery
from specledger.wings.discovery.prompt import Prompt, ProposalRequest, compile_prompt
from specledger.wings.discovery.proposer import ProposerConfig, Tools, digest_answer, make_tools
from specledger.wings.discovery.ranking import compile_ranking, sensitivity
from specledger.wings.discovery.receipts import HeldOutStatus
from specledger.wings.discovery.redundancy import RedundancyDetector
from specledger.wings.discovery.spec.discovery import Effort, Escalation, Redundancy
from specledger.wings.laws.law import Law, LawPlan
from specledger.wings.laws.receipts import LawStatus
from specledger.wings.laws.trial import verdict_document

ANSWER_TAG: Final = "specledger/model-answer/v1"


class KnownLaws:
    """The laws that a proposal must differ from; since what is known grows, each is looked at once."""

    def __init__(self, redundancy: Redundancy) -> None:
        self._redundancy = redundancy
        self._laws: list[ParsedLaw] = []
        self._detector = self._empty()

    def detector(self, laws: Sequence[ParsedLaw]) -> RedundancyDetector:
        """A detector that knows these laws and no others; it is for one batch, which it must not learn."""
        known = self._laws
        if len(laws) < len(known) or any(ours is not other for ours, other in zip(known, laws, strict=False)):
            self._laws, self._detector = [], self._empty()
        for law in laws[len(self._laws) :]:
            self._laws.append(law)
            self._detector.add_known_law(law)
        return self._detector

    def _empty(self) -> RedundancyDetector:
        return RedundancyDetector(self._redundancy.threshold)


class DiscoveryContext(Struct, frozen=True):
    """What the steps of one discovery are done with."""

    plan: DiscoveryPlan
    laws: LawReader
    tools: Tools
    request: ProposalRequest
    known: KnownLaws


def proposal_of(
    workbench: DiscoveryContext, view: View, prompt: Prompt, request: ModelRequest, answer: ModelAnswer
) -> dict[str, Any]:
    """The result of an iteration but for its trials: the proposal, and its laws in the order of the ranking."""
    detector = workbench.known.detector(view.known)
    batch = digest_answer(workbench.tools, answer, prompt, view.memory, workbench.request, detector)
    batch_document = batch.document()
    redundant = [
        {**entry, "law": law.bundle.root}
        for (law, _), entry in zip(batch.redundant, batch_document["redundant"], strict=True)
    ]
    moved = sensitivity(workbench.tools.ranking.plan, batch.features)
    asked = {"key": prompt.prompt, "digest": prompt.digest, "tokens": prompt.tokens, "dropped": dict(prompt.dropped)}
    proposal = {
        "iteration": request.turn,
        "snapshot": view.digest,
        "prompt": asked,
        "request": digest_of(request.document()),
        "answer": _answer_receipt(answer),
        "rejections": batch_document["rejections"],
        "redundant": redundant,
        "warnings": batch_document["warnings"],
        "sensitivity": [asdict(entry) for entry in moved],
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


_HELD: Final = ("status", "method", "reason", "up_to", "counterexample")


def try_proposed(plan: DiscoveryPlan, document: Mapping[str, Any], effort: Effort | Escalation) -> dict[str, Any]:
    """Try a law in the universe of its discovery: `{verdict, error}`, of which one is null."""
    return _tried(plan.law(document, effort))


def try_elsewhere(plan: DiscoveryPlan, document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Try a law under the rules that are held out.

    Returns:
        For each rule `{universe, mutant, status, method, reason, up_to, counterexample}`: the mutants of the universe's
        own rule by their numbers, then the other universes by their keys; `status` is INAPPLICABLE, with the code as
        the reason, where the law cannot be said, and ERROR as above.
    """
    verdicts = [_held(plan.universe.root, number, law) for number, law in plan.mutants(document)]
    for universe in plan.others:
        try:
            law = plan.law(document, plan.model.held_out, universe).law
        except Rejected as rejected:
            blank = dict.fromkeys(_HELD) | {
                "status": HeldOutStatus.INAPPLICABLE.value,
                "reason": rejected.diagnostics[0].code,
            }
            verdicts.append({"universe": universe.root, "mutant": None, **blank})
        else:
            verdicts.append(_held(universe.root, None, law))
    return verdicts


def _held(universe: str, mutant: int | None, law: Law) -> dict[str, Any]:
    tried = _tried(LawPlan(law, "", ""), content=False)
    verdict = tried["verdict"] or dict.fromkeys(_HELD) | {"status": HeldOutStatus.ERROR.value, "reason": tried["error"]}
    return {"universe": universe, "mutant": mutant, **{name: verdict[name] for name in _HELD}}


def _tried(law: LawPlan, *, content: bool = True) -> dict[str, Any]:
    verdict = verdict_document(law, content=content)
    if verdict["status"] == LawStatus.ERROR:
        return {"verdict": None, "error": verdict["detail"]}
    return {"verdict": verdict, "error": None}


ASK: Final = "ask"
TRY: Final = "try"
ESCALATE: Final = "escalate"
"""What a task does: asks the model, tries a proposed law, tries an accepted law harder."""

Ask = Callable[[ModelRequest], ModelAnswer]

Task = tuple[str, Any]
"""What to do, and with what: a `ModelRequest`, or the document of a law."""


def open_all(bundle: Bundle) -> tuple[DiscoveryContext, PlannedModel]:
    """Compile a discovery with its model, prompt and ranking."""
    plan = compile_discovery(bundle)
    model = plan.model
    proposer, asked = model.proposer, model.request
    config = ProposerConfig(**{name: getattr(proposer, name) for name in type(proposer).model_fields})
    prompt = compile_prompt(bundle.specs[plan.key("prompt")], plan.checked, plan.templates, model.seed)
    ranking = compile_ranking(bundle, plan.key("ranking"))
    form = answer_schema(plan.allowed)
    tools = make_tools(config, prompt, ranking, plan.universe, plan.templates, form)
    request = ProposalRequest(
        asked.count,
        None if asked.target_templates is None else tuple(asked.target_templates),
        None if asked.exclude_templates is None else tuple(asked.exclude_templates),
        asked.temperature,
    )
    context = DiscoveryContext(plan, LawReader(plan), tools, request, KnownLaws(model.redundancy))
    return context, compile_model(bundle, plan.key("model"))


class Worker(Work):
    """Executes tasks. Sent to another process it is its bundle alone, which that process compiles when it needs it."""

    entry = "discovery"

    def __init__(self, bundle: Bundle, record: bool = False, plan: DiscoveryPlan | None = None) -> None:
        """Prepare to work; `record` lets a cassette ask its model for an answer that it lacks, and keep the answer."""
        self._bundle = bundle
        self._record = record
        self._plan = plan
        self._model: Model | None = None

    def __reduce__(self) -> tuple[type[Worker], tuple[Bundle, bool]]:
        """The worker as it is sent to another process."""
        return Worker, (self._bundle, self._record)

    def document(self) -> dict[str, Any]:
        """The specs. A cluster tries laws and asks no model."""
        return {"specs": self._bundle.document()}

    def __call__(self, item: Task) -> Any:
        """Execute a task.

        Returns:
            A `ModelAnswer`, or what `try_proposed` gives; of an accepted law `held_out` too.
        """
        plan, (kind, given) = self._compiled(), item
        if kind == ASK:
            return self.ask(given)
        if kind == TRY:
            return try_proposed(plan, given, plan.model.trial)
        return {**try_proposed(plan, given, plan.model.escalation), "held_out": try_elsewhere(plan, given)}

    def ask(self, request: ModelRequest) -> ModelAnswer:
        """Ask the model."""
        if self._model is None:
            self._model = compile_model(self._bundle, self._compiled().key("model")).open(self._record)
        return self._model.ask(request)

    def _compiled(self) -> DiscoveryPlan:
        if self._plan is None:
            self._plan = compile_discovery(self._bundle)
        return self._plan


def asked_here(worker: Worker, executor: Executor) -> Ask | None:
    """What asks the model in this process, if its keys and files are not where laws are tried; else None."""
    return worker.ask if executor.remote else None


def discovery_work(document: Mapping[str, Any]) -> Callable[[Any], Any]:
    """What a worker of a cluster does for a discovery."""
    return Worker(bundle_from_document(document["specs"], KINDS))
