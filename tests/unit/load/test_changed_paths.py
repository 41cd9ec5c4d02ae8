"""Dotted paths of changes, and keys of specs inside their values."""

import pytest

from specledger.load.changed import keys_in, read_path

PATHS = {
    "a": ("a",),
    "a.b.c": ("a", "b", "c"),
    " a . b ": ("a", "b"),
    'a."b.c".d': ("a", "b.c", "d"),
    '"b.c"': ("b.c",),
    '""': ("",),
    "a b.c": ("a b", "c"),
    "a..b": (),
    ".a": (),
    'a."b': (),
    'a"b': (),
    "": (),
}


@pytest.mark.parametrize(("text", "expected"), PATHS.items(), ids=PATHS)
def test_the_keys_of_a_path(text, expected):
    assert read_path(text) == expected


KEY = "agent/bob-2@0123456789abcdef"


def test_keys_of_specs_in_a_value():
    value = {"a": KEY, "b": [1, KEY, {"c": KEY}], "d": f"see {KEY}", "e": KEY[:-1], "f": None}
    assert list(keys_in(value, ("x",))) == [
        (("x", "a"), "agent"),
        (("x", "b", 1), "agent"),
        (("x", "b", 2, "c"), "agent"),
    ]
