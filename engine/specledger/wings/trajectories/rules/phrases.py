"""Texts in the order in which they were heard, and where words stand in a row in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Generic, TypeVar

from specledger.wings.trajectories.rules.firsts import Firsts
from specledger.wings.trajectories.rules.values import stem, words

SEARCHED: Final = 16_384
"""Characters of the latest texts that are searched as they are; beyond them their words are indexed."""

_TEXT: Final = 100
_WORD: Final = 300
_PLACE: Final = 16
"""Bytes of memory that a text, a new word and a place of a word take in an index, about."""

O = TypeVar("O")  # noqa: E741 - the origin of a text


class HeardText:
    """A text, whose words are found when they are needed, once for all that look into it.

    Attributes:
        text: The text as it was heard.
        lower: What holds each of its words, and can hold others: a text without one need not be taken apart.
    """

    __slots__ = ("_words", "lower", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._words: str | None = None
        self.lower = text.lower() if text.isascii() else self.words

    @property
    def words(self) -> str:
        """Its words, each between two spaces."""
        if self._words is None:
            self._words = f" {words(self.text)} "
        return self._words


class Phrases(Generic[O]):
    """The texts of a source, each with its origin."""

    def __init__(self, parallel: Callable[[O, O], bool], searched: int = SEARCHED) -> None:
        """Begin without texts; so many characters are searched before they are indexed."""
        self._most_searched, self._parallel = searched, parallel
        self._texts: list[tuple[HeardText, O]] = []
        self._by_word: dict[str, list[int]] = {}
        self._indexed = 0
        self._searched = 0
        self._stems = Firsts(parallel)
        self._stemmed = 0

    def add(self, text: HeardText, origin: O) -> int:
        """Take a text; the bytes that are kept of it, about.

        So few texts that a search takes less time than an index are not indexed.
        """
        self._texts.append((text, origin))
        self._searched += len(text.text)
        if self._searched <= self._most_searched:
            return _TEXT
        known, kept = len(self._by_word), _TEXT
        for number in range(self._indexed, len(self._texts)):
            words = set(self._texts[number][0].words.split())
            kept += _PLACE * len(words) + len(self._texts[number][0].words)
            for word in words:
                self._by_word.setdefault(word, []).append(number)
        self._indexed, self._searched = len(self._texts), 0
        return kept + _WORD * (len(self._by_word) - known)

    def first(self, plain: str, now: O, accept: Callable[[HeardText], bool] = bool) -> O | None:
        """The origin of the first text in which words stand in a row, of those that are not parallel to a call now.

        A text must be accepted, too.
        """
        if not plain:
            return None
        parts = plain.split()
        phrase, word = f" {plain} ", max(parts, key=len)
        if self._indexed:
            postings: list[list[int]] = [self._by_word.get(part, []) for part in parts]
            for number in min(postings, key=len):
                text, origin = self._texts[number]
                if phrase in text.words and accept(text) and not self._parallel(origin, now):
                    return origin
        for text, origin in self._texts[self._indexed :]:
            if word in text.lower and phrase in text.words and accept(text) and not self._parallel(origin, now):
                return origin
        return None

    def learn_stems(self) -> int:
        """Take the stems of texts that came since; the bytes that are kept of them, about."""
        known = len(self._stems)
        for text, origin in self._texts[self._stemmed :]:
            for word in set(text.words.split()):
                self._stems.add(stem(word), origin)
        self._stemmed = len(self._texts)
        return _WORD * (len(self._stems) - known)

    def all_stems(self, plain: str, now: O) -> O | None:
        """The first origin of the first of some words, if texts have them all, whatever their endings are."""
        wanted = [self._stems.before(stem(word), now) for word in plain.split() if len(word) >= 3]
        return wanted[0] if wanted and all(wanted) else None
