"""Rankings: the seed's factors as data, other factors, and whether another weight would change the first law."""

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specledger.core.diagnostics import Rejected
from specledger.expr import conforms
from specledger.kinds import load
from specledger.wings.discovery.memory import LAW, DiscoveryMemory, facts_of
from specledger.wings.discovery.ranking import (
    Factor,
    RankingFeatures,
    RankingModel,
    RankingPlan,
    compile_ranking,
    sensitivity,
)
from specledger.wings.discovery.redundancy import RedundancyMatch

ONE = 1_000_000
PASS = {"status": "PASS", "method": "sample"}
RIGHT, LEFT = "count('>') + count('X')", "count('<') + count('X')"


def near(share):
    return RedundancyMatch("other", share, "near", "")


@pytest.fixture
def ranking_of(tmp_path):
    """A compiled ranking from the lines of a spec."""

    def read(text):
        path = tmp_path / "mine.yaml"
        path.write_text(f"spec: ranking/v1\nname: mine\n{text}", encoding="utf-8")
        bundle = load(path)[0]
        return compile_ranking(bundle, bundle.root)

    return read


@pytest.fixture
def scores(shipped_ranking):
    """The scores of one law by the shipped ranking, as decimal numbers of tenths."""

    def read(law, memory=None, match=None):
        known = None if memory is None else memory.snapshot()
        return RankingModel(shipped_ranking).rank([law], known, [match]).features[0]

    return read


# The seed's factors, weights and rules


@pytest.mark.parametrize(
    ("fields", "risk"),
    [
        ({"forbidden": "N(t) == 0 at some step"}, ONE),
        ({"forbidden": "two steps whose sums are not equal"}, ONE),
    ],
)
def test_risk(scores, conserved, fields, risk):
    assert scores(conserved(RIGHT, **fields))["risk"] == risk


def test_novelty_falls_with_accepted_laws_of_the_template_or_the_observable(scores, conserved, bounded):
    memory, law = DiscoveryMemory(), conserved(RIGHT, name="Mine")
    steps = [
        (bounded("count('<')", "<=", 3), 800_000),
        (bounded("count('X') + count('>')", "<=", 3), 700_000),
        (conserved("grid_length"), 600_000),
        (conserved(f"count('X') + ({RIGHT}) - count('X')", law_id="same"), 400_000),
    ]
    for other, novelty in steps:
        memory.record_evaluation(other, PASS)
        assert scores(law, memory)["novelty"] == novelty
    memory.record_evaluation(conserved(LEFT), {"status": "FAIL", "method": "sample"})
    assert scores(law, memory)["novelty"] == 400_000


def test_novelty_does_not_fall_below_its_least(scores, conserved):
    memory = DiscoveryMemory()
    for number in range(12):
        memory.record_evaluation(conserved(f"{number + 2} * count('X')"), PASS)
    assert scores(conserved(RIGHT), memory)["novelty"] == 0


@pytest.mark.parametrize(
    ("fields", "testability"),
    [
        ({"capability_requirements": {"primitive_observables": ["entropy(symbol)", "count(symbol)"]}}, 700_000),
        ({"proposed_tests": [{"family": "quakes"}, {"family": "tides"}]}, 800_000),
        ({"preconditions": ["entropy('>') > 0"]}, 700_000),
        ({"preconditions": [{"lhs": "entropy('>')", "op": ">", "rhs": "0"}]}, 700_000),
    ],
)
def test_testability(scores, conserved, fields, testability):
    assert scores(conserved(fields.pop("expr", RIGHT), **fields))["testability"] == testability


def test_redundancy_changes_an_order(shipped_ranking, conserved):
    laws = [conserved(RIGHT, law_id="first"), conserved(LEFT, law_id="second")]
    rank = RankingModel(shipped_ranking).rank
    assert [law.document["law_id"] for law in rank(laws).laws] == ["first", "second"]
    ranked = rank(laws, None, [near(500_000), near(499_999)])
    assert [law.document["law_id"] for law in ranked.laws] == ["second", "first"]
    assert ranked.features[1].scores["redundancy"] == 500_000


def test_facts_have_the_type_that_rules_are_checked_against(conserved, bounded, proposed):
    laws = [
        conserved("entropy('>')", preconditions=["grid_length > 4", {"lhs": "chaos", "op": ">", "rhs": "1"}]),
        bounded("count('X')", "<=", 3, quantifiers={"T": 9, "H": 2}),
        proposed("symmetry_commutation", transform="shift_k(2)"),
    ]
    assert all(conforms(facts_of(law), LAW) for law in laws)
    assert facts_of(laws[0])["missing"]["observables"] == ["chaos", "entropy"]
    assert facts_of(laws[0])["preconditions"] == ["grid_length > 4", "chaos > 1"]


# Any other ranking


def test_another_ranking_has_other_factors(ranking_of, conserved, bounded):
    plan = ranking_of("""
let: {parts: size(law.observables) + size(law.preconditions)}
factors:
  brevity: {weight: 2, start: 3, least: -1, most: 3, rules: [{add: -1.5, per: parts}]}
  reach: {weight: 0.5, most: 10, rules: [{add: 0.01, per: law.T}, {add: 1, when: "'<=' in law.operators"}]}
""")
    laws = [conserved(RIGHT, preconditions=["grid_length > 4"], quantifiers={"T": 70}), bounded("count('X')", "<=", 3)]
    ranked = RankingModel(plan).rank(laws)
    assert ranked.laws == (laws[1], laws[0])
    assert [dict(each.scores) for each in ranked.features] == [
        {"brevity": 1_500_000, "reach": 1_500_000},
        {"brevity": 0, "reach": 700_000},
    ]
    assert [each.overall for each in ranked.features] == [3_750_000, 350_000]


def test_laws_of_one_score_keep_their_order(ranking_of, conserved):
    laws = [conserved(f"{number} * count('X')") for number in (3, 1, 2)]
    plan = ranking_of("factors: {one: {weight: 1, start: 0.5}}")
    assert RankingModel(plan).rank(laws).laws == tuple(laws)


def test_a_rule_without_a_value_adds_nothing_and_is_told(ranking_of, conserved):
    plan = ranking_of("""
let: {half: 10 / size(law.preconditions)}
factors: {one: {weight: 1, rules: [{add: 0.1, per: half}, {add: 0.2, when: "law.observables[3] == 'N'"}, {add: 0.3, when: 'true'}]}}
""")
    ranked = RankingModel(plan).rank([conserved(RIGHT, law_id="mine")])
    assert ranked.features[0]["one"] == 300_000
    assert [warning.partition(" adds")[0] for warning in ranked.warnings] == [
        "E_RANKING_RULE: rule 0 of one",
        "E_RANKING_RULE: rule 1 of one",
    ]


WRONG = {
    "a rule of two measures": "factors: {one: {weight: 1, rules: [{add: 1, when: 'true', per: '1'}]}}",
    "a rule of none": "factors: {one: {weight: 1, rules: [{add: 1}]}}",
    "a count that is none": "factors: {one: {weight: 1, rules: [{add: 1, per: law.template}]}}",
    "a fact that there is not": "factors: {one: {weight: 1, rules: [{add: 1, per: law.beauty}]}}",
    "a circle": "let: {a: b, b: a}\nfactors: {one: {weight: 1}}",
    "no factor": "factors: {}",
    "a weight below zero": "factors: {one: {weight: -1}}",
    "bounds in the wrong order": "factors: {one: {weight: 1, least: 1, most: 0}}",
    "more decimals than six": "factors: {one: {weight: 0.1234567}}",
}


@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG)
def test_a_ranking_that_means_nothing_is_refused_with_its_place(ranking_of, text):
    with pytest.raises(Rejected) as rejected:
        ranking_of(text)
    assert all(each.span is not None for each in rejected.value.diagnostics)


# Sensitivity


def plain(*rows, weights, within=200_000):
    """A ranking of so many factors, and laws with these scores in the order that it gives them."""
    factors = tuple(Factor(f"f{n}", weight, 0, 0, ONE, ()) for n, weight in enumerate(weights))
    plan = RankingPlan("plain", (), factors, within)

    def made(row):
        exact = sum(factor.weight * score for factor, score in zip(factors, row, strict=True))
        return RankingFeatures(
            {factor.name: score for factor, score in zip(factors, row, strict=True)}, exact // ONE, exact
        )

    return plan, sorted(map(made, rows), key=lambda each: -each.exact)


def test_a_weight_that_matters_is_named():
    plan, laws = plain([600_000, 0], [0, 500_000], weights=(500_000, 500_000))
    first, second = sensitivity(plan, laws)
    assert (first.changes, first.at, first.law) == (True, -166_666, 1)
    assert (second.changes, second.at, second.law) == (False, 200_000, 1)


def test_one_law_and_no_law_have_nothing_to_change():
    plan, laws = plain([1, 2], weights=(1, 1))
    assert [(each.changes, each.at) for each in sensitivity(plan, laws)] == [(False, None)] * 2
    assert [(each.changes, each.at) for each in sensitivity(plan, [])] == [(False, None)] * 2


SCORES = st.integers(0, 10).map(lambda tenth: tenth * 100_000)


@given(
    st.lists(st.lists(SCORES, min_size=3, max_size=3), min_size=1, max_size=6),
    st.lists(st.integers(0, 20), min_size=3, max_size=3),
)
def test_the_answer_is_that_of_ranking_again_on_both_sides_of_every_root(rows, weights):
    """Between two roots the order does not change, so one weight between each two, and both ends, decide."""
    plan, laws = plain(*rows, weights=[weight * 50_000 for weight in weights])
    for place, found in enumerate(sensitivity(plan, laws)):

        def worth(law, change, factor=plan.factors[place]):
            return law.exact + change * factor.weight * law[factor.name]

        gains = [
            (laws[0].exact - law.exact, worth(laws[0], 1) - laws[0].exact - worth(law, 1) + law.exact)
            for law in laws[1:]
        ]
        end = Fraction(1, 5)
        roots = sorted(
            {-end, end, Fraction(0), *(r for lead, gain in gains if gain and abs(r := Fraction(-lead, gain)) < end)}
        )
        tried = [-end, end, *((low + high) / 2 for low, high in pairwise(roots))]
        changed = any(worth(law, change) > worth(laws[0], change) for change in tried for law in laws[1:])
        assert found.changes == changed
