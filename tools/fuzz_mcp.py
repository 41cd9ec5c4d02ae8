"""Messages to the MCP server for coding agents: no path leads out of the project, and nothing outside it changes."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import anyio
from mcp.server.stdio import stdio_server

from specledger.wings.editor.authoring_tools import Answer, AuthoringTools
from specledger.wings.editor.mcp_server import make_server
from tools.fuzz_target import TOY, Target, bytes_of, command

_MOST_MESSAGES: Final = 12
_MOST_EPISODES: Final = 2
_TURNS: Final = 200
"""Turns of the event loop in which a call is answered."""


class Authoring(Target):
    """Lines that a client sends: each answer is a message, and each path that a command is given is in the project."""

    name = "mcp"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.project = folder / "project"
        shutil.copytree(TOY, self.project / "specs")
        (folder / "outside.yaml").write_text("spec: world/v1\nname: outside\n", encoding="utf-8")
        (self.project / "specs/link.yaml").symlink_to(folder / "outside.yaml")
        self.called = 0
        self.wrong: list[BaseException] = []

    def seeds(self) -> list[bytes]:
        """As in `Target`."""
        calls: list[tuple[str, dict[str, Any]]] = [
            ("check", {}),
            ("check", {"targets": ["specs/climb.yaml", "../outside.yaml"]}),
            ("explain", {"what": "governor.gates.deny"}),
            ("run", {"target": "climb", "seed": 1, "episodes": 1}),
            ("verify", {"bundle": "out/mcp/climb-1", "replay": False}),
            ("report", {"bundle": "out/mcp/climb-1"}),
        ]
        about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
        opening = [
            _message(id=0, method="initialize", params=about),
            _message(method="notifications/initialized"),
        ]
        asked = [
            _message(id=number, method="tools/call", params={"name": name, "arguments": arguments})
            for number, (name, arguments) in enumerate(calls, 1)
        ]
        others = [_message(id=9, method=method, params={}) for method in ("tools/list", "ping", "resources/read")]
        return [
            *(b"".join([*opening, message]) for message in [*asked, *others]),
            b"".join([*opening, asked[3], *asked[4:]]),
        ]

    def run(self, data: bytes) -> None:
        """As in `Target`."""
        before = {path: data for path, data in bytes_of(self.folder).items() if "/out/" not in path}
        lines = data.decode("utf-8", "replace").splitlines(keepends=True)[:_MOST_MESSAGES]
        self.wrong.clear()
        with patch.object(AuthoringTools, "_run", self._called):
            written = anyio.run(_conversation, self.project, lines)
        if self.wrong:
            raise self.wrong[0]
        for line in written:
            assert json.loads(line)["jsonrpc"] == "2.0", line
        shutil.rmtree(self.project / "out", ignore_errors=True)
        assert bytes_of(self.folder) == before, "a file of the project, or outside it, was changed"

    async def _called(self, *words: str) -> Answer:
        """Run a command, and keep what does not hold: the server would make an answer of it."""
        self.called += 1
        try:
            return self._command(words)
        except BaseException as error:
            self.wrong.append(error)
            raise

    def _command(self, words: Sequence[str]) -> Answer:
        """Run a command in this process: where its arguments lead, and what it may take."""
        at = words.index("--")
        if words[0] != "explain":
            for word in words[at + 1 :]:
                assert (self.project / word).resolve().is_relative_to(self.project.resolve()), word
        few = [_bounded(word) for word in words[:at]]
        if words[0] == "run" and not any(word.startswith("--episodes") for word in few):
            few.append(f"--episodes={_MOST_EPISODES}")
        here = Path.cwd()
        os.chdir(self.project)
        try:
            status, output, messages = command(*few, *words[at:])
        finally:
            os.chdir(here)
        return Answer(status, "", output + messages)


def _message(**fields: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **fields}).encode() + b"\n"


def _bounded(word: str) -> str:
    """An option; of a number of episodes, a small one."""
    name, _, value = word.partition("=")
    many = name == "--episodes" and value.isdecimal() and int(value) > _MOST_EPISODES
    return f"{name}={_MOST_EPISODES}" if many else word


class _Sent:
    """What a client sends, and then it waits for its answers."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines

    async def __aiter__(self) -> AsyncIterator[str]:
        for line in self._lines:
            yield line
        for _ in range(_TURNS):
            await anyio.sleep(0)


class _Written:
    """What a server writes."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    async def write(self, text: str) -> None:
        self.lines.append(text)

    async def flush(self) -> None:
        pass


async def _conversation(folder: Path, lines: list[str]) -> list[str]:
    """What a server answers to these lines."""
    written: Any = _Written()
    sent: Any = _Sent(lines)
    server = make_server(AuthoringTools(folder, 60))._mcp_server
    async with stdio_server(sent, written) as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())
    answers: list[str] = written.lines
    return answers
