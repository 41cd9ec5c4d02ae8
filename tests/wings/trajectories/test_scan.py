"""`spec scan`: what rules say of logs that are there."""

import json
from typing import Any

import pytest

from specledger.core.events import Severity
from specledger.core.verdict import Verdict
from specledger.wings.trajectories.model import Call, Finding, Message, Result, Speaker, Trajectory
from specledger.wings.trajectories.scan import MOST_BREACHES, RuleCount, Scan, scan

RULES = """
spec: policy/v1
name: small
rules:
  payee: {when: {tool: pay}, each: args.to, as: name, from: [request], else: "{value} is paid but occurs only in {source}"}
  often: {severity: warn, memory: {calls: {count: {}}}, require: calls <= 2, else: "call {calls}"}
"""
ASK = {"role": "user", "content": "Pay Ann."}


def chat(*calls):
    messages: list[Any] = [ASK]
    for number, (tool, arguments) in enumerate(calls):
        call = {"id": f"c{number}", "type": "function", "function": {"name": tool, "arguments": json.dumps(arguments)}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": "done"})
    return json.dumps({"messages": messages})


@pytest.fixture
def rules(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rules.yaml").write_text(RULES)
    return tmp_path


@pytest.mark.parametrize(
    ("calls", "verdict", "exit_code", "words"),
    [
        ([("pay", {"to": "Ann"})], "PASS", 0, "payee                      1     1       0"),
        ([("pay", {"to": "Eve"})], "FAIL", 1, "chat.json, call c0 pay: Eve is paid but occurs only in nothing before"),
        ([("look", {})], "INCONCLUSIVE", 3, "no opportunity, so the verdict says nothing of: payee"),
        ([("pay", {"to": ["Ann", {}]})], "INCONCLUSIVE", 3, "payee was not judged 1 time"),
        ([("pay", {"to": "Ann"})] * 3, "PASS", 0, "call 3"),
    ],
)
def test_a_log_is_judged(spec, rules, calls, verdict, exit_code, words):
    (rules / "chat.json").write_text(chat(*calls))
    done = spec("scan", "chat.json", "--policy", "rules.yaml")
    assert (done.status, done.out.split()[1]) == (exit_code, verdict), done.out + done.err
    assert words in done.out, done.out
    told = json.loads(spec("scan", "chat.json", "--policy", "rules.yaml", "--output", "json").out)
    assert told["verdict"] == verdict
    assert told["rules"]["often"]["opportunities"] == len(calls)


SAYING = {
    "payee: {when: {tool: pay}, each: args.to, as: name, from: [request]}": "payee does not hold (Eve; found in nothing before)",
    "payee: {doc: As named., when: {tool: pay}, each: args.to, as: name, from: [request]}": "not so: As named. (Eve; found in nothing before)",
    "payee: {when: {tool: pay}, each: args.to, require: 'value == \"Ann\"'}": "payee does not hold (Eve)",
    "payee: {when: {tool: pay}, require: 'false'}": "payee does not hold\n",
    "payee: {when: {tool: pay}, each: args.to, as: name, from: [request], else: 'no: {value}'}": "no: Eve\n",
}  # fmt: skip


@pytest.mark.parametrize("rule", SAYING)
def test_a_breach_names_its_value_and_where_that_was_whatever_the_message_is(spec, rules, rule):
    (rules / "rules.yaml").write_text(f"spec: policy/v1\nname: small\nrules:\n  {rule}\n")
    (rules / "chat.json").write_text(chat(("pay", {"to": "Eve"})))
    assert f"call c0 pay: {SAYING[rule]}" in spec("scan", "chat.json", "--policy", "rules.yaml").out


@pytest.mark.parametrize(("payee", "begins"), [("Ann", ""), ("Eve", "small  FAIL")])
def test_a_pass_says_nothing_if_only_what_is_wrong_is_wanted(spec, rules, payee, begins):
    (rules / "chat.json").write_text(chat(("pay", {"to": payee})))
    done = spec("scan", "chat.json", "--policy", "rules.yaml", "-q")
    assert done.out[: len(begins)] == begins
    assert bool(done.out) == bool(begins)


def test_of_a_failure_the_verdict_and_the_findings_are_told_if_only_what_is_wrong_is_wanted(spec, rules):
    (rules / "chat.json").write_text(chat(("pay", {"to": "Eve"})))
    whole = spec("scan", "chat.json", "--policy", "rules.yaml").out.splitlines()
    quiet = spec("scan", "chat.json", "--policy", "rules.yaml", "-q").out.splitlines()
    assert quiet[0] == whole[0]
    place = "  chat.json, call c0 pay: Eve is paid but occurs only in nothing before"
    assert [line for line in quiet[1:] if line] == ["payee: broken", place]
    for told in ("opportunities", "tools that were called"):
        assert any(told in line for line in whole), told
        assert not any(told in line for line in quiet), told


def test_what_cannot_be_read_is_no_pass(spec, rules):
    (rules / "chat.json").write_text(chat(("pay", {"to": "Ann"})))
    (rules / "other.json").write_text('{"a": 1}')
    done = spec("scan", "chat.json", "other.json", "--policy", "rules.yaml")
    assert done.status == 3
    assert "not read: E_LOG_FORMAT" in done.out


def test_without_a_path_the_folder_of_claude_code_is_read(spec, tmp_path, monkeypatch):
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    missing = spec("scan")
    assert missing.status == 2
    assert "there are no logs in" in missing.err
    folder = tmp_path / "projects/a"
    folder.mkdir(parents=True)
    base = {"sessionId": "s", "isSidechain": False, "timestamp": "2026-01-01T00:00:00Z"}
    use = {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "rm -rf /"}}
    lines = [
        {**base, "uuid": "1", "parentUuid": None, "type": "user", "message": {"role": "user", "content": "Tidy up."}},
        {
            **base,
            "uuid": "2",
            "parentUuid": "1",
            "type": "assistant",
            "message": {"role": "assistant", "content": [use]},
        },
    ]
    (folder / "s.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = spec("scan")
    assert done.status == 1, done.out + done.err
    assert "a/s.jsonl:2, call t Bash: a destructive command" in done.out
    assert "extends: coding-agent" in done.out


def test_what_is_not_read_is_told_with_its_place(spec, tmp_path, monkeypatch):
    """Of each code the first five; a policy of which nothing was read has no opportunity yet, and may have one."""
    monkeypatch.chdir(tmp_path)
    for number in range(7):
        (tmp_path / f"{number}.jsonl").write_text('{"a": 1}', encoding="utf-8")
    done = spec("scan", ".")
    assert done.status == 3
    lines = done.out.splitlines()
    at = lines.index("not read: E_LOG_FORMAT (A log of an unknown format) 7")
    assert [line.partition(":")[0] for line in lines[at + 1 : at + 6]] == [f"  {number}.jsonl" for number in range(5)]
    assert lines[at + 6] == "  and 2 more"
    assert "`spec new format` begins one of your own" in lines[at + 1]
    told = json.loads(spec("scan", ".", "--output", "json").out)["unread"]["E_LOG_FORMAT"]
    assert [(finding["file"], finding["line"]) for finding in told] == [(f"{number}.jsonl", 0) for number in range(5)]
    assert "can never have an opportunity" not in done.out
    assert "has no opportunity yet: no call was read" in done.out


class Fake:
    """A policy whose one rule is broken by each call."""

    def __init__(self, outcome):
        self.rules = [type("Rule", (), {"name": "a", "severity": "fatal", "only_forbids_earlier": None})]
        self.outcome = outcome

    def begin(self, **of_trajectory):
        return self

    def hear(self, entry):
        return [self.outcome(entry)] if isinstance(entry, Call) else []


def test_breaches_are_counted_where_only_the_first_are_kept():
    from specledger.wings.trajectories.rules.plans import Outcome, Status

    policy: Any = Fake(lambda call: Outcome("a", Status.BROKEN, "why", call=call.id))
    calls = [Call(str(number), "t", {}, line=number) for number in range(MOST_BREACHES + 5)]
    entries: list[Any] = [Message(Speaker.USER, "x"), *calls, Result("0"), Finding("E_LOG_JSON", "m", 3)]
    result = scan(policy, [Trajectory("i", "f", "x", entries)] * 2)
    count = result.rules["a"]
    assert (count.broken, len(count.breaches), count.trajectories) == (2 * MOST_BREACHES + 10, MOST_BREACHES, 2)
    assert result.findings == {"E_LOG_JSON": 2}
    assert result.verdict is Verdict.FAIL


@pytest.mark.parametrize(
    ("counts", "verdict"),
    [
        ([], "INCONCLUSIVE"),
        ([RuleCount(severity=Severity.FATAL, held=1)], "PASS"),
        ([RuleCount(severity=Severity.WARN, held=1)], "INCONCLUSIVE"),
        ([RuleCount(severity=Severity.FATAL, held=1), RuleCount(severity=Severity.WARN, broken=1)], "PASS"),
        ([RuleCount(severity=Severity.FATAL, held=1, unjudged=1)], "INCONCLUSIVE"),
        ([RuleCount(severity=Severity.FATAL, held=1), RuleCount(severity=Severity.WARN, unjudged=1)], "INCONCLUSIVE"),
        ([RuleCount(severity=Severity.FATAL, unjudged=1), RuleCount(severity=Severity.FATAL, broken=1)], "FAIL"),
    ],
)
def test_only_a_rule_that_was_judged_makes_a_pass(counts, verdict):
    assert Scan(dict(zip("abc", counts, strict=False))).verdict == verdict
