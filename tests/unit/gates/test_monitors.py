"""What an invariant remembers after each state of a sequence, and what it says there; the names and types it takes."""

from typing import Any

import pytest

from specledger.core.unknown import Unknown
from tests.toys import number_scenario, plan_of, told_of

WORLD: dict[str, Any] = {"inputs": None, "state": {"x": "int", "y": "int"}, "start": {"x": 0, "y": 0}}


def planned(folder, invariant, **world):
    """The one invariant of the world of one number."""
    documents: Any = {
        "world": {**WORLD, **world},
        "governor": {"supply": None, "invariants": ["odd"]},
        "invariant/odd": invariant,
    }
    (found,) = plan_of(number_scenario(folder, **documents)).invariants
    return found


def followed(invariant, states):
    """The memory after each state, and what is said of it: nothing, `idle`, or the witness."""
    previous = states[0]
    memory, told = invariant.monitor.begin(previous), []
    kept = [memory]
    for state in states:
        if state is not states[0]:
            memory = invariant.monitor.remember(previous, state, {"op": "add", "n": 1}, {"was": 0}, memory)
            kept.append(memory)
        outcome = invariant.judge(previous, state, memory)
        told.append("idle" if outcome is False else outcome)
        previous = state
    return kept, told


def xs(*values):
    return [{"x": value, "y": 0} for value in values]


def within(steps):
    return {"within": {"after": "x == 1", "steps": steps, "require": "x == 9"}}


# An invariant, the values of x, what is remembered after each, and what is said: nothing or the witness.
SEQUENCES: dict[str, tuple[dict[str, Any], list[dict[str, int]], list[int], list[bool]]] = {
    "within: nothing begins": (within(2), xs(0, 2, 0), [0, 0, 0], [True, True, True]),
    "within: met at once": (
        {"within": {"after": "x > 0", "steps": 0, "require": "x > 0"}},
        xs(0, 1, 0),
        [0, 0, 0],
        [True, True, True],
    ),
    "within: at once, and not met": (within(0), xs(0, 1, 9), [0, 1, 0], [True, False, True]),
    "within: met at the last moment": (within(2), xs(0, 1, 0, 9), [0, 1, 2, 0], [True, True, True, True]),
    "within: met too late": (within(1), xs(0, 1, 0, 9), [0, 1, 2, 0], [True, True, False, True]),
    "within: begun at the start": (within(1), xs(1, 0, 0), [1, 2, 3], [True, False, False]),
    "within: met at the start": (within(1), xs(9, 0), [0, 0], [True, True]),
    "within: begun again while it waits": (within(2), xs(0, 1, 1, 0), [0, 1, 2, 3], [True, True, True, False]),
    "within: begun again after it was met": (within(1), xs(1, 9, 1, 0), [1, 0, 1, 2], [True, True, True, False]),
    "at most: none": ({"at_most": {"count": "x > 0", "times": 0}}, xs(5, 0, 0), [0, 0, 0], [True, True, True]),
    "at most: one where none may be": (
        {"at_most": {"count": "x > 0", "times": 0}},
        xs(0, 1, 0),
        [0, 1, 1],
        [True, False, True],
    ),
    "at most: as often as it may": (
        {"at_most": {"count": "x > 0", "times": 2}},
        xs(0, 1, 1, 0, 1),
        [0, 1, 2, 2, 3],
        [True, True, True, True, False],
    ),
    "at most, of an episode: once more": (
        {"at_most": {"count": "x > 0", "times": 1}, "scope": "episode"},
        xs(0, 1, 1, 0),
        [0, 1, 2, 2],
        [True, True, False, False],
    ),
}


@pytest.mark.parametrize(("invariant", "states", "kept", "holds"), SEQUENCES.values(), ids=SEQUENCES)
def test_what_a_short_form_remembers_and_says(tmp_path, invariant, states, kept, holds):
    found = planned(tmp_path, invariant)
    name = "within_waiting" if "within" in invariant else "at_most_count"
    memories, told = followed(found, states)
    assert memories == [{name: value} for value in kept]
    assert told == [None if held else {name: value} for value, held in zip(kept, holds, strict=True)]


def mean(**bounds):
    return {"mean": {"of": "x", **bounds}, "scope": "episode"}


# Bounds of the mean, the values of x after the start, and whether the mean of these is within.
MEANS: dict[str, tuple[dict[str, Any], list[int], bool]] = {
    "the least": (mean(min="2"), [1, 3], True),
    "less": (mean(min="2"), [1, 2], False),
    "the greatest": (mean(max="2"), [1, 3], True),
    "more": (mean(max="2"), [2, 3], False),
    "between": (mean(min="1", max="2"), [1, 2], True),
    "below both": (mean(min="1", max="2"), [0, 1], False),
    "above both": (mean(min="1", max="2"), [2, 3], False),
    "no step": (mean(min="1"), [], True),
}


@pytest.mark.parametrize(("invariant", "values", "holds"), MEANS.values(), ids=MEANS)
def test_a_mean_is_compared_without_rounding(tmp_path, invariant, values, holds):
    found = planned(tmp_path, invariant)
    memories, told = followed(found, xs(100, *values))
    last = {"mean_sum": sum(values), "mean_steps": len(values)}
    assert memories[-1] == last
    assert told[-1] == (None if holds else last)


def test_a_mean_of_decimals_is_one_of_decimals(tmp_path):
    found = planned(
        tmp_path,
        {"mean": {"of": "x", "max": "0.5"}, "scope": "episode"},
        state={"x": "qfixed", "y": "int"},
        start={"x": "0.0", "y": 0},
        actions={"add": {"args": {"n": "int"}, "effects": [{"set": "y", "to": "y + n"}], "outcome": {"was": "y"}}},
    )
    memories, told = followed(found, xs(0, 400_000, 600_000))
    assert memories[-1] == {"mean_sum": 1_000_000, "mean_steps": 2}
    assert told[-1] is None
    assert followed(found, xs(0, 500_001))[1][-1] == {"mean_sum": 500_001, "mean_steps": 1}


OWN = {
    "memory": {"fields": {"most": {"type": "int", "start": "x + x"}}},
    "remember": [{"id": "w", "when": "x > most", "effect": {"set": "most", "to": "x + previous.x - y"}}],
    "require": "most < 9",
}


def test_a_memory_of_its_own_begins_and_is_written_where_its_condition_holds(tmp_path):
    found = planned(tmp_path, OWN)
    memories, told = followed(found, xs(1, 2, 3, 4, 8))
    assert memories == [{"most": 2}, {"most": 2}, {"most": 5}, {"most": 5}, {"most": 12}]
    assert told == [None, None, None, None, {}]


def test_where_its_condition_does_not_hold_an_invariant_is_idle(tmp_path):
    found = planned(tmp_path, {**OWN, "when": "x > 2", "witness": {"top": "most"}})
    _, told = followed(found, xs(1, 2, 3, 4, 8, 2))
    assert told == ["idle", "idle", None, None, {"top": 12}, "idle"]
    assert not any(type(each) is Unknown for each in told)


# Names that a short form takes, in a world that has one of them.
TAKEN: dict[str, tuple[dict[str, Any], str, str]] = {
    "of within": (within(1), "within", "within_waiting"),
    "of a condition of within": (within(1), "within", "within_after"),
    "of at most": ({"at_most": {"count": "x > 0", "times": 1}}, "at_most", "at_most_counts"),
    "of a mean": (mean(min="1"), "mean", "mean_steps"),
    "of a bound of a mean": (mean(min="1"), "mean", "mean_max"),
}


@pytest.mark.parametrize(("invariant", "form", "name"), TAKEN.values(), ids=TAKEN)
def test_a_name_of_a_short_form_that_is_in_use_is_refused(tmp_path, invariant, form, name):
    world: Any = {"state": {"x": "int", name: "int"}, "start": {"x": 0, name: 0}}
    assert told_of(planned, tmp_path, invariant, **world) == [
        f"E_NAME_TAKEN at `{form}`: the memory of `{form}` has the name {name!r}, which is in use here"
    ]
