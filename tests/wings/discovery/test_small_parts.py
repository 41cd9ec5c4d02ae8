"""Small parts of a discovery by themselves: what changed, what cannot be said elsewhere, what a report notes and draws."""

from functools import partial, reduce
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import ValidationError

from specledger.core.diagnostics import Diagnostic, Rejected
from specledger.kinds import load
from specledger.verify.checks import Broken
from specledger.wings.discovery import commands, journal, report, verify, worker
from specledger.wings.discovery.plan import DiscoveryPlan, compile_discovery
from specledger.wings.discovery.spec.ranking import Factor, Rule
from tests.toys import SMALL
from tests.toys.claims import T0, measured, obs, op

DIFFERENCES: dict[str, tuple[Any, Any, list[Any]]] = {
    "equal values": ({"a": [1, {"b": 2}]}, {"a": [1, {"b": 2}]}, []),
    "a value": ({"a": 1}, {"a": 2}, [("a", 1, 2)]),
    "a value deep in lists": ({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}, [("a.1.b", 2, 3)]),
    "keys that came and went": ({"a": 1}, {"b": 2}, [("a", 1, None), ("b", None, 2)]),
    "lists of other lengths": ({"a": [1, 2]}, {"a": [1]}, [("a", [1, 2], [1])]),
    "a list for a mapping": ({"a": {"b": 1}}, {"a": [1]}, [("a", {"b": 1}, [1])]),
    "a mapping for a number": ({"a": 1}, {"a": {"b": 1}}, [("a", 1, {"b": 1})]),
    "a number for a list": ({"a": [1]}, {"a": 1}, [("a", [1], 1)]),
}  # fmt: skip


@pytest.mark.parametrize(("old", "new", "found"), DIFFERENCES.values(), ids=DIFFERENCES)
def test_what_differs_is_told_by_its_path(old, new, found):
    assert list(journal._differences(old, new)) == found


def specs(**changes):
    """The resolved specs of a discovery, whose iterations are its extent."""
    discovery = {"spec": "discovery/v1", "iterations": 4, "seed": 1, "model": "model/m@1", **changes}
    return {
        "root": "discovery/d@1",
        "specs": {"discovery/d@1": discovery, "model/m@1": {"spec": "model/v1", "iterations": 1}},
    }


CHANGES = {
    "nothing": ({}, []),
    "the extent": ({"iterations": 9}, []),
    "a number": ({"seed": 2}, ["`seed` of the discovery is 2, was 1"]),
    "a key that came": ({"lag": 2}, ["`lag` of the discovery is 2, was the default"]),
}


@pytest.mark.parametrize(("changes", "lines"), CHANGES.values(), ids=CHANGES)
def test_what_changed_of_a_discovery_but_its_extent_is_told(changes, lines):
    assert list(journal._changes(specs(), specs(**changes))) == lines


def test_the_extent_of_another_spec_counts():
    other = specs()
    other["specs"]["model/m@1"] = {"spec": "model/v1", "iterations": 2}
    assert list(journal._changes(specs(), other)) == ["`iterations` of model/m is 2, was 1"]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("database is locked", "E_STORE_BUSY"),
        ("the database is busy", "E_STORE_BUSY"),
        ("file is not a database", "E_STORE_BROKEN"),
        ("database disk image is malformed", "E_STORE_BROKEN"),
        ("no such column: a", "E_STORE_BROKEN"),
        ("no such table: head", "E_STORE_BROKEN"),
        ("UNIQUE constraint failed", "E_STORE_BROKEN"),
        ("database or disk is full", "E_STORE_FULL"),
        ("attempt to write a readonly database", "E_STORE_FULL"),
        ("disk i/o error", "E_STORE_FULL"),
        ("unable to open database file", "E_STORE_OPEN"),
    ],
)
def test_a_message_of_the_database_has_a_code(words, code):
    assert journal._code_of(words) == code


VERDICT = {
    "status": "REFUTED",
    "method": "trial",
    "reason": "r",
    "up_to": None,
    "counterexample": {"t": 1},
    "detail": "",
}


def test_a_law_is_tried_under_other_rules_or_it_is_told_why_not(monkeypatch):
    verdicts: dict[str, dict[str, Any]] = {"mutant": VERDICT, "there": {"status": "ERROR", "detail": "too much"}}
    monkeypatch.setattr(worker, "LawPlan", lambda law, *_: law)
    monkeypatch.setattr(worker, "verdict_document", lambda law, content: verdicts[law])

    def law(document, effort, universe):
        if universe.root == "lacking":
            raise Rejected([Diagnostic("E_REF_MISSING", "there is no symbol"), Diagnostic("E_STORE_FULL", "no")])
        return SimpleNamespace(law="there")

    others = [SimpleNamespace(root=name) for name in ("lacking", "there")]
    plan: Any = SimpleNamespace(
        universe=SimpleNamespace(root="own"), mutants=lambda document: [(7, "mutant")], others=others,
        model=SimpleNamespace(held_out=None), law=law,
    )  # fmt: skip
    blank = dict.fromkeys(("method", "up_to", "counterexample"))
    kept = {name: VERDICT[name] for name in ("status", "method", "reason", "up_to", "counterexample")}
    assert worker.try_elsewhere(plan, {}) == [
        {"universe": "own", "mutant": 7, **kept},
        {"universe": "lacking", "mutant": None, **blank, "status": "INAPPLICABLE", "reason": "E_REF_MISSING"},
        {"universe": "there", "mutant": None, **blank, "status": "ERROR", "reason": "too much"},
    ]


def test_a_law_is_tried_under_other_rules_though_how_much_it_says_has_no_value():
    """Under mutants of a rule its particles are not conserved, and the fourth power of what is added is too large."""
    held_out = "held_out={mutants: 0, universes: [bouncing-grid], cases: 60}"
    plan = compile_discovery(load(str(SMALL / "small.yaml"), set=[held_out])[0])
    added = op("-", obs("N"), obs("N", T0))
    power = reduce(partial(op, "*"), [added] * 4, {"const": 2**52})
    particles = "count('>') + count('<') + 2 * count('X')"
    law = {"forbidden": "one more", **measured(particles, op("==", power, {"const": 0}))}
    own = worker.try_proposed(plan, law, plan.model.trial)["verdict"]
    assert (own["status"], own["reason"]) == ("UNKNOWN", "evaluation_error")
    assert [(tried["status"], tried["reason"]) for tried in worker.try_elsewhere(plan, law)] == [("PASS", None)]


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (Rejected([Diagnostic("E_REF_MISSING", "there is no symbol")]), "a recorded law is none: there is no symbol"),
        (KeyError("law"), "a receipt is malformed: "),
        (TypeError("no text"), "a receipt is malformed: "),
        (AttributeError("law"), "a receipt is malformed: "),
        (ValueError("no number"), "a receipt is malformed: "),
    ],
    ids=["a law that is none", "a key", "a type", "an attribute", "a value"],
)
def test_a_receipt_that_is_malformed_is_a_finding(error, message):
    with pytest.raises(Broken) as broken, verify._refusing():
        raise error
    assert str(broken.value).partition(": ")[0] in (str(broken.value), "E_VERDICT")
    assert message in str(broken.value)


@pytest.mark.parametrize(
    ("least", "most", "fits"), [(0, 1_000_000, True), (5, 5, True), (6, 5, False), (-1_000_000, 0, True)]
)
def test_a_factor_has_bounds_in_order(least, most, fits):
    given = {"weight": 1, "least": least / 1_000_000, "most": most / 1_000_000}
    if fits:
        assert Factor.model_validate(given).least == least
        return
    with pytest.raises(ValidationError, match="`least` is above `most`"):
        Factor.model_validate(given)


@pytest.mark.parametrize(
    "keys", [[], ["when"], ["per"], ["share"], ["when", "per"], ["per", "share"], ["when", "per", "share"]]
)
def test_a_rule_has_exactly_one_measure(keys):
    given = {"add": 1, **dict.fromkeys(keys, "true")}
    if len(keys) == 1:
        assert Rule.model_validate(given).add == 1_000_000
        return
    with pytest.raises(ValidationError, match="exactly one of `when`, `per` and `share`"):
        Rule.model_validate(given)


@pytest.mark.parametrize(
    ("wanted", "without", "allowed"),
    [(None, None, "abc"), (None, ["b"], "ac"), (["c", "a"], None, "ac"), (["a", "b"], ["b"], "a"), ([], None, "")],
)
def test_templates_are_those_that_are_asked_for_in_the_order_of_the_list(wanted, without, allowed):
    request = SimpleNamespace(target_templates=wanted, exclude_templates=without)
    plan = SimpleNamespace(model=SimpleNamespace(request=request), templates={"a": 1, "b": 2, "c": 3})
    get: Any = vars(DiscoveryPlan)["allowed"].func
    assert get(plan) == tuple(allowed)


def reading(**fields):
    return SimpleNamespace(**fields)


def test_a_law_is_noted_as_accepted_when_it_becomes_so(monkeypatch):
    noted: list[Any] = []
    judge: Any = report.DiscoveryReading._judge
    told = reading(
        _judged={},
        _observations=SimpleNamespace(
            note=lambda check, receipt, what, detail, body: noted.append((check, what, detail))
        ),
    )

    def take(verdict, error=None):
        judge(told, None, {"law": "n", "verdict": verdict, "error": error})

    proved, refuted = ({"status": status, "claim": "c"} for status in ("PROVED", "FAIL"))
    for verdict in (refuted, proved, proved):
        take(verdict)
    assert noted == [("accepted", "PROVED", "n: c")]
    take(None, "too much")
    assert told._judged == {"n": None}
    take(proved)
    assert noted[1:] == [("evaluation", "error", "too much"), ("accepted", "PROVED", "n: c")]


def test_rings_are_drawn_of_refuted_laws_first_and_so_many_at_most(monkeypatch):
    monkeypatch.setattr(report, "MOST_DRAWN", 3)
    monkeypatch.setattr(report, "spacetime", lambda law, verdict, at: None if law == "none" else {"law": law, "at": at})
    monkeypatch.setattr(report, "anchor", lambda section, name: f"{section}-{name}")
    laws = {
        key: SimpleNamespace(key=key, verdict=verdict, tried={"document": key})
        for key, verdict in {
            "open": {"counterexample": None}, "none": {"counterexample": {}}, "one": {"counterexample": {}},
            "error": None, "two": {"counterexample": {}}, "late": {"counterexample": None},
        }.items()
    }  # fmt: skip
    told = reading(
        _laws=laws, _names=lambda: {key: key.upper() for key in laws},
        _plan=SimpleNamespace(parsed=lambda document: SimpleNamespace(plan=SimpleNamespace(law=document))),
    )  # fmt: skip
    drawn: Any = report.DiscoveryReading.spacetimes
    assert [ring["law"] for ring in drawn(told)] == ["one", "two", "open"]
    assert drawn(told)[0]["at"] == "laws-ONE"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "the default"),
        (3, "3"),
        ("x" * 38, f'"{"x" * 38}"'),
        ("x" * 39, f'"{"x" * 39}...'),
        ({"b": 1, "a": 2}, '{"a":2,"b":1}'),
    ],
)
def test_a_value_is_shown_in_forty_characters(value, text):
    assert journal._value(value) == text


@pytest.mark.parametrize(
    ("failures", "service", "number"),
    [
        ([None, "timed_out", "rate_limited", "blocked"], "gemini", 2),
        (["timed_out"], "openai", 0),
        (["blocked", None], "gemini", 0),
        ([], "gemini", 0),
    ],
)
def test_requests_that_can_be_repeated_are_counted(failures, service, number):
    model = SimpleNamespace(data={service: {}})
    bundle: Any = SimpleNamespace(main=SimpleNamespace(refs={("model",): "m"}), specs={"m": model})
    receipts = [{"type": "iteration", "answer": {"failure": failure}} for failure in failures]
    finished: Any = SimpleNamespace(receipts=[{"type": "start"}, *receipts, {"type": "law"}])
    retry = f"  {number} answers failed on the way to the model: `--retry-failures` asks again"
    lines = list(commands._journal_lines(bundle, Path("out/d.journal"), finished))
    assert lines == ["  journal  out/d.journal", *([retry] if number else [])]
