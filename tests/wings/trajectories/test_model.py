"""The types of a trajectory tell what was not recorded from what was recorded as nothing."""

import msgspec
import pytest

from specledger.wings.trajectories.model import Call, Result


@pytest.mark.parametrize(
    ("entry", "form"),
    [
        (Call("a", "send"), {"id": "a", "tool": "send"}),
        (Call("a", "send", None), {"id": "a", "tool": "send", "arguments": None}),
        (Result("a"), {"call": "a"}),
        (Result("a", None, error=False), {"call": "a", "content": None, "error": False}),
    ],
)
def test_a_value_that_was_not_recorded_is_no_null(entry, form):
    written = msgspec.to_builtins(entry)
    assert {name: written[name] for name in form} == form
    assert {"arguments", "content"} & written.keys() == {"arguments", "content"} & form.keys()
