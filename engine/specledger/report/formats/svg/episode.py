"""One episode as frames of a picture, read from its receipts by the world's `picture`.

Frame 0 is the start and frame k the state after k steps; a drift at t changes frame t.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from msgspec import Struct, field

from specledger.core.diagnostics import Diagnostic, Rejected
from specledger.lang.declare import FIELD_SIDE
from specledger.report.codes import E_PICTURE_NONE, E_REPORT_EPISODE, E_REPORT_KIND
from specledger.report.evidence import Evidence
from specledger.report.model import malformed_receipts
from specledger.report.observations import as_int, as_name
from specledger.spec.world import Chart, Picture, Token, World

MOST_STEPS: Final = 2000
"""Steps that are drawn; the others are counted."""

MOST_EVENTS: Final = 200
"""Drifts that are marked; the others are counted."""

Place = tuple[int, int]


class Track(Struct):
    """Where a token is.

    Attributes:
        token: What the picture says about it.
        places: Its place at each frame, (x, y) from 0; None outside the map.
        jumps: The frames to which it did not come by a step.
    """

    token: Token
    places: list[Place | None]
    jumps: set[int] = field(default_factory=set)


class Series(Struct):
    """A figure over the steps: its value after each, None where nothing was chosen; `unit` of it are shown as 1."""

    label: str
    unit: int
    values: list[int | None] = field(default_factory=list)


class Episode(Struct):
    """One episode.

    Attributes:
        scenario, seed, number, count: Which it is, of how many.
        cells: The codes of the map at the start, in rows.
        tracks, charts: By name.
        drifts: (frame, name) of each drift, the first ones.
        rejections: By gate, in all steps.
        tally: Counts of `steps`, `proposals`, `drifts`, `violations`, `redrawn` (drifts that changed the map).
        ended, first_success: How it ended, and after which step the goal was reached first, if it was.
    """

    scenario: str
    seed: int
    number: int
    count: int
    cells: list[list[int]]
    tracks: dict[str, Track]
    charts: dict[str, Series]
    drifts: list[tuple[int, str]] = field(default_factory=list)
    rejections: Counter[str] = field(default_factory=Counter)
    tally: Counter[str] = field(default_factory=Counter)
    ended: str = ""
    first_success: int | None = None

    @property
    def frames(self) -> int:
        """The last frame that is drawn."""
        return min(self.tally["steps"], MOST_STEPS)

    @property
    def size(self) -> tuple[int, int]:
        """Columns and rows of the map."""
        return max(len(row) for row in self.cells), len(self.cells)


def _world_of(evidence: Evidence) -> World:
    """The world of a run.

    Raises:
        Rejected: E_REPORT_KIND, if it is not the evidence of a run.
    """
    if "world" not in (path[0] for path in evidence.specs.main.refs):
        paths = [entry["path"] for entry in evidence.manifest["files"]]
        runs = [path.rpartition("/")[0] for path in paths if path.startswith("runs/")]
        hint = f"draw one of its runs, such as {runs[0]}" if runs else None
        raise Rejected([Diagnostic(E_REPORT_KIND, f"evidence of the kind {evidence.kind} cannot be drawn", hint=hint)])
    model = evidence.specs.specs[evidence.specs.main.refs["world",]].model
    assert isinstance(model, World)  # noqa: S101 - a reference of kind world holds nothing else
    return model


def read_episode(evidence: Evidence, number: int) -> tuple[World, Picture, Episode]:
    """The episode of a run, and how it is drawn.

    Args:
        evidence: A run's.
        number: Which episode, from 0.

    Raises:
        Rejected: E_REPORT_KIND, E_PICTURE_NONE, E_REPORT_EPISODE or E_REPORT_RECEIPTS.
    """
    world = _world_of(evidence)
    if world.picture is None:
        raise Rejected([Diagnostic(E_PICTURE_NONE, f"the world {world.name!r} has no `picture`")])
    with malformed_receipts():
        found = _Reader(world.picture, number).read(evidence.bodies())
    if found is None:
        message = f"there is no episode {number} that began"
        expected = f"0 to {evidence.manifest['result']['episodes'] - 1}"
        raise Rejected([Diagnostic(E_REPORT_EPISODE, message, expected=expected)])
    return world, world.picture, found


class _Reader:
    """Folds the receipts of one episode."""

    def __init__(self, picture: Picture, number: int) -> None:
        self.picture = picture
        self.number = number
        self.start: Mapping[str, Any] = {}
        self.episode: Episode | None = None

    def read(self, bodies: Iterator[tuple[str, Mapping[str, Any]]]) -> Episode | None:
        for type_, body in bodies:
            if type_ == "start":
                self.start = body
            elif body.get("episode") != self.number:
                continue
            elif type_ == "episode":
                self.episode = self._begin(body["state"])
            elif type_ == "drift":
                self._drift(self._open(), body)
            elif type_ == "step":
                self._step(self._open(), body)
            elif type_ == "episode_end":
                return self._end(body)
        return None

    def _open(self) -> Episode:
        if self.episode is None:
            raise ValueError("it has no start")
        return self.episode

    def _begin(self, state: Mapping[str, Any]) -> Episode:
        cells = [[as_int(code) for code in row] for row in state[self.picture.cells]]
        if not cells or not max(map(len, cells)) or max(len(cells), *map(len, cells)) > FIELD_SIDE:
            raise ValueError(f"its map is not of 1 to {FIELD_SIDE} rows and columns")
        tokens = self.picture.tokens.items()
        charts = {name: _series(chart) for name, chart in self.picture.charts.items()}
        start = self.start
        episode = Episode(
            as_name(start["scenario"]), as_int(start["seed"]), self.number, as_int(start["episodes"]), cells, {}, charts
        )
        for name, token in tokens:
            episode.tracks[name] = Track(token, [_inside(episode, _follow(state, token.start))])
        return episode

    def _drift(self, episode: Episode, body: Mapping[str, Any]) -> None:
        episode.tally["drifts"] += 1
        changed = body["changed"]
        episode.tally["redrawn"] += self.picture.cells in changed
        frame = episode.tally["steps"]
        if frame > MOST_STEPS:
            return
        if len(episode.drifts) < MOST_EVENTS:
            episode.drifts.append((frame, as_name(body["drift"])))
        for track in episode.tracks.values():
            first = track.token.start.partition(".")[0]
            if first in changed:
                place = _inside(episode, _follow({first: changed[first]["to"]}, track.token.start))
                if place != track.places[frame]:
                    track.places[frame] = place
                    track.jumps.add(frame)

    def _step(self, episode: Episode, body: Mapping[str, Any]) -> None:
        episode.tally["steps"] += 1
        episode.tally["proposals"] += len(body["decisions"])
        episode.tally["violations"] += len(body["violations"])
        for decision in body["decisions"]:
            episode.rejections.update(as_name(failing["gate"]) for failing in decision["rejected"])
        if episode.tally["steps"] > MOST_STEPS:
            return
        record = body["record"]
        for track in episode.tracks.values():
            known = track.token.each is not None and record is not None
            track.places.append(_inside(episode, record[track.token.each]) if known else track.places[-1])
        for series in episode.charts.values():
            series.values.append(None if record is None else as_int(record[series.label]))

    def _end(self, body: Mapping[str, Any]) -> Episode | None:
        if self.episode is not None:
            self.episode.tally["violations"] += len(body["violations"])
            self.episode.ended = as_name(body["ended"])
            self.episode.first_success = None if body["first_success"] is None else as_int(body["first_success"])
        return self.episode


def _series(chart: str | Chart) -> Series:
    return Series(chart.of, chart.unit) if isinstance(chart, Chart) else Series(chart, 1)


def _follow(state: Mapping[str, Any], path: str) -> Any:
    """The value at a dotted path."""
    value: Any = state
    for name in path.split("."):
        value = value[name]
    return value


def _inside(episode: Episode, cell: Any) -> Place | None:
    """A place of the map, from a cell or from y * 256 + x; None outside."""
    y, x = divmod(cell, FIELD_SIDE) if type(cell) is int else (as_int(cell["y"]), as_int(cell["x"]))
    width, height = episode.size
    return (x, y) if 0 <= x < width and 0 <= y < height else None
