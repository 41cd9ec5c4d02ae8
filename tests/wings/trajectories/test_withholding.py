"""What is to be withheld is withheld, or nothing is written: a misspelt path would leave the value where it was."""

import json

import pytest

from specledger.wings.trajectories.lines import read_lines
from specledger.wings.trajectories.model import Call, Finding, Message, Result, Speaker, Trajectory
from specledger.wings.trajectories.withholding import Withholding

CALL = {
    "id": "x",
    "type": "function",
    "function": {"name": "pay", "arguments": '{"account": "GB29", "cc": ["A", "B"]}'},
}
LOG = [
    {"role": "assistant", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "x", "content": '{"iban": "GB30", "state": "paid"}'},
]
SALT = "0" * 64


@pytest.fixture
def imported(spec, tmp_path):
    (tmp_path / "salt").write_text(SALT)
    (tmp_path / "log.json").write_text(json.dumps(LOG))

    def run(*paths, out="lines.jsonl"):
        words = [word for path in paths for word in ("--withhold", path)]
        target = out if out == "-" else str(tmp_path / out)
        return spec("import", str(tmp_path / "log.json"), *words, "--salt", str(tmp_path / "salt"), "--out", target)

    return run


@pytest.mark.parametrize(
    ("path", "nearest"),
    [
        ("arguments.acount", "arguments.account"),
        ("result.ibna", "result.iban"),
        ("arguments.account.number", "arguments.account"),
    ],
)
@pytest.mark.parametrize("out", ["lines.jsonl", "-"])
def test_a_path_that_leads_to_no_value_is_refused_with_the_nearest_one(imported, tmp_path, path, nearest, out):
    for paths in ([path], ["arguments.cc", path]):
        answer = imported(*paths, out=out)
        assert answer.status == 2
        assert f"E_LOG_WITHHOLD]: --withhold {path} leads to no value" in answer.err
        assert f"did you mean {nearest}?" in answer.err
        assert answer.err.count("E_LOG_WITHHOLD") == 1
        assert "GB29" not in answer.out
        assert not (tmp_path / "lines.jsonl").exists()


def test_each_path_says_how_many_values_it_withheld(imported):
    answer = imported("arguments.account", "arguments.cc", "result.iban", "result.state")
    assert answer.status == 0, answer.err
    for path in ("arguments.account", "arguments.cc", "result.iban", "result.state"):
        assert f"withheld {path}: 1 value\n" in answer.err


def test_of_what_was_withheld_before_nobody_knows_whether_a_path_leads_there(imported, tmp_path):
    assert imported("arguments.account", "result").status == 0
    with (tmp_path / "lines.jsonl").open("rb") as lines:
        (before,) = read_lines(lines)
    again = Withholding(["arguments.account.number", "result.iban", "arguments.bcc"], bytes(32))
    assert again.apply(before) == before
    assert [finding.message.split()[1] for finding in again.absent()] == ["arguments.bcc"]


def test_a_second_path_into_a_text_that_the_first_withheld_counts_by_what_was_there():
    entries = (Call("1", "a", {"to": "x"}), Result("1", '{"b": 1, "c": 2}'))
    withholding = Withholding(["result.b", "result.c", "result.bb"], bytes(32))
    withholding.apply(Trajectory("a", "f", "openai", entries))
    assert [*withholding.remarks()] == [
        "withheld result.b: 1 value",
        "withheld result.c: 1 value",
        "withheld result.bb: 0 values",
    ]
    assert [finding.hint for finding in withholding.absent()] == ["did you mean result.b?"]


def remarks(paths, *entries):
    withholding = Withholding(paths, bytes(32))
    withholding.apply(Trajectory("a", "f", "openai", entries))
    return [remark for remark in withholding.remarks() if not remark.startswith("withheld ")]


def test_a_value_that_can_still_be_read_elsewhere_is_told():
    asked = Message(Speaker.USER, "Pay Gb29nwbk, and 1234567.")
    paid = Call("1", "pay", {"to": "GB29NWBK", "amount": 1234567, "for": "rent"})
    told = Result("1", {"paid": ["GB29NWBK"], "note": "done"})
    said = "{} can still be read elsewhere, in {}: withhold that, too".format
    assert remarks(["arguments.to"], asked, paid, told) == [said("1 withheld value", "messages.user, result")]
    assert remarks(["arguments.to", "arguments.amount", "result"], asked, paid, told) == [said("2 withheld values", "messages.user")]  # fmt: skip
    assert remarks(["arguments", "result", "messages"], asked, paid, told) == []
    assert remarks(["arguments.for"], asked, paid, Result("1", "rent")) == [], "too short to tell"
    assert remarks(["arguments.to"], paid, Finding("E_LOG_RECORD", "no GB29NWBK")) == [said("1 withheld value", "findings")]  # fmt: skip
    assert remarks(["arguments.to"], paid) == []


def test_values_of_another_trajectory_are_not_looked_for():
    withholding = Withholding(["arguments.to"], bytes(32))
    withholding.apply(Trajectory("a", "f", "openai", (Call("1", "pay", {"to": "GB29NWBK"}),)))
    withholding.apply(Trajectory("b", "f", "openai", (Message(Speaker.USER, "GB29NWBK"),)))
    assert [*withholding.remarks()] == ["withheld arguments.to: 1 value"]
