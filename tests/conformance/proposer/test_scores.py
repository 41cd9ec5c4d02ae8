"""The ranking of the document on a table of laws whose scores were computed by hand from its section 8."""

import pytest

from specledger.kinds import load
from specledger.wings.discovery.memory import DiscoveryMemory
from specledger.wings.discovery.ranking import RankingModel
from specledger.wings.discovery.redundancy import RedundancyMatch
from specledger.wings.discovery.spec.ranking import Ranking
from tests.conformance.proposer.made import LEFT, RIGHT, candidate, conserved, parsed, ranking
from tests.toys.claims import T1, obs, op

FACTORS = ("risk", "novelty", "discrimination", "testability", "redundancy")
SOME = op(">", obs("A"), {"const": 0})
IMPLIED = op("=>", SOME, op("==", obs("A"), {"const": 0}))
NEXT = op("=>", SOME, op("==", obs("A", T1), {"const": 0}))
FEW = op("<=", obs("A"), {"const": 3})
FALLS = op("<=", obs("A", T1), obs("A"))
BOUND = {"bound_op": "<=", "bound_value": 3}
START = {"preconditions": ["count('>') > 0"]}
EQUAL = {"forbidden": "N(t) != N(0)"}
NEEDS_ALL = {
    "capability_requirements": {"transforms": ["rotate"], "generator_families": ["quakes"]},
    "proposed_tests": [{"family": "tides"}],
}


def needs(**lists):
    return {"capability_requirements": lists}


ALIKE = conserved("grid_length", law_id="same-template")
SHARES = candidate("bound", FEW, exprs=("count('X') + count('>')",), **BOUND)
TWO = candidate("bound", FEW, exprs=("count('<')", RIGHT), **BOUND)
BOTH = conserved(RIGHT, law_id="both", preconditions=["grid_length > 9"])
NEITHER = candidate("bound", FEW, exprs=("count('<')",), **BOUND)

# The law; what was accepted; its similarity to a known law; then, by hand and in percent: risk (0.5 + rules), novelty,
# discrimination (0.5 + rules), testability, redundancy, and 25 risk + 20 novelty + 20 discrimination + 25 testability -
# 10 redundancy, in units of 1/10000.
TABLE = {
    "an invariant": (conserved(), [], 0, (90, 80, 50, 100, 0), 7350),
    "that forbids a difference": (conserved(**EQUAL), [], 0, (100, 80, 50, 100, 0), 7600),
    "with a precondition": (conserved(**START), [], 0, (70, 80, 50, 100, 0), 6850),
    "with both": (conserved(**START, **EQUAL), [], 0, (80, 80, 50, 100, 0), 7100),
    "a symmetry": (candidate("symmetry_commutation", exprs=(), transform="mirror_swap"), [], 0, (90, 80, 90, 100, 0), 8150),
    "a monotone law": (candidate("monotone", FALLS, direction="<="), [], 0, (70, 80, 50, 100, 0), 6850),
    "with a precondition of its own": (candidate("monotone", FALLS, direction="<=", **START), [], 0, (50, 80, 50, 100, 0), 6350),
    "an implication of a step": (candidate("implication_step", NEXT), [], 0, (70, 80, 70, 100, 0), 7250),
    "an implication of a state": (candidate("implication_state", IMPLIED, **START), [], 0, (50, 80, 70, 100, 0), 6750),
    "a wait": (candidate("eventually", IMPLIED, quantifiers={"T": 9, "H": 3}), [], 0, (70, 80, 50, 100, 0), 6850),
    "a bound": (candidate("bound", FEW, **BOUND), [], 0, (70, 80, 50, 100, 0), 6850),
    "a bound that forbids an equality": (candidate("bound", FEW, forbidden="A(t) == 4", **BOUND), [], 0, (80, 80, 50, 100, 0), 7100),
    "a local transition": (candidate("local_transition", exprs=(), trigger_symbol="X", result_op="!=", result_symbol="X"), [], 0, (70, 80, 50, 100, 0), 6850),
    "a missing observable": (conserved("entropy('>')"), [], 0, (90, 80, 50, 70, 0), 6600),
    "two missing observables": (conserved("entropy('>') + chaos"), [], 0, (90, 80, 50, 40, 0), 5850),
    "a missing transform": (candidate("symmetry_commutation", exprs=(), transform="rotate(3)"), [], 0, (90, 80, 90, 70, 0), 7400),
    "a missing generator": (conserved(**needs(generator_families=["quakes"])), [], 0, (90, 80, 50, 80, 0), 6850),
    "an unavailable test": (conserved(proposed_tests=[{"family": "quakes"}]), [], 0, (90, 80, 50, 90, 0), 7100),
    "one of each missing": (conserved("entropy('>')", **NEEDS_ALL), [], 0, (90, 80, 50, 10, 0), 5100),
    "an accepted law of its template": (conserved(), [ALIKE], 0, (90, 70, 50, 100, 0), 7150),
    "one of its observable": (conserved(), [SHARES], 0, (90, 70, 50, 100, 0), 7150),
    "one of its observable among others": (conserved(), [TWO], 0, (90, 70, 50, 100, 0), 7150),
    "one of both": (conserved(), [BOTH], 0, (90, 60, 50, 100, 0), 6950),
    "one of neither": (conserved(), [NEITHER], 0, (90, 80, 50, 100, 0), 7350),
    "three accepted laws": (conserved(), [ALIKE, SHARES, BOTH], 0, (90, 40, 50, 100, 0), 6550),
    "a similar law": (conserved(), [], 30, (90, 80, 50, 100, 30), 7050),
    "everything at once": (conserved(LEFT, **START, **needs(transforms=["rotate"])), [ALIKE, BOTH], 80, (70, 60, 50, 70, 80), 4900),
}  # fmt: skip


def score(document, accepted, similarity):
    memory = DiscoveryMemory()
    for each in accepted:
        memory.record_evaluation(parsed(each), {"status": "PASS", "method": "sample"})
    match = RedundancyMatch("other", similarity * 10_000, "near", "") if similarity else None
    return RankingModel(ranking()).rank([parsed(document)], memory.snapshot(), [match]).features[0]


@pytest.mark.parametrize("name", TABLE)
def test_a_law_has_the_scores_that_were_computed_by_hand(name):
    document, accepted, similarity, percents, overall = TABLE[name]
    found = score(document, accepted, similarity)
    assert {factor: found[factor] for factor in FACTORS} == {
        factor: percent * 10_000 for factor, percent in zip(FACTORS, percents, strict=True)
    }
    assert found.overall == overall * 100


def test_the_table_uses_every_form_and_reaches_every_rule():
    laws = [document for document, *_ in TABLE.values()]
    assert len({document["template"] for document in laws}) == 8
    for place in range(5):
        assert len({percents[place] for _, _, _, percents, _ in TABLE.values()}) > 2


@pytest.mark.medium
def test_laws_are_returned_from_the_highest_score_to_the_lowest():
    rows = [(document, overall) for document, accepted, near, _, overall in TABLE.values() if not accepted and not near]
    ranked = RankingModel(ranking()).rank(
        [parsed({**document, "law_id": f"law-{n}"}) for n, (document, _) in enumerate(rows)]
    )
    assert [each.overall for each in ranked.features] == sorted((overall * 100 for _, overall in rows), reverse=True)
    assert ranked.laws[0].document["template"] == "symmetry_commutation"
    assert {law.document["law_id"]: each.overall for law, each in zip(ranked.laws, ranked.features, strict=True)} == {
        f"law-{n}": overall * 100 for n, (_, overall) in enumerate(rows)
    }


def test_the_weights_in_the_shipped_ranking_are_those_of_the_document():
    model = load("specs/ranking/scientific-value.yaml")[0].main.model
    assert isinstance(model, Ranking)
    factors = model.factors
    assert {name: (factor.weight, factor.subtract) for name, factor in factors.items()} == {
        "risk": (250_000, False),
        "novelty": (200_000, False),
        "discrimination": (200_000, False),
        "testability": (250_000, False),
        "redundancy": (100_000, True),
    }
    assert (factors["novelty"].start, factors["testability"].start) == (800_000, 1_000_000)
