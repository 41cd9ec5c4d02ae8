"""JSON inside texts, as agents leave it: bodies of requests, results that a server wraps, marks of code, lines of JSON."""

import json

import pytest

from specledger.wings.trajectories.model import Call, Message, Result, Speaker, Trajectory
from specledger.wings.trajectories.mutants.logs import _changed
from specledger.wings.trajectories.rules.nested import json_inside, json_text
from specledger.wings.trajectories.rules.plans import Status
from specledger.wings.trajectories.rules.structured import structured
from specledger.wings.trajectories.withholding import Withholding
from tests.wings.trajectories.rules.test_withheld import outcomes
from tests.wings.trajectories.test_scan import chat

HELD, BROKEN, UNJUDGED = Status.HELD, Status.BROKEN, Status.UNJUDGED
IBAN = "GB29NWBK60161331926819"
FOUND = json.dumps({"iban": IBAN})
RESULTS = {
    "an object": FOUND,
    "JSON in JSON": json.dumps(FOUND),
    "JSON in JSON in JSON": json.dumps(json.dumps(FOUND)),
    "a list": f"[{FOUND}]",
    "lines": f'{{"id": 1}}\n\n{FOUND}\n',
    "lines with CRLF": f'{{"id": 1}}\r\n{FOUND}\r\n',
    "between marks of code": f"```json\n{FOUND}\n```",
    "between marks, with CRLF": f"```\r\n{FOUND}\r\n```\r\n",
    "YAML between marks": f"```yaml\niban: {IBAN}\n```",
    "YAML with CRLF": f"id: 7\r\niban: {IBAN}\r\n",
    "what MCP wraps, as a text": json.dumps({"content": [{"type": "text", "text": FOUND}], "isError": False}),
    "what MCP wraps": {"content": [{"type": "text", "text": FOUND}]},
    "a text in a list": [FOUND],
}


@pytest.mark.parametrize("case", RESULTS)
def test_a_field_of_a_result_is_found_however_it_is_wrapped(tmp_path, case):
    rule = "{when: {tool: pay}, each: args.to, as: iban, from: [{result_of: look, field: iban}]}"
    heard = [Call("1", "look", {}), Result("1", RESULTS[case]), Call("2", "pay", {"to": IBAN})]
    (outcome,) = outcomes(tmp_path, rule, heard)
    assert outcome.status is HELD, outcome


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "{}x",
        "[note] hi",
        "```json\n{\n```",
        '{"a": 1} and more',
        '{"a": 1}\nand more',
        "``` {} ```",
        "",
    ],
)
def test_what_is_no_json_stays_a_text(text):
    assert structured(text) == text
    assert json_inside(text) is None


def test_a_field_that_is_a_text_of_json_is_that_text_and_what_is_in_it(tmp_path):
    heard = [Call("1", "look", {}), Result("1", {"body": '{"word": "zebra crossing"}'})]
    for body in ('so {"word": "zebra crossing"}', "word: zebra crossing"):
        rule = "{when: {tool: mail}, each: args.body, not_from: [{result_of: look, field: body}]}"
        (outcome,) = outcomes(tmp_path, rule, [*heard, Call("2", "mail", {"body": body})])
        assert outcome.status is BROKEN, outcome
    rule = "{when: {tool: mail}, each: args.body, not_from: [{result_of: look, field: body.word}]}"
    (outcome,) = outcomes(tmp_path, rule, [*heard, Call("2", "mail", {"body": "the zebra crossing"})])
    assert outcome.status is BROKEN, outcome


BODY = json.dumps({"to": "eve@b.example", "cc": ["ann@a.example"], "amount": 900.5, "deep": json.dumps({"id": 7})})
PATHS = {
    "each: args.body.to, as: email, from: [request]": BROKEN,
    "each: 'args.body.cc[*]', as: email, from: [request]": HELD,
    "each: args.body.deep.id, require: value == '7'": HELD,
    "read: {a: {path: args.body.amount, as: number}}, require: a <= 900.0": BROKEN,
    "read: {a: {path: args.body.bcc, as: text}}, require: a == ''": UNJUDGED,
    "read: {a: {path: args.body, matches: eve}}, require: '!a'": BROKEN,
}


@pytest.mark.parametrize("demand", PATHS)
def test_a_path_leads_into_an_argument_that_is_json(tmp_path, demand):
    asked = Message(Speaker.USER, "Write to ann@a.example.")
    (outcome,) = outcomes(tmp_path, f"{{when: {{tool: post}}, {demand}}}", [asked, Call("1", "post", {"body": BODY})])
    assert outcome.status is PATHS[demand], outcome


def test_a_scan_says_what_no_rule_reads_and_a_mutant_changes_what_one_reads(spec, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "chat.json").write_text(chat(("post", {"body": BODY, "url": "x"})), encoding="utf-8")
    rule = "{when: {tool: post}, each: args.body.to, as: email, from: [request]}"
    (tmp_path / "rules.yaml").write_text(f"spec: policy/v1\nname: rules\nrules:\n  a: {rule}\n", encoding="utf-8")
    said = spec("scan", "chat.json", "--policy", "rules.yaml", "--mutants", "5").out
    assert "arguments that no rule reads: post.body.cc[*], post.body.amount, post.body.deep.id, post.url" in said
    assert "misspelt" not in said
    changed = _changed({"body": BODY}, ("body", "to"), ("email",))["body"]
    assert json.loads(changed) == {**json.loads(BODY), "to": "mallory@mutant.example"}


def test_the_text_around_a_withheld_value_is_withheld():
    entries = (Call("1", "post", {"body": BODY}), Result("1", json.dumps({"content": [{"text": FOUND}]})))
    withholding = Withholding(["arguments.body.deep.id", "result.content.text.iban"], bytes(32))
    shown = withholding.apply(Trajectory("a", "f", "openai", entries))
    assert [*withholding.absent()] == []
    assert "eve" not in str(shown)
    assert IBAN not in str(shown)


def test_numbers_of_a_text_stay_as_they_are():
    assert json_text(json_inside('{"a": 1.50, "b": [1e40, 3]}')) == '{"a":1.50,"b":[1e40,3]}'


def test_a_tool_without_the_name_of_its_server_is_misspelt_it_seems(spec, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for tool, told in (("mcp__bank__pay", True), ("bank.pay", True), ("bank/pay", True), ("repay", False)):
        (tmp_path / "chat.json").write_text(chat(("look", {"to": "Ann"}), (tool, {"to": "Ann"})), encoding="utf-8")
        rules = "  a: {when: {tool: pay}, each: args.to, from: [request]}\n  b: {require: 'true'}\n"
        (tmp_path / "rules.yaml").write_text(f"spec: policy/v1\nname: rules\nrules:\n{rules}", encoding="utf-8")
        said = spec("scan", "chat.json", "--policy", "rules.yaml").out
        assert ("misspelt, it seems, so nothing can be concluded: a" in said) is told, said
