"""The parts of the checker of laws that share nothing with the prover, each on values by hand."""

from itertools import product
from types import SimpleNamespace
from typing import Any

import pytest

from specledger.wings.laws.verify import violation
from specledger.wings.laws.verify.conditions import (
    OPERATORS,
    InvalidCertificate,
    alternatives,
    combine,
    condition_of,
    delayed,
    fields,
    terms,
)
from specledger.wings.laws.verify.violation import judge_step, scanned, stepped, transformed


def row(name, op, bound, times=1):
    return {"sum": [{"times": times, "observable": name, "at": 0}], "op": op, "bound": bound}


def total(row_, values):
    return sum(term["times"] * values[term["observable"]] for term in row_)


def truth(condition, values):
    if "sum" in condition:
        return OPERATORS[condition["op"]](total(condition["sum"], values), condition["bound"])
    ((name, parts),) = condition.items()
    if name == "not":
        return not truth(parts, values)
    return (all if name == "and" else any)(truth(part, values) for part in parts)


CONDITIONS = [
    *(row("a", op, bound, times) for op in OPERATORS for bound in (-1, 0, 1) for times in (1, -2)),
    {"and": [row("a", "<", 1), row("b", "!=", 0)]},
    {"or": [row("a", "==", 1), row("b", ">", 0)]},
    {"not": {"and": [row("a", "!=", 1), {"or": [row("b", ">", 0), row("a", "<=", -1)]}]}},
    {"and": []},
    {"or": []},
]


@pytest.mark.parametrize("condition", CONDITIONS, ids=str)
@pytest.mark.parametrize("negated", [False, True])
def test_the_alternatives_are_true_where_the_condition_is(condition, negated):
    listed = alternatives(condition, negated)
    for a, b in product(range(-3, 4), repeat=2):
        values = {"a": a, "b": b}
        holds = any(
            all(
                total(row_, values) == bound if equal else total(row_, values) >= bound for row_, equal, bound in clause
            )
            for clause in listed
        )
        assert holds == (truth(condition, values) != negated)


def test_alternatives_have_one_order():
    below, above = alternatives(row("a", "!=", 5), False)
    assert ([bound for _, _, bound in below], [bound for _, _, bound in above]) == ([-4], [6])
    listed: Any = [[["x"], ["y"]], [["z"]]]
    combined: Any = combine(listed)
    assert combined == [["x", "z"], ["y", "z"]]
    assert combine([]) == [[]]


@pytest.mark.parametrize(("count", "fits"), [(10, True), (11, False)])
def test_there_are_no_more_alternatives_than_a_checker_reads(count, fits):
    both = {"and": [row("a", "!=", 0)] * count}
    each = {"or": [row("a", ">", 0)] * (1 << count)}
    for condition in (both, each):
        if fits:
            assert len(alternatives(condition, False)) == 1024
        else:
            with pytest.raises(InvalidCertificate, match="too many clauses"):
                alternatives(condition, False)


def test_a_condition_is_moved_but_for_what_it_says_of_the_start():
    fixed = {"times": 1, "observable": "b", "at": None}
    moving = {"sum": [{"times": 2, "observable": "a", "at": 1}, fixed], "op": "<", "bound": 3}
    later = {"sum": [{"times": 2, "observable": "a", "at": 5}, fixed], "op": "<", "bound": 3}
    assert delayed({"not": {"and": [moving]}}, 4) == {"not": {"and": [later]}}
    assert list(terms({"not": {"or": [moving]}})) == moving["sum"]


def test_what_a_claim_says_of_every_step():
    growth = [{"times": 1, "observable": "a", "at": 1}, {"times": -1, "observable": "a", "at": 0}]
    conserved: dict[str, Any] = {"kind": "conserved", "observable": "a"}
    assert condition_of(conserved) == {"sum": growth, "op": "==", "bound": 0}
    assert condition_of({**conserved, "kind": "monotone", "direction": "<="})["op"] == "<="
    assert condition_of({"kind": "always", "condition": 7}) == 7
    waits = condition_of(
        {"kind": "eventually", "antecedent": row("a", ">", 0), "consequent": row("b", ">", 0), "within": 2}
    )
    assert [term["at"] for term in terms(waits)] == [0, 0, 1, 2]
    assert [list(part) for part in waits["or"]] == [["not"], ["or"]]
    with pytest.raises(InvalidCertificate, match="not about additive observables"):
        condition_of({"kind": "local"})


@pytest.mark.parametrize("value", [{"a": 1}, {"a": 1, "b": 2, "c": 3}, [], None])
def test_an_object_has_exactly_its_fields(value):
    assert fields({"b": 2, "a": 1}, "a", "b") == [1, 2]
    with pytest.raises(InvalidCertificate, match="expected the fields a, b"):
        fields(value, "a", "b")


@pytest.mark.parametrize(
    ("marks", "longest", "first", "last", "extent"),
    [
        ("....", 0, -1, -1, -1),
        ("x...", 1, 0, 0, 0),
        ("...x", 1, 3, 3, 0),
        (".x.x", 1, 1, 3, 2),
        ("xx.xxx", 3, 0, 5, 5),
        ("xxxx", 4, 0, 3, 3),
    ],
)
def test_a_scan_of_a_ring(marks, longest, first, last, extent):
    wanted = [mark == "x" for mark in marks]
    found = [scanned(form, wanted) for form in ("longest", "first", "last", "extent")]
    assert found == [longest, first, last, extent]


@pytest.mark.parametrize(
    ("number", "ring", "after"),
    [(184, [1, 1, 0, 0], [1, 0, 1, 0]), (170, [1, 0, 0], [0, 0, 1]), (240, [1, 0, 0], [0, 1, 0]), (204, [1], [1])],
)
def test_a_ring_one_step_later(number, ring, after):
    assert stepped([number >> code & 1 for code in range(8)], 2, ring) == after


def test_a_table_of_five_cells_reads_two_on_either_side():
    right = [code & 1 for code in range(32)]
    left = [code >> 4 for code in range(32)]
    assert stepped(right, 2, [1, 0, 0, 0, 0]) == [0, 0, 0, 1, 0]
    assert stepped(left, 2, [1, 0, 0, 0, 0]) == [0, 0, 1, 0, 0]


@pytest.mark.parametrize(
    ("shift", "reflect", "result"),
    [(0, False, [0, 1, 2]), (1, False, [2, 0, 1]), (-1, False, [1, 2, 0]), (4, False, [2, 0, 1]), (1, True, [0, 2, 1])],
)
def test_a_ring_is_reflected_then_rotated(shift, reflect, result):
    assert transformed([0, 1, 2], [0, 1, 2], shift, reflect=reflect) == result
    assert transformed([0, 1, 2], [5, 6, 7], shift, reflect=reflect) == [cell + 5 for cell in result]


@pytest.mark.parametrize(
    ("antecedent", "within", "cells", "true", "judged"),
    [
        (None, False, False, {("holds", 3, 0)}, (True, False)),
        (None, False, False, set(), (True, True)),
        ("if", False, False, set(), (False, False)),
        ("if", False, False, {("if", 3, 0)}, (True, True)),
        ("if", True, False, {("if", 3, 0), ("holds", 5, 0)}, (True, False)),
        ("if", True, False, {("if", 3, 0), ("holds", 6, 0)}, (True, True)),
        ("if", False, False, {("if", 3, 0), ("holds", 5, 0)}, (True, True)),
        ("if", False, True, {("if", 3, 1)}, (True, True)),
        ("if", False, False, {("if", 3, 1)}, (False, False)),
        ("if", False, True, {("if", 3, 1), ("holds", 3, 1)}, (True, False)),
        ("if", False, True, {("if", 3, 2)}, (False, False)),
    ],
)
def test_a_step_is_judged_at_each_cell_until_the_bound(antecedent, within, cells, true, judged):
    template = SimpleNamespace(within=within, cells=cells)
    law: Any = SimpleNamespace(antecedent=antecedent, holds="holds", template=template, H=2)
    assert judge_step(law, 2, 3, lambda node, t, cell: (node, t, cell) in true) == judged


@pytest.mark.parametrize(
    ("op", "left", "right", "value"),
    [
        ("<", 1, 2, True),
        ("==", "a", "a", True),
        ("=>", False, False, True),
        ("=>", True, False, False),
        ("and", True, False, False),
        ("or", True, False, True),
        ("+", 2**63 - 2, 1, 2**63 - 1),
        ("-", -(2**63) + 1, 1, -(2**63)),
        ("*", 3, -2, -6),
    ],
)
def test_an_operation_of_a_claim(op, left, right, value):
    assert violation._apply(op, left, right) == value


@pytest.mark.parametrize(("op", "left", "right"), [("+", 2**63 - 1, 1), ("-", -(2**63), 1), ("*", 2**32, 2**31)])
def test_an_integer_beyond_64_bits_is_refused(op, left, right):
    with pytest.raises(InvalidCertificate, match="leaves 64 bits"):
        violation._apply(op, left, right)


@pytest.mark.parametrize(
    ("shortest", "longest", "lengths"),
    [(1, 9, [2, 4]), (3, 3, [8]), (4, 9, [16, 24]), (6, 7, [24, 24]), (5, 4, [])],
)
def test_a_proved_law_is_tried_on_starts_of_its_shortest_rings(shortest, longest, lengths):
    law: Any = SimpleNamespace(starts=(0, 1), universe=SimpleNamespace(shortest=shortest))
    starts = list(violation._short_starts(law, longest))
    assert [
        len([start for start in starts if len(start) == shortest + more]) for more in range(len(lengths))
    ] == lengths
    assert len(starts) == sum(lengths)
    assert len({tuple(start) for start in starts}) == len(starts)
    assert not starts or starts[0] == [0] * shortest
