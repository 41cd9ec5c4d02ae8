"""Offsets of a value lead to the place where each character was written."""

import pytest

from specledger.core.spans import Position, Span, Text, read_source

# a: "x<backslash>ty" on line 1: the value's tab takes two columns
QUOTED = Text("x\ty", "q.yaml", ((0, Position(1, 5)), (1, Position(1, 6)), (2, Position(1, 8))))
# a block scalar, indented by two, whose second line is line 3
BLOCK = Text("ab\ncd\n", "b.yaml", ((0, Position(2, 3)), (3, Position(3, 3))))
# a folded scalar: the line break between lines 4 and 5 became one space
FOLDED = Text("ab cd", "f.yaml", ((0, Position(4, 3)), (3, Position(5, 3))))
# marks may say where the value ends
ENDED = Text("a\n", "e.yaml", ((0, Position(1, 2)), (1, Position(1, 3)), (2, Position(1, 5))))

PLACES = {
    "all of a quoted scalar": (QUOTED, 0, None, (1, 5), (1, 9)),
    "an escape is two columns wide": (QUOTED, 1, 2, (1, 6), (1, 8)),
    "after an escape": (QUOTED, 2, 3, (1, 8), (1, 9)),
    "an empty range": (QUOTED, 2, 2, (1, 8), (1, 8)),
    "the end": (QUOTED, 3, 3, (1, 9), (1, 9)),
    "within a block line": (BLOCK, 1, 2, (2, 4), (2, 5)),
    "a block line with its break ends on that line": (BLOCK, 0, 3, (2, 3), (2, 6)),
    "across block lines": (BLOCK, 1, 5, (2, 4), (3, 5)),
    "before a fold": (FOLDED, 0, 2, (4, 3), (4, 5)),
    "after a fold": (FOLDED, 3, 5, (5, 3), (5, 5)),
    "a final mark gives the width of the last character": (ENDED, 1, None, (1, 3), (1, 5)),
    "inline": (Text.inline("abc"), 1, 3, (1, 2), (1, 4)),
    "inline, second line": (Text.inline("ab\ncd\n"), 3, 4, (2, 1), (2, 2)),
    "inline, behind the last line break": (Text.inline("ab\n"), 3, 3, (2, 1), (2, 1)),
    "inline, empty": (Text.inline(""), 0, None, (1, 1), (1, 1)),
    "astral characters are one column": (Text.inline("\U0001f600x"), 1, 2, (1, 2), (1, 3)),
}


@pytest.mark.parametrize(("text", "start", "end", "first", "last"), PLACES.values(), ids=PLACES)
def test_span(text, start, end, first, last):
    assert text.span(start, end) == Span(text.file, Position(*first), Position(*last))


@pytest.mark.parametrize(("start", "end"), [(-1, 1), (2, 1), (0, 4), (4, None)])
def test_a_range_outside_the_value_is_a_programmers_mistake(start, end):
    with pytest.raises(ValueError, match="no range"):
        QUOTED.span(start, end)


@pytest.mark.parametrize("offsets", [[], [1], [0, 0], [0, 2, 1], [0, 4]])
def test_marks_that_cannot_place_every_offset_are_refused(offsets):
    with pytest.raises(ValueError, match="marks"):
        Text("abc", "x", tuple((offset, Position(1, 1)) for offset in offsets))


def test_a_span_names_its_start():
    assert str(Span("a.yaml", Position(3, 4), Position(3, 9))) == "a.yaml:3:4"
    assert Text.inline("a").span().file == "<inline>"


@pytest.mark.parametrize("file", ["none.yaml", "", ".", "a\0b"], ids=["missing", "the folder", "a folder", "no name"])
def test_what_cannot_be_read_has_no_excerpt(file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert read_source(file) is None
