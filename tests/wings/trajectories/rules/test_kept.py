"""Verdicts that stay when values are withheld: the same as of the whole log, with a remark, and under no other policy."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from specledger.core.canonical import parse_canonical
from specledger.core.diagnostics import Diagnostics
from specledger.kinds import load
from specledger.kinds.running import RunOptions
from specledger.pipeline.executing import execute
from specledger.pipeline.verifying import verify
from specledger.verify.assurance_levels import headline
from specledger.verify.check_names import REPLAY
from specledger.wings.trajectories.lines import write_lines
from specledger.wings.trajectories.model import Kept
from specledger.wings.trajectories.reading import read_logs
from specledger.wings.trajectories.rules.compile import compile_policy
from specledger.wings.trajectories.rules.kept import withhold
from specledger.wings.trajectories.scan import scan
from specledger.wings.trajectories.withholding import Withholding
from tests.conformance.tampered.verifiers import by_engine, by_tool
from tools import verify as tool
from tools.conformance import Laid
from tools.tampering.forger import HELP, Forger

ROOT = Path(__file__).parents[4]
LOGS = [ROOT / "specs/agent/recorded-clerk"]
FIELDS = ["arguments.recipient", "arguments.amount", "result.payee", "result"]


def policy_of(target):
    return compile_policy(load(target, kind="policy")[0].main, Diagnostics())


@pytest.fixture(scope="module")
def policy():
    return policy_of("invoices")


def without(fields, policies):
    withholding = Withholding(fields, b"0" * 32)
    return [withhold(trajectory, withholding, policies) for trajectory in read_logs(LOGS)]


def counts(result):
    return {name: (count.held, count.broken, count.unjudged) for name, count in result.rules.items()}


@pytest.mark.parametrize("fields", [*([field] for field in FIELDS), FIELDS], ids=str)
def test_verdicts_are_those_of_the_whole_log(policy, fields):
    whole, left = scan(policy, read_logs(LOGS)), scan(policy, without(fields, [policy]))
    assert counts(left) == counts(whole)
    assert sum(count.withheld for count in left.rules.values()) > 0
    assert sum(count.withheld for count in whole.rules.values()) == 0


def test_without_a_policy_rules_are_not_judged(policy):
    left = scan(policy, without(FIELDS, []))
    assert left.rules["payee"].unjudged == 4
    assert all("withheld" in reason for count in left.rules.values() for reason in count.reasons)


def test_no_withheld_value_stands_in_the_lines(policy):
    text = b"".join(write_lines(without(FIELDS, [policy])))
    assert b"Fast Credit" not in text
    assert text.count(b'{"kept":') == 12
    kept = [entry for each in without(FIELDS, [policy]) for entry in each.entries if isinstance(entry, Kept)]
    assert {entry.status for entry in kept} == {"held", "broken", "none"}


def test_another_version_of_the_policy_takes_nothing_over(policy, tmp_path):
    text = (ROOT / "specs/policy/invoices.yaml").read_text(encoding="utf-8")
    (tmp_path / "invoices.yaml").write_text(text.replace("paid <= 1000.0", "paid <= 10.0"), encoding="utf-8")
    left = scan(policy_of(str(tmp_path / "invoices.yaml")), without(FIELDS, [policy]))
    assert counts(left)["payee"] == (0, 0, 4)


def test_a_verdict_on_what_can_be_checked_is_not_taken_over(policy):
    broken = [entry for each in without(FIELDS, [policy]) for entry in each.entries if isinstance(entry, Kept)]
    lies: dict[str, Kept] = {entry.call: Kept(entry.policy, entry.rule, entry.call, "held") for entry in broken}
    forged = []
    for trajectory in read_logs(LOGS):
        pairs = [(lies.get(str(getattr(entry, "id", ""))), entry) for entry in trajectory.entries]
        entries = [line for pair in pairs for line in pair if line is not None]
        forged.append(type(trajectory)(trajectory.id, trajectory.file, trajectory.format, tuple(entries)))
    assert counts(scan(policy, forged)) == counts(scan(policy, read_logs(LOGS)))


def test_what_is_withheld_again_keeps_its_verdicts(policy):
    once = without(["arguments.recipient"], [policy])
    twice = [withhold(each, Withholding(["arguments.amount"], b"1" * 32), [policy]) for each in once]
    assert counts(scan(policy, twice)) == counts(scan(policy, read_logs(LOGS)))


@pytest.fixture
def evidence(policy, tmp_path):
    lines = tmp_path / "lines.jsonl"
    lines.write_bytes(b"".join(write_lines(without(["arguments.recipient"], [policy]))))
    finished = execute(load("recorded-clerk", kind="scenario")[0], tmp_path / "out", RunOptions(trajectories=(lines,)))
    return tmp_path / "out", finished.manifest["result"]


def test_evidence_says_what_was_not_checked_again(evidence):
    folder, result = evidence
    assert result["rules"]["invoices.payee"] == {"held": 3, "broken": 1, "unjudged": 0, "withheld": 4}
    assert result["violations"] == {"invoices.approval": 1, "invoices.payee": 1}
    verification = verify(folder)
    replay = next(check for check in verification.checks if check.name == REPLAY)
    assert replay.message == (
        "28 receipts; not checked again, since they read withheld values: verdicts of invoices.payee 4"
    )
    words = "4 verdicts about withheld values are as recorded; nobody can check that here"
    assert words in verification.unchecked
    assert verification.facts["recorded"]["withheld"] == 4
    assert headline(verification).endswith(f"replay gives the same bytes, {words}")
    assert by_tool(Laid(folder, {})).exit == 0
    text, code = tool.run(tool.parse_arguments([str(folder)]))
    first, *rest = text.splitlines()
    assert (code, first.endswith(f"; {words}"), f"  - {words}" in rest) == (0, True, True)
    lines: list[Any] = [parse_canonical(line) for line in (folder / "receipts.jsonl").read_bytes().splitlines()]
    kept = [verdict for line in lines for verdict in line["body"].get("withheld", ())]
    assert {verdict["status"] for verdict in kept} == {"held", "broken"}


def test_a_rule_that_held_as_recorded_is_not_marked_like_a_judged_one(policy, spec, tmp_path):
    lines = tmp_path / "lines.jsonl"
    lines.write_bytes(b"".join(write_lines(without(["arguments.recipient"], [policy])[:1])))
    finished = execute(load("recorded-clerk", kind="scenario")[0], tmp_path / "out", RunOptions(trajectories=(lines,)))
    counts = finished.manifest["result"]["rules"]
    assert [name for name, count in counts.items() if count.get("withheld") and not count["broken"]] == [
        "invoices.payee"
    ]
    checks = json.loads(spec("report", tmp_path / "out", "--format", "json").out)["subjects"][0]["checks"]
    (check,) = (check for check in checks if check["id"] == "rule/invoices.payee")
    remark = "judged before a value was withheld, and not checked again: 2 times"
    assert (check["outcome"], check["why"]) == ("passed", remark)
    spec("report", tmp_path / "out", "--format", "html", "--out", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    (row,) = re.findall(r'<tbody id="rules.invoices.payee".*?</tbody>', page, re.S)
    assert 'class="mark open"' in row
    assert "as recorded" in row


def kept_in(forger, **fields):
    for body in forger.bodies("rules"):
        for verdict in body.get("withheld", ()):
            verdict.update(fields)


FORGED = {
    "a verdict that is none": ({"status": "perhaps"}, "a kept verdict is none", "a kept verdict is none"),
    "a rule of no policy": ({"rule": "invoices.other"}, "is none of the run's", "a rule is none of the run's"),
    "a verdict with a value": ({"value": "Ann"}, None, "other fields"),
}


@pytest.mark.parametrize("name", FORGED)
def test_forged_verdicts_are_refused(evidence, name):
    fields, of_engine, of_tool = FORGED[name]
    forger = Forger(evidence[0])
    for help_ in HELP:
        forger.remove(help_)
    kept_in(forger, **fields)
    forger.seal()
    laid = Laid(forger.folder, {})
    assert of_tool in by_tool(laid).message
    engine = by_engine(laid, replay=of_engine is None)
    assert engine.exit == 1
    assert of_engine is None or of_engine in engine.message


def test_the_command_and_its_wrong_forms(spec, tmp_path):
    (tmp_path / "salt").write_text("0" * 64)
    words = ["import", str(LOGS[0]), "--withhold", "arguments.recipient", "--salt", str(tmp_path / "salt")]
    written = spec(*words, "--policy", "invoices", "--out", str(tmp_path / "lines.jsonl"))
    assert written.status == 0, written.err
    scanned = json.loads(spec("scan", str(tmp_path / "lines.jsonl"), "--policy", "invoices", "--output", "json").out)
    assert scanned["rules"]["payee"]["withheld"] == 4
    text = spec("scan", str(tmp_path / "lines.jsonl"), "--policy", "invoices").out
    assert "payee was judged 4 times before a value was withheld, and not checked again" in text
    assert "--policy is for --withhold" in spec("import", str(LOGS[0]), "--policy", "invoices").err
    assert "E_REF" in spec(*words, "--policy", "ruels").err
    shutil.rmtree(tmp_path)
