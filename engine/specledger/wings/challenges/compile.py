"""Compiles the probes of a recorded agent, and who is asked about its calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from msgspec import Struct

from specledger.compile.extension import Attachment, CallProbes, Stage
from specledger.compile.model import PlannedModel, compile_model
from specledger.compile.plan import Actor, Plan
from specledger.compile.plan import Questions as Asked
from specledger.compile.roles import Role
from specledger.core.events import Event
from specledger.expr import INT, STRING, Environment, RecordType
from specledger.oracles.recording import Oracle, Place, Tape
from specledger.oracles.service_client import pricing
from specledger.oracles.spending import AskedCalls, Spending
from specledger.run.controller import Moment
from specledger.spec.agent import AskedAgain
from specledger.spec.prompt import Prompt
from specledger.wings.challenges.questions import AskedModel, Asks, Questions
from specledger.wings.challenges.rehearsal import count_calls
from specledger.wings.challenges.target import RecordedDecision
from specledger.wings.challenges.transcript import before, first_of_batch, sentences
from specledger.wings.challenges.wording import Wording, check_call_prompt
from specledger.wings.kernel.plan import Challenged
from specledger.wings.kernel.probes.check import CALL, Probe, check_probe
from specledger.wings.kernel.probes.judgement import too_few
from specledger.wings.kernel.probes.runner import ProbeRunner
from specledger.wings.kernel.probes.target import Situation
from specledger.wings.trajectories.model import Call, Entry

NAMES: Final = RecordType("call", {"tool": STRING, "horizon": INT})
"""What `when` reads beside `t`: the tool that was called, and how many calls the trajectory has."""


def attach(stage: Stage, role: Role) -> Attachment | None:
    """What asks about the calls of a role; None, with findings, if it is wrong."""
    recording = role.decider.trajectories
    asked = None if recording is None else recording.asks
    if recording is None or asked is None:
        return None  # the scenario is refused for its probes
    prompt = stage.bundle.specs[role.agent.refs["trajectories", "asks", "prompt"]]
    check_call_prompt(prompt, stage.diagnostics)
    planned = compile_model(stage.bundle, role.agent.refs["trajectories", "asks", "model"])
    environment = Environment(variables=NAMES.fields)
    checked = [check_probe(spec, environment, NAMES, None, (), 0, stage.diagnostics) for spec in role.probes]
    probes = [probe for probe in checked if probe is not None]
    assert isinstance(prompt.model, Prompt)  # noqa: S101 - a reference of kind prompt holds nothing else
    how = _Asking(asked, prompt.model, planned)
    return Attachment(
        gates=(),
        controller=Challenged(probes, NAMES, how.make),
        keyed=False,
        too_few_repeats=tuple(_weak(probes)),
        greeting=lambda _start: {},
        shown=lambda _state: {},
        questions=lambda _plan: Asked(),
        asks=lambda record, model: AskedModel(planned, record=record, model=model),
        rehearse=how.rehearse(probes) if recording.files else None,
    )


def _weak(probes: Sequence[Probe]) -> Iterable[str]:
    challenges = ((probe.spec.name, probe.spec.challenge) for probe in probes)
    return (name for name, challenge in challenges if challenge is not None and too_few(challenge) is not None)


class _Asking(Struct, frozen=True):
    """Who is asked in every run of a scenario, and how."""

    asked: AskedAgain
    prompt: Prompt
    planned: PlannedModel

    def make(self, plan: Plan, actor: Actor, probes: Sequence[Probe]) -> RecordedQuestions:
        """What asks in one run; a run without a tape of its own keeps none."""
        oracle = plan.oracle
        if oracle is None:
            oracle = Oracle(Tape())
            oracle.live = AskedModel(self.planned)
        oracle.spending = Spending(model=True, price=pricing(self.planned.service))
        return RecordedQuestions(self, probes, plan.seed, Questions(oracle, self.planned.identity))

    def rehearse(self, probes: Sequence[Probe]) -> Callable[[Plan], AskedCalls]:
        """What counts the questions of a run."""
        return lambda plan: count_calls(
            plan,
            self.planned.service,
            lambda model: RecordedQuestions(self, probes, plan.seed, model),
            deterministic=self.asked.deterministic,
        )


class RecordedQuestions:
    """Makes the probes of one run at the calls of its trajectories."""

    def __init__(self, how: _Asking, probes: Sequence[Probe], seed: int, questions: Asks) -> None:
        """Ask with these questions; draws are those of the seed."""
        self._how, self._probes, self._seed, self._questions = how, probes, seed, questions

    def about(self, moment: Moment, entries: Sequence[Entry], call: Call) -> Iterable[Event]:
        """Make the probes that are due at a call; one beside others in its message is no decision of its own."""
        if not first_of_batch(entries, call):
            return ()
        told = sentences(before(entries, call))
        if told is None:
            return ()
        how, calls = self._how, sum(isinstance(entry, Call) for entry in entries)
        target = RecordedDecision(
            call,
            told,
            Wording(how.asked, how.prompt, entries),
            self._questions,
            Place(moment.episode, moment.t, moment.t),
            deterministic=how.asked.deterministic,
        )
        state = {"tool": call.tool, "horizon": calls, "told": target.told}
        runner = ProbeRunner(self._probes, self._seed, calls)
        return runner.events_at(CALL, Situation(moment.episode, moment.t, state, {}), target)


CALL_PROBES: Final = CallProbes(attach)
