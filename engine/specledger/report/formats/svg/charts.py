"""The charts below the map: figures over the steps, and the rejections of each gate."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from specledger.report.formats.svg.clock import Clock
from specledger.report.formats.svg.episode import Episode, Series
from specledger.report.markup import escape, label, tag

GAP: Final = 22
"""Pixels from one row of text to the next."""

HEIGHT: Final = 56
"""Pixels of a chart."""

_GUTTER: Final = 64  # pixels on each side of a chart, for its numbers
_NAMES: Final = 150  # pixels for the names of gates
_COUNTS: Final = 60
_MOST_GATES: Final = 12


def draw_charts(episode: Episode, x: int, y: int, width: int) -> tuple[list[str], int]:
    """The charts one below another.

    Returns:
        Their elements, and where the next thing may begin.
    """
    found: list[str] = []
    for name, series in episode.charts.items():
        title = name if name == series.label else f"{name} ({series.label})"
        found.append(label(title, x, y + 4, 60, class_="name"))
        inner = [*_chart(series, episode, width - 2 * _GUTTER)]
        found.append(tag("g", *inner, transform=f"translate({x + _GUTTER} {y + 12})"))
        y += HEIGHT + 36
    if episode.charts and episode.frames:
        found.append(label("0", x + _GUTTER, y - 8, class_="small middle"))
        found.append(label(f"{episode.frames} steps", x + width - _GUTTER, y - 8, class_="small middle"))
    return found, y + 10


def _chart(series: Series, episode: Episode, width: int) -> Iterator[str]:
    """One chart at 0, 0: a line, its drifts, where time is, and its least, greatest and last value."""
    yield tag("path", d=f"M0 0v{HEIGHT}h{width}", class_="axis")
    known = [value for value in series.values if value is not None]
    if not known:
        yield label("no values", 6, HEIGHT // 2, class_="small")
        return
    low, high, last = min(known), max(known), episode.frames
    for frame, name in episode.drifts:
        title = tag("title", escape(f"{name} at step {frame}"))
        yield tag("path", title, d=f"M{frame * width // max(last, 1)} 0v{HEIGHT}", class_="drift")
    yield tag("path", d=_line(series, low, high, width), class_="line")
    for value, height in ((high, 8), (low, HEIGHT)) if high > low else ((low, HEIGHT // 2 + 4),):
        yield label(amount(value, series.unit), -6, height, 12, class_="small end")
    yield label(amount(known[-1], series.unit), width + 6, _height(known[-1], low, high) + 4, 12, class_="small")
    moves = Clock(last).smoothly("transform", [f"{_across(frame, last, width)} 0" for frame in range(last + 1)])
    yield tag("path", moves, d=f"M0 0v{HEIGHT}", class_="moving time")


def _line(series: Series, low: int, high: int, width: int) -> str:
    """Path data through the values, with a gap where there is none."""
    parts, joined = [], False
    for frame, value in enumerate(series.values, 1):
        if value is not None:
            across = _across(frame, len(series.values), width)
            parts.append(f"{'L' if joined else 'M'}{across} {_height(value, low, high)}")
        joined = value is not None
    return "".join(parts) if len(parts) > 1 else f"{''.join(parts)}h1"


def _across(frame: int, last: int, width: int) -> str:
    """Where a frame stands, in pixels with one decimal."""
    whole, tenth = divmod(frame * width * 10 // max(last, 1), 10)
    return f"{whole}.{tenth}" if tenth else str(whole)


def _height(value: int, low: int, high: int) -> int:
    return HEIGHT - (value - low) * HEIGHT // (high - low) if high > low else HEIGHT // 2


def amount(value: int, unit: int) -> str:
    """A number of units with at most two decimals, halves away from zero."""
    hundredths = (abs(value) * 200 + unit) // (2 * unit)
    whole, rest = divmod(hundredths, 100)
    sign = "-" if value < 0 and hundredths else ""
    return f"{sign}{whole}" + (f".{rest:02d}".rstrip("0") if rest else "")


def draw_tally(episode: Episode, x: int, y: int, width: int) -> tuple[list[str], int]:
    """A bar for each gate that rejected something, the busiest first.

    Returns:
        The elements, and where the next thing may begin.
    """
    count = sum(episode.rejections.values())
    found = [label(f"rejected proposals by gate ({episode.tally['proposals']} proposals)", x, y + 4, 70, class_="name")]
    y += GAP
    if not count:
        return [*found, label("none", x, y + 4, class_="small")], y + GAP
    gates = sorted(episode.rejections.items(), key=lambda item: (-item[1], item[0]))
    room = width - _NAMES - _COUNTS
    for gate, times in gates[:_MOST_GATES]:
        found.append(label(gate, x, y + 4, 22, class_="small"))
        found.append(
            tag("rect", x=x + _NAMES, y=y - 5, width=max(1, times * room // gates[0][1]), height=10, class_="bar")
        )
        found.append(label(str(times), x + _NAMES + max(1, times * room // gates[0][1]) + 6, y + 4, class_="small"))
        y += GAP - 4
    if len(gates) > _MOST_GATES:
        found.append(label(f"and {len(gates) - _MOST_GATES} more gates", x, y + 4, class_="small"))
        y += GAP - 4
    return found, y + 10
