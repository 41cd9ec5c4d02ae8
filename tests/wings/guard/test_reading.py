"""What the commands that read evidence say of a conversation under guard: which calls were denied, by what, and why."""

from pathlib import Path

import pytest

from tests.wings.guard.conftest import KNOWN, OTHER, carry_out


@pytest.fixture
def evidence(guard_of, office, monkeypatch):
    """The evidence of a conversation in which a rule, a gate and the world denied calls."""
    monkeypatch.chdir(office)
    guard = guard_of()
    guard("begin")
    carry_out(guard, "1", "send_money", {"amount": 50, "to": KNOWN})
    for call, amount, to in (("2", 50, OTHER), ("3", 500, KNOWN), ("4", "much", KNOWN)):
        carry_out(guard, call, "send_money", {"amount": amount, "to": to})
    for number in range(7):
        carry_out(guard, f"r{number}", "read_mail", {"id": number})
    return Path(guard("end")["evidence"])


REASONS = {
    "2": "payments.payee: DE89370400440532013000 is paid, but was found only in nothing before",
    "3": "approved: not_approved",
    "4": "send_money: args.amount is of another type than its action declares",
    "r5": "payments.few: few does not hold",
}


def test_a_trace_shows_decisions_with_their_reasons(spec, evidence):
    lines = [line for line in spec("trace", evidence).out.splitlines() if "guard " in line]
    assert len(lines) == 11
    assert lines[0].endswith("guard allow  call 1  tool send_money  made true  cause rules")
    for call, reason in REASONS.items():
        (line,) = [line for line in lines if f"call {call} " in line]
        assert "guard deny" in line
        assert reason in line
        assert "made false" in line


def test_a_scan_takes_denied_calls_back(spec, evidence):
    """`few` allows six calls: those that were denied are none of them."""
    done = spec("scan", evidence / "trajectories.jsonl", "--policy", "payments")
    assert (done.status, done.out.splitlines()[0]) == (
        0, "payments  PASS  1 trajectory (guard 1), 6 calls, 5 more denied by a guard"
    )  # fmt: skip
    document = spec("scan", evidence / "trajectories.jsonl", "--policy", "payments", "--output", "json").json
    assert (document["denied"], document["calls"]) == (5, {"send_money": 1, "read_mail": 5})
    assert {name: rule["broken"] for name, rule in document["rules"].items()} == {"payee": 0, "few": 0}


@pytest.mark.parametrize("form", ["markdown", "html"])
def test_a_report_shows_denied_calls_with_what_denied_them(spec, evidence, tmp_path, form):
    text = tmp_path / f"page.{form}"
    assert spec("report", evidence, "--format", form, "--out", text).status == 0
    page = text.read_text(encoding="utf-8")
    assert "Calls that a guard denied or could not judge" in page
    assert "6 calls went out" in page
    for words in ("rule payments.payee", "gate approved", "world send_money", "not_approved", "was found only in"):
        assert words in page, words
