"""Replays the session of a model agent: what the tape says that the model answered must give the recorded messages.

The prompt of each question is made again, so that its request has the recorded key; no model is asked.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from specledger.core.canonical import parse_json
from specledger.oracles.answer import Answer, halts
from specledger.oracles.model import ModelAnswer, ModelRequest
from specledger.oracles.model_agent import ModelAgent, ModelPlan
from specledger.oracles.recording import E_TAPE_MODEL, TapeError


class ModelReplay:
    """The sessions of one run, and the model that answers in them: what each recorded answer says it was made of."""

    def __init__(self, plan: ModelPlan) -> None:
        """Replay the agent of a run."""
        self._plan = replace(plan, model=lambda _record: self)
        self._sessions: dict[int, ModelAgent] = {}
        self._source: Any = None

    def check(self, session: int, message: bytes, answer: Answer) -> None:
        """Make an answer again, and compare it with the recorded one.

        Raises:
            TapeError: E_TAPE_MODEL.
        """
        if halts(answer):
            return
        self._source = _source(answer)
        agent = self._sessions.setdefault(session, ModelAgent(self._plan))
        if agent.exchange(message) != answer:
            raise TapeError(E_TAPE_MODEL, f"an answer of session {session} is not what the model's answer amounts to")

    def ask(self, request: ModelRequest) -> ModelAnswer:
        """What the tape says that the model answered.

        Raises:
            TapeError: E_TAPE_MODEL, if it says nothing, or of another request.
        """
        source = self._source
        if not isinstance(source, dict) or source.keys() != {"request", "answer"}:
            raise TapeError(E_TAPE_MODEL, f"nothing is recorded that the model answered to question {request.turn}")
        if source["request"] != request.key(self._plan.identity):
            raise TapeError(E_TAPE_MODEL, f"question {request.turn} to the model is another one than the recorded")
        try:
            return ModelAnswer.read(source["answer"])
        except ValueError:
            raise TapeError(E_TAPE_MODEL, f"the answer to question {request.turn} is no answer of a model") from None


def _source(answer: Answer) -> Any:
    try:
        body = parse_json(answer.received or b"")
    except ValueError:
        return None
    return body.get("source") if isinstance(body, dict) else None
