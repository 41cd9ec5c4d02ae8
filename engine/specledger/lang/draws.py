"""Values that an agent, a world or a drift draws from lists by named streams, each element alike or by its weight."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from specledger.core.canonical import MAX_INTEGER
from specledger.core.diagnostics import Diagnostics, code
from specledger.core.rng import Stream
from specledger.core.spans import Text
from specledger.expr import INT, Emitter, EvaluationError
from specledger.expr.check.checker import Checked, check, with_fixed
from specledger.expr.check.tree import MakeList, Value
from specledger.expr.check.types import MISTAKEN, ListType, Type
from specledger.expr.unparse import literal
from specledger.lang.scope import E_DECLARATION, Scope

if TYPE_CHECKING:
    from specledger.spec.agent import AgentDraw
    from specledger.spec.world import Draw

E_DRAW_WEIGHTS = code("E_DRAW_WEIGHTS", "weights that fit no list")


class Drawn(NamedTuple):
    """One value that is drawn.

    Attributes:
        stream: The stream that draws it; empty where values are taken in the order of questions.
        source: The list.
        weights: How likely each element is; each alike, if there are none.
    """

    name: str
    stream: str
    source: Checked
    weights: Checked | None = None

    @property
    def variables(self) -> frozenset[str]:
        """The names that must be bound for its list."""
        return self.source.variables | (self.weights.variables if self.weights is not None else frozenset())


Draws = tuple[Drawn, ...]


def check_draws(
    draws: Mapping[str, Draw] | Mapping[str, AgentDraw], scope: Scope, *path: str
) -> tuple[Draws, dict[str, Type]]:
    """The draws of a spec in the order of their names, and the types of all drawn values; wrong ones are findings."""
    declared = []
    types: dict[str, Type] = {}
    for name in sorted(draws):
        draw, location = draws[name], (*path, "draw", name)
        source = _listed(draw.source, scope, *location, "from")
        weighted = getattr(draw, "weights", None)
        weights = None if weighted is None else _listed(weighted, scope, *location, "weights", expect=ListType(INT))
        types[name] = MISTAKEN
        if source is None or (weighted is not None and weights is None):
            continue
        if not isinstance(source.type, ListType):
            scope.wrong(E_DECLARATION, f"a value is drawn from a list, not from {source.type}", *location, "from")
            continue
        types[name] = source.type.item
        if weights is not None and not _fits(source, weights, scope, *location, "weights"):
            continue
        stream = draw.stream or ("" if getattr(draw, "order", None) else name)
        declared.append(Drawn(name, stream, source, weights))
    return tuple(declared), types


def _listed(written: str | Sequence[Any], scope: Scope, *path: str | int, expect: Type | None = None) -> Checked | None:
    """The list of an expression, or one that is written as a list; decimals in it are fixed point."""
    if isinstance(written, str):
        checked = scope.expression(*path, expect=expect)
    else:
        diagnostics = Diagnostics()
        text = Text.inline(f"[{', '.join(map(literal, written))}]")
        checked = check(text, scope.environment, diagnostics, expect)
        for finding in diagnostics.sorted():
            scope.diagnostics.error(finding.code, finding.message, scope.source.span(*path), hint=finding.hint)
    return None if checked is None else with_fixed(checked)


def _fits(source: Checked, weights: Checked, scope: Scope, *path: str | int) -> bool:
    """Whether weights can be those of a list, as far as both are known before a run; if not, that is a finding."""
    items, known = _literals(source), _literals(weights)
    problem = None if items is None or known is None else misfit(len(items), known)
    if problem is not None:
        hint = "give each element of `from` one weight, in the same order: an integer from 0, not all of them 0"
        scope.diagnostics.error(E_DRAW_WEIGHTS, problem, scope.source.span(*path), hint=hint)
    return problem is None


def _literals(checked: Checked) -> list[Any] | None:
    """The elements of a list of literals, or of a constant; None of a list that is computed."""
    match checked.root:
        case Value(value=list(values)):
            return values
        case MakeList(items=items) if all(isinstance(item, Value) for item in items):
            return [item.value for item in items if isinstance(item, Value)]
    return None


def misfit(count: int, weights: Sequence[int]) -> str | None:
    """Why weights are not those of so many elements; None if they are."""
    if len(weights) != count:
        return f"there are {len(weights)} weights for {count} elements"
    if any(weight < 0 for weight in weights):
        return "a weight is below 0"
    if count and not 0 < sum(weights) <= MAX_INTEGER:
        return f"the weights sum up to {sum(weights)}, not to 1..{MAX_INTEGER}"
    return None


class Weighted(list[Any]):
    """A list to draw from whose elements have weights: exact integers, of which the sum is at most 2^53 - 1."""

    def __init__(self, items: Sequence[Any], weights: Sequence[int]) -> None:
        problem = misfit(len(items), weights)
        if problem is not None:
            raise EvaluationError(E_DRAW_WEIGHTS, problem)
        super().__init__(items)
        self.below: Final = list(accumulate(weights))


def draw_from(stream: Stream, items: Sequence[Any]) -> Any:
    """One of the items, each equally likely, or by its weight."""
    if not isinstance(items, Weighted):
        return stream.choice(items)
    return items[bisect_right(items.below, stream.integer(0, items.below[-1] - 1))]


def emit_list(emitter: Emitter, draw: Drawn, names: Mapping[str, str]) -> str:
    """Python source of the list that a value is drawn from."""
    items = emitter.hold(draw.source, emitter.expression(draw.source, names))
    if draw.weights is None:
        return items
    weights = emitter.hold(draw.weights, emitter.expression(draw.weights, names))
    return f"{emitter.bind(Weighted, 'weighted')}({items}, {weights})"


def drawn_sources(draws: Draws, drawn: str = "") -> dict[str, str]:
    """Python source of each drawn value, out of the local that holds them all in the order of their names."""
    return {draw.name: f"{drawn}[{index}]" for index, draw in enumerate(draws)}
