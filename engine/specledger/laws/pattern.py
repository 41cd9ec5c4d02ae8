"""Patterns: texts of symbols whose places on a ring are counted, as in `pattern('>.<')`; `?` is any symbol."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from specledger.laws.automaton import Additive
from specledger.laws.primitive import MAX_WINDOWS, ArgumentError, Primitive

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


def pattern_function(alphabet: Sequence[str]) -> Primitive:
    """The function `pattern` over an alphabet."""

    def bind(values: tuple[Any, ...]) -> Additive:
        return pattern_of(str(values[0]), alphabet)

    return Primitive(PATTERN, {"symbols": PATTERN}, bind)
