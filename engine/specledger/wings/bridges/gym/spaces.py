"""From types of specs to Gymnasium spaces, and values between the two.

| type | space |
| --- | --- |
| int, qfixed | `Box` of int64 without dimensions; qfixed in millionths |
| bool | `Discrete(2)` |
| string | `Text` of printable ASCII; other characters, and `%`, are percent-encoded |
| field | `Box` of int64 with the shape that it has at the start |
| list | `Sequence` |
| map | `Sequence` of `{key, value}` in the order of the keys |
| record | `Dict`; an optional field is a `Sequence` of at most one element |
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product
from typing import Any, Final, NamedTuple
from urllib.parse import quote, unquote

import numpy as np
from gymnasium import spaces

from specledger.core.diagnostics import Diagnostic, Rejected, code
from specledger.expr import BOOL, STRING, IntType, ListType, RecordType, Type
from specledger.expr.check.types import NOTHING, MapType
from specledger.expr.limits import INT_MAX, INT_MIN
from specledger.worlds.model import World

E_GYM_SPACE = code("E_GYM_SPACE", "a value has no Gymnasium space")

MOST_TEXT: Final = 1024
MOST_CHOICES: Final = 4096
"""Actions that are listed one by one in a `Discrete` space."""

_PRINTABLE: Final = "".join(map(chr, range(0x20, 0x7F)))


class Form(NamedTuple):
    """A space, and the functions between JSON values and its elements."""

    space: spaces.Space[Any]
    encode: Callable[[Any], Any]
    decode: Callable[[Any], Any]


def form_of(type_: Type, like: Any = None) -> Form:
    """The form of a type; `like` is a value of it, which gives the shape of a field."""
    if isinstance(type_, IntType):
        return _box((), type_)
    if type_ == BOOL:
        return Form(spaces.Discrete(2), np.int64, bool)
    if type_ == STRING:
        return Form(spaces.Text(MOST_TEXT, min_length=0, charset=_PRINTABLE), _escape, unquote)
    if isinstance(type_, ListType):
        return _field(type_, like) or _sequence(type_.item)
    if isinstance(type_, MapType):
        pairs = _sequence(RecordType("pair", {"key": type_.key, "value": type_.value}))
        return Form(
            pairs.space,
            lambda value: pairs.encode([{"key": key, "value": value[key]} for key in sorted(value)]),
            lambda given: {pair["key"]: pair["value"] for pair in pairs.decode(given)},
        )
    if isinstance(type_, RecordType):
        return _record(type_, like)
    raise _refusal(f"there is no space for the type {type_}")


def action_form(world: World) -> Form:
    """The form of a world's actions: `Discrete` where all can be listed, else `Dict` of `op` and all arguments.

    In a `Dict` the arguments that the operation does not take are ignored.
    """
    choices = _choices(world)
    if choices is not None:
        return Form(spaces.Discrete(len(choices)), choices.index, lambda given: dict(choices[int(given)]))
    ops = sorted(world.actions)
    fields = {name: type_ for name, type_ in world.action.fields.items() if name != "op"}
    forms = {"op": _listed(ops), **{name: _argument(world, name, type_) for name, type_ in fields.items()}}

    def encode(action: Mapping[str, Any]) -> dict[str, Any]:
        return {name: form.encode(action[name]) for name, form in forms.items() if name in action}

    def decode(given: Mapping[str, Any]) -> dict[str, Any]:
        op = forms["op"].decode(given["op"])
        return {"op": op, **{name: forms[name].decode(given[name]) for name in world.actions[op].args.fields}}

    return Form(spaces.Dict({name: form.space for name, form in forms.items()}), encode, decode)


def _choices(world: World) -> list[dict[str, Any]] | None:
    """All actions, in the order of operations and arguments; None if they cannot be listed."""
    actions: list[dict[str, Any]] = []
    for op, action in sorted(world.actions.items()):
        values = {name: _values(type_, action.allowed.get(name)) for name, type_ in action.args.fields.items()}
        listed = [choices for choices in values.values() if choices is not None]
        if len(listed) < len(values) or len(actions) + np.prod([len(choices) for choices in listed]) > MOST_CHOICES:
            return None
        actions += [{"op": op, **dict(zip(values, combination, strict=True))} for combination in product(*listed)]
    return actions


def _values(type_: Type, allowed: tuple[Any, ...] | None) -> list[Any] | None:
    if allowed is not None:
        return list(allowed)
    return [False, True] if type_ == BOOL else None


def _argument(world: World, name: str, type_: Type) -> Form:
    """The form of an argument: the values that every operation allows for it, if they are the same, else its type."""
    allowed = {action.allowed.get(name) for action in world.actions.values() if name in action.args.fields}
    values = allowed.pop() if len(allowed) == 1 else None
    return form_of(type_) if values is None else _listed(list(values))


def _listed(values: list[Any]) -> Form:
    return Form(spaces.Discrete(len(values)), values.index, lambda given: values[int(given)])


def _box(shape: tuple[int, ...], type_: IntType) -> Form:
    """Integers of a shape; an int's own bounds are those of the space where it has any."""
    low = -np.inf if type_.low == INT_MIN else type_.low
    high = np.inf if type_.high >= INT_MAX - 1 else type_.high

    def encode(value: Any) -> Any:
        array = np.array(value, dtype=np.int64)
        if array.shape != shape:
            raise _refusal(f"a field has the shape {array.shape}, at the start it had {shape}")
        return array

    return Form(spaces.Box(low, high, shape, np.int64), encode, lambda given: np.asarray(given).tolist())


def _field(type_: ListType, like: Any) -> Form | None:
    """A list of rows of equal length, if the value at the start is one."""
    rows = type_.item
    if not isinstance(rows, ListType) or not isinstance(rows.item, IntType) or not like or not like[0]:
        return None
    return _box((len(like), len(like[0])), rows.item) if len({len(row) for row in like}) == 1 else None


def _sequence(item: Type) -> Form:
    inner = form_of(RecordType("nothing", {}) if item == NOTHING else item)
    return Form(
        spaces.Sequence(inner.space),
        lambda value: tuple(map(inner.encode, value)),
        lambda given: list(map(inner.decode, given)),
    )


def _record(type_: RecordType, like: Any) -> Form:
    given_like = like if isinstance(like, Mapping) else {}
    forms = {name: form_of(field, given_like.get(name)) for name, field in type_.fields.items()}
    forms |= {name: _sequence(type_.fields[name]) for name in type_.optional}

    def encode(value: Mapping[str, Any]) -> dict[str, Any]:
        every = {name: [value[name]] if name in value else [] for name in type_.optional}
        return {name: form.encode({**value, **every}[name]) for name, form in forms.items()}

    def decode(given: Mapping[str, Any]) -> dict[str, Any]:
        decoded = {name: form.decode(given[name]) for name, form in forms.items()}
        absent = {name for name in type_.optional if not decoded[name]}
        return {
            name: value[0] if name in type_.optional else value for name, value in decoded.items() if name not in absent
        }

    return Form(spaces.Dict({name: form.space for name, form in forms.items()}), encode, decode)


def _escape(text: str) -> str:
    return quote(text, safe=_PRINTABLE.replace("%", ""))[:MOST_TEXT]


def _refusal(message: str) -> Rejected:
    return Rejected([Diagnostic(E_GYM_SPACE, message)])
