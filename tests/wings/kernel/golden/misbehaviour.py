"""Runs that go wrong on purpose, with their receipts by type."""

import json
from collections import Counter
from collections.abc import Callable

from msgspec.structs import replace

from specledger.compile.scenario import compile_scenario
from specledger.core.canonical import canonical_bytes
from specledger.core.floats import FLOATS_ANYWHERE
from specledger.gates.capability import Refused
from specledger.kinds import load
from specledger.oracles.answer import received
from specledger.oracles.recording import Oracle, Tape
from specledger.pipeline.golden import Pin, pin_events
from specledger.run.loop import run
from specledger.wings.kernel.documents.digests import receive
from specledger.wings.kernel.documents.tokens import Asked
from specledger.wings.kernel.run.controller import KernelController
from specledger.wings.kernel.run.document_agent import SpecAgent, Submitted
from tests.pins import ROOT

FOLDER = "fixtures/misbehaviour"


class Ran:
    """A pin, and its receipts by type."""

    def __init__(self, made: Pin):
        self.made = made
        self.receipts = [json.loads(line) for line in made.receipts]

    def of(self, type_):
        return [one["body"] for one in self.receipts if one["type"] == type_]

    @property
    def result(self):
        return self.made.tree["result"]

    @property
    def violated(self):
        """The invariants that steps broke, in order and without repetition."""
        return list(dict.fromkeys(one["invariant"] for step in self.of("step") for one in step["violations"]))

    @property
    def reasons(self):
        """How often each gate rejected a proposal, by `gate:reason`."""
        decided = (decision for step in self.of("step") for decision in step["decisions"])
        return Counter(f"{one['gate']}:{one['reason']}" for decision in decided for one in decision["rejected"])

    @property
    def chosen(self):
        return [step["chosen"] for step in self.of("step")]

    @property
    def refusals(self):
        """The reasons of refused executions, from the entries of the audit log."""
        notes = [one["kernel_decision"]["notes"] for one in self.of("audit") if one["event"] == "CAPABILITY_DENIED"]
        return [note.rpartition("refused:")[2] for note in notes]

    @property
    def witnessed(self):
        """The invariants that the entries of the audit log name, in order and without repetition."""
        return list(dict.fromkeys(one["invariant"] for entry in self.of("audit") for one in entry["witnesses"]))

    @property
    def logged(self):
        return Counter(one["event"] for one in self.of("audit"))


class Answering:
    """An agent from outside that greets, and gives its answers to decisions in order; `id` is put into objects."""

    def __init__(self, answers):
        self._answers = iter(answers)

    def ask(self, place, asked, message):
        said = {"hello": {"type": "hello", "name": "answering"}, "reset": {"type": "ready"}}.get(asked.message)
        answer = said or next(self._answers)
        number = json.loads(message)["id"]
        return received(canonical_bytes({"id": number, **answer}, FLOATS_ANYWHERE)) if type(answer) is dict else answer

    def end(self, session):
        pass

    def watch(self, place, work):
        return work()


def go(name, scenario, *sets, case="", tape=None, answers=None, controller=None):
    """Run one case of a scenario, answered by a tape or by given answers, or under a controller of its own."""
    place = ROOT / "fixtures/specs/scenario" / f"{scenario}.yaml"
    cases = load(str(place if place.exists() else ROOT / "specs/scenario" / place.name), set=list(sets))
    (bundle,) = (one for one in cases if one.case == case)
    plan = compile_scenario(bundle)
    if tape is not None:
        plan = replace(plan, oracle=Oracle(tape))
    if answers is not None:
        oracle = Oracle(Tape())
        oracle.live = Answering(answers)
        plan = replace(plan, oracle=oracle)
    events = run(plan, controllers=controller and [controller(plan)])
    return Ran(replace(pin_events(bundle, events), name=name))


class Submitting(SpecAgent):
    """An agent that submits a changed document."""

    change: Callable

    def submit(self, moment):
        made = super().submit(moment)
        return made and Submitted(receive(self.change(made.submission.document)), made.score)


class Silent(SpecAgent):
    """An agent that does not open its commitments."""

    def reveal(self, snapshot, challenge):
        return b""


def submitting(change):
    """A controller whose agent submits what `change` makes of its document."""
    return lambda plan: KernelController(
        plan, plan.actors[0], type("Changing", (Submitting,), {"change": staticmethod(change)})
    )


class Attempting(KernelController):
    """A controller that tries an execution which its token does not permit, at one place of the first step."""

    def __init__(self, plan, place, change):
        super().__init__(plan, plan.actors[0])
        self._place, self._change = place, change

    def events_at(self, place, moment):
        if moment.token is not None:
            self.held = moment.token.token
        if (place, moment.t) == self._place:
            self._attempt(moment)
        yield from super().events_at(place, moment)

    def _attempt(self, moment):
        asked = Asked(json.loads(self.submission.actions[0]), self.granted, self.now_ms)
        call = {"token": self.held, "index": 0, "committed": self.submission, "scope": asked}
        call |= self._change(self, call) or {}
        try:
            self.acting.act(**call, state=moment.state, inputs={})
        except Refused as refused:
            self.enter_refusal(refused.reason)


def attempting(change, place="after_token", t=0):
    """A controller that makes one attempt with a changed call of the actuator."""
    return lambda plan: Attempting(plan, (place, t), change)
