"""Answers by labels: which one a text or a list of tokens gives, and what the questions about a call say."""

import json
from typing import Any

import pytest

from specledger.oracles.labels import LETTERS, LabelCalls, label_text, logprob_tokens, most_probable, read_label
from specledger.oracles.model import ModelRequest, TokenUsage, Tool, answered, failed

AB = ("A", "B")

TEXTS: dict[str, tuple[str, str | None]] = {
    "a label": ("A", "A"),
    "a label and words": ("B because", "B"),
    "a label in brackets": ("(A)", "A"),
    "a label with a full stop": ("A.", "A"),
    "a label with a colon": (" B: yes", "B"),
    "a label in bold type": ("**B**", "B"),
    "a label in quotes": ("'A'", "A"),
    "a lower-case letter": ("a", None),
    "another label": ("C", None),
    "words first": ("I say A", None),
    "nothing": ("", None),
    "two labels": ("AB", None),
    "a document of another label": ('{"label":"C","logprobs":{}}', None),
    "a document without probabilities": ('{"label":"A"}', None),
    "probabilities that are a list": ('{"label":"A","logprobs":[]}', None),
    "another document": ("[1]", None),
}


@pytest.mark.parametrize(("text", "label"), TEXTS.values(), ids=TEXTS)
def test_the_label_that_a_text_is(text, label):
    assert read_label(text, AB) == (label, {})


def test_a_label_comes_back_with_its_probabilities():
    assert read_label(label_text("B", {"A": -7, "B": -1}), AB) == ("B", {"A": -7, "B": -1})


TOKENS: dict[str, tuple[list[tuple[str, float]], tuple[str, dict[str, int]] | None]] = {
    "none": ([], None),
    "no label among them": ([("Sure", -0.1), ("C", -0.2)], None),
    "the likeliest": ([("B", -0.5), ("A", -2.0)], ("B", {"A": -2_000_000, "B": -500_000})),
    "spaces do not count": ([(" A", -0.5), ("B\n", -0.25)], ("B", {"A": -500_000, "B": -250_000})),
    "the likeliest spelling of a label": ([("A", -3.0), (" A", -1.0), ("A ", -2.0)], ("A", {"A": -1_000_000})),
    "of two that are alike the first": ([("B", -1.0), ("A", -1.0)], ("A", {"A": -1_000_000, "B": -1_000_000})),
    "to a millionth": ([("A", -0.0000014), ("B", -0.0000016)], ("A", {"A": -1, "B": -2})),
}


@pytest.mark.parametrize(("tokens", "expected"), TOKENS.values(), ids=TOKENS)
def test_the_most_probable_label(tokens, expected):
    found = most_probable(tokens, AB)
    assert (None if found is None else read_label(found, AB)) == expected


FIRST = {"token": "A", "logprob": -1, "top_logprobs": [{"token": "B", "logprob": -0.5}, {"token": "A", "logprob": -1}]}

CHOICES: dict[str, tuple[Any, list[tuple[str, float]]]] = {
    "no choice": (None, []),
    "no probabilities": ({"logprobs": None}, []),
    "no tokens": ({"logprobs": {"content": []}}, []),
    "a text for tokens": ({"logprobs": {"content": "A"}}, []),
    "a token that is none": ({"logprobs": {"content": ["A"]}}, []),
    "the likeliest of the first token": ({"logprobs": {"content": [FIRST, {"token": "C", "logprob": 0}]}}, [("B", -0.5), ("A", -1.0)]),
    "the first token alone": ({"logprobs": {"content": [{"token": "A", "logprob": -1}]}}, [("A", -1.0)]),
    "entries that are none": (
        {"logprobs": {"content": [{"top_logprobs": [5, {"token": 1, "logprob": 0}, {"token": "A", "logprob": True}, {"token": "B"}, {"token": "A", "logprob": 0}]}]}},
        [("A", 0.0)],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("choice", "tokens"), CHOICES.values(), ids=CHOICES)
def test_the_likeliest_first_tokens_of_a_completion(choice, tokens):
    assert [*logprob_tokens(choice)] == tokens


class Answering:
    """A model that gives these answers in turn, and keeps what it was asked."""

    def __init__(self, *answers):
        self.answers, self.asked, self.closed = list(answers), [], 0

    def ask(self, request):
        self.asked.append(request)
        return self.answers.pop(0)

    def close(self):
        self.closed += 1


def says(text, **usage):
    return answered(text, TokenUsage(**{"prompt_tokens": 10, "output_tokens": 1, **usage}))


def tool(**properties):
    return Tool("go", "Goes.", {"type": "object", "properties": properties, "required": [*properties]})


def called(model, *tools):
    return LabelCalls(model).ask(ModelRequest(3, "act", "Where to?\n\n", {"type": "object"}, tools=tools))


def test_what_a_question_says():
    model = Answering(says("A"), says("A"))
    called(model, tool(dir={"enum": ["N", 5, True], "description": "Which way."}, fast={"type": "boolean"}))
    first, second = (asked.prompt for asked in model.asked)
    assert first == (
        "Where to?\n\n# Your answer\n\nYou call go. What is its `dir`? Which way. Answer with one letter and nothing else.\n"
        "A. N\nB. 5\nC. true\n"
    )
    assert "What is its `fast`? Answer with one letter and nothing else.\nA. true\nB. false\n" in second
    assert [(asked.labels, asked.tools, asked.schema) for asked in model.asked] == [
        (("A", "B", "C"), (), None),
        (("A", "B"), (), None),
    ]
    assert [(asked.turn, asked.system) for asked in model.asked] == [(3, "act")] * 2


REQUIRED: dict[str, tuple[dict[str, Any], Any]] = {
    "a text": ({"type": "string"}, ""),
    "a text of no type": ({}, ""),
    "an integer": ({"type": "integer"}, 0),
    "a number": ({"type": "number"}, 0),
    "a list": ({"type": "array"}, []),
    "a list of texts": ({"type": "array", "items": {"type": "string"}}, []),
    "an object": ({"type": "object"}, {}),
    "another type": ({"type": "null"}, ""),
}


@pytest.mark.parametrize(("wanted", "given"), REQUIRED.values(), ids=REQUIRED)
def test_what_is_required_and_cannot_be_chosen_has_a_default(wanted, given):
    (call,) = called(Answering(), tool(a=wanted)).calls
    assert json.loads(call.arguments) == {"a": given}
    optional = Tool("go", "Goes.", {"type": "object", "properties": {"a": wanted}})
    (call,) = called(Answering(), optional).calls
    assert json.loads(call.arguments) == {}


def test_one_function_is_not_asked_for_and_what_is_inside_a_list_has_a_path():
    model = Answering(says("B"))
    (call,) = called(model, tool(why={"items": {"properties": {"of": {"enum": ["x", "y"]}}}})).calls
    assert (call.name, json.loads(call.arguments)) == ("go", {"why": [{"of": "y"}]})
    assert "What is its `why.of`?" in model.asked[0].prompt


def test_the_usage_of_all_questions_is_summed_up():
    model = Answering(says("A", thinking_tokens=3), says("A", prompt_tokens=7, output_tokens=2, estimated=True))
    answer = called(model, tool(a={"type": "boolean"}, b={"type": "boolean"}))
    assert answer.usage == TokenUsage(17, 3, 3, estimated=True)
    assert answer.text is not None
    assert [(said["asked"], said["label"]) for said in json.loads(answer.text)["labels"]] == [
        ("You call go. What is its `a`?", "A"),
        ("You call go. What is its `b`?", "A"),
    ]


def test_a_failure_ends_the_questions_and_keeps_what_they_cost():
    model = Answering(says("A"), failed("truncated", "so far", TokenUsage(5, 5), "length", "A beca"))
    answer = called(model, tool(a={"type": "boolean"}, b={"type": "boolean"}, c={"type": "boolean"}))
    assert (answer.failure, answer.detail, answer.finish, answer.text) == ("truncated", "so far", "length", "A beca")
    assert (answer.usage, answer.calls, len(model.asked)) == (TokenUsage(15, 6), (), 2)


@pytest.mark.parametrize(("more", "failure"), [(0, None), (1, "malformed")])
def test_there_are_as_many_choices_as_letters(more, failure):
    answer = called(Answering(says(LETTERS[-1])), tool(n={"enum": list(range(52 + more))}))
    assert answer.failure == failure
    assert answer.detail == ("53 choices, more than 52" if failure else "")
    assert [json.loads(call.arguments) for call in answer.calls] == ([] if failure else [{"n": 51}])


def test_the_model_is_closed_with_its_form():
    model = Answering()
    LabelCalls(model).close()
    assert model.closed == 1
