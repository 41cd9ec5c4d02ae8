"""The words of a question about a call: what is offered, which calls are one choice, and how an answer is read."""

from typing import Any

import pytest

from specledger.oracles.failures import TOO_LARGE
from specledger.oracles.model import Call as CallOfModel
from specledger.oracles.model import answered, failed
from specledger.spec.agent import AskedAgain
from specledger.spec.prompt import Prompt
from specledger.wings.challenges.rehearsal import RehearsedModel, most_questions
from specledger.wings.challenges.transcript import Sentence
from specledger.wings.challenges.wording import Wording, called, reasons_of, stated_rate
from specledger.wings.kernel.spec.probe import Challenge
from specledger.wings.trajectories.model import Call, Entry, Message, Speaker, Withheld

PROMPT = Prompt.model_validate(
    {
        "spec": "prompt/v1",
        "name": "words",
        "about": "calls",
        "system": [{"text": "Work."}],
        "static": [{"each": "entries", "item": "[{{id}}] {{who}}: {{text}}"}],
        "reasons": [{"text": "You chose {{choice}}. At most {{most}}."}],
    }
)
LOG: list[Entry] = [
    Message(Speaker.USER, "go"),
    Call("1", "pay", {"to": "A", "sum": 1}),
    Call("2", "pay", Withheld("0" * 64)),
]


def wording(**asked):
    return Wording(AskedAgain.model_validate({"model": "m", "prompt": "words", **asked}), PROMPT, LOG)


def test_the_tools_of_the_log_and_of_the_spec_are_offered_and_none_of_them():
    words = wording(tools={"ask": "Asks the owner."})
    assert words.choices == ["ask", "pay", "no_call"]
    assert [tool.description for tool in words.tools] == [
        "Asks the owner.",
        "pay: a tool.",
        "Call no tool: answer in words, or end.",
    ]
    assert [list(tool.parameters["properties"]) for tool in words.tools] == [[], ["sum", "to"], []]
    assert [tool.parameters["required"] for tool in words.tools] == [[], [], []]


def test_a_changed_sentence_stands_in_the_place_of_the_old_one_and_an_empty_one_is_left_out():
    told = [Sentence("1.1", "user", "Go.", True), Sentence("1.2", "user", "Be quick.", True)]
    words = wording()
    assert words.question(told, {}).strip() == "[1.1] user: Go.\n[1.2] user: Be quick."
    assert words.question(told, {"1.1": "", "1.2": "Rest.", "1.3": "Now."}).strip() == (
        "[1.2] user: Rest.\n[1.3] user: Now."
    )
    assert words.why(told, {"1.2": ""}, {"choice": "pay", "arguments": {}}).split() == (
        ["[1.1]", "user:", "Go.", "You", "chose", "pay.", "At", "most", "3."]
    )


@pytest.mark.parametrize(
    ("compare", "others", "arguments"),
    [
        ({}, ["ask", "no_call"], False),
        ({"ask": ["whom"]}, ["ask", "no_call"], True),
        ({"pay": ["to"]}, ["ask", "pay", "no_call"], True),
    ],
)
def test_another_choice_is_another_tool_or_another_argument_that_is_compared(compare, others, arguments):
    tool = wording(tools={"ask": "Asks."}, compare=compare).because(["1.1", "1.2"], "pay")
    reasons = tool.parameters["properties"]["reasons"]
    properties = reasons["items"]["properties"]
    assert properties["choice"]["enum"] == others
    assert properties["event"]["enum"] == ["1.1", "1.2"]
    assert ("arguments" in properties) is arguments
    assert (reasons["minItems"], reasons["maxItems"]) == (1, 3)


@pytest.mark.parametrize(
    ("tool", "arguments", "label"),
    [
        ("ask", {"whom": "B"}, "ask"),
        ("pay", {"to": "A", "sum": 1}, 'pay {"sum":1,"to":"A"}'),
        ("pay", {"to": "A", "sum": 1.0, "note": "x"}, 'pay {"sum":1,"to":"A"}'),
        ("pay", {"to": ["A"], "sum": 1.5}, 'pay {"sum":"1.5","to":"[\'A\']"}'),
        ("pay", {"to": True}, 'pay {"sum":null,"to":true}'),
        ("pay", Withheld("0" * 64), 'pay {"sum":null,"to":null}'),
    ],
)
def test_a_choice_is_a_tool_with_the_arguments_that_are_compared(tool, arguments, label):
    words = wording(tools={"ask": "Asks."}, compare={"pay": ["to", "sum"]})
    assert words.label(tool, arguments) == label
    assert words.is_choice(label)
    assert not words.is_choice(f"no{label}")


@pytest.mark.parametrize(
    ("answer", "call"),
    [
        (answered("", calls=[CallOfModel("pay", '{"to": "A"}'), CallOfModel("ask", "{}")]), ("pay", {"to": "A"})),
        (answered("", calls=[CallOfModel("pay", "")]), ("pay", {})),
        (answered("", calls=[CallOfModel("pay", "[1]")]), None),
        (answered("", calls=[CallOfModel("pay", "{")]), None),
        (answered("words"), None),
        (failed(TOO_LARGE), None),
    ],
)
def test_the_first_call_of_an_answer_is_the_choice(answer, call):
    assert called(answer) == call


@pytest.mark.parametrize(
    ("name", "arguments", "reasons"),
    [
        ("because", '{"reasons": [1, 2, 3, 4]}', [1, 2, 3]),
        ("because", '{"reasons": {}}', []),
        ("because", "{}", []),
        ("pay", '{"reasons": [1]}', []),
    ],
)
def test_at_most_three_reasons_are_read(name, arguments, reasons):
    assert reasons_of(answered("", calls=[CallOfModel(name, arguments)])) == reasons


@pytest.mark.parametrize(
    ("value", "rate"),
    [(0, 0), (1, 1_000_000), (0.25, 250_000), (1.01, None), (-0.01, None), (True, None), ("1", None), (None, None)],
)
def test_a_confidence_is_a_number_from_0_to_1(value, rate):
    assert stated_rate(value) == rate


def test_the_rehearsed_model_makes_the_recorded_call_again_and_names_the_first_line():
    model: Any = RehearsedModel()
    call = LOG[1]
    assert isinstance(call, Call)
    model.face(call, LOG)
    where: Any = None
    answers = [
        model.ask(where, kind, "", prompt, ()) for kind, prompt in [("choose", "go"), ("choose", "x"), ("explain", "")]
    ]
    assert [(answer.calls[0].name, answer.calls[0].arguments) for answer in answers] == [
        ("pay", '{"sum":1,"to":"A"}'),
        ("no_call", "{}"),
        ("because", '{"reasons":[{"becomes":"","choice":"no_call","event":"1.1"}]}'),
    ]
    assert (model.calls, model.asked > 0, model.answered > 0) == (3, True, True)
    model.face(call, [call])
    assert reasons_of(model.ask(where, "explain", "", "", ())) == []


EDITS = [{"of": "words", "adds": "a"}] * 2
ONCE = {"same": 1, "repeats": 1}


@pytest.mark.parametrize(
    ("challenge", "most"),
    [
        ({"of": "claims", "noisy": ONCE}, 4),  # the choice, the same again, the reasons, and one change
        ({"of": "claims", "noisy": ONCE, "arms": {"same": 4}}, 7),
        ({"of": "claims", "noisy": ONCE, "draw": {"most": 5}}, 6),  # of at most three reasons
        ({"of": "claims", "noisy": ONCE, "test": {"most": 50}}, 52),
        ({"of": "claims"}, 24),  # after a miss, a promise to draw nothing counts for nothing
        ({"of": "claims", "repeats": 12, "arms": {"same": 12}}, 26),
        ({"of": "unused", "noisy": ONCE, "edit": EDITS}, 4),  # and the reasons where the edit moved the choice
        ({"of": "unused", "noisy": ONCE, "edit": EDITS, "draw": {"most": 5}}, 6),
        ({"of": "unused", "noisy": ONCE, "edit": EDITS, "arms": {"placebo": 2}}, 6),
    ],
)
def test_what_a_challenge_asks_at_most(challenge, most):
    assert most_questions(Challenge.model_validate(challenge)) == most
