"""Transforms of a whole state, and how a law names one with arguments."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from specledger.core.diagnostics import code
from specledger.expr import INT, EvaluationError, compile_expression
from specledger.lang.scope import Scope
from specledger.wings.laws.primitive import E_UNIVERSE_SYMBOL, ArgumentError
from specledger.wings.laws.spec.universe import Transform as TransformSpec

E_TRANSFORM = code("E_TRANSFORM", "a transform is named in a way that means nothing")

_CALL: Final = re.compile(r"([A-Za-z][A-Za-z0-9_]*)(?:\(\s*(-?[0-9]{1,9}(?:\s*,\s*-?[0-9]{1,9})*)\s*\))?\Z")


class Image(Struct, frozen=True):
    """A change of a ring: reflected if so, then rotated right by `shift`, then every symbol mapped.

    Attributes:
        reflect: Whether the order of cells is reversed.
        shift: Cells to the right; any integer.
    """

    reflect: bool
    shift: int
    symbol_map: tuple[int, ...]

    def source(self, index: int, size: int) -> int:
        """The cell whose symbol arrives, mapped, at a place of a ring of `size` cells."""
        turned = (index - self.shift) % size
        return size - 1 - turned if self.reflect else turned

    def of(self, cells: Sequence[int]) -> tuple[int, ...]:
        """The transformed ring."""
        size = len(cells)
        return tuple(self.symbol_map[cells[self.source(index, size)]] for index in range(size))


class Transform(Struct, frozen=True):
    """A checked transform; `bind` gives the change for argument values."""

    name: str
    args: tuple[str, ...]
    default: Mapping[str, int]
    bind: Callable[[tuple[int, ...]], Image]

    @property
    def signature(self) -> str:
        """The name with its parameters, as capabilities list it."""
        return f"{self.name}({', '.join(self.args)})" if self.args else self.name


def check_transform(name: str, model: TransformSpec, alphabet: tuple[str, ...], scope: Scope) -> Transform | None:
    """Check one transform of a universe; None, with findings, if it is wrong."""
    path = ("transforms", name)
    shift = scope.declare(dict.fromkeys(model.args, INT), *path, "args").expression(*path, "shift", expect=INT)
    strange = sorted({*model.map, *model.map.values()} - set(alphabet))
    if strange:
        key = next((key for key, value in model.map.items() if {key, value} & {*strange}), None)
        location = (*path, "map") if key is None else (*path, "map", key)
        scope.wrong(E_UNIVERSE_SYMBOL, f"the alphabet has no {', '.join(map(repr, strange))}", *location)
    if not set(model.default) <= set(model.args):
        scope.wrong(E_TRANSFORM, "`default` names what is no argument", *path, "default")
        return None
    if shift is None or strange:
        return None
    run = compile_expression(shift, tuple(model.args))
    symbols = tuple(alphabet.index(model.map.get(symbol, symbol)) for symbol in alphabet)

    def bind(values: tuple[int, ...]) -> Image:
        try:
            return Image(model.reflect, run(*values), symbols)
        except EvaluationError as error:
            raise ArgumentError(f"the shift has no value: {error.message}") from None

    return Transform(name, tuple(model.args), dict(model.default), bind)


def parse_call(text: str) -> tuple[str, tuple[int, ...]] | None:
    """The name and the integers of `shift_k(3)` or `mirror`; None if the text is neither."""
    match = _CALL.match(text.strip())
    if match is None:
        return None
    return match[1], tuple(int(word) for word in match[2].split(",")) if match[2] else ()


def bind_call(transforms: Mapping[str, Transform], text: str) -> Image | None:
    """The change that a text names; None if there is no such transform.

    Raises:
        ArgumentError: The text is no call, or has the wrong number of arguments.
    """
    call = parse_call(text)
    if call is None:
        raise ArgumentError(f"{text!r} names no transform")
    name, values = call
    transform = transforms.get(name)
    if transform is None:
        return None
    given: dict[str, Any] = dict(zip(transform.args, values, strict=False))
    filled = {**transform.default, **given}
    if len(values) > len(transform.args) or set(filled) != set(transform.args):
        raise ArgumentError(f"`{name}` takes {len(transform.args)} arguments, not {len(values)}")
    return transform.bind(tuple(filled[arg] for arg in transform.args))
