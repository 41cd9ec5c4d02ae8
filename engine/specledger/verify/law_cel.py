"""A law and its universe for the other CEL engine.

The other engine evaluates the expressions of both specs, and the claim, which is written from its tree. Tables, maps,
sums over windows, steps along cells and quantifiers are evaluated here, as for counterexamples.

Source: law proposer, section 6, CandidateLaw; CEL language definition (github.com/google/cel-spec).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property, lru_cache, partial
from itertools import product
from typing import Any, Final

from msgspec import Struct

from specledger.core.diagnostics import Diagnostics
from specledger.expr import BOOL, INT, STRING, Checked, Environment, ListType, Native, Signature, Type, check, literal
from specledger.lang.scope import Scope
from specledger.laws.claim import IMAGE, STATE, TRANSFORMED, Const, Node, Not, Observe, Time
from specledger.laws.law import Law
from specledger.laws.primitive import PATTERN, SELF, WINDOW, cells_around, cells_spanned
from specledger.laws.transform import parse_call
from specledger.load import Resolved
from specledger.spec.law import Law as LawSpec
from specledger.spec.law import Precondition
from specledger.spec.universe import Universe as UniverseSpec
from specledger.verify.reference import Names, Reference, Unjudged, truth
from specledger.verify.violation import judge_step, scanned, stepped, transformed

UNREADABLE: Final = "it is not what can be read here"

MAX_REMEMBERED: Final = 20_000
"""Rings whose next state and measures are remembered."""

Ring = bytes
"""The symbols of a ring's cells, a byte each: places in the alphabet."""

Reads = dict[tuple[str, Time], str]
"""The variable of each observable that is read."""

_SORTS: Final = {"symbol": STRING, PATTERN: STRING, "int": INT}
_SPELLED: Final[Mapping[str, str]] = {"and": "&&", "or": "||"}


def cel_of(claim: Node) -> tuple[str, Reads]:
    """A claim as CEL, and the variable for each observable at each time that it reads."""
    reads: Reads = {}

    def written(node: Node) -> str:
        if isinstance(node, Observe):
            return reads.setdefault((node.name, node.time), f"v{len(reads)}")
        if isinstance(node, Const):
            return literal(node.value)
        if isinstance(node, Not):
            return f"!({written(node.operand)})"
        left, right = written(node.left), written(node.right)
        implied = f"!({left}) || ({right})"
        return implied if node.op == "=>" else f"({left}) {_SPELLED.get(node.op, node.op)} ({right})"

    return written(claim), reads


class CelUniverse:
    """The expressions of one universe, evaluated by the other engine and remembered by what they were given."""

    def __init__(self, reference: Reference, spec: Resolved) -> None:
        model = spec.model
        assert isinstance(model, UniverseSpec)  # noqa: S101 - a reference of kind universe holds nothing else
        self.reference, self.model = reference, model
        self.alphabet = tuple(model.alphabet)
        self.plain = frozenset(name for name, each in model.observables.items() if not each.args)
        self.ours: set[str] = set()
        self._scope = Scope(Environment(), spec, Diagnostics())
        self._observable, self._shift = cache(self._bound), cache(self._shifted)

    @cached_property
    def table(self) -> tuple[int, ...]:
        """The next symbol of each window of a cell and its neighbours, in the order of the alphabet."""
        transition = self.model.transition
        if transition.number is not None:
            return tuple(transition.number >> entry & 1 for entry in range(8))
        around = cells_around(self.model.radius)
        windows = list(product(self.alphabet, repeat=len(around)))
        if transition.table is not None:
            return tuple(self.alphabet.index(transition.table["".join(window)]) for window in windows)
        cells = self._scope.within(**dict.fromkeys(around, STRING))
        let, inner = cells.let(transition.let, "transition", "let")
        following = self._read(inner.expression("transition", "next", expect=STRING))
        self._note(*(checked for _, checked in let.items))
        table = []
        for window in windows:
            names = Names(self.reference, dict(zip(around, window, strict=True)), dict(let.items))
            symbol = self.reference.value(following, names.value)
            if symbol not in self.alphabet:
                raise Unjudged("the other evaluator gives no symbol")
            table.append(self.alphabet.index(symbol))
        return tuple(table)

    def measure(self, name: str, args: tuple[Any, ...], ring: Ring) -> int:
        """The value of an observable of the universe on a ring."""
        return self._observable(name, args)(ring)

    def _bound(self, name: str, args: tuple[Any, ...]) -> Callable[[Ring], int]:
        """An observable with its arguments; each window is evaluated once."""
        if name not in self.model.observables or self.model.observables[name].pattern is not None:
            return partial(self._places, self.model.observables[name].pattern if not args else args[0])
        spec, path = self.model.observables[name], ("observables", name)
        given: dict[str, Any] = dict(zip(spec.args, args, strict=True))
        scope = self._scope.within(**{arg: _SORTS[sort] for arg, sort in spec.args.items()})
        key, expect = ("count", BOOL) if spec.count is not None else ("sum", INT)
        names: tuple[str, ...] = ()
        if spec.scan is not None:
            names, width = (SELF,), 1
            body = self._read(scope.within(**{SELF: STRING}).expression(*path, "where", expect=BOOL))
        elif isinstance(spec.window, list):
            names = cells_spanned(spec.window)
            width = len(names)
            body = self._read(scope.within(**dict.fromkeys(spec.window, STRING)).expression(*path, key, expect=expect))
        else:
            wide = self._read(scope.expression(*path, "window", expect=INT))
            width = self.reference.value(wide, given.__getitem__)
            body = self._read(scope.within(**{WINDOW: ListType(STRING)}).expression(*path, key, expect=expect))

        @cache
        def window(cells: Ring) -> int:
            symbols = [self.alphabet[cell] for cell in cells]
            shown = dict(zip(names, symbols, strict=True)) if names else {WINDOW: symbols}
            return int(self.reference.value(body, {**given, **shown}.__getitem__))

        def value(ring: Ring) -> int:
            if width < 1:
                raise Unjudged(UNREADABLE)
            longer = ring * (1 + -(-width // len(ring)))
            found = [window(longer[place : place + width]) for place in range(len(ring))]
            return sum(found) if spec.scan is None else scanned(spec.scan, [bool(each) for each in found])

        return value

    def _places(self, pattern: str | None, ring: Ring) -> int:
        """At how many places of a ring a pattern begins."""
        wild, shown = "?" if "?" not in self.alphabet else None, "".join(self.alphabet[cell] for cell in ring)
        wide, places = shown * (2 + len(pattern or "") // len(shown)), range(len(shown))
        return sum(all(a in (wild, b) for a, b in zip(pattern or "", wide[at:], strict=False)) for at in places)

    def image(self, call: str, ring: Ring) -> Ring:
        """A ring under the transform that a law names."""
        name, values = parse_call(call) or (call, ())
        spec = self.model.transforms.get(name)
        if spec is None:
            raise Unjudged(UNREADABLE)
        given = {**spec.default, **dict(zip(spec.args, values, strict=False))}
        mapped = [self.alphabet.index(spec.map.get(symbol, symbol)) for symbol in self.alphabet]
        return bytes(transformed(ring, mapped, self._shift(name, tuple(sorted(given.items()))), reflect=spec.reflect))

    def _shifted(self, name: str, given: tuple[tuple[str, int], ...]) -> int:
        scope = self._scope.within(**{arg: INT for arg, _ in given})
        checked = self._read(scope.expression("transforms", name, "shift", expect=INT))
        return int(self.reference.value(checked, dict(given).__getitem__))

    def _note(self, *rules: Checked) -> None:
        self.ours |= self.reference.ours(rules, {})

    def _read(self, checked: Checked | None) -> Checked:
        if checked is None:
            raise Unjudged(UNREADABLE)
        self._note(checked)
        return checked


class Found(Struct, frozen=True):
    """What became of one start: whether it counts, the first violated step or None, and how many steps were hit."""

    usable: bool
    violated: int | None
    hits: int


class CelLaw:
    """A law as the other engine has it."""

    def __init__(self, universe: CelUniverse, law: Law, spec: Resolved, table: Sequence[int] | None = None) -> None:
        """Read the law's expressions; `table` replaces the rule of the universe."""
        model = spec.model
        assert isinstance(model, LawSpec)  # noqa: S101 - a law is judged with its spec
        self.law, self._model, self._spec, self.universe = law, model, spec, universe
        self._table = universe.table if table is None else tuple(table)
        self._ring: Ring = b""
        self._after = lru_cache(MAX_REMEMBERED)(self._stepped)
        self.measured = lru_cache(MAX_REMEMBERED)(self._measured)
        self._claim_holds = lru_cache(MAX_REMEMBERED)(self._truth)
        self._observables: list[tuple[str, Checked]] = []
        for index, each in enumerate(model.observables):
            self._observables.append((each.name, self._read(INT, "observables", index, "expr")))
        self._conditions = list(self._read_conditions())
        self._holds = cel_of(law.holds)
        self._antecedent = self._holds if law.antecedent is None else cel_of(law.antecedent)

    def cost(self, cells: int) -> int:
        """The work of judging starts that have so many cells together."""
        law = self.law.on(self.law.universe.longest)
        return cells * (law.steps + 1) * (1 + len(law.observables) + 2 * law.template.cells)

    def look(self, start: Ring, until: int | None = None) -> Found:
        """What becomes of a start; no step after `until` is judged."""
        law = self.law.on(len(start))
        states = self.evolve(start)
        if not all(self._met(sides, op, start) for sides, op in self._conditions):
            return Found(False, None, 0)
        rows = {STATE: states}
        if law.image is not None:
            call = self._model.transform or ""
            rows[IMAGE] = self.evolve(self.universe.image(call, start))
            rows[TRANSFORMED] = [self.universe.image(call, state) for state in states]
        violated, hits = None, 0
        for t in range(law.template.first, (law.last if until is None else until) + 1):
            hit, broken = judge_step(law, len(start), t, partial(self._true, rows))
            hits += hit
            if broken and violated is None:
                violated = t
        return Found(True, violated, hits)

    def evolve(self, start: Ring) -> list[Ring]:
        """The states at 0, 1, … as far as the law looks, and one more."""
        states = [start]
        for _ in range(self.law.on(len(start)).steps + 1):
            states.append(self._after(states[-1]))
        return states

    def _stepped(self, ring: Ring) -> Ring:
        return bytes(stepped(self._table, len(self.universe.alphabet), ring))

    def _measured(self, ring: Ring) -> Mapping[str, int]:
        """The values of the law's observables on a ring."""
        known: dict[str, int] = {}
        self._ring = ring
        for name, checked in self._observables:
            known[name] = self.universe.reference.value(checked, partial(self._given, known))
        return known

    def _true(self, rows: Mapping[str, list[Ring]], claim: Node, t: int, cell: int) -> bool:
        text, reads = self._holds if claim is self.law.holds else self._antecedent
        values: list[Any] = []
        for name, time in reads:
            step = time.at(t)
            if name in rows:
                values.append(self.universe.alphabet[rows[name][step][cell]])
            else:
                values.append(self.measured(rows[STATE][step])[name])
        return self._claim_holds(text, tuple(reads.values()), tuple(values))

    def _truth(self, text: str, names: tuple[str, ...], values: tuple[Any, ...]) -> bool:
        return truth(self.universe.reference.say(text, dict(zip(names, values, strict=True))))

    def _met(self, sides: Sequence[Checked], op: str | None, ring: Ring) -> bool:
        known = self.measured(ring)
        self._ring = ring
        values = tuple(self.universe.reference.value(each, partial(self._given, known)) for each in sides)
        return truth(values[0]) if op is None else self._claim_holds(f"a {op} b", ("a", "b"), values)

    def _given(self, known: Mapping[str, int], name: str) -> int:
        return known[name] if name in known else self.universe.measure(name, (), self._ring)

    def _read_conditions(self) -> Iterator[tuple[Sequence[Checked], str | None]]:
        """Each precondition: a truth value, or two sides and what compares them."""
        for index, each in enumerate(self._model.preconditions):
            path = ("preconditions", index)
            if isinstance(each, Precondition):
                yield [self._read(INT, *path, side) for side in ("lhs", "rhs")], each.op
            else:
                yield [self._read(BOOL, *path)], None

    def _read(self, expect: Type, *path: str | int) -> Checked:
        functions = {
            name: Native(name, (Signature(tuple(map(_SORTS.__getitem__, args)), INT),), partial(self._called, name))
            for name, args in self._functions()
        }
        names = [*self.universe.plain, *(name for name, _ in self._observables)]
        environment = Environment(dict.fromkeys(names, INT), functions)
        checked = check(self._spec.text(*path), environment, Diagnostics(), expect)
        if checked is None:
            raise Unjudged(UNREADABLE)
        return checked

    def _functions(self) -> Iterable[tuple[str, Iterable[str]]]:
        own = {name: each.args.values() for name, each in self.universe.model.observables.items() if each.args}
        return {PATTERN: (PATTERN,), **own}.items()

    def _called(self, name: str, *args: Any) -> int:
        """An observable of the universe, on the ring that is looked at."""
        return self.universe.measure(name, args, self._ring)
