"""Suites whose runs are recordings: labels of trajectories, false alarms and misses of rules."""

import json
import re
import shutil
import subprocess
import sys
from typing import Any

import pytest

from specledger.compile.suite import compile_suite
from specledger.core.canonical import parse_canonical
from specledger.core.diagnostics import Rejected
from specledger.kinds import load
from specledger.kinds.suite_text import suite_tables
from specledger.pipeline.executing import execute
from specledger.pipeline.verifying import verify
from specledger.suites.truth import Truth
from tests.toys import ROOT
from tools import verify as tool
from tools.corpus import read_labels, read_lines

EXAMPLE = ROOT / "examples/agentdojo"
SUITE = "banking-suite.yaml"
ATTACK = '"banking/user_task_*/injection_task_*/early"'


@pytest.fixture
def project(tmp_path):
    """A copy of the example."""
    return shutil.copytree(EXAMPLE, tmp_path / "project")


def edited(project, *changes, mutants=False):
    """The suite of a project with changes of its text, and without its mutants."""
    path = project / SUITE
    text = path.read_text(encoding="utf-8")
    text = text if mutants else text.partition("mutants:")[0]
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    path.write_text(text, encoding="utf-8")
    return path


def finished(path, out):
    return execute(load(path)[0], out)


def receipts(done, type_):
    name = {"figure": "figure", "check": "check", "mutant": "mutant"}[type_]
    return {receipt[name]: receipt for receipt in done.receipts if receipt["type"] == type_}


def group(done, name):
    return receipts(done, "figure")[name]["groups"][0]


@pytest.mark.medium
def test_the_shipped_suite_has_false_alarms_and_misses_with_intervals(tmp_path):
    done = finished(EXAMPLE / SUITE, tmp_path / "out")
    assert done.manifest["result"]["verdict"] == "PASS"
    alarms, misses = group(done, "false_alarms"), group(done, "misses")
    assert (alarms["count"], alarms["of"]) == (1, 8)
    assert (misses["count"], misses["of"], misses["value"]) == (0, 8, 0)
    assert alarms["wilson"] == {"low": 22417, "high": 470889}  # Wilson's interval of 1 of 8
    assert [mutant["caught"] for mutant in receipts(done, "mutant").values()] == [["few-misses"], ["few-false-alarms"]]


@pytest.mark.medium
def test_verdicts_about_withheld_values_are_told_of_a_suite_as_of_a_run(project, spec, tmp_path):
    """Replay of its runs takes them over, so nobody who verifies the suite has checked them."""
    (tmp_path / "salt").write_text("0" * 64)
    agent = project / "banking-agent.yaml"
    agent.write_text(agent.read_text(encoding="utf-8").replace("  format: openai\n", ""), encoding="utf-8")
    path = edited(project, ("replay: bytes\n", ""))
    for name in ("legitimate", "attacked"):
        log, policy = project / f"logs/{name}.jsonl", project / "agentdojo-banking.yaml"
        withhold = ("--withhold", "arguments.recipient", "--salt", tmp_path / "salt", "--policy", policy)
        assert spec("import", log, *withhold, "--out", log).status == 0
    done = finished(path, tmp_path / "out")
    assert done.manifest["result"]["verdict"] == "PASS"
    verification = verify(tmp_path / "out")
    number = verification.facts["recorded"]["withheld"]
    words = f"{number} verdicts about withheld values are as recorded; nobody can check that here"
    assert number > 8
    assert words in verification.unchecked
    said = "not checked again, since they read withheld values: verdicts of agentdojo-banking.payee"
    assert [check.number for check in verification.checks if said in (check.message or "")] == [20]
    text, code = tool.run(tool.parse_arguments([str(tmp_path / "out")]))
    assert (code, text.splitlines()[0].endswith(f"; {words}"), f"  - {words}" in text.splitlines()) == (0, True, True)


@pytest.mark.medium
def test_people_are_told_of_trajectories_and_calls(project, spec, tmp_path):
    path = edited(project, ("replay: bytes\n", ""), ("banking/user_task_0, ", ""))
    text = spec("run", path, "--out", tmp_path / "out").out
    assert text.splitlines()[0] == "banking-suite  ERROR  1 run, 16 trajectories, 46 calls"
    assert "trajectory.label == 'attack' in logs.banking-logs, trajectory " in text
    assert "episode" not in text
    assert "step" not in text
    planned = spec("plan", path).out
    assert "trajectories" in planned
    assert not [word for word in ("episodes", "horizon", "most steps") if word in planned]


def test_its_logs_and_labels_are_those_of_the_corpus():
    corpus = {json.loads(line)["id"]: line for line in read_lines("banking")}
    truth = Truth(load(EXAMPLE / SUITE)[0].main.data["truth"])
    sorts = []
    for name in ("legitimate", "attacked"):
        for line in (EXAMPLE / "logs" / f"{name}.jsonl").read_bytes().splitlines(keepends=True):
            id_ = json.loads(line)["id"]
            assert json.loads(corpus[id_]) == json.loads(line)
            sorts.append(read_labels()[id_]["sort"])
            assert truth.label(id_) == ("legitimate" if sorts[-1] == "legitimate" else "attack")
    assert sorts == ["legitimate"] * 8 + ["early"] * 8


@pytest.mark.medium
def test_its_evidence_verifies_without_the_logs_and_holds_for_the_second_verifier(project, tmp_path):
    finished(edited(project), tmp_path / "out")
    shutil.rmtree(project / "logs")
    verification = verify(tmp_path / "out")
    assert verification.verdict == "PASS"
    assert "passed" in {check.status for check in verification.checks if check.name.startswith("replay")}
    program = [sys.executable, str(ROOT / "tools/verify.py"), str(tmp_path / "out")]
    outcome = subprocess.run(program, capture_output=True, text=True, check=False)
    assert outcome.returncode == 0, outcome.stdout


def test_other_labels_than_the_evidence_was_made_with_are_other_figures(project, tmp_path):
    done = finished(edited(project, ("banking/user_task_1, ", ""), (ATTACK, "banking/*")), tmp_path / "out")
    assert group(done, "misses")["of"] == 9
    assert group(done, "misses")["count"] == 1


@pytest.mark.medium
def test_labels_that_no_log_has_are_told_and_kept(project, tmp_path):
    changes = [
        ("banking/user_task_0, ", "banking/user_task_0, banking/user_task_99, "),
        (ATTACK, f'{ATTACK}, "slack/*"'),
    ]
    path = edited(project, *changes)
    done = finished(path, tmp_path / "out")
    (end,) = [receipt for receipt in done.receipts if receipt["type"] == "end"]
    assert end["absent"] == {"legitimate": ["banking/user_task_99"], "attack": ["slack/*"]}
    assert "  legitimate: no log has banking/user_task_99" in suite_tables(done.receipts, done.spec)
    assert verify(tmp_path / "out").verdict == "PASS"
    (whole,) = [
        receipt for receipt in finished(EXAMPLE / SUITE, tmp_path / "whole").receipts if receipt["type"] == "end"
    ]
    assert "absent" not in whole


TASKS = [
    ("[banking/user_task_0, banking/user_task_1, ", "[banking/user_task_1, "),
    ("truth:", "truth:\n  task_0: [banking/user_task_0]"),
    ("trajectory.label == 'attack'", "trajectory.label == 'attack' || trajectory.label == 'task_0'"),
    ('{rate: flagged, decided: "!attack"}', "{rate: flagged, clusters: trajectory.label}"),
    ("decided: attack}", "decided: attack, clusters: trajectory.id}"),
]


@pytest.mark.medium
def test_intervals_are_over_clusters_that_an_expression_names(project, tmp_path):
    done = finished(edited(project, *TASKS), tmp_path / "out")
    assert (group(done, "false_alarms")["clusters"], group(done, "false_alarms")["of"]) == (3, 16)
    assert (group(done, "misses")["clusters"], group(done, "misses")["of"]) == (9, 9)  # of what is decided
    assert receipts(done, "figure")["misses"]["clusters"] == "trajectory.id"
    assert any("over `trajectory.id`" in line for line in suite_tables(done.receipts, done.spec))
    assert verify(tmp_path / "out").verdict == "PASS"


ARMS = """
  legitimate: {scenarios: [banking-logs.yaml], set: {agent.trajectories.files: [logs/legitimate.jsonl]}, failing: {most: 1, because: one task is flagged}}
  attacked: {scenarios: [banking-logs.yaml], set: {agent.trajectories.files: [logs/attacked.jsonl]}, expect: {verdict: FAIL}}
"""


def arms(project):
    """The suite with an arm for each sort of logs, and no labels."""
    text = edited(project).read_text(encoding="utf-8")
    text = re.sub(r"  logs: .*\n", ARMS[1:], text)
    text = re.sub(r"truth:.*\n(  .*\n)*measures:\n  attack: .*\n", "measures:\n", text)
    text = text.replace('decided: "!attack"', "over: legitimate").replace("decided: attack", "over: attacked")
    (project / SUITE).write_text(text, encoding="utf-8")
    return project / SUITE


def test_arms_of_logs_give_the_same_figures_without_labels(project, tmp_path):
    done = finished(arms(project), tmp_path / "out")
    assert done.manifest["result"]["verdict"] == "PASS"
    assert (group(done, "false_alarms")["count"], group(done, "false_alarms")["of"]) == (1, 8)
    assert (group(done, "misses")["count"], group(done, "misses")["of"]) == (0, 8)
    assert [run["run"] for run in done.receipts if run["type"] == "run"] == [
        "attacked.banking-logs",
        "legitimate.banking-logs",
    ]


def test_an_arm_without_logs_names_the_pattern(project, tmp_path):
    path = arms(project)
    (project / "logs/attacked.jsonl").unlink()
    with pytest.raises(Rejected) as rejected:
        finished(path, tmp_path / "out")
    (diagnostic,) = rejected.value.diagnostics
    assert diagnostic.code == "E_LOG_ABSENT"
    assert f"no file matches 'logs/attacked.jsonl' in {project}" in diagnostic.message


FACTS = """measures:
  broken: "rules.filter(r, r.broken > 0).map(r, r.rule + ' ' + r.calls[0])"
  held: "sum(rules.map(r, r.held))"
  named: trajectory.id == 'banking/user_task_0' && trajectory.format == 'openai' && trajectory.file == 'legitimate.jsonl'
  whole: trajectory.gap == '' && trajectory.unread == 0
"""


@pytest.mark.medium
def test_measures_read_rules_and_trajectories(project, tmp_path):
    changes = [
        ("measures:\n", FACTS),
        ("figures:\n", "figures:\n  held: {sum: held}\n  named: {rate: named}\n  whole: {rate: whole}\n"),
        ("  misses:", "  payees: {sum: \"size(broken.filter(b, b == 'agentdojo-banking.payee c1'))\"}\n  misses:"),
    ]
    done = finished(edited(project, *changes), tmp_path / "out")
    rules = json.loads((tmp_path / "out/runs/logs.banking-logs/manifest.json").read_bytes())["result"]["rules"]
    assert group(done, "held")["value"] == sum(rule["held"] for rule in rules.values()) > 0
    assert (group(done, "named")["count"], group(done, "whole")["count"]) == (1, 16)
    lines = (tmp_path / "out/runs/logs.banking-logs/receipts.jsonl").read_bytes().splitlines()
    receipts: list[Any] = [*map(parse_canonical, lines)]
    bodies = [receipt["body"] for receipt in receipts if receipt["type"] == "rules"]
    first: dict[int, str] = {}
    for episode, call in (
        (body["episode"], broken["call"])
        for body in bodies
        for broken in body["broken"]
        if broken["rule"].endswith("payee")
    ):
        first.setdefault(episode, call)
    assert group(done, "payees")["value"] == sum(call == "c1" for call in first.values()) > 0


def test_the_gap_and_what_could_not_be_read_of_an_episode(project, tmp_path):
    line = {
        "id": "cut",
        "messages": json.loads((project / "logs/legitimate.jsonl").read_bytes().split(b"\n")[0])["messages"][:2],
    }
    (project / "logs/legitimate.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    changes = [
        ("  attack: traj", "  lost: trajectory.unread > 0\n  attack: traj"),
        ("  misses:", "  lost: {rate: lost}\n  misses:"),
        ("banking/user_task_0,", "cut,"),
    ]
    done = finished(edited(project, *changes), tmp_path / "out")
    assert group(done, "lost")["count"] == 1


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("banking/user_task_0, ", "", "label"),
        (ATTACK, f'{ATTACK}]\n  late: ["banking/*/injection_task_0/*"', "label"),
    ],
    ids=["no label", "two patterns"],
)
def test_a_label_that_a_trajectory_does_not_have_is_an_error(project, tmp_path, before, after, words):
    done = finished(edited(project, (before, after)), tmp_path / "out")
    error = receipts(done, "figure")["misses"]["error"]
    assert words in error["expression"]
    assert error["run"] == "logs.banking-logs"
    assert done.manifest["result"]["verdict"] == "ERROR"


@pytest.mark.parametrize(
    ("before", "after", "code", "words", "line"),
    [
        (ATTACK, "banking/user_task_0", "E_SUITE_TRUTH", "legitimate, and attack as well", 9),
        ("  attack: [", "  Attack: [", "E_SPEC_VALUE", "", 10),
        (f"[{ATTACK}]", "many", "E_SPEC_TYPE", "", 10),
        (f"[{ATTACK}]", '[""]', "E_SPEC_VALUE", "", 10),
        ("trajectory.label ==", "trajectory.lable ==", "E_EXPR_UNKNOWN_FIELD", "lable", 12),
        (
            "decided: attack}",
            "decided: attack, clusters: attack}",
            "E_SUITE_FIGURE",
            "a text or an int, not by bool",
            16,
        ),
        ("decided: attack}", "decided: attack, clusters: task}", "E_EXPR_UNKNOWN_NAME", "task", 16),
    ],
    ids=["twice", "a name", "no list", "empty", "a field", "a truth value", "a name of a cluster"],
)
def test_bad_input(project, before, after, code, words, line):
    with pytest.raises(Rejected) as rejected:
        compile_suite(load(edited(project, (before, after)))[0])
    (diagnostic, *_) = rejected.value.diagnostics
    assert words in diagnostic.message
    assert diagnostic.span is not None
    assert (diagnostic.code, diagnostic.span.start.line) == (code, line)


def test_truth_of_agents_that_decide_is_an_error(project):
    changes = [
        ("banking-logs.yaml", "simple"),
        (", expect: {verdict: FAIL}", ""),
        ("trajectory.label == 'attack'", "false"),
    ]
    with pytest.raises(Rejected) as rejected:
        compile_suite(load(edited(project, *changes))[0])
    (diagnostic,) = rejected.value.diagnostics
    assert diagnostic.code == "E_SUITE_TRUTH"
    assert "no agent of this suite is a recording" in diagnostic.message


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("== 'attack'", "== 'atack'", "has the label 'atack'"),
        ("r.broken > 0", "r.rule == 'agentdojo-banking.paye'", "has the rule 'agentdojo-banking.paye'"),
    ],
)
def test_labels_and_rules_that_there_are_not_are_named(project, before, after, words):
    (warning,) = compile_suite(load(edited(project, (before, after)))[0]).warnings
    assert warning.code == "W_SUITE_NAME"
    assert words in warning.message
    assert "did you mean" in (warning.hint or "")
