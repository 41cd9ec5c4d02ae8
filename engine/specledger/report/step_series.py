"""Plots of figures over the steps of episodes: budget, potentials, figures of the record, and recovery from drifts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from msgspec import Struct, field

from specledger.evidence.receipts import typed
from specledger.evidence.receipts.places import Decided
from specledger.evidence.receipts.run import Drift, Step
from specledger.load import Bundle
from specledger.report.evidence import bodies_in
from specledger.report.plots import MOST_ROWS, Line, Lines, Plot, side_by_side
from specledger.report.specs import Specs, read_specs
from specledger.report.units import units_of

MOST_EPISODES: Final = 100
"""Episodes of a run that are drawn; the others are left out, with a note."""

MOST_STEPS: Final = 12_000
"""Steps of a suite that are read for plots of recovery; an episode that was begun is read to its end."""

BEFORE: Final = 5
"""Steps before a drift in a plot of recovery."""

AFTER: Final = 40
"""Steps after a drift in a plot of recovery, if no other drift comes."""

Values = list[int | None]


class _Episode(Struct):
    """The figures of one episode by name, a value for each step, and its drifts with the number of steps before."""

    steps: int = 0
    values: dict[str, Values] = field(default_factory=dict)
    drifts: list[tuple[int, str]] = field(default_factory=list)

    def put(self, name: str, value: Any) -> None:
        values = self.values.setdefault(name, [])
        values += [None] * (self.steps - 1 - len(values))
        values.append(value if type(value) is int else None)


class StepSeries(Struct):
    """Collects figures of the steps of a run; `labels` are their labels in the record and units, by name."""

    labels: Mapping[str, tuple[str, int]]
    _episodes: dict[tuple[str, int], _Episode] = field(default_factory=dict)
    _left_out: int = 0

    def add(self, type_: str, body: Mapping[str, Any], run: str = "") -> None:
        """Take a receipt of a run; those of episodes above the limit are counted."""
        if type_ not in ("drift", "step", "episode_end"):
            return
        key = (run, typed(Decided, body)["episode"])
        if key not in self._episodes and (len(self._episodes) == MOST_EPISODES or type_ == "episode_end"):
            self._left_out += type_ == "episode_end"
            return
        if type_ == "episode_end":
            return
        episode = self._episodes.setdefault(key, _Episode())
        if type_ == "drift":
            episode.drifts.append((episode.steps, str(typed(Drift, body)["drift"])))
            return
        episode.steps += 1
        step = typed(Step, body)
        record = step["record"] or {}
        for name, (label, _) in self.labels.items():
            episode.put(name, record.get(label))
        for name, potential in (step.get("potentials") or {}).items():
            episode.put(f"potential {name}", potential["to"])

    def read(self, folder: Path, run: str, most: int) -> None:
        """Take the first receipts of a run that was checked before; after `most` steps no further episode is begun."""
        for type_, body in bodies_in(folder, "step", "drift", "episode_end"):
            if type_ != "episode_end":
                self.add(type_, body, run)
                most -= 1
            elif most < 0:
                return

    def plots(self) -> list[Lines]:
        """A plot for each figure that has values, then its recovery from drifts."""
        return [*self.over_steps(), *self.recoveries()]

    def _names(self) -> dict[str, None]:
        return dict.fromkeys(name for episode in self._episodes.values() for name in episode.values)

    def _of(self, name: str) -> list[Values]:
        return [episode.values[name] for episode in self._episodes.values() if name in episode.values]

    def _unit(self, name: str) -> int:
        return self.labels.get(name, ("", 1))[1]

    def over_steps(self) -> Iterator[Lines]:
        """A plot for each figure that has values."""
        count = len(self._episodes)
        often = Counter(mark for episode in self._episodes.values() for mark in dict.fromkeys(episode.drifts))
        marks = sorted(mark for mark, times in often.items() if 2 * times >= count)[:MOST_ROWS]
        for name in self._names():
            rows = self._of(name)
            if max(sum(value is not None for value in row) for row in rows) < 2:
                continue
            if count == 1:
                line, text = Line(name, rows[0]), f"{name} after each step of the episode."
            else:
                line = middle(f"{count} episodes", rows, 0, 1)
                left = f" {self._left_out} more episodes are not drawn." if self._left_out else ""
                text = f"{name} after each step, over {count} episodes: the median of those that reach the step, and"
                text += f" their least and greatest value as a band. Steps shows single episodes.{left}"
            if marks:
                text += " A dashed line is a drift" + (" of at least half of the episodes." if count > 1 else ".")
            yield Lines(name, text, [line], self._unit(name), marks, 0, marked="drift before it")

    def recoveries(self) -> list[Lines]:
        """Figures by the steps since a drift; of those that rise and fall, since others cannot recover."""
        turning = [name for name in self._names() if _turns(self._of(name))]
        return [self._recovery(name, windows) for name in turning if (windows := self._windows(name))]

    def _recovery(self, name: str, windows: Sequence[Values]) -> Lines:
        text = f"{name} by the steps since a drift, over all drifts: the median, and the middle half as a"
        text += (
            f" band. A drift is followed until the next one, for at most {AFTER} steps. The dashed line is the drift."
        )
        drawn = middle(f"{len(windows)} drifts", windows, 1, 4)
        across = "steps since a drift"
        marks = [(0, "drift")]
        return Lines(f"Recovery: {name}", text, [drawn], self._unit(name), marks, 1 - BEFORE, across, upward=name)

    def _windows(self, name: str) -> list[Values]:
        """The values from some steps before each drift to the next one."""
        windows = []
        for episode in self._episodes.values():
            values = episode.values.get(name, [])
            starts = dict.fromkeys(steps for steps, _ in episode.drifts)
            for steps, end in pairwise([*starts, len(values)]):
                before = values[max(0, steps - BEFORE) : steps]
                after = values[steps : min(end, steps + AFTER)]
                if before and after:
                    windows.append([*[None] * (BEFORE - len(before)), *before, *after])
        return windows


def recoveries_by_arm(runs: Sequence[tuple[str, str, Path]], suite: Bundle) -> list[Plot]:
    """The recovery from drifts of a suite, with a line for each arm, by the first episodes of each run.

    Each run has an arm, a name, and a bundle, which was checked.
    """
    arms: dict[str, StepSeries] = {}
    for arm, run, folder in runs:
        if arm not in arms:
            specs = read_specs(folder, suite)
            arms[arm] = StepSeries(Specs.of(specs).charts(units_of(specs)))
        arms[arm].read(folder, run, MOST_STEPS // len(runs))
    return side_by_side([(arm, series.recoveries()) for arm, series in arms.items()])


def middle(name: str, rows: Sequence[Values], part: int, of: int) -> Line:
    """The median of rows at each place, and their values at `part` of `of` from either end as a band."""
    median: Values = []
    low: Values = []
    high: Values = []
    for index in range(max(map(len, rows))):
        known = sorted(value for row in rows if index < len(row) and (value := row[index]) is not None)
        last = len(known) - 1
        edge = last * part // of
        median.append(known[last // 2] if known else None)
        low.append(known[edge] if known else None)
        high.append(known[last - edge] if known else None)
    return Line(name, median, low, high)


def _turns(rows: Sequence[Values]) -> bool:
    """Whether values rise and fall within the rows."""
    seen = set()
    for row in rows:
        known = [value for value in row if value is not None]
        seen |= {after > before for before, after in pairwise(known) if after != before}
    return len(seen) == 2
