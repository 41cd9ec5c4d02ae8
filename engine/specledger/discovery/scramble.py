"""Scrambling: exchanges a universe's symbols and names for neutral ones, so that a model cannot recall the universe.

Each exchange is a swap of two things that do not overlap, so that the same function translates there and back. In
texts, expressions included, a symbol is exchanged where it is quoted, and a name where it is a whole word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from string import ascii_lowercase, ascii_uppercase, digits
from typing import Any, Final

from msgspec import Struct

from specledger.core.rng import Stream
from specledger.laws.universe import Universe

SYMBOLS: Final = "symbols"
NAMES: Final = "names"

_NEUTRAL: Final = ascii_lowercase + ascii_uppercase + digits
_NEUTRAL_UNIVERSE: Final = "universe_u"
_WORD: Final = re.compile(r"""(?P<quote>['"])(?P<symbol>\\?[!-~])(?P=quote)|(?P<word>[A-Za-z_][A-Za-z0-9_]*)""")

_SYMBOL_KEYS: Final = frozenset({"const", "trigger_symbol", "result_symbol", "symbols"})
_STATE_KEYS: Final = frozenset({"start", "state", "states"})
_NAMED_KEYS: Final = frozenset({"params", "observables"})


class Scramble(Struct, frozen=True):
    """An exchange of symbols and names.

    Attributes:
        symbols: The other one of each symbol that is exchanged, in both directions.
        names: The other one of each name that is exchanged, in both directions.
    """

    symbols: Mapping[str, str]
    names: Mapping[str, str]

    def symbol(self, symbol: str) -> str:
        """The other one of a symbol; itself, if it is not exchanged."""
        return self.symbols.get(symbol, symbol)

    def state(self, state: str) -> str:
        """A state, symbol by symbol."""
        return "".join(map(self.symbol, state))

    def text(self, text: str) -> str:
        """An expression, a call, or words about them."""
        return _WORD.sub(self._word, text)

    def law(self, value: Any, key: str = "") -> Any:
        """A law as JSON, a piece of it, or what is remembered of it.

        Args:
            value: Any JSON value.
            key: The key that it stands under.
        """
        if isinstance(value, str):
            if key in _SYMBOL_KEYS:
                return self.symbol(value)
            return self.state(value) if key in _STATE_KEYS else self.text(value)
        if isinstance(value, list | tuple):
            return [self.law(member, "" if key in _NAMED_KEYS else key) for member in value]
        if isinstance(value, Mapping):
            if key in _NAMED_KEYS:
                return {self.names.get(name, name): self.law(member, key) for name, member in value.items()}
            return {name: self.law(member, name) for name, member in value.items()}
        return value

    def _word(self, match: re.Match[str]) -> str:
        if match["word"] is not None:
            return self.names.get(match["word"], match["word"])
        other = self.symbols.get(match["symbol"][-1])
        if other is None:
            return match[0]
        escape = "\\" if other in ("'", '"', "\\") else ""
        return f"{match['quote']}{escape}{other}{match['quote']}"


def make_scramble(universe: Universe, what: Iterable[str], seed: int) -> Scramble | None:
    """The exchange for a universe; None if nothing is to be exchanged.

    Args:
        universe: What laws are about.
        what: `symbols`, `names`, or both.
        seed: Which of the possible exchanges it is.
    """
    wanted = frozenset(what)
    if not wanted:
        return None
    symbols: dict[str, str] = {}
    names: dict[str, str] = {}
    if SYMBOLS in wanted:
        free = [each for each in _NEUTRAL if each not in universe.alphabet][: len(universe.alphabet)]
        symbols = _swapped(universe.alphabet, Stream.named(seed, "scramble", SYMBOLS).shuffle(free))
    if NAMES in wanted:
        beyond = sorted({each.beyond for each in universe.generators.values() if each.beyond is not None})
        taken = {universe.name, *universe.primitives, *universe.transforms, *universe.generators, *beyond}
        names = _swapped([universe.name], [_free(_NEUTRAL_UNIVERSE, taken)])
        groups = {"m": universe.primitives, "c": universe.transforms, "f": universe.generators, "p": beyond}
        for letter, group in groups.items():
            neutral = [_free(f"{letter}{number}", taken) for number in range(1, len(group) + 1)]
            names |= _swapped(sorted(group), Stream.named(seed, "scramble", NAMES, letter).shuffle(neutral))
    return Scramble(symbols, names)


def _swapped(ours: Iterable[str], neutral: Iterable[str]) -> dict[str, str]:
    pairs = dict(zip(ours, neutral, strict=True))
    return pairs | {other: one for one, other in pairs.items()}


def _free(name: str, taken: set[str]) -> str:
    """A name that is not taken."""
    while name in taken:
        name += "_"
    return name
