"""A trajectory without messages does not say what the request was: what only that could allow is unjudged."""

import json

import pytest

from specledger.core.diagnostics import Diagnostics
from specledger.kinds import load
from specledger.pipeline.verifying import verify
from specledger.wings.trajectories.model import GUARDED, Call, Finding, Message, Result, Speaker, Trajectory
from specledger.wings.trajectories.rules.compile import compile_policy
from specledger.wings.trajectories.scan import scan

RULES = """
spec: policy/v1
name: mine
sets: {known: [Ann]}
rules:
  asked: {when: {tool: pay}, each: args.to, as: name, from: [request]}
  known: {when: {tool: pay}, each: args.to, as: name, from: [request, {set: known}]}
  read: {when: {tool: pay}, each: args.to, as: name, from: [{text_of: look}]}
  unnamed: {when: {tool: pay}, each: args.to, as: name, not_from: [request]}
"""
LOOK, SEEN = Call("l", "look", {}), Result("l", "Cleo")


@pytest.fixture
def outcomes(tmp_path):
    """What the rules say of a payment to somebody, after some entries."""
    (tmp_path / "mine.yaml").write_text(RULES, encoding="utf-8")
    policy = compile_policy(load(tmp_path / "mine.yaml")[0].main, Diagnostics())

    def of(*before, to="Bob", format_="otlp"):
        entries = (*before, Call("p", "pay", {"to": to}), Result("p", "done"))
        counts = scan(policy, [Trajectory("t", "f", format_, entries)]).rules
        return {
            name: next(word for word in ("held", "broken", "unjudged") if getattr(count, word))
            for name, count in counts.items()
        }

    return of


def test_without_messages_the_request_is_not_known(outcomes):
    assert outcomes() == {"asked": "unjudged", "known": "unjudged", "read": "broken", "unnamed": "unjudged"}


def test_what_something_else_allows_is_allowed(outcomes):
    assert outcomes(to="Ann")["known"] == "held"
    assert outcomes(LOOK, SEEN, to="Cleo")["read"] == "held"


KNOWN = {"asked": "broken", "known": "broken", "read": "broken", "unnamed": "held"}


@pytest.mark.parametrize("speaker", Speaker)
def test_with_any_message_of_a_chat_the_request_is_known(outcomes, speaker):
    assert outcomes(Message(speaker, "Do your work."), format_="openai") == KNOWN


@pytest.mark.parametrize("format_", ["otlp", "openinference"])
def test_in_a_trace_only_a_message_of_the_user_says_what_the_request_is(outcomes, format_):
    """A trace may hold what was answered, or what a subagent was asked, without what the agent was."""
    assert outcomes(Message(Speaker.USER, "Do your work."), format_=format_) == KNOWN
    for message in (
        Message(Speaker.ASSISTANT, "I pay."),
        Message(Speaker.SYSTEM, "You pay."),
        Message(Speaker.USER, "Pay.", "l"),
    ):
        assert outcomes(message, format_=format_)["asked"] == "unjudged"


def test_a_message_that_cannot_be_read_may_hold_what_a_rule_looks_for(outcomes):
    asked = outcomes(Message(Speaker.USER, "Do your work."), Finding("E_LOG_MESSAGE", "no JSON"))
    assert (asked["asked"], asked["read"]) == ("unjudged", "broken")


def test_a_guard_is_told_all_messages_that_there_are(outcomes):
    assert outcomes(format_=GUARDED)["asked"] == "broken"


def test_a_trace_is_unjudged_in_scans_and_in_evidence(spec, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.yaml").write_text(RULES, encoding="utf-8")
    calls = [{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "pay", "arguments": {"to": "Bob"}}}]
    calls.append({"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": "done"}]}})
    (tmp_path / "wire.jsonl").write_text("\n".join(map(json.dumps, calls)), encoding="utf-8")
    done = spec("scan", "wire.jsonl", "--policy", "mine.yaml", "--out", "evidence", "--output", "json")
    rules = json.loads(done.out)["rules"]
    assert [(name, rules[name]["unjudged"]) for name in ("asked", "known", "unnamed")] == [
        ("asked", 1),
        ("known", 1),
        ("unnamed", 1),
    ]
    result = json.loads((tmp_path / "evidence/manifest.json").read_text(encoding="utf-8"))["result"]["rules"]
    assert result["mine.asked"] == {"held": 0, "broken": 0, "unjudged": 1}
    assert verify(tmp_path / "evidence").intact
