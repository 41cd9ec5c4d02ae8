"""What is said of two versions of a policy: flips by rule, what changed without one, and how the comparison ends."""

from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest

from specledger.wings.trajectories import policy_diff
from specledger.wings.trajectories.model import Call, Finding, Message, Speaker, Trajectory
from specledger.wings.trajectories.policy_diff import _changed, _compare, _Flips, _lines

NAMES = ("before", "after")


class Heard:
    """A policy that says of every call what a table says of its tool."""

    def __init__(self, **tools):
        self._tools = tools
        self.messages: list[bool] = []

    def begin(self, *, messages):
        self.messages.append(messages)
        return SimpleNamespace(hear=self._hear)

    def _hear(self, entry):
        said = self._tools.get(entry.tool, {}) if isinstance(entry, Call) else self._tools.get("message", {})
        return [
            SimpleNamespace(rule=rule, status=SimpleNamespace(value=status), reason=reason)
            for rule, (status, reason) in said.items()
        ]


def log(*entries, id_="one"):
    return Trajectory(id_, "a.json", "openai", entries)


def compared(before, after, *trajectories):
    first: Any = Heard(**before)
    second: Any = Heard(**after)
    return _compare(first, second, trajectories)


HELD, BROKEN, NOT_READ = ("held", ""), ("broken", "too much"), Finding("E_LOG_CANONICAL", "no object")


def test_only_what_is_judged_otherwise_is_a_flip():
    flips = compared(
        {"pay": {"r": HELD, "s": BROKEN, "t": HELD}},
        {"pay": {"r": BROKEN, "s": BROKEN, "u": HELD}},
        log(Call("1", "pay"), Call("2", "look"), NOT_READ),
        log(),
    )
    assert (flips.trajectories, flips.judged, dict(flips.findings)) == (2, 6, {"E_LOG_CANONICAL": 1})
    assert flips.counts == {
        "r": Counter({("held", "broken"): 1}),
        "t": Counter({("held", "none"): 1}),
        "u": Counter({("none", "held"): 1}),
    }
    (flip,) = flips.kept["r"]
    assert (flip.call, flip.tool, flip.reason, flip.trajectory) == ("1", "pay", "too much", "one")


def test_the_reason_of_the_second_policy_counts_first_and_a_message_has_no_tool():
    said = log(Message(Speaker.ASSISTANT, "x", line=4))
    (flip,) = compared({"message": {"r": ("broken", "old")}}, {"message": {"r": HELD}}, said).kept["r"]
    assert (flip.call, flip.tool, flip.line, flip.reason) == ("", "", 4, "old")
    (flip,) = compared({"message": {"r": ("unjudged", "old")}}, {"message": {"r": BROKEN}}, said).kept["r"]
    assert flip.reason == "too much"
    (flip,) = compared({}, {"message": {"r": HELD}}, said).kept["r"]
    assert flip.reason == ""


def test_so_many_flips_are_kept_and_all_are_counted():
    calls = [Call(str(number), "pay") for number in range(26)]
    flips = compared({"pay": {"r": HELD}}, {"pay": {"r": BROKEN}}, log(*calls))
    assert (len(flips.kept["r"]), flips.counts["r"].total()) == (25, 26)


@pytest.mark.parametrize(("number", "more"), [(5, []), (6, ["  and 1 more"])])
def test_five_flips_of_a_rule_are_shown(number, more):
    calls = [Call(str(each), "pay", line=each + 1) for each in range(number)]
    flips = compared({"pay": {"r": HELD}}, {"pay": {"r": BROKEN}}, log(*calls))
    assert list(_lines(NAMES, flips, {"r": "changed", "s": "added"})) == [
        f"before -> after: 1 trajectory, {number} flips",
        "r (changed)",
        f"  held -> broken: {number}",
        *[f"  a.json:{each + 1}, call {each} pay  held -> broken: too much" for each in range(5)],
        *more,
        "without a flip in these logs: s (added)",
    ]


def test_a_flip_without_a_reason_and_a_comparison_without_an_opportunity():
    flips = compared({"message": {"r": HELD}}, {}, log(Message(Speaker.ASSISTANT, "x")))
    assert list(_lines(NAMES, flips, {}))[1:] == [
        "r",
        "  held -> none: 1",
        "  a.json, trajectory one message  held -> none",
    ]
    assert list(_lines(NAMES, compared({}, {}, log(NOT_READ, NOT_READ)), {})) == [
        "before -> after: 1 trajectory, 0 flips",
        "not read: E_LOG_CANONICAL 2",
        "neither policy had an opportunity in these logs",
    ]


@pytest.mark.parametrize(
    ("first", "second", "changes"),
    [
        ({"r": 1}, {"r": 1}, {}),
        ({"r": 1}, {"r": 2}, {"r": "changed"}),
        ({"r": 1}, {}, {"r": "removed"}),
        ({}, {"r": 1, "a": 1}, {"a": "added", "r": "added"}),
    ],
)
def test_rules_that_are_not_written_the_same(first, second, changes):
    sides: Any = [SimpleNamespace(data={"rules": rules}) for rules in (first, second)]
    assert _changed(*sides) == changes


def flips(*, differ, judged=1, unread=0):
    found = _Flips(judged=judged, findings=Counter(E=unread) if unread else Counter())
    if differ:
        found.counts["r"], found.kept["r"] = Counter({("held", "broken"): 1}), []
    return found


@pytest.mark.parametrize(
    ("found", "status", "same"),
    [
        (flips(differ=False), 0, True),
        (flips(differ=True), 1, False),
        (flips(differ=True, unread=1), 1, False),
        (flips(differ=False, unread=1), 3, True),
        (flips(differ=False, judged=0), 3, True),
    ],
)
def test_how_a_comparison_ends(found, status, same, monkeypatch):
    monkeypatch.setattr(policy_diff, "_compare", lambda *given: found)
    monkeypatch.setattr(policy_diff, "compile_policy", lambda *given: None)
    bundle: Any = SimpleNamespace(main=SimpleNamespace(name="p", data={"rules": {}}))
    result = policy_diff.compare_policies(bundle, bundle, [], None)
    assert (int(result.status), result.document["same"]) == (status, same)


def test_a_document_says_of_each_flip_where_it_is():
    found = compared({"pay": {"r": HELD}}, {"pay": {"r": BROKEN}}, log(Call("1", "pay", line=3)))
    document = policy_diff._document(NAMES, found, {"r": "changed"}, same=False)
    assert document["policies"] == ["before", "after"]
    assert document["flips"]["r"]["counts"] == [{"before": "held", "after": "broken", "count": 1}]
    (call,) = document["flips"]["r"]["calls"]
    assert (call["line"], call["call"], call["tool"], call["reason"]) == (3, "1", "pay", "too much")
    assert "rule" not in call
