"""What of a source may be inside a text, in whatever way its words are joined: `ZEBRA-7741-KILO` and `zebra_7741kilo`.

A token is letters in a row or digits in a row, so that a sign, a space or nothing between two of them is the same. A
value begins and ends where letters and digits do: `7741` stands neither in `17741` nor in `a7741`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import accumulate
from typing import Final, cast

from specledger.wings.trajectories.rules.phrases import HeardText, O, Phrases

_TOKEN: Final = re.compile(r"[^\W\d_]+|\d+")
_ROW: Final = re.compile(r"[^\W_]+")
_FIRST: Final = 3
"""Characters by which leaves are found."""
_ENOUGH_DIGITS: Final = 8
"""A number with fewer digits could be one with a point elsewhere, if signs did not count: 10.50 and 1050."""


class SpelledText(HeardText):
    """The tokens of a text that was heard, each as a word of its own.

    Attributes:
        heard: The words of the text, as they were joined there.
    """

    __slots__ = ("heard",)

    def __init__(self, heard: str) -> None:
        super().__init__(" ".join(_TOKEN.findall(heard)))
        self.heard = heard


def first_spelled(texts: Phrases[O], plain: str, now: O) -> O | None:
    """The origin of the first of such texts in which a text of words stands, however its words are joined there."""
    tokens = _TOKEN.findall(plain)
    pattern = re.compile(rf"(?<![^\W_]){'[ _]*'.join(tokens)}(?![^\W_])")
    return texts.first(" ".join(tokens), now, lambda text: pattern.search(cast("SpelledText", text).heard) is not None)


def runs(plain: str, least: int) -> Iterator[str]:
    """At each token of a text of words the shortest run of tokens that has the least length, with spaces between."""
    tokens = _TOKEN.findall(plain)
    end, length = 0, -1
    for start, token in enumerate(tokens):
        while end < len(tokens) and length < least:
            length += len(tokens[end]) + 1
            end += 1
        if length < least:
            return
        yield " ".join(tokens[start:end])
        length -= len(token) + 1


class Leaves:
    """Values at fields, as they are looked for inside texts of words."""

    def __init__(self) -> None:
        """Begin without values."""
        self._by_word: dict[str, dict[str, None]] = {}
        self._by_first: dict[str, dict[str, None]] = {}

    def add(self, plain: str) -> str:
        """Take a value as words; the form by which it is found."""
        joined = "".join(_ROW.findall(plain))
        if len(joined) < _FIRST or (joined.isdigit() and len(joined) < _ENOUGH_DIGITS):
            self._by_word.setdefault(plain.partition(" ")[0], {})[plain] = None
            return plain
        self._by_first.setdefault(joined[:_FIRST], {})[joined] = None
        return joined

    def inside(self, plain: str) -> Iterator[str]:
        """The forms of the values that stand in a text of words."""
        padded, at = f"{plain} ", 0
        for word in plain.split(" ") if self._by_word and plain else ():
            yield from (leaf for leaf in self._by_word.get(word, ()) if padded.startswith(f"{leaf} ", at))
            at += len(word) + 1
        rows = _ROW.findall(plain) if self._by_first else []
        joined, places = "".join(rows), [0, *accumulate(map(len, rows))]
        ends = set(places[1:])
        for start in places[:-1]:
            found = self._by_first.get(joined[start : start + _FIRST], ())
            yield from (leaf for leaf in found if start + len(leaf) in ends and joined.startswith(leaf, start))
