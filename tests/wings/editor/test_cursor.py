"""Where a cursor is, in texts that are finished and in texts that are being typed."""

import pytest

from specledger.load import Search
from specledger.wings.editor.completion import complete
from specledger.wings.editor.cursor import Cursor, cursor_at

CASES = {
    "a key at the top": ("spec: world/v1\nsta|", Cursor((), prefix="sta")),
    "a value at the top": ("world: ta|", Cursor((), "world", "ta")),
    "no value yet": ("world: |", Cursor((), "world")),
    "a key below": ("admission:\n  doc|", Cursor(("admission",), prefix="doc")),
    "a line that is empty": ("admission:\n  document: x\n  |", Cursor(("admission",))),
    "a key of an item": ("gates:\n  - id: a\n    de|", Cursor(("gates", 0), prefix="de")),
    "a key of an item whose dash is not indented": ("gates:\n- id: a\n  de|", Cursor(("gates", 0), prefix="de")),
    "an element of a list": ("probes:\n  - p5|", Cursor(("probes", 0), prefix="p5", element=True)),
    "an element of a list that is not indented": ("probes:\n- |", Cursor(("probes", 0), element=True)),
    "the key after a dash": ("gates:\n  - id: |", Cursor(("gates", 0), "id")),
    "deep": (
        "actions:\n  push:\n    effects:\n      - set: x\n        to: 1\n        wh|",
        Cursor(("actions", "push", "effects", 0), prefix="wh"),
    ),
    "in braces": ("guard: {fail: cl|", Cursor(("guard",), "fail", "cl")),
    "the next key in braces": ("guard: {fail: closed, to|", Cursor(("guard",), prefix="to")),
    "in brackets": ("probes: [a, b|", Cursor(("probes", 0), prefix="b", element=True)),
    "a mapping in brackets": ("gates: [{id: a, den|", Cursor(("gates", 0), prefix="den")),
    "braces that are closed": ("state: {x: {type: integer}, y|", Cursor(("state",), prefix="y")),
    "comments are passed over": ("# a: b\nadmission:\n  # x\n  e|", Cursor(("admission",), prefix="e")),
    "a sibling above is passed over": ("a:\n  b:\n    c: 1\n  d|", Cursor(("a",), prefix="d")),
}


@pytest.mark.parametrize(("text", "cursor"), CASES.values(), ids=CASES)
def test_cursors(text, cursor):
    before = text.partition("|")[0]
    lines = text.replace("|", "").split("\n")
    assert cursor_at(lines, before.count("\n"), len(before.rpartition("\n")[2])) == cursor


def labels(text):
    before = text.partition("|")[0]
    return [
        proposal.label
        for proposal in complete(text.replace("|", ""), before.count("\n"), len(before.rpartition("\n")[2]), Search())
    ]


@pytest.mark.parametrize(
    ("text", "some", "none"),
    [
        ("|", {"spec"}, {"name"}),
        ("spec: |", {"scenario/v1", "world/v1"}, {"spec"}),
        ("spec: scenario/v1\n|", {"world", "horizon", "extends", "params"}, {"gates"}),
        ("spec: library/v1\n|", {"functions", "use"}, {"world"}),
        ("spec: governor/v1\ngates:\n  - |", {"id", "deny", "require"}, {"choose"}),
        ("spec: scenario/v1\nturns: |", {"order", "simultaneous"}, {"world"}),
        ("spec: agent/v1\npredicts: |", {"true", "false"}, {"score"}),
        ("spec: scenario/v1\nguard: {fail: |", {"closed", "open"}, {"tools"}),
        ("spec: world/v1\nactions:\n  push:\n    effects:\n      - |", {"set", "append", "to"}, {"effects"}),
        ("spec: nothing/v1\n|", set(), {"name"}),
    ],
)
def test_proposals(text, some, none):
    found = set(labels(text))
    assert some <= found
    assert not none & found
