"""Coverage: which rules can notice anything in some logs, why others cannot, and what no rule reads."""

import json
from typing import Any

import pytest

from specledger.core.diagnostics import Diagnostics
from specledger.kinds import load
from specledger.wings.trajectories.rules.accesses import argument_steps, shown_steps
from specledger.wings.trajectories.rules.compile import compile_policy
from specledger.wings.trajectories.rules.constants import constant, sorts_of
from specledger.wings.trajectories.rules.spelling import nearly
from tests.conformance.tampered.verifiers import by_engine, by_tool
from tests.wings.trajectories.test_scan import chat
from tools.conformance import Laid
from tools.tampering.forger import HELP, Forger

HEAD = "spec: policy/v1\nname: mine\nsets: {known: [Bob]}\ntools: {payments: [pay, transfer]}\nrules:\n"
CALLS = [("ask", {"why": "x"}), ("pay", {"to": "Ann", "amount": 20, "memo": {"a": ["hi"]}})]


@pytest.fixture
def covered(spec, tmp_path, monkeypatch):
    """The coverage of one rule over a log, as JSON and as text."""
    monkeypatch.chdir(tmp_path)

    def run(rule, calls=CALLS):
        (tmp_path / "rules.yaml").write_text(f"{HEAD}  it: {rule}\n", encoding="utf-8")
        (tmp_path / "chat.json").write_text(chat(*calls), encoding="utf-8")
        words = ("scan", "chat.json", "--policy", "rules.yaml")
        return json.loads(spec(*words, "--output", "json").out)["coverage"], spec(*words).out

    return run


HINT = "add a log with such a call, or write in `require` what must hold, in place of `when.if`"
READ = "read: {amount: {path: args.amount, as: number}}"
CASES = {
    "a misspelt tool": (
        "{when: {tool: pya}, each: args.to, from: [request]}",
        (True, "no tool in these logs is pya (`--tools FILE` names tools that were not called)", "did you mean pay?"),
        "rules.yaml:6:21: it has no opportunity yet: no tool in these logs is pya (`--tools FILE` names tools that were "
        "not called); did you mean pay?",
    ),
    "a misspelt argument": (
        "{when: {tool: payments}, each: args.too, from: [request]}",
        (True, "`args.too` is absent in all 1 call of its tools", "did you mean `args.to`?"),
        "it has no opportunity yet: `args.too` is absent",
    ),
    "a condition whose parts exclude each other": (
        f'{{when: {{tool: pay, if: "amount > 100.0 && amount < 50.0"}}, {READ}, require: amount > 1.0}}',
        (False, "its condition `amount > 100.0 && amount < 50.0` is never true", "its parts exclude each other"),
        "it can never have an opportunity: its condition",
    ),
    "a condition that may be true": (
        f"{{when: {{tool: pay, if: amount > 100.0}}, {READ}, require: amount < 500.0}}",
        (True, "in none of 1 call there is something to judge: `amount > 100.0` is not true", HINT),
        "it has no opportunity yet: in none of 1 call",
    ),
    "no message of that sort": (
        "{when: {message: assistant, matches: passed}, after: {tool: ask}}",
        (True, "none of 0 messages of the agent is one that it is about", ""),
        "it has no opportunity yet",
    ),
    "an opportunity": ("{when: {tool: pay}, each: args.to, from: [request]}", (True, "", ""), "payee"),
}


@pytest.mark.parametrize("case", CASES)
def test_a_rule_without_an_opportunity_says_why(covered, case):
    rule, expected, words = CASES[case]
    document, text = covered(rule)
    told = document["rules"]["it"]
    assert (told["reachable"], told["reason"], told["hint"]) == expected
    if case != "an opportunity":
        assert words in text, text


def test_tools_that_a_rule_names_but_nobody_calls_are_told_with_their_key(covered):
    document, text = covered(
        "{when: {tool: payments}, each: args.to, from: [{result_of: asked, field: to}], after: {tool: ask}}"
    )
    at = {"file": "rules.yaml", "line": 4, "column": 25}
    assert document["rules"]["it"]["missing"] == [
        {"key": "when", "tool": "transfer", "meant": "", **at},
        {"key": "from", "tool": "asked", "meant": "ask", **at, "line": 6, "column": 66},
    ]
    assert "rules.yaml:4:25: it names tools that were never called: transfer (when)" in text
    assert "rules.yaml:6:66: it names asked (from), which was never called; did you mean ask?" in text


@pytest.mark.parametrize("key", ["after", "not_after"])
def test_a_misspelt_tool_of_an_earlier_call_names_the_one_that_was_called(covered, key):
    document, text = covered(f"{{when: {{tool: pay}}, {key}: {{tool: aks}}}}")
    assert document["rules"]["it"]["meant"] == ["ask"]
    assert f"it names aks ({key}), which was never called; did you mean ask?" in text
    assert ("it (could not be broken)" in text) is (key == "not_after")
    assert ("it could not be broken by these logs: no tool of its `not_after` was called" in text) is (key != "after")


@pytest.mark.parametrize(
    "rule",
    [
        "{when: {tool: pay}, not_after: {tool: ask}}",
        "{when: {tool: pay}, not_after: {tool: aks}, each: args.to, from: [request]}",
        "{when: {tool: transfer}, not_after: {tool: aks}}",
    ],
    ids=["the tool was called", "it demands more", "no opportunity"],
)
def test_a_rule_that_these_logs_could_break_or_never_met_has_no_such_remark(covered, rule):
    assert "could not be broken" not in covered(rule)[1]


def test_a_missing_tool_is_told_of_a_rule_without_an_opportunity_too(covered):
    _, text = covered(f"{{when: {{tool: pay, if: amount > 100.0}}, {READ}, not_after: {{tool: aks}}}}")
    assert "it names aks (not_after), which was never called; did you mean ask?" in text


LIMIT = "require: n < 50.0, read: {n: {path: %s, as: number}}"
MISSPELT = {
    "an argument": ("{when: {tool: pay}, " + LIMIT % "args.amont" + "}", [("args.amont", "args.amount")]),
    "a part of an argument": (
        "{when: {tool: pay}, require: n, read: {n: {path: args.memmo.a, matches: x}}}",
        [("args.memmo.a", "args.memo.a[*]")],
    ),
    "an argument of an earlier call": (
        "{when: {tool: pay}, after: {tool: ask, read: {n: {path: args.whi, matches: x}}, if: n}}",
        [("args.whi", "args.why")],
    ),
    "an argument of another tool": ("{when: {tool: pay}, " + LIMIT % "args.why" + "}", []),
    "one that is read itself": (
        "{when: {tool: pay}, require: a < n, read: {a: {path: args.amount, as: number}, n: {path: args.amounts, as: number}}}",
        [],
    ),
    "one that is there": ("{when: {tool: pay}, " + LIMIT % "args.amount" + "}", []),
    "below one that is there": ("{when: {tool: pay}, " + LIMIT % "args.amount.n" + "}", []),
    "what the rule is about, of which the reason speaks": ("{when: {tool: pay}, each: args.too, from: [request]}", []),
    "of a tool that was not called": ("{when: {tool: transfer}, " + LIMIT % "args.amont" + "}", []),
}


@pytest.mark.parametrize("case", MISSPELT)
def test_a_misspelt_argument_names_the_one_that_calls_have(covered, case):
    rule, pairs = MISSPELT[case]
    document, text = covered(rule)
    told = document["rules"]["it"]["misspelt"]
    assert [(word["argument"], word["meant"]) for word in told] == pairs
    columns = [f"  it: {rule}".index(was) + 1 for was, _ in pairs]
    assert [(word["line"], word["column"]) for word in told] == [(6, column) for column in columns]
    lines = [
        f"rules.yaml:6:{column}: it reads {was}, which no call has; did you mean {near}?"
        for column, (was, near) in zip(columns, pairs, strict=True)
    ]
    assert [line for line in text.splitlines() if "which no call has" in line] == lines


def test_an_argument_that_a_listed_tool_may_have_is_not_misspelt(covered, spec, tmp_path):
    covered(MISSPELT["an argument"][0])
    words = ("scan", "chat.json", "--policy", "rules.yaml", "--tools", "tools.json")
    for listed, misspelt in (("amont", False), ("amount", True)):
        tools = [{"name": "pay", "inputSchema": {"properties": {listed: {}}}}, {"name": "ask", "inputSchema": {}}]
        (tmp_path / "tools.json").write_text(json.dumps(tools), encoding="utf-8")
        assert ("reads args.amont, which no call has" in spec(*words).out) is misspelt


def test_what_no_rule_reads_is_told(covered):
    document, text = covered("{when: {tool: pay}, each: args.to, from: [request]}")
    assert document["unnamed"] == {"ask": 1}
    assert document["unread"] == {"ask": ["why"], "pay": ["amount", "memo.a[*]"]}
    assert "tools that no rule names: ask 1" in text
    assert "arguments that no rule reads: ask.why, pay.amount, pay.memo.a[*]" in text
    everything, _ = covered('{each: "args.**", from: [request]}')
    assert (everything["unread"], everything["unnamed"]) == ({}, {"ask": 1, "pay": 1})


@pytest.mark.parametrize(
    ("require", "breakable"),
    [("calls > 0", False), ("calls > 1", True), ("calls <= 2 || calls > 2", False), ("calls >= 1 && n < 9", True)],
)
def test_a_demand_that_is_always_true_is_told(covered, require, breakable):
    document, text = covered(f'{{memory: {{calls: {{count: {{}}}}, n: {{repeats: {{}}}}}}, require: "{require}"}}')
    assert document["rules"]["it"]["breakable"] is breakable
    assert ("it can never be broken: its `require` is always true" in text) is not breakable


CONDITIONS = {
    "n > 3 && n < 5": None,
    "n > 3 && n < 4": False,
    "n in [1, 2] && n > 2": False,
    "n == 1 || n != 1": True,
    "b && !b": False,
    "b || !b": True,
    's == "a" && s == "b"': False,
    's < "a" || s >= "a"': True,
    's.startsWith("a") && false': False,
    's.startsWith("a")': None,
    "x > 1.5 && x < 1.500002": None,
    "x > 1.5 && x < 1.500001": False,
    "n + 1 > n": None,
}


@pytest.mark.parametrize("text", CONDITIONS)
def test_a_condition_is_constant_only_where_no_value_changes_it(tmp_path, text):
    reads = "{n: {path: args.n, as: int}, b: {path: args.b, as: bool}, s: {path: args.s, as: text}, x: {path: args.x, as: number}}"
    rule = f"  it: {{when: {{if: {json.dumps(text)}}}, read: {reads}, require: b}}\n"
    (tmp_path / "rules.yaml").write_text(HEAD + rule, encoding="utf-8")
    resolved = load(tmp_path / "rules.yaml")[0].main
    policy = compile_policy(resolved, Diagnostics())
    model: Any = resolved.model
    assert constant(policy.rules[0].when.checked, sorts_of(model.rules["it"])) is CONDITIONS[text]


def test_ways_to_arguments():
    value = {"a": [{"b": 1}, {"c": None}], "d": {"$number": "1.5"}, "e": {}}
    assert [*map(shown_steps, argument_steps(value))] == ["a[*].b", "a[*].c", "d", "e"]


@pytest.mark.parametrize(
    ("rule", "reachable", "reason", "hint"),
    [
        ("{when: {tool: fly}, each: args.too, from: [request]}", False, "`args.too` is no argument of its tools", "did you mean `args.to`?"),
        ("{when: {tool: fly}, each: args.to, from: [request]}", True, "none of its tools was called: fly", "tools are ask, pay"),
        ('{when: {tool: "f*"}, each: "args.**", from: [request]}', True, "none of its tools was called: f*", "tools are ask, pay"),
        ("{when: {tool: open}, each: args.too, from: [request]}", True, "none of its tools was called: open", "tools are ask, pay"),
        ("{when: {tool: fyl}, each: args.to, from: [request]}", False, "no tool is fyl", "did you mean fly?"),
        ("{when: {tool: pay}, each: args.too, from: [request]}", True, "`args.too` is absent in all 1 call of its tools", "did you mean `args.to`?"),
        ("{when: {tool: ask}, each: args.wy, from: [request]}", False, "`args.wy` is no argument of its tools", "did you mean `args.why`?"),
    ],
)  # fmt: skip
def test_tools_that_are_listed_are_known(covered, spec, tmp_path, rule, reachable, reason, hint):
    covered(rule)
    tools = [
        {"name": "fly", "inputSchema": {"properties": {"to": {"type": "string"}}}},
        {"name": "open", "inputSchema": {"properties": {}, "additionalProperties": True}},
        {"name": "ask", "inputSchema": {"properties": {"why": {"type": "string"}}}},
        {"name": "pay", "inputSchema": {}},
    ]
    (tmp_path / "tools.json").write_text(json.dumps(tools), encoding="utf-8")
    done = spec("scan", "chat.json", "--policy", "rules.yaml", "--tools", "tools.json", "--output", "json")
    told = json.loads(done.out)["coverage"]["rules"]["it"]
    assert (told["reachable"], told["reason"], told["hint"]) == (reachable, reason, hint)


@pytest.mark.parametrize(
    ("rule", "line", "message"),
    [
        ("{when: {if: n > 3}, read: {n: {path: args.n, as: int}}, require: n < 9}", 0, ""),
        ('{when: {if: "n > 3 && n < 3"}, read: {n: {path: args.n, as: int}}, require: n < 9}', 6, "the condition is never true"),
        ("{memory: {n: {count: {}}}, require: n > 0}", 6, "the demand is always true, so it can never be broken"),
        ("{memory: {n: {count: {}}}, require: n < 1}", 6, "the demand is always false"),
        ("{when: {tool: pay}, require: false}", 0, ""),
        ("{require: true}", 6, "the demand is always true"),
    ],
)  # fmt: skip
def test_a_check_warns_of_conditions_that_are_always_the_same(spec, tmp_path, monkeypatch, rule, line, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rules.yaml").write_text(f"{HEAD}  it: {rule}\n", encoding="utf-8")
    done = spec("check", "rules.yaml")
    assert done.status == 0
    assert (f"rules.yaml:{line}:" in done.err) is bool(line)
    assert ("warning[W_POLICY_CONSTANT]" in done.err) is bool(line)
    assert message in done.err


ABILITY = {
    "a tool that no list has": ("{when: {tool: pya}, each: args.to, from: [request]}", "opportunity"),
    "an argument that no list has": ("{when: {tool: pay}, each: args.too, from: [request]}", "opportunity"),
    "a condition whose parts exclude each other": (
        f'{{when: {{tool: pay, if: "amount > 100.0 && amount < 50.0"}}, {READ}, require: amount > 1.0}}',
        "opportunity",
    ),
    "arguments that no list has": ("{when: {tool: pay}, each: [args.cc, args.bcc], from: [request]}", "opportunity"),
    "arguments of which a list has one": ("{when: {tool: pay}, each: [args.cc, args.to], from: [request]}", ""),
    "an argument that no list has, and all": ("{when: {tool: pay}, each: [args.cc, args.**], from: [request]}", ""),
    "a set of one name that no list has": ("{when: {tool: one}, each: args.to, from: [request]}", "opportunity"),
    "a forbidden past that no list has": ("{when: {tool: pay}, not_after: {tool: aks}}", "breach"),
    "a forbidden source that no list has": (
        "{when: {tool: pay}, each: args.to, not_from: [{text_of: aks}]}",
        "breach",
    ),
    "a demand that is always true": ('{when: {tool: pay}, require: "true"}', "breach"),
    "a condition that is never true": ('{when: {tool: pay, if: "false"}, require: "false"}', "opportunity"),
    "tools under several names, none of which a list has": (
        "{when: {tool: shells}, each: args.command, from: [request]}",
        "",
    ),
    "a tool of several that a list has": ("{when: {tool: [pya, pay]}, each: args.to, from: [request]}", ""),
    "a forbidden past, and more that it demands": (
        "{when: {tool: pay}, each: args.to, from: [request], not_after: {tool: refund}}",
        "",
    ),
    "a listed tool that was not called": ("{when: {tool: fly}, each: args.to, from: [request]}", ""),
    "any tool": ("{when: {tool: any}, memory: {n: {count: {}}}, require: n < 9}", ""),
}


@pytest.mark.parametrize("case", ABILITY)
def test_a_rule_that_can_notice_nothing_keeps_a_scan_from_passing(spec, tmp_path, monkeypatch, case):
    rule, lacks = ABILITY[case]
    monkeypatch.chdir(tmp_path)
    few = "  few: {memory: {n: {count: {}}}, require: n < 9}\n"
    head = HEAD.replace("pay, transfer]", "pay, transfer], shells: [Bash, sh], one: [pya]")
    (tmp_path / "rules.yaml").write_text(f"{head}{few}  it: {rule}\n", encoding="utf-8")
    (tmp_path / "chat.json").write_text(chat(*CALLS), encoding="utf-8")
    properties: dict[str, Any] = {"to": {}, "amount": {}, "memo": {}, "why": {}}
    tools = [{"name": name, "inputSchema": {"properties": properties}} for name in ("ask", "pay", "fly")]
    (tmp_path / "tools.json").write_text(json.dumps(tools), encoding="utf-8")
    words = ("scan", "chat.json", "--policy", "rules.yaml", "--tools", "tools.json")
    text, document = spec(*words, "--out", "out"), json.loads(spec(*words, "--output", "json").out)
    _same_in_evidence(tmp_path / "out", text.status, "by tools" if lacks and case not in BY_CONDITION else "")
    told = document["coverage"]["rules"]["it"]
    assert (told["reachable"], told["breakable"]) == (lacks != "opportunity", lacks != "breach")
    assert document.get("unable", []) == (["it"] if lacks else [])
    failed = "FAIL" in text.out
    assert failed or (text.status, document["verdict"]) == ((3, "INCONCLUSIVE") if lacks else (0, "PASS"))
    assert ("can notice nothing, so nothing can be concluded: it" in text.out) is bool(lacks)


BY_CONDITION = ("a condition whose parts exclude each other",)


def _same_in_evidence(folder, status, lacks):
    """The evidence of a scan records its verdict; both verifiers agree, and neither is deceived about such a rule."""
    recorded = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["result"]["verdict"]
    assert {"PASS": 0, "FAIL": 1, "INCONCLUSIVE": 3}[recorded] == status
    assert by_engine(Laid(folder, {})).exit == by_tool(Laid(folder, {})).exit == 0
    forger = Forger(folder)
    for help_ in HELP:
        forger.remove(help_)
    if all("unable" not in rule for rule in forger.first("start")["rules"]):
        assert not lacks
        return
    for rule in forger.first("start")["rules"]:
        rule.pop("unable", None)
    forger.seal()
    assert by_engine(Laid(folder, {}))[:2] == (1, "E_REPLAY")
    assert by_tool(Laid(folder, {}))[:2] == ((1, "E_REPLAY") if lacks else (0, None))


UNFIT: dict[str, tuple[dict[str, Any], int]] = {
    "a tool that is not listed": ({"ask": None}, 3),
    "an argument that is not there": ({"ask": None, "pay": {"properties": {"to": {}}}}, 3),
    "an argument of another type": (
        {"ask": None, "pay": {"properties": {"to": {"type": "integer"}}, "additionalProperties": True}},
        3,
    ),
    "all fit": ({"ask": None, "pay": {"properties": {"to": {}, "amount": {}, "memo": {}}}}, 0),
}


@pytest.mark.parametrize("case", UNFIT)
def test_evidence_of_calls_that_do_not_fit_records_what_the_scan_says(spec, tmp_path, monkeypatch, case):
    tools, status = UNFIT[case]
    monkeypatch.chdir(tmp_path)
    few = "  few: {memory: {n: {count: {}}}, require: n < 9}\n"
    (tmp_path / "rules.yaml").write_text(HEAD + few, encoding="utf-8")
    (tmp_path / "chat.json").write_text(chat(*CALLS), encoding="utf-8")
    listed = [
        {"name": name, "description": "x", "inputSchema": schema or {"additionalProperties": True}}
        for name, schema in tools.items()
    ]
    (tmp_path / "tools.json").write_text(json.dumps(listed), encoding="utf-8")
    done = spec("scan", "chat.json", "--policy", "rules.yaml", "--tools", "tools.json", "--out", "out")
    assert done.status == status, done.out
    _same_in_evidence(tmp_path / "out", status, "")


NO_LIST = {
    "a tool that is misspelt": ("{when: {tool: pya}, require: false}", "misspelt"),
    "one that is written in another way": ("{when: {tool: PAY}, require: false}", "misspelt"),
    "a tool that was not called": ("{when: {tool: refund}, require: false}", "idle"),
    "another name of as many characters": ("{when: {tool: say}, require: false}", "idle"),
    "tools under several names": ("{when: {tool: shells}, require: false}", "idle"),
    "one of several that was called": ("{when: {tool: [pya, pay]}, READ, require: amount > 1.0}", ""),
    "an argument that is misspelt": ("{when: {tool: pay}, each: args.amonut, require: false}", "misspelt"),
    "one that another rule reads": ("{when: {tool: pay}, each: args.amounts, require: false}", "misspelt"),
    "one whose right name another rule reads": (
        "{when: {tool: pay}, each: args.amuont, require: false}\n  other: {when: {tool: pay}, READ, require: amount > 1.0}", "misspelt",
    ),
    "an argument that no call has": ("{when: {tool: pay}, each: args.bcc, require: false}", "idle"),
    "a tool of `since`": ("{when: {tool: pay}, after: {tool: ask, since: pya}}", "misspelt"),
    "a tool of `since` that was not called": ("{when: {tool: pay}, after: {tool: ask, since: refund}}", ""),
    "a tool of `not_after`": ("{when: {tool: pay}, not_after: {tool: aks}}", "misspelt"),
    "a tool whose result is forbidden": (
        "{when: {tool: pay}, each: args.memo.a, not_from: [{text_of: aks}]}", "misspelt",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", NO_LIST)
def test_without_a_list_of_tools_a_misspelt_word_keeps_a_scan_from_passing(spec, tmp_path, monkeypatch, case):
    rule, said = NO_LIST[case]
    monkeypatch.chdir(tmp_path)
    few = "  few: {memory: {n: {count: {}}}, require: n < 9}\n"
    head = HEAD.replace("pay, transfer]", "pay, transfer], shells: [paye, pya]")
    (tmp_path / "rules.yaml").write_text(f"{head}{few}  it: {rule.replace('READ', READ)}\n", encoding="utf-8")
    (tmp_path / "chat.json").write_text(chat(*CALLS), encoding="utf-8")
    words = ("scan", "chat.json", "--policy", "rules.yaml")
    done, document = spec(*words, "--out", "out"), json.loads(spec(*words, "--output", "json").out)
    assert (done.status, document["verdict"]) == ((3, "INCONCLUSIVE") if said == "misspelt" else (0, "PASS")), done.out
    assert document.get("misspelt", []) == (["it"] if said == "misspelt" else [])
    assert ("misspelt, it seems, so nothing can be concluded: it" in done.out) is (said == "misspelt")
    assert ("no opportunity, so the verdict says nothing of: it" in done.out) is (said == "idle")
    assert "did you mean" in done.out or said != "misspelt"
    _same_in_evidence(tmp_path / "out", done.status, "")


@pytest.mark.parametrize(
    ("word", "others", "meant"),
    [
        ("send_moeny", ["send_money"], "send_money"),
        ("sendMoney", ["send_money"], "send_money"),
        ("read_files", ["read_file"], "read_file"),
        ("recipiant", ["recipient", "amount"], "recipient"),
        ("set_limit", ["get_limit"], ""),
        ("bcc", ["cc"], ""),
        ("cd", ["cc"], ""),
        ("too", ["to"], "to"),
        ("to", ["tos"], "tos"),
        ("a", ["ab"], ""),
        ("create_file", ["delete_file"], ""),
        ("pay", ["pay"], ""),
        ("", ["a"], ""),
        ("abcd", ["badc"], ""),
    ],
)
def test_one_character_makes_another_word_nearly_the_same(word, others, meant):
    assert nearly(word, others) == meant


FIELDS = {
    "a misspelt field": ("ibn", '{"iban": 1, "items": [{"payee": "Ann"}]}', "iban"),
    "a misspelt part": ("items.paye", '{"iban": 1, "items": [{"payee": "Ann"}]}', "items.payee"),
    "nothing near": ("subject", '{"iban": 1}', ""),
    "a text": ("iban", "no structure", ""),
    "one that is there": ("iban", '{"iban": 1}', None),
    "one that is there below": ("payee", '{"items": [{"payee": "Ann"}]}', None),
}


@pytest.mark.parametrize("case", FIELDS)
def test_a_field_that_no_result_has_is_told_at_its_name(spec, tmp_path, monkeypatch, case):
    name, content, meant = FIELDS[case]
    monkeypatch.chdir(tmp_path)
    rule = f"  it: {{when: {{tool: pay}}, each: args.to, from: [request, {{result_of: ask, field: {name}}}]}}"
    (tmp_path / "rules.yaml").write_text(f"{HEAD}{rule}\n", encoding="utf-8")
    messages = json.loads(chat(*CALLS))["messages"]
    results = [message for message in messages if message["role"] == "tool"]
    results[0]["content"] = content
    (tmp_path / "chat.json").write_text(json.dumps({"messages": messages}), encoding="utf-8")
    words = ("scan", "chat.json", "--policy", "rules.yaml")
    told = json.loads(spec(*words, "--output", "json").out)["coverage"]["rules"]["it"]["fields"]
    at = {"file": "rules.yaml", "line": 6, "column": rule.rindex(name) + 1}
    expected = {"field": name, "meant": meant, "tools": ["ask"], "results": 1, **at}
    assert told == ([] if meant is None else [expected])
    hint = f"; did you mean {meant}?" if meant else ""
    line = f"rules.yaml:6:{at['column']}: it looks for the field {name}, which none of 1 result of ask has{hint}"
    assert (line in spec(*words).out.splitlines()) is (meant is not None)


RESULT_READ = {
    "after": "when: {tool: pay}, after: {tool: ask, read: {ok: {path: PATH, as: bool}}, if: ok}",
    "not_after": "when: {tool: pay}, not_after: {tool: ask, read: {ok: {path: PATH, as: bool}}, if: ok}",
    "read": "when: {tool: pay}, read: {ok: {path: PATH, as: bool, of: ask}}, require: ok",
    "from": "when: {tool: pay}, each: args.to, from: [request, {text_of: ask, read: {ok: {path: PATH, as: bool}}, if: ok}]",
}
RESULT_PATHS: dict[str, tuple[str, str | None]] = {
    "misspelt": ("result.aproved", "result.approved"),
    "misspelt within": ("result.by.nane", "result.by.name"),
    "a misspelt object": ("result.bye", "result.by"),
    "misspelt in a list": ("result.items[0].totl", "result.items[*].total"),
    "like no other": ("result.zzz", ""),
    "there": ("result.approved", None),
    "there, and null": ("result.by.at", None),
    "there, in a list": ("result.items[0].total", None),
    "all below": ("result.zzz.**", None),
    "the result itself": ("result", None),
}


@pytest.mark.parametrize("key", RESULT_READ)
@pytest.mark.parametrize("case", RESULT_PATHS)
def test_a_part_of_a_result_that_none_has_is_told_with_the_nearest_name(spec, tmp_path, monkeypatch, key, case):
    path, meant = RESULT_PATHS[case]
    monkeypatch.chdir(tmp_path)
    rule = f"  it: {{{RESULT_READ[key].replace('PATH', json.dumps(path))}}}"
    (tmp_path / "rules.yaml").write_text(f"{HEAD}{rule}\n", encoding="utf-8")
    messages = json.loads(chat(*CALLS))["messages"]
    results = [message for message in messages if message["role"] == "tool"]
    results[0]["content"] = '{"approved": true, "by": {"name": "Ann", "at": null}, "items": [{"total": 3}]}'
    (tmp_path / "chat.json").write_text(json.dumps({"messages": messages}), encoding="utf-8")
    said = spec("scan", "chat.json", "--policy", "rules.yaml").out
    hint = f"; did you mean {meant}?" if meant else ""
    line = f"rules.yaml:6:{rule.index(json.dumps(path)) + 1}: it reads {path}, which none of 1 result of ask has{hint}"
    assert (line in said.splitlines()) is (meant is not None), said


def test_a_field_that_a_listed_tool_may_give_is_not_told(spec, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rule = "  it: {when: {tool: pay}, each: args.to, from: [request, {result_of: ask, field: payee}]}"
    (tmp_path / "rules.yaml").write_text(f"{HEAD}{rule}\n", encoding="utf-8")
    (tmp_path / "chat.json").write_text(chat(*CALLS), encoding="utf-8")
    schema = {"properties": {"items": {"type": "array", "items": {"properties": {"payee": {}}}}}}
    words = ("scan", "chat.json", "--policy", "rules.yaml", "--tools", "tools.json")
    for output, told in ((schema, False), ({}, True)):
        tools = [{"name": "pay", "inputSchema": {}}, {"name": "ask", "inputSchema": {}, "outputSchema": output}]
        (tmp_path / "tools.json").write_text(json.dumps(tools), encoding="utf-8")
        assert ("looks for the field payee" in spec(*words).out) is told


DEMANDS = {
    "from": "each: args.to, from: [{set: known}]",
    "not_from": "each: args.to, not_from: [{result_of: ask, field: sum}]",
    "after": "after: {tool: fly}, require: true",
    "not_after": "not_after: {tool: ask}, each: args.to, require: true",
    "require": "read: {n: {path: args.amount, as: number}}, not_after: {tool: fly}, each: args.to, require: n < 9.0",
}


@pytest.mark.parametrize("key", DEMANDS)
def test_what_breaks_a_rule_is_told_at_its_demand(spec, tmp_path, monkeypatch, key):
    monkeypatch.chdir(tmp_path)
    rule = f"  it: {{when: {{tool: pay}}, {DEMANDS[key]}}}"
    (tmp_path / "rules.yaml").write_text(f"{HEAD}{rule}\n", encoding="utf-8")
    messages = json.loads(chat(*CALLS))["messages"]
    next(message for message in messages if message["role"] == "tool")["content"] = '{"sum": "Ann"}'
    (tmp_path / "chat.json").write_text(json.dumps({"messages": messages}), encoding="utf-8")
    words = ("scan", "chat.json", "--policy", "rules.yaml")
    (told,) = json.loads(spec(*words, "--output", "json").out)["coverage"]["rules"]["it"]["broken"]
    column = rule.index(f" {key}: ") + (len(" require: ") if key == "require" else 1) + 1
    assert (told["key"], told["times"], told["line"], told["column"]) == (key, 1, 6, column)
    assert f"rules.yaml:6:{column}: it is broken 1 time by its `{key}`" in spec(*words).out
