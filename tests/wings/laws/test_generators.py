"""Cases are data: the same for a seed everywhere, within the contract, in the shares that the universe asks for."""

import itertools
from collections import Counter

import pytest

from specledger.core.rng import Stream
from specledger.wings.laws.generators import Maker, apportion, digest_cases, make_cases
from specledger.wings.laws.spec.universe import Generator

LAW = {"template": "symmetry_commutation", "transform": "mirror_swap"}


def test_the_mix_is_the_universes_own(law_of):
    cases = make_cases(law_of(LAW))
    assert Counter(case.family for case in cases) == {
        "pathological_cases": 20,
        "random_density_sweep": 84,
        "constrained_pair_interactions": 56,
        "edge_wrapping_cases": 42,
        "symmetry_metamorphic_suite": 42,
        "adversarial_mutation_search": 28,
        "extreme_states": 28,
    }


def test_families_make_their_first_cases_in_their_order_then_the_rest_by_name_and_changes_of_others_last(law_of):
    law = law_of(LAW)
    families = law.universe.generators
    told = [case.family for case in make_cases(law)]
    first = [name for name, options in families.items() for _ in range(options.first)]
    assert told[: len(first)] == first
    rest = [name for name, _ in itertools.groupby(told[len(first) :])]
    others = sorted(name for name, options in families.items() if options.weight and options.make != "mutations")
    assert rest == [*others, *(name for name, options in families.items() if options.make == "mutations")]


def test_a_seed_gives_the_same_cases_everywhere(law_of):
    law = law_of(LAW)
    digest = digest_cases(law.universe, make_cases(law))
    assert digest == digest_cases(law.universe, make_cases(law_of(LAW)))
    assert digest != digest_cases(law.universe, make_cases(law_of({**LAW, "seed": 43})))


@pytest.mark.parametrize("symbols", [[".", ">"], [".", ">", "<", "X"], [">", "X"]])
def test_every_start_is_within_the_contract(law_of, symbols):
    law = law_of({**LAW, "starts": {"symbols": symbols}})
    cases = make_cases(law)
    assert {law.universe.alphabet[cell] for case in cases for cell in case.start} == set(symbols)
    assert {len(case.start) for case in cases} >= {4, 200}
    assert all(4 <= len(case.start) <= 200 for case in cases)


def test_collisions_are_in_starts_only_where_a_test_says_so(law_of):
    asked = {"family": "constrained_pair_interactions", "params": {"include_collision_state": True, "cases": 30}}
    law = law_of({**LAW, "proposed_tests": [asked, {"family": "random_density_sweep", "params": {"lengths": [7, 9]}}]})
    cases = make_cases(law)
    assert {case.family for case in cases if 3 in case.start} == {"constrained_pair_interactions"}
    assert {len(case.start) for case in cases if case.family == "random_density_sweep"} == {7, 9}
    assert Counter(case.family for case in cases) == {"constrained_pair_interactions": 30, "random_density_sweep": 270}


def test_edges_hold_something_at_both_ends(law_of):
    law = law_of({**LAW, "proposed_tests": [{"family": "edge_wrapping_cases"}]})
    assert all(case.start[0] and case.start[-1] for case in make_cases(law))


REPEATED = {
    "whole times": ((">..<", ">>."), (5, 9), [">..<", ">>.>>.", ">..<>..<", ">>.>>.>>."]),
    "one cell": ((">",), (4, 6), [">>>>", ">>>>>>", ">>>>"]),
    "longer than the ring that was asked for": ((">......<",), (5,), [">......<"]),
    "where no ring may be so long": ((">" + "." * 14 + "<",), (200,), [(">" + "." * 14 + "<") * 12]),
    "one that a law leaves out": ((">X",), (4,), ["...."]),
}


@pytest.mark.parametrize(("words", "sizes", "texts"), REPEATED.values(), ids=REPEATED)
def test_a_word_is_repeated_around_the_ring(words, sizes, texts, kinetic):
    family = Generator(make="repeats", weight=1, words=list(words))
    maker = Maker(kinetic, family, (0, 1, 2), sizes, Stream.named(1, "cases"))
    assert [kinetic.text(start) for start in maker.make(len(texts))] == texts


@pytest.mark.parametrize(
    ("count", "weights", "shares"),
    [
        (10, {"a": 1, "b": 1, "c": 1}, {"a": 4, "b": 3, "c": 3}),
        (7, {"a": 1, "b": 5}, {"a": 1, "b": 6}),
        (5, {"a": 0, "b": 0}, {"a": 0, "b": 0}),
        (0, {"a": 3}, {"a": 0}),
    ],
)
def test_a_number_is_split_by_weights(count, weights, shares):
    assert apportion(count, weights) == shares
