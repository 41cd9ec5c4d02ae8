"""Rules that read what the user wrote."""

import pytest

from specledger.core.diagnostics import Diagnostics, Rejected
from specledger.kinds import KINDS
from specledger.load import load
from specledger.wings.trajectories.model import Call, Message, Result, Speaker
from specledger.wings.trajectories.rules.compile import compile_policy

RULES = """
spec: policy/v1
name: asked
rules:
  deletes:
    when: {tool: delete_file}
    read: {asked: {path: request, matches: '(?i)\\bdelet|\\bremov'}}
    require: asked
"""
DELETE = Call("1", "delete_file", {"id": 1})


def compiled(folder, text):
    (folder / "asked.yaml").write_text(text)
    bundle, *_ = load(str(folder / "asked.yaml"), KINDS)
    return compile_policy(bundle.main, Diagnostics())


@pytest.mark.parametrize(
    ("entries", "status"),
    [
        ([Message(Speaker.USER, "Please remove it.")], "held"),
        ([Message(Speaker.USER, "Hello."), Message(Speaker.USER, "Delete it.")], "held"),
        ([Message(Speaker.USER, "Read it.")], "broken"),
        ([Message(Speaker.USER, "Read it."), Message(Speaker.ASSISTANT, "I delete it.")], "broken"),
        ([Message(Speaker.USER, "Read it."), Message(Speaker.USER, "Delete it.", actor="sub")], "broken"),
        ([Message(Speaker.USER, "Read it."), Call("0", "get", {}), Result("0", "Delete it.")], "broken"),
        ([], "unjudged"),
    ],
)
def test_a_pattern_in_the_request(tmp_path, entries, status):
    session = compiled(tmp_path, RULES).begin()
    outcomes = [outcome for entry in [*entries, DELETE] for outcome in session.hear(entry)]
    assert [(outcome.rule, outcome.status.value) for outcome in outcomes] == [("deletes", status)]


def test_the_request_is_read_by_type_too(tmp_path):
    text = RULES.replace("matches: '(?i)\\bdelet|\\bremov'", "as: text")
    text = text.replace("require: asked", 'require: asked == "Delete it now."')
    session = compiled(tmp_path, text).begin()
    session.hear(Message(Speaker.USER, "Delete it now."))
    assert [outcome.status.value for outcome in session.hear(DELETE)] == ["held"]


@pytest.mark.parametrize(
    ("old", "new"),
    [("path: request", "path: request.text"), ("path: request", "path: request, of: read_file")],
)
def test_wrong_paths_to_the_request(tmp_path, old, new):
    with pytest.raises(Rejected) as raised:
        compiled(tmp_path, RULES.replace(old, new))
    assert {diagnostic.code for diagnostic in raised.value.diagnostics} == {"E_POLICY_PATH"}
