"""Each mutant of a log by hand: which calls it may change, what goes with them, and where there is none."""

from typing import Any

import pytest

from specledger.core.rng import Stream
from specledger.spec.base import QFIXED_ONE
from specledger.wings.trajectories.model import Call, Entry, Message, Result, Speaker, Trajectory
from specledger.wings.trajectories.mutants.logs import (
    Focus,
    _changed,
    _in_order,
    _stranger,
    dropped,
    repeated,
    retimed,
    revalued,
    swapped,
)
from specledger.wings.trajectories.rules.accesses import Access
from specledger.wings.trajectories.rules.paths import ANY

ASKED, SAID = Message(Speaker.USER, "Pay."), Message(Speaker.ASSISTANT, "I will.")
LOOK, SEEN = Call("1", "look", {"at": "x"}, 1), Result("1", "a bill")
PAY, PAID = Call("2", "pay", {"to": "Ann", "sum": 3}, 2, "sub", "1"), Result("2", "done")
LOG: tuple[Entry, ...] = (ASKED, LOOK, SEEN, SAID, PAY, PAID)


def access(key, *tools, arguments=()):
    return Access(key, tools, lambda tool: tool in tools, {}, False, dict.fromkeys(arguments, ()))


def outcomes(mutate, focus, log=LOG):
    """What the draws of some seeds make of a log, each once; None where there is no mutant."""
    mutants: dict[str, Any] = {}
    for seed in range(60):
        mutant = mutate(Trajectory("t", "f", "x", log), focus, Stream.named(seed, "m"))
        entries = None if mutant is None else tuple(mutant.entries)
        mutants[repr(entries)] = entries
    return [mutants[key] for key in sorted(mutants)]


ABOUT = access("when", "pay")


@pytest.mark.parametrize(
    ("focus", "mutants"),
    [
        (Focus((ABOUT,)), [None]),
        (Focus((ABOUT, access("after", "look"))), [(ASKED, SAID, PAY, PAID)]),
        (Focus((ABOUT, access("not_after", "look"))), [None]),
        (Focus((ABOUT, access("not_from", "look"))), [None]),
        (Focus((ABOUT, access("from", "look")), request=True), [LOG[1:], (ASKED, SAID, PAY, PAID)]),
        (Focus((ABOUT,), request=True), [LOG[1:]]),
        (Focus((), request=False), [None]),
    ],
)
def test_what_a_rule_looks_for_is_dropped_with_its_result(focus, mutants):
    assert sorted(map(repr, outcomes(dropped, focus))) == sorted(map(repr, mutants))


def test_a_call_is_repeated_with_its_result():
    mutants = outcomes(repeated, Focus((ABOUT,)))
    assert {(len(mutant) - len(LOG)) // 2 for mutant in mutants} == {1, 4, 50}
    once = min(mutants, key=len)
    copy = Call("2~1", "pay", {"to": "Ann", "sum": 3}, 0, "sub", "1")
    assert once == (*LOG, copy, Result("2~1", "done"))
    four = sorted(mutants, key=len)[1]
    assert [entry.id for entry in four if isinstance(entry, Call)][2:] == ["2~1", "2~2", "2~3", "2~4"]


def test_a_call_without_a_result_is_repeated_behind_it():
    mutants = outcomes(repeated, Focus((access("when", "look"),)), (ASKED, LOOK, PAY, PAID))
    once = min(mutants, key=len)
    assert [entry.id for entry in once if isinstance(entry, Call)] == ["1", "1~1", "2"]
    assert outcomes(repeated, Focus((access("after", "pay"),))) == [None]
    assert outcomes(repeated, Focus((access("when", "fly"),))) == [None]


def test_calls_are_swapped_with_their_results_and_keep_their_places():
    (mutant,) = outcomes(swapped, Focus((ABOUT, access("after", "look"))))
    first, second = Call("2", "pay", {"to": "Ann", "sum": 3}, 1), Call("1", "look", {"at": "x"}, 2, "sub", "1")
    assert mutant == (ASKED, first, PAID, SAID, second, SEEN)
    assert outcomes(swapped, Focus((ABOUT,))) == [mutant]  # with any other call where the rule names none
    assert outcomes(swapped, Focus((ABOUT, access("after", "pay")))) == [None]
    assert outcomes(swapped, Focus(())) == [None]


def test_a_result_stands_behind_its_call():
    assert list(_in_order([SEEN, PAID, LOOK, SAID, PAY])) == [LOOK, SEEN, SAID, PAY, PAID]
    assert list(_in_order([SEEN, PAY, PAID])) == [SEEN, PAY, PAID]


def test_another_value_stands_at_an_argument_that_is_read():
    focus = Focus((access("when", "pay", arguments=[("to",)]),))
    (mutant,) = outcomes(revalued, focus)
    assert mutant is not None
    assert [entry.arguments for entry in mutant if isinstance(entry, Call)] == [
        {"at": "x"},
        {"to": "Mallory Mutant", "sum": 3},
    ]
    both = outcomes(revalued, Focus((access("when", "pay", arguments=[("to",), ("sum",)]),)))
    assert len(both) == 2
    assert outcomes(revalued, Focus((access("when", "pay", arguments=[("at",)]),))) == [None]
    assert outcomes(revalued, Focus((access("after", "pay", arguments=[("to",)]),))) == [None]


S = QFIXED_ONE


def timed(*times):
    return tuple(Call(str(number), "pay" if number else "look", time=time) for number, time in enumerate(times))


def times(mutants):
    return {None if mutant is None else tuple(entry.time for entry in mutant) for mutant in mutants}


def test_a_call_is_made_later_and_all_after_it():
    mutants = times(outcomes(retimed, Focus((ABOUT,), timed=True), timed(10 * S, 30 * S)))
    later = {(10 * S, (30 + delay) * S) for delay in (60, 3_600, 86_400)}
    assert mutants == later | {(10 * S, 10 * S)}


def test_a_call_that_is_the_first_cannot_be_earlier():
    mutants = times(outcomes(retimed, Focus((access("when", "look"),), timed=True), timed(10 * S, 30 * S)))
    assert mutants == {None} | {((10 + delay) * S, (30 + delay) * S) for delay in (60, 3_600, 86_400)}


def test_only_a_rule_about_times_and_a_call_with_one_are_moved():
    assert times(outcomes(retimed, Focus((ABOUT,)), timed(10 * S, 30 * S))) == {None}
    assert times(outcomes(retimed, Focus((ABOUT,), timed=True), timed(10 * S, "noon"))) == {None}
    mutants = times(outcomes(retimed, Focus((ABOUT,), timed=True), timed("noon", 30 * S)))
    assert ("noon", 90 * S) in mutants
    assert all(mutant is None or mutant[0] == "noon" for mutant in mutants)


@pytest.mark.parametrize(
    ("value", "types", "stranger"),
    [
        (True, (), False),
        (False, (), True),
        (3, (), 3007),
        (-3, (), -2993),
        (10**9 - 1, (), 999_999_999_007),
        (10**9, (), {"$number": "987654321.5"}),
        ({"$number": "0.5"}, (), {"$number": "987654321.5"}),
        (None, (), "Mallory Mutant"),
        ([1], (), "Mallory Mutant"),
        ("Ann", (), "Mallory Mutant"),
        ("ann@b.org", (), "mallory@mutant.example"),
        ("DE89370400440532013000", (), "DE75512108001245126199"),
        ("https://a.com/b", (), "https://mutant.example/mallory"),
        ("2024-05-06", (), "2099-12-30"),
        ("/etc/passwd", (), "/mutant/mallory"),
        ("and/or but", (), "Mallory Mutant"),
        ("Write to ann@b.org", ("emails",), "Write to ann@b.org mallory@mutant.example"),
        ("Write to ann@b.org", ("name", "urls"), "Write to ann@b.org https://mutant.example/mallory"),
    ],
)
def test_a_stranger_has_the_form_of_the_value(value, types, stranger):
    found = _stranger(value, types)
    assert (found, type(found)) == (stranger, type(stranger))
    assert found != value


@pytest.mark.parametrize(
    ("value", "steps", "changed"),
    [
        ({"a": {"b": 1}, "c": 2}, ("a", "b"), {"a": {"b": 1007}, "c": 2}),
        ({"a": [1, 2]}, ("a", ANY), {"a": [1007, 2]}),
        ([{"a": 1}, {"a": 2}], (ANY, "a"), [{"a": 1007}, {"a": 2}]),
    ],
)
def test_the_first_element_of_a_list_is_changed(value, steps, changed):
    before: Any = repr(value)
    assert _changed(value, steps, ()) == changed
    assert repr(value) == before
