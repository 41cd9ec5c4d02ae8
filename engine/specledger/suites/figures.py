"""Figures: values of many episodes as one number with its intervals.

A figure over no episodes has no `value`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final

from msgspec import Struct, field

from specledger.core.statistics import (
    Interval,
    clopper_pearson,
    clustered,
    clustered_rate,
    mean,
    paired_difference,
    quantile,
    slope,
    upper_bound,
    wilson,
)
from specledger.expr import BOOL, INT, STRING, ListType, RecordType, Type

_INTERVAL: Final = RecordType("interval", {"low": INT, "high": INT})


def _record(name: str, fields: Mapping[str, Type], optional: Mapping[str, Type]) -> RecordType:
    return RecordType(name, {**fields, **optional}, optional=frozenset(optional))


_SEVERAL: Final[Mapping[str, Type]] = {"value": INT, "cluster": _INTERVAL}
_PLACES: Final = ListType(RecordType("place", {"run": STRING, "episode": INT}))
_MOST_PLACES: Final = 3
"""Episodes that a rate names as examples."""
_LABELS: Final[Mapping[type, Type]] = {bool: BOOL, int: INT, str: STRING}
_RATE: Final = _record(
    "rate",
    {"of": INT, "count": INT, "clusters": INT, "held": _PLACES, "failed": _PLACES},
    {**_SEVERAL, "bound": INT, "wilson": _INTERVAL, "exact": _INTERVAL},
)
_EFFECT: Final = _record(
    "effect", {"of": INT, "count": INT, "against": INT, "clusters": INT}, {**_SEVERAL, "newcombe": _INTERVAL}
)
OF_SOMETHING: Final = frozenset({*_SEVERAL, "bound", "wilson", "exact", "newcombe"})
"""The fields that a figure of nothing has none of, or one of too few clusters."""
_TYPES: Final[Mapping[str, RecordType]] = {
    "rate": _RATE,
    "effect": _EFFECT,
    "mean": _record("mean", {"of": INT, "sum": INT, "clusters": INT}, _SEVERAL),
    "sum": _record("sum", {"of": INT, "value": INT}, {}),
    "slope": _record("slope", {"of": INT, "clusters": INT}, _SEVERAL),
    "difference": _record("difference", {"of": INT, "sum": INT, "clusters": INT}, _SEVERAL),
    **{name: _record(name, {"of": INT}, {"value": INT}) for name in ("least", "greatest", "quantile")},
}


class PlannedFigure(Struct, frozen=True):
    """One figure.

    Attributes:
        statistic: How its values become one.
        over: The arms whose runs it is over; of a difference, the one it is of and the one that is taken from it.
        by: What its runs are grouped by, if they are.
        at: The share of a quantile, in millionths.
        cases: By arm the values of its case, if the runs are grouped by arm.
        clusters: What makes episodes alike, as an expression: those of one `scenario`, `seed` or `run`, or those in
            which another one has the same value, are one cluster.
        decided: Whether only decided values count; the others are counted apart.
    """

    name: str
    statistic: str
    over: tuple[str, ...]
    by: str | None
    at: int
    cases: Mapping[str, Mapping[str, bool | int | str]] = field(default_factory=dict)
    clusters: str = "scenario"
    decided: bool = False

    @property
    def type(self) -> Type:
        """What checks read: a record, or a list of records with a `name`, one for each group, and perhaps a `case`."""
        record = _TYPES[self.statistic]
        if self.decided:
            record = RecordType(record.name, {**record.fields, "undecided": INT}, optional=record.optional)
        if self.by is None:
            return record
        axes = {axis: _LABELS[type(value)] for case in self.cases.values() for axis, value in case.items()}
        always = {axis for axis in axes if all(axis in case for case in self.cases.values())}
        case = {"case": RecordType("case", axes, optional=frozenset(axes) - always)} if axes else {}
        return ListType(RecordType(record.name, {**record.fields, "name": STRING, **case}, optional=record.optional))

    def case(self, group: str) -> dict[str, Any]:
        """What a group says of its case; nothing if no arm of the figure is a case."""
        return {"case": dict(self.cases.get(group, {}))} if any(self.cases.values()) else {}


Run = Mapping[str, Any]
"""What is known of a run: `run`, `arm`, `scenario`, `seed`, and the `samples` of its figures."""


def compute(figure: PlannedFigure, runs: Sequence[Run]) -> list[dict[str, Any]]:
    """A figure as records with a `name`, which is empty where it has no groups."""
    chosen = [run for run in runs if run["arm"] in figure.over]
    for run in chosen:
        if isinstance(run["samples"].get(figure.name), Mapping):
            raise FigureError(run["samples"][figure.name])
    groups: dict[str, list[Run]] = {} if figure.by is not None else {"": chosen}
    if figure.by is not None:
        for run in chosen:
            groups.setdefault(str(run[figure.by]), []).append(run)
    return [
        {
            "name": name,
            **figure.case(name),
            **_STATISTICS[figure.statistic](figure, groups[name]),
            **({"undecided": _undecided(figure, groups[name])} if figure.decided else {}),
        }
        for name in sorted(groups, key=lambda name: _place(figure, name))
    ]


def _place(figure: PlannedFigure, name: str) -> tuple[str, list[tuple[bool, float, str]], str]:
    """What groups are sorted by: seeds and the values of a case as numbers where they are numbers, else as text."""
    case = figure.cases.get(name, {})
    values = [*case.values()] if case else [int(name)] if figure.by == "seed" else []
    arm = name.partition(".")[0] if case else "" if values else name
    return arm, [_sorted_as(value) for value in values], name


def _sorted_as(value: bool | int | str) -> tuple[bool, float, str]:
    """A value of an axis among others: numbers first, a double among them, which is written as text."""
    try:
        return False, float(value), ""
    except ValueError:
        return True, 0.0, str(value)


class FigureError(Exception):
    """Values of a figure could not be computed; `cause` is what a receipt says of it."""

    def __init__(self, cause: Mapping[str, Any]) -> None:
        self.cause = cause
        super().__init__(str(cause["code"]))


def _values(figure: PlannedFigure, run: Run) -> Iterator[Any]:
    """The values of all episodes of a run; None for one that is not decided."""
    return chain.from_iterable(run["samples"].get(figure.name, ()))


def _undecided(figure: PlannedFigure, runs: Sequence[Run]) -> int:
    return sum(value is None for run in runs for value in _values(figure, run))


def _clusters(figure: PlannedFigure, runs: Sequence[Run]) -> dict[str, list[Any]]:
    """The decided values of each cluster."""
    clusters: dict[str, list[Any]] = {}
    for run in runs:
        episodes = run["samples"].get(figure.name, ())
        for name, values in zip(_cluster_names(figure, run, len(episodes)), episodes, strict=True):
            clusters.setdefault(name, []).extend(value for value in values if value is not None)
    return clusters


def _cluster_names(figure: PlannedFigure, run: Run, episodes: int) -> Sequence[str]:
    """The cluster of each episode of a run."""
    if figure.clusters in RUN_CLUSTERS:
        return [str(run[figure.clusters])] * episodes
    names: Sequence[str] = run["samples"].get(cluster_series(figure.name), ())
    return names


RUN_CLUSTERS: Final = ("scenario", "seed", "run")
"""What makes all episodes of a run alike."""


def cluster_series(figure: str) -> str:
    """Under which name samples hold the cluster of each episode of a figure; no figure has such a name."""
    return f"{figure} clusters"


def _interval(limits: Interval | None) -> dict[str, int] | None:
    return None if limits is None else {"low": limits[0], "high": limits[1]}


def _known(**values: Any) -> dict[str, Any]:
    """Without what there is none of."""
    return {name: value for name, value in values.items() if value is not None}


Limits = Callable[[Sequence[Sequence[int]]], Interval | None]


def _sums(clusters: Mapping[str, Sequence[int]], limits: Limits) -> dict[str, Any]:
    """Number, sum, mean and its interval of the values of each cluster that has any."""
    sums = [[len(values), sum(values)] for values in clusters.values() if values]
    of, total = sum(pair[0] for pair in sums), sum(pair[1] for pair in sums)
    known = _known(of=of, sum=total, value=mean([of, total]), cluster=_interval(limits(sums)))
    return {**known, "clusters": len(sums)}


def _mean(figure: PlannedFigure, runs: Sequence[Run]) -> dict[str, Any]:
    return _sums(_clusters(figure, runs), lambda sums: clustered(sums, mean))


def _rate(figure: PlannedFigure, runs: Sequence[Run]) -> dict[str, Any]:
    sums = _sums(_clusters(figure, runs), clustered_rate)
    count, of = sums.pop("sum"), sums["of"]
    sums |= {"count": count, "held": _places(figure, runs, 1), "failed": _places(figure, runs, 0)}
    if not of:
        return sums
    limits = {"wilson": _interval(wilson(count, of)), "exact": _interval(clopper_pearson(count, of))}
    return {**sums, **limits, "bound": upper_bound(count, of)}


def _places(figure: PlannedFigure, runs: Sequence[Run], value: int) -> list[dict[str, Any]]:
    """The first episodes in which a rate has a value."""
    entries = []
    for run in runs:
        for episode, values in enumerate(run["samples"].get(figure.name, ())):
            if value in values:
                entries.append({"run": run["run"], "episode": episode})
                if len(entries) == _MOST_PLACES:
                    return entries
    return entries


def _effect(figure: PlannedFigure, runs: Sequence[Run]) -> dict[str, Any]:
    """How much more often one thing holds than another in the same cases, given as pairs of the other and the one."""
    pairs = _clusters(figure, runs)
    more = _sums({name: [y - x for x, y in own] for name, own in pairs.items()}, lambda sums: clustered(sums, mean))
    del more["sum"]
    came = Counter(tuple(pair) for own in pairs.values() for pair in own)
    first, second = came[0, 1], came[1, 0]
    counts = {"count": came[1, 1] + first, "against": came[1, 1] + second}
    if not came:
        return {**more, **counts}
    return {**more, **counts, "newcombe": _interval(paired_difference(came[1, 1], first, second, came[0, 0]))}


def _slope(figure: PlannedFigure, runs: Sequence[Run]) -> dict[str, Any]:
    sums = [
        [len(pairs), *map(sum, zip(*([x, y, x * x, x * y] for x, y in pairs), strict=True))]
        for pairs in _clusters(figure, runs).values()
        if pairs
    ]
    whole = [sum(column) for column in zip(*sums, strict=True)] or [0] * 5
    known = _known(of=whole[0], value=slope(whole), cluster=_interval(clustered(sums, slope)))
    return {**known, "clusters": len(sums)}


def _difference(figure: PlannedFigure, runs: Sequence[Run]) -> dict[str, Any]:
    """Of episodes that both arms have and that are decided in both: those of one scenario, seed and number."""
    arms: dict[str, dict[tuple[Any, ...], int]] = {arm: {} for arm in figure.over}
    cluster_of: dict[tuple[Any, ...], str] = {}
    for run in runs:
        episodes = run["samples"].get(figure.name, ())
        for episode, (name, values) in enumerate(zip(_paired_clusters(figure, run, episodes), episodes, strict=True)):
            if values[0] is not None:
                key = run["scenario"], run["seed"], episode
                arms[run["arm"]][key] = values[0]
                cluster_of.setdefault(key, name)
    first, second = (arms[arm] for arm in figure.over)
    clusters: dict[str, list[int]] = {}
    for key in sorted(first.keys() & second.keys()):
        clusters.setdefault(cluster_of[key], []).append(first[key] - second[key])
    return _sums(clusters, lambda sums: clustered(sums, mean))


def _paired_clusters(figure: PlannedFigure, run: Run, episodes: Sequence[Any]) -> Sequence[str]:
    """The cluster of each episode, where a `run` is the same of both arms."""
    if figure.clusters == "run":
        return [f"{run['scenario']} {run['seed']}"] * len(episodes)
    return _cluster_names(figure, run, len(episodes))


def _single(choose: Callable[[list[int], int], int]) -> Callable[..., dict[str, Any]]:
    def record(figure: PlannedFigure, runs: Sequence[Run]) -> dict[str, Any]:
        values = list(chain.from_iterable(_clusters(figure, runs).values()))
        return _known(of=len(values), value=choose(values, figure.at) if values else None)

    return record


def _total(figure: PlannedFigure, runs: Sequence[Run]) -> dict[str, Any]:
    values = list(chain.from_iterable(_clusters(figure, runs).values()))
    return {"of": len(values), "value": sum(values)}


_STATISTICS: Final[Mapping[str, Callable[[PlannedFigure, Sequence[Run]], dict[str, Any]]]] = {
    "rate": _rate,
    "effect": _effect,
    "mean": _mean,
    "sum": _total,
    "slope": _slope,
    "difference": _difference,
    "least": _single(lambda values, at: min(values)),
    "greatest": _single(lambda values, at: max(values)),
    "quantile": _single(quantile),
}
