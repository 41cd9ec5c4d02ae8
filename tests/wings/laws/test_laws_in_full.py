"""Mistakes in laws: each finding with its place, its words and its hint; limits at their exact values; steps of a law."""

from typing import Any

import pytest
from msgspec.structs import replace

from specledger.core.diagnostics import Rejected
from specledger.wings.laws import observable_parser
from specledger.wings.laws.claim import TRUE, show
from tests.toys.claims import T0, T1, obs, op
from tests.wings.laws.test_law_check import (
    BOUND,
    EVENTUALLY,
    GOOD,
    LOCAL,
    MONOTONE,
    POSITIVE,
    STEP,
    SYMMETRY,
    X,
    measuring,
    saying,
    until,
    where,
)

SYMBOLS = "its symbols are '.', '>', '<', 'X'"
MOST = 2**53 - 1
NO_Y, NO_Z = (f"the alphabet has no {symbol!r} | hint: {SYMBOLS}" for symbol in "YZ")
DIVIDE = "hint: multiply out: `X <= L / 2` becomes `2 * X <= L`"
FORMULA = "hint: write a formula such as `X(t) == X(0)`, and the words in `says`"
NO_COMPARISON = "E_PRECONDITION at preconditions.0: this is no comparison of observables"


def lacking(name, path="", form="monotone"):
    key = name.rpartition(".")[2]
    return (
        f"E_LAW_MISSING at {path}: a law of the form {form} needs `{name}` | expected: {key} | "
        f"hint: `spec explain law.{name}` says what may stand there"
    )


def no_form(form, because, at="claim_ast"):
    return f"E_LAW_FORM at {at}: this is no {form}: {because}"


def first_use(claim):
    return {**GOOD, "claim_ast": claim}


MISTAKES: dict[str, tuple[dict[str, Any], list[str]]] = {
    "no claim": (first_use(None), ["E_LAW_MISSING at : the law has no claim | expected: claim_ast"]),
    "H missing": (
        {**EVENTUALLY, "quantifiers": {}},
        [lacking("quantifiers.H", "quantifiers", "eventually")],
    ),
    "a direction missing": ({**MONOTONE, "direction": None}, [lacking("direction")]),
    "two fields missing": (
        {**LOCAL, "trigger_symbol": None, "result_symbol": None},
        [lacking("result_symbol", form="local_transition"), lacking("trigger_symbol", form="local_transition")],
    ),
    "t_plus_1 in an invariant": (
        first_use(op(">=", obs("X", T1), {"const": 0})),
        [no_form("invariant", "`C` may read t or fixed, but X is read at t+1")],
    ),
    "the start in a bound": (
        {**BOUND, "claim_ast": op("<=", obs("X", T0), {"const": 9})},
        [no_form("bound", "`f` may read t, but X is read at 0")],
    ),
    "no implication": ({**STEP, "claim_ast": POSITIVE}, [no_form("implication_step", "expected '=>', found '>='")]),
    "another direction": (
        {**MONOTONE, "direction": ">="},
        [no_form("monotone", "`direction` is '>=', but the claim has '<='")],
    ),
    "another bound": ({**BOUND, "bound_value": 8}, [no_form("bound", "`bound_value` is 8, but the claim has 9")]),
    "a single symbol in an invariant": (
        first_use(op("==", {"const": "X"}, {"const": "X"})),
        [no_form("invariant", "only laws about every cell speak of single cells and symbols")],
    ),
    "a step after T": (
        {**first_use(op("==", obs("X"), obs("X", {"const": 4}))), "quantifiers": {"T": 3}},
        [no_form("invariant", "step 4 is after T")],
    ),
    "a step after T on the shortest ring": (
        {**first_use(op("==", obs("X"), obs("X", {"const": 5}))), "quantifiers": {"T": "grid_length"}},
        [no_form("invariant", "step 5 is after T")],
    ),
    "two names that are not defined": (
        first_use(op(">=", op("+", obs("Y"), obs("Z")), {"const": 0})),
        [
            "E_LAW_UNDEFINED at claim_ast.lhs.lhs.obs: the law defines no observable `Y`",
            "E_LAW_UNDEFINED at claim_ast.lhs.rhs.obs: the law defines no observable `Z`",
        ],
    ),
    "a name like another one": (
        {
            **first_use(op(">=", obs("Momentun"), {"const": 0})),
            "observables": [{"name": "Momentum", "expr": "count('X')"}],
        },
        [
            "E_LAW_UNDEFINED at claim_ast.lhs.obs: the law defines no observable `Momentun` | "
            "hint: did you mean 'Momentum'?"
        ],
    ),
    "a name that is not defined, in a string": (
        saying("Y(t) >= 0"),
        ["E_LAW_UNDEFINED at claim: the law defines no observable `Y`"],
    ),
    "a symbol that there is not, in a claim": (
        first_use(op("and", POSITIVE, op("==", {"const": "Y"}, {"const": "X"}))),
        [f"E_UNIVERSE_SYMBOL at claim_ast.rhs.lhs.const: {NO_Y}"],
    ),
    "an observable used before its definition": (
        {**GOOD, "observables": [{"name": "Z", "expr": "2 * X"}, X]},
        ["E_OBSERVABLE_ORDER at observables.0.expr: `X` is defined further down"],
    ),
    "an observable that reads itself": (
        {**GOOD, "observables": [X, {"name": "Z", "expr": "Z + 1"}]},
        ["E_OBSERVABLE_ORDER at observables.1.expr: `Z` is defined further down"],
    ),
    "a reserved name": (
        {**GOOD, "observables": [X, {"name": "if", "expr": "1"}]},
        ["E_NAME_TAKEN at observables.1.name: `if` is a reserved word of CEL"],
    ),
    "a name twice": (
        {**GOOD, "observables": [X, X]},
        ["E_NAME_TAKEN at observables.1.name: `X` is defined twice"],
    ),
    "a name of the universe": (
        {**GOOD, "observables": [X, {"name": "grid_length", "expr": "1"}]},
        ["E_NAME_TAKEN at observables.1.name: `grid_length` is an observable of the universe"],
    ),
    "a symbol of an observable": (measuring("count('Y')"), [f"E_UNIVERSE_SYMBOL at observables.0.expr: {NO_Y}"]),
    "symbols of fields": (
        {**LOCAL, "trigger_symbol": "Y", "result_symbol": "Z"},
        [f"E_UNIVERSE_SYMBOL at result_symbol: {NO_Z}", f"E_UNIVERSE_SYMBOL at trigger_symbol: {NO_Y}"],
    ),
    "a single start": (
        {**GOOD, "starts": {"symbols": [".", "."]}},
        ["E_UNIVERSE_SYMBOL at starts: starts have at least two symbols"],
    ),
    "a start that there is not beside one that there is": (
        {**GOOD, "starts": {"symbols": ["Y", "."]}},
        [f"E_UNIVERSE_SYMBOL at starts.symbols.0: {NO_Y}"],
    ),
    "starts that there are not": (
        {**GOOD, "starts": {"symbols": [".", "Y", "X", "Z"]}},
        [f"E_UNIVERSE_SYMBOL at starts.symbols.1: {NO_Y}", f"E_UNIVERSE_SYMBOL at starts.symbols.3: {NO_Z}"],
    ),
    "division in an observable": (
        measuring("count('X') / 2"),
        [f"E_CLAIM_DIVISION at observables.0.expr: an observable does not divide | {DIVIDE}"],
    ),
    "a remainder in an observable": (
        measuring("count('X') % 2"),
        [f"E_CLAIM_DIVISION at observables.0.expr: an observable does not divide | {DIVIDE}"],
    ),
    "division in a claim": (
        first_use(op(">=", op("/", obs("X"), {"const": 2}), {"const": 0})),
        [f"E_CLAIM_DIVISION at claim_ast.lhs.op: a claim does not divide | {DIVIDE}"],
    ),
    "division in a string": (
        saying("X(t) / 2 >= 0"),
        [
            f"E_CLAIM_DIVISION at claim: a claim does not divide | {DIVIDE}",
            f"W_LAW_STRING at claim: the claim cannot be read from its string: a claim does not divide | {FORMULA}",
        ],
    ),
    "a claim that is a number": (first_use(obs("X")), ["E_LAW_SORT at claim_ast.op: the claim is no truth value"]),
    "truth added": (
        first_use(op("==", op("+", {"const": True}, {"const": 1}), {"const": 0})),
        ["E_LAW_SORT at claim_ast.lhs.op: `+` has operands of two sorts, bool and int"],
    ),
    "a factor beyond 2^53": (
        measuring("9007199254740992 * count('X')"),
        ["E_LAW_INTEGER at observables.0.expr: 9007199254740992 is beyond 2^53 - 1"],
    ),
    "a claim beyond 2^53 when multiplied out": (
        first_use(op("<=", op("*", {"const": 2**30}, op("*", {"const": 2**24}, obs("X"))), {"const": 0})),
        ["E_LAW_INTEGER at claim_ast: multiplied out, it has a factor of 18014398509481984, beyond 2^53 - 1"],
    ),
    "an integer of a string beyond 2^53": (
        saying("X(t) < 9007199254740992"),
        ["E_LAW_INTEGER at claim: 9007199254740992 is beyond 2^53 - 1"],
    ),
    "no step on the shortest ring": (
        until("grid_length - 4"),
        [
            "E_LAW_FORM at quantifiers.T: T = 0 on a ring of 4 cells is less than 1; the form invariant is judged from step 0 to T"
        ],
    ),
    "no step before the last on the shortest ring": (
        {**MONOTONE, "quantifiers": {"T": "grid_length - 4"}},
        [
            "E_LAW_FORM at quantifiers.T: T = 0 on a ring of 4 cells is less than 1; the form monotone is judged from step 0 to T - 1"
        ],
    ),
    "no step after the first on the shortest ring": (
        {**SYMMETRY, "quantifiers": {"T": "grid_length - 4"}},
        [
            "E_LAW_FORM at quantifiers.T: T = 0 on a ring of 4 cells is less than 1; the form symmetry_commutation is judged from step 1 to T"
        ],
    ),
    "less than no wait on the shortest ring": (
        {**EVENTUALLY, "quantifiers": {"T": 9, "H": "grid_length - 5"}},
        ["E_LAW_FORM at quantifiers.H: H = -1 on a ring of 4 cells is less than 0"],
    ),
    "a pattern that is too long": (
        measuring("pattern('>???????<')"),
        [
            "E_MEASURE_ARGUMENT at observables.0.expr: `pattern`: a pattern of 9 symbols | "
            "hint: with 4 symbols a pattern has at most 8: windows have at most 65536 contents"
        ],
    ),
    "a symbol of a pattern": (measuring("pattern('>Y<')"), [f"E_UNIVERSE_SYMBOL at observables.0.expr: {NO_Y}"]),
    "an argument that is not written out": (
        measuring("gap_pairs('>', '<', 1 + 1)"),
        ["E_OBSERVABLE_FORM at observables.0.expr: the arguments of `gap_pairs` are not written out"],
    ),
    "a list as an observable": (
        measuring("[1, 2][0]"),
        ["E_OBSERVABLE_FORM at observables.0.expr: only observables, integers, + - * and brackets stand here"],
    ),
    "a transform with an argument too many": (
        {**SYMMETRY, "transform": "mirror_swap(3)"},
        ["E_TRANSFORM at transform: `mirror_swap` takes 0 arguments, not 1"],
    ),
    "a precondition that compares nothing": (where("count('X') > 0 ? true : false"), [NO_COMPARISON]),
    "a part of one that compares nothing": (where("count('X') > 0 && (true ? true : false)"), [NO_COMPARISON]),
    "the denial of one that compares nothing": (where("!(true ? true : false)"), [NO_COMPARISON]),
    "a side of a precondition": (
        where({"lhs": "count('X')", "op": "<", "rhs": "count('Y')"}),
        [f"E_UNIVERSE_SYMBOL at preconditions.0.rhs: {NO_Y}"],
    ),
    "a test with an unknown parameter": (
        {**GOOD, "proposed_tests": [{"family": "edge_wrapping_cases", "params": {"colour": 3}}]},
        ["E_LAW_TEST at proposed_tests.0.params: the test has no parameter 'colour'"],
    ),
    "a string under strict parsing": (
        {**saying("X(t) >= 0"), "strict": True},
        ["E_LAW_STRING at claim: strict parsing takes no string claim; write `claim_ast`"],
    ),
    "a field that is not needed under strict parsing": (
        {**GOOD, "strict": True, "direction": "<="},
        ["E_LAW_FIELD at direction: a law of the form invariant does not need `direction`"],
    ),
}


def said(finding):
    """A finding in full, with the path of its place."""
    path = str(finding.span).partition(" ")[2].partition(">")[0]
    words = [
        f"{label}: {text}" for label in ("expected", "found", "hint") if (text := getattr(finding, label)) is not None
    ]
    return " | ".join([f"{finding.code} at {path}: {finding.message}", *words])


@pytest.mark.parametrize(("candidate", "told"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_in_a_law_is_told_in_full(plan_of, candidate, told):
    with pytest.raises(Rejected) as refused:
        plan_of(candidate)
    assert [said(finding) for finding in refused.value.diagnostics] == told


def required(**capabilities):
    return {**GOOD, "capability_requirements": capabilities}


def beyond(name, value, ring=""):
    return "resource_limit", f"{name} = {value}{ring} is above 200"


ON_200, ON_10 = " on a ring of 200 cells", " on a ring of 10 cells"
SHORT = {"preconditions": ["grid_length < 11"]}
# Laws at their limits: why nothing can be said, or None where they are judged.
LIMITS: dict[str, tuple[dict[str, Any], Any]] = {
    "one step": ({**MONOTONE, "quantifiers": {"T": 1}}, None),
    "one step of a form that begins at it": ({**SYMMETRY, "quantifiers": {"T": 1}}, None),
    "one step on the shortest ring": (until("grid_length - 3"), None),
    "as many steps as are allowed": (until(200), None),
    "one more": (until(201), beyond("T", 201)),
    "as many on the longest ring": (until("grid_length"), None),
    "one more on it": (until("grid_length + 1"), beyond("T", 201, ON_200)),
    "as many on the longest ring that is admitted": ({**until("20 * grid_length"), **SHORT}, None),
    "one more on that": ({**until("20 * grid_length + 1"), **SHORT}, beyond("T", 201, ON_10)),
    "as long a wait as is allowed": ({**EVENTUALLY, "quantifiers": {"H": 200}}, None),
    "no wait on the shortest ring": ({**EVENTUALLY, "quantifiers": {"T": 9, "H": "grid_length - 4"}}, None),
    "a longer wait": ({**EVENTUALLY, "quantifiers": {"T": 9, "H": "grid_length + 1"}}, beyond("H", 201, ON_200)),
    "too many steps and too long a wait": ({**EVENTUALLY, "quantifiers": {"T": 300, "H": 301}}, beyond("T", 300)),
    "a step that is T": (
        {**first_use(op("==", obs("X"), obs("X", {"const": 3}))), "quantifiers": {"T": 3}},
        None,
    ),
    "the greatest integer": (first_use(op(">=", obs("X"), {"const": MOST})), None),
    "the least integer": (first_use(op(">=", obs("X"), {"const": -MOST})), None),
    "the greatest integer of a string": (saying(f"X(t) <= {MOST}"), None),
    "the greatest factor": (measuring(f"{MOST} * count('X')"), None),
    "an argument below zero": (measuring("gap_pairs('>', '<', -1)"), None),
    "an observable below zero": (measuring("-count('X')"), None),
    "an observable of the universe's name that is it": (
        {**GOOD, "observables": [X, {"name": "grid_length", "expr": " grid_length "}]},
        None,
    ),
    "two starts": ({**GOOD, "starts": {"symbols": ["X", "."]}}, None),
    "what the universe has": (
        required(
            primitive_observables=["count (symbol)", "pattern(p)", "grid_length"],
            transforms=["mirror_swap(1)"],
            generator_families=["extreme_states"],
        ),
        None,
    ),
    "two observables that it lacks": (
        required(primitive_observables=["count", "heat", "cold"], transforms=["flip(2)"]),
        ("missing_observable", "heat"),
    ),
    "transforms that it lacks": (
        required(transforms=["mirror_swap", "flip(2)", "flop"]),
        ("missing_transform", "flip(2)"),
    ),
    "a family that it lacks": (
        required(generator_families=["edge_wrapping_cases", "odd"]),
        ("missing_generator", "odd"),
    ),
    "a transform before what is required": (
        {**SYMMETRY, "transform": "flip(2)", "capability_requirements": {"transforms": ["flop"]}},
        ("missing_transform", "flip(2)"),
    ),
    "what is required before what is measured": (
        {**measuring("energy"), "capability_requirements": {"transforms": ["flip"]}},
        ("missing_transform", "flip"),
    ),
    "two sides that are not measured": (
        where({"lhs": "energy", "op": "<", "rhs": "heat"}),
        ("missing_observable", "energy, heat"),
    ),
    "a part that is not measured": (where("count('X') > 0 && energy > 0"), ("missing_observable", "energy")),
}


@pytest.mark.parametrize(("candidate", "unknown"), LIMITS.values(), ids=LIMITS)
def test_a_law_at_its_limits(law_of, candidate, unknown):
    found = law_of(candidate).unknown
    assert (None if found is None else (found.reason, found.detail)) == unknown


SIZES: dict[str, tuple[str, int, int, str]] = {
    "as many parts as are allowed": ("count('X') + 1 + 2", 5, 9, ""),
    "more parts": ("count('X') + 1 + 2", 4, 9, "4 parts"),
    "as many operations inside one another": ("count('X') + 1 + 2", 9, 2, ""),
    "more inside one another": ("count('X') + 1 + 2", 9, 1, "1 operations inside one another"),
    "more to the right": ("1 + (2 + count('X'))", 9, 1, "1 operations inside one another"),
    "more of both: the parts are told": ("count('X') + 1 + 2", 4, 1, "4 parts"),
}


@pytest.mark.parametrize(("expr", "terms", "depth", "bound"), SIZES.values(), ids=SIZES)
def test_how_large_an_observable_may_be(plan_of, monkeypatch, expr, terms, depth, bound):
    monkeypatch.setattr(observable_parser, "MAX_TERMS", terms)
    monkeypatch.setattr(observable_parser, "MAX_DEPTH", depth)
    if not bound:
        assert plan_of(measuring(expr)).law.unknown is None
        return
    with pytest.raises(Rejected) as refused:
        plan_of(measuring(expr))
    told = f"E_OBSERVABLE_FORM at observables.0.expr: written out, it has more than {bound}"
    assert [said(finding) for finding in refused.value.diagnostics] == [told]


STARTS: dict[str, tuple[dict[str, Any], tuple[int, ...]]] = {
    "those of the universe": ({}, (0, 1, 2)),
    "those of the law, in the order of the alphabet": ({"starts": {"symbols": ["X", ".", "X"]}}, (0, 3)),
    "all": ({"starts": {}}, (0, 1, 2, 3)),
    "a test that goes beyond them": (
        {"proposed_tests": [{"family": "constrained_pair_interactions", "params": {"include_collision_state": True}}]},
        (0, 1, 2, 3),
    ),
    "a test that does not": ({"proposed_tests": [{"family": "constrained_pair_interactions"}]}, (0, 1, 2)),
    "a test of a family that there is not": ({"proposed_tests": [{"family": "odd"}]}, (0, 1, 2)),
}


@pytest.mark.parametrize(("changes", "starts"), STARTS.values(), ids=STARTS)
def test_the_symbols_of_starts(law_of, changes, starts):
    assert law_of({**GOOD, **changes}).starts == starts


PRECONDITIONS: dict[str, tuple[list[Any], str]] = {
    "none": ([], "true"),
    "a truth value": (["true"], "true"),
    "a comparison": (["count('X') > 0"], "precondition 1(0) > precondition 2(0)"),
    "three fields": ([{"lhs": "count('X')", "op": "<=", "rhs": "3"}], "precondition 1(0) <= precondition 2(0)"),
    "a denial and junctions": (
        ["!(count('X') > 0) || grid_length < 9 && count('>') != 1"],
        "not precondition 1(0) > precondition 2(0) or precondition 3(0) < precondition 4(0) and precondition 5(0) != precondition 6(0)",
    ),
    "two": (
        ["count('X') > 0", "count('>') == 1"],
        "precondition 1(0) > precondition 2(0) and precondition 3(0) == precondition 4(0)",
    ),
}


@pytest.mark.parametrize(("preconditions", "told"), PRECONDITIONS.values(), ids=PRECONDITIONS)
def test_what_an_initial_state_must_satisfy(law_of, preconditions, told):
    law = law_of({**GOOD, "preconditions": preconditions})
    assert show(law.where) == told
    assert law.preconditions == len(preconditions)


LATER = {"template": "implication_later", "observables": [X]}
# Of a law: the last step that is judged, how far it looks ahead, how far it is evolved, and the moments it shows.
STEPS: dict[str, tuple[dict[str, Any], tuple[int, int, int, dict[str, int]]]] = {
    "of a state": ({**GOOD, "quantifiers": {"T": 5}}, (5, 0, 5, {"t": 0, "t_plus_1": 1})),
    "of the next state": ({**MONOTONE, "quantifiers": {"T": 5}}, (4, 1, 5, {"t": 0, "t_plus_1": 1})),
    "of a state within a wait": (
        {**EVENTUALLY, "quantifiers": {"T": 5, "H": 3}},
        (5, 3, 8, {"t": 0, "t_plus_1": 1}),
    ),
    "of later states": (
        {
            **LATER,
            "quantifiers": {"T": 5},
            "claim_ast": op(
                "=>", op(">=", obs("X", {"t_plus": 2}), {"const": 0}), op(">=", obs("X", {"t_plus": 3}), {"const": 0})
            ),
        },
        (5, 3, 8, {"t": 0, "t_plus_1": 1, "t_plus_2": 2, "t_plus_3": 3}),
    ),
    "of a later state in the antecedent": (
        {
            **LATER,
            "quantifiers": {"T": 5},
            "claim_ast": op("=>", op(">=", obs("X", {"t_plus": 4}), {"const": 0}), POSITIVE),
        },
        (5, 4, 9, {"t": 0, "t_plus_1": 1, "t_plus_4": 4}),
    ),
    "of a fixed step": (
        {**first_use(op("==", obs("X"), obs("X", {"const": 3}))), "quantifiers": {"T": 3}},
        (3, 0, 3, {"t": 0, "t_plus_1": 1}),
    ),
}


@pytest.mark.parametrize(("candidate", "steps"), STEPS.values(), ids=STEPS)
def test_the_steps_of_a_law(law_of, candidate, steps):
    law = law_of(candidate)
    assert (law.last, law.reach, law.steps, law.moments) == steps


def test_a_fixed_step_after_the_last_one_is_evolved(law_of):
    law = law_of(first_use(op("==", obs("X"), obs("X", {"const": 3}))))
    assert (law.fixed, replace(law, T=1).steps, law_of(GOOD).fixed) == (3, 3, 0)


LENGTHS: dict[str, tuple[dict[str, Any], tuple[Any, ...]]] = {
    "numbers": ({**EVENTUALLY, "quantifiers": {"T": 9, "H": 2}}, (9, 2)),
    "T of the ring": ({**EVENTUALLY, "quantifiers": {"T": "2 * grid_length - 1", "H": 2}}, (13, 2)),
    "H of the ring": ({**EVENTUALLY, "quantifiers": {"T": 9, "H": "grid_length - 3"}}, (9, 4)),
    "T of the ring, and no H": (until("grid_length + 1"), (8, None)),
}


@pytest.mark.parametrize(("candidate", "found"), LENGTHS.values(), ids=LENGTHS)
def test_a_law_on_rings_of_seven_cells(law_of, candidate, found):
    law = law_of({**candidate, **SHORT})
    own = law.on(7)
    assert (own.T, own.H, own.T_cells, own.H_cells) == (*found, 0, 0)
    assert own.on(9) == own


CONTRACTS: dict[str, tuple[dict[str, Any], str]] = {
    "some symbols": ({}, "rings of 4 to 200 cells of the symbols . > <"),
    "all symbols": ({"starts": {}}, "rings of 4 to 200 cells of all symbols"),
    "with preconditions": (
        {"preconditions": ["count('X') < 1"]},
        "rings of 4 to 200 cells of the symbols . > < that meet the preconditions",
    ),
}


@pytest.mark.parametrize(("changes", "words"), CONTRACTS.values(), ids=CONTRACTS)
def test_the_states_that_a_verdict_is_about(law_of, changes, words):
    assert law_of({**GOOD, **changes}).contract == words


def test_a_claim_is_shown_in_its_writers_words_only_where_nothing_could_be_read(law_of):
    law = law_of(GOOD)
    unread = law_of(saying("There are few X."))
    assert (law.said, replace(law, words="few").said) == ("X(t) >= 0", "X(t) >= 0")
    assert unread.claim == TRUE
    assert replace(unread, words="few").said == "few"
    assert replace(unread, words="").said == "true"
    assert replace(law, unknown=unread.unknown, words="few").said == "X(t) >= 0"
