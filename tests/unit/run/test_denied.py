"""What becomes of a decision of which nothing is admitted: a breach of progress, or a denial that the agent is told."""

import subprocess
import sys
from typing import Any

import pytest

from specledger.core.canonical import parse_canonical
from specledger.kinds import load
from specledger.kinds.running import RunOptions
from specledger.pipeline.executing import execute
from specledger.pipeline.verifying import verify
from tests.toys import ROOT, documents_of, write_specs

ASKER = """
import json, sys
told = []
for line in sys.stdin:
    message = json.loads(line)
    answer = {"type": "ready", "id": message["id"]}
    if message["type"] == "hello":
        answer = {"type": "hello", "id": message["id"], "name": "asker"}
    elif message["type"] == "decide":
        told = message.get("denied", told)
        op = "ask" if told and told[0] == {"gate": "approved", "reason": "not_approved"} else "pay"
        answer = {"type": "proposals", "id": message["id"], "proposals": [{"action": {"op": op}, "score": 1}]}
    elif message["type"] == "bye":
        break
    print(json.dumps(answer), flush=True)
"""
WORLD = {
    "state": {"approved": "bool", "paid": "bool"},
    "start": {"approved": "false", "paid": "false"},
    "actions": {
        "ask": {"effects": [{"set": "approved", "to": "true"}]},
        "pay": {"effects": [{"set": "paid", "to": "true"}]},
    },
    "observe": {"paid": "paid"},
}
GATE = {"id": "approved", "when": 'action.op == "pay"', "require": "approved", "reason": "not_approved"}
GOVERNOR = {"gates": [GATE], "choose": {"maximise": "proposal.score"}}


def run(folder, text=ASKER, **scenario):
    program = folder / "asker.py"
    program.write_text(text, encoding="utf-8")
    agent = {"outside": {"command": [sys.executable, str(program)]}}
    others = {"invariant/fine": {"require": "approved || !paid"}}
    documents = documents_of(WORLD, agent, GOVERNOR, others, horizon=4, invariants=["fine"], **scenario)
    (bundle,) = load(write_specs(folder, documents))
    finished = execute(bundle, folder / "out", RunOptions(trusted=True))
    lines: list[Any] = [parse_canonical(line) for line in (folder / "out/receipts.jsonl").read_bytes().splitlines()]
    return finished.manifest["result"], [line["body"] for line in lines if line["type"] == "step"]


def independent(place):
    program = [sys.executable, str(ROOT / "tools/verify.py"), str(place)]
    return subprocess.run(program, capture_output=True, text=True, check=False).returncode


@pytest.mark.medium
def test_an_agent_that_is_told_does_what_is_missing(tmp_path):
    summary, steps = run(tmp_path, on_denied="tell")
    assert [step["chosen"] for step in steps] == [None, 0, 0, 0]
    assert (summary["verdict"], summary["violations"]) == ("PASS", {})
    assert summary["rejections"]["approved"] == 1
    assert verify(tmp_path / "out").verdict == "PASS"
    assert independent(tmp_path / "out") == 0


IDLE = {
    "it proposes nothing": "[]",
    "it writes prose": '["I would rather keep to the left and see."]',
    "it proposes what there is not": '[{"action": {"op": "dance"}, "score": 1}]',
    "it proposes what is denied": '[{"action": {"op": "pay"}, "score": 1}]',
}


@pytest.mark.medium
@pytest.mark.parametrize("case", IDLE)
def test_an_agent_of_which_nothing_is_admitted_is_no_pass(case, tmp_path):
    text = ASKER.replace('[{"action": {"op": op}, "score": 1}]', IDLE[case])
    summary, steps = run(tmp_path, text, on_denied="tell")
    assert [step["chosen"] for step in steps] == [None] * 4
    assert (summary["verdict"], summary["violations"]) == ("INCONCLUSIVE", {})
    assert verify(tmp_path / "out").verdict == "PASS"
    assert independent(tmp_path / "out") == 0


def test_without_that_it_is_not_told_and_fails(tmp_path):
    summary, steps = run(tmp_path)
    assert [step["chosen"] for step in steps] == [None] * 4
    assert (summary["verdict"], summary["violations"]) == ("FAIL", {"progress": 4})


@pytest.mark.parametrize("said", ["fatal", "tell"])
def test_the_first_receipt_says_it_where_it_is_not_the_default(tmp_path, said):
    run(tmp_path, on_denied=said)
    start: Any = parse_canonical((tmp_path / "out/receipts.jsonl").read_bytes().splitlines()[0])
    assert start["body"].get("on_denied") == (said if said == "tell" else None)
