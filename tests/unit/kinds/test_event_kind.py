"""A kind whose specs are run by a generator of events: what is planned, summed up, ordered and shown of it."""

from types import SimpleNamespace
from typing import Any

import pytest

from specledger.core.events import Event
from specledger.kinds.event_evidence import _Order, _Reading
from specledger.kinds.event_kind import EventKind
from specledger.report.sections import Words
from specledger.verify.checks import Broken

NOTHING: Any = None


class Coins(EventKind):
    name = "coin"

    def events(self, bundle):
        yield Event("start", {"specs": "s"})
        for number in range(3):
            yield Event("fell", {"number": number})
        yield Event("end", {})

    def result(self, facts):
        return {"verdict": "PASS", "types": [type_ for type_, _ in facts], "sum": sum(len(body) for _, body in facts)}


@pytest.fixture
def coins():
    return Coins()


def test_a_plan_says_how_many_receipts_a_run_has(coins):
    assert coins.preview(NOTHING) == {"most_receipts": 5}
    assert coins.show({}) == ""


def test_receipts_become_a_result_that_is_no_failing_case(coins):
    receipts = coins.receipts
    fold = receipts.tally()
    for event in coins.events(NOTHING):
        fold.add(event.type, event.body)
    assert fold.result() == {"verdict": "PASS", "types": ["start", *["fell"] * 3, "end"], "sum": 4}
    assert receipts.may_fail({"verdict": "FAIL"}) is False


@pytest.mark.parametrize(
    ("types", "message"),
    [
        (["start", "fell", "end"], None),
        (["start", "end"], None),
        (["start"], None),
        (["fell"], "'fell' after 'nothing'"),
        (["end"], "'end' after 'nothing'"),
        (["start", "start"], "'start' after 'start'"),
        (["start", "fell", "start"], "'start' after 'fell'"),
        (["start", "end", "fell"], "'fell' after 'end'"),
        (["start", "end", "end"], "'end' after 'end'"),
    ],
)
def test_the_first_receipt_is_start_and_nothing_follows_end(types, message):
    order = _Order()

    def take():
        for type_ in types:
            order.add(type_, {})

    if message is None:
        take()
        return
    with pytest.raises(Broken, match=message):
        take()


def test_a_report_has_the_figures_of_the_result_and_the_checks_of_the_kind():
    evidence: Any = SimpleNamespace(manifest={"result": {"heads": 2, "verdict": "PASS", "zeros": 0}})
    reading: Any = _Reading(lambda result: [result["heads"]], evidence)
    reading.add(NOTHING)
    assert list(reading.facts()) == [("heads", Words("2")), ("zeros", Words("0"))]
    assert list(reading.checks()) == [2]
