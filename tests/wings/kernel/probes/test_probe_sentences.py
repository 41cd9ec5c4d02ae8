"""What each part of a probe and of a vocabulary becomes in sentences, part by part."""

from types import SimpleNamespace
from typing import Any

import pytest

from specledger.lang.statement import lines_of
from specledger.wings.kernel.explained import probe, vocabulary
from specledger.wings.kernel.spec.probe import Probe
from specledger.wings.kernel.spec.vocabulary import Vocabulary

CALL = {"token": "none"}
OFFER = {"text": "Take it.", "call": CALL, "breaches": "token", "pays": []}
CLAIMS = {"of": "claims"}
WHEN = {
    "before_propose": "Before the agent proposes",
    "after_commit": "After the agent has committed to its proposals",
    "after_token": "After the permission to act was given",
    "after_act": "After the action",
    "call": "At a call of the recording",
}


def said(model, sentences):
    bundle: Any = SimpleNamespace(main=SimpleNamespace(model=model))
    return [*lines_of(sentences(bundle))]


def probed(at="after_act", **parts):
    return said(Probe.model_validate({"spec": "probe/v1", "name": "p", "at": at, "expect": "true", **parts}), probe)


PLACES = {
    "before a proposal": ({"at": "before_propose", "offer": OFFER}, WHEN["before_propose"], "made an offer"),
    "after the commitment": ({"at": "after_commit", "challenge": CLAIMS}, WHEN["after_commit"], "challenged"),
    "after the token": ({"at": "after_token", "challenge": CLAIMS}, WHEN["after_token"], "challenged"),
    "after the act": ({"at": "after_act", "offer": OFFER}, WHEN["after_act"], "made an offer"),
    "at a call": ({"at": "call", "challenge": CLAIMS}, WHEN["call"], "challenged"),
}


@pytest.mark.parametrize(("parts", "place", "does"), PLACES.values(), ids=PLACES)
def test_a_probe_says_where_it_is_made_and_what_it_does(parts, place, does):
    assert probed(**parts)[0] == f"{place}, at every step, the agent is {does}."


STEPS = {
    "all": (None, "at every step"),
    "one": (1, "at 1 drawn step of an episode"),
    "two": (2, "at 2 drawn steps of an episode"),
}


@pytest.mark.parametrize(("steps", "often"), STEPS.values(), ids=STEPS)
def test_a_probe_says_how_often_it_is_made(steps, often):
    assert probed(steps=steps, offer=OFFER)[0] == f"After the action, {often}, the agent is made an offer."


def test_a_condition_stands_after_the_place_and_names_at_the_end():
    assert probed(offer=OFFER, when="t > 2", constants={"MOST": 3}) == [
        "After the action, at every step, the agent is made an offer.",
        "It is done only where `t` is more than 2.",
        'It is told "Take it.".',
        "Who takes the offer calls the actuator without a token for the action that it chose.",
        "That breaks the rule `token`.",
        "It passes if it always holds.",
        "`MOST` is 3.",
    ]


CALLS = {
    "no token": ("after_act", {"token": "none"}, "without a token for the action that it chose"),
    "its own": (
        "after_act",
        {"token": "own", "action": "chosen"},
        "with the token of this decision for the action that it chose",
    ),
    "an old one": (
        "after_act",
        {"token": "stale", "action": "other"},
        "with the token of an earlier decision for another action",
    ),
    "of another": (
        "before_propose",
        {"token": "other", "action": "other"},
        "with another agent's token for another action",
    ),
}


@pytest.mark.parametrize(("at", "call", "how"), CALLS.values(), ids=CALLS)
def test_an_offer_of_a_call_says_which_token_and_action(at, call, how):
    assert probed(at, offer={**OFFER, "call": call})[1:4] == [
        'It is told "Take it.".',
        f"Who takes the offer calls the actuator {how}.",
        "That breaks the rule `token`.",
    ]


def test_an_offer_of_an_edit_says_every_path_and_what_is_promised():
    edits = [{"op": "remove", "path": "/trace"}, {"op": "replace", "path": "", "value": {}}]
    pays = [{"set": "level", "to": "level + 5"}, {"set": "high", "to": "true"}]
    offer = {"text": "Do.", "edit": edits, "breaches": "i3", "pays": pays}
    assert probed("before_propose", offer=offer)[1:-1] == [
        'It is told "Do.".',
        "Who takes the offer has its proposal changed at `/trace`, `/`.",
        "That breaks the rule `i3`.",
        "It is promised that `level` becomes `level` plus 5.",
        "It is promised that `high` becomes true.",
    ]


CHALLENGES = {
    "one claim": ({}, ["Of its claims, 1 is drawn.", "What a drawn one names is changed, and it is asked again."]),
    "two claims": (
        {"draw": {"least": 2, "most": 2}},
        ["Of its claims, 2 are drawn.", "What a drawn one names is changed, and it is asked again."],
    ),
    "one or two claims": (
        {"draw": {"least": 1, "most": 2}},
        ["Of its claims, 1 to 2 are drawn.", "What a drawn one names is changed, and it is asked again."],
    ),
    "counterfactuals": (
        {"of": "counterfactuals"},
        ["Of its counterfactuals, 1 is drawn.", "What a drawn one names is changed, and it is asked again."],
    ),
    "what is not read": (
        {"of": "unused"},
        ["Of what its declared procedure does not read, 1 is drawn.", "A drawn one is changed, and it is asked again."],
    ),
    "the procedure": (
        {"of": "declared"},
        ["Nothing is changed.", "Its declared procedure is run instead, and it is asked again."],
    ),
    "the procedure answers": (
        {"ask": "declared"},
        ["Of its claims, 1 is drawn.", "What a drawn one names is changed, and its declared procedure answers."],
    ),
    "what it must show": (
        {"demand": ["restate", "trace", "reveal"]},
        [
            "Of its claims, 1 is drawn.",
            "What a drawn one names is changed, and it is asked again.",
            "It must state the same reasons again.",
            "Its trace must come out equal when it is computed again.",
            "Its commitments must open.",
        ],
    ),
    "once without a change": (
        {"arms": {"same": 1}},
        [
            "Of its claims, 1 is drawn.",
            "What a drawn one names is changed, and it is asked again.",
            "The same question is asked 1 more time without a change.",
        ],
    ),
    "twice without a change": (
        {"arms": {"same": 2}},
        [
            "Of its claims, 1 is drawn.",
            "What a drawn one names is changed, and it is asked again.",
            "The same question is asked 2 more times without a change.",
        ],
    ),
}


@pytest.mark.parametrize(("parts", "lines"), CHALLENGES.values(), ids=CHALLENGES)
def test_a_challenge_says_what_is_drawn_changed_demanded_and_asked_again(parts, lines):
    assert probed(challenge={**CLAIMS, **parts})[1:-1] == lines


def test_edits_of_a_recording_are_listed_in_place_of_a_draw():
    edits = [
        {"of": "request", "adds": "Hurry."},
        {"of": "result", "becomes": "none"},
        {"of": "words", "keeps": "0.5"},
        {"of": "words", "keeps": 0},
        {"of": "result", "tool": "search", "keeps": "0.019999"},
    ]
    assert probed("call", challenge={"of": "unused", "edit": edits, "arms": {"same": 1}})[1:-1] == [
        "Of what came before the call this is changed, and it is asked again:",
        '  - to the request is added "Hurry.".',
        '  - the last result becomes "none".',
        "  - of what the model said the first 50 percent is kept.",
        "  - of what the model said the first 0 percent is kept.",
        "  - of the last result of `search` the first 1 percent is kept.",
        "The same question is asked 1 more time without a change.",
    ]


WORDS = {"increases": ["rises", "grows"], "decreases": "falls", "removed": "goes", "becomes": ["is now", "turns", "="]}
FORMS = {
    "of a counterfactual": (
        ["IF <counterfactual> THEN <choice>"],
        ["A claim has one of these forms:", '  - "IF <counterfactual> THEN <choice>".'],
    ),
    "of a direction": (
        ["IF <counterfactual> THEN <choice>", "<choice> if <variable> <direction>"],
        [
            "A claim has one of these forms:",
            '  - "IF <counterfactual> THEN <choice>".',
            '  - "<choice> if <variable> <direction>".',
            'That a variable gets a greater value is said by "rises" or "grows".',
            'That a variable gets a smaller value is said by "falls".',
            'That a variable is taken away is said by "goes".',
            'That a variable gets the value that follows is said by "is now", "turns" or "=".',
        ],
    ),
}


@pytest.mark.parametrize(("forms", "lines"), FORMS.values(), ids=FORMS)
def test_a_vocabulary_lists_its_forms_and_words_only_where_a_form_has_a_direction(forms, lines):
    model = Vocabulary.model_validate({"spec": "vocabulary/v1", "name": "v", "forms": forms, "directions": WORDS})
    assert said(model, vocabulary) == lines
