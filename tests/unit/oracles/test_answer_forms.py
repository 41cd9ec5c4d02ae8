"""Models without calls of functions: one JSON object, or labels, become the call that they amount to."""

import json

import pytest

from specledger.oracles.answer_forms import JsonCalls, read_call
from specledger.oracles.labels import LETTERS, LabelCalls, read_label
from specledger.oracles.model import Call, ModelRequest, TokenUsage, Tool, answered, failed
from tests.unit.oracles.loopback import Reply, completion

WAIT = Tool("wait", "Waits.", {"type": "object", "properties": {}})
MOVE = Tool(
    "move",
    "Goes one step.",
    {
        "type": "object",
        "properties": {
            "dir": {"type": "string", "enum": ["N", "S"]},
            "fast": {"type": "boolean"},
            "note": {"type": "string"},
            "to": {"type": "string"},
            "reasons": {"type": "array", "items": {"type": "object", "properties": {"why": {"enum": ["a", "b"]}}}},
        },
        "required": ["note"],
    },
)
REQUEST = ModelRequest(3, "act", "Where to?", tools=(WAIT, MOVE))


class Answering:
    """A model that gives these answers in turn, and keeps what it was asked."""

    def __init__(self, *answers):
        self.answers, self.asked = list(answers), []

    def ask(self, request):
        self.asked.append(request)
        return self.answers.pop(0)


def says(text):
    return answered(text, TokenUsage(10, 1))


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ('{"call": "move", "arguments": {"dir": "N"}}', Call("move", '{"dir":"N"}')),
        ('Sure!\n```json\n{"call": "wait"}\n```', Call("wait", "{}")),
        ('{"call": "fly", "arguments": {}}', Call("fly", "{}")),
        ('{"call": 7, "arguments": {}}', None),
        ('{"call": "move", "arguments": [1]}', None),
        ('{"call": "move"', None),
        ("I would move.", None),
        ("[1]", None),
        ('{"call": "move", "arguments": {"a": NaN}}', None),
    ],
)
def test_a_json_object_is_read_as_a_call_and_nothing_else_is(text, call):
    assert read_call(text) == call
    answer = JsonCalls(Answering(says(text))).ask(REQUEST)
    assert answer.calls == (() if call is None else (call,))
    assert answer.text == (text if call is None else "")


def test_functions_become_words_and_a_schema():
    model = Answering(says("{}"))
    JsonCalls(model).ask(REQUEST)
    (asked,) = model.asked
    assert asked.tools == ()
    assert '"name":"move"' in asked.prompt
    assert [option["properties"]["call"]["enum"] for option in asked.schema["anyOf"]] == [["wait"], ["move"]]


@pytest.mark.parametrize("form", [JsonCalls, LabelCalls])
def test_a_request_without_functions_and_a_failure_are_passed_on(form):
    plain, late = ModelRequest(0, "", "a law?"), failed("timed_out")
    model = Answering(says("[]"), late)
    assert form(model).ask(plain) == says("[]")
    assert model.asked == [plain]
    assert form(model).ask(REQUEST).failure == "timed_out"


def test_a_call_is_chosen_label_by_label():
    model = Answering(*map(says, ["B", "A", "(B)", "b: A"][:3]), says('{"label": "A", "logprobs": {"A": -5, "B": -9}}'))
    answer = LabelCalls(model).ask(REQUEST)
    (call,) = answer.calls
    assert (call.name, json.loads(call.arguments)) == (
        "move",
        {"dir": "N", "fast": False, "note": "", "reasons": [{"why": "a"}]},
    )
    assert answer.usage == TokenUsage(40, 4)
    assert [asked.labels for asked in model.asked] == [("A", "B")] * 4
    assert "A. wait: Waits.\nB. move: Goes one step." in model.asked[0].prompt
    assert answer.text is not None
    assert json.loads(answer.text)["labels"][3]["logprobs"] == {"A": -5, "B": -9}


@pytest.mark.parametrize("text", ["C", "maybe A", "", "move"])
def test_an_answer_that_is_no_label_is_a_failure(text):
    answer = LabelCalls(Answering(says(text))).ask(REQUEST)
    assert (answer.failure, answer.detail, answer.calls) == ("empty", "no label", ())


def test_more_choices_than_letters_are_a_failure():
    many = Tool("pick", "Picks.", {"type": "object", "properties": {"n": {"enum": list(range(len(LETTERS) + 1))}}})
    answer = LabelCalls(Answering()).ask(ModelRequest(0, "", "?", tools=(many,)))
    assert answer.failure == "malformed"
    assert len(set(LETTERS)) == len(LETTERS) == 52


def tokens(*likeliest):
    entry = {"token": likeliest[0][0], "logprob": likeliest[0][1]}
    listed = [{"token": token, "logprob": logprob} for token, logprob in likeliest]
    return {"logprobs": {"content": [{**entry, "top_logprobs": listed}]}}


@pytest.mark.parametrize(
    ("choice", "label", "logprobs"),
    [
        (tokens(("The", -0.1), (" B", -1.25), ("A", -2.0)), "B", {"A": -2_000_000, "B": -1_250_000}),
        (tokens(("B", -1.0), (" B", -0.5), ("A", -0.75)), "B", {"A": -750_000, "B": -500_000}),
        (tokens(("A", -1.0), ("B", -1.0)), "A", {"A": -1_000_000, "B": -1_000_000}),
        (tokens(("The", -0.1)), None, {}),
        ({"logprobs": {"content": [{"token": 7}]}}, None, {}),
        ({"logprobs": None}, None, {}),
    ],
    ids=["beside-words", "with-space", "tie", "no-label", "other-form", "none"],
)
def test_the_most_probable_label_of_a_service_is_taken(choice, label, logprobs, service, openai_with):
    body = completion("The")
    body["choices"][0] |= {**choice, "finish_reason": "length"}
    service.will(Reply(body))
    answer = openai_with().ask(ModelRequest(0, "", "?", labels=("A", "B")))
    assert read_label(answer.text, ("A", "B")) == (label, logprobs)
    _, _, sent = service.requests[0]
    assert (sent["logprobs"], sent["top_logprobs"], sent["max_completion_tokens"]) == (True, 20, 1)
