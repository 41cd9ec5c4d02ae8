"""Redundancy: which laws are the same in other words, how alike others are, and what proofs say of both."""

from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specledger.discovery.equivalence import irredundant, prove_equivalent, prove_implied, statement_of
from specledger.discovery.fingerprint import fingerprint
from specledger.discovery.redundancy import ONE, RedundancyDetector
from specledger.verify.certificates import check_certificate
from tests.toys.claims import T0, T1, T, measured, named, obs, op

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


@given(laws(), st.permutations([0, 1]))
@settings(max_examples=20)
def test_names_and_order_do_not_matter(proposed, law, order):
    again = renamed({**law, "claim_ast": turned(law["claim_ast"])}, {"A": "Zeta", "B": "A"})
    again["observables"] = [again["observables"][place] for place in order]
    match = sees(proposed(**law, law_id="one"), proposed(**again, law_id="two"), equivalent=False)
    assert match is not None
    assert (match.similarity, match.matched_law_id) == (ONE, "one")
    assert match.match_type in ("exact", "fingerprint")


@given(st.integers(-30, 30), st.integers(1, 9), st.sampled_from(["<=", "<", ">=", ">", "==", "!="]))
@settings(max_examples=20)
def test_a_changed_constant_is_another_law(bounded, value, more, word):
    first, second = bounded("count('X')", word, value), bounded("count('X')", word, value + more)
    assert fingerprint(first).meaning != fingerprint(second).meaning
    match = sees(first, second, equivalent=False)
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


# Proofs

EQUIVALENT = {
    "a multiple": ("conserved", [RIGHT], [f"2 * ({RIGHT})"]),
    "a multiple below zero": ("conserved", [RIGHT], [f"0 - ({RIGHT})"]),
    "what no step changes, added": ("conserved", [RIGHT], [f"{RIGHT} + 3 * grid_length - 7"]),
    "other windows, the same sum": ("conserved", ["count('>')"], ["adjacent_pairs('>', '>') + adjacent_pairs('>', '<') + adjacent_pairs('>', '.') + adjacent_pairs('>', 'X')"]),
    "integers are whole": ("bounded", ["2 * count('X')", "<=", 5], ["count('X')", "<", 3]),
}  # fmt: skip

DIFFERENT = {
    "another quantity": ("conserved", [RIGHT], [LEFT]),
    "both hold here": ("conserved", [RIGHT], [f"{RIGHT} + {LEFT}"]),
    "a weaker bound": ("bounded", ["count('X')", "<=", 5], ["count('X')", "<=", 6]),
    "other starts": ("bounded", ["count('X')", "<=", 5], ["2 * count('X')", "<=", 11, "M"]),
}


def certified(first, second):
    """The number of certificates, each checked without a prover; None if there is no proof."""
    ours: Any = statement_of(first.plan.law)
    theirs: Any = statement_of(second.plan.law)
    proofs = prove_equivalent(ours, theirs)
    for proof in proofs or ():
        assert check_certificate(proof, proof["question"], None) is None
    return None if proofs is None else len(proofs)


@pytest.mark.parametrize(("form", "first", "second"), EQUIVALENT.values(), ids=EQUIVALENT)
def test_laws_that_say_the_same_are_proved_to(request, form, first, second):
    propose = request.getfixturevalue(form)
    ours, theirs = propose(*first), propose(*second)
    assert certified(ours, theirs) == 2
    assert sees(ours, theirs).match_type == "equivalent"
    assert sees(ours, theirs, equivalent=False).match_type == "near"


@pytest.mark.parametrize(("form", "first", "second"), DIFFERENT.values(), ids=DIFFERENT)
def test_laws_that_say_something_else_are_not(request, form, first, second):
    propose = request.getfixturevalue(form)
    options = {"starts": {"symbols": [*".><X"]}} if len(second) == 4 else {}
    ours, theirs = propose(*first), propose(*second, **options)
    assert certified(ours, theirs) is None
    assert sees(ours, theirs).match_type == "near"


def test_the_same_claim_under_another_precondition_is_another_law(bounded):
    ours, theirs = (bounded("count('X')", "<=", 5, preconditions=[f"count('>') > {least}"]) for least in (1, 2))
    assert certified(ours, theirs) is None
    assert certified(ours, ours) == 0


def test_an_implication_and_its_contrapositive_say_the_same(proposed):
    observables = named(R="count('>')", X="count('X')")
    one = op("=>", op(">", obs("R"), const(0)), op("==", obs("X"), const(0)))
    other = op("=>", op("!=", obs("X"), const(0)), op("==", obs("R"), const(0)))
    first = proposed("implication_state", observables=observables, claim_ast=one)
    assert certified(first, proposed("implication_state", observables=observables, claim_ast=other)) == 2


def test_a_monotone_law_turned_around_says_the_same(proposed):
    def law(expr, word):
        return proposed(**measured(expr, op(word, obs("N", T1), obs("N")), "monotone", direction=word))

    assert certified(law(RIGHT, "<="), law(f"0 - 3 * ({RIGHT})", ">=")) == 2
    assert certified(law(RIGHT, "<="), law(RIGHT, ">=")) is None


def test_laws_that_say_nothing_are_one_and_are_told_to_be(conserved, bounded):
    for first in (conserved("grid_length"), bounded("count('X')", ">=", 0)):
        match = sees(first, bounded("grid_length - count('X')", ">=", 0))
        assert (match.match_type, match.details) == ("equivalent", "both hold under every rule; 2 certificates")
    match = sees(conserved(RIGHT), conserved(f"2 * ({RIGHT})"))
    assert match.details == "each follows from the other under every rule; 2 certificates"


def test_symmetries_that_differ_in_a_rotation_say_the_same(proposed):
    first = proposed("symmetry_commutation", transform="shift_k(1)")
    assert sees(first, proposed("symmetry_commutation", transform="shift_k(5)")).match_type == "equivalent"
    assert sees(first, proposed("symmetry_commutation", transform="mirror_only")).match_type == "near"


def test_a_wait_is_equivalent_where_both_its_sides_are(proposed):
    def law(expr, bound, horizon):
        claim = op("=>", op(">", obs("N"), const(bound)), op("==", obs("N"), const(0)))
        return proposed(**measured(expr, claim, "eventually", quantifiers={"T": 20, "H": horizon}))

    assert certified(law("count('X')", 0, 3), law("2 * count('X')", 1, 3)) == 4
    assert certified(law("count('X')", 0, 3), law("2 * count('X')", 1, 4)) is None
    waits: Any = statement_of(law("count('X')", 0, 3).plan.law)
    assert prove_implied(waits, [waits]) is None


def test_each_part_that_is_written_differently_is_proved(proposed):
    def law(start, end):
        claim = op("=>", op(">", obs("N"), const(0)), op("==", obs("M"), const(0)))
        observables = named(N=start, M=end)
        return proposed("eventually", observables=observables, claim_ast=claim, quantifiers={"T": 20, "H": 3})

    once, twice = "count('X')", "2 * count('X')"
    found = [certified(law(once, once), law(*other)) for other in product((once, twice), repeat=2)]
    assert found == [0, 2, 2, 4]


@pytest.mark.parametrize(("word", "bound"), [("and", 3), ("or", 5)])
def test_two_bounds_say_what_one_of_them_says(bounded, proposed, word, bound):
    claim = op(word, op("<=", obs("X"), const(5)), op("<=", obs("X"), const(3)))
    both = proposed(**measured("count('X')", claim, name="X"))
    for other in (3, 5):
        assert certified(both, bounded("count('X')", "<=", other)) == (2 if other == bound else None)


def test_windows_that_are_too_many_are_never_proved_about(proposed):
    """At three moments, symbols are one of 64, and windows of three cells too many."""

    def law(factor):
        change = op("==", op("+", obs("N", T1), obs("N")), op("*", const(2), obs("N", T0)))
        claim = op("=>", op("==", obs("N"), obs("N")), change)
        return proposed(**measured(f"{factor} * incoming_collisions", claim, "implication_step"))

    assert certified(law(1), law(2)) is None
    assert certified(law(1), law(1)) == 0


def test_what_follows_from_others_together_is_redundant(conserved, bounded, proposed):
    laws = [
        conserved(RIGHT),
        conserved(LEFT),
        conserved(f"{RIGHT} + {LEFT}"),
        conserved(f"{RIGHT} - 2 * ({LEFT}) + 5"),
        conserved("grid_length"),
        conserved("count('X')"),
        bounded("count('X')", "<=", 5),
        bounded("count('X')", "<=", 6),
        bounded("count('X')", "<=", 4),
        proposed("symmetry_commutation", transform="mirror_swap"),
        proposed("symmetry_commutation", transform="mirror_swap", law_id="again"),
        conserved("leftmost('>')"),
    ]
    statements: list[Any] = [statement_of(law.plan.law) for law in laws]
    assert irredundant(statements) == [0, 1, 5, 6, 8, 9, 11]
    certificate: Any = prove_implied(statements[2], statements[:2])
    assert check_certificate(certificate, certificate["question"], None) is None
    assert prove_implied(statements[2], statements[:1]) is None


def test_a_law_that_is_no_linear_condition_states_nothing(conserved):
    assert statement_of(conserved("leftmost('>')").plan.law) is None
    assert statement_of(conserved("count('>') * count('<')").plan.law) is None
    assert statement_of(conserved("entropy('>')").plan.law) is None


def test_equivalent_laws_agree_on_every_ring_of_a_length(conserved):
    """Judged plainly: from every state of five cells to every other, whichever rule led there."""
    first, second = conserved(RIGHT), conserved(f"{RIGHT} + 3 * grid_length - 7")
    read = [law.plan.law.observables["N"].of for law in (first, second)]
    rings = [*product(range(4), repeat=4)]
    values = [[of(ring) for ring in rings] for of in read]
    for place in range(0, len(rings), 7):
        assert [value == values[0][place] for value in values[0]] == [value == values[1][place] for value in values[1]]


# Batches


def test_of_several_the_first_known_law_is_named(conserved):
    detector = known(*(conserved(RIGHT, law_id=name) for name in ("first", "second")))
    assert detector.check(conserved(RIGHT)).matched_law_id == "first"
