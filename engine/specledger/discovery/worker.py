"""The worker of a discovery: executes its tasks, in this process or in another one.

A law is tried as proposed, harder once it was accepted, and under other rules. Where the prover and the cases disagree
the result is an error without a verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from specledger.compile.model import PlannedModel, compile_model
from specledger.core.diagnostics import Rejected
from specledger.discovery.iteration import DiscoveryContext, open_context
from specledger.discovery.plan import DiscoveryPlan, compile_discovery
from specledger.laws.law import Law, LawPlan
from specledger.laws.trial import verdict_document
from specledger.load import Bundle
from specledger.oracles.model import Model, ModelAnswer, ModelRequest
from specledger.run.executor import Executor, Work
from specledger.spec.discovery import Effort, Escalation

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
    found = [_held(plan.universe.root, number, law) for number, law in plan.mutants(document)]
    for universe in plan.others:
        try:
            law = plan.law_elsewhere(document, universe).law
        except Rejected as rejected:
            blank = dict.fromkeys(_HELD) | {"status": "INAPPLICABLE", "reason": rejected.diagnostics[0].code}
            found.append({"universe": universe.root, "mutant": None, **blank})
        else:
            found.append(_held(universe.root, None, law))
    return found


def _held(universe: str, mutant: int | None, law: Law) -> dict[str, Any]:
    tried = _tried(LawPlan(law, "", ""), content=False)
    verdict = tried["verdict"] or dict.fromkeys(_HELD) | {"status": "ERROR", "reason": tried["error"]}
    return {"universe": universe, "mutant": mutant, **{name: verdict[name] for name in _HELD}}


def _tried(law: LawPlan, *, content: bool = True) -> dict[str, Any]:
    verdict = verdict_document(law, content=content)
    if verdict["status"] == "ERROR":
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
    return open_context(plan), compile_model(bundle, plan.key("model"))


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
