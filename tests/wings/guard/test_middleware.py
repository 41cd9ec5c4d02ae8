"""What the middleware asks of a guard and lets through, with stand-ins for the service and for the classes of fastmcp."""

import asyncio
import sys
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import UNSET

from specledger.core.canonical import NotCanonical
from specledger.core.diagnostics import Diagnostic, Rejected
from specledger.wings.guard import mcp, sealing, service
from specledger.wings.guard.protocol import Ask, Begin, End, Note, Refusal, Report, read_message

TOOLS = {"pay": {"description": "Pays.", "arguments": {"type": "object"}, "result": None}}
ALLOWED = {"decision": "allow", "call": "k1"}
DENIED = {"decision": "deny", "call": "k1", "reason": "too dear", "receipt": 4}


class Service:
    """A guard that decides as it is told, and keeps what it was told."""

    def __init__(self, decision=ALLOWED, fail="closed", shows="all"):
        self.decision, self.told = decision, []
        self.settings, self.bundle = SimpleNamespace(fail=fail, tools=shows), None
        forbids = {"pay": "never paid"}
        self.plan = SimpleNamespace(recording=SimpleNamespace(forbids=lambda tool: forbids.get(tool, "")))

    async def answer(self, message):
        self.told.append(message)
        answers: dict[type, Any] = {Begin: {"conversation": "c"}, Ask: self.decision, End: {"verdict": "PASS"}}
        answer = answers.get(type(message), {})
        if isinstance(answer, Exception):
            raise answer
        return answer

    def of(self, kind):
        return [message for message in self.told if type(message) is kind]


@pytest.fixture
def server(monkeypatch):
    """A server whose tools are `tools`; a call of one gives `result`, or raises it."""
    pytest.importorskip("anyio")
    tools_base: Any = SimpleNamespace(ToolResult=lambda text, is_error: SimpleNamespace(text=text, is_error=is_error))
    monkeypatch.setitem(sys.modules, "fastmcp.tools.base", tools_base)
    made = SimpleNamespace(tools=dict(TOOLS), misfits=[], called=[])
    made.result = SimpleNamespace(is_error=False, structured_content={"paid": 5}, content=[])

    async def listed(context):
        return made.tools

    async def call_next(context):
        made.called.append(context.message.name)
        if isinstance(made.result, BaseException):
            raise made.result
        return made.result

    monkeypatch.setattr(mcp, "_listed", listed)
    monkeypatch.setattr(mcp, "_described", lambda tools: tools)
    monkeypatch.setattr(mcp, "misfits", lambda bundle, schemas: made.misfits)
    made.call = lambda guard, arguments, tool="pay": asyncio.run(
        guard.on_call_tool(SimpleNamespace(message=SimpleNamespace(name=tool, arguments=arguments)), call_next)
    )
    return made


def test_a_call_is_asked_about_made_and_reported(server):
    guarding = Service()
    guard = mcp.ToolGuard(guarding)  # type: ignore[arg-type]
    assert server.call(guard, {"sum": 5}) is server.result
    (ask,), (report,) = guarding.of(Ask), guarding.of(Report)
    assert (ask.conversation, ask.tool, ask.arguments, ask.wait_ms) == ("c", "pay", {"sum": 5}, 600_000)
    assert (report.conversation, report.call, report.content, report.error) == ("c", "k1", {"paid": 5}, False)
    server.call(guard, None)
    assert len(guarding.of(Begin)) == 1
    assert guarding.of(Ask)[1].arguments == {}
    assert guarding.of(Note) == []


def test_a_denied_call_is_not_made_and_its_result_says_why(server):
    guarding = Service(DENIED)
    result = server.call(mcp.ToolGuard(guarding), {})  # type: ignore[arg-type]
    assert (result.text, result.is_error) == ("denied by the guard: too dear (receipt 4)", True)
    assert (server.called, guarding.of(Report)) == ([], [])


def test_a_refusal_of_the_guard_denies(server):
    result = server.call(mcp.ToolGuard(Service(Refusal("E_GUARD_MESSAGE", "no room"))), {})  # type: ignore[arg-type]
    assert (result.text, server.called) == ("denied by the guard: no room", [])


UNREADABLE = (
    "denied by the guard: its arguments cannot be read: they are too large, too deep, or integers beyond 64 bits"
)
INTEGERS = [
    ({"a": 2**64 - 1}, True), ({"a": 2**64}, False), ({"a": [-(2**63)]}, True), ({"a": [{"b": -(2**63) - 1}]}, False),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "readable"), INTEGERS)
def test_integers_beyond_64_bits_are_never_called(server, arguments, readable):
    result = server.call(mcp.ToolGuard(Service()), arguments)  # type: ignore[arg-type]
    assert server.called == (["pay"] if readable else [])
    assert readable or result.text == UNREADABLE


@pytest.mark.parametrize("error", [ValueError("broken"), asyncio.CancelledError()])
def test_a_call_that_fails_or_is_cancelled_is_reported(server, error):
    guarding, server.result = Service(), error
    with pytest.raises(type(error)):
        server.call(mcp.ToolGuard(guarding), {})  # type: ignore[arg-type]
    (report,) = guarding.of(Report)
    wanted = ("broken", True) if isinstance(error, ValueError) else (UNSET, None)
    assert (report.content, report.error) == wanted


CONTENTS = {
    "structured": ({"a": 1.5}, [], {"a": {"$number": "1.5"}}),
    "texts": (None, ["one", "two"], "one\ntwo"),
    "a picture": (None, ["one", None], UNSET),
    "nothing": (None, [], ""),
}


@pytest.mark.parametrize(("structured", "texts", "content"), CONTENTS.values(), ids=CONTENTS)
def test_what_a_result_holds(structured, texts, content):
    blocks = [SimpleNamespace(type="image" if text is None else "text", text=text) for text in texts]
    assert mcp._content(SimpleNamespace(structured_content=structured, content=blocks)) == content  # type: ignore[arg-type]


NOW = {"pay": {**TOOLS["pay"], "description": "Pays more."}, "look": TOOLS["pay"]}


@pytest.mark.parametrize("fail", ["open", "closed"])
def test_tools_that_came_or_changed_are_noted_and_judged_only_where_the_guard_fails_closed(server, fail):
    guarding = Service(fail=fail)
    guard = mcp.ToolGuard(guarding, TOOLS)  # type: ignore[arg-type]
    server.tools = NOW
    for tool in ("pay", "look"):
        server.call(guard, {}, tool)
    assert server.called == ([] if fail == "open" else ["pay", "look"])
    notes = [note.message for note in guarding.of(Note)]
    assert notes[:2] == ["the tool look is new", "the tool pay changed: its description"]
    not_called = (
        "is not called: the tool came or changed after the start, and a scenario that fails open judges none such"
    )
    assert notes[2:] == ([f"the tool pay {not_called}", f"the tool look {not_called}"] if fail == "open" else [])
    server.tools = dict(TOOLS)  # what changed once stays so
    server.call(guard, {}, "pay")
    assert (len(server.called) == 3) == (fail == "closed")


def test_what_does_not_fit_the_world_is_noted_once(server):
    guarding, server.misfits = Service(), ["x" * 3000]
    guard = mcp.ToolGuard(guarding)  # type: ignore[arg-type]
    for _ in range(2):
        server.call(guard, {})
    assert [(note.code, len(note.message)) for note in guarding.of(Note)] == [("E_GUARD_TOOLS", 2000)]


class Tool:
    def __init__(self, name, description):
        self.name, self.description = name, description

    def model_copy(self, *, update):
        return Tool(self.name, update["description"])


SHOWN = {
    "all": [("pay", "Pays."), ("look", None)],
    "mark": [("pay", "[denied by the guard: never paid] Pays."), ("look", None)],
    "hide": [("look", None)],
}


@pytest.mark.parametrize("shows", SHOWN)
def test_tools_that_are_never_allowed_are_shown_as_the_scenario_says(server, shows):
    async def call_next(context):
        return [Tool("pay", "Pays."), Tool("look", None)]

    server.tools = {}
    guard = mcp.ToolGuard(Service(shows=shows))  # type: ignore[arg-type]
    guard._compare = lambda name, now: asyncio.sleep(0)  # type: ignore[method-assign]
    tools = asyncio.run(guard.on_list_tools(SimpleNamespace(), call_next))  # type: ignore[arg-type]
    assert [(tool.name, tool.description) for tool in tools] == SHOWN[shows]


def test_a_tool_without_a_description_is_marked_alone(server):
    guard = mcp.ToolGuard(Service(shows="mark"))  # type: ignore[arg-type]
    shown: Any = guard._shown(Tool("pay", None))  # type: ignore[arg-type]
    assert shown.description == "[denied by the guard: never paid]"


def test_a_conversation_ends_once(server):
    guarding = Service()
    guard = mcp.ToolGuard(guarding)  # type: ignore[arg-type]
    assert asyncio.run(guard.end()) is None
    server.call(guard, {})
    assert asyncio.run(guard.end()) == {"verdict": "PASS"}
    assert asyncio.run(guard.end()) is None
    assert [end.conversation for end in guarding.of(End)] == ["c"]


def sealed(monkeypatch, tmp_path, error):
    def fail(*_):
        raise error

    monkeypatch.setattr(sealing, "seal", fail)
    conversation: Any = SimpleNamespace(name="c", finish=list, head="h")
    guarding: Any = SimpleNamespace(folder=tmp_path, bundle=None)
    with pytest.raises(Refusal) as refused:
        service.GuardService._seal(guarding, conversation)
    return refused.value.diagnostic.code, refused.value.diagnostic.message


def test_a_conversation_that_cannot_be_sealed_says_why_by_its_first_finding(monkeypatch, tmp_path):
    findings = [Diagnostic("E_GUARD_TOOLS", "one"), Diagnostic("E_GUARD_MESSAGE", "two")]
    assert sealed(monkeypatch, tmp_path, Rejected(findings)) == ("E_GUARD_TOOLS", "one")
    written = sealed(monkeypatch, tmp_path, OSError(28, "No space left on device"))
    assert written == ("E_GUARD_UNWRITABLE", "its evidence cannot be written: No space left on device")


@pytest.mark.parametrize("error", [ValueError("x" * 600), NotCanonical("E_CANON_DEPTH", "$", "x" * 600)])
def test_a_message_that_cannot_be_read_is_refused_with_the_beginning_of_why(monkeypatch, error):
    def fail(_line):
        raise error

    monkeypatch.setattr("specledger.wings.guard.protocol.parse_log_json", fail)
    with pytest.raises(Refusal) as refused:
        read_message(b"{}")
    assert len(str(refused.value)) == 500
