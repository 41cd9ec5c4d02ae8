"""Receipts of a guard that were changed and sealed again are refused by both verifiers."""

import shutil
from pathlib import Path

import pytest

from tests.conformance.tampered.verifiers import by_engine, by_tool
from tests.wings.guard.conftest import KNOWN, OTHER, carry_out
from tools.conformance import Laid
from tools.tampering.forger import Forger


def first(**fields):
    return lambda forger: forger.first("guard").update(fields)


def taken(*names):
    def change(forger):
        body = forger.first("guard")
        for name in names:
            del body[name]

    return change


def other_gate(forger):
    """A denial by a gate that the run does not have."""
    forger.bodies("guard")[1]["denied_by"][0]["name"] = "none"


NO_SENSE = "what a guard decided"
FORGED = {
    "a decision of another name": (first(decision="maybe"), NO_SENSE),
    "an allowed call with an objection": (
        first(denied_by=[{"of": "gate", "name": "approved", "reason": "x"}]),
        NO_SENSE,
    ),
    "a denial without a reason": (first(decision="deny"), NO_SENSE),
    "made is no truth value": (first(made=1), NO_SENSE),
    "a gate that is not there": (other_gate, "by nothing of the run"),
    "a cause of another name": (first(cause="maybe"), NO_SENSE),
    "a receipt that nobody was told": (first(receipt="0" * 64), ""),
    "a receipt that is no digest": (first(receipt=7), NO_SENSE),
    "fewer fields": (taken("tool"), ""),
    "another fate": (first(made=False), ""),
    "another step": (first(t=7), ""),
}


@pytest.fixture(scope="module")
def evidence(tmp_path_factory):
    """The evidence of a conversation with two calls, the second of which is denied."""
    from tests.wings.guard.conftest import HERE, Asked

    folder = tmp_path_factory.mktemp("forged") / "office"
    shutil.copytree(HERE / "office", folder)
    guard = Asked(folder)
    guard("begin")
    carry_out(guard, "1", "send_money", {"amount": 5, "to": KNOWN})
    carry_out(guard, "2", "send_money", {"amount": 500, "to": OTHER})
    place = Path(guard("end")["evidence"])
    guard.close()
    return place


@pytest.mark.parametrize(("change", "words"), FORGED.values(), ids=FORGED)
def test_a_forged_decision_is_refused(evidence, tmp_path, change, words):
    forger = Forger(shutil.copytree(evidence, tmp_path / "bundle"))
    change(forger)
    forger.seal()
    laid = Laid(tmp_path / "bundle", {})
    engine, tool = by_engine(laid), by_tool(laid)
    assert engine.exit == 1, engine
    if words:
        assert (tool.exit, words in tool.message) == (1, True), tool


def test_what_was_not_changed_is_accepted(evidence, tmp_path):
    forger = Forger(shutil.copytree(evidence, tmp_path / "bundle"))
    forger.seal()
    laid = Laid(tmp_path / "bundle", {})
    assert (by_engine(laid).exit, by_tool(laid).exit) == (0, 0)
