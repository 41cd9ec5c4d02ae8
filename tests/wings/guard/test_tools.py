"""The tools of a server beside the actions of a world: what does not fit, and what changed."""

import pytest

from specledger.core.diagnostics import Diagnostic
from specledger.wings.guard.tools import E_GUARD_TOOLS, changes, misfits
from tests.wings.guard.conftest import loaded

TOOLS = {
    "read_mail": {"type": "object", "properties": {"id": {"type": "integer"}, "more": {}}},
    "ask_approval": {"type": "object", "properties": {"amount": {"type": "number"}}},
    "send_money": {"type": "object", "properties": {"amount": {"type": "integer"}, "to": {"type": "string"}}},
}
WRONG = {
    "no tool": ("read_mail", None, "the world has the action read_mail, and the server no such tool"),
    "no argument": ("send_money", {"to": {"type": "string"}}, "the action send_money has the argument amount, and the tool has not"),
    "another type": ("read_mail", {"id": {"type": "string"}}, "the argument id of read_mail is int in the world, and string of the tool"),
}  # fmt: skip


def test_tools_that_fit_a_world_are_fine(office):
    assert list(misfits(loaded(office), {**TOOLS, "other": {}})) == []


@pytest.mark.parametrize(("tool", "properties", "message"), WRONG.values(), ids=WRONG)
def test_a_tool_that_does_not_fit_is_said(office, tool, properties, message):
    tools = {name: schema for name, schema in TOOLS.items() if name != tool}
    if properties is not None:
        tools[tool] = {"type": "object", "properties": properties}
        if tool == "send_money":
            assert "amount" not in properties
    assert message in list(misfits(loaded(office), tools))


def test_what_does_not_fit_a_world_is_said(office):
    found = [Diagnostic(E_GUARD_TOOLS, message) for message in misfits(loaded(office), {})]
    assert len(found) == 3


def test_changes_are_named():
    one, two = {"description": "a", "arguments": {}}, {"description": "b", "arguments": {}}
    assert list(changes({"x": one, "y": one}, {"x": two, "z": one})) == [
        "the tool x changed: its description",
        "the tool y is gone",
        "the tool z is new",
    ]
    assert list(changes({"x": one}, {"x": dict(one)})) == []
