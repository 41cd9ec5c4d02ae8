"""What is wrong with the first answer of an agent, in words that name the place, what stands there, and what belongs there."""

import json

import pytest

from specledger.oracles.answer import Answer, Asked, Exchange
from specledger.report.agent_trial import Trial

HELLO = {
    "type": "hello",
    "id": "1",
    "operations": [{"op": "go", "args": {"to": ["N", "S"], "by": "int"}}, {"op": "wait", "args": {}}],
    "variables": ["hazard", "score"],
    "claims": {"top": "int"},
}
TRIAL = Trial([HELLO, {"type": "decide", "id": "2"}], "200 ms", None)


def answered(message, t=0, asked="decide"):
    return Exchange(0, t, Asked(0, asked, "0" * 64), Answer(json.dumps(message).encode()))


def proposal(**changes):
    return {"action": {"op": "wait"}, "score": 1, "top": 3} | changes


PROPOSALS = {
    "no object": ("a", "`[0]` is 'a', expected an object"),
    "no score": ({"action": {"op": "wait"}}, "`[0].score` is 'missing', expected a whole number"),
    "a score that is true": (proposal(score=True), "`[0].score` is True, expected a whole number"),
    "a score that is a fraction": (proposal(score=1.5), "`[0].score` is 1.5, expected a whole number"),
    "claims that nobody knows": (proposal(zeal=1, bold=2), "`[0].bold` is no claim of the governor"),
    "an argument too many": (proposal(action={"op": "wait", "to": "N"}), "`[0].action` has `to`, and 'wait' takes no argument"),
    "an argument too few": (proposal(action={"op": "go", "to": "N"}), "`[0].action` has `to`, and 'go' takes `by`, `to`"),
    "no argument": (proposal(action={"op": "go"}), "`[0].action` has no argument, and 'go' takes `by`, `to`"),
    "nothing that is seen": (proposal(), ""),
    "an operation that nobody knows": (proposal(action={"op": "fly"}), ""),
    "an operation that is a list": (proposal(action={"op": ["go"]}), ""),
    "an action that is a list": (proposal(action=["go"]), ""),
}  # fmt: skip


@pytest.mark.parametrize(("one", "words"), PROPOSALS.values(), ids=PROPOSALS)
def test_what_is_wrong_with_a_proposal(one, words):
    assert TRIAL.submission("malformed_proposal", (0, 0), [answered({"proposals": [one]})]) == words
    later = answered({"proposals": [proposal(), one]})
    assert TRIAL.submission("malformed_proposal", (0, 0), [later]) == words.replace("[0]", "[1]")
    assert TRIAL.submission("another_reason", (0, 0), [answered({"proposals": [one]})]) == ""


ACTIONS = {
    "an operation that nobody knows": ({"op": "fly"}, False),
    "a value that it does not take": ({"op": "go", "to": "W", "by": 1}, False),
    "an argument too few": ({"op": "go", "to": "N"}, False),
    "an argument too many": ({"op": "wait", "to": "N"}, False),
    "no operation": ({}, False),
    "an operation that is a list": ({"op": ["go"]}, False),
    "one that is known": ({"op": "go", "to": "S", "by": 7}, True),
    "one without arguments": ({"op": "wait"}, True),
}


@pytest.mark.parametrize(("action", "known"), ACTIONS.values(), ids=ACTIONS)
def test_whether_an_action_is_an_operation_with_its_arguments(action, known):
    words = "" if known else f"{action!r} is none of the `operations` of `hello`"
    assert TRIAL.submission("unknown_action", (0, 0), [answered({"action": action})]) == words
    several = answered({"proposals": [{"action": {"op": "wait"}}, {"action": action}, "x"]})
    assert TRIAL.submission("unknown_action", (0, 0), [several]) == words


def test_what_is_asked_about_is_the_decision_of_the_step():
    exchanges = [
        answered({"proposals": ["a"]}, asked="hello"),
        answered({"proposals": ["b"]}, t=1),
        answered({"proposals": ["c"]}),
        answered({"proposals": ["d"]}),
    ]
    assert TRIAL.submission("malformed_proposal", (0, 0), exchanges) == "`[0]` is 'c', expected an object"
    assert TRIAL.submission("malformed_proposal", (0, 1), exchanges) == "`[0]` is 'b', expected an object"
    assert TRIAL.submission("malformed_proposal", (1, 0), exchanges) == ""


@pytest.mark.parametrize(("length", "shown"), [(150, 150), (400, 200)])
def test_a_long_text_is_cut(length, shown):
    words = TRIAL.submission("malformed_proposal", (0, 0), [answered({"proposals": ["x" * length]})])
    assert (words.endswith("..."), words.count("x") >= shown - 40) == (length > 200, True)
    assert len(words) <= 203


@pytest.mark.parametrize("received", [b"", b"[1]", b"no JSON", b"\xff"])
def test_an_answer_that_is_no_object_says_nothing(received):
    exchange = Exchange(0, 0, Asked(0, "decide", "0" * 64), Answer(received))
    assert TRIAL.submission("malformed_proposal", (0, 0), [exchange]) == ""
