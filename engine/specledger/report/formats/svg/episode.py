"""One episode as frames of a picture, read from its receipts.

Frame 0 is the start and frame k the state after k steps; a drift at t changes frame t.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct, field

from specledger.core.diagnostics import Diagnostic, Rejected, code
from specledger.evidence.receipts import run, typed
from specledger.evidence.receipts.places import Decided
from specledger.lang.declare import FIELD_SIDE
from specledger.report.evidence import Evidence
from specledger.report.model import E_REPORT_KIND, malformed_receipts
from specledger.report.observations import as_int, as_name
from specledger.report.specs import Specs
from specledger.report.step_series import StepSeries
from specledger.report.units import units_of

E_PICTURE_NONE = code("E_PICTURE_NONE", "the world does not say how it is drawn")
E_REPORT_EPISODE = code("E_REPORT_EPISODE", "there is no such episode")

MOST_STEPS: Final = 2000
"""Steps that are drawn; the others are counted."""

Position = tuple[int, int]
Data = Mapping[str, Any]


class Track(Struct):
    """The positions of a token at each frame, (x, y) from 0 or None outside the map, and the frames of its jumps."""

    token: Data
    places: list[Position | None]
    jumps: set[int] = field(default_factory=set)


class Episode:
    """Folds the receipts of one episode.

    Attributes:
        start: The first receipt of the run.
        cells: The codes of the map at the start, in rows.
        series: Figures over the steps that are drawn.
        tally: Counts of `steps`, `proposals`, `drifts`, `violations`, `redrawn` (drifts that changed the map).
        ended, first_success: How it ended, and after which step the goal was reached first, if it was.
    """

    def __init__(self, drawing: Data, series: StepSeries, start: Data, state: Data) -> None:
        self.start, self.series, self._map = start, series, drawing["cells"]
        self.cells = [[as_int(code) for code in row] for row in state[self._map]]
        if not self.cells or not max(map(len, self.cells)) or max(self.size) > FIELD_SIDE:
            raise ValueError(f"its map is not of 1 to {FIELD_SIDE} rows and columns")
        self.tracks = [Track(token, [self._at_start(token, state)]) for token in drawing["tokens"]]
        self.rejections = Counter[str]()
        self.tally = Counter[str]()
        self.ended = ""
        self.first_success: int | None = None

    @property
    def frames(self) -> int:
        """The last frame that is drawn."""
        return min(self.tally["steps"], MOST_STEPS)

    @property
    def size(self) -> Position:
        """Columns and rows of the map."""
        return max(map(len, self.cells)), len(self.cells)

    def add(self, type_: str, body: Data) -> None:
        """Add the next receipt of the episode."""
        if self.tally["steps"] < MOST_STEPS:
            self.series.add(type_, body)
        if type_ == "drift":
            self._drift(typed(run.Drift, body))
        elif type_ == "step":
            self._step(typed(run.Step, body))
        elif type_ == "episode_end":
            end = typed(run.EpisodeEnd, body)
            self.tally["violations"] += len(end["violations"])
            self.ended = as_name(end["ended"])
            self.first_success = None if end["first_success"] is None else as_int(end["first_success"])

    def _drift(self, body: run.Drift) -> None:
        frame, changed = self.tally["steps"], body["changed"]
        self.tally["drifts"] += 1
        self.tally["redrawn"] += self._map in changed
        for track in self.tracks if frame <= MOST_STEPS else ():
            first = track.token["start"].partition(".")[0]
            if first in changed:
                position = self._at_start(track.token, {first: changed[first]["to"]})
                if position != track.places[frame]:
                    track.places[frame] = position
                    track.jumps.add(frame)

    def _step(self, body: run.Step) -> None:
        self.tally["proposals"] += len(body["decisions"])
        self.tally["violations"] += len(body["violations"])
        self.tally["steps"] += 1
        for decision in body["decisions"]:
            self.rejections.update(as_name(failing["gate"]) for failing in decision["rejected"])
        record = body["record"]
        for track in self.tracks if self.tally["steps"] <= MOST_STEPS else ():
            figure = track.token["each"]
            if figure is None or record is None:
                track.places.append(track.places[-1])
            else:
                track.places.append(self._inside(record[figure]))

    def _at_start(self, token: Data, state: Data) -> Position | None:
        """The position of a token in a state, or in the part of a state that has it."""
        value: Any = state
        for name in token["start"].split("."):
            value = value[name]
        return self._inside(value)

    def _inside(self, cell: Any) -> Position | None:
        """A position on the map, from a cell or from y * 256 + x; None outside."""
        y, x = divmod(cell, FIELD_SIDE) if type(cell) is int else (as_int(cell["y"]), as_int(cell["x"]))
        width, height = self.size
        return (x, y) if 0 <= x < width and 0 <= y < height else None


def read_episode(evidence: Evidence, number: int) -> tuple[Data, Episode]:
    """The drawing of a world, and an episode of a run."""
    specs, units = Specs.of(evidence.specs), units_of(evidence.specs)
    world, drawing = specs.referred("world"), specs.drawing(units)
    if world is None:
        paths = [entry["path"] for entry in evidence.manifest["files"]]
        runs = [path.rpartition("/")[0] for path in paths if path.startswith("runs/")]
        hint = f"draw one of its runs, such as {runs[0]}" if runs else None
        raise Rejected([Diagnostic(E_REPORT_KIND, f"evidence of the kind {evidence.kind} cannot be drawn", hint=hint)])
    if drawing is None:
        raise Rejected([Diagnostic(E_PICTURE_NONE, f"the world {world['name']!r} has no `picture`")])
    if drawing["cells"] is None:
        message = f"the map of {world['name']!r} is computed anew for each state, and this format moves tokens only"
        raise Rejected([Diagnostic(E_PICTURE_NONE, message, hint="`--format html` draws it step by step")])
    episode: Episode | None = None
    start: Data = {}
    with malformed_receipts():
        for type_, body in evidence.bodies():
            if type_ == "start":
                start = body
            elif typed(Decided, body).get("episode") == number:
                if type_ == "episode":
                    state = typed(run.Episode, body)["state"]
                    episode = Episode(drawing, StepSeries(specs.charts(units)), start, state)
                elif episode is not None:
                    episode.add(type_, body)
    if episode is None:
        message = f"there is no episode {number} that began"
        expected = f"0 to {evidence.manifest['result']['episodes'] - 1}"
        raise Rejected([Diagnostic(E_REPORT_EPISODE, message, expected=expected)])
    return drawing, episode
