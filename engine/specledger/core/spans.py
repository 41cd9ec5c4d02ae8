"""Places in source text: positions, ranges, and scalars that know where each of their characters was written."""

from bisect import bisect_right
from itertools import pairwise
from pathlib import Path
from typing import Final

from msgspec import Struct

_MAX_SOURCE: Final = 4_194_304  # bytes


class Position(Struct, frozen=True, order=True):
    """A place between characters of a file, by line, then column, both from 1; columns count code points."""

    line: int
    column: int


class Span(Struct, frozen=True):
    """A range of a file, named as people see it, up to but without the character at `end`."""

    file: str
    start: Position
    end: Position

    def __str__(self) -> str:
        """The start as `file:line:column`, unescaped: for logs of trusted paths and for test messages."""
        return f"{self.file}:{self.start.line}:{self.start.column}"


class Text(Struct, frozen=True):
    r"""A scalar's value with the map from its offsets to places, since a value may differ from its source.

    A folded, quoted or block scalar drops indentation and resolves escapes, so that columns of the file do not advance
    with offsets of the value. `marks` cuts the value into segments in which they do. For the source line `a: "x\ty"`
    the value is `x<tab>y` and the marks are (0, 1:5), (1, 1:6), (2, 1:8).

    Attributes:
        file: The path as it is shown to people.
        marks: Ascending (offset in value, place in file) pairs, the first at offset 0; within a segment each code point
            of the value is one column of the file.
    """

    value: str
    file: str
    marks: tuple[tuple[int, Position], ...]

    def __post_init__(self) -> None:
        """Refuse marks that cannot place every offset."""
        offsets = [offset for offset, _ in self.marks]
        ascending = all(a < b for a, b in pairwise(offsets))
        if not offsets or offsets[0] != 0 or not ascending or offsets[-1] > len(self.value):
            raise ValueError(f"marks must begin at offset 0 and ascend within the value, not {offsets[:8]}")

    @classmethod
    def inline(cls, value: str, file: str = "<inline>") -> "Text":
        """A text that is its own source: it begins at line 1, column 1, and each newline begins a line."""
        marks = [(0, Position(1, 1))]
        for offset, character in enumerate(value, start=1):
            if character == "\n":
                marks.append((offset, Position(len(marks) + 1, 1)))
        return cls(value, file, tuple(marks))

    def span(self, start: int = 0, end: int | None = None) -> Span:
        """The range of the file that the value's characters `start` to `end` (exclusive; default: all) came from.

        Where the characters end at a line's end, so does the range, although the next character is on another line.

        Raises:
            ValueError: Not 0 <= start <= end <= len(value).
        """
        stop = len(self.value) if end is None else end
        if not 0 <= start <= stop <= len(self.value):
            raise ValueError(f"no range {start}..{stop} in a text of {len(self.value)} characters")
        first, after = self._place(start), self._place(stop)
        if stop > start:
            last = self._place(stop - 1)
            if after.line != last.line:
                after = Position(last.line, last.column + 1)
        return Span(self.file, first, after)

    def _place(self, offset: int) -> Position:
        at, position = self.marks[bisect_right(self.marks, offset, key=lambda mark: mark[0]) - 1]
        return Position(position.line, position.column + offset - at)


def read_source(file: str) -> str | None:
    """The text of a file for excerpts, if it can be read and is not too large."""
    try:
        path = Path(file)
        return path.read_text(encoding="utf-8") if path.stat().st_size <= _MAX_SOURCE else None
    except (OSError, ValueError):
        return None
