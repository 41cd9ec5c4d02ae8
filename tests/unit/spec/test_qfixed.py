"""Fixed point: decimal numbers of units as integers of millionths, exactly, from any hostile text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from specledger.spec.base import INTEGER_LIMIT, QFixed, format_qfixed

ADAPTER = TypeAdapter(QFixed)

EXACT = {
    "an integer": (3, 3_000_000),
    "a float": (3.6, 3_600_000),
    "the least": (0.000001, 1),
    "below nothing": (-0.5, -500_000),
    "text": ("200.05", 200_050_000),
    "text with idle zeros": ("1.5000000000", 1_500_000),
}


@pytest.mark.parametrize(("value", "millionths"), EXACT.values(), ids=EXACT)
def test_numbers_are_read_exactly(value, millionths):
    assert ADAPTER.validate_python(value) == millionths


REFUSED = {
    "seven decimals": 0.0000001,
    "an exponent": "1e999999999",
    "a small exponent": "1e-999999999999",
    "underscores": "1_0",
    "other digits": "\u0661",
    "white space": " 1 ",
    "many digits": "1" * 40,
    "a huge float": 1e300,
    "infinity": float("inf"),
    "not a number": float("nan"),
    "a boolean": True,
    "nothing": None,
    "empty text": "",
    "too large": 9_007_199_255,
}


@pytest.mark.parametrize("value", REFUSED.values(), ids=REFUSED)
def test_what_is_no_fixed_point_number_is_refused(value):
    with pytest.raises(ValidationError):
        ADAPTER.validate_python(value)


@given(st.integers(-INTEGER_LIMIT, INTEGER_LIMIT))
def test_writing_and_reading_agree(millionths):
    assert ADAPTER.validate_python(format_qfixed(millionths)) == millionths
