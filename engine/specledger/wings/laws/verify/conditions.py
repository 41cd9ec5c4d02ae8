"""Conditions of a question as JSON: what a claim says of every step, and the clauses of its negation.

docs/proofs.md has the fields; the clauses of a condition are in the order that it gives.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import eq, ge, gt, le, lt, ne
from typing import Any, Final, TypeAlias

MAX_CLAUSES: Final = 1 << 10

Json: TypeAlias = Any
Clause: TypeAlias = list[tuple[list[Json], bool, int]]  # of each row: its terms, whether ==, else >=, its bound

OPERATORS: Final = {"<=": le, ">=": ge, "==": eq, "!=": ne, "<": lt, ">": gt}
_OPPOSITE: Final = {"<=": ">", ">": "<=", ">=": "<", "<": ">=", "==": "!=", "!=": "=="}


class InvalidCertificate(ValueError):  # noqa: N818 - says what the certificate is, not that the engine failed
    """The certificate does not prove the question."""


def require(holds: bool, message: str) -> None:
    """Refuse the certificate unless something holds."""
    if not holds:
        raise InvalidCertificate(message)


def fields(value: Json, *names: str) -> list[Json]:
    """The values of an object that has exactly these fields."""
    require(isinstance(value, dict) and value.keys() == set(names), f"expected the fields {', '.join(names)}")
    return [value[name] for name in names]


def condition_of(claim: Json) -> Json:
    """What a claim about additive observables says of every t, as a condition."""
    kind = claim["kind"]
    if kind == "always":
        return claim["condition"]
    if kind == "eventually":
        later = [delayed(claim["consequent"], steps) for steps in range(claim["within"] + 1)]
        return {"or": [{"not": claim["antecedent"]}, {"or": later}]}
    require(kind in ("conserved", "monotone"), "the claim is not about additive observables")
    growth = [{"times": times, "observable": claim["observable"], "at": at} for times, at in ((1, 1), (-1, 0))]
    return {"sum": growth, "op": claim.get("direction", "=="), "bound": 0}


def delayed(condition: Json, steps: int) -> Json:
    """The condition so many steps later."""
    if "sum" in condition:
        moved = [{**term, "at": term["at"] + steps} if term["at"] is not None else term for term in condition["sum"]]
        return {**condition, "sum": moved}
    ((name, parts),) = condition.items()
    return {name: delayed(parts, steps) if name == "not" else [delayed(part, steps) for part in parts]}


def terms(condition: Json) -> Iterator[Json]:
    """Every term of a condition."""
    if "sum" in condition:
        yield from condition["sum"]
        return
    ((name, parts),) = condition.items()
    for part in [parts] if name == "not" else parts:
        yield from terms(part)


def alternatives(condition: Json, negated: bool) -> list[Clause]:
    """The disjunctive form of a condition, or of its negation."""
    if "not" in condition:
        return alternatives(condition["not"], not negated)
    if "sum" not in condition:
        ((name, parts),) = condition.items()
        listed = [alternatives(part, negated) for part in parts]
        clauses = (
            combine(listed)
            if (name == "and") != negated
            else [clause for clause_list in listed for clause in clause_list]
        )
        require(len(clauses) <= MAX_CLAUSES, "too many clauses")
        return clauses
    op, bound, up = condition["op"], condition["bound"], condition["sum"]
    op = _OPPOSITE[op] if negated else op
    down = [{**term, "times": -term["times"]} for term in up]
    below, above = [(down, False, 1 - bound)], [(up, False, bound + 1)]
    rows = {"<": [below], ">": [above], "!=": [below, above], "<=": [[(down, False, -bound)]]}
    return rows.get(op) or [[(up, op == "==", bound)]]


def combine(listed: list[list[Clause]]) -> list[Clause]:
    """One alternative of each list, in every combination, earlier ones varying slowest."""
    product: list[Clause] = [[]]
    for some in listed:
        require(len(product) * len(some) <= MAX_CLAUSES, "too many clauses")
        product = [first + second for first in product for second in some]
    return product
