"""Primitives of a universe: sums over windows of a ring, and scans along its cells.

Sums wrap around the ring; a pattern of symbols is one. Scans read from cell 0 to the last cell and do not wrap.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import product
from typing import Any, Final

from msgspec import Struct

from specledger.core.diagnostics import code, suggest
from specledger.expr import BOOL, INT, STRING, Checked, EvaluationError, ListType, compile_expression
from specledger.expr.check.tree import DefinedCall, Value, walk
from specledger.lang.scope import Scope
from specledger.wings.laws.automaton import Additive
from specledger.wings.laws.spec.universe import Primitive as PrimitiveSpec

E_UNIVERSE_OBSERVABLE = code("E_UNIVERSE_OBSERVABLE", "an observable of a universe cannot be measured")
E_UNIVERSE_SYMBOL = code("E_UNIVERSE_SYMBOL", "a symbol that the alphabet lacks")
E_MEASURE_ARGUMENT = code("E_MEASURE_ARGUMENT", "an observable is given an argument that it cannot take")

MAX_WINDOWS: Final = 65_536
"""Different contents of one window."""

WINDOW: Final = "w"
"""The name of a window's cells where their number is computed."""

SELF: Final = "self"

MAX_RADIUS: Final = 3
"""How far from a cell its neighbours have names."""


def cells_around(radius: int) -> tuple[str, ...]:
    """The names of a cell and its neighbours, from the left: `left2`, `left`, `self`, `right`, `right2`."""
    lefts, rights = (
        [side if far == 1 else f"{side}{far}" for far in range(1, radius + 1)] for side in ("left", "right")
    )
    return (*reversed(lefts), SELF, *rights)


def cells_spanned(window: Sequence[str]) -> tuple[str, ...]:
    """The neighbours from the leftmost to the rightmost of those named, those between included."""
    neighbours = cells_around(MAX_RADIUS)
    places = sorted(map(neighbours.index, window))
    return neighbours[places[0] : places[-1] + 1]


class ArgumentError(ValueError):
    """An argument that a primitive or a transform cannot take; `hint` is one thing to try."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


class Scan(Struct, frozen=True, dict=True):
    """The place of cells that hold certain symbols, on a ring that is read from cell 0 to the last.

    Attributes:
        form: `first` and `last` are indices, `extent` their difference, each -1 if there is no such cell; `longest` is
            the length of the longest run, 0 if there is none.
        wanted: Whether each symbol is looked for.
    """

    form: str
    wanted: tuple[bool, ...]

    @cached_property
    def table(self) -> bytes:
        """For `bytes.translate`: 1 for the symbols that are looked for, 0 for all others."""
        return bytes(self.wanted).ljust(256, b"\0")

    def of(self, cells: Sequence[int]) -> int:
        """The value on a ring."""
        return SCANS[self.form](bytes(cells).translate(self.table), 0, len(cells))


def _first(marks: bytes, start: int, end: int) -> int:
    index = marks.find(1, start, end)
    return index - start if index >= 0 else -1


def _last(marks: bytes, start: int, end: int) -> int:
    index = marks.rfind(1, start, end)
    return index - start if index >= 0 else -1


def _extent(marks: bytes, start: int, end: int) -> int:
    last_index = marks.rfind(1, start, end)
    return last_index - marks.find(1, start, end) if last_index >= 0 else -1


def _longest(marks: bytes, start: int, end: int) -> int:
    return max(map(len, marks[start:end].split(b"\0")))


SCANS: Final[Mapping[str, Callable[[bytes, int, int], int]]] = {
    "first": _first,
    "last": _last,
    "extent": _extent,
    "longest": _longest,
}
"""The value of each form of scan on a ring in `marks[start:end]`, whose cells are 1 if they are looked for, else 0."""


Measure = Additive | Scan
"""A primitive with its arguments."""


def measure_of(measure: Measure, cells: Sequence[int]) -> int:
    """What a measure is worth on a ring."""
    return measure.of(cells) if isinstance(measure, Scan) else measure.total(cells)


def bounds_of(measure: Measure, longest: int, shortest: int = 0) -> tuple[int, int]:
    """The least and the greatest value that a measure can have on rings of `shortest` to `longest` cells."""
    if isinstance(measure, Scan):
        return (-1, longest)
    low, high = min(measure.weights), max(measure.weights)
    least = low * (longest if low < 0 else shortest)
    return (least + measure.constant, high * (longest if high > 0 else shortest) + measure.constant)


GRID_LENGTH: Final = "grid_length"
"""The length of the ring, which laws can read in every universe."""


class Primitive(Struct, frozen=True):
    """A checked primitive.

    Attributes:
        name: How expressions call it.
        args: Its parameters, each `symbol` or `int`.
        bind: The measure for argument values: symbols as texts, integers.
    """

    name: str
    args: Mapping[str, str]
    bind: Callable[[tuple[Any, ...]], Measure]

    @property
    def signature(self) -> str:
        """The name with the sorts of its arguments, as capabilities list it."""
        return f"{self.name}({', '.join(self.args.values())})" if self.args else self.name


def check_primitive(name: str, model: PrimitiveSpec, alphabet: tuple[str, ...], scope: Scope) -> Primitive | None:
    """Check one observable of a universe; None, with findings, if it is wrong."""
    path = ("observables", name)
    kinds = {arg: STRING if kind == "symbol" else INT for arg, kind in model.args.items()}
    inner = scope.declare(kinds, *path, "args")
    if model.scan is not None:
        where = inner.within(**{SELF: STRING}).expression(*path, "where", expect=BOOL)
        if where is None or not known_symbols(where, alphabet, inner, *path, "where"):
            return None
        return Primitive(name, dict(model.args), _scans(model.scan, where, tuple(model.args), alphabet))
    key = "count" if model.count is not None else "sum"
    width = names = None
    if isinstance(model.window, list):
        names = _cells(model.window, model.args, scope, *path, "window")
        if names is None:
            return None
        inner = inner.within(**dict.fromkeys(model.window, STRING))
    else:
        width = inner.expression(*path, "window", expect=INT)
        if width is None:
            return None
        inner = inner.within(**{WINDOW: ListType(STRING)})
    body = inner.expression(*path, key, expect=BOOL if key == "count" else INT)
    if body is None or not known_symbols(body, alphabet, inner, *path, key):
        return None
    return Primitive(name, dict(model.args), _sums(body, width, names, tuple(model.args), alphabet))


def _cells(window: Sequence[str], args: Mapping[str, str], scope: Scope, *path: str | int) -> tuple[str, ...] | None:
    """The neighbours that a window spans; None, with a finding, if a name is none or stands for two things.

    A name is an offset from `self`, as in a transition: of `[left, right]` the cell between is part, but is not read.
    """
    names = ", ".join(cells_around(MAX_RADIUS))
    hint = f"cells are {names}; `window: {len(window)}` is as many adjacent cells, the list `{WINDOW}`"
    problem = None
    if unknown := [name for name in window if name not in NEIGHBOURS]:
        problem = f"`{unknown[0]}` is not the name of a neighbouring cell"
    elif twice := [name for index, name in enumerate(window) if name in window[:index]]:
        problem, hint = f"the window names `{twice[0]}` twice", "name each cell once"
    elif taken := [name for name in window if name in args]:
        problem, hint = f"`{taken[0]}` is a cell and an argument", "give the argument another name"
    if problem is not None:
        scope.diagnostics.error(E_UNIVERSE_OBSERVABLE, problem, scope.source.span(*path), hint=hint)
        return None
    return cells_spanned(window)


NEIGHBOURS: Final = frozenset(cells_around(MAX_RADIUS))
"""Names of cells that need not differ from the names of observables."""


def known_symbols(checked: Checked, alphabet: tuple[str, ...], scope: Scope, *path: str | int) -> bool:
    """Whether every text in an expression is a symbol; one that is not is a finding."""
    nodes = [checked.root]
    unknown: set[str] = set()
    while nodes:
        for node in walk(nodes.pop()):
            if isinstance(node, DefinedCall):
                nodes.append(node.instance.body)
            if isinstance(node, Value) and isinstance(node.value, str) and node.value not in alphabet:
                unknown.add(node.value)
    if unknown:
        report_symbols(scope, sorted(unknown), alphabet, *path)
    return not unknown


def report_symbols(scope: Scope, unknown: Sequence[str], alphabet: Sequence[str], *path: str | int) -> None:
    """Report texts at a path that are no symbols."""
    near = suggest(unknown[0], alphabet)
    hint = f"did you mean {near!r}?" if near else f"its symbols are {', '.join(map(repr, alphabet))}"
    message = f"the alphabet has no {', '.join(map(repr, unknown))}"
    scope.diagnostics.error(E_UNIVERSE_SYMBOL, message, scope.span_of(unknown[0], *path), hint=hint)


def _scans(
    form: str, where: Checked, args: tuple[str, ...], alphabet: tuple[str, ...]
) -> Callable[[tuple[Any, ...]], Measure]:
    run = compile_expression(where, [*args, SELF])

    @lru_cache(maxsize=256)
    def bind(values: tuple[Any, ...]) -> Measure:
        return Scan(form, tuple(_evaluated(run, *values, symbol) for symbol in alphabet))

    return bind


def _sums(
    body: Checked,
    width: Checked | None,
    names: tuple[str, ...] | None,
    args: tuple[str, ...],
    alphabet: tuple[str, ...],
) -> Callable[[tuple[Any, ...]], Measure]:
    run = compile_expression(body, [*args, *(names or (WINDOW,))])
    measure_width = None if width is None else compile_expression(width, args)

    @lru_cache(maxsize=256)
    def bind(values: tuple[Any, ...]) -> Measure:
        cells = len(names) if names is not None else 0
        if measure_width is not None:
            cells = _evaluated(measure_width, *values)
            if cells < 1:
                raise ArgumentError(f"a window of {cells} cells")
        if cells > 16 or len(alphabet) ** cells > MAX_WINDOWS:
            raise ArgumentError(f"a window of {cells} cells has more than {MAX_WINDOWS} contents")
        windows = product(alphabet, repeat=cells)
        if names is None:
            weights = [_evaluated(run, *values, list(window)) for window in windows]
        else:
            weights = [_evaluated(run, *values, *window) for window in windows]
        return Additive(len(alphabet), cells, tuple(map(int, weights)))

    return bind


def _evaluated(run: Callable[..., Any], *values: Any) -> Any:
    try:
        return run(*values)
    except EvaluationError as error:
        raise ArgumentError(f"it cannot be measured: {error.message}") from None


PATTERN: Final = "pattern"
"""The function that laws of every universe may call, unless the universe has an observable of this name."""

WILDCARD: Final = "?"
"""Any symbol; in an alphabet that has it, this symbol alone."""


def strange_symbols(text: str, alphabet: Sequence[str]) -> list[str]:
    """What a pattern has that is neither a symbol nor the wildcard, each once."""
    return sorted(set(text) - {*alphabet, WILDCARD})


def pattern_of(text: str, alphabet: Sequence[str]) -> Additive:
    """The number of places of a ring at which a pattern begins.

    Raises:
        ArgumentError: It has no symbol or too many, or one that the alphabet lacks.
    """
    strange, most = strange_symbols(text, alphabet), 1
    while len(alphabet) ** (most + 1) <= MAX_WINDOWS and most < 16:
        most += 1
    if not 1 <= len(text) <= most:
        hint = f"with {len(alphabet)} symbols a pattern has at most {most}: windows have at most {MAX_WINDOWS} contents"
        raise ArgumentError(f"a pattern of {len(text)} symbols", hint)
    if strange:
        raise ArgumentError(f"the alphabet has no {', '.join(map(repr, strange))}")
    weights = [1]
    for wanted in text:
        fits = [int(wanted == symbol or (wanted == WILDCARD and WILDCARD not in alphabet)) for symbol in alphabet]
        weights = [weight * fit for weight in weights for fit in fits]
    return Additive(len(alphabet), len(text), tuple(weights))
