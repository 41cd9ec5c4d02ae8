"""When the invariants of an episode are judged, with which states and memories, and what they leave."""

from types import SimpleNamespace
from typing import Any

import pytest

from specledger.core.events import Severity
from specledger.core.unknown import Unknown
from specledger.run.invariants import Found, Invariants

BEFORE, START, AFTER = {"n": 0}, {"n": 1}, {"n": 2}
GAP = Unknown("n is not recorded")


def monitor(act=False):
    """A memory that writes down what it was given."""
    return SimpleNamespace(
        begin=lambda start: {"log": [("begin", start["n"])]},
        remember=lambda previous, state, action, outcome, memory: {
            "log": [*memory["log"], ("step", previous["n"], state["n"], action, outcome)]
        },
        act=(
            lambda before, after, action, outcome, memory: {
                "log": [*memory["log"], ("act", before["n"], after["n"], action, outcome)]
            }
        )
        if act
        else None,
    )


def invariant(name, witness=None, scope="step", severity=Severity.FATAL, memory=None, after_fatal=True, calls=None):
    """An invariant that always gives the same, and writes down what it was asked."""

    def judge(*given):
        if calls is not None:
            calls.append((name, *given))
        return witness

    return SimpleNamespace(
        name=name, scope=scope, severity=severity, monitor=memory, after_fatal=after_fatal, judge=judge
    )


def decision(actor=""):
    by = SimpleNamespace(actor=SimpleNamespace(name=actor))
    made: Any = SimpleNamespace(by=by, before=START, after=AFTER, action={"op": "go"}, outcome={"hit": 1})
    return made


def episode(*invariants, turns=1):
    plan: Any = SimpleNamespace(invariants=invariants)
    judged = Invariants(plan, turns=turns)
    judged.begin(BEFORE)
    judged.open(BEFORE)
    return judged


def breach(name, severity="fatal", witness="w"):
    return {"invariant": name, "severity": severity, "witness": witness}


LEFT = {
    "held": (invariant("a"), Found({})),
    "broken": (invariant("a", "w"), Found({}, [breach("a")])),
    "idle": (invariant("a", False), Found({}, idle=["a"])),
    "not judged": (invariant("a", GAP), Found({}, unjudged=[{"invariant": "a", "reason": "n is not recorded"}])),
    "an empty witness": (invariant("a", {}), Found({}, [breach("a", witness={})])),
    "of an episode": (invariant("a", "w", "episode"), Found({})),
}


@pytest.mark.parametrize("case", LEFT)
def test_what_a_decision_leaves(case):
    kept, left = LEFT[case]
    assert episode(kept).after(decision(), START, last=True, until=False) == left


@pytest.mark.parametrize(
    ("found", "fatal", "figures"),
    [
        (Found({}), False, {}),
        (Found({}, [breach("a", "warn")]), False, {}),
        (Found({}, [breach("a", "warn"), breach("b")]), True, {}),
        (Found({"a": {"n": 1}}), False, {"monitors": {"a": {"n": 1}}}),
        (Found({}, unjudged=[{"invariant": "a", "reason": "r"}]), False, {"unjudged": [{"invariant": "a", "reason": "r"}]}),
    ],
)  # fmt: skip
def test_what_is_fatal_and_what_a_receipt_says_of_it(found, fatal, figures):
    assert (found.fatal, found.figures) == (fatal, figures)


# turns of a step, the memory, whether the turn is the last one, by `until`, and what is judged with which states
WHEN = {
    "one turn": (1, None, True, False, [(BEFORE, AFTER)]),
    "the first of two turns": (2, None, False, False, [(START, AFTER)]),
    "the last of two turns": (2, None, True, False, [(START, AFTER)]),
    "a memory of steps, before its step ends": (2, monitor(), False, False, []),
    "a memory of steps, where its step ends": (2, monitor(), True, False, [(BEFORE, AFTER)]),
    "a memory of steps, where the episode ends": (2, monitor(), False, True, [(BEFORE, AFTER)]),
    "a memory of actions, before its step ends": (2, monitor(act=True), False, False, [(START, AFTER)]),
    "a memory of actions, where its step ends": (2, monitor(act=True), True, False, [(START, AFTER)]),
}


@pytest.mark.parametrize("case", WHEN)
def test_when_an_invariant_is_judged_and_of_which_states(case):
    turns, memory, last, until, states = WHEN[case]
    calls: list[Any] = []
    judged = episode(invariant("a", memory=memory, calls=calls), turns=turns)
    judged.after(decision("one" if turns > 1 else ""), START, last=last, until=until)
    assert [call[1:3] for call in calls] == states


GO, HIT = {"op": "go"}, {"hit": 1}
BEGUN, ACTED = ("begin", 0), ("act", 1, 2, GO, HIT)
WRITTEN = {
    "a step of one agent": (monitor(), 1, "", True, [BEGUN, ("step", 0, 2, GO, HIT)]),
    "a step of several agents": (monitor(), 2, "one", True, [BEGUN, ("step", 0, 2, {}, {})]),
    "a turn of a memory of steps": (monitor(), 2, "one", False, [BEGUN]),
    "a turn of a memory of actions": (monitor(act=True), 2, "one", False, [BEGUN, ACTED]),
    "a step of a memory of actions": (monitor(act=True), 2, "one", True, [BEGUN, ACTED, ("step", 0, 2, {}, {})]),
}


@pytest.mark.parametrize("case", WRITTEN)
def test_what_is_remembered(case):
    memory, turns, actor, last, log = WRITTEN[case]
    judged = episode(invariant("a", memory=memory), turns=turns)
    assert judged.after(decision(actor), START, last=last, until=False).remembered == {"a": {"log": log}}
    assert judged.remembered == {"a": {"log": [BEGUN]}}, "the caller assigns what is remembered"


def test_a_fatal_breach_ends_the_step_and_is_not_told_twice():
    calls: list[Any] = []
    judged = episode(
        invariant("broken", "w", memory=monitor(act=True), calls=calls),
        invariant("idle", False, memory=monitor(act=True), calls=calls),
        invariant("open", GAP, memory=monitor(act=True), calls=calls),
        invariant("plain", False, calls=calls),
        invariant("late", "v", severity=Severity.WARN, memory=monitor(), calls=calls),
        turns=2,
    )
    left = judged.after(decision("one"), START, last=False, until=False)
    assert [call[0] for call in calls] == ["broken", "idle", "open", "plain", "idle", "open", "late"]
    assert left.broken == [breach("broken"), breach("late", "warn", "v")]
    assert left.idle == ["idle", "plain"]
    assert left.unjudged == [{"invariant": "open", "reason": "n is not recorded"}]
    assert left.remembered["late"] == {"log": [BEGUN, ("step", 0, 2, {}, {})]}


def test_a_warning_ends_no_step():
    calls: list[Any] = []
    judged = episode(
        invariant("a", "w", severity=Severity.WARN), invariant("late", memory=monitor(), calls=calls), turns=2
    )
    assert judged.after(decision("one"), START, last=False, until=False).broken == [breach("a", "warn")]
    assert calls == []


@pytest.mark.parametrize(
    ("after_fatal", "fatal", "broken", "idle"),
    [(True, False, ["a"], []), (True, True, ["a"], []), (False, False, ["a"], []), (False, True, [], ["a"])],
)
def test_what_a_whole_episode_leaves(after_fatal, fatal, broken, idle):
    calls: list[Any] = []
    judged = episode(invariant("a", "w", "episode", after_fatal=after_fatal, calls=calls), invariant("b", "w"))
    left = judged.close(BEFORE, AFTER, fatal=fatal)
    assert ([one["invariant"] for one in left.broken], left.idle) == (broken, idle)
    assert calls == [("a", BEFORE, AFTER)][: len(broken)]
