"""Draws plots as inline SVG with a title, a description, and a table of the same numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, assert_never

from specledger.report.figures import in_units
from specledger.report.formats.html.elements import NOTHING, Markup, count, element, quoted, words
from specledger.report.markup import shorten
from specledger.report.plots import MOST_ROWS, Counts, Matrix, Plot, Rates, Series, percent, rate_rows

_WIDTH: Final = 560  # units of the view box
_NAMES: Final = 190  # units for the names of rows
_LINE: Final = 22  # units of a row
_LEVELS: Final = 10  # steps of the colour of a cell
_ROWS_OF_A_TABLE: Final = 400


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
    drawing, height, heads, rows = _draw(plot)
    title = element("title", words(plot.title), id=f"{id_}-title")
    description = element("desc", words(plot.description), id=f"{id_}-desc")
    svg = element(
        "svg",
        title,
        description,
        *drawing,
        viewBox=f"0 0 {_WIDTH} {height}",
        role="img",
        aria_labelledby=f"{id_}-title {id_}-desc",
        class_="plot",
    )
    note = element("p", words(plot.description), class_="note")
    return element("figure", caption, svg, note, _table(heads, rows), class_=f"of-{type(plot).__name__.lower()}")


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Markup:
    head = element("tr", *(element("th", words(name), scope="col") for name in heads))
    body = [
        element("tr", element("th", quoted(row[0]), scope="row"), *(element("td", words(cell)) for cell in row[1:]))
        for row in rows[:_ROWS_OF_A_TABLE]
    ]
    table = element("table", element("thead", head), element("tbody", *body))
    inside = element("div", table, class_="scroll", tabindex=0)
    return element("details", element("summary", words("Table")), inside)


def _draw(plot: Plot) -> tuple[list[Markup], int, Sequence[str], Sequence[Sequence[str]]]:
    """The elements of a plot, its height, and the heads and rows of its table."""
    match plot:
        case Rates():
            return *_rates(plot), ("rate", "value", "cases", "95 %"), [*rate_rows(plot)]
        case Matrix():
            rows = [(name, *map(percent, cells)) for name, cells in zip(plot.rows, plot.cells, strict=True)]
            return *_matrix(plot), ("agent", *plot.columns), rows
        case Series():
            drifts = dict(plot.marks)
            steps = [
                (str(step), "" if value is None else in_units(value, plot.unit), drifts.get(step, ""))
                for step, value in enumerate(plot.values, 1)
            ]
            return *_series(plot), ("step", plot.title, "drift after it"), steps
        case Counts():
            return *_counts(plot), ("name", "number"), [(name, str(number)) for name, number in plot.counts]
    assert_never(plot)


def _text(text: str, x: int, y: int, class_: str = "", most: int = 26) -> Markup:
    return element("text", words(shorten(text, most)), x=x, y=y, class_=f"label {class_}".strip())


def _line(x1: int, y1: int, x2: int, y2: int, class_: str) -> Markup:
    return element("path", d=f"M{x1} {y1}L{x2} {y2}", class_=class_)


def _rates(plot: Rates) -> tuple[list[Markup], int]:
    """A point with its interval for each rate, on an axis from 0 to 100 %."""
    room = _WIDTH - _NAMES - 80
    left = max(0, sum(len(rates) for _, rates in plot.groups) - MOST_ROWS)
    drawn, y, rows = [], 24, 0
    for name, rates in plot.groups:
        if name and rows < MOST_ROWS:
            drawn.append(_text(name, 0, y + 4, "group"))
            y += _LINE
        for rate in rates[: max(0, MOST_ROWS - rows)]:
            low, at, high = (_NAMES + value * room // 1_000_000 for value in (rate.low, rate.value, rate.high))
            drawn.append(_text(rate.name, 12 if name else 0, y + 4))
            drawn.append(_line(low, y, max(high, low + 1), y, "interval"))
            drawn.append(element("circle", cx=at, cy=y, r=4, class_="point"))
            drawn.append(_text(rate.cases, _WIDTH, y + 4, "end soft"))
            y, rows = y + _LINE, rows + 1
    if left:
        drawn.append(_text(f"and {left} more in the table", 0, y + 4, "soft"))
        y += _LINE
    axis = []
    for per_cent in (0, 25, 50, 75, 100):
        x = _NAMES + per_cent * room // 100
        axis += [_line(x, 8, x, y - 8, "axis"), _text(f"{per_cent} %", x, y + 8, "middle soft")]
    return [*axis, *drawn], y + 16


def _matrix(plot: Matrix) -> tuple[list[Markup], int]:
    """A cell for each row and column, whose colour is the rate and whose text is the number."""
    wide = (_WIDTH - _NAMES - 70) // max(len(plot.columns), 1)
    drawn, top, tall = [], 110, 26
    for column, name in enumerate(plot.columns):
        x = _NAMES + column * wide + wide // 2
        text = element(
            "text", words(shorten(name, 16)), class_="label", transform=f"translate({x} {top - 8}) rotate(-40)"
        )
        drawn.append(text)
    for row, (name, cells) in enumerate(zip(plot.rows[:MOST_ROWS], plot.cells, strict=False)):
        y = top + row * tall
        drawn.append(_text(name, 0, y + 17))
        for column, value in enumerate(cells):
            x = _NAMES + column * wide
            level = "none" if value is None else str(value * _LEVELS // 1_000_000)
            drawn.append(element("rect", x=x, y=y, width=wide - 2, height=tall - 2, class_=f"heat h{level}"))
            if value is not None:
                class_ = "middle cell strong" if value * _LEVELS // 1_000_000 > _LEVELS // 2 else "middle cell"
                drawn.append(_text(percent(value), x + wide // 2, y + 17, class_))
    return drawn, top + min(len(plot.rows), MOST_ROWS) * tall + 6


def _series(plot: Series) -> tuple[list[Markup], int]:
    """A line through the values, and a dashed line for each drift."""
    values = [value for value in plot.values if value is not None]
    low, high, height, gutter = min(values), max(values), 120, 80
    room, steps = _WIDTH - gutter - 20, max(len(plot.values), 1)

    def across(step: int) -> int:
        return gutter + step * room // steps

    def upward(value: int) -> int:
        return 10 + height - (value - low) * height // (high - low) if high > low else 10 + height // 2

    parts, joined = [], False
    for step, value in enumerate(plot.values, 1):
        if value is not None:
            parts.append(f"{'L' if joined else 'M'}{across(step)} {upward(value)}")
        joined = value is not None
    drawn = [
        _line(gutter, 10, gutter, 10 + height, "axis"),
        _line(gutter, 10 + height, _WIDTH - 20, 10 + height, "axis"),
    ]
    for step, name in plot.marks:
        mark = element("title", words(f"{name} after step {step}"))
        drawn.append(element("path", mark, d=f"M{across(step)} 10v{height}", class_="drifted"))
    drawn.append(element("path", d="".join(parts), class_="curve"))
    drawn += [
        _text(in_units(value, plot.unit), gutter - 6, upward(value) + 4, "end soft")
        for value in dict.fromkeys((low, high))
    ]
    drawn += [
        _text("0", gutter, height + 28, "middle soft"),
        _text(f"{steps} steps", _WIDTH - 20, height + 28, "end soft"),
    ]
    return drawn, height + 36


def _counts(plot: Counts) -> tuple[list[Markup], int]:
    """A bar for each count."""
    most, room = max(number for _, number in plot.counts), _WIDTH - _NAMES - 80
    drawn, y = [], 8
    for name, number in plot.counts[:MOST_ROWS]:
        length = max(1, number * room // most)
        drawn.append(_text(name, 0, y + 12))
        drawn.append(element("rect", x=_NAMES, y=y, width=length, height=14, class_="counted"))
        drawn.append(element("text", count(number), x=_NAMES + length + 8, y=y + 12, class_="label soft"))
        y += _LINE
    return drawn, y
