"""What changes a state or a memory, and what is drawn, in sentences made from the expressions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from specledger.lang.english import amount, condition, one_line, value
from specledger.lang.phrases import code, quoted
from specledger.lang.statement import Statement, listed
from specledger.spec.memory import Write
from specledger.spec.world import AppendEffect, Draw, EachEffect, Effect, PutEffect, SetEffect

ALWAYS = "true"
"""The condition of what has none."""


def effect(given: Effect) -> Statement:
    """What one effect does, as a clause."""
    where = "" if given.when in (None, ALWAYS) else f"where {one_line(str(given.when))}, "
    if isinstance(given, SetEffect):
        return amount(given.to).after(f"{where}{code(given.set)} becomes ")
    if isinstance(given, AppendEffect):
        return Statement(f"{where}{value(given.value)} is added to {code(given.append)}")
    if isinstance(given, PutEffect):
        key, to = value(given.key), value(given.value)
        return Statement(f"{where}in {code(given.put)}, the entry of {key} becomes {to}")
    if isinstance(given, EachEffect):
        changed = listed(f"{code(name)} becomes {value(text)}" for name, text in given.update.items())
        which = "" if given.where == ALWAYS else f" for which {one_line(given.where)}"
        return Statement(f"{where}for each {code(given.element)} of {code(given.each)}{which}, {changed}")
    which = f"{code(given.element)} for which {one_line(given.where)}"
    return Statement(f"{where}every {which} is removed from {code(given.remove)}")


def writes(remembered: Iterable[Any]) -> Iterator[Statement]:
    """What is written into a memory, and when."""
    for write in remembered:
        assert isinstance(write, Write)  # noqa: S101 - all three sorts of writes are
        said = effect(write.effect)
        if write.when == ALWAYS:
            yield said.after("After acting ")
        elif said.parts:
            yield said.after(f"After acting, where {one_line(write.when)}, ")
        else:
            yield condition(write.when).after(f"After acting {said.text}, where ")


def draws(given: Mapping[str, Draw]) -> Iterator[Statement]:
    """What is drawn, from what, and how likely each value is."""
    for name, draw in given.items():
        weights = "" if draw.weights is None else f", weighted by {_choices(draw.weights)}"
        yield Statement(f"{code(name)} is drawn from {_choices(draw.source)}{weights}")


def _choices(given: str | list[Any]) -> str:
    if isinstance(given, str):
        return value(given)
    return f"the list of {listed(quoted(item) if isinstance(item, str) else value(_written(item)) for item in given)}"


def _written(item: bool | float) -> str:
    return str(item).lower()
