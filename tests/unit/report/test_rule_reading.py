"""What the rules of policies come to in the report on a run: outcomes, reasons, marks, details and places."""

from types import SimpleNamespace
from typing import Any

import pytest

from specledger.report import rules as module
from specledger.report.extension import ShownTrajectory
from specledger.report.model import Receipt
from specledger.report.observations import Observations
from specledger.report.outcome import Outcome
from specledger.report.rules import RuleReading
from specledger.report.sections import Code, Count, Joined, Prose, Quoted, ReceiptLink, RowLink, Section, Words

KEY = "policy/p@0123456789abcdef"
RULES = {
    "paid": {"doc": "What is owed is paid.", "require": "sum == owed", "when": "tool == 'pay'"},
    "calm": {"require": "calm"},
    "mute": {"require": "true"},
}


@pytest.fixture
def reading(monkeypatch):
    """A reading of rules with these counts, after receipts; trajectories are shown where the agent is a recording."""
    words = {"calm": "It stays calm."}
    monkeypatch.setattr(module, "rule_words", lambda policy, name: words.get(name, ""))

    def read(counts, *receipts, severities: Any = None, shown=(), recorded=True):
        monkeypatch.setattr(module, "trajectory_sections", lambda place, receipts: shown)
        agent = SimpleNamespace(data={"trajectories": {}} if recorded else {})
        refs = {("policies", 0): KEY, ("agent",): "agent", ("world",): "world"}
        specs = {KEY: SimpleNamespace(name="p", data={"rules": RULES}), "agent": agent}
        manifest = {"result": {} if counts is None else {"rules": counts, "steps": 7}}
        bundle = SimpleNamespace(main=SimpleNamespace(refs=refs), specs=specs)
        evidence: Any = SimpleNamespace(manifest=manifest, specs=bundle, place=None)
        made = RuleReading(evidence, Observations())
        begun: Any = {}
        if severities is not None:
            begun["rules"] = [{"name": name, "severity": each} for name, each in severities.items()]
        made.begin(begun)
        for seq, body in enumerate(receipts):
            made.add(Receipt(seq, b"{}", "rules", {"episode": 0, "t": seq, "broken": [], "unjudged": [], **body}))
        return made

    return read


def counted(held=0, broken=0, unjudged=0, **more):
    return {"held": held, "broken": broken, "unjudged": unjudged, **more}


def said(rule="p.paid", call="c1", reason="no sum", value="3"):
    return {"rule": rule, "call": call, "reason": reason, "value": value}


BLIND = {"breach": "no call pays"}
# Counts of a rule: the outcome, how often it was judged, how often broken, why it is open, and the mark of its row.
KEPT = "judged before a value was withheld, and not checked again: 1 time"
OUTCOMES: dict[str, tuple[Any, tuple[Any, ...], str]] = {
    "held": (counted(2), (Outcome.PASSED, 2, 0, ""), "held"),
    "broken": (counted(2, 1), (Outcome.FAILED, 3, 1, ""), "broken"),
    "broken, and not judged": (counted(0, 1, 5), (Outcome.FAILED, 1, 1, ""), "broken"),
    "not judged": (counted(2, 0, 3), (Outcome.CANNOT_TELL, 2, 0, "late (2); no sum (1)"), "cannot tell"),
    "of no call": (
        counted(),
        (Outcome.UNTESTED, 0, 0, "never had an opportunity (0 of 7 calls): no call was about it"),
        "never checked",
    ),
    "unable to notice": (
        counted(2, unable=BLIND),
        (Outcome.CANNOT_TELL, 2, 0, "it can notice nothing: no call pays"),
        "cannot tell",
    ),
    "misspelt": (
        counted(unable={"misspelt": "`pai`"}),
        (Outcome.CANNOT_TELL, 0, 0, "it is misspelt, it seems: `pai`"),
        "cannot tell",
    ),
    "lacking something, but held": (counted(1, unable={"call": "x"}), (Outcome.PASSED, 1, 0, ""), "held"),
    "lacking something, of no call": (
        counted(unable={"call": "x"}),
        (Outcome.CANNOT_TELL, 0, 0, "it can notice nothing: x"),
        "cannot tell",
    ),
    "held before a value was withheld": (counted(2, withheld=1), (Outcome.PASSED, 2, 0, KEPT), "as recorded"),
    "broken before a value was withheld": (counted(0, 1, withheld=1), (Outcome.FAILED, 1, 1, KEPT), "broken"),
}
OPEN = [
    {"unjudged": [said(reason="late"), said("p.calm", reason="other")]},
    {"unjudged": [said(), said(reason="late")]},
]


@pytest.mark.parametrize(("counts", "found", "mark"), OUTCOMES.values(), ids=OUTCOMES)
def test_what_became_of_a_rule(reading, counts, found, mark):
    made = reading({"p.paid": counts, "p.calm": counted(1)}, *OPEN)
    check, _ = made.checks()
    assert (check.outcome, check.opportunities, check.failures, check.why) == found
    assert (check.id, check.says, check.spec, check.warning) == ("rule/p.paid", "What is owed is paid.", KEY, False)
    (section,) = made.sections()
    (row,) = [each for each in section.rows if each.name == "p.paid"]
    assert row.mark == mark
    never = [Words("Never had an opportunity (0 of 7 calls).")] if check.outcome is Outcome.UNTESTED else []
    assert row.cells[0] == (Joined((Prose(check.says), *never)) if never else Prose(check.says))


SAYS = {
    "its doc": ("p.paid", "What is owed is paid.", KEY),
    "its words": ("p.calm", "It stays calm.", KEY),
    "its name, without words": ("p.mute", "p.mute", KEY),
    "its name, of no policy": ("q.paid", "q.paid", None),
}


@pytest.mark.parametrize(("name", "says", "key"), SAYS.values(), ids=SAYS)
def test_what_a_rule_says_is_its_doc_else_its_words_else_its_name(reading, name, says, key):
    (check,) = reading({name: counted(1)}).checks()
    assert (check.says, check.spec) == (says, key)


@pytest.mark.parametrize(
    ("severities", "warns", "shown"),
    [
        (None, False, ""),
        ({}, False, ""),
        ({"p.paid": "fatal"}, False, "fatal"),
        ({"p.paid": "warn"}, True, "warn"),
        ({"p.calm": "warn"}, False, ""),
    ],
)
def test_a_rule_warns_if_the_run_says_so(reading, severities, warns, shown):
    made = reading({"p.paid": counted(1, 1)}, severities=severities)
    (check,) = made.checks()
    assert check.warning is warns
    (section,) = made.sections()
    assert section.rows[0].cells == (Prose("What is owed is paid."), Words(shown), Count(2), Count(1), Count(0))


def test_breaches_are_observed_with_their_call_and_those_before_a_value_was_withheld(reading):
    kept = [
        {"rule": "p.paid", "call": "c", "status": "broken"},
        {"rule": "p.paid", "call": "c", "status": "held"},
        {"rule": "p.calm", "call": "c", "status": "broken"},
    ]
    receipts = [{"broken": [said(), said(call="", reason="at the end")]}, {"withheld": kept}]
    first, second = reading({"p.paid": counted(0, 3), "p.calm": counted(0, 1)}, *receipts).checks()
    whats = ["call c1: no sum", "at the end", "broken before a value was withheld"]
    assert [(seen.what, seen.detail, seen.seq) for seen in first.observations] == [
        (whats[0], "3", 0),
        (whats[1], "3", 0),
        (whats[2], "", 1),
    ]
    assert [(seen.what, seen.seq) for seen in second.observations] == [(whats[2], 1)]


def test_of_many_reasons_the_five_most_frequent_are_told(reading):
    outcomes = [said(reason=f"reason {number}") for number in range(6) for _ in range(7 - number)]
    (check,) = reading({"p.paid": counted(0, 0, 27)}, {"unjudged": outcomes}).checks()
    assert check.why == "; ".join(f"reason {number} ({7 - number})" for number in range(5))


# What the row of a rule tells beside what the rule says.
DETAILS: dict[str, tuple[Any, list[Any]]] = {
    "nothing": (counted(2), []),
    "not judged once": (counted(2, 0, 1), [("not judged 1 time", Quoted("no sum (1)"))]),
    "broken and not judged": (counted(0, 1, 2), [("not judged 2 times", Quoted("no sum (1)"))]),
    "unable": (counted(1, unable=BLIND), [("can notice nothing", Quoted("no call pays"))]),
    "misspelt": (counted(unable={"misspelt": "a: b"}), [("is misspelt, it seems", Quoted("a: b"))]),
    "withheld": (
        counted(2, withheld=2),
        [("withheld", Words("judged before a value was withheld, and not checked again: 2 times"))],
    ),
    "withheld and not judged": (
        counted(2, 0, 1, withheld=1),
        [
            ("not judged 1 time", Quoted("no sum (1)")),
            ("withheld", Words("judged before a value was withheld, and not checked again: 1 time")),
        ],
    ),
    "none withheld": (counted(2, withheld=0), []),
}


@pytest.mark.parametrize(("counts", "details"), DETAILS.values(), ids=DETAILS)
def test_details_of_a_rule(reading, counts, details):
    (section,) = reading({"p.paid": counts}, {"unjudged": [said()]}).sections()
    told = [
        ("says", Prose("What is owed is paid.")),
        ("when", Code("tool == 'pay'")),
        ("require", Code("sum == owed")),
        ("in words", Prose("")),
    ]
    assert section.rows[0].details == [*told, *details]
    assert section.heads == ("rule", "says", "severity", "judged", "broken", "not judged")


def test_a_rule_of_no_policy_has_no_details(reading):
    (section,) = reading({"q.paid": counted(1)}).sections()
    assert section.rows[0].details == []


CALLS = {"c1": RowLink("t0-c1", "c1"), "c2": RowLink("t0-c2", "c2")}
SHOWN = [
    ShownTrajectory(0, Section("t0", "Zero", "", ("call",), []), CALLS),
    ShownTrajectory(1, Section("t1", "One", "", ("call",), []), {"c1": RowLink("t1-c1", "c1")}),
]
# The receipts, the places of the row, and of how many it shows them.
PLACES: dict[str, tuple[Any, list[dict[str, Any]], list[Any], int]] = {
    "no call": (counted(1), [], [], 0),
    "a call that broke it": (
        counted(0, 1),
        [{"broken": [said()]}],
        [CALLS["c1"], ReceiptLink(0)],
        2,
    ),
    "one that broke it before one that left it open": (
        counted(0, 1, 1),
        [{"unjudged": [said()]}, {"broken": [said(call="c2")]}],
        [CALLS["c2"], ReceiptLink(1)],
        2,
    ),
    "one that left it open": (counted(0, 0, 1), [{"unjudged": [said(call="c2")]}], [CALLS["c2"]], 1),
    "a call of another rule before it": (
        counted(0, 1),
        [{"broken": [said("p.calm"), said(call="c2")]}],
        [CALLS["c2"], ReceiptLink(0)],
        2,
    ),
    "a call that is not shown": (counted(0, 1), [{"broken": [said(call="c9")]}], [ReceiptLink(0)], 1),
    "a call of another trajectory": (
        counted(0, 1),
        [{"episode": 1, "broken": [said()]}],
        [RowLink("t1-c1", "c1"), ReceiptLink(0)],
        2,
    ),
    "of a trajectory that is not shown": (
        counted(0, 1),
        [{"episode": 2, "broken": [said()]}],
        [ReceiptLink(0)],
        1,
    ),
    "many breaches": (
        counted(0, 9),
        [{"broken": [said()]}] * 9,
        [CALLS["c1"], ReceiptLink(0), ReceiptLink(1), ReceiptLink(2)],
        10,
    ),
}


@pytest.mark.parametrize(("counts", "receipts", "places", "of"), PLACES.values(), ids=PLACES)
def test_a_rule_leads_to_the_first_call_that_broke_it_or_left_it_open(reading, counts, receipts, places, of):
    section, *trajectories = reading({"p.paid": counts}, *receipts, shown=SHOWN).sections()
    assert (section.rows[0].places, section.rows[0].of) == (places, of)
    assert [each.id for each in trajectories] == ["t0", "t1"]


@pytest.mark.parametrize(
    ("counts", "recorded", "ids"),
    [({}, True, ["t0", "t1"]), (None, True, ["t0", "t1"]), ({"p.paid": counted(1)}, False, ["rules"]), ({}, False, [])],
)
def test_trajectories_are_shown_of_recordings_alone_and_rules_where_there_are_any(reading, counts, recorded, ids):
    assert [section.id for section in reading(counts, shown=SHOWN, recorded=recorded).sections()] == ids


def test_only_receipts_that_say_something_are_asked_for_trajectories(reading):
    made = reading({"p.paid": counted(2, 1, 1)}, {}, {"broken": [said()]}, {"unjudged": [said()]}, {"withheld": []})
    assert [body["t"] for body in made._receipts] == [1, 2]
