"""Rules that can notice nothing with the tools of their world: a run with one is no PASS, for either verifier."""

import json

import pytest

from tests.conformance.tampered.verifiers import by_engine, by_tool
from tests.wings.trajectories.test_scan import chat
from tools.conformance import Laid

WORLD = """
spec: world/v1
name: office
state: {paid: qfixed}
start: {paid: "0.0"}
actions:
  ask: {args: {why: string}}
  pay: {args: {amount: qfixed, to: string}, effects: [{set: paid, to: paid + amount}]}
observe: {paid: paid}
"""
AGENTS = {
    "recorded": "spec: agent/v1\nname: recorded\ntrajectories: {files: [chat.json]}\n",
    "loose": "spec: agent/v1\nname: loose\ntrajectories: {files: [chat.json], otherwise: call}\n",
    "deciding": """
spec: agent/v1
name: deciding
candidates: [{op: pay, for_each: {amount: "[20.0]", to: '["Ann"]'}}]
score: "0"
""",
}
SCENARIO = "spec: scenario/v1\nname: audit\nworld: {world}\ngovernor: any-action\nagent: {agent}\npolicies: [mine]\n"
FEW = "spec: policy/v1\nname: mine\ntools: {shells: [Bash, sh]}\nrules:\n  few: {memory: {n: {count: {}}}, require: n < 9}\n"
TOOL = "{when: {tool: pya}, each: args.to, from: [{set: known}]}"
ARGUMENT = "{when: {tool: pay}, each: args.too, from: [{set: known}]}"
NOTE = "{when: {tool: pay}, each: args.note, from: [{set: known}]}"
NEVER = '{when: {tool: pay, if: "n > 3.0 && n < 2.0"}, read: {n: {path: args.amount, as: number}}, require: n > 1.0}'
SETS = "sets: {known: [Ann, hi]}\n"
CASES = {
    "no action of that name, in a simulation": ("office", "deciding", TOOL, {"opportunity": "no tool is pya"}),
    "no action of that name, in a recording": ("office", "recorded", TOOL, {"opportunity": "no tool is pya"}),
    "no argument of that name": (
        "office", "deciding", ARGUMENT, {"opportunity": "`args.too` is no argument of its tools"},
    ),
    "a condition that is never true": (
        "any-call", "loose", NEVER, {"opportunity": "its condition `n > 3.0 && n < 2.0` is never true"},
    ),
    "a forbidden past without a tool": (
        "office", "recorded", "{when: {tool: pay}, not_after: {tool: aks}}", {"breach": "no tool is aks"},
    ),
    "tools that nobody lists": ("any-call", "loose", TOOL.replace("pya", "refund"), None),
    "a misspelt tool that nobody lists": (
        "any-call", "loose", TOOL, {"misspelt": "no tool is pya, which `when` names; did you mean pay?"},
    ),
    "several names for one tool": ("office", "deciding", "{when: {tool: shells}, require: false}", None),
    "an action that was not taken": ("office", "deciding", "{when: {tool: ask}, require: false}", None),
    "an argument that the log has, though not the action": (
        "office", "recorded", NOTE, {"opportunity": "`args.note` is no argument of its tools"},
    ),
}  # fmt: skip


@pytest.fixture
def audit(spec, tmp_path, monkeypatch):
    """The evidence of a run whose policy has a rule, and what the run printed."""
    monkeypatch.chdir(tmp_path)

    def run(world, agent, rule):
        files = {
            f"agent/{agent}": AGENTS[agent],
            "scenario/audit": SCENARIO.format(world=world, agent=agent)
            + ("horizon: 2\n" if agent == "deciding" else ""),
            "policy/mine": FEW.replace("tools:", f"{SETS}tools:", 1) + f"  it: {rule}\n",
            "world/office": WORLD,
        }
        for name, text in files.items():
            path = tmp_path / "specs" / f"{name}.yaml"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        calls = [("ask", {"why": "x"}), ("pay", {"to": "Ann", "amount": 20, "note": "hi"})]
        (tmp_path / "chat.json").write_text(chat(*calls), encoding="utf-8")
        return tmp_path / "out", spec("run", "audit", "--out", "out"), spec("check", "specs/scenario/audit.yaml")

    return run


@pytest.mark.parametrize("case", CASES)
def test_a_run_with_a_rule_that_can_notice_nothing_is_inconclusive(audit, case):
    world, agent, rule, unable = CASES[case]
    out, done, checked = audit(world, agent, rule)
    result = json.loads((out / "manifest.json").read_text(encoding="utf-8"))["result"]
    counts = result["rules"]["mine.it"]
    judged = "opportunity" in (unable or {}) and counts["held"]
    assert counts.get("unable") == unable
    assert result["verdict"] == ("PASS" if unable is None or judged else "INCONCLUSIVE"), done.out
    if unable and not judged:
        word = "is misspelt, it seems" if "misspelt" in unable else "can notice nothing"
        assert f"mine.it {word}: {next(iter(unable.values()))}" in done.out
    else:
        assert "can notice nothing" not in done.out
    if not unable and not counts["held"] + counts["broken"]:
        assert "rules without an opportunity: mine.it" in done.out
    assert ("warning[W_POLICY_UNABLE]" in checked.err) is bool(
        unable and "condition" not in str(unable) and "misspelt" not in unable
    ), checked.err
    assert by_engine(Laid(out, {})).exit == by_tool(Laid(out, {})).exit == 0


def test_the_warning_stands_at_the_word_with_the_name_that_was_meant(audit):
    _, _, checked = audit("office", "deciding", TOOL)
    assert "specs/policy/mine.yaml:7:21: warning[W_POLICY_UNABLE]" in checked.err
    assert "did you mean pay?" in checked.err


def test_the_report_says_of_such_a_rule_that_it_cannot_tell(audit, spec):
    audit("office", "deciding", TOOL)
    page = spec("report", "out", "--format", "markdown").out
    assert "| **cannot tell** | `mine.it` |" in page
    assert "it can notice nothing: no tool is pya" in page


NAMED = {
    "from": "{when: {tool: pay}, each: args.to, from: [{set: known}, {text_of: aks}]}",
    "since": "{when: {tool: pay}, after: {tool: ask, since: aks}}",
    "read": '{when: {tool: pay}, read: {n: {path: args.why, as: text, of: aks}}, require: n == "x"}',
}


@pytest.mark.parametrize("key", NAMED)
def test_a_tool_that_the_world_does_not_have_is_a_warning_at_its_name(audit, key):
    _, _, checked = audit("office", "recorded", NAMED[key])
    column = f"  it: {NAMED[key]}".index("aks") + 1
    assert f"specs/policy/mine.yaml:7:{column}: warning[W_POLICY_TOOL]: the world has no action aks" in checked.err
    assert f"`{key}`" in checked.err
    assert "did you mean ask?" in checked.err


@pytest.mark.parametrize("key", NAMED)
def test_where_any_tool_is_an_action_no_name_is_a_warning(audit, key):
    assert "warning" not in audit("any-call", "loose", NAMED[key])[2].err
