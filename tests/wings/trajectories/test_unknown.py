"""What a recording leaves out is unknown: rules that read it are not judged, and the others are."""

import json

import pytest

from specledger.evidence.layout import TRAJECTORIES
from specledger.kinds.running import RunOptions
from specledger.pipeline.verifying import verify
from specledger.verify.assurance_levels import Reader
from specledger.verify.check_names import JUDGE
from tests.conformance.tampered.verifiers import by_tool
from tests.wings.trajectories.test_recording import (
    APPROVED,
    ASKED,
    GOVERNOR,
    PAID,
    POLICY,
    WORLD,
    call,
    laid,
    of,
    recorded,
    refusals,
    result,
)
from tools.tampering.forger import HELP, Forger

FEW = {"rules": {"few": POLICY["rules"]["few"]}}
UNANSWERED = APPROVED[:1]
WORDLESS = [call(1, "ask", amount=150), result(1, "fine")]
NO_AMOUNT = [call(2, "pay", to="Alice"), result(2, "sent")]


def governed(require):
    return {
        **GOVERNOR,
        "gates": [{"id": "approved", "when": 'action.op == "pay"', "require": require, "reason": "not_approved"}],
    }


@pytest.mark.parametrize(
    ("log", "unjudged"),
    [
        ([*UNANSWERED, *PAID], {"approved": {"the result is not recorded": 1}}),
        ([*WORDLESS, *PAID], {"approved": {"the result is of another type than its action declares": 1}}),
        (
            [call(1, "ask", amount=150), result(1, '{"note": ""}'), *PAID],
            {"approved": {"result.ok is not recorded": 1}},
        ),
        ([*APPROVED, *NO_AMOUNT], {name: {"args.amount is not recorded": 1} for name in ("approved", "limit")}),
        (
            [*APPROVED, call(2, "pay", amount="much", to="Alice"), result(2, "sent"), call(3, "look"), result(3, "")],
            {
                name: {"args.amount is of another type than its action declares": times}
                for name, times in (("approved", 1), ("limit", 2))
            },
        ),
    ],
    ids=["no result", "another result", "no field", "no argument", "another argument"],
)
def test_a_rule_that_reads_what_is_left_out_is_not_judged_and_names_it(tmp_path, log, unjudged):
    summary, lines = recorded(tmp_path, [ASKED, *log], policy=FEW)
    assert (summary["verdict"], summary["unjudged"]) == ("INCONCLUSIVE", unjudged)
    assert [end["ended"] for end in of(lines, "episode_end")] == ["horizon"]
    assert summary["steps"] == len(of(lines, "commit")) == sum("tool_calls" in entry for entry in log)
    assert (summary["violations"], summary["rejections"]["approved"]) == ({}, 0)


def test_the_other_rules_are_judged_and_a_breach_fails_the_run(tmp_path):
    paid = [call(2, "pay", amount=900, to="Alice"), result(2, "sent")]
    summary, _ = recorded(tmp_path, [ASKED, *UNANSWERED, *paid])
    assert (summary["verdict"], summary["violations"]) == ("FAIL", {"limit": 1})
    assert summary["unjudged"] == {"approved": {"the result is not recorded": 1}}


@pytest.mark.parametrize(
    ("require", "judged"),
    [
        ("action.amount <= 200.0 || approved >= action.amount", {"schema": 0, "approved": 0}),
        ("approved >= action.amount || action.amount <= 200.0", {"schema": 0, "approved": 0}),
        ("action.amount <= 100.0 && approved >= action.amount", {"schema": 0, "approved": 1}),
        ("approved >= action.amount && action.amount <= 100.0", {"schema": 0, "approved": 1}),
        ("action.amount <= 200.0 ? true : approved >= action.amount", {"schema": 0, "approved": 0}),
        ("approved >= action.amount || action.amount <= 100.0", None),
        ("approved == approved", None),
    ],
)
def test_and_or_and_a_choice_decide_where_an_operand_does(tmp_path, require, judged):
    summary, _ = recorded(tmp_path, [ASKED, *UNANSWERED, *PAID], governor=governed(require))
    assert ("unjudged" not in summary) is (judged is not None)
    assert judged is None or summary["rejections"] == judged
    verification = verify(tmp_path / "out", reader=Reader(judge=True))
    (check,) = [check for check in verification.checks if check.name == JUDGE]
    assert check.status == "passed", check
    assert by_tool(laid(tmp_path / "out")).exit == 0


def test_what_is_unknown_is_known_again_once_it_is_written_anew(tmp_path):
    again = [call(3, "ask", amount=200), result(3, '{"ok": true}')]
    summary, _ = recorded(tmp_path, [ASKED, *UNANSWERED, *again, *PAID])
    assert "unjudged" not in summary
    assert summary["rejections"]["approved"] == 0


def test_what_no_rule_reads_leaves_nothing_open(tmp_path):
    paid = [call(2, "pay", amount=150), result(2, "sent")]
    summary, lines = recorded(tmp_path, [ASKED, *APPROVED, *paid], policy=FEW)
    assert (summary["verdict"], "unjudged" in summary) == ("PASS", False)
    action = of(lines, "commit")[1]["proposals"][0]["action"]
    assert action == {"op": "pay", "amount": 150_000_000, "to": {"$unknown": "args.to is not recorded"}}


def test_a_value_of_another_type_is_a_finding_even_where_no_rule_reads_it(tmp_path):
    paid = [call(2, "pay", amount=150, to=7), result(2, "sent")]
    summary, _ = recorded(tmp_path, [ASKED, *APPROVED, *paid], policy=FEW)
    assert summary["verdict"] == "INCONCLUSIVE"
    assert summary["unknown"] == {"args.to is of another type than its action declares": 1}


MEMORY = {
    "memory": {"fields": {"most": {"type": "qfixed", "start": "0.0"}}},
    "remember": [
        {"id": "most", "on": "action", "when": "has(action.amount)", "effect": {"set": "most", "to": "action.amount"}}
    ],
    "require": "most <= 500.0",
}


def test_what_an_invariant_remembers_is_unknown_until_it_is_written_anew(tmp_path):
    paid = [call(3, "pay", amount=5, to="Alice"), result(3, "sent")]
    log = [ASKED, *APPROVED, *NO_AMOUNT, call(4, "look"), result(4, ""), *paid]
    summary, lines = recorded(tmp_path, log, policy=FEW, limit=MEMORY)
    assert summary["unjudged"]["limit"] == {"args.amount is not recorded": 2}
    assert [step["monitors"]["limit"] for step in of(lines, "step")][1:] == [
        {"most": {"$unknown": "args.amount is not recorded"}},
        {"most": {"$unknown": "args.amount is not recorded"}},
        {"most": 5_000_000},
    ]
    assert verify(tmp_path / "out", reader=Reader(judge=True)).verdict == "PASS"
    assert by_tool(laid(tmp_path / "out")).exit == 0


def test_whether_an_effect_is_made_may_be_unknown(tmp_path):
    world = json.loads(json.dumps(WORLD))
    world["actions"]["ask"]["when"] = "result.ok"
    world["actions"]["ask"]["otherwise"] = [{"set": "paid", "to": "1000.0"}]
    summary, _ = recorded(tmp_path, [ASKED, *UNANSWERED, *PAID], world=world)
    reason = {"the result is not recorded": 1}
    assert summary["unjudged"] == {"approved": reason, "limit": {"the result is not recorded": 2}}


def test_a_gate_that_reads_what_a_call_leads_to_does_not_know_its_result(tmp_path):
    governor = {**GOVERNOR, "gates": [{"id": "after", "require": "next.approved <= 100.0", "reason": "too_much"}]}
    summary, _ = recorded(tmp_path, [ASKED, *APPROVED, *PAID], governor=governor)
    assert summary["unjudged"] == {"after": {"the result of a call is not known before it": 1}}
    assert summary["rejections"]["after"] == 1  # of the payment, after which 150 are approved


def test_a_withheld_value_is_told_apart(tmp_path, spec):
    log = [ASKED, *APPROVED, *PAID]
    (tmp_path / "salt").write_text("0" * 64)
    (tmp_path / "chat.json").write_text(json.dumps(log))
    lines = tmp_path / "lines.jsonl"
    words = ("--withhold", "arguments.amount", "--salt", str(tmp_path / "salt"), "--out", str(lines))
    assert spec("import", str(tmp_path / "chat.json"), *words).status == 0
    summary, _ = recorded(tmp_path, policy=FEW, options=RunOptions(trajectories=(lines,)))
    assert summary["unjudged"]["limit"] == {"args.amount is withheld": 1}
    assert b"$withheld" in (tmp_path / "out" / TRAJECTORIES).read_bytes()


def left_open(type_, **gap):
    return lambda f: f.first(type_).update(unjudged=[{"reason": "", **gap}])


def left_open_gate(gate):
    return lambda f: f.first("step")["decisions"][0].update(unjudged=[{"gate": gate, "reason": ""}])


FORGED = {  # a change, and words of the refusal of each verifier
    "an invariant of none": (left_open("step", invariant="other"), "is none or broken", "is none of a recording's"),
    "one that is broken": (left_open("step", invariant="limit"), "is none or broken", "or is broken"),
    "one of another scope": (left_open("episode_end", invariant="limit"), "is none or broken", "none of a recording"),
    "a gate of none": (left_open_gate("other"), "is not judged, which is none", "is none of a recording's"),
}


@pytest.mark.parametrize("name", FORGED)
def test_what_was_not_judged_is_told_by_receipts_that_fit(tmp_path, name):
    change, of_engine, of_tool = FORGED[name]
    paid = [call(2, "pay", amount=900, to="Alice"), result(2, "sent")]
    recorded(tmp_path, [ASKED, *paid], policies=None)
    forger = Forger(tmp_path / "out")
    for help_ in HELP:
        forger.remove(help_)
    change(forger)
    forger.seal()
    engine, tool = refusals(forger.folder)
    assert (engine.exit, tool.exit) == (1, 1)
    assert of_engine in engine.message
    assert of_tool in tool.message


def test_receipts_that_hide_what_was_not_judged_are_refused_by_replay(tmp_path):
    recorded(tmp_path, [ASKED, *UNANSWERED, *PAID], policy=FEW)
    forger = Forger(tmp_path / "out")
    for help_ in HELP:
        forger.remove(help_)
    for step in forger.bodies("step"):
        for decision in step["decisions"]:
            decision.pop("unjudged", None)
    forger.seal()
    assert verify(forger.folder).verdict == "FAIL"


def test_a_report_says_what_was_not_judged_and_why(tmp_path, spec):
    recorded(tmp_path, [ASKED, *UNANSWERED, *NO_AMOUNT], policy=FEW)
    page = spec("report", str(tmp_path / "out"), "--format", "markdown").out
    assert "args.amount is not recorded (1)" in page
    html = tmp_path / "page.html"
    spec("report", str(tmp_path / "out"), "--format", "html", "--out", str(html))
    assert "gate not judged: approved: the result is not recorded" in html.read_text(encoding="utf-8")
    shown = spec("run", str(tmp_path / "specs/scenario/scenario.yaml"), "--out", str(tmp_path / "again")).out
    assert "rules that could not be judged: approved 1, limit 1" in shown
