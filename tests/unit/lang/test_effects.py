"""What a finding shows of a value that does not fit."""

import pytest

from specledger.core.canonical import MAX_INTEGER
from specledger.lang.effects import _shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ([1, "a"], '[1,"a"]'),
        ("a" * 78, f'"{"a" * 78}"'),
        ("a" * 79, f'"{"a" * 76}...'),
        (MAX_INTEGER + 1, str(MAX_INTEGER + 1)),
        ([MAX_INTEGER + 1], f"[{MAX_INTEGER + 1}]"),
    ],
)
def test_a_value_is_shown_in_eighty_characters(value, shown):
    assert _shown(value) == shown
    assert len(shown) <= 80
