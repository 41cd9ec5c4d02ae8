"""What all plots share: scales with round ticks, their grid, texts and legends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from specledger.report.formats.html.elements import Markup, element, words
from specledger.report.markup import shorten

WIDTH: Final = 400
"""Units of the view box of a plot: as many as a narrow screen has pixels, so that text keeps its size there."""

LINE: Final = 21
"""Units of a row of text."""

_STYLES: Final = 7  # of lines, in the style sheet
_LETTER: Final = 7  # units of a letter, about


class Scale(Struct, frozen=True):
    """Places numbers from `low` to `high` between the coordinates `start` and `end`."""

    low: int
    high: int
    start: int
    end: int

    def at(self, value: int) -> int:
        """The coordinate of a value; the middle if all are equal."""
        if self.high == self.low:
            return (self.start + self.end) // 2
        return self.start + (value - self.low) * (self.end - self.start) // (self.high - self.low)

    def ticks(self, most: int) -> range:
        """At most so many numbers from `low` on, which are multiples of 1, 2 or 5 times a power of ten."""
        step, factors = 1, (2, 5, 10)
        while (self.high // step) - -(-self.low // step) + 1 > most:
            power = 10 ** (len(str(step)) - 1)
            step = next(factor * power for factor in factors if factor * power > step)
        return range(-(-self.low // step) * step, self.high + 1, step)

    def widened(self, most: int) -> Scale:
        """The scale from the tick below its numbers to the tick above them."""
        step = self.ticks(most).step
        return replace(self, low=self.low // step * step, high=-(-self.high // step) * step)


def text(content: str, x: int, y: int, class_: str = "", most: int = 22) -> Markup:
    """A text of at most so many characters."""
    return element("text", words(shorten(content, most)), x=x, y=y, class_=f"label {class_}".strip())


def line(x1: int, y1: int, x2: int, y2: int, class_: str) -> Markup:
    """A straight line."""
    return element("path", d=f"M{x1} {y1}L{x2} {y2}", class_=class_)


def columns(scale: Scale, named: Sequence[tuple[int, str]], top: int, bottom: int) -> Iterator[Markup]:
    """A vertical line for each tick with its name below."""
    for value, name in named:
        x = scale.at(value)
        yield line(x, top, x, bottom, "axis")
        yield text(name, x, bottom + 16, "middle soft")


def rows(scale: Scale, named: Sequence[tuple[int, str]], left: int, right: int) -> Iterator[Markup]:
    """A horizontal line for each tick with its name on the left."""
    for value, name in named:
        y = scale.at(value)
        yield line(left, y, right, y, "axis")
        yield text(name, left - 8, y + 5, "end soft", 11)


def legend(names: Sequence[str]) -> tuple[list[Markup], int]:
    """A sample of each line with its name, in as many rows as are needed; and their height."""
    drawn: list[Markup] = []
    x, y = 0, 12
    for index, name in enumerate(names):
        shown = shorten(name, 40)
        wide = 44 + _LETTER * len(shown)
        if x and x + wide > WIDTH:
            x, y = 0, y + LINE
        drawn += [line(x, y, x + 26, y, style(index)), text(shown, x + 32, y + 5, most=40)]
        x += wide
    return drawn, y + 22


def style(index: int) -> str:
    """The class of a line by its number: a colour, and a pattern so that it does not depend on colour."""
    return f"curve c{index % _STYLES}"
