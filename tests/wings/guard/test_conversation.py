"""A conversation by hand: times, authors, ids, results that are waited for, and what its log must hold again."""

from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import UNSET

from specledger.core.diagnostics import Rejected
from specledger.core.events import GuardCause
from specledger.wings.guard import conversation as module
from specledger.wings.guard.conversation import MOST_BYTES, Conversation, denial, reason_of
from specledger.wings.guard.log import ConversationLog, Line
from specledger.wings.guard.protocol import Refusal
from specledger.wings.trajectories.model import Call, Message, Result, Speaker
from specledger.wings.trajectories.recording.decision import Decision, Objection
from specledger.wings.trajectories.recording.guard_log import entry_line

SAID = Message(Speaker.USER, " pay Bob ")


class Log:
    """Keeps what is appended, in memory."""

    def __init__(self, records=()):
        self.records = list(records)
        self.events: list[Any] = []
        self.synced: list[bool] = []
        self.size, self.head = 0, "h"

    def append(self, events, *, sync):
        self.events += events
        self.synced.append(sync)
        return [f"digest {len(self.events)}"] * len(events)


class Episode:
    """Denies the tool `steal`, and keeps what it hears."""

    def __init__(self):
        self.heard: list[Any] = []

    def add(self, entry):
        self.heard.append(entry)

    def decide(self, call):
        denied = (Objection("rule", "p.r", "no"),) if call.tool == "steal" else ()
        return Decision(call.id, call.tool, not denied, denied)


def begun(*times, records=(), closed=True, log: Any = None):
    """A conversation at these times, with its log and its episode."""
    log = Log(records) if log is None else log
    episode = Episode()
    plan: Any = SimpleNamespace(name="s", specs="d", recording=SimpleNamespace(live=lambda plan, head: episode))
    clock = iter(times or range(1, 100))
    return Conversation("c", plan, log, closed=closed, microseconds=lambda: next(clock)), log, episode


def test_a_conversation_begins_with_a_line_that_is_on_the_disk():
    conversation, log, _ = begun()
    assert [event.type for event in log.events] == ["begin"]
    assert log.synced == [True]
    assert conversation.head == {"id": "c", "file": "c.jsonl", "format": "guard"}
    assert (conversation.entries, conversation.ended, conversation.waiting) == (0, False, None)


def test_no_entry_is_earlier_than_one_before_it():
    conversation, *_ = begun(5, 3, 7)
    assert [conversation.stamped(SAID).time for _ in range(3)] == [5, 5, 7]


AUTHORS = {
    "an argument of an earlier call": (Speaker.USER, "", "text", "1"),
    "another argument": (Speaker.USER, "", "to", ""),
    "no argument is meant": (Speaker.USER, "", None, ""),
    "who wrote it is known": (Speaker.USER, "sub", "text", "sub"),
    "of the agent": (Speaker.ASSISTANT, "", "text", ""),
}


@pytest.mark.parametrize(("speaker", "actor", "argument", "author"), AUTHORS.values(), ids=AUTHORS)
def test_the_agent_is_the_author_of_what_was_an_argument_of_its_call(speaker, actor, argument, author):
    conversation, _, episode = begun()
    conversation.ask(Call("0", "steal", {"text": "pay Cid"}))
    conversation.ask(Call("1", "steal", {"text": "pay Bob", "to": 3}))
    conversation.ask(Call("2", "steal", {"text": "pay Bob"}))
    conversation.ask(Call("3", "steal", None))
    conversation.say(Message(speaker, " pay Bob ", actor), argument)
    assert episode.heard[-1].actor == author


def test_a_call_that_may_be_made_waits_for_its_result_and_one_that_is_denied_has_one():
    conversation, log, episode = begun()
    answer = conversation.ask(Call("1", "look"))
    assert (answer.allowed, answer.cause, answer.reason) == (True, GuardCause.RULES, "")
    assert (conversation.waiting, conversation.entries) == ("1", 1)
    with pytest.raises(Refusal, match="the call '1' has no result yet"):
        conversation.ask(Call("2", "look"))
    with pytest.raises(Refusal, match="the call '2' does not wait for a result"):
        conversation.report("2")
    conversation.report("1", "blue", error=False)
    assert (conversation.waiting, conversation.entries) == (None, 2)
    assert (episode.heard[-1].content, episode.heard[-1].error) == ("blue", False)
    with pytest.raises(Refusal, match="does not wait"):
        conversation.report("1")
    denied = conversation.ask(Call("2", "steal"))
    assert (denied.allowed, denied.reason) == (False, "p.r: no")
    assert (conversation.waiting, conversation.entries) == (None, 4)
    assert episode.heard[-1] == Result("2", "p.r: no", error=True, denied=True)
    assert log.synced == [True, True, False, True]


def test_a_result_that_is_not_told_is_not_known():
    conversation, _, episode = begun()
    conversation.ask(Call("1", "look"))
    conversation.report("1")
    assert (episode.heard[-1].content, episode.heard[-1].error) == (UNSET, None)


def test_a_call_that_is_asked_about_again_has_the_same_answer():
    conversation, *_ = begun()
    call = conversation.stamped(Call("1", "look", {"x": 1}))
    assert conversation.known(call) is None
    answer = conversation.ask(call)
    assert conversation.known(conversation.stamped(call)) is answer
    with pytest.raises(Refusal, match="is that of an earlier call"):
        conversation.known(Call("1", "look", {"x": 2}))
    conversation.report("1")
    with pytest.raises(Refusal, match="was made, and has its result"):
        conversation.known(call)
    denied = conversation.ask(Call("2", "steal"))
    assert conversation.known(Call("2", "steal")) is denied


def test_an_id_that_is_given_is_free():
    conversation, *_ = begun()
    assert conversation.free_id() == "#1"
    conversation.ask(Call("#2", "steal"))
    assert conversation.free_id() == "#3"
    conversation.ask(Call("#3", "steal"))
    assert conversation.free_id() == "#4"
    assert (conversation.asked("#2"), conversation.asked("#1")) == (True, False)


@pytest.mark.parametrize(("closed", "allowed"), [(True, False), (False, True)])
def test_a_call_whose_decision_takes_too_long_is_settled_once(closed, allowed):
    conversation, log, _ = begun(closed=closed)
    call = Call("1", "look")
    answer = conversation.give_up(call)
    assert (answer.allowed, answer.cause) == (allowed, GuardCause.DEADLINE)
    assert log.events[1].body["call"]["late"] is True
    assert conversation.ask(call) is answer
    assert conversation.waiting == ("1" if allowed else None)


def test_a_call_that_was_decided_in_time_is_not_late():
    conversation, log, _ = begun()
    conversation.ask(Call("1", "look"))
    assert "late" not in log.events[1].body["call"]
    assert conversation.give_up(Call("1", "look")).cause is GuardCause.RULES


@pytest.mark.parametrize(("size", "goes_on"), [(MOST_BYTES, True), (MOST_BYTES + 1, False)])
def test_a_log_that_is_too_long_takes_nothing_more(size, goes_on):
    conversation, log, _ = begun()
    log.size = size
    if goes_on:
        conversation.say(SAID)
    else:
        with pytest.raises(Refusal, match="takes more than"):
            conversation.say(SAID)


def test_an_ended_conversation_takes_nothing_more():
    conversation, *_ = begun()
    conversation.ended = True
    for take in (
        lambda: conversation.say(SAID),
        lambda: conversation.report("1"),
        lambda: conversation.ask(Call("1", "x")),
    ):
        with pytest.raises(Refusal, match="the conversation c ended"):
            take()


def test_nothing_acts_where_the_log_cannot_be_written(monkeypatch):
    conversation, log, _ = begun()

    def full(events, *, sync):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(log, "append", full)
    with pytest.raises(Refusal, match="nothing acts: No space left on device") as refused:
        conversation.ask(Call("1", "look"))
    assert refused.value.diagnostic.code == "E_GUARD_UNWRITABLE"
    assert conversation.waiting is None


def lines(log):
    return [Line(event.type, event.body, f"again {number}") for number, event in enumerate(log.events)]


def written():
    """A log with a message, a call with its result, and a denied call."""
    conversation, log, _ = begun()
    conversation.say(SAID)
    conversation.ask(conversation.stamped(Call("1", "look", {"x": 1})))
    conversation.report("1", "blue")
    conversation.ask(conversation.stamped(Call("2", "steal")))
    return lines(log)


def test_a_conversation_goes_on_where_its_log_ends():
    records = written()
    conversation, log, episode = begun(1, records=records)
    assert (conversation.entries, conversation.waiting, conversation.ended) == (5, None, False)
    assert [type(entry).__name__ for entry in episode.heard] == ["Message", "Result", "Result"]
    assert conversation.free_id() == "#3"
    assert conversation.stamped(SAID).time == 4  # no earlier than what was logged
    known = conversation.known(Call("2", "steal"))
    assert known is not None
    assert known.receipt == "again 6"
    assert log.events == []


def test_an_ended_log_is_that_of_an_ended_conversation():
    conversation, *_ = begun(records=[*written(), Line("end", {"entries": 5}, "")])
    assert (conversation.ended, conversation.entries) == (True, 5)


def test_a_call_without_its_result_is_waited_for_again():
    conversation, *_ = begun(records=written()[:4])
    assert conversation.waiting == "1"
    said = Line("entry", entry_line(SAID).body, "")
    conversation, *_ = begun(records=[*written()[:4], said])
    assert conversation.waiting == "1"


def test_what_a_crash_tore_off_is_told_again():
    conversation, log, episode = begun(records=written()[:-1])
    assert [event.type for event in log.events] == ["entry"]
    assert (conversation.entries, episode.heard[-1].denied) == (5, True)


@pytest.mark.medium
def test_a_conversation_ends_once_with_the_number_of_its_entries(tmp_path):
    conversation, *_ = begun(log=ConversationLog(tmp_path / "c.jsonl", "r"))
    conversation.say(SAID)
    conversation.ask(Call("1", "steal"))
    lines = conversation.finish()
    assert [line.type for line in lines] == ["begin", "entry", "entry", "decision", "entry", "end"]
    assert lines[-1].body == {"entries": 3}
    assert conversation.ended
    assert [line.digest for line in conversation.finish()] == [line.digest for line in lines]


def test_a_call_without_a_result_is_a_finding_at_the_end(tmp_path):
    conversation, *_ = begun(log=ConversationLog(tmp_path / "c.jsonl", "r"))
    conversation.ask(Call("1", "look"))
    *_, finding, end = conversation.finish()
    assert finding.body["finding"]["code"] == "E_LOG_NO_RESULT"
    assert finding.body["finding"]["message"] == "the call '1' of look has no result"
    assert end.body == {"entries": 2}


def test_a_log_that_was_changed_meanwhile_is_not_sealed(tmp_path):
    conversation, *_ = begun(log=ConversationLog(tmp_path / "c.jsonl", "r"))
    conversation.say(SAID)
    conversation.finish()
    written_lines = (tmp_path / "c.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "c.jsonl").write_bytes(b"".join(written_lines[:-1]))
    with pytest.raises(Rejected, match="E_GUARD_DIFFERS"):
        conversation.finish()


CHANGED = {
    "of other specs": (0, lambda line: Line(line.type, {**line.body, "specs": "e"}, "")),
    "another decision": (3, lambda line: Line(line.type, {**line.body, "decision": "deny"}, "")),
    "no decision": (3, lambda line: Line("end", line.body, "")),
    "another result of a denied call": (7, lambda line: Line(line.type, {"result": {"call": "2"}}, "")),
}


@pytest.mark.parametrize(("place", "change"), CHANGED.values(), ids=CHANGED)
def test_a_log_that_was_changed_is_refused(place, change):
    records = written()
    records[place] = change(records[place])
    with pytest.raises(Rejected, match="E_GUARD_DIFFERS"):
        begun(records=records)


def test_the_reason_of_a_denial_names_what_could_not_be_judged_too():
    decision = Decision("1", "pay", False, (Objection("rule", "a", "no"),), (Objection("gate", "b", "unknown"),))
    assert reason_of(decision) == "a: no; b: unknown"
    assert denial(decision).content == "a: no; b: unknown"
    assert module.MOST_BYTES == 32 << 20
