"""A checked ring universe: its rule, primitives, transforms and families of starts.

Its capabilities are derived from its spec. Source: law proposer, section 5.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property
from itertools import product
from typing import Any, Final, TypeVar

from msgspec import Struct, field

from specledger.core.diagnostics import Diagnostics, code
from specledger.expr import INT, STRING, Environment, EvaluationError, compile_expression
from specledger.expr.errors import E_EXPR_UNKNOWN_NAME
from specledger.lang.scope import Let, Scope
from specledger.lang.words import mentioned_in
from specledger.load import Bundle, Resolved
from specledger.wings.laws.automaton import Additive, Rule
from specledger.wings.laws.primitive import (
    E_UNIVERSE_OBSERVABLE,
    E_UNIVERSE_SYMBOL,
    GRID_LENGTH,
    MAX_WINDOWS,
    NEIGHBOURS,
    PATTERN,
    ArgumentError,
    Primitive,
    cells_around,
    check_primitive,
    known_symbols,
    pattern_of,
    report_symbols,
    strange_symbols,
)
from specledger.wings.laws.spec.universe import Generator
from specledger.wings.laws.spec.universe import Primitive as PrimitiveSpec
from specledger.wings.laws.spec.universe import Universe as UniverseSpec
from specledger.wings.laws.transform import E_TRANSFORM, Transform, bind_call, check_transform

E_UNIVERSE_TABLE = code("E_UNIVERSE_TABLE", "a rule does not say what follows")
E_UNIVERSE_WINDOWS = code("E_UNIVERSE_WINDOWS", "a rule has too many windows")


def read_rule(model: UniverseSpec, alphabet: tuple[str, ...], scope: Scope) -> Rule | None:
    """The rule of a universe; None, with findings, if it is wrong."""
    windows = len(alphabet) ** (2 * model.radius + 1)
    if windows > MAX_WINDOWS:
        message = f"{len(alphabet)} symbols and radius {model.radius} make {windows} windows, of at most {MAX_WINDOWS}"
        hint = "make `radius` or the alphabet smaller"
        scope.diagnostics.error(E_UNIVERSE_WINDOWS, message, scope.source.span("radius"), hint=hint)
        return None
    transition, names = model.transition, cells_around(model.radius)
    if transition.number is not None:
        if len(alphabet) != 2 or model.radius != 1:
            sizes = f"the alphabet has {len(alphabet)}, the radius is {model.radius}"
            message = f"a number says what two symbols do with one neighbour on either side; {sizes}"
            scope.wrong(E_UNIVERSE_TABLE, message, "transition", "number")
            return None
        return Rule(2, tuple(transition.number >> entry & 1 for entry in range(8)))
    if transition.table is not None:
        return _tabled(transition.table, alphabet, len(names), scope)
    cells = scope.within(**dict.fromkeys(names, STRING))
    if _reads_beyond(model, names, scope):
        return None
    let, inner = cells.let(transition.let, "transition", "let")
    following = inner.expression("transition", "next", expect=STRING)
    if following is None or len(let.items) < len(transition.let):
        return None
    for name, checked in (*let.items, ("next", following)):
        path = ("let", name) if name != "next" else ("next",)
        if not known_symbols(checked, alphabet, scope, "transition", *path):
            return None
    return _computed(let, names, compile_expression(following, [*names, *let.types]), alphabet, scope)


def _reads_beyond(model: UniverseSpec, names: tuple[str, ...], scope: Scope) -> bool:
    """Whether a rule reads neighbours beyond the radius; the hint of each finding is the radius that it needs."""
    transition = model.transition
    beyond = NEIGHBOURS - {*names, *transition.let, *scope.environment.constants}
    texts = [(("transition", "let", name), text) for name, text in transition.let.items()]
    rule: tuple[str, ...] = ("transition", "next")
    differs = False
    for path, text in [*texts, (rule, transition.next or "")]:
        for name in sorted(beyond & mentioned_in(text)):
            message = f"`{name}` lies beyond the radius {model.radius}"
            span, hint = scope.span_of(name, *path), f"write `radius: {name[-1]}`"
            scope.diagnostics.error(E_EXPR_UNKNOWN_NAME, message, span, hint=hint)
            differs = True
    return differs


def _computed(let: Let, cells: tuple[str, ...], following: Any, alphabet: tuple[str, ...], scope: Scope) -> Rule | None:
    """The table of an expression."""
    named, names = [], [*cells]
    for name, checked in let.items:
        named.append(compile_expression(checked, tuple(names)))
        names.append(name)
    table = []
    for window in product(alphabet, repeat=len(cells)):
        try:
            values: list[Any] = list(window)
            for step in named:
                values.append(step(*values))
            table.append(alphabet.index(following(*values)))
        except (EvaluationError, ValueError) as error:
            reason = error.message if isinstance(error, EvaluationError) else "its value is no symbol"
            scope.wrong(E_UNIVERSE_TABLE, f"after {''.join(window)!r}: {reason}", "transition", "next")
            return None
    return Rule(len(alphabet), tuple(table))


def _tabled(table: Mapping[str, str], alphabet: tuple[str, ...], cells: int, scope: Scope) -> Rule | None:
    windows = ["".join(window) for window in product(alphabet, repeat=cells)]
    for window, symbol in table.items():
        if len(window) != cells:
            message = f"{window!r} has {len(window)} symbols; with this radius a window has {cells}"
            scope.wrong(E_UNIVERSE_TABLE, message, "transition", "table", window)
        strange = sorted(set(window + symbol) - set(alphabet))
        if strange:
            report_symbols(scope, strange, alphabet, "transition", "table", window)
    missing = [window for window in windows if window not in table]
    if missing:
        shown = ", ".join(map(repr, missing[:8])) + (", …" if len(missing) > 8 else "")
        scope.wrong(E_UNIVERSE_TABLE, f"the table lacks {shown}", "transition", "table")
    if missing or not set(table.values()) <= set(alphabet):
        return None
    return Rule(len(alphabet), tuple(alphabet.index(table[window]) for window in windows))


E_UNIVERSE_GENERATOR = code("E_UNIVERSE_GENERATOR", "a family of starts cannot be made")


T = TypeVar("T")

MOST_MADE: Final = 256
"""Things made for laws that a universe keeps."""


class Universe(Struct, frozen=True, eq=False, dict=True):
    """A checked universe. Symbols are numbers: places in the alphabet.

    Attributes:
        name: Its spec's name.
        key: Its spec's key, which its digest is part of.
        alphabet: The symbols as characters.
        empty: The symbol that stands for nothing.
        shortest, longest: Cells of a ring.
        sizes: The lengths of most generated rings.
        rule: One step.
        primitives: What can be measured.
        transforms: Changes of whole states.
        generators: Families of starts, by name.
        starts: The symbols that a start may have.
        interaction: The primitive whose being above 0 says that something happens.
    """

    name: str
    key: str
    alphabet: tuple[str, ...]
    empty: int
    shortest: int
    longest: int
    sizes: tuple[int, ...]
    rule: Rule
    primitives: Mapping[str, Primitive]
    transforms: Mapping[str, Transform] = field(default_factory=dict)
    generators: Mapping[str, Generator] = field(default_factory=dict)
    starts: tuple[int, ...] = ()
    interaction: str | None = None

    @cached_property
    def measures(self) -> Mapping[str, Primitive]:
        """What laws can call: the primitives, and in every universe `pattern` and the length of the ring."""
        pattern = Primitive(PATTERN, {"symbols": PATTERN}, lambda values: pattern_of(str(values[0]), self.alphabet))
        cells = Additive(len(self.alphabet), 1, (1,) * len(self.alphabet))
        length = Primitive(GRID_LENGTH, {}, lambda _: cells)
        return {PATTERN: pattern, GRID_LENGTH: length, **self.primitives}

    def once(self, make: Callable[..., T], *given: Hashable) -> T:
        """What a function makes of this universe and of more arguments, made once: many laws share it."""
        key = make, given
        if key not in self._made:
            if len(self._made) >= MOST_MADE:
                self._made.clear()
            self._made[key] = make(self, *given)
        value: T = self._made[key]
        return value

    @cached_property
    def _made(self) -> dict[Any, Any]:
        return {}

    @property
    def _identity(self) -> tuple[object, ...]:
        """What distinguishes universes: the key has the digest of the whole spec, but mutants have another rule."""
        return self.key, self.rule, self.starts, self.sizes, self.shortest, self.longest

    def __eq__(self, other: object) -> bool:
        """Whether it is the same universe, under the same rule."""
        return isinstance(other, Universe) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    def text(self, cells: Sequence[int]) -> str:
        """A state as characters."""
        return bytes(cells).translate(self._characters).decode("ascii")

    @cached_property
    def _characters(self) -> bytes:
        return "".join(self.alphabet).encode("ascii").ljust(256, b"?")

    def cells(self, text: str) -> tuple[int, ...]:
        """A state from characters.

        Raises:
            ArgumentError: A character is no symbol, or the ring is too short or too long.
        """
        if not self.shortest <= len(text) <= self.longest:
            raise ArgumentError(f"a ring has {self.shortest} to {self.longest} cells, not {len(text)}")
        strange = sorted(set(text) - set(self.alphabet))
        if strange:
            raise ArgumentError(f"the alphabet has no {', '.join(map(repr, strange))}")
        return tuple(map(self.alphabet.index, text))

    def capabilities(self) -> dict[str, Any]:
        """What a proposer is told, derived from the spec: symbols, observables, transforms, families, ring lengths."""
        return {
            "universe_id": self.name,
            "symbols": list(self.alphabet),
            "state_representation": "string",
            "primitive_observables": sorted(primitive.signature for primitive in self.primitives.values()),
            "transforms": sorted(transform.signature for transform in self.transforms.values()),
            "generator_families": sorted(self.generators),
            "grid_length_range": [self.shortest, self.longest],
            "boundary": "periodic",
        }


def check_universe(spec: Resolved, bundle: Bundle, diagnostics: Diagnostics) -> Universe | None:
    """Check a universe; None, with findings, if it is wrong."""
    model = bundle.specs[spec.key].model
    assert isinstance(model, UniverseSpec)  # noqa: S101 - a reference of kind universe holds nothing else
    findings = Diagnostics()
    scope = Scope(Environment(), spec, findings)
    alphabet = tuple(model.alphabet)
    _check_symbols(model, scope)
    rule = read_rule(model, alphabet, scope)
    scope.declare(dict.fromkeys(sorted(model.observables), INT), "observables")  # laws read them by these names
    primitives = {
        name: primitive
        for name, entry in sorted(model.observables.items())
        if (primitive := _primitive(name, entry, alphabet, scope)) is not None
    }
    _measure_once(primitives, scope)
    transforms = {
        name: transform
        for name, entry in sorted(model.transforms.items())
        if (transform := check_transform(name, entry, alphabet, scope)) is not None
    }
    if not findings.has_errors:
        _check_generators(model, primitives, transforms, scope)
    diagnostics.extend(findings.sorted())
    if rule is None or findings.has_errors:
        return None
    ring = model.ring
    return Universe(
        name=spec.name,
        key=spec.key,
        alphabet=alphabet,
        empty=alphabet.index(model.empty or alphabet[0]),
        shortest=ring.min,
        longest=ring.max,
        sizes=tuple(ring.sizes or _sizes(ring.min, ring.max)),
        rule=rule,
        primitives=primitives,
        transforms=transforms,
        generators=dict(sorted(model.generators.items())),
        starts=tuple(sorted(map(alphabet.index, set(model.starts.symbols or alphabet)))),
        interaction=model.interaction,
    )


def _sizes(shortest: int, longest: int) -> list[int]:
    """Ring lengths that grow by about a half, up to 64 cells or little more than the shortest."""
    sizes, size = [], shortest
    while size <= min(longest, max(64, 2 * shortest)):
        sizes.append(size)
        size = max(size + 1, size * 3 // 2)
    return sizes


def _check_symbols(model: UniverseSpec, scope: Scope) -> None:
    alphabet = set(model.alphabet)
    if len(alphabet) < len(model.alphabet):
        twice = next(index for index, symbol in enumerate(model.alphabet) if symbol in model.alphabet[:index])
        scope.wrong(E_UNIVERSE_SYMBOL, f"{model.alphabet[twice]!r} is in the alphabet twice", "alphabet", twice)
    if model.empty is not None and model.empty not in alphabet:
        report_symbols(scope, [model.empty], model.alphabet, "empty")
    for index, symbol in enumerate(model.starts.symbols or ()):
        if symbol not in alphabet:
            report_symbols(scope, [symbol], model.alphabet, "starts", "symbols", index)


def _primitive(name: str, model: PrimitiveSpec, alphabet: tuple[str, ...], scope: Scope) -> Primitive | None:
    text = model.pattern
    if text is None:
        return check_primitive(name, model, alphabet, scope)
    strange = strange_symbols(text, alphabet)
    if strange:
        report_symbols(scope, strange, alphabet, "observables", name, "pattern")
        return None
    return Primitive(name, {}, lambda _: pattern_of(text, alphabet))


def _measure_once(primitives: Mapping[str, Primitive], scope: Scope) -> None:
    """Try what has no integer arguments, so that a measure that cannot be taken is found before any law."""
    for name, primitive in primitives.items():
        if not primitive.args:
            try:
                primitive.bind(())
            except ArgumentError as error:
                span = scope.source.span("observables", name)
                scope.diagnostics.error(E_UNIVERSE_OBSERVABLE, str(error), span, hint=error.hint)


def _check_generators(
    model: UniverseSpec, primitives: Mapping[str, Primitive], transforms: Mapping[str, Transform], scope: Scope
) -> None:
    for name, generator in sorted(model.generators.items()):
        for index, call in enumerate(generator.transforms or ()):
            location = ("generators", name, "transforms", index)
            try:
                if bind_call(transforms, call) is None:
                    scope.wrong(E_UNIVERSE_GENERATOR, f"there is no transform {call!r}", *location)
            except ArgumentError as error:
                scope.wrong(E_TRANSFORM, str(error), *location)
        for index, word in enumerate(generator.words or ()):
            if strange := sorted({*word} - {*model.alphabet}):
                report_symbols(scope, strange, model.alphabet, "generators", name, "words", index)
    if not any(generator.weight for generator in model.generators.values()):
        scope.wrong(E_UNIVERSE_GENERATOR, "no family has a weight above 0", "generators")
    if len(set(model.starts.symbols or model.alphabet)) < 2:
        scope.wrong(E_UNIVERSE_GENERATOR, "starts have at least two symbols", "starts")
    interaction = None if model.interaction is None else primitives.get(model.interaction)
    if model.interaction is not None and (interaction is None or interaction.args):
        scope.wrong(E_UNIVERSE_GENERATOR, f"no observable without arguments is {model.interaction!r}", "interaction")
