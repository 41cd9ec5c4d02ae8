"""Writes one episode of a run as a self-contained, animated SVG without script.

With reduced motion, the whole path and the last step are shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from specledger.report.evidence import Evidence
from specledger.report.formats import DEFAULTS, Options, Output
from specledger.report.formats.svg.charts import GAP, draw_charts, draw_tally
from specledger.report.formats.svg.episode import MOST_EVENTS, MOST_STEPS, Episode, read_episode
from specledger.report.formats.svg.map import cell_size, colours_used, draw_map
from specledger.report.markup import escape, label, shorten, tag
from specledger.report.model import Report
from specledger.spec.world import Colour, Picture, Shades, World

_MARGIN: Final = 16
_NARROWEST: Final = 480
_LETTER: Final = 7  # pixels of a letter of the legend, about

_LIGHT: Final = {
    **{".ground": "fill:#ffffff", "text": "fill:#1f2328", ".small,.name": "fill:#57606a", ".number": "fill:#1f2328"},
    **{".other": "fill:#d0a215", ".grid": "stroke:#1f232814", ".axis": "stroke:#8c959f", ".drift": "stroke:#8250df"},
    **{".line": "stroke:#0969da", ".bar": "fill:#bc4c00", ".time": "stroke:#1f2328", ".token": "stroke:#ffffff"},
}
_DARK: Final = {
    **{".ground": "fill:#0d1117", "text": "fill:#e6edf3", ".small,.name": "fill:#9198a1", ".number": "fill:#e6edf3"},
    **{".other": "fill:#d29922", ".grid": "stroke:#e6edf314", ".axis": "stroke:#6e7681", ".drift": "stroke:#a371f7"},
    **{".line": "stroke:#58a6ff", ".bar": "fill:#db6d28", ".time": "stroke:#e6edf3", ".token": "stroke:#0d1117"},
}
_STYLE: Final = (
    "text{font:13px ui-sans-serif,system-ui,sans-serif}.title{font-size:16px;font-weight:600}"
    ".small,.name{font-size:12px}.name{font-weight:600}.number{font-size:11px;text-anchor:middle;font-weight:600}.middle{text-anchor:middle}"
    ".end{text-anchor:end}.way,.line,.axis,.grid,.drift,.time,.ghost{fill:none}.way{stroke-linejoin:round}.faint{opacity:.4}"
    ".line{stroke-width:1.5}.drift{stroke-dasharray:3 3}.ghost{stroke-width:1.5;stroke-dasharray:3 2}"
    ".token{stroke-width:1.5}.still{display:none}"
)
_STILL: Final = "@media(prefers-reduced-motion:reduce){.moving{display:none}.still{display:inline}}"


def write(report: Report, options: Options = DEFAULTS) -> Output:
    """The episode as an SVG document.

    Raises:
        Rejected: E_REPORT_KIND, E_PICTURE_NONE, E_REPORT_EPISODE or E_REPORT_RECEIPTS.
    """
    (subject,) = report.subjects
    assert subject.evidence is not None  # noqa: S101 - a picture is drawn from a bundle
    evidence, number = subject.evidence, options.episode
    world, picture, episode = read_episode(evidence, number)
    names = _codes(world, picture)
    classes = {code: f"k{index}" for index, code in enumerate(sorted(names))}
    drawn = episode.size[0] * cell_size(episode)
    width = max(drawn, _NARROWEST) + 2 * _MARGIN
    others = f" (of 0 to {episode.count - 1})" if episode.count > 1 else ""
    name = ".".join(shorten(part, 40) for part in (episode.scenario, subject.case) if part)
    title = f"{name}, seed {episode.seed}, episode {number}{others}"
    body = [label(title, _MARGIN, 30, class_="title"), label(_summary(episode), _MARGIN, 50, 90, class_="small")]
    legend, y = _legend(episode, names, classes, width, 74)
    body += [*legend, draw_map(episode, classes, (width - drawn) // 2, y)]
    y += episode.size[1] * cell_size(episode) + GAP
    for draw in (draw_charts, draw_tally):
        found, y = draw(episode, _MARGIN, y, width - 2 * _MARGIN)
        body += found
    for line in (*_notes(episode), *_source(evidence)):
        body.append(label(line, _MARGIN, y, 100, class_="small"))
        y += 16
    height = y + 4
    return Output(
        tag(
            "svg",
            tag("title", escape(title), id="title"),
            tag("desc", escape(_summary(episode)), id="desc"),
            tag("style", _style(episode, names, picture)),
            tag("rect", width=width, height=height, class_="ground"),
            *body,
            xmlns="http://www.w3.org/2000/svg",
            viewBox=f"0 0 {width} {height}",
            width=width,
            height=height,
            role="img",
            **{"aria-labelledby": "title desc"},
        )
        + "\n"
    )


def _codes(world: World, picture: Picture) -> dict[int, str]:
    """The constant's name of each code that has a colour."""
    found: dict[int, str] = {}
    for name in picture.colours:
        value = world.constants[name]
        assert isinstance(value, int)  # noqa: S101 - a checked picture names integers
        found[value] = name
    return found


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
    """What the picture leaves out."""
    notes = []
    if episode.tally["steps"] > MOST_STEPS:
        notes.append(f"Only the first {MOST_STEPS} of {episode.tally['steps']} steps are drawn; the counts are of all.")
    if episode.tally["drifts"] > MOST_EVENTS:
        notes.append(f"Only the first {MOST_EVENTS} of {episode.tally['drifts']} drifts are marked.")
    if episode.tally["redrawn"]:
        notes.append("A drift changed the map, which is drawn as it was at the start.")
    return notes


def _source(evidence: Evidence) -> tuple[str, str]:
    """Where the picture comes from, and what was checked."""
    receipts = evidence.manifest["receipts"]
    return (
        f"{receipts['count']} receipts, Merkle root {receipts['root'][:32]}\u2026",
        "The chain is whole and joins the specs. Not replayed; who made it was not checked.",
    )


def _legend(
    episode: Episode, names: Mapping[int, str], classes: Mapping[int, str], width: int, y: int
) -> tuple[list[str], int]:
    """A swatch and a name for each colour that is in the picture, in as many rows as are needed."""
    used = colours_used(episode.cells)
    entries = [(names[code], classes[code]) for code in sorted(names) if code in used]
    entries += [("other", "other")] if used - names.keys() else []
    entries += [(name, f"f{index}") for index, name in enumerate(episode.tracks)]
    found, x = [], _MARGIN
    for name, class_ in entries:
        text = shorten(name, 24)
        needs = 22 + _LETTER * len(text)
        if x > _MARGIN and x + needs > width - _MARGIN:
            x, y = _MARGIN, y + 18
        found.append(tag("rect", x=x, y=y - 10, width=12, height=12, rx=2, class_=f"{class_} axis swatch"))
        found.append(label(text, x + 17, y, class_="small"))
        x += needs + 10
    return found, y + 12


def _style(episode: Episode, names: Mapping[int, str], picture: Picture) -> str:
    light, dark = dict(_LIGHT), dict(_DARK)
    colours: dict[str, Colour | Shades] = {
        f".k{index}": picture.colours[names[code]] for index, code in enumerate(sorted(names))
    }
    for index, track in enumerate(episode.tracks.values()):
        colours[f".f{index}"] = colours[f".s{index}"] = track.token.colour
    for selector, colour in colours.items():
        shades = colour if isinstance(colour, Shades) else Shades(light=colour, dark=colour)
        key = "stroke" if selector.startswith(".s") else "fill"
        light[selector], dark[selector] = f"{key}:{shades.light}", f"{key}:{shades.dark}"
    return f"{_STYLE}{_rules(light)}@media(prefers-color-scheme:dark){{{_rules(dark)}}}{_STILL}"


def _rules(style: Mapping[str, str]) -> str:
    return "".join(f"{selector}{{{rule}}}" for selector, rule in style.items())
