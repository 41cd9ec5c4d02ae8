"""The map of an episode as SVG: cells by their codes, trails, moving tokens, and their former positions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from math import isqrt
from typing import Final

from msgspec import Struct

from specledger.report.formats.html.elements import NOTHING, Markup, element, join, words
from specledger.report.formats.html.plots import text
from specledger.report.formats.svg.episode import Episode, Position, Track

_LONGEST: Final = 250  # milliseconds of a frame
_SHORTEST: Final = 40
_ALL: Final = 30_000  # milliseconds that all frames should take
_REST: Final = 1500


class Clock(Struct, frozen=True):
    """The time of an animation with frames 0 to `last`."""

    last: int

    @property
    def pace(self) -> int:
        """Milliseconds from one frame to the next."""
        return max(_SHORTEST, min(_LONGEST, _ALL // max(self.last, 1)))

    @property
    def rest(self) -> int:
        """Frames for which the last one stays."""
        return -(-_REST // self.pace)

    def smoothly(self, attribute: str, values: Sequence[str], **more: str) -> Markup:
        """An animation through one value for each frame; nothing for a single frame."""
        if not self.last:
            return NOTHING
        return self._animation(attribute, [*values, *[values[-1]] * self.rest], more)

    def at_once(self, attribute: str, values: Sequence[tuple[int, str]], **more: str) -> Markup:
        """An animation that jumps to each value at its frame; the first one is of frame 0."""
        if not self.last or len(values) < 2:
            return NOTHING
        whole = self.last + self.rest
        shares = (frame * 100_000 // whole for frame, _ in values)
        times = [f"0.{share:05d}" if share else "0" for share in shares]
        more = {**more, "calcMode": "discrete", "keyTimes": ";".join(times)}
        return self._animation(attribute, [value for _, value in values], more)

    def _animation(self, attribute: str, values: Sequence[str], more: dict[str, str]) -> Markup:
        return element(
            "animateTransform" if attribute == "transform" else "animate",
            attributeName=attribute,
            dur=f"{(self.last + self.rest) * self.pace}ms",
            repeatCount="indefinite",
            values=";".join(values),
            **({"type": "translate"} if attribute == "transform" else {}),
            **more,
        )


_SIDE: Final = 480  # pixels that the longer side of a map should have
_LARGEST: Final = 32  # pixels of a cell
_LINED: Final = 64  # cells of a side up to which lines are drawn between them
_AWAY: Final = -99  # pixels; a coordinate outside the picture
_MOST_STAYS: Final = 200  # positions at which a token without a trail is drawn


def cell_size(episode: Episode) -> int:
    """Pixels of a cell: an even number from 2 to 32."""
    return max(2, min(_LARGEST, _SIDE // max(episode.size)) & ~1)


def draw_map(episode: Episode, classes: dict[int, str], x: int, y: int) -> Markup:
    """The map with tokens and trails, at a position in pixels; `classes` are the style classes of coloured codes."""
    size, (width, height), clock = cell_size(episode), episode.size, Clock(episode.frames)
    inner = [*_cells(episode, classes, size)]
    tracks = list(enumerate(episode.tracks))
    tracks.sort(key=lambda entry: entry[1].token["each"] is not None)  # what moves by itself is drawn last
    for number, track in tracks:
        inner += _trail(track, number, size, clock) if track.token["each"] is not None else ()
    for number, track in tracks:
        inner += _left(track, number, size) if track.token["each"] is None else ()
    for number, track in tracks:
        inner += _token(track, number, size, clock)
    return element("svg", *inner, x=x, y=y, width=width * size, height=height * size)


def _cells(episode: Episode, classes: dict[int, str], size: int) -> Iterator[Markup]:
    """The commonest code as the ground, every other code as a path of runs within rows."""
    codes = Counter(code for row in episode.cells for code in row)
    ground = min(codes, key=lambda code: (-codes[code], code))
    width, height = episode.size
    yield element("rect", width=width * size, height=height * size, class_=classes.get(ground, "other"))
    paths: dict[str, list[str]] = {}
    for y, row in enumerate(episode.cells):
        x = 0
        for code, run in groupby(row):
            length = len(list(run))
            if code != ground:
                paths.setdefault(classes.get(code, "other"), []).append(f"M{x} {y}h{length}v1h-{length}z")
            x += length
    for class_, parts in sorted(paths.items()):
        yield element("path", d="".join(parts), class_=class_, transform=f"scale({size})")
    if max(width, height) <= _LINED:
        down = "".join(f"M{x * size} 0v{height * size}" for x in range(1, width))
        across = "".join(f"M0 {y * size}h{width * size}" for y in range(1, height))
        yield element("path", d=down + across, class_="grid")


def _middle(position: Position | None, size: int) -> tuple[int, int]:
    return (_AWAY, _AWAY) if position is None else (position[0] * size + size // 2, position[1] * size + size // 2)


def _trail(track: Track, number: int, size: int, clock: Clock) -> Iterator[Markup]:
    """The path of a token: all of it faintly, and the part up to the current frame."""
    path, done = _path(track, size)
    if not done[-1]:
        return
    way = element("path", id=f"way{number}", d=path, class_=f"way sf{number}", stroke_width=max(1, size // 8))
    yield join(element("defs", way), element("use", href=f"#way{number}", class_="faint"))
    left = [str(done[-1] - length) for length in done]
    grows = clock.smoothly("stroke-dashoffset", left)
    yield element("use", grows, href=f"#way{number}", class_="moving done", stroke_dasharray=done[-1])


def _path(track: Track, size: int) -> tuple[str, list[int]]:
    """The path of a token as path data, and its length in pixels up to each frame."""
    parts, done = [""], [0]
    before: Position | None = None
    for frame, position in enumerate(track.places):
        length = 0
        if position is not None and (before is None or frame in track.jumps):
            parts.append("M{} {}".format(*_middle(position, size)))
        elif position is not None and before is not None and position != before:
            across, down = (position[0] - before[0]) * size, (position[1] - before[1]) * size
            parts.append(f"h{across}" if not down else f"v{down}" if not across else f"l{across} {down}")
            length = isqrt(across * across + down * down)
        done.append(done[-1] + length)
        before = position
    return "".join(parts), done[1:]


def _left(track: Track, number: int, size: int) -> Iterator[Markup]:
    """The former positions of a token, numbered from 1, if it was moved at all."""
    if not track.jumps:
        return
    for index, (frame, position) in enumerate(_stays(track), 1):
        x, y = _middle(position, size)
        if position is not None:
            title = element("title", words(f"{track.token['name']} from step {frame}"))
            shape = _shape(track.token["shape"], size, class_=f"ghost sf{number}")
            number_ = text(str(index), 0, size // 6, "number") if size >= 14 else NOTHING
            yield element("g", title, shape, number_, transform=f"translate({x} {y})")


def _stays(track: Track) -> list[tuple[int, Position | None]]:
    """The frames at which a token without a trail changes its position, and the positions."""
    return [(frame, track.places[frame]) for frame in sorted({0, *track.jumps})][:_MOST_STAYS]


def _token(track: Track, number: int, size: int, clock: Clock) -> Iterator[Markup]:
    """A token at its last position, and animated through its position at each frame."""
    middles = ["{} {}".format(*_middle(position, size)) for position in track.places]
    if track.token["each"] is not None:
        moves = clock.smoothly("transform", middles)
    else:
        moves = clock.at_once("transform", [(frame, middles[frame]) for frame, _ in _stays(track)])
    shape = _shape(track.token["shape"], size, class_=f"token f{number}")
    for class_, inner in (("moving", (shape, moves)), ("still", (shape,))):
        yield element("g", *inner, class_=class_, transform=f"translate({middles[-1]})")


def _shape(shape: str, size: int, **attributes: str) -> Markup:
    reach = max(3, size // 3)
    if shape == "disc":
        return element("circle", r=reach, **attributes)
    far = reach + max(1, reach // 2)
    outlines = {
        "diamond": f"M0 -{far}L{far} 0L0 {far}L-{far} 0z",
        "square": f"M-{reach} -{reach}h{2 * reach}v{2 * reach}h-{2 * reach}z",
    }
    return element("path", d=outlines[shape], **attributes)
