"""Field functions written out over cells give what the functions give, whatever size was expected."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specledger.core.diagnostics import Diagnostics
from specledger.core.spans import Text
from specledger.expr import INT, Emitter, Environment, check, compile_function, evaluate
from specledger.lang.declare import FIELD
from specledger.worlds.natives import FIELD_FUNCTIONS, WRITTEN

TYPES = {"f": FIELD, "g": FIELD, "k": INT, "low": INT}
CALLS = {
    "field_add": "field_add(f, g)",
    "field_sub": "field_sub(f, g)",
    "field_scale": "field_scale(k, f)",
    "field_combine": "field_combine([1, 0, k, -2], [f, g, g, laplacian(f)])",
    "field_clamp": "field_clamp(f, low, 3)",
    "field_floor": "field_floor(f, low)",
    "field_over": "field_over(f, low)",
    "field_min": "field_min(f)",
    "field_max": "field_max(f)",
    "sum_sq": "sum_sq(field_add(f, g))",
    "grad_energy": "grad_energy(field_sub(f, g)) + grad_energy(f)",
    "laplacian": "laplacian(field_scale(k, f))",
    "cells_at_least": "cells_at_least(f, low)",
    "cells_at_most": "cells_at_most(field_add(f, g), low)",
}
SIDES = st.integers(1, 4)
SMALL = st.integers(-4, 4)


def matrices(height, width):
    row = st.lists(SMALL, min_size=width, max_size=width)
    return st.lists(row, min_size=height, max_size=height)


FIELDS = st.tuples(SIDES, SIDES).flatmap(lambda size: st.tuples(matrices(*size), matrices(*size)))


def checked(text):
    diagnostics = Diagnostics()
    found = check(Text.inline(text), Environment(functions=FIELD_FUNCTIONS, variables=TYPES), diagnostics)
    assert found is not None, diagnostics.sorted()
    return found


CHECKED = {name: checked(text) for name, text in CALLS.items()}


def composed(expression, like):
    def compose(emitter: Emitter) -> str:
        state = emitter.local("state")
        emitter.expect(state, like)
        names = {name: emitter.local(name) for name in TYPES}
        lines = [f"{local} = {state}[{emitter.constant(name)}]" for name, local in names.items()]
        return emitter.function("call", [state], [*lines, f"return {emitter.expression(expression, names)}"])

    return compile_function(compose)


def test_every_writer_is_tried():
    assert CALLS.keys() == WRITTEN.keys() <= FIELD_FUNCTIONS.keys()


@pytest.mark.medium
@pytest.mark.parametrize("name", CALLS)
@settings(max_examples=25, deadline=None)
@given(fields=FIELDS, others=FIELDS, k=SMALL, low=SMALL)
def test_a_call_written_out_is_the_call(name, fields, others, k, low):
    call = composed(CHECKED[name], {"f": fields[0], "g": fields[1], "k": 0, "low": 0})
    for f, g in (fields, others):
        state = {"f": f, "g": g, "k": k, "low": low}
        assert call(state) == evaluate(CHECKED[name], state)


@pytest.mark.parametrize("name", CALLS)
def test_it_is_written_out(name):
    """With the sizes that were expected no native is called, and no slower function."""
    field = [[1, 2], [3, 4]]
    call = composed(CHECKED[name], {"f": field, "g": field, "k": 0, "low": 0})

    def refuse(*_):
        raise AssertionError

    for bound in call.__globals__:
        if bound.startswith("g"):
            call.__globals__[bound] = refuse
    assert call({"f": field, "g": field, "k": 1, "low": 9 if name == "cells_at_least" else -9}) is not None
