"""What the probes of a run come to in its report: outcomes, why, observations and rows."""

from types import SimpleNamespace
from typing import Any

import pytest

from specledger.report import probe_reading as module
from specledger.report.model import Receipt
from specledger.report.observations import Observations
from specledger.report.outcome import Outcome
from specledger.report.probe_reading import ProbeReading
from specledger.report.sections import Code, Count, Prose, ReceiptLink, Words
from specledger.report.specs import Specs

PROBES = {"p": {"name": "p", "doc": "It says why.", "at": "after_act", "expect": "held"}, "q": {"name": "q"}}


@pytest.fixture
def reading(monkeypatch):
    """A reading of probes after these receipts: verdict, cause and evidence of each, of the probe `p`."""
    told = SimpleNamespace(
        places={"after_act": "after the action"},
        cause_text=lambda cause, times: f"{cause} x{times}",
        miss_text=lambda evidence: evidence.get("miss", ""),
    )
    monkeypatch.setattr(module, "meanings", lambda: told)
    monkeypatch.setattr(Specs, "of", lambda specs: SimpleNamespace(probes=lambda: PROBES))

    def read(*probes, claims: Any = None):
        result = {} if claims is None else {"claims": claims}
        specs = SimpleNamespace(specs={1: SimpleNamespace(kind="probe", name="p", key="probe/p@1")})
        evidence: Any = SimpleNamespace(specs=specs, manifest={"result": result})
        made = ProbeReading(evidence, Observations(), {})
        for seq, (verdict, cause, *more) in enumerate(probes):
            body = {"episode": 0, "t": seq, "probe": "p", "verdict": verdict, "cause": cause, "evidence": {}}
            made.add(Receipt(seq, b"{}", "probe", {**body, **(more[0] if more else {})}))
        return made

    return read


def missing(text):
    return {"evidence": {"miss": text}}


PASS, FAIL = ("PASS", ""), ("FAIL", "inert", missing("it said so"))
OPEN, ERROR = ("INCONCLUSIVE", "noise"), ("ERROR", "E_A")
ABSENT = ("INCONCLUSIVE", "abstained")
EXPLAINED = {"p": {"explained": 2, "tested": 3}}
OTHER_MISS = ("FAIL", "inert", missing("later"))
# Probes that were made: outcome, times, failures, whether it is an error, why, what the row says, and its places.
CAME_TO: dict[str, tuple[list[Any], Any, tuple[Any, ...], str, list[int]]] = {
    "none": ([], None, (Outcome.UNTESTED, 0, 0, False, "it was never made"), "never made", []),
    "passes": ([PASS, PASS], None, (Outcome.PASSED, 2, 0, False, ""), "PASS", [0, 1]),
    "a failure": (
        [PASS, FAIL, OTHER_MISS],
        None,
        (Outcome.FAILED, 3, 2, False, "inert x2. it said so"),
        "FAIL",
        [1, 2],
    ),
    "failures of two causes": (
        [("FAIL", "trace"), ("FAIL", "inert"), ("FAIL", "trace")],
        None,
        (Outcome.FAILED, 3, 3, False, "inert x1; trace x2"),
        "FAIL",
        [0, 1, 2],
    ),
    "a failure and what is open": (
        [FAIL, OPEN, ABSENT],
        EXPLAINED,
        (
            Outcome.FAILED,
            3,
            1,
            False,
            "inert x1. it said so. 1 failed, 1 inconclusive: noise, 1 could not be asked: abstained",
        ),
        "FAIL",
        [0],
    ),
    "a pass and what is open": (
        [PASS, OPEN, OPEN],
        EXPLAINED,
        (
            Outcome.CANNOT_TELL,
            3,
            0,
            False,
            "1 passed, 2 inconclusive: noise. "
            "2 of 3 tested claims did not hold; explained by the declared procedure. noise x2",
        ),
        "1 passed, 2 inconclusive: noise",
        [1, 2],
    ),
    "all open": (
        [OPEN, ABSENT],
        None,
        (Outcome.CANNOT_TELL, 2, 0, False, "abstained x1; noise x1"),
        "INCONCLUSIVE",
        [0, 1],
    ),
    "an error": (
        [PASS, OPEN, ERROR],
        None,
        (Outcome.CANNOT_TELL, 3, 0, True, "E_A x1; noise x1"),
        "ERROR",
        [2],
    ),
    "an error and a failure": (
        [ERROR, FAIL],
        None,
        (Outcome.FAILED, 2, 1, False, "inert x1. it said so"),
        "ERROR",
        [0],
    ),
}


@pytest.mark.parametrize(("probes", "claims", "found", "mark", "places"), CAME_TO.values(), ids=CAME_TO)
def test_what_a_probe_came_to(reading, probes, claims, found, mark, places):
    made = reading(*probes, claims=claims)
    check, other = made.checks()
    assert (check.outcome, check.opportunities, check.failures, check.error, check.why) == found
    assert (check.id, check.says, check.spec) == ("probe/p", "It says why.", "probe/p@1")
    assert (other.says, other.spec, other.why) == ("q", None, "it was never made")
    row, bare = made.rows()
    assert (row.name, row.mark, row.places, row.of) == ("p", mark, [ReceiptLink(seq) for seq in places], len(places))
    assert row.cells == (Prose("It says why.", 300), Words("after the action"), Count(len(probes)))
    assert row.details == [("says", Prose("It says why.")), ("expect", Code("held"))]
    assert bare.cells[1:] == (Words(""), Count(0))
    assert made.names == ("p", "q")


def test_a_failed_probe_shows_its_failures_and_another_one_all_that_is_no_pass(reading):
    def shown(*probes):
        return [(seen.what, seen.detail, seen.seq) for seen in next(reading(*probes).checks()).observations]

    assert shown(PASS, OPEN, FAIL) == [("FAIL: inert", '{"miss":"it said so"}', 2)]
    assert shown(PASS, OPEN, ERROR) == [("INCONCLUSIVE: noise", "", 1), ("ERROR: E_A", "", 2)]
    assert shown(PASS) == []


def test_a_probe_of_one_of_several_agents_is_counted_under_both_names(reading):
    made = reading(("FAIL", "inert", {"agent": "hare"}))
    assert made._observations.count == {"FAIL probe/hare.p": 1, "probe/hare.p": 1}
    assert next(made.checks()).outcome is Outcome.UNTESTED


def test_claims_that_name_no_reason_are_told(reading):
    trial = {"drawn": 0, "variable": "x", "after": "a", "predicted": "a"}
    evidence = {"of": "claims", "before": "a", "trials": [trial, {**trial, "drawn": 1, "predicted": "b"}]}
    (told,) = reading(("PASS", "", {"evidence": evidence})).finding()
    assert told == (
        "1 of 2 tested claims predicts what the agent chose anyway: that it comes true says nothing of why it chose so."
    )
    assert list(reading(PASS).finding()) == []
