"""Texts of messages are withheld like values of calls: no rule judges by them, and what was said of them before stays."""

import json
from pathlib import Path

import jsonschema
import pytest

from specledger.core.diagnostics import Diagnostics
from specledger.kinds import load
from specledger.wings.trajectories.lines import read_lines, write_lines
from specledger.wings.trajectories.model import Call, Kept, Message, Result, Speaker, Trajectory, Withheld
from specledger.wings.trajectories.rules.compile import compile_policy
from specledger.wings.trajectories.rules.kept import withhold
from specledger.wings.trajectories.scan import scan
from specledger.wings.trajectories.withholding import Withholding
from tests.conformance.tampered.verifiers import by_tool
from tools.conformance import Laid

ROOT = Path(__file__).parents[3]
SCHEMA = jsonschema.Draft202012Validator(
    json.loads((ROOT / "schemas/trajectories/line.schema.json").read_text(encoding="utf-8"))
)
SAID = (
    Message(Speaker.SYSTEM, "Pay only from account ACC-7."),
    Message(Speaker.USER, "Pay Ann Lee 50 from ACC-7."),
    Message(Speaker.ASSISTANT, "I look for the invoice of Ann Lee."),
    Call("1", "pay", {"to": "Ann Lee", "from": "ACC-7"}),
    Result("1", "done"),
    Message(Speaker.ASSISTANT, "All tests pass. Ann Lee has her money."),
    Call("2", "pay", {"to": "Eve", "from": "ACC-9"}),
    Result("2", "done"),
    Message(Speaker.USER, "Look at this for me.", actor="2"),
    Message(Speaker.ASSISTANT, "Nothing to say."),
)
RULES = """
spec: policy/v1
name: rules
rules:
  payee: {when: {tool: pay}, each: args.to, as: name, from: [request]}
  account: {when: {tool: pay}, each: args.from, from: [system]}
  quoted: {when: {tool: pay}, each: args.to, as: name, not_from: [request]}
  asked: {when: {tool: pay}, read: {urgent: {path: request, matches: urgent}}, require: "!urgent"}
  fifty: {when: {tool: pay}, read: {all: {path: request, as: text}}, require: "all.contains('50')"}
  tested: {when: {message: assistant, matches: tests pass}, after: {tool: run_tests}}
  quiet: {when: {message: assistant}, read: {name: {path: text, matches: Lee}}, require: "!name"}
  words: {when: {message: assistant}, each: text, require: "value != 'Nothing to say.'"}
  talk: {when: {message: assistant, matches: Ann}, memory: {times: {count: {}}}, require: times <= 1}
"""
PATHS = ["messages", "messages.user", "messages.system", "messages.assistant"]
SALT = b"0" * 32


@pytest.fixture(scope="module")
def policy(tmp_path_factory):
    path = tmp_path_factory.mktemp("policy") / "rules.yaml"
    path.write_text(RULES, encoding="utf-8")
    return compile_policy(load(path, kind="policy")[0].main, Diagnostics())


def counts(policy, entries):
    rules = scan(policy, [Trajectory("a", "f", "openai", tuple(entries))]).rules
    return {name: (count.held, count.broken, count.unjudged) for name, count in rules.items()}


def without(paths, policies):
    return withhold(Trajectory("a", "f", "openai", SAID), Withholding(paths, SALT), policies).entries


def test_each_rule_here_has_verdicts_that_messages_decide(policy):
    whole = counts(policy, SAID)
    assert {name for name, (held, broken, _) in whole.items() if held and broken} == {"payee", "account", "quoted", "quiet", "words", "talk"}  # fmt: skip
    assert whole["tested"] == (0, 1, 0)


@pytest.mark.parametrize("path", PATHS)
def test_verdicts_are_those_of_the_whole_log_with_the_policy_and_open_without(policy, path):
    assert counts(policy, without([path], [policy])) == counts(policy, SAID)
    open_ = {name: unjudged for name, (_, _, unjudged) in counts(policy, without([path], [])).items() if unjudged}
    read = {
        "messages.user": {"payee": 2, "quoted": 2, "asked": 2, "fifty": 2},
        "messages.system": {"account": 2},
        "messages.assistant": {"tested": 3, "quiet": 3, "words": 3, "talk": 3},
    }
    assert open_ == read.get(path, {name: many for rules in read.values() for name, many in rules.items()})


@pytest.mark.parametrize("path", PATHS)
def test_lines_hold_digests_in_place_of_the_texts_and_are_read_as_written(policy, path):
    trajectory = Trajectory("a", "f", "openai", without([path], [policy]))
    lines = [*write_lines([trajectory])]
    assert [*read_lines(lines)] == [*read_lines(lines, checked=True)] == [trajectory]
    assert [line for line in lines if not SCHEMA.is_valid(json.loads(line))] == []
    hidden = {str(entry.text) for entry in SAID if isinstance(entry, Message) and path in ("messages", f"messages.{entry.speaker}")}  # fmt: skip
    assert len(hidden) == sum(isinstance(e, Message) and isinstance(e.text, Withheld) for e in trajectory.entries) > 0
    assert not [text for text in hidden if any(text.encode() in line for line in lines)]


def test_a_kept_verdict_is_of_the_next_message_and_of_no_other(policy):
    entries = [entry for entry in without(["messages.assistant"], [policy]) if not isinstance(entry, Kept)]
    at = next(index for index, entry in enumerate(entries) if isinstance(entry, Message) and entry.speaker is Speaker.ASSISTANT)  # fmt: skip
    lone = [*entries[:at], Kept(policy.key, "quiet", "", "held"), *entries[at:]]
    assert counts(policy, lone)["quiet"] == (1, 0, 2)


def test_a_kept_verdict_of_a_message_that_is_there_counts_for_nothing(policy):
    at = next(index for index, entry in enumerate(SAID) if isinstance(entry, Message) and entry.speaker is Speaker.ASSISTANT)  # fmt: skip
    forged = [*SAID[:at], Kept(policy.key, "quiet", "", "held"), *SAID[at:]]
    assert counts(policy, forged) == counts(policy, SAID)


def test_what_is_broken_is_not_said_to_stand_nowhere_where_something_is_withheld(policy, tmp_path):
    (tmp_path / "rules.yaml").write_text("spec: policy/v1\nname: rules\nsets: {ours: [Bob]}\nrules:\n  a: {when: {tool: pay}, each: args.to, as: name, from: [{set: ours}]}\n")  # fmt: skip
    own = compile_policy(load(tmp_path / "rules.yaml", kind="policy")[0].main, Diagnostics())
    trajectory = Trajectory("a", "f", "openai", without(["messages"], []))
    session = own.begin()
    sources = [outcome.source for entry in trajectory.entries for outcome in session.hear(entry)]
    assert sources == ["nothing before that can be read", "nothing before that can be read"]


CHAT = [
    {"role": "user", "content": "Pay Ann Lee, Elm Street 4."},
    {
        "role": "assistant",
        "content": "Paying.",
        "tool_calls": [{"id": "x", "type": "function", "function": {"name": "pay", "arguments": '{"to": "Ann Lee"}'}}],
    },
    {"role": "tool", "tool_call_id": "x", "content": "done"},
]


@pytest.fixture
def imported(spec, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("salt").write_text("ab" * 32)
    Path("log.json").write_text(json.dumps(CHAT))
    Path("rules.yaml").write_text("spec: policy/v1\nname: rules\nrules:\n  payee: {when: {tool: pay}, each: args.to, as: name, from: [request]}\n")  # fmt: skip
    return lambda path, *more: spec("import", "log.json", "--withhold", path, "--salt", "salt", "--out", "out.jsonl", *more)  # fmt: skip


@pytest.mark.medium
def test_evidence_without_the_request_is_verified_with_the_remark(imported, spec):
    answer = imported("messages.user", "--policy", "rules.yaml")
    assert (answer.status, "withheld messages.user: 1 value\n" in answer.err) == (0, True)
    assert b"Elm Street" not in Path("out.jsonl").read_bytes()
    scanned = spec("scan", "out.jsonl", "--policy", "rules.yaml", "--out", "evidence")
    assert scanned.status == 0, scanned.out
    assert "payee was judged 1 time before a value was withheld, and not checked again" in scanned.out
    assert "1 verdict about withheld values is as recorded" in spec("verify", "evidence").out
    assert by_tool(Laid(Path("evidence"), {})).exit == 0
    assert spec("report", "evidence", "--format", "html", "--out", "page.html").status == 0


WRONG = {
    "messages.usr": ("E_LOG_WITHHOLD", "did you mean messages.user?"),
    "messages.system": ("E_LOG_WITHHOLD", "leads to no value of these logs"),
    "request": ("E_USAGE", "did you mean messages.user?"),
    "text": ("E_USAGE", "did you mean messages?"),
    "tool": ("E_USAGE", "no path such as arguments.password, result or messages.user"),
}


@pytest.mark.parametrize("path", WRONG)
def test_a_path_that_leads_to_no_message_writes_nothing(imported, path):
    code, words = WRONG[path]
    answer = imported(path)
    assert answer.status == 2
    assert f"[{code}]" in answer.err
    assert words in answer.err
    assert not Path("out.jsonl").exists()


def test_a_message_that_is_withheld_already_stays_as_it_is():
    once = Withholding(["messages.user"], SALT).apply(Trajectory("a", "f", "openai", SAID))
    again = Withholding(["messages.user", "messages"], b"1" * 32)
    twice = again.apply(once)
    assert [e for e in twice.entries if isinstance(e, Message) and e.speaker is Speaker.USER] == [
        e for e in once.entries if isinstance(e, Message) and e.speaker is Speaker.USER
    ]
    assert [*again.absent()] == []
