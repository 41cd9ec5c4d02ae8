"""Mistakes in a suite: each with its code, its place and a hint, before anything runs."""

import pytest

from specledger.compile.suite import compile_suite
from specledger.kinds import load
from tests.toys import findings_of

WRONG = {
    "a misspelt figure of the record": ("s.record.reached", "s.record.reachd", "E_EXPR_UNKNOWN_FIELD", "reached"),
    "a misspelt field of a step": ("s.rejections", "s.rejection", "E_EXPR_UNKNOWN_FIELD", "rejections"),
    "a misspelt gate of a mutant": ("governor.gates.tired", "governor.gates.tird", "E_SUITE_SET", "tired"),
    "a misspelt part of a longer path": ("governor.gates.tired", "governor.gats.tired", "E_SUITE_SET", "`gates`?"),
    "a misspelt key": ("set: {horizon: 2}", "set: {horizn: 2}", "E_SUITE_SET", "horizon"),
    "a place inside a number": ("set: {horizon: 2}", "set: {seed.x: 2}", "E_SUITE_SET", None),
    "no path": ("set: {horizon: 2}", 'set: {"a..b": 2}', "E_SUITE_SET", None),
    "a value that the kind refuses": ("set: {horizon: 2}", "set: {horizon: soon}", "E_SUITE_SET", None),
    "inside a spec that no run names": (
        "set: {horizon: 2}",
        "set: {invariants: [nowhere], invariants.nowhere.severity: warn}",
        "E_REF_MISSING",
        None,
    ),
    "a spec under `set` that there is not": ("set: {horizon: 2}", "set: {agent: clamber}", "E_REF_MISSING", "climber"),
    "a spec of another kind under `set`": ("set: {horizon: 2}", "set: {agent: climb}", "E_REF_KIND", None),
    "an item that is taken away and is not there": (
        "set: {horizon: 2}",
        "set: {governor.gates: {tird: null}}",
        "E_SUITE_SET",
        "did you mean `tired`?",
    ),
    "an item that is added without all it needs": (
        "set: {horizon: 2}",
        "set: {governor.gates.more: {deny: 'false'}}",
        "E_SUITE_SET",
        None,
    ),
    "an arm that there is not": ("over: long}", "over: lang}", "E_SUITE_ARM", None),
    "a scenario that there is not": ("arms: [long]", "scenarios: [clamb]", "E_SUITE_ARM", None),
    "a rate of numbers": ("rate: success, over: long", "rate: top, over: long", "E_SUITE_FIGURE", None),
    "a mean of truths": ("mean: heights", "mean: tempted", "E_SUITE_FIGURE", None),
    "a difference of lists": ("difference: top", "difference: heights", "E_SUITE_FIGURE", None),
    "a slope along something else": ("mean: heights", "slope: heights, along: episode", "E_SUITE_FIGURE", None),
    "an effect of numbers": (
        "rate: success, over: long",
        "effect: top, against: success, over: long",
        "E_SUITE_FIGURE",
        None,
    ),
    "an effect against numbers": (
        "rate: success, over: long",
        "effect: success, against: top, over: long",
        "E_SUITE_FIGURE",
        None,
    ),
    "an effect of a list against one value": (
        "rate: tempted",
        "effect: tempted, against: success",
        "E_SUITE_FIGURE",
        None,
    ),
    "an effect against nothing": ("rate: success, over: long", "effect: success, over: long", "E_SPEC_VALUE", None),
    "a rate against something": (
        "rate: success, over: long",
        "rate: success, against: success, over: long",
        "E_SPEC_VALUE",
        None,
    ),
    "two statistics": ("mean: heights", "mean: heights, sum: top", "E_SPEC_VALUE", None),
    "a difference of one arm": ("over: [long, short]", "over: [long]", "E_SPEC_VALUE", None),
    "a difference of three arms": ("over: [long, short]", "over: [long, short, long]", "E_SPEC_VALUE", None),
    "a difference over what is no list": ("over: [long, short]", "over: long", "E_SPEC_VALUE", None),
    "a difference by arm": ("over: [long, short]}", "over: [long, short], by: arm}", "E_SPEC_VALUE", None),
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


def test_the_suite_is_right_before_it_is_changed(findings):
    assert findings() == []


@pytest.mark.parametrize(("old", "new", "code", "near"), WRONG.values(), ids=WRONG)
def test_a_mistake_is_found_where_it_is(edit, findings, project, old, new, code, near):
    before = (project / "heights.yaml").read_text().splitlines()
    edit(old, new)
    after = (project / "heights.yaml").read_text().splitlines()
    changed = {number for number, line in enumerate(after, 1) if line not in before}
    found = findings()
    assert code in {one[0] for one in found}, found
    told = [one for one in found if one[0] == code and (near is None or near in str(one[3]))]
    assert told, found
    assert told[0][1] in changed


NAMES = {
    "a gate in a function": ("r.gate == 'leap'", "'leep' == r.gate", "gate 'leep'", "did you mean `leap`?"),
    "a gate as an argument": (
        "is: \"s.rejections.filter(r, r.gate == 'leap')\"", "is: \"by(s, 'tried')\"}\n  by: {args: [s, g], is: \"s.rejections.filter(r, r.gate == g)\"",
        "gate 'tried'", "did you mean `tired`?",
    ),
    "a gate in a list": ("r.gate == 'leap'", "r.gate in ['leap', 'jump']", "gate 'jump'", "there is calm, honest"),
    "a reason nearly right": ("r.gate == 'leap'", "r.reason != 'to_far'", "reason 'to_far'", "did you mean `too_far`?"),
    "an invariant": ("rate: success, over: long", "rate: \"breaches.exists(b, b.invariant == 'bonded')\"", "invariant 'bonded'", "`bounded`"),
    "a drift": ("rate: success, over: long", "rate: \"stretches.all(s, s.drift != 'shft')\"", "drift 'shft'", "`shift`"),
    "a probe": ("rate: success, over: long", "rate: \"probes.all(p, p.probe == 'p3')\"", "probe 'p3'", "there is none"),
    "an arm of a measure": ("rate: success, over: long", "rate: arm == 'lang'", "arm 'lang'", "`long`"),
    "an arm of a check": ("runs.all(r, r.steps", "runs.all(r, r.arm == 'lng' || r.steps", "arm 'lng'", "`long`"),
    "a scenario": ("rate: success, over: long", "rate: scenario == 'clim'", "scenario 'clim'", "`climb`"),
}  # fmt: skip


def shown(project, found):
    """What a finding points at."""
    assert found.span is not None
    line = (project / "heights.yaml").read_text().splitlines()[found.span.start.line - 1]
    return line[found.span.start.column - 1 : found.span.end.column - 1]


@pytest.mark.parametrize(("old", "new", "words", "near"), NAMES.values(), ids=NAMES)
def test_a_name_that_no_run_can_have_is_a_warning(edit, project, old, new, words, near):
    edit(old, new)
    (found,) = compile_suite(load("heights.yaml")[0]).warnings
    assert (found.code, found.severity) == ("W_SUITE_NAME", "warning")
    assert found.message == f"no run of the suite has the {words}"
    assert near in str(found.hint)
    assert shown(project, found).strip("'") in words


CERTAIN = {
    "as it is": ("r.gate == 'leap'", "r.gate == 'leap'"),
    "the built-in gate": ("r.gate == 'leap'", "r.gate == 'schema'"),
    "a reason of the engine's own": ("r.gate == 'leap'", "r.reason == 'unknown_action'"),
    "what every run asks for": ("rate: success, over: long", "rate: \"steps.map(s, s.violations.all(v, v.invariant != 'progress'))\""),
    "the stretch before all drifts": ("rate: success, over: long", "rate: \"stretches.all(s, s.drift == '')\""),
    "a text that is computed": ("r.gate == 'leap'", "r.gate == 'le' + 'ep'"),
    "another text": ("rate: success, over: long", "rate: \"ended == 'horizn'\""),
}  # fmt: skip


@pytest.mark.parametrize(("old", "new"), CERTAIN.values(), ids=CERTAIN)
def test_what_may_be_is_no_warning(edit, project, old, new):
    edit(old, new)
    assert compile_suite(load("heights.yaml")[0]).warnings == ()


def test_a_name_that_only_a_mutant_gives_is_no_warning(edit, project):
    edit("r.gate == 'leap'", "r.gate == 'leep'")
    edit("mutants:\n", "mutants:\n  - {id: other, set: {governor.gates.leap.id: leep}}\n")
    assert compile_suite(load("heights.yaml")[0]).warnings == ()


def test_a_check_that_reads_nothing_is_a_warning(edit, project):
    edit("require: lead.value > 0", "require: ENOUGH > 1")
    (found,) = compile_suite(load("heights.yaml")[0]).warnings
    assert (found.code, shown(project, found)) == ("W_SUITE_CONSTANT", "ENOUGH > 1")


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


def test_a_rule_of_the_kind_that_a_change_breaks_is_told_in_its_words(edit, findings):
    edit("set: {horizon: 2}", "set: {agent.outside: {python: 'a:b'}}")
    told = [one[2] for one in findings() if one[0] == "E_SUITE_SET"]
    assert told == [
        "arm `short` of `heights`, `agent.outside`: climber would be invalid: an agent that is asked `outside` has no other body"
    ]


WRONG_VALUES = {
    "a key that a gate lacks": ("governor.gates: {leap: {dny: 'true'}}", "dny", "there is no such key"),
    "a key of one item": ("governor.gates.leap: {witnes: {n: '1'}}", "witnes", "there is no such key"),
    "a list where an expression stands": ("governor.gates: {leap: {deny: [1]}}", "[1]", "valid string"),
    "a value out of range": ("horizon: -2", "-2", "greater than or equal to 1"),
}


@pytest.mark.parametrize(("change", "at", "words"), WRONG_VALUES.values(), ids=WRONG_VALUES)
def test_a_wrong_value_of_a_change_is_marked_itself(edit, project, change, at, words):
    edit("set: {horizon: 2}", f"set: {{{change}}}")
    (finding,) = findings_of(lambda: compile_suite(load("heights.yaml")[0]), code="E_SUITE_SET", words=words)
    assert shown(project, finding) == at
