"""Redundancy: which laws are the same in other words, how alike others are."""

from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specledger.wings.discovery.redundancy import ONE, RedundancyDetector
from tests.toys.claims import T0, T, measured, named, obs, op

RIGHT, LEFT = "count('>') + count('X')", "count('<') + count('X')"


def const(value):
    return {"const": value}


def known(*laws, **options) -> Any:
    detector = RedundancyDetector(**options)
    for law in laws:
        detector.add_known_law(law)
    return detector


def sees(first, second, **options) -> Any:
    return known(first, **options).nearest(second)


# Tiers


def test_the_same_candidate_with_another_id_is_exact(conserved):
    match = sees(conserved(RIGHT, law_id="right"), conserved(RIGHT, law_id="another"))
    assert (match.matched_law_id, match.similarity, match.match_type) == ("right", ONE, "exact")


def test_other_words_of_the_same_meaning_are_found_by_fingerprint(conserved, proposed):
    split = named(A="count('X')", B="count('>')")
    total = {
        when: op("+", obs("A", {"var": "t"} if when else T0), obs("B", T if when else T0)) for when in (True, False)
    }
    others = [
        conserved(RIGHT, name="R"),
        conserved("count('X') + count('>')"),
        conserved("2 * count('>') + count('X') - count('>')"),
        conserved(RIGHT, forbidden="another sentence", claim="in words"),
        proposed(observables=split, claim_ast=op("==", total[False], total[True])),
    ]
    assert [sees(conserved(RIGHT), other).match_type for other in others] == ["fingerprint"] * len(others)


def test_a_bound_and_an_invariant_that_say_the_same_are_one(bounded, proposed):
    claim = op(">=", const(3), obs("X"))
    invariant = proposed(**measured("count('X')", claim, name="X"))
    assert sees(bounded("count('X')", "<=", 3), invariant).match_type == "fingerprint"


MANY = " + ".join(f"adjacent_pairs('{a}', '{b}')" for a, b in product(".><X", repeat=2))

WRITTEN = {
    "scans": (["leftmost('>')"], ["rightmost('>')"], ["leftmost('>') + 0"]),
    "products": (["count('>') * count('<')"], ["count('>') * count('>')"], ["count('<') * count('>')"]),
    "products that are multiplied out": (["(count('>') + 1) * count('X')"], ["(count('>') + 2) * count('X')"], ["count('X') + count('>') * count('X')"]),
    "products of too many terms": ([f"({MANY}) * ({MANY}) * ({MANY})"], [f"({MANY}) * ({MANY}) * ({MANY}) + 1"], [f"({MANY}) * (({MANY}) * ({MANY}))"]),
    "products of too many things": (["count('>')" + " * count('>')" * 19], ["count('>')" + " * count('>')" * 20], ["count('>')" + " * count('>')" * 19]),
}  # fmt: skip


@pytest.mark.parametrize(("one", "other", "same"), WRITTEN.values(), ids=WRITTEN)
def test_what_is_no_plain_sum_is_compared_too(conserved, one, other, same):
    assert sees(conserved(*one), conserved(*same, name="M")).match_type == "fingerprint"
    assert sees(conserved(*one), conserved(*other)).match_type == "near"


def test_case_is_kept_where_it_tells_two_observables_apart(proposed):
    def law(left, right):
        both = [{"name": name, "expr": f"missing('{name}')"} for name in ("a", "A")]
        return proposed(observables=both, claim_ast=op("==", obs(left), obs(right, T0)))

    assert sees(law("a", "A"), law("A", "a")).match_type == "near"


# Properties

LEAVES = st.sampled_from(["count('>')", "count('<')", "count('X')", "grid_length", "incoming_collisions"])
NUMBERS = st.integers(-4, 4)


def leaf(names):
    return st.one_of(
        st.builds(const, NUMBERS),
        st.builds(obs, st.sampled_from(names)),
        st.builds(obs, st.sampled_from(names), st.just(T0)),
    )


def integers(names):
    return st.recursive(leaf(names), lambda inner: st.builds(op, st.sampled_from("+-*"), inner, inner), max_leaves=4)


def claims(names):
    compared = st.builds(op, st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), integers(names), integers(names))
    return st.recursive(
        compared, lambda inner: st.builds(op, st.sampled_from(["and", "or", "=>"]), inner, inner), max_leaves=3
    )


@st.composite
def laws(draw):
    names = ["A", "B"]
    exprs = [draw(LEAVES) for _ in names]
    return {
        "observables": [{"name": name, "expr": expr} for name, expr in zip(names, exprs, strict=True)],
        "claim_ast": draw(claims(names)),
        "preconditions": draw(st.lists(st.sampled_from(["count('>') > 0", "grid_length < 9"]), unique=True)),
    }


def renamed(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {
            key: names.get(each, each) if key in ("obs", "name") else renamed(each, names)
            for key, each in value.items()
        }
    return [renamed(each, names) for each in value] if isinstance(value, list) else value


def turned(claim: Any) -> Any:
    """The claim with the operands of everything that commutes exchanged, and comparisons mirrored."""
    if not isinstance(claim, dict) or "lhs" not in claim:
        return claim
    left, right = turned(claim["lhs"]), turned(claim["rhs"])
    mirrored = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
    word = claim["op"]
    if word in ("-", "=>"):
        return op(word, left, right)
    return op(mirrored.get(word, word), right, left)


@pytest.mark.medium
@given(laws(), st.permutations([0, 1]))
@settings(max_examples=20)
def test_names_and_order_do_not_matter(proposed, law, order):
    again = renamed({**law, "claim_ast": turned(law["claim_ast"])}, {"A": "Zeta", "B": "A"})
    again["observables"] = [again["observables"][place] for place in order]
    match = sees(proposed(**law, law_id="one"), proposed(**again, law_id="two"))
    assert match is not None
    assert (match.similarity, match.matched_law_id) == (ONE, "one")
    assert match.match_type in ("exact", "fingerprint")


@pytest.mark.medium
@given(st.integers(-30, 30), st.integers(1, 9), st.sampled_from(["<=", "<", ">=", ">", "==", "!="]))
@settings(max_examples=20)
def test_a_changed_constant_is_another_law(bounded, value, more, word):
    first, second = bounded("count('X')", word, value), bounded("count('X')", word, value + more)
    assert first.fingerprint.meaning != second.fingerprint.meaning
    match = sees(first, second)
    assert match.match_type == "near"
    assert 0 < match.similarity < 900_000


# What is alike


def test_what_has_more_in_common_is_more_alike(bounded, conserved, proposed):
    first = bounded("count('X')", "<=", 3)
    others = [
        bounded("count('X')", "<=", 3, preconditions=["count('>') > 0"]),
        bounded("count('X')", "<=", 4),
        conserved(RIGHT),
        proposed("symmetry_commutation", transform="mirror_swap"),
    ]
    found = [sees(first, other).similarity for other in others]
    assert found == sorted(found, reverse=True)
    assert len(set(found)) == len(found)
    assert all(sees(other, first).similarity == similarity for other, similarity in zip(others, found, strict=True))


def test_only_what_reaches_the_threshold_is_left_out(bounded):
    first, second = bounded("count('X')", "<=", 3), bounded("count('X')", "<=", 4)
    similarity = sees(first, second).similarity
    assert known(first, threshold=similarity).check(second) is not None
    assert known(first, threshold=similarity + 1).check(second) is None
    left = known(first).filter_batch([second])
    assert left.redundant == ()
    assert left.nearest[0].similarity == similarity


DIFFERENT = {
    "another quantity": ("conserved", [RIGHT], [LEFT]),
    "a multiple": ("conserved", [RIGHT], [f"2 * ({RIGHT})"]),
    "both hold here": ("conserved", [RIGHT], [f"{RIGHT} + {LEFT}"]),
    "a weaker bound": ("bounded", ["count('X')", "<=", 5], ["count('X')", "<=", 6]),
    "other starts": ("bounded", ["count('X')", "<=", 5], ["2 * count('X')", "<=", 11, "M"]),
}


@pytest.mark.parametrize(("form", "first", "second"), DIFFERENT.values(), ids=DIFFERENT)
def test_laws_that_say_something_else_are_not_the_same(request, form, first, second):
    propose = request.getfixturevalue(form)
    options = {"starts": {"symbols": [*".><X"]}} if len(second) == 4 else {}
    assert sees(propose(*first), propose(*second, **options)).match_type == "near"


# Batches


def test_of_several_the_first_known_law_is_named(conserved):
    detector = known(*(conserved(RIGHT, law_id=name) for name in ("first", "second")))
    assert detector.check(conserved(RIGHT)).matched_law_id == "first"
