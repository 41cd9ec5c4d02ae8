"""What one conversation may take: no more than its bytes, and nothing from the others."""

import asyncio
import json
from pathlib import Path
from threading import Event
from unittest.mock import Mock

import pytest

from specledger.core.canonical import canonical_bytes
from specledger.pipeline.verifying import verify
from specledger.wings.guard import client, conversation, log, server, service
from specledger.wings.guard.server import answer_line
from specledger.wings.trajectories.recording.live import LiveEpisode
from tests.wings.guard.conftest import OTHER


def test_a_conversation_has_so_many_bytes_and_then_is_ended(guard_of, monkeypatch):
    monkeypatch.setattr(conversation, "MOST_BYTES", 5_000)
    guard = guard_of()
    guard("begin")
    answers = [guard("say", speaker="user", text="x" * 1_000) for _ in range(9)]
    assert [answer["type"] for answer in answers] == ["noted"] * 3 + ["error"] * 6
    assert "more than 5000 bytes; end it" in answers[-1]["message"]
    assert guard("ask", call="1", tool="read_mail", arguments={"id": 1})["code"] == "E_GUARD_CONVERSATION"
    guard("begin", "b")
    assert guard("ask", "b", call="1", tool="read_mail", arguments={"id": 1})["decision"] == "allow"
    assert Path(guard("end")["evidence"]).is_dir()


LARGE = {f"k{number:03d}": 1 for number in range(100)}


def decided(guard):
    """The answers to a call that is allowed and one that is denied, and to a result for which there is no room."""
    guard("begin")
    answers = [guard("ask", call="1", tool="read_mail", arguments={"id": 1}), guard("report", call="1", content="hi")]
    answers.append(guard("ask", call="2", tool="send_money", arguments={"to": OTHER, "amount": 5}))
    answers.append(guard("ask", call="3", tool="read_mail", arguments={"id": 2}))
    answers.append(guard("report", call="3", content=LARGE))
    return answers


def test_what_was_decided_before_a_large_result_is_sealed(guard_of, monkeypatch):
    monkeypatch.setattr(conversation, "MOST_BYTES", 6_000)
    guard = guard_of()
    answers = decided(guard)
    assert [answer.get("decision", answer["type"]) for answer in answers] == [
        "allow",
        "noted",
        "deny",
        "allow",
        "error",
    ]
    assert answers[-1]["code"] == "E_GUARD_CONVERSATION"
    refused = [guard("report", call="3", content="small"), guard("say", speaker="user", text="x")]
    assert {answer["code"] for answer in refused} == {"E_GUARD_CONVERSATION"}
    guard.service.close()
    again = guard_of()
    again("begin")
    assert again("report", call="3", content="small")["code"] == "E_GUARD_CONVERSATION"
    ended = again("end")
    assert (ended["type"], ended["verdict"]) == ("ended", "INCONCLUSIVE")
    assert sealed_decisions(ended) == {"1": "allow", "2": "deny", "3": "allow"}
    assert ended["guard"] == {"made": 2, "denied": 1, "bypassed": 0}
    assert verify(Path(ended["evidence"])).verdict == "PASS"


def sealed_decisions(ended):
    """The decisions in the evidence of a conversation."""
    lines = (Path(ended["evidence"]) / "receipts.jsonl").read_bytes().splitlines()
    receipts = [json.loads(line) for line in lines]
    return {each["body"]["call"]: each["body"]["decision"] for each in receipts if each["type"] == "guard"}


def test_a_log_of_more_than_is_read_is_sealed_as_far_as_it_is_read(guard_of, monkeypatch):
    guard = guard_of()
    assert decided(guard)[-1]["type"] == "noted"
    assert guard("ask", call="4", tool="read_mail", arguments={"id": 3})["decision"] == "allow"
    monkeypatch.setattr("specledger.wings.trajectories.lines.MOST_OF_LINES", 6_000)
    ended = guard("end")
    assert (ended["type"], ended["verdict"]) == ("ended", "INCONCLUSIVE")
    assert sealed_decisions(ended) == {"1": "allow", "2": "deny", "3": "allow"}


def test_what_is_refused_takes_no_room_from_other_conversations(guard_of, monkeypatch):
    monkeypatch.setattr(conversation, "MOST_BYTES", 5_000)
    monkeypatch.setattr(service, "MOST_MEMORY", 10_000)
    guard = guard_of()
    for name in "ab":
        guard("begin", name)
    assert guard("say", "a", speaker="user", text="x" * 20_000)["code"] == "E_GUARD_CONVERSATION"
    assert guard("say", "b", speaker="user", text="x")["type"] == "noted"


def test_a_log_that_is_too_large_is_not_read(guard_of, monkeypatch):
    guard = guard_of()
    guard("begin")
    guard.service.close()
    monkeypatch.setattr(log, "MOST_READ", 10)
    assert guard_of()("begin")["code"] == "E_GUARD_LOG"


@pytest.fixture
def messages_to(guard_of):
    """Gives a guard messages at the same time; its answers, those of the first one last."""

    def give(first, others, release):
        guard = guard_of("guard.deadline_ms=10000")
        guard("begin")

        async def answer(type_, conversation, **fields):
            message = {"type": type_, "id": 1, "conversation": conversation, **fields}
            return json.loads(await answer_line(guard.service, canonical_bytes(message) + b"\n"))

        async def run():
            slow = [asyncio.create_task(answer(*each[0], **each[1])) for each in first]
            await asyncio.sleep(0.2)
            answers = [await asyncio.wait_for(answer(*each[0], **each[1]), 5) for each in others]
            release.set()
            return answers, [await task for task in slow]

        return guard.runner.run(run())

    return give


BEGIN_B = (("begin", "b"), {"protocol": "specledger/guard/v1"})
ASK_B = (("ask", "b"), {"call": "1", "tool": "read_mail", "arguments": {"id": 1}})


def test_a_conversation_whose_rule_is_slow_holds_up_no_other_one(messages_to, monkeypatch):
    release, decide = Event(), LiveEpisode.decide

    def slow(self, call):
        assert call.id != "slow" or release.wait(30)
        return decide(self, call)

    monkeypatch.setattr(LiveEpisode, "decide", slow)
    asked = (("ask", "a"), {"call": "slow", "tool": "read_mail", "arguments": {"id": 1}})
    answers, late = messages_to([asked], [BEGIN_B, ASK_B], release)
    assert [answer["type"] for answer in answers] == ["begun", "decision"]
    assert late[0]["decision"] == "allow"


def test_a_conversation_that_takes_long_to_begin_holds_up_no_other_one(messages_to, monkeypatch):
    release, opened = Event(), service.GuardService._opened
    times = []

    def slow(self, name):
        times.append(name)
        assert name != "long" or release.wait(30)
        return opened(self, name)

    monkeypatch.setattr(service.GuardService, "_opened", slow)
    begin = (("begin", "long"), {"protocol": "specledger/guard/v1"})
    answers, late = messages_to([begin] * 3, [BEGIN_B, ASK_B], release)
    assert [answer["type"] for answer in answers] == ["begun", "decision"]
    assert [answer["type"] for answer in late] == ["begun"] * 3
    assert times.count("long") == 1


def test_two_guards_of_one_folder_give_different_names(guard_of, monkeypatch):
    begin = b'{"type": "begin", "id": 1, "protocol": "specledger/guard/v1"}\n'
    one, two = guard_of(), guard_of()
    assert one.line(begin)["conversation"] == "c1"
    names = iter(["c1", "c2"])  # as if both had looked before either began
    monkeypatch.setattr(two.service, "_free_name", lambda: next(names))
    assert two.line(begin)["conversation"] == "c2"


@pytest.mark.medium
def test_a_guard_of_another_user_is_none(process_of, monkeypatch):
    """Who could make the folder of a socket again, where the guard has ended, would allow all."""
    path = str(process_of().path)
    client.Guard(path).close()
    monkeypatch.setattr("os.getuid", lambda: 4711)
    with pytest.raises(client.NoAnswerError, match="of another user"):
        client.Guard(path)


def test_a_log_that_is_a_link_is_refused(guard_of, tmp_path):
    guard = guard_of()
    (tmp_path / "mine").write_bytes(b"kept")
    (guard.folder / "logs/a.jsonl").symlink_to(tmp_path / "mine")
    assert guard("begin")["code"] == "E_GUARD_LOG"
    assert (tmp_path / "mine").read_bytes() == b"kept"


def test_what_is_left_is_sealed_and_nothing_else_is(guard_of):
    guard = guard_of()
    for name in "ab":
        guard("begin", name)
    (guard.folder / "logs/no name.jsonl").write_bytes(b"")
    guard.service.close()
    other = guard_of()
    other("begin", "b")
    later = guard_of()
    answers = later.runner.run(later.service.seal_left())
    assert {name: answer["type"] for name, answer in answers.items()} == {"a": "ended", "b": "error"}
    assert answers["b"]["code"] == "E_GUARD_LOG"
    assert sorted(path.name for path in (guard.folder / "logs").iterdir()) == ["b.jsonl", "no name.jsonl"]


def test_conversations_together_take_so_much_and_then_some_are_to_end(guard_of, monkeypatch):
    monkeypatch.setattr(service, "MOST_MEMORY", 5_000)
    guard = guard_of()
    for name in "ab":
        guard("begin", name)
    answers = [guard("say", name, speaker="user", text="x" * 1_000) for name in "abababab"]
    assert [answer["type"] for answer in answers] == ["noted"] * 4 + ["error"] * 4
    assert "the open conversations take more than 5000 bytes of memory; end some" in answers[-1]["message"]
    assert guard("ask", "b", call="1", tool="read_mail", arguments={"id": 1})["code"] == "E_GUARD_CONVERSATION"
    assert guard("end", "a")["type"] == "ended"
    assert guard("ask", "b", call="1", tool="read_mail", arguments={"id": 1})["decision"] == "allow"


def test_messages_that_wait_take_so_much_and_then_are_refused(monkeypatch):
    """Lines that do not end, and one of many values; whoever asks again later is answered."""
    monkeypatch.setattr(server, "MOST_UNANSWERED", 300_000)
    monkeypatch.setattr(server, "answer_line", lambda service, line: asyncio.sleep(0, b"answered\n"))

    async def run():
        connections = server.Connections(Mock())
        said: list[bytes] = []

        def connect(data, *, ends):
            reader = asyncio.StreamReader(limit=server._PIECE)
            reader.feed_data(data)
            if ends:
                reader.feed_eof()
            writer = Mock(write=said.append, drain=lambda: asyncio.sleep(0))
            return reader, asyncio.create_task(connections.take(reader, writer))

        waiting = [connect(b"x" * 140_000, ends=False) for _ in range(2)]
        await asyncio.sleep(0.05)
        assert said == []
        _, over = connect(b"x" * 140_000 + b"\n", ends=True)
        await over
        for reader, task in waiting:
            reader.feed_eof()
            await task
        for line in (b"x" * 140_000 + b"\n", b"[" + b"[]," * 5_000 + b"[]]\n"):
            _, later = connect(line, ends=True)
            await later
        return said

    first, second, third = asyncio.run(run())
    for refused in (first, third):
        assert json.loads(refused)["code"] == "E_GUARD_MESSAGE"
        assert "are not yet answered take more than 300000 bytes" in json.loads(refused)["message"]
    assert second == b"answered\n"
