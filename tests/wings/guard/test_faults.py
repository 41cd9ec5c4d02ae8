"""Faults of a guard in another process: kills, a full disk, many clients. No call goes out without its receipt."""

import json
import os
import resource
import signal
import socket
import sys
import threading
import time
from contextlib import suppress
from functools import partial

import pytest

from specledger.core.rng import Stream
from specledger.pipeline.verifying import verify
from specledger.wings.guard.server import prepare_folder, serve
from specledger.wings.guard.service import GuardService
from tests.wings.guard.conftest import KNOWN, OTHER, Client, carry_out, loaded

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")]

KILLS, CLIENTS, CALLS = 200, 50, 20


class Forked:
    """A guard in a process that was forked, which is faster than a start."""

    def __init__(self, bundle, folder, most_bytes=None):
        self.path = folder / "guard.sock"
        self.path.unlink(missing_ok=True)
        self.pid = os.fork()
        if self.pid == 0:
            status = 1
            with suppress(BaseException):
                if most_bytes is not None:
                    sys.dont_write_bytecode = True  # it would be cut
                    resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))
                serve(GuardService(bundle, folder), self.path, lambda: None)
                status = 0
            os._exit(status)

    def client(self):
        for _ in range(2000):
            with socket.socket(socket.AF_UNIX) as probe:
                if probe.connect_ex(str(self.path)) == 0:
                    return Client(self.path)
            time.sleep(0.005)
        raise AssertionError("the guard does not listen")

    def end(self, number=signal.SIGTERM):
        os.kill(self.pid, number)
        os.waitpid(self.pid, 0)


@pytest.fixture
def folder(office):
    prepare_folder(office / "guard")
    return office / "guard"


def made_in(log):
    """The calls that a log says were made; a torn last line counts for nothing."""
    records = [json.loads(line) for line in log.read_bytes().split(b"\n")[:-1]]
    return {record["body"]["call"] for record in records if record["type"] == "decision" and record["body"]["made"]}


def as_of(client, name, type_, **fields):
    return client(type_, name, **fields)


def argument(draw):
    tool = draw.choice(["read_mail", "send_money", "ask_approval"])
    amount = draw.choice([5, 50, 300])
    return tool, {
        "read_mail": {"id": amount},
        "send_money": {"amount": amount, "to": draw.choice([KNOWN, OTHER])},
        "ask_approval": {"amount": amount},
    }[tool]


def ask_until(guard, name, draw, forwarded, calls):
    """Ask about calls, and kill the guard in the midst of the last one; note those that were allowed."""
    client = guard.client()
    assert client("begin", name)["type"] == "begun"
    with suppress(OSError, ValueError):
        for number in range(calls):
            tool, arguments = argument(draw)
            call = f"{len(forwarded)}.{draw.choice(range(10**9))}"
            message = {"type": "ask", "id": 1, "conversation": name, "call": call, "tool": tool, "arguments": arguments}
            client.socket.sendall(json.dumps({**message, "wait_ms": 1}).encode() + b"\n")
            if number == calls - 1:
                time.sleep(draw.choice([0, 0, 1, 2, 4]) / 1000)
                guard.end(signal.SIGKILL)
            answer = json.loads(client.lines.readline())
            if answer.get("decision") == "allow":
                forwarded.add(call)
            if number < calls - 1 and answer.get("decision") == "allow":
                client("report", name, call=call, content={"ok": True})
    client.close()


def test_no_kill_loses_the_receipt_of_a_call_that_went_out(office, folder):
    bundle, draw = loaded(office), Stream.named(11, "kills")
    forwarded: dict[str, set[str]] = {}
    for number in range(KILLS):
        name = f"k{number // 8}"
        own = forwarded.setdefault(name, set())
        ask_until(Forked(bundle, folder), name, draw, own, draw.choice([1, 2, 3]))
        assert own <= made_in(folder / f"logs/{name}.jsonl"), number
    assert sum(map(len, forwarded.values())) > KILLS // 4
    guard = Forked(bundle, folder)
    client = guard.client()
    for name in forwarded:
        assert client("begin", name)["resumed"] is True
        assert client("end", name)["verdict"] in ("PASS", "INCONCLUSIVE")
        assert verify(folder / "sealed" / name).intact
    client.close()
    guard.end()


def test_many_clients_are_answered_each_by_its_own_conversation(office, folder):
    guard = Forked(loaded(office), folder)
    results: dict[str, list[str]] = {}

    def use(name):
        client, draw = guard.client(), Stream.named(3, name)
        client("begin", name)
        client("say", name, speaker="user", text=f"Pay 5 to {OTHER}.")
        decisions = results[name] = []
        for number in range(CALLS):
            tool, arguments = argument(draw)
            asked = partial(as_of, client, name)
            decisions.append(carry_out(asked, f"{number}", tool, arguments, {"ok": True})["decision"])
        client.close()

    threads = [threading.Thread(target=use, args=(f"c{number}",)) for number in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {len(decisions) for decisions in results.values()} == {CALLS}
    client = guard.client()
    for name, decisions in results.items():
        assert len(made_in(folder / f"logs/{name}.jsonl")) == decisions.count("allow") == 6, "six calls are allowed"
        ended = client("end", name)
        assert (ended["verdict"], ended["guard"]["made"]) == ("PASS", 6)
    client.close()
    guard.end()


def test_on_a_full_disk_nothing_is_allowed(office, folder):
    bundle = loaded(office, "guard.fail=open", "policies=[]")
    guard = Forked(bundle, folder, most_bytes=4_000)
    client = guard.client()
    client("begin")
    allowed, answer = set(), {}
    for number in range(100):
        answer = client("ask", call=f"{number}", tool="read_mail", arguments={"id": number}, wait_ms=1)
        if answer["type"] != "decision":
            break
        allowed.add(f"{number}")
        answer = client("report", call=f"{number}", content="text")
    assert answer["code"] == "E_GUARD_UNWRITABLE"
    assert client("ask", call="x", tool="read_mail", arguments={"id": 1}, wait_ms=1)["type"] == "error"
    assert allowed == made_in(folder / "logs/a.jsonl")
    assert len(allowed) > 1
    client.close()
    guard.end()
    later = Forked(bundle, folder)
    client = later.client()
    assert client("begin")["resumed"] is True
    assert client("ask", call="later", tool="read_mail", arguments={"id": 1}, wait_ms=1)["decision"] == "allow"
    client.close()
    later.end()


def test_clients_that_leave_in_the_midst_of_a_line_change_nothing(office, folder):
    guard = Forked(loaded(office), folder)
    client = guard.client()
    client("begin")
    for size in range(1, 60):
        with socket.socket(socket.AF_UNIX) as half:
            half.connect(str(guard.path))
            half.sendall(b'{"type": "ask", "id": 1, "conversation": "a", "tool": "read_mail"}'[:size])
    assert carry_out(client, "1", "read_mail", {"id": 1})["decision"] == "allow"
    assert made_in(folder / "logs/a.jsonl") == {"1"}
    client.close()
    guard.end()
