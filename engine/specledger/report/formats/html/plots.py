"""Draws plots as inline SVG with scales, a title, a description, and a table of the same numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, assert_never

from msgspec import Struct
from msgspec.structs import replace

from specledger.report.figures import in_units
from specledger.report.formats.html.elements import NOTHING, Markup, count, element, quoted, words
from specledger.report.markup import shorten
from specledger.report.plots import (
    MOST_ROWS,
    Counted,
    Counts,
    Line,
    Lines,
    Matrix,
    Plot,
    Rate,
    Rates,
    percent,
    table_of,
)

WIDTH: Final = 400
"""Units of the view box of a plot: as many as a narrow screen has pixels, so that text keeps its size there."""

LINE: Final = 21
"""Units of a row of text."""

_STYLES: Final = 7  # of lines, in the style sheet
_LETTER: Final = 7  # units of a letter, about
_HEADING: Final = WIDTH // (_LETTER + 1)  # letters of the heading of a group, which is bold


class Scale(Struct, frozen=True):
    """Maps numbers from `low` to `high` to coordinates between `start` and `end`."""

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


def segment(x1: int, y1: int, x2: int, y2: int, class_: str) -> Markup:
    """A straight line."""
    return element("path", d=f"M{x1} {y1}L{x2} {y2}", class_=class_)


def vertical_grid(scale: Scale, named: Sequence[tuple[int, str]], top: int, bottom: int) -> Iterator[Markup]:
    """A vertical line for each tick with its name below."""
    for value, name in named:
        x = scale.at(value)
        yield segment(x, top, x, bottom, "axis")
        yield text(name, x, bottom + 16, "middle soft")


def horizontal_grid(scale: Scale, named: Sequence[tuple[int, str]], left: int, right: int) -> Iterator[Markup]:
    """A horizontal line for each tick with its name on the left."""
    for value, name in named:
        y = scale.at(value)
        yield segment(left, y, right, y, "axis")
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
        drawn += [segment(x, y, x + 26, y, style(index)), text(shown, x + 32, y + 5, most=40)]
        x += wide
    return drawn, y + 22


def style(index: int) -> str:
    """The class of a line by its number: a colour, and a pattern so that it does not depend on colour."""
    return f"curve c{index % _STYLES}"


TOP: Final = 10
"""Units above the area of a plot of one line."""

TALL: Final = 110
"""Units of the area of lines."""

_LEAST_NAMES: Final = 90  # units for the names of rows
_MOST_NAMES: Final = 184
_CELL: Final = 60  # units of a cell of a matrix, at most
_TIGHT: Final = 34  # units of a cell below which its number is small and its heading steep
_GUTTER: Final = 64  # units for the numbers on the left of lines
_LEVELS: Final = 10  # steps of the colour of a cell
_ROWS_OF_A_TABLE: Final = 400
_MOST_LINES: Final = 7


def render_plots(plots: Sequence[Plot]) -> Markup:
    """All plots as a section; nothing without plots."""
    if not plots:
        return NOTHING
    title = element("h2", words("Plots"), id="plots-title")
    figures = [_figure(plot, f"plot{number}") for number, plot in enumerate(plots)]
    grid = element("div", *figures, class_="plots")
    return element("section", title, grid, id="plots", aria_labelledby="plots-title")


def _figure(plot: Plot, id_: str) -> Markup:
    caption = element("figcaption", words(plot.title))
    drawing, height = draw(plot)
    title = element("title", words(plot.title), id=f"{id_}-title")
    description = element("desc", words(plot.description), id=f"{id_}-desc")
    svg = element(
        "svg",
        title,
        description,
        *drawing,
        viewBox=f"0 0 {WIDTH} {height}",
        role="img",
        aria_labelledby=f"{id_}-title {id_}-desc",
        class_="plot",
    )
    note = element("p", words(plot.description), class_="note")
    return element("figure", caption, svg, note, _table(plot), class_=f"of-{type(plot).__name__.lower()}")


def _table(plot: Plot) -> Markup:
    heads, rows = table_of(plot)
    head = element("tr", *(element("th", words(name), scope="col") for name in heads))
    body = [
        element("tr", element("th", quoted(row[0]), scope="row"), *(element("td", words(cell)) for cell in row[1:]))
        for row in rows[:_ROWS_OF_A_TABLE]
    ]
    table = element("table", element("thead", head), element("tbody", *body))
    inside = element("div", table, class_="scroll", tabindex=0, role="region", aria_label=f"Table of {plot.title}")
    return element("details", element("summary", words("Table")), inside)


def draw(plot: Plot) -> tuple[list[Markup], int]:
    """The elements of a plot and its height."""
    match plot:
        case Rates():
            return _rates(plot)
        case Matrix():
            return _matrix(plot)
        case Lines():
            return _lines(plot)
        case Counts():
            return _counts(plot)
    assert_never(plot)


def _rates(plot: Rates) -> tuple[list[Markup], int]:
    """A point with its interval for each rate, on an axis from 0 to 100 %."""
    names = _names(plot.groups)
    cases = max((len(rate.cases) for _, rates in plot.groups for rate in rates), default=0)
    scale = Scale(0, 1_000_000, names, WIDTH - _LETTER * cases - 16)
    left = max(0, sum(len(rates) for _, rates in plot.groups) - MOST_ROWS)
    drawn, y, rows = [], 18, 0
    for name, rates in plot.groups:
        if name and rows < MOST_ROWS:
            drawn.append(text(name, 0, y + 5, "group", _HEADING))
            y += LINE
        for rate in rates[: max(0, MOST_ROWS - rows)]:
            low, at, high = map(scale.at, (rate.low, rate.value, rate.high))
            drawn.append(text(rate.name, 12 if name else 0, y + 5, most=_fitting(names, 12 if name else 0)))
            drawn.append(segment(low, y, max(high, low + 1), y, "interval"))
            drawn.append(element("circle", cx=at, cy=y, r=4, class_="point"))
            drawn.append(text(rate.cases, WIDTH, y + 5, "end soft"))
            y, rows = y + LINE, rows + 1
    ticks = [(per_cent * 10_000, f"{per_cent} %") for per_cent in (0, 50, 100)]
    grid = [*vertical_grid(scale, ticks, 4, y - 8)]
    if left:
        drawn.append(text(f"and {left} more in the table", 0, y + 30, "soft", 40))
    return [*grid, *drawn], y + (36 if left else 14)


def _names(groups: Sequence[tuple[str, Sequence[Rate | Counted]]]) -> int:
    """Units for the names of rows: as many as the longest takes, within bounds."""
    wide = [(12 if group else 0) + _LETTER * len(row.name) for group, rows in groups for row in rows]
    return min(max([_LEAST_NAMES, *wide]) + 10, _MOST_NAMES)


def _fitting(names: int, indent: int) -> int:
    """Characters of a name that fit."""
    return (names - indent - 6) // _LETTER


def _matrix(plot: Matrix) -> tuple[list[Markup], int]:
    """A cell for each row and column, whose colour is the rate and whose text is the number."""
    shown = [shorten(name, 16) for name in plot.columns]
    names = min(_LETTER * max(map(len, plot.rows), default=0) + 10, _MOST_NAMES)
    wide = min(_CELL, (WIDTH - names - 20) // max(len(shown), 1))
    angle, right, up = (65, 3, 6) if wide < _TIGHT else (35, 6, 4)  # what a letter of a heading takes
    wide = min(wide, (WIDTH - names - right * max(map(len, shown), default=0)) // max(len(shown), 1))
    level = all(len(name) * _LETTER < wide for name in shown)
    drawn, top, tall = [], 24 if level else 24 + up * max(map(len, shown)), 28
    for column, name in enumerate(shown):
        x = names + column * wide + wide // 2
        position = {"x": x, "y": top - 8} if level else {"transform": f"translate({x} {top - 8}) rotate(-{angle})"}
        class_ = "label middle" if level else "label"
        drawn.append(element("text", words(name), class_=class_, **position))
    of = "middle cell tight" if wide < _TIGHT else "middle cell"
    for row, (name, cells) in enumerate(zip(plot.rows[:MOST_ROWS], plot.cells, strict=False)):
        y = top + row * tall
        drawn.append(text(name, 0, y + 18, most=_fitting(names, 0)))
        for column, value in enumerate(cells):
            x = names + column * wide
            shade = "none" if value is None else str(value * _LEVELS // 1_000_000)
            drawn.append(element("rect", x=x, y=y, width=wide - 2, height=tall - 2, class_=f"heat h{shade}"))
            if value is not None:
                class_ = f"{of} strong" if value * _LEVELS // 1_000_000 > _LEVELS // 2 else of
                drawn.append(text(percent(value), x + wide // 2 - 1, y + 18, class_))
    return drawn, top + min(len(plot.rows), MOST_ROWS) * tall + 6


def _lines(plot: Lines) -> tuple[list[Markup], int]:
    """A line with its band for each figure, and a dashed line for each mark."""
    shown = plot.lines[:_MOST_LINES]
    known = [
        value for line in shown for row in (line.values, line.low, line.high) for value in row if value is not None
    ]
    drawn, top = legend([line.name for line in shown]) if len(shown) > 1 else ([], TOP)
    if plot.upward:
        drawn.append(text(plot.upward, 0, top + 6, "soft", 40))
        top += LINE
    bottom = top + TALL
    low, high = min(known, default=0), max(known, default=0)
    across = steps_of(plot)
    upward = Scale(low, high, bottom, top).widened(5)
    drawn += horizontal_grid(
        upward, [(tick, in_units(tick, plot.unit)) for tick in upward.ticks(6)], _GUTTER, WIDTH - 20
    )
    drawn += [text(str(tick), across.at(tick), bottom + 20, "middle soft") for tick in across.ticks(6)]
    drawn.append(text(plot.across, (_GUTTER + WIDTH - 20) // 2, bottom + 40, "middle soft", 40))
    for step, name in plot.marks:
        mark = element("title", words(f"{name} ({plot.across} {step})"))
        drawn.append(element("path", mark, d=f"M{across.at(step)} {top}V{bottom}", class_="drifted"))
    for index, line in enumerate(shown):
        drawn += _line(line, index, across, upward)
    if len(plot.lines) > len(shown):
        drawn.append(text(f"and {len(plot.lines) - len(shown)} more in the table", 0, bottom + 40, "soft", 40))
    return drawn, bottom + 48


def steps_of(plot: Lines) -> Scale:
    """The horizontal scale of a plot."""
    length = max(len(line.values) for line in plot.lines[:_MOST_LINES])
    return Scale(plot.first, plot.first + max(length - 1, 1), _GUTTER, WIDTH - 20)


def _line(line: Line, index: int, across: Scale, upward: Scale) -> Iterator[Markup]:
    for values in _runs(line.low):
        edges = [(step, value, line.high[step]) for step, value in values]
        upper = [f"{across.at(across.low + step)} {upward.at(high)}" for step, _, high in edges if high is not None]
        lower = [f"{across.at(across.low + step)} {upward.at(low)}" for step, low, _ in reversed(edges)]
        yield element("path", d=f"M{'L'.join([*upper, *lower])}z", class_=f"band c{index}")
    parts = []
    for values in _runs(line.values):
        points = [f"{across.at(across.low + step)} {upward.at(value)}" for step, value in values]
        parts.append(f"M{'L'.join(points)}{'h2' if len(points) == 1 else ''}")
    yield element("path", d="".join(parts), class_=style(index))


def _runs(values: Sequence[int | None]) -> Iterator[list[tuple[int, int]]]:
    """The runs of known values, each value with its index."""
    run: list[tuple[int, int]] = []
    for index, value in enumerate([*values, None]):
        if value is not None:
            run.append((index, value))
        elif run:
            yield run
            run = []


def _counts(plot: Counts) -> tuple[list[Markup], int]:
    """A bar for each count."""
    names = _names(plot.groups)
    scale = Scale(0, max(counted.number for _, counts in plot.groups for counted in counts), 0, WIDTH - names - 60)
    drawn, y, rows = [], 6, 0
    for group, counts in plot.groups:
        if group and rows < MOST_ROWS:
            drawn.append(text(group, 0, y + 13, "group", _HEADING))
            y += LINE
        for counted in counts[: max(0, MOST_ROWS - rows)]:
            length = max(1, scale.at(counted.number))
            drawn.append(text(counted.name, 12 if group else 0, y + 13, most=_fitting(names, 12 if group else 0)))
            drawn.append(element("rect", x=names, y=y, width=length, height=15, class_="counted"))
            drawn.append(element("text", count(counted.number), x=names + length + 8, y=y + 13, class_="label soft"))
            y, rows = y + LINE, rows + 1
    return drawn, y + 4
