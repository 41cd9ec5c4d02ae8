"""Questions to a model about recorded calls: each is an exchange of the run's tape, and replay asks nobody."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar

from msgspec.structs import asdict

from specledger.compile.model import PlannedModel
from specledger.core.canonical import canonical_bytes, parse_canonical, parse_json
from specledger.oracles.answer import Answer, Asked, received
from specledger.oracles.failures import TOO_LARGE
from specledger.oracles.model import Model, ModelAnswer, ModelRequest, Tool, failed
from specledger.oracles.recording import E_TAPE_MODEL, Oracle, Place, TapeError

CHOOSE, EXPLAIN = "choose", "explain"
"""The messages: which call comes next, and why."""
_ANSWERS = {CHOOSE: "choice", EXPLAIN: "reasons"}

Made = TypeVar("Made")


class AskedModel:
    """The model of a run as a live agent, which is opened when it is first asked."""

    def __init__(self, planned: PlannedModel, *, record: bool = False, model: Model | None = None) -> None:
        """Ask a model, or the one given; to `record` a cassette asks it for what it does not hold."""
        self._planned, self._record = planned, record
        self._model = model

    def ask(self, position: Place, asked: Asked, message: bytes) -> Answer:
        """Ask once; the answer holds what the model answered, failures among them."""
        question: Any = parse_canonical(message, limit=len(message), most=len(message))
        if self._model is None:
            self._model = self._planned.open(self._record)
        request = _request(question)
        source = {"request": request.key(self._planned.identity), "answer": self._model.ask(request).document()}
        return received(canonical_bytes({"id": question["id"], "type": _ANSWERS[asked.message], "source": source}))

    def end(self, session: int) -> None:
        """Close the connection of a model that holds one."""
        close = getattr(self._model, "close", None)
        if close is not None:
            close()
        self._model = None

    def watch(self, position: Place, work: Callable[[], Made]) -> Made:
        """Do the work: nothing is watched."""
        return work()


def _request(question: Mapping[str, Any]) -> ModelRequest:
    tools = tuple(Tool(**tool) for tool in question["tools"])
    return ModelRequest(question["id"], question["system"], question["prompt"], tools=tools)


class Asks(Protocol):
    """Answers questions about recorded calls."""

    def ask(self, place: Place, kind: str, system: str, prompt: str, tools: tuple[Tool, ...]) -> ModelAnswer:
        """What the model answers."""


class Questions:
    """The questions of one run, numbered in their order: the same one asked twice has two answers."""

    def __init__(self, oracle: Oracle, identity: Mapping[str, Any]) -> None:
        """Ask through the run's source of outside answers."""
        self._oracle, self._identity = oracle, identity
        self._number = 0

    def ask(self, place: Place, kind: str, system: str, prompt: str, tools: tuple[Tool, ...]) -> ModelAnswer:
        """What the model answers, or answered.

        Raises:
            TapeError: E_TAPE_MODEL, if the recorded answer is not one to this question.
        """
        message = {
            "id": self._number,
            "type": kind,
            "system": system,
            "prompt": prompt,
            "tools": [asdict(tool) for tool in tools],
        }
        self._number += 1
        answer = self._oracle.ask(place, 0, message)
        if answer.received is None:
            return failed(TOO_LARGE)
        wanted = {"id": message["id"], "type": _ANSWERS[kind]}
        try:
            body = parse_json(answer.received)
            source = body.pop("source")
            if body != wanted or source["request"] != _request(message).key(self._identity):
                raise ValueError
            return ModelAnswer.read(source["answer"])
        except (ValueError, LookupError, TypeError, AttributeError):
            raise TapeError(E_TAPE_MODEL, f"answer {message['id']} is none to the question about a call") from None
