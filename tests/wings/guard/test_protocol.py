"""Messages to a guard by hand: what each may hold, at the bounds, and what is refused."""

import json

import pytest
from msgspec import UNSET

from specledger.wings.guard.protocol import Ask, Begin, Refusal, Report, Say, error_answer, is_name, read_message

ASK = {"type": "ask", "id": 1, "conversation": "c", "tool": "pay"}
SAY = {"type": "say", "id": 1, "conversation": "c", "speaker": "user", "text": ""}
REPORT = {"type": "report", "id": 1, "conversation": "c"}
NOTE = {"type": "note", "id": 1, "conversation": "c", "code": "E_X", "message": "m"}
BEGIN = {"type": "begin", "id": 1, "protocol": "specledger/guard/v1"}


def read(message):
    return read_message(json.dumps(message).encode())


def test_what_a_message_leaves_out():
    ask, say, report, begin = read(ASK), read(SAY), read(REPORT), read(BEGIN)
    assert ask == Ask(1, "c", "pay")
    assert (ask.call, ask.arguments, ask.batch, ask.actor, ask.wait_ms) == (None, UNSET, 0, "", 10_000)
    assert say == Say(1, "c", "user", "")
    assert (say.actor, say.unless_argument) == ("", None)
    assert report == Report(1, "c")
    assert (report.call, report.content, report.error) == (None, UNSET, None)
    assert begin == Begin(1, "specledger/guard/v1")
    assert begin.conversation is None


FITS = {
    "the longest wait": (ASK, {"wait_ms": 600_000}, {"wait_ms": 600_001}),
    "no wait": (ASK, {"wait_ms": 0}, {"wait_ms": -1}),
    "the greatest batch": (ASK, {"batch": 1_000_000}, {"batch": 1_000_001}),
    "the least batch": (ASK, {"batch": 0}, {"batch": -1}),
    "the longest name of a tool": (ASK, {"tool": "t" * 512}, {"tool": "t" * 513}),
    "a name of a tool": (ASK, {"tool": "t"}, {"tool": ""}),
    "the longest actor": (ASK, {"actor": "a" * 512}, {"actor": "a" * 513}),
    "the longest id": (ASK, {"id": "i" * 100}, {"id": "i" * 101}),
    "a name of a conversation": (ASK, {"conversation": "_" + "a" * 99}, {"conversation": "_" + "a" * 100}),
    "its first character": (ASK, {"conversation": "0"}, {"conversation": "-"}),
    "the others": (ASK, {"conversation": "a.-_"}, {"conversation": "a/b"}),
    "the longest actor of a text": (SAY, {"actor": "a" * 512}, {"actor": "a" * 513}),
    "a speaker": (SAY, {"speaker": "system"}, {"speaker": "tool"}),
    "an argument": (SAY, {"unless_argument": "a" * 512}, {"unless_argument": "a" * 513}),
    "an error": (REPORT, {"error": None}, {"error": "yes"}),
    "the longest code": (NOTE, {"code": "E_" + "X" * 60}, {"code": "E_" + "X" * 61}),
    "a code": (NOTE, {"code": "E_X"}, {"code": "W_X"}),
    "the longest note": (NOTE, {"message": "m" * 2000}, {"message": "m" * 2001}),
    "a note": (NOTE, {"message": "m"}, {"message": ""}),
    "the protocol": (BEGIN, {}, {"protocol": "specledger/guard/v2"}),
    "a key": (BEGIN, {"conversation": "c"}, {"conversations": "c"}),
    "a type": (BEGIN, {}, {"type": "start"}),
}


@pytest.mark.parametrize(("message", "fits", "wrong"), FITS.values(), ids=FITS)
def test_bounds_of_messages(message, fits, wrong):
    read({**message, **fits})
    with pytest.raises(Refusal) as refusal:
        read({**message, **wrong})
    assert error_answer(refusal.value) == {
        "type": "error",
        "code": "E_GUARD_MESSAGE",
        "message": refusal.value.diagnostic.message,
    }
    assert 0 < len(refusal.value.diagnostic.message) <= 500


@pytest.mark.parametrize("line", [b"", b"{", b"[]", b"null", b'{"type": "ask"}', b"\xff", b'{"id": NaN}'])
def test_what_is_no_message_is_refused(line):
    with pytest.raises(Refusal):
        read_message(line)


@pytest.mark.parametrize(
    ("text", "name"), [("a", True), ("a\n", False), ("", False), (".a", False), ("_", True), ("a b", False)]
)
def test_names_of_conversations(text, name):
    assert is_name(text) is name
