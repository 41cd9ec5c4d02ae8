"""Conditions in disjunctive form: alternatives of conjunctions of linear rows.

The order is fixed, so that a checker can repeat it: left to right, earlier parts varying slowest, `!=` as `<` then
`>`. Values are integers, so `<` is `<=` with a bound less by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeAlias

from msgspec import Struct

from specledger.wings.laws.automaton import Additive
from specledger.wings.laws.proofs.question import (
    Always,
    And,
    Claim,
    Comparison,
    Condition,
    Conserved,
    Eventually,
    Linear,
    Monotone,
    Not,
    Or,
    Term,
    implies,
)

_OPPOSITE: Final[dict[Comparison, Comparison]] = {
    "<=": ">",
    ">": "<=",
    ">=": "<",
    "<": ">=",
    "==": "!=",
    "!=": "==",
}


class TooManyClauses(Exception):  # noqa: N818 - a limit that was met, not an error of the engine
    """The disjunctive form has more conjunctions than allowed."""


class Atom(Struct, frozen=True):
    """`sum(terms) >= bound`, or `== bound`; constants of observables are not yet moved into the bound."""

    terms: tuple[Term, ...]
    equal: bool
    bound: int


Clause: TypeAlias = tuple[Atom, ...]


def clauses(condition: Condition, limit: int, *, negated: bool = False) -> list[Clause]:
    """The alternatives of a condition, or of its negation.

    Raises:
        TooManyClauses: There are more than the limit.
    """
    match condition:
        case Linear(terms, op, bound):
            return _atoms(terms, _OPPOSITE[op] if negated else op, bound)
        case Not(part):
            return clauses(part, limit, negated=not negated)
        case And(parts) | Or(parts):
            listed = [clauses(part, limit, negated=negated) for part in parts]
            if isinstance(condition, Or) != negated:
                all_clauses = [clause for alternatives in listed for clause in alternatives]
                if len(all_clauses) > limit:
                    raise TooManyClauses
                return all_clauses
            return joined(listed, limit)


def joined(listed: list[list[Clause]], limit: int) -> list[Clause]:
    """One alternative of each list, in every combination.

    Raises:
        TooManyClauses: There are more than the limit.
    """
    product: list[Clause] = [()]
    for alternatives in listed:
        product = [(*first, *second) for first in product for second in alternatives]
        if len(product) > limit:
            raise TooManyClauses
    return product


def _atoms(terms: tuple[Term, ...], op: Comparison, bound: int) -> list[Clause]:
    lowered = tuple(Term(-term.coefficient, term.observable, term.at) for term in terms)
    match op:
        case "==" | ">=":
            return [(Atom(terms, op == "==", bound),)]
        case ">":
            return [(Atom(terms, False, bound + 1),)]
        case "<=":
            return [(Atom(lowered, False, -bound),)]
        case "<":
            return [(Atom(lowered, False, 1 - bound),)]
        case _:
            return [(Atom(lowered, False, 1 - bound),), (Atom(terms, False, bound + 1),)]


def terms_of(condition: Condition) -> Iterator[Term]:
    """Every term of a condition."""
    match condition:
        case Linear(terms, _, _):
            yield from terms
        case Not(part):
            yield from terms_of(part)
        case And(parts) | Or(parts):
            for part in parts:
                yield from terms_of(part)


def delayed(condition: Condition, steps: int) -> Condition:
    """The condition so many steps later; what it says of the initial state stays."""
    match condition:
        case Linear(terms, op, bound):
            moved = (
                term if term.at is None else Term(term.coefficient, term.observable, term.at + steps) for term in terms
            )
            return Linear(tuple(moved), op, bound)
        case Not(part):
            return Not(delayed(part, steps))
        case And(parts):
            return And(tuple(delayed(part, steps) for part in parts))
        case Or(parts):
            return Or(tuple(delayed(part, steps) for part in parts))


def as_condition(claim: Claim) -> Condition | None:
    """What the claim says of every t as a condition, or None if it is not about additive observables."""
    match claim:
        case Always(condition):
            return condition
        case Eventually(antecedent, consequent, within):
            return implies(antecedent, Or(tuple(delayed(consequent, steps) for steps in range(within + 1))))
        case Conserved(observable):
            return Linear(_growth(observable), "==", 0)
        case Monotone(observable, direction):
            return Linear(_growth(observable), direction, 0)
        case _:
            return None


def _growth(observable: Additive) -> tuple[Term, Term]:
    return Term(1, observable, 1), Term(-1, observable, 0)
