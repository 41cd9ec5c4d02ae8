"""A recorded decision as probes see it: what was chosen, which reasons can be read, and what a change makes of it."""

import json

import pytest

from specledger.oracles.answer import Unanswered
from specledger.oracles.model import Call as CallOfModel
from specledger.oracles.model import answered
from specledger.oracles.recording import Place
from specledger.spec.agent import AskedAgain
from specledger.spec.prompt import Prompt
from specledger.wings.challenges.target import RecordedDecision
from specledger.wings.challenges.transcript import Sentence
from specledger.wings.challenges.wording import Wording
from specledger.wings.kernel.probes.target import Situation
from specledger.wings.trajectories.model import Call

PROMPT = Prompt.model_validate(
    {
        "spec": "prompt/v1",
        "name": "words",
        "about": "calls",
        "system": [{"text": "Work."}],
        "static": [{"each": "entries", "item": "[{{id}}] {{who}}: {{text}}"}],
        "reasons": [{"text": "You chose {{choice}}."}],
    }
)
PAY = Call("1", "pay", {"to": "A"})
BEFORE = [Sentence("1.1", "user", "Pay A.", True), Sentence("2.1", "assistant", "I will.", False)]


class Asked:
    """Answers with calls in order, and keeps what was asked."""

    def __init__(self, *calls):
        self.calls, self.asked = list(calls), []

    def ask(self, place, what, system, prompt, tools):
        self.asked.append((place, what, system, prompt, [tool.name for tool in tools]))
        call = self.calls.pop(0)
        return answered("", calls=() if call is None else (CallOfModel(call[0], json.dumps(call[1])),))


def decision(*calls, deterministic=True):
    asked = AskedAgain.model_validate(
        {"model": "m", "prompt": "words", "tools": {"ask": "Asks."}, "compare": {"pay": ["to"]}}
    )
    questions = Asked(*calls)
    target = RecordedDecision(
        PAY, BEFORE, Wording(asked, PROMPT, [PAY]), questions, Place(1, 2, 3), deterministic=deterministic
    )
    return target, questions


def situation(told=None, **more):
    return Situation(1, 2, {"told": told or {"1.1": "Pay A."}, **more}, {})


CHOSEN = ("pay", {"to": "A"})


def test_what_is_chosen_has_the_label_of_its_call():
    target, questions = decision(CHOSEN)
    answer = target.choose(situation(), 0)
    assert answer.choice == 'pay {"to":"A"}'
    assert (target.is_choice(answer.choice), target.is_choice("steal {}")) == (True, False)
    (place, what, system, prompt, tools) = questions.asked[0]
    assert (place, system.strip(), tools) == (Place(1, 2, 3), "Work.", ["ask", "pay", "no_call"])
    assert "[1.1] user: Pay A." in prompt
    assert what == "choose"


@pytest.mark.parametrize("call", [None, ("steal", {})])
def test_a_call_of_no_tool_that_is_offered_is_a_fault_of_the_agent(call):
    with pytest.raises(Unanswered) as caught:
        decision(call)[0].choose(situation(), 0)
    assert caught.value.cause == "agent_fault"


def stated(**reason):
    """What a reason becomes, as (variable, new value, choice, confidence)."""
    target, _ = decision(CHOSEN, ("because", {"reasons": [reason]}))
    target.choose(situation(), 0)
    document = target.document(situation())
    (counterfactual,) = document["trace"]["counterfactuals"]
    (claim,) = document["trace"]["causal_claims"]
    assert claim == {"var": counterfactual["mutation"]["var"], "id": "reason-0"}
    assert counterfactual["cf_id"] == "reason-0"
    assert target.read(claim, [counterfactual]) == {
        "counterfactual": "reason-0",
        "choice": counterfactual["predicted_outcome"]["choice"],
        "direction": "",
    }
    change = counterfactual["mutation"]
    return change["var"], change["new_value"], counterfactual["confidence"]


REASONS = {
    "without it the choice is another one": ({"event": "1.1", "choice": "ask"}, ("1.1", "")),
    "another sentence": ({"event": "1.1", "becomes": "Ask.", "choice": "ask"}, ("1.1", "Ask.")),
    "the choice itself": ({"event": "1.1", "becomes": "Ask.", "choice": "pay", "arguments": {"to": "A"}}, ("", "")),
    "the same tool with other arguments": (
        {"event": "1.1", "becomes": "B.", "choice": "pay", "arguments": {"to": "B"}},
        ("1.1", "B."),
    ),
    "no choice": ({"event": "1.1", "becomes": "Ask."}, ("", "")),
    "an event that is none": ({"event": 7, "becomes": "Ask.", "choice": "ask"}, ("", "")),
    "a sentence that is none": ({"event": "1.1", "becomes": 7, "choice": "ask"}, ("", "")),
}


@pytest.mark.parametrize(("reason", "change"), REASONS.values(), ids=REASONS)
def test_a_reason_that_can_be_read_is_a_counterfactual(reason, change):
    assert stated(**reason)[:2] == change


def test_a_stated_rate_is_kept_by_the_name_of_its_reason():
    reasons = [{"event": "1.1", "choice": "ask", "confidence": 0.5}, {"event": "1.1", "choice": "ask"}, "none"]
    target, _ = decision(CHOSEN, ("because", {"reasons": reasons}))
    target.choose(situation(), 0)
    document = target.document(situation())
    assert target.confidences(document, situation()) == {"reason-0": 500_000}
    assert [item["var"] for item in document["trace"]["causal_claims"]] == ["1.1", "1.1", ""]
    assert (target.valid(document), target.valid(None)) == (True, False)


def test_reasons_of_another_choice_than_the_recorded_one_are_not_asked_for():
    target, questions = decision(("ask", {}))
    target.choose(situation(), 0)
    with pytest.raises(Unanswered) as caught:
        target.document(situation())
    assert caught.value.cause == "not_repeatable"
    assert len(questions.asked) == 1


@pytest.mark.parametrize(
    ("reason", "named"), [({"event": "1.1"}, True), ({"event": "2.1"}, False), ({}, False), ("1.1", False)]
)
def test_whether_a_changed_sentence_is_among_the_reasons(reason, named):
    target, _ = decision(CHOSEN, ("because", {"reasons": [reason]}))
    target.choose(situation(), 0)
    assert target.named(situation(edited=["1.1"]), "1.1") is named


MUTATIONS = {
    "a sentence": ("1.1", "Ask.", {"1.1": "Ask."}, ["1.1"]),
    "the same sentence": ("1.1", "Pay A.", {"1.1": "Pay A."}, []),
    "no sentence": ("1.1", "", {"1.1": ""}, ["1.1"]),
    "the longest": ("1.1", "x" * 4096, {"1.1": "x" * 4096}, ["1.1"]),
}


@pytest.mark.parametrize(("name", "value", "told", "changed"), MUTATIONS.values(), ids=MUTATIONS)
def test_a_change_of_one_sentence(name, value, told, changed):
    state = {"told": {"1.1": "Pay A."}, "tool": "pay"}
    assert decision()[0].mutate(state, name, value) == (
        {"told": told, "tool": "pay"},
        {"by": None, "changed": changed},
    )
    assert state["told"] == {"1.1": "Pay A."}


@pytest.mark.parametrize(("name", "value"), [("2.1", "Ask."), ("1.1", "x" * 4097), ("1.1", 7), ("1.1", None)])
def test_what_is_no_change_of_a_sentence(name, value):
    assert decision()[0].mutate({"told": {"1.1": "Pay A."}}, name, value) is None


def test_a_change_of_several_sentences_says_which_are_others():
    value = {"1.1": "Ask.", "2.1": "I will.", "3.1": "New."}
    state, how = decision()[0].mutate({"told": {"1.1": "Pay A."}}, "", value)
    assert state == {"told": value, "edited": ["1.1", "3.1"]}
    assert how == {"by": None, "changed": ["1.1", "3.1"]}


def test_only_what_the_model_was_told_can_be_changed():
    target, _ = decision(deterministic=False)
    assert target.told == {"1.1": "Pay A."}
    assert target.names({"told": target.told}) == ["1.1"]
    assert target.alternatives({}, "1.1") == [""]
    assert target.deterministic is False
    assert decision()[0].deterministic is True
