"""The model of a rehearsal: it answers as recorded, and counts what a question and an answer take."""

from typing import Any

import pytest
from msgspec import UNSET

from specledger.oracles.model import estimate_tokens
from specledger.wings.challenges.questions import CHOOSE
from specledger.wings.challenges.rehearsal import RehearsedModel
from specledger.wings.challenges.wording import BECAUSE, NO_CALL
from specledger.wings.trajectories.model import Call, Message, Speaker

PLACE: Any = None
SAID = [Message(Speaker.USER, "Pay it.")]


def answer(call, kind, prompt, entries=SAID):
    model = RehearsedModel()
    model.face(call, [*entries, call])
    return model, model.ask(PLACE, kind, "system", prompt, ()).calls[0]


ARGUMENTS = {
    "an object": ({"n": 1}, '{"n":1}'),
    "none": (UNSET, "{}"),
    "a list": ([1], "{}"),
}


@pytest.mark.parametrize(("arguments", "expected"), ARGUMENTS.values(), ids=ARGUMENTS)
def test_the_recorded_call_is_made_while_its_reason_is_there(arguments, expected):
    call = Call("1", "pay", arguments)
    model, made = answer(call, CHOOSE, "they said: Pay it.")
    assert (made.name, made.arguments, model.calls) == ("pay", expected, 1)
    model, made = answer(call, CHOOSE, "they said nothing")
    assert (made.name, made.arguments) == (NO_CALL, "{}")


def test_the_first_sentence_is_stated_as_the_reason():
    _, stated = answer(Call("1", "pay", {}), "why", "")
    assert (stated.name, stated.arguments.count("event")) == (BECAUSE, 1)
    _, stated = answer(Call("1", "pay", {}), "why", "", entries=[])
    assert (stated.name, stated.arguments) == (BECAUSE, '{"reasons":[]}')


def test_tokens_are_counted():
    model, made = answer(Call("1", "pay", {"n": 1}), CHOOSE, "they said: Pay it.")
    assert model.asked == sum(map(estimate_tokens, ("system", "they said: Pay it.", "[]")))
    assert model.answered == estimate_tokens(made.name + made.arguments)
