"""The worker of a discovery: executes its tasks, in this process or in another one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from specledger.compile.model import PlannedModel, compile_model
from specledger.discovery.iteration import DiscoveryContext, open_context
from specledger.discovery.plan import DiscoveryPlan, compile_discovery
from specledger.discovery.trials import try_elsewhere, try_proposed
from specledger.load import Bundle
from specledger.oracles.model import Model, ModelAnswer, ModelRequest
from specledger.run.executor import Executor, Work

ASK: Final = "ask"
TRY: Final = "try"
ESCALATE: Final = "escalate"
"""What a task does: asks the model, tries a proposed law, tries an accepted law harder."""

Ask = Callable[[ModelRequest], ModelAnswer]

Task = tuple[str, Any]
"""What to do, and with what: a `ModelRequest`, or the document of a law."""


def open_all(bundle: Bundle) -> tuple[DiscoveryContext, PlannedModel]:
    """Compile a discovery with its model, prompt and ranking.

    Raises:
        Rejected: With the findings of the first of them that has any.
    """
    plan = compile_discovery(bundle)
    return open_context(plan), compile_model(bundle, plan.key("model"))


class Worker(Work):
    """Executes tasks. Sent to another process it is its bundle alone, which that process compiles when it needs it."""

    entry = "discovery"

    def __init__(self, bundle: Bundle, record: bool = False, plan: DiscoveryPlan | None = None) -> None:
        """Prepare to work.

        Args:
            bundle: The discovery.
            record: Whether a cassette asks its model for an answer that it does not hold, and keeps the answer.
            plan: The compiled discovery, if it was compiled already.
        """
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

        Raises:
            Rejected: The model cannot be asked.
        """
        plan, (kind, given) = self._compiled(), item
        if kind == ASK:
            return self.ask(given)
        if kind == TRY:
            return try_proposed(plan, given, plan.model.trial)
        return {**try_proposed(plan, given, plan.model.escalation), "held_out": try_elsewhere(plan, given)}

    def ask(self, request: ModelRequest) -> ModelAnswer:
        """Ask the model.

        Raises:
            Rejected: The model cannot be asked.
        """
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
