"""Spaces of types: their bounds and shapes, values there and back, and actions that are listed or composed."""

from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("gymnasium")

import numpy as np
from gymnasium import spaces

from specledger.core.diagnostics import Rejected
from specledger.expr import BOOL, INT, STRING, IntType, ListType, RecordType
from specledger.expr.check.types import NOTHING, MapType
from specledger.wings.bridges.gym.spaces import action_form, form_of

SMALL = IntType(0, 9)
THERE = {
    "int": (SMALL, 7),
    "bool": (BOOL, True),
    "text": (STRING, "50% \u00fc\n"),
    "list": (ListType(SMALL), [1, 2]),
    "no list": (ListType(SMALL), []),
    "a list of nothing": (ListType(NOTHING), []),
    "map": (MapType(value=SMALL, key=STRING), {"b": 1, "a": 2}),
    "record": (RecordType("r", {"x": SMALL, "y": BOOL}), {"x": 1, "y": False}),
    "all of a record": (RecordType("r", {"x": SMALL, "y": BOOL}, frozenset({"y"})), {"x": 1, "y": False}),
    "without what is optional": (RecordType("r", {"x": SMALL, "y": BOOL}, frozenset({"y"})), {"x": 1}),
}


@pytest.mark.parametrize(("type_", "value"), THERE.values(), ids=THERE)
def test_a_value_goes_into_its_space_and_comes_back(type_, value):
    form = form_of(type_)
    element = form.encode(value)
    assert form.space.contains(element)
    assert form.decode(element) == value


@pytest.mark.parametrize(
    ("type_", "low", "high"),
    [(SMALL, 0, 9), (INT, np.iinfo(np.int64).min, np.iinfo(np.int64).max), (IntType(-5, 2**53), -5, 2**53)],
)
def test_the_bounds_of_an_int_are_those_of_its_box(type_, low, high):
    box: Any = form_of(type_).space
    assert (int(box.low), int(box.high), box.shape) == (low, high, ())


def test_a_field_has_the_shape_that_it_has_at_the_start():
    type_ = ListType(ListType(SMALL))
    form = form_of(type_, [[1, 2, 3], [4, 5, 6]])
    assert form.space.shape == (2, 3)
    assert form.decode(form.encode([[1, 2, 3], [4, 5, 6]])) == [[1, 2, 3], [4, 5, 6]]
    with pytest.raises(Rejected, match=r"a field has the shape \(1, 3\), at the start it had \(2, 3\)"):
        form.encode([[1, 2, 3]])


@pytest.mark.parametrize("like", [None, [], [[]], [[1], [1, 2]]])
def test_rows_of_no_equal_length_are_a_sequence(like):
    assert isinstance(form_of(ListType(ListType(SMALL)), like).space, spaces.Sequence)


def test_the_field_of_a_record_has_its_shape_too():
    form: Any = form_of(RecordType("r", {"f": ListType(ListType(SMALL))}), {"f": [[1, 2]]})
    assert form.space["f"].shape == (1, 2)


def test_a_text_is_cut_at_its_bound():
    form = form_of(STRING)
    assert len(form.encode("x" * 1025)) == 1024
    assert form.space.contains(form.encode("\u00fc" * 1024))
    assert form.encode("a b~ %") == "a b~ %25"


def world(**actions) -> Any:
    """A world of actions, each with its arguments as (type, allowed values or None)."""
    planned = {
        op: SimpleNamespace(
            args=RecordType("args", {name: type_ for name, (type_, _) in args.items()}),
            allowed={name: allowed for name, (_, allowed) in args.items() if allowed is not None},
        )
        for op, args in actions.items()
    }
    fields = {name: type_ for args in actions.values() for name, (type_, _) in args.items()}
    return SimpleNamespace(actions=planned, action=RecordType("action", {"op": STRING, **fields}))


def test_actions_that_can_be_listed_are_numbered_in_order():
    form = action_form(world(turn={"left": (BOOL, None)}, go={"by": (SMALL, (2, 1))}, end={}))
    assert form.space == spaces.Discrete(5)
    listed = [form.decode(number) for number in range(5)]
    assert listed == [
        {"op": "end"},
        {"op": "go", "by": 2},
        {"op": "go", "by": 1},
        {"op": "turn", "left": False},
        {"op": "turn", "left": True},
    ]
    assert [form.encode(action) for action in listed] == list(range(5))


@pytest.mark.parametrize(("number", "listed"), [(4096, True), (4097, False)])
def test_so_many_actions_are_listed(number, listed):
    form = action_form(world(go={"by": (INT, tuple(range(number)))}))
    assert isinstance(form.space, spaces.Discrete) is listed


def test_other_actions_have_the_arguments_of_all_operations():
    form: Any = action_form(
        world(
            go={"by": (SMALL, None), "way": (STRING, ("n", "s"))},
            turn={"way": (STRING, ("n", "s")), "by": (SMALL, (1,))},
        )
    )
    assert set(form.space.keys()) == {"op", "by", "way"}
    assert (form.space["op"], form.space["way"]) == (spaces.Discrete(2), spaces.Discrete(2))
    assert isinstance(form.space["by"], spaces.Box)
    action = {"op": "go", "by": 3, "way": "s"}
    assert form.decode(form.encode(action)) == action
    assert form.encode({"op": "turn"}) == {"op": 1}
