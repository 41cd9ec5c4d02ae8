"""Lists of tools: how they are read, the specs that are begun with them, and the calls that do not fit them."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from specledger.core.diagnostics import Diagnostics, Rejected
from specledger.kinds import KINDS, load
from specledger.wings.trajectories.model import Call, Result, Trajectory
from specledger.wings.trajectories.rules.compile import compile_policy
from specledger.wings.trajectories.tools import inferred
from specledger.wings.trajectories.tools.fit import Fit, tool_problems
from specledger.wings.trajectories.tools.lists import Tool, read_tools
from specledger.wings.trajectories.tools.schemas import argument_names, compared, schemas_of
from specledger.wings.trajectories.tools.specs import new_policy, new_world
from specledger.wings.trajectories.tools.types import Types
from tests.wings.trajectories.test_scan import chat

PAY: dict[str, Any] = {
    "type": "object",
    "properties": {"to": {"type": "string"}, "amount": {"type": "number"}, "note": {"type": ["string", "null"]}},
    "required": ["to", "amount"],
}
FORMS = {
    "MCP": {"tools": [{"name": "pay", "description": "Pays.", "inputSchema": PAY}]},
    "MCP's response": {"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "pay", "description": "Pays.", "inputSchema": PAY}]}},
    "OpenAI chat": {"messages": [], "tools": [{"type": "function", "function": {"name": "pay", "description": "Pays.", "parameters": PAY}}]},
    "OpenAI's list": [{"type": "function", "function": {"name": "pay", "description": "Pays.", "parameters": PAY}}],
    "OpenAI responses": [{"type": "function", "name": "pay", "description": "Pays.", "parameters": PAY}],
    "Anthropic": {"tools": [{"name": "pay", "description": "Pays.", "input_schema": PAY}]},
    "ATIF": {"schema_version": "ATIF-v1.8", "agent": {"name": "a", "tool_definitions": [{"type": "function", "function": {"name": "pay", "description": "Pays.", "parameters": PAY}}]}, "steps": []},
}  # fmt: skip


@pytest.fixture
def file(tmp_path):
    def write(value, name="tools.json"):
        path = tmp_path / name
        path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
        return path

    return write


@pytest.mark.parametrize("form", FORMS)
def test_a_list_of_tools_is_read(file, form):
    assert read_tools([file(FORMS[form])]) == {"pay": Tool("pay", "Pays.", PAY)}


def test_tools_are_inferred_from_logs(file):
    log = chat(("pay", {"to": "Ann", "amount": 1.5}), ("pay", {"to": None, "amount": 2, "tags": [{"a": 1}]}))
    log = log.replace('"done"', json.dumps('{"ok": true}'))
    tools = read_tools([file(log)])
    assert tools["pay"].arguments == {
        "type": "object",
        "properties": {
            "amount": {"type": "number"},
            "tags": {
                "type": "array",
                "items": {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
            },
            "to": {"type": ["string", "null"]},
        },
        "required": ["amount", "to"],
    }
    assert tools["pay"].result == {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}


HARD = [
    {"name": "send-money", "description": "Sends.\n# money", "inputSchema": PAY},
    {"name": "send_money", "inputSchema": {"type": "object", "properties": {"to": {"type": "integer"}, "in": {"type": "integer"}, "calls": {}, "size": {"type": "string"}}}},
    {"name": "7z", "inputSchema": {"$ref": "#/$defs/A", "$defs": {"A": {"properties": {"op": {"enum": ["no", "yes"]}, "b": {"$ref": "#/$defs/B"}}}, "B": {"properties": {"b": {"$ref": "#/$defs/B"}}}}}},
    {"name": "state", "inputSchema": {"type": "object", "properties": {"x-y": {"const": 1}, "x_y": {"type": "object", "additionalProperties": {"type": "integer"}}}}},
    {"name": "", "inputSchema": {}},
    {"name": "none", "description": "Nothing."},
]  # fmt: skip


@pytest.mark.parametrize(("kind", "maker"), [("world", new_world), ("policy", new_policy)])
@pytest.mark.parametrize("form", ["hard", *FORMS])
def test_a_first_spec_of_tools_passes_its_check(file, tmp_path, kind, maker, form):
    tools = file({"tools": HARD} if form == "hard" else FORMS[form])
    path = tmp_path / "mine.yaml"
    path.write_text(maker([tools], "mine"), encoding="utf-8")
    bundle = load(path)[0]
    KINDS[kind].check(bundle, Diagnostics())
    if kind == "world" and form == "hard":
        assert set(bundle.main.model.model_dump()["actions"]) == {"send_money", "send_money_2", "t_7z", "state", "none"}


SCHEMAS = st.recursive(
    st.sampled_from([{"type": name} for name in ("string", "integer", "number", "boolean", "null", "array", "object", "odd")])
    | st.fixed_dictionaries({"enum": st.lists(st.sampled_from(["a", "no", "", "x: y", 1, 2, None, 1.5]), max_size=3)}),
    lambda inner: st.one_of(
        st.fixed_dictionaries({"type": st.just("array"), "items": inner}),
        st.fixed_dictionaries({"type": st.just("object"), "properties": st.dictionaries(st.sampled_from(["a", "b", "in", "x-y", "size"]), inner, max_size=3)}),
        st.fixed_dictionaries({"anyOf": st.lists(inner, max_size=3)}),
        st.fixed_dictionaries({"type": st.just("object"), "additionalProperties": inner}),
    ),
    max_leaves=6,
)  # fmt: skip


@pytest.mark.medium
@given(
    st.lists(
        st.dictionaries(st.sampled_from(["a", "b c", "in", "calls", "op", "é"]), SCHEMAS, max_size=4),
        min_size=1,
        max_size=3,
    )
)
def test_whatever_the_schemas_are_the_world_passes_its_check(tmp_path_factory, arguments):
    folder = tmp_path_factory.mktemp("any")
    tools = [{"name": f"t {n}", "inputSchema": {"properties": schema}} for n, schema in enumerate(arguments)]
    (folder / "tools.json").write_text(json.dumps(tools), encoding="utf-8")
    (folder / "mine.yaml").write_text(new_world([folder / "tools.json"], "mine"), encoding="utf-8")
    KINDS["world"].check(load(folder / "mine.yaml")[0], Diagnostics())


@pytest.mark.parametrize(
    ("types", "agreed"),
    [
        (("integer", "number"), "qfixed"),
        (("integer", "string"), "json"),
        (("boolean", "integer"), "json"),
        (("number", "number"), "qfixed"),
    ],
)
def test_arguments_of_one_name_have_one_type(file, types, agreed):
    tools = [{"name": f"t{n}", "inputSchema": {"properties": {"a": {"type": type_}}}} for n, type_ in enumerate(types)]
    text = new_world([file(tools)], "mine")
    assert len(re.findall(rf"^ +(?:# )?a: {agreed}\b", text, re.M)) == 2
    assert ("tools disagree about its type" in text) is (agreed == "json")


def test_types_and_remarks():
    types = Types(PAY | {"properties": {**PAY["properties"], "any": {}, "id": {"type": ["string", "integer"]}}})
    assert types.members() == {
        "to": ("string", True, ""),
        "amount": ("qfixed", True, ""),
        "note": ("string", False, ""),
        "any": ("json", False, "of several types"),
        "id": ("json", False, "of several types"),
    }


def test_what_types_cannot_say_is_carried_and_read_by_nothing(file):
    properties = {"to": {"type": "string"}, "options": {"type": "object"}, "ids": {"type": "array", "items": {}}}
    schema = {"properties": properties, "required": list(properties)}
    output = {"properties": {"ok": {"type": "boolean"}, "extra": {}}, "required": ["ok", "extra"]}
    text = new_world([file([{"name": "pay", "inputSchema": schema, "outputSchema": output}])], "mine")
    assert "      to: string\n" in text
    assert "      options: json # any object\n" in text
    assert "      ids: json # of several types\n" in text
    assert "    result: {ok: bool, extra: json}\n" in text
    KINDS["world"].check(load(file(text, "mine.yaml"))[0], Diagnostics())


@pytest.mark.parametrize(
    ("arguments", "problems"),
    [
        ({"to": "Ann", "amount": 5}, []),
        ({"to": "Ann", "amount": {"$number": "1.5"}, "note": None}, []),
        ({"to": "Ann"}, ["`args.amount` is missing"]),
        ({"to": "Ann", "amont": 1, "amount": 1}, ["`args.amont` is not there; did you mean amount?"]),
        ({"to": ["Ann"], "amount": "5"}, ["`args.to` is a list, not string", "`args.amount` is a text, not number"]),
        ({"to": True, "amount": None}, ["`args.to` is a truth value, not string", "`args.amount` is null, not number"]),
        ([1], ["`args` is a list, not object"]),
        ({"to": {"$withheld": "0" * 64}, "amount": 1}, []),
        (UNSET, []),
    ],
)
def test_calls_that_do_not_fit(arguments, problems):
    fit = Fit(tool_problems(schemas_of({"pay": Tool("pay", "", PAY)})))
    fit.hear(Trajectory("t", "f", "x", [Call("a", "pay", arguments, line=3)] * 2))
    assert sorted(misfit.problem for misfit in fit.misfits) == sorted(problems)
    assert {(misfit.count, misfit.line) for misfit in fit.misfits} <= {(2, 3)}
    assert fit.calls == 2 * bool(problems)


@pytest.mark.parametrize("type_", ["file", ["string", "file"], {}, 3], ids=str)
def test_a_type_that_json_schema_does_not_know_fits_every_value(type_):
    schema = {"properties": {"to": {"type": type_}}}
    fit = Fit(tool_problems(schemas_of({"pay": Tool("pay", "", schema)})))
    values: list[Any] = ["x", 1, None, [1], {}]
    fit.hear(Trajectory("t", "f", "x", [Call("a", "pay", {"to": value}, line=3) for value in values]))
    assert fit.misfits == []


COMPARED = {
    "descriptions and bounds are left out": (
        {"type": "object", "title": "x", "properties": {"to": {"type": "string", "minLength": 1}}, "required": ["to"]},
        {"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]},
        ["to"],
    ),
    "alternatives say nothing": ({"type": "object", "properties": {"a": {}}, "anyOf": []}, {}, None),
    "nor do those of a member": ({"properties": {"a": {"$ref": "#/x"}}}, {"properties": {"a": {}}}, ["a"]),
    "patterns of names admit others": (
        {"properties": {"a": {}}, "patternProperties": {}},
        {"properties": {"a": {}}, "additionalProperties": True},
        None,
    ),
    "choices that are plain values": ({"enum": ["a", 1, None, True]}, {"enum": ["a", 1, None, True]}, None),
    "choices that are not": ({"enum": [{"$number": "0.5"}]}, {}, None),
    "elements": ({"items": {"type": "string", "format": "x"}}, {"items": {"type": "string"}}, None),
    "names that are no texts": ({"required": ["a", {}, 1]}, {"required": ["a"]}, None),
    "no schema": ([1], {}, None),
}


@pytest.mark.parametrize("case", COMPARED)
def test_what_is_compared_of_a_schema_is_kept_and_gives_the_same_again(case):
    schema, kept, names = COMPARED[case]
    assert compared(schema) == kept == compared(kept)
    assert argument_names(kept) == names


def test_a_schema_is_compared_to_a_bounded_depth():
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(100):
        schema = {"type": "array", "items": schema}
    assert len(str(compared(schema))) < 1000


@pytest.mark.parametrize(
    ("calls", "most"),
    [
        ([Call("1", "a", {}, 0), Call("2", "b", {}, 0), Call("3", "a", {}, 0)], 2),
        ([Call("1", "a", {"x": 1, "y": {"z": [1, 2]}}, 0)], 5),
        ([Call("1", "a" * 500, {"x" * 499: 1}, 0)], 3),
        ([Call("1", "a", {}, 0), Result("1", '{"x": 1}'), Result("1", '{"x": 2}')], 3),
    ],
)
def test_logs_may_have_many_tools_and_not_more(monkeypatch, calls, most):
    """A tool, an argument, a member of a result: each takes memory; so does a long name."""
    monkeypatch.setattr(inferred, "MOST_SHAPES", most)
    trajectory = Trajectory("t", "f", "openai", tuple(calls))
    room = inferred._Room(most)
    monkeypatch.setattr(inferred, "_Room", lambda: room)
    assert [*inferred.inferred([trajectory])]
    assert room.left == 0
    room.left = most - 1
    with pytest.raises(Rejected, match=f"its calls have more than {most} tools"):
        [*inferred.inferred([trajectory])]


def test_the_commands(spec, file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file(FORMS["MCP"])
    file(chat(("pay", {"to": "Ann"}), ("payy", {})), "chat.json")
    done = spec("new", "world", "office", "--tools", "tools.json")
    assert (done.status, "next: spec check office.yaml" in done.out) == (0, True)
    assert spec("check", "office.yaml").status == 0
    assert "pay:\n    args:\n      to: string\n      amount: qfixed\n" in (tmp_path / "office.yaml").read_text()
    assert spec("new", "policy", "rules", "--tools", "chat.json").status == 0
    assert spec("check", "rules.yaml").status == 0
    scanned = spec("scan", "chat.json", "--policy", "rules.yaml", "--tools", "tools.json")
    assert scanned.status == 3, scanned.out
    assert "chat.json, call c0: 1 call of pay that does not fit: `args.amount` is missing" in scanned.out
    assert "1 call of payy that does not fit: there is no such tool; did you mean pay?" in scanned.out
    document = json.loads(spec("scan", "chat.json", "--tools", "tools.json", "--output", "json").out)
    assert [(one["tool"], one["count"]) for one in document["misfits"]] == [("pay", 1), ("payy", 1)]


def listed_tool(name, *strings, **others):
    properties = {**{string: {"type": "string"} for string in strings}, **others}
    return {"name": name, "inputSchema": {"type": "object", "properties": properties}}


TEXTS = {"type": "array", "items": {"type": "string"}}
ORIGINS = {
    "to, cc and bcc": (listed_tool("mail", "subject", "body", to=TEXTS, cc=TEXTS, bcc=TEXTS), {"mail-recipients": ["args.to", "args.cc", "args.bcc"]}),
    "to alone": (listed_tool("send_email", "to", "body"), {"send-email-to": "args.to"}),
    "a payee and its account": (listed_tool("pay", "payee", "IBAN", "note"), {"pay-recipients": ["args.payee", "args.IBAN"]}),
    "words without a space": (listed_tool("share", "toAddress", "fileUrl"), {"share-toaddress": "args.toAddress", "share-fileurl": "args.fileUrl"}),
    "words with a space": (listed_tool("share", "to", "cc list"), {"share-recipients": ["args.to", 'args["cc list"]']}),
    "what goes nowhere": (listed_tool("book", "valid_to", "up_to", "together", "total"), {}),
    "a file beside a recipient": (listed_tool("mail", "to", "path"), {"mail-to": "args.to", "mail-path": "args.path"}),
    "one or several": (listed_tool("mail", to={"anyOf": [{"type": "string"}, TEXTS]}), {"mail-to": "args.to"}),
    "no text": (listed_tool("mail", to={"type": "integer"}), {}),
}  # fmt: skip


@pytest.mark.parametrize("case", ORIGINS)
def test_one_rule_is_about_all_recipients_of_a_tool(file, tmp_path, case):
    tool, expected = ORIGINS[case]
    (tmp_path / "rules.yaml").write_text(new_policy([file({"tools": [tool]})], "rules"), encoding="utf-8")
    (bundle,) = load(tmp_path / "rules.yaml")
    rules = bundle.main.data["rules"]
    assert {name: rule["each"] for name, rule in rules.items() if "each" in rule} == expected
    compile_policy(bundle.main, Diagnostics())


@pytest.mark.parametrize(
    ("words", "text", "message"),
    [
        (("world", "mine"), "{}", "error[E_TOOLS]: there is no tool in tools.json"),
        (("world", "mine"), "[1, {}]", "what is read: MCP's `tools/list`"),
        (("scenario", "mine"), json.dumps(FORMS["MCP"]), "no first spec of the kind scenario is made of tools"),
        (("world", "Mine"), json.dumps(FORMS["MCP"]), "error[E_NEW_NAME]"),
    ],
)
def test_what_is_no_list_of_tools_is_refused(spec, file, tmp_path, monkeypatch, words, text, message):
    monkeypatch.chdir(tmp_path)
    file(text)
    done = spec("new", *words, "--tools", "tools.json")
    assert done.status == 2
    assert message in done.err
    assert not list(tmp_path.glob("*.yaml"))
    missing = spec("new", *words, "--tools", "none.json")
    assert "there is no file none.json" in missing.err


SCENARIO = """
spec: scenario/v1
name: march
world: office
governor: any-action
agent: worker
"""
AGENT = """
spec: agent/v1
name: worker
trajectories: {files: ["chat.json"]}
"""
BOUND = "spec: invariant/v1\nname: few\nrequire: calls <= 3\n"


def test_a_world_that_was_inferred_from_logs_fits_them(spec, file, tmp_path, monkeypatch):
    """Every call of the logs is an action of it, whatever other calls leave out."""
    monkeypatch.chdir(tmp_path)
    log = chat(("pay", {"to": "Ann", "amount": 1}), ("pay", {"to": "Bob", "amount": 1.5, "in": 2}), ("look", {"to": 7}))
    file(log, "chat.json")
    for name, text in (("march", SCENARIO + "invariants: [few]\n"), ("worker", AGENT), ("few", BOUND)):
        (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8")
    assert spec("new", "world", "office", "--tools", "chat.json").status == 0
    done = spec("run", "march.yaml", "--out", "out")
    assert done.status == 0, done.out + done.err
    assert "march  PASS" in done.out
    assert spec("verify", "out").status == 0
