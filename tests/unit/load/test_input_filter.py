"""Characters and bytes that are refused before parsing, with their places."""

import pytest

from specledger.core.diagnostics import Diagnostics
from specledger.load.input_filter import MAX_BYTES, read_text

REFUSED = {
    "too large": (b"a: " + b"x" * MAX_BYTES, "E_YAML_SIZE", 1, 1),
    "UTF-16": ("a: b".encode("utf-16"), "E_YAML_ENCODING", 1, 1),
    "Latin-1": ("a: b\nc: \xe9".encode("latin-1"), "E_YAML_ENCODING", 2, 4),
    "half a character": (b"a: \xe2\x82", "E_YAML_ENCODING", 1, 4),
    "an overlong form": (b"a: \xc0\xaf", "E_YAML_ENCODING", 1, 4),
    "a surrogate in UTF-8": (b"a: \xed\xa0\x80", "E_YAML_ENCODING", 1, 4),
    "a byte order mark": (b"\xef\xbb\xbfa: b", "E_YAML_BOM", 1, 1),
    "a byte order mark inside": ("a: b\ufeff".encode(), "E_YAML_BOM", 1, 5),
    "a tab as indentation": (b"a:\n\tb: c", "E_YAML_TAB", 2, 1),
    "a tab in a value": (b"a: b\tc", "E_YAML_TAB", 1, 5),
    "NUL": (b"a: b\0", "E_YAML_CONTROL", 1, 5),
    "escape": (b"a: \x1b[2J", "E_YAML_CONTROL", 1, 4),
    "delete": (b"a: \x7f", "E_YAML_CONTROL", 1, 4),
    "a C1 control": ("a: \x9b".encode(), "E_YAML_CONTROL", 1, 4),
    "no character": ("a: \uffff".encode(), "E_YAML_CONTROL", 1, 4),
    "next line hides a key": ("a: b # c\x85d: e".encode(), "E_YAML_LINE_BREAK", 1, 9),
    "line separator hides a key": ("a: b # c\u2028d: e".encode(), "E_YAML_LINE_BREAK", 1, 9),
    "paragraph separator": ("a: b\u2029".encode(), "E_YAML_LINE_BREAK", 1, 5),
    "a lone carriage return": (b"a: b # c\rd: e", "E_YAML_LINE_BREAK", 1, 9),
    "right-to-left override": ("a: \u202eb".encode(), "E_YAML_BIDI", 1, 4),
    "left-to-right isolate": ("# \U0001f600\u2066".encode(), "E_YAML_BIDI", 1, 4),
}


@pytest.mark.parametrize(("data", "code", "line", "column"), REFUSED.values(), ids=REFUSED)
def test_refused_bytes(data, code, line, column):
    diagnostics = Diagnostics()
    assert read_text(data, "f.yaml", diagnostics) is None
    (first, *_) = diagnostics.sorted()
    assert (first.code, str(first.span)) == (code, f"f.yaml:{line}:{column}")


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", ""),
        (b"a: b", "a: b\n"),
        (b"a: b\r\nc: d\r\n", "a: b\nc: d\n"),
        ("a: é ✓ 😀 \u200d".encode(), "a: é ✓ 😀 \u200d\n"),
        (b"x" * (MAX_BYTES - 1) + b"\n", "x" * (MAX_BYTES - 1) + "\n"),
    ],
)
def test_admitted_bytes(data, text):
    diagnostics = Diagnostics()
    assert read_text(data, "f.yaml", diagnostics) == text
    assert diagnostics.sorted() == ()


def test_every_offending_character_is_reported_up_to_a_bound():
    diagnostics = Diagnostics()
    read_text(b"a: b\tc\n\td: \x07" + b"\t" * 100, "f.yaml", diagnostics)
    places = [(found.code, str(found.span)) for found in diagnostics.sorted()]
    assert places[:2] == [("E_YAML_TAB", "f.yaml:1:5"), ("E_YAML_TAB", "f.yaml:2:1")]
    assert places[2] == ("E_YAML_CONTROL", "f.yaml:2:5")
    assert len(places) == 20
