"""An office whose payments are guarded, and clients of its guard."""

import asyncio
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from specledger.core.canonical import canonical_bytes
from specledger.kinds import load
from specledger.oracles.retry_clock import Clock
from specledger.wings.guard.server import answer_line, prepare_folder
from specledger.wings.guard.service import GuardService

HERE = Path(__file__).parent
KNOWN, OTHER = "GB29NWBK60161331926819", "DE89370400440532013000"


@pytest.fixture
def office(tmp_path):
    """The project of the office."""
    shutil.copytree(HERE / "office", tmp_path / "office")
    return tmp_path / "office"


def loaded(office, *sets):
    return load(office / "specs/scenario/office.yaml", set=list(sets))[0]


BEGIN = 1_778_745_600
"""2026-05-14, 08:00."""


class Watch(Clock):
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.seconds = float(BEGIN)

    def microseconds(self) -> int:
        return int(self.seconds * 1_000_000)


class Asked:
    """A guard in this process, asked line by line as over its socket."""

    def __init__(self, office: Path, *sets: str, clock: Clock | None = None) -> None:
        prepare_folder(office / "guard")
        self.folder = office / "guard"
        self.service = GuardService(loaded(office, *sets), self.folder, clock)
        self.runner = asyncio.Runner()

    def line(self, line: bytes) -> Any:
        return json.loads(self.runner.run(answer_line(self.service, line)))

    def __call__(self, type_: str, conversation: str = "a", **fields: Any) -> Any:
        named = {"conversation": conversation, "protocol": "specledger/guard/v1"}
        if type_ != "begin":
            del named["protocol"]
        return self.line(canonical_bytes({"type": type_, "id": 1, **named, **fields}) + b"\n")

    def close(self) -> None:
        self.service.close()
        self.runner.close()


@pytest.fixture
def guard_of(office):
    """Makes guards of the office with some of its keys set."""
    made: list[Asked] = []

    def make(*sets: str, clock: Clock | None = None) -> Asked:
        made.append(Asked(office, *sets, clock=clock))
        return made[-1]

    yield make
    for each in made:
        each.close()


class Client:
    """A connection to a guard in another process."""

    def __init__(self, path: Path) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(60)
        self.socket.connect(str(path))
        self.lines = self.socket.makefile("rb")

    def __call__(self, type_: str, conversation: str = "a", **fields: Any) -> Any:
        named = {"protocol": "specledger/guard/v1"} if type_ == "begin" else {}
        message = {"type": type_, "id": 1, "conversation": conversation, **named, **fields}
        self.socket.sendall(json.dumps(message).encode() + b"\n")
        return json.loads(self.lines.readline())

    def close(self) -> None:
        self.lines.close()
        self.socket.close()


class Process:
    """`spec guard` in a process of its own."""

    def __init__(self, office: Path, *words: str) -> None:
        self.path = office / "guard/guard.sock"
        command = [sys.executable, "-m", "specledger", "guard", "office", *words]
        self.process = subprocess.Popen(command, cwd=office, stderr=subprocess.PIPE)
        assert self.process.stderr is not None
        self.said = self.process.stderr.readline().decode()

    def client(self) -> Client:
        return Client(self.path)

    def end(self, number: int = signal.SIGTERM) -> int:
        if self.process.poll() is None:
            os.kill(self.process.pid, number)
        status = self.process.wait(30)
        assert self.process.stderr is not None
        self.process.stderr.close()
        return status


@pytest.fixture
def process_of(office):
    """Starts guards of the office."""
    started: list[Process] = []

    def start(*words: str) -> Process:
        started.append(Process(office, *words))
        return started[-1]

    yield start
    for each in started:
        if each.process.poll() is None:
            each.end(signal.SIGKILL)


Guard = Callable[..., Any]


def carry_out(guard: Guard, call: str, tool: str, arguments: Any, content: Any = "done", **more: Any) -> Any:
    """Ask about a call, and report its result if it is allowed; the decision."""
    decision = guard("ask", call=call, tool=tool, arguments=arguments, **more)
    if decision["decision"] == "allow":
        assert guard("report", call=call, content=content)["type"] == "noted"
    return decision
