"""A recorded decision as probes see it: the model is asked again, with one sentence before the call changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from specledger.core.causes import Cause
from specledger.core.rng import Stream
from specledger.oracles.answer import Unanswered
from specledger.oracles.recording import Place
from specledger.wings.challenges.edits import edited
from specledger.wings.challenges.questions import CHOOSE, EXPLAIN, Asks
from specledger.wings.challenges.transcript import Sentence
from specledger.wings.challenges.unasked import Undeclared
from specledger.wings.challenges.wording import NO_CALL, Wording, called, reasons_of, stated_rate
from specledger.wings.kernel.probes.target import Answer, Situation
from specledger.wings.kernel.spec.probe import EventEdit
from specledger.wings.trajectories.model import Call

_MOST_TEXT = 4096
"""Characters of a sentence that a reason puts in the place of another."""
_REMOVED = ""


class RecordedDecision(Undeclared):
    """One call of a recording; the state of its situation holds the texts of the sentences before it as `told`.

    Attributes:
        promised: That nothing but the spec's word says that the model draws nothing.
    """

    promised: Final = True

    def __init__(
        self,
        call: Call,
        before: Sequence[Sentence],
        wording: Wording,
        questions: Asks,
        place: Place,
        *,
        deterministic: bool,
    ) -> None:
        """Ask about a call with these sentences before it."""
        self._before, self._wording, self._questions, self._place = before, wording, questions, place
        self._texts = {sentence.id: sentence.text for sentence in before}
        self._deterministic = deterministic
        self._recorded = wording.label(call.tool, call.arguments)
        self._last: tuple[str, Any] = ("", {})

    @property
    def told(self) -> dict[str, str]:
        """The sentences that can be changed, by their ids."""
        return {sentence.id: sentence.text for sentence in self._before if sentence.told}

    @property
    def deterministic(self) -> bool:
        """Whether the agent's spec declares the model deterministic."""
        return self._deterministic

    def choose(self, situation: Situation, asked: int) -> Answer:
        """The call that the model makes next."""
        prompt = self._wording.question(self._before, situation.state["told"])
        answer = self._questions.ask(self._place, CHOOSE, self._wording.system, prompt, self._wording.tools)
        call = called(answer)
        if call is None or call[0] not in self._wording.choices:
            raise Unanswered(Cause.AGENT_FAULT)
        self._last = call
        return Answer(self._wording.label(*call), 0)

    def document(self, situation: Situation) -> Any:
        """The reasons that the model states of its choice, which is the recorded one, as claims and counterfactuals."""
        if self._wording.label(*self._last) != self._recorded:
            raise Unanswered(Cause.NOT_REPEATABLE)
        claims, counterfactuals = [], []
        for number, reason in enumerate(self._reasons(situation)):
            stated = self._stated(f"reason-{number}", reason)
            claims.append({"var": stated["mutation"]["var"], "id": stated["cf_id"]})
            counterfactuals.append(stated)
        return {"trace": {"causal_claims": claims, "counterfactuals": counterfactuals}}

    def _reasons(self, situation: Situation) -> list[Any]:
        """What the model gives as the reasons of its last choice."""
        told = situation.state["told"]
        tool, arguments = self._last
        prompt = self._wording.why(self._before, told, {"choice": tool, "arguments": arguments})
        tools = (self._wording.because(list(told), tool),)
        return reasons_of(self._questions.ask(self._place, EXPLAIN, self._wording.system, prompt, tools))

    def edits(self, state: Any, edits: Sequence[EventEdit], stream: Stream) -> list[tuple[str, Any, str]]:
        """What the edits of a probe change, and the choices that they speak for."""
        others = [name for name in self._wording.choices if name not in (self._last[0], NO_CALL)]
        changes = (edited(edit, self._before, others, stream) for edit in edits)
        return [change for change in changes if change is not None]

    def named(self, situation: Situation, variable: str) -> bool:
        """Whether one of the changed sentences is among the reasons of the last choice."""
        changed = situation.state["edited"]
        return any(isinstance(reason, dict) and reason.get("event") in changed for reason in self._reasons(situation))

    def _stated(self, name: str, reason: Any) -> dict[str, Any]:
        """A reason as a counterfactual; one that cannot be read, or names the choice itself, is about no variable."""
        given = reason if isinstance(reason, dict) else {}
        event, becomes, choice = given.get("event"), given.get("becomes", _REMOVED), given.get("choice")
        known = isinstance(event, str) and isinstance(becomes, str) and isinstance(choice, str)
        label = self._wording.label(choice, given.get("arguments")) if isinstance(choice, str) else ""
        known = known and label != self._recorded
        return {
            "cf_id": name,
            "mutation": {"var": event if known else "", "new_value": becomes if known else ""},
            "predicted_outcome": {"choice": label},
            "confidence": stated_rate(given.get("confidence")),
        }

    def valid(self, document: Any) -> bool:
        """Every document is made here."""
        return document is not None

    def read(self, claim: Mapping[str, Any], counterfactuals: list[Mapping[str, Any]]) -> dict[str, str] | None:
        """A claim speaks of its own counterfactual, and gives no direction."""
        stated = next(item for item in counterfactuals if item["cf_id"] == claim["id"])
        choice = stated["predicted_outcome"]["choice"]
        return {"counterfactual": claim["id"], "choice": choice, "direction": ""}

    def confidences(self, document: Any, situation: Situation) -> Mapping[str, int]:
        """The rates that were stated."""
        stated = document["trace"]["counterfactuals"]
        return {item["cf_id"]: item["confidence"] for item in stated if item["confidence"] is not None}

    def is_choice(self, label: str) -> bool:
        """Whether a label is that of a call of a tool that is offered."""
        return self._wording.is_choice(label)

    def names(self, state: Any) -> list[str]:
        """The sentences that can be changed."""
        return list(state["told"])

    def alternatives(self, state: Any, variable: str) -> list[Any]:
        """A sentence that no reason names is left out."""
        return [_REMOVED]

    def mutate(self, state: Any, variable: str, value: Any) -> tuple[Any, dict[str, Any]] | None:
        """What came before, with one sentence changed."""
        told = state["told"]
        if isinstance(value, dict):
            changed = [name for name, text in value.items() if self._texts.get(name) != text]
            return {**state, "told": {**told, **value}, "edited": changed}, {"by": None, "changed": changed}
        if variable not in told or not isinstance(value, str) or len(value) > _MOST_TEXT:
            return None
        changed = [variable] if told[variable] != value else []
        return {**state, "told": {**told, variable: value}}, {"by": None, "changed": changed}
