"""The coordinator of a discovery: plans its steps, submits their tasks, and commits their results in order.

Every answer and every step's result is in the journal before it is used. What a step may look at is fixed by its
position, so that neither the number of workers nor an interruption changes the evidence. Source: law proposer,
section 11.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from itertools import count, islice
from typing import Any, Final

from msgspec import Struct, field

from specledger.core.diagnostics import Diagnostic, Rejected
from specledger.core.events import Event
from specledger.oracles.failures import UNASKED
from specledger.oracles.model import ModelAnswer, ModelRequest
from specledger.run.executor import Crew, Executor
from specledger.run.workers import ALONE
from specledger.wings.discovery.discovery_state import DiscoveryState, View, start_event
from specledger.wings.discovery.journal import E_STORE_BROKEN, Journal
from specledger.wings.discovery.plan import PROPOSE, DiscoveryPlan
from specledger.wings.discovery.prompt import Prompt
from specledger.wings.discovery.proposer import ask_for
from specledger.wings.discovery.worker import (
    ASK,
    ESCALATE,
    TRY,
    Ask,
    DiscoveryContext,
    Worker,
    asked_here,
    digest_of,
    proposal_of,
)

Progress = Callable[[int, int], None]

_MALFORMED: Final = (LookupError, TypeError, ValueError, AttributeError)
_TRIED: Final = {"law", "document", "verdict", "error"}
_PROPOSAL: Final = {
    *("iteration", "snapshot", "prompt", "request", "answer"),
    *("rejections", "redundant", "warnings", "sensitivity"),
}


class _Step(Struct):
    """A step under way.

    Attributes:
        position, kind, iteration: Which one it is; an escalation has the number of the iteration that follows.
        open: How many of its tasks are not finished.
        question: The prompt and the request of an iteration.
        held: Whether its result was read from the journal.
    """

    position: int
    kind: str
    iteration: int
    view: View
    result: dict[str, Any] = field(default_factory=dict)
    open: int = 0
    question: tuple[Prompt, ModelRequest] | None = None
    recorded: bool = False


class Coordinator:
    """Makes one discovery.

    Attributes:
        answers: The answers of the committed iterations: the iteration, and `{request, answer}`, where `request` is the
            key of the request.
    """

    def __init__(
        self,
        workbench: DiscoveryContext,
        identity: Mapping[str, Any],
        crew: Crew,
        journal: Journal,
        *,
        width: int = 1,
        ask: Ask | None = None,
    ) -> None:
        """Make ready for a discovery, `width` steps at once; the order of commitment is the same for any width.

        `ask` asks the model in this process, instead of a task of the crew.
        """
        self.answers: list[tuple[int, Mapping[str, Any]]] = []
        self._workbench = workbench
        self._identity = identity
        self._crew = crew
        self._journal = journal
        self._width = width
        self._ask = ask
        self._record = DiscoveryState(workbench.plan, workbench.laws)
        self._steps: dict[tuple[int, str], _Step] = {}
        self._tasks: dict[int, tuple[_Step, int | None]] = {}  # the step, and which of its laws; None is the question
        self._numbers = count()

    def events(self, progress: Progress | None = None) -> Iterator[Event]:
        """Make the discovery, or resume it; `progress` is called with (steps done, steps at most)."""
        plan, record = self._workbench.plan, self._record
        yield start_event(plan, self._identity)
        while not record.closed:
            for position, kind, iteration in islice(record.steps(), self._width):
                if (position, kind) not in self._steps:
                    self._steps[position, kind] = self._begin(position, kind, iteration)
            position, kind, _ = next(record.steps())
            step = self._steps[position, kind]
            while step.open:
                self._advance()
            del self._steps[position, kind]
            yield from self._commit(step)
            if progress is not None:
                progress(self._reached(), plan.most_steps)

    def _reached(self) -> int:
        """How many steps are done; all of them when the discovery has ended, however early it stopped."""
        most, record = self._workbench.plan.most_steps, self._record
        return most if record.closed else min(record.position, most - 1)

    def _begin(self, position: int, kind: str, iteration: int) -> _Step:
        step = _Step(position, kind, iteration, self._record.view(position, kind))
        recorded = self._journal.result(position, kind)
        if recorded is not None:
            step.result, step.recorded = recorded, True
        elif kind == PROPOSE:
            step.question = ask_for(self._workbench.tools, step.view.memory, self._workbench.request, iteration)
            self._ask_model(step, step.question[1])
        else:
            laws = [{"law": key, "document": dict(document)} for key, document in step.view.waiting.items()]
            self._try_laws(step, {"laws": laws}, ESCALATE)
        return step

    def _ask_model(self, step: _Step, request: ModelRequest) -> None:
        recorded = self._journal.answer(step.iteration, digest_of(request.document()))
        if recorded is not None:
            self._read_answer(step, self._answer(step.iteration, recorded))
        elif self._ask is not None:
            self._take_answer(step, self._ask(request))
        else:
            self._submit(step, None, (ASK, request))

    def _take_answer(self, step: _Step, answer: ModelAnswer) -> None:
        """Make an answer durable, and then use it."""
        assert step.question is not None  # noqa: S101 - only an iteration asks
        request = step.question[1]
        document = {"request": request.key(self._identity), "answer": answer.document()}
        self._journal.keep_answer(step.iteration, digest_of(request.document()), document)
        self._read_answer(step, answer)

    def _read_answer(self, step: _Step, answer: ModelAnswer) -> None:
        assert step.question is not None  # noqa: S101 - only an iteration asks
        self._try_laws(step, proposal_of(self._workbench, step.view, *step.question, answer), TRY)

    def _try_laws(self, step: _Step, result: dict[str, Any], kind: str) -> None:
        """Submit a trial of each law of a step; without a law the step is finished."""
        step.result = result
        for index, law in enumerate(result["laws"]):
            self._submit(step, index, (kind, law["document"]))
        if not result["laws"]:
            self._finish(step)

    def _submit(self, step: _Step, index: int | None, task: Any) -> None:
        number = next(self._numbers)
        self._tasks[number] = step, index
        step.open += 1
        self._crew.submit(number, task)

    def _advance(self) -> None:
        """Wait for a task, and take what it gave."""
        done = self._crew.wait()
        step, index = self._tasks.pop(done.index)
        given = done.value()
        step.open -= 1
        if index is None:
            self._take_answer(step, given)
            return
        step.result["laws"][index].update(given)
        if not step.open:
            self._finish(step)

    def _finish(self, step: _Step) -> None:
        self._journal.keep_result(step.position, step.kind, step.result)

    def _commit(self, step: _Step) -> list[Event]:
        """Commit the next step."""
        if not step.recorded:
            self._note_answer(step)
            return self._record.take(step.kind, step.result)
        try:
            _check_result(step)
            events = self._record.take(step.kind, step.result)
        except (*_MALFORMED, Rejected) as error:
            why = error.diagnostics[0].message if isinstance(error, Rejected) else f"{type(error).__name__}: {error}"
            raise self._broken(f"the result of step {step.position}", why) from None
        self._note_answer(step)
        return events

    def _note_answer(self, step: _Step) -> None:
        """Note the answer from which the result of an iteration was made."""
        if step.kind != PROPOSE:
            return
        proposal = step.result["proposal"]
        recorded = self._journal.answer(step.iteration, proposal["request"])
        answer = self._answer(step.iteration, recorded)
        if digest_of(answer.document()) != proposal["answer"]["digest"]:
            raise self._broken(f"the result of step {step.position}", "it was made from another answer")
        self.answers.append((step.iteration, recorded))

    def _answer(self, iteration: int, recorded: Any) -> ModelAnswer:
        try:
            return ModelAnswer.read(recorded["answer"])
        except _MALFORMED as error:
            raise self._broken(f"the answer of iteration {iteration}", str(error)) from None

    def _broken(self, what: str, why: str) -> Rejected:
        return Rejected([Diagnostic(E_STORE_BROKEN, f"{self._journal.shown}: {what} cannot be used: {why}")])


def _check_result(step: _Step) -> None:
    """Check that a result from the journal has the form of its step's.

    Raises:
        ValueError: It has not; a `LookupError`, `TypeError` or `AttributeError` says the same.
    """
    proposes = step.kind == PROPOSE
    if step.result.keys() != ({"proposal", "laws"} if proposes else {"laws"}):
        raise ValueError("it is that of another kind of step")
    if any(law.keys() != _TRIED | {"features" if proposes else "held_out"} for law in step.result["laws"]):
        raise ValueError("a law of it has other fields")
    if proposes:
        proposal = step.result["proposal"]
        if proposal.keys() != _PROPOSAL:
            raise ValueError("its proposal has other fields")
        if (proposal["iteration"], proposal["snapshot"]) != (step.iteration, step.view.digest):
            raise ValueError("it is that of another step")


def run_discovery(
    workbench: DiscoveryContext, identity: Mapping[str, Any], ask: Ask | None = None, *, executor: Executor = ALONE
) -> Iterator[Event]:
    """Make a discovery without keeping a journal."""
    plan = workbench.plan
    worker = Worker(plan.bundle, plan=plan)
    asked = ask or asked_here(worker, executor)
    with closing(Journal(None, plan.bundle.document())) as journal, executor.open(worker) as crew:
        yield from Coordinator(workbench, identity, crew, journal, width=executor.width, ask=asked).events()


def forget_failures(plan: DiscoveryPlan, journal: Journal) -> int:
    """Delete failed answers, and the results from the first of them on; gives the number of the answers.

    The model is asked again. Later answers stay, and are used where the same is asked again.
    """
    failed = []
    for iteration, question, recorded in journal.answers():
        try:
            if ModelAnswer.read(recorded["answer"]).failure in UNASKED:
                failed.append((iteration, question))
        except _MALFORMED as error:
            message = f"{journal.shown}: the answer of iteration {iteration} cannot be used: {error}"
            raise Rejected([Diagnostic(E_STORE_BROKEN, message)]) from None
    if failed:
        journal.forget(failed, plan.position_of(failed[0][0]))
    return len(failed)
