"""What a model is told again: whose sentences stand before a call, how a text is cut, and how much of it can be asked."""

import pytest

from specledger.wings.challenges.transcript import (
    Sentence,
    before,
    first_of_batch,
    sentences,
    with_added,
)
from specledger.wings.trajectories.model import Call, Entry, Finding, Message, Result, Speaker, Withheld

SAID = Speaker.ASSISTANT
LOG: list[Entry] = [
    Message(Speaker.USER, "go"),
    Call("1", "look", {}, batch=1),
    Call("2", "read", {}, batch=1),
    Result("1", "blue"),
    Finding("E_LOG_LINE", "a line that is none"),
    Message(SAID, "I wonder."),
    Call("3", "ask", {}, batch=2, actor="sub"),
    Result("3", "yes"),
    Message(Speaker.USER, "sub goal", actor="sub"),
    Call("4", "pay", {}, batch=2),
    Call("5", "end", {}, batch=3),
]


def ids(call):
    """The places in the log of what stood before a call."""
    return [LOG.index(entry) for entry in before(LOG, call)]


@pytest.mark.parametrize(
    ("place", "heard"),
    [
        (1, [0]),
        (2, [0]),  # the call beside it belongs to the decision
        (6, []),  # a subagent heard nothing of what the agent did
        (9, [0, 1, 2, 3]),  # what the agent said with the call belongs to it; a batch of another actor does not count
        (10, [0, 1, 2, 3, 5, 9]),
    ],
)
def test_what_an_actor_had_heard_when_it_decided(place, heard):
    assert ids(LOG[place]) == heard


@pytest.mark.parametrize(("place", "first"), [(1, True), (2, False), (6, True), (9, True), (10, True)])
def test_the_first_call_of_a_message_is_the_decision(place, first):
    call = LOG[place]
    assert isinstance(call, Call)
    assert first_of_batch(LOG, call) is first


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("One\n\n  Two\n", ["One", "Two"]),
        ("3.5 is no end", ["3.5 is no end"]),
        ("", [""]),
        ("  ", ["  "]),
        (' {"a": "One. Two."}', [' {"a": "One. Two."}']),
        ("[One. Two.]", ["[One. Two.]"]),
        ("(One. Two.)", ["(One.", "Two.)"]),
    ],
)
def test_a_text_is_cut_into_sentences_and_json_is_not(text, pieces):
    found = sentences([Message(Speaker.USER, text)])
    assert found == [Sentence(f"1.{index}", "user", piece, True) for index, piece in enumerate(pieces, start=1)]


def test_the_rest_of_a_long_entry_stays_in_one_piece():
    found = sentences([Message(Speaker.USER, " ".join(f"{number}." for number in range(66)))])
    assert found is not None
    assert len(found) == 64
    assert [sentence.text for sentence in found[-2:]] == ["62.", "63. 64. 65."]


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        (Message(Speaker.SYSTEM, "Be kind."), Sentence("3.1", "system", "Be kind.", True)),
        (Message(SAID, "I am."), Sentence("3.1", "assistant", "I am.", False)),
        (Call("2", "pay", {"to": "A. B."}), Sentence("3", "assistant calls pay", '{"to":"A. B."}', False)),
        (Result("1", "Paid."), Sentence("3.1", "result of look", "Paid.", True)),
        (Result("9", "Paid."), Sentence("3.1", "result of a call", "Paid.", True)),
        (Result("1", Withheld("0" * 64)), Sentence("3", "result of look", "(withheld)", False)),
        (Result("1"), Sentence("3", "result of look", "(not recorded)", False)),
    ],
)
def test_who_says_a_sentence_and_whether_it_can_be_changed(entry, sentence):
    found = sentences([Message(Speaker.USER, "go"), Call("1", "look", {}), entry])
    assert found is not None
    assert found[2:] == [sentence]


@pytest.mark.parametrize(
    ("entries", "can"),
    [
        ([Message(Speaker.USER, "a")] * 512, True),
        ([Message(Speaker.USER, "a")] * 513, False),
        ([Message(Speaker.USER, "a" * 262_144)], True),
        ([Message(Speaker.USER, "a" * 262_144), Message(Speaker.USER, "b")], False),
    ],
)
def test_what_is_too_long_is_not_asked_about(entries, can):
    assert (sentences(entries) is not None) is can


def test_a_sentence_is_added_at_the_end_of_its_entry():
    known = [Sentence("1.1", "user", "a", True), Sentence("1.2", "user", "b", True), Sentence("12.1", "x", "c", True)]
    texts = {"1.1": "changed", "1.3": "new", "12.2": "last", "2.1": "of no entry"}
    assert [(each.id, each.who, each.text, each.told) for each in with_added(known, texts)] == [
        ("1.1", "user", "a", True),
        ("1.2", "user", "b", True),
        ("1.3", "user", "new", True),
        ("12.1", "x", "c", True),
        ("12.2", "x", "last", True),
    ]
