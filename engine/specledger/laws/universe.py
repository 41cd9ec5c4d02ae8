"""A checked ring universe: its rule, primitives, transforms and families of starts.

Its capabilities are derived from its spec. Source: law proposer, section 5.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, TypeVar

from msgspec import Struct, field

from specledger.core.diagnostics import Diagnostics, code
from specledger.expr import INT, Environment
from specledger.lang.scope import Scope
from specledger.laws.automaton import Rule
from specledger.laws.pattern import PATTERN, pattern_function, pattern_of, strange_symbols
from specledger.laws.primitive import (
    E_UNIVERSE_OBSERVABLE,
    E_UNIVERSE_SYMBOL,
    ArgumentError,
    Primitive,
    check_primitive,
    report_symbols,
)
from specledger.laws.transform import E_TRANSFORM, Transform, bind_call, check_transform
from specledger.laws.transition import read_rule
from specledger.load import Bundle, Resolved
from specledger.spec.universe import Generator
from specledger.spec.universe import Primitive as PrimitiveSpec
from specledger.spec.universe import Universe as UniverseSpec

E_UNIVERSE_GENERATOR = code(
    "E_UNIVERSE_GENERATOR",
    "a family of starts cannot be made",
    "`images` names transforms of the universe, `interaction` an observable without arguments; at least one family has "
    "a weight above 0, and starts have at least two symbols.",
)


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
        """What laws can call: the primitives, and `pattern`."""
        return {PATTERN: pattern_function(self.alphabet), **self.primitives}

    def once(self, make: Callable[..., T], *given: Hashable) -> T:
        """What a function makes of this universe and of more arguments, made once: many laws share it."""
        key = make, given
        if key not in self._made:
            if len(self._made) >= MOST_MADE:
                self._made.clear()
            self._made[key] = make(self, *given)
        made: T = self._made[key]
        return made

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
        """The hash of the same fields."""
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
    """Check a universe; None, with findings, if it is wrong.

    Args:
        spec: The universe's spec.
        bundle: What it came in.
        diagnostics: Receives every finding.
    """
    model = bundle.specs[spec.key].model
    assert isinstance(model, UniverseSpec)  # noqa: S101 - a reference of kind universe holds nothing else
    found = Diagnostics()
    scope = Scope(Environment(), spec, found)
    alphabet = tuple(model.alphabet)
    _check_symbols(model, scope)
    rule = read_rule(model, alphabet, scope)
    scope.declare(dict.fromkeys(sorted(model.observables), INT), "observables")  # laws read them by these names
    primitives = {
        name: primitive
        for name, each in sorted(model.observables.items())
        if (primitive := _primitive(name, each, alphabet, scope)) is not None
    }
    _measure_once(primitives, scope)
    transforms = {
        name: transform
        for name, each in sorted(model.transforms.items())
        if (transform := check_transform(name, each, alphabet, scope)) is not None
    }
    if not found.has_errors:
        _check_generators(model, primitives, transforms, scope)
    diagnostics.extend(found.sorted())
    if rule is None or found.has_errors:
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
            place = ("generators", name, "transforms", index)
            try:
                if bind_call(transforms, call) is None:
                    scope.wrong(E_UNIVERSE_GENERATOR, f"there is no transform {call!r}", *place)
            except ArgumentError as error:
                scope.wrong(E_TRANSFORM, str(error), *place)
    if not any(generator.weight for generator in model.generators.values()):
        scope.wrong(E_UNIVERSE_GENERATOR, "no family has a weight above 0", "generators")
    if len(set(model.starts.symbols or model.alphabet)) < 2:
        scope.wrong(E_UNIVERSE_GENERATOR, "starts have at least two symbols", "starts")
    interaction = None if model.interaction is None else primitives.get(model.interaction)
    if model.interaction is not None and (interaction is None or interaction.args):
        scope.wrong(E_UNIVERSE_GENERATOR, f"no observable without arguments is {model.interaction!r}", "interaction")
