"""Candidates: which are refused and how, which are kept as UNKNOWN, and what their claims become."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from specledger.core.diagnostics import Diagnostics, Rejected
from specledger.kinds import load
from specledger.wings.laws.candidate import bundle_of
from specledger.wings.laws.claim import show
from specledger.wings.laws.compile import compile_law
from specledger.wings.laws.findings import undecided
from specledger.wings.laws.template import check_template
from tests.toys.claims import T0, T1, obs, op

X = {"name": "X", "expr": "count('X')"}


POSITIVE = op(">=", obs("X"), {"const": 0})
GOOD = {"template": "invariant", "observables": [X], "claim_ast": POSITIVE}
LEANING = [{"name": f"X{i}", "expr": f"X{i - 1}{' + 1' * 16}"} for i in range(1, 13)]


def measuring(expr):
    return {**GOOD, "observables": [{"name": "X", "expr": expr}]}


def saying(claim):
    return {**GOOD, "claim_ast": None, "claim": claim}


def where(precondition):
    return {**GOOD, "preconditions": [precondition]}


def until(steps):
    return {**GOOD, "quantifiers": {"T": steps}}


MONOTONE = {
    "template": "monotone",
    "observables": [X],
    "direction": "<=",
    "claim_ast": op("<=", obs("X", T1), obs("X")),
}
BOUND = {
    "template": "bound",
    "observables": [X],
    "bound_op": "<=",
    "bound_value": 9,
    "claim_ast": op("<=", obs("X"), {"const": 9}),
}
STEP = {
    "template": "implication_step",
    "observables": [X],
    "claim_ast": op("=>", POSITIVE, op(">=", obs("X", T1), {"const": 0})),
}
EVENTUALLY = {
    "template": "eventually",
    "quantifiers": {"H": 2},
    "observables": [X],
    "claim_ast": op("=>", POSITIVE, POSITIVE),
}
SYMMETRY = {"template": "symmetry_commutation", "transform": "mirror_swap"}
LOCAL = {"template": "local_transition", "trigger_symbol": "X", "result_op": "!=", "result_symbol": "X"}


@pytest.mark.parametrize(
    "candidate", [GOOD, MONOTONE, BOUND, STEP, EVENTUALLY, SYMMETRY, LOCAL], ids=lambda c: c["template"]
)
def test_good_candidates_are_laws(plan_of, candidate):
    plan = plan_of(candidate)
    assert plan.law.unknown is None
    assert plan.warnings == ()
    assert plan.law.T == 50


STRAYS = {
    "transform": "mirror_swap",
    "direction": ">=",
    "bound_op": "<",
    "bound_value": 1,
    "trigger_symbol": ">",
    "result_op": "==",
    "result_symbol": "<",
}


@pytest.mark.parametrize("mad", [{}, {"transform": "no transform(", "trigger_symbol": "?"}], ids=["", "mad"])
@pytest.mark.parametrize("own", [GOOD, MONOTONE, BOUND, STEP, EVENTUALLY, SYMMETRY, LOCAL], ids=lambda c: c["template"])
def test_a_field_that_a_template_does_not_need_is_never_read(plan_of, own, mad):
    plain, plan = plan_of(own), plan_of({**STRAYS, **mad, **own})
    strays = STRAYS.keys() - own.keys()
    assert [warning.code for warning in plan.warnings] == ["W_LAW_FIELD"] * len(strays)
    assert replace(plan.law, name="", key="") == replace(plain.law, name="", key="")
    with pytest.raises(Rejected) as refused:
        plan_of({**STRAYS, **mad, **own}, strict=True)
    assert [each.code for each in refused.value.diagnostics] == ["E_LAW_FIELD"] * len(strays)


def test_a_wait_that_a_template_does_not_need_is_never_read(plan_of):
    law = plan_of({**GOOD, "quantifiers": {"T": 9, "H": 10_000}}, strict=True).law
    assert (law.T, law.H, law.unknown) == (9, None, None)


BAD = {
    "another schema version": ({**GOOD, "schema_version": "2.0.0"}, "E_LAW_CANDIDATE"),
    "no claim": ({**GOOD, "claim_ast": None}, "E_LAW_MISSING"),
    "H missing": ({**EVENTUALLY, "quantifiers": {}}, "E_LAW_MISSING"),
    "a direction missing": ({**MONOTONE, "direction": None}, "E_LAW_MISSING"),
    "a transform missing": ({**SYMMETRY, "transform": None}, "E_LAW_MISSING"),
    "a trigger missing": ({**LOCAL, "trigger_symbol": None}, "E_LAW_MISSING"),
    "t_plus_1 in an invariant": ({**GOOD, "claim_ast": op(">=", obs("X", T1), {"const": 0})}, "E_LAW_FORM"),
    "t_plus_1 in the antecedent": (
        {**STEP, "claim_ast": op("=>", op(">=", obs("X", T1), {"const": 0}), POSITIVE)},
        "E_LAW_FORM",
    ),
    "the start in a bound": ({**BOUND, "claim_ast": op("<=", obs("X", T0), {"const": 9})}, "E_LAW_FORM"),
    "no implication": ({**STEP, "claim_ast": POSITIVE}, "E_LAW_FORM"),
    "another direction than said": ({**MONOTONE, "direction": ">="}, "E_LAW_FORM"),
    "another quantity at t + 1": (
        {**MONOTONE, "claim_ast": op("<=", op("+", obs("X", T1), {"const": 1}), obs("X"))},
        "E_LAW_FORM",
    ),
    "another bound than said": ({**BOUND, "bound_value": 8}, "E_LAW_FORM"),
    "a claim that a symmetry's fields do not give": (
        {**SYMMETRY, "claim_ast": POSITIVE, "observables": [X]},
        "E_LAW_FORM",
    ),
    "another result than a transition's fields give": (
        {
            **LOCAL,
            "claim_ast": op(
                "=>", op("==", obs("state[i]"), {"const": "X"}), op("!=", obs("state[i]", T1), {"const": ">"})
            ),
        },
        "E_LAW_FORM",
    ),
    "a single cell in an invariant": ({**GOOD, "claim_ast": op("!=", obs("state[i]"), {"const": "X"})}, "E_LAW_FORM"),
    "a step after T": (
        {**GOOD, "quantifiers": {"T": 3}, "claim_ast": op("==", obs("X"), obs("X", {"const": 4}))},
        "E_LAW_FORM",
    ),
    "an observable that is not defined": ({**GOOD, "claim_ast": op(">=", obs("Y"), {"const": 0})}, "E_LAW_UNDEFINED"),
    "an observable used before its definition": (
        {**GOOD, "observables": [{"name": "Z", "expr": "2 * X"}, X]},
        "E_OBSERVABLE_ORDER",
    ),
    "an observable that reads itself": (
        {**GOOD, "observables": [X, {"name": "Z", "expr": "Z + 1"}]},
        "E_OBSERVABLE_ORDER",
    ),
    "an observable with a reserved name": ({**GOOD, "observables": [X, {"name": "if", "expr": "1"}]}, "E_NAME_TAKEN"),
    "an observable defined twice": ({**GOOD, "observables": [X, X]}, "E_NAME_TAKEN"),
    "an observable with the name of another one": (
        {**GOOD, "observables": [X, {"name": "grid_length", "expr": "1"}]},
        "E_NAME_TAKEN",
    ),
    "a symbol outside the alphabet": (measuring("count('Y')"), "E_UNIVERSE_SYMBOL"),
    "a trigger outside the alphabet": ({**LOCAL, "trigger_symbol": "Y"}, "E_UNIVERSE_SYMBOL"),
    "a single start": ({**GOOD, "starts": {"symbols": [".", "."]}}, "E_UNIVERSE_SYMBOL"),
    "a start outside the alphabet": ({**GOOD, "starts": {"symbols": ["Y", "."]}}, "E_UNIVERSE_SYMBOL"),
    "division in an observable": (measuring("count('X') / 2"), "E_CLAIM_DIVISION"),
    "division in a claim": (
        {**GOOD, "claim_ast": op(">=", op("/", obs("X"), {"const": 2}), {"const": 0})},
        "E_CLAIM_DIVISION",
    ),
    "an unknown node": ({**GOOD, "claim_ast": {"always": POSITIVE}}, "E_CLAIM_NODE"),
    "an unknown operator": ({**GOOD, "claim_ast": op("<>", obs("X"), {"const": 0})}, "E_CLAIM_OPERATOR"),
    "a claim that is a number": ({**GOOD, "claim_ast": obs("X")}, "E_LAW_SORT"),
    "a factor beyond 2^53": (measuring("9007199254740993 * count('X')"), "E_LAW_INTEGER"),
    "a factor beyond 2^53 when multiplied out": (measuring("4294967296 * (4294967296 * count('X'))"), "E_LAW_INTEGER"),
    "a precondition beyond 2^53": (where("count('X') < 9007199254740993"), "E_LAW_INTEGER"),
    "a claim beyond 2^53 when multiplied out": (
        {**GOOD, "claim_ast": op("<=", op("*", {"const": 2**30}, op("*", {"const": 2**24}, obs("X"))), {"const": 0})},
        "E_LAW_INTEGER",
    ),
    "a string claim beyond 2^53": (
        {key: value for key, value in GOOD.items() if key != "claim_ast"} | {"claim": "X(t) < 9007199254740993"},
        "E_LAW_INTEGER",
    ),
    "truth added": (
        {**GOOD, "claim_ast": op("==", op("+", {"const": True}, {"const": 1}), {"const": 0})},
        "E_LAW_SORT",
    ),
    "a condition as an observable": (measuring("count('X') > 0"), "E_EXPR_TYPE"),
    "observables that lean on one another too deeply": (
        {
            **GOOD,
            "observables": [{"name": "X0", "expr": "count('X')"}, *LEANING, {"name": "X", "expr": f"X12{' + 1' * 16}"}],
        },
        "E_OBSERVABLE_FORM",
    ),
    "a horizon that is no number of steps": (until("5 + grid_length"), "E_LAW_CANDIDATE"),
    "a horizon with a line break": (until("grid_length\n"), "E_LAW_CANDIDATE"),
    "no step on the shortest ring": (until("grid_length - 4"), "E_LAW_FORM"),
    "less than no wait on the shortest ring": (
        {**EVENTUALLY, "quantifiers": {"T": 9, "H": "grid_length - 5"}},
        "E_LAW_FORM",
    ),
    "a pattern of an unknown symbol": (measuring("pattern('>q<')"), "E_UNIVERSE_SYMBOL"),
    "a pattern that is too long": (measuring("pattern('>???????<')"), "E_MEASURE_ARGUMENT"),
    "a pattern without symbols": (measuring("pattern('')"), "E_MEASURE_ARGUMENT"),
    "a pattern that is not written out": (measuring("pattern('>' + '<')"), "E_OBSERVABLE_FORM"),
    "a list as an observable": (measuring("[1, 2][0]"), "E_OBSERVABLE_FORM"),
    "a computed argument": (measuring("gap_pairs('>', '<', 1 + 1)"), "E_OBSERVABLE_FORM"),
    "a window that is too wide": (measuring("gap_pairs('>', '<', 7)"), "E_MEASURE_ARGUMENT"),
    "too many arguments": (measuring("count('X', 'X')"), "E_EXPR_ARGUMENTS"),
    "a transform with too many arguments": ({**SYMMETRY, "transform": "mirror_swap(3)"}, "E_TRANSFORM"),
    "a precondition that compares nothing": (where("count('X') > 0 ? true : false"), "E_PRECONDITION"),
    "a precondition that is a number": (where("count('X')"), "E_EXPR_TYPE"),
    "a precondition about membership": (where("count('X') in [1, 2]"), "E_PRECONDITION"),
    "a test with an unknown parameter": (
        {**GOOD, "proposed_tests": [{"family": "edge_wrapping_cases", "params": {"colour": 3}}]},
        "E_LAW_TEST",
    ),
    "a test on rings that are too short": (
        {**GOOD, "proposed_tests": [{"family": "edge_wrapping_cases", "params": {"lengths": [3]}}]},
        "E_LAW_TEST",
    ),
    "a string claim under strict parsing": (
        {**GOOD, "claim_ast": None, "claim": "X(t) >= 0", "strict": True},
        "E_LAW_STRING",
    ),
    "division in a string": (saying("X(t) / 2 >= 0"), "E_CLAIM_DIVISION"),
    "an undefined name in a string": (saying("Y(t) >= 0"), "E_LAW_UNDEFINED"),
    "an unknown template": ({**GOOD, "template": "always"}, "E_LAW_CANDIDATE"),
    "no template": ({**GOOD, "template": None}, "E_LAW_CANDIDATE"),
    "no forbidden": ({**GOOD, "forbidden": None}, "E_LAW_CANDIDATE"),
    "an unknown key": ({**GOOD, "confidence": 9}, "E_LAW_CANDIDATE"),
    "a key of the wrong type": ({**GOOD, "bound_value": "9"}, "E_LAW_CANDIDATE"),
    "T below 1": (until(0), "E_LAW_CANDIDATE"),
    "a number with a point": ({**GOOD, "bound_value": 0.5}, "E_LAW_CANDIDATE"),
}


@pytest.mark.parametrize(("candidate", "code"), BAD.values(), ids=BAD)
def test_bad_candidates_are_refused(plan_of, candidate, code):
    with pytest.raises(Rejected) as refused:
        plan_of(candidate)
    assert {one.code for one in refused.value.diagnostics if one.severity == "error"} == {code}


LISTED = ", ".join(sorted(path.stem for path in Path("specs/template").glob("*.yaml")))
CANDIDATES: dict[str, tuple[Any, list[tuple[str, str | None]]]] = {
    "no object": ([], [("a candidate is an object", None)]),
    "nothing": ({}, [("the candidate lacks `forbidden`", None), ("the candidate lacks `template`", None)]),
    "an empty text": ({**GOOD, "forbidden": ""}, [("the candidate lacks `forbidden`", None)]),
    "a misspelt template": (
        {**GOOD, "forbidden": "x", "template": "invariants"},
        [("there is no template 'invariants'", "did you mean 'invariant'?")],
    ),
    "another template": (
        {**GOOD, "forbidden": "x", "template": "zzz"},
        [("there is no template 'zzz'", f"templates: {LISTED}")],
    ),
}


@pytest.mark.parametrize(("candidate", "findings"), CANDIDATES.values(), ids=CANDIDATES)
def test_what_is_wrong_with_a_candidate_comes_with_the_near_template_or_with_all(templates, candidate, findings):
    with pytest.raises(Rejected) as refused:
        bundle_of(candidate, load("specs/universe/traffic.yaml")[0], templates)
    assert sorted((one.message, one.hint) for one in refused.value.diagnostics) == findings


def test_a_symbol_of_starts_that_there_is_not_is_told(plan_of):
    with pytest.raises(Rejected) as refused:
        plan_of({**GOOD, "starts": {"symbols": [".", "?", ">", "!"]}})
    found = [(one.code, str(one.span).partition(" ")[2]) for one in refused.value.diagnostics]
    assert found == [("E_UNIVERSE_SYMBOL", f"starts.symbols.{at}>:1:1") for at in (1, 3)]


TESTS: dict[str, tuple[list[dict[str, Any]], list[str]]] = {
    "beside a family that there is not": ([{"family": "quantum"}, {"family": "edge_wrapping_cases", "params": {"x": 1}}], ["1.params"]),
    "each": ([{"family": "edge_wrapping_cases", "params": {name: 1}} for name in ("x", "y")], ["0.params", "1.params"]),
    "between two that are right": (
        [{"family": "edge_wrapping_cases"}, {"family": "edge_wrapping_cases", "params": {"x": 1}}, {"family": "extreme_states"}],
        ["1.params"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("tests", "wrong"), TESTS.values(), ids=TESTS)
def test_every_proposed_test_with_a_wrong_parameter_is_refused(plan_of, tests, wrong):
    with pytest.raises(Rejected) as refused:
        plan_of({**GOOD, "proposed_tests": tests})
    found = [(one.code, str(one.span).partition(" ")[2]) for one in refused.value.diagnostics]
    assert found == [("E_LAW_TEST", f"proposed_tests.{at}>:1:1") for at in wrong]


@pytest.mark.parametrize(
    "hostile", [None, 5, [], "law", {}, {"template": []}, {"template": "invariant", "forbidden": {}}]
)
def test_what_is_no_candidate_is_refused(templates, hostile):
    with pytest.raises(Rejected) as refused:
        bundle_of(hostile, load("specs/universe/traffic.yaml")[0], templates)
    assert {one.code for one in refused.value.diagnostics} == {"E_LAW_CANDIDATE"}


UNKNOWN = {
    "an observable that the universe lacks": (measuring("energy + 1"), "missing_observable", "energy"),
    "an observable that it is required to have": (
        {**GOOD, "capability_requirements": {"primitive_observables": ["heat(symbol)"]}},
        "missing_observable",
        "heat(symbol)",
    ),
    "an observable that a precondition lacks": (where("energy > 1"), "missing_observable", "energy"),
    "a transform that it lacks": ({**SYMMETRY, "transform": "rotate_90"}, "missing_transform", "rotate_90"),
    "a transform that it is required to have": (
        {**GOOD, "capability_requirements": {"transforms": ["flip"]}},
        "missing_transform",
        "flip",
    ),
    "a family that it lacks": ({**GOOD, "proposed_tests": [{"family": "quantum"}]}, "missing_generator", "quantum"),
    "a family that it is required to have": (
        {**GOOD, "capability_requirements": {"generator_families": ["quantum"]}},
        "missing_generator",
        "quantum",
    ),
    "a string without a step": (saying("X >= 0"), "ambiguous_claim", "`X` does not say when it is looked at"),
    "a string that is a sentence": (
        saying("There are few X."),
        "ambiguous_claim",
        "`There` does not say when it is looked at",
    ),
    "T = 10^6": (until(10**6), "resource_limit", "T = 1000000 is above 200"),
    "T above the limit on the longest ring": (
        until("2 * grid_length + 1"),
        "resource_limit",
        "T = 401 on a ring of 200 cells is above 200",
    ),
    "H = 201": ({**EVENTUALLY, "quantifiers": {"H": 201}}, "resource_limit", "H = 201 is above 200"),
}


@pytest.mark.parametrize(("candidate", "reason", "detail"), UNKNOWN.values(), ids=UNKNOWN)
def test_what_the_universe_lacks_or_is_too_much_is_unknown(law_of, candidate, reason, detail):
    unknown = law_of(candidate).unknown
    assert unknown is not None
    assert (unknown.reason, unknown.detail) == (reason, detail)


def test_a_function_that_the_universe_lacks_comes_with_those_that_it_has(templates):
    candidate = {**measuring("zzz('c')"), "forbidden": "something"}
    bundle = bundle_of(candidate, load("specs/universe/traffic.yaml")[0], templates)
    (found,) = undecided(bundle.main, compile_law(bundle).law)
    assert found.code == "W_LAW_UNDECIDED"
    assert all(
        word in (found.hint or "")
        for word in ("count(symbol)", "pattern(pattern)", "grid_length", "observables above it")
    )


def test_a_claim_that_agrees_with_the_fields_is_accepted(law_of):
    claim = op("=>", op("==", obs("state[i]"), {"const": "X"}), op("!=", obs("state[i]", T1), {"const": "X"}))
    assert law_of({**LOCAL, "claim_ast": claim}).claim == law_of(LOCAL).claim


def test_a_formula_of_an_author_has_no_warning_and_one_of_a_model_has(plan_of):
    assert plan_of(saying("X(t) >= 0")).warnings == ()
    (warning,) = plan_of(saying("X(t) >= 0"), proposed=True).warnings
    assert (warning.code, warning.severity) == ("W_LAW_STRING", "warning")
    with pytest.raises(Rejected):
        plan_of(saying("X(t) >= 0"), strict=True)


def test_a_claim_reads_the_length_of_the_ring_in_any_universe(plan_of):
    plan = plan_of(saying("X(t) >= 0 - grid_length"))
    assert (plan.warnings, plan.law.unknown) == ((), None)
    assert show(plan.law.claim) == show(plan_of(saying("X(t) >= 0 - grid_length(t)")).law.claim)
    own = plan_of({**saying("L(t) >= X(t)"), "observables": [X, {"name": "L", "expr": "grid_length"}]})
    assert own.law.unknown is None


@pytest.mark.parametrize("words", ["Cars never disappear", "X >= 0", "X(t) >="])
def test_a_string_claim_that_cannot_be_read_is_warned_about_too(words, plan_of):
    plan = plan_of(saying(words))
    assert [(one.code, one.severity) for one in plan.warnings] == [("W_LAW_STRING", "warning")]
    assert "cannot be read" in plan.warnings[0].message
    assert plan.law.unknown is not None


def test_preconditions_of_both_spellings_are_the_same_condition(law_of):
    spelled = law_of(where("count('>') > grid_length - 2 && !(count('<') == 0)"))
    fields = law_of({**GOOD, "preconditions": [{"lhs": "count('>')", "op": ">", "rhs": "grid_length - 2"}]})
    assert show(spelled.where) == "precondition 1(0) > precondition 2(0) and not precondition 3(0) == precondition 4(0)"
    assert show(fields.where) == "precondition 1(0) > precondition 2(0)"


LAW = """spec: law/v1
name: in-yaml
universe: traffic
template: invariant
observables: [{name: C, expr: "count('c')"}]
claim_ast: {op: ==, lhs: {obs: C, t: {var: t}}, rhs: {obs: C, t: {const: 0}}}
forbidden: another number of cars
"""
YAML = {
    "unknown template": ("template: invariant", "template: invariance", ["E_REF_MISSING"]),
    "missing forbidden": ("forbidden: another number of cars\n", "", ["E_SPEC_MISSING_KEY"]),
    "an unknown node": ("{var: t}", "{now: true}", ["E_CLAIM_NODE"]),
    "t + 1 in an invariant": ("{var: t}", "{t_plus_1: true}", ["E_LAW_FORM"]),
    "two findings at once": ("{obs: C, t: {var: t}}", "{obs: D, t: {var: t}}", ["E_LAW_UNDEFINED"]),
}


@pytest.mark.parametrize(("old", "new", "codes"), YAML.values(), ids=YAML)
def test_bad_laws_in_yaml_are_refused_at_their_place(codes_of, old, new, codes):
    assert old in LAW
    assert codes_of(LAW.replace(old, new)) == codes


def test_a_law_in_yaml_and_in_json_is_the_same(tmp_path, plan_of):
    path = tmp_path / "in-yaml.yaml"
    path.write_text(LAW, encoding="utf-8")
    plan = compile_law(load(path)[0])
    claim = op("==", obs("C"), obs("C", T0))
    json = {
        "law_id": "In YAML",
        "template": "invariant",
        "observables": [{"name": "C", "expr": "count('c')"}],
        "claim_ast": claim,
    }
    other = plan_of({**json, "forbidden": "another number of cars", "law_id": "in-yaml"}, "traffic").law
    assert (plan.law.claim, plan.law.observables, plan.law.name) == (other.claim, other.observables, other.name)
    assert plan_of(json, "traffic").law.name == "in-yaml"


TEMPLATE = """spec: template/v1
name: own
for_all: {t: {to: T}}
parts: {C: {reads: [t]}}
claim: {part: C}
"""
BAD_TEMPLATES = {
    "a part that is not declared": ("{part: C}", "{part: D}"),
    "a part that is not in the claim": ("claim: {part: C}", "claim: {const: true}"),
    "a field that it does not need": ("{part: C}", "{op: and, lhs: {part: C}, rhs: {const: {field: bound_value}}}"),
    "a field that no law has": ("for_all", "needs: [colour]\nfor_all"),
    "a wait without H": ("for_all", "within: H\nfor_all"),
    "a claim that is a number": ("{reads: [t]}", "{sort: int, reads: [t]}"),
    "an antecedent without what holds": ("claim:", "antecedent: {part: C}\nclaim:"),
    "a transformed state without a transform": (
        "{part: C}",
        '{op: and, lhs: {part: C}, rhs: {op: "==", lhs: {obs: "state[i]", t: {var: t}}, '
        'rhs: {obs: "transform(evolve(S))[i]", t: {var: t}}}}',
    ),
    "a claim that is not what is judged": (
        "claim: {part: C}",
        "claim: {part: C}\nantecedent: {part: C}\nholds: {const: true}",
    ),
    "an unknown node": ("{part: C}", "{maybe: {part: C}}"),
    "a step that is none": ("{part: C}", "{part: C, at: yesterday}"),
    "a fixed step for a part": ("{part: C}", "{part: C, at: fixed}"),
    "a part with another key": ("{part: C}", "{part: C, by: 3}"),
    "more than eight steps ahead": ("reads: [t]}}\nclaim: {part: C}", "reads: [t + 5]}}\nclaim: {part: C, at: t + 4}"),
    "a part without a name": ("{part: C}", "{part: [C]}"),
    "cells without `i`": (
        "{part: C}",
        '{op: and, lhs: {part: C}, rhs: {op: "==", lhs: {obs: "state[i]", t: {var: t}}, rhs: {const: a}}}',
    ),
    "an observable that no law can define": (
        "{part: C}",
        '{op: and, lhs: {part: C}, rhs: {op: "==", lhs: {obs: "state[j]", t: {var: t}}, rhs: {const: 1}}}',
    ),
    "an operator without sense": ("{part: C}", "{op: +, lhs: {part: C}, rhs: {part: C}}"),
}


@pytest.mark.parametrize(("old", "new"), BAD_TEMPLATES.values(), ids=BAD_TEMPLATES)
def test_bad_templates_are_refused(tmp_path, old, new):
    assert old in TEMPLATE
    path = tmp_path / "own.yaml"
    path.write_text(TEMPLATE.replace(old, new), encoding="utf-8")
    found = Diagnostics()
    assert check_template(load(path)[0].main, found) is None
    assert [one.code for one in found.sorted()] == ["E_TEMPLATE"]


def test_a_step_that_is_none_is_found_at_its_place(tmp_path):
    path = tmp_path / "own.yaml"
    path.write_text(TEMPLATE.replace("{part: C}", "{part: C, at: yesterday}"), encoding="utf-8")
    found = Diagnostics()
    check_template(load(path)[0].main, found)
    (one,) = found.sorted()
    assert (str(one.span).rpartition("own.yaml")[2], "t + 8" in (one.hint or "")) == (":5:22", True)


def test_a_horizon_that_leaves_no_step_is_refused(tmp_path, templates):
    path = tmp_path / "own.yaml"
    path.write_text(TEMPLATE.replace("to: T}", "to: T - 5}"), encoding="utf-8")
    candidate = {**GOOD, "template": "own", "forbidden": "x", "quantifiers": {"T": 4}}
    with pytest.raises(Rejected) as refused:
        compile_law(bundle_of(candidate, load("specs/universe/kinetic_grid_v1.yaml")[0], {"own": load(path)[0]}))
    assert [each.code for each in refused.value.diagnostics] == ["E_LAW_FORM"]


def test_a_law_speaks_of_transformed_states_only_where_its_form_has_a_transform(tmp_path, templates):
    path = tmp_path / "own.yaml"
    path.write_text(TEMPLATE.replace("to: T}", "to: T}, i: cells"), encoding="utf-8")
    claim = op("==", obs("transform(evolve(S))[i]"), obs("state[i]"))
    candidate = {"template": "own", "forbidden": "x", "claim_ast": claim, "transform": "mirror_swap"}
    with pytest.raises(Rejected) as refused:
        compile_law(bundle_of(candidate, load("specs/universe/kinetic_grid_v1.yaml")[0], {"own": load(path)[0]}))
    assert [each.code for each in refused.value.diagnostics if each.code.startswith("E_")] == ["E_LAW_FORM"]


def test_a_template_of_ones_own_needs_only_yaml(tmp_path, templates):
    path = tmp_path / "own.yaml"
    path.write_text(
        TEMPLATE.replace("reads: [t]", "reads: [t, t + 1]").replace("to: T}", "to: T - 1}"), encoding="utf-8"
    )
    candidate = {**GOOD, "template": "own", "forbidden": "x", "claim_ast": op("==", obs("X", T1), obs("X"))}
    plan = compile_law(
        bundle_of(candidate, load("specs/universe/kinetic_grid_v1.yaml")[0], {**templates, "own": load(path)[0]})
    )
    assert (plan.law.last, plan.law.reach, plan.law.steps) == (49, 1, 50)
