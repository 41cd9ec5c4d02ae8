"""What invariants remember, compared with definitions over the whole sequence of states."""

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from specledger.core.diagnostics import Rejected
from tests.toys import number_scenario, plan_of

STATES = st.lists(st.integers(-3, 3), min_size=2, max_size=12)
"""Values of `x` in the states of an episode, the start first."""


@pytest.fixture(scope="module")
def planned(tmp_path_factory):
    """`(document of an invariant) -> the planned invariant` on the world of one number."""
    made = {}

    def plan(**document):
        key = str(document)
        if key not in made:
            folder = tmp_path_factory.mktemp("monitor")
            made[key] = plan_of(
                number_scenario(folder, invariant=document, scenario={"invariants": ["invariant"]})
            ).invariants[0]
        return made[key]

    return plan


def broken_steps(invariant, values, acts=None):
    """The numbers of the steps, from 1, after which an invariant is broken; its last memory."""
    states = [{"x": value, "purse": 100} for value in values]
    memory, broken = invariant.monitor.begin(states[0]), []
    for number, (before, after) in enumerate(pairwise(states), start=1):
        acted = acts is None or acts[number - 1]
        action = {"op": "add", "n": 1} if acted else {"op": ""}
        outcome = {"was": before["x"]} if acted else {}
        memory = invariant.monitor.remember(before, after, action, outcome, memory)
        if invariant.scope == "step" and invariant.judge(before, after, memory) is not None:
            broken.append(number)
    if invariant.scope == "episode" and invariant.judge(states[0], states[-1], memory) is not None:
        broken.append(len(values))
    return broken, memory


ASKED = {
    "apart": ("x > 1", "x < 0", lambda x: x > 1, lambda x: x < 0),
    "what asks may answer itself": ("x > 0", "x == 1 || x < -1", lambda x: x > 0, lambda x: x == 1 or x < -1),
    "every answer asks": ("x > 0", "x > 1", lambda x: x > 0, lambda x: x > 1),
}


@pytest.mark.parametrize(("after", "require", "asks", "answers"), ASKED.values(), ids=ASKED)
@given(values=STATES, steps=st.integers(0, 4))
@example(values=[1, 2, 2, 2], steps=2)  # the first state asks, and where it may, answers at once
@example(values=[2, 2, 2, 2], steps=2)
def test_within_demands_an_answer_in_time(planned, after, require, asks, answers, values, steps):
    invariant = planned(within={"after": after, "steps": steps, "require": require})

    def overdue(number):
        answered = max((i for i in range(number + 1) if answers(values[i])), default=-1)
        asked = [i for i in range(answered + 1, number + 1) if asks(values[i])]
        return bool(asked) and number - asked[0] >= steps

    assert broken_steps(invariant, values)[0] == [n for n in range(1, len(values)) if overdue(n)]


@pytest.mark.medium
@given(values=STATES, times=st.integers(0, 4))
@example(values=[2, 2, 0], times=1)  # the first state does not count
def test_at_most_counts_the_states_after_steps(planned, values, times):
    document = {"count": "x == 2", "times": times}
    counted = [number for number in range(1, len(values)) if values[number] == 2]
    assert broken_steps(planned(at_most=document), values)[0] == counted[times:]
    whole = planned(at_most=document, scope="episode")
    assert bool(broken_steps(whole, values)[0]) == (len(counted) > times)


@pytest.mark.medium
@given(values=STATES, low=st.integers(-3, 3), high=st.integers(-3, 3))
@example(values=[2, 1, 1], low=1, high=1)  # nor does it here
def test_a_mean_is_compared_without_rounding(planned, values, low, high):
    invariant = planned(mean={"of": "x", "min": str(low), "max": str(high)}, scope="episode")
    fixed = planned(mean={"of": "qfixed(x)", "min": f"{low}.0", "max": f"{high}.0"}, scope="episode")
    rest = values[1:]
    for one in (invariant, fixed):
        assert bool(broken_steps(one, values)[0]) != (low * len(rest) <= sum(rest) <= high * len(rest))


@pytest.mark.parametrize(
    "change",
    [
        {
            "invariant": {"scope": "episode", "mean": {"of": "qfixed(x)", "min": "1"}},
            "scenario": {"invariants": ["invariant"]},
        },
        {"governor": {"cost": {"one": "qfixed(1)", "other": "1"}}},
        {"governor": {"choose": {"maximise": "qfixed(1)"}}},
    ],
)
def test_millionths_and_units_are_told_apart(tmp_path, change):
    with pytest.raises(Rejected) as raised:
        plan_of(number_scenario(tmp_path, **change))
    assert {each.code for each in raised.value.diagnostics} == {"E_EXPR_NO_PROMOTION"}


@given(STATES.flatmap(lambda values: st.tuples(st.just(values), st.lists(st.booleans(), min_size=12, max_size=12))))
def test_a_memory_of_its_own_reads_states_action_and_outcome(planned, drawn):
    values, acts = drawn
    invariant = planned(
        memory={
            "fields": {
                "highest": {"type": "int", "start": "x"},
                "refused": {"type": "int", "start": "0"},
                "was": {"type": "int", "start": "0"},
            }
        },
        remember=[
            {"id": "rise", "when": "x > highest", "effect": {"set": "highest", "to": "x"}},
            {"id": "refusal", "when": "action.op == ''", "effect": {"set": "refused", "to": "refused + 1"}},
            {"id": "report", "when": "has(outcome.was)", "effect": {"set": "was", "to": "outcome.was"}},
        ],
        require="x >= highest - 3",
        witness={"highest": "highest"},
    )
    broken, memory = broken_steps(invariant, values, acts)
    assert broken == [n for n in range(1, len(values)) if values[n] < max(values[: n + 1]) - 3]
    taken = [n for n in range(len(values) - 1) if acts[n]]
    last = values[taken[-1]] if taken else 0
    assert memory == {"highest": max(values), "refused": len(values) - 1 - len(taken), "was": last}
