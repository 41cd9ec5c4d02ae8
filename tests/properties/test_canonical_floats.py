"""No float passes for canonical, wherever it stands and however the serialiser spells it."""

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specledger.core.canonical import NotCanonical, parse_canonical

floats = st.floats(allow_nan=False, allow_infinity=False) | st.builds(
    lambda digit, power, sign: sign * digit * 10.0**power, st.integers(1, 9), st.integers(-320, 308), st.sampled_from([1, -1])
)  # fmt: skip
PLACES = [
    lambda x: x, lambda x: [x], lambda x: [0, x], lambda x: {"a": x}, lambda x: {"a": {"b": [[x]]}}, lambda x: ["1e16", x],
]  # fmt: skip


@given(floats, st.sampled_from(PLACES))
def test_a_float_is_refused(number, place):
    line = orjson.dumps(place(number))
    with pytest.raises(NotCanonical):
        parse_canonical(line)


@given(st.lists(st.text("e.1:,[-{ ", max_size=9), max_size=4))
def test_a_text_that_looks_like_one_is_read(texts):
    line = orjson.dumps({"a": texts, "b": {"1e5": 1}})
    assert parse_canonical(line) == {"a": texts, "b": {"1e5": 1}}
