"""Measures: values read from every episode, typed against the receipts of the world that runs.

A measure that cannot be evaluated affects only the figures that read it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec import Struct

from specledger.core.diagnostics import Diagnostics, code
from specledger.expr import (
    BOOL,
    STRING,
    Checked,
    Environment,
    EvaluationError,
    IntType,
    ListType,
    Type,
    compile_expression,
)
from specledger.expr.errors import E_EVAL_LIMIT
from specledger.lang.scope import Scope
from specledger.load import Resolved
from specledger.spec.suite import Suite
from specledger.suites.episode_types import Grammar, types_of
from specledger.suites.figures import RUN_CLUSTERS, cluster_series
from specledger.suites.literals import Compared, find_compared
from specledger.suites.series import SERIES

E_SUITE_FIGURE = code("E_SUITE_FIGURE", "a figure is made of values that it cannot be made of")

Samples = dict[str, Any]
"""By figure: a list, for each episode in order, of its values (of a slope and an effect, pairs), None for what is not
decided; or, as a mapping, what failed."""


MAX_VALUES: Final = 8_388_608
"""Values that the figures of a suite are made of, all its runs together; an episode counts for one more."""
LEAST_VALUES: Final = 4_096
"""Of these, what each run may have at least."""
_CHARACTERS_OF_VALUE: Final = 8
"""Characters of the name of a cluster that count as a value."""


class Reading(Struct, frozen=True):
    """One expression as a function of named values."""

    names: tuple[str, ...]
    call: Callable[..., Any]
    checked: Checked

    @classmethod
    def of(cls, checked: Checked) -> Reading:
        """The function of a checked expression."""
        names = tuple(sorted(checked.variables))
        return cls(names, compile_expression(checked, names), checked)

    def read(self, values: Mapping[str, Any]) -> Any:
        """Its value.

        Raises:
            EvaluationError: It has none, or a value that it reads has none.
        """
        given = [values[name] for name in self.names]
        for value in given:
            if isinstance(value, EvaluationError):
                raise value if value.text else EvaluationError(value.code, value.message, 0, self.checked.text)
        return self.call(*given)


class Sampler(Struct, frozen=True):
    """The measures and figures of a suite, for the receipts of one world.

    Attributes:
        types: What an episode is told, by name.
        measures: In an order in which each reads only those before it.
        figures: By name the reading of each; of a slope two, of which the second is `along`, of an effect `against`.
        decided: By name of a figure what says which of its values count.
        clusters: By name of a figure what says of which cluster an episode is, where that is not its run.
        compared: The texts that they compare with names.
    """

    types: Mapping[str, Type]
    measures: tuple[tuple[str, Reading], ...]
    figures: Mapping[str, tuple[Reading, ...]]
    decided: Mapping[str, Reading]
    clusters: Mapping[str, Reading] = {}
    compared: tuple[Compared, ...] = ()

    def sample(
        self, episode: Mapping[str, Any], samples: Samples, wanted: frozenset[str], left: int = MAX_VALUES
    ) -> int:
        """Read one episode, and add what the wanted figures are made of to the samples.

        Returns:
            What is left of the values that the run may keep. A figure for which there is no room fails.
        """
        values: dict[str, Any] = dict(episode)
        needed = self._needed(wanted)
        for name, reading in self.measures:
            if name not in needed:
                continue
            try:
                values[name] = reading.read(values)
            except EvaluationError as error:
                values[name] = error.bare()
        for name in sorted(wanted):
            samples_of = samples.setdefault(name, [])
            if isinstance(samples_of, list):
                try:
                    read = _values([reading.read(values) for reading in self.figures[name]])
                    only = self._only_decided(name, read, values)
                    cluster = self._cluster(name, only, values)
                    size = 1 + len(only) + len(cluster or "") // _CHARACTERS_OF_VALUE
                    if size > left:
                        text = self.figures[name][0].checked.text
                        raise EvaluationError(E_EVAL_LIMIT, "the figures of the run are of too many values", 0, text)
                    left -= size
                    samples_of.append(only)
                    if cluster is not None:
                        samples.setdefault(cluster_series(name), []).append(cluster)
                except EvaluationError as error:
                    samples[name] = failure(error, episode["run"], episode["episode"])
                    samples.pop(cluster_series(name), None)
        return left

    def _only_decided(self, name: str, read: list[Any], values: Mapping[str, Any]) -> list[Any]:
        """The values of a figure in one episode, None in the place of each that is not decided."""
        if name not in self.decided:
            return read
        decided = self.decided[name].read(values)
        flags = decided if isinstance(decided, list) else [decided] * len(read)
        if len(flags) != len(read):
            raise EvaluationError(E_SUITE_FIGURE, f"`decided` says {len(flags)} times whether {len(read)} values are")
        return [value if flag else None for value, flag in zip(read, flags, strict=True)]

    def _cluster(self, name: str, values: list[Any], given: Mapping[str, Any]) -> str | None:
        """The cluster of an episode, empty where none of its values counts; None if it is that of its run."""
        if name not in self.clusters:
            return None
        return str(self.clusters[name].read(given)) if any(value is not None for value in values) else ""

    def _needed(self, wanted: frozenset[str]) -> set[str]:
        """The measures that some figures read, directly or not."""
        readings = [reading for name in wanted for reading in self.figures[name]]
        readings += [more[name] for more in (self.decided, self.clusters) for name in wanted if name in more]
        needed = {read for reading in readings for read in reading.names}
        for name, reading in reversed(self.measures):
            if name in needed:
                needed |= {*reading.names}
        return needed


def failure(error: EvaluationError, run: str, episode: int) -> dict[str, Any]:
    """What a receipt says of a value that could not be computed."""
    text = None if error.text is None else error.text.value
    return {"code": error.code, "expression": text, "offset": error.offset, "run": run, "episode": episode}


def _values(read: list[Any]) -> list[Any]:
    """The values of one episode: of one reading a list of ints, of two a list of pairs."""
    lists = [list(map(int, value)) if isinstance(value, list) else [int(value)] for value in read]
    if len(lists) == 1:
        return lists[0]
    if len(lists[0]) != len(lists[1]):
        message = f"{len(lists[0])} values cannot be paired with {len(lists[1])}: both lists need the same length"
        raise EvaluationError(E_SUITE_FIGURE, message)
    return [[x, y] for y, x in zip(*lists, strict=True)]


def check_measures(
    spec: Resolved, grammar: Grammar, environment: Environment, diagnostics: Diagnostics
) -> Sampler | None:
    """Check a suite's measures and figures against the receipts of one world."""
    model = spec.model
    assert isinstance(model, Suite)  # noqa: S101 - a bundle of the kind suite holds nothing else
    variables = types_of(grammar)
    constants = {name: constant for name, constant in environment.constants.items() if name not in variables}
    names = Environment(variables, functions={**SERIES, **environment.functions}, constants=constants)
    scope = Scope(names, spec, diagnostics)
    scope = scope.constants(model.constants, "constants").functions(model.functions, "functions")
    let, scope = scope.let(model.measures, "measures")
    figures: dict[str, tuple[Checked, ...]] = {}
    decided: dict[str, Checked] = {}
    clusters: dict[str, Checked] = {}
    clustered = [name for name in sorted(model.figures) if model.figures[name].clusters not in RUN_CLUSTERS]
    for name in clustered:
        checked = _cluster(scope, name)
        clusters |= {} if checked is None else {name: checked}
    for name in sorted(model.figures):
        figure = _figure(scope, model, name)
        if figure is not None:
            figures[name] = figure
            counts = None if model.figures[name].decided is None else _decided(scope, name, figure[0])
            decided |= {} if counts is None else {name: counts}
    scope.unused(model.functions, elsewhere=("runs", *model.figures))
    limited = sum(figure.decided is not None for figure in model.figures.values())
    wanted = (len(model.measures), len(model.figures), limited, len(clustered))
    if (len(let.items), len(figures), len(decided), len(clusters)) != wanted:
        return None
    read = [expression for figure in figures.values() for expression in figure]
    expressions = [*(checked for _, checked in let), *read, *decided.values(), *clusters.values()]
    return Sampler(
        types=variables,
        measures=tuple((name, Reading.of(checked)) for name, checked in let),
        figures={name: tuple(map(Reading.of, figure)) for name, figure in figures.items()},
        decided={name: Reading.of(checked) for name, checked in decided.items()},
        clusters={name: Reading.of(checked) for name, checked in clusters.items()},
        compared=tuple(comparison for checked in expressions for comparison in find_compared(checked)),
    )


def _figure(scope: Scope, model: Suite, name: str) -> tuple[Checked, ...] | None:
    figure = model.figures[name]
    statistic = figure.statistic
    value = scope.expression("figures", name, statistic)
    if value is None:
        return None
    item, several = _item(value.type)
    if not _fits(item, statistic) or (several and statistic == "difference"):
        wanted = "bool, or a list of bool" if statistic in _OF_BOOLS else "int, or a list of int"
        wanted = "int" if statistic == "difference" else wanted
        scope.wrong(
            E_SUITE_FIGURE, f"`{statistic}` is made of {wanted}, not of {value.type}", "figures", name, statistic
        )
        return None
    key = _PAIRED_WITH.get(statistic)
    if key is None:
        return (value,)
    other = scope.expression("figures", name, key)
    if other is None:
        return None
    item, lists = _item(other.type)
    if not _fits(item, statistic) or lists != several:
        message = f"`{statistic}` of {value.type} does not go with `{key}` of {other.type}"
        scope.wrong(E_SUITE_FIGURE, message, "figures", name, key)
        return None
    return value, other


_PAIRED_WITH: Final[Mapping[str, str]] = {"slope": "along", "effect": "against"}
"""The key of the values with which those of a statistic make pairs."""


def _decided(scope: Scope, name: str, value: Checked) -> Checked | None:
    """What says which values of a figure count: a bool for all of an episode, or one for each item of its list."""
    decided = scope.expression("figures", name, "decided")
    if decided is None:
        return None
    item, several = _item(decided.type)
    if item != BOOL or (several and not _item(value.type)[1]):
        message = f"`decided` of {value.type} is bool, or of a list a list of bool, not {decided.type}"
        scope.wrong(E_SUITE_FIGURE, message, "figures", name, "decided")
        return None
    return decided


def _cluster(scope: Scope, name: str) -> Checked | None:
    """What says which cluster an episode is of: a text or an int."""
    checked = scope.expression("figures", name, "clusters")
    if checked is not None and checked.type != STRING and not isinstance(checked.type, IntType):
        message = f"a cluster is named by a text or an int, not by {checked.type}"
        scope.wrong(E_SUITE_FIGURE, message, "figures", name, "clusters")
        return None
    return checked


def _item(type_: Type) -> tuple[Type, bool]:
    return (type_.item, True) if isinstance(type_, ListType) else (type_, False)


def _fits(item: Type, statistic: str) -> bool:
    return item == BOOL if statistic in _OF_BOOLS else isinstance(item, IntType)


_OF_BOOLS: Final = ("rate", "effect")
"""The statistics of what holds or does not; all others are of numbers."""
