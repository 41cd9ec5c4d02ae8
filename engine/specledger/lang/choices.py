"""What may stand for a choice: the labels of a world's actions, for agents that do not know its spec."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice, product
from typing import Any, Final

from msgspec import Struct

from specledger.expr import BOOL, STRING, EvaluationError, IntType, ListType, MapType, RecordType, Type
from specledger.lang.notation import Notation, Taken

MOST_LABELS: Final = 64
"""Labels of one operation that are listed."""


class Choices(Struct, frozen=True):
    """The labels of one operation's actions.

    Attributes:
        labels: All of them; where they cannot be listed, one with `<name>` for each text that may be chosen freely.
        listed: Whether they are all of them.
    """

    labels: tuple[str, ...]
    listed: bool


def choices_of(notation: Notation) -> dict[str, Choices]:
    """The labels of each operation of a world, by its name."""
    return {op: _choices(op, taken, notation.label) for op, taken in sorted(notation.operations.items())}


def _choices(op: str, action: Taken, label: Callable[[dict[str, Any]], str]) -> Choices:
    values = [_values(type_, action.allowed.get(name)) for name, type_ in action.args.fields.items()]
    listed = [each for each in values if each is not None]
    every = [*islice(_filled(op, action, listed), MOST_LABELS + 1)] if len(listed) == len(values) else []
    if 0 < len(every) <= MOST_LABELS:
        return Choices(tuple(dict.fromkeys(_label(each, label) for each in every)), listed=True)
    some = {name: _some(name, type_, action.allowed.get(name)) for name, type_ in action.args.fields.items()}
    return Choices((_label({"op": op, **some}, label),), listed=False)


def _filled(op: str, action: Taken, values: list[list[Any]]) -> Iterable[dict[str, Any]]:
    for chosen in product(*values):
        yield {"op": op, **dict(zip(action.args.fields, chosen, strict=True))}


def _values(type_: Type, allowed: tuple[Any, ...] | None) -> list[Any] | None:
    """All values of an argument; None if they cannot be listed."""
    if allowed:
        return list(allowed)
    return [False, True] if type_ == BOOL else None


def _some(name: str, type_: Type, allowed: tuple[Any, ...] | None) -> Any:
    """One value of an argument, which shows the form of a label."""
    if allowed:
        return allowed[0]
    if type_ == STRING:
        return f"<{name}>"
    if isinstance(type_, IntType):
        return max(type_.low, min(type_.high, 0))
    if isinstance(type_, RecordType):
        return {key: _some(key, field, None) for key, field in type_.fields.items()}
    return [] if isinstance(type_, ListType) else {} if isinstance(type_, MapType) else False


def _label(action: dict[str, Any], label: Callable[[dict[str, Any]], str]) -> str:
    """The label of an action, or its name with its arguments where no label can be evaluated."""
    try:
        return label(action)
    except (EvaluationError, LookupError):
        args = ", ".join(f"{name}={value}" for name, value in action.items() if name != "op")
        return f"{action['op']}({args})"
