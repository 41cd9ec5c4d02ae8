"""What is looked at after a step at once is what is seen one by one."""

from dataclasses import replace

import pytest

from specledger.compile.scenario import compile_scenario
from specledger.kinds import load
from specledger.run.loop import run

WATCHED = """
spec: invariant/v1
name: {name}
severity: warn
when: {when}
require: {require}
witness: {{at: now.position}}
"""
RUNS = {
    "hazard": ("hazard", ()),
    "a budget that runs out": ("hazard", ("world.with.budget=50.0",)),
    "another governor": ("concave", ()),
    "a world without parts": ("two-tank", ("episodes=1",)),
}


def count_looks(plan):
    """The plan with a list to which every look adds whether it had a value."""
    had = []

    def look(*given):
        made = plan.look(*given)
        had.append(made is not None)
        return made

    return replace(plan, look=look), had


def check_same(plan):
    """Run a plan with and without looking at once, and give its events and what the looks had."""
    counted, had = count_looks(plan)
    events = list(run(counted))
    assert events == list(run(replace(plan, look=None)))
    return events, had


@pytest.mark.parametrize(("name", "changes"), RUNS.values(), ids=RUNS)
def test_a_run_is_the_same(name, changes):
    events, had = check_same(compile_scenario(load(f"specs/scenario/{name}.yaml", set=list(changes))[0]))
    assert len(had) == sum(event.type == "step" and event.body["chosen"] is not None for event in events)
    assert all(had)


@pytest.fixture
def watched(tmp_path):
    """The shipped scenario with one more invariant."""

    def made(when, require):
        text = WATCHED.format(name="watched", when=when, require=require)
        (tmp_path / "watched.yaml").write_text(text, encoding="utf-8")
        scenario = tmp_path / "more.yaml"
        scenario.write_text(
            "spec: scenario/v1\nname: more\nextends: hazard\ninvariants: [watched]\nepisodes: 1\nhorizon: 9\n",
            encoding="utf-8",
        )
        return compile_scenario(load(str(scenario))[0])

    return made


def test_invariants_say_which_of_them_were_idle_or_broken(watched):
    events, had = check_same(watched("t > 3", "t > 5"))
    assert all(had)
    end = next(event.body for event in events if event.type == "episode_end")
    assert end["idle"] == {"watched": 3}
    steps = [event.body for event in events if event.type == "step"]
    assert [[breach["invariant"] for breach in step["violations"]] for step in steps[3:5]] == [["watched"]] * 2


def test_what_cannot_be_seen_is_told_as_if_looked_for_by_itself(watched):
    events, had = check_same(watched("true", "1 / (t - 4) < 9"))
    assert had == [True, True, True, False]
    (error,) = [event.body for event in events if event.type == "error"]
    assert (error["code"], error["expression"]) == ("E_EVAL_DIVISION_BY_ZERO", "1 / (t - 4) < 9")
