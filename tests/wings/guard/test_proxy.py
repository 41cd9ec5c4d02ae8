"""How a server of tools is reached and guarded, with stand-ins for the classes of fastmcp."""

import asyncio
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer

from specledger.core.diagnostics import Rejected
from specledger.wings.guard import commands, proxy, server, service, tools
from specledger.wings.guard.client import MAX_MESSAGE
from specledger.wings.guard.protocol import Refusal


class Tool:
    def model_dump(self, **options):
        assert options == {"mode": "json", "by_alias": True, "exclude_none": True}
        return {"name": "pay", "inputSchema": {"type": "object"}}


class Client:
    """A client of a server; `raises` is what it finds."""

    raises: Exception | None = None
    targets: list[Any]

    def __init__(self, target):
        self.targets.append(target)

    async def __aenter__(self):
        if self.raises is not None:
            raise self.raises
        return self

    async def __aexit__(self, *_):
        pass

    async def list_tools(self):
        return [Tool()]


class Served:
    """A proxy that serves until its client leaves, at once."""

    def __init__(self, target, *, name, middleware):
        self.name, self.middleware = name, middleware

    async def run_async(self, transport, **settings):
        assert (transport, settings) == ("stdio", {"show_banner": False, "log_level": "CRITICAL"})


@pytest.fixture
def fastmcp(monkeypatch):
    """The targets of clients."""
    Client.targets, Client.raises = [], None
    transport: Any = SimpleNamespace(StdioTransport=lambda command, arguments, env: (command, arguments, env))
    modules: dict[str, Any] = {
        "fastmcp": SimpleNamespace(Client=Client),
        "fastmcp.client": SimpleNamespace(),
        "fastmcp.client.transports": transport,
        "fastmcp.server": SimpleNamespace(create_proxy=Served),
    }
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    return Client.targets


@pytest.mark.parametrize(
    ("words", "target"),
    [
        (["http://a/mcp"], "http://a/mcp"),
        (["https://a/mcp"], "https://a/mcp"),
        (["python", "server.py", "-x"], ("python", ["server.py", "-x"], dict(os.environ))),
        (["server"], ("server", [], dict(os.environ))),
        (["http://a/mcp", "more"], ("http://a/mcp", ["more"], dict(os.environ))),
    ],
    ids=["http", "https", "a command", "a command of one word", "a command with the name of an address"],
)
def test_a_server_is_one_address_or_a_command(fastmcp, monkeypatch, words, target):
    environment = dict(os.environ)
    assert proxy.list_tools(words) == [{"name": "pay", "inputSchema": {"type": "object"}}]
    (found,) = fastmcp
    assert found == target if isinstance(target, str) else found == (*target[:2], environment)


def test_a_server_that_does_not_answer_is_refused_with_its_words(fastmcp):
    Client.raises = RuntimeError("gone")
    with pytest.raises(Rejected) as refused:
        proxy.list_tools(["python", "server.py"])
    (finding,) = refused.value.diagnostics
    assert (finding.code, finding.message) == ("E_GUARD_MCP", "no server of tools answers to python server.py: gone")
    assert finding.hint == "the words after `--` are its command, or its one URL"


ENDED = {"type": "ended", "verdict": "PASS", "evidence": "guard/sealed/a"}


def served(monkeypatch, folder, *, ended=None, found=(), left=()):
    """What the user is told while a server is guarded, and whether the service was closed."""
    told: list[str] = []
    closed: list[bool] = []

    async def end():
        if isinstance(ended, Exception):
            raise ended
        return ended

    guarding = SimpleNamespace(
        left=lambda: list(left), bundle=None, plan=SimpleNamespace(name="office"), close=lambda: closed.append(True)
    )
    monkeypatch.setattr(proxy, "GuardService", lambda bundle, folder: guarding)
    monkeypatch.setattr(proxy, "middleware_of", lambda service, tools: SimpleNamespace(end=end))
    monkeypatch.setattr(proxy, "misfits", lambda bundle, schemas: found)
    proxy.serve_proxy(None, ["http://a"], folder / "guard", told.append)  # type: ignore[arg-type]
    return told, closed


@pytest.mark.parametrize(
    ("ended", "said"),
    [
        (None, "no call was asked"),
        (ENDED, "PASS, evidence guard/sealed/a"),
        (Refusal("E_GUARD_MESSAGE", "no"), "the conversation is not sealed: E_GUARD_MESSAGE: no"),
    ],
    ids=["no call", "sealed", "not sealed"],
)
def test_a_client_that_leaves_ends_its_conversation_and_the_user_is_told_how(
    fastmcp, monkeypatch, tmp_path, ended, said
):
    assert served(monkeypatch, tmp_path, ended=ended) == ([said], [True])
    assert sorted(path.name for path in (tmp_path / "guard").iterdir()) == ["logs", "sealed"]


@pytest.mark.parametrize(("left", "said"), [(["a"], "1 conversation in"), (["a", "b"], "2 conversations in")])
def test_conversations_that_were_left_are_told_first(fastmcp, monkeypatch, tmp_path, left, said):
    (first, _), _ = served(monkeypatch, tmp_path, left=left)
    assert first == f"{said} {tmp_path / 'guard'} did not end: `--seal` seals those that no guard has open"


def test_tools_that_do_not_fit_are_refused_before_anything_is_served(fastmcp, monkeypatch, tmp_path):
    with pytest.raises(Rejected) as refused:
        served(monkeypatch, tmp_path, found=["one", "two"])
    assert [(one.code, one.message) for one in refused.value.diagnostics] == [
        ("E_GUARD_TOOLS", "one"),
        ("E_GUARD_TOOLS", "two"),
    ]


SORTS = [
    ("int", "int"),
    ({"type": "string"}, "string"),
    ({"enum": [1, 2]}, "int"),
    ({"enum": [1, "a"]}, "string"),
    ({"enum": [True]}, "string"),
    ({}, "string"),
    (["int"], "another"),
]


@pytest.mark.parametrize(("type_", "sort"), SORTS)
def test_the_sort_of_a_type(type_, sort):
    assert tools._sort(type_) == sort


SEALED = {"one": {**ENDED, "type": "ended"}, "two": {"type": "error", "code": "E_GUARD_OPEN", "message": "it is open"}}


@pytest.mark.parametrize(("names", "fails"), [([], False), (["one"], False), (["one", "two"], True), (["two"], True)])
def test_what_a_killed_guard_left_is_sealed_and_what_is_not_is_told(monkeypatch, tmp_path, capsys, names, fails):
    async def seal_left():
        return {name: SEALED[name] for name in names}

    closed = []
    stand_in = SimpleNamespace(seal_left=seal_left, close=lambda: closed.append(True))
    monkeypatch.setattr(service, "GuardService", lambda bundle, out: stand_in)
    try:
        commands._seal_left(None, tmp_path / "guard")  # type: ignore[arg-type]
        status = 0
    except typer.Exit as ended:
        status = ended.exit_code
    assert (status, closed) == (4 if fails else 0, [True])
    out, err = capsys.readouterr()
    assert out == ("one: PASS, evidence guard/sealed/a\n" if "one" in names else "")
    assert err == ("two is not sealed: E_GUARD_OPEN: it is open\n" if "two" in names else "")


@pytest.mark.parametrize(
    ("data", "answers"),
    [
        (b"a\nb\n", [b"a\n", b"b\n"]),
        (b"a\nb", [b"a\n"]),
        (b"", []),
        (b"x" * (MAX_MESSAGE - 1) + b"\nb\n", [b"x" * (MAX_MESSAGE - 1) + b"\n", b"b\n"]),
        (b"x" * MAX_MESSAGE + b"\nb\n", [b"x" * MAX_MESSAGE + b"\n", b"b\n"]),
        (b"x" * (MAX_MESSAGE + 1) + b"\nb\n", []),
    ],
    ids=[
        "two",
        "one without its end",
        "none",
        "the largest",
        "one that is refused by its size",
        "one that does not end",
    ],
)
def test_lines_of_a_stream_are_answered_until_one_does_not_end(monkeypatch, data, answers):
    import io

    async def answer_line(service, line):
        return line

    closed = []
    monkeypatch.setattr(server, "answer_line", answer_line)
    out = io.BytesIO()
    server.answer_stream(SimpleNamespace(close=lambda: closed.append(True)), io.BytesIO(data), out)  # type: ignore[arg-type]
    assert (out.getvalue() == b"".join(answers), closed) == (True, [True])


def test_a_defect_answers_too(monkeypatch):
    monkeypatch.setattr(server, "read_message", lambda line: 1 // 0)
    answer = asyncio.run(server.answer_line(None, b"{}\n"))  # type: ignore[arg-type]
    assert b"ZeroDivisionError" in answer
    assert b'"id":null' in answer
    assert b"E_INTERNAL" in answer


def test_folders_of_a_guard_are_made_for_its_user_alone(tmp_path):
    for _ in range(2):
        server.prepare_folder(tmp_path / "a/guard")
        for name in ("", "logs", "sealed"):
            assert Path(tmp_path, "a/guard", name).stat().st_mode & 0o777 == 0o700
