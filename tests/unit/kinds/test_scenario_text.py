"""What is printed of a run: the figures that it has and no others, and why one that is INCONCLUSIVE came to no verdict."""

from types import SimpleNamespace
from typing import Any

import pytest

from specledger.kinds import scenario
from specledger.kinds.event_evidence import _Order, _Reading
from specledger.kinds.explained_rules import _constant
from specledger.kinds.undecided import why_undecided
from specledger.report.model import Check
from specledger.report.outcome import Outcome
from specledger.report.sections import Words
from specledger.verify.checks import Broken

RESULT: dict[str, Any] = {
    "verdict": "PASS", "successes": 1, "episodes": 2, "steps": 8, "drifts": 0, "checks": 1, "proposals": 30,
    "violations": {}, "warnings": {}, "rejections": {}, "errors": 0,
}  # fmt: skip
HEAD = "climb  PASS  ann reached the goal in 1 of 2 episodes, 8 steps, invariants judged 1 time"
ALWAYS = ["  violations: none", "  rejections (of 30 proposals): none"]


def printed(**changes):
    result = RESULT | changes
    finished: Any = SimpleNamespace(
        name="climb",
        agents=changes.pop("agents", "ann"),
        manifest={"result": result},
        incidents=changes.pop("incidents", ()),
        goal=changes.pop("goal", True),
        recorded=changes.pop("recorded", False),
    )
    return scenario._text(finished).split("\n")


@pytest.fixture(autouse=True)
def _without_the_rest(monkeypatch):
    monkeypatch.setattr(scenario, "footer", lambda finished: [])
    monkeypatch.setattr(scenario, "failed_calls", lambda finished: "")
    monkeypatch.setattr(scenario, "probe_counts", lambda finished: [])
    monkeypatch.setattr(scenario, "run_remarks", lambda finished: ())


MORE = {
    "nothing more": ({}, []),
    "as expected": ({"met": True, "status": "FAIL"}, ["  it ended as expected: FAIL"]),
    "not as expected": ({"met": False, "status": "PASS"}, ["  it ended NOT as expected: PASS"]),
    "errors": ({"errors": 1}, ["  1 error: something could not be evaluated"]),
    "incidents": ({"incidents": ["one", "two"]}, ["  first incidents:", "    one", "    two"]),
    "faults": (
        {"faults": {"malformed": 2}},
        ["  agent faults: malformed 2", "  `spec agent check` shows how the agent answers each message, and its standard error"],
    ),
    "faults with a meaning": (
        {"faults": {"raised": 2}},
        ["  agent faults: raised (the agent raised an error) 2", "  `spec agent check` shows how the agent answers each message, and its standard error"],
    ),
    "nothing is known": (
        {"verdict": "INCONCLUSIVE", "checks": 0},
        ["  no invariant was checked, so nothing can be concluded"],
    ),
    "another status than the verdict": (
        {"status": "INCONCLUSIVE", "checks": 0, "met": True},
        ["  it ended as expected: INCONCLUSIVE", "  no invariant was checked, so nothing can be concluded"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("changes", "more"), MORE.values(), ids=MORE)
def test_what_is_printed_beside_what_always_is(changes, more):
    lines = printed(**changes)
    head = HEAD.replace("PASS", str(changes.get("verdict", "PASS"))).replace(
        "1 time", f"{changes.get('checks', 1)} time" + "s" * (changes.get("checks", 1) != 1)
    )
    assert lines[0] == head
    assert [line for line in lines[1:] if line not in ALWAYS] == more
    assert [line for line in lines if line in ALWAYS] == ALWAYS


HEADS = {
    "an agent without a name": ({"agents": ""}, "the agent reached the goal in 1 of 2 episodes, 8 steps, invariants judged 1 time"),
    "a world without a goal": ({"goal": False}, "ann acted in 2 episodes, 8 steps, invariants judged 1 time"),
    "a recording": ({"goal": False, "recorded": True}, "ann acted in 2 trajectories, 8 calls, invariants judged 1 time"),
    "drifts": ({"drifts": 1}, "ann reached the goal in 1 of 2 episodes, 8 steps, 1 drift, invariants judged 1 time"),
    "probes and rules": (
        {"goal": False, "rules": {}, "probes": {}},
        "ann acted in 2 episodes, 8 steps, invariants, probes and rules judged 1 time",
    ),
    "rules of policies": ({"goal": False, "rules": {}}, "ann acted in 2 episodes, 8 steps, invariants and rules judged 1 time"),
}  # fmt: skip


@pytest.mark.parametrize(("changes", "head"), HEADS.values(), ids=HEADS)
def test_the_first_line_says_what_happened(changes, head):
    assert printed(**changes)[0] == f"climb  PASS  {head}"


WHY = [
    ({"faults": {"a": 1}, "unknown": {}}, "the agent had faults"),
    ({"unknown": {"a": 1}, "unjudged": {}}, "the recording leaves something out"),
    ({"unjudged": {"a": {"b": 1}}}, "a rule could not be judged"),
    ({"rules": {"a": {"unjudged": 0}, "b": {"unjudged": 1}}}, "a rule could not be judged"),
    ({"rules": {"a": {"unjudged": 0}}, "checks": 0}, "no rule was judged that fails the run"),
    ({"checks": 0}, "no invariant was checked"),
    ({"probes": {"p": {"PASS": 1}, "q": {"FAIL": 1}}}, "a probe never passed"),
    ({"probes": {"p": {"PASS": 1}}, "claims": {"p": {"explained": 1}}}, "claims did not hold, and the declared procedure explains them"),
    ({"claims": {"p": {"held": 1}}}, "nothing that an agent proposed was ever admitted"),
    ({}, "nothing that an agent proposed was ever admitted"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "why"), WHY)
def test_why_a_run_came_to_no_verdict(changes, why):
    assert why_undecided(RESULT | changes) == why


ORDERS = {
    "as it must be": (["start", "throw", "throw", "end"], None),
    "cut off": (["start", "throw"], None),
    "without a start": (["throw"], "'throw' after 'nothing'"),
    "two starts": (["start", "start"], "'start' after 'start'"),
    "more after the end": (["start", "end", "throw"], "'throw' after 'end'"),
    "a start after the end": (["start", "end", "start"], "'start' after 'end'"),
}


@pytest.mark.parametrize(("types", "refused"), ORDERS.values(), ids=ORDERS)
def test_the_order_of_the_receipts_of_a_kind_of_events(types, refused):
    order = _Order()
    if refused is None:
        for type_ in types:
            order.add(type_, {})
        return
    for type_ in types[:-1]:
        order.add(type_, {})
    with pytest.raises(Broken, match=refused):
        order.add(types[-1], {})


def test_a_kind_of_events_shows_the_figures_of_its_result_and_its_checks():
    one = Check("dice/fair", "it is fair", None, Outcome.PASSED, 3)
    evidence: Any = SimpleNamespace(manifest={"result": {"verdict": "PASS", "sixes": 2, "throws": 3}})
    reading = _Reading(lambda result: [one] if result["sixes"] == 2 else [], evidence)
    assert list(reading.facts()) == [("sixes", Words("2")), ("throws", Words("3"))]
    assert list(reading.checks()) == [one]


@pytest.mark.parametrize(
    ("value", "words"),
    [(True, "true"), (False, "false"), (3, "3"), (0, "0"), (-3, "minus 3"), (1.5, "1.5"), (-0.5, "minus 0.5")],
)
def test_a_constant_in_words(value, words):
    assert _constant(value) == words
