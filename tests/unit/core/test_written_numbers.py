"""Numbers of another's document stay as they are written."""

import pytest

from specledger.core.written_numbers import members_as_written, write_plainly

WRITTEN = {
    "a whole float": (1.0, b"1.0"),
    "an integer": (1, b"1"),
    "a truth value": (True, b"true"),
    "nothing": (None, b"null"),
    "a text": ("\u00e9\n", '"\u00e9\\n"'.encode()),
    "a list": ([1.0, 1, [2.5]], b"[1.0,1,[2.5]]"),
    "a tuple": ((1.0, 2), b"[1.0,2]"),
    "an empty list": ([], b"[]"),
    "members by their bytes": ({"b": 1.0, "a": {"d": 1, "c": 2}, "\u00e9": 0, "Z": 3}, '{"Z":3,"a":{"c":2,"d":1},"b":1.0,"\u00e9":0}'.encode()),
}  # fmt: skip


@pytest.mark.parametrize(("value", "written"), WRITTEN.values(), ids=WRITTEN)
def test_a_value(value, written):
    assert write_plainly(value) == written


def test_members_that_are_there_keep_their_numbers():
    data = b'{"b": [1.0, 1e3, 10], "a": 2.50, "c": "1.0", "more": {}}'
    assert members_as_written(data, ["a", "b", "c", "absent"]) == b'{"a":2.50,"b":[1.0,1e3,10],"c":"1.0"}'
    assert members_as_written(data, []) == b"{}"
