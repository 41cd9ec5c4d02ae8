"""Writes one episode of a run as a self-contained, animated SVG without script.

With reduced motion, the whole path and the last step are shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.resources import files
from typing import Any, Final

from specledger.report.formats.html.elements import Markup, asset, element, words
from specledger.report.formats.html.plots import TALL, TOP, WIDTH, draw, steps_of, text
from specledger.report.formats.output import DEFAULTS, Options, Output
from specledger.report.formats.svg.episode import MOST_STEPS, Episode, read_episode
from specledger.report.formats.svg.map import Clock, cell_size, draw_map
from specledger.report.markup import shorten
from specledger.report.model import Report, Subject
from specledger.report.not_shown import replay_text
from specledger.report.plots import MOST_ROWS, Lines, Plot, rejection_counts

_MARGIN: Final = 16
_LETTER: Final = 7  # pixels of a letter of the legend, about

Entry = tuple[str, str, Sequence[str]]
"""The name, the style class and the colours of an entry of the legend."""


def write(report: Report, options: Options = DEFAULTS) -> Output:
    """The episode as an SVG document."""
    (subject,) = report.subjects
    evidence, number = subject.evidence, options.episode
    drawing, episode = read_episode(evidence, number)
    codes: dict[int, Entry] = {
        code: (name, f"m{index}", shades) for index, (code, name, *shades) in enumerate(sorted(drawing["colours"]))
    }
    tokens: list[Entry] = [
        (token["name"], f"f{index}", token["colour"]) for index, token in enumerate(drawing["tokens"])
    ]
    drawn = episode.size[0] * cell_size(episode)
    width = max(drawn, WIDTH) + 2 * _MARGIN
    count = episode.start["episodes"]
    others = f" (of 0 to {count - 1})" if count > 1 else ""
    name = ".".join(shorten(str(part), 40) for part in (episode.start["scenario"], subject.case) if part)
    title = f"{name}, seed {episode.start['seed']}, episode {number}{others}"
    body = [text(title, _MARGIN, 30, "title", 80), text(_summary(episode), _MARGIN, 50, "small", 90)]
    used = {code for row in episode.cells for code in row}
    entries = [entry for code, entry in codes.items() if code in used]
    other: list[Entry] = [("other", "other", ())] if used - codes.keys() else []
    legend, y = _legend([*entries, *other, *tokens], width, 74)
    classes = {code: class_ for code, (_, class_, _) in codes.items()}
    body += [*legend, draw_map(episode, classes, (width - drawn) // 2, y)]
    y += episode.size[1] * cell_size(episode) + 30
    charts = (plot for plot in episode.series.over_steps() if plot.title in episode.series.labels)
    for plot in (*charts, *rejection_counts(episode.rejections)):
        body.append(text(plot.title, _MARGIN, y, "group", 60))
        chart, y = _chart(plot, episode.frames, y + 6)
        body.append(chart)
    for line in (*_notes(episode), *_source(subject)):
        body.append(text(line, _MARGIN, y, "small", 100))
        y += 16
    about = [element("title", words(title), id="title"), element("desc", words(_summary(episode)), id="desc")]
    svg = element(
        "svg",
        *about,
        element("style", Markup(_style([*entries, *tokens]))),
        element("rect", width=width, height=y + 4, class_="ground"),
        *body,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width} {y + 4}",
        width=width,
        height=y + 4,
        role="img",
        aria_labelledby="title desc",
    )
    return Output(svg + "\n")


def _chart(plot: Plot, frames: int, y: int) -> tuple[Markup, int]:
    """A plot with a line at the current time, and the y coordinate below it."""
    drawn, height = draw(plot)
    if isinstance(plot, Lines):
        across = steps_of(plot)
        places = [f"{across.at(max(frame - 1, plot.first))} 0" for frame in range(frames + 1)]
        moves = Clock(frames).smoothly("transform", places)
        drawn.append(element("path", moves, d=f"M0 {TOP}v{TALL}", class_="moving time"))
    return element("svg", *drawn, x=_MARGIN, y=y, width=WIDTH, height=height, class_="plot"), y + height + 26


def _summary(episode: Episode) -> str:
    tally = episode.tally
    reached = "goal not reached"
    if episode.first_success is not None:
        reached = f"goal first reached in step {episode.first_success}"
    counts = ", ".join(_count(tally[noun], noun) for noun in ("drifts", "violations"))
    return f"{_count(tally['steps'], 'steps')} ({shorten(episode.ended, 20)}), {counts}; {reached}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun[:-1] if number == 1 else noun}"


def _notes(episode: Episode) -> list[str]:
    """Notes on what is not drawn."""
    notes = []
    if episode.tally["steps"] > MOST_STEPS:
        notes.append(f"Only the first {MOST_STEPS} of {episode.tally['steps']} steps are drawn; the counts are of all.")
    if episode.tally["drifts"] > MOST_ROWS:
        notes.append(f"Only the first {MOST_ROWS} of {episode.tally['drifts']} drifts are marked.")
    if episode.tally["redrawn"]:
        notes.append("A drift changed the map, which is drawn as it was at the start.")
    return notes


def _source(subject: Subject) -> tuple[str, ...]:
    """Where the picture comes from, and what was checked."""
    receipts, replay = subject.manifest["receipts"], replay_text([subject])
    return (
        f"{receipts['count']} receipts, Merkle root {receipts['root'][:32]}\u2026",
        "The chain is whole and joins the specs.",
        f"{replay[0].upper()}{replay[1:]}; who made it was not checked.",
    )


def _legend(entries: Iterable[Entry], width: int, y: int) -> tuple[list[Markup], int]:
    """A swatch and a name for each colour in the picture, in as many rows as needed."""
    drawn, x = [], _MARGIN
    for name, class_, _ in entries:
        shown = shorten(name, 24)
        needs = 22 + _LETTER * len(shown)
        if x > _MARGIN and x + needs > width - _MARGIN:
            x, y = _MARGIN, y + 18
        drawn.append(element("rect", x=x, y=y - 10, width=12, height=12, rx=2, class_=f"{class_} swatch"))
        drawn.append(text(shown, x + 17, y, "small"))
        x += needs + 10
    return drawn, y + 12


def _style(entries: Iterable[Entry]) -> str:
    """The rules of plots and pictures, and the colours of the picture, light and dark."""
    rules: list[Any] = ["", ""]
    for _, class_, shades in entries:
        for index, shade in enumerate(shades):
            rules[index] += f".{class_} {{ fill: {shade}; }} .s{class_} {{ stroke: {shade}; }}\n"
    own = files(__package__).joinpath("picture.css").read_text(encoding="utf-8")
    light, dark = rules
    return f"{asset('plot.css')}{own}{light}@media (prefers-color-scheme: dark) {{\n{dark}}}\n"
