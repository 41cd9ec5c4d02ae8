"""The functions of fields, cells and ways in the one-file verifier agree with the engine's, errors included."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specledger.expr import STRING, EvaluationError, IntType, ListType, RecordType
from specledger.worlds.check import WORLD_FUNCTIONS
from tools.verifier.functions import FUNCTIONS
from tools.verifier.values import BUDGET, Failed

INTS = st.integers(-2, 5)
FIELDS = st.integers(0, 4).flatmap(
    lambda width: st.lists(st.lists(st.integers(-1, 3), min_size=width, max_size=width), max_size=4)
)
RAGGED = st.lists(st.lists(st.integers(0, 2), max_size=4), max_size=4)
CELLS = st.fixed_dictionaries({"x": st.integers(-1, 4), "y": st.integers(-1, 4)})


def values_of(type_):
    if isinstance(type_, IntType):
        return INTS
    if isinstance(type_, RecordType):
        return CELLS
    if isinstance(type_, ListType):
        item = type_.item
        field = isinstance(item, ListType) and isinstance(item.item, IntType)
        return FIELDS | RAGGED if field else st.lists(values_of(item), max_size=3)
    return st.sampled_from(["a", "b-1", "a-1"]) if type_ == STRING else st.lists(INTS, max_size=3)


def outcome(function, args):
    try:
        return function(*args)
    except EvaluationError as error:
        return "error", error.code
    except Failed as failed:
        return "error", failed.code


def test_every_function_of_the_engine_is_there():
    assert WORLD_FUNCTIONS.keys() <= FUNCTIONS.keys()


@pytest.mark.parametrize("name", sorted(WORLD_FUNCTIONS))
def test_a_function_gives_what_the_engine_gives(name):
    native = WORLD_FUNCTIONS[name]

    @settings(max_examples=30)
    @given(st.tuples(*map(values_of, native.overloads[0].params)))
    def agree(args):
        BUDGET.begin()
        assert outcome(FUNCTIONS[name], args) == outcome(native.call, args)

    agree()
