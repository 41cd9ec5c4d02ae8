"""What the challenges of a recording ask, counted before the run: they are made with a model that is not asked.

It stands for one that makes the recorded call again and states one reason, the first line that it was told. Where that
line is not in the conversation it calls nothing, as it says, and no other change moves it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from msgspec.structs import asdict, replace

from specledger.compile.plan import Plan
from specledger.core.canonical import canonical_bytes
from specledger.core.events import Event
from specledger.core.floats import FLOATS_ANYWHERE
from specledger.evidence.receipts import typed
from specledger.evidence.receipts.kernel import Probe
from specledger.oracles.model import Call as CallOfModel
from specledger.oracles.model import ModelAnswer, Tool, answered, estimate_tokens
from specledger.oracles.recording import Place
from specledger.oracles.spending import AskedCalls
from specledger.run.controller import Moment
from specledger.run.loop import run
from specledger.spec.model import Service
from specledger.wings.challenges.questions import CHOOSE
from specledger.wings.challenges.transcript import before, sentences
from specledger.wings.challenges.wording import BECAUSE, MOST_REASONS, NO_CALL
from specledger.wings.kernel.plan import Challenged
from specledger.wings.kernel.spec.probe import Challenge
from specledger.wings.trajectories.model import Call, Entry

MOST_EPISODES: Final = 128
"""Trajectories whose probes are made; the count of more is in proportion to their calls."""


class RehearsedModel:
    """What is asked about one call after another, in the place of questions to a model.

    Attributes:
        calls: The questions so far.
        asked, answered: Their tokens, functions included, and those of the answers, about.
    """

    def __init__(self) -> None:
        self.calls = self.asked = self.answered = 0
        self._call, self._reason = Call("", ""), ("", "")

    def face(self, call: Call, entries: Sequence[Entry]) -> None:
        """Take the next recorded call."""
        pieces = sentences(before(entries, call)) or ()
        can_be_changed = ((piece.id, piece.text) for piece in pieces if piece.told and piece.text)
        self._call, self._reason = call, next(can_be_changed, ("", ""))

    def ask(self, place: Place, kind: str, system: str, prompt: str, tools: tuple[Tool, ...]) -> ModelAnswer:
        """Answer, and count the question."""
        offered = canonical_bytes([asdict(tool) for tool in tools], FLOATS_ANYWHERE).decode()
        answer = self._chosen(prompt) if kind == CHOOSE else self._stated()
        self.calls += 1
        self.asked += sum(map(estimate_tokens, (system, prompt, offered)))
        self.answered += estimate_tokens(answer.name + answer.arguments)
        return answered("", calls=[answer])

    def _chosen(self, prompt: str) -> CallOfModel:
        if self._reason[1] not in prompt:
            return CallOfModel(NO_CALL, "{}")
        given = self._call.arguments if isinstance(self._call.arguments, dict) else {}
        return CallOfModel(self._call.tool, canonical_bytes(given, FLOATS_ANYWHERE).decode())

    def _stated(self) -> CallOfModel:
        stated = {"event": self._reason[0], "becomes": "", "choice": NO_CALL}
        reasons = [stated] if self._reason[0] else []
        return CallOfModel(BECAUSE, canonical_bytes({"reasons": reasons}).decode())


class _Rehearsed:
    """Makes the probes of a run at each call, and counts the decisions and what their probes may ask."""

    def __init__(self, asks: Any, model: RehearsedModel, most: dict[str, int]) -> None:
        self._asks, self._model, self._most = asks, model, most
        self.decisions = self.most_calls = 0

    def about(self, moment: Moment, entries: Sequence[Entry], call: Call) -> Iterator[Event]:
        """Make the probes that are due at a call."""
        self._model.face(call, entries)
        events = list(self._asks.about(moment, entries, call))
        self.decisions += bool(events)
        self.most_calls += sum(self._most[typed(Probe, event.body)["probe"]] for event in events)
        return iter(events)


def count_calls(
    plan: Plan, service: Service | None, make: Callable[[RehearsedModel], Any], *, deterministic: bool
) -> AskedCalls:
    """What asking about the calls of a recording takes; `make` gives what asks a model about them.

    Raises:
        Rejected: A log is missing, or cannot be read.
    """
    (actor,), recording = plan.actors, plan.recording
    challenged = actor.controller
    assert recording is not None and isinstance(challenged, Challenged)  # noqa: S101, PT018 - the caller compiled it
    challenges = {probe.spec.name: probe.spec.challenge for probe in challenged.probes}
    model = RehearsedModel()
    most = {name: 0 if spec is None else most_questions(spec) for name, spec in challenges.items()}
    rehearsed = _Rehearsed(make(model), model, most)
    with TemporaryDirectory() as folder:
        stored = plan.replaying(recording.store((), Path(folder) / "trajectories.jsonl"))
        asker = replace(actor, controller=replace(challenged, make=lambda *_: rehearsed))
        for _ in run(replace(stored, actors=(asker,), episodes=min(stored.episodes, MOST_EPISODES))):
            pass
    steps = [stored.steps(episode) for episode in range(stored.episodes)]
    made, whole = sum(steps[:MOST_EPISODES]), sum(steps)

    def of_all(count: int) -> int:
        return round(count * whole / made) if made else 0

    return AskedCalls(
        decisions=of_all(rehearsed.decisions),
        calls=of_all(model.calls),
        most_calls=of_all(rehearsed.most_calls),
        prompt=of_all(model.asked),
        output=of_all(model.answered),
        service=service,
    )


def most_questions(spec: Challenge) -> int:
    """What a challenge of a call asks at most: choices, and reasons for the choice, or for each that was changed."""
    same, repeats = max(1, spec.arms.same, spec.noisy.same), max(spec.repeats, spec.noisy.repeats)
    changes = repeats * min(spec.draw.most, len(spec.edit or ()) or MOST_REASONS)
    choices = max(spec.test.most or 0, same + changes)
    return 1 + choices + spec.arms.placebos + (choices - same if spec.edit else 1)
