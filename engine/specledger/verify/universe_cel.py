"""A universe for the other CEL engine: its rule, its observables and its shifts.

The values of expressions come from the other engine. Tables, numbers and maps of the spec, sums over windows and steps
along cells are evaluated here.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from itertools import product
from typing import Any, Final

from specledger.core.diagnostics import Diagnostics
from specledger.expr import BOOL, INT, STRING, Checked, Environment, ListType
from specledger.lang.scope import Scope
from specledger.laws.primitive import SELF, WINDOW
from specledger.laws.transform import parse_call
from specledger.load import Resolved
from specledger.spec.universe import Universe as UniverseSpec
from specledger.verify.reference import Names, Reference, Unjudged

UNREADABLE: Final = "it is not what can be read here"

Ring = bytes
"""The symbols of a ring's cells, a byte each: places in the alphabet."""


class CelUniverse:
    """The expressions of one universe, evaluated by the other engine and remembered by what they were given."""

    def __init__(self, reference: Reference, spec: Resolved) -> None:
        """Read the universe's spec, which was found in order before."""
        model = spec.model
        assert isinstance(model, UniverseSpec)  # noqa: S101 - a reference of kind universe holds nothing else
        self.reference, self.model = reference, model
        self.alphabet = tuple(model.alphabet)
        self.plain = frozenset(name for name, each in model.observables.items() if not each.args)
        self.ours: set[str] = set()
        self._scope = Scope(Environment(), spec, Diagnostics())
        self._measures: dict[tuple[str, tuple[Any, ...]], _Measure] = {}
        self._shifts: dict[tuple[str, tuple[tuple[str, int], ...]], int] = {}

    @cached_property
    def table(self) -> tuple[int, ...]:
        """The next symbol of (left, self, right), in the order of the alphabet.

        Raises:
            Unjudged: The other engine gives no symbol.
        """
        transition = self.model.transition
        if transition.number is not None:
            return tuple(transition.number >> entry & 1 for entry in range(8))
        windows = list(product(self.alphabet, repeat=3))
        if transition.table is not None:
            return tuple(self.alphabet.index(transition.table["".join(window)]) for window in windows)
        cells = self._scope.within(left=STRING, self=STRING, right=STRING)
        let, inner = cells.let(transition.let, "transition", "let")
        following = self._demand(inner.expression("transition", "next", expect=STRING))
        self._note(following, *(checked for _, checked in let.items))
        table = []
        for left, own, right in windows:
            given = {"left": left, SELF: own, "right": right}
            names = Names(self.reference, given, dict(let.items))
            table.append(self._symbol(self.reference.value(following, names.value)))
        return tuple(table)

    def _symbol(self, value: Any) -> int:
        if value not in self.alphabet:
            raise Unjudged("the other evaluator gives no symbol")
        return self.alphabet.index(value)

    def measure(self, name: str, args: tuple[Any, ...], ring: Ring) -> int:
        """The value of an observable of the universe on a ring.

        Raises:
            Unjudged: The other engine does not say.
        """
        key = name, args
        if key not in self._measures:
            self._measures[key] = self._bound(name, args)
        return self._measures[key].of(ring)

    def _bound(self, name: str, args: tuple[Any, ...]) -> _Measure:
        spec, path = self.model.observables[name], ("observables", name)
        sorts = {"symbol": STRING, "int": INT}
        given: dict[str, Any] = dict(zip(spec.args, args, strict=True))
        scope = self._scope.within(**{arg: sorts[sort] for arg, sort in spec.args.items()})
        if spec.scan is not None:
            where = self._demand(scope.within(**{SELF: STRING}).expression(*path, "where", expect=BOOL))
            self._note(where)
            return _Measure(self, where, given, (SELF,), 1, spec.scan)
        key, expect = ("count", BOOL) if spec.count is not None else ("sum", INT)
        if isinstance(spec.window, list):
            names, width = tuple(spec.window), len(spec.window)
            body = scope.within(**dict.fromkeys(names, STRING)).expression(*path, key, expect=expect)
        else:
            wide = self._demand(scope.expression(*path, "window", expect=INT))
            self._note(wide)
            names, width = (), self.reference.value(wide, given.__getitem__)
            body = scope.within(**{WINDOW: ListType(STRING)}).expression(*path, key, expect=expect)
        checked = self._demand(body)
        self._note(checked)
        return _Measure(self, checked, given, names, width, None)

    def image(self, call: str, ring: Ring) -> Ring:
        """A ring under the transform that a law names: reflected if so, then rotated right, then mapped.

        Raises:
            Unjudged: The other engine does not say.
        """
        name, values = parse_call(call) or (call, ())
        spec = self.model.transforms.get(name)
        if spec is None:
            raise Unjudged(UNREADABLE)
        given = {**spec.default, **dict(zip(spec.args, values, strict=False))}
        shift = self._shift(name, tuple(sorted(given.items())))
        mapped = [self.alphabet.index(spec.map.get(symbol, symbol)) for symbol in self.alphabet]
        turned = ring[::-1] if spec.reflect else ring
        kept = len(turned) - shift % len(turned)
        return bytes(mapped[cell] for cell in turned[kept:] + turned[:kept])

    def _shift(self, name: str, given: tuple[tuple[str, int], ...]) -> int:
        key = name, given
        if key not in self._shifts:
            scope = self._scope.within(**{arg: INT for arg, _ in given})
            checked = self._demand(scope.expression("transforms", name, "shift", expect=INT))
            self._note(checked)
            self._shifts[key] = self.reference.value(checked, dict(given).__getitem__)
        return self._shifts[key]

    def _note(self, *rules: Checked) -> None:
        self.ours |= self.reference.ours(rules, {})

    def _demand(self, checked: Checked | None) -> Checked:
        if checked is None:
            raise Unjudged(UNREADABLE)
        return checked


class _Measure:
    """An observable with its arguments; each window is evaluated once."""

    def __init__(
        self,
        universe: CelUniverse,
        body: Checked,
        given: Mapping[str, Any],
        names: tuple[str, ...],
        width: int,
        scan: str | None,
    ) -> None:
        self._universe, self._body, self._given = universe, body, given
        self._names, self._width, self._scan = names, width, scan
        self._measured: dict[Ring, int] = {}

    def of(self, ring: Ring) -> int:
        """The value on a ring."""
        size, width = len(ring), self._width
        if width < 1:
            raise Unjudged(UNREADABLE)
        longer = ring * (1 + -(-width // size))
        found = [self._window(longer[place : place + width]) for place in range(size)]
        if self._scan is None:
            return sum(found)
        marks = "".join("x" if wanted else "." for wanted in found)
        if self._scan == "longest":
            return max(map(len, marks.split(".")))
        first, last = marks.find("x"), marks.rfind("x")
        return {"first": first, "last": last, "extent": -1 if first < 0 else last - first}[self._scan]

    def _window(self, window: Ring) -> int:
        known = self._measured.get(window)
        if known is None:
            cells = [self._universe.alphabet[cell] for cell in window]
            shown = dict(zip(self._names, cells, strict=True)) if self._names else {WINDOW: cells}
            known = self._measured[window] = int(
                self._universe.reference.value(self._body, {**self._given, **shown}.__getitem__)
            )
        return known
