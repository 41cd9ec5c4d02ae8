"""A program that is asked again after its trial, and does not answer."""

import json
from typing import Any

import pytest

from specledger.oracles.answer import Answer, received
from specledger.pipeline import restarting
from specledger.spec.agent import Outside


class Silent:
    """A transport that answers a program's messages until one of a type."""

    def __init__(self, mute):
        self._mute, self.closed = mute, 0
        self._commitment = {"commitment": "0" * 64} if mute == "reveal" else {}

    def exchange(self, message):
        asked = json.loads(message)
        answers: dict[str, dict[str, Any]] = {
            "hello": {"name": "x"},
            "reset": {},
            "decide": {"action": "wait", "claims": [], **self._commitment},
        }
        types = {"hello": "hello", "reset": "ready", "decide": "statement", "reveal": "reveal"}
        if asked["type"] == self._mute:
            return Answer(None, "closed")
        body = {"type": types[asked["type"]], "id": asked["id"], **answers.get(asked["type"], {})}
        return received(json.dumps(body).encode())

    def close(self, *, bye=False):
        self.closed += 1


@pytest.mark.parametrize("mute", ["hello", "decide", "reveal", "nothing"])
def test_a_program_that_does_not_answer_again_is_no_finding(monkeypatch, mute):
    sessions: list[Silent] = []

    def session(_outside):
        sessions.append(Silent(mute))
        return sessions[-1]

    monkeypatch.setattr(restarting, "transport_of", session)
    asked: list[dict[str, Any]] = [{"type": "hello", "id": 0}, {"type": "reset", "id": 1, "episode": 0}]
    asked += [{"type": "decide", "id": 2 + t, "episode": 0, "t": t, "observation": {}} for t in (0, 1)]
    outside = Outside(command=["x"])
    assert not restarting.repeats_nonce(outside, asked)
    assert [one.closed for one in sessions] == [1, 1]
    assert not restarting.repeats_nonce(outside, asked[:3])
    assert not restarting.repeats_nonce(Outside(python="a:b"), asked)
    assert len(sessions) == 2
