"""Conditions in disjunctive form: as many alternatives as allowed, and true exactly where the condition is."""

from itertools import product
from typing import Any

import pytest

from specledger.wings.laws.proofs.clauses import TooManyClauses, as_condition, clauses, delayed, joined, terms_of
from specledger.wings.laws.proofs.question import Always, And, Conserved, Eventually, Linear, Monotone, Not, Or, Term

A: Any = "a"
B: Any = "b"
HOLDS = {
    "==": lambda left, right: left == right,
    "!=": lambda left, right: left != right,
    "<": lambda left, right: left < right,
    "<=": lambda left, right: left <= right,
    ">": lambda left, right: left > right,
    ">=": lambda left, right: left >= right,
}


def row(name: Any, op: Any, bound, coefficient=1):
    return Linear((Term(coefficient, name, 0),), op, bound)


def total(terms, values):
    return sum(term.coefficient * values[term.observable] for term in terms)


def truth(condition, values):
    match condition:
        case Linear(terms, op, bound):
            return HOLDS[op](total(terms, values), bound)
        case Not(part):
            return not truth(part, values)
        case And(parts):
            return all(truth(part, values) for part in parts)
        case Or(parts):
            return any(truth(part, values) for part in parts)


def true_of(alternatives, values):
    return any(
        all(
            (total(atom.terms, values) == atom.bound) if atom.equal else (total(atom.terms, values) >= atom.bound)
            for atom in clause
        )
        for clause in alternatives
    )


SINGLE = [row(A, op, bound, factor) for op in HOLDS for bound in (-1, 0, 1) for factor in (1, -2)]
NESTED = [
    And((row(A, "<", 1), row(B, "!=", 0))),
    Or((row(A, "==", 1), row(B, ">", 0))),
    Not(And((row(A, "!=", 1), Or((row(B, ">", 0), row(A, "<=", -1)))))),
    Or((And((row(A, ">=", 0), row(B, "<", 0))), Not(Not(row(B, "==", 2))))),
    And(()),
    Or(()),
]


@pytest.mark.parametrize("condition", [*SINGLE, *NESTED], ids=str)
@pytest.mark.parametrize("negated", [False, True])
def test_the_alternatives_are_true_where_the_condition_is(condition, negated):
    alternatives = clauses(condition, 100, negated=negated)
    for a, b in product(range(-3, 4), repeat=2):
        values = {A: a, B: b}
        assert true_of(alternatives, values) == (truth(condition, values) != negated)


def test_less_comes_before_more():
    assert [clause[0].bound for clause in clauses(row(A, "!=", 5), 9)] == [-4, 6]
    first, second = clauses(Or((row(A, ">=", 1), row(B, ">=", 2))), 9)
    assert (first[0].bound, second[0].bound) == (1, 2)
    pairs = clauses(And((row(A, "!=", 0), row(B, "!=", 5))), 9)
    assert [tuple(atom.bound for atom in clause) for clause in pairs] == [(1, -4), (1, 6), (1, -4), (1, 6)]
    assert [clause[0].terms[0].coefficient for clause in pairs] == [-1, -1, 1, 1]


@pytest.mark.parametrize(
    ("condition", "count"),
    [
        (Or(tuple(row(A, ">=", bound) for bound in range(4))), 4),
        (And((row(A, "!=", 0), row(B, "!=", 0))), 4),
        (And((row(A, "!=", 0), row(B, "!=", 0), row(A, "!=", 1))), 8),
        (Not(Or((row(A, "==", 0), row(B, "==", 0)))), 4),
    ],
    ids=str,
)
def test_there_are_no_more_alternatives_than_allowed(condition, count):
    assert len(clauses(condition, count)) == count
    with pytest.raises(TooManyClauses):
        clauses(condition, count - 1)


def test_one_alternative_of_each_list_in_every_combination():
    one, two, three = (clauses(row(A, ">=", bound), 1)[0] for bound in (1, 2, 3))
    assert joined([[one, two], [three]], 2) == [(*one, *three), (*two, *three)]
    assert joined([], 1) == [()]
    assert joined([[one], []], 1) == []
    with pytest.raises(TooManyClauses):
        joined([[one, two], [three]], 1)


def test_a_condition_is_moved_but_for_what_it_says_of_the_start():
    condition = Not(And((Linear((Term(2, A, 1), Term(1, B, None)), "<", 3), Or((row(B, ">", 0),)))))
    later = Not(And((Linear((Term(2, A, 5), Term(1, B, None)), "<", 3), Or((Linear((Term(1, B, 4),), ">", 0),)))))
    assert delayed(condition, 4) == later
    assert delayed(condition, 0) == condition
    assert list(terms_of(condition)) == [Term(2, A, 1), Term(1, B, None), Term(1, B, 0)]


def test_what_a_claim_says_of_every_step():
    growth = (Term(1, A, 1), Term(-1, A, 0))
    assert as_condition(Conserved(A)) == Linear(growth, "==", 0)
    assert as_condition(Monotone(A, ">=")) == Linear(growth, ">=", 0)
    assert as_condition(Always(row(A, ">", 0))) == row(A, ">", 0)
    waits: Any = as_condition(Eventually(row(A, ">", 0), row(B, "==", 1), 2))
    for a, b in product((0, 1), repeat=2):
        assert truth(waits, {A: a, B: b}) == (a == 0 or b == 1)
    assert {term.at for term in terms_of(waits) if term.observable == B} == {0, 1, 2}
