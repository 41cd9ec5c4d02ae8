"""Mistakes in a suite: each with its code, its place and a hint, before anything runs."""

import pytest

WRONG = {
    "a misspelt figure of the record": ("s.record.reached", "s.record.reachd", "E_EXPR_UNKNOWN_FIELD", "reached"),
    "a misspelt field of a step": ("s.rejections", "s.rejection", "E_EXPR_UNKNOWN_FIELD", "rejections"),
    "a misspelt gate of a mutant": ("governor.gates.tired", "governor.gates.tird", "E_SUITE_SET", "tired"),
    "a misspelt key": ("set: {horizon: 2}", "set: {horizn: 2}", "E_SUITE_SET", "horizon"),
    "a place inside a number": ("set: {horizon: 2}", "set: {seed.x: 2}", "E_SUITE_SET", None),
    "no path": ("set: {horizon: 2}", 'set: {"a..b": 2}', "E_SUITE_SET", None),
    "a value that the kind refuses": ("set: {horizon: 2}", "set: {horizon: soon}", "E_SUITE_SET", None),
    "another spec under `set`": ("set: {horizon: 2}", "set: {agent: climber}", "E_SUITE_SET", "name the agent"),
    "an arm that there is not": ("over: long}", "over: lang}", "E_SUITE_ARM", None),
    "a scenario that there is not": ("arms: [long]", "scenarios: [clamb]", "E_SUITE_ARM", None),
    "a rate of numbers": ("rate: success, over: long", "rate: top, over: long", "E_SUITE_FIGURE", None),
    "a mean of truths": ("mean: heights", "mean: tempted", "E_SUITE_FIGURE", None),
    "a difference of lists": ("difference: top", "difference: heights", "E_SUITE_FIGURE", None),
    "a slope along something else": ("mean: heights", "slope: heights, along: episode", "E_SUITE_FIGURE", None),
    "two statistics": ("mean: heights", "mean: heights, sum: top", "E_SPEC_VALUE", None),
    "a difference of one arm": ("over: [long, short]", "over: [long]", "E_SPEC_VALUE", None),
    "a run twice": ("seeds: [3, 4], set", "seeds: [3, 3], set", "E_SUITE_TWICE", None),
    "a seed that was tuned on": ("constants:", "tuned_on: [4]\nconstants:", "E_SUITE_TUNED", None),
    "a check of no figure": ("require: lead.value", "require: led.value", "E_EXPR_UNKNOWN_NAME", "lead"),
    "two checks of one id": ("id: further", "id: climbs", "E_DECLARATION", None),
    "a witness that no receipt can hold": ("{height: highest.value}", "{height: '0.5'}", "E_NOT_SEALABLE", None),
    "a measure named as a variable": ("  top:", "  steps: '[1]'\n  top:", "E_NAME_TAKEN", None),
    "measures in a circle": ("maximum(heights, 0)", "maximum(heights, top)", "E_LET_CYCLE", None),
    "an arm that extends nothing": (
        "scenarios: [climb], seeds: [3, 4]}",
        "scenarios: [clim]}",
        "E_REF_MISSING",
        "climb",
    ),
}


@pytest.mark.parametrize(("old", "new", "code", "near"), WRONG.values(), ids=WRONG)
def test_a_mistake_is_found_where_it_is(edit, findings, project, old, new, code, near):
    assert findings() == []
    before = (project / "heights.yaml").read_text().splitlines()
    edit(old, new)
    after = (project / "heights.yaml").read_text().splitlines()
    changed = {number for number, line in enumerate(after, 1) if line not in before}
    found = findings()
    assert code in {one[0] for one in found}, found
    told = [one for one in found if one[0] == code and (near is None or near in str(one[3]))]
    assert told, found
    assert told[0][1] in changed


def test_two_mutants_of_one_id(edit, findings):
    edit("mutants:\n", "mutants:\n  - {id: no-bound}\n")
    assert [one[0] for one in findings()] == ["E_SUITE_TWICE"]


def test_a_mutant_needs_runs(findings):
    changes = ["runs={}", "figures={}", "checks=[]", "mutants=[{id: nothing}]"]
    assert [one[0] for one in findings(*changes)] == ["E_SUITE_NESTED"]


def test_all_at_once(edit, findings):
    edit("s.rejections", "s.rejection")
    edit("governor.gates.tired", "governor.gates.tird")
    edit("require: lead.value", "require: led.value")
    assert {one[0] for one in findings()} == {"E_EXPR_UNKNOWN_FIELD", "E_EXPR_UNKNOWN_NAME", "E_SUITE_SET"}
