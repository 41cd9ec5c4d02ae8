"""A start from which an antecedent holds: every short ring is tried, against a plain search, then cases are changed."""

from itertools import product

import pytest

from specledger.wings.laws import witness
from specledger.wings.laws.generators import Case
from specledger.wings.laws.run import Run
from specledger.wings.laws.witness import Witness, find_witness
from tests.toys.claims import T0, measured, obs, op

SPREAD = 254  # a cell is 1 if it or a neighbour was


@pytest.fixture
def law(plan_of):
    """A law that whatever meets a condition meets another one, of the spreading ones of a ring."""

    def read(antecedent, then, **fields):
        tree = op("=>", antecedent, then)
        return plan_of(measured("count('1')", tree, "implication_state", **fields), "elementary_rule", SPREAD).law

    return read


def ones(word, number, at=None):
    return op(word, obs("N", at), {"const": number})


LATER = op("and", ones("==", 5), ones("==", 1, T0))
CLOSED = op("and", ones("==", 7), ones("==", 3, T0))
LAWS = {
    "the shortest ring": (ones("==", 0), ones("<=", 9), {}),
    "a longer ring": (ones("==", 5), ones("<=", 9), {}),
    "a later step": (LATER, ones("<=", 9), {}),
    "starts that a precondition admits": (ones("==", 2), ones("<=", 9), {"preconditions": ["count('0') >= 3"]}),
    "a violation": (ones("==", 6), ones("==", 5), {}),
    "a violation, beside starts that violate nothing": (CLOSED, ones("!=", 7), {}),
    "no ring": (ones("==", 201), ones("<=", 9), {}),
}


def searched(law, lengths):
    """The same, ring by ring: the shortest that violates the law, the earliest of these, else the first one."""
    for length in lengths:
        met = []
        for start in product(law.starts, repeat=length):
            run = Run(law, start)
            steps = [(t, holds) for t, counts, holds in run.instances() if counts] if run.usable() else []
            met += [(start, steps)] if steps else []
        violated = [(t, start) for start, steps in met for t, holds in steps if not holds]
        if violated:
            t, start = min(violated)
            return Witness(start, t, violated=True)
        if met:
            start, steps = met[0]
            return Witness(start, steps[0][0])
    return None


@pytest.mark.parametrize(("antecedent", "then", "fields"), LAWS.values(), ids=LAWS)
def test_all_short_rings_are_tried(law, antecedent, then, fields):
    judged = law(antecedent, then, **fields)
    assert find_witness(judged, ()) == searched(judged, range(3, 8))


def test_short_rings_are_tried_as_far_as_the_work_goes(law, monkeypatch):
    judged = law(ones("==", 1), ones("<=", 9), preconditions=["count('0') >= 3"])
    cells = sum(2**size * size * (judged.steps + 1) for size in (3, 4))
    for most, expected in ((cells - 1, None), (cells, Witness((0, 0, 0, 1), 0))):
        monkeypatch.setattr(witness, "MAX_CELLS", most)
        assert find_witness(judged, ()) == expected


@pytest.mark.parametrize(("most", "violated"), [(9, False), (1, True)])
def test_beyond_these_cases_are_changed_until_the_antecedent_holds(law, monkeypatch, most, violated):
    judged = law(op("and", ones("==", 2), ones("==", 2, T0)), ones("<=", most))
    monkeypatch.setattr(witness, "MAX_CELLS", 0)
    cases = [Case("by hand", (0,) * size) for size in (9, 30)]
    found = find_witness(judged, cases)
    assert found is not None
    assert (sum(found.start), found.t, found.violated, len(found.start)) == (2, 0, violated, 9)
    monkeypatch.setattr(witness, "MAX_REPAIRED", 0)
    assert find_witness(judged, cases) is None


def test_a_case_is_changed_towards_the_preconditions_too(law, monkeypatch):
    judged = law(ones("==", 0), ones("<=", 9), preconditions=["count('0') >= 20"])
    monkeypatch.setattr(witness, "MAX_CELLS", 0)
    assert find_witness(judged, [Case("by hand", (0,) * 9)]) == Witness((0,) * 20, 0)


def test_no_case_is_changed_towards_what_single_cells_are(plan_of, monkeypatch):
    """A local claim is about cells: a distance from it is not one of the ring."""
    candidate = {"template": "local_transition", "trigger_symbol": "1", "result_op": "==", "result_symbol": "1"}
    judged = plan_of(candidate, "elementary_rule", SPREAD).law
    assert find_witness(judged, ()) == searched(judged, [3])
    monkeypatch.setattr(witness, "MAX_CELLS", 0)
    assert find_witness(judged, [Case("by hand", (0,) * 9)]) is None
